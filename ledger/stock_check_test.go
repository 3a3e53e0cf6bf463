package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// One article whose orders hold more units than are owned keeps all from being repaired: no half of it is left. The error names each such
// article and says what to do; when that is done all are repaired at once.
func TestRepairStockIsAllOrNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for _, sku := range []string{"A", "B", "C", "D"} {
			own(t, book, units(sku, 9))
			if _, err := book.CreateOrder(t.Context(), newOrder("O"+sku, units(sku, 5))); err != nil {
				t.Fatal(err)
			}
			if err := book.SpoilStock(t.Context(), sku, 1); err != nil {
				t.Fatal(err)
			}
		}
		own(t, book, units("B", 3), units("D", 4))
		all := []string{"D", "A", "C", "B", "A"} // as it comes
		now, err := book.RepairStock(t.Context(), nil, all...)
		if !errors.As(err, new(*ledger.StockConflict)) || len(now) != 0 {
			t.Fatal(now, err)
		}
		for _, want := range []string{"SKU B has 3 units, and its orders hold 5 and have bought 0: import at least 5 with app import stock", "SKU D has 4 units"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		}
		for sku, want := range map[string]string{"A": "8 1 0", "B": "2 1 0", "C": "8 1 0", "D": "3 1 0"} {
			wantStock(t, book, sku, want)
		}
		if _, err := book.RepairStock(t.Context(), nil, "A", "nobody's"); !errors.Is(err, ledger.ErrNotFound) {
			t.Error(err)
		}
		wantStock(t, book, "A", "8 1 0")
		own(t, book, units("B", 5), units("D", 6))
		if now, err = book.RepairStock(t.Context(), nil, all...); err != nil || len(now) != 4 || now["D"].Reserved != 5 {
			t.Error(now, err)
		}
		for sku, want := range map[string]string{"A": "4 5 0", "B": "0 5 0", "C": "4 5 0", "D": "1 5 0"} {
			wantStock(t, book, sku, want)
		}
	})
}
