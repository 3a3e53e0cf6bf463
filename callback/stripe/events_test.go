package stripe_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

func usd(minor int64) models.Money { return models.Money{Minor: minor, Currency: "USD"} }

// Every type of event we use, and what it becomes. ID and OccurredAt are those of snapshot.
func TestEventTypes(t *testing.T) {
	const (
		intent  = `{"id":"pi_1","amount":1999,"amount_received":1998,"amount_capturable":1997,"currency":"usd","latest_charge":%s,"metadata":{"order_id":"A1"},"last_payment_error":%s}`
		charge  = `{"id":"ch_1","payment_intent":"pi_1","amount":1999,"amount_captured":1500,"amount_refunded":800,"captured":%s,"currency":"usd","metadata":{"order_id":"A1"},"failure_code":"card_declined"}`
		session = `{"id":"cs_1","payment_intent":%s,"payment_status":%q,"amount_total":1999,"currency":"usd","client_reference_id":"A1","metadata":{}}`
		refund  = `{"id":"re_1","charge":"ch_1","payment_intent":"pi_1","amount":500,"currency":"usd","status":%q,"metadata":{"refund_order_id":"R1"}}`
		dispute = `{"id":"dp_1","charge":"ch_1","payment_intent":"pi_1","amount":1999,"currency":"usd","status":%q,"reason":"fraudulent"}`
		payout  = `{"id":"po_1","amount":12745,"currency":"usd","status":%q}`
	)
	event := func(kind models.EventKind, id, parent, order string, minor int64, aliases ...string) models.Event {
		return models.Event{Kind: kind, TransactionID: id, ParentID: parent, OrderID: order, Money: usd(minor), Aliases: aliases}
	}
	refunded := func(kind models.EventKind) models.Event {
		ev := event(kind, "re_1", "ch_1", "", 500)
		ev.RefundOrderID, ev.ParentAliases = "R1", []string{"pi_1"}
		return ev
	}
	disputed := func(kind models.EventKind) models.Event {
		ev := event(kind, "dp_1", "ch_1", "", 1999)
		ev.ParentAliases = []string{"pi_1"}
		return ev
	}
	paidOut := func(kind models.EventKind) models.Event { return event(kind, "po_1", "", "", 12745) }
	unknown := models.Event{Kind: models.EventUnknown}
	unparsable := models.Event{Kind: models.EventUnparsable}
	in := fmt.Sprintf
	for _, tc := range []struct {
		typ, object string
		want        models.Event
	}{
		{"payment_intent.succeeded", in(intent, `"ch_1"`, "null"), event(models.PaymentSucceeded, "ch_1", "pi_1", "A1", 1998, "pi_1")},
		{"payment_intent.succeeded", in(intent, `{"id":"ch_1"}`, "null"), event(models.PaymentSucceeded, "ch_1", "pi_1", "A1", 1998, "pi_1")},
		{"payment_intent.succeeded", strings.Replace(in(intent, "null", "null"), `"latest_charge":null`, `"charges":{"object":"list","data":[{"id":"ch_1"},{"id":"ch_0"}]}`, 1), event(models.PaymentSucceeded, "ch_1", "pi_1", "A1", 1998, "pi_1")},
		{"payment_intent.succeeded", strings.Replace(in(intent, "null", "null"), `"latest_charge":null`, `"charges":{"object":"list","data":[]}`, 1), event(models.PaymentSucceeded, "pi_1", "", "A1", 1998)},
		{"payment_intent.payment_failed", strings.Replace(in(intent, "null", "null"), `"latest_charge":null`, `"charges":{"data":[{"id":"ch_1"}]}`, 1), event(models.PaymentFailed, "ch_1", "pi_1", "A1", 1999)},
		{"payment_intent.succeeded", in(intent, "null", "null"), event(models.PaymentSucceeded, "pi_1", "", "A1", 1998)},
		{"payment_intent.amount_capturable_updated", in(intent, `"ch_1"`, "null"), event(models.PaymentAuthorised, "ch_1", "pi_1", "A1", 1997, "pi_1")},
		{"payment_intent.amount_capturable_updated", strings.Replace(in(intent, `"ch_1"`, "null"), "1997", "0", 1), unknown},
		{"payment_intent.processing", in(intent, `"py_1"`, "null"), event(models.PaymentPending, "pi_1", "", "A1", 1999)},
		{"payment_intent.canceled", in(intent, `"ch_1"`, "null"), event(models.PaymentClosed, "pi_1", "", "A1", 1999)},
		{"payment_intent.payment_failed", in(intent, `"ch_old"`, `{"charge":"ch_1"}`), event(models.PaymentFailed, "ch_1", "pi_1", "A1", 1999)},
		{"payment_intent.payment_failed", in(intent, `"ch_1"`, `{"code":"expired_card"}`), event(models.PaymentFailed, "ch_1", "pi_1", "A1", 1999)},
		{"payment_intent.payment_failed", in(intent, "null", "null"), event(models.PaymentFailed, "pi_1", "", "A1", 1999)},
		{"payment_intent.requires_action", in(intent, `"ch_1"`, "null"), unknown},

		{"charge.succeeded", in(charge, "true"), event(models.PaymentSucceeded, "ch_1", "pi_1", "A1", 1500, "pi_1")},
		{"charge.succeeded", in(charge, "false"), event(models.PaymentAuthorised, "ch_1", "pi_1", "A1", 1999, "pi_1")},
		{"charge.succeeded", in(charge, `"true"`), unparsable},
		{"charge.succeeded", `{"id":"ch_1","amount":1999,"captured":true,"currency":"usd"}`, event(models.PaymentSucceeded, "ch_1", "", "", 1999)},
		{"charge.captured", in(charge, "true"), event(models.PaymentCaptured, "ch_1", "pi_1", "A1", 1500, "pi_1")},
		{"charge.failed", in(charge, "false"), event(models.PaymentFailed, "ch_1", "pi_1", "A1", 1999)},
		{"charge.refunded", in(charge, "true"), event(models.RefundTotal, "ch_1", "pi_1", "A1", 800, "pi_1")},

		{"checkout.session.completed", in(session, `"pi_1"`, "paid"), event(models.PaymentSucceeded, "pi_1", "", "A1", 1999)},
		{"checkout.session.completed", in(session, `"pi_1"`, "unpaid"), event(models.PaymentPending, "pi_1", "", "A1", 1999)},
		{"checkout.session.completed", in(session, `"pi_1"`, "no_payment_required"), unknown},
		{"checkout.session.completed", in(session, `"pi_1"`, "perhaps"), unparsable},
		{"checkout.session.completed", in(session, "null", "paid"), unknown},
		{"checkout.session.async_payment_succeeded", in(session, `"pi_1"`, "paid"), event(models.PaymentSucceeded, "pi_1", "", "A1", 1999)},
		{"checkout.session.async_payment_failed", in(session, `"pi_1"`, "unpaid"), event(models.PaymentFailed, "pi_1", "", "A1", 1999)},
		{"checkout.session.expired", in(session, `"pi_1"`, "unpaid"), unknown},

		{"refund.created", in(refund, "pending"), refunded(models.RefundPending)},
		{"refund.created", in(refund, "succeeded"), refunded(models.RefundSucceeded)},
		{"refund.updated", in(refund, "requires_action"), refunded(models.RefundPending)},
		{"refund.updated", in(refund, "failed"), refunded(models.RefundFailed)},
		{"refund.updated", in(refund, "canceled"), refunded(models.RefundClosed)},
		{"refund.updated", in(refund, "lost"), unparsable},
		{"charge.refund.updated", in(refund, "succeeded"), refunded(models.RefundSucceeded)},
		{"refund.failed", in(refund, "pending"), refunded(models.RefundFailed)},
		{"refund.created", `{"id":"re_1","charge":"ch_1","payment_intent":null,"amount":5,"currency":"usd","status":"succeeded"}`, event(models.RefundSucceeded, "re_1", "ch_1", "", 5)},
		{"refund.created", `{"id":"re_1","amount":5,"currency":"usd","status":"succeeded"}`, event(models.RefundSucceeded, "re_1", "", "", 5)},
		{"refund.created", `{"id":"re_1","payment_intent":"pi_1","amount":5,"currency":"usd","status":"succeeded"}`, event(models.RefundSucceeded, "re_1", "pi_1", "", 5)},

		{"charge.dispute.created", in(dispute, "needs_response"), disputed(models.DisputeOpened)},
		{"charge.dispute.created", in(dispute, "under_review"), disputed(models.DisputeOpened)},
		{"charge.dispute.created", in(dispute, "lost"), disputed(models.DisputeLost)},
		{"charge.dispute.created", in(dispute, "won"), disputed(models.DisputeWon)},
		{"charge.dispute.created", in(dispute, "warning_needs_response"), disputed(models.DisputeInquiry)},
		{"charge.dispute.created", in(dispute, "warning_under_review"), disputed(models.DisputeInquiry)},
		{"charge.dispute.created", in(dispute, "prevented"), disputed(models.DisputeInquiry)},
		{"charge.dispute.created", in(dispute, "melted"), unparsable},
		{"charge.dispute.created", in(dispute, ""), unparsable},
		{"charge.dispute.updated", in(dispute, "under_review"), disputed(models.DisputeUpdated)},
		{"charge.dispute.updated", in(dispute, "lost"), disputed(models.DisputeUpdated)},
		{"charge.dispute.updated", in(dispute, "melted"), disputed(models.DisputeUpdated)},
		{"charge.dispute.updated", in(dispute, "warning_under_review"), disputed(models.DisputeInquiry)},
		{"charge.dispute.updated", in(dispute, "prevented"), disputed(models.DisputeInquiry)},
		{"charge.dispute.funds_withdrawn", in(dispute, "needs_response"), disputed(models.DisputeOpened)},
		{"charge.dispute.funds_withdrawn", in(dispute, "warning_closed"), disputed(models.DisputeOpened)},
		{"charge.dispute.funds_withdrawn", in(dispute, ""), disputed(models.DisputeOpened)},
		{"charge.dispute.funds_reinstated", in(dispute, "won"), disputed(models.DisputeWon)},
		{"charge.dispute.funds_reinstated", in(dispute, "under_review"), disputed(models.DisputeWon)},
		{"charge.dispute.funds_reinstated", strings.Replace(in(dispute, "won"), `"ch_1"`, "null", 1), event(models.DisputeWon, "dp_1", "pi_1", "", 1999)},
		{"charge.dispute.closed", in(dispute, "won"), disputed(models.DisputeWon)},
		{"charge.dispute.closed", in(dispute, "lost"), disputed(models.DisputeLost)},
		{"charge.dispute.closed", in(dispute, "warning_closed"), disputed(models.DisputeInquiry)},
		{"charge.dispute.closed", in(dispute, "prevented"), disputed(models.DisputeInquiry)},
		{"charge.dispute.closed", in(dispute, "drawn"), unparsable},
		{"charge.dispute.closed", in(dispute, "needs_response"), unparsable},

		{"payout.created", in(payout, "pending"), paidOut(models.PayoutPending)},
		{"payout.updated", in(payout, "in_transit"), paidOut(models.PayoutPending)},
		{"payout.created", in(payout, "in_transit"), paidOut(models.PayoutPending)},
		{"payout.updated", in(payout, "pending"), paidOut(models.PayoutPending)},
		{"payout.updated", in(payout, "paid"), paidOut(models.PayoutPaid)},
		{"payout.updated", in(payout, "failed"), paidOut(models.PayoutFailed)},
		{"payout.updated", in(payout, "canceled"), paidOut(models.PayoutFailed)},
		{"payout.reconciliation_completed", in(payout, "in_transit"), paidOut(models.PayoutPending)},
		{"payout.paid", `{"id":"po_1","amount":500,"currency":"jpy","status":"paid"}`, models.Event{Kind: models.PayoutPaid, TransactionID: "po_1", Money: models.Money{Minor: 500, Currency: "JPY"}}},
		{"payout.paid", `{"id":"po_1","currency":"usd"}`, unparsable},
		{"payout.updated", in(payout, "melted"), unparsable},
		{"payout.paid", in(payout, "paid"), paidOut(models.PayoutPaid)},
		{"payout.reconciliation_completed", in(payout, "paid"), paidOut(models.PayoutPaid)},
		{"payout.failed", in(payout, "failed"), paidOut(models.PayoutFailed)},
		{"payout.canceled", in(payout, "canceled"), paidOut(models.PayoutFailed)},
		{"payout.paid", strings.Replace(in(payout, "paid"), "12745", "-12745", 1), paidOut(models.PayoutPaid)},
		{"payout.paid", `{"amount":1,"currency":"usd"}`, unparsable},

		{"reporting.report_run.succeeded", `{"id":"frr_1","report_type":"payouts.itemized.3"}`, models.Event{Kind: models.ReportAvailable, TransactionID: "frr_1"}},
		{"customer.created", `{"id":"cus_1"}`, unknown},
		{"invented.event_2027", `null`, unknown},
	} {
		t.Run(tc.typ, func(t *testing.T) {
			got := say(t, mustNew(t, minimal), snapshot(tc.typ, tc.object))
			got.Detail = ""
			tc.want.ID, tc.want.OccurredAt = "evt_1", now
			if len(tc.want.Aliases) == 0 && strings.HasPrefix(string(tc.want.Kind), "payment.") {
				tc.want.Aliases = []string{tc.want.TransactionID} // a payment lists at least itself
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%s\n got %+v\nwant %+v", tc.object, got, tc.want)
			}
		})
	}
}

