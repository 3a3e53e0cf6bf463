package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

func ptr(s string) *string { return &s }

// change makes changes that must be possible.
func change(t *testing.T, b *ledger.Ledger, by string, changes ...ledger.GapChange) []ledger.ChangedGap {
	t.Helper()
	done, err := b.ChangeGaps(t.Context(), by, false, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// history is a gap's log in short: "actor action".
func history(t *testing.T, b *ledger.Ledger, id string) (list []string) {
	t.Helper()
	rows, err := b.GapHistory(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		list = append(list, r.Actor+" "+strings.TrimPrefix(r.Action, "gap."))
	}
	return list
}

func wantHistory(t *testing.T, b *ledger.Ledger, id string, want ...string) {
	t.Helper()
	if got := history(t, b, id); !slices.Equal(got, want) {
		t.Errorf("history of %s:\n %s\nwant\n %s", id, strings.Join(got, "\n "), strings.Join(want, "\n "))
	}
}

// TestWholeLifeOfAGap: each change is in its log, and what is not one is not.
func TestWholeLifeOfAGap(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		one := gapOf("a1", leaseDay, "1.00")
		find := func(gaps ...models.Gap) { saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: gaps}) }
		find(one)
		find(one)
		change(t, b, "li", ledger.GapChange{ID: "a1", Action: ledger.AssignGap, Owner: ptr("wang"), DueOn: ptr("2026-12-02")})
		change(t, b, "li", ledger.GapChange{ID: "a1", Action: ledger.AssignGap, Owner: ptr("wang")})
		change(t, b, "wang", ledger.GapChange{ID: "a1", Action: ledger.AssignGap, DueOn: ptr("2026-12-03")})
		change(t, b, "wang", ledger.GapChange{ID: "a1", Action: ledger.CommentGap, Text: "asked the provider"})
		find(one)
		change(t, b, "wang", ledger.GapChange{ID: "a1", Action: ledger.ResolveGap, Text: "they will pay it"})
		find(one)
		if g := read(t, b, "a1"); g.State != models.GapResolved || g.Owner != "wang" || g.DueOn != "2026-12-03" {
			t.Errorf("found again unchanged it is %+v", g)
		}
		one.Statement = &models.Side{Amount: "2.00", Currency: "CNY", Status: "succeeded"}
		find(one)
		if g := read(t, b, "a1"); g.State != models.GapOpen || g.Owner != "wang" || g.DueOn != "2026-12-03" || g.Resolution != "" {
			t.Errorf("with other evidence it is %+v", g)
		}
		find()
		change(t, b, "li", ledger.GapChange{ID: "a1", Action: ledger.ReopenGap, Text: "the file was the wrong one"})
		find(one)
		one.State, one.WaitsFor = models.GapCarried, []string{"2026-11-30"}
		find(one)
		change(t, b, "li", ledger.GapChange{ID: "a1", Action: ledger.AssignGap, Owner: ptr("")})
		if g := read(t, b, "a1"); g.Owner != "" || g.DueOn != "" {
			t.Errorf("taken away it is %+v", g)
		}
		wantHistory(t, b, "a1", "run opened", "li assigned", "wang due", "wang commented", "wang resolved", "run reopened", "run healed", "li reopened",
			"run carried", "li assigned")
		rows, err := b.GapHistory(t.Context(), "a1")
		if err != nil {
			t.Fatal(err)
		}
		if d := rows[5].Detail; !strings.Contains(d, `"was":{"state":"resolved","owner":"wang"`) || !strings.Contains(d, `"amount":"1.00"`) ||
			!strings.Contains(d, `"amount":"2.00"`) {
			t.Errorf("what changed is not told: %s", d)
		}
		verified(t, b, nil)
	})
}

