package ledger_test

import (
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

func clientKey(token, print string) ledger.Key {
	return ledger.Key{Owner: "shop", Token: token, Fingerprint: print}
}

// A refusal that was decided elsewhere spends its key for 24 hours, once, and whatever was there before it counts.
func TestFlashRefusalIsKept(t *testing.T) {
	var now atomic.Pointer[time.Time]
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		now.Store(&start)
		ctx := t.Context()
		refusal := ledger.Answer{Status: 409, Body: []byte("none left")}
		stocked(t, book, "SKU", 100)
		for i := range 2 {
			a, err := book.RefuseOrder(ctx, clientKey("K", "one"), hot("O1", 1), refusal)
			if err != nil || a.Status != 409 || string(a.Body) != "none left" || a.Replayed != (i > 0) {
				t.Error(i, a, err)
			}
		}
		if a, err := book.AcceptOrder(ctx, clientKey("K", "one"), hot("O1", 1), told); err != nil || a.Status != 409 || !a.Replayed {
			t.Error("the same request once more, with units there", a, err)
		}
		if _, err := book.AcceptOrder(ctx, clientKey("K", "two"), hot("O2", 1), told); !errors.Is(err, ledger.ErrTokenSpent) {
			t.Error("another order, accepted:", err)
		}
		if _, err := book.CreateOrderOnce(ctx, clientKey("K", "two"), hot("O2", 1), told); !errors.Is(err, ledger.ErrTokenSpent) {
			t.Error("another order, the usual way:", err)
		}
		if _, err := book.RefuseOrder(ctx, clientKey("K", "two"), hot("O2", 1), refusal); !errors.Is(err, ledger.ErrTokenSpent) {
			t.Error("another refusal:", err)
		}
		if a, err := book.CreateOrderOnce(ctx, clientKey("won", "won"), hot("O3", 1), told); err != nil || a.Status != 201 {
			t.Fatal(a, err)
		}
		if a, err := book.RefuseOrder(ctx, clientKey("won", "won"), hot("O3", 1), refusal); err != nil || a.Status != 201 || !a.Replayed {
			t.Error("one that has its units already", a, err)
		}
		for _, k := range []ledger.Key{clientKey("", "x"), clientKey("tok_x", "x"), clientKey("a\x00b", "x")} {
			if _, err := book.RefuseOrder(ctx, k, hot("O4", 1), refusal); !errors.Is(err, ledger.ErrTokenUnusable) {
				t.Errorf("%q: %v", k.Token, err)
			}
		}
		if _, err := book.RefuseOrder(ctx, clientKey("bad", "bad"), hot("a\x00b", 1), refusal); err == nil {
			t.Error("an order that could never be made was refused for want of units")
		}
		later := start.Add(24*time.Hour + time.Second)
		now.Store(&later)
		if a, err := book.AcceptOrder(ctx, clientKey("K", "two"), hot("O2", 1), told); err != nil || a.Status != 202 {
			t.Error("a day later", a, err)
		}
	}, ledger.Options{Now: func() time.Time { return *now.Load() }})
}

// Of many refusals and acceptances at once under few keys each key gets one answer.
func TestFlashRefusalsAtOnce(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		stocked(t, book, "SKU", 1000)
		const keys = 20
		var told409, told202 [keys]atomic.Int64
		var callers sync.WaitGroup
		for i := range 15 * keys {
			callers.Go(func() {
				id := fmt.Sprint("O", i%keys)
				var a ledger.Answer
				var err error
				if i%3 == 0 {
					a, err = book.AcceptOrder(t.Context(), clientKey("k"+id, id), hot(id, 1), told)
				} else {
					a, err = book.RefuseOrder(t.Context(), clientKey("k"+id, id), hot(id, 1), ledger.Answer{Status: 409, Body: []byte("none left")})
				}
				switch {
				case err != nil:
					t.Error(err)
				case a.Status == 409:
					told409[i%keys].Add(1)
				case a.Status == 202:
					told202[i%keys].Add(1)
				}
			})
		}
		callers.Wait()
		accepted := int64(0)
		for i := range keys {
			no, yes := told409[i].Load(), told202[i].Load()
			if no+yes != 15 || no*yes != 0 {
				t.Errorf("O%d: %d were told no, %d yes", i, no, yes)
			}
			accepted += min(yes, 1)
		}
		s, err := book.Stock(t.Context(), "SKU")
		if err != nil || s.Reserved != accepted {
			t.Errorf("%d accepted, %d reserved, %v", accepted, s.Reserved, err)
		}
	})
}

func TestStockBesideOrders(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		stocked(t, book, "SKU", 10)
		if _, err := book.CreateOrder(t.Context(), hot("written", 2)); err != nil {
			t.Fatal(err)
		}
		if _, err := book.AcceptOrder(t.Context(), clientKey("k", "f"), hot("accepted", 3), told); err != nil {
			t.Fatal(err)
		}
		n, known, err := book.StockBeside(t.Context(), "SKU", []string{"accepted", "new", "written", "no\x00text", "no\xfftext"})
		if err != nil || n != 5 || len(known) != 2 || !known["written"] || !known["accepted"] {
			t.Error(n, known, err)
		}
		if n, known, err := book.StockBeside(t.Context(), "none", nil); err != nil || n != 0 || len(known) != 0 {
			t.Error(n, known, err)
		}
		if _, err := book.Act(t.Context(), ledger.Act{OrderID: "written", On: models.OrderCancel}); err != nil {
			t.Fatal(err)
		}
		if n, _, err := book.StockBeside(t.Context(), "SKU", nil); err != nil || n != 7 {
			t.Error(n, err)
		}
	})
}
