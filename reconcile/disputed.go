package reconcile

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// A statement may name a chargeback by the money, where the callbacks named it by the dispute; the payment's name is what they share. Of
// several disputes of one payment only the first goes by it, so the others are looked for beside it.

// readDisputed reads the payments' other chargebacks for entries that know one only by the name they share.
func (r *run) readDisputed(ctx context.Context, list []*held, rows map[ledger.Name]models.Transaction) error {
	for _, h := range list {
		if h.Kind != models.Chargeback && h.Kind != models.ChargebackReversal {
			continue
		}
		for _, alias := range h.Aliases {
			t, found := rows[r.name(name{h.Kind, alias})]
			if key := localOf(&t).key(); found && t.OrderID != "" && r.disputed[key] == nil {
				history, err := r.book.OrderHistory(ctx, t.OrderID)
				if err != nil && !errors.Is(err, ledger.ErrNotFound) { // not known yet: its payment waits for it
					return err
				}
				r.disputed[key] = slices.DeleteFunc(history.Transactions, func(o models.Transaction) bool {
					return o.Account != t.Account || o.Kind != t.Kind || o.ParentID != t.ParentID
				})
			}
		}
	}
	return nil
}

// byAlias is the row that has an entry's further name; of a payment's chargebacks all, those that are nearest in time first.
func (r *run) byAlias(e *models.Entry, found *models.Transaction) []claim {
	list := []claim{{row: found, by: byAlias}}
	for _, t := range r.disputed[localOf(found).key()] {
		if t.TransactionID != found.TransactionID {
			list = append(list, claim{row: &t, by: byAlias})
		}
	}
	away := func(c claim) time.Duration { return c.row.OccurredAt.Sub(e.OccurredAt).Abs() }
	slices.SortStableFunc(list, func(a, b claim) int { return cmp.Compare(away(a), away(b)) })
	return list
}
