package ledger_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// keysOf are the two kinds of key: one that was issued, and one that a client has made up.
func (s *shop) keysOf(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{"issued": s.token(t), "made up": "0b8a1d0c-6a0e-4a59-b1f4-1f0d9d1b2c3d"}
}

// hold is the first step of a request.
func (s *shop) hold(t *testing.T, token, order string) *ledger.Holder {
	t.Helper()
	h, known, err := s.HoldKey(t.Context(), keyOf(token, order))
	if known != nil || err != nil {
		t.Fatalf("%s with %s: %v, %v", order, token, known, err)
	}
	return h
}

// busy is a request that is told to wait.
func (s *shop) busy(t *testing.T, token, order string) {
	t.Helper()
	if a, err := s.buy(t.Context(), token, order); !errors.As(err, new(*ledger.TokenBusy)) {
		t.Errorf("%s with %q: %+v, %v; busy expected", order, token, a, err)
	}
}

const holdLife = 30 * time.Second

// TestStalledHolderIsTakenOver: while one is at it the others wait; when its hold has ended another does the work, and the first, should it
// wake up, gets the other's answer and books nothing.
func TestStalledHolderIsTakenOver(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for kind, token := range s.keysOf(t) {
			order := "of " + kind
			stalled := s.hold(t, token, order)
			s.busy(t, token, order)
			s.refused(t, token, "another", ledger.ErrTokenSpent)
			s.wait(holdLife - time.Microsecond)
			s.busy(t, token, order)
			s.wait(time.Microsecond)
			second := s.hold(t, token, order)
			if a, err := stalled.CreateOrder(t.Context(), newOrder(order), say); !errors.As(err, new(*ledger.TokenBusy)) {
				t.Errorf("%s: overtaken and still written: %+v, %v", kind, a, err)
			}
			s.busy(t, token, order)
			first, err := second.CreateOrder(t.Context(), newOrder(order), say)
			if err != nil || first.Replayed {
				t.Fatalf("%s: the one who took over: %+v, %v", kind, first, err)
			}
			late, err := stalled.CreateOrder(t.Context(), newOrder(order), say)
			if err != nil || !late.Replayed || string(late.Body) != string(first.Body) || late.Status != first.Status {
				t.Errorf("%s: the stalled one was told %+v, %v; %s expected", kind, late, err, first.Body)
			}
			if again := s.bought(t, token, order, true); again != fmt.Sprint(first.Status, " ", string(first.Body)) {
				t.Errorf("%s: %s, then %s", kind, first.Body, again)
			}
			s.wait(-holdLife) // an issued token's life goes on
		}
		s.orders(t, "of issued", "of made up")
	})
}

// TestHoldThatEndedBindsNobody: nothing was done under it, so another request may have the key; the first then hears that it was spent.
func TestHoldThatEndedBindsNobody(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for kind, token := range s.keysOf(t) {
			stalled := s.hold(t, token, "O1")
			s.wait(holdLife)
			s.bought(t, token, "instead, "+kind, false)
			if a, err := stalled.CreateOrder(t.Context(), newOrder("O1"), say); !errors.Is(err, ledger.ErrTokenSpent) {
				t.Errorf("%s: %+v, %v", kind, a, err)
			}
			s.wait(-holdLife)
		}
		s.orders(t, "instead, issued", "instead, made up")
	})
}

// F17: what fails, or is given up, or panics half-way leaves nothing, and the same request may come again at once.
func TestFailureReleasesTheKey(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		disk := errors.New("no more room")
		for name, fail := range map[string]func(cancel func()) error{
			"fails":    func(func()) error { return disk },
			"given up": func(cancel func()) error { cancel(); return nil },
			"panics":   func(func()) error { panic(disk) },
		} {
			for kind, token := range map[string]string{"issued": s.token(t), "made up": "a key that " + name} {
				order := kind + " " + name
				ctx, cancel := context.WithCancel(t.Context())
				try := func() (a ledger.Answer, err error) {
					defer func() {
						if recover() != nil {
							err = disk
						}
					}()
					return s.CreateOrderOnceAnd(ctx, keyOf(token, order), newOrder(order), func() error { return fail(cancel) }, say)
				}
				if a, err := try(); err == nil {
					t.Errorf("%s: %+v", order, a)
				}
				cancel()
				if n := countRows(t, s.dsn, "orders WHERE order_id = '"+order+"'"); n != 0 {
					t.Errorf("%s: half of it is there", order)
				}
				first := s.bought(t, token, order, false)
				if again := s.bought(t, token, order, true); again != first {
					t.Errorf("%s: %s, then %s", order, first, again)
				}
			}
		}
	})
}

