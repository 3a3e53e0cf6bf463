package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// TestMatching is a table of small days: what the book holds, what the statement says, what comes out.
func TestMatching(t *testing.T) {
	const at = " 2026-11-28 10:00:00 "
	for _, c := range []struct {
		name      string
		book      []string
		movements []movement
		rows      []string
		counts    string
		want      []string
	}{
		{name: "two genuine payments that look the same", // F55
			book: []string{"fc-tw-1" + at, "fc-tw-2" + at}, rows: []string{"fc-tw-1" + at, "fc-tw-2" + at,
				"fc-tw-1,,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,"}[:2], counts: "2 2"},
		{name: "matched by id, never by amount", // F58
			book: []string{"fc-am-1" + at}, rows: []string{"fc-am-9" + at}, counts: "1 0",
			want: []string{"missing_provider payment fc-am-1", "missing_local payment fc-am-9"}},
		{name: "the same row twice", // F56 (1)
			book: []string{"p1" + at, "p2" + at}, rows: []string{"p1" + at, "p2" + at, "p1" + at}, counts: "2 2",
			want: []string{"duplicate_entry payment p1"}},
		{name: "the same row three times is one gap",
			book: []string{"p1" + at}, rows: []string{"p1" + at, "p1" + at, "p1" + at}, counts: "1 1",
			want: []string{"duplicate_entry payment p1"}},
		{name: "one id with two amounts", // F56 (2)
			book: []string{"p1" + at, "p2" + at}, rows: []string{"p1" + at, "p2" + at, "p1" + at + "21.00"}, counts: "3 1",
			want: []string{"conflict payment p1"}},
		{name: "one id with two amounts, the wrong one first",
			book: []string{"p1" + at}, rows: []string{"p1" + at + "21.00", "p1" + at}, counts: "2 0", want: []string{"conflict payment p1"}},
		{name: "one id with two amounts and nothing in the book",
			rows: []string{"p1" + at + "21.00", "p1" + at}, counts: "2 0", want: []string{"conflict payment p1"}},
		{name: "a repeated row that the book does not know",
			rows: []string{"p1" + at, "p1" + at}, counts: "1 0", want: []string{"missing_local payment p1", "duplicate_entry payment p1"}},
		{name: "a repeated row with another amount than the book's",
			book: []string{"p1" + at}, rows: []string{"p1" + at + "19.00", "p1" + at + "19.00"}, counts: "1 0",
			want: []string{"amount_mismatch payment p1", "duplicate_entry payment p1"}},
		{name: "payment and refund under one id are two movements", // F56 (3)
			book: []string{"p1" + at}, movements: []movement{refund("p1", "p1", "R1", "5.00")},
			rows: []string{"p1" + at, "p1,O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R1"}, counts: "2 2"},
		{name: "several refunds of one payment", // F59
			book: []string{"p1" + at}, movements: []movement{refund("re_31", "p1", "R31", "5.00")},
			rows: []string{"p1" + at, "re_31,O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R31",
				"re_32,O-p1,refund,3.00,CNY,succeeded,2026-11-28 11:00:00,p1,R32"}, counts: "3 2",
			want: []string{"missing_local refund re_32"}},
		{name: "a refund the book knows by the shop's number only",
			book: []string{"p1" + at}, movements: []movement{refund("", "p1", "R1", "5.00")},
			rows: []string{"p1" + at, "re_1,O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R1"}, counts: "2 2"},
		{name: "a refund the statement knows by the shop's number only",
			book: []string{"p1" + at}, movements: []movement{refund("re_1", "p1", "R1", "5.00")},
			rows: []string{"p1" + at, ",O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R1"}, counts: "2 2"},
		{name: "two refunds under one number of the shop stay two",
			book: []string{"p1" + at}, movements: []movement{refund("re_1", "p1", "R1", "5.00")},
			rows: []string{"p1" + at, "re_1,O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R1",
				"re_2,O-p1,refund,5.00,CNY,succeeded,2026-11-28 11:00:00,p1,R1"}, counts: "3 2", want: []string{"missing_local refund re_2"}},
		{name: "rows that are not settled money", // F54
			book: []string{"p1" + at}, movements: []movement{{Kind: models.Payment, TransactionID: "p2", OrderID: "O-p2", Amount: "20.00", Currency: "CNY",
				Status: "pending", OccurredAt: "2026-11-28T10:00:00+08:00"}},
			rows: []string{"p1" + at + "20.00 SUCCESS", "p2" + at + "20.00 PENDING", "p3" + at + "20.00 PENDING", "p4" + at + "20.00 FAILED",
				"p5" + at + "20.00 CLOSED", "p6" + at + "20.00 REVOKED"}, counts: "6 2"},
		{name: "succeeded in the book, failed or revoked in the statement",
			book: []string{"p1" + at, "p2" + at}, rows: []string{"p1" + at + "20.00 FAILED", "p2" + at + "20.00 REVOKED"}, counts: "2 0",
			want: []string{"status_mismatch payment p1", "status_mismatch payment p2"}},
		{name: "a status nobody knows",
			book: []string{"p1" + at}, rows: []string{"p1" + at + "20.00 ODD", "p2" + at + "20.00 ODD"}, counts: "2 0",
			want: []string{"unknown_status payment p1", "unknown_status payment p2"}},
		{name: "another currency goes before another amount",
			book: []string{"p1" + at}, rows: []string{"p1,O-p1,payment,21.00,USD,succeeded,2026-11-28 10:00:00,,"}, counts: "1 0",
			want: []string{"currency_mismatch payment p1"}},
		{name: "a fee row is no movement of ours",
			book: []string{"p1" + at}, rows: []string{"p1" + at, "f1,,fee,0.50,CNY,succeeded,2026-11-27 10:00:00,,"}, counts: "1 1"},
		{name: "ids rounded by a spreadsheet", // F49
			book: []string{"4200000000202610123456789012" + at}, rows: []string{"4200000000202610000000000000" + at}, counts: "1 0",
			want: []string{"missing_local payment 4200000000202610000000000000", "missing_provider payment 4200000000202610123456789012"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
				paid(t, b, c.book...)
				book(t, b, "shop", c.movements...)
				r := run(t, b, plainAccount(t), "2026-11-28", statement(t, c.rows...))
				wantRun(t, r, c.counts, c.want...)
			})
		})
	}
}

