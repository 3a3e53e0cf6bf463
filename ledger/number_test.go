package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// rival is an order under a number that several want: who asks is told apart by the amount and the units.
func rival(id string, who int64) ledger.NewOrder {
	return ledger.NewOrder{Order: models.Order{OrderID: id, AmountMinor: 1000 + who, Currency: "CNY"}, Items: []models.Item{{SKU: "SKU", Quantity: 1 + who}}}
}

// One number at the same moment on the flash sale's way and on the usual one, with and without a key, at two replicas: one of them gets it,
// and the order is that one's, with its amount and its units; queued, and still when the queue has been worked.
func TestOneNumberTwoWays(t *testing.T) {
	ways := []func(book *ledger.Ledger, id string, who int64) bool{
		func(book *ledger.Ledger, id string, who int64) bool {
			a, err := book.AcceptOrder(t.Context(), ledger.Key{Owner: "shop", Token: fmt.Sprint("flash ", id), Fingerprint: "f"}, rival(id, who), told)
			return yes(t, a, err)
		},
		func(book *ledger.Ledger, id string, who int64) bool {
			a, err := book.CreateOrderOnce(t.Context(), ledger.Key{Owner: "shop", Token: fmt.Sprint("usual ", id), Fingerprint: "f"}, rival(id, who), told)
			return yes(t, a, err)
		},
		func(book *ledger.Ledger, id string, who int64) bool {
			_, err := book.CreateOrder(t.Context(), rival(id, who))
			return yes(t, ledger.Answer{Status: 201}, err)
		},
		func(book *ledger.Ledger, id string, who int64) bool {
			a, err := book.AcceptOrder(t.Context(), ledger.Key{}, rival(id, who), told)
			return yes(t, a, err)
		},
	}
	twoBooks(t, func(t *testing.T, both [2]*ledger.Ledger) {
		const rounds = 40
		stocked(t, both[0], "SKU", 1_000_000)
		winners := make([]atomic.Int64, rounds)
		meet := func(round int) {
			id := fmt.Sprintf("O%02d", round)
			inParallel(2+round%(len(ways)-1), func(i int) {
				if ways[i](both[(i+round)%2], id, int64(i)) && !winners[round].CompareAndSwap(0, int64(i)+1) {
					t.Errorf("%s: a second yes, to %d", id, i)
				}
			})
			if winners[round].Load() == 0 {
				t.Errorf("%s: nobody got it", id)
			}
		}
		for round := range rounds / 2 { // each alone, then many together: an accepted bunch has several numbers that others want
			meet(round)
		}
		inParallel(rounds/2, func(i int) { meet(rounds/2 + i) })
		var units int64
		for i := range winners {
			units += winners[i].Load()
		}
		books(t, both[0], "SKU", units, 0)
		working(t, both[1])
		eventually(t, "all orders are written", func() bool { return len(allOrders(t, both[0])) == rounds })
		for round := range winners {
			id := fmt.Sprintf("O%02d", round)
			h, err := both[0].OrderHistory(t.Context(), id)
			if want := rival(id, winners[round].Load()-1); err != nil || h.Order.AmountMinor != want.Order.AmountMinor || len(h.Items) != 1 || h.Items[0].Quantity != want.Items[0].Quantity {
				t.Errorf("%s: %+v %v, expected %+v", id, h, err, want)
			}
			if topics, err := both[0].MessageTopics(t.Context(), id); err != nil || len(topics) != 0 {
				t.Errorf("%s: the shop is told %v %v", id, topics, err)
			}
		}
		books(t, both[0], "SKU", units, 0)
	})
}

// yes is true for an order that is made, and false for a number that is taken.
func yes(t *testing.T, a ledger.Answer, err error) bool {
	switch {
	case err == nil && a.Status < 300:
		return true
	case err != nil && !strings.HasSuffix(err.Error(), "is already here"), err == nil && (a.Status != 409 || !strings.HasSuffix(string(a.Body), "is already here")):
		t.Errorf("%d %s %v", a.Status, a.Body, err)
	}
	return false
}

