package stripe

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"paybook/models"
)

// reading turns the data.object of one type of event into an event; its error says which field can't be used.
type reading func(o object) (models.Event, error)

// eventTypes is every type of event that we use; all others are EventUnknown, checkout.session.expired among them, as an
// expired page says nothing about money.
//
// One payment is told by up to three types under three event ids, in any order: so it is always named by the charge, with
// the PaymentIntent as its second name, or the other way round where the charge is not told.
var eventTypes = map[string]reading{
	"payment_intent.amount_capturable_updated": authorised,
	"payment_intent.processing":                intentItself(models.PaymentPending),
	"payment_intent.succeeded":                 paidIntent(models.PaymentSucceeded, "amount_received"),
	"payment_intent.payment_failed":            failedIntent,
	"payment_intent.canceled":                  intentItself(models.PaymentClosed),

	"charge.succeeded": chargeMade,
	"charge.captured":  charge(models.PaymentCaptured, "amount_captured"),
	"charge.failed":    chargeFailed,
	"charge.refunded":  charge(models.RefundTotal, "amount_refunded"), // cumulative, and it names no refund

	"checkout.session.completed":               checkout,
	"checkout.session.async_payment_succeeded": checkout,
	"checkout.session.async_payment_failed":    checkoutAs(models.PaymentFailed),

	"refund.created":        refund,
	"refund.updated":        refund,
	"charge.refund.updated": refund, // the older name
	"refund.failed":         refundAs(models.RefundFailed),

	"charge.dispute.created":          disputeOr(models.DisputeOpened),
	"charge.dispute.updated":          disputeOr(models.DisputeUpdated),
	"charge.dispute.closed":           disputeClosed,
	"charge.dispute.funds_withdrawn":  disputeAs(models.DisputeOpened),
	"charge.dispute.funds_reinstated": disputeAs(models.DisputeWon), // the money is back, whatever the status says by now

	"payout.created":                  payout,
	"payout.updated":                  payout,
	"payout.reconciliation_completed": payout,
	"payout.paid":                     payoutAs(models.PayoutPaid),
	"payout.failed":                   payoutAs(models.PayoutFailed),
	"payout.canceled":                 payoutAs(models.PayoutFailed),

	"reporting.report_run.succeeded": reportReady,
}

// paidIntent is a payment told through its PaymentIntent: the charge is the movement, the PaymentIntent its second name.
func paidIntent(kind models.EventKind, amountField string) reading {
	return func(o object) (models.Event, error) {
		intent := o.id("id")
		ev, err := o.movement(kind, cmp.Or(o.id("latest_charge"), intent), amountField)
		return alsoNamed(ev, intent), err
	}
}

func authorised(o object) (models.Event, error) {
	if o.Get("amount_capturable").Number() == "0" { // told once more when all is captured or let go
		return models.Event{Kind: models.EventUnknown, Detail: "nothing left to capture"}, nil
	}
	return paidIntent(models.PaymentAuthorised, "amount_capturable")(o)
}

// intentItself is news of the PaymentIntent as a whole. It is not named by the charge: that may be an earlier attempt which
// failed, while the PaymentIntent's id leads to the good one, if there is one.
func intentItself(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		ev, err := o.movement(kind, o.id("id"), "amount")
		return namedAlone(ev), err
	}
}

// failedIntent is one attempt that failed. The PaymentIntent is its parent but no second name of it: the next attempt has
// the same PaymentIntent, and would be taken for the failed one.
func failedIntent(o object) (models.Event, error) {
	intent := o.id("id")
	ev, err := o.movement(models.PaymentFailed, cmp.Or(o.id("last_payment_error", "charge"), o.id("latest_charge"), intent), "amount")
	ev.Detail = o.word("last_payment_error", "code")
	return childOf(namedAlone(ev), intent), err
}

func charge(kind models.EventKind, amountField string) reading {
	return func(o object) (models.Event, error) {
		ev, err := o.movement(kind, o.id("id"), amountField)
		return alsoNamed(ev, o.id("payment_intent")), err
	}
}

func chargeMade(o object) (models.Event, error) {
	captured, told := o.Get("captured").Bool()
	switch {
	case !told:
		return models.Event{}, errors.New("captured: missing, or not true or false")
	case !captured:
		return charge(models.PaymentAuthorised, "amount")(o)
	case !o.Get("amount_captured").Exists(): // API versions before 2020; what is captured at once is captured whole
		return charge(models.PaymentSucceeded, "amount")(o)
	}
	return charge(models.PaymentSucceeded, "amount_captured")(o)
}

func chargeFailed(o object) (models.Event, error) {
	ev, err := o.movement(models.PaymentFailed, o.id("id"), "amount")
	ev.Detail = o.word("failure_code")
	return childOf(namedAlone(ev), o.id("payment_intent")), err
}

