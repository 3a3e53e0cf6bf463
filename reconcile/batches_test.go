package reconcile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// batchAccount settles in batches: 42 has a payment of the 26th and one nobody knows, 43 the payment that 42 should have had.
func batchAccount() reconcile.Account {
	batch := func(entries ...models.Entry) script {
		for i := range entries {
			entries[i].OccurredAt = entries[i].OccurredAt.AddDate(0, 0, -2)
		}
		return script{models.Statement{Compared: true, Title: "batch", Batch: true}, entries}
	}
	return reconcile.Account{Name: "shop", Provider: scripts{
		"batch_42.csv": batch(entry("p1", "20.00", models.StatusSucceeded), entry("p9", "20.00", models.StatusSucceeded)),
		"batch_43.csv": batch(entry("p2", "20.00", models.StatusSucceeded)),
		"batch_44.csv": batch(),
		"fees.csv":     {models.Statement{Title: "invoice"}, nil},
	}}
}

func runFolder(t *testing.T, b *ledger.Ledger, a reconcile.Account, date, pattern string) *reconcile.Report {
	t.Helper()
	r, err := reconcile.Run(t.Context(), b, a, reconcile.Folder([]string{pattern}), day(t, date), reconcile.Options{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBatchBelongsToOneRun: the file that lies there every day is read by the run that found it first, and its gaps are told once.
func TestBatchBelongsToOneRun(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a, dir := batchAccount(), t.TempDir()
		a.Lag = 1
		put := func(names ...string) {
			for _, name := range names {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		paid(t, b, "p1 2026-11-26 10:00:00", "p2 2026-11-26 10:00:00")
		put("batch_42.csv")
		first := runFolder(t, b, a, "2026-11-26", dir+"/batch_*")
		wantRun(t, first, "2 1", "missing_local payment p9", "carried: missing_provider payment p2")
		for range 2 { // the same date reads it again
			again := runFolder(t, b, a, "2026-11-26", dir+"/batch_*")
			if again.RunID != first.RunID || neutral(t, again) != neutral(t, first) {
				t.Errorf("the same run again is\n%s", neutral(t, again))
			}
		}
		for range 2 {
			next := runFolder(t, b, a, "2026-11-27", dir+"/*")
			wantRun(t, next, "0 0", "missing_provider payment p2 of 2026-11-26") // lag: 1
			if !slices.Equal(next.Notes, []string{"batch_42.csv: a batch read by the run of 2026-11-26, left out"}) ||
				!slices.Equal(next.Statement.LeftOut, []reconcile.LeftOut{{Name: "batch_42.csv", Date: "2026-11-26"}}) || len(next.Statement.Files) != 0 {
				t.Errorf("notes %q, statement %+v", next.Notes, next.Statement)
			}
			if next.Statement.ControlTotals != "none" {
				t.Errorf("control totals %s of no file", next.Statement.ControlTotals)
			}
		}
		put("batch_43.csv", "fees.csv")
		for range 2 {
			third := runFolder(t, b, a, "2026-11-28", dir+"/*")
			wantRun(t, third, "1 1", "healed: missing_provider payment p2 of 2026-11-26")
			if len(third.Statement.Files) != 2 || len(third.Statement.LeftOut) != 1 {
				t.Errorf("statement %+v", third.Statement)
			}
		}
		fourth := runFolder(t, b, a, "2026-11-29", dir+"/*") // a file that is not compared beside batches that are not new
		wantRun(t, fourth, "0 0")
		if len(fourth.Statement.LeftOut) != 2 {
			t.Errorf("left out %+v", fourth.Statement.LeftOut)
		}
		wantStored(t, b, "2026-11-26", "open missing_local payment p9", "resolved missing_provider payment p2")
		for _, d := range []string{"2026-11-27", "2026-11-28", "2026-11-29"} {
			wantStored(t, b, d)
		}
		wantRun(t, runFolder(t, b, a, "2026-11-26", dir+"/*"), "2 1", "missing_local payment p9", "healed: missing_provider payment p2")
	})
}

// TestBatchGivenByName: whoever names a batch of another run is told whose it is, unless something else is to be read.
func TestBatchGivenByName(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := batchAccount()
		paid(t, b, "p1 2026-11-26 10:00:00", "p2 2026-11-26 10:00:00")
		files := scripted(t, "batch_42.csv", "batch_43.csv", "fees.csv")
		wantRun(t, run(t, b, a, "2026-11-27", files[0]), "2 1", "missing_local payment p9")
		for _, given := range [][]string{files[:1], {file(t, "batch_42.csv", packed(t, []byte("batch_42.csv")))}, {files[0], files[2]}} {
			_, err := tryRun(t.Context(), b, a, day(t, "2026-11-28"), given...)
			if err == nil || !strings.Contains(err.Error(), "batch_42.csv") || !strings.Contains(err.Error(), "belongs to the run of 2026-11-27") {
				t.Errorf("%q given for another day: %v", given, err)
			}
		}
		if _, err := b.LastRun(t.Context(), "shop", "2026-11-28"); err == nil {
			t.Error("a run was saved of nothing")
		}
		r := run(t, b, a, "2026-11-28", files[0], files[1])
		wantRun(t, r, "1 1")
		if len(r.Notes) != 1 || len(r.Statement.Files) != 1 {
			t.Errorf("notes %q, files %v", r.Notes, r.Statement.Files)
		}
		other := a
		other.Name = "other" // a batch of one account is none of another's
		r, err := tryRun(t.Context(), b, other, day(t, "2026-11-28"), files[0])
		if err != nil || len(r.Statement.LeftOut) != 0 {
			t.Errorf("another account: %+v, %v", r, err)
		}
	})
}

// TestBatchWithoutRows: one empty report is like any other, whosoever read one first; so is a dry run's.
func TestBatchWithoutRows(t *testing.T) {
	b, a := sqlite(t), batchAccount()
	empty, full := scripted(t, "batch_44.csv")[0], scripted(t, "batch_42.csv")[0]
	for _, d := range []string{"2026-11-26", "2026-11-27"} {
		if r := run(t, b, a, d, empty); len(r.Statement.LeftOut) != 0 || len(r.Statement.Files) != 1 {
			t.Errorf("%s: %+v", d, r.Statement)
		}
		dry, err := reconcile.Run(t.Context(), b, a, reconcile.Files(full), day(t, d), reconcile.Options{DryRun: true, Now: noon})
		if err != nil || len(dry.Statement.LeftOut) != 0 || dry.Compared != 2 {
			t.Errorf("%s, dry: %+v, %v", d, dry, err)
		}
	}
}

// TestAdyenBatchEveryDay: the kit's batch, found by its pattern on two days.
func TestAdyenBatchEveryDay(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		p := openKit(t, "adyen")
		playKit(t, b, p, "adyen")
		a := reconcile.Account{Name: "adyen", Provider: p}
		pattern := filepath.Join(testdata, "adyen", "statements", "settlement_detail_report_batch_*.csv")
		checkKit(t, runFolder(t, b, a, "2026-11-27", pattern), "adyen")
		next := runFolder(t, b, a, "2026-11-28", pattern)
		ownDay := []string{"missing_provider chargeback_reversal TESTPSP00003301A"} // booked that day, and in no batch yet
		if next.Compared != 0 || !slices.Equal(gapLines(next.Gaps), ownDay) || !slices.Contains(next.Notes, "settlement_detail_report_batch_42.csv: a batch read by the run of 2026-11-27, left out") {
			t.Errorf("the next day compared %d, gaps %q, notes %q", next.Compared, gapLines(next.Gaps), next.Notes)
		}
	})
}
