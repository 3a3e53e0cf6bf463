package reconcile_test

import (
	"io"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// countingProvider counts the files that are read.
type countingProvider struct {
	reconcile.Provider
	reads *int
}

func (p countingProvider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	*p.reads++
	return p.Provider.ReadStatement(name, r, zone, each)
}

// asked is an account whose runs may be answered by the one before.
type asked struct {
	reconcile.Account
	reads int
}

func newAsked(t testing.TB) *asked {
	a := &asked{Account: plainAccount(t)}
	a.Provider, a.Settings = countingProvider{a.Provider, &a.reads}, "as they are"
	return a
}

// run returns the report, and whether the statement was read for it.
func (a *asked) run(t testing.TB, b *ledger.Ledger, date string, force bool, files ...string) (r *reconcile.Report, read bool) {
	t.Helper()
	before := a.reads
	r, err := reconcile.Run(t.Context(), b, a.Account, reconcile.Files(files...), day(t, date), reconcile.Options{Now: noon, Force: force})
	if err != nil {
		t.Fatal(err)
	}
	return r, a.reads > before
}

// TestTheSameDayAgain: with the same file and an unchanged book the answer is given again, to the byte as a run in full would give it, and
// nothing is written. Whatever is changed then changes the answer as it changes that of a run in full.
func TestTheSameDayAgain(t *testing.T) {
	const date, at = "2024-11-28", " 2024-11-28 10:00:00 "
	rows := []string{"p1" + at, "p2" + at + "21.00", "p3" + at, "p5" + at, "p5" + at, "r1,O-p1,refund,5.00,CNY,succeeded,2024-11-28 11:00:00,p1,R1",
		"p6 2024-11-28 23:59:58"}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, b *ledger.Ledger, a *asked, first *reconcile.Report) (file []string)
		read   bool // the statement is read for the answer
		far    bool // and every time, for the book is not watched so far from the day
	}{
		{"nothing", nil, false, false},
		{"a callback comes late", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			paid(t, b, "p3"+at)
			return nil
		}, true, false},
		{"a callback comes late, of another day by the provider's clock", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			paid(t, b, "p3 2024-12-03 10:00:00")
			return nil
		}, true, true},
		{"a callback comes just now", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			paid(t, b, "p3 "+time.Now().In(shanghai).Format("2006-01-02 15:04:05"))
			return nil
		}, true, true},
		{"a callback of another day", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			paid(t, b, "p9 2024-11-20 10:00:00")
			return nil
		}, false, false},
		{"a callback of another account", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			book(t, b, "other", movement{Kind: models.Payment, TransactionID: "p3", OrderID: "O-p3", Amount: "20.00", Currency: "CNY", Status: "succeeded", OccurredAt: "2024-11-28T10:00:00+08:00"})
			return nil
		}, false, false},
		{"two callbacks contradict each other", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			book(t, b, "shop", movement{Kind: models.Payment, TransactionID: "p8", OrderID: "O-p8", Amount: "25.00", Currency: "CNY", Status: "succeeded", OccurredAt: "2024-11-28T10:00:00+08:00"})
			return nil
		}, true, false},
		{"the order of a gap comes", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			ledgertest.Order(t, b, "O-p3", "20.00", "CNY")
			return nil
		}, true, false},
		{"the order of a gap is shipped", func(t *testing.T, b *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			if _, err := b.Act(t.Context(), ledger.Act{OrderID: "O-p2", On: models.OrderShip}); err != nil {
				t.Fatal(err)
			}
			return nil
		}, true, false},
		{"another file", func(t *testing.T, _ *ledger.Ledger, _ *asked, _ *reconcile.Report) []string {
			return []string{statement(t, rows[:3]...)}
		}, true, false},
		{"other settings", func(_ *testing.T, _ *ledger.Ledger, a *asked, _ *reconcile.Report) []string {
			a.Settings = "others"
			return nil
		}, true, false},
		{"another edge", func(_ *testing.T, _ *ledger.Ledger, a *asked, _ *reconcile.Report) []string { a.Edge = -1; return nil }, true, false},
		{"the next day is run", func(t *testing.T, b *ledger.Ledger, a *asked, _ *reconcile.Report) []string {
			a.run(t, b, "2024-11-29", false, statement(t, "p7 2024-11-29 10:00:00"))
			return nil
		}, true, false},
		{"a person resolves a gap", func(t *testing.T, b *ledger.Ledger, _ *asked, first *reconcile.Report) []string {
			decide(t, b, first.Gaps[0].ID, true)
			return nil
		}, true, false},
		{"a person resolves a gap and opens it again", func(t *testing.T, b *ledger.Ledger, _ *asked, first *reconcile.Report) []string {
			decide(t, b, first.Gaps[0].ID, true)
			decide(t, b, first.Gaps[0].ID, false)
			return nil
		}, false, false},
		{"a person resolves what is carried and opens it", func(t *testing.T, b *ledger.Ledger, _ *asked, first *reconcile.Report) []string {
			decide(t, b, first.Carried[0].ID, true)
			decide(t, b, first.Carried[0].ID, false)
			return nil
		}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			each := ledgertest.Each // on PostgreSQL too, where a database of its own is worth its time
			if c.name != "nothing" && c.name != "the order of a gap comes" && c.name != "a person resolves a gap" {
				each = func(t *testing.T, f func(*testing.T, *ledger.Ledger), _ ...ledger.Options) { f(t, sqlite(t)) }
			}
			each(t, func(t *testing.T, b *ledger.Ledger) {
				paid(t, b, "p1"+at, "p2"+at, "p4"+at, "p5"+at, "p8"+at)
				book(t, b, "shop", movement{Kind: models.Refund, TransactionID: "r1", ParentID: "p1", OrderID: "O-p1", RefundOrderID: "R1", Amount: "5.00", Currency: "CNY",
					Status: "succeeded", OccurredAt: "2024-11-28T11:00:00+08:00"})
				a, files := newAsked(t), []string{statement(t, rows...)}
				first, read := a.run(t, b, date, false, files...)
				if !read || len(first.Gaps) != 5 || len(first.Carried) != 1 {
					t.Fatalf("the first run: read %v, gaps %q, carried %q", read, gapLines(first.Gaps), gapLines(first.Carried))
				}
				again, read := a.run(t, b, date, false, files...)
				if read || neutral(t, again) != neutral(t, first) || again.RunID != first.RunID || again.Gaps[0].New {
					t.Fatalf("again: read %v, run %s after %s:\n%s", read, again.RunID, first.RunID, neutral(t, again))
				}
				if c.change != nil {
					if changed := c.change(t, b, a, first); changed != nil {
						files = changed
					}
				}
				answer, read := a.run(t, b, date, false, files...)
				if read != c.read {
					t.Errorf("the statement was read: %v, want %v", read, c.read)
				}
				forced, read := a.run(t, b, date, true, files...)
				if !read || neutral(t, forced) != neutral(t, answer) || forced.RunID != answer.RunID {
					t.Errorf("in full: read %v\n%s\nanswered:\n%s", read, neutral(t, forced), neutral(t, answer))
				}
				wantAgain(t, b, a, date, answer, c.far, files)
			})
		})
	}
}

