package stripe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Query asks about a payment by its charge or PaymentIntent, or by the order number in its metadata, which Stripe's search knows a
// minute later; or about a refund by its id or, among those of its payment, by the shop's number in its metadata.
func (p *Provider) Query(ctx context.Context, client *http.Client, q models.Query) (cb models.Callback, events []models.Event, err error) {
	if err := p.canAsk(); err != nil {
		return cb, nil, err
	}
	asked, err := p.question(q)
	if err != nil {
		return cb, nil, err
	}
	answer, doc, err := p.get(ctx, client, asked.path, asked.query)
	if answer.Status == http.StatusOK || answer.Status == http.StatusNotFound {
		cb = answer.Evidence(p.api.base.Path+asked.path, q.Asked)
	}
	if answer.Status == http.StatusNotFound && doc.Get("error", "code").String() == "resource_missing" {
		return cb, nil, nil
	}
	if err != nil {
		return cb, nil, err
	}
	found := []parse.Value{doc}
	if asked.id == "" {
		found = doc.Get("data").List()
	}
	for _, one := range found {
		if got := idOf(one); asked.id != "" && got != asked.id {
			return cb, nil, refuse(models.ReasonMalformed, "the answer is about %q, asked was %s", clip(got), asked.id)
		}
		if asked.number == "" || one.Get("metadata", asked.numberKey).Text() == asked.number {
			events = append(events, p.answered(one, q.Asked)...)
		}
	}
	return cb, events, nil
}

// question is where to ask. id is "" for a list, of which those count that have the shop's number in their metadata.
type question struct {
	path, id          string
	query             url.Values
	number, numberKey string
}

// question asks by the best name there is.
func (p *Provider) question(q models.Query) (question, error) {
	one := func(collection, id string, expand ...string) (question, error) {
		return question{path: "/v1/" + collection + "/" + url.PathEscape(id), id: id, query: url.Values{"expand[]": expand}}, nil
	}
	intent := firstWith(q, "pi_")
	charge := firstWith(q, "ch_", "py_")
	switch {
	case q.Kind == models.Payment && intent != "": // it leads to the attempt that was good, where a charge may be one that failed
		return one("payment_intents", intent, "latest_charge.balance_transaction")
	case q.Kind == models.Payment && charge != "":
		return one("charges", charge, "balance_transaction")
	case q.Kind == models.Payment && q.OrderID != "":
		return question{path: "/v1/payment_intents/search", number: q.OrderID, numberKey: p.metadataKey, query: url.Values{
			"query": {fmt.Sprintf("metadata['%s']:'%s'", quote(p.metadataKey), quote(q.OrderID))}, "limit": {"100"},
			"expand[]": {"data.latest_charge.balance_transaction"},
		}}, nil
	case q.Kind == models.Refund && hasPrefix(q.TransactionID, "re_", "pyr_"):
		return one("refunds", q.TransactionID, "balance_transaction", "failure_balance_transaction")
	case q.Kind == models.Refund && q.RefundOrderID != "" && cmp.Or(charge, intent) != "":
		query := url.Values{"limit": {"100"}, "expand[]": {"data.balance_transaction", "data.failure_balance_transaction"}, "charge": {charge}}
		if charge == "" {
			query.Del("charge")
			query.Set("payment_intent", intent)
		}
		return question{path: "/v1/refunds", number: q.RefundOrderID, numberKey: "refund_order_id", query: query}, nil
	case q.Kind != models.Payment && q.Kind != models.Refund:
		return question{}, &models.CannotAsk{What: "Stripe is asked about payments and refunds only"}
	}
	return question{}, &models.CannotAsk{What: "no id that Stripe finds it by is known"}
}

// firstWith is the first of the movement's and the payment's id that begins in one of these ways. Ids of our own making, which stand in
// for one that is not known yet, never do.
func firstWith(q models.Query, prefixes ...string) string {
	i := slices.IndexFunc([]string{q.TransactionID, q.ParentID}, func(id string) bool { return hasPrefix(id, prefixes...) })
	if i < 0 {
		return ""
	}
	return []string{q.TransactionID, q.ParentID}[i]
}

