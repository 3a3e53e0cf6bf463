package wechatpay

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"paybook/models"
)

// certSerial and publicKeyID are the kit's two keys; certKey and publicKey the files that sign for them.
const (
	certSerial  = "5A27B42EDEC99405C1DFBFE644E98BFDD13D749E"
	publicKeyID = "PUB_KEY_ID_0119999999012026112900000000000001"
	certKey     = "platform_private_key.TEST_ONLY.pem"
	publicKey   = "wechatpay_public_key_private.TEST_ONLY.pem"
	kitNonce    = "0123456789abcdef0123456789abcdef"
)

var now = time.Date(2026, 11, 29, 2, 0, 3, 0, time.UTC)

type fields = map[string]any

// payment is a genuine plaintext; change overrides fields, nil takes one away.
func payment(change fields) fields {
	return with(fields{
		"mchid": "1999999901", "appid": "wx0000000000000001", "transaction_id": "4200002999202611290000000001",
		"out_trade_no": "CNW20261129001", "trade_state": "SUCCESS", "success_time": "2026-11-29T10:00:00+08:00",
		"amount": fields{"total": 2000, "payer_total": 1500, "currency": "CNY", "payer_currency": "CNY"},
	}, change)
}

func refund(change fields) fields {
	return with(fields{
		"mchid": "1999999901", "transaction_id": "4200002999202611290000000001", "out_trade_no": "CNW20261129001",
		"refund_id": "50302902992026112900000000001", "out_refund_no": "CNWR20261129001", "refund_status": "SUCCESS",
		"success_time": "2026-11-29T11:00:00+08:00", "amount": fields{"total": 2000, "refund": 500, "payer_total": 1500, "payer_refund": 400},
	}, change)
}

func with(base, change fields) fields {
	maps.Copy(base, change)
	maps.DeleteFunc(base, func(_ string, v any) bool { return v == nil })
	return base
}

// sealed is the signed envelope around a plaintext, which is fields or ready text.
func sealed(tb testing.TB, p *Provider, eventType string, plain any, change fields) []byte {
	tb.Helper()
	text, ok := plain.(string)
	if !ok {
		text = string(mustJSON(tb, plain))
	}
	nonce := "WrOZqYZxODzh"
	resource := fields{
		"original_type": "transaction", "algorithm": "AEAD_AES_256_GCM", "associated_data": "transaction", "nonce": nonce,
		"ciphertext": base64.StdEncoding.EncodeToString(p.resource.Seal(nil, []byte(nonce), []byte(text), []byte("transaction"))),
	}
	return mustJSON(tb, with(fields{
		"id": "00000000-2026-5129-8000-000000000099", "create_time": "2026-11-29T10:00:01+08:00", "event_type": eventType,
		"resource_type": "encrypt-resource", "summary": "支付成功", "resource": resource,
	}, change))
}

func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// signed is the request as the provider would send it at that time, received at now.
func signed(tb testing.TB, body []byte, at time.Time, serial, keyFile string) models.Callback {
	tb.Helper()
	ts := strconv.FormatInt(at.Unix(), 10)
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n", ts, kitNonce, body))
	sig, err := rsa.SignPKCS1v15(nil, mustKey(tb, keyFile), crypto.SHA256, digest[:])
	if err != nil {
		tb.Fatal(err)
	}
	h := http.Header{}
	h.Set("Wechatpay-Serial", serial)
	h.Set("Wechatpay-Timestamp", ts)
	h.Set("Wechatpay-Nonce", kitNonce)
	h.Set("Wechatpay-Signature", base64.StdEncoding.EncodeToString(sig))
	return models.Callback{Account: Name, Method: http.MethodPost, Path: "/callbacks/wechatpay", Headers: h, Body: body, ReceivedAt: now}
}

func mustKey(tb testing.TB, file string) *rsa.PrivateKey {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(kit, "keys", file))
	if err != nil {
		tb.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		tb.Fatal(err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		tb.Fatalf("%s holds a %T", file, key)
	}
	return private
}

// tell signs and verifies one message with the platform certificate.
func tell(tb testing.TB, p *Provider, body []byte) (models.Event, error) {
	tb.Helper()
	events, err := p.Verify(tb.Context(), signed(tb, body, now, certSerial, certKey))
	if err != nil {
		return models.Event{}, err
	}
	if len(events) != 1 {
		tb.Fatalf("%d events, want 1", len(events))
	}
	return events[0], nil
}

func wantReason(tb testing.TB, err error, want models.Reason) {
	tb.Helper()
	var rejection *models.Rejection
	if !errors.As(err, &rejection) || rejection.Reason != want {
		tb.Errorf("Verify = %v, want a refusal for %s", err, want)
	}
}
