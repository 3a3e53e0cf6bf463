package wechatpay

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/callback/ask"
	"paybook/callback/providertest/apitest"
	"paybook/models"
)

const merchantSerial = "3775B6A45ACD588826D15E583A95F5DD00000001"

var merchantKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, rsaBitsMin)
	if err != nil {
		panic(err)
	}
	return key
})

func merchantPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(merchantKey())}))
}

// asking is the kit's account with what it takes to ask at an address.
func asking(t *testing.T, at string, change fields) *Provider {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(kit, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	settings := fields{}
	if err := json.Unmarshal(raw, &settings); err != nil {
		t.Fatal(err)
	}
	for key, value := range with(fields{"api": at, "merchant_private_key": merchantPEM(), "merchant_serial": merchantSerial}, nil) {
		settings[key] = value
	}
	p, err := New(mustJSON(t, with(settings, change)), kit)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var authorization = regexp.MustCompile(`^WECHATPAY2-SHA256-RSA2048 mchid="(\d+)",nonce_str="([^"]+)",signature="([^"]+)",timestamp="(\d+)",serial_no="([^"]+)"$`)

// checkRequest is WeChat Pay's side of the signature, written from its page.
func checkRequest(r *http.Request) error {
	got := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if got == nil || got[1] != "1999999901" || got[5] != merchantSerial || got[4] != fmt.Sprint(now.Add(24*time.Hour).Unix()) && got[4] != fmt.Sprint(now.Unix()) {
		return fmt.Errorf("Authorization is %q", r.Header.Get("Authorization"))
	}
	if r.Header.Get("Accept") != "application/json" || r.Header.Get("User-Agent") == "" {
		return fmt.Errorf("headers %v", r.Header)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	text := r.Method + "\n" + r.URL.RequestURI() + "\n" + got[4] + "\n" + got[2] + "\n" + string(body) + "\n"
	signature, err := base64.StdEncoding.DecodeString(got[3])
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(text))
	return rsa.VerifyPKCS1v15(&merchantKey().PublicKey, crypto.SHA256, digest[:], signature)
}

// standIn is WeChat Pay's API as far as its page goes. What a test changes is a field.
type standIn struct {
	t       *testing.T
	server  *httptest.Server
	at      time.Time // its clock
	orders  map[string]any
	bill    []byte // as it is sent
	digest  string // of the unpacked bill
	refusal string // a code instead of the bill
	link    string // where the bill is said to be; "": here
	tamper  func(body []byte) []byte
	key     string // file of the key that signs, "": the certificate's
	asked   []string
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, at: now, orders: map[string]any{}}
	s.server = apitest.Serve(t, s.serve)
	return s
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.URL.RequestURI())
	if err := checkRequest(r); err != nil {
		s.t.Errorf("%s: %v", r.URL, err)
		http.Error(w, `{"code":"SIGN_ERROR"}`, http.StatusUnauthorized)
		return
	}
	switch r.URL.Path {
	case "/v3/bill/tradebill":
		s.tellBill(w, r)
	case "/v3/billdownload/file":
		_, _ = w.Write(s.bill)
	default:
		answer, known := s.orders[r.URL.RequestURI()]
		if !known {
			s.answer(w, http.StatusNotFound, fields{"code": "ORDER_NOT_EXIST", "message": "订单不存在"})
			return
		}
		s.answer(w, http.StatusOK, answer)
	}
}

func (s *standIn) tellBill(w http.ResponseWriter, r *http.Request) {
	if got := r.URL.RawQuery; got != "bill_date=2026-11-29&bill_type=ALL&tar_type=GZIP" {
		s.t.Errorf("asked for %s", got)
	}
	if s.refusal != "" {
		s.answer(w, http.StatusBadRequest, fields{"code": s.refusal, "message": "x"})
		return
	}
	link := s.link
	if link == "" {
		link = s.server.URL + "/v3/billdownload/file?token=SECRETTOKEN"
	}
	s.answer(w, http.StatusOK, fields{"hash_type": "SHA1", "hash_value": s.digest, "download_url": link})
}