// An import meets an accepted order as one that is there: the same amount leaves it as it is, with its items; another one fails, and
// nothing of the file is there.
func TestImportMeetsAcceptedOrders(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		stocked(t, book, "SKU", 10)
		if _, err := book.AcceptOrder(t.Context(), ledger.Key{}, hot("O1", 3), told); err != nil {
			t.Fatal(err)
		}
		given := func(id string, minor int64, currency string) models.Order {
			return models.Order{OrderID: id, AmountMinor: minor, Currency: currency}
		}
		for _, other := range []models.Order{given("O1", 2000, "CNY"), given("O1", 1999, "USD")} {
			_, err := importOrders(t, book, given("O0", 1, "CNY"), other, given("O2", 1, "CNY"))
			var conflict *ledger.OrderConflict
			if !errors.As(err, &conflict) || conflict.OrderID != "O1" || !strings.Contains(err.Error(), "already here with 19.99 CNY") {
				t.Error(err)
			}
			if all := allOrders(t, book); len(all) != 0 {
				t.Errorf("%+v", all)
			}
		}
		same := []models.Order{given("O0", 1, "CNY"), given("O1", 1999, "CNY"), given("O2", 1, "CNY")}
		if n, err := importOrders(t, book, same...); err != nil || n != 2 {
			t.Error(n, err)
		}
		books(t, book, "SKU", 3, 0)
		working(t, book)
		eventually(t, "the job has run", func() bool { return len(allOrders(t, book)) == 3 })
		if h, err := book.OrderHistory(t.Context(), "O1"); err != nil || h.Order.AmountMinor != 1999 || len(h.Items) != 1 || h.Items[0].Quantity != 3 {
			t.Errorf("%+v %v", h, err)
		}
		if n, err := importOrders(t, book, same...); err != nil || n != 0 {
			t.Error(n, err)
		}
		books(t, book, "SKU", 3, 0)
	})
}

func importOrders(t *testing.T, book *ledger.Ledger, orders ...models.Order) (int, error) {
	return book.ImportOrders(t.Context(), func(yield func(models.Order, error) bool) {
		for _, o := range orders {
			if !yield(o, nil) {
				return
			}
		}
	})
}

// A flash sale and an import of the same numbers at the same moment, at two replicas: an order that was accepted is there with its items
// and its amount, every other is the import's, and an import that fails leaves nothing.
func TestImportRacesTheFlashSale(t *testing.T) {
	twoBooks(t, func(t *testing.T, both [2]*ledger.Ledger) {
		const n = 20
		stocked(t, both[0], "SKU", 1000)
		var orders []models.Order
		for i := range n {
			orders = append(orders, models.Order{OrderID: fmt.Sprintf("O%02d", i), AmountMinor: 1999, Currency: "CNY"})
		}
		var created int
		var accepted [n]bool
		inParallel(n+1, func(i int) {
			var err error
			if i == n {
				if created, err = importOrders(t, both[1], orders...); err != nil {
					t.Error(err)
				}
				return
			}
			a, err := both[0].AcceptOrder(t.Context(), ledger.Key{}, hot(orders[i].OrderID, 1), told)
			accepted[i] = yes(t, a, err)
		})
		working(t, both[0])
		eventually(t, "all orders are written", func() bool { return len(allOrders(t, both[0])) == n })
		var units int64
		for i, o := range orders {
			h, err := both[0].OrderHistory(t.Context(), o.OrderID)
			if err != nil || h.Order.Money() != o.Money() || (len(h.Items) == 1) != accepted[i] {
				t.Errorf("accepted %v: %+v %v", accepted[i], h, err)
			}
			units += int64(len(h.Items))
		}
		if int64(created)+units != n {
			t.Errorf("%d imported and %d accepted of %d", created, units, n)
		}
		books(t, both[0], "SKU", units, 0)
	})
}
