// Package acmekit makes the test kit of the example provider, Acme Pay.
package acmekit

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"paybook/callback"
	"paybook/callback/providertest/acmepay"
)

// Secret is what the recordings are signed with.
const Secret = "acme-secret-of-the-tests"

// Make records a day of Acme Pay and returns its folder, laid out as testdata/<provider> is: settings, orders, callbacks, the statement
// of 2026-11-27, and what must come out. The last callback is forged, so its payment of 7.50 EUR is missing in the book.
func Make(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"callbacks", "statements"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "config.json", `{"secret":"`+Secret+`"}`)
	write(t, dir, "orders.json", `[{"order_id":"A-1","amount":"49.99","currency":"EUR"},{"order_id":"A-2","amount":"7.50","currency":"EUR"}]`)
	write(t, dir, "statements/acme_2026-11-27.csv", `kind,id,payment,order,amount,currency,time
payment,pay_1,,A-1,49.99,EUR,2026-11-27T09:00:00Z
refund,ref_1,pay_1,A-1,9.99,EUR,2026-11-27T10:00:00Z
payment,pay_2,,A-2,7.50,EUR,2026-11-27T11:00:00Z
`)
	write(t, dir, "expected_reconciliation.json", `{"statement_rows":3,"matched":2,"gaps":[{"type":"missing_local","kind":"payment","transaction_id":"pay_2"}]}`)
	record(t, dir, "01_paid", `{"type":"paid","id":"pay_1","order":"A-1","amount":"49.99","currency":"EUR","at":"2026-11-27T09:00:00Z"}`, true,
		callback.Expect{Event: "payment.succeeded", TransactionID: "pay_1", OrderID: "A-1", Amount: "49.99", Currency: "EUR", OccurredAt: "2026-11-27T09:00:00Z", Effect: "apply"})
	record(t, dir, "02_refunded", `{"type":"refunded","id":"ref_1","payment":"pay_1","order":"A-1","amount":"9.99","currency":"EUR","at":"2026-11-27T10:00:00Z"}`, true,
		callback.Expect{Event: "refund.succeeded", TransactionID: "ref_1", ParentID: "pay_1", Amount: "9.99", Currency: "EUR", Effect: "apply"})
	record(t, dir, "03_other", `{"type":"greeting"}`, true, callback.Expect{Event: "unknown", Effect: "ignore"})
	record(t, dir, "04_without_id", `{"type":"paid","amount":"1.00","currency":"EUR"}`, true, callback.Expect{Event: "unparsable", Effect: "quarantine"})
	record(t, dir, "05_forged", `{"type":"paid","id":"pay_2","order":"A-2","amount":"7.50","currency":"EUR","at":"2026-11-27T11:00:00Z"}`, false,
		callback.Expect{Reason: "signature", Effect: "reject"})
	return dir
}

func record(t testing.TB, dir, name, body string, genuine bool, expect callback.Expect) {
	t.Helper()
	secret := Secret
	expect.Verified, expect.ReplyStatus = genuine, 200
	if !genuine {
		secret, expect.ReplyStatus = "a stranger's", 401
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	rec := callback.Recording{Name: name, Provider: acmepay.Name, Method: "POST", Path: "/callbacks/" + acmepay.Name, Body: []byte(body), Expect: expect,
		Headers:    map[string]string{"Acme-Signature": hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/json"},
		ReceivedAt: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)}
	if err := callback.WriteRecording(filepath.Join(dir, "callbacks", name+".json"), rec); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
