package unionpay

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

const kit = "../../testdata/unionpay"

func TestProvider(t *testing.T) {
	providertest.Run(t, mustNew(t, nil), kit, providertest.EquivalentBody())
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
	all := map[string]any{}
	if err := json.Unmarshal(mustRead(tb, "config.json"), &all); err != nil {
		tb.Fatal(err)
	}
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	raw, err := json.Marshal(all)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// mustRead reads a file of the kit.
func mustRead(tb testing.TB, path ...string) []byte {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{kit}, path...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestNewNamesTheSettingThatIsWrong(t *testing.T) {
	type m = map[string]any
	broken := filepath.Join(t.TempDir(), "broken.cer")
	if err := os.WriteFile(broken, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change m
		want   string
	}{
		{"unknown key", m{"mer_id": "1"}, "settings.mer_id: unknown key"},
		{"key in another case", m{"merid": "1"}, "settings.merid: unknown key"},
		{"no merchant", m{"merId": nil}, "settings.merId"},
		{"blank merchant", m{"merId": "  "}, "settings.merId"},
		{"merchant as number", m{"merId": 777000000000001}, "settings.merId: string expected"},
		{"no root", m{"root_cert": nil}, "settings.root_cert: no file named"},
		{"blank root", m{"root_cert": " "}, "settings.root_cert: no file named"},
		{"no middle", m{"middle_cert": ""}, "settings.middle_cert: no file named"},
		{"missing file", m{"middle_cert": "keys/gone.cer"}, "keys/gone.cer"},
		{"a folder", m{"root_cert": "keys"}, "settings.root_cert"},
		{"no certificate", m{"root_cert": "config.json"}, "settings.root_cert: ../../testdata/unionpay/config.json: no certificate"},
		{"a broken one", m{"root_cert": broken}, "settings.root_cert: " + broken},
		{"a private key", m{"root_cert": "keys/unionpay_sign_private_key.TEST_ONLY.pem"}, "holds a PRIVATE KEY, expected a CERTIFICATE"},
		{"the two swapped", m{"root_cert": "keys/acp_middle.cer", "middle_cert": "keys/acp_root.cer"}, "settings.middle_cert: keys/acp_root.cer: not issued by"},
		{"the same twice", m{"middle_cert": "keys/acp_root.cer"}, "settings.middle_cert: keys/acp_root.cer: the same certificate"},
		{"the signing certificate as root", m{"root_cert": "keys/unionpay_sign_cert.cer"}, "settings.middle_cert: keys/acp_middle.cer: not issued by"},
		{"the signing certificate as middle", m{"middle_cert": "keys/unionpay_sign_cert.cer"}, "settings.middle_cert: keys/unionpay_sign_cert.cer: not issued by"},
		{"an empty owner", m{"accepted_cn_part": ""}, "settings.accepted_cn_part: empty"},
		{"an invisible owner", m{"accepted_cn_part": "\u200b"}, "settings.accepted_cn_part: empty"},
		{"an owner of two parts", m{"accepted_cn_part": "a@b"}, "settings.accepted_cn_part: empty, or holds an @"},
		{"an empty owner in test", m{"accepted_cn_part_in_test_environment": " "}, "settings.accepted_cn_part_in_test_environment: empty"},
		{"the switch as text", m{"test_environment": "false"}, "settings.test_environment: bool expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(settings(t, c.change), kit); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New = %v, want an error with %q", err, c.want)
			}
		})
	}
	for _, text := range []string{"", "null", "[]", "{} {}", `"x"`, `{"merId":"1","merId":"2"}`} {
		if _, err := New(json.RawMessage(text), kit); err == nil {
			t.Errorf("New(%q) accepted", text)
		}
	}
}

func TestCalendarExpiriesWarnings(t *testing.T) {
	p := mustNew(t, nil)
	if zone, cut := p.Calendar(); zone != "Asia/Shanghai" || cut != -time.Hour || p.Name() != Name {
		t.Errorf("%s: calendar %s %s, want the day from 23:00 of the evening before", p.Name(), zone, cut)
	}
	expiries := p.Expiries()
	for id, end := range expiries {
		if !end.Equal(time.Date(2029, 12, 31, 16, 0, 0, 0, time.UTC)) || end.Location() != time.UTC {
			t.Errorf("%s ends %s, want 2029-12-31 16:00 UTC", id, end)
		}
	}
	if names := strings.Join([]string{firstWord(expiries, "root"), firstWord(expiries, "middle")}, " "); len(expiries) != 2 || names != "root_cert middle_cert" {
		t.Errorf("expiries %v, want root and middle", expiries)
	}
	if w := p.Warnings(); len(w) != 0 {
		t.Errorf("warnings %q, want none", w)
	}
	if w := mustNew(t, map[string]any{"test_environment": true}).Warnings(); len(w) != 1 || !strings.Contains(w[0], "settings.test_environment is on") {
		t.Errorf("warnings %q, want one about the test environment", w)
	}
	for _, number := range []string{"77700000000001", "7770000000000011", "77700000000000A", "merchant", "７77000000001"} {
		if p, err := New(settings(t, map[string]any{"merId": number}), kit); err == nil && (len(p.Warnings()) != 1 || !strings.Contains(p.Warnings()[0], "settings.merId")) {
			t.Errorf("merId %q: warnings %q, want one about it", number, p.Warnings())
		}
	}
}

// firstWord is the setting of the expiry that begins so.
func firstWord(expiries map[string]time.Time, prefix string) string {
	for id := range expiries {
		if strings.HasPrefix(id, prefix) {
			setting, _, _ := strings.Cut(id, " ")
			return setting
		}
	}
	return ""
}

// The defaults are UnionPay's own words, so that an account without them is as safe as the kit's.
func TestOwnerHasADefault(t *testing.T) {
	p := mustNew(t, map[string]any{"accepted_cn_part": nil, "accepted_cn_part_in_test_environment": nil})
	if _, err := tell(t, p, payment(nil)); err != nil {
		t.Errorf("production certificate: %v", err)
	}
	wantReason(t, p, sent(t, testCN, payment(nil)), "certificate")
}
