package ledger_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// F17: somebody holds the order; the first delivery fails with nothing half-done, the second finds its way. Others are not kept
// waiting.
func TestFailedFirstTryLeavesNothing(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		book := ledgertest.Open(t, dsn, ledger.Options{Patience: 1500 * time.Millisecond})
		ledgertest.Order(t, book, "O1", "19.99", "USD")
		ledgertest.Order(t, book, "O2", "19.99", "USD")
		db, err := openSQL(t, dsn).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		begin := "BEGIN"
		if book.Database() == "sqlite" {
			begin = "BEGIN IMMEDIATE"
		}
		for _, q := range []string{begin, "UPDATE orders SET version = version WHERE order_id = 'O1'"} {
			if _, err := db.ExecContext(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		other := make(chan error, 1)
		if book.Database() == "postgres" {
			go func() {
				time.Sleep(100 * time.Millisecond)
				_, err := record(t.Context(), book, "a", payment("ch2", "O2", "19.99"))
				other <- err
			}()
		} else {
			other <- nil
		}
		if out, err := record(t.Context(), book, "a", payment("ch1", "O1", "19.99")); err == nil {
			t.Fatalf("recorded %v while its order was held by somebody else", out)
		}
		if err := <-other; err != nil {
			t.Errorf("a callback of another order failed with it: %v", err)
		}
		if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if n := count(t, book, "a"); n > 1 {
			t.Errorf("%d rows after the failure", n)
		}
		if list, _, _ := book.Callbacks(t.Context(), ledger.CallbackFilter{}); len(list) > 1 {
			t.Errorf("%d callbacks kept after the failure", len(list))
		}
		out, err := record(t.Context(), book, "a", payment("ch1", "O1", "19.99"))
		if err != nil || out[0] != models.OutcomeApplied {
			t.Fatalf("the second delivery: %v %v", out, err)
		}
		if err := wantOrder(t.Context(), book, "O1", "paid", pairs([]string{"path=unpaid>paid", "messages=1"})); err != nil {
			t.Error(err)
		}
	})
}

