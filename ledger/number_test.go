package ledger_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"paybook/ledger"
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
