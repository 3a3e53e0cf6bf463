package cmd

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// F09, F14: the route decides how a body is read, whatever the header says of it.
func TestFieldContentTypes(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for i, contentType := range []string{"text/plain", "application/json;charset=UTF-8", "application/octet-stream", "", "application/x-www-form-urlencoded",
			"multipart/form-data", "application/xml; charset=gbk", ";;;"} {
			f.eachKit(func(k fieldKit) {
				order := fmt.Sprint("FC", i, k.account)
				f.order(order, "19.99", k.currency)
				f.ack(f.deliver(k.paid(f, i, order).with("Content-Type", contentType)))
				if got := f.stands(order); got != "paid" {
					t.Errorf("%s, %q: order is %s", k.account, contentType, got)
				}
			})
		}
	})
}

// F10: ids keep their digits, also those no float can hold.
func TestFieldNumericIDs(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		ids := []string{"8389765929445198309", "8389765929445198310", "8389765929445198309000001", "9007199254740993", "9007199254740992"}
		var rows []string
		for i, id := range ids {
			order := fmt.Sprintf("FCNUM%d", i)
			f.order(order, "19.99", "CNY")
			f.ack(f.shopPost(strings.Replace(f.shopMessage("payment SUCCESS ID "+order+" 19.99 CNY"), `"ID"`, id, 1)))
			f.wantOrder(order, "paid 0.00 unpaid>paid | payment "+id+" 19.99 CNY succeeded")
			rows = append(rows, "shop payment "+id+" 19.99 CNY succeeded applied")
		}
		f.wantRows(rows...)
		f.order("8389765929445198311", "5.00", "CNY") // an order number sent as a number, too
		f.ack(f.shopPost(strings.Replace(f.shopMessage("payment SUCCESS t9 ORDER 5.00 CNY"), `"ORDER"`, "8389765929445198311", 1)))
		f.wantOrder("8389765929445198311", "paid 0.00 unpaid>paid | payment t9 5.00 CNY succeeded")
	})
}

// F11: numbers that would need a machine's whole memory are refused or parked at once.
func TestFieldHugeNumbers(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCHUGE", "19.99", "USD")
		long := strings.Repeat("9", 10_000)
		for _, number := range []string{"1e1000000000", "1e-1000000000", "1E400", "-1e999999999", long, "0." + long, "1" + strings.Repeat("0", 30), "9223372036854775808", "1999e0", "NaN"} {
			stripe := strings.ReplaceAll(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCHUGE", 777, "usd")), ":777,", ":"+number+",")
			plain := wechatPaid("4200000000000000000000000001", "FCHUGE", 777, nil)
			sealed := f.wechatBody("TRANSACTION.SUCCESS", strings.ReplaceAll(string(f.mustJSON(plain)), "777", number))
			shop := f.shopMessage("payment SUCCESS t1 FCHUGE AMOUNT USD")
			for name, send := range map[string]func() fieldAnswer{
				"stripe":            func() fieldAnswer { return f.stripe(stripe) },
				"stripe, created":   func() fieldAnswer { return f.stripe(strings.Replace(stripe, fmt.Sprint(f.now.Unix()), number, 1)) },
				"shop, a number":    func() fieldAnswer { return f.shopPost(strings.Replace(shop, `"AMOUNT"`, number, 1)) },
				"shop, a text":      func() fieldAnswer { return f.shopPost(strings.Replace(shop, "AMOUNT", number, 1)) },
				"demopay, a number": func() fieldAnswer { return f.demopay(demopayBody("d1", "FCHUGE", number, "USD")) },
				"wechatpay": func() fieldAnswer {
					return f.post("wechatpay", sealed, wechatHeader(t, sealed, f.now, wechatCert, wechatCertKey))
				},
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				got := send()
				took := time.Since(start)
				runtime.ReadMemStats(&after)
				if got.status >= 500 || took > 30*time.Second || after.TotalAlloc-before.TotalAlloc > 16<<20 {
					t.Errorf("%s, %.20s: %d after %v and %d bytes", name, number, got.status, took, after.TotalAlloc-before.TotalAlloc)
				}
			}
		}
		f.wantOrder("FCHUGE", "unpaid 0.00")
		f.wantRows()
		f.ack(f.tell("payment SUCCESS t2 FCHUGE 19.99 USD"))
		f.wantOrder("FCHUGE", "paid 0.00 unpaid>paid | payment t2 19.99 USD succeeded")
		for _, number := range []string{"1e1000000000", "1E400", long} {
			start := time.Now()
			f.stops("row 2|amount", f.statement("t2,FCHUGE,payment,"+number+",USD,SUCCESS,2026-11-28 12:00:00"))
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("statement with %.20s: %v", number, took)
			}
		}
	})
}

