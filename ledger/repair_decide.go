package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gorm.io/gorm"

	"paybook/models"
)

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

// heldRepair is a repair as it is while the transaction holds its lease. One that is not as the audit log says is refused: what is booked,
// and who may apply it, hang on its rows.
func (l *Ledger) heldRepair(tx *gorm.DB, lease *Lease, id string) (models.Repair, error) {
	if err := lease.hold(tx); err != nil {
		return models.Repair{}, err
	}
	r, err := l.repair(tx, id)
	if err != nil {
		return r, err
	}
	unlike, err := l.unlikeLog(tx, r)
	if err == nil && unlike != "" {
		err = fmt.Errorf("it is not what was planned and logged, somebody has changed its rows in the database: it %s; plan again", unlike)
	}
	return r, err
}

func (l *Ledger) approve(r *models.Repair, who string) {
	at := l.clock()
	r.State, r.ApprovedBy, r.ApprovedAt = models.RepairApproved, who, &at
}

// noteGaps tells the log what a repair has made of gaps.
func (l *Ledger) noteGaps(tx *gorm.DB, action, who string, ids []string, text func(id string) string) error {
	gaps, err := l.gapsByID(tx, ids)
	if err != nil {
		return err
	}
	entries := make([]AuditEntry, 0, len(gaps))
	for _, id := range slices.Sorted(maps.Keys(gaps)) {
		g := gaps[id]
		entries = append(entries, AuditEntry{Actor: who, Action: action, Subject: gapSubject(id), Detail: GapDetail{Text: text(id), Now: standing(&g)}})
	}
	return l.audit(tx, entries...)
}
