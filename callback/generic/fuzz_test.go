package generic_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/callback/providertest"
	"paybook/models"
)

// FuzzVerify: nothing but the kit's own bytes is accepted.
func FuzzVerify(f *testing.F) {
	providertest.FuzzVerify(f, mustOpen(f, "demopay"), testdata+"/demopay", providertest.Signed("X-Demo-Timestamp"), providertest.Varied("X-Demo-Signature"))
}

// FuzzSigned: whatever is signed, Verify returns one event or a rejection, and money only with an id and a currency.
func FuzzSigned(f *testing.F) {
	for _, body := range []string{payment, "{}", "null", `{"type":"payment","status":"SUCCESS"}`, `{"type":"refund.x","txn":1e9,"amount":-1}`, "\x00", `{"a":[`} {
		f.Add(body, "")
	}
	f.Add(payment, "sha256=00")
	p := mustNew(f, settings(nil))
	f.Fuzz(func(t *testing.T, body, signature string) {
		cb := signed(body, now)
		if signature != "" {
			cb.Headers.Set("X-Signature", signature)
		}
		var e models.Event
		var err error
		providertest.Bounded(t, len(body)+len(signature), func() { e, err = verify(p, cb) })
		if err != nil {
			if rejection := (*models.Rejection)(nil); !errors.As(err, &rejection) {
				t.Fatalf("error = %v, want a rejection", err)
			}
			return
		}
		if e.Kind == models.PaymentSucceeded && (e.TransactionID == "" || e.Money.Currency == "" || e.Money.Minor < 0 || e.OccurredAt.IsZero()) {
			t.Fatalf("half a payment: %+v", e)
		}
	})
}

// FuzzReadStatement: whatever the file, every entry has an identity, and an error is a *models.FileError.
func FuzzReadStatement(f *testing.F) {
	for _, text := range []string{demopayFile(f), header + "T1,O1,payment,1.00,CNY,paid,2026-11-29 10:00:00\n", otherFile, "", "\"", "a\n\"b", "\xff"} {
		f.Add(text)
	}
	providers := map[string]*generic.Provider{"demopay": mustOpen(f, "demopay"), "default": mustNew(f, settings(nil)), "other": mustNew(f, settings(otherLayout))}
	f.Fuzz(func(t *testing.T, text string) {
		for name, p := range providers {
			var err error
			providertest.Bounded(t, len(text), func() {
				_, err = p.ReadStatement("day.csv", strings.NewReader(text), shanghai, func(e models.Entry) error {
					if e.Line < 1 || e.Kind == models.Payment && (e.TransactionID == "" || e.Money.Minor < 0) {
						t.Errorf("%s: entry %+v", name, e)
					}
					return nil
				})
			})
			if fileError := (*models.FileError)(nil); err != nil && !errors.As(err, &fileError) {
				t.Errorf("%s: error = %v, want a *models.FileError", name, err)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	p := mustNew(b, settings(nil))
	cb := signed(`{"transaction_id":"bench-1","order":"O000000000001","amount":"12.34","currency":"CNY","status":"SUCCESS","type":"payment",`+
		`"txn":"bench-1","at":"2026-11-29T10:00:00+08:00","attach":"sku-1001","payer":"o-abcdefghijk"}`, now)
	b.ReportAllocs()
	for b.Loop() {
		if events, err := p.Verify(context.Background(), cb); err != nil || events[0].Kind != models.PaymentSucceeded {
			b.Fatal(events, err)
		}
	}
}

func BenchmarkReadStatement(b *testing.B) {
	text, err := io.ReadAll(manyRows(10_000))
	if err != nil {
		b.Fatal(err)
	}
	p := mustNew(b, settings(nil))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.ReadStatement("day.csv", bytes.NewReader(text), shanghai, func(models.Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
