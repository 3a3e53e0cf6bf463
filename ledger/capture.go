package ledger

import "paybook/models"

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

// capturesUnder says whether money told under an id of its own is the capture of an authorisation that has the row (PayPal's final
// capture).
func capturesUnder(r *row, ev models.Event) bool {
	return r.Kind == models.Payment && ev.Kind == models.PaymentSucceeded && ev.TransactionID != r.TransactionID &&
		(r.Event == models.PaymentAuthorised || r.Event == models.PaymentVoided)
}

// isReplaced says whether an authorisation that counts as paid is told after captures of its sum, all but one of which were voided.
func (e *engine) isReplaced(r *row, ev models.Event) bool {
	if ev.Kind != models.PaymentSucceeded || r.Event != models.PaymentCaptured || ev.TransactionID != r.TransactionID || ev.Money.Currency != r.Currency {
		return false
	}
	left := e.net(r)
	for _, void := range e.rows {
		if void.Event == captureVoided && void.Account == r.Account && void.ParentID == r.TransactionID && void.Outcome == models.OutcomeNoOrder {
			left -= void.AmountMinor
		}
	}
	return ev.Money.Minor == left
}

// capture is a new capture of a payment that is booked as succeeded: of an authorisation that counts as paid, which the first stands for,
// or one more part.
func (e *engine) capture(d *delivery, r *row, ev models.Event) (models.Outcome, string) {
	void := e.rows[key{r.Account, models.Refund, ev.TransactionID}]
	voided := void != nil && void.Event == captureVoided && void.ParentID == r.TransactionID && counts(void)
	first := r.Event != models.PaymentCaptured
	more := !voided && (!first || e.undone(r) > 0)
	if r.Currency != ev.Money.Currency || first && !more && r.AmountMinor != ev.Money.Minor {
		return e.bookConflict(r, ev)
	}
	r.Event, r.CallbackID, r.dirty = ev.Kind, d.callback, true
	if more {
		r.AmountMinor += ev.Money.Minor
		if at := micros(ev.OccurredAt); at.Before(r.OccurredAt) {
			r.OccurredAt = at
		}
	}
	if !more && r.Outcome != models.OutcomeNoOrder {
		e.placeWaiting(r) // a refund may have waited for the capture's name
		return r.Outcome, r.Detail
	}
	e.place(r, ev.Kind, d.source)
	e.retryRefused(r, nil, d.source)
	return r.Outcome, r.Detail
}
