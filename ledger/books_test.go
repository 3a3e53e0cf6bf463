package ledger_test

import (
	"context"

	"paybook/ledger"
	"paybook/models"
)

// checker is a test, or one script of many.
type checker interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// checkBooks holds the book against what must be true whatever happened: sums agree, versions have no hole, nothing points nowhere.
func checkBooks(t checker, book *ledger.Ledger) {
	t.Helper()
	ctx := t.Context()
	rows := map[string][]models.Transaction{}
	if err := allRows(ctx, book, func(tx models.Transaction) { rows[tx.OrderID] = append(rows[tx.OrderID], tx) }); err != nil {
		t.Fatal(err)
	}
	orders, _, err := book.ListOrders(ctx, ledger.OrderFilter{Page: ledger.Page{Limit: 10_000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		h, err := book.OrderHistory(ctx, o.OrderID)
		if err != nil {
			t.Fatal(err)
		}
		for i, tr := range h.Transitions {
			if tr.Version != int64(i+2) {
				t.Errorf("order %s: transition %d has version %d", o.OrderID, i, tr.Version)
			}
			if i > 0 && tr.From != h.Transitions[i-1].To {
				t.Errorf("order %s: transition %d starts from %s, the one before ended at %s", o.OrderID, i, tr.From, h.Transitions[i-1].To)
			}
		}
		if n := len(h.Transitions); n > 0 && (h.Transitions[n-1].To != o.Status || h.Transitions[n-1].Version != o.Version) {
			t.Errorf("order %s is %s v%d, its last transition says %s v%d", o.OrderID, o.Status, o.Version, h.Transitions[n-1].To, h.Transitions[n-1].Version)
		}
		checkSums(t, o, rows[o.OrderID])
	}
	checkStock(t, book, orders)
}

// checkStock: every unit that is reserved or sold is some order's, and of an order that is in that state.
func checkStock(t checker, book *ledger.Ledger, orders []models.Order) {
	t.Helper()
	want := map[string]models.Stock{}
	for _, o := range orders {
		items, err := book.Items(t.Context(), o.OrderID)
		if err != nil {
			t.Fatal(err)
		}
		if (len(items) == 0) != (o.Stock == models.StockNone) {
			t.Errorf("order %s has %d items, its stock is %q", o.OrderID, len(items), o.Stock)
		}
		if allowed, ok := stockIn[o.Status]; ok && o.Stock != models.StockNone && o.Stock != allowed {
			t.Errorf("order %s is %s, its stock is %s", o.OrderID, o.Status, o.Stock)
		}
		for _, i := range items {
			s := want[i.SKU]
			switch o.Stock {
			case models.StockReserved:
				s.Reserved += i.Quantity
			case models.StockSold:
				s.Sold += i.Quantity
			}
			want[i.SKU] = s
		}
	}
	for sku, w := range want {
		s, err := book.Stock(t.Context(), sku)
		if err != nil || s.Reserved != w.Reserved || s.Sold != w.Sold || s.Available() < 0 {
			t.Errorf("%s: %d reserved and %d sold of %d, its orders say %d and %d (%v)", sku, s.Reserved, s.Sold, s.Quantity, w.Reserved, w.Sold, err)
		}
	}
}

// stockIn is what an order's units must be in each state.
var stockIn = map[models.OrderStatus]models.StockState{
	models.Unpaid: models.StockReserved, models.Paying: models.StockReserved, models.Closed: models.StockReleased,
	models.Paid: models.StockSold, models.Shipped: models.StockSold, models.PartRefunded: models.StockSold, models.Refunded: models.StockSold,
	models.Disputed: models.StockSold, models.ChargedBack: models.StockSold,
}

func checkSums(t checker, o models.Order, rows []models.Transaction) {
	t.Helper()
	paid, refunded, told, none, undone, more := 0, int64(0), int64(0), int64(0), int64(0), int64(0)
	for _, r := range rows {
		counts := r.Outcome == models.OutcomeApplied || r.Outcome == models.OutcomeConflict ||
			r.Kind == models.Refund && r.Outcome == models.OutcomeAmountMismatch
		mine := r.TransactionID == o.PaidTransactionID || r.ParentID == o.PaidTransactionID
		succeeded := r.Status == models.StatusSucceeded
		switch {
		case !mine || r.Account != o.PaidAccount || r.Currency != o.Currency:
		case r.Kind == models.Payment && succeeded && counts:
			paid, told = paid+1, r.RefundedMinor
			more = r.AmountMinor - o.AmountMinor
		case r.Kind == models.Refund && succeeded && counts:
			refunded += r.AmountMinor
			if r.Event == "payment.capture_voided" {
				undone += r.AmountMinor
			}
		case r.Kind == models.Refund && !succeeded && r.Event != models.RefundTotal:
			none += r.AmountMinor
		case r.Kind == models.RefundReversal && counts:
			refunded -= r.AmountMinor
			none += r.AmountMinor
		}
	}
	if o.PaidTransactionID != "" && paid != 1 {
		t.Errorf("order %s is paid by %s, which counts %d times", o.OrderID, o.PaidTransactionID, paid)
	}
	if want := max(refunded, told-none) - min(undone, more); o.PaidTransactionID != "" && o.RefundedMinor != want {
		t.Errorf("order %s: refunded %d, its refunds say %d", o.OrderID, o.RefundedMinor, want)
	}
	if o.RefundedMinor > o.AmountMinor {
		t.Errorf("order %s: refunded %d of %d", o.OrderID, o.RefundedMinor, o.AmountMinor)
	}
}
