package cmd

import (
	"fmt"
	"testing"

	"paybook/ledger/shop"
)

// F27: money for an order that was given up is booked and shown, and the order stays closed.
func TestFieldPaidAfterClose(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCCLOSED1", "19.99", "CNY")
		if err := f.book.CloseOrder(t.Context(), "FCCLOSED1", "order.expired"); err != nil {
			t.Fatal(err)
		}
		f.ok("import", "orders", f.file("o.json", `[{"order_id":"FCCLOSED2","amount":"19.99","currency":"CNY","status":"closed"}]`))
		for _, message := range []string{"payment SUCCESS t1 FCCLOSED1 19.99 CNY", "payment SUCCESS t2 FCCLOSED2 19.99 CNY", "payment SUCCESS t1 FCCLOSED1 19.99 CNY"} {
			f.ack(f.tell(message))
		}
		f.wantOrder("FCCLOSED1", "closed 0.00 unpaid>closed | payment t1 19.99 CNY succeeded")
		f.wantOrder("FCCLOSED2", "closed 0.00 | payment t2 19.99 CNY succeeded")
		f.wantRows("shop payment t1 19.99 CNY succeeded paid_after_close", "shop payment t2 19.99 CNY succeeded paid_after_close")
		f.wantMessages("FCCLOSED2", 0)
		var list []callbackJSON
		if f.json(&list, "callbacks", "list", "--outcome", "paid_after_close"); len(list) != 2 {
			t.Errorf("listed: %v", list)
		}
		f.wantRun(f.statement("t1,FCCLOSED1,payment,19.99,CNY,SUCCESS,2026-11-28 12:00:00", "t2,FCCLOSED2,payment,19.99,CNY,SUCCESS,2026-11-28 12:00:00"),
			exitLook, "2 0", "paid_after_close payment t1", "paid_after_close payment t2")
		f.ack(f.tell("refund SUCCESS r1 FCCLOSED1 19.99 CNY t1 R1")) // what the operator does about it
		f.wantOrder("FCCLOSED1", "closed 0.00 unpaid>closed | payment t1 19.99 CNY succeeded | refund r1 19.99 CNY succeeded")
	})
}

// F28: a second real payment is booked, acknowledged, and listed to be given back; the order does not change.
func TestFieldTwoPayments(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCDOUBLE", "19.99", "CNY")
		const wechat = "4200000000000000000000000001"
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(wechat, "FCDOUBLE", 1999, nil)))
		for range 3 {
			f.ack(f.tell("payment SUCCESS t2 FCDOUBLE 19.99 CNY"))
		}
		f.ack(f.tell("payment SUCCESS t3 FCDOUBLE 19.99 CNY"))
		f.wantRows("wechatpay payment "+wechat+" 19.99 CNY succeeded applied", "shop payment t2 19.99 CNY succeeded duplicate_payment", "shop payment t3 19.99 CNY succeeded duplicate_payment")
		f.wantMessages("FCDOUBLE", 1)
		f.wantRun(f.statement("t2,FCDOUBLE,payment,19.99,CNY,SUCCESS,2026-11-28 12:00:00", "t3,FCDOUBLE,payment,19.99,CNY,SUCCESS,2026-11-28 12:00:00"),
			exitLook, "2 0", "duplicate_payment payment t2", "duplicate_payment payment t3")
		f.ack(f.tell("refund SUCCESS r2 FCDOUBLE 19.99 CNY t2 R2")) // its refund does not un-pay the order
		f.wantOrder("FCDOUBLE", "paid 0.00 unpaid>paid | payment "+wechat+" 19.99 CNY succeeded | payment t2 19.99 CNY succeeded | payment t3 19.99 CNY succeeded | refund r2 19.99 CNY succeeded")
	})
}

// F30: a finished checkout is not a payment.
func TestFieldCompletedIsNotPaid(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		session := func(id, status string) string {
			return fmt.Sprintf(`{"id":"cs_%[1]s","object":"checkout.session","payment_intent":"pi_%[1]s","payment_status":%[2]q,"amount_total":1999,"currency":"usd","client_reference_id":%[1]q,"metadata":{}}`, id, status)
		}
		for i, last := range []struct{ kind, status, want string }{
			{"checkout.session.async_payment_succeeded", "paid", "paid 0.00 unpaid>paid | payment pi_FCASY0 19.99 USD succeeded"},
			{"checkout.session.async_payment_failed", "unpaid", "unpaid 0.00 | payment pi_FCASY1 19.99 USD failed"},
			{"checkout.session.expired", "unpaid", "unpaid 0.00 | payment pi_FCASY2 19.99 USD pending"},
		} {
			id := fmt.Sprintf("FCASY%d", i)
			f.order(id, "19.99", "USD")
			f.ack(f.stripe(f.stripeEvent("checkout.session.completed", session(id, "unpaid"))))
			f.wantOrder(id, "unpaid 0.00 | payment pi_"+id+" 19.99 USD pending")
			f.wantMessages(id, 0)
			f.ack(f.stripe(f.stripeEvent(last.kind, session(id, last.status))))
			f.wantOrder(id, last.want)
		}
		// an authorisation is none either, and neither is a word of tomorrow's
		f.order("FCAUTH", "19.99", "USD")
		f.ack(f.stripe(f.stripeEvent("charge.succeeded", `{"id":"ch_9","payment_intent":"pi_9","amount":1999,"captured":false,"currency":"usd","metadata":{"order_id":"FCAUTH"}}`)))
		if got := f.stripe(f.stripeEvent("checkout.session.completed", session("FCAUTH", "settled_somehow"))); got.status != 400 {
			f.t.Errorf("a word of tomorrow's: answered %d %s, want 400", got.status, got.body)
		}
		f.wantOrder("FCAUTH", "unpaid 0.00 | payment ch_9 19.99 USD authorised")
		// WeChat Pay: the type says success and the state does not
		f.order("FCSTATE", "19.99", "CNY")
		for _, state := range []string{"NOTPAY", "USERPAYING", "PAYERROR", "CLOSED", "REVOKED", "REFUND", "ACCEPT", ""} {
			f.wechat("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000009", "FCSTATE", 1999, map[string]any{"trade_state": state}))
		}
		f.wantOrder("FCSTATE", "unpaid 0.00")
	})
}

