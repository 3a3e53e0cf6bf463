package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

const repairDay = "2026-11-29"

// missing are n payments of 20.00 CNY, of the orders O0 and on, that a run has not found in the book, with the plan of their repair.
func missing(t *testing.T, b *ledger.Ledger, n int) models.Repair {
	t.Helper()
	plan := models.Repair{Account: "shop", Date: repairDay, MadeBy: "alice", MadeAt: runDay}
	var f ledger.Findings
	var orders []models.Order
	for i := range n {
		g := gapOf(fmt.Sprintf("%04x", i), repairDay, "20.00")
		g.OrderID = fmt.Sprint("O", i)
		orders = append(orders, models.Order{OrderID: g.OrderID, AmountMinor: 2000, Currency: "CNY"})
		f.Gaps = append(f.Gaps, g)
		plan.Items = append(plan.Items, itemOf(g, lostPayment(i)))
	}
	ledgertest.Orders(t, b, orders...)
	run, _ := saveRun(t, b, runDay, repairDay, f)
	plan.RunID = run.ID
	kept, err := b.PlanRepair(t.Context(), plan, true)
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func itemOf(g models.Gap, ev models.Event) models.RepairItem {
	at := ev.OccurredAt
	return models.RepairItem{GapID: g.ID, GapKind: g.Kind, GapHash: ledger.GapHash(g), State: models.ItemPlanned, Kind: g.EntryKind, TransactionID: g.TransactionID,
		OrderID: g.OrderID, AmountMinor: ev.Money.Minor, Currency: ev.Money.Currency, Status: models.StatusSucceeded, OccurredAt: &at, Event: &ev, Why: "the statement has it"}
}

func lostPayment(i int) models.Event {
	return models.Event{Kind: models.PaymentSucceeded, TransactionID: fmt.Sprintf("p-%04x", i), Aliases: []string{fmt.Sprintf("p-%04x", i), fmt.Sprint("also-", i)},
		OrderID: fmt.Sprint("O", i), Money: models.Money{Minor: 2000, Currency: "CNY"}, OccurredAt: runDay.Add(-12 * time.Hour)}
}

// wantPaidOnce checks that each of n orders was paid by one payment, moved once, and that the shop was told once.
func wantPaidOnce(t *testing.T, b *ledger.Ledger, n int) {
	t.Helper()
	for i := range n {
		id := fmt.Sprint("O", i)
		h, err := b.OrderHistory(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		messages, err := b.Messages(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if h.Order.Status != models.Paid || len(h.Transactions) != 1 || len(h.Transitions) != 1 || len(messages) != 1 || messages[0].Topic != "order.paid" {
			t.Errorf("%s: %+v, %d transactions, %d moves, messages %+v", id, h.Order, len(h.Transactions), len(h.Transitions), messages)
		}
	}
}

func states(r models.Repair) map[models.RepairItemState]int {
	n := map[models.RepairItemState]int{}
	for _, i := range r.Items {
		n[i.State]++
	}
	return n
}

// More items than one transaction books, applied by three at once while the lost callbacks come, some under another name.
func TestRepairIsAppliedOnce(t *testing.T) {
	const n = 50
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		defer ledger.SetRepairBunch(15)()
		plan := missing(t, b, n)
		if got := states(plan); got[models.ItemPlanned] != n {
			t.Fatalf("planned: %v", got)
		}
		inParallel(5, func(worker int) {
			if worker < 3 {
				_, err := b.ApplyRepair(t.Context(), plan.ID, "alice", 1)
				if busy := (*ledger.BusyError)(nil); err != nil && !errors.As(err, &busy) {
					t.Error(err)
				}
				return
			}
			for i := worker; i < n; i += 4 {
				ev := lostPayment(i)
				if worker == 4 {
					ev.TransactionID = fmt.Sprint("also-", i)
				}
				if _, err := record(t.Context(), b, "shop", ev); err != nil {
					t.Error(err)
				}
			}
		})
		r, err := b.ApplyRepair(t.Context(), plan.ID, "alice", 1)
		if err != nil {
			t.Fatal(err)
		}
		got := states(r)
		if got[models.ItemBooked]+got[models.ItemAlready] != n || r.State != models.RepairApplied {
			t.Errorf("%s: %v", r.State, got)
		}
		wantPaidOnce(t, b, n)
		resolved, _, err := b.Gaps(t.Context(), ledger.GapFilter{State: models.GapResolved, Page: ledger.Page{Limit: n}})
		if err != nil || len(resolved) != got[models.ItemBooked] {
			t.Errorf("%d gaps resolved, %d items booked, %v", len(resolved), got[models.ItemBooked], err)
		}
	})
}

// Stopped at any moment, the next try goes on, and all is booked once.
func TestRepairStoppedAtAnyMoment(t *testing.T) {
	const n = 12
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		defer ledger.SetRepairBunch(2)()
		plan := missing(t, b, n)
		stops := 0
		for after := time.Duration(0); ; after += 300 * time.Microsecond {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			r, err := b.ApplyRepair(ctx, plan.ID, "alice", 1)
			cancel()
			if err == nil && r.State == models.RepairApplied {
				break
			}
			if stops++; stops > 2_000 {
				t.Fatal("it never ends:", err)
			}
			if busy := (*ledger.BusyError)(nil); errors.As(err, &busy) { // stopped while it took the lease, which ends by itself
				time.Sleep(20 * time.Millisecond)
			}
		}
		r, err := b.Repair(t.Context(), plan.ID)
		if err != nil || states(r)[models.ItemBooked] != n {
			t.Errorf("after %d stops: %v, %v", stops, states(r), err)
		}
		wantPaidOnce(t, b, n)
	}, ledger.Options{Lease: 300 * time.Millisecond})
}

