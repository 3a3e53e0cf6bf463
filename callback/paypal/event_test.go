package paypal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// messageOf is a genuine message: its type, and its resource as JSON.
func messageOf(kind, resourceType, resource string) (m message, ok bool) {
	doc, err := parse.JSON(fmt.Appendf(nil, `{"id":"WH-1","create_time":"2026-11-27T18:15:02.500Z","event_type":%q,"resource_type":%q,"resource":%s}`,
		kind, resourceType, resource))
	return message{doc: doc, resource: doc.Get("resource"), order: orderFields[orderFieldDefault]}, err == nil
}

func say(tb testing.TB, field, kind, resourceType, resource string) []models.Event {
	tb.Helper()
	m, ok := messageOf(kind, resourceType, resource)
	if !ok {
		tb.Fatalf("no JSON: %s", resource)
	}
	m.order = orderFields[field]
	return m.events()
}

// one is the single event of a message.
func one(tb testing.TB, kind, resourceType, resource string) models.Event {
	tb.Helper()
	events := say(tb, "invoice_id", kind, resourceType, resource)
	if len(events) != 1 || events[0].ID != "WH-1" {
		tb.Fatalf("%s: %+v, want one event of WH-1", kind, events)
	}
	return events[0]
}

// edit changes fields of a JSON object by their path; nil takes one away.
func edit(tb testing.TB, object string, changes ...any) string {
	tb.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(object), &all); err != nil {
		tb.Fatalf("%v: %s", err, object)
	}
	for i := 0; i < len(changes); i += 2 {
		path, at := strings.Split(fmt.Sprint(changes[i]), "."), all
		for _, key := range path[:len(path)-1] {
			next, ok := at[key].(map[string]any)
			if !ok {
				tb.Fatalf("no object %s in %s", key, object)
			}
			at = next
		}
		if at[path[len(path)-1]] = changes[i+1]; changes[i+1] == nil {
			delete(at, path[len(path)-1])
		}
	}
	raw, err := json.Marshal(all)
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

const (
	capture = `{"id":"CAP1","status":"COMPLETED","amount":{"currency_code":"USD","value":"49.99"},"final_capture":true,"invoice_id":"ORD-1","custom_id":"cart 1",
		"create_time":"2026-11-27T18:15:00Z","update_time":"2026-11-27T18:16:00Z","supplementary_data":{"related_ids":{"order_id":"ORDER1"}},
		"links":[{"rel":"self","href":"https://api.paypal.com/v2/payments/captures/CAP1"},{"rel":"refund","href":"https://api.paypal.com/v2/payments/captures/CAP1/refund"},
		{"rel":"up","href":"https://api.paypal.com/v2/checkout/orders/ORDER1"}]}`
	refunded = `{"id":"REF1","status":"COMPLETED","amount":{"currency_code":"USD","value":"10.00"},"invoice_id":"ORD-1","create_time":"2026-11-27T20:00:00Z",
		"seller_payable_breakdown":{"total_refunded_amount":{"currency_code":"USD","value":"30.00"}},
		"links":[{"rel":"self","href":"https://api.paypal.com/v2/payments/refunds/REF1"},{"rel":"up","href":"https://api.paypal.com/v2/payments/captures/CAP1"}]}`
	authorized = `{"id":"AUT1","status":"CREATED","amount":{"currency_code":"USD","value":"49.99"},"invoice_id":"ORD-1","create_time":"2026-11-27T18:15:00Z",
		"links":[{"rel":"up","href":"https://api.paypal.com/v2/checkout/orders/ORDER1"}]}`
	sale = `{"id":"SAL1","state":"completed","amount":{"total":"49.99","currency":"USD","details":{"subtotal":"40"}},"invoice_number":"ORD-1","custom":"cart 1",
		"parent_payment":"PAY-1","create_time":"2026-11-27T18:15:00Z","links":[{"rel":"self","href":"https://api.paypal.com/v1/payments/sale/SAL1"}]}`
	saleRefund = `{"id":"REF1","sale_id":"SAL1","state":"completed","amount":{"total":"-10.00","currency":"USD"},"invoice_number":"ORD-1","create_time":"2026-11-27T20:00:00Z",
		"links":[{"rel":"self","href":"https://api.paypal.com/v1/payments/refund/REF1"},{"rel":"sale","href":"https://api.paypal.com/v1/payments/sale/SAL1"}]}`
	item = `{"payout_item_id":"ITEM1","transaction_id":"TX1","transaction_status":"SUCCESS","payout_batch_id":"B1","time_processed":"2026-11-27T18:15:00Z",
		"payout_item":{"amount":{"currency":"USD","value":"5.00"},"sender_item_id":"SHOP-1","receiver":"x@example.com"}}`
)

