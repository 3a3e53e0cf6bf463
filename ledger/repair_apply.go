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
		approves := approvals > 1 && r.ApprovedBy == ""
		if approves {
			l.approve(r, who)
		}
		r.AppliedBy = who
		if err := l.putState(tx, *r, was); err != nil || !approves {
			return err
		}
		return l.noteRepair(tx, *r, who, "repair.approved")
	})
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
