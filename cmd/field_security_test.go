package cmd

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
)

// F67: XML is refused as what it is, signed or not, and nothing that it points to is fetched.
func TestFieldXML(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		var fetched atomic.Int32
		go func() {
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				fetched.Add(1)
				_ = conn.Close() // that it came is all we want to know
			}
		}()
		secret := filepath.Join(t.TempDir(), "secret.txt")
		if err := os.WriteFile(secret, []byte("CANARY-FILE"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, entity := range []string{"file://" + secret, "http://" + ln.Addr().String() + "/x.dtd"} {
			for _, body := range []string{
				`<?xml version="1.0"?><!DOCTYPE xml [<!ENTITY x SYSTEM "` + entity + `">]><xml><return_code>SUCCESS</return_code><out_trade_no>&x;</out_trade_no></xml>`,
				`<!DOCTYPE xml SYSTEM "` + entity + `"><xml/>`, `<xml><return_code>SUCCESS</return_code></xml>`,
				`<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><lolz>&b;</lolz>`,
			} {
				start := time.Now()
				sealed := f.wechatBody("TRANSACTION.SUCCESS", body)
				for name, got := range map[string]fieldAnswer{
					"wechatpay":         f.post("wechatpay", []byte(body), http.Header{"Content-Type": {"text/xml"}}),
					"wechatpay, signed": f.post("wechatpay", []byte(body), wechatHeader(t, []byte(body), f.now, wechatCert, wechatCertKey)),
					"wechatpay, sealed": f.post("wechatpay", sealed, wechatHeader(t, sealed, f.now, wechatCert, wechatCertKey)),
					"stripe":            f.stripe(body), "shop": f.shopPost(body), "demopay": f.demopay(body),
				} {
					if name != "wechatpay, sealed" && (got.status < 400 || got.status > 422) || got.status >= 500 || strings.Contains(got.body, "CANARY") {
						t.Errorf("%s: %d %s", name, got.status, got.body)
					}
				}
				if took := time.Since(start); took > 30*time.Second {
					t.Errorf("took %v", took)
				}
			}
		}
		if fetched.Load() != 0 {
			t.Error("the server fetched what the message pointed to")
		}
		f.wantRows()
	})
}

// F68: digests are compared whole and as bytes. Upper-case hex is the same digest, so it is taken.
func TestFieldSignatureSpellings(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		n := 0
		for spelling, in := range map[string]func(string) (string, bool){
			"as it is":       func(s string) (string, bool) { return s, true },
			"upper case":     func(s string) (string, bool) { return strings.ToUpper(s), true },
			"63":             func(s string) (string, bool) { return s[:63], false },
			"62":             func(s string) (string, bool) { return s[:62], false },
			"65":             func(s string) (string, bool) { return s + "0", false },
			"66":             func(s string) (string, bool) { return s + "00", false },
			"one character":  func(s string) (string, bool) { return s[:1], false },
			"non-hex":        func(s string) (string, bool) { return strings.Repeat("g", 64), false },
			"non-hex at end": func(s string) (string, bool) { return s[:63] + "z", false },
			"empty":          func(string) (string, bool) { return "", false },
			"blank":          func(string) (string, bool) { return " ", false },
			"zeros":          func(string) (string, bool) { return strings.Repeat("0", 64), false },
			"reversed":       func(s string) (string, bool) { return s[32:] + s[:32], false },
			"prefixed":       func(s string) (string, bool) { return "0x" + s, false },
			"not ASCII":      func(s string) (string, bool) { return strings.Repeat("\xff", 64), false },
		} {
			n++
			stripe, shop := fmt.Sprintf("FCSS%d", n), fmt.Sprintf("FCSG%d", n)
			f.order(stripe, "19.99", "USD")
			f.order(shop, "19.99", "CNY")
			body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+stripe, "ch_"+stripe, stripe, 1999, "usd"))
			message := f.shopMessage("payment SUCCESS t-" + shop + " " + shop + " 19.99 CNY")
			text, good := in(v1(fieldSecret, f.now, body))
			other, _ := in(hmacHex(shopSecret, message))
			for order, got := range map[string]fieldAnswer{
				stripe: f.post("stripe", []byte(body), stripeHeader(f.now, "v1="+text)), shop: f.post("shop", []byte(message), http.Header{"X-Signature": {other}}),
			} {
				if good != (got.status == 200) || !good && got.status != 401 || good != (f.status(order) == "paid") {
					t.Errorf("%s: %s answered %d, order is %s", spelling, order, got.status, f.status(order))
				}
			}
		}
		if strings.Contains(f.web.stderr.String(), "panic") {
			t.Errorf("panicked:\n%s", f.web.stderr)
		}
	})
}

