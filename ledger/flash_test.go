package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// told words an answer as the shop's routes do.
func told(o models.Order, err error) (int, []byte) {
	if err != nil {
		return 409, []byte(err.Error())
	}
	return 201, fmt.Appendf(nil, "%s %s at version %d", o.OrderID, o.Status, o.Version)
}

// hot is an order for n units of the article SKU.
func hot(id string, n int64) ledger.NewOrder {
	return ledger.NewOrder{Order: models.Order{OrderID: id, AmountMinor: 1999, Currency: "CNY"}, Items: []models.Item{{SKU: "SKU", Quantity: n}}}
}

func stocked(t testing.TB, book *ledger.Ledger, sku string, units int64) {
	t.Helper()
	if _, err := book.ImportStock(t.Context(), func(yield func(models.Stock, error) bool) { yield(models.Stock{SKU: sku, Quantity: units}, nil) }); err != nil {
		t.Fatal(err)
	}
}

// working works the queue until the test ends or stop is called.
func working(t testing.TB, book *ledger.Ledger) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- book.Work(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// eventually waits until ok, with a hang guard.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(120 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
	}
}

// books fails unless the stock's row says what the orders, written and queued, say.
func books(t testing.TB, book *ledger.Ledger, sku string, reserved, sold int64) {
	t.Helper()
	checks, err := book.CheckStock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.Equal() {
			t.Errorf("%s: the row says %d reserved and %d sold, the orders %d and %d", c.SKU, c.Row.Reserved, c.Row.Sold, c.Reserved, c.Sold)
		}
		if c.SKU == sku && (c.Row.Reserved != reserved || c.Row.Sold != sold) {
			t.Errorf("%s: %d reserved and %d sold, expected %d and %d", sku, c.Row.Reserved, c.Row.Sold, reserved, sold)
		}
	}
}

// A thousand units, five thousand buyers: exactly a thousand orders, each once, and the sums are equal at every moment.
func TestFlashSaleSellsWhatThereIs(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		const units, buyers = 1000, 5000
		stocked(t, book, "SKU", units)
		working(t, book)
		var won, lost atomic.Int64
		var callers sync.WaitGroup
		for part := range 50 {
			callers.Go(func() {
				for i := part; i < buyers; i += 50 {
					id := fmt.Sprintf("O%d", i)
					a, err := book.AcceptOrder(t.Context(), ledger.Key{Owner: "shop", Token: "k" + id, Fingerprint: id}, hot(id, 1), told)
					switch {
					case err != nil:
						t.Error(err)
					case a.Status == 202 && !a.Replayed:
						won.Add(1)
					case a.Status == 409:
						lost.Add(1)
					default:
						t.Errorf("%d replayed %v", a.Status, a.Replayed)
					}
				}
			})
		}
		callers.Wait()
		if won.Load() != units || lost.Load() != buyers-units {
			t.Errorf("%d won, %d lost", won.Load(), lost.Load())
		}
		books(t, book, "SKU", units, 0)
		eventually(t, "all orders are written", func() bool { return len(allOrders(t, book)) == units })
		books(t, book, "SKU", units, 0)
	})
}

func allOrders(t testing.TB, book *ledger.Ledger) (all []models.Order) {
	t.Helper()
	for next := ""; ; {
		list, after, err := book.ListOrders(t.Context(), ledger.OrderFilter{Page: ledger.Page{Limit: 1000, After: next}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
		if next = after; next == "" {
			return all
		}
	}
}

// Under one key there is one order, however often and from wherever it is asked for; another request under it is refused; so is a second
// order under a number that is taken, queued or written.
func TestAcceptedOnce(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		book, other := ledgertest.Open(t, dsn), ledgertest.Open(t, dsn)
		stocked(t, book, "SKU", 10)
		key := ledger.Key{Owner: "shop", Token: "key", Fingerprint: "f"}
		var fresh atomic.Int64
		var first sync.Map
		inParallel(20, func(i int) {
			a, err := []*ledger.Ledger{book, other}[i%2].AcceptOrder(t.Context(), key, hot("O1", 2), told)
			if err != nil || a.Status != 202 {
				t.Error(a.Status, err)
			}
			if !a.Replayed {
				fresh.Add(1)
			}
			first.Store(string(a.Body), true)
		})
		bodies := 0
		first.Range(func(any, any) bool { bodies++; return true })
		if fresh.Load() != 1 || bodies != 1 {
			t.Errorf("%d first answers, %d different bodies", fresh.Load(), bodies)
		}
		books(t, book, "SKU", 2, 0)
		if _, err := book.AcceptOrder(t.Context(), ledger.Key{Owner: "shop", Token: "key", Fingerprint: "another"}, hot("O2", 1), told); !errors.Is(err, ledger.ErrTokenSpent) {
			t.Error(err)
		}
		if a, err := book.CreateOrderOnce(t.Context(), key, hot("O1", 2), told); err != nil || a.Status != 202 || !a.Replayed {
			t.Error("the usual way does not know the answer", a, err)
		}
		taken := func(when string) {
			t.Helper()
			var exists *ledger.OrderExists
			if _, err := book.CreateOrder(t.Context(), hot("O1", 1)); !errors.As(err, &exists) {
				t.Error(when, err)
			}
			if a, err := book.AcceptOrder(t.Context(), ledger.Key{Token: when, Fingerprint: "x"}, hot("O1", 1), told); err != nil || a.Status != 409 {
				t.Error(when, a, err)
			}
		}
		if o, err := book.QueuedOrder(t.Context(), "O1"); err != nil || o.Order.Version != 1 || o.Order.Status != models.Unpaid || o.Order.AmountMinor != 1999 || len(o.Items) != 1 {
			t.Error(o, err)
		}
		taken("queued")
		working(t, book)
		eventually(t, "the order is written", func() bool { return len(allOrders(t, book)) == 1 })
		if _, err := book.QueuedOrder(t.Context(), "O1"); !errors.Is(err, ledger.ErrNotFound) {
			t.Error(err)
		}
		taken("written")
		books(t, book, "SKU", 2, 0)
	})
}

