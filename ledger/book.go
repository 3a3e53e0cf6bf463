package ledger

import (
	"fmt"
	"strings"
	"time"

	"paybook/models"
)

// Where a row came from.
const (
	sourceCallback  = "callback"
	sourceImport    = "import"
	sourceShop      = "shop"      // of an order's move: the shop's own act
	sourceReconcile = "reconcile" // a repair, from a statement's row
)

var reversalOf = map[models.TransactionKind]models.TransactionKind{
	models.Refund:     models.RefundReversal,
	models.Chargeback: models.ChargebackReversal,
}

// book decides one event: cheap answers first, then the row it is about, then the order. The text says why, when it is not applied.
func (e *engine) book(d *delivery, ev models.Event) (models.Outcome, string) {
	if ev.TestMode {
		return models.OutcomeTestMode, "an event of the other mode (test or live) than this account's"
	}
	if outcome, ok := unmoved[ev.Kind]; ok {
		return outcome, ev.Detail
	}
	ev = e.withParent(d.account, ev)
	if ev.Kind == models.RefundTotal {
		return e.bookTotal(d, ev)
	}
	m, ok := meanings[ev.Kind]
	if !ok {
		return models.OutcomeIgnored, ""
	}
	k := e.resolve(d.account, m.kind, ev)
	if known := e.rows[k]; ev.OnlyKnown && (known == nil || known.gone) {
		return models.OutcomeNoted, "nothing was booked that it could be about"
	}
	e.settleNames(d.account, m.kind, ev, k)
	defer e.used(d.account, ev)
	r := e.rows[k]
	if r != nil && r.gone && r.Event == models.PaymentVoided {
		return models.OutcomeDuplicate, "" // it has ended an authorisation, and is no row any more
	}
	if r != nil && !r.gone {
		for _, t := range e.twins(r, ev) {
			r = e.merge(r, t)
			e.inherit(r, d.source)
		}
		return e.bookAgain(d, r, m, ev)
	}
	r = e.freshRow(d, k, m, ev)
	for _, t := range e.twins(r, ev) {
		e.merge(r, t)
	}
	e.place(r, ev.Kind, d.source)
	if ev.Kind == models.DisputeWon {
		e.winBack(d, r, ev)
	}
	return r.Outcome, r.Detail
}

func (e *engine) freshRow(d *delivery, k key, m meaning, ev models.Event) *row {
	r := &row{Transaction: models.Transaction{
		Account: k.account, Kind: k.kind, TransactionID: k.id, ParentID: ev.ParentID, OrderID: ev.OrderID,
		RefundOrderID: ev.RefundOrderID, AmountMinor: ev.Money.Minor, Currency: ev.Money.Currency, PayerMinor: ev.PayerMinor,
		Status: m.status, Event: ev.Kind, Source: d.source, CallbackID: d.callback, OccurredAt: micros(ev.OccurredAt),
		CreatedAt: e.now, UpdatedAt: e.now,
	}}
	if ev.TransactionID != "" && ev.TransactionID != k.id && k.id == shopPrefix+ev.RefundOrderID {
		r.ProviderID = ev.TransactionID
	}
	if ev.RunningTotal {
		r.RefundedMinor, r.Derived = ev.Money.Minor, true
	}
	if ev.Kind == models.DisputeLost {
		r.LostAt = r.OccurredAt
	}
	e.rows[k] = r
	return r
}

// isRepeat is true when an event tells a settled row nothing new: the way of most duplicates, which then lock no order.
func (e *engine) isRepeat(r *row, m meaning, ev models.Event) bool {
	if r.Derived && !ev.RunningTotal {
		return false // it tells the refund's own sum at last
	}
	return r.Outcome != models.OutcomeNoOrder && r.Event == ev.Kind && r.Status == m.status && !differs(r, ev) &&
		(r.OrderID == "" || ev.OrderID == "" || r.OrderID == ev.OrderID) && r.ProviderID == "" && r.RefundOrderID == ev.RefundOrderID
}

// differs says whether an event tells another content of the same movement.
func differs(r *row, ev models.Event) bool {
	if ev.RunningTotal {
		return r.RefundedMinor != ev.Money.Minor || r.Currency != ev.Money.Currency
	}
	if ev.Kind == models.PaymentVoided && ev.Money.Minor == 0 { // without a sum it says nothing against the one it was booked with
		return false
	}
	return r.AmountMinor != ev.Money.Minor || r.Currency != ev.Money.Currency ||
		ev.OrderID != "" && r.OrderID != "" && ev.OrderID != r.OrderID && r.Kind == models.Payment
}