// wantAgain checks what comes out one more time: the same, with nothing written.
func wantAgain(t *testing.T, b *ledger.Ledger, a *asked, date string, want *reconcile.Report, reads bool, files []string) {
	t.Helper()
	runs, _, err := b.Runs(t.Context(), ledger.RunFilter{Date: date})
	if err != nil {
		t.Fatal(err)
	}
	got, read := a.run(t, b, date, false, files...)
	if read != reads || neutral(t, got) != neutral(t, want) {
		t.Errorf("one more time: read %v\n%s\nwant:\n%s", read, neutral(t, got), neutral(t, want))
	}
	after, _, err := b.Runs(t.Context(), ledger.RunFilter{Date: date})
	if err != nil || len(after) != len(runs) {
		t.Errorf("%d runs, then %d, %v", len(runs), len(after), err)
	}
}

// TestADayThatIsNotOver is not answered by what it was before: what changes on it is not noted.
func TestADayThatIsNotOver(t *testing.T) {
	b, a := sqlite(t), newAsked(t)
	now := time.Now().In(shanghai)
	date, at := now.Format("2006-01-02"), now.Format("2006-01-02 15:04:05")
	file := statement(t, "p1 "+at, "p2 "+at)
	paid(t, b, "p1 "+at)
	a.run(t, b, date, false, file)
	paid(t, b, "p2 "+at)
	if r, read := a.run(t, b, date, false, file); !read || len(r.Gaps) != 0 {
		t.Errorf("read %v, gaps %q", read, gapLines(r.Gaps))
	}
}

// TestAnAccountOfUnknownSettings is always run in full.
func TestAnAccountOfUnknownSettings(t *testing.T) {
	b, a := sqlite(t), newAsked(t)
	a.Settings = ""
	file := statement(t, "p1 2024-11-28 10:00:00")
	for range 2 {
		if _, read := a.run(t, b, "2024-11-28", false, file); !read {
			t.Error("the statement was not read")
		}
	}
}

func decide(t testing.TB, b *ledger.Ledger, id string, resolved bool) {
	t.Helper()
	err := error(nil)
	if resolved {
		_, err = b.ResolveGap(t.Context(), id, "asked the provider")
	} else {
		_, err = b.ReopenGap(t.Context(), id, "asked again")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestReportReadBack: a report of very many gaps is made of what was saved, and is the same as one that is not.
func TestReportReadBack(t *testing.T) {
	const at = " 2024-11-28 10:00:00 "
	b, a := sqlite(t), newAsked(t)
	a.Settings = ""
	paid(t, b, "p1"+at, "p2"+at, "p4"+at, "q1 2024-11-28 23:59:58")
	file := statement(t, "p1"+at, "p2"+at+"21.00", "p3"+at)
	// of the day before: carried, and to be decided by this day's run
	a.run(t, b, "2024-11-27", false, statement(t, "p0 2024-11-27 23:59:58"))
	few, _ := a.run(t, b, "2024-11-28", false, file)
	few.RunID = ""
	was := reconcile.SetManyLines(1)
	defer reconcile.SetManyLines(was)
	many, _ := a.run(t, b, "2024-11-28", false, file)
	if neutral(t, many) != neutral(t, few) || len(many.Gaps) != 4 {
		t.Errorf("read back:\n%s\nwant:\n%s", neutral(t, many), neutral(t, few))
	}
	decide(t, b, many.Gaps[1].ID, true)
	resolved, _ := a.run(t, b, "2024-11-28", false, file)
	if len(resolved.Gaps) != 3 || len(resolved.Accepted) != 1 || resolved.Accepted[0].Resolution == "" {
		t.Errorf("once one is resolved: gaps %q, accepted %q", gapLines(resolved.Gaps), gapLines(resolved.Accepted))
	}
}
