package ledger

import (
	"fmt"

	"paybook/models"
)

// A running total of a payment's refunds (refund.total) is for providers, or shops, that do not tell each refund by its id. It is never
// added to anything: what is refunded is the larger of the refunds known by id and the highest total told, less what is known not to
// have gone out after all. So it does not matter in which order totals, refunds and their failures arrive.

// totalID is what a total is kept under while its payment is not booked.
func totalID(payment string) string { return payment + ":total" }

func (e *engine) bookTotal(d *delivery, ev models.Event) (models.Outcome, string) {
	for _, name := range namesOf(ev) {
		if p := e.payment(d.account, name); p != nil {
			return e.raiseTotal(p, ev.Money, d.source)
		}
	}
	k := key{d.account, models.Refund, totalID(ev.TransactionID)}
	r := e.rows[k]
	if r == nil {
		r = e.freshRow(d, k, meaning{models.Refund, models.StatusPending, rankPending}, ev)
		r.ParentID = ev.TransactionID
	}
	r.AmountMinor, r.dirty = max(r.AmountMinor, ev.Money.Minor), true
	e.place(r, ev.Kind, d.source)
	return r.Outcome, r.Detail
}

// placeTotal hands a total that waited to its payment; the row that kept it is then no longer needed.
func (e *engine) placeTotal(r *row, source string) {
	p := e.payment(r.Account, r.ParentID)
	if p == nil {
		e.park(r, "%s", e.unbooked(r, p))
		return
	}
	outcome, _ := e.raiseTotal(p, r.Money(), source)
	r.put(outcome, "")
	r.gone = true
}

func (e *engine) raiseTotal(p *row, total models.Money, source string) (models.Outcome, string) {
	switch {
	case total.Currency != p.Currency:
		return models.OutcomeCurrencyMismatch, fmt.Sprintf("refund total %s of a payment of %s", total, p.Money())
	case total.Minor > p.AmountMinor:
		return models.OutcomeNotAllowed, fmt.Sprintf("refund total %s is more than the payment of %s", total, p.Money())
	case total.Minor <= p.RefundedMinor:
		return models.OutcomeNoted, ""
	}
	p.RefundedMinor, p.dirty = total.Minor, true
	if e.l.elsewhere[p.Account] {
		e.tell(p, models.RefundTotal, source)
		return models.OutcomeApplied, ""
	}
	if o := e.orderOf(p); o != nil && paysFor(p, o) && e.refundedOf(o, p) != o.RefundedMinor && e.recount(o, p, p, models.RefundTotal, source) {
		return models.OutcomeApplied, ""
	}
	return models.OutcomeNoted, ""
}

// refundedOf is what has gone back of an order: a voided capture is no refund of it any more when another has taken its place.
func (e *engine) refundedOf(o *orderWork, p *row) int64 {
	return max(e.refunded(p)-e.replaced(o, p), 0)
}

// refunded is what has gone back of a payment, as far as we know.
func (e *engine) refunded(p *row) int64 {
	byID, none := e.refundedByID(p)
	return max(byID, p.RefundedMinor-none)
}

// refundedByID is the sum of a payment's refunds that count, less those that came back; and the sum of refunds that are known by id
// and have not gone out: pending, failed, or come back. A total may still have them.
func (e *engine) refundedByID(p *row) (sum, none int64) {
	for _, r := range e.rows {
		if r.gone || r.Account != p.Account || r.ParentID != p.TransactionID || r.Currency != p.Currency || r.Event == models.RefundTotal ||
			r.Status == models.StatusReversed {
			continue
		}
		switch {
		case r.Kind == models.Refund && r.Status == models.StatusSucceeded && counts(r):
			sum += r.AmountMinor
		case r.Kind == models.Refund && r.Status != models.StatusSucceeded:
			none += r.AmountMinor
		case r.Kind == models.RefundReversal && counts(r):
			sum -= r.AmountMinor
			none += r.AmountMinor
		}
	}
	return sum, none
}
