package ledger

import (
	"database/sql"
	"slices"

	"gorm.io/gorm"

	"paybook/models"
)

// merged is what holding a run's findings against the stored gaps comes to.
type merged struct {
	Saved
	write   []models.Gap // rows as they shall be stored
	changed bool         // a row differs from what is stored, but for the run that saw it last
}

// merge is the life of a gap, without a database: a gap found for the first time is new; found again it keeps its id and its first
// day; not found any more it is healed; found again after that it opens again. What a person has resolved stays resolved as long as
// it looks the same.
func merge(run models.Run, f Findings, stored map[string]models.Gap) merged {
	m := merged{Saved: Saved{New: map[string]bool{}}}
	found := make(map[string]bool, len(f.Gaps))
	for _, g := range f.Gaps {
		found[g.ID] = true
		was, known := stored[g.ID]
		m.meet(run, g, was, known)
	}
	settled := make(map[string]bool, len(f.Healed))
	for _, id := range f.Healed {
		settled[id] = true
	}
	for _, id := range sortedIDs(stored) {
		was := stored[id]
		if own := was.Date == run.Date; !found[id] && (own || settled[id]) {
			m.heal(run, was, own)
		}
	}
	return m
}

func (m *merged) meet(run models.Run, g, was models.Gap, known bool) {
	if known && byPerson(was) && sameEvidence(g, was) {
		m.Accepted = append(m.Accepted, was)
		return
	}
	g.FirstRun, g.LastRun, g.FirstSeen = run.ID, run.ID, micros(run.CreatedAt)
	if known {
		g.FirstRun, g.FirstSeen = was.FirstRun, was.FirstSeen
		if g.DecidedOn == "" {
			g.DecidedOn = was.DecidedOn
		}
	} else {
		m.New[g.ID] = true
	}
	m.changed = m.changed || !known || g.State != was.State || g.DecidedOn != was.DecidedOn || !sameEvidence(g, was) ||
		!slices.Equal(g.WaitsFor, was.WaitsFor)
	m.Gaps = append(m.Gaps, g)
	m.write = append(m.write, g)
}

// heal ends a gap that is not there any more. One that an earlier run has ended is told of again, so that the same input gives the
// same report.
func (m *merged) heal(run models.Run, was models.Gap, own bool) {
	switch {
	case byPerson(was):
		return
	case was.State == models.GapResolved:
		if own || was.DecidedOn == run.Date {
			m.Healed = append(m.Healed, was)
		}
		return
	}
	at := micros(run.CreatedAt)
	was.State, was.HealedRun, was.Resolution, was.ResolvedAt = models.GapResolved, run.ID, "healed by run "+run.ID, &at
	was.WaitsFor = nil
	if !own {
		was.DecidedOn = run.Date
	}
	m.changed = true
	m.Healed = append(m.Healed, was)
	m.write = append(m.write, was)
}

func byPerson(g models.Gap) bool { return g.State == models.GapResolved && g.HealedRun == "" }

// sameEvidence compares what a gap says, not where it stands: a corrected file may have moved the row.
func sameEvidence(a, b models.Gap) bool {
	return a.Kind == b.Kind && slices.Equal(a.Differs, b.Differs) && sameSide(a.Statement, b.Statement) &&
		sameSide(a.Ledger, b.Ledger) && sameSide(a.Order, b.Order)
}

func sameSide(a, b *models.Side) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Amount == b.Amount && a.Currency == b.Currency && a.Status == b.Status
}

func sortedIDs(gaps map[string]models.Gap) []string {
	ids := make([]string, 0, len(gaps))
	for id := range gaps {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// storedGaps reads the gaps of the run's date and those of other dates that it speaks of.
func (l *Ledger) storedGaps(tx *gorm.DB, run *models.Run, f Findings) (map[string]models.Gap, error) {
	stored := map[string]models.Gap{}
	keep := func(rows *sql.Rows) error {
		g, err := scanGap(rows)
		stored[g.ID] = g
		return err
	}
	b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE account = ").arg(run.Account).add(" AND date = ").arg(run.Date)
	if err := query(tx, b.String(), b.args, keep); err != nil {
		return nil, err
	}
	others := slices.Clone(f.Healed)
	for _, g := range f.Gaps {
		if g.Date != run.Date {
			others = append(others, g.ID)
		}
	}
	err := eachChunk(others, inChunk, func(chunk []string) error {
		b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE id IN ").list(anys(chunk)...)
		return query(tx, b.String(), b.args, keep)
	})
	return stored, err
}