func TestEvents(t *testing.T) {
	usd := func(minor int64) models.Money { return models.Money{Minor: minor, Currency: "USD"} }
	state := func(object, word string) string { return edit(t, object, "status", word) }
	paid := models.Event{Kind: models.PaymentSucceeded, TransactionID: "CAP1", ParentID: "ORDER1", OrderID: "ORD-1", Money: usd(4999)}
	as := func(ev models.Event, kind models.EventKind) models.Event {
		ev.Kind = kind
		return ev
	}
	held := models.Event{Kind: models.PaymentAuthorised, TransactionID: "AUT1", ParentID: "ORDER1", OrderID: "ORD-1", Money: usd(4999)}
	ended := as(held, models.PaymentVoided) // it has no id of its own, and no other parent than itself
	ended.ParentID = ""
	sold := models.Event{Kind: models.PaymentSucceeded, TransactionID: "SAL1", ParentID: "PAY-1", OrderID: "ORD-1", Money: usd(4999)}
	back := models.Event{Kind: models.RefundSucceeded, TransactionID: "REF1", ParentID: "CAP1", OrderID: "ORD-1", Money: usd(1000)}
	soldBack := back
	soldBack.ParentID = "SAL1"
	out := models.Event{Kind: models.PayoutPaid, TransactionID: "ITEM1", OrderID: "SHOP-1", Money: usd(500)}
	for _, c := range []struct {
		kind, resourceType, resource string
		want                         models.Event
	}{
		{"PAYMENT.CAPTURE.COMPLETED", "capture", capture, paid},
		{"PAYMENT.CAPTURE.COMPLETED", "capture", state(capture, "PARTIALLY_REFUNDED"), paid},
		{"PAYMENT.CAPTURE.PENDING", "capture", state(capture, "PENDING"), as(paid, models.PaymentPending)},
		{"PAYMENT.CAPTURE.DECLINED", "capture", state(capture, "DECLINED"), as(paid, models.PaymentFailed)},
		{"PAYMENT.CAPTURE.DENIED", "capture", state(capture, "DECLINED"), as(paid, models.PaymentFailed)},
		{"PAYMENT.CAPTURE.DENIED", "capture", state(capture, "FAILED"), as(paid, models.PaymentFailed)},
		{"PAYMENT.CAPTURE.REFUNDED", "refund", refunded, back},
		{"PAYMENT.CAPTURE.REFUNDED", "refund", state(refunded, "PENDING"), as(back, models.RefundPending)},
		{"PAYMENT.CAPTURE.REFUNDED", "refund", state(refunded, "FAILED"), as(back, models.RefundFailed)},
		{"PAYMENT.CAPTURE.REFUNDED", "refund", state(refunded, "CANCELLED"), as(back, models.RefundClosed)},
		{"PAYMENT.CAPTURE.REVERSED", "refund", refunded, as(back, models.DisputeLost)},
		{"PAYMENT.AUTHORIZATION.CREATED", "authorization", authorized, held},
		{"PAYMENT.AUTHORIZATION.VOIDED", "authorization", state(authorized, "VOIDED"), ended},
		{"PAYMENT.AUTHORIZATION.VOIDED", "authorization", state(authorized, "PARTIALLY_CAPTURED"), ended},
		{"PAYMENT.SALE.COMPLETED", "sale", sale, sold},
		{"PAYMENT.SALE.PENDING", "sale", edit(t, sale, "state", "pending"), as(sold, models.PaymentPending)},
		{"PAYMENT.SALE.REFUNDED", "sale", saleRefund, soldBack},
		{"PAYMENT.SALE.REFUNDED", "refund", edit(t, saleRefund, "links", []string{}), soldBack},
		{"PAYMENT.SALE.REVERSED", "sale", edit(t, sale, "amount.total", "-49.99"), models.Event{Kind: models.DisputeLost, TransactionID: "SAL1", ParentID: "SAL1", OrderID: "ORD-1", Money: usd(4999)}},
		{"PAYMENT.PAYOUTS-ITEM.SUCCEEDED", "payouts_item", item, out},
		{"PAYMENT.PAYOUTS-ITEM.UNCLAIMED", "payouts_item", item, as(out, models.PayoutPending)},
		{"PAYMENT.PAYOUTS-ITEM.RETURNED", "payouts_item", item, as(out, models.PayoutFailed)},
	} {
		got := one(t, c.kind, c.resourceType, c.resource)
		if got.OccurredAt.IsZero() || got.OccurredAt.Location() != time.UTC {
			t.Errorf("%s: occurred at %s", c.kind, got.OccurredAt)
		}
		if got.Kind != models.PaymentVoided && (len(got.Aliases) == 0 || got.Aliases[0] != got.TransactionID) {
			t.Errorf("%s: names are %q, want its own among them", c.kind, got.Aliases)
		}
		if got.Kind == models.PaymentVoided && got.Aliases != nil {
			t.Errorf("%s: names %q of a void, which are the authorisation's", c.kind, got.Aliases)
		}
		c.want.ID, c.want.OccurredAt, c.want.Aliases, c.want.Detail = got.ID, got.OccurredAt, got.Aliases, got.Detail
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of %s:\ngot  %+v\nwant %+v", c.kind, c.resource, got, c.want)
		}
	}
}

