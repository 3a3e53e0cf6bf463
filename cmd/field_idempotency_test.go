package cmd

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
)

// F16: one callback fifty times at once, then five times more, is one payment, and no news for whoever reads the log.
func TestFieldSameCallbackAtOnce(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCMANY", "19.99", "USD")
		body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCMANY", 1999, "usd"))
		var sending sync.WaitGroup
		for range 50 {
			sending.Go(func() { f.ack(f.stripe(body)) })
		}
		sending.Wait()
		for range 5 {
			f.ack(f.stripe(body))
		}
		f.wantOrder("FCMANY", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
		f.wantRows("stripe payment ch_1 19.99 USD succeeded applied")
		f.wantMessages("FCMANY", 1)
		f.wantQuietLog("WARN", "ERROR")
		var list []callbackJSON
		f.json(&list, "callbacks", "list")
		var shown shownCallback
		if f.json(&shown, "callbacks", "show", list[0].ID); len(list) != 1 || shown.Deliveries != 55 || shown.Outcome != "applied" {
			t.Errorf("%d callbacks, the first %+v; want one of 55 deliveries", len(list), shown)
		}
	})
}

// F16, F18: fifty events at once, each of its own id, all of one payment; then the same with its refund.
func TestFieldManyEventsAtOnce(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCMANY2", "19.99", "USD")
		bodies := make([]string, 0, 100)
		for range 50 {
			bodies = append(bodies, f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCMANY2", 1999, "usd")))
			bodies = append(bodies, f.stripeEvent("refund.updated", stripeRefund("re_1", "ch_1", "succeeded", 500, "R1")))
		}
		var sending sync.WaitGroup
		for _, body := range bodies {
			sending.Go(func() { f.ack(f.stripe(body)) })
		}
		sending.Wait()
		f.wantOrder("FCMANY2", "part_refunded 5.00 unpaid>paid>part_refunded | payment ch_1 19.99 USD succeeded | refund re_1 5.00 USD succeeded")
		f.wantMessages("FCMANY2", 2)
		f.wantQuietLog("WARN", "ERROR")
	})
}

// F17, by PostgreSQL's own hand: statements that take too long, and connections that are cut while they wait.
func TestFieldDatabaseGivesUp(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	f := openField(t, dsn+"&statement_timeout=300")
	for i, during := range []func(){
		func() { time.Sleep(time.Second) },
		func() { f.hold(dsn, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted")("ROLLBACK") },
	} {
		id := fmt.Sprintf("FCGIVEUP%d", i)
		f.order(id, "19.99", "USD")
		body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd"))
		release := f.hold(dsn, "UPDATE orders SET version = version WHERE order_id = '"+id+"'")
		first := make(chan fieldAnswer, 1)
		go func() { first <- f.stripe(body) }()
		time.Sleep(150 * time.Millisecond)
		during()
		release("ROLLBACK")
		if got := <-first; got.status != 200 && got.status != 503 {
			t.Errorf("the first delivery: %d %s", got.status, got.body)
		}
		f.ack(f.stripe(body))
		f.wantOrder(id, "paid 0.00 unpaid>paid | payment ch_"+id+" 19.99 USD succeeded")
		f.wantMessages(id, 1)
	}
}

// F17: what could not be booked is answered so that it comes again, and leaves nothing behind; then it is booked once.
func TestFieldFirstTryFails(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		f.order("FCFAIL", "19.99", "USD")
		body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCFAIL", 1999, "usd"))
		release := f.hold(dsn, "UPDATE orders SET version = version WHERE order_id = 'FCFAIL'")
		start := time.Now()
		if got := f.stripe(body); got.status != 503 || time.Since(start) > 30*time.Second {
			t.Errorf("while the order is held: %d %s after %v, want 503 soon", got.status, got.body, time.Since(start))
		}
		f.wantRows()
		f.wantCallbacks()
		f.wantMessages("FCFAIL", 0)
		release("ROLLBACK") // what still waits for the order may get it now, and is then there whole
		f.ack(f.stripe(body))
		f.ack(f.stripe(body))
		f.wantOrder("FCFAIL", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
		f.wantMessages("FCFAIL", 1)
		f.wantCallbacks("200 applied payment.succeeded")
	})
}

// hold runs a statement in a transaction of somebody else's, which lasts until it is ended by COMMIT or ROLLBACK.
func (f *field) hold(dsn, statement string) (end func(how string)) {
	f.t.Helper()
	driver, begin := "pgx", "BEGIN"
	if file, isFile := strings.CutPrefix(dsn, "sqlite:"); isFile {
		driver, begin, dsn = "sqlite", "BEGIN IMMEDIATE", "file:"+file+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		f.t.Fatal(err)
	}
	conn, err := db.Conn(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	run := func(text string) {
		if _, err := conn.ExecContext(f.t.Context(), text); err != nil {
			f.t.Fatal(err)
		}
	}
	run(begin)
	run(statement)
	return func(how string) {
		run(how)
		if err := db.Close(); err != nil {
			f.t.Error(err)
		}
	}
}

// F18: three events of one payment, in every order, are one payment.
func TestFieldEventsOfOnePayment(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
		for i, order := range append(orders, nil) {
			id := fmt.Sprintf("FCTWO%d", i)
			f.order(id, "19.99", "USD")
			charge := fmt.Sprintf(`{"id":"ch_%s","object":"charge","payment_intent":"pi_%[1]s","amount":1999,"amount_captured":1999,"captured":true,"currency":"usd","metadata":{"order_id":"%[1]s"}}`, id)
			session := fmt.Sprintf(`{"id":"cs_%s","object":"checkout.session","payment_intent":"pi_%[1]s","payment_status":"paid","amount_total":1999,"currency":"usd","client_reference_id":"%[1]s","metadata":{}}`, id)
			events := []string{
				f.stripeEvent("charge.succeeded", charge), f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd")),
				f.stripeEvent("checkout.session.completed", session),
			}
			for _, n := range order {
				f.ack(f.stripe(events[n]))
			}
			if order == nil {
				var at sync.WaitGroup
				for n := range 12 {
					at.Go(func() { f.ack(f.stripe(events[n%3])) })
				}
				at.Wait()
			}
			var h shop.HistoryJSON
			f.json(&h, "orders", "show", id)
			if h.Status != "paid" || len(h.Transitions) != 1 || len(h.Transactions) != 1 || h.Transactions[0].Amount != "19.99" {
				t.Errorf("events in the order %v: %+v", order, h)
			}
			f.wantMessages(id, 1)
		}
	})
}

