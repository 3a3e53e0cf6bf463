package ledger_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

func stockRows(rows []models.Stock, end error) func(func(models.Stock, error) bool) {
	return func(yield func(models.Stock, error) bool) {
		for _, s := range rows {
			if !yield(s, nil) {
				return
			}
		}
		if end != nil {
			yield(models.Stock{}, end)
		}
	}
}

// An import sets what is owned, again and again; what is reserved and sold it never touches, whatever the row says.
func TestImportStock(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		var rows []models.Stock
		for i := range 2500 { // several chunks
			rows = append(rows, models.Stock{SKU: fmt.Sprintf("S%d", i), Quantity: 5, Reserved: 7, Sold: 7})
		}
		for _, want := range []int{2500, 0} {
			if n, err := book.ImportStock(t.Context(), stockRows(append(rows, rows[3]), nil)); err != nil || n != want {
				t.Errorf("%d changed, want %d (%v)", n, want, err)
			}
		}
		wantStock(t, book, "S2499", "5 0 0")
		if _, err := book.CreateOrder(t.Context(), newOrder("O1", units("S7", 2))); err != nil {
			t.Fatal(err)
		}
		for quantity, want := range map[int64]string{2: "0 2 0", math.MaxInt64: fmt.Sprint(int64(math.MaxInt64-2), " 2 0")} {
			if n, err := book.ImportStock(t.Context(), stockRows([]models.Stock{{SKU: "S7", Quantity: quantity}}, nil)); err != nil || n != 1 {
				t.Error(n, err)
			}
			wantStock(t, book, "S7", want)
		}
		if n, err := book.ImportStock(t.Context(), stockRows(nil, nil)); n != 0 || err != nil {
			t.Error(n, err)
		}
		checkBooks(t, book)
	})
}

// One row that cannot be, in whatever chunk, and nothing of the import is there.
func TestImportStockIsAllOrNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		own(t, book, units("A", 5), units("B", 3))
		if _, err := book.CreateOrder(t.Context(), newOrder("O1", units("A", 4))); err != nil {
			t.Fatal(err)
		}
		for want, bad := range map[string][]models.Stock{
			"SKU A is given with 3 units, but 0 are sold and 4 reserved: at least 4 expected": {{SKU: "A", Quantity: 3}},
			"SKU Z is given with -1 units":             {{SKU: "Z", Quantity: -1}},
			"SKU Z is given twice, with 1 and 2 units": {{SKU: "Z", Quantity: 1}, {SKU: "Z", Quantity: 2}},
			"is no usable SKU":                         {{SKU: "", Quantity: 1}},
			"\ufffd is no usable":                      {{SKU: "a\x00", Quantity: 1}},
		} {
			rows := []models.Stock{{SKU: "B", Quantity: 9}}
			for i := range 1500 {
				rows = append(rows, models.Stock{SKU: fmt.Sprint(i), Quantity: 1})
			}
			n, err := book.ImportStock(t.Context(), stockRows(append(rows, bad...), nil))
			var conflict *ledger.StockConflict
			if n != 0 || !errors.As(err, &conflict) || !strings.Contains(err.Error(), want) {
				t.Errorf("%d, %v, want %q", n, err, want)
			}
		}
		broken := errors.New("row 3 is broken")
		if _, err := book.ImportStock(t.Context(), stockRows([]models.Stock{{SKU: "B", Quantity: 9}}, broken)); !errors.Is(err, broken) {
			t.Error(err)
		}
		wantStock(t, book, "A", "1 4 0")
		wantStock(t, book, "B", "3 0 0")
		if _, err := book.Stock(t.Context(), "0"); !errors.Is(err, ledger.ErrNotFound) {
			t.Error(err)
		}
	})
}

// Two imports at once, in opposite orders, and orders for the same articles meanwhile: nobody waits crosswise.
func TestImportsOfStockAtOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		const n = 300
		inParallel(6, func(i int) {
			rows := make([]models.Stock, n)
			for j := range rows {
				k := j
				if i%2 == 1 {
					k = n - 1 - j
				}
				rows[j] = models.Stock{SKU: fmt.Sprintf("S%03d", k), Quantity: 5}
			}
			if _, err := books[i%2].ImportStock(t.Context(), stockRows(rows, nil)); err != nil {
				t.Error(err)
			}
			if _, err := books[i%2].CreateOrder(t.Context(), newOrder(fmt.Sprint("O", i), units("S299", 1), units("S000", 1))); err != nil && i < 5 {
				var out *ledger.OutOfStock
				if !errors.As(err, &out) {
					t.Error(err)
				}
			}
		})
		checkBooks(t, books[0])
	})
}

// An order without items costs a callback nothing more: it goes its whole way in a book that has no table for stock.
func TestOrdersWithoutItemsNeedNoStock(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		book := ledgertest.Open(t, dsn)
		for _, table := range []string{"stock", "items", "tokens"} {
			if _, err := openSQL(t, dsn).Exec("DROP TABLE " + table); err != nil {
				t.Fatal(err)
			}
		}
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		ledgertest.Order(t, book, "O2", "19.99", "USD")
		ended := payment("ch2", "O2", "19.99")
		ended.Kind = models.PaymentClosed
		for _, ev := range []models.Event{payment("ch1", "O1", "19.99"), refund("re1", "ch1", "5.00"), ended, payment("ch3", "O2", "19.99")} {
			if out, err := record(t.Context(), book, "a", ev); err != nil || out[0] != models.OutcomeApplied {
				t.Error(out, err)
			}
		}
		if _, err := book.CreateOrder(t.Context(), newOrder("O3")); err != nil {
			t.Error(err)
		}
		for _, id := range []string{"O1", "O2", "O3"} {
			o, err := book.OrderHistory(t.Context(), id)
			if err != nil || o.Order.Stock != models.StockNone || len(o.Items) != 0 {
				t.Error(o, err)
			}
		}
	})
}

// Somebody has deleted or changed the row of an article by hand: money that comes is booked all the same, and no figure goes below zero.
func TestMoneyIsBookedWhateverStockSays(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		book := ledgertest.Open(t, dsn)
		for n, spoil := range []string{"DELETE FROM stock", "UPDATE stock SET reserved = 0", "UPDATE stock SET reserved = 1, quantity = 1"} {
			paid, given := fmt.Sprint("paid", n), fmt.Sprint("given up", n)
			own(t, book, units("A", 5))
			for _, id := range []string{paid, given} {
				if _, err := book.CreateOrder(t.Context(), newOrder(id, units("A", 2))); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := openSQL(t, dsn).Exec(spoil); err != nil {
				t.Fatal(err)
			}
			if out, err := record(t.Context(), book, "a", payment(fmt.Sprint("ch", n), paid, "19.99")); err != nil || out[0] != models.OutcomeApplied {
				t.Errorf("%s: %v %v", spoil, out, err)
			}
			if _, err := book.Act(t.Context(), ledger.Act{OrderID: given, On: models.OrderCancel}); err != nil {
				t.Errorf("%s: %v", spoil, err)
			}
			wantMoves(t, book, paid, models.Paid, 1)
			wantMoves(t, book, given, models.Closed, 1)
			if s, err := book.Stock(t.Context(), "A"); err == nil && (s.Reserved < 0 || s.Available() < 0) {
				t.Errorf("%s: %+v", spoil, s)
			}
			if _, err := openSQL(t, dsn).Exec("DELETE FROM stock"); err != nil {
				t.Fatal(err)
			}
		}
	})
}
