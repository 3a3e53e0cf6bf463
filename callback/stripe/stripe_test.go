package stripe_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/callback/stripe"
	"paybook/models"
)

const (
	kit       = "../../testdata/stripe"
	secretNew = "whsec_test_new"
	secretOld = "whsec_test_old"
	minimal   = `{"signing_secrets":["whsec_test_new","whsec_test_old"]}`
)

// now is the clock of all tests but the recordings'.
var now = time.Unix(1795767302, 0).UTC()

func TestProvider(t *testing.T) {
	settings, err := os.ReadFile(kit + "/config.json")
	if err != nil {
		t.Fatal(err)
	}
	// Stripe-Signature is not declared as signed: hex in upper case is the same signature. TestSignatureHeader flips it.
	providertest.Run(t, mustNew(t, string(settings)), kit)
}

func mustNew(tb testing.TB, settings string) *stripe.Provider {
	tb.Helper()
	p, err := stripe.New(json.RawMessage(settings), "")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// sign is the v1 of a body, as Stripe makes it.
func sign(secret string, at time.Time, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return hex.EncodeToString(mac.Sum(nil))
}

// header is a whole Stripe-Signature for a body.
func header(secret string, at time.Time, body string) string {
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), sign(secret, at, body))
}

// request is a callback with that signature header, received now.
func request(signature, body string) models.Callback {
	return models.Callback{
		Account: "stripe", Method: "POST", Path: "/callbacks/stripe", Body: []byte(body), ReceivedAt: now,
		Headers: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Stripe-Signature": {signature}},
	}
}

// say verifies a well signed body and returns what it says.
func say(tb testing.TB, p *stripe.Provider, body string) models.Event {
	tb.Helper()
	events, err := p.Verify(context.Background(), request(header(secretNew, now, body), body))
	if err != nil || len(events) != 1 {
		tb.Fatalf("Verify(%.200s) = %d events, %v; want one event", body, len(events), err)
	}
	return events[0]
}

// reason is why a request is refused; "" when it is not.
func reason(tb testing.TB, p *stripe.Provider, cb models.Callback) models.Reason {
	tb.Helper()
	_, err := p.Verify(context.Background(), cb)
	if err == nil {
		return ""
	}
	var rejection *models.Rejection
	if !errors.As(err, &rejection) {
		tb.Fatalf("Verify = %v, want a rejection", err)
	}
	return rejection.Reason
}

// snapshot is an event of a type around its object.
func snapshot(typ, object string) string {
	return fmt.Sprintf(`{"id":"evt_1","object":"event","created":1795767302,"livemode":false,"type":%q,"data":{"object":%s}}`, typ, object)
}

func TestNewRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ settings, want string }{
		"nothing":         {``, "settings"},
		"null":            {`null`, "an object expected"},
		"no secrets":      {`{}`, "settings.signing_secrets: empty"},
		"empty list":      {`{"signing_secrets":[]}`, "settings.signing_secrets: empty"},
		"empty secret":    {`{"signing_secrets":["whsec_a",""]}`, "settings.signing_secrets[1]: empty"},
		"blank secret":    {`{"signing_secrets":["  "]}`, "settings.signing_secrets[0]: empty"},
		"line break":      {`{"signing_secrets":["whsec_a\n"]}`, "settings.signing_secrets[0]: has blanks"},
		"API key":         {`{"signing_secrets":["sk_live_abc"]}`, "settings.signing_secrets[0]: an API key"},
		"one text":        {`{"signing_secrets":"whsec_a"}`, "signing_secrets"},
		"unknown key":     {`{"signing_secrets":["whsec_a"],"livemod":true}`, "settings.livemod: unknown key; the keys here are accounts, api, "},
		"key in capitals": {`{"signing_secrets":["whsec_a"],"LIVEMODE":true}`, "settings.LIVEMODE: unknown key"},
		"currency twice":  {`{"signing_secrets":["whsec_a"],"currency_digits":{"UGX":0,"UGX":2}}`, `"UGX" is given twice`},
		"prefix only":     {`{"signing_secrets":["whsec_b","whsec_"]}`, "settings.signing_secrets[1]: nothing but its prefix"},
		"prefix, nothing": {`{"signing_secrets":["whsec_\u200b"]}`, "settings.signing_secrets[0]: nothing but its prefix"},
		"prefix, blank":   {`{"signing_secrets":["whsec_ "]}`, "settings.signing_secrets[0]"},
		"prefix, control": {`{"signing_secrets":["whsec_\u0007\u007f"]}`, "settings.signing_secrets[0]: nothing but its prefix"},
		"invisible":       {`{"signing_secrets":["\u200b\ufeff"]}`, "settings.signing_secrets[0]: empty"},
		"key twice":       {`{"signing_secrets":["whsec_a"],"livemode":true,"livemode":false}`, `"livemode" is given twice`},
		"wrong type":      {`{"signing_secrets":["whsec_a"],"livemode":"true"}`, "livemode"},
		"no tolerance":    {`{"signing_secrets":["whsec_a"],"tolerance_seconds":0}`, "settings.tolerance_seconds: 0"},
		"tolerance below": {`{"signing_secrets":["whsec_a"],"tolerance_seconds":-300}`, "settings.tolerance_seconds: -300"},
		"tolerance wide":  {`{"signing_secrets":["whsec_a"],"tolerance_seconds":86401}`, "settings.tolerance_seconds: 86401, expected 1 to 86400"},
		"future wide":     {`{"signing_secrets":["whsec_a"],"future_tolerance_seconds":86401}`, "settings.future_tolerance_seconds: 86401"},
		"beyond int64":    {`{"signing_secrets":["whsec_a"],"tolerance_seconds":9223372036854775808}`, "settings.tolerance_seconds"},
		"future":          {`{"signing_secrets":["whsec_a"],"future_tolerance_seconds":-1}`, "settings.future_tolerance_seconds"},
		"blank key":       {`{"signing_secrets":["whsec_a"],"order_id_metadata_key":" "}`, "settings.order_id_metadata_key"},
		"zone":            {`{"signing_secrets":["whsec_a"],"report_timezone":"Mars/Olympus"}`, "settings.report_timezone"},
		"empty zone":      {`{"signing_secrets":["whsec_a"],"report_timezone":""}`, "settings.report_timezone"},
		"currency":        {`{"signing_secrets":["whsec_a"],"currency_digits":{"QQQ":2}}`, "settings.currency_digits"},
		"currency digits": {`{"signing_secrets":["whsec_a"],"currency_digits":{"UGX":9}}`, "settings.currency_digits.UGX"},
		"account":         {`{"signing_secrets":["whsec_a"],"accounts":[""]}`, "settings.accounts[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := stripe.New(json.RawMessage(tc.settings), "")
			if err == nil || p != nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("New = %v, %v; want an error with %q", p, err, tc.want)
			}
			for _, secret := range []string{"whsec_a", "sk_live_abc"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error tells the secret: %v", err)
				}
			}
		})
	}
}

func TestNewDefaults(t *testing.T) {
	p := mustNew(t, `{"comment":"x","provider":"stripe","path":"/callbacks/stripe","signing_secrets":["whsec_0123456789abcdef"],"livemode":true}`)
	if zone, cut := p.Calendar(); zone != "Etc/UTC" || cut != 0 || p.Name() != "stripe" {
		t.Errorf("%s: calendar %s, %s; want stripe: Etc/UTC, 0s", p.Name(), zone, cut)
	}
	if len(p.Warnings()) != 0 {
		t.Errorf("warnings %q, want none", p.Warnings())
	}
	p = mustNew(t, `{"signing_secrets":["whsec_0123456789abcdef"],"report_timezone":"Asia/Shanghai"}`)
	if zone, _ := p.Calendar(); zone != "Asia/Shanghai" {
		t.Errorf("zone %s, want Asia/Shanghai", zone)
	}
}

// What is allowed, and protects less than it seems to, is told by its place and never by its value.
func TestWarnings(t *testing.T) {
	const good = `"livemode":true,"signing_secrets":["whsec_0123456789abcdef"]`
	for settings, want := range map[string]string{
		`{` + good + `}`: "",
		`{` + good + `,"tolerance_seconds":300,"future_tolerance_seconds":0,"accounts":["acct_1"]}`: "",
		`{"signing_secrets":["whsec_0123456789abcdef"]}`:                                            "livemode is not set",
		`{"livemode":true,"signing_secrets":["whsec_0123456789abcdef","odd0123456789abcdefghij"]}`:  "signing_secrets[1] does not begin with whsec_",
		`{"livemode":true,"signing_secrets":["whsec_x"]}`:                                           "signing_secrets[0] is short enough to be guessed",
		`{"livemode":true,"signing_secrets":["whsec_xyz"]}`:                                         "",
		`{"livemode":true,"signing_secrets":["whsec_0123456789odd","whsec_0123456789odd"]}`:         "signing_secrets[1] is given before",
		`{` + good + `,"tolerance_seconds":301}`:                                                    "stays good for 301 s",
		`{` + good + `,"future_tolerance_seconds":900}`:                                             "stays good for 900 s",
		`{` + good + `,"accounts":["acct_1","odd"]}`:                                                "accounts[1] does not begin with acct_",
	} {
		all := strings.Join(mustNew(t, settings).Warnings(), "\n")
		if (all == "") != (want == "") || !strings.Contains(all, want) || strings.Contains(all, "odd") {
			t.Errorf("%s: warnings %q, want %q", settings, all, want)
		}
	}
}
