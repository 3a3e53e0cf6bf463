package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// TestOneTokenManyClicks: of 200 at once one makes the order; the others hear so, or are told to ask again; in the end all hear the same.
func TestOneTokenManyClicks(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for i, token := range []string{s.token(t), "6f1c1f0e-53a4-4a1b-8f6e-0f6f6a3f5d10"} {
			order := fmt.Sprint("O", i)
			var wg sync.WaitGroup
			var first, replays, busy atomic.Int64
			var bodies sync.Map
			for range 200 {
				wg.Go(func() {
					a, err := s.buy(t.Context(), token, order)
					wait := new(ledger.TokenBusy)
					switch {
					case errors.As(err, &wait):
						busy.Add(1)
						if wait.RetryAfter <= 0 {
							t.Error("busy, and no word of when to try again")
						}
						return
					case err != nil:
						t.Error(err)
						return
					case a.Replayed:
						replays.Add(1)
					default:
						first.Add(1)
					}
					bodies.Store(fmt.Sprint(a.Status, string(a.Body)), true)
				})
			}
			wg.Wait()
			if first.Load() != 1 || replays.Load()+busy.Load() != 199 {
				t.Errorf("%d made it, %d replays, %d told to wait", first.Load(), replays.Load(), busy.Load())
			}
			for range 5 {
				a := s.bought(t, token, order, true)
				bodies.Store(strings.Replace(a, " ", "", 1), true)
			}
			different := 0
			bodies.Range(func(any, any) bool { different++; return true })
			if different != 1 {
				t.Errorf("%d different answers", different)
			}
		}
		s.orders(t, "O0", "O1")
	})
}

// TestTokenIsForOneRequest: another request with it is refused, a token of nobody's or somebody else's or an old one too.
func TestTokenIsForOneRequest(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		token := s.token(t)
		first := s.bought(t, token, "O1", false)
		s.refused(t, token, "O2", ledger.ErrTokenSpent)
		if again := s.bought(t, token, "O1", true); again != first {
			t.Errorf("first %s, then %s", first, again)
		}
		s.refused(t, "tok_made-up", "O3", ledger.ErrTokenUnknown)
		s.refused(t, "tok_", "O3", ledger.ErrTokenUnknown)
		for _, bad := range []string{"", strings.Repeat("x", 256), "a\x00b", "a\xffb"} {
			s.refused(t, bad, "O3", ledger.ErrTokenUnusable)
		}
		theirs := ledger.Key{Owner: "other shop", Token: s.token(t), Fingerprint: "wants O3"}
		if _, err := s.CreateOrderOnce(t.Context(), theirs, newOrder("O3"), say); !errors.Is(err, ledger.ErrTokenUnknown) {
			t.Errorf("somebody else's: %v", err)
		}
		late := s.token(t)
		s.wait(ledger.TokenLife - time.Microsecond)
		s.bought(t, s.token(t), "O4", false)
		s.wait(time.Microsecond)
		s.refused(t, late, "O5", ledger.ErrTokenExpired)
		if again := s.bought(t, token, "O1", true); again != first {
			t.Errorf("spent and then past its life: first %s, then %s", first, again)
		}
		s.orders(t, "O1", "O4")
	})
}

// TestKeysAreTheOwners: the same key of two owners is two; two keys of one owner are two orders, by two numbers only.
func TestKeysAreTheOwners(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		s.bought(t, "key", "O1", false)
		theirs := ledger.Key{Owner: "", Token: "key", Fingerprint: "wants O2"}
		if a, err := s.CreateOrderOnce(t.Context(), theirs, newOrder("O2"), say); err != nil || a.Replayed {
			t.Errorf("the same key of another owner: %+v, %v", a, err)
		}
		s.bought(t, "key 2", "O3", false)
		refusal := s.bought(t, "key 3", "O1", false)
		if !strings.HasPrefix(refusal, "409 order O1") {
			t.Errorf("a number that is taken: %s", refusal)
		}
		if again := s.bought(t, "key 3", "O1", true); again != refusal {
			t.Errorf("a refusal is an answer: %s, then %s", refusal, again)
		}
		s.orders(t, "O1", "O2", "O3")
	})
}

// TestAnswerIsKeptForADay: by the clock given, and pruned a while later.
func TestAnswerIsKeptForADay(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		issued := s.token(t)
		a, b := s.bought(t, issued, "O1", false), s.bought(t, "uuid", "O2", false)
		s.wait(24*time.Hour - time.Microsecond)
		if s.bought(t, issued, "O1", true) != a || s.bought(t, "uuid", "O2", true) != b {
			t.Error("another answer within the day")
		}
		unspent := s.token(t)
		s.wait(time.Microsecond)
		s.refused(t, issued, "O1", ledger.ErrTokenExpired)
		if late := s.bought(t, "uuid", "O2", false); !strings.HasPrefix(late, "409 order O2") {
			t.Errorf("the number is the last line: %s", late)
		}
		s.bought(t, "uuid", "O2", true)
		s.wait(30 * time.Hour)
		if _, err := s.Tend(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.refused(t, issued, "O1", ledger.ErrTokenUnknown)
		s.refused(t, unspent, "O1", ledger.ErrTokenUnknown)
		if n := countRows(t, s.dsn, "tokens"); n != 0 {
			t.Errorf("%d tokens are kept for ever", n)
		}
		s.orders(t, "O1", "O2")
	})
}

// TestOldTokensGoInBites: however many there are, one transaction deletes so many only, the oldest first, and what still counts stays.
func TestOldTokensGoInBites(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		empty(t, dsn)
		s := openShop(t, dsn, nil)
		s.bought(t, "still good", "O1", false)
		old, older, cast := "'2026-11-28 07:00:00+00:00'", "'2026-11-28 06:00:00+00:00'", ""
		if s.Database() == "postgres" {
			cast = "timestamptz " // a literal within CASE is text there
		}
		_, err := openSQL(t, dsn).ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10050)
 INSERT INTO tokens (owner, token, state, created_at, expires_at)
 SELECT 'web', 'old ' || i, 'spent', CASE WHEN i <= 50 THEN `+cast+old+` ELSE `+cast+older+` END, CASE WHEN i <= 50 THEN `+cast+old+` ELSE `+cast+older+` END FROM n`)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{51, 1, 1} {
			if _, err := openShop(t, dsn, nil).Tend(t.Context()); err != nil { // a fresh one prunes at once
				t.Fatal(err)
			}
			if n := countRows(t, dsn, "tokens"); n != want {
				t.Errorf("%d tokens left, %d expected", n, want)
			}
		}
		s.bought(t, "still good", "O1", true)
	})
}
