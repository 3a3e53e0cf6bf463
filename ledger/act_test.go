package ledger_test

import (
	"errors"
	"fmt"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// acts is all that the shop may do with an order, by the state it is in. Anything else is a *NotInState.
var acts = map[models.OrderStatus]map[models.EventKind]models.OrderStatus{
	models.Unpaid:       {models.OrderPay: models.Paying, models.OrderCancel: models.Closed, models.OrderExpire: models.Closed},
	models.Paying:       {models.OrderCancel: models.Closed, models.OrderExpire: models.Closed},
	models.Paid:         {models.OrderShip: models.Shipped},
	models.PartRefunded: {models.OrderShip: models.PartRefunded},
	models.Shipped:      {}, models.Refunded: {}, models.Closed: {}, models.Disputed: {}, models.ChargedBack: {},
}

// Every state × act, with and without a version: what is allowed moves the order by one version, tells the shop once and leaves a
// transition; what is not leaves nothing.
func TestEveryStateAndAct(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for from, allowed := range acts {
			for _, on := range []models.EventKind{models.OrderPay, models.OrderShip, models.OrderCancel, models.OrderExpire, models.PaymentSucceeded,
				models.RefundSucceeded, "", "order.paid"} {
				for _, version := range []int64{0, 1} {
					o := models.Order{OrderID: fmt.Sprintf("%s %s %d", from, on, version), AmountMinor: 1999, Currency: "USD", Status: from}
					ledgertest.Orders(t, book, o)
					got, err := book.Act(t.Context(), ledger.Act{OrderID: o.OrderID, On: on, Version: version})
					to, may := allowed[on]
					var refused *ledger.NotInState
					switch {
					case may && (err != nil || got.Status != to || got.Version != 2 || got.Shipped != (on == models.OrderShip)):
						t.Errorf("%s on %s: %s v%d shipped %v, %v", from, on, got.Status, got.Version, got.Shipped, err)
					case !may && (!errors.As(err, &refused) || !errors.Is(err, ledger.ErrState) || *refused != ledger.NotInState{OrderID: o.OrderID, On: on, Status: from, Version: 1}):
						t.Errorf("%s on %s: %v", from, on, err)
					}
					moves := 0
					if may {
						moves = 1
					} else {
						to = from
					}
					wantMoves(t, book, o.OrderID, to, moves)
				}
			}
		}
	})
}

// wantMoves: the order is in a state after so many moves of the shop's, each told once.
func wantMoves(t *testing.T, book *ledger.Ledger, id string, status models.OrderStatus, n int) {
	t.Helper()
	h, err := book.OrderHistory(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := book.Messages(t.Context(), id)
	if err != nil || h.Order.Status != status || len(h.Transitions) != n || len(messages) != n || h.Order.Version != int64(n+1) {
		t.Errorf("%s: %s v%d, %d transitions, %d messages, want %s after %d (%v)", id, h.Order.Status, h.Order.Version, len(h.Transitions), len(messages), status, n, err)
	}
}

// The message of the shop's own act names no transaction: there is none.
func TestMessageOfAnAct(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		if _, err := book.Act(t.Context(), ledger.Act{OrderID: "O1", On: models.OrderPay}); err != nil {
			t.Fatal(err)
		}
		messages, err := book.Messages(t.Context(), "O1")
		const want = `{"order_id":"O1","status":"paying","from":"unpaid","version":2,"amount":"19.99","currency":"USD","refunded":"0.00","event":"order.pay"}`
		if err != nil || len(messages) != 1 || messages[0].Topic != "order.paying" || messages[0].Payload != want {
			t.Errorf("%v %+v", err, messages)
		}
	})
}

// A stale version moves nothing, in whatever state, and says the current one; also when the act would not be allowed anyway.
func TestStaleVersionMovesNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for from := range acts {
			o := models.Order{OrderID: string(from), AmountMinor: 1999, Currency: "USD", Status: from}
			ledgertest.Orders(t, book, o)
			for on := range acts[models.Unpaid] {
				for _, version := range []int64{-1, 2, 1 << 62} {
					_, err := book.Act(t.Context(), ledger.Act{OrderID: o.OrderID, On: on, Version: version})
					var stale *ledger.StaleVersion
					if !errors.As(err, &stale) || *stale != (ledger.StaleVersion{OrderID: o.OrderID, Given: version, Current: 1, Status: from}) {
						t.Errorf("%s on %s at %d: %v", from, on, version, err)
					}
				}
			}
			wantMoves(t, book, o.OrderID, from, 0)
		}
	})
}

// Twenty acts on one version at once: one counts.
func TestActsOnOneVersionAtOnce(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		ledgertest.Order(t, books[0], "O1", "19.99", "USD")
		done := make(chan models.EventKind, 20)
		inParallel(20, func(i int) {
			on := []models.EventKind{models.OrderPay, models.OrderCancel}[i/2%2]
			_, err := books[i%2].Act(t.Context(), ledger.Act{OrderID: "O1", On: on, Version: 1})
			var stale *ledger.StaleVersion
			switch {
			case err == nil:
				done <- on
			case !errors.As(err, &stale) || stale.Current != 2:
				t.Error(err)
			}
		})
		close(done)
		status := models.Paying
		if on := <-done; on == models.OrderCancel {
			status = models.Closed
		}
		if on, more := <-done; more {
			t.Errorf("%s counted too", on)
		}
		wantMoves(t, books[0], "O1", status, 1)
	})
}

func TestCloseOrderTwiceIsNoError(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		ledgertest.Orders(t, book, models.Order{OrderID: "O1", AmountMinor: 1, Currency: "USD"}, models.Order{OrderID: "O2", AmountMinor: 1, Currency: "USD", Status: models.Paid})
		for range 2 {
			if err := book.CloseOrder(t.Context(), "O1", "order.expired"); err != nil {
				t.Error(err)
			}
		}
		if err := book.CloseOrder(t.Context(), "O2", "order.cancel"); !errors.Is(err, ledger.ErrState) {
			t.Error(err)
		}
		if err := book.CloseOrder(t.Context(), "O3", "order.cancel"); !errors.Is(err, ledger.ErrNotFound) {
			t.Error(err)
		}
		h, err := book.OrderHistory(t.Context(), "O1")
		if err != nil || len(h.Transitions) != 1 || h.Transitions[0].Event != string(models.OrderExpire) {
			t.Errorf("%+v %v", h.Transitions, err)
		}
	})
}
