package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// Each kind of movement that a statement can have and the book can lack.
func TestRepairOfEveryKind(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		for _, id := range []string{"O-1", "O-2", "O-3", "O-4"} {
			ledgertest.Order(t, b, id, "20.00", "CNY")
		}
		book(t, b, "shop",
			movement{Kind: models.Refund, ParentID: "ch2", RefundOrderID: "R2", OrderID: "O-2", Amount: "5.00", Currency: "CNY", Status: "pending", OccurredAt: "2026-11-28T11:00:00+08:00"},
			movement{Kind: models.Payment, TransactionID: "ch3", OrderID: "O-3", Amount: "20.00", Currency: "CNY", Status: "failed", OccurredAt: "2026-11-28T10:00:00+08:00"})
		files := []string{statement(t,
			"ch1,O-1,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,", "re1,,refund,20.00,CNY,succeeded,2026-11-28 11:00:00,ch1,R1",
			"re1,,refund_reversal,20.00,CNY,succeeded,2026-11-28 12:00:00,ch1,R1",
			"ch2,O-2,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,", "re2,O-2,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,ch2,R2",
			"ch3,O-3,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,",
			"ch4,O-4,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,", "dp4,O-4,chargeback,20.00,CNY,succeeded,2026-11-28 11:00:00,ch4,",
			"dp4,O-4,chargeback_reversal,20.00,CNY,succeeded,2026-11-28 12:00:00,ch4,",
			"dp9,O-4,chargeback_reversal,1.00,CNY,succeeded,2026-11-28 12:00:00,ch4,")}
		r := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, files...)
		wantLines(t, "repair", repairLines(r.Repair),
			"booked missing_local payment ch1 applied [order.paid]", "booked missing_local refund re1 applied [order.refunded]",
			"booked missing_local refund_reversal re1 applied [order.paid]",
			"booked missing_local payment ch2 applied [order.paid]", "booked status_mismatch refund re2 applied [order.part_refunded]",
			"booked status_mismatch payment ch3 applied [order.paid]",
			"booked missing_local payment ch4 applied [order.paid]", "booked missing_local chargeback dp4 applied [order.disputed]",
			"booked missing_local chargeback_reversal dp4 applied [order.paid]",
			"not_repairable missing_local chargeback_reversal dp9  []")
		if len(r.Gaps) != 1 || r.Matched != r.Compared-1 {
			t.Errorf("after it: %q, %d of %d matched", gapLines(r.Gaps), r.Matched, r.Compared)
		}
		wantLines(t, "O-2", bookOf(t, b, "O-2"), "part_refunded  refunded 500", "payment ch2 2000 succeeded applied reconcile",
			"refund shop:R2 500 succeeded applied reconcile", "unpaid → paid", "paid → part_refunded", "order.paid", "order.part_refunded")

		for n, ev := range []models.Event{ // whatever a callback calls them by
			{Kind: models.RefundSucceeded, TransactionID: "re2", ParentID: "ch2", RefundOrderID: "R2", Money: cny(500), OccurredAt: noon()},
			{Kind: models.RefundSucceeded, TransactionID: "re1", ParentID: "ch1", Money: cny(2000), OccurredAt: noon().Add(-48 * time.Hour)},
			{Kind: models.DisputeWon, TransactionID: "dp4", ParentID: "ch4", Money: cny(2000), OccurredAt: time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC)},
		} {
			if got := callbackOf(t, b, ev, fmt.Sprint(n)); got != models.OutcomeDuplicate {
				t.Errorf("late %s is %s", ev.Kind, got)
			}
		}
		back, err := b.ReverseRepair(t.Context(), r.Repair.ID, "bob", "all wrong")
		if err != nil {
			t.Fatal(err)
		}
		if back.State != models.RepairApplied || !back.Unfinished() || back.Count(models.ItemReversed) != 1 || !strings.Contains(back.Items[0].Result, "has told of refund re1 since") {
			t.Errorf("what callbacks have told of was reversed: %s, %+v", back.State, repairLines(reconcile.NewRepairReport(back, nil)))
		}
		for id, want := range map[string]string{"O-1": "paid", "O-2": "part_refunded", "O-3": "unpaid", "O-4": "paid"} {
			if got := bookOf(t, b, id)[0]; !strings.HasPrefix(got, want+" ") {
				t.Errorf("reversed, %s is %s, want %s", id, got, want)
			}
		}
	})
}

