package generic_test

import "fmt"

func xenditKit() kit {
	const zone, file, t = "Asia/Jakarta", "xendit_transactions_2026-11-27.csv", "2026-11-27T"
	invoice := func(id, order, status, amount, currency, clock string) string {
		return fmt.Sprintf(`{"id":%q,"external_id":%q,"user_id":"userTESTONLY","status":%q,"amount":%s,"paid_amount":%s,"currency":%q,"paid_at":"2026-11-27T%s.000Z"}`,
			id, order, status, amount, amount, currency, clock)
	}
	event := func(event, clock, data string) string {
		return fmt.Sprintf(`{"event":%q,"business_id":"userTESTONLY","created":"2026-11-27T%s.000Z","data":{%s,"created":"2026-11-27T%s.000Z"}}`, event, clock, data, clock)
	}
	payment := func(id, order, status, amount string) string {
		return fmt.Sprintf(`"payment_id":%q,"payment_request_id":"pr-%s","reference_id":%q,"status":%q,"request_amount":%s,"currency":"PHP"`, id, id, order, status, amount)
	}
	id := func(text string) map[string]string { return map[string]string{"webhook-id": text} }
	first := shot{
		name: "invoice_paid", note: "Amounts are JSON numbers in major units. A fixed token is all that proves it.", at: t + "08:15:04Z", headers: id("xw-7401a"),
		body:   invoice("inv_TEST7401", "ORD-2026-7401", "PAID", "150000", "IDR", "08:15:02"),
		expect: booked("payment.succeeded", "inv_TEST7401", "ORD-2026-7401", "150000", "IDR", "apply", "event_id", "xw-7401a", "occurred_at", t+"08:15:02Z"),
	}
	again := first
	again.name, again.note, again.at = "duplicate_delivery", "The same webhook-id, 15 minutes later.", t+"08:30:04Z"
	again.expect = booked("payment.succeeded", "inv_TEST7401", "ORD-2026-7401", "150000", "IDR", "duplicate")
	shots := []shot{
		first, again,
		{name: "invoice_settled", note: "The same invoice again, paid out by now.", at: t + "09:00:04Z", headers: id("xw-7401b"),
			body:   invoice("inv_TEST7401", "ORD-2026-7401", "SETTLED", "150000", "IDR", "08:15:02"),
			expect: booked("payment.succeeded", "inv_TEST7401", "ORD-2026-7401", "150000", "IDR", "duplicate")},
		{name: "invoice_expired", note: "Nobody paid.", at: t + "09:30:04Z", headers: id("xw-7402"),
			body:   `{"id":"inv_TEST7402","external_id":"ORD-2026-7402","user_id":"userTESTONLY","status":"EXPIRED","amount":50000,"currency":"IDR","updated":"2026-11-27T09:30:02.000Z"}`,
			expect: booked("payment.closed", "inv_TEST7402", "ORD-2026-7402", "50000", "IDR", "apply")},
		{name: "payment_captured_php", note: "A newer product, with decimals.", at: t + "10:00:04Z", headers: id("xw-7403"),
			body:   event("payment.capture", "10:00:02", payment("py-TEST7403", "ORD-2026-7403", "SUCCEEDED", "1999.50")),
			expect: booked("payment.succeeded", "py-TEST7403", "ORD-2026-7403", "1999.50", "PHP", "apply")},
		{name: "payment_failed", at: t + "10:30:04Z", headers: id("xw-7404a"), body: event("payment.failure", "10:30:02", payment("py-TEST7404a", "ORD-2026-7404", "FAILED", "300")),
			expect: booked("payment.failed", "py-TEST7404a", "ORD-2026-7404", "300.00", "PHP", "apply")},
		{name: "payment_captured_7404", note: "The second attempt.", at: t + "10:40:04Z", headers: id("xw-7404b"),
			body:   event("payment.capture", "10:40:02", payment("py-TEST7404b", "ORD-2026-7404", "SUCCEEDED", "300")),
			expect: booked("payment.succeeded", "py-TEST7404b", "ORD-2026-7404", "300.00", "PHP", "apply")},
		{name: "refund_succeeded", at: t + "11:00:04Z", headers: id("xw-7405"),
			body:   event("refund.succeeded", "11:00:02", `"id":"rfd-TEST7403","payment_id":"py-TEST7403","reference_id":"R-7403-1","amount":100.25,"currency":"PHP","status":"SUCCEEDED"`),
			expect: booked("refund.succeeded", "rfd-TEST7403", "", "100.25", "PHP", "apply", "parent_id", "py-TEST7403", "refund_order_id", "R-7403-1")},
		{name: "payout_succeeded", at: t + "12:00:04Z", headers: id("xw-7406"),
			body:   event("payout.succeeded", "12:00:02", `"id":"disb-TEST1","reference_id":"P-1","amount":100000,"currency":"IDR","status":"SUCCEEDED"`),
			expect: booked("payout.paid", "disb-TEST1", "", "100000", "IDR", "apply")},
		{name: "changed_amount_is_not_noticed", note: "Nothing is signed: a changed body with the token is taken for genuine. The order's amount stands against it.",
			at: t + "13:00:04Z", headers: id("xw-7407"), body: invoice("inv_TEST7405", "ORD-2026-7405", "PAID", "75000", "IDR", "13:00:02"), trick: `"paid_amount":75000>"paid_amount":75001`,
			expect: booked("payment.succeeded", "inv_TEST7405", "ORD-2026-7405", "75001", "IDR", "record_only")},
		{name: "bad_token", at: t + "08:15:04Z", body: first.body, trick: "forged", expect: refused("signature")},
		{name: "missing_token", at: t + "08:15:04Z", body: first.body, trick: "unsigned", expect: refused("signature")},
		{name: "other_business", note: "Genuine, but of another business.", at: t + "14:00:04Z", body: event("payment.capture", "14:00:02", payment("py-X", "O", "SUCCEEDED", "1")),
			trick: "userTESTONLY>userOTHER", expect: object{"verified": false, "reason": "merchant", "event": "", "transaction_id": "", "order_id": "", "amount": "", "currency": "",
				"effect": "reject", "reply_status": 403, "reply_body": ""}},
		{name: "unknown_event_type", at: t + "15:00:04Z", headers: id("xw-7408"), body: event("recurring.plan.activated", "15:00:02", `"id":"repl-1"`),
			expect: booked("unknown", "", "", "", "", "ignore")},
	}
	return kit{
		name: "xendit", secret: "xendit-callback-token-TEST-ONLY", config: object{"secrets": []string{"xendit-callback-token-TEST-ONLY"}, "account": "userTESTONLY"},
		orders: []object{order("ORD-2026-7401", "150000", "IDR"), order("ORD-2026-7402", "50000", "IDR"), order("ORD-2026-7403", "1999.50", "PHP"),
			order("ORD-2026-7404", "300.00", "PHP"), order("ORD-2026-7405", "75000", "IDR")},
		sign:  func(_, _ string, headers map[string]string, secret string) { headers["x-callback-token"] = secret },
		shots: shots, file: file,
		text: "id,product_id,type,status,reference_id,currency,amount,cashflow,xendit_fee,value_added_tax,created\n" +
			"txn_1,inv_TEST7401,PAYMENT,SUCCESS,ORD-2026-7401,IDR,150000,MONEY_IN,4000,440,2026-11-27T15:15:02+07:00\n" +
			"txn_2,py-TEST7403,PAYMENT,SUCCESS,ORD-2026-7403,PHP,1999.50,MONEY_IN,40.00,4.80,2026-11-27T17:00:02+07:00\n" +
			"txn_3,py-TEST7404b,PAYMENT,SUCCESS,ORD-2026-7404,PHP,290.00,MONEY_IN,6.00,0.72,2026-11-27T17:40:02+07:00\n" +
			"txn_4,py-TEST7499,PAYMENT,SUCCESS,ORD-2026-7499,PHP,55.00,MONEY_IN,1.10,0.13,2026-11-27T18:30:00+07:00\n" +
			"txn_5,rfd-TEST7403,REFUND,SUCCESS,,PHP,100.25,MONEY_OUT,,,2026-11-27T18:00:02+07:00\n" +
			"txn_6,disb-TEST1,DISBURSEMENT,SUCCESS,P-1,IDR,100000,MONEY_OUT,5000,550,2026-11-27T19:00:02+07:00\n",
		local: []object{
			row("payment", "inv_TEST7401", "", "ORD-2026-7401", "150000.00", "IDR", "SUCCEEDED", t+"08:15:02Z"),
			row("payment", "inv_TEST7402", "", "ORD-2026-7402", "50000.00", "IDR", "CLOSED", t+"09:30:02Z"),
			row("payment", "py-TEST7403", "", "ORD-2026-7403", "1999.50", "PHP", "SUCCEEDED", t+"10:00:02Z"),
			row("payment", "py-TEST7404a", "", "ORD-2026-7404", "300.00", "PHP", "FAILED", t+"10:30:02Z"),
			row("payment", "py-TEST7404b", "", "ORD-2026-7404", "300.00", "PHP", "SUCCEEDED", t+"10:40:02Z"),
			row("refund", "rfd-TEST7403", "py-TEST7403", "ORD-2026-7403", "100.25", "PHP", "SUCCEEDED", t+"11:00:02Z"),
			row("payout", "disb-TEST1", "", "", "100000.00", "IDR", "SUCCEEDED", t+"12:00:02Z"),
			row("payment", "inv_TEST7405", "", "ORD-2026-7405", "75001.00", "IDR", "SUCCEEDED", t+"13:00:02Z"),
		},
		expected: planted(zone, file, 5, 3,
			gap("amount_mismatch", "payment", "py-TEST7404b", "ORD-2026-7404", "290.00", "300.00", "PHP"),
			gap("missing_local", "payment", "py-TEST7499", "", "55.00", "", "PHP"),
			gap("missing_provider", "payment", "inv_TEST7405", "ORD-2026-7405", "", "75001.00", "IDR")),
	}
}
