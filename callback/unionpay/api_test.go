package unionpay

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest/apitest"
	"paybook/models"
)

// Our own key and certificate, here those of the kit's second signer.
const (
	merchantKey  = "keys/unionpay_sign_private_key_test_cn.TEST_ONLY.pem"
	merchantCert = "keys/unionpay_sign_cert_test_cn.cer"
)

func asking(t *testing.T, at string, change map[string]any) *Provider {
	t.Helper()
	all := map[string]any{"api": at, "sign_key": merchantKey, "sign_cert": merchantCert}
	maps.Copy(all, change)
	return mustNew(t, all)
}

// standIn is UnionPay's gateway as far as its pages go.
type standIn struct {
	t      *testing.T
	server *httptest.Server
	answer func(asked fields) fields // unsigned
	by     func(testing.TB) signing
	spell  func(fields) []byte
	asked  []fields
}

func newStandIn(t *testing.T, answer func(asked fields) fields) *standIn {
	s := &standIn{t: t, answer: answer, by: production, spell: unencoded}
	s.server = apitest.Serve(t, s.serve)
	return s
}

// checkRequest is UnionPay's side of the signature, written from its page: what holds something but the signature, by name, hashed,
// written as hex, and hashed again.
func checkRequest(t *testing.T, r *http.Request) (fields, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	f, parts := fields{}, []string{}
	for name := range r.PostForm {
		f[name] = r.PostForm.Get(name)
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if name != "signature" && f[name] != "" {
			parts = append(parts, name+"="+f[name])
		}
	}
	own := testCN(t)
	block, _ := pem.Decode([]byte(own.cert))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return f, err
	}
	if f["certId"] != cert.SerialNumber.String() || f["merId"] != "777000000000001" || f["version"] != "5.1.0" || f["signMethod"] != "01" ||
		f["accessType"] != "0" || f["encoding"] != "UTF-8" || f["bizType"] != "000000" || len(f["txnSubType"]) != 2 {
		return f, fmt.Errorf("fields %v", f)
	}
	signature, err := base64.StdEncoding.DecodeString(f["signature"])
	if err != nil {
		return f, err
	}
	inner := sha256.Sum256([]byte(strings.Join(parts, "&")))
	digest := sha256.Sum256([]byte(hex.EncodeToString(inner[:])))
	return f, rsa.VerifyPKCS1v15(&own.key.PublicKey, crypto.SHA256, digest[:], signature)
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	asked, err := checkRequest(s.t, r)
	if s.asked = append(s.asked, asked); err != nil {
		s.t.Errorf("%s: %v", r.URL.Path, err)
	}
	if want := map[string]string{"00": queryPath, "76": "/"}[asked["txnType"]]; r.Method != http.MethodPost || r.URL.Path != want {
		s.t.Errorf("%s %s for txnType %s", r.Method, r.URL.Path, asked["txnType"])
	}
	answer := s.answer(asked)
	if s.by != nil {
		answer = sign(s.t, s.by(s.t), answer)
	}
	_, _ = w.Write(s.spell(answer))
}

var (
	day     = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	morning = time.Date(2026, 11, 30, 1, 15, 0, 0, time.UTC)
)

// fileAnswer carries the kit's zip.
func fileAnswer(t *testing.T, change fields) func(fields) fields {
	return func(asked fields) fields {
		f := answer(t, mustRead(t, "statements", "777000000000001_20261129.zip"), fields{"settleDate": asked["settleDate"], "txnTime": asked["txnTime"]})
		return with(with(f, fields{"signature": "-", "signPubKeyCert": "-"}), change)
	}
}

func TestFetchStatement(t *testing.T) {
	for name, spell := range map[string]func(fields) []byte{"as sent": unencoded, "form-encoded": encode} {
		s := newStandIn(t, fileAnswer(t, nil))
		s.spell = spell
		p := asking(t, s.server.URL, nil)
		var saved apitest.Saved
		if err := p.FetchStatement(t.Context(), apitest.Client(t), day, morning, saved.Save); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.asked[0]["settleDate"] != "1129" || s.asked[0]["txnTime"] != "20261130091500" || s.asked[0]["fileType"] != "00" {
			t.Errorf("asked %v", s.asked[0])
		}
		// What is kept proves itself, and is what the reader of the kit's file reads.
		content, err := unwrap(p, []byte(saved.Files["777000000000001_20261129.txt"]))
		if err != nil || string(content) != string(mustRead(t, "statements", "777000000000001_20261129.zip")) || len(saved.Names) != 1 {
			t.Errorf("%s: saved %q, %v", name, saved.Names, err)
		}
	}
}

