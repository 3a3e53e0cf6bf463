package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

const leaseDay = "2026-11-28"

func lease(t *testing.T, b *ledger.Ledger, length time.Duration) (*ledger.Lease, error) {
	t.Helper()
	held, err := b.Lease(t.Context(), "shop", leaseDay, length)
	var busy *ledger.BusyError
	if err != nil && !errors.As(err, &busy) {
		t.Fatal(err)
	}
	return held, err
}

// TestLease: one holds it until it is given back, or until it is not renewed any more.
func TestLease(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		first, err := lease(t, b, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		_, err = lease(t, b, time.Hour)
		var busy *ledger.BusyError
		if !errors.As(err, &busy) || busy.Until.Sub(busy.Since) != time.Hour || time.Since(busy.Since).Abs() > time.Minute ||
			!strings.HasSuffix(busy.Holder, fmt.Sprint("/", os.Getpid())) || !strings.Contains(err.Error(), busy.Since.Format(time.RFC3339)) {
			t.Errorf("taken twice: %v", err)
		}
		for _, other := range [][2]string{{"shop", "2026-11-29"}, {"other", leaseDay}} {
			if _, err := b.Lease(t.Context(), other[0], other[1], time.Hour); err != nil {
				t.Errorf("%v: %v", other, err)
			}
		}
		if err := first.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err = lease(t, b, time.Nanosecond); err != nil {
			t.Errorf("after it was given back: %v", err)
		}
		second, err := lease(t, b, time.Nanosecond)
		if err != nil {
			t.Fatalf("after it has ended by itself: %v", err)
		}
		if err := first.End(t.Context()); err != nil { // theirs is another one
			t.Fatal(err)
		}
		if err := first.Renew(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := second.Renew(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := lease(t, b, time.Hour); err == nil {
			t.Error("taken from somebody who has renewed it")
		}
	})
}

// TestLeaseOfTheDead: a process of this machine that was killed holds nothing, and one that lives does.
func TestLeaseOfTheDead(t *testing.T) {
	dead := exec.Command("go", "version")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		for holder, busy := range map[string]bool{
			fmt.Sprintf("%s/%d", host, dead.Process.Pid):  false,
			fmt.Sprintf("%s/%d", host, os.Getppid()):      true,
			fmt.Sprintf("elsewhere/%d", dead.Process.Pid): true,
			host + "/no-number":                           true,
			"no process":                                  true,
		} {
			held, err := lease(t, b, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			if err := held.HoldAs(t.Context(), holder+" id"); err != nil {
				t.Fatal(err)
			}
			next, err := lease(t, b, time.Hour)
			if (err != nil) != busy {
				t.Errorf("held by %q: %v, want busy: %v", holder, err, busy)
			}
			if next == nil {
				next = held
			}
			if err := next.End(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestLeaseAtOnce: of many that come together one gets it.
func TestLeaseAtOnce(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		var wg sync.WaitGroup
		var got atomic.Int32
		for range 8 {
			wg.Go(func() {
				if _, err := b.Lease(t.Context(), "shop", leaseDay, time.Hour); err == nil {
					got.Add(1)
				} else if !errors.As(err, new(*ledger.BusyError)) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got.Load() != 1 {
			t.Errorf("%d got the lease", got.Load())
		}
	})
}
