package stripe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"paybook/callback/parse"
	"paybook/models"
)

// event says what a proven message means. Whatever we can't read of it is an unparsable event, never an error: the message
// is genuine, and sending it again would not make it readable.
func (p *Provider) event(doc parse.Value) models.Event {
	ev, err := p.read(doc)
	if err != nil {
		ev = models.Event{Kind: models.EventUnparsable, OccurredAt: ev.OccurredAt, Detail: clip(err.Error())}
	}
	ev.ID = idOf(doc.Get("id"))
	live, _ := doc.Get("livemode").Bool() // missing counts as not live
	ev.TestMode = p.livemode != nil && live != *p.livemode
	return ev
}

// read needs id, type and created of every event. It decides by "object" before anything else, because created is a number
// in a snapshot and text in a thin event.
func (p *Provider) read(doc parse.Value) (models.Event, error) {
	var ev models.Event
	at, err := occurredAt(doc)
	if err != nil {
		return ev, err
	}
	ev.OccurredAt = at
	typ := doc.Get("type").String()
	if typ == "" || idOf(doc.Get("id")) == "" {
		return ev, errors.New("id or type: missing")
	}
	if isThin(doc) {
		related := idOf(doc.Get("related_object"))
		return models.Event{Kind: models.EventThin, ParentID: related, OccurredAt: at, Detail: clip(strings.TrimSpace(typ + " " + related))}, nil
	}
	if kind := doc.Get("object"); kind.Exists() && kind.String() != "event" {
		return ev, errors.New("object: event or v2.core.event expected")
	}
	reading, known := eventTypes[typ]
	if !known {
		return models.Event{Kind: models.EventUnknown, OccurredAt: at, Detail: clip("type " + typ)}, nil
	}
	ev, err = reading(object{Value: doc.Get("data", "object"), p: p})
	ev.OccurredAt = at
	if err != nil {
		return ev, fmt.Errorf("%s: data.object.%w", typ, err)
	}
	return ev, nil
}

// isThin is true for an event that only names its object; the sums must be fetched.
func isThin(doc parse.Value) bool { return doc.Get("object").String() == "v2.core.event" }

// occurredAt is the event's created: when it happened, not when it was sent. Unix seconds, or RFC 3339 in a thin event.
func occurredAt(doc parse.Value) (time.Time, error) {
	created := doc.Get("created")
	if isThin(doc) {
		at, err := time.Parse(time.RFC3339, created.String())
		if err != nil {
			return time.Time{}, errors.New("created: RFC 3339 time expected")
		}
		return at.UTC(), nil
	}
	return unixTime(created)
}

func unixTime(v parse.Value) (time.Time, error) {
	const secondsMax = 253402300799 // the end of year 9999, the last that RFC 3339 can write
	n, err := strconv.ParseInt(v.Number(), 10, 64)
	if err != nil || n <= 0 || n > secondsMax {
		return time.Time{}, errors.New("created: unix seconds expected")
	}
	return time.Unix(n, 0).UTC(), nil
}

// object is the data.object of an event, with what the settings say about reading it.
type object struct {
	parse.Value
	p *Provider
}

// movement fills in what every movement of money has; its other names and its parent are the caller's. Errors begin with
// the field's name.
func (o object) movement(kind models.EventKind, id, amountField string) (models.Event, error) {
	if id == "" {
		return models.Event{}, errors.New("id: missing")
	}
	order, err := o.orderID()
	if err != nil {
		return models.Event{}, err
	}
	money, err := o.money(amountField)
	if err != nil {
		return models.Event{}, err
	}
	return models.Event{Kind: kind, TransactionID: id, OrderID: order, Money: money}, nil
}

// id is the id in a field, which the API sends as text or, where the endpoint expands it, as the object itself.
func (o object) id(path ...string) string { return idOf(o.Get(path...)) }

// latestCharge is the charge of a PaymentIntent: a field of its own since API version 2022-11-15, before that the first of a list.
func (o object) latestCharge() string {
	if list := o.Get("charges", "data").List(); len(list) > 0 && !o.Get("latest_charge").Exists() {
		return idOf(list[0])
	}
	return o.id("latest_charge")
}

func idOf(v parse.Value) string {
	id := v.String()
	if v.IsObject() {
		id = v.Get("id").String()
	}
	if !storable(id) {
		return ""
	}
	return id
}

// storable is false for text that would spoil an index or a log line. Stripe's ids have at most 255 characters, metadata 500.
func storable(s string) bool { return len(s) <= 2000 && !strings.ContainsFunc(s, unicode.IsControl) }

// orderID is the shop's order number: metadata first, then Checkout's client_reference_id. "" when the object has neither,
// as refunds and disputes usually have: their order is found through the payment.
func (o object) orderID() (string, error) {
	named := o.Get("metadata", o.p.metadataKey)
	if named.Text() == "" && named.Unusable() == nil {
		named = o.Get("client_reference_id")
	}
	if err := named.Unusable(); err != nil {
		return "", fmt.Errorf("metadata: the order number: %w", err)
	}
	id := named.Text()
	if !storable(id) {
		return "", errors.New("metadata: the order number is too long or holds control characters")
	}
	return id, nil
}

// money reads an amount field in Stripe's minor units of the object's currency. A negative one makes no sense: direction is
// in the type of the event.
func (o object) money(field string) (models.Money, error) {
	m, err := o.signedMoney(field)
	if err == nil && m.Minor < 0 {
		err = fmt.Errorf("%s: negative", field)
	}
	return m, err
}

func (o object) signedMoney(field string) (models.Money, error) {
	text, code := o.Get(field).Number(), o.Get("currency").String()
	if text == "" {
		return models.Money{}, fmt.Errorf("%s: missing, or not a number", field)
	}
	digits, err := o.p.digits(code)
	if err != nil {
		return models.Money{}, fmt.Errorf("currency: %w", err)
	}
	if digits == 3 && !strings.HasSuffix(text, "0") { // Stripe's own rule; another digit means that the unit is not what we think
		return models.Money{}, fmt.Errorf("%s: the last digit of a three-decimal currency must be 0", field)
	}
	m, err := models.ParseMinor(text, code, digits)
	if err != nil {
		return m, fmt.Errorf("%s: %w", field, err)
	}
	return m, nil
}

// word is a short text for people, "" when it is not there.
func (o object) word(path ...string) string { return clip(o.Get(path...).String()) }