func TestOrderNumberBySetting(t *testing.T) {
	for _, c := range []struct{ field, kind, resource, want string }{
		{"custom_id", "PAYMENT.CAPTURE.COMPLETED", capture, "cart 1"},
		{"custom_id", "PAYMENT.SALE.COMPLETED", sale, "cart 1"},
		{"invoice_id", "PAYMENT.CAPTURE.COMPLETED", edit(t, capture, "invoice_id", nil), ""}, // never the other field
		{"invoice_id", "PAYMENT.CAPTURE.COMPLETED", edit(t, capture, "invoice_id", "Müller & Söhne <b>№5</b>"), "Müller & Söhne <b>№5</b>"},
		{"invoice_id", "PAYMENT.CAPTURE.COMPLETED", strings.Replace(capture, `"ORD-1"`, `8389765929445198309`, 1), "8389765929445198309"},
	} {
		if got := say(t, c.field, c.kind, "", c.resource)[0]; got.OrderID != c.want || got.Kind != models.PaymentSucceeded {
			t.Errorf("%s of %s: %s of order %q (%s), want %q", c.field, c.kind, got.Kind, got.OrderID, got.Detail, c.want)
		}
	}
}

// The time is that of the money: when a pending capture was completed, not when it was asked for.
func TestOccurredAt(t *testing.T) {
	for resource, want := range map[string]string{
		capture:                                "2026-11-27T18:16:00Z",
		edit(t, capture, "status", "REFUNDED"): "2026-11-27T18:15:00Z",
		edit(t, capture, "update_time", nil):   "2026-11-27T18:15:00Z",
		edit(t, capture, "update_time", "2026-11-27T10:16:00-08:00"):      "2026-11-27T18:16:00Z",
		edit(t, capture, "update_time", nil, "create_time", nil):          "2026-11-27T18:15:02.5Z",
		edit(t, capture, "update_time", "2026-11-27T18:16:00.123456789Z"): "2026-11-27T18:16:00.123456789Z",
	} {
		if got := one(t, "PAYMENT.CAPTURE.COMPLETED", "capture", resource); got.OccurredAt.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %s (%s), want %s", resource, got.OccurredAt, got.Detail, want)
		}
	}
}

