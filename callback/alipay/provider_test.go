package alipay

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
)

const (
	kit     = "../../testdata/alipay"
	kitCert = "keys/alipayCertPublicKey_RSA2.crt"
	kitKey  = "keys/alipay_public_key.pem"
	kitSN   = "86b94e1db4b32e513bfdad843a277209"
)

func TestProvider(t *testing.T) {
	providertest.Run(t, mustNew(t, nil), kit, providertest.EquivalentBody())
}

// Each mode alone does for every recording.
func TestProviderWithOneKindOfKey(t *testing.T) {
	for name, change := range map[string]map[string]any{
		"public key":  {"alipay_cert": nil, "alipay_cert_sn": nil},
		"certificate": {"alipay_public_key": nil},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("every bit of every recording again")
			}
			providertest.RunCallbacks(t, mustNew(t, change), kit, providertest.EquivalentBody())
		})
	}
}

// mustNew is the kit's account with some settings changed; nil takes a setting away.
func mustNew(tb testing.TB, change map[string]any) *Provider {
	tb.Helper()
	p, err := New(settings(tb, change), kit)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func settings(tb testing.TB, change map[string]any) json.RawMessage {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(kit, "config.json"))
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(raw, &all); err != nil {
		tb.Fatal(err)
	}
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	raw, err = json.Marshal(all)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestNewNamesTheSettingThatIsWrong(t *testing.T) {
	type m = map[string]any
	type list = []string
	cases := []struct {
		name   string
		change m
		want   string
	}{
		{"unknown key", m{"sign_type": "RSA"}, "settings.sign_type: unknown key; the keys here are alipay_cert, alipay_cert_sn, "},
		{"key in capitals", m{"App_ID": "2021000000000001"}, "settings.App_ID: unknown key"},
		{"no app", m{"app_id": nil}, "settings.app_id: empty"},
		{"empty app", m{"app_id": ""}, "settings.app_id: empty"},
		{"no apps", m{"app_id": list{}}, "settings.app_id: empty"},
		{"a blank app among them", m{"app_id": list{"2021000000000001", " "}}, "settings.app_id[1]: empty"},
		{"app as number", m{"app_id": 2021000000000001}, "settings.app_id: string expected, not number"},
		{"app as object", m{"app_id": m{}}, "settings.app_id"},
		{"no seller", m{"seller_id": nil}, "settings.seller_id: empty"},
		{"blank seller", m{"seller_id": "\t"}, "settings.seller_id: empty"},
		{"invisible seller", m{"seller_id": "\u200b"}, "settings.seller_id: empty"},
		{"empty email", m{"seller_email": ""}, "settings.seller_email: empty"},
		{"no key at all", m{"alipay_public_key": nil, "alipay_cert": nil, "alipay_cert_sn": nil}, "neither alipay_public_key nor alipay_cert"},
		{"empty lists of keys", m{"alipay_public_key": list{}, "alipay_cert": list{}, "alipay_cert_sn": nil}, "neither alipay_public_key nor alipay_cert"},
		{"empty key file", m{"alipay_public_key": ""}, "settings.alipay_public_key: empty"},
		{"blank key file", m{"alipay_public_key": list{kitKey, " "}}, "settings.alipay_public_key[1]: empty"},
		{"empty certificate file", m{"alipay_cert": ""}, "settings.alipay_cert: empty"},
		{"missing file", m{"alipay_public_key": "keys/gone.pem"}, "keys/gone.pem"},
		{"no PEM", m{"alipay_public_key": "config.json"}, "config.json: no PEM file, expected -----BEGIN PUBLIC KEY-----"},
		{"certificate as key", m{"alipay_public_key": kitCert}, "settings.alipay_public_key: ../../testdata/alipay/" + kitCert + ": holds a CERTIFICATE, expected a PUBLIC KEY"},
		{"private key", m{"alipay_public_key": "keys/alipay_private_key.TEST_ONLY.pem"}, "holds a PRIVATE KEY"},
		{"key as certificate", m{"alipay_cert": kitKey}, "settings.alipay_cert: ../../testdata/alipay/" + kitKey + ": holds a PUBLIC KEY, expected a CERTIFICATE"},
		{"the root as certificate", m{"alipay_cert": "keys/alipayRootCert.crt"}, "certificate of an authority"},
		{"another number", m{"alipay_cert_sn": "00"}, `settings.alipay_cert_sn: "00" is not the number of a certificate in alipay_cert; found there: ` + kitSN},
		{"one number of two", m{"alipay_cert_sn": list{kitSN, "00"}}, `settings.alipay_cert_sn[1]: "00"`},
		{"empty number", m{"alipay_cert_sn": ""}, "settings.alipay_cert_sn"},
		{"number without certificate", m{"alipay_cert": nil}, "settings.alipay_cert_sn: given without alipay_cert"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(settings(t, c.change), kit)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v, want an error with %q", err, c.want)
			}
		})
	}
	for _, text := range []string{"", "null", "[]", "{} {}", `"x"`, `{"app_id":"1","app_id":"2"}`} {
		if _, err := New(json.RawMessage(text), kit); err == nil {
			t.Errorf("New(%q) accepted", text)
		}
	}
}