// bookAgain is an event about a movement we already have.
func (e *engine) bookAgain(d *delivery, r *row, m meaning, ev models.Event) (models.Outcome, string) {
	e.learn(r, ev)
	e.confirm(d, r, m)
	switch {
	case r.Event == models.RepairReversed && !ev.RunningTotal:
		return e.revive(d, r, m, ev)
	case ev.RunningTotal:
		return e.bookRunningAgain(d, r, m, ev)
	case e.learnExact(r, ev):
		was := r.AmountMinor
		if r.AmountMinor = ev.Money.Minor; r.AmountMinor != was || r.Outcome == models.OutcomeNoOrder {
			e.place(r, r.Event, d.source)
		}
		return models.OutcomeDuplicate, ""
	case r.Status == models.StatusSucceeded && e.isNewCapture(r, ev):
		return e.capture(d, r, ev)
	case r.Status == models.StatusSucceeded && m.status == models.StatusSucceeded && differs(r, ev) && !isPart(r, ev) && !e.isReplaced(r, ev):
		return e.bookConflict(r, ev)
	case r.Kind == models.Chargeback:
		return e.bookDisputeAgain(d, r, m, ev)
	}
	was := rankOf(r)
	failed := m.kind == models.Refund && m.rank == rankEnded
	if at := micros(ev.OccurredAt); failed && was == rankEnded && at.After(r.OccurredAt) { // a success between two failures may yet be told
		r.OccurredAt, r.dirty = at, true
	}
	switch {
	// of two with one time (some providers count whole seconds, or tell no time of the telling) the one that came last is the later
	case failed && r.Status == models.StatusSucceeded && !micros(ev.OccurredAt).Before(r.OccurredAt):
		return e.reverse(d, r, ev)
	case m.kind == models.Refund && was == rankEnded && m.rank == rankSucceeded && micros(ev.OccurredAt).Before(r.OccurredAt):
		return e.succeedLate(d, r, m, ev)
	case ev.Kind == models.RefundPending && was == rankSucceeded && r.AmountMinor != ev.Money.Minor:
		return e.askedOtherwise(r, ev)
	case m.rank > was:
		return e.advance(d, r, m, ev)
	case r.Outcome == models.OutcomeNoOrder: // perhaps its order or its payment is here by now
		if ev.Kind == models.PaymentFinished {
			r.Event = ev.Kind
		}
		e.place(r, r.Event, r.Source)
		e.healed(r)
		if r.Outcome != models.OutcomeNoOrder {
			return r.Outcome, r.Detail
		}
	case ev.Kind == models.PaymentFinished && r.Event != ev.Kind: // paid before, as is known; now it can't be refunded any more
		r.Event, r.dirty = ev.Kind, true
		return models.OutcomeNoted, ""
	case m.rank == rankEnded && was >= rankSucceeded && d.source == sourceImport && !ev.OccurredAt.After(r.OccurredAt):
		// an attempt of the shop's history that failed before the one that did not
	case m.rank == rankEnded && was >= rankSucceeded:
		return models.OutcomeNotAllowed, fmt.Sprintf("stale: %s has already %s", r.ShownID(), r.Status)
	}
	if r.Kind == models.Payment && r.Status == models.StatusSucceeded {
		e.placeWaiting(r) // a repeat can bring the name that a refund has been waiting for
	}
	return models.OutcomeDuplicate, ""
}

// learn adds what an earlier telling did not know: the order, the provider's id.
func (e *engine) learn(r *row, ev models.Event) {
	if r.OrderID == "" && ev.OrderID != "" {
		r.OrderID, r.dirty = ev.OrderID, true
	}
	if r.ParentID == "" && ev.ParentID != "" {
		r.ParentID, r.dirty = ev.ParentID, true
	}
	if r.RefundOrderID == "" && ev.RefundOrderID != "" {
		r.RefundOrderID, r.dirty = ev.RefundOrderID, true
	}
	if r.ProviderID == "" && ev.TransactionID != "" && r.Kind == models.Refund && r.TransactionID != ev.TransactionID && isStandIn(r) {
		r.ProviderID, r.dirty = ev.TransactionID, true
	}
	late := r.Event == models.PaymentFinished || r.Event == models.PaymentCaptured && ev.TransactionID == r.TransactionID
	if late && ev.Kind != r.Event && meanings[ev.Kind].rank == rankSucceeded && ev.OccurredAt.Before(r.OccurredAt) {
		r.OccurredAt, r.dirty = micros(ev.OccurredAt), true // the money came then
	}
}

