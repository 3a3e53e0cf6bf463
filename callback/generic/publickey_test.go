package generic_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/models"
)

// ed25519Keys are a pair made of a fixed seed.
func ed25519Keys(seed byte) (ed25519.PublicKey, ed25519.PrivateKey) {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	return private.Public().(ed25519.PublicKey), private
}

const webhookSecret = "TEST-ONLY standard webhooks key."

// webhook is a callback by Standard Webhooks with these signatures, which may name text, such as v1a,<ed25519>.
func webhook(signatures ...string) models.Callback {
	h := http.Header{}
	h.Set("webhook-id", "msg_1")
	h.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("webhook-signature", strings.Join(signatures, " "))
	return models.Callback{Method: http.MethodPost, Headers: h, Body: []byte(webhookBody), ReceivedAt: now}
}

const webhookBody = `{"type":"payment.succeeded","timestamp":"2026-11-29T03:00:00Z","data":{"payment_id":"p1","order_id":"O1","amount":1999,"currency":"EUR"}}`

func webhookText() string { return "msg_1." + strconv.FormatInt(now.Unix(), 10) + "." + webhookBody }

func TestStandardWebhooksByPublicKey(t *testing.T) {
	public, private := ed25519Keys('a')
	_, stranger := ed25519Keys('b')
	whpk := "whpk_" + base64.StdEncoding.EncodeToString(public)
	whsec := "whsec_" + base64.StdEncoding.EncodeToString([]byte(webhookSecret))
	by := func(key ed25519.PrivateKey, text string) string {
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(text)))
	}
	mac := "v1," + base64.StdEncoding.EncodeToString(macOf(sha256.New, webhookSecret, webhookText()))
	good, forged, other := by(private, webhookText()), by(stranger, webhookText()), by(private, webhookText()+" ")
	onlyKey := mustPreset(t, "standardwebhooks", `{"secrets":["`+whpk+`"]}`)
	both := mustPreset(t, "standardwebhooks", `{"secrets":["`+whsec+`","`+whpk+`"]}`)
	for _, c := range []struct {
		p          *generic.Provider
		signatures []string
		ok         bool
	}{
		{onlyKey, []string{good}, true}, {onlyKey, []string{"v1,AAAA", forged, good}, true}, {onlyKey, []string{forged}, false}, {onlyKey, []string{other}, false},
		{onlyKey, []string{mac}, false}, {onlyKey, []string{"v1" + good[3:]}, false}, {onlyKey, []string{good[:len(good)-4]}, false}, {onlyKey, []string{""}, false},
		{both, []string{good}, true}, {both, []string{mac}, true}, {both, []string{forged, mac}, true}, {both, []string{"v1a" + mac[2:]}, false},
		{both, []string{"v2," + good[4:]}, false}, {both, strings.Split(strings.Repeat(forged+" ", 40)+good, " "), false},
	} {
		e, err := verify(c.p, webhook(c.signatures...))
		if c.ok && (err != nil || e.Money.String() != "19.99 EUR") || !c.ok && reasonOf(err) != models.ReasonSignature {
			t.Errorf("%.80q: %+v, %v; want accepted: %v", c.signatures, e, err, c.ok)
		}
	}
}

// Any other provider that signs with Ed25519, here with hex and no prefix.
func TestEd25519(t *testing.T) {
	public, private := ed25519Keys('a')
	build := func(key string) (*generic.Provider, error) {
		return generic.New(settings(func(s object) {
			s["signature"] = object{"kind": "ed25519", "secrets": key, "secret_encoding": "hex", "from": "header:X-Sig", "template": "{header:X-Time}{body}"}
		}), "")
	}
	p, err := build(hex.EncodeToString(public))
	if err != nil {
		t.Fatal(err)
	}
	cb := models.Callback{Body: []byte(payment), ReceivedAt: now, Headers: http.Header{}}
	cb.Headers.Set("X-Time", "123")
	cb.Headers.Set("X-Sig", hex.EncodeToString(ed25519.Sign(private, []byte("123"+payment))))
	if _, err := verify(p, cb); err != nil {
		t.Error(err)
	}
	cb.Headers.Set("X-Time", "124")
	if _, err := verify(p, cb); reasonOf(err) != models.ReasonSignature {
		t.Errorf("another time: %v, want a refusal for signature", err)
	}
	for key, want := range map[string]string{
		hex.EncodeToString(private): "is a private key", hex.EncodeToString(public[:31]): "31 bytes, expected the 32", strings.Repeat("00", 32): "is no key",
		"01" + strings.Repeat("00", 31): "is no key", "xyz": "is not hex", "": "empty or blank",
	} {
		_, err := build(key)
		if err == nil || !strings.HasPrefix(err.Error(), "settings.signature.secrets[0]: ") || !strings.Contains(err.Error(), want) || len(key) > 9 && strings.Contains(err.Error(), key[:10]) {
			t.Errorf("key %q: %v, want %s", key, err, want)
		}
	}
}

func TestPublicKeysOfPresetAreRefused(t *testing.T) {
	_, private := ed25519Keys('a')
	for _, secret := range []string{"whpk_", "whpk_????", "whsk_" + base64.StdEncoding.EncodeToString(private), "whsec_"} {
		_, err := generic.NewPreset("standardwebhooks")([]byte(`{"secrets":["`+secret+`"]}`), "")
		if err == nil || !strings.HasPrefix(err.Error(), "settings.secrets[0]: ") {
			t.Errorf("%s: %v, want an error about settings.secrets[0]", secret, err)
		}
	}
}
