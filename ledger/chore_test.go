package ledger_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// Of several processes one does a chore, again and again, failed or not, and never two at a time.
func TestChores(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		var under, done, most atomic.Int32
		chore := ledger.Chore{Name: "count", Every: time.Second, Do: func(context.Context) error {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			time.Sleep(1500 * time.Millisecond) // longer than its time: the next one must not begin beside it
			done.Add(1)
			return errors.New("tried and failed")
		}}
		ctx, stop := context.WithCancel(t.Context())
		var working sync.WaitGroup
		for range 2 {
			book := ledgertest.Open(t, dsn)
			working.Go(func() {
				if err := book.Work(ctx, chore); err != nil {
					t.Error(err)
				}
			})
		}
		for deadline := time.Now().Add(2 * time.Minute); done.Load() < 2; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("done %d times", done.Load())
			}
		}
		stop()
		working.Wait()
		if most.Load() != 1 {
			t.Errorf("%d at a time", most.Load())
		}
	})
}
