package reconcile_test

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// manyGaps is a statement of nothing but payments that the book does not have, and that are never in memory together.
type manyGaps struct{ script }

const gapsMany, gapBytesMax = 30_000, 2_000

func (manyGaps) ReadStatement(_ string, r io.Reader, _ *time.Location, each func(models.Entry) error) (models.Statement, error) {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return models.Statement{}, err
	}
	for i := range gapsMany {
		e := entry(fmt.Sprintf("4200002026112800%012d", i), "20.00", models.StatusSucceeded)
		e.Line = i + 2
		if err := each(e); err != nil {
			return models.Statement{}, err
		}
	}
	return models.Statement{Compared: true}, nil
}

// TestMemoryOfManyGaps: on a day on which nothing fits, every gap takes little, when it is found, found again, healed, and looked at by
// the next day's run.
func TestMemoryOfManyGaps(t *testing.T) {
	if testing.Short() {
		t.Skip("writes tens of thousands of gaps")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := reconcile.Account{Name: "shop", Provider: manyGaps{}, Zone: shanghai}
		f, nothing := file(t, "s.csv", []byte("x")), statement(t)
		measure := func(what, date string, run func(reconcile.Day) (*reconcile.Report, error)) *reconcile.Report {
			runtime.GC()
			before, most := liveHeap(), watchLive()
			began := time.Now()
			r, err := run(day(t, date))
			perGap := (int64(most()) - int64(before)) / gapsMany
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d bytes a gap, %v", what, perGap, time.Since(began).Round(time.Millisecond))
			if perGap > gapBytesMax {
				t.Errorf("%s: %d bytes of memory a gap, want at most %d", what, perGap, gapBytesMax)
			}
			return r
		}
		of := func(a reconcile.Account, f string) func(reconcile.Day) (*reconcile.Report, error) {
			return func(d reconcile.Day) (*reconcile.Report, error) { return tryRun(t.Context(), b, a, d, f) }
		}
		first := measure("found", "2026-11-28", of(a, f))
		if len(first.Gaps) != gapsMany || first.Summary[models.GapMissingLocal] != gapsMany {
			t.Fatalf("%d gaps, %v", len(first.Gaps), first.Summary)
		}
		measure("printed", "2026-11-28", func(reconcile.Day) (*reconcile.Report, error) {
			return first, reconcile.WriteJSON(io.Discard, []reconcile.Item{{Report: first}})
		})
		again := measure("found again", "2026-11-28", of(a, f))
		if again.RunID != first.RunID || len(again.Gaps) != gapsMany || again.Gaps[gapsMany-1].New {
			t.Errorf("found again: run %s with %d gaps, the first was %s", again.RunID, len(again.Gaps), first.RunID)
		}
		next := measure("the next day", "2026-11-29", of(plainAccount(t), nothing))
		wantRun(t, next, "0 0")
		healed := measure("healed", "2026-11-28", of(plainAccount(t), nothing))
		if len(healed.Healed) != gapsMany || len(healed.Gaps) != 0 {
			t.Errorf("healed %d of %d", len(healed.Healed), gapsMany)
		}
		for state, want := range map[models.GapState]int{models.GapOpen: 0, models.GapResolved: 1} {
			left, _, err := b.Gaps(t.Context(), ledger.GapFilter{State: state, Page: ledger.Page{Limit: 1}})
			if err != nil || len(left) != want {
				t.Errorf("%s gaps in the book: %d, %v", state, len(left), err)
			}
		}
	})
}

// TestMemoryOfManyMissing: the same for what the book has and the statement does not.
func TestMemoryOfManyMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("books ten thousand payments")
	}
	const n = 10_000
	b := sqlite(t)
	_, err := b.ImportTransactions(t.Context(), func(yield func(ledger.Import, error) bool) {
		for i := range n {
			e := entry(fmt.Sprintf("42000020261128%010d", i), "20.00", models.StatusSucceeded)
			ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: e.TransactionID, OrderID: e.OrderID, Money: e.Money, OccurredAt: e.OccurredAt}
			if !yield(ledger.Import{Account: "shop", Place: e.TransactionID, Events: []models.Event{ev}}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	runtime.GC()
	before, most := liveHeap(), watchLive()
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t))
	perGap := (int64(most()) - int64(before)) / n
	t.Logf("%d bytes a gap", perGap)
	if len(r.Gaps) != n || perGap > gapBytesMax {
		t.Errorf("%d gaps of %d bytes of memory, want %d of at most %d", len(r.Gaps), perGap, n, gapBytesMax)
	}
}

// liveHeap is what the last collection found in use: unlike the heap's size it does not hold what is garbage by now.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchLive returns a function that tells the most that any collection has found in use since.
func watchLive() func() uint64 {
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			most = max(most, liveHeap())
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(stop); return <-peak }
}

// TestTableOfManyGaps: a table shows as many as somebody reads, and says that there are more.
func TestTableOfManyGaps(t *testing.T) {
	r := &reconcile.Report{Account: "shop", Result: models.Gapped}
	for i := range 1003 {
		r.Gaps = append(r.Gaps, reconcile.GapReport{ID: fmt.Sprintf("id%d", i), Kind: models.GapMissingLocal, State: models.GapOpen})
	}
	var out strings.Builder
	if err := reconcile.WriteTable(&out, []reconcile.Item{{Report: r}}, reconcile.Look{}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"1003 gaps": true, "and 3 more": true, "id999\n": true, "id1000": false} {
		if strings.Contains(out.String(), text) != want {
			t.Errorf("the table has %q: %v, want %v", text, !want, want)
		}
	}
}
