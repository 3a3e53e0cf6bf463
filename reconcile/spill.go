package reconcile

import (
	"cmp"
	"hash/maphash"
	"slices"

	"paybook/models"
)

// A day whose two sides do not come in one order (a statement sorted by id, or newest first) fills the tables. From then on both sides
// are written to the disk, cut into parts by the hash of the movement's own id, and joined part by part: memory is that of one part.
// What has no partner there may still have one under a further name, and is matched in the tables at the end.

// waitingMax is how many rows may wait in memory, on both sides together; a variable for tests.
var waitingMax = 100_000

// spill is what lies on the disk, or is on its way there.
type spill struct {
	seed            maphash.Seed
	locals, entries *parts
	codec           codec
	row             []byte   // a row on its way, used again
	left            []*local // without a partner under their own id
	alone           []*held  // likewise
}

// checkRoom sends everything by way of the disk when too much waits.
func (m *matcher) checkRoom() error {
	if m.locals.n+m.waits <= m.most {
		return nil
	}
	if m.sorting != nil {
		m.sorting()
	}
	locals, err := newParts()
	if err != nil {
		return err
	}
	entries, err := newParts()
	if err != nil {
		return err
	}
	s := &spill{seed: maphash.MakeSeed(), locals: locals, entries: entries}
	for l := range m.locals.all() {
		if err := s.local(l); err != nil {
			return err
		}
	}
	waiting := m.awaiting()
	sortHeld(waiting) // rows of one part stay in the order of the files
	for _, h := range waiting {
		if err := s.entry(&h.Entry, h.place); err != nil {
			return err
		}
	}
	m.locals, m.waiting, m.waits, m.free, m.spill = newLocalTable(), map[name][]*held{}, 0, nil, s
	return nil
}

func (s *spill) part(id string) int { return int(maphash.String(s.seed, id) % spillParts) }

func (s *spill) local(l *local) error {
	s.row = s.codec.appendLocal(s.row[:0], l)
	return s.locals.add(s.part(l.id), s.row)
}

func (s *spill) entry(e *models.Entry, at place) error {
	if e.TransactionID == "" { // no id, so no part
		s.alone = append(s.alone, newHeld(e, at))
		return nil
	}
	s.row = s.codec.appendEntry(s.row[:0], e, at)
	return s.entries.add(s.part(e.TransactionID), s.row)
}

// joinSpilled joins what lies on the disk. The book's rows of the next part are loaded beside the joining of one.
func (m *matcher) joinSpilled() error {
	s := m.spill
	defer s.close()
	loaded := startPump(func(give func(*bookPart) error) error {
		for part := range spillParts {
			p, err := s.load(part)
			if err == nil {
				err = give(p)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, 1, 1)
	defer loaded.close()
	for part := range spillParts {
		p, err := loaded.next()
		if err != nil {
			return err
		}
		if err := m.joinPart(part, p); err != nil {
			return err
		}
		*p = bookPart{}
	}
	slices.SortFunc(s.left, func(a, b *local) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) })
	for _, l := range s.left {
		m.locals.add(l)
	}
	sortHeld(s.alone)
	for _, h := range s.alone {
		if l := m.find(&h.Entry); l != nil {
			m.locals.drop(l)
			if h.pair = l; !m.agrees(&h.Entry, l) {
				m.differ = append(m.differ, h)
			}
		} else {
			m.wait(h)
		}
	}
	return nil
}

func (s *spill) close() {
	s.locals.close()
	s.entries.close()
}

// booked is a row of the book in the part being joined.
type booked struct {
	local
	taken string // the row, as it was written, of the entry it agrees with
	gone  bool   // it has a partner, or had one that was pulled back
}

// bookPart are the book's rows of one part, and where each is by its name.
type bookPart struct {
	index map[name]int
	rows  []booked
}

func (m *matcher) joinPart(part int, p *bookPart) error {
	s := m.spill
	var h held
	err := s.entries.each(part, func(row string) error {
		if err := s.codec.entry(row, &h.Entry, &h.place); err != nil {
			return err
		}
		if i, found := p.index[name{h.Kind, h.TransactionID}]; found {
			return m.joinBooked(&p.rows[i], &h, row)
		}
		s.leave(&h)
		return nil
	})
	for i := range p.rows {
		if !p.rows[i].gone {
			l := p.rows[i].local
			l.clone()
			s.left = append(s.left, &l)
		}
	}
	return err
}

// load reads the book's rows of a part.
func (s *spill) load(part int) (*bookPart, error) {
	n := s.locals.rows(part)
	p := &bookPart{make(map[name]int, n), make([]booked, 0, n)}
	err := s.locals.each(part, func(row string) error {
		var b booked
		if err := s.codec.local(row, &b.local); err != nil {
			return err
		}
		p.index[b.key()] = len(p.rows)
		p.rows = append(p.rows, b)
		return nil
	})
	return p, err
}

// joinBooked joins an entry with the row of the book that has its id. The first entry takes it; what comes after has the first one pulled
// back, as settle would.
func (m *matcher) joinBooked(b *booked, h *held, row string) error {
	first := !b.gone
	b.gone = true
	switch {
	case first && m.agrees(&h.Entry, &b.local):
		b.taken = row
		return nil
	case first:
		m.spill.differs(m, h, b.local)
		return nil
	}
	m.spill.leave(h)
	if b.taken == "" {
		return nil
	}
	var taken held
	err := m.spill.codec.entry(b.taken, &taken.Entry, &taken.place)
	b.taken = ""
	m.matched--
	m.spill.differs(m, &taken, b.local)
	return err
}

// leave keeps an entry that has no partner under its own id.
func (s *spill) leave(h *held) {
	s.alone = append(s.alone, newHeld(&h.Entry, h.place))
}

func (s *spill) differs(m *matcher, h *held, l local) {
	l.clone()
	kept := newHeld(&h.Entry, h.place)
	kept.pair = &l
	m.differ = append(m.differ, kept)
}
