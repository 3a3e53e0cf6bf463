package reconcile

import (
	"cmp"
	"slices"
	"time"

	"paybook/models"
)

// matcher joins the statement's rows with the book's as both stream by: each side waits in a table until the other comes, and a
// pair that agrees leaves at once. As both come in the order of time, more or less, the tables hold what has no partner and what is
// a little late, whatever the length of the day; any other order only costs memory. It writes nothing and knows no database.
type matcher struct {
	next      func() (*timed, error) // the book's rows of the day, in order of time; nil at the end
	from, to  time.Time              // the day
	elsewhere bool

	read    time.Time // how far the book has been read
	ended   bool
	locals  map[name]*local  // by every name
	waiting map[name][]*held // by every name; several rows may claim one
	differ  []*held          // pairs that do not agree
	begun   []name           // rows of the book whose refund both sides call begun
	matched int64
}

// timed is a row of the book with the time it is sorted by.
type timed struct {
	*local
	at time.Time
}

// place says which row of which file an entry is; its line does not, for one line may tell of two movements.
type place struct {
	file int // index of the input
	row  int64
}

// held is a statement row that is not settled yet.
type held struct {
	models.Entry
	place place
	pair  *local // what it was matched with, when they do not agree
}

func newMatcher(next func() (*timed, error), from, to time.Time, elsewhere bool) *matcher {
	return &matcher{next: next, from: from, to: to, elsewhere: elsewhere, locals: map[name]*local{}, waiting: map[name][]*held{}}
}

// entry takes the statement's next row.
func (m *matcher) entry(e models.Entry, at place) error {
	if err := m.advance(e.OccurredAt); err != nil {
		return err
	}
	if l := m.find(&e); l != nil {
		m.dropLocal(l)
		m.join(&held{Entry: e, place: at}, l)
		return nil
	}
	h := &held{Entry: e, place: at}
	for _, n := range h.names() {
		m.waiting[n] = append(m.waiting[n], h)
	}
	return nil
}

// advance reads the book until it is ahead of the statement. A row outside the day finds nothing there by reading on.
func (m *matcher) advance(at time.Time) error {
	if at.Before(m.from) || !at.Before(m.to) {
		return nil
	}
	for !m.ended && !m.read.After(at) {
		if err := m.take(); err != nil {
			return err
		}
	}
	return nil
}

// finish reads the rest of the book.
func (m *matcher) finish() error {
	for !m.ended {
		if err := m.take(); err != nil {
			return err
		}
	}
	return nil
}

// take takes the book's next row.
func (m *matcher) take() error {
	t, err := m.next()
	if err != nil {
		return err
	}
	if t == nil {
		m.ended = true
		return nil
	}
	m.read = t.at
	if h := m.awaited(t.local); h != nil {
		m.dropHeld(h)
		m.join(h, t.local)
		return nil
	}
	for i, n := range t.names() {
		if i == 0 || m.locals[n] == nil { // its own id is nobody else's; a further name may be
			m.locals[n] = t.local
		}
	}
	return nil
}

// join lets a pair go that agrees, and keeps one that does not.
func (m *matcher) join(h *held, l *local) {
	if v := compare(&h.Entry, l, m.elsewhere); v.kind != "" {
		h.pair = l
		m.differ = append(m.differ, h)
		return
	}
	m.matched++
	if isBegun(&h.Entry, l) {
		m.begun = append(m.begun, l.key())
	}
}

// isBegun is true for a refund that the statement calls pending and that has not succeeded in the book. The statement of that day
// is the only one to have it, on whichever day it succeeds.
func isBegun(e *models.Entry, l *local) bool {
	return e.Kind == models.Refund && e.Status == models.StatusPending && (l == nil || l.status != models.StatusSucceeded)
}

// find looks for an entry's partner: by the names it gives, its own id first, then by what stands in for an id.
func (m *matcher) find(e *models.Entry) *local {
	if l := m.locals[name{e.Kind, e.TransactionID}]; l != nil {
		return l
	}
	for _, id := range e.Aliases {
		if l := m.locals[name{e.Kind, id}]; l != nil {
			return l
		}
	}
	for _, id := range standIns(e) {
		if l := m.locals[name{e.Kind, id}]; l != nil && l.isStandInFor(e) {
			return l
		}
	}
	return nil
}

// awaited looks for the entry that waits for a row of the book: one whose own id it is before one that knows it as an alias.
func (m *matcher) awaited(l *local) *held {
	var second *held
	for _, n := range l.names() {
		for _, h := range m.waiting[n] {
			switch {
			case h.TransactionID == n.id:
				return h
			case second == nil && (slices.Contains(h.Aliases, n.id) || l.isStandInFor(&h.Entry)):
				second = h
			}
		}
	}
	return second
}

func (m *matcher) dropLocal(l *local) {
	for _, n := range l.names() {
		if m.locals[n] == l {
			delete(m.locals, n)
		}
	}
}

func (m *matcher) dropHeld(h *held) {
	for _, n := range h.names() {
		rest := slices.DeleteFunc(m.waiting[n], func(o *held) bool { return o == h })
		if m.waiting[n] = rest; len(rest) == 0 {
			delete(m.waiting, n)
		}
	}
}

// names are all the names the entry may be known by, each once.
func (h *held) names() []name {
	names := []name{identity(&h.Entry)}
	for _, id := range append(givenNames(&h.Entry), standIns(&h.Entry)...) {
		if n := (name{h.Kind, id}); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// unsettled are the entries that are no pair or do not agree, in the order of the files.
func (m *matcher) unsettled() []*held {
	list := slices.Clone(m.differ)
	seen := map[*held]bool{}
	for _, waiting := range m.waiting {
		for _, h := range waiting {
			if !seen[h] {
				seen[h] = true
				list = append(list, h)
			}
		}
	}
	sortHeld(list)
	return list
}

func sortHeld(list []*held) {
	slices.SortFunc(list, func(a, b *held) int {
		return cmp.Or(cmp.Compare(a.place.file, b.place.file), cmp.Compare(a.place.row, b.place.row))
	})
}
