package cmd

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"paybook/ledger/ledgertest"
	"paybook/models"
)

// F61: each provider is told in the very bytes that it expects, whatever it says it would take.
func TestFieldAnswers(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCACK1", "19.99", "USD")
		f.order("FCACK2", "19.99", "CNY")
		stripe := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCACK1", 1999, "usd"))
		wechat := f.wechatBody("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000001", "FCACK2", 1999, nil))
		demo := demopayBody("d1", "FCACK2", `"19.99"`, "CNY")
		eager := func(h http.Header) http.Header {
			h.Set("Accept-Encoding", "gzip, deflate, br, zstd")
			h.Set("Accept", "text/html, */*;q=0.1")
			return h
		}
		for range 2 { // the second time as a duplicate
			for account, got := range map[string]fieldAnswer{
				"stripe":    f.post("stripe", []byte(stripe), eager(stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, stripe)))),
				"wechatpay": f.post("wechatpay", wechat, eager(wechatHeader(t, wechat, f.now, wechatCert, wechatCertKey))),
				"demopay":   f.demopay(demo),
			} {
				want := map[string]string{"wechatpay": `{"code":"SUCCESS","message":"OK"}`, "demopay": `{"code":0,"message":"ok"}`}[account]
				if got.status != 200 || want != "" && got.body != want || len(got.body) > 100 || strings.TrimSpace(got.body) != got.body || got.header.Get("Content-Encoding") != "" {
					t.Errorf("%s: %d %q %v", account, got.status, got.body, got.header)
				}
			}
		}
		wechat = append(wechat, ' ')
		for _, got := range []fieldAnswer{
			f.post("wechatpay", wechat, nil), f.post("wechatpay", wechat, wechatHeader(t, append(wechat, ' '), f.now, wechatCert, wechatCertKey)),
			f.post("wechatpay", wechat, wechatHeader(t, wechat, f.now, "PUB_KEY_ID_0", wechatCertKey)),
		} {
			if got.status < 400 || !strings.Contains(got.body, `"code":"FAIL"`) || !strings.Contains(got.body, `"message":"`) || strings.Contains(got.body, `"message":""`) {
				t.Errorf("refused by: %d %q, want code FAIL and a message", got.status, got.body)
			}
		}
	})
}

// F63: nothing but a POST is a callback, and a slash at the end is no other route.
func TestFieldMethods(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCGET", "19.99", "USD")
		body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCGET", 1999, "usd"))
		signed := func(method, path string) fieldAnswer {
			req := f.web.request(method, path, strings.NewReader(body))
			req.Header = stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, body))
			return f.send(req)
		}
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"} {
			for _, path := range []string{"/callbacks/stripe", "/callbacks/stripe/"} {
				if got := signed(method, path); got.status != 405 || got.header.Get("Allow") != "POST" {
					t.Errorf("%s %s: %d, Allow %q", method, path, got.status, got.header.Get("Allow"))
				}
			}
		}
		for _, path := range []string{"/callbacks/unknown", "/callbacks/unknown/", "/callbacks/Stripe", "/callbacks/stripe/x", "/callbacks/", "/callback/stripe"} {
			if got := signed("POST", path); got.status != 404 {
				t.Errorf("POST %s: %d, want 404", path, got.status)
			}
		}
		f.wantOrder("FCGET", "unpaid 0.00")
		f.wantCallbacks()
		for _, path := range []string{"/callbacks/stripe/", "/callbacks/stripe", "/callbacks/stripe/?x=1"} {
			f.ack(signed("POST", path))
		}
		f.wantOrder("FCGET", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
	})
}

// F65: types that nobody asked for are acknowledged, kept as ignored, and no news.
func TestFieldUnknownTypes(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCTYPE", "19.99", "USD")
		var want []string
		for _, kind := range []string{"customer.created", "payment_intent.requires_action", "invented.event_2027", "payment_intent.succeeded.v2", "PAYMENT_INTENT.SUCCEEDED", "charge.updated"} {
			f.ack(f.stripe(f.stripeEvent(kind, stripeIntent("pi_1", "ch_1", "FCTYPE", 1999, "usd"))))
			want = append(want, "200 ignored unknown")
		}
		f.ack(f.wechat("TRANSACTION.INVENTED", wechatPaid("4200000000000000000000000001", "FCTYPE", 1999, nil)))
		f.ack(f.tell("coupon SUCCESS t1 FCTYPE 19.99 USD"))
		f.ack(f.tell("payment INVENTED t1 FCTYPE 19.99 USD"))
		want = append(want, "200 ignored unknown", "200 ignored unknown", "200 ignored unknown")
		f.eachKit(func(k fieldKit) {
			for _, kind := range []string{"INVENTED", "99"} {
				f.ack(f.deliver(k.unknown(f, kind, "FCTYPE")))
				if want = append(want, "200 ignored unknown"); k.account == "demopay" || k.account == "adyen" || k.account == "unionpay" {
					break // what they call a message is all there is to tell two of them apart
				}
			}
		})
		f.wantCallbacks(want...)
		f.wantOrder("FCTYPE", "unpaid 0.00")
		f.wantRows()
		f.wantQuietLog("ERROR", "WARN")
	})
}

