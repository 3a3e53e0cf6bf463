package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// What a provider may have to be asked about is noted in the transaction that gives rise to it, once.
func TestInquiriesAreNoted(t *testing.T) {
	now := runDay
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn, ledger.Options{AskAfter: 10 * time.Minute, Now: func() time.Time { return now }})
		now = runDay
		for _, id := range []string{"O1", "O2", "O3"} {
			ledgertest.Order(t, b, id, "20.00", "CNY")
		}
		ledgertest.Orders(t, b, models.Order{OrderID: "O4", AmountMinor: 2000, Currency: "CNY", Status: models.Paying})
		if _, err := b.Act(t.Context(), ledger.Act{OrderID: "O1", On: models.OrderPay}); err != nil {
			t.Fatal(err)
		}
		money := models.Money{Minor: 2000, Currency: "CNY"}
		pending := models.Event{Kind: models.PaymentPending, TransactionID: "ch2", OrderID: "O2", Money: money, OccurredAt: now}
		thin := models.Event{Kind: models.EventThin, ParentID: "tr3", OccurredAt: now}
		blind := models.Event{Kind: models.EventThin, OccurredAt: now, Detail: "names nothing"}
		for _, ev := range []models.Event{pending, pending, thin, thin, blind, lostPayment(3)} {
			if _, err := record(t.Context(), b, "shop", ev); err != nil {
				t.Fatal(err)
			}
		}
		due := func() (list []string) {
			found, err := b.DueInquiries(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range found {
				list = append(list, fmt.Sprintf("%.9s %s %s %s", i.Subject, i.Account, i.Query.OrderID, i.Query.TransactionID))
			}
			return list
		}
		if got := due(); len(got) != 1 || got[0] != "callback/ shop  tr3" {
			t.Errorf("due at once: %q", got)
		}
		now = now.Add(10 * time.Minute)
		want := []string{"callback/ shop  tr3", "order/O1  O1 ", "order/O4  O4 ", "payment/c shop O2 ch2"}
		if got := due(); !slices.Equal(got, want) {
			t.Errorf("due later: %q, want %q", got, want)
		}
		i, err := b.Inquiry(t.Context(), ledger.AboutOrder+"O1", "")
		if err != nil {
			t.Fatal(err)
		}
		next := now.Add(time.Hour)
		i.Tries, i.LastAt, i.NextAt, i.Result = 1, &now, &next, "nothing known"
		if err := b.PutInquiry(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		if again, err := b.Inquiry(t.Context(), i.Subject, ""); err != nil || again.Tries != 1 || !again.NextAt.Equal(next) || again.Result != "nothing known" {
			t.Errorf("kept: %+v, %v", again, err)
		}
		if err := b.EndInquiry(t.Context(), i); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Inquiry(t.Context(), i.Subject, ""); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("ended: %v", err)
		}
	})
}

// Where nobody can be asked, nothing is noted.
func TestNoInquiriesWithoutAnybodyToAsk(t *testing.T) {
	b := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db", ledger.Options{Now: func() time.Time { return runDay }})
	ledgertest.Orders(t, b, models.Order{OrderID: "O1", AmountMinor: 2000, Currency: "CNY", Status: models.Paying})
	if _, err := record(t.Context(), b, "shop", models.Event{Kind: models.EventThin, TransactionID: "tr", OccurredAt: runDay}); err != nil {
		t.Fatal(err)
	}
	if due, err := b.DueInquiries(t.Context(), 10); err != nil || len(due) != 0 {
		t.Errorf("noted: %+v, %v", due, err)
	}
}
