package stripe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest/apitest"
	"paybook/callback/stripe"
	"paybook/models"
)

const (
	intent = `{"id":"pi_1","object":"payment_intent","amount":1999,"amount_received":1999,"amount_capturable":0,"created":1795767200,"currency":"usd",
		"latest_charge":%s,"livemode":false,"metadata":{"order_id":"A1"},"status":"succeeded"}`
	chargeObject = `{"id":"ch_1","object":"charge","payment_intent":"pi_1","amount":1999,"amount_captured":1999,"captured":true,"created":1795767301,
		"balance_transaction":{"id":"txn_1","created":1795767302},"currency":"usd","livemode":false,"metadata":{"order_id":"A1"},"status":"succeeded"}`
	refundObject = `{"id":"re_1","object":"refund","charge":"ch_1","payment_intent":"pi_1","amount":500,"created":1795767302,"currency":"usd",
		"metadata":{"refund_order_id":"R1"},"status":"succeeded"}`
)

var order = models.Order{OrderID: "A1", AmountMinor: 1999, Currency: "USD"}

func told(t *testing.T, p *stripe.Provider, typ, object string) apitest.Telling {
	t.Helper()
	body := snapshot(typ, object)
	cb := request(header(secretNew, now, body), body)
	events, err := p.Verify(t.Context(), cb)
	if err != nil {
		t.Fatal(err)
	}
	return apitest.Telling{Callback: cb, Events: events}
}

func query(t *testing.T, p *stripe.Provider, q models.Query) (apitest.Telling, error) {
	t.Helper()
	q.Asked = now
	cb, events, err := p.Query(t.Context(), apitest.Client(t), q)
	return apitest.Telling{Callback: cb, Events: events}, err
}

func TestQueryTellsWhatTheCallbackTells(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	expanded := fmt.Sprintf(intent, chargeObject)
	s.objects["/v1/payment_intents/pi_1"], s.objects["/v1/charges/ch_1"] = expanded, chargeObject
	s.objects["/v1/payment_intents/search"] = `{"object":"search_result","data":[` + expanded + `,` + strings.ReplaceAll(expanded, `"A1"`, `"A10"`) + `]}`
	byIntent := told(t, p, "payment_intent.succeeded", fmt.Sprintf(intent, `"ch_1"`))
	byCharge := told(t, p, "charge.succeeded", chargeObject)
	for _, tt := range []struct {
		q    models.Query
		told apitest.Telling
	}{
		{models.Query{TransactionID: "pi_1"}, byIntent},
		{models.Query{TransactionID: "ch_1", ParentID: "pi_1", OrderID: "A1"}, byCharge},
		{models.Query{TransactionID: "ch_1"}, byIntent},
		{models.Query{OrderID: "A1"}, byCharge},
	} {
		tt.q.Kind = models.Payment
		asked, err := query(t, p, tt.q)
		if err != nil {
			t.Fatal(err)
		}
		apitest.OneRow(t, apitest.Movement{Order: order, Told: tt.told, Asked: asked})
	}
	s.objects["/v1/refunds/re_1"] = refundObject
	s.objects["/v1/refunds"] = `{"object":"list","data":[` + strings.ReplaceAll(strings.ReplaceAll(refundObject, "re_1", "re_2"), "R1", "R2") + `,` + refundObject + `]}`
	for _, q := range []models.Query{
		{TransactionID: "re_1", ParentID: "ch_1"}, {TransactionID: "shop:R1", ParentID: "ch_1", RefundOrderID: "R1"}, {ParentID: "pi_1", RefundOrderID: "R1"},
	} {
		q.Kind = models.Refund
		asked, err := query(t, p, q)
		if err != nil {
			t.Fatal(err)
		}
		apitest.OneRow(t, apitest.Movement{Order: order, Before: []apitest.Telling{byIntent}, Told: told(t, p, "refund.created", refundObject), Asked: asked})
	}
}

