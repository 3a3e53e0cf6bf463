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

// reversalSuffix ends the id of the opposite row.
const reversalSuffix = ":reversal"

// opposite is the kind of movement that takes another back.
var opposite = map[models.TransactionKind]models.TransactionKind{
	models.Payment: models.Refund, models.Refund: models.RefundReversal, models.RefundReversal: models.Refund,
	models.Chargeback: models.ChargebackReversal, models.ChargebackReversal: models.Chargeback,
}

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

// gatherBooked reads the items' rows and all that hangs on them, and locks their orders.
func (e *engine) gatherBooked(r models.Repair, items []models.RepairItem) error {
	wanted, orders := map[key]bool{}, map[string]bool{}
	for _, i := range items {
		k := itemKey(r, i)
		wanted[k], e.queued[k] = true, true
		k.kind, k.id = opposite[i.Kind], i.BookedAs+reversalSuffix
		wanted[k] = true
		if i.Undo != nil {
			orders[i.Undo.Before.OrderID] = true
		}
	}
	e.load(wanted)
	if err := e.pipe.flush(); err != nil {
		return err
	}
	for _, row := range e.rows {
		if row.OrderID != "" {
			orders[row.OrderID] = true
		}
	}
	if err := e.lock(orders, orders); err != nil {
		return err
	}
	// A callback that repeats what was booked locks no order, only the row: it has told of it before this, or finds the row reversed.
	p := pipe{tx: e.tx}
	e.l.readTransactions(&p, e.queued, func(t models.Transaction) error {
		if row := e.rows[key{t.Account, t.Kind, t.TransactionID}]; row == nil || *row.was != t {
			return errRetry
		}
		return nil
	})
	return p.flush()
}

func itemKey(r models.Repair, i models.RepairItem) key { return key{r.Account, i.Kind, i.BookedAs} }

// irreversible says why items cannot be taken back any more; "" when they can.
func (e *engine) irreversible(r models.Repair, items []models.RepairItem) string {
	own, first := map[key]bool{}, *items[0].BookedAt
	for _, i := range items {
		own[itemKey(r, i)] = true
		if i.BookedAt.Before(first) {
			first = *i.BookedAt
		}
	}
	for _, i := range items {
		switch row := e.rows[itemKey(r, i)]; {
		case row == nil:
			return fmt.Sprintf("%s %s is not in the book any more", i.Kind, i.BookedAs)
		case !strings.HasPrefix(row.CallbackID, repairPrefix):
			return fmt.Sprintf("callback %s has told of %s %s since, so the money is there; give it back at the provider", row.CallbackID, i.Kind, i.TransactionID)
		case row.Status != models.StatusSucceeded || !row.UpdatedAt.Equal(*i.BookedAt):
			return fmt.Sprintf("%s %s has changed since", i.Kind, i.TransactionID)
		}
	}
	for _, k := range sortedKeys(e.rows) {
		if row := e.rows[k]; !own[k] && !row.UpdatedAt.Before(first) {
			return fmt.Sprintf("%s %s was booked or changed with it or after it", row.Kind, row.ShownID())
		}
	}
	return e.movedOn(items)
}

// movedOn says that an order has moved otherwise than by these items.
func (e *engine) movedOn(items []models.RepairItem) string {
	last := int64(0)
	for _, i := range items {
		if !i.Undo.Moved() {
			continue
		}
		if last != 0 && last != i.Undo.Before.Version {
			return "order " + i.Undo.Before.OrderID + " has moved in between"
		}
		last = i.Undo.After
	}
	for id, o := range e.orders {
		if last != 0 && o.Version != last {
			return fmt.Sprintf("order %s has moved on since and is %s", id, o.Status)
		}
	}
	return ""
}

// takeBackItem makes an item's row count for nothing, and writes the opposite one.
func (e *engine) takeBackItem(r models.Repair, i models.RepairItem) {
	of := e.rows[itemKey(r, i)]
	why := short(fmt.Sprintf("repair %s, reversed by %s: %s", r.ID, r.ReversedBy, r.Reason), textMax)
	of.Status, of.Event, of.Outcome, of.Detail, of.dirty = models.StatusReversed, models.RepairReversed, models.OutcomeNoted, why, true
	k := key{of.Account, opposite[of.Kind], of.TransactionID + reversalSuffix}
	if e.rows[k] != nil { // it was booked and taken back before
		k.id += ":" + r.ID
	}
	e.rows[k] = &row{Transaction: models.Transaction{
		Account: k.account, Kind: k.kind, TransactionID: k.id, ParentID: parentOf(of), OrderID: of.OrderID, AmountMinor: of.AmountMinor,
		Currency: of.Currency, Status: models.StatusReversed, Event: models.RepairReversed, Outcome: models.OutcomeNoted, Detail: why,
		Source: sourceReconcile, CallbackID: repairPrefix + r.ID, OccurredAt: e.now, CreatedAt: e.now, UpdatedAt: e.now,
	}}
	if of.Kind == models.Refund {
		e.derive(of)
	}
}

// parentOf is the payment that a row is about.
func parentOf(r *row) string {
	if r.Kind == models.Payment {
		return r.TransactionID
	}
	return r.ParentID
}

// returnOrder gives the order back the state it had before the first of the items, and tells the shop.
func (e *engine) returnOrder(items []models.RepairItem, r models.Repair) error {
	moved := slices.DeleteFunc(slices.Clone(items), func(i models.RepairItem) bool { return !i.Undo.Moved() })
	if len(moved) == 0 {
		for _, i := range items {
			if e.l.elsewhere[r.Account] {
				e.tell(e.rows[itemKey(r, i)], models.RepairReversed, sourceReconcile)
			}
		}
		return nil
	}
	was, by := moved[0].Undo.Before, e.rows[itemKey(r, moved[0])]
	o := e.orders[was.OrderID]
	o.RefundedMinor, o.PriorStatus, o.PaidAccount, o.PaidTransactionID = was.RefundedMinor, was.PriorStatus, was.PaidAccount, was.PaidTransactionID
	e.step(o, by, was.Status, models.RepairReversed, sourceReconcile)
	o.Stock, o.Shipped = was.Stock, was.Shipped
	return e.l.insertExpiries(e.tx, []models.Order{o.Order}) // its window may have ended unnoticed while it was paid
}

// putReversed writes that items are taken back, and opens their gaps again.
func (l *Ledger) putReversed(tx *gorm.DB, r models.Repair, items []models.RepairItem) error {
	ids := make([]string, len(items))
	var entries []AuditEntry
	for n, i := range items {
		ids[n] = i.GapID
		i.State, i.Result = models.ItemReversed, "reversed: "+r.Reason
		if err := l.putResult(tx, i, models.ItemBooked); err != nil {
			return err
		}
	}
	b := l.sql("UPDATE gaps SET state = 'open', resolution = '', resolved_at = NULL, healed_run = '' WHERE state = 'resolved' AND healed_run = ")
	b.arg(repairPrefix + r.ID).add(" AND id IN ").list(anys(ids)...).add(" RETURNING id")
	if err := query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		entries = append(entries, AuditEntry{Actor: r.ReversedBy, Action: "gap.reopened", Subject: "gap/" + id,
			Detail: map[string]string{"by": repairPrefix + r.ID, "reason": r.Reason}})
		return err
	}); err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b AuditEntry) int { return strings.Compare(a.Subject, b.Subject) })
	return l.audit(tx, entries...)
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
