package redisgate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/redisgate"
	"paybook/models"
)

const hash = "paybook:stock:SKU"

// running keeps the figures right until the test ends.
func (s *sale) running(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { s.flash.Run(ctx) })
	t.Cleanup(func() { stop(); group.Wait() })
}

// taken makes the mark of a request that took units some time ago, and never ended.
func (s *sale) taken(t *testing.T, orderID string, units int, ago time.Duration) {
	t.Helper()
	s.redis.Do(t, "HINCRBY", hash, "version", "1")
	s.redis.Do(t, "HINCRBY", hash, "left", fmt.Sprint(-units))
	s.redis.Do(t, "HSET", hash, "taken:"+uuid.NewString(), fmt.Sprintf("%d %d %s", units, time.Now().Add(-ago).UnixMilli(), orderID))
}

// within fails when something takes longer than requests that never ended may hold anything up, by far.
func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	start := time.Now()
	eventually(t, what, ok)
	if took := time.Since(start); took > limit {
		t.Errorf("%s: after %v", what, took)
	}
}

func (s *sale) look(t *testing.T) redisgate.Figure {
	t.Helper()
	f, err := s.flash.CompareNow(t.Context(), "SKU")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// While requests that never end hold units the others are for sale, and those that come back; and soon theirs are.
func TestUnfinishedRequestsHoldOnlyTheirUnits(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 10)
		if a, err := s.buy(t.Context(), "O1", 4); err != nil || a.Status != 202 {
			t.Fatal(a, err)
		}
		if _, err := book.Act(t.Context(), ledger.Act{OrderID: "O1", On: models.OrderCancel}); err != nil {
			t.Fatal(err)
		}
		s.redis.Do(t, "HSET", hash, "left", "6")
		s.taken(t, "dead", 6, -3*time.Second) // a clock that is ahead: it holds them for longer than the test below takes
		s.running(t)
		within(t, 5*time.Second, "what was cancelled is for sale again", func() bool { return s.look(t).Left == 4 })
		if f := s.look(t); f.Held != 6 || f.Available != 10 || !f.Equal() {
			t.Errorf("%+v", f)
		}
		s.stock(t, 15)
		within(t, 5*time.Second, "what was imported is for sale", func() bool { return s.look(t).Left >= 9 })
		within(t, 15*time.Second, "what the dead request held is for sale", func() bool {
			f := s.look(t)
			return f.Left == 15 && f.Held == 0 && f.Lost == 0
		})
		if a, err := s.buy(t.Context(), "O2", 15); err != nil || a.Status != 202 {
			t.Error(a, err)
		}
		s.books(t, 15)
	})
}

// A request whose order the database has holds nothing any more, whether it ends or not; should it give back, nothing is counted twice.
func TestKnownOrdersHoldNothing(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 10)
		if a, err := s.buy(t.Context(), "O1", 1); err != nil || a.Status != 202 {
			t.Fatal(a, err)
		}
		if _, err := book.CreateOrder(t.Context(), order("usual", 2)); err != nil { // its word of having taken units was lost
			t.Fatal(err)
		}
		s.taken(t, "usual", 2, 0)
		if f := s.look(t); f.Held != 0 || f.Left != 7 || f.Available != 7 || !f.Equal() {
			t.Errorf("%+v", f)
		}
		s.redis.Do(t, "HSET", hash, "left", "1")
		if done, err := s.flash.Repair(t.Context(), s.look(t)); err != nil || !done {
			t.Error(done, err)
		}
		if n := s.redis.Do(t, "HLEN", hash); n != ":2" {
			t.Errorf("fields %s: the mark is still there", n)
		}
		s.figure(t, 7)
	})
}

// Figures that are none are loaded anew when somebody buys, and by whoever compares; Redis does not count as away because of them.
func TestSpoiltFiguresAreLoadedAnew(t *testing.T) {
	for name, spoil := range map[string][]string{
		"fraction":         {"HSET", hash, "left", "2.5"},
		"exponent":         {"HSET", hash, "left", "1e1"},
		"hexadecimal":      {"HSET", hash, "left", "0x10"},
		"24 digits":        {"HSET", hash, "left", "123456789012345678901234"},
		"leading zero":     {"HSET", hash, "left", "007"},
		"negative":         {"HSET", hash, "left", "-3"},
		"blank":            {"HSET", hash, "left", " 3"},
		"empty":            {"HSET", hash, "left", ""},
		"infinite":         {"HSET", hash, "left", "inf"},
		"version, word":    {"HSET", hash, "version", "abc"},
		"version, largest": {"HSET", hash, "version", "9223372036854775807"},
		"version, empty":   {"HSET", hash, "version", ""},
		"loading":          {"HSET", hash, "left", "x", "loading", "me", "since", "never"},
		"loading for ever": {"HSET", hash, "left", "x", "loading", "me", "since", "999999999999999"},
		"mark":             {"HSET", hash, "left", "x", "taken:me", "many"},
		"type":             {"SET", hash, "7"},
		"list":             {"RPUSH", hash, "7"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
				s := openSale(t, book, 10)
				buy := func(id string, want int) {
					t.Helper()
					if a, err := s.buy(t.Context(), id, 2); err != nil || a.Status != want {
						t.Fatal(id, a, err)
					}
				}
				spoilt := func() {
					t.Helper()
					if spoil[0] != "HSET" {
						s.redis.Do(t, "DEL", hash)
					}
					s.redis.Do(t, spoil...)
				}
				buy("O1", 202)
				spoilt()
				for i := range 3 {
					buy(fmt.Sprint("P", i), 202)
				}
				if s.usual.Load() != 0 {
					t.Error("orders went the usual way")
				}
				s.figure(t, 2)
				spoilt()
				if f := s.look(t); !f.Unusable || f.Equal() {
					t.Errorf("%+v", f)
				}
				if done, err := s.flash.Repair(t.Context(), s.look(t)); err != nil || !done {
					t.Error(done, err)
				}
				s.figure(t, 2)
				spoilt()
				s.running(t)
				within(t, 5*time.Second, "aligned", func() bool { f := s.look(t); return f.Known && f.Left == 2 })
				if s.gate.Away() {
					t.Error("redis counts as away")
				}
				buy("O2", 202)
				buy("O3", 409)
				s.books(t, 10)
			})
		})
	}
}

