package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// twoBooks runs f with two open books on one database, as two replicas would have.
func twoBooks(t *testing.T, f func(t *testing.T, books [2]*ledger.Ledger)) {
	t.Helper()
	both := func(t *testing.T, dsn string) {
		f(t, [2]*ledger.Ledger{ledgertest.Open(t, dsn), ledgertest.Open(t, dsn)})
	}
	ledgertest.EachDSN(t, both)
	t.Run("serializable", func(t *testing.T) { // the isolation that distributed databases have: failures to be repeated are normal
		dsn := ledgertest.Postgres(t)
		both(t, dsn+"&default_transaction_isolation=serializable")
	})
}

func payment(id, order, amount string) models.Event {
	return models.Event{ID: "evt", Kind: models.PaymentSucceeded, TransactionID: id, OrderID: order, Money: sum(amount, "USD"), OccurredAt: clockTime("12:00")}
}

func refund(id, parent, amount string) models.Event {
	return models.Event{ID: "evt", Kind: models.RefundSucceeded, TransactionID: id, ParentID: parent, Money: sum(amount, "USD"), OccurredAt: clockTime("12:10")}
}

// F16: one event, fifty times at once and five times more.
func TestSameCallbackManyTimesAtOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		ledgertest.Order(t, books[0], "O1", "19.99", "USD")
		var applied, duplicate atomic.Int64
		send := func(i int) {
			out, err := record(t.Context(), books[i%2], "a", payment("ch1", "O1", "19.99"))
			switch {
			case err != nil:
				t.Error(err)
			case out[0] == models.OutcomeApplied:
				applied.Add(1)
			case out[0] == models.OutcomeDuplicate:
				duplicate.Add(1)
			default:
				t.Error(out)
			}
		}
		inParallel(50, send)
		for i := range 5 {
			send(i)
		}
		if applied.Load() != 1 || duplicate.Load() != 54 {
			t.Errorf("applied %d, duplicates %d; want 1 and 54", applied.Load(), duplicate.Load())
		}
		if err := wantOrder(t.Context(), books[0], "O1", "paid", pairs([]string{"path=unpaid>paid", "messages=1"})); err != nil {
			t.Error(err)
		}
		list, _, err := books[0].Callbacks(t.Context(), ledger.CallbackFilter{})
		if err != nil || len(list) != 1 || list[0].Deliveries != 55 {
			t.Errorf("kept callbacks: %d rows, want one with 55 deliveries (%v)", len(list), err)
		}
		checkBooks(t, books[0])
	})
}

func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// F18 at once: names that meet only through an alias, told at the same moment to two replicas.
func TestNamesOfOnePaymentMeetAtOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		for round := range 20 {
			order := fmt.Sprintf("O%d", round)
			ledgertest.Order(t, books[0], order, "19.99", "USD")
			ch, pi := fmt.Sprintf("ch%d", round), fmt.Sprintf("pi%d", round)
			intent, charge, session := payment(ch, order, "19.99"), payment(ch, order, "19.99"), payment(pi, order, "19.99")
			intent.Aliases, charge.Aliases, session.Aliases = []string{pi}, []string{ch, pi}, []string{pi}
			events := []models.Event{intent, charge, session, intent, charge, session}
			inParallel(len(events), func(i int) {
				if _, err := record(t.Context(), books[i%2], "a", events[i]); err != nil {
					t.Error(err)
				}
			})
			if err := wantOrder(t.Context(), books[0], order, "paid", pairs([]string{"path=unpaid>paid", "messages=1"})); err != nil {
				t.Error(err)
			}
		}
		if err := step(t.Context(), books[0], []string{"rows?", "20"}); err != nil {
			t.Error(err)
		}
		checkBooks(t, books[0])
	})
}

// Thirty refunds of one order at once: the sum is exact.
func TestRefundsOfOneOrderAtOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		ledgertest.Order(t, books[0], "O1", "25.00", "USD")
		if _, err := record(t.Context(), books[0], "a", payment("ch1", "O1", "25.00")); err != nil {
			t.Fatal(err)
		}
		var over atomic.Int64
		inParallel(30, func(i int) {
			out, err := record(t.Context(), books[i%2], "a", refund(fmt.Sprintf("re%d", i), "ch1", "1.00"))
			if err != nil {
				t.Error(err)
			} else if out[0] == models.OutcomeNotAllowed {
				over.Add(1)
			}
		})
		if over.Load() != 5 {
			t.Errorf("%d refunds were too many, want 5", over.Load())
		}
		if err := wantOrder(t.Context(), books[0], "O1", "refunded", pairs([]string{"refunded=25.00"})); err != nil {
			t.Error(err)
		}
		checkBooks(t, books[0])
	})
}