// F31: a refund that is only asked for does not count, and one that fails later is taken back by a row of its own.
func TestFieldRefundFails(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for i, c := range []struct {
			first, second [2]string // event and status
			want          string
		}{
			{[2]string{"refund.created", "pending"}, [2]string{"refund.updated", "failed"}, "paid 0.00 unpaid>paid | payment ch_%[1]s 19.99 USD succeeded | refund re_%[1]s 19.99 USD failed"},
			{[2]string{"refund.created", "requires_action"}, [2]string{"refund.updated", "canceled"}, "paid 0.00 unpaid>paid | payment ch_%[1]s 19.99 USD succeeded | refund re_%[1]s 19.99 USD closed"},
			{[2]string{"refund.created", "succeeded"}, [2]string{"refund.failed", "failed"},
				"paid 0.00 unpaid>paid>refunded>paid | payment ch_%[1]s 19.99 USD succeeded | refund re_%[1]s 19.99 USD succeeded | refund_reversal re_%[1]s 19.99 USD succeeded"},
			{[2]string{"refund.failed", "failed"}, [2]string{"refund.created", "succeeded"},
				"paid 0.00 unpaid>paid>refunded>paid | payment ch_%[1]s 19.99 USD succeeded | refund re_%[1]s 19.99 USD succeeded | refund_reversal re_%[1]s 19.99 USD succeeded"},
		} {
			id := fmt.Sprintf("FCRF%d", i)
			f.order(id, "19.99", "USD")
			f.ack(f.stripe(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd"))))
			for n, step := range [][2]string{c.first, c.second, c.second, c.first} {
				f.ack(f.stripe(f.stripeEvent(step[0], stripeRefund("re_"+id, "ch_"+id, step[1], 1999, ""))))
				if n == 0 && i < 2 {
					f.wantOrder(id, fmt.Sprintf("paid 0.00 unpaid>paid | payment ch_%[1]s 19.99 USD succeeded | refund re_%[1]s 19.99 USD pending", id))
				}
			}
			f.wantOrder(id, fmt.Sprintf(c.want, id))
		}
		var list []callbackJSON
		if f.json(&list, "callbacks", "list", "--outcome", "applied"); len(list) < 11 {
			t.Errorf("%d callbacks listed as applied", len(list))
		}
	})
}

// F25, F27, F28: money that comes for an order which had its day is booked and listed, and never makes the order paid again.
func TestFieldPaymentAfterRefund(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCAGAIN", "19.99", "CNY")
		f.ack(f.tell("payment SUCCESS t1 FCAGAIN 19.99 CNY"))
		f.ack(f.tell("refund SUCCESS r1 FCAGAIN 19.99 CNY t1 R1"))
		f.ack(f.tell("payment SUCCESS t2 FCAGAIN 19.99 CNY"))
		f.wantOrder("FCAGAIN", "refunded 19.99 unpaid>paid>refunded | payment t1 19.99 CNY succeeded | payment t2 19.99 CNY succeeded | refund r1 19.99 CNY succeeded")
		f.wantMessages("FCAGAIN", 2)
		row := "%s,FCAGAIN,%s,19.99,CNY,SUCCESS,2026-11-28 12:00:00"
		f.wantRun(f.statement(fmt.Sprintf(row, "t1", "payment"), fmt.Sprintf(row, "r1", "refund"), fmt.Sprintf(row, "t2", "payment")), exitLook, "3 2", "duplicate_payment payment t2")
	})
}

// Refunds that do not fit their payment are booked and listed, and the order keeps what it had.
func TestFieldRefundsThatDoNotFit(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCODD", "19.99", "CNY")
		f.ack(f.tell("payment SUCCESS t1 FCODD 19.99 CNY"))
		f.ack(f.tell("refund SUCCESS r1 FCODD 15.00 CNY t1 R1"))
		f.ack(f.tell("refund SUCCESS r2 FCODD 15.00 CNY t1 R2"))
		f.ack(f.tell("refund SUCCESS r3 FCODD 1.00 USD t1 R3"))
		f.ack(f.tell("refund SUCCESS r1 FCODD 4.99 CNY t1 R1")) // the first one's id, another sum
		f.ack(f.tell("refund SUCCESS r4 FCODD 1.00 CNY nobody R4"))
		f.wantRows("shop payment t1 19.99 CNY succeeded applied", "shop refund r1 15.00 CNY succeeded conflict", "shop refund r2 15.00 CNY succeeded not_allowed",
			"shop refund r3 1.00 USD succeeded currency_mismatch", "shop refund r4 1.00 CNY succeeded no_order")
		var h shop.HistoryJSON
		if f.json(&h, "orders", "show", "FCODD"); h.Status != "part_refunded" || h.Refunded != "15.00" {
			t.Errorf("order is %s, refunded %s", h.Status, h.Refunded)
		}
	})
}