// A token of ours is spent by the order it is for.
func TestAcceptedWithAToken(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		stocked(t, book, "SKU", 10)
		token, err := book.IssueToken(t.Context(), "shop", "cart", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		key := ledger.Key{Owner: "shop", Token: token.Token, Fingerprint: "f"}
		for i := range 5 {
			if a, err := book.AcceptOrder(t.Context(), key, hot("O1", 1), told); err != nil || a.Status != 202 || a.Replayed != (i > 0) {
				t.Error(i, a, err)
			}
		}
		for _, forged := range []ledger.Key{{Owner: "shop", Token: "tok_forged"}, {Owner: "another", Token: token.Token, Fingerprint: "f"}} {
			if _, err := book.AcceptOrder(t.Context(), forged, hot("O2", 1), told); !errors.Is(err, ledger.ErrTokenUnknown) {
				t.Error(forged.Owner, err)
			}
		}
		books(t, book, "SKU", 1, 0)
	})
}

// The number of an accepted order is taken in the database itself before it is written: its units are released once, the shop is told, the
// answer stays.
func TestAcceptedNumberIsTaken(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		stocked(t, book, "SKU", 10)
		key := ledger.Key{Token: "key", Fingerprint: "f"}
		if _, err := book.AcceptOrder(t.Context(), key, hot("O1", 3), told); err != nil {
			t.Fatal(err)
		}
		if err := book.WriteByHand(t.Context(), models.Order{OrderID: "O1", AmountMinor: 500, Currency: "USD"}); err != nil {
			t.Fatal(err)
		}
		working(t, book)
		eventually(t, "the job has run", func() bool { _, err := book.QueuedOrder(t.Context(), "O1"); return errors.Is(err, ledger.ErrNotFound) })
		books(t, book, "SKU", 0, 0)
		if o := allOrders(t, book); len(o) != 1 || o[0].Currency != "USD" {
			t.Errorf("%+v", o)
		}
		topics, err := book.MessageTopics(t.Context(), "O1")
		if err != nil || len(topics) != 1 || topics[0] != ledger.TopicRefused {
			t.Error(topics, err)
		}
		if a, err := book.AcceptOrder(t.Context(), key, hot("O1", 3), told); err != nil || a.Status != 202 || !a.Replayed {
			t.Error(a, err)
		}
	})
}

// Who moves an accepted order does not have to wait for its job.
func TestAcceptedIsMovedBeforeItIsWritten(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		stocked(t, book, "SKU", 10)
		for _, id := range []string{"O1", "O2", "O3"} {
			if _, err := book.AcceptOrder(t.Context(), ledger.Key{}, hot(id, 3), told); err != nil {
				t.Fatal(err)
			}
		}
		if o, err := book.Act(t.Context(), ledger.Act{OrderID: "O1", On: models.OrderPay}); err != nil || o.Status != models.Paying || o.Version != 2 {
			t.Error(o, err)
		}
		if a, err := book.ActOnce(t.Context(), ledger.Key{Token: "k", Fingerprint: "f"}, ledger.Act{OrderID: "O2", On: models.OrderCancel}, told); err != nil || a.Status != 201 {
			t.Error(a, err)
		}
		if _, err := book.Act(t.Context(), ledger.Act{OrderID: "nobody's", On: models.OrderPay}); !errors.Is(err, ledger.ErrNotFound) {
			t.Error(err)
		}
		books(t, book, "SKU", 6, 0)
		working(t, book)
		eventually(t, "the job has run", func() bool { return len(allOrders(t, book)) == 3 })
		books(t, book, "SKU", 6, 0)
	})
}

// A payment that arrives before its accepted order is written pays it when it is.
func TestAcceptedIsPaidBeforeItIsWritten(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		stocked(t, book, "SKU", 10)
		if _, err := book.AcceptOrder(t.Context(), ledger.Key{}, hot("O1", 3), told); err != nil {
			t.Fatal(err)
		}
		ev := payment("ch1", "O1", "19.99")
		ev.Money.Currency = "CNY"
		if _, err := record(t.Context(), book, "a", ev); err != nil {
			t.Fatal(err)
		}
		working(t, book)
		eventually(t, "the order is paid", func() bool { o := allOrders(t, book); return len(o) == 1 && o[0].Status == models.Paid })
		books(t, book, "SKU", 0, 3)
	})
}

// What was not paid within its window is closed by the queue, by the book's clock, and its units may be sold again.
func TestQueueClosesWhatIsNotPaid(t *testing.T) {
	var now atomic.Pointer[time.Time]
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	now.Store(&at)
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		now.Store(&at)
		stocked(t, book, "SKU", 10)
		expires := at.Add(30 * time.Minute)
		for i := range 3 {
			o := hot(fmt.Sprintf("O%d", i), 3)
			o.Order.ExpiresAt = &expires
			if _, err := book.CreateOrder(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		later := expires.Add(time.Second)
		now.Store(&later)
		working(t, book)
		eventually(t, "all are closed", func() bool {
			closed := 0
			for _, o := range allOrders(t, book) {
				if o.Status == models.Closed {
					closed++
				}
			}
			return closed == 3
		})
		books(t, book, "SKU", 0, 0)
	}, ledger.Options{Now: func() time.Time { return *now.Load() }})
}
