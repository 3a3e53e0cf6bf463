package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// GapAction is what a person does to a gap.
type GapAction string

// What a person does to a gap.
const (
	ResolveGap GapAction = "resolve" // end it; it stays so until a run finds that it looks different
	ReopenGap  GapAction = "reopen"  // take that back
	AssignGap  GapAction = "assign"  // say whose task it is, until when
	CommentGap GapAction = "comment" // say something about it
)

// GapChange is one thing that a person does to one gap.
type GapChange struct {
	ID     string // with Mark the whole id, else a beginning of it that no other gap has will do
	Action GapAction
	Text   string  // the reason, or the comment; with assign it may be empty
	Owner  *string // assign: nil leaves it; "" takes it away, and the due date with it
	DueOn  *string // assign: YYYY-MM-DD; nil leaves it, "" takes it away
	Mark   string  // the GapMark of the gap as the person saw it: it must not have changed since; "": however it stands
	From   string  // where the person wrote it: a file and its row
}

// ChangedGap is what became of a change.
type ChangedGap struct {
	models.Gap
	Action GapAction
	// Changed is false when it stood so already, or when this very change (with its Mark) was made before.
	Changed bool
}

// ChangeGaps makes changes in a person's name, all of them or none, and tells the log; results are in the order of the changes. A dry run
// finds out what they would be. The error is GapFaults when changes cannot be made: all of those that cannot, not just the first.
func (l *Ledger) ChangeGaps(ctx context.Context, by string, dryRun bool, changes ...GapChange) ([]ChangedGap, error) {
	var s *gapSession
	errDry := errors.New("dry run")
	patience := l.options.Patience + time.Duration(len(changes))*changePatience
	err := l.retryTxFor(ctx, patience, func(tx *gorm.DB) error {
		s = &gapSession{l: l, tx: tx, by: by, now: l.clock(), seen: map[string]bool{}}
		if err := s.change(changes); err != nil {
			return err
		}
		if dryRun {
			return errDry
		}
		return s.write()
	})
	if err != nil && !errors.Is(err, errDry) {
		return nil, err
	}
	return s.done, nil
}

// changePatience is how much longer than one change a further one may take.
const changePatience = 5 * time.Millisecond

// GapFaults are all the changes that cannot be made.
type GapFaults []GapFault

// GapFault is a change that cannot be made, and why. It may wrap ErrNotFound or ErrState.
type GapFault struct {
	Index int    // of the change
	Field string // what of it is wrong: id, action, text, owner, due_on or mark
	Err   error
}

func (f GapFaults) Error() string { return errors.Join(f.Unwrap()...).Error() }

// Unwrap makes the faults' own errors known to errors.Is.
func (f GapFaults) Unwrap() []error {
	list := make([]error, len(f))
	for i := range f {
		list[i] = f[i].Err
	}
	return list
}

// gapSession makes the changes within one transaction.
type gapSession struct {
	l       *Ledger
	tx      *gorm.DB
	by      string
	now     time.Time
	gaps    map[string]models.Gap // as they stood, by the id or the beginning that names them
	applied map[string]appliedRow // by its hash
	seen    map[string]bool       // ids of gaps
	faults  GapFaults
	done    []ChangedGap
	entries []AuditEntry
}

func (s *gapSession) change(changes []GapChange) error {
	if err := s.read(changes); err != nil {
		return err
	}
	for i, c := range changes {
		was, known := s.gaps[c.ID]
		if !known {
			continue // it is told among the faults
		}
		g, field, err := s.one(was, &c)
		if err != nil {
			s.faults = append(s.faults, GapFault{i, field, fmt.Errorf("gap %s: %w", was.ID, err)})
			continue
		}
		s.done = append(s.done, g)
	}
	if len(s.faults) > 0 {
		slices.SortStableFunc(s.faults, func(a, b GapFault) int { return cmp.Compare(a.Index, b.Index) })
		return s.faults
	}
	return nil
}

// one makes one change, of a gap as it stands.
func (s *gapSession) one(was models.Gap, c *GapChange) (done ChangedGap, field string, err error) {
	if s.seen[was.ID] {
		return done, "id", errors.New("it is named twice")
	}
	s.seen[was.ID] = true
	if field, err := c.check(); err != nil {
		return done, field, err
	}
	done = ChangedGap{Gap: was, Action: c.Action}
	if made, field, err := s.before(&was, c); made || err != nil {
		return done, field, err
	}
	d := GapDetail{Text: c.Text, From: c.From, Row: c.row()}
	action, field, err := s.act(&done.Gap, c)
	if err != nil || action == "" {
		return done, field, err
	}
	d.Now, done.Changed = standing(&done.Gap), true
	if was := standing(&was); !was.sameLife(&d.Now) {
		d.Was = &was
	}
	s.entries = append(s.entries, AuditEntry{Actor: s.by, Action: action, Subject: gapSubject(was.ID), Detail: d})
	return done, "", nil
}