// statement writes a file of the account shop's layout.
func (f *field) statement(rows ...string) string {
	f.t.Helper()
	return f.file("statement.csv", statementHead+"\n"+strings.Join(rows, "\n")+"\n")
}

// stops checks that the run of the account shop for 2026-11-28 cannot be done with a file: exit 2, and one line that says all words.
func (f *field) stops(words, file string) {
	f.t.Helper()
	code, _, talk := f.run("reconcile", "--date", "2026-11-28", "--account", "shop", "--statement", file)
	if code != exitFailed || strings.Count(talk, "\n") != 1 {
		f.t.Errorf("%s: exit %d, %q; want 2 and one line", file, code, talk)
	}
	for _, w := range strings.Split(words, "|") {
		if !strings.Contains(talk, w) {
			f.t.Errorf("%q does not say %q", talk, w)
		}
	}
}

const statementHead = "transaction_id,order_id,type,amount,currency,status,occurred_at"

// F12: a key given twice means two things, so the message is refused; also inside what was encrypted.
func TestFieldDuplicateKeys(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCDUP", "19.99", "USD")
		f.order("FCDUP2", "19.99", "USD")
		message := f.shopMessage("payment SUCCESS t1 FCDUP 19.99 USD")
		event := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCDUP", 1999, "usd"))
		for _, twice := range [][2]string{
			{`"amount":"19.99"`, `"amount":"0.01"`}, {`"status":"SUCCESS"`, `"status":"FAILED"`}, {`"order":"FCDUP"`, `"order":"FCDUP2"`},
			{`"txn":"t1"`, `"\u0074xn":"t2"`}, {`"order":"FCDUP"`, `"order":"FCDUP"`},
		} {
			for _, both := range []string{twice[0] + "," + twice[1], twice[1] + "," + twice[0]} {
				if got := f.shopPost(strings.Replace(message, twice[0], both, 1)); got.status != 400 {
					t.Errorf("shop, %s: %d, want 400", both, got.status)
				}
			}
		}
		for _, twice := range [][2]string{{`"amount_received":1999`, `"amount_received":1`}, {`"order_id":"FCDUP"`, `"order_id":"FCDUP2"`}, {`"livemode":true`, `"livemode":false`}} {
			if got := f.stripe(strings.Replace(event, twice[0], twice[0]+","+twice[1], 1)); got.status != 400 {
				t.Errorf("stripe, %s: %d, want 400", twice[1], got.status)
			}
		}
		f.wantOrder("FCDUP", "unpaid 0.00")
		f.wantOrder("FCDUP2", "unpaid 0.00")
		plain := string(f.mustJSON(wechatPaid("4200000000000000000000000001", "FCDUP", 1999, nil)))
		got := f.wechat("TRANSACTION.SUCCESS", strings.Replace(plain, `"total":1999`, `"total":1999,"total":1`, 1))
		if got.status >= 500 {
			t.Errorf("wechatpay: %d %s", got.status, got.body)
		}
		f.wantRows()
	})
}

