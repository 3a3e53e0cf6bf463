package ledger

import (
	"cmp"
	"database/sql"
	"slices"

	"gorm.io/gorm"

	"paybook/models"
)

// merged is what holding a run's findings against the stored gaps comes to. Stored gaps pass by one at a time: a day on which nothing
// fits has hundreds of thousands of them.
type merged struct {
	Saved
	run     *models.Run
	found   *Findings
	at      map[string]int // gap id → its place in all
	all     []*models.Gap  // Findings.Gaps and Many
	fate    []fate         // of each of all
	before  []*GapFacts    // of each that was stored and stood or said otherwise
	settled map[string]bool
	ended   []*models.Gap // of Healed, those that this run ends
	changed bool          // a row differs from what is stored, but for the run that saw it last
}

type fate byte

const (
	fateNew fate = iota
	fateKnown
	fateAccepted
)

// merge is the life of a gap: a gap found for the first time is new; found again it keeps its id and its first day; not found any more
// it is healed; found again after that it opens again. What a person has resolved stays resolved as long as it looks the same. Gaps of
// a kind that the run did not look at stay as they are. each hands over the stored gaps, every one once.
func merge(run *models.Run, f *Findings, each func(func(models.Gap)) error) (*merged, error) {
	all := f.all()
	m := &merged{Saved: Saved{New: map[string]bool{}}, run: run, found: f, all: all, at: make(map[string]int, len(all)), fate: make([]fate, len(all)),
		before: make([]*GapFacts, len(all)), settled: make(map[string]bool, len(f.Healed))}
	for i, g := range all {
		m.at[g.ID] = i
	}
	for _, id := range f.Healed {
		m.settled[id] = true
	}
	if err := each(m.meet); err != nil {
		return nil, err
	}
	m.at, m.settled = nil, nil // there may be very many, and the report needs the room
	for i, g := range all {
		switch m.fate[i] {
		case fateAccepted:
			continue
		case fateNew:
			m.New[g.ID], m.changed = true, true
			g.FirstRun, g.FirstSeen = run.ID, micros(run.CreatedAt)
		}
		g.LastRun = run.ID
		m.Gaps = append(m.Gaps, g)
	}
	return m, nil
}

// split tells the gaps that are new from those that have a row.
func (m *merged) split() (fresh, known []*models.Gap) {
	for i, g := range m.all {
		switch m.fate[i] {
		case fateNew:
			fresh = append(fresh, g)
		case fateKnown:
			known = append(known, g)
		}
	}
	return fresh, known
}

// meet holds one stored gap against the findings.
func (m *merged) meet(was models.Gap) {
	own := was.Date == m.run.Date
	switch i, found := m.at[was.ID]; {
	case found:
		m.again(i, was)
	case own && !m.found.looksAt(was.EntryKind):
		if was.State != models.GapResolved {
			m.Left = append(m.Left, was)
		}
	case own || m.settled[was.ID]:
		m.heal(was, own)
	}
}

// again is a gap that an earlier run has found too.
func (m *merged) again(i int, was models.Gap) {
	g := m.all[i]
	same := sameEvidence(*g, was)
	if byPerson(was) && same {
		m.fate[i] = fateAccepted
		m.Accepted = append(m.Accepted, was)
		return
	}
	m.fate[i] = fateKnown
	g.FirstRun, g.FirstSeen, g.Owner, g.DueOn = was.FirstRun, was.FirstSeen, was.Owner, was.DueOn
	if g.DecidedOn == "" {
		g.DecidedOn = was.DecidedOn
	}
	otherwise := !same || g.State != was.State || !sameNames(g, &was)
	if otherwise {
		m.before[i] = factsBefore(&was, same)
	}
	m.changed = m.changed || otherwise || g.DecidedOn != was.DecidedOn || !slices.Equal(g.WaitsFor, was.WaitsFor)
}

// factsBefore leaves out what the gap says when it says the same still.
func factsBefore(was *models.Gap, same bool) *GapFacts {
	f := standing(was)
	if !same {
		f = saying(was)
	}
	return &f
}

// notKept stands for the id of a run that is not kept: a gap without a run was resolved by a person.
const notKept = "-"

// heal ends a gap that is not there any more. One that an earlier run has ended is told of again, so that the same input gives the
// same report.
func (m *merged) heal(was models.Gap, own bool) {
	switch {
	case byPerson(was):
		return
	case was.State == models.GapResolved:
		if own || was.DecidedOn == m.run.Date {
			m.Healed = append(m.Healed, &was)
		}
		return
	}
	at := micros(m.run.CreatedAt)
	was.State, was.HealedRun, was.Resolution, was.ResolvedAt = models.GapResolved, cmp.Or(m.run.ID, notKept), "healed by run "+m.run.ID, &at
	was.WaitsFor = nil
	if !own {
		was.DecidedOn = m.run.Date
	}
	m.changed = true
	m.Healed = append(m.Healed, &was)
	m.ended = append(m.ended, &was)
}

func (f *Findings) all() []*models.Gap {
	all := make([]*models.Gap, 0, len(f.Gaps)+len(f.Many))
	for i := range f.Gaps {
		all = append(all, &f.Gaps[i])
	}
	return append(all, f.Many...)
}

// looksAt says whether the run has looked at transactions of this kind.
func (f *Findings) looksAt(kind models.TransactionKind) bool {
	return f.Kinds == nil || slices.Contains(f.Kinds, kind)
}

func byPerson(g models.Gap) bool { return g.State == models.GapResolved && g.HealedRun == "" }

// sameNames says whether two gaps of one id name the same movement: a name may become known later.
func sameNames(a, b *models.Gap) bool {
	return a.TransactionID == b.TransactionID && a.OrderID == b.OrderID && a.ParentID == b.ParentID && a.RefundOrderID == b.RefundOrderID
}

// sameEvidence compares what a gap says, not where it stands: a corrected file may have moved the row.
func sameEvidence(a, b models.Gap) bool {
	return a.Kind == b.Kind && a.OrderID == b.OrderID && slices.Equal(a.Differs, b.Differs) && sameSide(a.Statement, b.Statement) &&
		sameSide(a.Ledger, b.Ledger) && sameSide(a.Order, b.Order)
}

func sameSide(a, b *models.Side) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Amount == b.Amount && a.Currency == b.Currency && a.Status == b.Status && a.Fee == b.Fee
}

// storedGaps hands over the gaps of the run's date, and those of other dates that it speaks of.
func (l *Ledger) storedGaps(tx *gorm.DB, run *models.Run, f *Findings, each func(models.Gap)) error {
	take := func(rows *sql.Rows) error {
		g, err := scanGap(rows)
		if err == nil {
			each(g)
		}
		return err
	}
	b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE account = ").arg(run.Account).add(" AND date = ").arg(run.Date)
	if err := query(tx, b.add(" ORDER BY id").String(), b.args, take); err != nil {
		return err
	}
	others := slices.Clone(f.Healed)
	for _, g := range f.all() {
		if g.Date != run.Date {
			others = append(others, g.ID)
		}
	}
	slices.Sort(others)
	return eachChunk(slices.Compact(others), inChunk, func(chunk []string) error {
		b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE id IN ").list(anys(chunk)...).add(" AND date <> ").arg(run.Date)
		return query(tx, b.add(" ORDER BY id").String(), b.args, take)
	})
}