func TestQueryOfStates(t *testing.T) {
	full := fmt.Sprintf(intent, chargeObject)
	change := func(object string, pairs ...string) string {
		changed := strings.NewReplacer(pairs...).Replace(object)
		if changed == object {
			t.Fatalf("%q changes nothing", pairs)
		}
		return changed
	}
	status := func(object, word string) string {
		return object[:strings.LastIndex(object, `"status"`)] + `"status":"` + word + `"}`
	}
	tests := []struct {
		name, path, object string
		want               models.EventKind
	}{
		{"unknown to Stripe", "/v1/payment_intents/pi_1", "", ""},
		{"waits for the buyer", "/v1/payment_intents/pi_1", status(full, "requires_action"), ""},
		{"no attempt yet", "/v1/payment_intents/pi_1", status(full, "requires_payment_method"), ""},
		{"an attempt that failed", "/v1/payment_intents/pi_1",
			status(change(full, `"livemode":false,"metadata":{"order_id":"A1"},"status":"succeeded"}`, `"livemode":false,"last_payment_error":{"charge":"ch_1"},"metadata":{"order_id":"A1"},"status":"succeeded"}`), "requires_payment_method"), models.PaymentFailed},
		{"under way", "/v1/payment_intents/pi_1", status(full, "processing"), models.PaymentPending},
		{"authorised", "/v1/payment_intents/pi_1", status(change(full, `"amount_capturable":0`, `"amount_capturable":1999`), "requires_capture"), models.PaymentAuthorised},
		{"canceled", "/v1/payment_intents/pi_1", status(full, "canceled"), models.PaymentClosed},
		{"a word of tomorrow", "/v1/payment_intents/pi_1", status(full, "paused"), models.EventUnparsable},
		{"no sum", "/v1/payment_intents/pi_1", change(full, `"amount_received":1999`, `"amount_received":null`), models.EventUnparsable},
		{"another kind of object", "/v1/payment_intents/pi_1", change(full, `"object":"payment_intent"`, `"object":"payout"`), models.EventUnparsable},
		{"a refund under way", "/v1/refunds/re_1", status(refundObject, "pending"), models.RefundPending},
		{"a refund that failed", "/v1/refunds/re_1", status(refundObject, "failed"), models.RefundFailed},
		{"a charge that failed", "/v1/charges/ch_1", status(chargeObject, "failed"), models.PaymentFailed},
		{"a charge under way", "/v1/charges/ch_1", status(chargeObject, "pending"), ""},
		{"an authorisation let go", "/v1/charges/ch_1", change(chargeObject, `"captured":true`, `"captured":false,"refunded":true`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			s.objects[tt.path] = tt.object
			id := tt.path[strings.LastIndex(tt.path, "/")+1:]
			q := models.Query{Kind: models.Payment, TransactionID: id}
			if strings.HasPrefix(id, "re_") {
				q.Kind = models.Refund
			}
			got, err := query(t, asking(t, s.server.URL, nil), q)
			if err != nil || got.Callback.Method != "QUERY" || got.Callback.Path != tt.path {
				t.Fatalf("%+v, %v", got, err)
			}
			if tt.want == "" && len(got.Events) > 0 || tt.want != "" && (len(got.Events) != 1 || got.Events[0].Kind != tt.want) {
				t.Errorf("events %+v, want %q", got.Events, tt.want)
			}
		})
	}
}

// A refund that fails days after it was made is told as what happens now, or else the book would take it for old news.
func TestQueryOfARefundThatFailedLater(t *testing.T) {
	s := newStandIn(t)
	failed := strings.Replace(refundObject, `"succeeded"`, `"failed"`, 1)
	s.objects["/v1/refunds/re_1"] = failed
	p := asking(t, s.server.URL, nil)
	q := models.Query{Kind: models.Refund, TransactionID: "re_1"}
	got, err := query(t, p, q)
	if err != nil || !got.Events[0].OccurredAt.Equal(now) {
		t.Errorf("%+v, %v", got.Events, err)
	}
	s.objects["/v1/refunds/re_1"] = strings.Replace(failed, `"status"`, `"failure_balance_transaction":{"created":1795777777},"status"`, 1)
	if got, err = query(t, p, q); err != nil || !got.Events[0].OccurredAt.Equal(time.Unix(1795777777, 0)) {
		t.Errorf("%+v, %v", got.Events, err)
	}
}

func TestQueryChecksWhoseItIs(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	s.objects["/v1/payment_intents/pi_1"] = strings.Replace(fmt.Sprintf(intent, "null"), `"pi_1"`, `"pi_2"`, 1)
	got, err := query(t, p, models.Query{Kind: models.Payment, TransactionID: "pi_1"})
	if apitest.Refused(err) != models.ReasonMalformed || got.Events != nil || len(got.Callback.Body) == 0 {
		t.Errorf("another payment: %+v, %v", got, err)
	}
	s.objects["/v1/payment_intents/pi_1"] = strings.Replace(fmt.Sprintf(intent, "null"), `"livemode":false`, `"livemode":true`, 1)
	if got, err = query(t, p, models.Query{Kind: models.Payment, TransactionID: "pi_1"}); err != nil || !got.Events[0].TestMode {
		t.Errorf("another mode: %+v, %v", got, err)
	}
	for name, body := range map[string]string{"no object": `[1]`, "no JSON": `<html>`, "a key twice": `{"id":"pi_1","id":"pi_1"}`} {
		s.objects["/v1/payment_intents/pi_1"] = body
		if got, err = query(t, p, models.Query{Kind: models.Payment, TransactionID: "pi_1"}); apitest.Refused(err) != models.ReasonMalformed || got.Events != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestQueryByAnOrderNumberOfAnySpelling(t *testing.T) {
	s := newStandIn(t)
	s.objects["/v1/payment_intents/search"] = `{"data":[]}`
	if _, err := query(t, asking(t, s.server.URL, nil), models.Query{Kind: models.Payment, OrderID: `A'1\`}); err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 1 || !strings.Contains(s.asked[0], "query=metadata%5B%27order_id%27%5D%3A%27A%5C%271%5C%5C%27") {
		t.Errorf("asked %q", s.asked)
	}
}

func TestQueryWithoutAName(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	for _, q := range []models.Query{
		{Kind: models.Payment}, {Kind: models.Payment, TransactionID: "shop:1"}, {Kind: models.Refund, TransactionID: "shop:R1", RefundOrderID: "R1"},
		{Kind: models.Refund, ParentID: "ch_1"}, {Kind: models.Payout, TransactionID: "po_1"},
	} {
		if _, err := query(t, p, q); !apitest.CannotAsk(err) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if s.asked != nil {
		t.Errorf("asked %q", s.asked)
	}
}