// What was approved is what is applied: rows changed by hand are not.
func TestRepairOfAnotherContentIsRefused(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		plan := missing(t, b, 2)
		db := openSQL(t, dsn)
		if _, err := db.Exec(`UPDATE repair_items SET event = replace(event, '2000', '200000'), amount_minor = 200000 WHERE gap_id = '0000'`); err != nil {
			t.Fatal(err)
		}
		for what, do := range map[string]func() (models.Repair, error){
			"approve": func() (models.Repair, error) { return b.ApproveRepair(t.Context(), plan.ID, "bob") },
			"apply":   func() (models.Repair, error) { return b.ApplyRepair(t.Context(), plan.ID, "alice", 1) },
		} {
			if _, err := do(); err == nil || !strings.Contains(err.Error(), "not what was planned") {
				t.Errorf("%s: %v", what, err)
			}
		}
		h, err := b.OrderHistory(t.Context(), "O1")
		if err != nil || h.Order.Status != models.Unpaid {
			t.Errorf("%+v, %v", h.Order, err)
		}
	})
}

// TestRepairWithOtherPersonsIsRefused: who has planned and approved it is what the audit log says, whatever its row says.
func TestRepairWithOtherPersonsIsRefused(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		plan := missing(t, b, 1)
		db := openSQL(t, dsn)
		run(t, db, "CREATE TABLE kept_repairs AS SELECT * FROM repairs", "CREATE TABLE kept_items AS SELECT * FROM repair_items")
		for _, statement := range []string{
			"UPDATE repairs SET made_by = 'bob'",
			"UPDATE repairs SET state = 'approved', approved_by = 'bob'",
			"UPDATE repairs SET state = 'applied', applied_by = 'bob'",
			"UPDATE repairs SET reason = 'x'",
			"UPDATE repairs SET hash = 'x'",
			"UPDATE repair_items SET amount_minor = 1",
			"DELETE FROM repair_items",
			"DELETE FROM repairs",
		} {
			run(t, db, statement)
			if _, err := b.ApplyRepair(t.Context(), plan.ID, "alice", 2); err == nil {
				t.Errorf("%s: applied", statement)
			}
			if c := verify(t, b, nil); c.Whole() || c.Broken != nil || c.Differing[0].Subject != "repair/"+plan.ID {
				t.Errorf("%s: found %+v, broken %+v", statement, c.Differing, c.Broken)
			}
			run(t, db, "DELETE FROM repairs", "INSERT INTO repairs SELECT * FROM kept_repairs", "DELETE FROM repair_items", "INSERT INTO repair_items SELECT * FROM kept_items")
		}
		run(t, db, "UPDATE repairs SET made_by = 'bob'")
		again, err := b.PlanRepair(t.Context(), replanned(plan), true)
		if err != nil || again.ID == plan.ID || again.MadeBy != "alice" {
			t.Errorf("planned again: %s by %s, %v", again.ID, again.MadeBy, err)
		}
		if _, err := b.ApplyRepair(t.Context(), again.ID, "bob", 2); err != nil {
			t.Error(err)
		}
		wantPaidOnce(t, b, 1)
		if c := verified(t, b, nil); c.Repairs != 2 {
			t.Errorf("%d repairs compared, want 2", c.Repairs)
		}
	})
}

// replanned is a plan as it was before it was stored.
func replanned(r models.Repair) models.Repair {
	r.ID, r.Items = "", slices.Clone(r.Items)
	for n := range r.Items {
		r.Items[n].RepairID = ""
	}
	return r
}

