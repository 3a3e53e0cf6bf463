package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

var runDay = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

// gapOf is a missing payment; id is one of hex digits.
func gapOf(id, date, amount string) models.Gap {
	return models.Gap{ID: id, Account: "shop", Date: date, Kind: models.GapMissingLocal, EntryKind: models.Payment, TransactionID: "p-" + id,
		State: models.GapOpen, Statement: &models.Side{Amount: amount, Currency: "CNY", Status: "succeeded", File: "f.csv", Line: 2}}
}

// saveRun saves a run that found these, in its turn. The fingerprint is what was found.
func saveRun(t *testing.T, b *ledger.Ledger, at time.Time, date string, f ledger.Findings) (models.Run, ledger.Saved) {
	t.Helper()
	run, saved, err := trySave(t, b, at, date, f)
	if err != nil {
		t.Fatal(err)
	}
	return run, saved
}

func trySave(t *testing.T, b *ledger.Ledger, at time.Time, date string, f ledger.Findings) (models.Run, ledger.Saved, error) {
	t.Helper()
	turn, err := b.Turn(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	f.Turn = turn
	fingerprint := fmt.Sprint(f.Kinds, f.Gaps, f.Healed)
	run := models.Run{Account: "shop", Provider: "script", Date: date, TimeZone: "UTC", CreatedAt: at, Files: []models.RunFile{{Name: "f.csv", SHA256: "00"}}}
	saved, err := b.SaveRun(t.Context(), &run, f, func(r *models.Run, _ ledger.Saved) error {
		r.Result, r.Report, r.Fingerprint = models.Gapped, "{}", fingerprint
		return nil
	})
	return run, saved, err
}

// saveUnder saves a run that found one gap, under a lease.
func saveUnder(t *testing.T, b *ledger.Ledger, held *ledger.Lease, gap string) (models.Run, error) {
	t.Helper()
	run, _, err := trySave(t, b, runDay, leaseDay, ledger.Findings{Lease: held, Gaps: []models.Gap{gapOf(gap, leaseDay, "1.00")}})
	return run, err
}

func TestLifeOfAGap(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d = "2026-11-29"
		one, two := gapOf("a1", d, "1.00"), gapOf("a2", d, "2.00")
		first, saved := saveRun(t, b, runDay, d, ledger.Findings{Gaps: []models.Gap{one, two}})
		if len(saved.New) != 2 || len(saved.Gaps) != 2 {
			t.Fatalf("saved %+v", saved)
		}
		same, saved := saveRun(t, b, runDay.Add(time.Hour), d, ledger.Findings{Gaps: []models.Gap{one, two}})
		if same.ID != first.ID || len(saved.New) != 0 || !same.CreatedAt.Equal(runDay) {
			t.Errorf("the same again is run %s of %s with %d new", same.ID, same.CreatedAt, len(saved.New))
		}
		second, saved := saveRun(t, b, runDay.Add(2*time.Hour), d, ledger.Findings{Gaps: []models.Gap{two}})
		if len(saved.Healed) != 1 || saved.Healed[0].ID != "a1" || saved.Healed[0].HealedRun != second.ID {
			t.Errorf("healed %+v", saved.Healed)
		}
		_, saved = saveRun(t, b, runDay.Add(3*time.Hour), d, ledger.Findings{Gaps: []models.Gap{one}})
		if g := read(t, b, "a1"); g.State != models.GapOpen || !g.FirstSeen.Equal(runDay) || g.FirstRun != first.ID || g.ResolvedAt != nil || len(saved.New) != 0 {
			t.Errorf("found again it is %+v", g)
		}
		last, err := b.LastRun(t.Context(), "shop", d)
		if err != nil || last.ID == second.ID || last.Files[0].Name != "f.csv" {
			t.Errorf("last run %+v, %v", last, err)
		}
		if _, err := b.LastRun(t.Context(), "shop", "2026-11-28"); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("the last run of another day: %v", err)
		}
	})
}

