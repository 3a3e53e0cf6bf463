package queue_test

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback/queue"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// The book is away for a while, and a delivery counts as a message's last at once: all is booked afterwards, and nothing died.
func TestBookAway(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, c := range []struct {
		name string
		away func(t *testing.T) (dsn string, cut, heal func())
	}{{"sqlite", lockedSQLite}, {"postgres", cutPostgres}} {
		t.Run(c.name, func(t *testing.T) {
			dsn, cut, heal := c.away(t)
			book := ledgertest.Open(t, dsn, ledger.Options{Patience: 300 * time.Millisecond})
			s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.MaxDeliver = 1 })
			s.server.Patience = time.Second
			s.run()
			const n = 40
			for i := range n {
				if i == n/2 {
					cut()
				}
				s.publish(payment(fmt.Sprintf("P%d", i), ""))
			}
			s.wait("the gate to be shut", func() bool { return strings.Contains(s.log.String(), "queue waits: the book cannot record") })
			time.Sleep(4 * time.Second) // time in which deliveries could be burnt
			burnt := s.result("demopay again")
			heal()
			s.idle()
			s.stop()
			if rows, minor := transactions(t, book); rows != n || minor != n*4999 {
				t.Errorf("%d rows of %d in all, want %d of %d", rows, minor, n, n*4999)
			}
			if dead := s.dead(); len(dead) != 0 || burnt > 2*n {
				t.Errorf("%d dead letters, %d deliveries burnt while the book was away", len(dead), burnt)
			}
			if log := s.log.String(); strings.Count(log, "queue waits") != strings.Count(log, "queue goes on") || strings.Count(log, "queue waits") > 3 {
				t.Error("the log does not say once that the queue waits and goes on")
			}
		})
	}
}

// lockedSQLite is a database that another process keeps locked.
func lockedSQLite(t *testing.T) (dsn string, cut, heal func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	do := func(statement string) func() {
		return func() {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Error(err)
			}
		}
	}
	return "sqlite:" + file, do("BEGIN IMMEDIATE"), do("ROLLBACK")
}

// cutPostgres is a server behind a wire that is cut.
func cutPostgres(t *testing.T) (dsn string, cut, heal func()) {
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
	p := ledgertest.NewProxy(t, u.Host)
	return strings.Replace(c.TCP("postgres"), u.Host, p.Addr, 1), func() { p.CutAfter(0, false) }, func() { p.Heal() }
}

// A book that was never there when the messages came: nothing is fetched at all.
func TestClosedBookFetchesNothing(t *testing.T) {
	t.Parallel() // it mostly waits
	book, err := ledger.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "app.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	s := newStand(t, book, ledgertest.StartNATS(t))
	s.run()
	s.publish(payment("P1", ""))
	time.Sleep(2 * time.Second)
	c, err := s.js.Consumer(t.Context(), "CALLBACKS", "paybook")
	if err != nil {
		t.Fatal(err)
	}
	if i := c.CachedInfo(); i.Delivered.Consumer != 0 || i.NumPending != 1 {
		t.Errorf("%d delivered, %d waiting; want 0 and 1", i.Delivered.Consumer, i.NumPending)
	}
}

// NATS hangs without a word: what was booked and could not be acknowledged comes again, and is in the book once.
func TestServerPaused(t *testing.T) {
	t.Parallel() // it mostly waits
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	s := newStand(t, book, ledgertest.StartNATS(t), func(o *queue.Options) { o.AckWait = time.Second })
	s.provider.slow = 300 * time.Millisecond
	s.run()
	const n = 20
	for i := range n {
		s.publish(payment(fmt.Sprintf("P%d", i), ""))
	}
	s.nats.Pause(t)
	time.Sleep(2 * time.Second)
	s.nats.Resume(t)
	s.idle()
	s.stop()
	if rows, minor := transactions(t, book); rows != n || minor != n*4999 {
		t.Errorf("%d rows of %d in all, want %d of %d", rows, minor, n, n*4999)
	}
	if dead := s.dead(); len(dead) != 0 {
		t.Errorf("%d dead letters", len(dead))
	}
}