// However a payment is told, every telling has a name in common with every other, so that it is booked once. A failed attempt
// shares no name with the good one after it.
func TestOnePaymentManyTellings(t *testing.T) {
	p := mustNew(t, minimal)
	names := func(typ, object string) []string {
		ev := say(t, p, snapshot(typ, object))
		if len(ev.Aliases) == 0 {
			t.Errorf("%s claims no name", typ)
		}
		return append(ev.Aliases, ev.TransactionID)
	}
	tellings := [][]string{
		names("charge.succeeded", `{"id":"ch_2","payment_intent":"pi_2","amount":1999,"amount_captured":1999,"captured":true,"currency":"usd"}`),
		names("payment_intent.succeeded", `{"id":"pi_2","latest_charge":"ch_2","amount_received":1999,"currency":"usd"}`),
		names("checkout.session.completed", `{"payment_intent":"pi_2","payment_status":"paid","amount_total":1999,"currency":"usd"}`),
		names("payment_intent.canceled", `{"id":"pi_2","latest_charge":"ch_2","amount":1999,"currency":"usd"}`),
	}
	for _, a := range tellings {
		for _, b := range tellings[:3] {
			if !slices.ContainsFunc(a, func(name string) bool { return name == "pi_2" && slices.Contains(b, name) }) {
				t.Errorf("%v and %v have no name in common", a, b)
			}
		}
	}
	for _, failed := range [][]string{
		names("payment_intent.payment_failed", `{"id":"pi_2","last_payment_error":{"charge":"ch_1"},"amount":1999,"currency":"usd"}`),
		names("charge.failed", `{"id":"ch_1","payment_intent":"pi_2","amount":1999,"currency":"usd"}`),
	} {
		if !slices.Equal(slices.Compact(failed), []string{"ch_1"}) {
			t.Errorf("the failed attempt is called %v, want ch_1 only", failed)
		}
	}
}