func count(t *testing.T, book *ledger.Ledger, account string) (n int) {
	t.Helper()
	if err := book.Transactions(t.Context(), account, day.AddDate(-1, 0, 0), day.AddDate(1, 0, 0), func(models.Transaction) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// The wire to the database is cut at every packet of a booking, once before the packet and once after it, when nobody knows whether
// the commit happened. Never is anything half-done, and never is something acknowledged that is not stored.
func TestWireCutAtEveryPoint(t *testing.T) {
	dsn, proxy := proxied(t)
	book := ledgertest.Open(t, dsn, ledger.Options{Patience: 300 * time.Millisecond, MaxConns: 2})
	for _, swallow := range []bool{false, true} {
		for n := int64(1); ; n++ {
			if n > 200 {
				t.Fatal("the booking never got through")
			}
			order, ch := fmt.Sprintf("O-%v-%d", swallow, n), fmt.Sprintf("ch-%v-%d", swallow, n)
			must(t, func() error {
				_, err := book.ImportOrders(t.Context(), func(yield func(models.Order, error) bool) {
					yield(models.Order{OrderID: order, AmountMinor: 1999, Currency: "USD"}, nil)
				})
				return err
			})
			proxy.CutAfter(n, swallow)
			_, err := record(t.Context(), book, "a", payment(ch, order, "19.99"))
			cut := proxy.Heal()
			if err == nil {
				must(t, func() error {
					return wantOrder(t.Context(), book, order, "paid", pairs([]string{"path=unpaid>paid", "messages=1"}))
				})
			}
			must(t, func() error {
				_, err := record(t.Context(), book, "a", payment(ch, order, "19.99"))
				return err
			})
			must(t, func() error {
				return wantOrder(t.Context(), book, order, "paid", pairs([]string{"path=unpaid>paid", "messages=1"}))
			})
			if !cut {
				t.Logf("cut at each of %d packets (answer swallowed: %v)", n-1, swallow)
				break
			}
		}
	}
	checkBooks(t, book)
}

// must repeats f while broken connections of the pool are being thrown away.
func must(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for range 1000 {
		if err = f(); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal(err)
}

// proxied is a PostgreSQL reached through a wire that can be cut.
func proxied(t *testing.T) (dsn string, p *ledgertest.Proxy) {
	t.Helper()
	ledgertest.Need(t)
	c, err := ledgertest.Start(ledgertest.Options{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	u, err := url.Parse(c.TCP("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	p = ledgertest.NewProxy(t, u.Host)
	return strings.Replace(c.TCP("postgres"), u.Host, p.Addr, 1), p
}

// The server of the database is killed under load and comes back: every acknowledged callback is there, once; the book recovers
// without being opened again.
func TestDatabaseKilledUnderLoad(t *testing.T) {
	ledgertest.Need(t)
	c, err := ledgertest.Start(ledgertest.Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	book := ledgertest.Open(t, c.DSN("postgres"), ledger.Options{Patience: 200 * time.Millisecond})
	const kills, perRound = 3, 200
	var acked atomic.Int64
	for round := range kills {
		var reached atomic.Int64
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			for reached.Load() < perRound/3 {
				time.Sleep(time.Millisecond)
			}
			c.Kill9()
			if err := c.Up(); err != nil {
				t.Error(err)
			}
		}()
		inParallel(perRound, func(i int) {
			id := fmt.Sprintf("ch-%d-%d", round, i)
			for range 2000 { // a provider sends until it gets its answer
				if _, err := record(t.Context(), book, "a", payment(id, "nobody", "1.00")); err == nil {
					reached.Add(1)
					acked.Add(1)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%s was never acknowledged", id)
		})
		<-killed
	}
	if n := count(t, book, "a"); int64(n) != acked.Load() || n != kills*perRound {
		t.Errorf("%d acknowledged, %d stored, %d sent", acked.Load(), n, kills*perRound)
	}
}

// holding locks rows of orders in a transaction of somebody else's, until release.
func holding(t *testing.T, dsn string, orders ...string) (release func()) {
	t.Helper()
	conn, err := openSQL(t, dsn).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range orders {
		if _, err := tx.ExecContext(t.Context(), "UPDATE orders SET version = version WHERE order_id = $1", o); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := errors.Join(tx.Rollback(), conn.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Orders that somebody holds keep only their own callbacks waiting, however many there are and however often they are sent again.
func TestLockedOrdersKeepNobodyElseWaiting(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	book := ledgertest.Open(t, dsn, ledger.Options{Patience: 20 * time.Second})
	var held []string
	for i := range 12 {
		held = append(held, fmt.Sprintf("H%d", i))
		ledgertest.Order(t, book, held[i], "19.99", "USD")
	}
	for i := range 40 {
		ledgertest.Order(t, book, fmt.Sprintf("O%d", i), "19.99", "USD")
	}
	release := holding(t, dsn, held...)
	var stuck sync.WaitGroup
	for range 2 { // the provider sends again
		for i, o := range held {
			stuck.Go(func() {
				if _, err := record(t.Context(), book, "a", payment(fmt.Sprintf("h%d", i), o, "19.99")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	for i := range 40 {
		if _, err := record(t.Context(), book, "a", payment(fmt.Sprintf("o%d", i), fmt.Sprintf("O%d", i), "19.99")); err != nil {
			t.Error("a callback of an order nobody holds:", err)
		}
	}
	release() // only now can the others end
	stuck.Wait()
	for _, o := range held {
		if err := wantOrder(t.Context(), book, o, "paid", pairs([]string{"path=unpaid>paid"})); err != nil {
			t.Error(err)
		}
	}
	checkBooks(t, book)
}

// F23: one parked event that can't be applied now does not keep the others from their orders.
func TestOneLockedOrderDoesNotStopTheSweep(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	book := ledgertest.Open(t, dsn, ledger.Options{Patience: 2 * time.Second})
	other := ledgertest.Open(t, dsn)
	for i := range 10 {
		if _, err := record(t.Context(), book, "a", refund(fmt.Sprintf("re%d", i), fmt.Sprintf("ch%d", i), "5.00")); err != nil {
			t.Fatal(err)
		}
	}
	// the payments are booked behind the sweep's back, as by a replica that has not seen the refunds yet
	if err := other.BookWithoutParked(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	release := holding(t, dsn, "O0")
	if n, err := book.Tend(t.Context()); n != 9 || err == nil {
		t.Errorf("%d applied, error %v; want 9, and the one that is held told", n, err)
	}
	release()
	if n, err := book.Tend(t.Context()); n != 1 || err != nil {
		t.Errorf("%d applied, error %v; want the last one", n, err)
	}
	for i := range 10 {
		if err := wantOrder(t.Context(), book, fmt.Sprintf("O%d", i), "part_refunded", pairs([]string{"refunded=5.00"})); err != nil {
			t.Error(err)
		}
	}
}

// A full disk: nothing is acknowledged that is not stored, the book says that it is not ready, and it heals by itself.
func TestFullDisk(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db", ledger.Options{Patience: time.Second})
	if err := book.FillDisk(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	acked, failed := 0, 0
	for i := 0; failed == 0 && i < 10_000; i++ {
		if _, err := record(t.Context(), book, "a", payment(fmt.Sprintf("ch%d", i), "nobody", "1.00")); err != nil {
			failed++
		} else {
			acked++
		}
	}
	if failed == 0 {
		t.Fatal("the disk never filled up")
	}
	if err := book.Ready(t.Context()); !errors.Is(err, ledger.ErrFailing) {
		t.Errorf("ready on a full disk: %v", err)
	}
	if n := count(t, book, "a"); n != acked {
		t.Errorf("%d acknowledged, %d stored", acked, n)
	}
	if err := book.FillDisk(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := record(t.Context(), book, "a", payment("last", "nobody", "1.00")); err != nil {
		t.Fatal(err)
	}
	if err := book.Ready(t.Context()); err != nil {
		t.Errorf("not ready although there is room again: %v", err)
	}
}