// An order that cannot take the money gets it as by a callback.
func TestRepairOfOrdersThatCannotTakeIt(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		for id, amount := range map[string]string{"O-closed": "20.00", "O-dear": "30.00", "O-twice": "20.00"} {
			ledgertest.Order(t, b, id, amount, "CNY")
		}
		if err := b.CloseOrder(t.Context(), "O-closed", string(models.OrderCancel)); err != nil {
			t.Fatal(err)
		}
		file := statement(t, "closed 2026-11-28 10:00:00", "dear 2026-11-28 10:00:00", "twice 2026-11-28 10:00:00",
			"again,O-twice,payment,20.00,CNY,succeeded,2026-11-28 11:00:00,,", "strange 2026-11-28 10:00:00", "nameless,,payment,20.00,CNY,succeeded,2026-11-28 11:00:00,,")
		r := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
		wantLines(t, "repair", repairLines(r.Repair), "booked missing_local payment closed paid_after_close []", "booked missing_local payment dear amount_mismatch []",
			"booked missing_local payment strange no_order []", "booked missing_local payment twice applied [order.paid]",
			"booked missing_local payment again duplicate_payment []", "booked missing_local payment nameless no_order []")
		wantRun(t, r, "6 1", "amount_mismatch payment dear", "duplicate_payment payment again", "paid_after_close payment closed", "unknown_order payment nameless",
			"unknown_order payment strange", "healed: missing_local payment twice")
		wantLines(t, "closed", bookOf(t, b, "O-closed"), "closed  refunded 0", "payment closed 2000 succeeded paid_after_close reconcile", "unpaid → closed")

		again := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
		if again.Repair.ID != "" || again.Repair.Count(models.ItemNotRepairable) != 5 {
			t.Errorf("what no booking can close: %q", repairLines(again.Repair))
		}
		for _, i := range again.Repair.Items {
			if i.Why == "" || i.Next == "" {
				t.Errorf("%s %s does not say why (%q) and what is next (%q)", i.GapKind, i.TransactionID, i.Why, i.Next)
			}
		}
		ledgertest.Order(t, b, "O-strange", "20.00", "CNY")
		wantLines(t, "strange", bookOf(t, b, "O-strange"), "paid  refunded 0", "payment strange 2000 succeeded applied reconcile", "unpaid → paid", "order.paid")
		if got := callbackOf(t, b, models.Event{Kind: models.PaymentSucceeded, TransactionID: "nameless", OrderID: "O-dear", Money: cny(2000), OccurredAt: noon()}, "named"); got != models.OutcomeAmountMismatch {
			t.Errorf("a callback that brings the order is %s", got)
		}
	})
}

// What a repair never touches.
func TestNotRepairable(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	paid(t, b, "less 2026-11-28 10:00:00", "gone 2026-11-28 10:00:00", "failed 2026-11-28 10:00:00")
	file := statement(t, "less 2026-11-28 10:00:00 19.00", "failed 2026-11-28 10:00:00 20.00 failed", "late 2026-11-27 10:00:00",
		"twice 2026-11-28 10:00:00", "twice 2026-11-28 10:00:00", "odd 2026-11-28 10:00:00 20.00 whatever",
		"split 2026-11-28 10:00:00 20.00", "split 2026-11-28 10:00:00 21.00")
	before := bookOf(t, b, "O-failed")
	r := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
	for _, i := range r.Repair.Items {
		if (i.State == models.ItemNotRepairable) == (i.GapKind == models.GapMissingLocal) {
			t.Errorf("%s %s is %s: %s", i.GapKind, i.TransactionID, i.State, i.Why)
		}
	}
	if n := len(r.Repair.Items); n != 8 {
		t.Errorf("%d gaps: %q", n, repairLines(r.Repair))
	}
	wantLines(t, "what the statement calls failed", bookOf(t, b, "O-failed"), before...)
}

// Field failure: an id that a spreadsheet or an editor has damaged makes two gaps of one payment, and a repair of one of them would book it
// twice, for somebody to give it back.
func TestRepairOfADamagedID(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00", "p3 2026-11-28 10:00:00", "p4 2026-11-28 23:59:58")
		ledgertest.Order(t, b, "O-lost", "20.00", "CNY")
		book(t, b, "shop", movement{Kind: models.Refund, TransactionID: "r3", ParentID: "p3", OrderID: "O-p3", Amount: "5.00", Currency: "CNY", Status: "succeeded",
			OccurredAt: "2026-11-28T11:00:00+08:00"})
		file := statement(t, "p1x,O-p1,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,", "p2x,O-p2,payment,21.00,CNY,succeeded,2026-11-28 10:00:00,,",
			"p3 2026-11-28 10:00:00", "r3x,O-p3,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p3,", "r4,O-p3,refund,4.00,CNY,succeeded,2026-11-28 11:30:00,p3,",
			"p4x,O-p4,payment,20.00,CNY,succeeded,2026-11-28 23:00:00,,", "420000000020261000000000,O-lost,payment,20.00,CNY,succeeded,2026-11-28 12:00:00,,")
		r := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
		wantLines(t, "repair", repairLines(r.Repair), "booked missing_local payment p2x duplicate_payment []", "booked missing_local refund r4 applied [order.part_refunded]",
			"not_repairable missing_local payment 420000000020261000000000  []", "not_repairable missing_provider payment p1  []",
			"not_repairable missing_local payment p1x  []", "not_repairable missing_provider payment p2  []", "not_repairable missing_provider refund r3  []",
			"not_repairable missing_local refund r3x  []", "not_repairable missing_local payment p4x  []")
		for _, i := range r.Repair.Items {
			if i.GapKind == models.GapMissingLocal && i.State == models.ItemNotRepairable && !strings.Contains(i.Why, "of the same order and sum the book has "+strings.TrimSuffix(i.TransactionID, "x")) &&
				!strings.Contains(i.Why, "many zeros") {
				t.Errorf("%s: %s", i.TransactionID, i.Why)
			}
		}
		wantLines(t, "O-p1", bookOf(t, b, "O-p1"), "paid  refunded 0", "payment p1 2000 succeeded applied callback", "unpaid → paid", "order.paid")

		for _, g := range r.Gaps {
			if g.TransactionID == "p1" {
				if _, err := b.ResolveGap(t.Context(), g.ID, "a payment of the test shop"); err != nil {
					t.Fatal(err)
				}
			}
		}
		r = repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
		if n := r.Repair.Count(models.ItemBooked); n != 1 || r.Repair.Items[0].TransactionID != "p1x" {
			t.Errorf("a person knows that it is another: %q", repairLines(r.Repair))
		}
	})
}