func read(t *testing.T, b *ledger.Ledger, id string) models.Gap {
	t.Helper()
	g, err := b.Gap(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTurn(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		saveRun(t, b, runDay, "2026-11-28", ledger.Findings{})
		run := models.Run{Account: "shop", Date: "2026-11-29", CreatedAt: runDay}
		_, err := b.SaveRun(t.Context(), &run, ledger.Findings{Turn: 0, Gaps: []models.Gap{gapOf("a1", "2026-11-29", "1.00")}},
			func(*models.Run, ledger.Saved) error { return nil })
		if !errors.Is(err, ledger.ErrMoved) {
			t.Errorf("a run that began before the last was saved: %v, want ErrMoved", err)
		}
		if _, err := b.Gap(t.Context(), "a1"); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("its gap was written: %v", err)
		}
		broken := errors.New("broken")
		_, err = b.SaveRun(t.Context(), &run, ledger.Findings{Turn: 1}, func(*models.Run, ledger.Saved) error { return broken })
		if turn, _ := b.Turn(t.Context(), "shop"); !errors.Is(err, broken) || turn != 1 {
			t.Errorf("error %v, turn %d; want it rolled back", err, turn)
		}
	})
}

func TestResolveGap(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d = "2026-11-29"
		one := gapOf("a1b2c3", d, "1.00")
		saveRun(t, b, runDay, d, ledger.Findings{Gaps: []models.Gap{one, gapOf("a1ffff", d, "2.00")}})
		for _, id := range []string{"", "a1", "ffff", "a%", "A1B2C3", "x"} {
			if _, err := b.ResolveGap(t.Context(), id, "why"); err == nil {
				t.Errorf("id %q was taken", id)
			}
		}
		if _, err := b.ResolveGap(t.Context(), "a1b2", "  "); err == nil {
			t.Error("no reason was asked for")
		}
		if g, err := b.ResolveGap(t.Context(), "a1b2", "refunded by hand"); err != nil || g.ID != "a1b2c3" {
			t.Errorf("ResolveGap = %+v, %v", g, err)
		}
		if _, err := b.ResolveGap(t.Context(), "a1b2", "again"); !errors.Is(err, ledger.ErrState) {
			t.Errorf("resolved twice: %v", err)
		}
		_, saved := saveRun(t, b, runDay, d, ledger.Findings{Gaps: []models.Gap{one}, Healed: []string{"a1b2c3"}})
		if len(saved.Accepted) != 1 || len(saved.Gaps) != 0 || saved.Accepted[0].Resolution != "refunded by hand" {
			t.Errorf("found again as before: %+v", saved)
		}
		one.Statement.Line, one.Statement.File = 9, "corrected.csv"
		if _, saved = saveRun(t, b, runDay, d, ledger.Findings{Gaps: []models.Gap{one}}); len(saved.Accepted) != 1 {
			t.Errorf("at another line of another file: %+v", saved)
		}
		one.Statement.Amount = "3.00"
		if _, saved = saveRun(t, b, runDay, d, ledger.Findings{Gaps: []models.Gap{one}}); len(saved.Gaps) != 1 || read(t, b, "a1b2c3").State != models.GapOpen {
			t.Errorf("with another amount: %+v", saved)
		}
		if _, err := b.ReopenGap(t.Context(), "a1b2c3", "found again"); !errors.Is(err, ledger.ErrState) {
			t.Errorf("reopened what is open: %v", err)
		}
		if g, err := b.ReopenGap(t.Context(), "a1ff", "found again"); err != nil || g.State != models.GapOpen || read(t, b, "a1ffff").State != models.GapOpen {
			t.Errorf("ReopenGap = %+v, %v", g, err)
		}
	})
}

func all(*models.Gap) bool { return true }