// act changes the gap and names what was done; "" when there was nothing to do.
func (s *gapSession) act(g *models.Gap, c *GapChange) (action, field string, err error) {
	switch c.Action {
	case ResolveGap:
		if g.State == models.GapResolved {
			return "", "action", fmt.Errorf("it is resolved already (%s): %w", g.Resolution, ErrState)
		}
		at := s.now
		g.State, g.Resolution, g.ResolvedAt, g.HealedRun = models.GapResolved, c.Text, &at, ""
		return GapResolved, "", nil
	case ReopenGap:
		if g.State != models.GapResolved {
			return "", "action", fmt.Errorf("it is %s, not resolved: %w", g.State, ErrState)
		}
		g.State, g.Resolution, g.ResolvedAt, g.HealedRun = models.GapOpen, "", nil, ""
		return GapReopened, "", nil
	case CommentGap:
		return GapCommented, "", nil
	}
	return assign(g, c)
}

func assign(g *models.Gap, c *GapChange) (action, field string, err error) {
	owner, due := g.Owner, g.DueOn
	if c.Owner != nil {
		owner = strings.TrimSpace(*c.Owner)
	}
	switch {
	case c.DueOn != nil:
		due = *c.DueOn
	case owner == "":
		due = ""
	}
	switch {
	case c.Mark != "" && owner == "" && g.Owner == "":
		return "", "owner", errors.New("assign: the owner is empty, and it has none that could be taken away")
	case owner == "" && due != "":
		return "", "due_on", errors.New("a due date needs an owner, and it has none")
	case owner != g.Owner:
		action = GapAssigned
	case due != g.DueOn:
		action = GapDue
	case c.Text != "":
		action = GapCommented
	}
	g.Owner, g.DueOn = owner, due
	return action, "", nil
}

// write stores what has changed, and tells the log.
func (s *gapSession) write() error {
	var changed []*models.Gap
	for i := range s.done {
		if s.done[i].Changed && s.done[i].Action != CommentGap {
			changed = append(changed, &s.done[i].Gap)
		}
	}
	if err := s.l.putGaps(s.tx, changed); err != nil {
		return err
	}
	return s.l.audit(s.tx, s.entries...)
}

// read finds the gaps, as they are while no run of their accounts is being saved, nor can be before the transaction has ended: a run writes
// the gaps as it has read them, and would write over what a person says in between.
func (s *gapSession) read(changes []GapChange) error {
	if err := s.find(changes); err != nil {
		return err
	}
	accounts, ids := map[string]bool{}, map[string]bool{}
	for _, g := range s.gaps {
		accounts[g.Account], ids[g.ID] = true, true
	}
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		b := s.l.sql("UPDATE turns SET turn = turn WHERE account = ").arg(account)
		if _, err := exec(s.tx, b.String(), b.args...); err != nil {
			return err
		}
	}
	now, err := s.l.gapsByID(s.tx, slices.Sorted(maps.Keys(ids)))
	if err != nil {
		return err
	}
	for named, g := range s.gaps {
		s.gaps[named] = now[g.ID]
	}
	return s.readApplied(slices.Sorted(maps.Keys(ids)))
}

func (s *gapSession) find(changes []GapChange) (err error) {
	var ids []string
	for i := range changes {
		if isGapID(changes[i].ID) {
			ids = append(ids, changes[i].ID)
		}
	}
	if s.gaps, err = s.l.gapsByID(s.tx, ids); err != nil {
		return err
	}
	for i, c := range changes {
		if _, known := s.gaps[c.ID]; known {
			continue
		}
		g, err := models.Gap{}, fmt.Errorf("gap %q: %w", short(c.ID, 80), ErrNotFound)
		if c.Mark == "" {
			g, err = s.l.gap(s.tx, c.ID)
		}
		switch {
		case err == nil:
			s.gaps[c.ID] = g
		case retriable(err) || s.tx.Statement.Context.Err() != nil:
			return err
		default:
			s.faults = append(s.faults, GapFault{i, "id", err})
		}
	}
	return nil
}

// gapsByID reads the gaps of these whole ids that there are.
func (l *Ledger) gapsByID(tx *gorm.DB, ids []string) (map[string]models.Gap, error) {
	found := make(map[string]models.Gap, len(ids))
	err := eachChunk(ids, inChunk, func(chunk []string) error {
		b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE id IN ").list(anys(chunk)...)
		list, err := selectGaps(tx, b)
		for _, g := range list {
			found[g.ID] = g
		}
		return err
	})
	return found, err
}

// ResolveGap is ChangeGaps for one gap and nobody in particular.
func (l *Ledger) ResolveGap(ctx context.Context, id, why string) (models.Gap, error) {
	return l.changeOne(ctx, GapChange{ID: id, Action: ResolveGap, Text: why})
}

// ReopenGap is ChangeGaps for one gap and nobody in particular.
func (l *Ledger) ReopenGap(ctx context.Context, id, why string) (models.Gap, error) {
	return l.changeOne(ctx, GapChange{ID: id, Action: ReopenGap, Text: why})
}

func (l *Ledger) changeOne(ctx context.Context, c GapChange) (models.Gap, error) {
	done, err := l.ChangeGaps(ctx, actorUnnamed, false, c)
	if err != nil {
		return models.Gap{}, err
	}
	return done[0].Gap, nil
}