func TestAmounts(t *testing.T) {
	p := mustNew(t, minimal)
	for _, tc := range []struct {
		amount, currency string
		want             string // "" for unparsable
	}{
		{"4999", `"usd"`, "49.99 USD"}, {"0", `"usd"`, "0.00 USD"}, {"500", `"jpy"`, "500 JPY"}, {"500", `"JPY"`, "500 JPY"}, {"100", `"vnd"`, "100 VND"}, {"10000", `"mxn"`, "100.00 MXN"},
		{"5120", `"kwd"`, "5.120 KWD"}, {"5121", `"kwd"`, ""}, {"150000", `"isk"`, "1500 ISK"}, {"150050", `"isk"`, ""}, {"300000", `"ugx"`, "3000 UGX"},
		{"12300", `"huf"`, "123.00 HUF"}, {"800", `"twd"`, "8.00 TWD"}, {"700", `"mga"`, "700.00 MGA"}, {"100", `"qqq"`, ""}, {"100", `""`, ""}, {"100", `null`, ""}, {"100", `1`, ""},
		{"1000", `"iqd"`, ""}, {"9223372036854775807", `"usd"`, "92233720368547758.07 USD"}, {"9223372036854775808", `"usd"`, ""},
		{`"1999"`, `"usd"`, ""}, {"19.99", `"usd"`, ""}, {"-1", `"usd"`, ""}, {"null", `"usd"`, ""}, {"true", `"usd"`, ""},
		{"1e3", `"usd"`, ""}, {"1e1000000000", `"usd"`, ""}, {"1e-1000000000", `"usd"`, ""}, {"1E400", `"usd"`, ""}, {strings.Repeat("9", 10_000), `"usd"`, ""},
	} {
		started := time.Now()
		ev := say(t, p, snapshot("payment_intent.succeeded", fmt.Sprintf(`{"id":"pi_1","amount_received":%s,"currency":%s}`, tc.amount, tc.currency)))
		got := ""
		if ev.Kind == models.PaymentSucceeded {
			got = ev.Money.String()
		}
		if got != tc.want || len(ev.Detail) > 300 {
			t.Errorf("%.40s %s = %q (%s), want %q", tc.amount, tc.currency, got, ev.Detail, tc.want)
		}
		if took := time.Since(started); took > 30*time.Second {
			t.Errorf("%.40s took %s", tc.amount, took)
		}
	}
}

