package source_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/source"
)

// desk is an account that is run by itself.
type desk struct {
	t     *testing.T
	book  *ledger.Ledger
	clock *clock
	place *shelf
	dir   string
	mu    sync.Mutex
	said  []string
	log   strings.Builder
}

func newDesk(t *testing.T, book *ledger.Ledger, c *clock) *desk {
	t.Helper()
	return &desk{t: t, book: book, clock: c, dir: t.TempDir(), place: &shelf{name: "there", marks: true, files: map[string]string{}}}
}

func (d *desk) scheduler() *source.Scheduler {
	places := func() *source.Places {
		return &source.Places{Account: "shop", Archive: &source.Archive{Dir: d.dir, Book: d.book}, Remotes: []source.Remote{d.place}, Now: d.clock.now}
	}
	job := source.Job{Account: reconcile.Account{Name: "shop", Provider: plain{}, Zone: shanghai(d.t)}, Places: places, Schedule: source.Schedule{
		At: 10 * time.Hour, Late: 12 * time.Hour, Retry: 10 * time.Minute, Again: time.Hour, Days: 7}}
	return &source.Scheduler{Book: d.book, Jobs: []source.Job{job}, Now: d.clock.now, Log: slog.New(slog.NewTextHandler(&d.log, nil)), Alarm: d.alarm}
}

