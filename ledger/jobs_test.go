package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// Callbacks are booked while the queue works on the same pool, which on SQLite has one connection; at the end all its goroutines are gone.
func TestQueueSharesThePoolAndEnds(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		before := runtime.NumGoroutine()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- book.Work(ctx) }()
		var callers sync.WaitGroup
		for part := range 4 {
			callers.Go(func() {
				for i := range 50 {
					if _, err := record(t.Context(), book, "a", payment(fmt.Sprintf("ch%d-%d", part, i), "nobody", "1.00")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		callers.Wait()
		time.Sleep(500 * time.Millisecond) // a few polls
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the queue did not stop")
		}
		for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before+2; time.Sleep(10 * time.Millisecond) { // a pool's own may come
			if time.Now().After(deadline) {
				all := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
			}
		}
	})
}

// A queue that is stopped before it began, and one that several processes work.
func TestQueueStopsAtOnceAndStartsTwice(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		book, other := ledgertest.Open(t, dsn), ledgertest.Open(t, dsn)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := book.Work(ended); err != nil {
			t.Error(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		inParallel(2, func(i int) {
			if err := []*ledger.Ledger{book, other}[i].Work(ctx); err != nil {
				t.Error(err)
			}
		})
	})
}

// The queue's tables are steps of the schema like any other.
func TestQueueIsPartOfTheSchema(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		book := ledgertest.Open(t, dsn)
		steps, err := book.MigrationStatus(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		river := 0
		for _, s := range steps {
			if s.File == "" || !s.Applied {
				t.Errorf("step %d: file %q, applied %v", s.Version, s.File, s.Applied)
			}
			if strings.Contains(s.File, "river") {
				river++
			}
		}
		if river != 2 {
			t.Errorf("%d steps of the queue's, want 2: %v", river, steps)
		}
		db := openSQL(t, dsn)
		for _, table := range []string{"river_job", "river_leader", "river_queue", "accepted"} {
			if len(tableColumns(t, db, table)) == 0 {
				t.Error(table)
			}
		}
		if _, err := db.Exec("DELETE FROM goose_db_version WHERE version_id >= 6"); err != nil {
			t.Fatal(err)
		}
		behind, err := ledger.Open(t.Context(), dsn, ledger.Options{NoMigrate: true})
		if err == nil {
			err = errors.Join(errors.New("a schema without the queue's last step was taken"), behind.Close())
			t.Fatal(err)
		}
		if !strings.Contains(err.Error(), "app migrate up") {
			t.Error(err)
		}
	})
}

// The database dies while the queue works: the queue ends all the same when it is told to, says it once, and works again with the database.
func TestQueueOutlivesTheDatabase(t *testing.T) {
	ledgertest.Need(t)
	c, err := ledgertest.Start(ledgertest.Options{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	said := &saidLines{}
	book := ledgertest.Open(t, c.DSN("postgres"), ledger.Options{Log: slog.New(slog.NewTextHandler(said, nil))})
	stocked(t, book, "SKU", 10)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- book.Work(ctx) }()
	if _, err := book.AcceptOrder(t.Context(), ledger.Key{}, hot("O1", 1), told); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first order is written", func() bool { return len(allOrders(t, book)) == 1 })
	c.Kill9()
	time.Sleep(2 * time.Second) // some polls
	if n := said.count("Error fetching jobs"); n > 1 {
		t.Errorf("said %d times that jobs cannot be fetched", n)
	}
	if err := c.Up(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an order is accepted again", func() bool {
		a, err := book.AcceptOrder(t.Context(), ledger.Key{Token: "k", Fingerprint: "f"}, hot("O2", 1), told)
		if err != nil || a.Status != 202 {
			t.Log("not yet: ", a.Status, string(a.Body), err)
		}
		return err == nil && a.Status == 202
	})
	eventually(t, "and written", func() bool { return len(allOrders(t, book)) == 2 })
	books(t, book, "SKU", 2, 0)
	c.Kill9()
	stop()
	select {
	case err := <-ended:
		t.Log("without its database the queue ends with: ", err) // whether something was under way or not
	case <-time.After(60 * time.Second):
		t.Fatal("the queue does not end without its database")
	}
}

// saidLines is a log that a test reads.
type saidLines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *saidLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *saidLines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}
