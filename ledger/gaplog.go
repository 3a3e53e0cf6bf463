package ledger

import (
	"encoding/json"
	"iter"

	"paybook/models"
)

// The actions of a gap's log. The subject is gap/ID, the detail a GapDetail.
const (
	GapOpened    = "gap.opened"    // found, or no longer waited for
	GapCarried   = "gap.carried"   // waits for a neighbouring day's statement
	GapChanged   = "gap.changed"   // found again, with other evidence
	GapHealed    = "gap.healed"    // a run no longer finds it
	GapResolved  = "gap.resolved"  // by a person or a repair
	GapReopened  = "gap.reopened"  // by a person, or by a run that finds it again
	GapAssigned  = "gap.assigned"  // to another owner, or to nobody
	GapDue       = "gap.due"       // until another date
	GapCommented = "gap.commented" // words that change nothing
	GapAdopted   = "gap.adopted"   // it was there before the log
)

// The actions of a run's log. The subject is run/ID, the detail a RunDetail.
const (
	RunSaved   = "run.saved"
	RunAdopted = "run.adopted" // it was there before the log
)

// GapDetail is what the log tells of one change of a gap.
type GapDetail struct {
	Run  string    `json:"run,omitempty"`  // the run that made it
	Text string    `json:"text,omitempty"` // a person's words: the reason, or the comment
	From string    `json:"from,omitempty"` // the file and the row it was written in
	Row  string    `json:"row,omitempty"`  // hash of that row, so that it is not applied twice
	Was  *GapFacts `json:"was,omitempty"`  // before, where that is not what the entry before this one says
	Now  GapFacts  `json:"now"`
}

// GapFacts is how a gap stands. What it says is in it where that is new.
type GapFacts struct {
	State      models.GapState `json:"state"`
	Owner      string          `json:"owner,omitempty"`
	DueOn      string          `json:"due_on,omitempty"`
	Resolution string          `json:"resolution,omitempty"`
	Evidence   string          `json:"evidence"`     // GapEvidence
	Of         string          `json:"of,omitempty"` // gapOrigin; "" in older entries
	Kind       models.GapKind  `json:"kind,omitempty"`
	Differs    []string        `json:"differs,omitempty"`
	Statement  *models.Side    `json:"statement,omitempty"`
	Ledger     *models.Side    `json:"ledger,omitempty"`
	Order      *models.Side    `json:"order,omitempty"`
}

// RunDetail is what the log tells of a saved run.
type RunDetail struct {
	Account     string           `json:"account"`
	Date        string           `json:"date"`
	Result      models.RunResult `json:"result"`
	Fingerprint string           `json:"fingerprint"`
	Report      string           `json:"report"` // SHA-256 of the report as it was kept
	Files       []models.RunFile `json:"files,omitempty"`
}

func standing(g *models.Gap) GapFacts {
	return GapFacts{State: g.State, Owner: g.Owner, DueOn: g.DueOn, Resolution: g.Resolution, Evidence: GapEvidence(g), Of: gapOrigin(g)}
}

// saying is how a gap stands, and all that it says.
func saying(g *models.Gap) GapFacts {
	f := standing(g)
	f.Kind, f.Differs, f.Statement, f.Ledger, f.Order = g.Kind, g.Differs, g.Statement, g.Ledger, g.Order
	return f
}

// sameLife says whether a gap stands as it did, whatever it says.
func (f *GapFacts) sameLife(g *GapFacts) bool {
	return f.State == g.State && f.Owner == g.Owner && f.DueOn == g.DueOn && f.Resolution == g.Resolution
}

func gapSubject(id string) string { return "gap/" + id }
func runSubject(id string) string { return "run/" + id }

func runEntry(action, actor string, run *models.Run) AuditEntry {
	return AuditEntry{Actor: actor, Action: action, Subject: runSubject(run.ID), Detail: RunDetail{Account: run.Account, Date: run.Date,
		Result: run.Result, Fingerprint: run.Fingerprint, Report: hashText(run.Report), Files: run.Files}}
}

// entries tells the log what the run has done, one gap at a time: there may be hundreds of thousands.
func (m *merged) entries() iter.Seq[AuditEntry] {
	return func(yield func(AuditEntry) bool) {
		if !yield(runEntry(RunSaved, ActorRun, m.run)) {
			return
		}
		for i, g := range m.all {
			was := m.before[i]
			if m.fate[i] != fateNew && was == nil {
				continue
			}
			if !yield(m.entry(g, was)) {
				return
			}
		}
		for _, g := range m.ended {
			if !yield(m.told(GapHealed, g, GapDetail{Now: standing(g)})) {
				return
			}
		}
	}
}

// entry is a gap that the run has found: a new one, or one that was otherwise.
func (m *merged) entry(g *models.Gap, was *GapFacts) AuditEntry {
	now := saying(g)
	if was != nil && was.Evidence == now.Evidence {
		now = standing(g)
	}
	return m.told(foundAs(was, &now), g, GapDetail{Was: was, Now: now})
}

func (m *merged) told(action string, g *models.Gap, d GapDetail) AuditEntry {
	d.Run = m.run.ID
	return AuditEntry{Actor: ActorRun, Action: action, Subject: gapSubject(g.ID), Detail: d}
}

// foundAs names what finding a gap has made of it.
func foundAs(was, now *GapFacts) string {
	switch {
	case now.State == models.GapCarried && (was == nil || was.State != models.GapCarried):
		return GapCarried
	case was == nil:
		return GapOpened
	case was.State == models.GapResolved:
		return GapReopened
	case was.State != now.State:
		return GapOpened
	}
	return GapChanged
}

// gapDetail reads the detail of an entry about a gap.
func gapDetail(text string) (d GapDetail, err error) { return d, json.Unmarshal([]byte(text), &d) }
