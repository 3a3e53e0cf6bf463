package reconcile_test

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// scripts are several statements, told apart by the file's name.
type scripts map[string]script

func (scripts) Name() string                      { return "script" }
func (scripts) Calendar() (string, time.Duration) { return "Asia/Shanghai", 0 }

func (s scripts) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	return s[filepath.Base(name)].ReadStatement(name, r, zone, each)
}

// scripted are the files of the scripts that are named, each with a content of its own.
func scripted(t testing.TB, names ...string) (files []string) {
	t.Helper()
	for _, name := range names {
		files = append(files, file(t, name, []byte(name)))
	}
	return files
}

// stated is a statement of one kind of rows; "" is any.
func stated(only models.TransactionKind, entries ...models.Entry) script {
	return script{models.Statement{Compared: true, Title: "bill", Only: only}, entries}
}

func refundEntry(id, parent, amount string) models.Entry {
	e := entry(id, amount, models.StatusSucceeded)
	e.Kind, e.ParentID, e.OrderID = models.Refund, parent, "O-"+parent
	return e
}

// wantStored checks the gaps of a day as the book has them: "open missing_local payment p3".
func wantStored(t testing.TB, b *ledger.Ledger, date string, want ...string) {
	t.Helper()
	gaps, _, err := b.Gaps(t.Context(), ledger.GapFilter{Account: "shop", Date: date})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range gaps {
		got = append(got, strings.Join([]string{string(g.State), string(g.Kind), string(g.EntryKind), g.TransactionID}, " "))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("gaps of %s in the book: %q\nwant %q", date, got, want)
	}
}

// TestRunsOfOneKindEach: the bill of payments and that of refunds, loaded one after the other, each heal and find what they can hold,
// and leave the other's gaps as they are.
func TestRunsOfOneKindEach(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const d = "2026-11-28"
		paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00", "p4 2026-11-28 10:00:00", "p5 2026-11-28 23:59:58")
		book(t, b, "shop", refund("re_1", "p1", "R1", "5.00"), refund("re_2", "p1", "R2", "6.00"))
		good, wrong := entry("p1", "20.00", models.StatusSucceeded), entry("p4", "21.00", models.StatusSucceeded)
		a := reconcile.Account{Name: "shop", Provider: scripts{
			"success.csv": stated(models.Payment, good, entry("p3", "20.00", models.StatusSucceeded), wrong),
			"right.csv":   stated(models.Payment, good, entry("p2", "20.00", models.StatusSucceeded), entry("p4", "20.00", models.StatusSucceeded)),
			"refund.csv":  stated(models.Refund, refundEntry("re_1", "p1", "5.00")),
			"both.csv":    stated("", good, refundEntry("re_2", "p1", "6.00")),
		}}
		payments := []string{"missing_local payment p3", "missing_provider payment p2", "amount_mismatch payment p4", "carried: missing_provider payment p5"}
		wantRun(t, run(t, b, a, d, scripted(t, "success.csv")...), "3 1", slices.Clone(payments)...)
		for range 2 { // whichever is loaded last, all that is open is told
			r := run(t, b, a, d, scripted(t, "refund.csv")...)
			wantRun(t, r, "1 1", append(slices.Clone(payments), "missing_provider refund re_2")...)
			if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "no payments by their nature: 4 gaps of earlier runs of this day left as they are") {
				t.Errorf("notes are %q", notes)
			}
			if r.Summary[models.GapMissingLocal] != 1 || r.Summary[models.GapMissingProvider] != 2 {
				t.Errorf("summary %v", r.Summary)
			}
		}
		wantStored(t, b, d, "open missing_local payment p3", "open missing_provider payment p2", "open amount_mismatch payment p4",
			"carried missing_provider payment p5", "open missing_provider refund re_2")
		wantRun(t, run(t, b, a, d, scripted(t, "right.csv")...), "3 3", "missing_provider refund re_2", "carried: missing_provider payment p5",
			"healed: missing_local payment p3", "healed: missing_provider payment p2", "healed: amount_mismatch payment p4")
		wantRun(t, run(t, b, a, d, scripted(t, "right.csv", "refund.csv")...), "4 4", "missing_provider refund re_2", "carried: missing_provider payment p5",
			"healed: missing_local payment p3", "healed: missing_provider payment p2", "healed: amount_mismatch payment p4")
		wantRun(t, run(t, b, a, d, scripted(t, "both.csv")...), "2 2", "missing_provider payment p2", "missing_provider payment p4", "missing_provider refund re_1",
			"carried: missing_provider payment p5", "healed: missing_provider refund re_2", "healed: missing_local payment p3")
	})
}