// TestGapsThatCannotBeChanged: all faults are told, and nothing is done.
func TestGapsThatCannotBeChanged(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{gapOf("a1", leaseDay, "1.00"), gapOf("a2", leaseDay, "2.00"), gapOf("a3ff", leaseDay, "3.00")}})
		change(t, b, "li", ledger.GapChange{ID: "a2", Action: ledger.ResolveGap, Text: "by hand"})
		before := verified(t, b, nil)
		good := ledger.GapChange{ID: "a3", Action: ledger.ResolveGap, Text: "by hand"}
		for _, c := range []struct {
			change ledger.GapChange
			field  string
			is     error
		}{
			{ledger.GapChange{ID: "ffff", Action: ledger.ResolveGap, Text: "x"}, "id", ledger.ErrNotFound},
			{ledger.GapChange{ID: "a", Action: ledger.ResolveGap, Text: "x"}, "id", nil},
			{ledger.GapChange{ID: "x'; --\x00", Action: ledger.ResolveGap, Text: "x"}, "id", ledger.ErrNotFound},
			{ledger.GapChange{ID: "a3ff", Action: ledger.ResolveGap, Text: "x"}, "id", nil}, // twice
			{ledger.GapChange{ID: "a2", Action: ledger.ResolveGap, Text: "x"}, "action", ledger.ErrState},
			{ledger.GapChange{ID: "a1", Action: ledger.ReopenGap, Text: "x"}, "action", ledger.ErrState},
			{ledger.GapChange{ID: "a1", Action: "delete", Text: "x"}, "action", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.ResolveGap, Text: " \n"}, "text", nil},
			{ledger.GapChange{ID: "a2", Action: ledger.ReopenGap}, "text", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.CommentGap}, "text", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.CommentGap, Text: strings.Repeat("x", 4001)}, "text", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.CommentGap, Text: "a\x00b"}, "text", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.CommentGap, Text: "a\xffb"}, "text", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.AssignGap}, "owner", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.AssignGap, Owner: ptr("a\nb")}, "owner", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.AssignGap, Owner: ptr(strings.Repeat("王", 101))}, "owner", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.AssignGap, Owner: ptr("li"), DueOn: ptr("2026-02-30")}, "due_on", nil},
			{ledger.GapChange{ID: "a1", Action: ledger.AssignGap, DueOn: ptr("2026-12-01")}, "due_on", nil}, // nobody's
			{ledger.GapChange{ID: "a1", Action: ledger.CommentGap, Text: "x", Mark: "h0123456789abcdef"}, "mark", nil},
		} {
			_, err := b.ChangeGaps(t.Context(), "li", false, good, c.change, ledger.GapChange{ID: "eeee", Action: ledger.CommentGap, Text: "x"})
			var faults ledger.GapFaults
			if !errors.As(err, &faults) || len(faults) != 2 || faults[0].Index != 1 || faults[0].Field != c.field || faults[1].Index != 2 || faults[1].Field != "id" {
				t.Errorf("%+v: faults %+v (%v), want one of its %s and the unknown one", c.change, faults, err, c.field)
			} else if c.is != nil && !errors.Is(faults[0].Err, c.is) {
				t.Errorf("%+v: %v, want it to be %v", c.change, faults[0].Err, c.is)
			}
		}
		if after := verified(t, b, nil); after.Head != before.Head || read(t, b, "a3ff").State != models.GapOpen {
			t.Errorf("something was done: head %s, was %s", after.Head, before.Head)
		}
		if _, err := b.ChangeGaps(t.Context(), "li", true, good); err != nil || read(t, b, "a3ff").State != models.GapOpen {
			t.Errorf("a dry run: %v", err)
		}
	})
}