// An item whose gap or order is not what it was when it was planned is refused with a word; the others are booked.
func TestRepairOfWhatHasChanged(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		plan := missing(t, b, 6)
		ctx := t.Context()
		if _, err := b.ResolveGap(ctx, "0000", "paid back by hand"); err != nil {
			t.Fatal(err)
		}
		if err := b.CloseOrder(ctx, "O1", string(models.OrderCancel)); err != nil {
			t.Fatal(err)
		}
		if _, err := record(ctx, b, "shop", lostPayment(2)); err != nil { // a callback was quicker
			t.Fatal(err)
		}
		dearer := lostPayment(3)
		dearer.Money.Minor = 2100
		if _, err := record(ctx, b, "shop", dearer); err != nil {
			t.Fatal(err)
		}
		changed := gapOf("0004", repairDay, "19.00")
		changed.OrderID = "O4"
		var others []models.Gap
		for _, id := range []string{"0001", "0002", "0003", "0005"} {
			g := gapOf(id, repairDay, "20.00")
			g.OrderID = "O" + id[3:]
			others = append(others, g)
		}
		saveRun(t, b, runDay.Add(time.Hour), repairDay, ledger.Findings{Gaps: append(others, changed)})

		r, err := b.ApplyRepair(ctx, plan.ID, "alice", 1)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"already_there: a later run", "refused: its order has moved on", "already_there: the book has it by now", "refused: the book has it otherwise",
			"refused: its gap has changed", "booked: "}
		want[0] = "refused: a person has resolved"
		for n, i := range r.Items {
			if got := string(i.State) + ": " + i.Result; !strings.HasPrefix(got, want[n]) {
				t.Errorf("item %d is %q, want %q", n, got, want[n])
			}
		}
		if !r.Unfinished() || r.State != models.RepairApplied {
			t.Errorf("it is %s", r.State)
		}
		for id, status := range map[string]models.OrderStatus{"O0": models.Unpaid, "O1": models.Closed, "O2": models.Paid, "O3": models.Unpaid, "O4": models.Unpaid, "O5": models.Paid} {
			if h, err := b.OrderHistory(ctx, id); err != nil || h.Order.Status != status {
				t.Errorf("%s is %s, want %s, %v", id, h.Order.Status, status, err)
			}
		}
		if h, err := b.OrderHistory(ctx, "O3"); err != nil || len(h.Transactions) != 1 || h.Transactions[0].Outcome != models.OutcomeAmountMismatch || h.Transactions[0].AmountMinor != 2100 {
			t.Errorf("a refused item has left its mark: %+v, %v", h.Transactions, err)
		}
	})
}

// Every step stands in the audit log, with who took it.
func TestRepairIsAudited(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		plan := missing(t, b, 1)
		for _, do := range []func() (models.Repair, error){
			func() (models.Repair, error) { return b.ApproveRepair(t.Context(), plan.ID, "bob") },
			func() (models.Repair, error) { return b.ApplyRepair(t.Context(), plan.ID, "carol", 2) },
			func() (models.Repair, error) { return b.ReverseRepair(t.Context(), plan.ID, "dave", "wrong") },
		} {
			if _, err := do(); err != nil {
				t.Fatal(err)
			}
		}
		if check, err := b.VerifyAudit(t.Context(), nil); err != nil || !check.Whole() {
			t.Errorf("the log does not hold: %+v, %v", check, err)
		}
		var got []string
		rows, err := openSQL(t, dsn).Query("SELECT action, actor FROM audit WHERE subject LIKE 'repair/%' OR action LIKE 'gap.re%' ORDER BY seq")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var action, actor string
			if err := rows.Scan(&action, &actor); err != nil {
				t.Fatal(err)
			}
			got = append(got, action+" "+actor)
		}
		want := []string{"repair.planned alice", "repair.approved bob", "gap.resolved carol", "repair.applied carol", "gap.reopened dave", "repair.reversed dave"}
		if !slices.Equal(got, want) || rows.Err() != nil {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A callback that comes while its repair is being taken back is never lost: it is told before, or it books the payment anew.
func TestReversalMeetsTheCallback(t *testing.T) {
	const n = 25
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		plan := missing(t, books[0], n)
		if _, err := books[0].ApplyRepair(t.Context(), plan.ID, "alice", 1); err != nil {
			t.Fatal(err)
		}
		var reversed models.Repair
		inParallel(3, func(worker int) {
			if worker == 0 {
				var err error
				if reversed, err = books[0].ReverseRepair(t.Context(), plan.ID, "bob", "wrong"); err != nil {
					t.Error(err)
				}
				return
			}
			for i := worker - 1; i < n; i += 2 {
				if _, err := record(t.Context(), books[1], "shop", lostPayment(i)); err != nil {
					t.Error(err)
				}
			}
		})
		for i := range n {
			h, err := books[0].OrderHistory(t.Context(), fmt.Sprint("O", i))
			if err != nil {
				t.Fatal(err)
			}
			succeeded := 0
			for _, tx := range h.Transactions {
				if tx.Status == models.StatusSucceeded {
					succeeded++
				}
			}
			if h.Order.Status != models.Paid || succeeded != 1 {
				t.Errorf("O%d is %s with %d payments: %v", i, h.Order.Status, succeeded, states(reversed))
			}
		}
	})
}