// TestBalancedInItsKind: a run that finds nothing is not balanced while the day has gaps of the kinds that it did not look at.
func TestBalancedInItsKind(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := reconcile.Account{Name: "shop", Provider: scripts{"success.csv": stated(models.Payment, entry("p1", "20.00", models.StatusSucceeded)),
			"refund.csv": stated(models.Refund), "chargeback.csv": stated(models.Chargeback)}}
		wantRun(t, run(t, b, a, "2026-11-28", scripted(t, "refund.csv")...), "0 0")
		wantRun(t, run(t, b, a, "2026-11-28", scripted(t, "success.csv")...), "1 0", "missing_local payment p1")
		left := run(t, b, a, "2026-11-28", scripted(t, "refund.csv", "chargeback.csv")...)
		wantRun(t, left, "0 0", "missing_local payment p1")
		if left.Gaps[0].New || left.Gaps[0].Statement.File != "success.csv" {
			t.Errorf("left as it was: %+v", left.Gaps[0])
		}
		wantStored(t, b, "2026-11-28", "open missing_local payment p1")
		if _, err := b.ResolveGap(t.Context(), left.Gaps[0].ID, "by hand"); err != nil {
			t.Fatal(err)
		}
		wantRun(t, run(t, b, a, "2026-11-28", scripted(t, "refund.csv")...), "0 0")
	})
}

// TestMatchesOfTheOtherKind: what the bill of payments has matched of the neighbouring day is not forgotten over the bill of refunds.
func TestMatchesOfTheOtherKind(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		paid(t, b, "p1 2026-11-29 00:00:04")
		late := entry("p1", "20.00", models.StatusSucceeded)
		late.OccurredAt = time.Date(2026, 11, 28, 23, 59, 59, 0, shanghai).UTC()
		a := reconcile.Account{Name: "shop", Provider: scripts{"success.csv": stated(models.Payment, late), "refund.csv": stated(models.Refund), "next.csv": stated("")}}
		wantRun(t, run(t, b, a, "2026-11-28", scripted(t, "success.csv")...), "1 1")
		wantRun(t, run(t, b, a, "2026-11-28", scripted(t, "refund.csv")...), "0 0")
		wantRun(t, run(t, b, a, "2026-11-29", scripted(t, "next.csv")...), "0 0")
	})
}

// TestCarriedUntilItsKindIsRead: the next day's bill of refunds decides nothing about a payment near midnight, on whichever side, in its
// own run or in another one of the day.
func TestCarriedUntilItsKindIsRead(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		paid(t, b, "p1 2026-11-28 23:59:58")
		early := entry("p2", "20.00", models.StatusSucceeded)
		early.OccurredAt = time.Date(2026, 11, 28, 23, 59, 57, 0, shanghai).UTC()
		a := reconcile.Account{Name: "shop", Provider: scripts{"day.csv": stated("", early), "refund.csv": stated(models.Refund), "success.csv": stated(models.Payment)}}
		carried := []string{"carried: missing_provider payment p1", "carried: missing_local payment p2"}
		wantRun(t, run(t, b, a, "2026-11-28", scripted(t, "day.csv")...), "1 0", slices.Clone(carried)...)
		wantRun(t, run(t, b, a, "2026-11-29", scripted(t, "refund.csv")...), "0 0")
		wantRun(t, run(t, b, a, "2026-11-28", scripted(t, "day.csv")...), "1 0", slices.Clone(carried)...)
		wantStored(t, b, "2026-11-28", "carried missing_provider payment p1", "carried missing_local payment p2")
		wantRun(t, run(t, b, a, "2026-11-29", scripted(t, "success.csv")...), "0 0", "missing_provider payment p1 of 2026-11-28", "missing_local payment p2 of 2026-11-28")
		wantRun(t, run(t, b, a, "2026-11-29", scripted(t, "refund.csv")...), "0 0") // another day's open gaps are told by the run that decides them
		wantStored(t, b, "2026-11-28", "open missing_provider payment p1", "open missing_local payment p2")
	})
}
