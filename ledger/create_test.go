package ledger_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// An order is returned as it stands in the book, to the microsecond; an SKU named twice is one item.
func TestCreateOrder(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 123456789, time.UTC)
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		own(t, book, units("A", 5), units("B", 5))
		expires := now.Add(time.Hour).In(time.FixedZone("", 8*3600))
		asked := newOrder("O/1 单", units("B", 1), units("A", 2), units("B", 3))
		asked.Order.ExpiresAt, asked.Order.Status, asked.Order.Version, asked.Order.RefundedMinor = &expires, models.Paid, 7, 100 // three that do not count
		got, err := book.CreateOrder(t.Context(), asked)
		if err != nil {
			t.Fatal(err)
		}
		h, err := book.OrderHistory(t.Context(), "O/1 单")
		if err != nil || !sameStored(got, h.Order) {
			t.Errorf("returned %+v, stored %+v (%v)", got, h.Order, err)
		}
		if h.Order.Status != models.Unpaid || h.Order.Version != 1 || h.Order.RefundedMinor != 0 || !h.Order.ExpiresAt.Equal(expires.Truncate(time.Microsecond)) {
			t.Errorf("stored %+v", h.Order)
		}
		if fmt.Sprint(h.Items) != "[{O/1 单 A 2} {O/1 单 B 4}]" {
			t.Errorf("items %v", h.Items)
		}
		wantMoves(t, book, "O/1 单", models.Unpaid, 0)
		wantStock(t, book, "A", "3 2 0")
		wantStock(t, book, "B", "1 4 0")
	}, ledger.Options{Now: func() time.Time { return now }})
}

// sameStored compares two orders, the time they expire at by what it points to.
func sameStored(a, b models.Order) bool {
	same := (a.ExpiresAt == nil) == (b.ExpiresAt == nil) && (a.ExpiresAt == nil || a.ExpiresAt.Equal(*b.ExpiresAt))
	a.ExpiresAt, b.ExpiresAt = nil, nil
	return same && a == b
}

// What makes no sense is refused before anything is written.
func TestBadOrders(t *testing.T) {
	order := func(id, currency string, minor int64, items ...models.Item) ledger.NewOrder {
		return ledger.NewOrder{Order: models.Order{OrderID: id, Currency: currency, AmountMinor: minor}, Items: items}
	}
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		own(t, book, units("A", math.MaxInt64))
		for want, o := range map[string]ledger.NewOrder{
			"order :":             order("", "USD", 1),
			"1 to 255 bytes":      order(strings.Repeat("x", 256), "USD", 1),
			"order number":        order("O\x00", "USD", 1),
			"usable order number": order("O\xff", "USD", 1),
			`currency "usd"`:      order("O", "usd", 1),
			`currency ""`:         order("O", "", 1),
			"negative amount":     order("O", "USD", -1),
			"no usable SKU":       order("O", "USD", 1, units("", 1)),
			"SKU":                 order("O", "USD", 1, units("A\x00", 1)),
			"255 bytes expected":  order("O", "USD", 1, units(strings.Repeat("x", 256), 1)),
			"A: quantity 0":       order("O", "USD", 1, units("A", 0)),
			"A: quantity -1":      order("O", "USD", 1, units("A", 3), units("A", -1)),
			"add up":              order("O", "USD", 1, units("A", math.MaxInt64), units("B", 1), units("A", 1)),
		} {
			_, err := book.CreateOrder(t.Context(), o)
			var bad *ledger.BadOrder
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || len(err.Error()) > 200 {
				t.Errorf("%q: %v", want, err)
			}
		}
		if list, _, err := book.ListOrders(t.Context(), ledger.OrderFilter{}); err != nil || len(list) != 0 {
			t.Error(list, err)
		}
		wantStock(t, book, "A", fmt.Sprint(int64(math.MaxInt64), " 0 0"))
		if _, err := book.CreateOrder(t.Context(), order("O", "USD", 0, units("A", math.MaxInt64))); err != nil {
			t.Error(err)
		}
		wantStock(t, book, "A", fmt.Sprint("0 ", int64(math.MaxInt64), " 0"))
	})
}