func TestCurrencyDigitsAreOverridable(t *testing.T) {
	p := mustNew(t, `{"signing_secrets":["whsec_test_new"],"currency_digits":{"ugx":0,"IQD":3}}`)
	for currency, want := range map[string]string{"ugx": "5000 UGX", "iqd": "5.000 IQD"} {
		ev := say(t, p, snapshot("payment_intent.succeeded", fmt.Sprintf(`{"id":"pi_1","amount_received":5000,"currency":%q}`, currency)))
		if ev.Money.String() != want {
			t.Errorf("5000 %s = %s (%s), want %s", currency, ev.Money, ev.Detail, want)
		}
	}
}

func TestOrderID(t *testing.T) {
	own := `{"signing_secrets":["whsec_test_new"],"order_id_metadata_key":"shop.order"}`
	for _, tc := range []struct{ settings, fields, want string }{
		{minimal, `"metadata":{"order_id":"A1"},"client_reference_id":"C1"`, "A1"},
		{minimal, `"metadata":{},"client_reference_id":"C1"`, "C1"},
		{minimal, `"metadata":{"order_id":""},"client_reference_id":null`, ""},
		{minimal, `"metadata":{"order_id":12345678901234567890}`, "12345678901234567890"},
		{minimal, `"metadata":null`, ""},
		{minimal, `"metadata":{"order_id":"单号 一"}`, "单号 一"},
		{own, `"metadata":{"shop.order":"B1","order_id":"A1"}`, "B1"},
	} {
		ev := say(t, mustNew(t, tc.settings), snapshot("payment_intent.succeeded", `{"id":"pi_1","amount_received":1,"currency":"usd",`+tc.fields+`}`))
		if ev.Kind != models.PaymentSucceeded || ev.OrderID != tc.want {
			t.Errorf("%s: %s, order %q; want %q", tc.fields, ev.Kind, ev.OrderID, tc.want)
		}
	}
	ev := say(t, mustNew(t, minimal), snapshot("payment_intent.succeeded", `{"id":"pi_1","amount_received":1,"currency":"usd","metadata":{"order_id":"a\u0007b"}}`))
	if ev.Kind != models.EventUnparsable || !strings.Contains(ev.Detail, "metadata") {
		t.Errorf("an order number with a control character: %s (%s), want unparsable", ev.Kind, ev.Detail)
	}
}