// TestUnusableOrderIsNotKept: an order that makes no sense is no answer; the corrected one has the key.
func TestUnusableOrderIsNotKept(t *testing.T) {
	eachShop(t, func(t *testing.T, s *shop) {
		for _, token := range s.keysOf(t) {
			bad := newOrder("O1")
			bad.Order.AmountMinor = -1
			if a, err := s.CreateOrderOnce(t.Context(), keyOf(token, "bad"), bad, say); !errors.As(err, new(*ledger.BadOrder)) {
				t.Errorf("%+v, %v", a, err)
			}
			s.bought(t, token, "good "+token[:4], false)
		}
	})
}

// TestHolderIsKilled: a process is killed between its claim and its work, or between its work and its commit. Its hold ends by itself, and
// the next one makes the one order there is.
func TestHolderIsKilled(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		for _, gated := range []bool{false, true} {
			for _, where := range []string{"held", "worked"} {
				t.Run(fmt.Sprintf("gated %v, %s", gated, where), func(t *testing.T) {
					url := ""
					var gate ledger.Gate
					if gated {
						url = ledgertest.Redis(t).URL
						gate = patientGate(t, url)
					}
					empty(t, dsn)
					s := openShop(t, dsn, gate)
					for kind, token := range s.keysOf(t) {
						killHolder(t, where, dsn, url, token, kind)
						waitUntilRolledBack(t, s)
						s.busy(t, token, kind)
						s.wait(holdLife)
						first := s.bought(t, token, kind, false)
						if again := s.bought(t, token, kind, true); again != first {
							t.Errorf("%s, then %s", first, again)
						}
						s.wait(-holdLife)
					}
					s.orders(t, "issued", "made up")
				})
			}
		}
	})
}

// waitUntilRolledBack: PostgreSQL finds out a moment later that its client is gone.
func waitUntilRolledBack(t *testing.T, s *shop) {
	t.Helper()
	if s.Database() != "postgres" {
		return
	}
	for range 3000 {
		if countRows(t, s.dsn, "pg_stat_activity WHERE application_name = 'killed'") == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the killed process's connections stay")
}

// killHolder has another process begin a request, and kills it at a point of it.
func killHolder(t *testing.T, where, dsn, redis, token, order string) {
	t.Helper()
	if strings.HasPrefix(dsn, "postgres:") {
		dsn += "&application_name=killed"
	}
	child := exec.Command(os.Args[0], "-test.run=^TestHolderToBeKilled$")
	child.Env = append(os.Environ(), "HOLDER="+where, "HOLDER_DSN="+dsn, "HOLDER_REDIS="+redis, "HOLDER_TOKEN="+token, "HOLDER_ORDER="+order, "TMPDIR="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if line != where+"\n" {
		rest, _ := io.ReadAll(lines)
		t.Fatalf("the other process: %q, %v\n%s", line, err, rest)
	}
}

// TestHolderToBeKilled is the process that is killed.
func TestHolderToBeKilled(t *testing.T) {
	where := os.Getenv("HOLDER")
	if where == "" {
		t.Skip("only for TestHolderIsKilled")
	}
	var gate ledger.Gate
	if url := os.Getenv("HOLDER_REDIS"); url != "" {
		gate = patientGate(t, url)
	}
	s := openShop(t, os.Getenv("HOLDER_DSN"), gate)
	token, order := os.Getenv("HOLDER_TOKEN"), os.Getenv("HOLDER_ORDER")
	if where == "held" {
		s.hold(t, token, order)
		fmt.Println(where)
		select {}
	}
	_, err := s.CreateOrderOnceAnd(t.Context(), keyOf(token, order), newOrder(order), func() error { fmt.Println(where); select {} }, say)
	t.Fatal(err)
}
