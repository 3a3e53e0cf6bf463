package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/redisgate"
	"paybook/models"
)

// eachShop runs f on an empty book on each database: alone, with a Redis, and with one that is away.
func eachShop(t *testing.T, f func(t *testing.T, s *shop)) {
	t.Helper()
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		begin := func(name string, gate func(t *testing.T) ledger.Gate) {
			t.Run(name, func(t *testing.T) {
				g := gate(t)
				empty(t, dsn)
				f(t, openShop(t, dsn, g))
			})
		}
		begin("alone", func(*testing.T) ledger.Gate { return nil })
		begin("redis", func(t *testing.T) ledger.Gate { return patientGate(t, ledgertest.Redis(t).URL) })
		begin("redis away", func(t *testing.T) ledger.Gate { return openGate(t, "redis://127.0.0.1:1") })
	})
}

// empty makes the book new for the next subtest.
func empty(t *testing.T, dsn string) {
	t.Helper()
	ledgertest.Open(t, dsn)
	db := openSQL(t, dsn)
	for _, table := range []string{"tokens", "orders", "items", "transitions", "messages", "expiries", "stock"} {
		if _, err := db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
			t.Fatal(err)
		}
	}
}

// openGate has the limits of every server; patientGate waits for a busy machine, where a test is about what Redis says.
func openGate(t testing.TB, url string) *redisgate.Gate { return gateOf(t, url, 0) }

func patientGate(t testing.TB, url string) *redisgate.Gate { return gateOf(t, url, 30*time.Second) }

func gateOf(t testing.TB, url string, timeout time.Duration) *redisgate.Gate {
	t.Helper()
	gate, err := redisgate.Open(url, redisgate.Options{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { gate.Close() })
	return gate
}

// shop is a book with a clock that a test moves.
type shop struct {
	*ledger.Ledger
	dsn  string
	gate ledger.Gate
	past atomic.Int64 // nanoseconds after shopOpened
}

var shopOpened = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

func openShop(t *testing.T, dsn string, gate ledger.Gate) *shop {
	t.Helper()
	s := &shop{dsn: dsn, gate: gate}
	s.Ledger = ledgertest.Open(t, dsn, ledger.Options{Now: s.now, Gate: gate})
	return s
}

func (s *shop) now() time.Time       { return shopOpened.Add(time.Duration(s.past.Load())) }
func (s *shop) wait(d time.Duration) { s.past.Add(int64(d)) }

// say words an answer that no two requests have in common.
func say(o models.Order, err error) (int, []byte) {
	if err != nil {
		return 409, []byte(err.Error())
	}
	return 201, fmt.Appendf(nil, `{"order_id":%q,"answer":%d}`, o.OrderID, answers.Add(1))
}

var answers atomic.Int64

// buy asks for an order under a key; the order is the fingerprint.
func (s *shop) buy(ctx context.Context, token, order string) (ledger.Answer, error) {
	return s.CreateOrderOnce(ctx, keyOf(token, order), newOrder(order), say)
}

func keyOf(token, order string) ledger.Key {
	return ledger.Key{Owner: "web", Token: token, Fingerprint: "wants " + order}
}

// token is one that was issued.
func (s *shop) token(t *testing.T) string {
	t.Helper()
	issued, err := s.IssueToken(t.Context(), "web", "cart 7", 0)
	if err != nil {
		t.Fatal(err)
	}
	return issued.Token
}

// bought is a request that must be answered.
func (s *shop) bought(t *testing.T, token, order string, replayed bool) string {
	t.Helper()
	a, err := s.buy(t.Context(), token, order)
	if err != nil || a.Replayed != replayed {
		t.Fatalf("%s with %s: %+v, %v; replayed: %v expected", order, token, a, err, replayed)
	}
	return fmt.Sprint(a.Status, " ", string(a.Body))
}

// refused is a request that must not.
func (s *shop) refused(t *testing.T, token, order string, want error) {
	t.Helper()
	if a, err := s.buy(t.Context(), token, order); !errors.Is(err, want) {
		t.Errorf("%s with %q: %+v, %v; %v expected", order, token, a, err, want)
	}
}

// orders holds the book against the only orders that there may be, each made once.
func (s *shop) orders(t *testing.T, want ...string) {
	t.Helper()
	list, _, err := s.ListOrders(t.Context(), ledger.OrderFilter{Page: ledger.Page{Limit: 10_000}})
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, o := range list {
		have[o.OrderID] = true
		if o.Status != models.Unpaid || o.Version != 1 || o.AmountMinor != 1999 {
			t.Errorf("%+v", o)
		}
	}
	for _, id := range want {
		if !have[id] {
			t.Errorf("order %s is not there", id)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d orders, %d expected", len(list), len(want))
	}
}

// countRows is how many a table has.
func countRows(t *testing.T, dsn, table string) (n int) {
	t.Helper()
	if err := openSQL(t, dsn).QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