// F19: news of one payment only moves it forward.
func TestFieldStatusesOfOnePayment(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCSTAT", "19.99", "CNY")
		for i, want := range []string{
			"unpaid 0.00 | payment t1 19.99 CNY pending", "paid 0.00 unpaid>paid | payment t1 19.99 CNY succeeded",
			"paid 0.00 unpaid>paid | payment t1 19.99 CNY succeeded", "paid 0.00 unpaid>paid | payment t1 19.99 CNY succeeded",
		} {
			f.ack(f.tell([]string{"payment PENDING t1 FCSTAT 19.99 CNY", "payment SUCCESS t1 FCSTAT 19.99 CNY"}[i%2]))
			f.wantOrder("FCSTAT", want)
		}
		f.wantMessages("FCSTAT", 1)
		f.wantCallbacks("200 applied payment.pending", "200 applied payment.succeeded", "200 duplicate payment.pending", "200 duplicate payment.succeeded")
		f.order("FCSTAT2", "19.99", "USD") // the same by another provider, whose names differ from event to event
		intent := stripeIntent("pi_2", "ch_2", "FCSTAT2", 1999, "usd")
		for i, want := range []string{"unpaid", "paid", "paid", "paid"} {
			f.ack(f.stripe(f.stripeEvent([]string{"payment_intent.processing", "payment_intent.succeeded"}[i%2], intent)))
			if got := f.status("FCSTAT2"); got != want {
				t.Errorf("after event %d the order is %s, want %s", i+1, got, want)
			}
		}
		f.wantRows("shop payment t1 19.99 CNY succeeded applied", "stripe payment pi_2 19.99 USD succeeded applied")
	})
}

// F20: nothing that is forgotten with the process guards the book: it is the database that knows what was there before.
func TestFieldRestart(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		f.order("FCCACHE", "19.99", "USD")
		f.order("FCCACHE2", "19.99", "USD")
		body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCCACHE", 1999, "usd"))
		f.ack(f.stripe(body))
		f.web.stop()
		f.web.wait()

		again := openField(t, dsn)
		again.now = f.now.AddDate(0, 0, 40) // no lifetime of any cache
		again.ack(again.stripe(body))
		again.ack(again.stripe(again.stripeEvent("payment_intent.succeeded", stripeIntent("pi_2", "ch_2", "FCCACHE2", 1999, "usd"))))
		again.wantOrder("FCCACHE", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
		again.wantOrder("FCCACHE2", "paid 0.00 unpaid>paid | payment ch_2 19.99 USD succeeded")
		again.wantMessages("FCCACHE", 1)
		again.wantRows("stripe payment ch_1 19.99 USD succeeded applied", "stripe payment ch_2 19.99 USD succeeded applied")

		other := openField(t, dsn) // a second replica beside the first, both at once
		var sending sync.WaitGroup
		last := other.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCCACHE", 1999, "usd"))
		for i := range 20 {
			sending.Go(func() { f.ack([]*field{again, other}[i%2].stripe(last)) })
		}
		sending.Wait()
		again.wantMessages("FCCACHE", 1)
	})
}

