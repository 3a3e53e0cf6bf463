package reconcile

import (
	"hash/maphash"

	"paybook/models"
)

// recent remembers the pairs that have left last: a row that is given twice mostly comes right behind the first one, and need then not
// be looked for by reading the whole statement once more. What it has forgotten is found that way.
type recent struct {
	seed  maphash.Seed
	pairs []recentPair // by a hash of the entry's own id; a later pair takes an earlier one's place
}

type recentPair struct {
	entry models.Entry
	place place
	local local
}

const recentPairs = 512 // what is about them stays in the processor's cache

func (r *recent) of(id string) *recentPair {
	return &r.pairs[maphash.String(r.seed, id)%recentPairs]
}

func (r *recent) add(e *models.Entry, at place, l *local) {
	if r.pairs == nil {
		r.seed, r.pairs = maphash.MakeSeed(), make([]recentPair, recentPairs)
	}
	*r.of(e.TransactionID) = recentPair{*e, at, *l}
}

// take returns the pair that has left under an entry's own id, and forgets it; nil where none is known.
func (r *recent) take(e *models.Entry) *held {
	if r.pairs == nil || e.TransactionID == "" {
		return nil
	}
	p := r.of(e.TransactionID)
	if p.entry.Kind != e.Kind || p.entry.TransactionID != e.TransactionID {
		return nil
	}
	l := p.local
	l.clone()
	h := newHeld(&p.entry, p.place)
	h.pair = &l
	*p = recentPair{}
	return h
}

// pullBack takes a pair apart again whose entry has come once more: which of the two rows the book's row belongs to is for settle to say.
func (m *matcher) pullBack(e *models.Entry) {
	if h := m.recent.take(e); h != nil {
		m.matched--
		m.differ = append(m.differ, h)
	}
}