// checkout is a finished page: finished is not paid. Bank debits and vouchers are paid days later, or never.
func checkout(o object) (models.Event, error) {
	switch status := o.Get("payment_status").String(); status {
	case "paid":
		return checkoutAs(models.PaymentSucceeded)(o)
	case "unpaid":
		return checkoutAs(models.PaymentPending)(o)
	case "no_payment_required":
		return models.Event{Kind: models.EventUnknown, Detail: "a checkout without a payment"}, nil
	default:
		return models.Event{}, unknownWord("payment_status", status)
	}
}

// checkoutAs names the payment by its PaymentIntent, as the session does not tell the charge. Without one (subscriptions)
// nothing is booked: under the session's id the same payment would be booked again when its charge is told.
func checkoutAs(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		intent := o.id("payment_intent")
		if intent == "" {
			return models.Event{Kind: models.EventUnknown, Detail: "a checkout that names no PaymentIntent"}, nil
		}
		ev, err := o.movement(kind, intent, "amount_total")
		return namedAlone(ev), err
	}
}

// refund goes by the refund's status, because card refunds are done when they are created and others take days.
func refund(o object) (models.Event, error) {
	switch status := o.Get("status").String(); status {
	case "succeeded":
		return refundAs(models.RefundSucceeded)(o)
	case "pending", "requires_action":
		return refundAs(models.RefundPending)(o)
	case "failed":
		return refundAs(models.RefundFailed)(o)
	case "canceled":
		return refundAs(models.RefundClosed)(o)
	default:
		return models.Event{}, unknownWord("status", status)
	}
}

// refundAs: metadata is the refund's own, so refund_order_id is there only if the shop put it there.
func refundAs(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		ev, err := o.movement(kind, o.id("id"), "amount")
		ev.RefundOrderID = o.id("metadata", "refund_order_id")
		ev.Detail = o.word("failure_reason")
		return childOf(ev, cmp.Or(o.id("charge"), o.id("payment_intent"))), err
	}
}

// disputeOr is an inquiry, which moves no money, when the status says so.
func disputeOr(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		if strings.HasPrefix(o.Get("status").String(), "warning_") {
			return disputeAs(models.DisputeInquiry)(o)
		}
		return disputeAs(kind)(o)
	}
}

func disputeClosed(o object) (models.Event, error) {
	switch status := o.Get("status").String(); status {
	case "won":
		return disputeAs(models.DisputeWon)(o)
	case "lost":
		return disputeAs(models.DisputeLost)(o)
	case "warning_closed", "prevented": // ended before any money was taken
		return disputeAs(models.DisputeInquiry)(o)
	default:
		return models.Event{}, unknownWord("status", status)
	}
}

func disputeAs(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		ev, err := o.movement(kind, o.id("id"), "amount")
		ev.Detail = strings.TrimSpace(o.word("status") + " " + o.word("reason"))
		return childOf(ev, cmp.Or(o.id("charge"), o.id("payment_intent"))), err
	}
}

func payout(o object) (models.Event, error) {
	kind, known := map[string]models.EventKind{
		"pending": models.PayoutPending, "in_transit": models.PayoutPending,
		"paid": models.PayoutPaid, "failed": models.PayoutFailed, "canceled": models.PayoutFailed,
	}[o.Get("status").String()]
	if !known {
		return models.Event{}, unknownWord("status", o.Get("status").String())
	}
	return payoutAs(kind)(o)
}

// payoutAs takes a negative amount too: Stripe then collects a negative balance from the bank account.
func payoutAs(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		ev := models.Event{Kind: kind, TransactionID: o.id("id"), Detail: o.word("failure_code")}
		if ev.TransactionID == "" {
			return ev, errors.New("id: missing")
		}
		money, err := o.signedMoney("amount")
		if money.Minor < 0 {
			ev.Detail = "taken from the bank account, not paid to it"
		}
		ev.Money = money.Abs()
		return ev, err
	}
}

func reportReady(o object) (models.Event, error) {
	return models.Event{Kind: models.ReportAvailable, TransactionID: o.id("id"), Detail: o.word("report_type")}, nil
}

// alsoNamed adds the PaymentIntent as parent and second name. A payment that has one name only lists that, so that the book
// looks it up among the names of others.
func alsoNamed(ev models.Event, intent string) models.Event {
	if intent == "" || intent == ev.TransactionID {
		return namedAlone(ev)
	}
	ev.ParentID, ev.Aliases = intent, []string{intent}
	return ev
}

func namedAlone(ev models.Event) models.Event {
	ev.Aliases = []string{ev.TransactionID}
	return ev
}

func childOf(ev models.Event, parent string) models.Event {
	if parent != ev.TransactionID {
		ev.ParentID = parent
	}
	return ev
}

func unknownWord(field, word string) error {
	if word == "" {
		return fmt.Errorf("%s: missing", field)
	}
	return fmt.Errorf("%s: %q is a word we do not know", field, clip(word))
}
