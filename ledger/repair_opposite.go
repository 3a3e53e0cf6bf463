package ledger

import (
	"fmt"
	"slices"
	"strings"

	"paybook/models"
)

// reversalSuffix ends the id of the opposite row.
const reversalSuffix = ":reversal"

// opposite is the kind of movement that takes another back.
var opposite = map[models.TransactionKind]models.TransactionKind{
	models.Payment: models.Refund, models.Refund: models.RefundReversal, models.RefundReversal: models.Refund,
	models.Chargeback: models.ChargebackReversal, models.ChargebackReversal: models.Chargeback,
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
