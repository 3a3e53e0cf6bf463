package reconcile_test

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
	"paybook/models"
	"paybook/reconcile"
)

// state is a stored gap's life in short.
func state(t testing.TB, b *ledger.Ledger, id string) models.Gap {
	t.Helper()
	g, err := b.Gap(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSameDayAgain is F57: nothing doubles, what was repaired is healed, the rest stays.
func TestSameDayAgain(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00")
		f := statement(t, "p1 2026-11-28 10:00:00", "p3 2026-11-28 10:00:00")
		first := run(t, b, a, "2026-11-28", f)
		wantRun(t, first, "2 1", "missing_local payment p3", "missing_provider payment p2")
		second := run(t, b, a, "2026-11-28", f)
		if neutral(t, first) != neutral(t, second) || first.RunID != second.RunID {
			t.Errorf("the second run is another:\n%s\n%s", neutral(t, first), neutral(t, second))
		}
		if !first.Gaps[0].New || second.Gaps[0].New {
			t.Errorf("new is %v, then %v; want true, then false", first.Gaps[0].New, second.Gaps[0].New)
		}
		paid(t, b, "p3 2026-11-28 10:00:00")
		third := run(t, b, a, "2026-11-28", f)
		wantRun(t, third, "2 2", "missing_provider payment p2", "healed: missing_local payment p3")
		if fourth := run(t, b, a, "2026-11-28", f); neutral(t, third) != neutral(t, fourth) {
			t.Errorf("the fourth run is another than the third:\n%s\n%s", neutral(t, third), neutral(t, fourth))
		}
		healed := state(t, b, first.Gaps[0].ID)
		if healed.State != models.GapResolved || healed.ResolvedAt == nil || healed.HealedRun != third.RunID {
			t.Errorf("the repaired gap is %+v", healed)
		}
		runs, _, err := b.Runs(t.Context(), ledger.RunFilter{Account: "shop", Date: "2026-11-28"})
		if err != nil || len(runs) != 2 {
			t.Errorf("%d runs (%v), want two: the first and the third", len(runs), err)
		}
	})
}

// TestCorrectedFile: a file that is right heals, one that is wrong again opens the same gap again.
func TestCorrectedFile(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00")
		wrong, right := statement(t, "p1 2026-11-28 10:00:00 21.00"), statement(t, "p1 2026-11-28 10:00:00")
		empty := statement(t)
		first := run(t, b, a, "2026-11-28", wrong)
		wantRun(t, first, "1 0", "amount_mismatch payment p1")
		wantRun(t, run(t, b, a, "2026-11-28", right), "1 1", "healed: amount_mismatch payment p1")
		again := run(t, b, a, "2026-11-28", wrong)
		wantRun(t, again, "1 0", "amount_mismatch payment p1")
		other := run(t, b, a, "2026-11-28", empty)
		wantRun(t, other, "0 0", "missing_provider payment p1")
		for _, g := range []reconcile.GapReport{again.Gaps[0], other.Gaps[0]} {
			if g.ID != first.Gaps[0].ID || g.New {
				t.Errorf("gap %s (new %v), want %s again", g.ID, g.New, first.Gaps[0].ID)
			}
		}
		if g := state(t, b, first.Gaps[0].ID); g.State != models.GapOpen || g.Kind != models.GapMissingProvider || g.HealedRun != "" {
			t.Errorf("stored as %+v", g)
		}
	})
}

// TestResolvedByPerson: stays so while it looks the same.
func TestResolvedByPerson(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00")
		r := run(t, b, a, "2026-11-28", statement(t, "p1 2026-11-28 10:00:00 21.00"))
		id := r.Gaps[0].ID
		if _, err := b.ResolveGap(t.Context(), id[:6], "the provider pays the difference"); err != nil {
			t.Fatal(err)
		}
		accepted := run(t, b, a, "2026-11-28", statement(t, "p1 2026-11-28 10:00:00 21.00"))
		wantRun(t, accepted, "1 0")
		if len(accepted.Accepted) != 1 || accepted.Accepted[0].Resolution != "the provider pays the difference" {
			t.Errorf("accepted: %+v", accepted.Accepted)
		}
		wantRun(t, run(t, b, a, "2026-11-28", statement(t, "p1 2026-11-28 10:00:00 22.00")), "1 0", "amount_mismatch payment p1")
		if g := state(t, b, id); g.State != models.GapOpen || g.Resolution != "" {
			t.Errorf("with another amount it is %+v, want it open", g)
		}
	})
}

