package adyen

import (
	"errors"

	"paybook/models"
)

// reading turns a notice into an event; its error says which field can't be used.
type reading func(n notice) (models.Event, error)

// eventCodes is every event code that we use; all others are EventUnknown, for Adyen adds new ones.
//
// Duplicates are told by code, pspReference and success together: all events of one dispute have the same pspReference, and a
// refund that comes back has the refund's.
var eventCodes = map[string]reading{
	"AUTHORISATION":  authorisation,
	"CAPTURE":        capture,
	"CAPTURE_FAILED": happened(captureFailed),

	"CANCELLATION":     happened(cancelled),
	"TECHNICAL_CANCEL": happened(cancelled),
	"EXPIRE":           happened(cancelled),
	"CANCEL_OR_REFUND": happened(cancelled),

	"REFUND":            refund,
	"REFUND_FAILED":     happened(refundAs(models.RefundFailed)), // its success says that the failure is true
	"REFUNDED_REVERSED": happened(refundAs(models.RefundFailed)),

	"NOTIFICATION_OF_CHARGEBACK":        happened(dispute(models.DisputeNotified)),
	"REQUEST_FOR_INFORMATION":           happened(dispute(models.DisputeInquiry)),
	"CHARGEBACK":                        happened(dispute(models.DisputeOpened)),
	"DISPUTE_OPENED_WITH_CHARGEBACK":    happened(dispute(models.DisputeOpened)), // no notification went before it
	"CHARGEBACK_REVERSED":               happened(dispute(models.DisputeWon)),    // the money is back; it may be taken again
	"SECOND_CHARGEBACK":                 happened(dispute(models.DisputeLost)),
	"PREARBITRATION_LOST":               happened(dispute(models.DisputeLost)),
	"PREARBITRATION_WON":                happened(dispute(models.DisputeWon)),
	"ISSUER_RESPONSE_TIMEFRAME_EXPIRED": happened(dispute(models.DisputeWon)),

	"REPORT_AVAILABLE": happened(reportAvailable),
}

// happened is for codes that only tell something when it succeeded: with success false nothing has changed.
func happened(do reading) reading {
	return func(n notice) (models.Event, error) {
		if !n.succeeded {
			return unknown(n.text("eventCode") + " did not succeed: nothing has changed. " + n.reason()), nil
		}
		return do(n)
	}
}

// authorisation is the payment itself. Refused, it is one attempt, and the order stays open for another, which has a
// pspReference of its own.
func authorisation(n notice) (models.Event, error) {
	id := n.text("pspReference")
	if !n.succeeded {
		ev, err := n.movement(models.PaymentFailed, id, "")
		ev.Detail = n.reason()
		return ev, err
	}
	ev, err := n.movement(models.PaymentAuthorised, id, "")
	switch {
	case err == nil && ev.Money.Minor == 0:
		return unknown("an authorisation of 0: a card was checked, nothing is paid"), nil
	case n.isPaidWhenAuthorised():
		ev.Kind, ev.Told = models.PaymentSucceeded, models.PaymentAuthorised
		ev.Detail = "authorised, which means paid (settings.authorised_means_paid)"
	}
	return ev, err
}

// capture has an id of its own, and names the authorisation whose money it takes. Refused, it is an attempt that failed; the
// authorisation stays, and can be captured again.
func capture(n notice) (models.Event, error) {
	if n.succeeded {
		return n.modification(models.PaymentCaptured)
	}
	ev, err := n.modification(models.PaymentFailed)
	ev.Detail = "capture refused. " + n.reason()
	return ev, err
}

// captureFailed: a capture that was told as done, or will be, brings no money. It is taken back under the capture's id; the authorisation can
// be captured again.
func captureFailed(n notice) (models.Event, error) {
	ev, err := n.modification(models.PaymentVoided)
	if err == nil && ev.Money.Minor == 0 {
		err = errors.New("amount: 0: how much will not come?")
	}
	ev.VoidsCapture, ev.Detail = true, "the capture failed, no money will come. "+n.reason()
	return ev, err
}

// cancelled ends a payment as a whole, under an id of its own: the sum may be told as 0, which the book takes for all of it. Whether
// money goes back, because the authorisation was captured or counts as paid, is for the book to say; what CANCEL_OR_REFUND has
// done stands in additionalData["modification.action"], which is not signed and so is not asked.
func cancelled(n notice) (models.Event, error) { return n.modification(models.PaymentVoided) }

// refund is sent to the scheme, or was not possible. REFUND_FAILED may follow days later.
func refund(n notice) (models.Event, error) {
	if n.succeeded {
		return refundAs(models.RefundSucceeded)(n)
	}
	return refundAs(models.RefundFailed)(n)
}

// refundAs: the shop's own refund number is not told in a signed field, so it is not told.
func refundAs(kind models.EventKind) reading {
	return func(n notice) (models.Event, error) {
		ev, err := n.movement(kind, n.text("pspReference"), n.text("originalReference"))
		ev.Detail = n.reason()
		return ev, err
	}
}

// dispute: originalReference may be missing in later events of a dispute; the book then finds the payment by the dispute.
func dispute(kind models.EventKind) reading {
	return func(n notice) (models.Event, error) {
		ev, err := n.movement(kind, n.text("pspReference"), n.text("originalReference"))
		ev.Detail = n.reason()
		return ev, err
	}
}

// reportAvailable names a file that can be fetched. Its address is not signed: it is shown, never to be followed.
func reportAvailable(n notice) (models.Event, error) {
	return models.Event{Kind: models.ReportAvailable, TransactionID: n.text("pspReference"), Detail: n.reason()}, nil
}
