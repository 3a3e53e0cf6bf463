package reconcile

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"paybook/models"
)

// matcher joins the statement's rows with the book's as both stream by: each side waits in a table until the other comes, and a
// pair that agrees leaves at once. As both come in the order of time, more or less, the tables hold what has no partner and what is
// a little late, whatever the length of the day. In any other order they fill up, and then all goes by way of the disk (spill.go), which
// changes no result. It writes nothing to the book and knows no database.
type matcher struct {
	next      func() (*timed, error) // the book's rows of the day, in order of time; nil at the end. Each is good until the next
	from, to  time.Time              // the day
	elsewhere bool
	most      int // how many rows may wait in the tables; beyond it they go by way of the disk

	read    time.Time // how far the book has been read
	ended   bool
	taken   int64 // rows of the book
	locals  localTable
	waiting map[name][]*held // by every name; several rows may claim one
	waits   int              // rows in waiting
	differ  []*held          // pairs that do not agree
	begun   []name           // rows of the book whose refund both sides call begun
	matched int64
	recent  recent
	free    []*local // of pairs that have left, to be used again
	spill   *spill   // nil: all that waits is in the tables
	sorting func()   // nil, or told when it is not
}

// timed is a row of the book with the time it is sorted by.
type timed struct {
	local
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

// newHeld keeps an entry. Its texts become its own: a reader may cut them from what many rows share.
func newHeld(e *models.Entry, at place) *held {
	h := &held{Entry: *e, place: at}
	h.Aliases = slices.Clone(e.Aliases)
	for _, text := range []*string{&h.TransactionID, &h.ParentID, &h.OrderID, &h.RefundOrderID, &h.PayoutID, &h.StatusText, &h.UnknownKind} {
		*text = strings.Clone(*text)
	}
	for i := range h.Aliases {
		h.Aliases[i] = strings.Clone(h.Aliases[i])
	}
	return h
}

func newMatcher(next func() (*timed, error), from, to time.Time, elsewhere bool) *matcher {
	return &matcher{next: next, from: from, to: to, elsewhere: elsewhere, most: waitingMax, locals: newLocalTable(), waiting: map[name][]*held{}}
}

// entry takes the statement's next row, which is the caller's again when it returns.
func (m *matcher) entry(e *models.Entry, at place) error {
	if err := m.advance(e.OccurredAt); err != nil {
		return err
	}
	if m.spill != nil {
		return m.spill.entry(e, at)
	}
	if l := m.find(e); l != nil {
		m.locals.drop(l)
		m.join(e, at, l)
		return nil
	}
	m.pullBack(e)
	m.wait(newHeld(e, at))
	return m.checkRoom()
}

// wait keeps an entry until its row of the book comes.
func (m *matcher) wait(h *held) {
	for _, n := range h.names() {
		m.waiting[n] = append(m.waiting[n], h)
	}
	m.waits++
}

// advance reads the book until it is ahead of the statement. A row outside the day finds nothing there by reading on. Once all goes by way of
// the disk it only keeps step, so that neither side waits for the other.
func (m *matcher) advance(at time.Time) error {
	if m.spill != nil && !m.ended {
		return m.take()
	}
	if at.Before(m.from) || !at.Before(m.to) {
		return nil
	}
	for m.spill == nil && !m.ended && !m.read.After(at) {
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
	m.cloneLocals()
	m.recent, m.free = recent{}, nil
	if m.spill != nil {
		return m.joinSpilled()
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
	if m.taken++; m.taken%cloneEvery == 0 {
		m.cloneLocals()
	}
	if m.spill != nil {
		return m.spill.local(&t.local)
	}
	if h := m.awaited(&t.local); h != nil {
		m.dropHeld(h)
		m.join(&h.Entry, h.place, m.keep(&t.local))
		return nil
	}
	m.locals.add(m.keep(&t.local))
	return m.checkRoom()
}

// cloneEvery is after how many rows of the book those that still wait are cloned. Most do not wait for so long.
const cloneEvery = 1 << 15

func (m *matcher) cloneLocals() {
	for l := range m.locals.all() {
		l.clone()
	}
}

// keep copies a row of the book that is good for now only.
func (m *matcher) keep(l *local) *local {
	if n := len(m.free) - 1; n >= 0 {
		kept := m.free[n]
		m.free = m.free[:n]
		*kept = *l
		return kept
	}
	kept := *l
	return &kept
}

// join lets a pair go that agrees, and keeps one that does not.
func (m *matcher) join(e *models.Entry, at place, l *local) {
	if !m.agrees(e, l) {
		h := newHeld(e, at)
		h.pair = l
		l.clone()
		m.differ = append(m.differ, h)
		return
	}
	m.recent.add(e, at, l)
	m.free = append(m.free, l)
}

// agrees counts a pair in which nothing differs.
func (m *matcher) agrees(e *models.Entry, l *local) bool {
	if compare(e, l, m.elsewhere).kind != "" {
		return false
	}
	m.matched++
	if isBegun(e, l) {
		l.clone()
		m.begun = append(m.begun, l.key())
	}
	return true
}

// isBegun is true for a refund that the statement calls pending and that has not succeeded in the book. The statement of that day
// is the only one to have it, on whichever day it succeeds.
func isBegun(e *models.Entry, l *local) bool {
	return e.Kind == models.Refund && e.Status == models.StatusPending && (l == nil || l.status != models.StatusSucceeded)
}

// find looks for an entry's partner: by the names it gives, its own id first, then by what stands in for an id.
func (m *matcher) find(e *models.Entry) *local {
	if l := m.locals.get(e.Kind, e.TransactionID); l != nil {
		return l
	}
	for _, id := range e.Aliases {
		if l := m.locals.get(e.Kind, id); l != nil {
			return l
		}
	}
	for _, id := range standIns(e) {
		if l := m.locals.get(e.Kind, id); l != nil && l.isStandInFor(e) {
			return l
		}
	}
	return nil
}

// awaited looks for the entry that waits for a row of the book: one whose own id it is before one that knows it as an alias.
func (m *matcher) awaited(l *local) *held {
	if m.waits == 0 {
		return nil
	}
	own, other := m.awaitedUnder(l, l.id)
	if own == nil && l.providerID != "" {
		var further *held
		own, further = m.awaitedUnder(l, l.providerID)
		other = cmp.Or(other, further)
	}
	return cmp.Or(own, other)
}

// awaitedUnder looks under one of the row's names, for the first whose own id it is and the first that knows it otherwise.
func (m *matcher) awaitedUnder(l *local, id string) (own, other *held) {
	for _, h := range m.waiting[name{l.kind, id}] {
		switch {
		case h.TransactionID == id:
			return h, other
		case other == nil && (slices.Contains(h.Aliases, id) || l.isStandInFor(&h.Entry)):
			other = h
		}
	}
	return nil, other
}

func (m *matcher) dropHeld(h *held) {
	m.waits--
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
	list := append(slices.Clone(m.differ), m.awaiting()...)
	sortHeld(list)
	return list
}

// awaiting are the entries without a row of the book, in no order.
func (m *matcher) awaiting() []*held {
	list := make([]*held, 0, m.waits)
	seen := make(map[*held]bool, m.waits)
	for _, waiting := range m.waiting {
		for _, h := range waiting {
			if !seen[h] {
				seen[h] = true
				list = append(list, h)
			}
		}
	}
	return list
}

func sortHeld(list []*held) {
	slices.SortFunc(list, func(a, b *held) int {
		return cmp.Or(cmp.Compare(a.place.file, b.place.file), cmp.Compare(a.place.row, b.place.row))
	})
}
