package redisgate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/redisgate"
)

const leaseName = "run/shop/2026-11-28"

// lockKey is where the lock of leaseName lies.
const lockKey = "paybook:lease:" + leaseName

func openLock(t *testing.T, url string) *redisgate.Gate {
	t.Helper()
	g, err := redisgate.Open(url, redisgate.Options{Timeout: 5 * time.Second, Rest: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

func TestLock(t *testing.T) {
	server := ledgertest.Redis(t)
	g, ctx := openLock(t, server.URL), t.Context()
	take := func(holder string, want bool) {
		t.Helper()
		if free, err := g.Lock(ctx, leaseName, holder, time.Hour); err != nil || free != want {
			t.Errorf("%s takes it: %t, %v, want %t", holder, free, err, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	take("one", true)
	take("two", false)
	take("one", false) // nobody has it twice
	must(g.Unlock(ctx, leaseName, "two"))
	must(g.Relock(ctx, leaseName, "two", time.Millisecond))
	take("two", false)
	must(g.Unlock(ctx, leaseName, "one"))
	take("two", true)
	must(g.Relock(ctx, leaseName, "two", time.Millisecond))
	for deadline := time.Now().Add(30 * time.Second); server.Do(t, "EXISTS", lockKey) != ":0"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
	}
	must(g.Relock(ctx, leaseName, "two", time.Hour)) // forgotten
	take("three", false)
	must(g.Unlock(ctx, leaseName, "two"))
	if free, err := g.Lock(ctx, leaseName, "three", time.Nanosecond); err != nil || !free {
		t.Errorf("for less than Redis can tell: %t, %v", free, err)
	}
}

// TestLeaseBehindRedis: whatever becomes of Redis, the leases are the database's.
func TestLeaseBehindRedis(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *ledgertest.RedisServer){
		"works":           func(*testing.T, *ledgertest.RedisServer) {},
		"forgets":         func(t *testing.T, r *ledgertest.RedisServer) { r.Flush(t) },
		"says held":       func(t *testing.T, r *ledgertest.RedisServer) { r.Do(t, "SET", lockKey, "nobody") },
		"holds a list":    func(t *testing.T, r *ledgertest.RedisServer) { r.Do(t, "DEL", lockKey); r.Do(t, "LPUSH", lockKey, "x") },
		"is full":         func(t *testing.T, r *ledgertest.RedisServer) { r.Do(t, "CONFIG", "SET", "maxmemory", "1") },
		"is killed":       func(_ *testing.T, r *ledgertest.RedisServer) { r.Kill() },
		"does not answer": func(t *testing.T, r *ledgertest.RedisServer) { r.Pause(t) },
	} {
		t.Run(name, func(t *testing.T) {
			ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
				server := ledgertest.Redis(t)
				g, err := redisgate.Open(server.URL, redisgate.Options{Rest: 10 * time.Millisecond})
				if err != nil {
					t.Fatal(err)
				}
				defer g.Close()
				b := ledgertest.Open(t, dsn, ledger.Options{LeaseLock: g})
				sameLeases(t, b, func() { spoil(t, server) })
			})
		})
	}
}

// sameLeases goes through the life of a lease, with Redis spoilt at every step of it.
func sameLeases(t *testing.T, b *ledger.Ledger, spoil func()) {
	t.Helper()
	ctx := t.Context()
	spoil()
	first, err := b.Lease(ctx, leaseName, time.Hour)
	if err != nil {
		t.Fatalf("free in the database: %v", err)
	}
	spoil()
	if _, err := b.Lease(ctx, leaseName, time.Hour); !errors.As(err, new(*ledger.BusyError)) {
		t.Fatalf("held in the database: %v", err)
	}
	if err := first.Renew(ctx); err != nil {
		t.Errorf("renewed: %v", err)
	}
	spoil()
	if err := first.End(ctx); err != nil {
		t.Fatal(err)
	}
	spoil()
	second, err := b.Lease(ctx, leaseName, time.Hour)
	if err != nil || second.Fence() != first.Fence()+1 {
		t.Fatalf("given back in the database: %v", err)
	}
}

// TestContendersBehindRedis: two processes with a Redis each, which therefore contradict each other, still have one holder at a time.
func TestContendersBehindRedis(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		var books []*ledger.Ledger
		for range 2 {
			books = append(books, ledgertest.Open(t, dsn, ledger.Options{LeaseLock: openLock(t, ledgertest.Redis(t).URL)}))
		}
		var mu sync.Mutex
		var fences []int64
		var wg sync.WaitGroup
		const contenders = 12
		for i := range contenders {
			wg.Go(func() {
				for {
					err := books[i%2].UnderLease(t.Context(), leaseName, func(_ context.Context, held *ledger.Lease) error {
						if !mu.TryLock() {
							t.Error("two hold it")
							return nil
						}
						defer mu.Unlock()
						fences = append(fences, held.Fence())
						return nil
					})
					if !errors.As(err, new(*ledger.BusyError)) {
						if err != nil {
							t.Error(err)
						}
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		wg.Wait()
		if len(fences) != contenders || !slices.IsSorted(fences) || len(slices.Compact(slices.Clone(fences))) != contenders {
			t.Errorf("fences %v, want %d that grow", fences, contenders)
		}
	})
}

// TestLockIsGivenBack: a lock lies in Redis for as long as its lease is held, and no longer.
func TestLockIsGivenBack(t *testing.T) {
	server := ledgertest.Redis(t)
	b := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db", ledger.Options{LeaseLock: openLock(t, server.URL)})
	err := b.UnderLease(t.Context(), leaseName, func(context.Context, *ledger.Lease) error {
		if server.Do(t, "EXISTS", lockKey) != ":1" || strings.HasPrefix(server.Do(t, "PTTL", lockKey), ":-") {
			t.Error("there is no lock that ends by itself")
		}
		return nil
	})
	if err != nil || server.Do(t, "EXISTS", lockKey) != ":0" {
		t.Errorf("after the work (%v) the lock is still there", err)
	}
	held, err := b.Lease(t.Context(), leaseName, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	server.Flush(t)
	if _, err := b.Lease(t.Context(), leaseName, time.Hour); !errors.As(err, new(*ledger.BusyError)) || server.Do(t, "EXISTS", lockKey) != ":0" {
		t.Errorf("one that was refused by the database (%v) leaves a lock behind", err)
	}
	if err := held.Renew(t.Context()); err != nil || server.Do(t, "EXISTS", lockKey) != ":1" {
		t.Errorf("a renewal (%v) does not bring a forgotten lock back", err)
	}
}