// advance moves a row on and lets it act on its order. The time is the time of the money: it changes with the status only.
func (e *engine) advance(d *delivery, r *row, m meaning, ev models.Event) (models.Outcome, string) {
	if r.Status != m.status {
		if r.Event == models.RefundPending && m.rank == rankSucceeded && !ev.RunningTotal && r.Money() != ev.Money {
			r.Detail = askedFor + r.Money().String() + ", refunded " + ev.Money.String()
		}
		r.OccurredAt = micros(ev.OccurredAt)
		if !ev.RunningTotal {
			r.AmountMinor, r.Currency = ev.Money.Minor, ev.Money.Currency
		}
		if ev.PayerMinor != 0 {
			r.PayerMinor = ev.PayerMinor
		}
	}
	on := ev.Kind
	if capturesUnder(r, ev) {
		ev.Kind = models.PaymentCaptured
	}
	r.Status, r.Event, r.Source, r.CallbackID, r.dirty = m.status, ev.Kind, d.source, d.callback, true
	e.place(r, on, d.source)
	return r.Outcome, r.Detail
}

// bookConflict keeps what we hold and says so: a genuine message with the same id and another content is an alarm, not a repeat.
func (e *engine) bookConflict(r *row, ev models.Event) (models.Outcome, string) {
	detail := fmt.Sprintf("booked as %s, a later message says %s", r.Money(), ev.Money)
	if ev.OrderID != "" && ev.OrderID != r.OrderID {
		detail += fmt.Sprintf(" for order %s, booked for %s", ev.OrderID, r.OrderID)
	}
	return e.contradict(r, detail)
}

// contradict notes on a row that a message says otherwise. One that does not fit its order, or waits for it, shows it when it fits; but of
// captures that wait the one that is too much may yet be voided (weighCaptures tells when the order is here).
func (e *engine) contradict(r *row, detail string) (models.Outcome, string) {
	switch {
	case r.Outcome == models.OutcomeApplied:
		r.Outcome, r.Detail, r.dirty = models.OutcomeConflict, detail, true
	case remarkOf(r.Detail) == "" && r.Event != models.PaymentCaptured:
		r.Detail, r.dirty = strings.TrimPrefix(r.Detail+"; "+detail, "; "), true
	}
	return models.OutcomeConflict, detail
}

// askedOtherwise is the shop's request of a refund that was then made with another sum. What the provider says has moved, and it is for
// people to see.
func (e *engine) askedOtherwise(r *row, ev models.Event) (models.Outcome, string) {
	detail := askedFor + ev.Money.String() + ", refunded " + r.Money().String()
	switch {
	case remarkOf(r.Detail) != "":
		return models.OutcomeDuplicate, ""
	case r.Outcome == models.OutcomeApplied:
		r.Outcome, r.Detail = models.OutcomeAmountMismatch, detail
	default:
		r.Detail += "; " + detail
	}
	r.dirty = true
	return models.OutcomeAmountMismatch, detail
}

// reverse books a refund that came back: a row of its own with its own date, so that the day of the refund stays as it was.
func (e *engine) reverse(d *delivery, refund *row, ev models.Event) (models.Outcome, string) {
	k := key{refund.Account, models.RefundReversal, refund.TransactionID}
	if e.rows[k] != nil {
		return models.OutcomeDuplicate, ""
	}
	back := e.reversalRow(d, k, refund, ev)
	e.place(back, ev.Kind, d.source)
	return back.Outcome, back.Detail
}

func (e *engine) reversalRow(d *delivery, k key, of *row, ev models.Event) *row {
	back := &row{Transaction: models.Transaction{
		Account: k.account, Kind: k.kind, TransactionID: k.id, ProviderID: of.ProviderID, ParentID: of.ParentID, OrderID: of.OrderID,
		RefundOrderID: of.RefundOrderID, AmountMinor: of.AmountMinor, Currency: of.Currency, Status: models.StatusSucceeded,
		Event: ev.Kind, Source: d.source, CallbackID: d.callback, OccurredAt: micros(ev.OccurredAt), CreatedAt: e.now, UpdatedAt: e.now,
	}}
	e.rows[k] = back
	return back
}

// succeedLate is a refund's success told after its failure but from before it: both happened, in that order.
func (e *engine) succeedLate(d *delivery, r *row, m meaning, ev models.Event) (models.Outcome, string) {
	failure := models.Event{Kind: r.Event, OccurredAt: r.OccurredAt}
	outcome, detail := e.advance(d, r, m, ev)
	e.reverse(d, r, failure)
	return outcome, detail
}

// micros is what both databases keep of a time.
func micros(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
