package ledger_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// wall is a clock that a test moves.
type wall struct{ ms atomic.Int64 }

func newWall() *wall {
	w := &wall{}
	w.ms.Store(day.Add(12 * time.Hour).UnixMilli())
	return w
}

func (w *wall) now() time.Time          { return time.UnixMilli(w.ms.Load()).UTC() }
func (w *wall) forward(d time.Duration) { w.ms.Add(d.Milliseconds()) }

// order makes an order of so many units of A that expires in a while; 0: never.
func (w *wall) order(t *testing.T, book *ledger.Ledger, id string, life time.Duration, n int64) {
	t.Helper()
	o := newOrder(id, units("A", n))
	if life != 0 {
		at := w.now().Add(life)
		o.Order.ExpiresAt = &at
	}
	if _, err := book.CreateOrder(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// expiryRows counts what waits for its time.
func expiryRows(t *testing.T, dsn string) (n int) {
	t.Helper()
	if err := openSQL(t, dsn).QueryRow("SELECT count(*) FROM expiries").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func wantExpired(t *testing.T, book *ledger.Ledger, limit, want int) {
	t.Helper()
	if n, err := book.Expire(t.Context(), limit); err != nil || n != want {
		t.Errorf("closed %d, want %d (%v)", n, want, err)
	}
}

// The window is from its first moment to its last: at the very time the order is closed, a millisecond before it is not.
func TestExpire(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		w := newWall()
		book := ledgertest.Open(t, dsn, ledger.Options{Now: w.now})
		own(t, book, units("A", 100))
		w.order(t, book, "unpaid", 30*time.Minute, 1)
		w.order(t, book, "paying", 30*time.Minute, 2)
		w.order(t, book, "paid", 30*time.Minute, 4)
		w.order(t, book, "cancelled", 30*time.Minute, 8)
		w.order(t, book, "later", 31*time.Minute, 16)
		w.order(t, book, "never", 0, 32)
		for id, on := range map[string]models.EventKind{"paying": models.OrderPay, "cancelled": models.OrderCancel} {
			if _, err := book.Act(t.Context(), ledger.Act{OrderID: id, On: on}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := record(t.Context(), book, "a", payment("ch1", "paid", "19.99")); err != nil {
			t.Fatal(err)
		}
		w.forward(30*time.Minute - time.Millisecond)
		wantExpired(t, book, 100, 0)
		if n := expiryRows(t, dsn); n != 5 {
			t.Errorf("%d expiries, want 5", n)
		}
		w.forward(time.Millisecond)
		wantExpired(t, book, 100, 2)
		if n := expiryRows(t, dsn); n != 1 { // those that were paid and cancelled have lost theirs too
			t.Errorf("%d expiries, want one: of the later order", n)
		}
		wantExpired(t, book, 100, 0)
		wantStock(t, book, "A", "48 48 4")
		for id, want := range map[string]string{"unpaid": "unpaid>closed", "paying": "unpaid>paying>closed", "paid": "unpaid>paid", "cancelled": "unpaid>closed", "later": "", "never": ""} {
			h, err := book.OrderHistory(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if err := wantOrder(t.Context(), book, id, string(h.Order.Status), map[string]string{"path": want, "messages": fmt.Sprint(strings.Count(want, ">"))}); err != nil {
				t.Error(err)
			}
		}
		w.forward(time.Minute)
		wantExpired(t, book, 100, 1)
		checkBooks(t, book)
	})
}

// Imported orders expire too, if they say when; one that has no items and one that is paid already.
func TestImportedOrdersExpire(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		w := newWall()
		book := ledgertest.Open(t, dsn, ledger.Options{Now: w.now})
		past, soon := w.now().Add(-time.Hour), w.now().Add(time.Hour)
		orders := []models.Order{{OrderID: "past", ExpiresAt: &past}, {OrderID: "soon", ExpiresAt: &soon}, {OrderID: "paying", ExpiresAt: &soon, Status: models.Paying},
			{OrderID: "paid", ExpiresAt: &past, Status: models.Paid}, {OrderID: "never"}}
		for i := range orders {
			orders[i].AmountMinor, orders[i].Currency = 1999, "USD"
		}
		for range 2 {
			ledgertest.Orders(t, book, orders...)
		}
		if n := expiryRows(t, dsn); n != 3 {
			t.Errorf("%d expiries, want 3", n)
		}
		wantExpired(t, book, 100, 1)
		w.forward(time.Hour)
		wantExpired(t, book, 100, 2)
		wantMoves(t, book, "paid", models.Paid, 0)
		wantMoves(t, book, "never", models.Unpaid, 0)
		wantMoves(t, book, "paying", models.Closed, 1)
		checkBooks(t, book)
	})
}

// Two replicas sweep 250 orders at once while some are paid: each is closed once or paid, and every unit is somewhere once.
func TestExpirersAtOnce(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		const n = 250
		w := newWall()
		books := [2]*ledger.Ledger{ledgertest.Open(t, dsn, ledger.Options{Now: w.now}), ledgertest.Open(t, dsn, ledger.Options{Now: w.now})}
		own(t, books[0], units("A", 3*n))
		inParallel(10, func(part int) {
			for i := part; i < n; i += 10 {
				w.order(t, books[i%2], fmt.Sprintf("O%d", i), time.Duration(i+1)*time.Second, int64(1+i%3))
			}
		})
		w.forward(time.Hour)
		var closed atomic.Int64
		inParallel(24, func(i int) {
			if i < 4 {
				n, err := books[i%2].Expire(t.Context(), 1000)
				if err != nil && !strings.Contains(err.Error(), "55P03") && !strings.Contains(err.Error(), "40P01") { // those are for the next round
					t.Error(err)
				}
				closed.Add(int64(n))
			} else if err := pay(t)(books[i%2], fmt.Sprintf("O%d", i*10)); err != nil {
				t.Error(err)
			}
		})
		last, err := books[0].Expire(t.Context(), 1000)
		if err != nil {
			t.Error(err)
		}
		list, _, err := books[0].ListOrders(t.Context(), ledger.OrderFilter{Status: models.Closed, Page: ledger.Page{Limit: 1000}})
		if got := int(closed.Load()) + last; err != nil || len(list) != got || len(list) < n-20 {
			t.Errorf("%d closed by their word, %d in the book (%v)", got, len(list), err)
		}
		if n := expiryRows(t, dsn); n != 0 {
			t.Errorf("%d expiries are left", n)
		}
		checkBooks(t, books[0])
	})
}

