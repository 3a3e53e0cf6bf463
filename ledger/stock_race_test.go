package ledger_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"paybook/ledger"
)

// Fifty buyers, three units: three orders, and the sums say so.
func TestBuyersForTheLastUnits(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		own(t, books[0], units("A", 3), units("B", 1000))
		var made, out atomic.Int64
		inParallel(50, func(i int) {
			_, err := books[i%2].CreateOrder(t.Context(), newOrder(fmt.Sprintf("O%d", i), units("B", 2), units("A", 1)))
			var short *ledger.OutOfStock
			switch {
			case err == nil:
				made.Add(1)
			case errors.As(err, &short):
				if *short != (ledger.OutOfStock{SKU: "A", Wanted: 1, Available: 0}) {
					t.Error(short)
				}
				out.Add(1)
			default:
				t.Error(err)
			}
		})
		if made.Load() != 3 || out.Load() != 47 {
			t.Errorf("%d orders and %d refusals, want 3 and 47", made.Load(), out.Load())
		}
		wantStock(t, books[0], "A", "0 3 0")
		wantStock(t, books[0], "B", "994 6 0")
		checkBooks(t, books[0])
	})
}