// F75: payment, refund, close, sweep and a repeat of each, for many orders, all at once, on two replicas.
func TestEverythingAtOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		const orders, rounds = 25, 4
		for round := range rounds {
			list := make([]models.Order, orders)
			for i := range list {
				list[i] = models.Order{OrderID: fmt.Sprintf("O%d-%d", round, i), AmountMinor: 1999, Currency: "USD"}
			}
			ledgertest.Orders(t, books[0], list[:orders/2]...)
			inParallel(orders*8+2, func(i int) {
				book, o := books[i%2], list[i/8%orders].OrderID
				var err error
				switch i % 8 {
				case 0, 1, 2:
					_, err = record(t.Context(), book, "a", payment("ch-"+o, o, "19.99"))
				case 3, 4:
					_, err = record(t.Context(), book, "a", refund(fmt.Sprintf("re%d-%s", i%2, o), "ch-"+o, "5.00"))
				case 5:
					if err = book.CloseOrder(t.Context(), o, "order.expired"); errors.Is(err, ledger.ErrState) || errors.Is(err, ledger.ErrNotFound) {
						err = nil
					}
				case 6:
					_, err = book.Sweep(t.Context())
				case 7:
					_, err = book.ImportOrders(t.Context(), func(yield func(models.Order, error) bool) { yield(list[i/8%orders], nil) })
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		if _, err := books[0].Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			for i := range orders {
				checkOutcome(t, books[0], fmt.Sprintf("O%d-%d", round, i))
			}
		}
		checkBooks(t, books[0])
	})
}

// checkOutcome: whatever came first, the end is that of some order of events.
func checkOutcome(t *testing.T, book *ledger.Ledger, id string) {
	t.Helper()
	h, err := book.OrderHistory(t.Context(), id)
	if err != nil {
		t.Error(err)
		return
	}
	for _, tx := range h.Transactions {
		if tx.Outcome == models.OutcomeNoOrder {
			t.Errorf("%s: %s %s is still parked: %s", id, tx.Kind, tx.TransactionID, tx.Detail)
		}
	}
	got := fmt.Sprintf("%s %d", h.Order.Status, h.Order.RefundedMinor)
	if len(h.Transactions) != 3 || got != "part_refunded 1000" && got != "closed 0" {
		t.Errorf("%s: %s with %d transactions", id, got, len(h.Transactions))
	}
}

// F26: nothing but a compare-and-set moves an order; a stale one changes no row and is noticed.
func TestStaleMoveChangesNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		stale, err := book.Orders(t.Context(), []string{"O1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := record(t.Context(), book, "a", payment("ch1", "O1", "19.99")); err != nil {
			t.Fatal(err)
		}
		if err := book.MoveStale(t.Context(), stale["O1"], models.Closed); !errors.Is(err, ledger.ErrRetry) {
			t.Errorf("a stale move returned %v", err)
		}
		if err := wantOrder(t.Context(), book, "O1", "paid", nil); err != nil {
			t.Error(err)
		}
	})
}

// A callback that fails alone must not fail its neighbours in the batch.
func TestOneBadRowFailsAlone(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		var good, bad atomic.Int64
		inParallel(40, func(i int) {
			ev := payment(fmt.Sprintf("ch%d", i), "O1", "19.99")
			if i == 7 {
				ev.TransactionID = "bad\x00id" // no database takes it: kept as unreadable
			}
			if i == 8 {
				ev.OrderID = strings.Repeat("x", 10_000)
			}
			out, err := record(t.Context(), book, "a", ev)
			switch {
			case err != nil:
				t.Error(err)
			case out[0] == models.OutcomeUnreadable:
				bad.Add(1)
			default:
				good.Add(1)
			}
		})
		if good.Load() != 38 || bad.Load() != 2 {
			t.Errorf("good %d, bad %d", good.Load(), bad.Load())
		}
		if err := wantOrder(t.Context(), book, "O1", "paid", nil); err != nil {
			t.Error(err)
		}
	})
}

// Every acknowledged callback is in the book, exactly once, when the process stops answering at some moment.
func TestCloseLosesNothingAcknowledged(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
	book, err := ledger.Open(t.Context(), dsn, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	acked := map[string]bool{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		inParallel(8, func(w int) {
			for i := range 200 {
				id := fmt.Sprintf("ch-%d-%d", w, i)
				if _, err := record(context.Background(), book, "a", payment(id, "nobody", "1.00")); err != nil {
					return
				}
				mu.Lock()
				acked[id] = true
				if len(acked) == 300 {
					go book.Close()
				}
				mu.Unlock()
			}
		})
	}()
	<-done
	again := ledgertest.Open(t, dsn)
	stored := map[string]bool{}
	if err := allRows(t.Context(), again, func(tx models.Transaction) { stored[tx.TransactionID] = true }); err != nil {
		t.Fatal(err)
	}
	for id := range acked {
		if !stored[id] {
			t.Errorf("%s was acknowledged and is not stored", id)
		}
	}
	if len(acked) < 300 {
		t.Errorf("only %d acknowledged", len(acked))
	}
}