// answer signs as callbacks are signed.
func (s *standIn) answer(w http.ResponseWriter, status int, v any) {
	body, key := mustJSON(s.t, v), s.key
	if key == "" {
		key = certKey
	}
	for name, values := range signed(s.t, body, s.at, certSerial, key).Headers {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	if s.tamper != nil {
		body = s.tamper(body)
	}
	_, _ = w.Write(body)
}

func (s *standIn) putBill(t *testing.T, packed bool) string {
	t.Helper()
	plain, err := os.ReadFile(filepath.Join(kit, "statements", "tradebill_ALL_2026-11-29.csv"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha1.Sum(plain)
	s.bill, s.digest = plain, hex.EncodeToString(sum[:])
	if packed {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		s.bill = b.Bytes()
	}
	return string(plain)
}

var day = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

func (s *standIn) fetch(t *testing.T, p *Provider) (apitest.Saved, error) {
	t.Helper()
	s.at = now.Add(24 * time.Hour)
	var saved apitest.Saved
	err := p.FetchStatement(t.Context(), apitest.Client(t), day, s.at, saved.Save)
	return saved, err
}

func TestFetchStatement(t *testing.T) {
	for _, packed := range []bool{true, false} {
		s := newStandIn(t)
		plain := s.putBill(t, packed)
		saved, err := s.fetch(t, asking(t, s.server.URL, nil))
		if err != nil {
			t.Fatal(err)
		}
		name := map[bool]string{true: "tradebill_ALL_2026-11-29.csv.gz", false: "tradebill_ALL_2026-11-29.csv"}[packed]
		if len(saved.Names) != 1 || saved.Files[name] != string(s.bill) {
			t.Fatalf("saved %q", saved.Names)
		}
		got := saved.Files[name]
		if packed {
			z, err := gzip.NewReader(strings.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			got = string(raw)
		}
		if got != plain {
			t.Error("the bill that was saved is not the one that was sent")
		}
	}
}

func TestFetchStatementFails(t *testing.T) {
	tests := []struct {
		name   string
		change func(s *standIn)
		says   string
		ready  bool // false and says "": not ready
	}{
		{"no bill yet", func(s *standIn) { s.refusal = "NO_STATEMENT_EXIST" }, "", false},
		{"being made", func(s *standIn) { s.refusal = "STATEMENT_CREATING" }, "", false},
		{"another refusal", func(s *standIn) { s.refusal = "PARAM_ERROR" }, `"PARAM_ERROR"`, true},
		{"answer changed", func(s *standIn) {
			s.tamper = func(b []byte) []byte { return bytes.Replace(b, []byte("SHA1"), []byte("SHA2"), 1) }
		}, "does not fit", true},
		{"another key", func(s *standIn) { s.key = publicKey }, "does not fit", true},
		{"digest differs", func(s *standIn) { s.digest = strings.Repeat("0", 40) }, "is not kept", true},
		{"cut", func(s *standIn) { s.bill = s.bill[:len(s.bill)/2] }, "cannot be unpacked", true},
		{"a byte changed", func(s *standIn) { s.bill[len(s.bill)/2] ^= 1 }, "", true},
		{"empty", func(s *standIn) { s.bill = nil }, "empty file", true},
		{"a login page", func(s *standIn) { s.bill = []byte("<html>") }, "is not kept", true},
		{"link without a host", func(s *standIn) { s.link = "/v3/billdownload/file?token=SECRETTOKEN" }, "is none", true},
		{"link with a user", func(s *standIn) { s.link = "http://a:SECRETTOKEN@127.0.0.1/x" }, "is none", true},
		{"link to elsewhere", func(s *standIn) { s.link = "http://files.example/x?token=SECRETTOKEN" }, "not one of the account's hosts", true},
		{"link of a file", func(s *standIn) { s.link = "file:///etc/passwd" }, "is none", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			s.putBill(t, true)
			tt.change(s)
			saved, err := s.fetch(t, asking(t, s.server.URL, nil))
			if err == nil || apitest.NotReady(err) == tt.ready || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v", err)
			}
			if saved.Names != nil {
				t.Errorf("saved %q", saved.Names)
			}
			apitest.Secretless(t, err, "SECRETTOKEN", merchantPEM()[60:120])
		})
	}
}

func TestFetchStatementBeforeTheDayEnds(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	for at, ready := range map[string]bool{"2026-11-29T15:59:59Z": false, "2026-11-29T16:00:00Z": true} {
		clock, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		zone, cut := p.Calendar()
		_, _, err = ask.Day(zone, cut, day, clock)
		if apitest.NotReady(err) == ready {
			t.Errorf("at %s: %v", at, err)
		}
	}
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, now, (&apitest.Saved{}).Save); !apitest.NotReady(err) {
		t.Errorf("error %v", err)
	}
	if s.asked != nil {
		t.Errorf("asked %q all the same", s.asked)
	}
}

func TestFetchAndQueryMeetFaults(t *testing.T) {
	for _, fault := range apitest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			p := asking(t, apitest.Serve(t, fault.Answer).URL, nil)
			var saved apitest.Saved
			err := p.FetchStatement(t.Context(), apitest.Client(t), day, now.Add(24*time.Hour), saved.Save)
			if err == nil || !strings.Contains(err.Error(), fault.Says) || apitest.NotReady(err) || saved.Names != nil {
				t.Errorf("fetch: %v", err)
			}
			_, events, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, OrderID: "CNW1", Asked: now})
			if err == nil || !strings.Contains(err.Error(), fault.Says) || events != nil || apitest.Refused(err) != "" {
				t.Errorf("query: %v, %v", events, err)
			}
			apitest.Secretless(t, err, "CNW1")
		})
	}
}

