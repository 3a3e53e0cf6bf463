package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"paybook/models"
)

// place decides how a row fits its order, and moves the order when it does. It is used for what has just been told and for what
// was parked alike.
func (e *engine) place(r *row, on models.EventKind, source string) {
	if on == captureVoided {
		on = models.PaymentVoided
	}
	remark := remarkOf(r.Detail)
	r.Detail, r.dirty = "", true
	e.placeKind(r, on, source)
	r.keepRemark(remark)
}

// keepRemark shows what contradicts a row once it fits otherwise.
func (r *row) keepRemark(remark string) {
	switch {
	case remark == "":
	case r.Outcome != models.OutcomeApplied:
		r.Detail += "; " + remark
	case strings.HasPrefix(remark, askedFor):
		r.put(models.OutcomeAmountMismatch, "%s", remark)
	default:
		r.put(models.OutcomeConflict, "%s", remark)
	}
}

// askedFor begins what is said of a refund that the shop asked for with another sum.
const askedFor = "asked for "

// remarkOf is what a row's detail says of contradicting messages about it, which it keeps wherever it is placed; "" for nothing.
func remarkOf(detail string) string {
	for part := range strings.SplitSeq(detail, "; ") {
		if strings.HasPrefix(part, askedFor) || strings.HasPrefix(part, "booked ") {
			return part
		}
	}
	return ""
}

func (e *engine) placeKind(r *row, on models.EventKind, source string) {
	switch r.Kind {
	case models.Payment:
		e.placePayment(r, on, source)
	case models.Refund:
		if r.Event == models.RefundTotal {
			e.placeTotal(r, source)
			return
		}
		e.placeRefund(r, on, source)
	case models.Chargeback:
		e.placeDispute(r, on, source)
	case models.RefundReversal, models.ChargebackReversal:
		e.placeReversal(r, on, source)
	default: // payouts have no order
		r.Outcome = models.OutcomeApplied
	}
}

func (r *row) put(outcome models.Outcome, format string, args ...any) {
	r.Outcome = outcome
	if format != "" {
		r.Detail = fmt.Sprintf(format, args...)
	}
}

// orderOf is the locked order a row belongs to; nil when there is none.
func (e *engine) orderOf(r *row) *orderWork { return e.orders[r.OrderID] }

// paysFor says whether p is the payment that paid o. A refund or dispute of any other payment is none of the order's business.
func paysFor(p *row, o *orderWork) bool {
	return o.PaidAccount == p.Account && o.PaidTransactionID == p.TransactionID
}

func (e *engine) placePayment(r *row, on models.EventKind, source string) {
	if r.Status != models.StatusSucceeded {
		defer e.placeVoids(r)
	}
	if e.l.elsewhere[r.Account] {
		r.put(models.OutcomeApplied, "")
		e.tell(r, on, source)
		e.placeWaiting(r)
		return
	}
	o := e.orderOf(r)
	if o == nil {
		r.put(models.OutcomeNoOrder, "order %q is not known", r.OrderID)
		return
	}
	r.put(models.OutcomeApplied, "")
	switch {
	case r.Status == models.StatusSucceeded:
		e.placeMoney(r, o, on, source)
		if paysFor(r, o) {
			if on != models.PaymentCaptured {
				on = models.RefundTotal // one told before the order was here
			}
			e.recount(o, r, r, on, source)
		}
		e.placeWaiting(r)
		e.weighCaptures(r, o)
	case on == models.PaymentClosed:
		e.move(o, r, on, source, never) // an attempt that ends after the order moved on changes nothing
	}
}

// placeMoney is money for an order that is here.
func (e *engine) placeMoney(r *row, o *orderWork, on models.EventKind, source string) {
	_, canPay := moves(o.Status, models.PaymentSucceeded, func(condition) bool { return e.closedByProvider(o) })
	switch {
	case o.PaidTransactionID != "" && !paysFor(r, o):
		r.put(models.OutcomeDuplicatePayment, "order %s is already paid by %s %s", o.OrderID, o.PaidAccount, o.PaidTransactionID)
	case paysFor(r, o):
		// it is the payment that the order was imported with
	case !canPay && o.Status == models.Closed:
		r.put(models.OutcomePaidAfterClose, "order %s was closed before the money came", o.OrderID)
	case r.Currency != o.Currency:
		r.put(models.OutcomeCurrencyMismatch, "paid %s, the order is %s", r.Money(), o.Money())
	case e.net(r) != o.AmountMinor:
		r.put(models.OutcomeAmountMismatch, "paid %s, the order is %s", models.Money{Minor: e.net(r), Currency: r.Currency}, o.Money())
	case !canPay && o.PaidTransactionID == "" && settled(o.Status):
		// an order imported as paid, meeting the payment that paid it
		o.PaidAccount, o.PaidTransactionID = r.Account, r.TransactionID
		e.step(o, r, o.Status, on, source)
	case !canPay:
		r.put(models.OutcomeNotAllowed, "order %s is %s", o.OrderID, o.Status)
	case !e.regain(o):
		r.put(models.OutcomePaidAfterClose, "order %s was closed before the money came, and what it is for has been ordered by others since", o.OrderID)
	default:
		o.PaidAccount, o.PaidTransactionID = r.Account, r.TransactionID
		o.PriorStatus = ""
		e.move(o, r, on, source, func(c condition) bool { return c == attemptOver })
	}
}

