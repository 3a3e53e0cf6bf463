package ledger_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// F74: a storm of repeats, with new orders among them, over ten connections. All are answered, nobody twice with an order, and the repeats
// write nothing.
func TestStormOfRepeats(t *testing.T) {
	const known, fresh = 1000, 200
	eachShop(t, func(t *testing.T, s *shop) {
		few := ledgertest.Open(t, s.dsn, ledger.Options{Now: s.now, Gate: s.gate, MaxConns: 10})
		for i := range 10 {
			s.bought(t, fmt.Sprint("known ", i), fmt.Sprint("K", i), false)
		}
		var made, replayed atomic.Int64
		inParallel(known+fresh, func(i int) {
			token, order := fmt.Sprint("known ", i%10), fmt.Sprint("K", i%10)
			if i%6 == 0 {
				token, order = fmt.Sprint("new ", i), fmt.Sprint("N", i)
			}
			a, err := few.CreateOrderOnce(t.Context(), keyOf(token, order), newOrder(order), say)
			switch {
			case err != nil:
				t.Error(err)
			case a.Replayed:
				replayed.Add(1)
			default:
				made.Add(1)
			}
		})
		if made.Load() != fresh || replayed.Load() != known {
			t.Errorf("%d made, %d replayed", made.Load(), replayed.Load())
		}
		for _, rows := range []string{"orders", "tokens", "tokens WHERE state = 'spent'"} {
			if n := countRows(t, s.dsn, rows); n != fresh+10 {
				t.Errorf("%d rows of %s", n, rows)
			}
		}
	})
}

// F16 on two replicas at once, and where every transaction that meets another fails and must be repeated.
func TestOneTokenManyReplicas(t *testing.T) {
	twoBooks(t, func(t *testing.T, books [2]*ledger.Ledger) {
		issued, err := books[0].IssueToken(t.Context(), "web", "cart", 0)
		if err != nil {
			t.Fatal(err)
		}
		own(t, books[0], units("A", 5))
		for i, token := range []string{issued.Token, "made up"} {
			var made atomic.Int64
			order := fmt.Sprint("O", i)
			ask := func(i int) (ledger.Answer, error) {
				return books[i%2].CreateOrderOnce(t.Context(), keyOf(token, order), newOrder(order, units("A", 2)), say)
			}
			inParallel(40, func(i int) {
				a, err := ask(i)
				if err == nil && !a.Replayed {
					made.Add(1)
				}
				if err != nil && !errors.As(err, new(*ledger.TokenBusy)) {
					t.Error(err)
				}
			})
			first, err1 := ask(0)
			second, err2 := ask(1)
			if made.Load() != 1 || err1 != nil || err2 != nil || string(first.Body) != string(second.Body) || !first.Replayed {
				t.Errorf("made %d times; %+v, %v; %+v, %v", made.Load(), first, err1, second, err2)
			}
		}
		wantStock(t, books[0], "A", "1 4 0")
	})
}

// TestRefusalLeavesNothing: an order that is refused for its stock is answered, and nothing of it is taken; a repeat gets that answer even
// when there is stock again, and the shop's own acts count once too.
func TestRefusalLeavesNothing(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		own(t, s.Ledger, units("A", 3), units("B", 1))
		ask := func(token string) ledger.Answer {
			t.Helper()
			a, err := s.CreateOrderOnce(t.Context(), keyOf(token, "O1"), newOrder("O1", units("A", 2), units("B", 2)), say)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		refused := ask("first")
		wantStock(t, s.Ledger, "A", "3 0 0")
		wantStock(t, s.Ledger, "B", "1 0 0")
		own(t, s.Ledger, units("B", 10))
		if again := ask("first"); !again.Replayed || string(again.Body) != string(refused.Body) || again.Status != 409 {
			t.Errorf("%s, then %s", refused.Body, again.Body)
		}
		if made := ask("second"); made.Status != 201 || made.Replayed {
			t.Errorf("with stock: %+v", made)
		}
		wantStock(t, s.Ledger, "A", "1 2 0")
		wantStock(t, s.Ledger, "B", "8 2 0")
		for i, want := range []struct {
			token    string
			status   int
			replayed bool
		}{{"third", 201, false}, {"third", 201, true}, {"fourth", 409, false}, {"fourth", 409, true}} {
			key := ledger.Key{Owner: "web", Token: want.token, Fingerprint: "cancel O1"}
			a, err := s.ActOnce(t.Context(), key, ledger.Act{OrderID: "O1", On: models.OrderCancel}, say)
			if err != nil || a.Status != want.status || a.Replayed != want.replayed {
				t.Errorf("cancel %d: %+v, %v", i, a, err)
			}
		}
		wantStock(t, s.Ledger, "A", "3 0 0")
		missing := ledger.Key{Owner: "web", Token: "fifth", Fingerprint: "cancel O2"}
		if a, err := s.ActOnce(t.Context(), missing, ledger.Act{OrderID: "O2", On: models.OrderCancel}, say); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%+v, %v", a, err)
		}
		if n := countRows(t, s.dsn, "tokens WHERE state = 'running'"); n != 0 {
			t.Errorf("%d keys are still held", n)
		}
	})
}

// The wire to the database is cut at every packet of a request under a key, once before the packet and once after it, when nobody knows
// whether the commit happened. The repeat finds out: one order, and one answer, whoever heard it.
func TestRequestCutAtEveryPoint(t *testing.T) {
	dsn, proxy := proxied(t)
	for name, gate := range map[string]func() ledger.Gate{
		"alone": func() ledger.Gate { return nil },
		"redis": func() ledger.Gate { return patientGate(t, ledgertest.Redis(t).URL) },
	} {
		t.Run(name, func(t *testing.T) {
			empty(t, dsn)
			book := ledgertest.Open(t, dsn, ledger.Options{Patience: 300 * time.Millisecond, MaxConns: 2, Gate: gate()})
			made := 0
			for _, swallow := range []bool{false, true} {
				for n := int64(1); ; n++ {
					if n > 100 {
						t.Fatal("the request never got through")
					}
					order := fmt.Sprintf("O-%v-%d", swallow, n)
					token := order
					must(t, func() error {
						issued, err := book.IssueToken(t.Context(), "web", "", 0)
						if n%2 == 0 {
							token = issued.Token
						}
						return err
					})
					proxy.CutAfter(n, swallow)
					first, err := book.CreateOrderOnce(t.Context(), keyOf(token, order), newOrder(order), say)
					cut := proxy.Heal()
					var second ledger.Answer
					must(t, func() (err error) {
						second, err = book.CreateOrderOnce(t.Context(), keyOf(token, order), newOrder(order), say)
						if errors.Is(err, ledger.ErrTokenSpent) || errors.Is(err, ledger.ErrTokenUnknown) {
							t.Fatal(err)
						}
						return err
					})
					if err == nil && string(first.Body) != string(second.Body) {
						t.Errorf("cut at packet %d: %s, then %s", n, first.Body, second.Body)
					}
					if second.Status != 201 {
						t.Errorf("cut at packet %d: the repeat was told %d %s", n, second.Status, second.Body)
					}
					made++
					if !cut {
						t.Logf("cut at each of %d packets (answer swallowed: %v)", n-1, swallow)
						break
					}
				}
			}
			if orders := countRows(t, dsn, "orders"); orders != made {
				t.Errorf("%d orders of %d requests", orders, made)
			}
		})
	}
}