// Each capture is a payment of its own, also where two of one authorisation both call themselves the final one: as names of one payment
// the second would be booked nowhere.
func TestAuthorizationIsNoNameOfItsCaptures(t *testing.T) {
	linked := edit(t, capture, "links", []map[string]string{{"rel": "up", "href": "https://api.paypal.com/v2/payments/authorizations/AUT1"}})
	for _, resource := range []string{linked, edit(t, linked, "final_capture", false), edit(t, linked, "final_capture", nil), capture} {
		for _, own := range []string{"CAP1", "CAP2"} {
			got := one(t, "PAYMENT.CAPTURE.COMPLETED", "capture", edit(t, resource, "id", own))
			if got.Kind != models.PaymentSucceeded || !reflect.DeepEqual(got.Aliases, []string{own}) || len(got.FoundBy) > 0 {
				t.Errorf("%s: %+v, want no name but its own", resource, got)
			}
		}
	}
}

// Genuine, but it can't be booked: kept, and said what is wrong.
func TestUnparsable(t *testing.T) {
	const completed, refundedEvent = "PAYMENT.CAPTURE.COMPLETED", "PAYMENT.CAPTURE.REFUNDED"
	for _, c := range []struct{ kind, resourceType, resource, want string }{
		{"", "capture", capture, "event_type"},
		{completed, "capture", `null`, "id"},
		{completed, "capture", `[]`, "id"},
		{completed, "refund", refunded, "resource_type"},
		{completed, "capture", edit(t, capture, "id", nil), "id: missing"},
		{completed, "capture", edit(t, capture, "id", ""), "id: missing"},
		{completed, "capture", edit(t, capture, "id", "a\u0007b"), "id: missing"},
		{completed, "capture", edit(t, capture, "invoice_id", "a\nb"), "invoice_id"},
		{completed, "capture", edit(t, capture, "invoice_id", strings.Repeat("a", 2000)), "invoice_id"},
		{completed, "capture", strings.Replace(capture, `"ORD-1"`, `"ORD-1\ud83d"`, 1), "invoice_id"},
		{completed, "capture", strings.Replace(capture, `"CAP1"`, `"CAP1\u0000"`, 1), "id: missing"},
		{completed, "capture", edit(t, capture, "status", "PENDING"), `status: "PENDING"`},
		{completed, "capture", edit(t, capture, "status", "DECLINED"), `status: "DECLINED"`},
		{completed, "capture", edit(t, capture, "status", "completed"), `status: "completed"`},
		{completed, "capture", edit(t, capture, "status", nil), "status"},
		{"PAYMENT.CAPTURE.PENDING", "capture", capture, `status: "COMPLETED"`},
		{"PAYMENT.CAPTURE.DECLINED", "capture", capture, `status: "COMPLETED"`},
		{completed, "capture", edit(t, capture, "amount", nil), "amount: missing"},
		{completed, "capture", edit(t, capture, "amount.value", "-49.99"), "amount: negative"},
		{completed, "capture", edit(t, capture, "amount.value", "0.00"), "amount: zero"},
		{completed, "capture", edit(t, capture, "amount.value", "49.999"), "USD has 2 decimals"},
		{completed, "capture", edit(t, capture, "amount.value", "49,99"), "amount"},
		{completed, "capture", edit(t, capture, "amount.value", "1e1000000000"), "amount"},
		{completed, "capture", strings.Replace(capture, `"49.99"`, `1E400`, 1), "amount"},
		{completed, "capture", edit(t, capture, "amount.value", strings.Repeat("9", 10000)), "amount"},
		{completed, "capture", edit(t, capture, "amount.currency_code", "XXX"), "amount"},
		{completed, "capture", edit(t, capture, "amount.currency_code", nil), "amount: missing"},
		{completed, "capture", edit(t, capture, "update_time", "yesterday"), "update_time"},
		{completed, "capture", edit(t, capture, "update_time", 1795803300), "update_time"},
		{refundedEvent, "capture", refunded, "resource_type"},
		{refundedEvent, "refund", edit(t, refunded, "status", "REFUNDED"), "status"},
		{refundedEvent, "refund", edit(t, refunded, "links", []string{}), "no link with rel up"},
		{refundedEvent, "refund", edit(t, refunded, "links", []map[string]string{{"rel": "self", "href": "https://api.paypal.com/v2/payments/captures/CAP1"}}), "no link with rel up"},
		{refundedEvent, "refund", edit(t, refunded, "links", []map[string]string{{"rel": "up", "href": "https://api.paypal.com/v2/checkout/orders/O1"}}), "no link with rel up"},
		{refundedEvent, "refund", edit(t, refunded, "links", []map[string]string{{"rel": "up", "href": "https://api.paypal.com/v2/payments/captures/"}}), "no link with rel up"},
		{"PAYMENT.CAPTURE.REVERSED", "refund", edit(t, refunded, "links", []string{}), "no link leads to the capture"},
		{"PAYMENT.PAYOUTS-ITEM.SUCCEEDED", "payouts_item", edit(t, item, "payout_item_id", nil), "payout_item_id"},
		{"PAYMENT.PAYOUTS-ITEM.SUCCEEDED", "payouts_item", edit(t, item, "payout_item.amount", nil), "payout_item.amount"},
	} {
		got := one(t, c.kind, c.resourceType, c.resource)
		if got.Kind != models.EventUnparsable || !strings.Contains(got.Detail, c.want) || got.TransactionID != "" || got.Money != (models.Money{}) {
			t.Errorf("%s of %.300s:\ngot %+v, want unparsable for %q", c.kind, c.resource, got, c.want)
		}
	}
}

