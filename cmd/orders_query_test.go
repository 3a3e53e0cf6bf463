package cmd

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// platform is WeChat Pay as far as it answers questions about orders, with a key of its own.
type platform struct {
	*httptest.Server
	key    *rsa.PrivateKey
	answer string // "": it does not know the order
	forged atomic.Bool
}

const platformKeyID = "PUB_KEY_ID_0119999999012026112900000000000009"

func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, body := http.StatusOK, p.answer
	if body == "" {
		status, body = http.StatusNotFound, `{"code":"ORDER_NOT_EXIST","message":"x"}`
	}
	at := fmt.Sprint(time.Now().Unix())
	digest := sha256.Sum256([]byte(at + "\nnonce\n" + body + "\n"))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, digest[:])
	if err != nil {
		panic(err)
	}
	if p.forged.Load() {
		signature[0] ^= 1
	}
	h := w.Header()
	h.Set("Wechatpay-Timestamp", at)
	h.Set("Wechatpay-Nonce", "nonce")
	h.Set("Wechatpay-Serial", platformKeyID)
	h.Set("Wechatpay-Signature", base64.StdEncoding.EncodeToString(signature))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}

// asksWechat is a shop with one WeChat Pay account that asks a platform of the test's own.
func asksWechat(t *testing.T) (*shell, *platform) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &platform{key: key}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"public.pem": {Type: "PUBLIC KEY", Bytes: public}, "merchant.pem": {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conf := fmt.Sprintf(`
accounts:
  - name: wechatpay
    provider: wechatpay
    settings: {mchid: "1999999901", appid: "wx0000000000000001", api_v3_key: TestOnlyApiV3Key0123456789abcdef, api: %q,
      public_keys: {%s: public.pem}, merchant_private_key: "file:merchant.pem", merchant_serial: 3775B6A45ACD588826D15E583A95F5DD00000001}
`, p.URL, platformKeyID)
	if err := os.WriteFile(filepath.Join(dir, "app.yaml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, global: []string{"--config", dir + "/app.yaml", "--database", "sqlite:" + dir + "/app.db"}}
	s.ok("import", "orders", s.file("orders.csv", "order_id,amount,currency,status\nO-1,20.00,CNY,paying\n"))
	return s, p
}

const wechatAnswer = `{"amount":{"currency":"CNY","payer_currency":"CNY","payer_total":2000,"total":2000},"appid":"wx0000000000000001","mchid":"1999999901",
"out_trade_no":"O-1","success_time":"2026-11-29T10:00:00+08:00","trade_state":"SUCCESS","trade_type":"JSAPI","transaction_id":"4200009"}`

// What a provider answers is verified and recorded as a callback is.
func TestOrdersQuery(t *testing.T) {
	s, p := asksWechat(t)
	s.fails([]string{"not found"}, "orders", "query", "O-9")
	s.fails([]string{"no account", "paypal"}, "orders", "query", "O-1", "--account", "paypal")
	if code, out, talk := s.run("orders", "query", "O-1"); code != exitLook || !strings.Contains(out, "nothing known") {
		t.Errorf("not known: exit %d\n%s%s", code, out, talk)
	}
	p.answer = wechatAnswer
	p.forged.Store(true)
	s.fails([]string{"refused", "signature"}, "orders", "query", "O-1")
	if out := s.ok("orders", "show", "O-1"); !strings.Contains(out, "paying") || strings.Contains(out, "4200009") {
		t.Errorf("a forged answer was booked:\n%s", out)
	}
	p.forged.Store(false)
	var answers []answerJSON
	s.json(&answers, "orders", "query", "O-1")
	if len(answers) != 1 || len(answers[0].Events) != 1 || fmt.Sprint(answers[0].Events[0]) != "{payment.succeeded 4200009 O-1 20.00 CNY 2026-11-29T10:00:00+08:00 applied}" {
		t.Errorf("answers: %+v", answers)
	}
	var o struct {
		Status       string
		Transactions []struct{ Source string }
	}
	s.json(&o, "orders", "show", "O-1")
	if o.Status != "paid" || len(o.Transactions) != 1 || o.Transactions[0].Source != "callback" {
		t.Errorf("the order is %+v", o)
	}
	s.json(&answers, "orders", "query", "O-1") // of a paid order: the account that has paid it
	if len(answers) != 1 || len(answers[0].Events) != 1 || answers[0].Events[0].Outcome != "duplicate" {
		t.Errorf("asked again: %+v", answers)
	}
	var kept []struct{ Outcome, Reason string }
	s.json(&kept, "callbacks", "list")
	if len(kept) != 2 || kept[0].Outcome+kept[1].Outcome != "applied" || kept[0].Reason+kept[1].Reason != "signature" {
		t.Errorf("the evidence: %+v", kept)
	}
}

// A server asks by itself.
func TestServerAsksAboutStuckOrders(t *testing.T) {
	s, p := asksWechat(t)
	p.answer = wechatAnswer
	a := &app{configFile: s.global[1], database: s.global[3], now: time.Now, env: lookup(nil)}
	conf, err := a.config()
	if err != nil {
		t.Fatal(err)
	}
	if conf.Ledger.AskAfter != 10*time.Minute {
		t.Errorf("it asks after %v", conf.Ledger.AskAfter)
	}
	a.now = func() time.Time { return time.Now().Add(11 * time.Minute) }
	book, err := a.openBook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	svc := &service{conf: conf, book: book, log: slog.New(slog.DiscardHandler), now: time.Now}
	chores := svc.inquiries()
	if len(chores) != 1 {
		t.Fatalf("%d chores", len(chores))
	}
	if err := chores[0].Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := s.ok("orders", "show", "O-1"); !strings.Contains(out, "4200009") {
		t.Errorf("nobody asked:\n%s", out)
	}
	conf.Inquiries.After = 0
	if len(svc.inquiries()) != 0 {
		t.Error("orders.query.after is 0, and it asks")
	}
}
