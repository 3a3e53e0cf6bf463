package source_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/source"
)

const sunday = "2026-11-29"

var monday = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)

// Every file is kept as it came, under its hash; the same bytes once, a corrected file beside the first, and what was shown last is read.
func TestArchive(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		a, place := archiveOf(t, book), &shelf{name: "here", files: map[string]string{sunday + " bill.csv": "one", sunday + " twin.csv": "one", sunday + " more.csv": "two", "2026-11-28 bill.csv": "old"}}
		look := func(wantFresh int, want ...string) {
			t.Helper()
			if _, fresh, err := a.Fetch(t.Context(), "shop", place, day(t, sunday), monday); err != nil || fresh != wantFresh {
				t.Errorf("%d fresh, %v; want %d", fresh, err, wantFresh)
			}
			files, err := a.Files(t.Context(), "shop", day(t, sunday), []string{"here"})
			if got := contents(t, files); err != nil || !slices.Equal(got, want) {
				t.Errorf("reads %q, %v; want %q", got, err, want)
			}
		}
		look(2, "bill.csv one", "more.csv two")
		look(0, "bill.csv one", "more.csv two")
		place.files[sunday+" bill.csv"] = "one, corrected"
		delete(place.files, sunday+" twin.csv")
		look(1, "bill.csv one, corrected", "more.csv two")
		place.files[sunday+" bill.csv"] = "one"
		look(0, "bill.csv one", "more.csv two") // taken back
		want := []string{"shop/2026-11-29/3fc4ccfe7458-more.csv 600", "shop/2026-11-29/7692c3ad3540-bill.csv 600", "shop/2026-11-29/cafe1fc9ca51-bill.csv 600"}
		if got := tree(t, a.Dir); len(got) != 3 || got[0] != want[0] || got[1] != want[1] || !strings.HasSuffix(got[2], "-bill.csv 600") {
			t.Errorf("on the disk: %q", got)
		}
		if n := stages(t, a.Dir); n != 0 {
			t.Errorf("%d folders left behind", n)
		}
		list, err := book.Archived(t.Context(), "shop", sunday)
		if err != nil || len(list) != 3 || list[0].Bytes == 0 || list[0].Source != "here" || !list[0].FetchedAt.Equal(monday) {
			t.Errorf("%+v, %v", list, err)
		}
	}, ledger.Options{Now: func() time.Time { return monday }})
}

// A file whose mark is known is not downloaded again, unless the disk has lost it.
func TestKnownVersionIsNotDownloaded(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	a, place := archiveOf(t, book), &shelf{name: "here", marks: true, files: map[string]string{sunday + " bill.csv": "one"}}
	fetch := func(opens int) []models.Archive {
		t.Helper()
		look, _, err := a.Fetch(t.Context(), "shop", place, day(t, sunday), monday)
		if err != nil || len(look) != 1 || place.opens != opens {
			t.Fatalf("%v, %d downloads, %v; want %d", look, place.opens, err, opens)
		}
		return look
	}
	fetch(1)
	look := fetch(1)
	if err := os.Remove(a.Path(look[0])); err != nil {
		t.Fatal(err)
	}
	fetch(2)
	place.files[sunday+" bill.csv"] = "longer"
	fetch(3)
}

// Nothing is kept of a look that failed, was too large or too much, or whose place had nothing.
func TestNothingHalf(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	many := map[string]string{}
	for i := range 300 {
		many[sunday+" "+strings.Repeat("x", i+1)] = strings.Repeat("y", i)
	}
	files := map[string]string{sunday + " a.csv": "aaaa", sunday + " b.csv": "bbbb"}
	gone, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		place *shelf
		most  int64
		ctx   context.Context
		says  string
		early bool
	}{
		"cut":       {&shelf{files: files, cut: true}, 0, t.Context(), "connection reset", false},
		"too large": {&shelf{files: files}, 3, t.Context(), "a.csv: larger than 3 bytes", false},
		"too many":  {&shelf{files: many}, 0, t.Context(), "more than 200 files", false},
		"nothing":   {&shelf{}, 0, t.Context(), "no file of 2026-11-29", true},
		"early":     {&shelf{err: &models.NotReady{What: "NO_STATEMENT_EXIST"}}, 0, t.Context(), "NO_STATEMENT_EXIST", true},
		"stopped":   {&shelf{files: files}, 0, gone, "canceled", false},
	} {
		a := archiveOf(t, book)
		a.BytesMax, c.place.name = c.most, "the place"
		_, _, err := a.Fetch(c.ctx, "shop", c.place, day(t, sunday), monday)
		if err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, new(*models.NotReady)) != c.early {
			t.Errorf("%s: %v", name, err)
		}
		if got := tree(t, a.Dir); len(got) != 0 || stages(t, a.Dir) != 0 {
			t.Errorf("%s: left behind %v", name, got)
		}
		if list, err := book.Archived(t.Context(), "shop", sunday); err != nil || len(list) != 0 {
			t.Errorf("%s: listed %v, %v", name, list, err)
		}
	}
}

