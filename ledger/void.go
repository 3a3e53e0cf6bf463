package ledger

import (
	"strings"

	"paybook/models"
)

// A void takes a payment back before it is settled. What that means depends on how far the payment has come: an authorisation simply
// ends, and its order stays open for another payment; money that was taken is given back, which is a refund under the void's own id.

// endAuthorisation ends the payment that a void is about, if no money was taken by it; the void is then no movement of its own. False:
// it is a refund, or waits for its payment.
func (e *engine) endAuthorisation(void *row, source string) bool {
	p := e.payment(void.Account, void.ParentID)
	switch {
	case p == nil:
		return false
	case p.Status == models.StatusPending || p.Status == models.StatusAuthorised:
		p.Status, p.Event, p.OccurredAt, p.dirty = models.StatusClosed, models.PaymentVoided, void.OccurredAt, true
		p.Source, p.CallbackID = void.Source, void.CallbackID
		e.place(p, models.PaymentVoided, source)
		void.put(models.OutcomeApplied, "")
	case p.Event == models.PaymentVoided:
		void.put(models.OutcomeDuplicate, "")
	case p.Status != models.StatusSucceeded:
		void.put(models.OutcomeNoted, "the payment has come to nothing before")
	case void.TransactionID == void.ParentID && (p.TransactionID != void.ParentID || p.Event == models.PaymentCaptured):
		void.put(models.OutcomeNoted, "what was captured of the authorisation stays")
	case p.Event == models.PaymentCaptured && e.net(p) <= 0:
		void.put(models.OutcomeNoted, "all that was captured has been taken back before")
	default:
		if void.AmountMinor == 0 { // it was told as the end of something, without a sum: all of it
			void.AmountMinor, void.Currency, void.dirty = p.AmountMinor, p.Currency, true
		}
		return false
	}
	void.gone = true
	return true
}

// placeVoids places voids that came before the payment they end.
func (e *engine) placeVoids(p *row) {
	for _, r := range e.waitingFor(p) {
		if r.Event == models.PaymentVoided && r.Outcome == models.OutcomeNoOrder {
			e.place(r, r.Event, r.Source)
			e.healed(r)
		}
	}
}

// captureVoided is the void of one capture (models.Event.VoidsCapture), by the capture's id. It waits for that capture; the authorisation
// stays as it is, and another capture may pay the order. It is a refund of what was captured, until another capture takes its place.
const captureVoided models.EventKind = "payment.capture_voided"

// findCapture files the void of a capture under the payment that the capture is of. False: the capture is not booked, and the void waits
// for it. An authorisation that counts as paid stands for the capture that is not told yet.
func (e *engine) findCapture(void *row) bool {
	if void.Outcome != "" && void.Outcome != models.OutcomeNoOrder {
		return true // it was found before
	}
	p := e.payment(void.Account, void.TransactionID)
	if a := e.payment(void.Account, void.ParentID); p == nil && a != nil && a.Status == models.StatusSucceeded && a.Event != models.PaymentCaptured {
		p = a
	}
	switch {
	case p == nil:
		e.park(void, "its capture %q is not booked", void.TransactionID)
		return false
	case p.Status == models.StatusFailed || p.Status == models.StatusClosed:
		void.put(models.OutcomeNoted, "the capture has come to nothing before")
		void.gone = true
		return false
	}
	void.ParentID = p.TransactionID
	return true
}

// undone is what was captured of a payment and voided again.
func (e *engine) undone(p *row) (sum int64) {
	for _, r := range e.rows {
		if r.Kind == models.Refund && r.Event == captureVoided && r.Account == p.Account && r.ParentID == p.TransactionID && r.Currency == p.Currency &&
			counts(r) && !r.gone {
			sum += r.AmountMinor
		}
	}
	return sum
}

// net is what a payment has brought, less the captures of it that were voided.
func (e *engine) net(p *row) int64 { return p.AmountMinor - e.undone(p) }

// replaced is how much of the voided captures other captures have brought in again: no refund of the order any more.
func (e *engine) replaced(o *orderWork, p *row) int64 {
	if p.Event != models.PaymentCaptured {
		return 0
	}
	return min(e.undone(p), max(p.AmountMinor-o.AmountMinor, 0))
}

// lessCaptured lets a payment be weighed again that one capture less has gone into: it may now fit its order.
func (e *engine) lessCaptured(p *row, o *orderWork, source string) {
	if !paysFor(p, o) && p.Outcome == models.OutcomeAmountMismatch {
		e.place(p, models.PaymentCaptured, source)
	}
	e.weighCaptures(p, o)
}

// weighCaptures says of a payment that more was captured than its order is, and takes that back when what was too much is voided.
func (e *engine) weighCaptures(p *row, o *orderWork) {
	if p.Event != models.PaymentCaptured || !paysFor(p, o) {
		return
	}
	const captured = "captured "
	over := e.net(p) - o.AmountMinor
	switch {
	case over > 0 && p.Outcome == models.OutcomeApplied:
		p.put(models.OutcomeConflict, captured+"as %s, and once more %s", o.Money(), models.Money{Minor: over, Currency: p.Currency})
	case over <= 0 && p.Outcome == models.OutcomeConflict && strings.HasPrefix(p.Detail, captured):
		p.put(models.OutcomeApplied, "")
		p.Detail, p.dirty = "", true
	}
}