// TestChangesOfWhatWasSeen: a change with a mark is made once, and only of the gap as it was seen.
func TestChangesOfWhatWasSeen(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{gapOf("a1", leaseDay, "1.00"), gapOf("a2", leaseDay, "2.00")}})
		seen := func(id string) string { g := read(t, b, id); return ledger.GapMark(&g) }
		resolve := ledger.GapChange{ID: "a1", Action: ledger.ResolveGap, Text: "by hand", Mark: seen("a1")}
		comment := ledger.GapChange{ID: "a2", Action: ledger.CommentGap, Text: "asked", Mark: seen("a2")}
		for i, want := range []bool{true, false, false} {
			if done := change(t, b, "li", resolve, comment); done[0].Changed != want || done[1].Changed != want {
				t.Errorf("the %d. time: changed %v and %v", i+1, done[0].Changed, done[1].Changed)
			}
		}
		other := ledger.GapChange{ID: "a1", Action: ledger.CommentGap, Text: "late", Mark: resolve.Mark}
		change(t, b, "wang", ledger.GapChange{ID: "a1", Action: ledger.ReopenGap, Text: "not so"})
		if _, err := b.ChangeGaps(t.Context(), "li", false, resolve); err == nil || !strings.Contains(err.Error(), "applied already") || !strings.Contains(err.Error(), "reopened at") {
			t.Errorf("what was taken back since: %v", err)
		}
		if done := change(t, b, "li", comment, other); done[0].Changed || !done[1].Changed {
			t.Errorf("changed %v and %v", done[0].Changed, done[1].Changed)
		}
		change(t, b, "wang", ledger.GapChange{ID: "a2", Action: ledger.AssignGap, Owner: ptr("wang")})
		late := ledger.GapChange{ID: "a2", Action: ledger.ResolveGap, Text: "by hand", Mark: comment.Mark}
		if _, err := b.ChangeGaps(t.Context(), "li", false, late); err == nil || !strings.Contains(err.Error(), "changed since") || !strings.Contains(err.Error(), "of wang") {
			t.Errorf("of a gap that somebody has taken since: %v", err)
		}
		wantHistory(t, b, "a1", "run opened", "li resolved", "wang reopened", "li commented")
		wantHistory(t, b, "a2", "run opened", "li commented", "wang assigned")
	})
}

// TestManySayThings: people and runs at once, of several accounts, while somebody verifies: one log that holds, and all of it there.
func TestManySayThings(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		const people, words = 6, 4
		var gaps []models.Gap
		for i := range people {
			gaps = append(gaps, gapOf(fmt.Sprintf("a%d", i), leaseDay, "1.00"))
		}
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: gaps})
		inParallel(people+2, func(i int) {
			for n := range words {
				var err error
				switch {
				case i == people:
					_, err = b.VerifyAudit(t.Context(), nil)
				case i > people:
					saveRun(t, b, runDay.Add(time.Duration(n)), "2026-11-2"+fmt.Sprint(n), ledger.Findings{Gaps: []models.Gap{gapOf(fmt.Sprintf("b%d", n), "2026-11-20", "1.00")}})
				default:
					_, err = b.ChangeGaps(t.Context(), "li", false, ledger.GapChange{ID: fmt.Sprintf("a%d", i), Action: ledger.CommentGap, Text: fmt.Sprint(n)},
						ledger.GapChange{ID: fmt.Sprintf("a%d", (i+1)%people), Action: ledger.CommentGap, Text: fmt.Sprint(n)})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		if c := verified(t, b, nil); c.Entries != 1+people+people*words*2+words*2 {
			t.Errorf("%d entries", c.Entries)
		}
	})
}

// TestNothingOfARunWithoutItsLog: gaps and log are written together or not at all.
func TestNothingOfARunWithoutItsLog(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		b := ledgertest.Open(t, dsn)
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{gapOf("a1", leaseDay, "1.00")}})
		db := openSQL(t, dsn)
		run(t, db, "CREATE TABLE kept AS SELECT * FROM audit_head", "DELETE FROM audit_head")
		if _, err := b.ResolveGap(t.Context(), "a1", "by hand"); err == nil || read(t, b, "a1").State != models.GapOpen {
			t.Errorf("resolved without the log: %v", err)
		}
		if _, _, err := trySave(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{gapOf("a2", leaseDay, "1.00")}}); err == nil {
			t.Error("a run was saved without the log")
		}
		if _, err := b.Gap(t.Context(), "a2"); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("its gap was written: %v", err)
		}
		run(t, db, "INSERT INTO audit_head SELECT * FROM kept")
		if _, err := b.ResolveGap(t.Context(), "a1", "by hand"); err != nil {
			t.Error(err)
		}
		verified(t, b, nil)
	})
}

