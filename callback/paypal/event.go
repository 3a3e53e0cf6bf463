package paypal

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// message is a genuine notification: the envelope, and the resource it is about.
type message struct {
	doc, resource parse.Value
	order         orderField
}

// reading turns the resource of one type of event into events; its error says which field can't be used.
type reading func(m message) ([]models.Event, error)

// eventTypes is every type of event that we use (developer.paypal.com/api/rest/webhooks/event-names); all others are
// EventUnknown. Each type takes only the states of its resource that agree with its name: what is called completed and says
// pending is not paid.
var eventTypes = map[string]reading{
	"CHECKOUT.ORDER.APPROVED": approved,

	"PAYMENT.AUTHORIZATION.CREATED": payment(models.PaymentAuthorised, "authorization", "CREATED", "PENDING", "AUTHORIZED"),
	"PAYMENT.AUTHORIZATION.VOIDED":  voided,

	"PAYMENT.CAPTURE.COMPLETED": payment(models.PaymentSucceeded, "capture", "COMPLETED", "PARTIALLY_REFUNDED", "REFUNDED"),
	"PAYMENT.CAPTURE.PENDING":   payment(models.PaymentPending, "capture", "PENDING"),
	"PAYMENT.CAPTURE.DECLINED":  payment(models.PaymentFailed, "capture", "DECLINED", "DENIED", "FAILED"),
	"PAYMENT.CAPTURE.DENIED":    payment(models.PaymentFailed, "capture", "DECLINED", "DENIED", "FAILED"),
	"PAYMENT.CAPTURE.REFUNDED":  refund("refund"),
	"PAYMENT.CAPTURE.REVERSED":  reversal,

	// Version 1: the capture is called a sale.
	"PAYMENT.SALE.COMPLETED": payment(models.PaymentSucceeded, "sale", "COMPLETED", "PARTIALLY_REFUNDED", "REFUNDED"),
	"PAYMENT.SALE.PENDING":   payment(models.PaymentPending, "sale", "PENDING"),
	"PAYMENT.SALE.DENIED":    payment(models.PaymentFailed, "sale", "DECLINED", "DENIED", "FAILED"),
	"PAYMENT.SALE.REFUNDED":  refund("refund", "sale"), // its example calls the refund a sale
	"PAYMENT.SALE.REVERSED":  reversal,

	"CUSTOMER.DISPUTE.CREATED":  disputeCreated,
	"CUSTOMER.DISPUTE.UPDATED":  disputeUpdated,
	"CUSTOMER.DISPUTE.RESOLVED": disputeResolved,

	"PAYMENT.PAYOUTS-ITEM.SUCCEEDED": payout(models.PayoutPaid),
	"PAYMENT.PAYOUTS-ITEM.HELD":      payout(models.PayoutPending),
	"PAYMENT.PAYOUTS-ITEM.UNCLAIMED": payout(models.PayoutPending),
	"PAYMENT.PAYOUTS-ITEM.BLOCKED":   payout(models.PayoutFailed),
	"PAYMENT.PAYOUTS-ITEM.CANCELED":  payout(models.PayoutFailed),
	"PAYMENT.PAYOUTS-ITEM.DENIED":    payout(models.PayoutFailed),
	"PAYMENT.PAYOUTS-ITEM.FAILED":    payout(models.PayoutFailed),
	"PAYMENT.PAYOUTS-ITEM.REFUNDED":  payout(models.PayoutFailed),
	"PAYMENT.PAYOUTS-ITEM.RETURNED":  payout(models.PayoutFailed),
}

// events says what the message means. Whatever can't be read of it is an unparsable event, never an error: the message is
// genuine, and sending it again would not make it readable.
func (m message) events() []models.Event {
	events, err := m.read()
	if err != nil {
		events = []models.Event{{Kind: models.EventUnparsable, Detail: clip(err.Error())}}
		events[0].OccurredAt, _ = m.time(m.doc) // for people
	}
	for i := range events {
		events[i].ID = textID(m.doc.Get("id"))
	}
	return events
}

func (m message) read() ([]models.Event, error) {
	kind := m.doc.Get("event_type").String()
	if kind == "" {
		return nil, errors.New("event_type: missing")
	}
	if _, err := id(m.doc.Get("id")); err != nil {
		return nil, fmt.Errorf("id: %w", err)
	}
	read, known := eventTypes[kind]
	if !known {
		at, _ := m.time(m.doc)
		return []models.Event{{Kind: models.EventUnknown, OccurredAt: at, Detail: "event_type " + clip(kind)}}, nil
	}
	events, err := read(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return events, nil
}

// hasType refuses a resource that calls itself something else: a refund read as a capture is booked on nothing.
func (m message) hasType(types ...string) error {
	got := m.doc.Get("resource_type").String()
	for _, t := range types {
		if got == t || got == "" {
			return nil
		}
	}
	return fmt.Errorf("resource_type: %q, expected %s", clip(got), types[0])
}

// state is the resource's status, which version 1 calls state and writes in small letters.
func (m message) state() string {
	if s := m.resource.Get("status").String(); s != "" {
		return s
	}
	return strings.ToUpper(m.resource.Get("state").String())
}

// occurredAt is when the resource came to be what it is; the message itself is made a little later.
func (m message) occurredAt(fields ...string) (time.Time, error) {
	for _, field := range fields {
		if m.resource.Get(field).Exists() {
			at, err := moment(m.resource.Get(field))
			if err != nil {
				return at, fmt.Errorf("%s: %w", field, err)
			}
			return at, nil
		}
	}
	return m.time(m.doc)
}

func (m message) time(of parse.Value) (time.Time, error) {
	at, err := moment(of.Get("create_time"))
	if err != nil {
		return at, fmt.Errorf("create_time: %w", err)
	}
	return at, nil
}

func moment(v parse.Value) (time.Time, error) {
	at, err := parse.LocalTime(v.String(), time.UTC, time.RFC3339)
	if err != nil {
		return time.Time{}, errors.New("missing, or no time such as 2026-11-27T18:15:00Z")
	}
	return at, nil
}

func approved(m message) ([]models.Event, error) {
	at, err := m.occurredAt("update_time", "create_time")
	if err != nil {
		return nil, err
	}
	// No movement: the capture that may follow has an id of its own, and is told by itself.
	return []models.Event{{Kind: models.EventUnknown, OccurredAt: at, Detail: "approved by the buyer, no money yet: order " + clip(m.resource.Get("id").Text())}}, nil
}

// payout is money that we pay to somebody. The batch tells the same once more, as a sum, and is not used.
func payout(kind models.EventKind) reading {
	return func(m message) ([]models.Event, error) {
		own, err := id(m.resource.Get("payout_item_id"))
		if err != nil {
			return nil, fmt.Errorf("payout_item_id: %w", err)
		}
		ev := models.Event{Kind: kind, TransactionID: own, Aliases: []string{own}, Detail: clip(m.resource.Get("errors", "name").String())}
		if also := textID(m.resource.Get("transaction_id")); also != "" {
			ev.Aliases = append(ev.Aliases, also)
		}
		ev.OrderID = textID(m.resource.Get("payout_item", "sender_item_id"))
		if ev.Money, err = money(m.resource.Get("payout_item", "amount")); err != nil {
			return nil, fmt.Errorf("payout_item.amount: %w", err)
		}
		ev.OccurredAt, err = m.occurredAt("time_processed")
		return []models.Event{ev}, err
	}
}
