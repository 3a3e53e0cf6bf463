package ledger

import (
	"cmp"
	"slices"

	"paybook/models"
)

// placeWaiting places refunds and disputes that came before their payment, in the order in which the money moved: of two that are too
// much together the later one is.
func (e *engine) placeWaiting(p *row) {
	for _, r := range e.waitingFor(p) {
		if r.Outcome == models.OutcomeNoOrder {
			e.place(r, r.Event, r.Source)
			e.healed(r)
		}
	}
}

// waitingFor lists what is parked under a payment's names.
func (e *engine) waitingFor(p *row) (list []*row) {
	for k, waiting := range e.parked {
		if k.account == p.Account && e.payment(k.account, k.id) == p {
			list = append(list, waiting...)
		}
	}
	slices.SortFunc(list, byTime)
	return list
}

// byTime sorts rows in the order in which their money moved.
func byTime(a, b *row) int {
	return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.Kind, b.Kind))
}

// park lets a refund or dispute wait for its payment.
func (e *engine) park(r *row, format string, args ...any) {
	r.put(models.OutcomeNoOrder, format, args...)
	k := key{r.Account, models.Payment, r.ParentID}
	for _, waiting := range e.parked[k] {
		if waiting == r {
			return
		}
	}
	e.parked[k] = append(e.parked[k], r)
}