// F69: genuine, and somebody else's: refused, warned of, and the order is left alone.
func TestFieldForeignAccount(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCFOR", "19.99", "CNY")
		f.order("FCFOR2", "19.99", "USD")
		for _, change := range []map[string]any{
			{"mchid": "1999999902"}, {"appid": "wx0000000000000002"}, {"mchid": ""}, {"mchid": nil}, {"mchid": "1999999901 "}, {"mchid": 1999999901}, {"appid": "WX0000000000000001"},
		} {
			got := f.wechat("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000001", "FCFOR", 1999, change))
			if got.status >= 500 || got.status == 200 && change["mchid"] == nil {
				t.Errorf("%v: %d %s", change, got.status, got.body)
			}
		}
		foreign := wechatRefund("50300000000000000000000000001", "R1", "4200000000000000000000000001", "FCFOR", 1999, 500)
		foreign["mchid"] = "1999999902"
		if got := f.wechat("REFUND.SUCCESS", foreign); got.status != 403 {
			t.Errorf("refund of another merchant's: %d, want 403", got.status)
		}
		connected := strings.Replace(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCFOR2", 1999, "usd")), "{", `{"account":"acct_theirs",`, 1)
		if got := f.stripe(connected); got.status != 403 {
			t.Errorf("a connected account nobody listed: %d, want 403", got.status)
		}
		f.wantOrder("FCFOR", "unpaid 0.00")
		f.wantOrder("FCFOR2", "unpaid 0.00")
		f.wantRows()
		if list := f.listed("merchant"); len(list) < 5 {
			t.Errorf("%d callbacks listed as another account's", len(list))
		}
		if !strings.Contains(f.web.stderr.String(), `"level":"WARN","msg":"callback refused","account":"wechatpay","reason":"merchant"`) {
			t.Errorf("not warned of:\n%s", f.web.stderr)
		}
	})
}

// F70: no page and no unsigned request pays an order.
func TestFieldReturnPage(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCRET1", "19.99", "USD")
		query := "?order_no=FCRET1&order_id=FCRET1&out_trade_no=FCRET1&status=success&trade_status=TRADE_SUCCESS&payment_intent=pi_1&redirect_status=succeeded"
		for _, path := range []string{"/return/stripe", "/", "/orders/FCRET1", "/orders/FCRET1/pay", "/callbacks/stripe", "/callbacks/shop/", "/callbacks/demopay", "/callbacks/wechatpay",
			"/healthz", "/readyz", "/metrics", "/console/", "/success"} {
			for _, method := range []string{"GET", "POST", "HEAD", "PUT"} {
				req := f.web.request(method, path+query, strings.NewReader(f.shopMessage("payment SUCCESS t1 FCRET1 19.99 USD")))
				if got := f.send(req); method != "GET" && method != "HEAD" && got.status < 400 || got.status >= 500 {
					t.Errorf("%s %s: %d", method, path, got.status)
				}
			}
		}
		f.wantOrder("FCRET1", "unpaid 0.00")
		f.wantRows()
	})
}

// F71: the signature decides, not the sender's address, with a trusted proxy and without one.
func TestFieldSenderAddress(t *testing.T) {
	for _, proxies := range []string{"", "trusted_proxies: ['127.0.0.0/8', '::1/128']\n"} {
		ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
			config := fieldConfig(t, stripeSettings)
			if err := os.WriteFile(config, []byte(proxies+mustRead(t, config)), 0o600); err != nil {
				t.Fatal(err)
			}
			f := openFieldWith(t, dsn, config)
			for i, header := range []string{"", "203.0.113.9", "3.18.12.63, 203.0.113.9", "127.0.0.1", "not an address"} {
				id := fmt.Sprintf("FCIP%d", i)
				f.order(id, "19.99", "USD")
				body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd"))
				from := func(h http.Header) http.Header {
					for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded", "Client-Ip"} {
						if header != "" {
							h[name] = []string{header}
						}
					}
					return h
				}
				if got := f.post("stripe", []byte(body), from(stripeHeader(f.now, "v1="+strings.Repeat("0", 64)))); got.status != 401 || f.status(id) != "unpaid" {
					t.Errorf("forged, from %q: %d", header, got.status)
				}
				f.ack(f.post("stripe", []byte(body), from(stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, body)))))
				f.wantOrder(id, "paid 0.00 unpaid>paid | payment ch_"+id+" 19.99 USD succeeded")
			}
			if told := strings.Contains(f.web.stderr.String(), `"remote":"203.0.113.9"`); told != (proxies != "") {
				t.Errorf("with %q the log names the forwarded address: %v", proxies, told)
			}
		})
	}
}