// The shape of an event follows the endpoint's API version, which may be years old or newer than this program.
func TestOtherAPIVersions(t *testing.T) {
	p := mustNew(t, minimal)
	for _, extra := range []string{`"api_version":"2015-01-26","request":"req_1",`, `"api_version":"2026-03-25.dahlia","request":null,`, `"api_version":null,`} {
		body := strings.Replace(snapshot("payment_intent.succeeded", paid), `{`, `{`+extra, 1)
		if ev := say(t, p, body); ev.Kind != models.PaymentSucceeded || ev.Money != usd(1999) {
			t.Errorf("%s: %+v, want payment.succeeded of 19.99", extra, ev)
		}
	}
}

func TestUnparsableSaysWhere(t *testing.T) {
	p := mustNew(t, minimal)
	for _, tc := range []struct{ typ, object, want string }{
		{"payment_intent.succeeded", `{"id":"pi_1","currency":"usd"}`, "payment_intent.succeeded: data.object.amount_received: missing"},
		{"payment_intent.succeeded", `{"id":"pi_1","amount_received":1}`, "data.object.currency"},
		{"charge.succeeded", `{"id":"ch_1"}`, "data.object.captured"},
		{"refund.updated", `{"id":"re_1"}`, "data.object.status: missing"},
		{"charge.dispute.created", `{"amount":1,"currency":"usd","status":"needs_response"}`, "data.object.id: missing"},
		{"charge.dispute.created", fmt.Sprintf(`{"id":%q,"amount":1,"currency":"usd","status":"lost"}`, strings.Repeat("d", 3000)), "data.object.id"},
	} {
		ev := say(t, p, snapshot(tc.typ, tc.object))
		if ev.Kind != models.EventUnparsable || ev.ID != "evt_1" || !ev.OccurredAt.Equal(now) || !strings.Contains(ev.Detail, tc.want) {
			t.Errorf("%s %.60s: %+v, want unparsable with %q", tc.typ, tc.object, ev, tc.want)
		}
	}
}