// TestListsOfTasks: whose, until when, how old.
func TestListsOfTasks(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		for i, id := range []string{"a1", "a2", "a3", "a4"} {
			saveRun(t, b, runDay.AddDate(0, 0, i), "2026-11-2"+fmt.Sprint(i), ledger.Findings{Gaps: []models.Gap{gapOf(id, "2026-11-2"+fmt.Sprint(i), "1.00")}})
		}
		change(t, b, "li", ledger.GapChange{ID: "a1", Action: ledger.AssignGap, Owner: ptr("wang"), DueOn: ptr("2026-12-01")},
			ledger.GapChange{ID: "a2", Action: ledger.AssignGap, Owner: ptr("wang"), DueOn: ptr("2026-12-05")},
			ledger.GapChange{ID: "a3", Action: ledger.AssignGap, Owner: ptr("zhao"), DueOn: ptr("2026-12-01")})
		change(t, b, "li", ledger.GapChange{ID: "a3", Action: ledger.ResolveGap, Text: "by hand"})
		for _, c := range []struct {
			filter ledger.GapFilter
			want   string
		}{
			{ledger.GapFilter{Owner: ptr("wang")}, "a2 a1"},
			{ledger.GapFilter{Owner: ptr("")}, "a4"},
			{ledger.GapFilter{DueBefore: "2026-12-02"}, "a3 a1"},
			{ledger.GapFilter{Overdue: map[string]string{"": "2026-12-02"}}, "a1"},
			{ledger.GapFilter{Overdue: map[string]string{"shop": "2026-12-01", "": "2027-01-01"}}, ""},
			{ledger.GapFilter{Overdue: map[string]string{"shop": "2026-12-06", "": "2026-01-01"}}, "a2 a1"},
			{ledger.GapFilter{SeenBefore: map[string]time.Time{"": runDay.AddDate(0, 0, 2)}}, "a2 a1"},
			{ledger.GapFilter{SeenBefore: map[string]time.Time{"shop": runDay.Add(time.Second), "": runDay.AddDate(1, 0, 0)}}, "a1"},
			{ledger.GapFilter{SeenBefore: map[string]time.Time{"other": runDay.AddDate(1, 0, 0)}}, ""},
		} {
			list, _, err := b.Gaps(t.Context(), c.filter)
			var ids []string
			for _, g := range list {
				ids = append(ids, g.ID)
			}
			if got := strings.Join(ids, " "); err != nil || got != c.want {
				t.Errorf("%+v: %q, %v; want %q", c.filter, got, err, c.want)
			}
		}
	})
}

// TestResolvedOfAnotherOrder: what a person has decided about one order says nothing about another.
func TestResolvedOfAnotherOrder(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		g := gapOf("a1", leaseDay, "1.00")
		g.OrderID = "o1"
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{g}})
		if _, err := b.ResolveGap(t.Context(), "a1", "no order of ours"); err != nil {
			t.Fatal(err)
		}
		g.OrderID = "o2"
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{g}})
		if got := read(t, b, "a1"); got.State != models.GapOpen || got.OrderID != "o2" {
			t.Errorf("with another order it is %s of %s, want it open", got.State, got.OrderID)
		}
		g.ParentID, g.RefundOrderID = "p0", "r0"
		saveRun(t, b, runDay, leaseDay, ledger.Findings{Gaps: []models.Gap{g}})
		if got := read(t, b, "a1"); got.ParentID != "p0" || got.RefundOrderID != "r0" {
			t.Errorf("further names are not kept: %+v", got)
		}
		verified(t, b, nil)
	})
}