// TestGapsOfOtherDates: carried by one run, opened or healed by the neighbour's.
func TestGapsOfOtherDates(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d, next = "2026-11-28", "2026-11-29"
		one, two := gapOf("a1", d, "1.00"), gapOf("a2", d, "2.00")
		one.State, one.WaitsFor, two.State, two.WaitsFor = models.GapCarried, []string{next}, models.GapCarried, []string{next}
		saveRun(t, b, runDay, d, ledger.Findings{Gaps: []models.Gap{one, two}})
		waiting, err := b.OneSided(t.Context(), "shop", next, all)
		if err != nil || len(waiting) != 2 || !slices.Equal(waiting[0].WaitsFor, []string{next}) {
			t.Fatalf("OneSided = %+v, %v", waiting, err)
		}
		opened := one
		opened.State, opened.DecidedOn = models.GapOpen, next
		for range 2 {
			_, saved := saveRun(t, b, runDay, next, ledger.Findings{Gaps: []models.Gap{opened}, Healed: []string{"a2"}})
			if len(saved.Gaps) != 1 || len(saved.Healed) != 1 || saved.Healed[0].ID != "a2" || len(saved.New) != 0 {
				t.Errorf("saved %+v", saved)
			}
		}
		if waiting, err = b.OneSided(t.Context(), "shop", next, all); err != nil || len(waiting) != 2 {
			t.Errorf("what a run has decided is no longer there to be decided again: %+v, %v", waiting, err)
		}
		if waiting, err = b.OneSided(t.Context(), "shop", "2026-12-01", all); err != nil || len(waiting) != 1 || waiting[0].ID != "a1" {
			t.Errorf("for a third day: %+v, %v", waiting, err)
		}
	})
}

func TestGapLists(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		for i := range 3 {
			date := fmt.Sprintf("2026-11-2%d", i)
			g := gapOf(fmt.Sprintf("a%d", i), date, "1.00")
			if i == 1 {
				g.Kind, g.State = models.GapAmount, models.GapCarried
			}
			saveRun(t, b, runDay.AddDate(0, 0, i), date, ledger.Findings{Gaps: []models.Gap{g}})
		}
		list := func(f ledger.GapFilter) (ids []string, next string) {
			gaps, next, err := b.Gaps(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range gaps {
				ids = append(ids, g.ID)
			}
			return ids, next
		}
		page := ledger.GapFilter{Page: ledger.Page{Limit: 2}}
		ids, next := list(page)
		page.After = next
		rest, end := list(page)
		if !slices.Equal(ids, []string{"a2", "a1"}) || !slices.Equal(rest, []string{"a0"}) || end != "" {
			t.Errorf("pages %q and %q, then %q", ids, rest, end)
		}
		for _, c := range []struct {
			filter ledger.GapFilter
			want   []string
		}{
			{ledger.GapFilter{Account: "shop", State: models.GapOpen}, []string{"a2", "a0"}},
			{ledger.GapFilter{Kind: models.GapAmount}, []string{"a1"}},
			{ledger.GapFilter{Date: "2026-11-20"}, []string{"a0"}},
			{ledger.GapFilter{From: "2026-11-21", To: "2026-11-22"}, []string{"a2", "a1"}},
			{ledger.GapFilter{Account: "other"}, nil},
		} {
			if got, _ := list(c.filter); !slices.Equal(got, c.want) {
				t.Errorf("%+v: %q, want %q", c.filter, got, c.want)
			}
		}
		runs, _, err := b.Runs(t.Context(), ledger.RunFilter{Account: "shop", Page: ledger.Page{Limit: 1}})
		if err != nil || len(runs) != 1 || runs[0].Date != "2026-11-22" {
			t.Errorf("newest run %+v, %v", runs, err)
		}
	})
}