// What a killed process left behind is swept, what another is still filling is not.
func TestStaleStagesAreSwept(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	a := archiveOf(t, book)
	for _, name := range []string{".incoming-old", ".incoming-new", ".other"} {
		if err := os.MkdirAll(filepath.Join(a.Dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if name != ".incoming-new" {
			if err := os.Chtimes(filepath.Join(a.Dir, name), time.Time{}, time.Now().Add(-3*source.TimeMax)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, _, err := a.Fetch(t.Context(), "shop", &shelf{name: "here", files: map[string]string{sunday + " a": "a"}}, day(t, sunday), monday); err != nil {
		t.Fatal(err)
	}
	if n := stages(t, a.Dir); n != 2 {
		t.Errorf("%d folders; want the new one and the one that is not ours", n)
	}
}

// A file that is in its place already, but not listed, is from a try that was killed in between. A damaged one is put right.
func TestKilledBeforeItWasListed(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	a, place := archiveOf(t, book), &shelf{name: "here", files: map[string]string{sunday + " a.csv": "one"}}
	path := filepath.Join(a.Dir, "shop", sunday, "7692c3ad3540-a.csv")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("on"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, fresh, err := a.Fetch(t.Context(), "shop", place, day(t, sunday), monday); err != nil || fresh != 1 {
		t.Fatal(fresh, err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "one" {
		t.Errorf("%q, %v", raw, err)
	}
}

// Whatever strangers call their files, a name is a name, and lies in its folder.
func TestSafeName(t *testing.T) {
	for from, want := range map[string]string{
		"bill.csv": "bill.csv", "../../etc/passwd": "passwd", `..\..\boot.ini`: "boot.ini", "..": "statement", ".": "statement", "": "statement", "/": "statement",
		".hidden": "hidden", "a\x00b\nc\x1b[31m.csv": "abc_31m.csv", "业务明细(20261129).csv": "业务明细(20261129).csv", "a b'c\"d$e`f|g;h.csv": "a_b_c_d_e_f_g_h.csv",
		"evil\u202egpj.exe": "evilgpj.exe", "x/": "x", "___": "statement", "bad\xff.csv": "bad.csv", "-rf": "-rf", "C:x": "C_x",
	} {
		if got := source.SafeName(from); got != want {
			t.Errorf("%q becomes %q, want %q", from, got, want)
		}
	}
	long := source.SafeName(strings.Repeat("账", 400) + ".csv.gz")
	if len(long) > 120 || !strings.HasSuffix(long, ".gz") || !utf8.ValidString(long) {
		t.Errorf("%d bytes, %q", len(long), long)
	}
}

// Two processes that look at once keep the files once.
func TestTwoLooksAtOnce(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		dir := filepath.Join(t.TempDir(), "archive")
		var looking sync.WaitGroup
		for range 4 {
			a := &source.Archive{Dir: dir, Book: ledgertest.Open(t, dsn)}
			looking.Go(func() {
				if _, _, err := a.Fetch(t.Context(), "shop", &shelf{name: "here", files: map[string]string{sunday + " a.csv": "one", sunday + " b.csv": "two"}}, day(t, sunday), monday); err != nil {
					t.Error(err)
				}
			})
		}
		looking.Wait()
		if list := tree(t, dir); len(list) != 2 {
			t.Errorf("%v", list)
		}
		book := ledgertest.Open(t, dsn)
		files, err := (&source.Archive{Dir: dir, Book: book}).Files(t.Context(), "shop", day(t, sunday), nil)
		if got := contents(t, files); err != nil || !slices.Equal(got, []string{"a.csv one", "b.csv two"}) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// An archived file that somebody changed or took away is no statement.
func TestChangedArchiveIsRefused(t *testing.T) {
	book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
	a, place := archiveOf(t, book), &shelf{name: "here", files: map[string]string{sunday + " a.csv": sunday + ",t1,1.00\n"}}
	look, _, err := a.Fetch(t.Context(), "shop", place, day(t, sunday), monday)
	if err != nil {
		t.Fatal(err)
	}
	p := &source.Places{Account: "shop", Archive: a, Remotes: []source.Remote{place}, Now: func() time.Time { return monday }}
	run := func() error {
		_, err := reconcile.Run(t.Context(), book, reconcile.Account{Name: "shop", Provider: plain{}}, p.Files, day(t, sunday), reconcile.Options{Now: func() time.Time { return monday }})
		return err
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	path := a.Path(look[0])
	if err := os.WriteFile(path, []byte(sunday+",t1,9.00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "not what was archived") || !strings.Contains(err.Error(), "app fetch") {
		t.Errorf("changed: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "app fetch --account shop --date 2026-11-29") {
		t.Errorf("gone: %v", err)
	}
}
