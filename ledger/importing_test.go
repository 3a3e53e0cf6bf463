package ledger_test

import (
	"fmt"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

func imports(events ...models.Event) func(func(ledger.Import, error) bool) {
	return func(yield func(ledger.Import, error) bool) {
		for i, ev := range events {
			if !yield(ledger.Import{Account: "a", Place: fmt.Sprintf("row %d", i+1), Events: []models.Event{ev}}, nil) {
				return
			}
		}
	}
}

// A file may have a refund before its payment, thousands of rows apart; the counts say what became of it in the end.
func TestImportInAnyOrder(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		const n = 2500 // several chunks
		var orders []models.Order
		events := []models.Event{refund("re0", "ch0", "1.00"), refund("re9999", "nobody", "1.00")}
		for i := range n {
			id := fmt.Sprintf("O%d", i)
			orders = append(orders, models.Order{OrderID: id, AmountMinor: 1999, Currency: "USD"})
			events = append(events, payment(fmt.Sprintf("ch%d", n-1-i), fmt.Sprintf("O%d", n-1-i), "19.99"))
		}
		ledgertest.Orders(t, book, orders...)
		for _, want := range []string{"map[applied:2501 no_order:1]", "map[duplicate:2502]"} {
			counts, err := book.ImportTransactions(t.Context(), imports(events...))
			if err != nil || fmt.Sprint(counts) != want {
				t.Errorf("%v %v, want %s", counts, err, want)
			}
		}
		if err := wantOrder(t.Context(), book, "O0", "part_refunded", pairs([]string{"refunded=1.00", "messages=0"})); err != nil {
			t.Error(err)
		}
		checkBooks(t, book)
	})
}

// All or nothing: one row that contradicts the book, in whatever chunk, and nothing of the file is there.
func TestImportIsAllOrNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		if _, err := book.ImportTransactions(t.Context(), imports(payment("ch1", "O1", "19.99"))); err != nil {
			t.Fatal(err)
		}
		var events []models.Event
		for i := range 1500 {
			events = append(events, payment(fmt.Sprintf("new%d", i), "nobody", "1.00"))
		}
		events = append(events, payment("ch1", "O1", "29.99"))
		if _, err := book.ImportTransactions(t.Context(), imports(events...)); err == nil {
			t.Fatal("a contradicting row was taken")
		}
		if n := count(t, book, "a"); n != 1 {
			t.Errorf("%d rows in the book, want the one from before", n)
		}
	})
}