// TestCrossedAndPayouts: replaced by a later run of their date, kept by their key.
func TestCrossedAndPayouts(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d = "2026-11-28"
		p := ledger.Payout{PayoutID: "po_1", Money: models.Money{Minor: 100, Currency: "CNY"}, Status: models.StatusPending, OccurredAt: runDay, File: "f.csv"}
		saveRun(t, b, runDay, d, ledger.Findings{Crossed: []ledger.Crossed{{models.Payment, "p1", d}}, Payouts: []ledger.Payout{p},
			Gaps:  []models.Gap{gapOf("a1", d, "1.00")},
			Files: []ledger.StatementFile{{Name: "f.csv", Title: "statement", SHA256: "00", ContentSHA256: "00", Compared: true}}})
		name := ledger.Name{Account: "shop", Kind: models.Payment, ID: "p1"}
		crossed := func(date string) bool {
			found, err := b.CrossedElsewhere(t.Context(), date, map[ledger.Name]bool{name: true})
			if err != nil {
				t.Fatal(err)
			}
			return found[name]
		}
		if !crossed("2026-11-29") || crossed(d) {
			t.Error("p1 is crossed for other days than its statement's, and only for them")
		}
		p.Status = models.StatusSucceeded
		saveRun(t, b, runDay, d, ledger.Findings{Payouts: []ledger.Payout{p}})
		if crossed("2026-11-29") {
			t.Error("the corrected statement no longer has p1")
		}
		dates, err := b.RunDates(t.Context(), "shop", []string{d, "2026-11-29"})
		if kinds, ran := dates[d]; err != nil || !ran || kinds != nil || len(dates) != 1 {
			t.Errorf("RunDates = %v, %v", dates, err)
		}
	})
}

// TestManyGaps: a day on which nothing fits is written in whole statements, each gap as it was found.
func TestManyGaps(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d = "2026-11-28"
		var f ledger.Findings
		for i := range 2500 {
			g := gapOf(fmt.Sprintf("%08x", i), d, "1.00")
			g.Ledger, g.Order = &models.Side{Amount: "-0.001", Currency: "KWD"}, &models.Side{Status: "paid"}
			g.Differs, g.Owner, g.DueOn = []string{"amount", "fee"}, "ёжик", "2026-12-01"
			g.TransactionID, g.OrderID, g.Reason, g.Next = "p,\t\\N\"'\r\n"+g.ID, "\\.", strings.Repeat("账", i), "{}"
			f.Gaps = append(f.Gaps, g)
			f.Crossed = append(f.Crossed, ledger.Crossed{Kind: models.Payment, TransactionID: fmt.Sprint(i), Date: d})
		}
		if _, saved := saveRun(t, b, runDay, d, f); len(saved.New) != 2500 {
			t.Errorf("%d new gaps", len(saved.New))
		}
		n := 0
		if err := b.GapsOf(t.Context(), "shop", d, func(g models.Gap) error {
			want := f.Gaps[n] // saving has filled in the rest
			if n++; !reflect.DeepEqual(g, want) {
				return fmt.Errorf("read back as\n%+v, saved as\n%+v", g, want)
			}
			return nil
		}); err != nil || n != 2500 {
			t.Errorf("%d gaps, %v", n, err)
		}
		if check, err := b.VerifyAudit(t.Context(), nil); err != nil || !check.Whole() {
			t.Errorf("the log: %+v, %v", check, err)
		}
		f.Gaps = append(f.Gaps[:1], gapOf("fffffff0", d, "2.00")) // one known, one new
		if _, saved := saveRun(t, b, runDay, d, f); len(saved.Healed) != 2499 || len(saved.New) != 1 || len(saved.Gaps) != 2 {
			t.Errorf("%d healed, %d new, %d in all", len(saved.Healed), len(saved.New), len(saved.Gaps))
		}
	})
}