// A thin event names its object and no sum: kept, to be fetched, with or without the snapshot that may come beside it. Which of the two
// a body is shows in "object" alone.
func TestThinEvents(t *testing.T) {
	p := mustNew(t, minimal)
	const thin = `{"id":"evt_1","object":"v2.core.event","type":%q,"created":"2026-11-27T08:15:02.000Z","livemode":false,"context":null,"related_object":%s,"reason":null}`
	for _, tc := range []struct{ typ, related, parent, detail string }{
		{"v1.payment_intent.succeeded", `{"id":"pi_1","type":"payment_intent","url":"/v1/payment_intents/pi_1"}`, "pi_1", "v1.payment_intent.succeeded pi_1"},
		{"v2.money_management.outbound_transfer.posted", `{"id":"obt_1"}`, "obt_1", "v2.money_management.outbound_transfer.posted obt_1"},
		{"payment_intent.succeeded", `{"id":"pi_1"}`, "pi_1", "payment_intent.succeeded pi_1"},
		{"v2.core.event_destination.ping", `null`, "", "v2.core.event_destination.ping"},
	} {
		ev := say(t, p, fmt.Sprintf(thin, tc.typ, tc.related))
		want := models.Event{ID: "evt_1", Kind: models.EventThin, ParentID: tc.parent, OccurredAt: now, Detail: tc.detail}
		if !reflect.DeepEqual(ev, want) {
			t.Errorf("%s\n got %+v\nwant %+v", tc.typ, ev, want)
		}
	}
	withData := strings.Replace(fmt.Sprintf(thin, "payment_intent.succeeded", "null"), `"reason":null`, `"data":{"object":`+paid+`}`, 1)
	if ev := say(t, p, withData); ev.Kind != models.EventThin || ev.Money != (models.Money{}) {
		t.Errorf("a thin event with a sum in it: %+v, want it not believed", ev)
	}
	for name, body := range map[string]string{
		"a snapshot's time":    strings.Replace(fmt.Sprintf(thin, "v1.x", "null"), `"2026-11-27T08:15:02.000Z"`, "1795767302", 1),
		"a thin event's time":  strings.Replace(snapshot("payment_intent.succeeded", paid), "1795767302", `"2026-11-27T08:15:02.000Z"`, 1),
		"another kind of both": strings.Replace(fmt.Sprintf(thin, "v1.x", "null"), "v2.core.event", "v3.core.event", 1),
	} {
		if ev := say(t, p, body); ev.Kind != models.EventUnparsable {
			t.Errorf("%s: %+v, want unparsable", name, ev)
		}
	}
	other := mustNew(t, `{"signing_secrets":["whsec_test_new"],"livemode":true}`)
	if ev := say(t, other, fmt.Sprintf(thin, "v1.x", "null")); !ev.TestMode {
		t.Errorf("a test event at a live endpoint: %+v, want test mode", ev)
	}
}