// F66: an event of the other mode leaves the order alone, in both directions; without a word about its mode it is a test.
func TestFieldOtherMode(t *testing.T) {
	for _, live := range []bool{true, false} {
		ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
			f := openFieldWith(t, dsn, fieldConfig(t, strings.Replace(stripeSettings, "livemode: true", fmt.Sprintf("livemode: %v", live), 1)))
			for i, c := range []struct {
				mode string
				live bool
			}{
				{`"livemode":true,`, true}, {`"livemode":false,`, false}, {``, false}, {`"livemode":null,`, false}, {`"livemode":"true",`, false}, {`"livemode":1,`, false},
			} {
				id := fmt.Sprintf("FCMODE%d", i)
				f.order(id, "19.99", "USD")
				body := strings.Replace(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd")), `"livemode":true,`, c.mode, 1)
				f.ack(f.stripe(body))
				if got, want := f.status(id), map[bool]string{true: "paid", false: "unpaid"}[c.live == live]; got != want {
					t.Errorf("livemode %v, event with %q: order is %s, want %s", live, c.mode, got, want)
				}
			}
			var list []callbackJSON
			if f.json(&list, "callbacks", "list", "--outcome", "test_mode"); len(list) != map[bool]int{true: 5, false: 1}[live] {
				t.Errorf("livemode %v: %d events listed as of the other mode", live, len(list))
			}
			// a refund of the other mode takes nothing back
			paid := map[bool]string{true: "FCMODE0", false: "FCMODE1"}[live]
			refund := f.stripeEvent("refund.created", stripeRefund("re_1", "ch_"+paid, "succeeded", 500, ""))
			f.ack(f.stripe(strings.Replace(refund, `"livemode":true`, fmt.Sprintf(`"livemode":%v`, !live), 1)))
			f.wantOrder(paid, "paid 0.00 unpaid>paid | payment ch_"+paid+" 19.99 USD succeeded")
			f.wantQuietLog("ERROR")
		})
	}
}

// F75: payment, refund, close and reconciliation of the same orders at once: no deadlock comes out as a failure, and the end is
// one that some order of events would have had.
func TestFieldEverythingAtOnce(t *testing.T) {
	const orders = 50
	rounds, err := strconv.Atoi(ledgertest.Env("FIELD_ROUNDS", "6")) // 20 took a quarter of a minute, and found no more
	if err != nil {
		t.Fatal("FIELD_ROUNDS: ", err)
	}
	eachField(t, func(t *testing.T, f *field) {
		for round := range rounds {
			var file strings.Builder
			for i := range orders {
				fmt.Fprintf(&file, "FCL%d-%d,19.99,CNY\n", round, i)
			}
			f.ok("import", "orders", f.file("o.csv", "order_id,amount,currency\n"+file.String()))
			var all sync.WaitGroup
			for i := range orders {
				id := fmt.Sprintf("FCL%d-%d", round, i)
				pay, refund := f.shopMessage("payment SUCCESS t-"+id+" "+id+" 19.99 CNY"), f.shopMessage("refund SUCCESS r-"+id+" "+id+" 5.00 CNY t-"+id+" R")
				all.Go(func() { f.ack(f.shopPost(pay)) })
				all.Go(func() { f.ack(f.shopPost(refund)) })
				all.Go(func() { _ = f.book.CloseOrder(t.Context(), id, "order.expired") }) // not allowed any more once it is paid
			}
			all.Go(func() {
				if code, out, talk := f.run("reconcile", "--account", "shop", "--date", "2026-11-28", "--no-statement"); code == exitFailed {
					t.Errorf("reconcile: %s%s", out, talk)
				}
			})
			all.Wait()
		}
		if _, err := f.book.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			for i := range orders {
				id := fmt.Sprintf("FCL%d-%d", round, i)
				h, err := f.book.OrderHistory(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				end := fmt.Sprintf("%s %d", h.Order.Status, h.Order.RefundedMinor)
				if len(h.Transactions) != 2 || end != "part_refunded 500" && end != "closed 0" {
					t.Errorf("%s: %s with %d transactions", id, end, len(h.Transactions))
				}
				for _, tx := range h.Transactions {
					if tx.Outcome == models.OutcomeNoOrder {
						t.Errorf("%s: %s is still parked", id, tx.TransactionID)
					}
				}
			}
		}
		f.wantQuietLog("ERROR")
	})
}