// TestCarried: rows near midnight wait for the neighbour's statement, whichever side lacks them.
func TestCarried(t *testing.T) {
	const (
		lastBook  = "p1 2026-11-28 23:59:58" // in the book on the 28th, in the statement of the 29th
		nextRow   = "p1 2026-11-29 00:00:02"
		early     = "p2 2026-11-28 23:59:57" // in the statement only
		nobodyHas = "p3 2026-11-28 23:59:55" // in the book only
		inner     = "p4 2026-11-28 23:59:49" // in the book only, and too far from midnight to wait
	)
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, lastBook, nobodyHas, inner)
		first, second := statement(t, early), statement(t, nextRow)
		r := run(t, b, a, "2026-11-28", first)
		wantRun(t, r, "1 0", "missing_provider payment p4", "carried: missing_provider payment p1", "carried: missing_provider payment p3",
			"carried: missing_local payment p2")
		if again := run(t, b, a, "2026-11-28", first); neutral(t, again) != neutral(t, r) {
			t.Error("what is carried depends on more than the input")
		}
		next := run(t, b, a, "2026-11-29", second)
		wantRun(t, next, "1 1", "missing_provider payment p3 of 2026-11-28", "missing_local payment p2 of 2026-11-28",
			"healed: missing_provider payment p1 of 2026-11-28")
		if again := run(t, b, a, "2026-11-29", second); neutral(t, again) != neutral(t, next) || again.RunID != next.RunID {
			t.Errorf("the neighbour's second run is another:\n%s\n%s", neutral(t, again), neutral(t, next))
		}
		wantRun(t, run(t, b, a, "2026-11-28", first), "1 0", "missing_provider payment p4", "missing_provider payment p3", "missing_local payment p2",
			"healed: missing_provider payment p1")
	})
}

// TestCarriedRowFoundAfterMidnight: the statement's last row is booked by us a second into the next day, by a callback that comes
// after the first run.
func TestCarriedRowFoundAfterMidnight(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		first, second := statement(t, "p1 2026-11-28 23:59:59"), statement(t)
		wantRun(t, run(t, b, a, "2026-11-28", first), "1 0", "carried: missing_local payment p1")
		paid(t, b, "p1 2026-11-29 00:00:01")
		for range 2 {
			wantRun(t, run(t, b, a, "2026-11-29", second), "0 0", "healed: missing_local payment p1 of 2026-11-28")
		}
		wantRun(t, run(t, b, a, "2026-11-28", first), "1 1", "healed: missing_local payment p1")
		wantRun(t, run(t, b, a, "2026-11-29", second), "0 0", "healed: missing_local payment p1 of 2026-11-28")
	})
}

// TestNearTheBeginning: the day before decides.
func TestNearTheBeginning(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	paid(t, b, "p1 2026-11-28 00:00:03", "p2 2026-11-28 00:00:05")
	wantRun(t, run(t, b, a, "2026-11-28", statement(t)), "0 0", "carried: missing_provider payment p1", "carried: missing_provider payment p2")
	wantRun(t, run(t, b, a, "2026-11-27", statement(t, "p1 2026-11-27 23:59:59")), "1 1", "missing_provider payment p2 of 2026-11-28",
		"healed: missing_provider payment p1 of 2026-11-28")
	wantRun(t, run(t, b, a, "2026-11-28", statement(t)), "0 0", "missing_provider payment p2", "healed: missing_provider payment p1")
}

// TestCrossedIsRemembered: matched by yesterday's statement, so today's does not miss it, in whichever order the days are run.
func TestCrossedIsRemembered(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-29 00:00:04", "p2 2026-11-29 12:00:00")
		wantRun(t, run(t, b, a, "2026-11-28", statement(t, "p1 2026-11-28 23:59:59")), "1 1")
		wantRun(t, run(t, b, a, "2026-11-29", statement(t, "p2 2026-11-29 12:00:00")), "1 1")
		// yesterday's file is corrected and no longer has it
		wantRun(t, run(t, b, a, "2026-11-28", statement(t)), "0 0")
		wantRun(t, run(t, b, a, "2026-11-29", statement(t, "p2 2026-11-29 12:00:00")), "1 1", "missing_provider payment p1")
	})
}

// TestLag: a batch settler's later statements are waited for.
func TestLag(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	a.Lag = 2
	paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 11:00:00")
	wantRun(t, run(t, b, a, "2026-11-28", statement(t)), "0 0", "carried: missing_provider payment p1", "carried: missing_provider payment p2")
	wantRun(t, run(t, b, a, "2026-11-29"), "0 0")
	paid(t, b, "p3 2026-11-30 12:00:00")
	last := statement(t, "p1 2026-11-28 10:00:00", "p3 2026-11-30 12:00:00")
	for range 2 {
		wantRun(t, run(t, b, a, "2026-11-30", last), "2 2", "missing_provider payment p2 of 2026-11-28",
			"healed: missing_provider payment p1 of 2026-11-28")
	}
}

