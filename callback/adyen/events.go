package adyen

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"

	"paybook/models"
)

// event says what a proven item means. Whatever we can't read of it is an unparsable event, never an error: the item is
// genuine, and sending it again would not make it readable. Only signed fields decide; of the others the time and a line for people
// are taken.
func (p *Provider) event(it item, received time.Time) models.Event {
	ev, err := p.read(it)
	if err != nil {
		ev = models.Event{Kind: models.EventUnparsable, Detail: clip(err.Error())}
	}
	if ev.TransactionID == "" { // it moves nothing, and can still be looked for
		ev.TransactionID, ev.OrderID = kept(it.text("pspReference")), kept(it.text("merchantReference"))
	}
	ev.ID = eventID(it)
	ev.OccurredAt = occurredAt(it, received)
	return ev
}

// eventID is for people: items have no id of their own.
func eventID(it item) string {
	return clip(strings.Join([]string{it.text("eventCode"), it.text("pspReference"), it.text("success")}, ":"))
}

func (p *Provider) read(it item) (models.Event, error) {
	code, success := it.text("eventCode"), it.text("success")
	for _, field := range []string{"pspReference", "originalReference", "merchantReference"} {
		if !storable(it.text(field)) {
			return models.Event{}, fmt.Errorf("%s: too long, or holds control characters", field)
		}
	}
	if code == "" || it.text("pspReference") == "" {
		return models.Event{}, errors.New("eventCode or pspReference: missing")
	}
	reading, known := eventCodes[code]
	if !known {
		return unknown("event code " + code), nil
	}
	if success != "true" && success != "false" {
		return models.Event{}, fmt.Errorf("success: true or false as text expected, not %q", clip(success))
	}
	n := notice{item: it, p: p, succeeded: success == "true"}
	ev, err := reading(n)
	if err != nil {
		return ev, fmt.Errorf("%s: %w", clip(code), err)
	}
	return ev, nil
}

// notice is an item of an event code we know.
type notice struct {
	item
	p         *Provider
	succeeded bool
}

// movement fills in what every movement of money has.
func (n notice) movement(kind models.EventKind, id, parent string) (models.Event, error) {
	money, err := n.p.money(n.item)
	switch {
	case err != nil:
		return models.Event{}, fmt.Errorf("amount: %w", err)
	case money.Minor < 0:
		return models.Event{}, fmt.Errorf("amount: negative, %s", money)
	}
	return models.Event{Kind: kind, TransactionID: id, ParentID: parent, OrderID: n.text("merchantReference"), Money: money}, nil
}

// modification is what is done to a payment under an id of its own. Without the payment's it would be a movement of nothing.
func (n notice) modification(kind models.EventKind) (models.Event, error) {
	payment := n.text("originalReference")
	if payment == "" {
		return models.Event{}, errors.New("originalReference: missing: of which payment?")
	}
	return n.movement(kind, n.text("pspReference"), payment)
}

// isPaidWhenAuthorised says whether this merchant account's authorisations count as payments.
func (n notice) isPaidWhenAuthorised() bool { return n.p.paid[n.text("merchantAccountCode")] }

// reason is the provider's word for why; it is not signed, so it is shown to people and decides nothing. A long row of digits in
// it could be a card number.
func (n notice) reason() string { return clip(longDigits.ReplaceAllString(n.text("reason"), "…")) }

var longDigits = regexp.MustCompile(`\d[\d -]{10,}\d`)

// occurredAt is eventDate, as nothing else tells when it happened. It is not signed: without sense, or ahead of the time of receipt
// by more than clocks differ, the time of receipt stands in for it.
func occurredAt(it item, received time.Time) time.Time {
	const ahead = 24 * time.Hour
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} {
		at, err := time.Parse(layout, it.text("eventDate"))
		if err == nil && at.UTC().Year() >= 1970 && (received.IsZero() || at.Before(received.Add(ahead))) {
			return at.UTC()
		}
	}
	return received.UTC()
}

// storable is false for text that would spoil an index or a log line. Adyen's references have 16 characters, the merchant's
// up to 80.
func storable(s string) bool { return len(s) <= 255 && !strings.ContainsFunc(s, unicode.IsControl) }

func kept(s string) string {
	if !storable(s) {
		return ""
	}
	return s
}

func unknown(detail string) models.Event {
	return models.Event{Kind: models.EventUnknown, Detail: clip(detail)}
}
