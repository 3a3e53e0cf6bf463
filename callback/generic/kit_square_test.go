package generic_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

func squareKit() kit {
	const file, t, url = "square_payout_entries_2026-11-27.csv", "2026-11-27T", "https://shop.example/callbacks/square"
	event := func(id, typ, clock, object, inner string) string {
		return fmt.Sprintf(`{"merchant_id":"MERCHANTTEST","type":%q,"event_id":%q,"created_at":"2026-11-27T%sZ","data":{"type":%q,"id":"x","object":{%q:{%s,"updated_at":"2026-11-27T%sZ"}}}}`,
			typ, id, clock, object, object, inner, clock)
	}
	payment := func(id, order, status string, amount int) string {
		return fmt.Sprintf(`"id":%q,"status":%q,"reference_id":%q,"order_id":"SQORDER%s","amount_money":{"amount":%d,"currency":"USD"}`, id, status, order, id, amount)
	}
	refund := func(status string) string {
		return fmt.Sprintf(`"id":"SQREF7301","status":%q,"payment_id":"SQPAY7301","order_id":"SQORDERREF","amount_money":{"amount":1000,"currency":"USD"}`, status)
	}
	dispute := func(state string) string {
		return fmt.Sprintf(`"id":"SQDIS7303","state":%q,"reason":"AMOUNT_DIFFERS","disputed_payment":{"payment_id":"SQPAY7303"},"amount_money":{"amount":7500,"currency":"USD"}`, state)
	}
	first := shot{
		name: "payment_completed", note: "Signed are the registered address and the body. The type does not tell success, the status does.", at: t + "16:15:04Z",
		body:   event("sqe-7301b", "payment.updated", "16:15:02", "payment", payment("SQPAY7301", "ORD-2026-7301", "COMPLETED", 4999)),
		expect: booked("payment.succeeded", "SQPAY7301", "ORD-2026-7301", "49.99", "USD", "apply", "event_id", "sqe-7301b", "occurred_at", t+"16:15:02Z"),
	}
	again := first
	again.name, again.note, again.at = "duplicate_delivery", "The same bytes once more.", t+"16:20:04Z"
	again.expect = booked("payment.succeeded", "SQPAY7301", "ORD-2026-7301", "49.99", "USD", "duplicate")
	shots := []shot{
		{name: "payment_approved", note: "Authorised, not yet captured.", at: t + "16:14:04Z",
			body:   event("sqe-7301a", "payment.created", "16:14:02", "payment", payment("SQPAY7301", "ORD-2026-7301", "APPROVED", 4999)),
			expect: booked("payment.authorised", "SQPAY7301", "ORD-2026-7301", "49.99", "USD", "apply")},
		first, again,
		{name: "payment_completed_again", note: "Another update of the same payment, such as a receipt: a second event id.", at: t + "16:16:04Z",
			body:   event("sqe-7301c", "payment.updated", "16:16:02", "payment", payment("SQPAY7301", "ORD-2026-7301", "COMPLETED", 4999)),
			expect: booked("payment.succeeded", "SQPAY7301", "ORD-2026-7301", "49.99", "USD", "duplicate")},
		{name: "payment_failed", at: t + "16:20:04Z", body: event("sqe-7302", "payment.updated", "16:20:02", "payment", payment("SQPAY7302", "ORD-2026-7302", "FAILED", 2500)),
			expect: booked("payment.failed", "SQPAY7302", "ORD-2026-7302", "25.00", "USD", "apply")},
		{name: "payment_completed_7303", at: t + "17:00:04Z",
			body:   event("sqe-7303", "payment.updated", "17:00:02", "payment", payment("SQPAY7303", "ORD-2026-7303", "COMPLETED", 7500)),
			expect: booked("payment.succeeded", "SQPAY7303", "ORD-2026-7303", "75.00", "USD", "apply")},
		{name: "payment_completed_7304", at: t + "17:30:04Z",
			body:   event("sqe-7304", "payment.updated", "17:30:02", "payment", payment("SQPAY7304", "ORD-2026-7304", "COMPLETED", 1800)),
			expect: booked("payment.succeeded", "SQPAY7304", "ORD-2026-7304", "18.00", "USD", "apply")},
		{name: "refund_pending", at: t + "18:00:04Z", body: event("sqe-7305a", "refund.created", "18:00:02", "refund", refund("PENDING")),
			expect: booked("refund.pending", "SQREF7301", "", "10.00", "USD", "apply", "parent_id", "SQPAY7301")},
		{name: "refund_completed", at: t + "18:10:04Z", body: event("sqe-7305b", "refund.updated", "18:10:02", "refund", refund("COMPLETED")),
			expect: booked("refund.succeeded", "SQREF7301", "", "10.00", "USD", "apply", "parent_id", "SQPAY7301")},
		{name: "dispute_inquiry", note: "Only a question: no money has moved.", at: t + "19:00:04Z",
			body:   event("sqe-7306a", "dispute.created", "19:00:02", "dispute", dispute("INQUIRY_EVIDENCE_REQUIRED")),
			expect: booked("dispute.inquiry", "SQDIS7303", "", "", "", "note_only", "parent_id", "SQPAY7303")},
		{name: "dispute_opened", at: t + "20:00:04Z", body: event("sqe-7306b", "dispute.state.updated", "20:00:02", "dispute", dispute("EVIDENCE_REQUIRED")),
			expect: booked("dispute.opened", "SQDIS7303", "", "75.00", "USD", "apply", "parent_id", "SQPAY7303")},
		{name: "payout_sent", at: t + "21:00:04Z", body: event("sqe-7307a", "payout.sent", "21:00:02", "payout", `"id":"SQPO1","status":"SENT","amount_money":{"amount":4744,"currency":"USD"}`),
			expect: booked("payout.pending", "SQPO1", "", "47.44", "USD", "apply")},
		{name: "payout_paid", at: t + "22:00:04Z", body: event("sqe-7307b", "payout.paid", "22:00:02", "payout", `"id":"SQPO1","status":"PAID","amount_money":{"amount":4744,"currency":"USD"}`),
			expect: booked("payout.paid", "SQPO1", "", "47.44", "USD", "apply")},
		{name: "bad_signature", at: t + "16:15:04Z", body: first.body, trick: "forged", expect: refused("signature")},
		{name: "tampered_body", at: t + "16:15:04Z", body: first.body, trick: `"amount":4999>"amount":4998`, expect: refused("signature")},
		{name: "missing_signature", at: t + "16:15:04Z", body: first.body, trick: "unsigned", expect: refused("signature")},
		{name: "empty_body", note: "Signed with the right key, and nothing in it: genuine, and of no use.", at: t + "16:15:04Z", body: "",
			expect: object{"verified": false, "reason": "malformed", "event": "", "transaction_id": "", "order_id": "", "amount": "", "currency": "",
				"effect": "reject", "reply_status": 400, "reply_body": ""}},
		{name: "unknown_event_type", at: t + "23:00:04Z", body: event("sqe-7308", "catalog.version.updated", "23:00:02", "catalog_version", `"version":1`),
			expect: booked("unknown", "", "", "", "", "ignore")},
	}
	return kit{
		name: "square", secret: "square-signature-key-TEST-ONLY",
		config: object{"secrets": []string{"square-signature-key-TEST-ONLY"}, "public_url": url, "account": "MERCHANTTEST"},
		orders: []object{order("ORD-2026-7301", "49.99", "USD"), order("ORD-2026-7302", "25.00", "USD"), order("ORD-2026-7303", "75.00", "USD"),
			order("ORD-2026-7304", "18.00", "USD")},
		sign: func(body, _ string, headers map[string]string, secret string) {
			headers["x-square-hmacsha256-signature"] = base64.StdEncoding.EncodeToString(macOf(sha256.New, secret, url+body))
		},
		shots: shots, file: file,
		text: "payout_id,effective_at,type,payment_id,refund_id,dispute_id,gross_amount,fee_amount,net_amount,currency\n" +
			"SQPO1,2026-11-27T16:15:02Z,CHARGE,SQPAY7301,,,49.99,1.75,48.24,USD\n" +
			"SQPO1,2026-11-27T17:00:02Z,CHARGE,SQPAY7303,,,70.00,2.45,67.55,USD\n" +
			"SQPO1,2026-11-27T17:45:00Z,CHARGE,SQPAY7399,,,18.50,0.65,17.85,USD\n" +
			"SQPO1,2026-11-27T18:10:02Z,REFUND,SQPAY7301,SQREF7301,,-10.00,0.00,-10.00,USD\n" +
			"SQPO1,2026-11-27T20:00:02Z,DISPUTE,SQPAY7303,,SQDIS7303,-75.00,0.00,-75.00,USD\n" +
			"SQPO1,2026-11-27T21:00:00Z,FEE,,,,-1.20,0.00,-1.20,USD\n",
		local: []object{
			row("payment", "SQPAY7301", "", "ORD-2026-7301", "49.99", "USD", "SUCCEEDED", t+"16:15:02Z"),
			row("payment", "SQPAY7302", "", "ORD-2026-7302", "25.00", "USD", "FAILED", t+"16:20:02Z"),
			row("payment", "SQPAY7303", "", "ORD-2026-7303", "75.00", "USD", "SUCCEEDED", t+"17:00:02Z"),
			row("payment", "SQPAY7304", "", "ORD-2026-7304", "18.00", "USD", "SUCCEEDED", t+"17:30:02Z"),
			row("refund", "SQREF7301", "SQPAY7301", "ORD-2026-7301", "10.00", "USD", "SUCCEEDED", t+"18:10:02Z"),
			row("chargeback", "SQDIS7303", "SQPAY7303", "ORD-2026-7303", "75.00", "USD", "SUCCEEDED", t+"20:00:02Z"),
			row("payout", "SQPO1", "", "", "47.44", "USD", "SUCCEEDED", t+"22:00:02Z"),
		},
		expected: planted("UTC", file, 5, 3,
			gap("amount_mismatch", "payment", "SQPAY7303", "ORD-2026-7303", "70.00", "75.00", "USD"),
			gap("missing_local", "payment", "SQPAY7399", "", "18.50", "", "USD"),
			gap("missing_provider", "payment", "SQPAY7304", "ORD-2026-7304", "", "18.00", "USD")),
	}
}