// F13: up to the limit a body is taken whole; beyond it nothing is read, verified or kept of it.
func TestFieldBodySizes(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.eachKit(func(k fieldKit) {
			order := "FCBIG-" + k.account
			f.order(order, "19.99", k.currency)
			f.ack(f.deliver(k.pay(f, fieldPaid{id: k.id(1), order: order, minor: 1999, pad: 900 << 10})))
			if got := f.stands(order); got != "paid" {
				t.Errorf("%s, 900 KiB: order is %s", k.account, got)
			}
			over := "FCOVER-" + k.account
			f.order(over, "19.99", k.currency)
			if got := f.deliver(k.pay(f, fieldPaid{id: k.id(2), order: over, minor: 1999, pad: 1 << 20})); got.status != 413 || f.stands(over) != "unpaid" {
				t.Errorf("%s, beyond the limit: %d, order is %s; want 413", k.account, got.status, f.stands(over))
			}
		})
		for i, size := range []int{900 << 10, 1 << 20} {
			order := fmt.Sprintf("FCBIG%d", i)
			f.order(order, "19.99", "USD")
			body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+order, "ch_"+order, order, 1999, "usd"))
			f.ack(f.stripe(body + strings.Repeat(" ", size-len(body))))
			f.wantOrder(order, "paid 0.00 unpaid>paid | payment ch_"+order+" 19.99 USD succeeded")
		}
		f.order("FCOVER", "19.99", "USD")
		body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_2", "ch_2", "FCOVER", 1999, "usd"))
		body += strings.Repeat(" ", 1<<20+1-len(body))
		if got := f.stripe(body); got.status != 413 {
			t.Errorf("one byte beyond the limit: %d, want 413", got.status)
		}
		// signed is only the part that a server which cuts bodies would see
		req := f.web.request(http.MethodPost, "/callbacks/stripe", io.MultiReader(strings.NewReader(body[:1<<20]), strings.NewReader("x")))
		req.Header = stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, body[:1<<20]))
		if got := f.send(req); got.status != 413 {
			t.Errorf("in chunks, one byte beyond the limit: %d, want 413", got.status)
		}
		f.wantOrder("FCOVER", "unpaid 0.00")

		whole := bytes.Repeat([]byte("x"), 64<<20)
		header := stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, string(whole)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		conn := f.web.dial(10 * time.Second)
		go func() {
			fmt.Fprintf(conn, "POST /callbacks/stripe HTTP/1.1\r\nHost: x\r\nApp-Received-At: %s\r\nStripe-Signature: %s\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n",
				f.now.Format(time.RFC3339), header.Get("Stripe-Signature"), len(whole))
			_, _ = conn.Write(whole) // the server ends it
		}()
		answer, _ := io.ReadAll(conn) // a reset after the answer is as good as an end
		runtime.ReadMemStats(&after)
		if !strings.HasPrefix(string(answer), "HTTP/1.1 413 ") {
			t.Errorf("64 MiB: %.40q, want 413 and the end", answer)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 6<<20 { // a buffer that doubles up to 1 MiB leaves 4 MiB behind it
			t.Errorf("64 MiB: %d bytes allocated", grown)
		}
		for _, cb := range f.listed("too_large") {
			var shown shownCallback
			if f.json(&shown, "callbacks", "show", cb.ID); shown.Verified || shown.BodyBytes > 1<<20 {
				t.Errorf("kept as %+v", shown)
			}
		}
		rows := []string{"stripe payment ch_FCBIG0 19.99 USD succeeded applied", "stripe payment ch_FCBIG1 19.99 USD succeeded applied"}
		f.eachKit(func(k fieldKit) {
			rows = append(rows, fmt.Sprintf("%s payment %s 19.99 %s succeeded applied", k.account, k.id(1), k.currency))
		})
		f.wantRows(rows...)
	})
}

// listed are the callbacks refused for a reason.
func (f *field) listed(reason string) (list []callbackJSON) {
	f.t.Helper()
	f.json(&list, "callbacks", "list", "--limit", "1000", "--reason", reason)
	return list
}

// F15: well signed, and no message: refused or parked, and the server goes on.
func TestFieldUselessJSON(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		event := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCBAD", 1999, "usd"))
		f.order("FCBAD", "19.99", "USD")
		for _, body := range []string{
			"", "null", "[]", "{}", `{"id":"evt_1"}`, `"paid"`, `{"id":"evt_1","type":"payment_intent.succeeded","data":null}`,
			`{"id":null,"type":null,"created":null,"data":null,"txn":null,"order":null}`, event + event, event + "\n{}", "true", "17", "[" + event + "]", event[:len(event)-1],
			strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000), "\xff\xfe" + event, "\x00", " ", "\ufeff" + event,
			strings.Replace(event, "FCBAD", `FC\u0000BAD`, 1), strings.Replace(event, `{"id":"pi_1"`, `[{"id":"pi_1"`, 1),
		} {
			sealed := f.wechatBody("TRANSACTION.SUCCESS", body)
			for name, got := range map[string]fieldAnswer{
				"shop":              f.shopPost(body),
				"wechatpay, sealed": f.post("wechatpay", sealed, wechatHeader(t, sealed, f.now, wechatCert, wechatCertKey)),
			} {
				if got.status >= 500 || got.status < 200 {
					t.Errorf("%s, %.60q: %d %s", name, body, got.status, got.body)
				}
			}
			f.eachKit(func(k fieldKit) {
				if got := f.deliver(k.raw(f, body)); got.status >= 500 || got.status < 200 {
					t.Errorf("%s, %.60q: %d %s", k.account, body, got.status, got.body)
				}
			})
		}
		if strings.Contains(f.web.stderr.String(), "panic") {
			t.Errorf("panicked:\n%s", f.web.stderr)
		}
		f.wantQuietLog("ERROR")
		f.wantRows()
		f.wantOrder("FCBAD", "unpaid 0.00")
		f.ack(f.stripe(event))
		f.wantOrder("FCBAD", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
	})
}
