package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// ordered is an order of 20.00 CNY for two mugs of ten, to be paid within half an hour of noon.
func ordered(t *testing.T, b *ledger.Ledger, id string) {
	t.Helper()
	if _, err := b.ImportStock(t.Context(), func(yield func(models.Stock, error) bool) { yield(models.Stock{SKU: "mug", Quantity: 10}, nil) }); err != nil {
		t.Fatal(err)
	}
	until := noon().Add(30 * time.Minute)
	o := models.Order{OrderID: id, AmountMinor: 2000, Currency: "CNY", ExpiresAt: &until}
	if _, err := b.CreateOrder(t.Context(), ledger.NewOrder{Order: o, Items: []models.Item{{SKU: "mug", Quantity: 2}}}); err != nil {
		t.Fatal(err)
	}
}

func mugs(t *testing.T, b *ledger.Ledger) models.Stock {
	t.Helper()
	s, err := b.Stock(t.Context(), "mug")
	if err != nil {
		t.Fatal(err)
	}
	s.UpdatedAt = time.Time{}
	return s
}

// The units go with the order, and its window is open again: what ended meanwhile closes it.
func TestReversalReturnsUnitsAndWindow(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		now := noon()
		b := ledgertest.Open(t, dsn, ledger.Options{Now: func() time.Time { return now }})
		ordered(t, b, "O-ch1")
		r := repaired(t, b, plainAccount(t), "2026-11-28", reconcile.Repair{Apply: true}, statement(t, "ch1 2026-11-28 10:00:00"))
		if got, want := mugs(t, b), (models.Stock{SKU: "mug", Quantity: 10, Sold: 2}); got != want {
			t.Errorf("paid: %+v, want %+v", got, want)
		}
		now = now.Add(time.Hour)
		if n, err := b.Expire(t.Context(), 100); n != 0 || err != nil {
			t.Errorf("a paid order expired: %d, %v", n, err)
		}
		if _, err := b.ReverseRepair(t.Context(), r.Repair.ID, "bob", "wrong"); err != nil {
			t.Fatal(err)
		}
		if got, want := mugs(t, b), (models.Stock{SKU: "mug", Quantity: 10, Reserved: 2}); got != want {
			t.Errorf("reversed: %+v, want %+v", got, want)
		}
		if n, err := b.Expire(t.Context(), 100); n != 1 || err != nil {
			t.Errorf("its window has ended: %d closed, %v", n, err)
		}
		if got, want := mugs(t, b), (models.Stock{SKU: "mug", Quantity: 10}); got != want {
			t.Errorf("closed: %+v, want %+v", got, want)
		}
	})
}

// Money that came after the provider had closed the attempt, taken back, and told by a callback in the end: it is paid, as it was by the repair.
func TestReversalOfAnOrderThatWasClosedByTheProvider(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		ledgertest.Order(t, b, "O-ch1", "20.00", "CNY")
		callbackOf(t, b, models.Event{Kind: models.PaymentClosed, TransactionID: "ch0", OrderID: "O-ch1", Money: cny(2000), OccurredAt: noon()}, "closed")
		r := repaired(t, b, plainAccount(t), "2026-11-28", reconcile.Repair{Apply: true}, statement(t, "ch1 2026-11-28 10:00:00"))
		wantLines(t, "repair", repairLines(r.Repair), "booked missing_local payment ch1 applied [order.paid]")
		if _, err := b.ReverseRepair(t.Context(), r.Repair.ID, "bob", "wrong"); err != nil {
			t.Fatal(err)
		}
		if got := bookOf(t, b, "O-ch1")[0]; got != "closed  refunded 0" {
			t.Errorf("reversed: %s", got)
		}
		ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: "ch1", OrderID: "O-ch1", Money: cny(2000), OccurredAt: noon()}
		if got := callbackOf(t, b, ev, "late"); got != models.OutcomeApplied {
			t.Errorf("the callback is %s", got)
		}
	})
}

// Once something else has come of it, a repair stays.
func TestReversalIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		then func(t *testing.T, b *ledger.Ledger)
		why  string
	}{
		"a callback has told of it": {func(t *testing.T, b *ledger.Ledger) {
			ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: "ch1", OrderID: "O-ch1", Money: cny(2000), OccurredAt: noon()}
			if got := callbackOf(t, b, ev, "late"); got != models.OutcomeDuplicate {
				t.Errorf("the callback is %s", got)
			}
		}, "has told of payment ch1 since"},
		"it was shipped": {func(t *testing.T, b *ledger.Ledger) {
			if _, err := b.Act(t.Context(), ledger.Act{OrderID: "O-ch1", On: models.OrderShip}); err != nil {
				t.Fatal(err)
			}
		}, "moved on since and is shipped"},
		"it was refunded": {func(t *testing.T, b *ledger.Ledger) {
			callbackOf(t, b, models.Event{Kind: models.RefundSucceeded, TransactionID: "re1", ParentID: "ch1", Money: cny(500), OccurredAt: noon()}, "refund")
		}, "refund re1 was booked or changed"},
		"another payment came": {func(t *testing.T, b *ledger.Ledger) {
			callbackOf(t, b, models.Event{Kind: models.PaymentSucceeded, TransactionID: "ch9", OrderID: "O-ch1", Money: cny(2000), OccurredAt: noon()}, "other")
		}, "payment ch9 was booked or changed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := sqlite(t)
			a := plainAccount(t)
			ledgertest.Order(t, b, "O-ch1", "20.00", "CNY")
			ledgertest.Order(t, b, "O-ch2", "20.00", "CNY")
			r := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, statement(t, "ch1 2026-11-28 10:00:00", "ch2 2026-11-28 10:00:00"))
			c.then(t, b)
			before := bookOf(t, b, "O-ch1")
			back, err := b.ReverseRepair(t.Context(), r.Repair.ID, "bob", "wrong")
			if err != nil {
				t.Fatal(err)
			}
			if back.State != models.RepairApplied || back.Items[0].State != models.ItemBooked || !strings.Contains(back.Items[0].Result, c.why) {
				t.Errorf("it is %s, its item %s: %q, want %q", back.State, back.Items[0].State, back.Items[0].Result, c.why)
			}
			wantLines(t, "the order", bookOf(t, b, "O-ch1"), before...)
			if got := bookOf(t, b, "O-ch2")[0]; back.Items[1].State != models.ItemReversed || got != "unpaid  refunded 0" {
				t.Errorf("the other order is %s, its item %s", got, back.Items[1].State)
			}
		})
	}
}