func refund(id, parent, number, amount string) movement {
	return movement{Kind: models.Refund, TransactionID: id, ParentID: parent, RefundOrderID: number, OrderID: "O-" + parent, Amount: amount,
		Currency: "CNY", Status: "succeeded", OccurredAt: "2026-11-28T11:00:00+08:00"}
}

// TestReasons checks what a gap tells beside its kind.
func TestReasons(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00", "4200000000202610123456789012 2026-11-28 10:00:00")
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00", "p1 2026-11-28 10:00:00",
		"p2 2026-11-28 10:00:00 21.00", "4200000000202610000000000000 2026-11-28 10:00:00"))
	for kind, want := range map[models.GapKind]string{
		models.GapDuplicateEntry:  "statement.csv, row 2 and row 4",
		models.GapConflict:        "row 3 says 20.00 CNY succeeded and row 5 says 21.00 CNY succeeded",
		models.GapMissingLocal:    "ends in many zeros",
		models.GapMissingProvider: "end in many zeros",
	} {
		if g := only(t, r, kind); !strings.Contains(g.Reason, want) {
			t.Errorf("%s: reason is %q, want it to say %q", kind, g.Reason, want)
		}
	}
}

// only is the one gap of a kind.
func only(t testing.TB, r *reconcile.Report, kind models.GapKind) reconcile.GapReport {
	t.Helper()
	var found []reconcile.GapReport
	for _, g := range r.Gaps {
		if g.Kind == kind {
			found = append(found, g)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d gaps of kind %s, want one; have %q", len(found), kind, gapLines(r.Gaps))
	}
	return found[0]
}

// TestOrderGaps: statement and book agree, the order does not.
func TestOrderGaps(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		ledgertest.Order(t, b, "O-1", "150.00", "CNY")
		ledgertest.Order(t, b, "O-2", "20.00", "CNY")
		ledgertest.Order(t, b, "O-3", "20.00", "CNY")
		ledgertest.Order(t, b, "O-5", "20.00", "USD")
		if err := b.CloseOrder(t.Context(), "O-3", "order.expired"); err != nil {
			t.Fatal(err)
		}
		var rows []string
		for i, order := range []string{"O-1", "O-2", "O-2", "O-3", "O-4", "O-5"} {
			id := fmt.Sprintf("p%d", i)
			book(t, b, "shop", movement{Kind: models.Payment, TransactionID: id, OrderID: order, Amount: "20.00", Currency: "CNY", Status: "succeeded",
				OccurredAt: "2026-11-28T10:00:00+08:00"})
			rows = append(rows, id+","+order+",payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,")
		}
		r := run(t, b, plainAccount(t), "2026-11-28", statement(t, rows...))
		wantRun(t, r, "6 1", "amount_mismatch payment p0", "duplicate_payment payment p2", "paid_after_close payment p3", "unknown_order payment p4",
			"currency_mismatch payment p5")
		if g := only(t, r, models.GapAmount); g.Order == nil || g.Order.Amount != "150.00" || g.Ledger.Amount != "20.00" {
			t.Errorf("the sides are %+v, %+v, %+v", g.Statement, g.Ledger, g.Order)
		}
		a := plainAccount(t)
		a.OrdersElsewhere = true
		wantRun(t, run(t, b, a, "2026-11-28", statement(t, rows...)), "6 2", "amount_mismatch payment p0", "duplicate_payment payment p2",
			"paid_after_close payment p3", "currency_mismatch payment p5", "healed: unknown_order payment p4")
	})
}

// TestAnyOrder: a shuffled and a reversed file come to the same as one in order of time.
func TestAnyOrder(t *testing.T) {
	b := sqlite(t)
	var rows, reversed, shuffled []string
	for i := range 60 {
		at := fmt.Sprintf("2026-11-28 %02d:%02d:00", i%24, i)
		paid(t, b, fmt.Sprintf("p%d %s", i, at))
		if i != 7 {
			rows = append(rows, fmt.Sprintf("p%d %s", i, at))
		}
	}
	for i := range rows {
		reversed = append(reversed, rows[len(rows)-1-i])
		shuffled = append(shuffled, rows[i*31%len(rows)])
	}
	for _, order := range [][]string{rows, reversed, shuffled} {
		wantRun(t, run(t, b, plainAccount(t), "2026-11-28", statement(t, order...)), "59 59", "missing_provider payment p7")
	}
}
