package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"paybook/ledger"
	"paybook/models"
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

// race lets two things happen to each of n orders at the same moment, on two replicas, and then looks at each order.
func race(t *testing.T, books [2]*ledger.Ledger, n int, one, other func(book *ledger.Ledger, id string) error) {
	t.Helper()
	own(t, books[0], units("A", int64(2*n)), units("B", int64(n)))
	inParallel(n, func(i int) {
		if _, err := books[i%2].CreateOrder(t.Context(), newOrder(fmt.Sprintf("O%d", i), units("B", 1), units("A", 2))); err != nil {
			t.Error(err)
		}
	})
	inParallel(2*n, func(i int) {
		do := one
		if i%2 == 1 {
			do = other
		}
		if err := do(books[i/2%2], fmt.Sprintf("O%d", i/2)); err != nil {
			t.Error(err)
		}
	})
	checkBooks(t, books[0])
}

func pay(t *testing.T) func(*ledger.Ledger, string) error {
	return func(book *ledger.Ledger, id string) error {
		_, err := record(t.Context(), book, "a", payment("ch-"+id, id, "19.99"))
		return err
	}
}

func give(t *testing.T, on models.EventKind) func(*ledger.Ledger, string) error {
	return func(book *ledger.Ledger, id string) error {
		_, err := book.Act(t.Context(), ledger.Act{OrderID: id, On: on})
		if errors.Is(err, ledger.ErrState) {
			err = nil // the payment was first
		}
		return err
	}
}

// wantOneWon: each order is paid and its units sold, or closed, its units free and the money shown. Never both.
func wantOneWon(t *testing.T, book *ledger.Ledger, n int) {
	t.Helper()
	paid := int64(0)
	for i := range n {
		h, err := book.OrderHistory(t.Context(), fmt.Sprintf("O%d", i))
		if err != nil || len(h.Transactions) != 1 || len(h.Transitions) != 1 {
			t.Fatalf("O%d: %d transactions, %d transitions, %v", i, len(h.Transactions), len(h.Transitions), err)
		}
		switch got := fmt.Sprint(h.Order.Status, h.Order.Stock, h.Transactions[0].Outcome); got {
		case fmt.Sprint(models.Paid, models.StockSold, models.OutcomeApplied):
			paid++
		case fmt.Sprint(models.Closed, models.StockReleased, models.OutcomePaidAfterClose):
		default:
			t.Errorf("O%d: %s", i, got)
		}
	}
	wantStock(t, book, "A", fmt.Sprint(2*(int64(n)-paid), 0, 2*paid))
	wantStock(t, book, "B", fmt.Sprint(int64(n)-paid, 0, paid))
}

func TestCancelRacesPayment(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		race(t, books, 20, give(t, models.OrderCancel), pay(t))
		wantOneWon(t, books[0], 20)
	})
}

func TestExpiryRacesPayment(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		race(t, books, 20, pay(t), give(t, models.OrderExpire))
		wantOneWon(t, books[0], 20)
	})
}

// F16 F17: one payment told fifty times, while the order is cancelled twenty times: the units move once.
func TestRepeatsMoveUnitsOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		own(t, books[0], units("A", 5))
		if _, err := books[0].CreateOrder(t.Context(), newOrder("O0", units("A", 2))); err != nil {
			t.Fatal(err)
		}
		inParallel(70, func(i int) {
			do := pay(t)
			if i >= 50 {
				do = give(t, models.OrderCancel)
			}
			if err := do(books[i%2], "O0"); err != nil {
				t.Error(err)
			}
		})
		checkBooks(t, books[0])
	})
}

// Twenty orders whose attempt has ended, twenty payments after all, five units: five are sold, no more.
func TestPaidAfterAllForTheLastUnits(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		own(t, books[0], units("A", 5), units("B", 100))
		for i := range 20 {
			id := fmt.Sprintf("O%d", i)
			if _, err := books[0].CreateOrder(t.Context(), newOrder(id, units("B", 1), units("A", 1))); err != nil {
				t.Fatal(err)
			}
			ended := payment("first-"+id, id, "19.99")
			ended.Kind = models.PaymentClosed
			if _, err := record(t.Context(), books[0], "a", ended); err != nil {
				t.Fatal(err)
			}
		}
		var outcomes [2]atomic.Int64
		inParallel(40, func(i int) {
			id := fmt.Sprintf("O%d", i%20)
			out, err := record(t.Context(), books[i/20], "a", payment("ch-"+id, id, "19.99"))
			switch {
			case err != nil:
				t.Error(err)
			case out[0] == models.OutcomeApplied:
				outcomes[0].Add(1)
			case out[0] == models.OutcomePaidAfterClose:
				outcomes[1].Add(1)
			}
		})
		if outcomes[0].Load() != 5 || outcomes[1].Load() != 15 {
			t.Errorf("%d paid and %d after close, want 5 and 15", outcomes[0].Load(), outcomes[1].Load())
		}
		wantStock(t, books[0], "A", "0 0 5")
		wantStock(t, books[0], "B", "95 0 5")
		checkBooks(t, books[0])
	})
}

// F75: orders of many articles, each named in another order, made, paid, cancelled, expired and imported over, all at once.
func TestManyArticlesNeverWaitCrosswise(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		const orders, articles = 30, 12
		all := make([]models.Item, articles)
		for i := range all {
			all[i] = units(fmt.Sprintf("sku%02d", i), 60)
		}
		own(t, books[0], all...)
		var out atomic.Int64
		inParallel(orders, func(i int) {
			book, id := books[i%2], fmt.Sprintf("O%d", i)
			items := append([]models.Item(nil), all...)
			for n := range items {
				items[n].Quantity = int64(1 + i%3)
			}
			rand.New(rand.NewPCG(uint64(i), 1)).Shuffle(articles, func(a, b int) { items[a], items[b] = items[b], items[a] })
			_, err := book.CreateOrder(t.Context(), newOrder(id, items...))
			if short := (*ledger.OutOfStock)(nil); errors.As(err, &short) {
				out.Add(1)
				return
			} else if err != nil {
				t.Error(err)
			}
			if i%5 == 0 { // the shop counts its stock again
				own(t, book, all...)
			}
			inParallel(3, func(n int) {
				if err := []func(*ledger.Ledger, string) error{pay(t), give(t, models.OrderCancel), give(t, models.OrderExpire)}[n](books[n%2], id); err != nil {
					t.Error(err)
				}
			})
		})
		if out.Load() == orders {
			t.Error("nobody got anything")
		}
		checkBooks(t, books[0])
	})
}

// F23: the callback and its refund come while the order is being made. Whoever is first, after one sweep it is paid and its units are sold.
func TestCallbackRacesCreation(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		const n = 20
		own(t, books[0], units("A", 2*n))
		inParallel(3*n, func(i int) {
			id, book := fmt.Sprintf("O%d", i/3), books[i%2]
			var err error
			switch i % 3 {
			case 0:
				err = pay(t)(book, id)
			case 1:
				_, err = book.CreateOrder(t.Context(), newOrder(id, units("A", 2)))
			case 2:
				_, err = record(t.Context(), book, "a", refund("re-"+id, "ch-"+id, "5.00"))
			}
			if err != nil {
				t.Error(err)
			}
		})
		if _, err := books[0].Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := wantOrder(t.Context(), books[0], fmt.Sprintf("O%d", i), "part_refunded", pairs([]string{"refunded=5.00", "path=unpaid>paid>part_refunded"})); err != nil {
				t.Error(err)
			}
		}
		wantStock(t, books[0], "A", fmt.Sprint(0, 0, 2*n))
		checkBooks(t, books[0])
	})
}
