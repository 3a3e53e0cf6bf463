package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"paybook/models"
)

// errUnforeseen undoes a bunch of which an item comes to something else than planned: its items are then tried one by one.
var errUnforeseen = errors.New("not as planned")

// ApplyRepair books what a plan says, by the way of a callback, in bunches. It is repeated without harm: what was booked is not booked again,
// and what was left by a process that was killed is done. An item is refused when its gap has changed since, or when it would come to
// something else than planned; one that a callback was quicker with is there already. approvals is how many persons it needs: with 2, who
// must be another than the one who planned it, unless somebody has approved it (else it wraps ErrSecondPerson). A *BusyError: somebody is
// applying it.
func (l *Ledger) ApplyRepair(ctx context.Context, id, who string, approvals int) (models.Repair, error) {
	return l.underRepair(ctx, id, func(ctx context.Context, lease *Lease, r *models.Repair) error {
		if err := l.beginApply(ctx, lease, r, who, approvals); err != nil || r.State == models.RepairApplied {
			return err
		}
		for _, bunch := range arrange(slices.Clone(r.Items)) {
			if err := l.applyBunch(ctx, lease, *r, bunch); err != nil {
				return err
			}
		}
		return l.endApply(ctx, lease, r)
	})
}

// ApproveRepair is a second person's word that a plan may be applied. Of the one who planned it, it wraps ErrSecondPerson; of a repair that
// is not open, or approved already, ErrState.
func (l *Ledger) ApproveRepair(ctx context.Context, id, who string) (models.Repair, error) {
	return l.decideRepair(ctx, id, who, "repair.approved", func(r *models.Repair) error {
		switch {
		case r.State != models.RepairPlanned:
			return fmt.Errorf("it is %s: %w", r.State, ErrState)
		case SamePerson(who, r.MadeBy):
			return fmt.Errorf("%s has planned it: %w", who, ErrSecondPerson)
		}
		l.approve(r, who)
		return nil
	})
}

// DropRepair gives up a plan of which nothing was booked. why is kept. One that is not open wraps ErrState.
func (l *Ledger) DropRepair(ctx context.Context, id, who, why string) (models.Repair, error) {
	return l.decideRepair(ctx, id, who, "repair.dropped", func(r *models.Repair) error {
		if !r.Open() || r.Count(models.ItemBooked) > 0 {
			return fmt.Errorf("it is %s, with %d gaps booked: %w", r.State, r.Count(models.ItemBooked), ErrState)
		}
		r.State, r.Reason = models.RepairDropped, why
		return nil
	})
}

// decideRepair changes a repair's state by a person's word.
func (l *Ledger) decideRepair(ctx context.Context, id, who, action string, change func(*models.Repair) error) (models.Repair, error) {
	return l.underRepair(ctx, id, func(ctx context.Context, lease *Lease, r *models.Repair) error {
		return l.patientTx(ctx, func(tx *gorm.DB) (err error) {
			if *r, err = l.heldRepair(tx, lease, r.ID); err != nil {
				return err
			}
			was := r.State
			if err := change(r); err != nil {
				return err
			}
			if err := l.putState(tx, *r, was); err != nil {
				return err
			}
			return l.noteRepair(tx, *r, who, action)
		})
	})
}

// underRepair does something with a repair while nobody else does, and returns it as it is then.
func (l *Ledger) underRepair(ctx context.Context, id string, work func(context.Context, *Lease, *models.Repair) error) (models.Repair, error) {
	r, err := l.Repair(ctx, id)
	if err != nil {
		return r, err
	}
	err = l.UnderLease(ctx, repairPrefix+r.ID, func(ctx context.Context, lease *Lease) error { return work(ctx, lease, &r) })
	if err != nil {
		return r, fmt.Errorf("repair %s: %w", r.ID, err)
	}
	return l.Repair(ctx, r.ID)
}

// heldRepair is a repair as it is while the transaction holds its lease.
func (l *Ledger) heldRepair(tx *gorm.DB, lease *Lease, id string) (models.Repair, error) {
	if err := lease.hold(tx); err != nil {
		return models.Repair{}, err
	}
	r, err := l.repair(tx, id)
	if err == nil && contentHash(r) != r.Hash {
		err = fmt.Errorf("its content is not what was planned: somebody has changed its rows in the database; drop it and plan again")
	}
	return r, err
}

