package generic_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

func razorpayKit() kit {
	const zone, file, t = "Asia/Kolkata", "settlement_recon_2026-11-27.csv", "2026-11-27T"
	event := func(event string, at int64, payload string) string {
		return fmt.Sprintf(`{"entity":"event","account_id":"acc_TESTONLY","event":%q,"contains":["payment"],"payload":{%s},"created_at":%d}`, event, payload, at)
	}
	payment := func(id, order, status string, amount, at int64) string {
		return fmt.Sprintf(`"payment":{"entity":{"id":%q,"entity":"payment","amount":%d,"currency":"INR","status":%q,"order_id":"order_%s",`+
			`"method":"upi","notes":{"order_id":%q},"fee":null,"tax":null,"created_at":%d}}`, id, amount, status, id, order, at)
	}
	refund := func(id, of, status string, amount, at int64) string {
		return fmt.Sprintf(`,"refund":{"entity":{"id":%q,"entity":"refund","amount":%d,"currency":"INR","payment_id":%q,"notes":[],"receipt":"R-7101-1","status":%q,"created_at":%d}}`,
			id, amount, of, status, at)
	}
	dispute := func(id, of, status string, amount, deducted, at int64) string {
		return fmt.Sprintf(`,"dispute":{"entity":{"id":%q,"entity":"dispute","payment_id":%q,"amount":%d,"currency":"INR","amount_deducted":%d,"phase":"chargeback","status":%q,"created_at":%d}}`,
			id, of, amount, deducted, status, at)
	}
	at := func(clock string) int64 { return unix(t + clock + "+05:30") }
	p1 := payment("pay_TEST7101", "ORD-2026-7101", "captured", 49900, at("10:00:00"))
	p3 := payment("pay_TEST7103", "ORD-2026-7103", "captured", 150000, at("11:00:00"))
	p4 := payment("pay_TEST7104", "ORD-2026-7104", "captured", 99900, at("12:00:00"))
	first := shot{
		name: "payment_captured", note: "Amounts are paise. The webhook's secret signs the raw body.", at: t + "10:00:03+05:30",
		headers: map[string]string{"x-razorpay-event-id": "evt7101a"}, body: event("payment.captured", at("10:00:02"), p1),
		expect: booked("payment.succeeded", "pay_TEST7101", "ORD-2026-7101", "499.00", "INR", "apply", "event_id", "evt7101a", "occurred_at", t+"10:00:00+05:30"),
	}
	again := first
	again.name, again.note, again.at = "duplicate_delivery", "The same bytes once more.", t+"10:05:03+05:30"
	again.expect = booked("payment.succeeded", "pay_TEST7101", "ORD-2026-7101", "499.00", "INR", "duplicate")
	shots := []shot{
		{name: "payment_authorized", note: "Comes before the capture.", at: t + "10:00:01+05:30",
			headers: map[string]string{"x-razorpay-event-id": "evt7101"}, body: event("payment.authorized", at("10:00:01"),
				payment("pay_TEST7101", "ORD-2026-7101", "authorized", 49900, at("10:00:00"))),
			expect: booked("payment.authorised", "pay_TEST7101", "ORD-2026-7101", "499.00", "INR", "apply")},
		first, again,
		{name: "order_paid_same_payment", note: "A second event of the same payment, with the order's receipt.", at: t + "10:00:05+05:30",
			headers: map[string]string{"x-razorpay-event-id": "evt7101b"},
			body:    event("order.paid", at("10:00:04"), p1+`,"order":{"entity":{"id":"order_pay_TEST7101","amount":49900,"receipt":"ORD-2026-7101","status":"paid"}}`),
			expect:  booked("payment.succeeded", "pay_TEST7101", "ORD-2026-7101", "499.00", "INR", "duplicate", "event_id", "evt7101b")},
		{name: "payment_failed", note: "One attempt failed.", at: t + "10:30:02+05:30", body: event("payment.failed", at("10:30:01"),
			payment("pay_TEST7102", "ORD-2026-7102", "failed", 25000, at("10:30:00"))),
			expect: booked("payment.failed", "pay_TEST7102", "ORD-2026-7102", "250.00", "INR", "apply")},
		{name: "payment_captured_7103", at: t + "11:00:03+05:30", body: event("payment.captured", at("11:00:02"), p3),
			expect: booked("payment.succeeded", "pay_TEST7103", "ORD-2026-7103", "1500.00", "INR", "apply")},
		{name: "payment_captured_7104", at: t + "12:00:03+05:30", body: event("payment.captured", at("12:00:02"), p4),
			expect: booked("payment.succeeded", "pay_TEST7104", "ORD-2026-7104", "999.00", "INR", "apply")},
		{name: "refund_created", note: "Asked for, not yet paid.", at: t + "13:00:03+05:30",
			body:   event("refund.created", at("13:00:02"), p1+refund("rfnd_TEST7101", "pay_TEST7101", "pending", 10000, at("13:00:00"))),
			expect: booked("refund.pending", "rfnd_TEST7101", "ORD-2026-7101", "100.00", "INR", "apply", "parent_id", "pay_TEST7101", "refund_order_id", "R-7101-1")},
		{name: "refund_processed", at: t + "13:10:03+05:30",
			body:   event("refund.processed", at("13:10:02"), p1+refund("rfnd_TEST7101", "pay_TEST7101", "processed", 10000, at("13:00:00"))),
			expect: booked("refund.succeeded", "rfnd_TEST7101", "ORD-2026-7101", "100.00", "INR", "apply", "parent_id", "pay_TEST7101")},
		{name: "dispute_created", note: "No money has moved yet.", at: t + "15:00:03+05:30",
			body:   event("payment.dispute.created", at("15:00:02"), p3+dispute("disp_TEST7103", "pay_TEST7103", "open", 150000, 0, at("15:00:00"))),
			expect: booked("dispute.created", "disp_TEST7103", "ORD-2026-7103", "", "", "note_only", "parent_id", "pay_TEST7103")},
		{name: "payout_settlement_processed", note: "A settlement states no currency: India's.", at: t + "18:00:03+05:30",
			body: event("settlement.processed", at("18:00:02"), fmt.Sprintf(`"settlement":{"entity":{"id":"setl_TEST1","entity":"settlement","amount":203210,`+
				`"status":"processed","fees":2100,"tax":320,"utr":"TESTUTR","created_at":%d}}`, at("18:00:00"))),
			expect: booked("payout.paid", "setl_TEST1", "", "2032.10", "INR", "apply")},
		{name: "bad_signature", note: "Signed with another secret.", at: t + "10:00:03+05:30", body: first.body, trick: "forged", expect: refused("signature")},
		{name: "tampered_body", note: "The amount was changed after signing.", at: t + "10:00:03+05:30", body: first.body, trick: `"amount":49900>"amount":49901`,
			expect: refused("signature")},
		{name: "missing_signature", at: t + "10:00:03+05:30", body: first.body, trick: "unsigned", expect: refused("signature")},
		{name: "unknown_event_type", at: t + "19:00:03+05:30", body: event("subscription.charged", at("19:00:02"), p1),
			expect: booked("unknown", "", "", "", "", "ignore")},
		{name: "amount_is_no_amount", note: "Genuine, but its amount makes no sense: kept, never booked.", at: t + "19:30:03+05:30",
			body: event("payment.captured", at("19:30:02"), `"payment":{"entity":{"id":"pay_TEST7109","amount":1e99,"currency":"INR"}}`),
			expect: object{"verified": true, "event": "unparsable", "transaction_id": "", "order_id": "", "amount": "", "currency": "", "effect": "quarantine",
				"reason": "malformed", "reply_status": 422, "reply_body": ""}},
	}
	return kit{
		name: "razorpay", secret: "razorpay-webhook-secret-TEST-ONLY",
		config: object{"secrets": []string{"razorpay-webhook-secret-TEST-ONLY", "razorpay-previous-secret-TEST-ONLY"}, "account": "acc_TESTONLY"},
		orders: []object{order("ORD-2026-7101", "499.00", "INR"), order("ORD-2026-7102", "250.00", "INR"), order("ORD-2026-7103", "1500.00", "INR"),
			order("ORD-2026-7104", "999.00", "INR")},
		sign: func(body, _ string, headers map[string]string, secret string) {
			headers["X-Razorpay-Signature"] = hex.EncodeToString(macOf(sha256.New, secret, body))
		},
		shots: shots, file: file,
		text: "entity_id,type,debit,credit,amount,currency,fee,tax,settled,created_at,settled_at,settlement_id,settlement_utr,payment_id,order_id,order_receipt,method\n" +
			"pay_TEST7101,payment,0.00,487.22,499.00,INR,11.78,1.80,1,2026-11-27 10:00:00,2026-11-27 18:00:00,setl_TEST1,TESTUTR,,order_pay_TEST7101,ORD-2026-7101,upi\n" +
			"pay_TEST7103,payment,0.00,1454.60,1490.00,INR,35.40,5.40,1,2026-11-27 11:00:00,2026-11-27 18:00:00,setl_TEST1,TESTUTR,,order_pay_TEST7103,ORD-2026-7103,upi\n" +
			"pay_TEST7199,payment,0.00,195.28,200.00,INR,4.72,0.72,1,2026-11-27 14:00:00,2026-11-27 18:00:00,setl_TEST1,TESTUTR,,order_pay_TEST7199,ORD-2026-7199,card\n" +
			"rfnd_TEST7101,refund,100.00,0.00,100.00,INR,0.00,0.00,1,2026-11-27 13:00:00,2026-11-27 18:00:00,setl_TEST1,TESTUTR,pay_TEST7101,order_pay_TEST7101,ORD-2026-7101,upi\n" +
			"adj_TEST7101,adjustment,5.00,0.00,5.00,INR,0.00,0.00,1,2026-11-27 17:00:00,2026-11-27 18:00:00,setl_TEST1,TESTUTR,,,,\n",
		local: []object{
			row("payment", "pay_TEST7101", "", "ORD-2026-7101", "499.00", "INR", "SUCCEEDED", t+"10:00:00+05:30"),
			row("payment", "pay_TEST7102", "", "ORD-2026-7102", "250.00", "INR", "FAILED", t+"10:30:00+05:30"),
			row("payment", "pay_TEST7103", "", "ORD-2026-7103", "1500.00", "INR", "SUCCEEDED", t+"11:00:00+05:30"),
			row("payment", "pay_TEST7104", "", "ORD-2026-7104", "999.00", "INR", "SUCCEEDED", t+"12:00:00+05:30"),
			row("refund", "rfnd_TEST7101", "pay_TEST7101", "ORD-2026-7101", "100.00", "INR", "SUCCEEDED", t+"13:00:00+05:30"),
			row("payout", "setl_TEST1", "", "", "2032.10", "INR", "SUCCEEDED", t+"18:00:00+05:30"),
		},
		expected: planted(zone, file, 4, 2,
			gap("amount_mismatch", "payment", "pay_TEST7103", "ORD-2026-7103", "1490.00", "1500.00", "INR"),
			gap("missing_local", "payment", "pay_TEST7199", "", "200.00", "", "INR"),
			gap("missing_provider", "payment", "pay_TEST7104", "ORD-2026-7104", "", "999.00", "INR")),
	}
}

// unix is an RFC 3339 time of a kit in Unix seconds.
func unix(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at.Unix()
}
