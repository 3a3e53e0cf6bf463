package alipay

import (
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/models"
)

var now = time.Date(2026, 11, 29, 2, 0, 8, 0, time.UTC)

type fields = map[string]string

// gone takes a field away; "" is an empty one, which is signed.
const gone = "\x00gone"

// payment is a genuine notification; change overrides fields.
func payment(change fields) fields {
	return with(fields{
		"notify_id": "2026112900222000000000000001358070", "notify_type": "trade_status_sync", "notify_time": "2026-11-29 10:00:07", "charset": "utf-8",
		"version": "1.0", "app_id": "2021000000000001", "auth_app_id": "2021000000000001", "seller_id": "2088000000000019",
		"seller_email": "merchant-test@example.com", "trade_no": "2026112922001400000000000001", "out_trade_no": "CNA20261129001", "subject": "红茶",
		"trade_status": "TRADE_SUCCESS", "total_amount": "20.00", "receipt_amount": "20.00", "buyer_pay_amount": "15.00",
		"gmt_create": "2026-11-29 09:59:50", "gmt_payment": "2026-11-29 10:00:05",
	}, change)
}

// refund is the same trade after 5.00 of it went back.
func refund(change fields) fields {
	return with(payment(fields{"refund_fee": "5.00", "gmt_refund": "2026-11-29 11:00:05.123", "out_biz_no": "R1", "notify_time": "2026-11-29 11:00:06"}), change)
}

func with(base, change fields) fields {
	maps.Copy(base, change)
	maps.DeleteFunc(base, func(_, v string) bool { return v == gone })
	return base
}

// signedText is written anew here, not taken from the code under test.
func signedText(f fields, leftOut ...string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(leftOut, name) {
			parts = append(parts, name+"="+f[name])
		}
	}
	return strings.Join(parts, "&")
}

// signed is the body as Alipay would send it: RSA2 over all fields.
func signed(tb testing.TB, f fields) string {
	tb.Helper()
	return encode(f) + "&sign_type=RSA2&sign=" + url.QueryEscape(sign(tb, signedText(f)))
}

func encode(f fields) string {
	values := url.Values{}
	for name, value := range f {
		values.Set(name, value)
	}
	return values.Encode()
}

func sign(tb testing.TB, text string) string {
	tb.Helper()
	digest := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(nil, kitPrivateKey(), crypto.SHA256, digest[:])
	if err != nil {
		tb.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(sig)
}

var kitPrivateKey = sync.OnceValue(func() *rsa.PrivateKey {
	raw, err := os.ReadFile(filepath.Join(kit, "keys", "alipay_private_key.TEST_ONLY.pem"))
	if err != nil {
		panic(err)
	}
	block, _ := pem.Decode(raw)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		panic(err)
	}
	return key.(*rsa.PrivateKey)
})

// otherPublicKey is a key that has signed nothing, as PEM.
func otherPublicKey(tb testing.TB) string {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, rsaBitsMin)
	if err != nil {
		tb.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		tb.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func post(body string) models.Callback {
	h := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}
	return models.Callback{Account: Name, Method: http.MethodPost, Path: "/callbacks/alipay", Headers: h, Body: []byte(body), ReceivedAt: now}
}

func verify(tb testing.TB, p *Provider, body string) (models.Event, error) {
	tb.Helper()
	events, err := p.Verify(tb.Context(), post(body))
	if err != nil {
		return models.Event{}, err
	}
	if len(events) != 1 {
		tb.Fatalf("%d events, want 1", len(events))
	}
	return events[0], nil
}

// tell signs and verifies one message.
func tell(tb testing.TB, p *Provider, f fields) (models.Event, error) {
	tb.Helper()
	return verify(tb, p, signed(tb, f))
}

func wantReason(tb testing.TB, err error, want models.Reason) {
	tb.Helper()
	var rejection *models.Rejection
	if !errors.As(err, &rejection) || rejection.Reason != want {
		tb.Errorf("Verify = %v, want a refusal for %s", err, cmp.Or(want, "nothing"))
	}
}

func cny(minor int64) models.Money { return models.Money{Minor: minor, Currency: "CNY"} }
