package alipay

import (
	"net/url"
	"strings"
	"testing"

	"paybook/models"
)

func TestExplain(t *testing.T) {
	p := mustNew(t, nil)
	good := signed(t, payment(nil))
	cases := []struct {
		name, body, failed, detail string // failed: the step that is not OK
	}{
		{"genuine", good, "", ""},
		{"a changed field", strings.Replace(good, "total_amount=20.00", "total_amount=0.01", 1), "signature", "the signature is of one with digest"},
		{"another key's", encode(payment(nil)) + "&sign=" + strings.Repeat("AAAA", 85) + "AA%3D%3D", "signature", "was not made with this key"},
		{"SHA-1", encode(payment(nil)) + "&sign_type=RSA&sign=" + url.QueryEscape(signOld(t, signedText(payment(nil)))), "signature", "over this very text, but with SHA-1; sign does not fit the fields; sign_type says RSA, which is SHA-1: only RSA2 is taken"},
		{"no sign", encode(payment(nil)), "signature", "sign is missing"},
		{"no base64", encode(payment(nil)) + "&sign=%25", "signature", "not base64"},
		{"a field twice", good + "&total_amount=1", "fields", "given twice"},
		{"two ways to read it", signed(t, payment(fields{"subject": "x&total_amount=99.00&y="})), "signature", "read in two ways"},
		{"somebody else's", signed(t, payment(fields{"seller_id": "2088000000009999"})), "receiver", "seller_id"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := verify(t, p, c.body)
			steps := p.Explain(t.Context(), post(c.body))
			failed := models.Step{OK: true}
			for _, s := range steps {
				if strings.Contains(s.Value+s.Detail, good[strings.Index(good, "&sign=")+6:]) {
					t.Errorf("step %s holds the whole signature", s.Name)
				}
				if !s.OK {
					failed = s
				}
			}
			if failed.OK != (err == nil) || failed.Name != c.failed || !strings.Contains(failed.Detail, c.detail) {
				t.Errorf("failed at %+v, Verify says %v; want %q at %s", failed, err, c.detail, c.failed)
			}
		})
	}
}

// What is no UTF-8 is shown byte by byte: the signed text is in the message's charset.
func TestExplainShowsTheBytes(t *testing.T) {
	body := signed(t, payment(fields{"charset": "gbk", "subject": "\xba\xec\xb2\xe8"}))
	for _, s := range mustNew(t, nil).Explain(t.Context(), post(body)) {
		if s.Name == "signed text" && !strings.Contains(s.Value, `subject=\xba\xec\xb2\xe8&total_amount`) {
			t.Errorf("signed text %q", s.Value)
		}
	}
}