// Alipay's own page hands the key out as one line of base64.
func TestKeyFiles(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(kit, kitKey))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	bare := base64.StdEncoding.EncodeToString(block.Bytes) + "\r\n"
	cert, err := os.ReadFile(filepath.Join(kit, kitCert))
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.ReadFile(filepath.Join(kit, "keys/alipayRootCert.crt"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, change := range map[string]map[string]any{
		"bare base64":                   {"alipay_public_key": write("alipayPublicKey_RSA2.txt", bare), "alipay_cert": nil, "alipay_cert_sn": nil},
		"certificate with its issuer":   {"alipay_cert": write("chain.crt", string(cert)+string(root)), "alipay_public_key": nil},
		"the number may be left out":    {"alipay_cert_sn": nil, "alipay_public_key": nil},
		"lists of one":                  {"alipay_cert": []string{kitCert}, "alipay_cert_sn": []string{kitSN}, "alipay_public_key": nil},
		"previous key beside a new one": {"alipay_public_key": []string{write("other.pem", otherPublicKey(t)), kitKey}, "alipay_cert": nil, "alipay_cert_sn": nil},
	} {
		if _, err := tell(t, mustNew(t, change), payment(nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(settings(t, map[string]any{"alipay_public_key": write("bare.txt", "QUJD")}), kit); err == nil || !strings.Contains(err.Error(), "no public key") {
		t.Errorf("base64 of something else: %v", err)
	}
}

func TestCalendarExpiriesAndWarnings(t *testing.T) {
	p := mustNew(t, nil)
	if zone, cut := p.Calendar(); zone != "Asia/Shanghai" || cut != 0 || p.Name() != Name {
		t.Errorf("%s: calendar %s %s", p.Name(), zone, cut)
	}
	got := p.Expiries()
	if end := got[kitSN]; len(got) != 1 || !end.Equal(time.Date(2029, 12, 31, 16, 0, 0, 0, time.UTC)) || end.Location() != time.UTC {
		t.Errorf("Expiries = %v, want the certificate only, in UTC", got)
	}
	if len(p.Warnings()) != 0 {
		t.Errorf("the kit's settings are warned of: %q", p.Warnings())
	}
	swapped := mustNew(t, map[string]any{"app_id": "2088000000000019", "seller_id": "2021000000000001"}).Warnings()
	if len(swapped) != 2 || !strings.Contains(swapped[0], "settings.app_id") || !strings.Contains(swapped[1], "settings.seller_id") {
		t.Errorf("numbers changed for each other: %q", swapped)
	}
}
