package reconcile_test

import (
	"fmt"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// repaired runs a day with a repair by somebody.
func repaired(t testing.TB, b *ledger.Ledger, a reconcile.Account, date string, repair reconcile.Repair, files ...string) *reconcile.Report {
	t.Helper()
	if repair.Who == "" {
		repair.Who = "alice"
	}
	if repair.Approvals == 0 {
		repair.Approvals = 1
	}
	r, err := reconcile.RunRepair(t.Context(), b, a, reconcile.Files(files...), day(t, date), reconcile.Options{Now: noon}, repair)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// repairLines are a repair's items in short: "planned missing_local payment ch1 applied [order.paid]".
func repairLines(r *reconcile.RepairReport) []string {
	lines := []string{}
	for _, i := range r.Items {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %v", i.State, i.GapKind, i.Kind, i.TransactionID, i.Outcome, i.Messages))
	}
	return lines
}

func wantLines(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", append([]string{}, want...)) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// bookOf is an order's books in short: its state, its rows, its moves, and what the shop is told.
func bookOf(t testing.TB, b *ledger.Ledger, order string) []string {
	t.Helper()
	h, err := b.OrderHistory(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{fmt.Sprintf("%s %s refunded %d", h.Order.Status, h.Order.Stock, h.Order.RefundedMinor)}
	for _, tx := range h.Transactions {
		lines = append(lines, fmt.Sprintf("%s %s %d %s %s %s", tx.Kind, tx.TransactionID, tx.AmountMinor, tx.Status, tx.Outcome, tx.Source))
	}
	for _, m := range h.Transitions {
		lines = append(lines, fmt.Sprintf("%s → %s", m.From, m.To))
	}
	messages, err := b.Messages(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		lines = append(lines, m.Topic)
	}
	return lines
}

// callbackOf delivers an event as a callback and returns what became of it.
func callbackOf(t testing.TB, b *ledger.Ledger, ev models.Event, body string) models.Outcome {
	t.Helper()
	cb := models.Callback{Account: "shop", Method: "POST", ReceivedAt: noon(), Body: []byte(body)}
	outcomes, err := b.Record(t.Context(), cb, []models.Event{ev}, func(models.Outcome) int { return 200 })
	if err != nil {
		t.Fatal(err)
	}
	return outcomes[0]
}

func cny(minor int64) models.Money { return models.Money{Minor: minor, Currency: "CNY"} }

// Field failure: repaired by the daily run, then the lost callback arrives, three times.
func TestRepairThenTheLostCallback(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		ledgertest.Order(t, b, "O-ch1", "20.00", "CNY")
		file := statement(t, "ch1 2026-11-28 10:00:00")

		r := repaired(t, b, a, "2026-11-28", reconcile.Repair{}, file)
		wantLines(t, "plan", repairLines(r.Repair), "planned missing_local payment ch1 applied [order.paid]")
		wantLines(t, "book", bookOf(t, b, "O-ch1"), "unpaid  refunded 0")
		again := repaired(t, b, a, "2026-11-28", reconcile.Repair{}, file)
		if again.Repair.ID != r.Repair.ID || r.Repair.ID == "" {
			t.Errorf("planned again it is %q, want %q", again.Repair.ID, r.Repair.ID)
		}

		r = repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
		wantLines(t, "applied", repairLines(r.Repair), "booked missing_local payment ch1 applied [order.paid]")
		wantRun(t, r, "1 1", "healed: missing_local payment ch1")
		books := []string{"paid  refunded 0", "payment ch1 2000 succeeded applied reconcile", "unpaid → paid", "order.paid"}
		wantLines(t, "book", bookOf(t, b, "O-ch1"), books...)

		if _, err := b.ApplyRepair(t.Context(), r.Repair.ID, "alice", 1); err != nil {
			t.Error("applied twice:", err)
		}
		ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: "ch1", OrderID: "O-ch1", Money: cny(2000), OccurredAt: noon()}
		for n := range 3 {
			if got := callbackOf(t, b, ev, fmt.Sprint("late ", n)); got != models.OutcomeDuplicate {
				t.Errorf("late callback %d is %s, want duplicate", n, got)
			}
		}
		wantLines(t, "book", bookOf(t, b, "O-ch1"), books...)
		wantRun(t, run(t, b, a, "2026-11-28", file), "1 1", "healed: missing_local payment ch1")
	})
}

// What a repair has booked is taken back, and can be told by a callback afterwards.
func TestReversedRepair(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		ledgertest.Order(t, b, "O-ch1", "20.00", "CNY")
		file := statement(t, "ch1 2026-11-28 10:00:00", "re1,O-ch1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,ch1,R1")
		r := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
		wantLines(t, "applied", repairLines(r.Repair), "booked missing_local payment ch1 applied [order.paid]",
			"booked missing_local refund re1 applied [order.part_refunded]")

		back, err := b.ReverseRepair(t.Context(), r.Repair.ID, "bob", "wrong file")
		if err != nil {
			t.Fatal(err)
		}
		if back.State != models.RepairUndone || back.ReversedBy != "bob" {
			t.Errorf("it is %s by %q", back.State, back.ReversedBy)
		}
		wantLines(t, "book", bookOf(t, b, "O-ch1"), "unpaid  refunded 0",
			"payment ch1 2000 reversed noted reconcile", "refund re1 500 reversed noted reconcile",
			"refund ch1:reversal 2000 reversed noted reconcile", "refund_reversal re1:reversal 500 reversed noted reconcile",
			"unpaid → paid", "paid → part_refunded", "part_refunded → unpaid", "order.paid", "order.part_refunded", "order.unpaid")
		if _, err := b.ReverseRepair(t.Context(), r.Repair.ID, "bob", "wrong file"); err == nil {
			t.Error("reversed twice")
		}

		again := repaired(t, b, a, "2026-11-28", reconcile.Repair{Apply: true}, file)
		wantRun(t, again, "2 0", "status_mismatch payment ch1", "status_mismatch refund re1")
		if again.Repair.ID != "" || again.Repair.Count(models.ItemNotRepairable) != 2 {
			t.Errorf("what a person has taken back is booked again: %q", repairLines(again.Repair))
		}

		ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: "ch1", OrderID: "O-ch1", Money: cny(2000), OccurredAt: noon()}
		if got := callbackOf(t, b, ev, "late"); got != models.OutcomeApplied {
			t.Errorf("the callback is %s, want applied", got)
		}
		got := bookOf(t, b, "O-ch1")
		if got[0] != "paid  refunded 0" {
			t.Errorf("after the callback: %q", got)
		}
	})
}