func TestFetchStatementFails(t *testing.T) {
	tests := []struct {
		name     string
		change   fields
		by       func(testing.TB) signing
		says     string
		notReady bool
	}{
		{"no files yet", fields{"respCode": "98", "fileContent": "-"}, production, "", true},
		{"no files yet, unsigned", fields{"respCode": "98", "fileContent": "-"}, nil, "", true},
		{"busy", fields{"respCode": "03", "fileContent": "-"}, production, "ask again later", false},
		{"refused", fields{"respCode": "11", "respMsg": "验证签名失败"}, nil, "验证签名失败", false},
		{"unsigned", nil, nil, "not signed", false},
		{"signed by the test environment", nil, testCN, "not UnionPay", false},
		{"another day's", fields{"settleDate": "1128"}, production, "asked was 1129", false},
		{"an older answer", fields{"txnTime": "20261129091500"}, production, "asked was 20261130091500", false},
		{"another merchant's", fields{"merId": "777000000000002"}, production, "is not 777000000000001", false},
		{"another day's files", fields{"fileContent": deflated(t, zipOf(t, "INN26112800ZM_777000000000001"))}, production, "is of another", false},
		{"content cut", fields{"fileContent": deflated(t, mustRead(t, "statements", "777000000000001_20261129.zip")[:400])}, production, "not a whole zip", false},
		{"no content", fields{"fileContent": "-"}, production, "missing or empty", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t, fileAnswer(t, tt.change))
			s.by = tt.by
			var saved apitest.Saved
			err := asking(t, s.server.URL, nil).FetchStatement(t.Context(), apitest.Client(t), day, morning, saved.Save)
			if err == nil || apitest.NotReady(err) != tt.notReady || !strings.Contains(err.Error(), tt.says) || saved.Names != nil {
				t.Errorf("error %v, saved %q", err, saved.Names)
			}
		})
	}
}

// The settlement day ends at 23:00 Beijing time.
func TestFetchStatementBeforeTheDayEnds(t *testing.T) {
	s := newStandIn(t, fileAnswer(t, nil))
	p := asking(t, s.server.URL, nil)
	for at, notReady := range map[time.Time]bool{
		time.Date(2026, 11, 29, 14, 59, 59, 0, time.UTC): true, time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC): false,
	} {
		if err := p.FetchStatement(t.Context(), apitest.Client(t), day, at, (&apitest.Saved{}).Save); apitest.NotReady(err) != notReady {
			t.Errorf("at %s: %v", at, err)
		}
	}
}

func TestFetchAndQueryMeetFaults(t *testing.T) {
	for _, fault := range apitest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			p := asking(t, apitest.Serve(t, fault.Answer).URL, nil)
			var saved apitest.Saved
			err := p.FetchStatement(t.Context(), apitest.Client(t), day, morning, saved.Save)
			if err == nil || apitest.NotReady(err) || saved.Names != nil {
				t.Errorf("fetch: %v", err)
			}
			_, events, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, TransactionID: "2026", Asked: now})
			if err == nil || !strings.Contains(err.Error(), fault.Says) || events != nil || apitest.Refused(err) != "" {
				t.Errorf("query: %v, %v", events, err)
			}
		})
	}
}

func TestAskingNeedsSettings(t *testing.T) {
	p := mustNew(t, nil)
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, now, (&apitest.Saved{}).Save); !apitest.CannotAsk(err) {
		t.Errorf("fetch: %v", err)
	}
	if _, _, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, TransactionID: "1", Asked: now}); !apitest.CannotAsk(err) {
		t.Errorf("query: %v", err)
	}
	for hosts, change := range map[string]map[string]any{
		"filedownload.95516.com gateway.95516.com":           nil,
		"filedownload.test.95516.com gateway.test.95516.com": {"test_environment": true},
		"10.0.0.1:8080":                        {"api": "http://10.0.0.1:8080"},
		"10.0.0.1:8080 filedownload.95516.com": {"api": "http://10.0.0.1:8080", "file_api": "https://filedownload.95516.com"},
	} {
		if got := strings.Join(mustNew(t, change).Hosts(), " "); got != hosts {
			t.Errorf("hosts %q, want %q", got, hosts)
		}
	}
	for setting, change := range map[string]map[string]any{
		"api": {"api": "http://gateway.95516.com"}, "file_api": {"file_api": "gateway"}, "sign_key": {"sign_cert": merchantCert},
		"sign_cert": {"sign_key": merchantKey}, "sign_cert: ": {"sign_key": merchantKey, "sign_cert": "keys/unionpay_sign_cert.cer"},
	} {
		if _, err := New(settings(t, change), kit); err == nil || !strings.Contains(err.Error(), "settings."+setting) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
