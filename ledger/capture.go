package ledger

import (
	"fmt"

	"paybook/models"
)

// Money that is authorised first and captured later is one payment: the row of the authorisation, which the capture moves on, and the
// capture's own id is a name of it. The order is compared with what was captured. Several captures of one authorisation add up until the
// order is paid; the authorised sum is never added to them.

// ofAuthorisation says whether a capture names the authorisation it is of. Without that, its aliases say what it is a capture of.
func ofAuthorisation(ev models.Event) bool {
	return ev.Kind == models.PaymentCaptured && ev.ParentID != ""
}

// isNewCapture says whether an event tells of a capture that we do not know: by a name that nothing had before.
func (e *engine) isNewCapture(r *row, ev models.Event) bool {
	if ev.Kind != models.PaymentCaptured {
		return false
	}
	for _, name := range namesOf(ev) {
		if name != r.TransactionID && e.fresh[key{r.Account, models.Payment, name}] {
			return true
		}
	}
	return false
}

// used ends the newness of a capture's names, so that its repeat in the same batch is one.
func (e *engine) used(account string, ev models.Event) {
	if ev.Kind == models.PaymentCaptured {
		for _, name := range namesOf(ev) {
			delete(e.fresh, key{account, models.Payment, name})
		}
	}
}

// isPart says whether a capture told again may be one of several that make up the row.
func isPart(r *row, ev models.Event) bool {
	return ev.Kind == models.PaymentCaptured && r.Event == ev.Kind && r.Currency == ev.Money.Currency && ev.Money.Minor < r.AmountMinor
}

// capture is a new capture of a payment that is booked as succeeded: of an authorisation that counts as paid, or one more part.
func (e *engine) capture(d *delivery, r *row, ev models.Event) (models.Outcome, string) {
	first := r.Event != models.PaymentCaptured
	switch {
	case r.Currency != ev.Money.Currency, first && r.AmountMinor != ev.Money.Minor:
		return e.bookConflict(r, ev)
	case !first && counts(r) && !e.l.elsewhere[r.Account]:
		outcome, _ := e.bookConflict(r, ev)
		return outcome, fmt.Sprintf("captured as %s, and once more %s", r.Money(), ev.Money)
	}
	r.Event, r.CallbackID, r.dirty = ev.Kind, d.callback, true
	if !first {
		r.AmountMinor += ev.Money.Minor
		if at := micros(ev.OccurredAt); at.Before(r.OccurredAt) {
			r.OccurredAt = at
		}
	}
	if first && r.Outcome != models.OutcomeNoOrder {
		e.placeWaiting(r) // a refund may have waited for the capture's name
		return r.Outcome, r.Detail
	}
	e.place(r, ev.Kind, d.source)
	return r.Outcome, r.Detail
}