// F21: every refund counts once, whatever comes again and in which order.
func TestFieldPartialRefunds(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCPART", "19.99", "USD")
		f.ack(f.stripe(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCPART", 1999, "usd"))))
		sums := map[string]int64{"re_A": 500, "re_B": 300}
		for _, id := range []string{"re_A", "re_B", "re_A", "re_B", "re_A"} {
			f.ack(f.stripe(f.stripeEvent("refund.updated", stripeRefund(id, "ch_1", "succeeded", sums[id], "R-"+id))))
		}
		f.wantOrder("FCPART", "part_refunded 8.00 unpaid>paid>part_refunded>part_refunded | payment ch_1 19.99 USD succeeded | refund re_A 5.00 USD succeeded | refund re_B 3.00 USD succeeded")
		f.wantMessages("FCPART", 3)

		const payment = "4200000000000000000000000001"
		f.order("FCPART2", "19.99", "CNY")
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(payment, "FCPART2", 1999, nil)))
		for _, id := range []string{"5030000000000000000000000000A", "5030000000000000000000000000B", "5030000000000000000000000000A"} {
			f.ack(f.wechat("REFUND.SUCCESS", wechatRefund(id, "R"+id[28:], payment, "FCPART2", 1999, map[bool]int64{true: 500, false: 300}[strings.HasSuffix(id, "A")])))
		}
		f.wantOrder("FCPART2", "part_refunded 8.00 unpaid>paid>part_refunded>part_refunded | payment "+payment+" 19.99 CNY succeeded | "+
			"refund 5030000000000000000000000000A 5.00 CNY succeeded | refund 5030000000000000000000000000B 3.00 CNY succeeded")
	})
}

// F22: the shop's own request for a refund and the provider's callback are one refund, whichever is first, and at once.
func TestFieldOwnRefundAndItsCallback(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for i, order := range []string{"ask hear answer", "hear ask answer", "ask answer hear", "hear answer ask", "ask hear hear answer hear", "at once"} {
			id := fmt.Sprintf("FCRACE%d", i)
			f.order(id, "19.99", "USD")
			f.ack(f.stripe(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd"))))
			bring := func(refund, status string) {
				f.ok("import", "transactions", "--account", "stripe", f.file("t.csv", "kind,transaction_id,parent_id,refund_order_id,order_id,amount,currency,status,occurred_at\n"+
					"refund,"+refund+",ch_"+id+",R-"+id+","+id+",5.00,USD,"+status+",2026-11-28T04:00:00Z\n"))
			}
			steps := map[string]func(){
				"ask": func() { bring("", "REQUESTED") },
				"hear": func() {
					f.ack(f.stripe(f.stripeEvent("refund.updated", stripeRefund("re_"+id, "ch_"+id, "succeeded", 500, "R-"+id))))
				},
				"answer": func() { bring("re_"+id, "SUCCEEDED") },
			}
			if order == "at once" {
				var all sync.WaitGroup
				for _, step := range steps {
					all.Go(step)
				}
				all.Wait()
			} else {
				for _, step := range strings.Fields(order) {
					steps[step]()
				}
			}
			t.Log(order)
			f.wantOrder(id, "part_refunded 5.00 unpaid>paid>part_refunded | payment ch_"+id+" 19.99 USD succeeded | refund re_"+id+" 5.00 USD succeeded")
		}
	})
}

// The same account, provider and id under another order or amount is no repetition: it is kept and listed, and nothing moves.
func TestFieldSameIDOtherContent(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCSAME1", "19.99", "CNY")
		f.order("FCSAME2", "19.99", "CNY")
		for _, message := range []string{"payment SUCCESS t1 FCSAME1 19.99 CNY", "payment SUCCESS t1 FCSAME1 29.99 CNY", "payment SUCCESS t1 FCSAME2 19.99 CNY", "payment SUCCESS t1 FCSAME1 19.99 USD"} {
			if got := f.tell(message); got.status != http.StatusOK {
				t.Errorf("%s: %d", message, got.status)
			}
		}
		f.wantOrder("FCSAME1", "paid 0.00 unpaid>paid | payment t1 19.99 CNY succeeded")
		f.wantOrder("FCSAME2", "unpaid 0.00")
		f.wantCallbacks("200 applied payment.succeeded", "200 conflict payment.succeeded", "200 conflict payment.succeeded", "200 conflict payment.succeeded")
	})
}