// An account whose orders are elsewhere books without one, and tells the shop.
func TestRepairElsewhere(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		a.OrdersElsewhere = true
		r := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, statement(t, "ch1 2026-11-28 10:00:00"))
		wantLines(t, "repair", repairLines(r.Repair), "booked missing_local payment ch1 applied [payment.succeeded]")
		if _, err := b.ReverseRepair(t.Context(), r.Repair.ID, "bob", "wrong"); err != nil {
			t.Fatal(err)
		}
		messages, err := b.Messages(t.Context(), "O-ch1")
		if err != nil || len(messages) != 2 || messages[0].Topic != "payment.succeeded" || messages[1].Topic != "repair.reversed" {
			t.Errorf("the shop is told %+v, %v", messages, err)
		}
	}, ledger.Options{Elsewhere: []string{"shop"}})
}

// A dry run says what would be, and writes nothing at all.
func TestDryRepairWritesNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		ledgertest.Order(t, b, "O-ch1", "20.00", "CNY")
		r, err := reconcile.RunRepair(t.Context(), b, plainAccount(t), reconcile.Files(statement(t, "ch1 2026-11-28 10:00:00")), day(t, "2026-11-28"),
			reconcile.Options{Now: noon, DryRun: true}, reconcile.Repair{Apply: true, Who: "alice", Approvals: 1})
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, "plan", repairLines(r.Repair), "planned missing_local payment ch1 applied [order.paid]")
		repairs, _, err := b.Repairs(t.Context(), ledger.RepairFilter{})
		if err != nil || len(repairs) != 0 || r.Repair.ID != "" {
			t.Errorf("kept: %+v, %v", repairs, err)
		}
		wantNothingWritten(t, b)
		wantLines(t, "book", bookOf(t, b, "O-ch1"), "unpaid  refunded 0")
	})
}

// A repair that is applied while a run is under way: the run has not read what was booked, and begins again.
func TestRepairWhileARunIsUnderWay(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		ledgertest.Order(t, b, "O-ch1", "20.00", "CNY")
		file := statement(t, "ch1 2026-11-28 10:00:00")
		plan := repaired(t, b, a, "2026-11-28", reconcile.Repair{}, file)
		applied := false
		slow := a
		slow.Provider = slowProvider{Provider: a.Provider, then: func() {
			if applied {
				return
			}
			applied = true
			if _, err := b.ApplyRepair(t.Context(), plan.Repair.ID, "alice", 1); err != nil {
				t.Error(err)
			}
		}}
		wantRun(t, run(t, b, slow, "2026-11-28", file), "1 1", "healed: missing_local payment ch1")
		wantLines(t, "book", bookOf(t, b, "O-ch1"), "paid  refunded 0", "payment ch1 2000 succeeded applied reconcile", "unpaid → paid", "order.paid")
	})
}

// A repair that somebody is applying is busy to everybody else, also to one who would take its place.
func TestRepairIsBusy(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		ledgertest.Order(t, b, "O-ch1", "20.00", "CNY")
		file := statement(t, "ch1 2026-11-28 10:00:00")
		planned := repaired(t, b, a, "2026-11-28", reconcile.Repair{}, file)
		err := b.UnderLease(t.Context(), "repair/"+planned.Repair.ID, func(ctx context.Context, _ *ledger.Lease) error {
			for _, files := range [][]string{{file}, {statement(t, "ch1 2026-11-28 10:00:00", "ch2 2026-11-28 11:00:00")}} {
				_, err := reconcile.RunRepair(ctx, b, a, reconcile.Files(files...), day(t, "2026-11-28"), reconcile.Options{Now: noon}, reconcile.Repair{Apply: true, Who: "bob", Approvals: 1})
				if !errors.Is(err, reconcile.ErrBusy) || !strings.HasPrefix(err.Error(), "busy: ") || !strings.Contains(err.Error(), "the same repair is under way since 20") {
					t.Errorf("while it is applied elsewhere: %v", err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(bookOf(t, b, "O-ch1")) != 1 {
			t.Errorf("something was booked: %q", bookOf(t, b, "O-ch1"))
		}
	})
}