// The limit holds, the longest due go first, and nothing is done for a limit of nothing.
func TestExpireInBunches(t *testing.T) {
	w := newWall()
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		own(t, book, units("A", 300))
		for i := range 230 {
			w.order(t, book, fmt.Sprintf("O%d", i), time.Duration(230-i)*time.Millisecond, 1)
		}
		w.forward(time.Hour)
		wantExpired(t, book, 0, 0)
		wantExpired(t, book, -1, 0)
		wantExpired(t, book, 7, 7)
		wantMoves(t, book, "O223", models.Closed, 1)
		wantMoves(t, book, "O222", models.Unpaid, 0)
		wantExpired(t, book, 205, 205)
		wantExpired(t, book, 1000, 18)
		wantStock(t, book, "A", "300 0 0")
	}, ledger.Options{Now: w.now})
}

// Somebody holds one order for minutes: the others are closed all the same, and that one later.
func TestHeldOrderKeepsNoOtherOpen(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	w := newWall()
	book := ledgertest.Open(t, dsn, ledger.Options{Now: w.now})
	own(t, book, units("A", 10))
	for i := range 5 {
		w.order(t, book, fmt.Sprintf("O%d", i), time.Minute, 1)
	}
	w.forward(time.Hour)
	tx, err := openSQL(t, dsn).Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec("UPDATE orders SET version = version WHERE order_id = 'O0'"); err != nil {
		t.Fatal(err)
	}
	if n, err := book.Expire(t.Context(), 100); n != 4 || err == nil || !strings.Contains(err.Error(), "expire order O0") {
		t.Errorf("closed %d, %v; want 4 and word of O0", n, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	wantExpired(t, book, 100, 1)
	wantStock(t, book, "A", "10 0 0")
}