// alarm keeps what is news, as alerts do.
func (d *desk) alarm(ctx context.Context, tr source.Trouble) error {
	kind := "failed"
	if tr.Late {
		kind = "late"
	}
	news, err := d.book.Alarm(ctx, kind+"/"+tr.Account+"/"+tr.Date, !tr.Over, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	if news {
		d.said = append(d.said, fmt.Sprintf("%s %s over=%v", kind, tr.Date, tr.Over))
	}
	return err
}

func (d *desk) tick(now string) {
	d.t.Helper()
	d.clock.set(now)
	if err := d.scheduler().Tick(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// runs are the days that have one, with how many.
func (d *desk) runs() string {
	d.t.Helper()
	list, _, err := d.book.Runs(d.t.Context(), ledger.RunFilter{})
	if err != nil {
		d.t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range list {
		count[r.Date]++
	}
	var days []string
	for date, n := range count {
		days = append(days, fmt.Sprintf("%s×%d", date, n))
	}
	slices.Sort(days)
	return strings.Join(days, " ")
}

func eachDesk(t *testing.T, f func(*desk)) {
	c := at("2026-11-30T01:59:00Z")
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		c.set("2026-11-30T01:59:00Z")
		f(newDesk(t, book, c))
	}, ledger.Options{Now: c.now})
}

// oneDesk is for what does not depend on the database.
func oneDesk(t *testing.T, f func(*desk)) {
	c := at("2026-11-30T01:59:00Z")
	f(newDesk(t, ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"), ledger.Options{Now: c.now}), c))
}

// A run is made once the day has ended and its hour has come, tried again while the statement is not there, and then made once. The alarm
// comes at its hour, once, and is over with the run.
func TestScheduledRun(t *testing.T) {
	eachDesk(t, func(d *desk) {
		d.tick("2026-11-30T01:59:00Z") // 09:59 in Shanghai: the day before that is the newest due
		d.place.looks = 0
		for _, step := range []struct {
			at    string
			looks int
			said  []string
		}{
			{"2026-11-30T02:00:00Z", 1, nil}, {"2026-11-30T02:01:00Z", 1, nil}, {"2026-11-30T02:09:00Z", 1, nil}, {"2026-11-30T02:10:00Z", 2, nil},
			{"2026-11-30T03:59:00Z", 3, nil}, {"2026-11-30T04:00:00Z", 3, []string{"late 2026-11-29 over=false"}}, {"2026-11-30T04:09:00Z", 4, []string{"late 2026-11-29 over=false"}},
		} {
			d.tick(step.at)
			late := slices.DeleteFunc(slices.Clone(d.said), func(s string) bool { return strings.Contains(s, "11-28") })
			if d.place.looks != step.looks || !slices.Equal(late, step.said) || strings.Contains(d.runs(), sunday) {
				d.t.Errorf("%s: %d looks, said %q, runs %q; want %+v", step.at, d.place.looks, late, d.runs(), step)
			}
		}
		d.place.files[sunday+" bill.csv"] = sunday + ",t1,1.00\n"
		d.tick("2026-11-30T04:19:00Z")
		d.tick("2026-11-30T04:29:00Z")
		if d.runs() != "2026-11-29×1" || d.said[len(d.said)-1] != "late 2026-11-29 over=true" {
			d.t.Errorf("runs %q, said %q", d.runs(), d.said)
		}
		gaps, _, err := d.book.Gaps(d.t.Context(), ledger.GapFilter{})
		if err != nil || len(gaps) != 1 || gaps[0].Kind != models.GapMissingLocal || gaps[0].Statement.File != "bill.csv" {
			d.t.Errorf("%v, %v", gaps, err)
		}
		if n := strings.Count(d.log.String(), "run waits for its statement"); n != 2 { // one for each of the two days
			d.t.Errorf("said %d times that it waits: %s", n, d.log.String())
		}
	})
}

// Days that were missed while nobody was there are made up for, oldest first, and not from before the book knew the account.
func TestMissedDaysAreMadeUpFor(t *testing.T) {
	oneDesk(t, func(d *desk) {
		for i := range 20 {
			date := day(d.t, "2026-11-15").Add(i).String()
			d.place.files[date+" bill.csv"] = date + ",t" + date + ",1.00\n"
		}
		d.tick("2026-11-21T02:00:00Z")
		if d.runs() != "2026-11-20×1" {
			d.t.Fatalf("a new account: runs %q", d.runs())
		}
		d.tick("2026-11-24T05:00:00Z")
		if want := "2026-11-20×1 2026-11-21×1 2026-11-22×1 2026-11-23×1"; d.runs() != want {
			d.t.Errorf("runs %q, want %q", d.runs(), want)
		}
		d.tick("2026-12-03T05:00:00Z") // nine days later: seven back
		if want := "2026-11-20×1 2026-11-21×1 2026-11-22×1 2026-11-23×1 2026-11-26×1 2026-11-27×1 2026-11-28×1 2026-11-29×1 2026-11-30×1 2026-12-01×1 2026-12-02×1"; d.runs() != want {
			d.t.Errorf("runs %q, want %q", d.runs(), want)
		}
		list, _, err := d.book.Runs(d.t.Context(), ledger.RunFilter{})
		if err != nil || !slices.IsSortedFunc(list, func(a, b models.Run) int { return strings.Compare(b.ID, a.ID) }) || list[0].Date != "2026-12-02" {
			d.t.Errorf("not made oldest first: %v, %v", list, err)
		}
	})
}

// A file that cannot be used is an alarm at once, is tried again, and keeps no other day from its run.
func TestBrokenStatement(t *testing.T) {
	oneDesk(t, func(d *desk) {
		d.place.files["2026-11-28 bill.csv"] = "2026-11-28,t0,1.00\n"
		d.tick("2026-11-29T02:00:00Z")
		d.place.files["2026-11-29 bill.csv"], d.place.files["2026-11-30 bill.csv"] = "<html>\n", "2026-11-30,t2,1.00\n"
		for _, now := range []string{"2026-12-01T02:00:00Z", "2026-12-01T02:30:00Z", "2026-12-01T03:00:00Z"} {
			d.tick(now)
		}
		if d.runs() != "2026-11-28×1 2026-11-30×1" || !slices.Equal(d.said, []string{"failed 2026-11-29 over=false", "late 2026-11-29 over=false"}) {
			d.t.Errorf("runs %q, said %q", d.runs(), d.said)
		}
		d.place.files["2026-11-29 bill.csv"] = "2026-11-29,t1,1.00\n"
		d.tick("2026-12-01T03:30:00Z")
		if d.runs() != "2026-11-28×1 2026-11-29×1 2026-11-30×1" || !slices.Equal(d.said[2:], []string{"failed 2026-11-29 over=true", "late 2026-11-29 over=true"}) {
			d.t.Errorf("runs %q, said %q", d.runs(), d.said)
		}
		if n := strings.Count(d.log.String(), "run not made"); n != 1 {
			d.t.Errorf("said %d times: %s", n, d.log.String())
		}
	})
}

// A statement that is corrected after the run is noticed, and heals by itself; one that stays as it is is not even downloaded.
func TestCorrectedStatementHeals(t *testing.T) {
	oneDesk(t, func(d *desk) {
		d.place.files[sunday+" bill.csv"] = sunday + ",t1,1.00\n" + sunday + ",t2,2.00\n"
		for _, now := range []string{"2026-11-30T02:00:00Z", "2026-11-30T02:59:00Z", "2026-11-30T03:00:00Z", "2026-11-30T04:00:00Z"} {
			d.tick(now)
		}
		if d.runs() != "2026-11-29×1" || d.place.opens != 1 || d.place.looks != 3 {
			d.t.Errorf("runs %q, %d downloads, %d looks", d.runs(), d.place.opens, d.place.looks)
		}
		d.place.files[sunday+" bill.csv"] = sunday + ",t1,1.00\n"
		d.tick("2026-11-30T05:00:00Z")
		open, _, err := d.book.Gaps(d.t.Context(), ledger.GapFilter{State: models.GapOpen})
		if err != nil || d.runs() != "2026-11-29×2" || len(open) != 1 || open[0].TransactionID != "t1" {
			d.t.Errorf("runs %q, open %v, %v", d.runs(), open, err)
		}
		if list := tree(d.t, d.dir); len(list) != 2 {
			d.t.Errorf("the archive has %v; want both", list)
		}
	})
}

// Two replicas, a run by hand and a schedule at once: one run, and nobody fails.
func TestReplicasMakeOneRun(t *testing.T) {
	c := at("2026-11-30T02:00:00Z")
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		dir := t.TempDir()
		var ticking sync.WaitGroup
		for range 3 {
			d := newDesk(t, ledgertest.Open(t, dsn, ledger.Options{Now: c.now}), c)
			d.dir = dir
			d.place.files[sunday+" bill.csv"] = sunday + ",t1,1.00\n"
			s := d.scheduler()
			ticking.Go(func() {
				if err := s.Tick(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		ticking.Wait()
		if got := newDesk(t, ledgertest.Open(t, dsn), c).runs(); got != "2026-11-29×1" {
			t.Errorf("runs %q", got)
		}
	})
}

// What a run finds where: the folder first, then the archive, and the remote only when neither has anything.
func TestPlaces(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	dir := t.TempDir()
	remote := &shelf{name: "there", files: map[string]string{}}
	places := func(keep bool) *source.Places {
		return &source.Places{Account: "shop", Archive: &source.Archive{Dir: filepath.Join(dir, "archive"), Book: book}, Keep: keep, Remotes: []source.Remote{remote},
			Folder: reconcile.Folder([]string{filepath.Join(dir, "{date}*.csv")}), Now: func() time.Time { return monday }}
	}
	var none *reconcile.NoFileError
	p := places(false)
	if _, err := p.Files(t.Context(), day(t, sunday)); !errors.As(err, &none) || !strings.Contains(err.Error(), "there: not there yet") || !strings.Contains(err.Error(), sunday+"*.csv") || !p.Missing {
		t.Errorf("nowhere: %v", err)
	}
	remote.err = errors.New("login refused")
	p = places(false)
	if _, err := p.Files(t.Context(), day(t, sunday)); errors.As(err, &none) || err == nil || p.Missing {
		t.Errorf("a place that fails: %v", err)
	}
	remote.err, remote.looks = nil, 0
	if err := os.WriteFile(filepath.Join(dir, sunday+"-a.csv"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []bool{false, true} {
		files, err := places(keep).Files(t.Context(), day(t, sunday))
		if err != nil || len(files) != 1 || remote.looks != 0 {
			t.Fatalf("keep %v: %v, %v, %d looks", keep, files, err, remote.looks)
		}
	}
	if got := tree(t, filepath.Join(dir, "archive")); len(got) != 1 || !strings.HasSuffix(got[0], "-2026-11-29-a.csv 600") {
		t.Errorf("kept %v", got)
	}
	if err := os.Remove(filepath.Join(dir, sunday+"-a.csv")); err != nil {
		t.Fatal(err)
	}
	files, err := places(true).Files(t.Context(), day(t, sunday))
	if got := contents(t, files); err != nil || !slices.Equal(got, []string{sunday + "-a.csv a"}) || remote.looks != 0 {
		t.Errorf("from the archive %q, %v, %d looks", got, err, remote.looks)
	}
}

// A run that writes nothing fetches all the same, and leaves nothing in the archive or the book.
func TestDryRunKeepsNothing(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	remote := &shelf{name: "there", files: map[string]string{sunday + " bill.csv": sunday + ",t1,1.00\n"}}
	a := archiveOf(t, book)
	p := &source.Places{Account: "shop", Archive: a, Remotes: []source.Remote{remote}, Scratch: t.TempDir(), Now: func() time.Time { return monday }}
	report, err := reconcile.Run(t.Context(), book, reconcile.Account{Name: "shop", Provider: plain{}}, p.Files, day(t, sunday), reconcile.Options{DryRun: true, Now: p.Now})
	if err != nil || len(report.Gaps) != 1 || report.Statement.Files[0].Name != "bill.csv" {
		t.Fatalf("%+v, %v", report, err)
	}
	list, err := book.Archived(t.Context(), "shop", sunday)
	if got := tree(t, a.Dir); err != nil || len(got) != 0 || len(list) != 0 {
		t.Errorf("kept %v, listed %v, %v", got, list, err)
	}
}

// Of several places all are needed, and one that fails later is read from the archive.
func TestSeveralPlaces(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	a := archiveOf(t, book)
	one, two := &shelf{name: "one", files: map[string]string{sunday + " a.csv": "a"}}, &shelf{name: "two", files: map[string]string{}}
	var notes []string
	look := func() ([]reconcile.File, error) {
		p := &source.Places{Account: "shop", Archive: a, Remotes: []source.Remote{one, two}, Again: true, Now: func() time.Time { return monday }, Note: func(err error) { notes = append(notes, err.Error()) }}
		return p.Files(t.Context(), day(t, sunday))
	}
	if _, err := look(); !errors.As(err, new(*reconcile.NoFileError)) || !strings.Contains(err.Error(), "two: ") {
		t.Errorf("one of two: %v", err)
	}
	two.files[sunday+" b.csv"] = "b"
	if files, err := look(); err != nil || len(files) != 2 {
		t.Errorf("both: %v, %v", files, err)
	}
	two.err = errors.New("away")
	files, err := look()
	if got := contents(t, files); err != nil || !slices.Equal(got, []string{"a.csv a", "b.csv b"}) || len(notes) != 1 || !strings.Contains(notes[0], "two: away") {
		t.Errorf("%q, %v, noted %q", got, err, notes)
	}
}
