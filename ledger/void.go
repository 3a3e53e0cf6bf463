package ledger

import "paybook/models"

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
	case void.TransactionID == void.ParentID && p.TransactionID != void.ParentID:
		void.put(models.OutcomeNoted, "what was captured of the authorisation stays")
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
	for k, waiting := range e.parked {
		if k.account != p.Account || e.payment(k.account, k.id) != p {
			continue
		}
		for _, r := range waiting {
			if r.Event == models.PaymentVoided && r.Outcome == models.OutcomeNoOrder {
				e.place(r, r.Event, r.Source)
				e.healed(r)
			}
		}
	}
}