func hasPrefix(id string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(id, prefix) })
}

// quote is for a text in the language of Stripe's search.
func quote(text string) string { return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) }

// answered is what an object says, as the event that would have told it. Nothing is said by one that has not moved yet.
func (p *Provider) answered(doc parse.Value, asked time.Time) []models.Event {
	o := object{Value: doc, p: p}
	read := p.readingOf(o)
	if read == nil {
		return nil
	}
	ev, err := read(o)
	if err == nil {
		ev.OccurredAt, err = movedAt(doc, ev.Kind, asked)
	}
	if err != nil {
		ev = models.Event{Kind: models.EventUnparsable, Detail: clip(doc.Get("object").String() + "." + err.Error())}
	}
	live, _ := doc.Get("livemode").Bool()
	ev.TestMode = p.livemode != nil && doc.Get("object").String() != "refund" && live != *p.livemode // a refund does not tell its mode
	return []models.Event{ev}
}

// readingOf chooses by what the object is and how far it has come. nil: nothing has moved.
func (p *Provider) readingOf(o object) reading {
	status := o.Get("status").String()
	switch o.Get("object").String() {
	case "payment_intent":
		return intentReading(o, status)
	case "charge":
		return chargeReading(o, status)
	case "refund":
		return refund
	}
	return func(o object) (models.Event, error) {
		return models.Event{}, unknownWord("object", o.Get("object").String())
	}
}

func intentReading(o object, status string) reading {
	switch status {
	case "succeeded":
		return paidIntent(models.PaymentSucceeded, "amount_received")
	case "requires_capture":
		return authorised
	case "processing":
		return intentItself(models.PaymentPending)
	case "canceled":
		return intentItself(models.PaymentClosed)
	case "requires_payment_method":
		if o.Get("last_payment_error").Exists() {
			return failedIntent
		}
		return nil
	case "requires_confirmation", "requires_action":
		return nil
	}
	return func(object) (models.Event, error) { return models.Event{}, unknownWord("status", status) }
}

// chargeReading: a charge that was authorised and let go again without a capture is refunded, and never was money.
func chargeReading(o object, status string) reading {
	captured, _ := o.Get("captured").Bool()
	refunded, _ := o.Get("refunded").Bool()
	switch {
	case status == "succeeded" && !captured && refunded, status == "pending":
		return nil
	case status == "succeeded":
		return chargeMade
	case status == "failed":
		return chargeFailed
	}
	return func(object) (models.Event, error) { return models.Event{}, unknownWord("status", status) }
}

// movedAt is when the balance moved, which is what the report goes by, or else when the object came to be: the second in which Stripe
// told of it stands in the event alone. A refund that failed after it had been made did so now, as far as anybody knows, unless the
// balance tells.
func movedAt(doc parse.Value, kind models.EventKind, asked time.Time) (time.Time, error) {
	charge := doc.Get("latest_charge")
	if list := doc.Get("charges", "data").List(); len(list) > 0 && !charge.Exists() {
		charge = list[0]
	}
	times := []parse.Value{doc.Get("balance_transaction", "created"), charge.Get("balance_transaction", "created"), charge.Get("created"), doc.Get("created")}
	switch kind {
	case models.PaymentClosed:
		times = []parse.Value{doc.Get("canceled_at"), doc.Get("created")}
	case models.RefundFailed, models.RefundClosed:
		times = []parse.Value{doc.Get("failure_balance_transaction", "created")}
		if !times[0].Exists() {
			return asked.UTC(), nil
		}
	}
	i := slices.IndexFunc(times, parse.Value.Exists)
	if i < 0 {
		return time.Time{}, errors.New("created: missing")
	}
	return unixTime(times[i])
}
