package wechatpay

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
)

const kit = "../../testdata/wechatpay"

func TestProvider(t *testing.T) {
	providertest.Run(t, mustNew(t, nil), kit, providertest.Signed("Wechatpay-Timestamp", "Wechatpay-Nonce", "Wechatpay-Serial"))
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
	const serial = "5A27B42EDEC99405C1DFBFE644E98BFDD13D749E"
	type m = map[string]any
	noKeys := m{"platform_certs": nil, "public_keys": nil}
	cases := []struct {
		name   string
		change m
		want   string
	}{
		{"unknown key", m{"api_v2_key": "x"}, "settings.api_v2_key: unknown key; the keys here are api, api_v3_key, "},
		{"key in capitals", m{"MchID": "1900007291"}, "settings.MchID: unknown key"},
		{"no merchant", m{"mchid": nil}, "settings.mchid"},
		{"blank merchant", m{"mchid": " "}, "settings.mchid"},
		{"no app", m{"appid": nil}, "settings.appid"},
		{"blank app", m{"appids": []string{""}}, "settings.appid"},
		{"blank sub merchant", m{"sub_mchids": []string{""}}, "settings.sub_mchids"},
		{"no key", m{"api_v3_key": nil}, "settings.api_v3_key: empty"},
		{"empty key", m{"api_v3_key": ""}, "settings.api_v3_key: empty"},
		{"blank key", m{"api_v3_key": strings.Repeat(" ", 32)}, "settings.api_v3_key: empty"},
		{"invisible key", m{"api_v3_key": strings.Repeat("\u200b", 10) + "\x07\x7f"}, "settings.api_v3_key: empty"},
		{"short key", m{"api_v3_key": "abc"}, "settings.api_v3_key: 3 bytes"},
		{"no public keys at all", noKeys, "neither platform_certs nor public_keys"},
		{"no tolerance", m{"timestamp_tolerance_seconds": 0}, "settings.timestamp_tolerance_seconds"},
		{"tolerance below", m{"timestamp_tolerance_seconds": -1}, "settings.timestamp_tolerance_seconds: -1, expected 1 to 86400"},
		{"a second more than a day", m{"timestamp_tolerance_seconds": 86401}, "settings.timestamp_tolerance_seconds: 86401"},
		{"wide tolerance", m{"timestamp_tolerance_seconds": 1e6}, "settings.timestamp_tolerance_seconds"},
		{"tolerance as text", m{"timestamp_tolerance_seconds": "300"}, "timestamp_tolerance_seconds"},
		{"no file", m{"platform_certs": m{serial: ""}}, "settings.platform_certs." + serial},
		{"missing file", m{"platform_certs": m{serial: "keys/gone.pem"}}, "keys/gone.pem"},
		{"no PEM", m{"platform_certs": m{serial: "config.json"}}, "-----BEGIN CERTIFICATE-----"},
		{"lower-case serial", m{"platform_certs": m{strings.ToLower(serial): "keys/platform_cert.pem"}}, "serial is " + serial},
		{"other serial", m{"platform_certs": m{"00": "keys/platform_cert.pem"}}, "serial is " + serial},
		{"key as certificate", m{"platform_certs": m{serial: "keys/wechatpay_public_key.pem"}}, "holds a PUBLIC KEY, expected a CERTIFICATE"},
		{"certificate as key", m{"public_keys": m{"PUB_KEY_ID_1": "keys/platform_cert.pem"}}, "holds a CERTIFICATE, expected a PUBLIC KEY"},
		{"private key", m{"public_keys": m{"PUB_KEY_ID_1": "keys/platform_private_key.TEST_ONLY.pem"}}, "PRIVATE KEY"},
		{"key id", m{"public_keys": m{"0119": "keys/wechatpay_public_key.pem"}}, "begins with PUB_KEY_ID_"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(settings(t, c.change), kit)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v, want an error with %q", err, c.want)
			}
		})
	}
	for _, text := range []string{"", "null", "[]", "{} {}", `"x"`, `{"mchid":"1","mchid":"2"}`} {
		if _, err := New(json.RawMessage(text), kit); err == nil {
			t.Errorf("New(%q) accepted", text)
		}
	}
}

func TestCalendarAndExpiries(t *testing.T) {
	p := mustNew(t, nil)
	if zone, cut := p.Calendar(); zone != "Asia/Shanghai" || cut != 0 || p.Name() != Name {
		t.Errorf("%s: calendar %s %s", p.Name(), zone, cut)
	}
	got := p.Expiries()
	end := got["5A27B42EDEC99405C1DFBFE644E98BFDD13D749E"]
	if len(got) != 1 || !end.Equal(time.Date(2029, 12, 31, 16, 0, 0, 0, time.UTC)) || end.Location() != time.UTC {
		t.Errorf("Expiries = %v, want the certificate only, in UTC", got)
	}
}

// What is allowed, and protects less than it seems to. New merchants get no certificate, so that theirs is no lack.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		change map[string]any
		want   string
	}{
		{nil, ""},
		{map[string]any{"platform_certs": nil}, ""},
		{map[string]any{"platform_certs": map[string]string{}}, ""},
		{map[string]any{"public_keys": nil}, "settings.public_keys: empty"},
		{map[string]any{"public_keys": map[string]string{}}, "settings.public_keys: empty"},
		{map[string]any{"timestamp_tolerance_seconds": 300}, ""},
		{map[string]any{"timestamp_tolerance_seconds": nil}, ""},
		{map[string]any{"timestamp_tolerance_seconds": 301}, "stays good for 5m1s"},
	} {
		all := strings.Join(mustNew(t, c.change).Warnings(), "\n")
		if (all == "") != (c.want == "") || !strings.Contains(all, c.want) || strings.Contains(all, "TestOnlyApiV3Key") {
			t.Errorf("%v: warnings %q, want %q", c.change, all, c.want)
		}
	}
}
