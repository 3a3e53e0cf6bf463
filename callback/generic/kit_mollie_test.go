package generic_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

func mollieKit() kit {
	const zone, file, t = "Europe/Amsterdam", "mollie_balance_2026-11-27.csv", "2026-11-27T"
	event := func(id, typ, entity, clock, embedded string) string {
		if embedded != "" {
			embedded = `,"_embedded":{"entity":{` + embedded + `,"mode":"live","profileId":"pfl_TESTONLY"}}`
		}
		return fmt.Sprintf(`{"resource":"event","id":%q,"type":%q,"entityId":%q,"createdAt":"2026-11-27T%s.0Z"%s}`, id, typ, entity, clock, embedded)
	}
	payment := func(id, order, status, amount, more string) string {
		return fmt.Sprintf(`"resource":"payment","id":%q,"amount":{"value":%q,"currency":"EUR"},"status":%q,"metadata":{"order_id":%q}%s`, id, amount, status, order, more)
	}
	refund := func(status string) string {
		return fmt.Sprintf(`"resource":"refund","id":"re_TEST7501","amount":{"value":"10.00","currency":"EUR"},"status":%q,"paymentId":"tr_TEST7501","metadata":null`, status)
	}
	chargeback := func(reversed string) string {
		return `"resource":"chargeback","id":"chb_TEST7503","amount":{"value":"75.00","currency":"EUR"},"paymentId":"tr_TEST7503","reversedAt":` + reversed
	}
	first := shot{
		name: "payment_paid", note: "The full payload. Amounts are decimal text in major units.", at: t + "15:15:04Z",
		body: event("event_7501a", "payment.paid", "tr_TEST7501", "15:15:03",
			payment("tr_TEST7501", "ORD-2026-7501", "paid", "49.99", `,"paidAt":"2026-11-27T16:15:02+01:00"`)),
		expect: booked("payment.succeeded", "tr_TEST7501", "ORD-2026-7501", "49.99", "EUR", "apply", "event_id", "event_7501a", "occurred_at", t+"15:15:02Z"),
	}
	again := first
	again.name, again.note, again.at = "duplicate_delivery", "The same bytes once more.", t+"15:20:04Z"
	again.expect = booked("payment.succeeded", "tr_TEST7501", "ORD-2026-7501", "49.99", "EUR", "duplicate")
	shots := []shot{
		first, again,
		{name: "payment_failed", at: t + "15:20:04Z", body: event("event_7502", "payment.failed", "tr_TEST7502", "15:20:02",
			payment("tr_TEST7502", "ORD-2026-7502", "failed", "25.00", `,"failedAt":"2026-11-27T15:20:01+00:00"`)),
			expect: booked("payment.failed", "tr_TEST7502", "ORD-2026-7502", "25.00", "EUR", "apply")},
		{name: "payment_paid_7503", at: t + "16:00:04Z", body: event("event_7503", "payment.paid", "tr_TEST7503", "16:00:02",
			payment("tr_TEST7503", "ORD-2026-7503", "paid", "75.00", "")), expect: booked("payment.succeeded", "tr_TEST7503", "ORD-2026-7503", "75.00", "EUR", "apply")},
		{name: "payment_paid_7504", at: t + "16:30:04Z", body: event("event_7504", "payment.paid", "tr_TEST7504", "16:30:02",
			payment("tr_TEST7504", "ORD-2026-7504", "paid", "18.00", "")), expect: booked("payment.succeeded", "tr_TEST7504", "ORD-2026-7504", "18.00", "EUR", "apply")},
		{name: "simple_payload", note: "Ids only: kept until somebody reads the payment.", at: t + "16:40:04Z",
			body: event("event_7505", "payment.paid", "tr_TEST7505", "16:40:02", ""), expect: booked("thin", "tr_TEST7505", "", "", "", "fetch")},
		{name: "refund_pending", at: t + "17:00:04Z", body: event("event_7506a", "refund.initiated", "re_TEST7501", "17:00:02", refund("pending")),
			expect: booked("refund.pending", "re_TEST7501", "", "10.00", "EUR", "apply", "parent_id", "tr_TEST7501")},
		{name: "refund_refunded", at: t + "17:30:04Z", body: event("event_7506b", "refund.refunded", "re_TEST7501", "17:30:02", refund("refunded")),
			expect: booked("refund.succeeded", "re_TEST7501", "", "10.00", "EUR", "apply", "parent_id", "tr_TEST7501")},
		{name: "dispute_chargeback_received", at: t + "18:00:04Z", body: event("event_7507", "chargeback.received", "chb_TEST7503", "18:00:02", chargeback("null")),
			expect: booked("dispute.opened", "chb_TEST7503", "", "75.00", "EUR", "apply", "parent_id", "tr_TEST7503")},
		{name: "bad_signature", at: t + "15:15:04Z", body: first.body, trick: "forged", expect: refused("signature")},
		{name: "tampered_body", at: t + "15:15:04Z", body: first.body, trick: `"49.99">"0.01"`, expect: refused("signature")},
		{name: "signature_without_prefix", at: t + "15:15:04Z", body: first.body, trick: "sha256=>", expect: refused("signature")},
		{name: "missing_signature", note: "The classic webhook, a form that is not signed, looks like this too.", at: t + "15:15:04Z", body: "id=tr_TEST7501", trick: "unsigned",
			expect: refused("signature")},
		{name: "unknown_event_type", at: t + "19:00:04Z", body: event("event_7508", "payment-link.paid", "pl_TEST1", "19:00:02", ""),
			expect: booked("unknown", "", "", "", "", "ignore")},
	}
	return kit{
		name: "mollie", secret: "mollie-signing-secret-TEST-ONLY", config: object{"secrets": []string{"mollie-signing-secret-TEST-ONLY"}},
		orders: []object{order("ORD-2026-7501", "49.99", "EUR"), order("ORD-2026-7502", "25.00", "EUR"), order("ORD-2026-7503", "75.00", "EUR"),
			order("ORD-2026-7504", "18.00", "EUR")},
		sign: func(body, _ string, headers map[string]string, secret string) {
			headers["X-Mollie-Signature"] = "sha256=" + hex.EncodeToString(macOf(sha256.New, secret, body))
		},
		shots: shots, file: file,
		text: "id,type,createdAt,paymentId,refundId,chargebackId,currency,initialAmount,deductions,resultAmount\n" +
			"baltr_1,payment,2026-11-27T16:15:02+01:00,tr_TEST7501,,,EUR,49.99,-0.35,49.64\n" +
			"baltr_2,payment,2026-11-27T17:00:02+01:00,tr_TEST7503,,,EUR,74.00,-0.35,73.65\n" +
			"baltr_3,payment,2026-11-27T17:10:00+01:00,tr_TEST7599,,,EUR,18.50,-0.35,18.15\n" +
			"baltr_4,refund,2026-11-27T18:30:02+01:00,tr_TEST7501,re_TEST7501,,EUR,-10.00,-0.25,-10.25\n" +
			"baltr_5,chargeback,2026-11-27T19:00:02+01:00,tr_TEST7503,,chb_TEST7503,EUR,-75.00,0.00,-75.00\n" +
			"baltr_6,outgoing-transfer,2026-11-27T23:00:00+01:00,,,,EUR,-56.19,0.00,-56.19\n",
		local: []object{
			row("payment", "tr_TEST7501", "", "ORD-2026-7501", "49.99", "EUR", "SUCCEEDED", t+"15:15:02Z"),
			row("payment", "tr_TEST7502", "", "ORD-2026-7502", "25.00", "EUR", "FAILED", t+"15:20:01Z"),
			row("payment", "tr_TEST7503", "", "ORD-2026-7503", "75.00", "EUR", "SUCCEEDED", t+"16:00:02Z"),
			row("payment", "tr_TEST7504", "", "ORD-2026-7504", "18.00", "EUR", "SUCCEEDED", t+"16:30:02Z"),
			row("refund", "re_TEST7501", "tr_TEST7501", "ORD-2026-7501", "10.00", "EUR", "SUCCEEDED", t+"17:30:02Z"),
			row("chargeback", "chb_TEST7503", "tr_TEST7503", "ORD-2026-7503", "75.00", "EUR", "SUCCEEDED", t+"18:00:02Z"),
		},
		expected: planted(zone, file, 5, 3,
			gap("amount_mismatch", "payment", "tr_TEST7503", "ORD-2026-7503", "74.00", "75.00", "EUR"),
			gap("missing_local", "payment", "tr_TEST7599", "", "18.50", "", "EUR"),
			gap("missing_provider", "payment", "tr_TEST7504", "ORD-2026-7504", "", "18.00", "EUR")),
	}
}
