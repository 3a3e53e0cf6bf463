package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

const leaseDay = "2026-11-28"

var theRun = ledger.RunLease("shop", leaseDay)

func lease(t *testing.T, b *ledger.Ledger, length time.Duration) (*ledger.Lease, error) {
	t.Helper()
	held, err := b.Lease(t.Context(), theRun, length)
	if err != nil && !errors.As(err, new(*ledger.BusyError)) {
		t.Fatal(err)
	}
	return held, err
}

// leased is lease for one that must be free.
func leased(t *testing.T, b *ledger.Ledger, length time.Duration) *ledger.Lease {
	t.Helper()
	held, err := lease(t, b, length)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func wantLost(t *testing.T, what string, err error) {
	t.Helper()
	var lost *ledger.LostLease
	if !errors.As(err, &lost) || lost.Name != theRun || !strings.HasSuffix(lost.Holder, fmt.Sprint("/", os.Getpid())) {
		t.Errorf("%s: %v, want it lost to this process", what, err)
	}
}

// TestLease: one holds it until it is given back, or until it is not renewed any more.
func TestLease(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		first := leased(t, b, time.Hour)
		_, err := lease(t, b, time.Hour)
		var busy *ledger.BusyError
		if !errors.As(err, &busy) || busy.Until.Sub(busy.Since) != time.Hour || time.Since(busy.Since).Abs() > time.Minute || busy.Name != theRun ||
			!strings.HasSuffix(busy.Holder, fmt.Sprint("/", os.Getpid())) || !strings.Contains(err.Error(), "the same run is under way since "+busy.Since.Format(time.RFC3339)) {
			t.Errorf("taken twice: %v", err)
		}
		for _, other := range []string{ledger.RunLease("shop", "2026-11-29"), ledger.RunLease("other", leaseDay), "repair/shop"} {
			if _, err := b.Lease(t.Context(), other, time.Hour); err != nil {
				t.Errorf("%v: %v", other, err)
			}
		}
		if err := first.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := first.Renew(t.Context()); !errors.As(err, new(*ledger.LostLease)) {
			t.Errorf("renewed after it was given back: %v", err)
		}
		overdue := leased(t, b, time.Nanosecond)
		second := leased(t, b, time.Hour) // it has ended by itself
		if first.Fence() >= overdue.Fence() || overdue.Fence() >= second.Fence() {
			t.Errorf("fences %d, %d, %d, want them growing", first.Fence(), overdue.Fence(), second.Fence())
		}
		wantLost(t, "renewed after it has passed on", overdue.Renew(t.Context()))
		if err := overdue.End(t.Context()); err != nil { // theirs is another one
			t.Fatal(err)
		}
		if _, err := lease(t, b, time.Hour); err == nil {
			t.Error("ended by somebody who did not hold it any more")
		}
		if err := second.Renew(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestOverdueLease: one that nobody has taken is still its holder's.
func TestOverdueLease(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		held := leased(t, b, time.Second)
		if err := held.Age(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := saveUnder(t, b, held, "a1"); err != nil {
			t.Errorf("saved under it: %v", err)
		}
		if err := held.Renew(t.Context()); err != nil {
			t.Errorf("renewed: %v", err)
		}
		if _, err := lease(t, b, time.Hour); err == nil {
			t.Error("taken after it was renewed")
		}
	})
}

// TestClockGoesBack: a claim from the future holds until its holder has renewed it or given it back, and no holder's number comes twice.
// What the program's own clock says is of no account.
func TestClockGoesBack(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		held := leased(t, b, time.Minute)
		if err := held.Age(t.Context(), -time.Hour); err != nil {
			t.Fatal(err)
		}
		ahead := ledgertest.Open(t, dsn, ledger.Options{Now: func() time.Time { return time.Now().AddDate(1, 0, 0) }})
		var busy *ledger.BusyError
		if _, err := lease(t, ahead, time.Hour); !errors.As(err, &busy) || time.Until(busy.Until) < 59*time.Minute {
			t.Errorf("taken from the future: %v", err)
		}
		if err := held.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := lease(t, ahead, time.Hour); !errors.As(err, &busy) || time.Until(busy.Until) > time.Minute {
			t.Errorf("renewed by the clock that has gone back: %v", err)
		}
		if err := errors.Join(held.Age(t.Context(), -time.Hour), held.End(t.Context())); err != nil {
			t.Fatal(err)
		}
		if next := leased(t, b, time.Hour); next.Fence() != held.Fence()+1 {
			t.Errorf("fence %d after %d", next.Fence(), held.Fence())
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
			held := leased(t, b, time.Hour)
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

// TestLeaseContended: of many that come together one has it at a time, and each has a greater number than the one before.
func TestLeaseContended(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		books := []*ledger.Ledger{ledgertest.Open(t, dsn), ledgertest.Open(t, dsn)}
		const contenders = 20
		var holding, refused atomic.Int32
		var fences []int64 // guarded by the lease alone
		var wg sync.WaitGroup
		for i := range contenders {
			wg.Go(func() {
				for {
					err := books[i%2].UnderLease(t.Context(), theRun, func(_ context.Context, held *ledger.Lease) error {
						if n := holding.Add(1); n != 1 {
							t.Errorf("%d hold it", n)
						}
						fences = append(fences, held.Fence())
						time.Sleep(time.Millisecond)
						holding.Add(-1)
						return nil
					})
					if !errors.As(err, new(*ledger.BusyError)) {
						if err != nil {
							t.Error(err)
						}
						return
					}
					refused.Add(1)
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		if len(fences) != contenders || !slices.IsSorted(fences) || len(slices.Compact(slices.Clone(fences))) != contenders {
			t.Errorf("fences %v, want %d that grow", fences, contenders)
		}
		if refused.Load() == 0 {
			t.Error("nobody was ever refused")
		}
	})
}

// TestUnderLease: it is renewed while the work goes on, and given back after it, however the work has ended.
func TestUnderLease(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		broken := errors.New("broken")
		err := b.UnderLease(t.Context(), theRun, func(ctx context.Context, held *ledger.Lease) error {
			for until := time.Now().Add(3 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
				if err := b.UnderLease(ctx, theRun, nil); !errors.As(err, new(*ledger.BusyError)) {
					t.Fatalf("taken meanwhile: %v", err)
				}
			}
			return broken
		})
		if !errors.Is(err, broken) {
			t.Errorf("error %v, want the work's", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = b.UnderLease(ctx, theRun, func(ctx context.Context, _ *ledger.Lease) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.Canceled) || errors.As(err, new(*ledger.LostLease)) {
			t.Errorf("stopped from outside: %v", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = b.UnderLease(t.Context(), theRun, func(context.Context, *ledger.Lease) error { panic("broken") })
		}()
		leased(t, b, time.Hour)
	}, ledger.Options{Lease: 2 * time.Second})
}

// TestLeaseLostAtWork: the work's context ends when its lease has passed to another, and that is the error, whatever the work says.
func TestLeaseLostAtWork(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		for name, says := range map[string]error{"stopped": context.Canceled, "broken": errors.New("broken")} {
			var next *ledger.Lease
			err := b.UnderLease(t.Context(), theRun, func(ctx context.Context, held *ledger.Lease) error {
				next = takeOver(t, b, held)
				select {
				case <-ctx.Done():
					wantLost(t, name+": the context's cause", context.Cause(ctx))
				case <-time.After(30 * time.Second):
					t.Errorf("%s: the work was not stopped", name)
				}
				return says
			})
			wantLost(t, name, err)
			if err := next.Renew(t.Context()); err != nil {
				t.Errorf("%s: the other's lease was ended: %v", name, err)
			}
			if err := next.End(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}, ledger.Options{Lease: 300 * time.Millisecond})
}

// takeOver takes a lease that is being renewed, as if its holder had not been heard of for long.
func takeOver(t *testing.T, b *ledger.Ledger, held *ledger.Lease) *ledger.Lease {
	t.Helper()
	for range 1000 {
		if err := held.Age(t.Context(), time.Hour); err != nil {
			t.Fatal(err)
		}
		if next, err := lease(t, b, time.Hour); err == nil {
			return next
		}
	}
	t.Fatal("it was renewed each time")
	return nil
}

// TestDatabaseAwayDuringRenewal: a lease that could not be renewed for a while is still its holder's if nobody has taken it, and lost if
// somebody has.
func TestDatabaseAwayDuringRenewal(t *testing.T) {
	dsn, wire := proxied(t)
	direct := ledgertest.Open(t, wire.Behind(dsn))
	b := ledgertest.Open(t, dsn, ledger.Options{Lease: 300 * time.Millisecond, Patience: 500 * time.Millisecond})
	err := b.UnderLease(t.Context(), theRun, func(ctx context.Context, held *ledger.Lease) error {
		for _, swallow := range []bool{false, true} {
			wire.CutAfter(1, swallow)
			time.Sleep(time.Second)
			if !wire.Heal() {
				t.Error("nothing was cut")
			}
		}
		time.Sleep(time.Second)
		if _, err := saveUnder(t, b, held, "a1"); err != nil || ctx.Err() != nil {
			t.Errorf("back again: %v, %v", err, context.Cause(ctx))
		}
		wire.CutAfter(1, false)
		next := takeOver(t, direct, held.Through(direct))
		wire.Heal()
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Second):
			t.Error("the loss was not noticed")
		}
		_, err := saveUnder(t, b, held, "a2")
		wantLost(t, "saved after the loss", err)
		return errors.Join(err, next.End(t.Context()))
	})
	wantLost(t, "in all", err)
	if gaps, _, err := direct.Gaps(t.Context(), ledger.GapFilter{}); err != nil || len(gaps) != 1 || gaps[0].ID != "a1" {
		t.Errorf("gaps %+v, %v", gaps, err)
	}
}

// TestRepairUnderLease: a repair whose lease has passed to another writes nothing.
func TestRepairUnderLease(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		stock := func(yield func(models.Stock, error) bool) { yield(models.Stock{SKU: "A", Quantity: 5}, nil) }
		if _, err := b.ImportStock(t.Context(), stock); err != nil {
			t.Fatal(err)
		}
		if err := b.SpoilStock(t.Context(), "A", 3); err != nil {
			t.Fatal(err)
		}
		late := leased(t, b, time.Nanosecond)
		next := leased(t, b, time.Hour)
		_, err := b.RepairStock(t.Context(), late, "A")
		wantLost(t, "repaired", err)
		if s, err := b.Stock(t.Context(), "A"); err != nil || s.Reserved != 3 {
			t.Errorf("by a repair that was refused the stock is %+v, %v", s, err)
		}
		if s, err := b.RepairStock(t.Context(), next, "A"); err != nil || len(s) != 1 || s["A"].Reserved != 0 {
			t.Errorf("by the other's repair it is %+v, %v", s, err)
		}
	})
}
