package alipay

import (
	"archive/zip"
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/callback/providertest/apitest"
	"paybook/models"
)

var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, rsaBitsMin)
	if err != nil {
		panic(err)
	}
	return key
})

// appKeyText is the key as Alipay's tool writes it: base64 alone.
func appKeyText() string {
	return base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(appKey()))
}

func asking(t *testing.T, at string, change map[string]any) *Provider {
	t.Helper()
	all := map[string]any{"api": at, "app_private_key": appKeyText()}
	for key, value := range change {
		all[key] = value
	}
	return mustNew(t, all)
}

// standIn is Alipay's gateway as far as its pages go.
type standIn struct {
	t       *testing.T
	server  *httptest.Server
	answers map[string]string // method and question → the part that is signed
	bill    []byte
	wrap    func(name, part string) string // nil: as it should be
	link    string
	asked   []url.Values
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, answers: map[string]string{}}
	s.server = apitest.Serve(t, s.serve)
	return s
}

// checkRequest is Alipay's side of the signature, written from its page: all parameters but sign, by name.
func checkRequest(r *http.Request) (url.Values, error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	f := fields{}
	for name, values := range r.Form {
		if len(values) != 1 {
			return r.Form, fmt.Errorf("%s is given %d times", name, len(values))
		}
		f[name] = values[0]
	}
	if f["app_id"] != "2021000000000001" || f["sign_type"] != "RSA2" || f["charset"] != "utf-8" || f["version"] != "1.0" || f["format"] != "JSON" {
		return r.Form, fmt.Errorf("parameters %v", r.Form)
	}
	if _, err := time.ParseInLocation(time.DateTime, f["timestamp"], beijing); err != nil {
		return r.Form, err
	}
	signature, err := base64.StdEncoding.DecodeString(f["sign"])
	if err != nil {
		return r.Form, err
	}
	digest := sha256.Sum256([]byte(signedText(f, "sign")))
	return r.Form, rsa.VerifyPKCS1v15(&appKey().PublicKey, crypto.SHA256, digest[:], signature)
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/downloadBillFile.resource" {
		_, _ = w.Write(s.bill)
		return
	}
	form, err := checkRequest(r)
	if s.asked = append(s.asked, form); err != nil || r.Method != http.MethodPost || r.URL.Path != "/gateway.do" {
		s.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	method := form.Get("method")
	name := strings.ReplaceAll(method, ".", "_") + "_response"
	part, known := s.answers[method+" "+form.Get("biz_content")]
	switch {
	case known:
	case method == "alipay.data.dataservice.bill.downloadurl.query":
		link := s.link
		if link == "" {
			link = s.server.URL + "/downloadBillFile.resource?bizType=trade&fileId=SECRETTOKEN"
		}
		part = `{"code":"10000","msg":"Success","bill_download_url":"` + strings.ReplaceAll(link, "/", `\/`) + `"}`
	default:
		part = `{"code":"40004","msg":"Business Failed","sub_code":"ACQ.TRADE_NOT_EXIST","sub_msg":"交易不存在"}`
	}
	if s.wrap != nil {
		_, _ = w.Write([]byte(s.wrap(name, part)))
		return
	}
	_, _ = w.Write([]byte(wrapped(s.t, name, part)))
}

func wrapped(t *testing.T, name, part string) string {
	return fmt.Sprintf(`{"%s":%s,"alipay_cert_sn":"%s","sign":"%s"}`, name, part, kitSN, sign(t, part))
}

func (s *standIn) putBill(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(kit, "statements", "20880000000000190156_20261129.csv.zip"))
	if err != nil {
		t.Fatal(err)
	}
	s.bill = raw
}

var (
	day     = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	morning = now.Add(24 * time.Hour)
)

func TestFetchStatement(t *testing.T) {
	s := newStandIn(t)
	s.putBill(t)
	var saved apitest.Saved
	if err := asking(t, s.server.URL+"/gateway.do", nil).FetchStatement(t.Context(), apitest.Client(t), day, morning, saved.Save); err != nil {
		t.Fatal(err)
	}
	if got := saved.Files["2088000000000019_20261129.csv.zip"]; len(saved.Names) != 1 || got != string(s.bill) {
		t.Errorf("saved %q", saved.Names)
	}
	if got := s.asked[0]; got.Get("biz_content") != `{"bill_date":"2026-11-29","bill_type":"trade"}` || got.Get("timestamp") != "2026-11-30 10:00:08" || got.Has("app_cert_sn") {
		t.Errorf("asked %v", got)
	}
}