// TestOpenGapFoundLater: an old gap is settled by whichever statement has the row.
func TestOpenGapFoundLater(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	paid(t, b, "p1 2026-11-25 10:00:00", "p2 2026-11-28 10:00:00")
	wantRun(t, run(t, b, a, "2026-11-25", statement(t)), "0 0", "missing_provider payment p1")
	f := statement(t, "p1 2026-11-25 10:00:00", "p2 2026-11-28 10:00:00")
	for range 2 {
		wantRun(t, run(t, b, a, "2026-11-28", f), "2 2", "healed: missing_provider payment p1 of 2026-11-25")
	}
	wantRun(t, run(t, b, a, "2026-11-25", statement(t)), "0 0", "healed: missing_provider payment p1")
	// that file is corrected and no longer has it
	wantRun(t, run(t, b, a, "2026-11-28", statement(t, "p2 2026-11-28 10:00:00")), "1 1", "missing_provider payment p1 of 2026-11-25")
	wantRun(t, run(t, b, a, "2026-11-25", statement(t)), "0 0", "missing_provider payment p1")
}

// TestNoStatement: a declared empty day misses what the book has.
func TestNoStatement(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	wantRun(t, run(t, b, a, "2026-11-27"), "0 0")
	paid(t, b, "p1 2026-11-28 10:00:00")
	r := run(t, b, a, "2026-11-28")
	wantRun(t, r, "0 0", "missing_provider payment p1")
	if r.Statement.ControlTotals != "none" || r.Statement.Files == nil {
		t.Errorf("statement: %+v", r.Statement)
	}
}

func TestDryRun(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	f := statement(t, "p2 2026-11-28 10:00:00")
	dry, err := reconcile.Run(t.Context(), b, a, reconcile.Files(f), day(t, "2026-11-28"), reconcile.Options{DryRun: true, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	wantNothingWritten(t, b)
	if dry.RunID != "" {
		t.Errorf("a dry run has the id %q", dry.RunID)
	}
	if wet := run(t, b, a, "2026-11-28", f); neutral(t, wet) != neutral(t, dry) {
		t.Errorf("the dry run said:\n%s\nthe run:\n%s", neutral(t, dry), neutral(t, wet))
	}
}

// TestHealedInTwoBooks: what has healed is told in the same bytes in every book, and by a dry run before.
func TestHealedInTwoBooks(t *testing.T) {
	a := plainAccount(t)
	wrong, right := statement(t, "p1 2026-11-28 10:00:00 21.00"), statement(t, "p1 2026-11-28 10:00:00")
	var told []string
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		paid(t, b, "p1 2026-11-28 10:00:00")
		run(t, b, a, "2026-11-28", wrong)
		dry, err := reconcile.Run(t.Context(), b, a, reconcile.Files(right), day(t, "2026-11-28"), reconcile.Options{DryRun: true, Now: noon})
		if err != nil {
			t.Fatal(err)
		}
		wet := run(t, b, a, "2026-11-28", right)
		wantRun(t, wet, "1 1", "healed: amount_mismatch payment p1")
		told = append(told, neutral(t, dry), neutral(t, wet))
	})
	for _, text := range told {
		if text != told[0] {
			t.Errorf("told once as\n%s\nand once as\n%s", told[0], text)
		}
	}
}

// TestRunsAtOnce: one is made, the others are told at once that it is; what they would have found is not written twice.
func TestRunsAtOnce(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00")
		f := statement(t, "p2 2026-11-28 10:00:00")
		d := day(t, "2026-11-28")
		var wg sync.WaitGroup
		reports, errs := make([]*reconcile.Report, 6), make([]error, 6)
		for i := range reports {
			wg.Go(func() { reports[i], errs[i] = tryRun(context.Background(), b, a, d, f) })
		}
		wg.Wait()
		ids := map[string]bool{}
		for i := range reports {
			switch {
			case errs[i] == nil:
				ids[reports[i].RunID] = true
			case !errors.Is(errs[i], reconcile.ErrBusy):
				t.Error(errs[i])
			}
		}
		if len(ids) != 1 {
			t.Errorf("runs %v, want one", ids)
		}
		gaps, _, err := b.Gaps(t.Context(), ledger.GapFilter{Account: "shop"})
		if err != nil || len(gaps) != 2 {
			t.Errorf("%d gaps (%v), want 2", len(gaps), err)
		}
	})
}

