package paypal

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

// FuzzVerify: nothing but the kit's own bytes is accepted, whatever the headers name. Without a line, another certificate is no verdict.
func FuzzVerify(f *testing.F) {
	p := plainKit(f)
	p.downloads = newDownloads(unreachableNetwork{})
	providertest.FuzzVerify(f, p, kit, providertest.MayFail(), providertest.Signed("PAYPAL-TRANSMISSION-ID", "PAYPAL-TRANSMISSION-TIME", "PAYPAL-CERT-URL", "PAYPAL-AUTH-ALGO"),
		providertest.Varied("PAYPAL-TRANSMISSION-SIG"))
}

// FuzzSigned: whatever is signed, there are events or a rejection, the same each time.
func FuzzSigned(f *testing.F) {
	for _, rec := range providertest.Recordings(f, kit) {
		f.Add(string(rec.Body))
	}
	for _, body := range []string{goodBody, "{}", "null", "", `{"id":"WH","resource":[]}`, `{"event_type":"CUSTOMER.DISPUTE.RESOLVED","resource":{"disputed_transactions":[{}]}}`} {
		f.Add(body)
	}
	p := account(f, goodLeaf(f), nil)
	p.downloads = newDownloads(unreachableNetwork{})
	f.Fuzz(func(t *testing.T, body string) {
		cb := request(t, body)
		providertest.Bounded(t, len(body), func() {
			events, err := p.Verify(t.Context(), cb)
			if err != nil && (len(events) > 0 || !errors.As(err, new(*models.Rejection))) {
				t.Fatalf("%d events, %v; want a rejection", len(events), err)
			}
			if again, _ := p.Verify(t.Context(), cb); !reflect.DeepEqual(events, again) || err == nil && len(events) == 0 {
				t.Fatalf("%+v at first, then %+v", events, again)
			}
		})
	})
}

// FuzzEvent reads bodies as if they were proven: most forged ones never get there.
func FuzzEvent(f *testing.F) {
	for kind := range eventTypes {
		for _, resource := range []string{capture, refunded, authorized, sale, saleRefund, item, dispute, `{}`, `null`} {
			f.Add(kind, "", resource)
		}
	}
	f.Fuzz(func(t *testing.T, kind, resourceType, resource string) {
		defer func() {
			if r := recover(); r != nil {
				t.Fatalf("panic: %v", r)
			}
		}()
		m, ok := messageOf(kind, resourceType, resource)
		if !ok {
			t.Skip()
		}
		var events []models.Event
		providertest.Bounded(t, len(resource), func() { events = m.events() })
		for _, ev := range events {
			moves := ev.Kind == models.PaymentSucceeded || ev.Kind == models.RefundSucceeded || ev.Kind == models.DisputeLost
			if moves && (ev.Money.Minor <= 0 || ev.TransactionID == "" || ev.OccurredAt.IsZero()) {
				t.Errorf("%s of %s: %+v", kind, resource, ev)
			}
		}
	})
}

// FuzzReadStatement: a file is read or refused with its place.
func FuzzReadStatement(f *testing.F) {
	for _, raw := range providertest.Statements(f, kit) {
		f.Add(raw)
	}
	f.Add([]byte(payments()))
	f.Add([]byte(payments(`"`, "", ",", "\t")))
	f.Add([]byte("\xff\xfe\"\x00R\x00H\x00"))
	f.Add([]byte("Transaction ID,Gross\nx,1\n"))
	p := plain(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		var err error
		providertest.Bounded(t, len(text), func() {
			_, err = p.ReadStatement("x", bytes.NewReader(text), time.UTC, func(e models.Entry) error {
				if e.Line <= 0 || e.TransactionID == "" || e.Kind == "" || e.Kind.Compared() && e.Money.Minor < 0 {
					t.Errorf("entry %+v", e)
				}
				return nil
			})
		})
		if err != nil && !errors.As(err, new(*models.FileError)) {
			t.Errorf("ReadStatement = %v, want a *models.FileError", err)
		}
	})
}

// FuzzReadBalanceReport: likewise of an account that describes its balance report. What is not compared may have no id.
func FuzzReadBalanceReport(f *testing.F) {
	for _, raw := range providertest.Statements(f, kit) {
		f.Add(raw)
	}
	f.Add([]byte(payments()))
	f.Add([]byte(balanceFile(saleRow, bd("R", "CAP1", "", "Refund", "", "-1.00", "", "USD"))))
	f.Add([]byte(strings.Replace(balanceFile(saleRow), saleRow, plainHeader()+saleRow, 1)))
	f.Add([]byte("\"RH\",\"FEE_REPORT\"\nRF\n"))
	p := withBalance(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		var err error
		providertest.Bounded(t, len(text), func() {
			_, err = p.ReadStatement(balanceName, bytes.NewReader(text), time.UTC, func(e models.Entry) error {
				if e.Line <= 0 || e.Kind == "" || e.Kind.Compared() && (e.Money.Minor < 0 || e.TransactionID == "") {
					t.Errorf("entry %+v", e)
				}
				return nil
			})
		})
		if err != nil && !errors.As(err, new(*models.FileError)) {
			t.Errorf("ReadStatement = %v, want a *models.FileError", err)
		}
	})
}
