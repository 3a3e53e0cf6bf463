package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// redisFaults are what can happen to a Redis, and how it ends.
var redisFaults = map[string]struct {
	begin, end func(t *testing.T, r *ledgertest.RedisServer)
}{
	"killed": {
		begin: func(_ *testing.T, r *ledgertest.RedisServer) { r.Kill() },
		end:   func(t *testing.T, r *ledgertest.RedisServer) { r.Restart(t) },
	},
	"slow": {
		begin: func(t *testing.T, r *ledgertest.RedisServer) { r.Pause(t) },
		end:   func(t *testing.T, r *ledgertest.RedisServer) { r.Resume(t) },
	},
	"full": {
		begin: func(t *testing.T, r *ledgertest.RedisServer) { r.Fill(t) },
		end:   func(t *testing.T, r *ledgertest.RedisServer) { r.Do(t, "CONFIG", "SET", "maxmemory", "0") },
	},
	"flushed":         {begin: func(t *testing.T, r *ledgertest.RedisServer) { r.Flush(t) }},
	"restarted empty": {begin: func(t *testing.T, r *ledgertest.RedisServer) { r.Restart(t) }},
	"of another type": {begin: func(t *testing.T, r *ledgertest.RedisServer) { spoil(t, r, "redis.call('LPUSH', k, 'x')") }},
	"of another kind": {begin: func(t *testing.T, r *ledgertest.RedisServer) {
		spoil(t, r, "redis.call('SET', k, 'held by nobody we know')")
	}},
	"saying spent":   {begin: func(t *testing.T, r *ledgertest.RedisServer) { spoil(t, r, "redis.call('SET', k, 'spent')") }},
	"saying issued":  {begin: func(t *testing.T, r *ledgertest.RedisServer) { spoil(t, r, "redis.call('SET', k, 'issued')") }},
	"forbidding all": {begin: func(t *testing.T, r *ledgertest.RedisServer) { r.Do(t, "ACL", "SETUSER", "default", "-@all", "+acl") }},
}

// spoil puts something else in the place of every key.
func spoil(t *testing.T, r *ledgertest.RedisServer, with string) {
	t.Helper()
	r.Do(t, "EVAL", "for _, k in ipairs(redis.call('KEYS', '*')) do redis.call('DEL', k) "+with+" end", "0")
}

// TestRedisFaultAtEachPoint: whatever becomes of Redis, and whenever, the answers are those of the database alone. F20.
func TestRedisFaultAtEachPoint(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		for name, fault := range redisFaults {
			for _, point := range []string{"before", "between", "after"} {
				t.Run(name+" "+point, func(t *testing.T) {
					r := ledgertest.Redis(t)
					empty(t, dsn)
					s := openShop(t, dsn, openGate(t, r.URL))
					for kind, token := range s.keysOf(t) {
						strikeAt(t, s, r, fault.begin, point, token, kind)
						s.refused(t, "tok_made-up", kind, ledger.ErrTokenUnknown)
						if fault.end != nil {
							fault.end(t, r)
						}
						s.bought(t, token, kind, true)
						s.refused(t, token, "another", ledger.ErrTokenSpent)
					}
					s.orders(t, "issued", "made up")
				})
			}
		}
	})
}

// strikeAt makes one order, with a fault at a point of it, and asks for it again.
func strikeAt(t *testing.T, s *shop, r *ledgertest.RedisServer, fault func(*testing.T, *ledgertest.RedisServer), point, token, order string) {
	t.Helper()
	if point == "before" {
		fault(t, r)
	}
	h := s.hold(t, token, order)
	if point == "between" {
		fault(t, r)
	}
	a, err := h.CreateOrder(t.Context(), newOrder(order), say)
	if err != nil || a.Replayed {
		t.Fatalf("%s: %+v, %v", order, a, err)
	}
	if point == "after" {
		fault(t, r)
	}
	for range 3 {
		if again := s.bought(t, token, order, true); again != fmt.Sprint(a.Status, " ", string(a.Body)) {
			t.Errorf("%s, then %s", a.Body, again)
		}
	}
	s.refused(t, token, "another", ledger.ErrTokenSpent)
}

