package generic_test

import (
	"crypto/sha512"
	"encoding/hex"
	"fmt"
)

func paystackKit() kit {
	const zone, file, t = "Africa/Lagos", "paystack_transactions_2026-11-27.csv", "2026-11-27T"
	charge := func(event, id, reference string, amount int, clock string) string {
		return fmt.Sprintf(`{"event":%q,"data":{"id":%s,"domain":"live","status":"success","reference":%q,"amount":%d,"currency":"NGN","channel":"card",`+
			`"fees":1500,"paid_at":"2026-11-27T%s.000Z","created_at":"2026-11-27T08:00:00.000Z"}}`, event, id, reference, amount, clock)
	}
	refund := func(event, status, clock string) string {
		return fmt.Sprintf(`{"event":%q,"data":{"id":"880072","domain":"live","status":%q,"transaction_reference":"ORD-2026-7201","refund_reference":"R-7201-1",`+
			`"amount":"20000","currency":"NGN","updated_at":"2026-11-27T%s.000Z"}}`, event, status, clock)
	}
	dispute := func(event, resolution, clock string) string {
		return fmt.Sprintf(`{"event":%q,"data":{"id":990073,"refund_amount":%s,"currency":"NGN","domain":"live","status":"open","resolution":%s,`+
			`"transaction":{"id":4203000073,"domain":"live","reference":"ORD-2026-7203","amount":300000,"currency":"NGN"},"updatedAt":"2026-11-27T%s.000Z"}}`,
			event, map[bool]string{true: "null", false: "300000"}[resolution == "null"], resolution, clock)
	}
	first := shot{
		name: "charge_success", note: "Amounts are kobo. HMAC-SHA512 with the secret API key. The id is a number.", at: t + "08:15:04Z",
		body:   charge("charge.success", "4203000071", "ORD-2026-7201", 100000, "08:15:02"),
		expect: booked("payment.succeeded", "4203000071", "ORD-2026-7201", "1000.00", "NGN", "apply", "occurred_at", t+"08:15:02Z"),
	}
	again := first
	again.name, again.note, again.at = "duplicate_delivery", "No event id: a repeat is known by what it tells.", t+"08:18:04Z"
	again.expect = booked("payment.succeeded", "4203000071", "ORD-2026-7201", "1000.00", "NGN", "duplicate")
	shots := []shot{
		first, again,
		{name: "charge_failed", note: "Sent by few channels only.", at: t + "08:30:04Z", body: charge("charge.failed", "4203000072", "ORD-2026-7202", 50000, "08:30:02"),
			expect: booked("payment.failed", "4203000072", "ORD-2026-7202", "500.00", "NGN", "apply")},
		{name: "charge_success_7203", at: t + "09:00:04Z", body: charge("charge.success", "4203000073", "ORD-2026-7203", 300000, "09:00:02"),
			expect: booked("payment.succeeded", "4203000073", "ORD-2026-7203", "3000.00", "NGN", "apply")},
		{name: "charge_success_7204", at: t + "09:30:04Z", body: charge("charge.success", "4203000074", "ORD-2026-7204", 75000, "09:30:02"),
			expect: booked("payment.succeeded", "4203000074", "ORD-2026-7204", "750.00", "NGN", "apply")},
		{name: "refund_pending", note: "Names the payment by its reference only; the amount is quoted.", at: t + "10:00:04Z",
			body:   refund("refund.pending", "pending", "10:00:02"),
			expect: booked("refund.pending", "880072", "ORD-2026-7201", "200.00", "NGN", "apply", "parent_id", "ORD-2026-7201", "refund_order_id", "R-7201-1")},
		{name: "refund_processed", at: t + "10:30:04Z", body: refund("refund.processed", "processed", "10:30:02"),
			expect: booked("refund.succeeded", "880072", "ORD-2026-7201", "200.00", "NGN", "apply")},
		{name: "dispute_created", note: "Takes no money until it is accepted.", at: t + "11:00:04Z", body: dispute("charge.dispute.create", "null", "11:00:02"),
			expect: booked("dispute.created", "990073", "ORD-2026-7203", "", "", "note_only", "parent_id", "4203000073")},
		{name: "dispute_accepted", at: t + "12:00:04Z", body: dispute("charge.dispute.resolve", `"merchant-accepted"`, "12:00:02"),
			expect: booked("dispute.lost", "990073", "ORD-2026-7203", "3000.00", "NGN", "apply", "parent_id", "4203000073")},
		{name: "payout_transfer_success", at: t + "13:00:04Z",
			body:   `{"event":"transfer.success","data":{"id":770071,"domain":"live","amount":250000,"currency":"NGN","reference":"TR-1","updated_at":"2026-11-27T13:00:02.000Z"}}`,
			expect: booked("payout.paid", "770071", "", "2500.00", "NGN", "apply")},
		{name: "test_mode", note: "A message of the test domain: kept, never booked.", at: t + "13:30:04Z",
			body:   `{"event":"charge.success","data":{"id":1,"domain":"test","reference":"ORD-2026-7202","amount":50000,"currency":"NGN","paid_at":"2026-11-27T13:30:02.000Z"}}`,
			expect: booked("payment.succeeded", "1", "ORD-2026-7202", "500.00", "NGN", "record_only")},
		{name: "bad_signature", note: "Signed with another key.", at: t + "08:15:04Z", body: first.body, trick: "forged", expect: refused("signature")},
		{name: "tampered_body", at: t + "08:15:04Z", body: first.body, trick: `"amount":100000>"amount":100001`, expect: refused("signature")},
		{name: "missing_signature", at: t + "08:15:04Z", body: first.body, trick: "unsigned", expect: refused("signature")},
		{name: "unknown_event_type", at: t + "14:00:04Z", body: `{"event":"customeridentification.success","data":{"domain":"live"}}`,
			expect: booked("unknown", "", "", "", "", "ignore")},
	}
	return kit{
		name: "paystack", secret: "sk_test_TESTONLY_paystack_secret_key", config: object{"secrets": []string{"sk_test_TESTONLY_paystack_secret_key"}, "livemode": true},
		orders: []object{order("ORD-2026-7201", "1000.00", "NGN"), order("ORD-2026-7202", "500.00", "NGN"), order("ORD-2026-7203", "3000.00", "NGN"),
			order("ORD-2026-7204", "750.00", "NGN")},
		sign: func(body, _ string, headers map[string]string, secret string) {
			headers["x-paystack-signature"] = hex.EncodeToString(macOf(sha512.New, secret, body))
		},
		shots: shots, file: file,
		text: "Id,Type,Reference,Transaction Id,Amount,Fees,Status,Paid At,Currency\n" +
			"4203000071,payment,ORD-2026-7201,,\"1,000.00\",15.00,success,2026-11-27 09:15:02,NGN\n" +
			"4203000073,payment,ORD-2026-7203,,\"2,900.00\",43.50,success,2026-11-27 10:00:02,NGN\n" +
			"4203000079,payment,ORD-2026-7299,,120.00,1.80,success,2026-11-27 15:00:00,NGN\n" +
			"880072,refund,ORD-2026-7201,4203000071,200.00,0.00,success,2026-11-27 11:30:02,NGN\n" +
			"990073,dispute,ORD-2026-7203,4203000073,\"3,000.00\",0.00,success,2026-11-27 13:00:02,NGN\n" +
			"770071,transfer,,,\"2,500.00\",50.00,success,2026-11-27 14:00:02,NGN\n",
		local: []object{
			row("payment", "4203000071", "", "ORD-2026-7201", "1000.00", "NGN", "SUCCEEDED", t+"08:15:02Z"),
			row("payment", "4203000072", "", "ORD-2026-7202", "500.00", "NGN", "FAILED", t+"08:30:02Z"),
			row("payment", "4203000073", "", "ORD-2026-7203", "3000.00", "NGN", "SUCCEEDED", t+"09:00:02Z"),
			row("payment", "4203000074", "", "ORD-2026-7204", "750.00", "NGN", "SUCCEEDED", t+"09:30:02Z"),
			row("refund", "880072", "4203000071", "ORD-2026-7201", "200.00", "NGN", "SUCCEEDED", t+"10:30:02Z"),
			row("chargeback", "990073", "4203000073", "ORD-2026-7203", "3000.00", "NGN", "SUCCEEDED", t+"12:00:02Z"),
			row("payout", "770071", "", "", "2500.00", "NGN", "SUCCEEDED", t+"13:00:02Z"),
		},
		expected: planted(zone, file, 5, 3,
			gap("amount_mismatch", "payment", "4203000073", "ORD-2026-7203", "2900.00", "3000.00", "NGN"),
			gap("missing_local", "payment", "4203000079", "", "120.00", "", "NGN"),
			gap("missing_provider", "payment", "4203000074", "ORD-2026-7204", "", "750.00", "NGN")),
	}
}