// settled is true for an order that some payment must have paid.
func settled(s models.OrderStatus) bool {
	switch s {
	case models.Paid, models.Shipped, models.PartRefunded, models.Refunded, models.Disputed, models.ChargedBack:
		return true
	}
	return false
}

// parent finds the payment a refund or dispute belongs to, and files the row under it. Without a booked, succeeded payment of an
// order that is here the row waits.
func (e *engine) parent(r *row) (*row, *orderWork) {
	p := e.payment(r.Account, r.ParentID)
	if p == nil && r.ParentID == "" {
		if o := e.orderOf(r); o != nil && o.PaidAccount == r.Account {
			p = e.rows[key{r.Account, models.Payment, o.PaidTransactionID}]
		}
	}
	if p == nil || p.Status != models.StatusSucceeded {
		e.park(r, "%s", e.unbooked(r, p))
		return nil, nil
	}
	r.ParentID = p.TransactionID
	if p.OrderID != "" {
		r.OrderID = p.OrderID
	}
	o := e.orderOf(p)
	if o == nil {
		e.park(r, "order %q of its payment is not known", p.OrderID)
		return nil, nil
	}
	if p.Outcome == models.OutcomeNoOrder { // payment and order slipped past each other between two commits
		r.Outcome = "" // it is being placed, and does not wait
		e.place(p, p.Event, p.Source)
		e.healed(p)
	}
	return p, o
}

// unbooked says what a refund or dispute waits for. p is its payment, nil when there is none.
func (e *engine) unbooked(r, p *row) string {
	switch {
	case p != nil && (p.Status == models.StatusClosed || p.Status == models.StatusFailed):
		return fmt.Sprintf("its payment %q is %s: no money was taken by it", r.ParentID, p.Status)
	case p != nil:
		return fmt.Sprintf("its payment %q is %s, no money has come yet", r.ParentID, p.Status)
	case r.ParentID == "":
		return "it names no payment, and its order has none"
	case r.Event == models.PaymentVoided && r.ParentID == r.TransactionID:
		return fmt.Sprintf("it names no payment but by its own id, and no payment %q is booked", r.ParentID)
	}
	return fmt.Sprintf("its payment %q is not booked", r.ParentID)
}

func (e *engine) placeRefund(r *row, on models.EventKind, source string) {
	if r.Event == models.PaymentVoided && e.endAuthorisation(r, source) || r.Event == captureVoided && !e.findCapture(r) {
		return
	}
	if e.l.elsewhere[r.Account] {
		e.pass(r, on, source)
		return
	}
	p, o := e.parent(r)
	if p == nil {
		return
	}
	r.put(models.OutcomeApplied, "")
	if len(e.weigh(r, p)) > 0 {
		defer e.retryRefused(p, r, source)
	}
	if r.Event == captureVoided {
		defer e.lessCaptured(p, o, source)
	}
	switch {
	case r.Status != models.StatusSucceeded:
		if paysFor(p, o) { // asked for, stuck or refused: no money has moved, whatever a total made of it
			e.recount(o, p, r, on, source)
		}
	case r.Currency != p.Currency:
		r.put(models.OutcomeCurrencyMismatch, "refund of %s for a payment of %s", r.Money(), p.Money())
	case r.RefundedMinor > p.AmountMinor:
		r.put(models.OutcomeNotAllowed, "%s refunded in all, more than the payment of %s", models.Money{Minor: r.RefundedMinor, Currency: r.Currency}, p.Money())
	case e.tooMuch(p): // r counts already
		r.put(models.OutcomeNotAllowed, "refund of %s: with those before it more than the payment of %s", r.Money(), p.Money())
	case !paysFor(p, o):
		// the payment was one too many, late or wrong, and is being given back
	case !e.recount(o, p, r, on, source):
		r.put(models.OutcomeNotAllowed, "order %s is %s", o.OrderID, o.Status)
	}
}