// TestRedisSavesTheClaim: with Redis the hold is there, and the database has no row of it before the answer; a repeat takes nothing.
func TestRedisSavesTheClaim(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		r := ledgertest.Redis(t)
		s := openShop(t, dsn, patientGate(t, r.URL))
		for kind, token := range s.keysOf(t) {
			h := s.hold(t, token, kind)
			if running := countRows(t, dsn, "tokens WHERE state = 'running'"); running != 0 || !h.Gated() {
				t.Errorf("%s: let in by the gate: %v, and %d claims in the database", kind, h.Gated(), running)
			}
			s.busy(t, token, kind)
			s.refused(t, token, "another", ledger.ErrTokenSpent)
			if _, err := h.CreateOrder(t.Context(), newOrder(kind), say); err != nil {
				t.Fatal(err)
			}
			s.bought(t, token, kind, true)
		}
		if keys := r.Do(t, "DBSIZE"); keys != ":2" {
			t.Errorf("%s keys in Redis, 2 expected", keys)
		}
		for _, text := range []string{"made up", "tok_", "web"} {
			if n := r.Do(t, "EVAL", "return #redis.call('KEYS', '*"+text+"*')", "0"); n != ":0" {
				t.Errorf("a key of Redis shows %q", text)
			}
		}
	})
}

// failing is a gate whose every call fails, and which counts them.
type failing struct{ calls atomic.Int64 }

var errGate = errors.New("the gate is away")

func (g *failing) Issue(context.Context, ledger.Key, time.Duration) error {
	g.calls.Add(1)
	return errGate
}
func (g *failing) Enter(context.Context, ledger.Key, string, time.Time, time.Time) (ledger.Pass, error) {
	g.calls.Add(1)
	return ledger.PassGranted, errGate // what is said beside an error counts for nothing
}
func (g *failing) Leave(context.Context, ledger.Key, string, bool) error {
	g.calls.Add(1)
	return errGate
}

// liar is a gate that says always the same.
type liar struct{ pass ledger.Pass }

func (liar) Issue(context.Context, ledger.Key, time.Duration) error { return nil }
func (g liar) Enter(context.Context, ledger.Key, string, time.Time, time.Time) (ledger.Pass, error) {
	return g.pass, nil
}
func (liar) Leave(context.Context, ledger.Key, string, bool) error { return nil }

// TestReplicasDisagree: of two replicas on one database, one's gate works and the other's fails, or forgets, or lets everybody in, or is
// another Redis. One order for each token all the same, and one answer.
func TestReplicasDisagree(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		for name, other := range map[string]func(t *testing.T) ledger.Gate{
			"fails":             func(*testing.T) ledger.Gate { return &failing{} },
			"none":              func(*testing.T) ledger.Gate { return nil },
			"lets all in":       func(*testing.T) ledger.Gate { return liar{ledger.PassGranted} },
			"forgets":           func(*testing.T) ledger.Gate { return liar{ledger.PassUnknown} },
			"says all is spent": func(*testing.T) ledger.Gate { return liar{ledger.PassSpent} },
			"talks nonsense":    func(*testing.T) ledger.Gate { return liar{"?"} },
			"another Redis":     func(t *testing.T) ledger.Gate { return patientGate(t, ledgertest.Redis(t).URL) },
		} {
			t.Run(name, func(t *testing.T) {
				empty(t, dsn)
				a, b := openShop(t, dsn, patientGate(t, ledgertest.Redis(t).URL)), openShop(t, dsn, other(t))
				token := a.token(t)
				var wg sync.WaitGroup
				var made atomic.Int64
				for i := range 60 {
					s := []*shop{a, b}[i%2]
					wg.Go(func() {
						answer, err := s.buy(t.Context(), token, "O1")
						if err == nil && !answer.Replayed {
							made.Add(1)
						}
						if err != nil && !errors.As(err, new(*ledger.TokenBusy)) {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if made.Load() != 1 {
					t.Errorf("made %d times", made.Load())
				}
				if a.bought(t, token, "O1", true) != b.bought(t, token, "O1", true) {
					t.Error("two answers")
				}
				a.orders(t, "O1")
			})
		}
	})
}

// TestReplicasTakeTurns: each way that two holders of one key, let in by a gate and by the database, may follow on each other.
func TestReplicasTakeTurns(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		empty(t, dsn)
		gated, alone := openShop(t, dsn, patientGate(t, ledgertest.Redis(t).URL)), openShop(t, dsn, &failing{})
		for kind, token := range gated.keysOf(t) {
			inGate, inBook := gated.hold(t, token, kind), alone.hold(t, token, kind)
			if a, err := inGate.CreateOrder(t.Context(), newOrder(kind), say); !errors.As(err, new(*ledger.TokenBusy)) {
				t.Errorf("%s: while the database knows of another: %+v, %v", kind, a, err)
			}
			gated.busy(t, token, kind)
			first, err := inBook.CreateOrder(t.Context(), newOrder(kind), say)
			if err != nil || first.Replayed {
				t.Fatalf("%s: %+v, %v", kind, first, err)
			}
			if late, err := inGate.CreateOrder(t.Context(), newOrder(kind), say); err != nil || !late.Replayed || string(late.Body) != string(first.Body) {
				t.Errorf("%s: too late: %+v, %v", kind, late, err)
			}
			gated.bought(t, token, kind, true)
		}
		gated.orders(t, "issued", "made up")
	})
}
