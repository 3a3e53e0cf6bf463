package paypal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// orderField is where the shop's order number stands: in version 2, in version 1 and in disputes' transactions, and in reports.
type orderField struct{ v2, v1, dispute, column string }

const orderFieldDefault = "invoice_id"

var orderFields = map[string]orderField{
	"invoice_id": {"invoice_id", "invoice_number", "invoice_number", "Invoice ID"},
	"custom_id":  {"custom_id", "custom", "custom", "Custom Field"},
}

// payment reads an authorisation, a capture or a sale that must be in one of the states.
func payment(kind models.EventKind, resourceType string, states ...string) reading {
	return func(m message) ([]models.Event, error) {
		ev, err := m.movement(kind)
		if err == nil {
			err = m.hasType(resourceType)
		}
		if err != nil {
			return nil, err
		}
		state := m.state()
		if !slices.Contains(states, state) {
			return nil, fmt.Errorf("status: %q, expected %s", clip(state), strings.Join(states, " or "))
		}
		if ev.OccurredAt, err = m.occurredAt(changed(state)...); err != nil {
			return nil, err
		}
		ev.ParentID = cmp.Or(m.related("order_id"), m.up("orders"), m.authorization(), textID(m.resource.Get("parent_payment")))
		ev.Detail = clip(m.resource.Get("status_details", "reason").String())
		// A capture is a payment of its own, whatever final_capture says: as a further name of its authorisation the second capture
		// of one would contradict the first, and its money be booked nowhere. So the authorisation stays authorised until it is
		// voided; it is no money, and no statement has it.
		return []models.Event{ev}, nil
	}
}

// voided ends an authorisation: it has no id of its own, and is told under the authorisation's. What was captured before stays.
func voided(m message) ([]models.Event, error) {
	events, err := payment(models.PaymentVoided, "authorization", "VOIDED", "PARTIALLY_CAPTURED")(m)
	for i := range events {
		events[i].ParentID, events[i].Aliases = "", nil
	}
	return events, err
}

// changed are the fields that tell when a payment came into its state. What has been refunded since was changed by that:
// update_time is then the refund's.
func changed(state string) []string {
	if strings.HasSuffix(state, "REFUNDED") {
		return []string{"create_time"}
	}
	return []string{"update_time", "create_time"}
}

// refundStates: REFUNDED is also said of refunds that are still under way (bank debits).
var refundStates = map[string]models.EventKind{
	"COMPLETED": models.RefundSucceeded, "PENDING": models.RefundPending, "FAILED": models.RefundFailed, "CANCELLED": models.RefundClosed,
}

// refund reads a refund. Its amount is this refund's alone; total_refunded_amount is the running total and not used.
func refund(resourceTypes ...string) reading {
	return func(m message) ([]models.Event, error) {
		state := m.state()
		kind, known := refundStates[state]
		if !known {
			return nil, fmt.Errorf("status: %q, expected COMPLETED, PENDING, FAILED or CANCELLED", clip(state))
		}
		ev, err := m.movement(kind)
		if err == nil {
			err = m.hasType(resourceTypes...)
		}
		if err != nil {
			return nil, err
		}
		if ev.ParentID = m.captured(); ev.ParentID == "" || ev.ParentID == ev.TransactionID {
			return nil, errors.New("links: no link with rel up leads to the capture")
		}
		ev.Detail = clip(m.resource.Get("status_details", "reason").String())
		ev.OccurredAt, err = m.occurredAt("update_time", "create_time")
		return []models.Event{ev}, err
	}
}

// reversal is money that PayPal took back: a claim lost, a bank debit that bounced. It is booked like the lost dispute that
// may tell of it as well; the capture as its second name makes the two one.
func reversal(m message) ([]models.Event, error) {
	ev, err := m.movement(models.DisputeLost)
	if err != nil {
		return nil, err
	}
	// In version 1 the resource is the sale itself, as its own page tells.
	if ev.ParentID = cmp.Or(m.captured(), m.link("self", "captures"), m.link("self", "sale")); ev.ParentID == "" {
		return nil, errors.New("links: no link leads to the capture")
	}
	if ev.ParentID != ev.TransactionID {
		ev.Aliases = append(ev.Aliases, ev.ParentID)
	}
	ev.Detail = "taken back by PayPal"
	ev.OccurredAt, err = m.occurredAt("update_time", "create_time")
	return []models.Event{ev}, err
}

// movement fills in what every payment and refund has. Version 1 writes what goes back with a minus.
func (m message) movement(kind models.EventKind) (models.Event, error) {
	own, err := id(m.resource.Get("id"))
	if err != nil {
		return models.Event{}, fmt.Errorf("id: %w", err)
	}
	ev := models.Event{Kind: kind, TransactionID: own, Aliases: []string{own}}
	if ev.Money, err = signedMoney(m.resource.Get("amount")); err != nil {
		return ev, fmt.Errorf("amount: %w", err)
	}
	if ev.Money.Minor < 0 && strings.HasPrefix(string(kind), "payment.") {
		return ev, errors.New("amount: negative")
	}
	ev.Money = ev.Money.Abs()
	ev.OrderID, err = firstID(m.resource.Get(m.order.v2), m.resource.Get(m.order.v1))
	if err != nil {
		return ev, fmt.Errorf("%s: %w", m.order.v2, err)
	}
	return ev, nil
}

// captured is the capture or sale that a refund is of: in version 2 only a link names it.
func (m message) captured() string {
	for _, collection := range []string{"captures", "capture", "sale", "sales"} {
		if found := cmp.Or(m.up(collection), m.link("sale", collection), m.link("capture", collection)); found != "" {
			return found
		}
	}
	return cmp.Or(textID(m.resource.Get("capture_id")), textID(m.resource.Get("sale_id")))
}

func (m message) authorization() string {
	return cmp.Or(m.up("authorizations"), m.up("authorization"), m.related("authorization_id"))
}

// related is one of the ids the resource belongs to, "" where it is not told.
func (m message) related(name string) string {
	return textID(m.resource.Get("supplementary_data", "related_ids", name))
}

func (m message) up(collection string) string { return m.link("up", collection) }

// link is the id at the end of the link that leads into a collection: …/v2/payments/captures/0TESTCAP2001X.
func (m message) link(rel, collection string) string {
	for _, l := range m.resource.Get("links").List() {
		path, _, _ := strings.Cut(l.Get("href").String(), "?")
		parts := strings.Split(path, "/")
		if n := len(parts); l.Get("rel").String() == rel && n > 2 && parts[n-2] == collection && isID(parts[n-1]) {
			return parts[n-1]
		}
	}
	return ""
}

// firstID is the first of the fields that is there, "" if none is. One whose text nobody could keep is there, and is no id.
func firstID(fields ...parse.Value) (string, error) {
	for _, f := range fields {
		if f.Text() != "" || f.Unusable() != nil {
			return id(f)
		}
	}
	return "", nil
}

// textID is an id that may be missing.
func textID(v parse.Value) string {
	found, _ := id(v)
	return found
}

func id(v parse.Value) (string, error) {
	text := v.Text()
	if !isID(text) {
		return "", errors.New("missing, or no id")
	}
	return text, nil
}
