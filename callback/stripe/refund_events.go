package stripe

import (
	"errors"
	"strings"

	"paybook/models"
)

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
		return childOf(ev, o.id("charge"), o.id("payment_intent")), err
	}
}

// disputeKinds is what a dispute's status says of its money. An inquiry (warning_…) takes none; neither does a dispute that was
// settled before it reached us (prevented). A bank debit's dispute is lost when it is made.
var disputeKinds = map[string]models.EventKind{
	"warning_needs_response": models.DisputeInquiry,
	"warning_under_review":   models.DisputeInquiry,
	"warning_closed":         models.DisputeInquiry,
	"prevented":              models.DisputeInquiry,
	"needs_response":         models.DisputeOpened,
	"under_review":           models.DisputeOpened,
	"won":                    models.DisputeWon,
	"lost":                   models.DisputeLost,
}

// disputeMade goes by the status. A word we do not know is not taken for a loss of money: charge.dispute.funds_withdrawn tells that.
func disputeMade(o object) (models.Event, error) {
	status := o.Get("status").String()
	kind, known := disputeKinds[status]
	if !known {
		return models.Event{}, unknownWord("status", status)
	}
	return disputeAs(kind)(o)
}

// disputeChanged is a note, whatever the status: money that moves and the dispute's end have events of their own.
func disputeChanged(o object) (models.Event, error) {
	if disputeKinds[o.Get("status").String()] == models.DisputeInquiry {
		return disputeAs(models.DisputeInquiry)(o)
	}
	return disputeAs(models.DisputeUpdated)(o)
}

// disputeClosed is won, lost, or ended before any money was taken.
func disputeClosed(o object) (models.Event, error) {
	status := o.Get("status").String()
	kind, known := disputeKinds[status]
	if !known || kind == models.DisputeOpened {
		return models.Event{}, unknownWord("status", status)
	}
	return disputeAs(kind)(o)
}

func disputeAs(kind models.EventKind) reading {
	return func(o object) (models.Event, error) {
		ev, err := o.movement(kind, o.id("id"), "amount")
		ev.Detail = strings.TrimSpace(o.word("status") + " " + o.word("reason"))
		return childOf(ev, o.id("charge"), o.id("payment_intent")), err
	}
}

// payoutKinds are the words of a payout's status. A canceled one never reached the bank.
var payoutKinds = map[string]models.EventKind{
	"pending": models.PayoutPending, "in_transit": models.PayoutPending, "paid": models.PayoutPaid,
	"failed": models.PayoutFailed, "canceled": models.PayoutFailed,
}

func payout(o object) (models.Event, error) {
	status := o.Get("status").String()
	kind, known := payoutKinds[status]
	if !known {
		return models.Event{}, unknownWord("status", status)
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
