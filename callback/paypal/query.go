package paypal

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// Query asks about a payment by the id of its capture, its authorisation or PayPal's order, or about a refund by its id. PayPal can't be
// asked by the shop's own numbers. Answers are not signed; they are genuine because the host is PayPal's.
func (p *Provider) Query(ctx context.Context, client *http.Client, q models.Query) (cb models.Callback, events []models.Event, err error) {
	if err := p.api.canAsk(); err != nil {
		return cb, nil, err
	}
	places, err := placesOf(q)
	if err != nil {
		return cb, nil, err
	}
	for _, place := range places {
		path := place.collection + url.PathEscape(place.id)
		answer, err := p.api.get(ctx, client, path, q.Asked)
		if err != nil {
			return cb, nil, err
		}
		doc, err := parse.JSON(answer.Body)
		name := doc.Get("name").String()
		if answer.Status == http.StatusNotFound && name == "RESOURCE_NOT_FOUND" {
			cb = answer.Evidence(p.api.base.Path+path, q.Asked)
			continue
		}
		if failed := answer.OK(name); failed != nil {
			return cb, nil, failed
		}
		cb = answer.Evidence(p.api.base.Path+path, q.Asked)
		if err != nil {
			return cb, nil, reject(models.ReasonMalformed, "answer: %v", err)
		}
		events, err = p.answered(place, doc)
		return cb, events, err
	}
	return cb, nil, nil
}

// place is where one thing may be asked for.
type place struct {
	collection, id string
	read           func(p *Provider, doc parse.Value) []models.Event
}

// placesOf are the places to look, the likeliest first: an id does not show what it is of.
func placesOf(q models.Query) (places []place, err error) {
	add := func(id, collection string, read func(*Provider, parse.Value) []models.Event) {
		if id != "" && !strings.Contains(id, ":") { // a name of ours stands in for an id that is not known
			places = append(places, place{collection, id, read})
		}
	}
	switch q.Kind {
	case models.Payment:
		add(q.TransactionID, "/v2/payments/captures/", captureAnswered)
		add(q.TransactionID, "/v2/payments/authorizations/", authorizationAnswered)
		add(q.TransactionID, "/v2/checkout/orders/", orderAnswered)
		add(q.ParentID, "/v2/checkout/orders/", orderAnswered)
	case models.Refund:
		add(q.TransactionID, "/v2/payments/refunds/", refundAnswered)
	default:
		return nil, &models.CannotAsk{What: "PayPal is asked about payments and refunds only"}
	}
	if places == nil {
		return nil, &models.CannotAsk{What: "PayPal finds payments and refunds by its own ids, of which none is known"}
	}
	return places, nil
}

// answered checks whose answer it is before it is read.
func (p *Provider) answered(at place, doc parse.Value) ([]models.Event, error) {
	if !doc.IsObject() {
		return nil, reject(models.ReasonMalformed, "answer: not a JSON object")
	}
	if got := doc.Get("id").Text(); got != at.id {
		return nil, reject(models.ReasonMalformed, "the answer is about %q, asked was %q", clip(got), clip(at.id))
	}
	payees := append([]parse.Value{doc}, doc.Get("purchase_units").List()...)
	for _, of := range payees {
		if err := p.checkMerchant(message{resource: of}); err != nil {
			return nil, err
		}
	}
	events := at.read(p, doc)
	for i := range events {
		events[i].TestMode = p.livemode != nil && isPayPal(p.api.base.Host) && *p.livemode == isSandbox(p.api.base.Host)
	}
	return events, nil
}

// told reads a resource as the message that would have told it. nil is a state in which nothing has moved.
func (p *Provider) told(resource parse.Value, read reading) []models.Event {
	if read == nil {
		return nil
	}
	events, err := read(message{doc: resource, resource: resource, order: p.orderField})
	if err != nil {
		return []models.Event{{Kind: models.EventUnparsable, Detail: clip(err.Error())}}
	}
	return events
}

// captureReadings go by the status; the message would have been called so.
var captureReadings = map[string]string{
	"COMPLETED": "PAYMENT.CAPTURE.COMPLETED", "PARTIALLY_REFUNDED": "PAYMENT.CAPTURE.COMPLETED", "REFUNDED": "PAYMENT.CAPTURE.COMPLETED",
	"PENDING": "PAYMENT.CAPTURE.PENDING", "DECLINED": "PAYMENT.CAPTURE.DECLINED", "FAILED": "PAYMENT.CAPTURE.DECLINED",
}

func captureAnswered(p *Provider, doc parse.Value) []models.Event {
	kind, known := captureReadings[doc.Get("status").String()]
	if !known {
		kind = "PAYMENT.CAPTURE.COMPLETED" // it will say which states it knows
	}
	return p.told(doc, eventTypes[kind])
}

// authorizationAnswered: what was captured of it is told by the captures.
func authorizationAnswered(p *Provider, doc parse.Value) []models.Event {
	switch doc.Get("status").String() {
	case "CAPTURED", "PARTIALLY_CAPTURED", "DENIED", "EXPIRED":
		return nil
	case "VOIDED":
		return p.told(doc, eventTypes["PAYMENT.AUTHORIZATION.VOIDED"])
	}
	return p.told(doc, eventTypes["PAYMENT.AUTHORIZATION.CREATED"])
}

// orderAnswered tells the captures of an order. The shop's number may stand in the order's unit alone.
func orderAnswered(p *Provider, doc parse.Value) (events []models.Event) {
	for _, unit := range doc.Get("purchase_units").List() {
		for _, capture := range unit.Get("payments", "captures").List() {
			all, _ := capture.Any().(map[string]any)
			filled := map[string]any{p.orderField.v2: unit.Get(p.orderField.v2).Any()}
			maps.Copy(filled, all)
			events = append(events, captureAnswered(p, parse.Of(filled))...)
		}
	}
	return events
}

func refundAnswered(p *Provider, doc parse.Value) []models.Event {
	return p.told(doc, eventTypes["PAYMENT.CAPTURE.REFUNDED"])
}