// Too little of one article, or an article nobody knows: nothing of the others is taken, and no order is there.
func TestOutOfStockTakesNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		own(t, book, units("A", 5), units("M", 2), units("Z", 5))
		for want, items := range map[ledger.OutOfStock][]models.Item{
			{SKU: "M", Wanted: 3, Available: 2}:             {units("Z", 1), units("M", 1), units("A", 1), units("M", 2)},
			{SKU: "Q", Wanted: 1}:                           {units("Q", 1), units("A", 5)},
			{SKU: "A", Wanted: math.MaxInt64, Available: 5}: {units("A", math.MaxInt64)},
		} {
			_, err := book.CreateOrder(t.Context(), newOrder("O1", items...))
			var got *ledger.OutOfStock
			if !errors.As(err, &got) || *got != want {
				t.Errorf("%v, want %v", err, want)
			}
		}
		for _, sku := range []string{"A", "Z"} {
			wantStock(t, book, sku, "5 0 0")
		}
		if items, err := book.Items(t.Context(), "O1"); err != nil || len(items) > 0 {
			t.Error(items, err)
		}
		if _, err := book.CreateOrder(t.Context(), newOrder("O1", units("M", 2))); err != nil {
			t.Error(err) // the number is still free
		}
		checkBooks(t, book)
	})
}

// One number, many requests at once, each for other items: one order, and its items only.
func TestOneNumberManyRequests(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		own(t, books[0], units("A", 100), units("B", 100))
		var made atomic.Int64
		inParallel(20, func(i int) {
			_, err := books[i%2].CreateOrder(t.Context(), newOrder("O1", units([]string{"A", "B"}[i/2%2], 3)))
			var exists *ledger.OrderExists
			if err == nil {
				made.Add(1)
			} else if !errors.As(err, &exists) || exists.OrderID != "O1" {
				t.Error(err)
			}
		})
		if made.Load() != 1 {
			t.Errorf("%d orders under one number", made.Load())
		}
		checkBooks(t, books[0])
	})
}

// An order that was imported is there; one that was made is what an import of the same meets.
func TestCreatedAndImported(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		own(t, book, units("A", 5))
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		var exists *ledger.OrderExists
		if _, err := book.CreateOrder(t.Context(), newOrder("O1", units("A", 1))); !errors.As(err, &exists) {
			t.Error(err)
		}
		wantStock(t, book, "A", "5 0 0")
		if _, err := book.CreateOrder(t.Context(), newOrder("O2", units("A", 1))); err != nil {
			t.Fatal(err)
		}
		ledgertest.Order(t, book, "O2", "19.99", "USD")
		wantStock(t, book, "A", "4 1 0")
		checkBooks(t, book)
	})
}

// Inside somebody's transaction a refusal is undone to a savepoint, and the transaction goes on.
func TestRefusalLeavesTheTransactionUsable(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		own(t, book, units("A", 5), units("B", 1))
		ledgertest.Order(t, book, "taken", "19.99", "USD")
		refusals, err := book.CreateInSavepoints(t.Context(), newOrder("O1", units("A", 1), units("B", 2)), newOrder("taken", units("A", 1)),
			newOrder("O2", units("A", 2)), newOrder("O2", units("A", 2)), newOrder("", units("A", 1)))
		if got := fmt.Sprint(refusals); err != nil || got != "[B: 2 wanted, 1 available order taken is already here <nil> order O2 is already here order : no usable order number: text of 1 to 255 bytes expected]" {
			t.Error(got, err)
		}
		refused, err := book.ActInSavepoints(t.Context(), ledger.Act{OrderID: "O2", On: models.OrderShip}, ledger.Act{OrderID: "O2", On: models.OrderPay, Version: 5},
			ledger.Act{OrderID: "none", On: models.OrderPay}, ledger.Act{OrderID: "O2", On: models.OrderPay})
		if got := fmt.Sprint(refused); err != nil || got != `[order O2 is unpaid: no order.ship from there order O2 is at version 1 (unpaid), not 5 order "none": not found <nil>]` {
			t.Error(got, err)
		}
		wantStock(t, book, "A", "3 2 0")
		wantStock(t, book, "B", "1 0 0")
		wantMoves(t, book, "O2", models.Paying, 1)
		checkBooks(t, book)
	})
}