// TestKindsNotLookedAt: a run of one kind leaves the gaps and the matches of the others, and counts as read for its own kind only.
func TestKindsNotLookedAt(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d = "2026-11-28"
		pay, back := gapOf("a1", d, "1.00"), gapOf("a2", d, "2.00")
		back.EntryKind = models.Refund
		carried := gapOf("a3", d, "3.00")
		carried.State, carried.WaitsFor = models.GapCarried, []string{"2026-11-29"}
		file := func(only models.TransactionKind) []ledger.StatementFile {
			return []ledger.StatementFile{{Name: "f.csv", SHA256: "s" + string(only), ContentSHA256: "c" + string(only), Compared: true, Only: only}}
		}
		saveRun(t, b, runDay, d, ledger.Findings{Kinds: []models.TransactionKind{models.Payment}, Gaps: []models.Gap{pay, carried}, Files: file(models.Payment),
			Crossed: []ledger.Crossed{{Kind: models.Payment, TransactionID: "p1", Date: d}}})
		_, saved := saveRun(t, b, runDay, d, ledger.Findings{Kinds: []models.TransactionKind{models.Refund}, Gaps: []models.Gap{back}, Files: file(models.Refund)})
		if len(saved.Left) != 2 || len(saved.Gaps) != 1 || len(saved.Healed) != 0 {
			t.Errorf("saved %+v", saved)
		}
		for id, state := range map[string]models.GapState{"a1": models.GapOpen, "a2": models.GapOpen, "a3": models.GapCarried} {
			if g := read(t, b, id); g.State != state {
				t.Errorf("%s is %s, want %s", id, g.State, state)
			}
		}
		name := ledger.Name{Account: "shop", Kind: models.Payment, ID: "p1"}
		if found, err := b.CrossedElsewhere(t.Context(), "2026-11-29", map[ledger.Name]bool{name: true}); err != nil || !found[name] {
			t.Errorf("the match of the other kind is forgotten: %v, %v", found, err)
		}
		dates, err := b.RunDates(t.Context(), "shop", []string{d})
		if kinds := dates[d]; err != nil || !slices.Equal(kinds, []models.TransactionKind{models.Payment, models.Refund}) {
			t.Errorf("kinds read %v, %v", kinds, err)
		}
		_, saved = saveRun(t, b, runDay, d, ledger.Findings{Files: file("")})
		if len(saved.Healed) != 3 || len(saved.Left) != 0 {
			t.Errorf("a run of all kinds: %+v", saved)
		}
		if dates, err = b.RunDates(t.Context(), "shop", []string{d}); err != nil || dates[d] != nil {
			t.Errorf("kinds read %v, %v; want all", dates[d], err)
		}
	})
}

// TestSaveRunGivenUp: the caller's time ends it, with nothing written and a word on what to do.
func TestSaveRunGivenUp(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		ctx, cancel := context.WithCancel(t.Context())
		run := models.Run{Account: "shop", Date: "2026-11-28", CreatedAt: runDay}
		f := ledger.Findings{Gaps: []models.Gap{gapOf("a1", "2026-11-28", "1.00")}}
		_, err := b.SaveRun(ctx, &run, f, func(*models.Run, ledger.Saved) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run it again") {
			t.Errorf("error %v", err)
		}
		if _, err := b.Gap(t.Context(), "a1"); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("its gap was written: %v", err)
		}
	})
}

// TestReadBatches: a batch is the run's that read it first, and only batches are.
func TestReadBatches(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		batch := ledger.StatementFile{Name: "b42.csv", SHA256: "gz", ContentSHA256: "content", Compared: true, Batch: true, Only: models.Payment}
		plain := ledger.StatementFile{Name: "f.csv", SHA256: "00", ContentSHA256: "other", Compared: true}
		saveRun(t, b, runDay, "2026-11-27", ledger.Findings{Files: []ledger.StatementFile{batch, plain}})
		for date, want := range map[string]int{"2026-11-27": 0, "2026-11-28": 1, "2026-11-26": 1} {
			found, err := b.BatchesElsewhere(t.Context(), "shop", date, []string{"content", "other", "unknown"})
			if err != nil || len(found) != want || want == 1 && found["content"] != (ledger.ReadBatch{Date: "2026-11-27", Only: models.Payment}) {
				t.Errorf("for %s: %v, %v", date, found, err)
			}
		}
		if found, err := b.BatchesElsewhere(t.Context(), "other", "2026-11-28", []string{"content"}); err != nil || len(found) != 0 {
			t.Errorf("of another account: %v, %v", found, err)
		}
	})
}