func TestNotUsed(t *testing.T) {
	for _, c := range []struct{ kind, resource string }{
		{"BILLING.PLAN.CREATED", `{"id":"P-1"}`}, {"INVENTED.EVENT.2027", `null`}, {"PAYMENT.PAYOUTSBATCH.SUCCESS", `{}`},
		{"payment.capture.completed", capture}, {"CHECKOUT.ORDER.APPROVED", `{"id":"ORDER1","status":"APPROVED","create_time":"2026-11-27T18:15:00Z"}`},
	} {
		if got := one(t, c.kind, "x", c.resource); got.Kind != models.EventUnknown || got.Money != (models.Money{}) || got.OccurredAt.IsZero() || got.Detail == "" {
			t.Errorf("%s: %+v, want unknown, with the time and a word why", c.kind, got)
		}
	}
}

func TestMoney(t *testing.T) {
	for _, c := range []struct {
		value, currency string
		want            int64 // 0: refused
	}{
		{"12800", "JPY", 12800}, {"5000", "HUF", 500000}, {"5000", "TWD", 500000}, {"5000", "huf", 500000}, {"49.99", "USD", 4999}, {"49.9", "USD", 4990},
		{"49", "EUR", 4900}, {"5.120", "KWD", 5120}, {"12800.00", "JPY", 0}, {"5000.50", "HUF", 0}, {"5000.00", "HUF", 0}, {"5000.0", "TWD", 0},
		{"1,000.00", "USD", 0}, {"", "USD", 0}, {"$5", "USD", 0}, {"+5", "USD", 0}, {" 5", "USD", 0}, {"NaN", "USD", 0}, {"5.", "USD", 0}, {"٥", "USD", 0},
	} {
		v, err := parse.JSON(fmt.Appendf(nil, `{"currency_code":%q,"value":%q}`, c.currency, c.value))
		if err != nil {
			t.Fatal(err)
		}
		got, err := money(v)
		if got.Minor != c.want || (err == nil) != (c.want != 0) {
			t.Errorf("%s %s = %d, %v; want %d", c.value, c.currency, got.Minor, err, c.want)
		}
	}
}