func TestSlowServiceEndsWithTheContext(t *testing.T) {
	asked, done := make(chan struct{}, 1), make(chan struct{})
	p := asking(t, apitest.Serve(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-done }).URL, nil)
	defer close(done)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, _, err := p.Query(ctx, apitest.Client(t), models.Query{Kind: models.Payment, OrderID: "CNW1", Asked: now})
	if err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("error %v", err)
	}
}

func TestAskingNeedsSettings(t *testing.T) {
	p := asking(t, "", fields{"merchant_private_key": nil, "merchant_serial": nil})
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, now, (&apitest.Saved{}).Save); !apitest.CannotAsk(err) {
		t.Errorf("fetch: %v", err)
	}
	if _, _, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, OrderID: "1", Asked: now}); !apitest.CannotAsk(err) {
		t.Errorf("query: %v", err)
	}
	if got := p.Hosts(); len(got) != 1 || got[0] != "api.mch.weixin.qq.com" {
		t.Errorf("hosts %q", got)
	}
	if got := asking(t, "https://proxy.example:8443/wechat/", fields{"download_hosts": []string{"files.example"}}).Hosts(); strings.Join(got, " ") != "files.example proxy.example:8443" {
		t.Errorf("hosts %q", got)
	}
}

func TestAskingRefusesSettings(t *testing.T) {
	for setting, wrong := range map[string]any{
		"api": "http://api.mch.weixin.qq.com", "merchant_serial": "12", "merchant_private_key": "no-such-file.pem",
	} {
		raw, err := os.ReadFile(filepath.Join(kit, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		settings := fields{"merchant_private_key": merchantPEM(), "merchant_serial": merchantSerial}
		if err := json.Unmarshal(raw, &settings); err != nil {
			t.Fatal(err)
		}
		settings[setting] = wrong
		if _, err := New(mustJSON(t, settings), kit); err == nil || !strings.Contains(err.Error(), "settings."+setting) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