// beginApply checks that it may be applied, and by whom. A second person's word is then kept, also should this process not reach the end.
func (l *Ledger) beginApply(ctx context.Context, lease *Lease, r *models.Repair, who string, approvals int) error {
	return l.patientTx(ctx, func(tx *gorm.DB) (err error) {
		if *r, err = l.heldRepair(tx, lease, r.ID); err != nil {
			return err
		}
		switch {
		case r.State == models.RepairApplied:
			return nil
		case !r.Open():
			return fmt.Errorf("it is %s: %w", r.State, ErrState)
		case approvals > 1 && r.ApprovedBy == "" && SamePerson(who, r.MadeBy):
			return fmt.Errorf("%s has planned it: %w", who, ErrSecondPerson)
		}
		was := r.State
		if approvals > 1 && r.ApprovedBy == "" {
			l.approve(r, who)
		}
		r.AppliedBy = who
		return l.putState(tx, *r, was)
	})
}

func (l *Ledger) approve(r *models.Repair, who string) {
	at := l.clock()
	r.State, r.ApprovedBy, r.ApprovedAt = models.RepairApproved, who, &at
}

// applyBunch books items together, or one by one when one of them does not come to what was planned.
func (l *Ledger) applyBunch(ctx context.Context, lease *Lease, r models.Repair, items []models.RepairItem) error {
	err := l.patientTx(ctx, func(tx *gorm.DB) error { return l.applyItems(tx, lease, r, items) })
	if !errors.Is(err, errUnforeseen) {
		return err
	}
	for n := range items {
		if err := l.applyAlone(ctx, lease, r, items[n:n+1]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) applyAlone(ctx context.Context, lease *Lease, r models.Repair, one []models.RepairItem) error {
	err := l.patientTx(ctx, func(tx *gorm.DB) error { return l.applyItems(tx, lease, r, one) })
	if !errors.Is(err, errUnforeseen) {
		return err
	}
	why := strings.TrimPrefix(err.Error(), errUnforeseen.Error()+": ")
	return l.patientTx(ctx, func(tx *gorm.DB) error { return l.refuseItem(tx, lease, one[0], why) })
}

// applyItems is one transaction.
func (l *Ledger) applyItems(tx *gorm.DB, lease *Lease, r models.Repair, items []models.RepairItem) error {
	if err := lease.hold(tx); err != nil {
		return err
	}
	if err := l.nextTurn(tx, r.Account); err != nil {
		return err
	}
	todo, err := l.stillPlanned(tx, r, items)
	if err != nil || len(todo) == 0 {
		return err
	}
	e := l.newEngine(tx, l.clock())
	results, err := e.tellEach(repairDeliveries(r, todo), kindsOf(todo))
	if err != nil {
		return err
	}
	for n := range todo {
		if why := e.settle(r, &todo[n], results[n]); why != "" {
			return fmt.Errorf("%w: %s", errUnforeseen, why)
		}
	}
	if err := e.write(); err != nil {
		return err
	}
	return l.putResults(tx, r, todo)
}

// stillPlanned are the items that are not done yet, and whose gaps are open and say what they said. The others are settled here.
func (l *Ledger) stillPlanned(tx *gorm.DB, r models.Repair, items []models.RepairItem) (todo []models.RepairItem, err error) {
	ids := make([]string, len(items))
	for n, i := range items {
		ids[n] = i.GapID
	}
	state, err := l.itemStates(tx, r.ID, ids)
	if err != nil {
		return nil, err
	}
	gaps, err := l.gapsByID(tx, ids)
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if state[i.GapID] != models.ItemPlanned {
			continue
		}
		g, found := gaps[i.GapID]
		if i.State, i.Result = standing(i, g, found); i.State == models.ItemPlanned {
			todo = append(todo, i)
		} else if err := l.putResult(tx, i, models.ItemPlanned); err != nil {
			return nil, err
		}
	}
	return todo, nil
}

// standing says whether an item's gap is still the one it was planned for.
func standing(i models.RepairItem, g models.Gap, found bool) (models.RepairItemState, string) {
	switch {
	case !found:
		return models.ItemRefused, "its gap is not there any more"
	case g.State == models.GapResolved && strings.HasPrefix(g.HealedRun, repairPrefix):
		return models.ItemAlready, g.HealedRun + " has booked it"
	case g.State == models.GapResolved && g.HealedRun != "":
		return models.ItemAlready, "a later run has found it in the book"
	case g.State == models.GapResolved:
		return models.ItemRefused, "a person has resolved its gap: " + g.Resolution
	case g.State != models.GapOpen:
		return models.ItemRefused, "its gap is " + string(g.State) + ", not open"
	case GapHash(g) != i.GapHash:
		return models.ItemRefused, "its gap has changed since it was planned; plan again"
	}
	return models.ItemPlanned, ""
}

// settle fills in what has come of an item, or says what has come otherwise than planned.
func (e *engine) settle(r models.Repair, i *models.RepairItem, t told) (unforeseen string) {
	mine := t.row != nil && t.row.CallbackID == repairPrefix+r.ID
	switch {
	case t.row == nil:
		return cmp.Or(t.detail, "it would make no row of the book")
	case t.outcome == models.OutcomeConflict || t.row.Money() != i.Money():
		return "the book has it otherwise by now: " + cmp.Or(t.detail, t.row.Money().String())
	case !mine && t.row.Status == models.StatusSucceeded:
		i.State, i.Result = models.ItemAlready, "the book has it by now, from a "+t.row.Source
		return ""
	case !mine || t.row.Status != models.StatusSucceeded:
		return fmt.Sprintf("the book has it as %s by now", t.row.Status)
	case t.outcome != i.Outcome || !slices.Equal(t.topics, i.Topics):
		return fmt.Sprintf("its order has moved on since it was planned: %s then, %s now; plan again", effect(i.Outcome, i.Topics), effect(t.outcome, t.topics))
	}
	at := e.now
	i.State, i.Result, i.BookedAs, i.BookedAt, i.Undo = models.ItemBooked, t.detail, t.row.TransactionID, &at, t.undo
	return ""
}

// effect is what an event comes to, for people: "applied (order.paid)".
func effect(outcome models.Outcome, topics []string) string {
	if len(topics) == 0 {
		return string(outcome)
	}
	return string(outcome) + " (" + strings.Join(topics, ", ") + ")"
}

// refuseItem is for an item that would not come to what was planned. Nothing of it is booked.
func (l *Ledger) refuseItem(tx *gorm.DB, lease *Lease, i models.RepairItem, why string) error {
	if err := lease.hold(tx); err != nil {
		return err
	}
	i.State, i.Result = models.ItemRefused, why
	return l.putResult(tx, i, models.ItemPlanned)
}

// putResults writes what has come of items, and ends the gaps of those that were booked.
func (l *Ledger) putResults(tx *gorm.DB, r models.Repair, items []models.RepairItem) error {
	var booked []string
	var entries []AuditEntry
	for _, i := range items {
		if i.State == models.ItemBooked {
			booked = append(booked, i.GapID)
			entries = append(entries, AuditEntry{Actor: r.AppliedBy, Action: "gap.resolved", Subject: "gap/" + i.GapID,
				Detail: map[string]string{"by": repairPrefix + r.ID, "booked_as": i.BookedAs}})
		}
		if err := l.putResult(tx, i, models.ItemPlanned); err != nil {
			return err
		}
	}
	if len(booked) == 0 {
		return nil
	}
	b := l.sql("UPDATE gaps SET state = 'resolved', resolution = ").arg("booked by repair " + r.ID).add(", resolved_at = ").arg(l.clock())
	b.add(", healed_run = ").arg(repairPrefix + r.ID).add(" WHERE state = 'open' AND id IN ").list(anys(booked)...)
	p := pipe{tx: tx}
	p.write(b, len(booked))
	if err := p.flush(); err != nil {
		return err
	}
	return l.audit(tx, entries...)
}

// endApply closes the repair. One of which nothing could be booked is no repair.
func (l *Ledger) endApply(ctx context.Context, lease *Lease, r *models.Repair) error {
	return l.patientTx(ctx, func(tx *gorm.DB) (err error) {
		if *r, err = l.heldRepair(tx, lease, r.ID); err != nil {
			return err
		}
		was, at := r.State, l.clock()
		r.State, r.AppliedAt = models.RepairApplied, &at
		if r.Count(models.ItemBooked) == 0 {
			r.State, r.AppliedBy, r.AppliedAt, r.Reason = models.RepairDropped, "", nil, "nothing of it was left to book"
		}
		if err := l.putState(tx, *r, was); err != nil {
			return err
		}
		return l.noteRepair(tx, *r, cmp.Or(r.AppliedBy, r.MadeBy), "repair."+string(r.State))
	})
}

// noteRepair adds a repair's step to the audit log.
func (l *Ledger) noteRepair(tx *gorm.DB, r models.Repair, who, action string) error {
	detail := map[string]any{"account": r.Account, "date": r.Date, "hash": r.Hash, "state": r.State}
	for _, state := range []models.RepairItemState{models.ItemPlanned, models.ItemBooked, models.ItemAlready, models.ItemRefused, models.ItemReversed} {
		if n := r.Count(state); n > 0 {
			detail[string(state)] = n
		}
	}
	if r.Reason != "" {
		detail["reason"] = r.Reason
	}
	return l.audit(tx, AuditEntry{Actor: who, Action: action, Subject: repairPrefix + r.ID, Detail: detail})
}

func kindsOf(items []models.RepairItem) []models.TransactionKind {
	kinds := make([]models.TransactionKind, len(items))
	for n, i := range items {
		kinds[n] = i.Kind
	}
	return kinds
}
