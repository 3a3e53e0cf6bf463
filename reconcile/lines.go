package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// lines are a report's gaps before they are put into it. There may be very many: the report is made when all has been written, and till
// then each is made when it is looked at.
type lines struct {
	lists  [4][]*models.Gap // as Report.lists has them
	isNew  map[string]bool
	allNew bool // what was found, unless people have accepted it
	gone   bool // each gap is let go when its line is made
	zone   *time.Location
	words  interner
	date   string
	now    time.Time
}

// The lists of a report.
const (
	listGaps = iota
	listCarried
	listHealed
	listAccepted
)

func (r *run) lines(saved *ledger.Saved, date string, now time.Time) *lines {
	l := &lines{zone: r.account.Zone, words: r.words, isNew: saved.New, date: date, now: now}
	if len(saved.New) == len(saved.Gaps) && len(saved.Left) == 0 {
		l.isNew, l.allNew = nil, true // nothing is known of any, and a list of all takes room
	}
	found := slices.Clone(saved.Gaps)
	for i := range saved.Left {
		found = append(found, &saved.Left[i])
	}
	sortGaps(found)
	for _, g := range found {
		if g.State == models.GapOpen {
			l.lists[listGaps] = append(l.lists[listGaps], g)
		} else {
			l.lists[listCarried] = append(l.lists[listCarried], g)
		}
	}
	l.lists[listHealed] = saved.Healed
	for i := range saved.Accepted {
		l.lists[listAccepted] = append(l.lists[listAccepted], &saved.Accepted[i])
	}
	return l
}

// all are the lines of every list, with the number of the list.
func (l *lines) all() iter.Seq2[int, GapReport] {
	return func(yield func(int, GapReport) bool) {
		for i, list := range l.lists {
			for k, g := range list {
				if l.gone {
					list[k] = nil
				}
				if !yield(i, l.line(g)) {
					return
				}
			}
		}
	}
}

// manyLines is how many are read back from where they were saved: there is no room for the report beside what it is made of. A variable
// for tests.
var manyLines = 10_000

// readBack is fill by what has been saved, so that the gaps need not be kept any longer.
func (l *lines) readBack(ctx context.Context, book *ledger.Ledger, account string, report *Report) (*Report, error) {
	gaps := l.lists[listGaps]
	report.Gaps = make([]GapReport, len(gaps))
	at := make(map[string]int, len(gaps)) // of gaps of this date
	for i, g := range gaps {
		if g.Date == l.date {
			at[g.ID] = i
		} else {
			report.Gaps[i] = l.line(g)
		}
	}
	l.lists[listGaps], l.words = nil, interner{}
	err := book.GapsOf(ctx, account, l.date, func(g models.Gap) error {
		if i, wanted := at[g.ID]; wanted {
			l.words.share(&g)
			g.State, g.Resolution = models.GapOpen, "" // as it was saved, whatever somebody decides meanwhile
			report.Gaps[i] = l.line(&g)
			delete(at, g.ID)
		}
		return nil
	})
	if err == nil && len(at) > 0 {
		err = fmt.Errorf("%d gaps of this run cannot be read back; it is saved, run it again for its report", len(at))
	}
	return l.fill(report), err
}

// judge says in the report what the lines come to.
func (l *lines) judge(report *Report) {
	report.Summary, report.Result = map[models.GapKind]int{}, models.Balanced
	for _, g := range l.lists[listGaps] {
		report.Summary[g.Kind]++
		report.Result = models.Gapped
	}
}

// fill puts the lines into their report.
func (l *lines) fill(report *Report) *Report {
	for i, list := range report.lists() {
		*list = slices.Grow(*list, len(l.lists[i])) // there may be very many, and growing into it takes twice the room
	}
	for i, line := range l.all() {
		list := report.lists()[i]
		*list = append(*list, line)
	}
	return report
}

// move is fill that lets each gap go for its line: there is no room for very many of both.
func (l *lines) move(report *Report) *Report {
	l.gone = true
	return l.fill(report)
}

// line is a gap as the report of its run has it.
func (l *lines) line(g *models.Gap) GapReport {
	line := NewGapReport(*g, l.zone, l.now)
	line.Account, line.New, line.FirstSeen, line.Overdue = "", l.isNew[g.ID] || l.allNew && g.State != models.GapResolved, l.words.word(line.FirstSeen), nil
	if g.Date == l.date {
		line.Date = ""
	}
	return line
}

// compareLines puts the lines of one date in the order of sortGaps.
func compareLines(a, b GapReport) int {
	return cmp.Or(cmp.Compare(slices.Index(gapKinds, a.Kind), slices.Index(gapKinds, b.Kind)),
		cmp.Compare(slices.Index(kindOrder, a.EntryKind), slices.Index(kindOrder, b.EntryKind)),
		cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.ID, b.ID))
}

func count[T any](list []T, which func(T) bool) (n int) {
	for _, v := range list {
		if which(v) {
			n++
		}
	}
	return n
}
