package stripe

import (
	"fmt"

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

	"charge.dispute.created":          disputeMade,
	"charge.dispute.updated":          disputeChanged,
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

// childOf names the payment by all that the message tells of it, the charge first: the book may know it by the PaymentIntent alone.
func childOf(ev models.Event, names ...string) models.Event {
	for _, name := range names {
		switch {
		case name == "" || name == ev.TransactionID || name == ev.ParentID:
		case ev.ParentID == "":
			ev.ParentID = name
		default:
			ev.ParentAliases = append(ev.ParentAliases, name)
		}
	}
	return ev
}

func unknownWord(field, word string) error {
	if word == "" {
		return fmt.Errorf("%s: missing", field)
	}
	return fmt.Errorf("%s: %q is a word we do not know", field, clip(word))
}