func TestFetchStatementFails(t *testing.T) {
	question := `alipay.data.dataservice.bill.downloadurl.query {"bill_date":"2026-11-29","bill_type":"trade"}`
	refusing := func(code, sub string) func(*standIn) {
		return func(s *standIn) {
			s.answers[question] = `{"code":"` + code + `","msg":"x","sub_code":"` + sub + `","sub_msg":"x"}`
		}
	}
	tests := []struct {
		name     string
		change   func(s *standIn)
		says     string
		notReady bool
	}{
		{"not there yet", refusing("40004", "isp.bill_not_exist"), "", true},
		{"not there, as the old page says", refusing("40004", "BILL_NOT_EXIST"), "", true},
		{"no data", refusing("40004", "NO_BILL_DATA"), "", true},
		{"busy", refusing("20000", "isp.unknow-error"), "ask again later", false},
		{"not allowed", refusing("40003", "isv.invalid-signature"), "app_private_key", false},
		{"cut", func(s *standIn) { s.bill = s.bill[:len(s.bill)-100] }, "not a whole zip", false},
		{"a byte changed", func(s *standIn) { s.bill[200] ^= 1 }, "damaged", false},
		{"a page", func(s *standIn) { s.bill = []byte("<html>账单已过期</html>") }, "not a whole zip", false},
		{"nothing", func(s *standIn) { s.bill = nil }, "empty file", false},
		{"another day's", func(s *standIn) { s.bill = zipOf(t, "20880000000000190156_20261128_业务明细.csv") }, "a bill of 20261128", false},
		{"an empty zip", func(s *standIn) { s.bill = zipOf(t, "") }, "nothing in it", false},
		{"no link", func(s *standIn) { s.answers[question] = `{"code":"10000","msg":"Success"}` }, "is none", false},
		{"link to elsewhere", func(s *standIn) { s.link = "http://files.example/x?token=SECRETTOKEN" }, "not one of the account's hosts", false},
		{"link with a user", func(s *standIn) { s.link = "http://a:SECRETTOKEN@127.0.0.1/x" }, "is none", false},
		{"tampered", func(s *standIn) {
			s.wrap = func(name, part string) string {
				return strings.Replace(wrapped(s.t, name, part), "trade", "other", 1)
			}
		}, "sign does not fit", false},
		{"unsigned", func(s *standIn) {
			s.wrap = func(name, part string) string { return `{"` + name + `":` + part + `}` }
		}, "sign is missing", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			s.putBill(t)
			tt.change(s)
			var saved apitest.Saved
			err := asking(t, s.server.URL, nil).FetchStatement(t.Context(), apitest.Client(t), day, morning, saved.Save)
			if err == nil || apitest.NotReady(err) != tt.notReady || !strings.Contains(err.Error(), tt.says) || saved.Names != nil {
				t.Errorf("error %v, saved %q", err, saved.Names)
			}
			apitest.Secretless(t, err, "SECRETTOKEN", appKeyText()[:60])
		})
	}
	if err := asking(t, newStandIn(t).server.URL, nil).FetchStatement(t.Context(), apitest.Client(t), day, now, (&apitest.Saved{}).Save); !apitest.NotReady(err) {
		t.Errorf("before the day ends: %v", err)
	}
}

func zipOf(t *testing.T, name string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if name != "" {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFetchAndQueryMeetFaults(t *testing.T) {
	for _, fault := range apitest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			p := asking(t, apitest.Serve(t, fault.Answer).URL, nil)
			var saved apitest.Saved
			err := p.FetchStatement(t.Context(), apitest.Client(t), day, morning, saved.Save)
			if err == nil || !strings.Contains(err.Error(), fault.Says) || apitest.NotReady(err) || saved.Names != nil {
				t.Errorf("fetch: %v", err)
			}
			_, events, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, OrderID: "CNA1", Asked: now})
			if err == nil || !strings.Contains(err.Error(), fault.Says) || events != nil || apitest.Refused(err) != "" {
				t.Errorf("query: %v, %v", events, err)
			}
			apitest.Secretless(t, err, "CNA1", "biz_content", "sign=")
		})
	}
}

// In certificate mode each question names the certificates it is signed under.
func TestCertificateMode(t *testing.T) {
	s := newStandIn(t)
	s.putBill(t)
	p := asking(t, s.server.URL, map[string]any{"app_cert": kitCert, "alipay_root_cert": "keys/alipayRootCert.crt"})
	var saved apitest.Saved
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, morning, saved.Save); err != nil {
		t.Fatal(err)
	}
	if got := s.asked[0]; got.Get("app_cert_sn") != kitSN || len(got.Get("alipay_root_cert_sn")) != 32 {
		t.Errorf("asked %v", got)
	}
}

func TestAskingNeedsSettings(t *testing.T) {
	p := mustNew(t, nil)
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, now, (&apitest.Saved{}).Save); !apitest.CannotAsk(err) {
		t.Errorf("fetch: %v", err)
	}
	if _, _, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, OrderID: "1", Asked: now}); !apitest.CannotAsk(err) {
		t.Errorf("query: %v", err)
	}
	if got := strings.Join(p.Hosts(), " "); got != "dwbillcenter.alipay.com openapi.alipay.com" {
		t.Errorf("hosts %q", got)
	}
	for setting, change := range map[string]map[string]any{
		"api":              {"api": "http://openapi.alipay.com/gateway.do"},
		"app_private_key":  {"app_private_key": strings.Repeat("A", 800)},
		"app_cert":         {"app_private_key": appKeyText(), "alipay_root_cert": "keys/alipayRootCert.crt"},
		"alipay_root_cert": {"app_private_key": appKeyText(), "app_cert": kitCert},
		"bill_type":        {"bill_type": "merchant"},
	} {
		_, err := New(settings(t, change), kit)
		if err == nil || !strings.Contains(err.Error(), "settings."+setting) || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%s: %v", setting, err)
		}
	}
	file := filepath.Join(t.TempDir(), "app.pem")
	der, err := x509.MarshalPKCS8PrivateKey(appKey())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := mustNew(t, map[string]any{"app_private_key": file}); !p.api.key.Equal(appKey()) {
		t.Error("the key of the file is another")
	}
}

func mustText(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