// What somebody else has put where our marks are counts as no mark.
func TestForeignMarksAreIgnored(t *testing.T) {
	for name, value := range map[string]string{
		"garbage": "what is this", "empty": "", "spent": "spent", "half": "taken", "no print": "taken x 1",
		"an answer": "kept x 201 all of it is yours", "out": "out x", "binary": "\x00\xff\n",
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
				s := openSale(t, book, 3)
				s.redis.Do(t, "SET", redisgate.KeyMark(key("O1")), value)
				s.redis.Do(t, "SET", redisgate.OrderMark("O1"), value)
				if a, err := s.buy(t.Context(), "O1", 1); err != nil || a.Status != 202 || a.Replayed {
					t.Error(a, err)
				}
				s.redis.Do(t, "RPUSH", redisgate.KeyMark(key("O2")), value)
				if a, err := s.buy(t.Context(), "O2", 1); err != nil || a.Status != 202 || a.Replayed {
					t.Error(a, err)
				}
				s.redis.Do(t, "SET", redisgate.KeyMark(key("O3")), "out "+strings.Repeat("x", 43)) // as if of ours
				if a, err := s.buy(t.Context(), "O3", 1); err != nil || a.Status != 202 {
					t.Error(a, err)
				}
				for _, id := range []string{"O1", "O2", "O3"} {
					if a, err := s.buy(t.Context(), id, 1); err != nil || a.Status != 202 || !a.Replayed {
						t.Error(id, a, err)
					}
				}
				if s.usual.Load() != 0 || s.gate.Away() {
					t.Error("redis counted as away")
				}
				s.running(t)
				s.figure(t, 0)
				s.books(t, 3)
			})
		})
	}
}

// Who came too late under a key of the client's own is told the same for as long as the key is kept, also when units come back and Redis
// has forgotten; who has no key, or a token of ours, may try again.
func TestLosersHearTheSame(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		s := openSale(t, book, 1)
		ctx := t.Context()
		issued, err := book.IssueToken(ctx, "shop", "cart", 0)
		if err != nil {
			t.Fatal(err)
		}
		token := ledger.Key{Owner: "shop", Token: issued.Token, Fingerprint: "t"}
		first, err := s.buy(ctx, "L", 5)
		if err != nil || first.Status != 409 || first.Replayed {
			t.Fatal(first, err)
		}
		for _, k := range []ledger.Key{token, {Fingerprint: "none"}} {
			if a, taken, err := s.flash.Take(ctx, k, order("T"+k.Owner, 5), told); err != nil || !taken || a.Status != 409 || a.Replayed {
				t.Error(a, taken, err)
			}
		}
		s.stock(t, 50)
		for i, forget := range []func(){func() {}, func() { s.redis.Flush(t) }, s.redis.Kill} {
			forget()
			if a, err := s.buy(ctx, "L", 5); err != nil || a.Status != 409 || string(a.Body) != string(first.Body) || !a.Replayed {
				t.Error(i, a, err)
			}
			other := key("L")
			other.Fingerprint = "another order"
			_, taken, err := s.flash.Take(ctx, other, order("M", 1), told)
			if !taken && err == nil {
				_, err = book.CreateOrderOnce(ctx, other, order("M", 1), told)
			}
			if !errors.Is(err, ledger.ErrTokenSpent) {
				t.Error(i, "another order under the same key:", taken, err)
			}
		}
		s.redis.Restart(t)
		for _, k := range []ledger.Key{token, {Fingerprint: "none"}} {
			eventually(t, "redis is back", func() bool { return !s.gate.Away() })
			a, taken, err := s.flash.Take(ctx, k, order("T"+k.Owner, 5), told)
			if err != nil || taken && a.Status != 202 {
				t.Error(a, taken, err)
			}
			if !taken {
				t.Log("the usual way")
			}
		}
	})
}

// Figures that are set right without a pause while orders run lose no unit and give none twice.
func TestFiguresAreSetWhileOrdersRun(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		const units = 500
		s := openSale(t, book, units)
		ctx, stop := context.WithCancel(t.Context())
		var setting sync.WaitGroup
		setting.Go(func() {
			for ctx.Err() == nil {
				if _, err := s.flash.Repair(ctx, redisgate.Figure{SKU: "SKU"}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
		won := s.rush(t, 3*units, nil)
		stop()
		setting.Wait()
		if won != units || s.usual.Load() != 0 {
			t.Errorf("%d buyers got a unit of %d, %d went the usual way", won, units, s.usual.Load())
		}
		s.figure(t, 0)
		s.books(t, units)
	})
}
