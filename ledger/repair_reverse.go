package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"paybook/models"
)

// Taking a repair back. Its rows stay, as reversed, and beside each an equal opposite one of its own key is written, reversed too: in every
// sum the two come to nothing, and neither is money that a statement could miss. The order returns to where it was, its units and its window
// with it, the shop is told, and the gap is open again. That is only right while nothing else has come of it, so it is refused as soon as a
// callback has told of the money, or the order has moved on.

// ReverseRepair takes back what a repair has booked, order by order. reason is kept, and needed. What cannot be taken back any more stays
// booked, and its item says why; the repair is reversed when all of it is. One that is not applied wraps ErrState.
func (l *Ledger) ReverseRepair(ctx context.Context, id, who, reason string) (models.Repair, error) {
	if strings.TrimSpace(reason) == "" {
		return models.Repair{}, errors.New("reverse repair: a reason is needed, it is what an auditor will read")
	}
	return l.underRepair(ctx, id, func(ctx context.Context, lease *Lease, r *models.Repair) error {
		if r.State != models.RepairApplied {
			return fmt.Errorf("it is %s, only an applied one can be reversed: %w", r.State, ErrState)
		}
		r.Reason, r.ReversedBy = reason, who
		for _, family := range families(r.Items) {
			if err := l.patientTx(ctx, func(tx *gorm.DB) error { return l.reverseFamily(tx, lease, *r, slices.Clone(family)) }); err != nil {
				return err
			}
		}
		return l.endReverse(ctx, lease, r)
	})
}

// families are the booked items of each order; those whose order is not here go alone.
func families(items []models.RepairItem) (list [][]models.RepairItem) {
	at := map[string]int{}
	for _, i := range items {
		if i.State != models.ItemBooked {
			continue
		}
		of := i.GapID
		if i.Undo != nil { // also of one that it did not move: the other payment
			of = "order " + i.Undo.Before.OrderID
		}
		n, known := at[of]
		if !known {
			n = len(list)
			at[of], list = n, append(list, nil)
		}
		list[n] = append(list[n], i)
	}
	return list
}

// reverseFamily takes back what was booked of one order, the last first.
func (l *Ledger) reverseFamily(tx *gorm.DB, lease *Lease, r models.Repair, items []models.RepairItem) error {
	if err := lease.hold(tx); err != nil {
		return err
	}
	if err := l.nextTurn(tx, r.Account); err != nil {
		return err
	}
	e := l.newEngine(tx, l.clock())
	if err := e.gatherBooked(r, items); err != nil {
		return err
	}
	if why := e.irreversible(r, items); why != "" {
		for _, i := range items {
			i.Result = "not reversed: " + why
			if err := l.putResult(tx, i, models.ItemBooked); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range slices.Backward(items) {
		e.takeBackItem(r, i)
	}
	if err := e.returnOrder(items, r); err != nil {
		return err
	}
	if err := e.write(); err != nil {
		return err
	}
	return l.putReversed(tx, r, items)
}

// putReversed writes that items are taken back, and opens their gaps again.
func (l *Ledger) putReversed(tx *gorm.DB, r models.Repair, items []models.RepairItem) error {
	ids := make([]string, len(items))
	for n, i := range items {
		ids[n] = i.GapID
		i.State, i.Result = models.ItemReversed, "reversed: "+r.Reason
		if err := l.putResult(tx, i, models.ItemBooked); err != nil {
			return err
		}
	}
	b := l.sql("UPDATE gaps SET state = 'open', resolution = '', resolved_at = NULL, healed_run = '' WHERE state = 'resolved' AND healed_run = ")
	b.arg(repairPrefix + r.ID).add(" AND id IN ").list(anys(ids)...).add(" RETURNING id")
	var open []string
	if err := query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		open = append(open, id)
		return err
	}); err != nil {
		return err
	}
	return l.noteGaps(tx, GapReopened, r.ReversedBy, open, func(string) string { return "repair " + r.ID + " reversed: " + r.Reason })
}

// endReverse closes the repair when nothing of it is booked any more.
func (l *Ledger) endReverse(ctx context.Context, lease *Lease, r *models.Repair) error {
	who, reason := r.ReversedBy, r.Reason
	return l.patientTx(ctx, func(tx *gorm.DB) (err error) {
		if *r, err = l.heldRepair(tx, lease, r.ID); err != nil {
			return err
		}
		was, at := r.State, l.clock()
		r.ReversedBy, r.ReversedAt, r.Reason = who, &at, reason
		if r.Count(models.ItemBooked) == 0 {
			r.State = models.RepairUndone
		}
		if err := l.putState(tx, *r, was); err != nil {
			return err
		}
		return l.noteRepair(tx, *r, who, "repair.reversed")
	})
}