// TestBusy: while a run is under way, the same run is refused, and not another day's, another account's, or one that writes nothing.
func TestBusy(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		paid(t, b, "p1 2026-11-28 10:00:00")
		f, d := statement(t, "p1 2026-11-28 10:00:00"), day(t, "2026-11-28")
		a, other := plainAccount(t), plainAccount(t)
		other.Name = "other"
		slow := a
		slow.Provider = slowProvider{a.Provider, func() {
			_, err := tryRun(t.Context(), b, a, d, f)
			if !errors.Is(err, reconcile.ErrBusy) || !strings.Contains(err.Error(), "busy: the same run is under way since 20") {
				t.Errorf("the same run meanwhile: %v", err)
			}
			if r, err := reconcile.Run(t.Context(), b, a, reconcile.Files(f), d, reconcile.Options{DryRun: true, Now: noon}); err != nil || r.Matched != 1 {
				t.Errorf("a dry run meanwhile: %v", err)
			}
			if _, err := tryRun(t.Context(), b, other, d); err != nil {
				t.Errorf("another account meanwhile: %v", err)
			}
		}}
		wantRun(t, run(t, b, slow, "2026-11-28", f), "1 1")
		wantRun(t, run(t, b, a, "2026-11-28", f), "1 1") // the claim has ended with its run
		if _, err := tryRun(t.Context(), b, a, d, file(t, "x.csv", []byte("x"))); err == nil || errors.Is(err, reconcile.ErrBusy) {
			t.Errorf("a wrong file: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		slow.Provider = slowProvider{a.Provider, cancel}
		if _, err := tryRun(gone, b, slow, d, f); !errors.Is(err, context.Canceled) {
			t.Errorf("a run that is stopped: %v", err)
		}
		wantRun(t, run(t, b, a, "2026-11-28", f), "1 1") // and so it has after an error, or when it was stopped
	})
}

// TestCallbackDuringRun: what comes in while the statement is being read is seen before it is called missing.
func TestCallbackDuringRun(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00")
		late := slowProvider{a.Provider, func() { paid(t, b, "p2 2026-11-28 09:00:00") }}
		a.Provider = late
		wantRun(t, run(t, b, a, "2026-11-28", statement(t, "p2 2026-11-28 09:00:00", "p1 2026-11-28 10:00:00")), "2 2")
	})
}

func TestAgeIsOfTheClock(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	at := func(now time.Time) reconcile.GapReport {
		r, err := reconcile.Run(t.Context(), b, a, reconcile.NoStatement(), day(t, "2026-11-28"), reconcile.Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return r.Gaps[0]
	}
	first := at(time.Date(2026, 11, 29, 17, 0, 0, 0, time.UTC)) // the 30th in Shanghai
	later := at(time.Date(2026, 12, 3, 15, 0, 0, 0, time.UTC))
	if first.FirstSeen != "2026-11-30" || first.AgeDays != 0 || later.FirstSeen != "2026-11-30" || later.AgeDays != 3 {
		t.Errorf("first %s, %d; later %s, %d", first.FirstSeen, first.AgeDays, later.FirstSeen, later.AgeDays)
	}
}

// TestPayoutsAreKept: by their id, compared with nothing, of whatever day.
func TestPayoutsAreKept(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 10:00:00")
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00", "po_1,,payout,20.00,CNY,succeeded,2026-11-30 10:00:00,,"))
	wantRun(t, r, "1 1")
	if r.Payouts != 1 || r.Statement.Entries != 2 {
		t.Errorf("%d payouts kept of %d entries, want 1 of 2", r.Payouts, r.Statement.Entries)
	}
	if kinds := totalKinds(r.Statement.Totals); !slices.Equal(kinds, []string{"payment 20.00", "payout 20.00"}) {
		t.Errorf("totals: %q", kinds)
	}
}

func totalKinds(totals []reconcile.Total) []string {
	var out []string
	for _, t := range totals {
		out = append(out, string(t.Kind)+" "+t.Amount)
	}
	return out
}

// TestRefundThatTakesDays: the statement of the day it was asked for calls it pending, and no later one has it.
func TestRefundThatTakesDays(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := plainAccount(t)
		paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00")
		asked := refund("re_2", "p2", "R2", "5.00")
		asked.Status = "pending"
		book(t, b, "shop", asked)
		first := statement(t, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00",
			"re_1,O-p1,refund,5.00,CNY,PROCESSING,2026-11-28 11:00:00,p1,R1", "re_2,O-p2,refund,5.00,CNY,PROCESSING,2026-11-28 11:00:00,p2,R2")
		wantRun(t, run(t, b, a, "2026-11-28", first), "4 3")
		for _, m := range []movement{refund("re_1", "p1", "R1", "5.00"), refund("re_2", "p2", "R2", "5.00"), refund("re_3", "p2", "R3", "5.00")} {
			m.OccurredAt = "2026-11-30T09:00:00+08:00"
			book(t, b, "shop", m)
		}
		wantRun(t, run(t, b, a, "2026-11-30", statement(t)), "0 0", "missing_provider refund re_3")
		wantRun(t, run(t, b, a, "2026-11-28", first), "4 4")
	})
}