// placeReversal files what came back under what it undoes, and takes a refund back from its order. While the undone row still waits
// for its payment, so does this one. (A won dispute moves its order by the dispute's own row.)
func (e *engine) placeReversal(back *row, on models.EventKind, source string) {
	undone := e.rows[key{back.Account, models.Refund, back.TransactionID}]
	if back.Kind == models.ChargebackReversal {
		undone = e.rows[key{back.Account, models.Chargeback, back.TransactionID}]
	}
	if undone != nil && undone.Outcome == models.OutcomeNoOrder && e.payment(undone.Account, undone.ParentID) != nil {
		e.place(undone, undone.Event, undone.Source)
	}
	if e.l.elsewhere[back.Account] {
		e.pass(back, on, source)
		return
	}
	if undone == nil || undone.Outcome == models.OutcomeNoOrder {
		e.park(back, "what it undoes waits for its payment")
		return
	}
	back.ParentID, back.OrderID = undone.ParentID, undone.OrderID
	back.put(models.OutcomeApplied, "")
	if undone.Outcome == models.OutcomeNotAllowed { // one refund too many that came back is none too many
		remark := remarkOf(undone.Detail)
		undone.put(models.OutcomeApplied, "")
		undone.Detail, undone.dirty = "", true
		undone.keepRemark(remark)
	}
	if back.Kind == models.RefundReversal {
		e.takeBack(back, on, source)
	}
}

// takeBack makes an order's refunded sum smaller by a refund that came to nothing. A refund that was refused for want of room may now
// have it.
func (e *engine) takeBack(back *row, on models.EventKind, source string) {
	p := e.payment(back.Account, back.ParentID)
	if p == nil {
		return
	}
	o := e.orderOf(p)
	if o != nil && paysFor(p, o) && !e.recount(o, p, back, on, source) {
		back.put(models.OutcomeNotAllowed, "order %s is %s", o.OrderID, o.Status)
	}
	e.retryRefused(p, nil, source)
}

// retryRefused places refunds that were one too many, now that there may be room for them.
func (e *engine) retryRefused(p, but *row, source string) {
	var refused []*row
	for _, r := range e.rows {
		if r != but && r.Kind == models.Refund && r.Account == p.Account && r.ParentID == p.TransactionID && r.Outcome == models.OutcomeNotAllowed {
			refused = append(refused, r)
		}
	}
	slices.SortFunc(refused, byTime)
	for _, r := range refused {
		e.place(r, r.Event, source)
	}
}

// tooMuch says whether more has gone back of a payment than it was.
func (e *engine) tooMuch(p *row) bool {
	sum, _ := e.refundedByID(p)
	return sum > p.AmountMinor
}

// pass books a movement of a shop that keeps its orders elsewhere: no order is asked, the shop is told. What names its payment alone waits
// until that says the order.
func (e *engine) pass(r *row, on models.EventKind, source string) {
	p := e.payment(r.Account, r.ParentID)
	switch {
	case p != nil:
		r.ParentID, r.OrderID = p.TransactionID, cmp.Or(r.OrderID, p.OrderID)
	case r.ParentID != "" && r.OrderID == "": // the shop could not tell which order it is about
		e.park(r, "%s", e.unbooked(r, nil))
		return
	}
	r.put(models.OutcomeApplied, "")
	if r.Kind == models.Refund && r.Status == models.StatusSucceeded {
		for _, c := range e.derive(r) {
			if c != r { // it was told with a sum that has turned out to be another's too
				e.tell(c, c.Event, source)
			}
		}
	}
	e.tell(r, on, source)
}

// counts says whether a refund is part of what its payment has given back.
func counts(r *row) bool {
	return r.Outcome == models.OutcomeApplied || r.Outcome == models.OutcomeConflict ||
		r.Kind == models.Refund && r.Outcome == models.OutcomeAmountMismatch // the money went, though another sum was asked for
}

// recount sets what is refunded of the order's payment, and the order's state with it; false when the order's state does not allow it.
func (e *engine) recount(o *orderWork, p, by *row, on models.EventKind, source string) bool {
	sum, all := e.refundedOf(o, p), p.AmountMinor-e.replaced(o, p)
	turn := models.RefundSucceeded
	switch {
	case sum == o.RefundedMinor:
		return true
	case sum < o.RefundedMinor:
		turn = models.RefundFailed
	}
	when := func(c condition) bool {
		switch c {
		case whole:
			return sum >= all
		case part:
			return sum > 0 && sum < all
		case nothing:
			return sum <= 0
		}
		return false
	}
	to, ok := moves(o.Status, turn, when)
	if !ok {
		return false
	}
	if to == models.Disputed || to == models.ChargedBack { // it stays so; a won dispute returns it to what the refunds made of it
		if prior, ok := moves(o.PriorStatus, turn, when); ok {
			o.PriorStatus = o.unship(prior)
		}
	}
	o.RefundedMinor = sum
	e.step(o, by, o.unship(to), on, source)
	return true
}

// unship turns the table's paid into shipped for an order whose goods are out.
func (o *orderWork) unship(to models.OrderStatus) models.OrderStatus {
	if to == models.Paid && o.Shipped {
		return models.Shipped
	}
	return to
}
