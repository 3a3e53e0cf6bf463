package cmd

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha1" // the algorithm that must not be accepted
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// alipayPaid is a genuine notification of a payment in yuan, made at noon in Beijing; changes override fields.
func (f *field) alipayPaid(trade, order, yuan string, changes ...form) form {
	return form{
		"app_id": "2021000000000001", "auth_app_id": "2021000000000001", "buyer_id": "2088000000000028", "buyer_pay_amount": yuan, "charset": "utf-8",
		"fund_bill_list": `[{"amount":"` + yuan + `","fundChannel":"ALIPAYACCOUNT"}]`, "gmt_create": "2026-11-28 11:59:50", "gmt_payment": "2026-11-28 12:00:00",
		"invoice_amount": yuan, "notify_id": fmt.Sprintf("20261128002220000000000000%08d", f.made.Add(1)), "notify_time": "2026-11-28 12:00:02",
		"notify_type": "trade_status_sync", "out_trade_no": order, "point_amount": "0.00", "receipt_amount": yuan, "seller_email": "merchant-test@example.com",
		"seller_id": "2088000000000019", "subject": "测试商品 10% & more=1+1", "total_amount": yuan, "trade_no": trade, "trade_status": "TRADE_SUCCESS", "version": "1.0",
	}.with(changes...)
}

// alipayRefunded is a notification that so much of a payment of 19.99 was refunded so far.
func (f *field) alipayRefunded(trade, order, soFar, number string, changes ...form) form {
	return f.alipayPaid(trade, order, "19.99", append([]form{{"refund_fee": soFar, "out_biz_no": number, "gmt_refund": "2026-11-28 13:00:00.123"}}, changes...)...)
}

// alipaySigned signs a form with the kit's key, in the bytes it is given.
func (f *field) alipaySigned(fields form) signed {
	f.t.Helper()
	text := fields.text(func(string, string) bool { return true })
	body := fields.with(form{"sign_type": "RSA2", "sign": sha256RSA(f.t, alipayKey(f.t), text)}).encode()
	return signed{"alipay", body, http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}}
}

func alipayKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	return kitKey(t, "alipay/keys/alipay_private_key.TEST_ONLY.pem")
}

func (f *field) alipay(fields form) fieldAnswer {
	f.t.Helper()
	return f.deliver(f.alipaySigned(fields))
}

// alipayAck checks the answer that alone ends the repeats.
func (f *field) alipayAck(got fieldAnswer) {
	f.t.Helper()
	if got.status != http.StatusOK || got.body != "success" {
		f.t.Errorf("answered %d %q, want 200 and the bare word success", got.status, got.body)
	}
}

func gbkText(t *testing.T, text string) string {
	t.Helper()
	out, err := simplifiedchinese.GBK.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// F05: a form without a signature, or with one that stands elsewhere, is no proof.
func TestFieldAlipayNoSignature(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCNONE", "19.99", "CNY")
		const canary = "CANARY-FCNONE"
		fields := f.alipayPaid("2026112822001400000000000001", "FCNONE", "19.99", form{"passback_params": canary})
		text := fields.text(func(string, string) bool { return true })
		good := sha256RSA(t, alipayKey(t), text)
		old := sha1.Sum([]byte(text))
		legacy, err := rsa.SignPKCS1v15(nil, alipayKey(t), crypto.SHA1, old[:])
		if err != nil {
			t.Fatal(err)
		}
		sha1Sign := base64.StdEncoding.EncodeToString(legacy)
		for name, change := range map[string]form{
			"no sign": {}, "sign_type alone": {"sign_type": "RSA2"}, "empty sign": {"sign": "", "sign_type": "RSA2"}, "blank sign": {"sign": " "},
			"another name": {"signature": good}, "capitals": {"SIGN": good}, "sign_type says none": {"sign": "", "sign_type": "NONE"}, "the text as sign": {"sign": text},
			"SHA-1": {"sign": sha1Sign, "sign_type": "RSA"}, "SHA-1 as RSA2": {"sign": sha1Sign, "sign_type": "RSA2"}, "no base64": {"sign": "%%%"},
			"cut": {"sign": good[:len(good)-4]}, "blanks for +": {"sign": strings.ReplaceAll(good, "+", " ") + " "}, "another field's": {"sign": good, "total_amount": "0.01"},
			"a field more": {"sign": good, "refund_fee": "19.99"}, "of nothing": {"sign": sha256RSA(t, alipayKey(t), "")},
		} {
			got := f.post("alipay", fields.with(change).encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
			if got.status != 401 || got.body != "failure" {
				t.Errorf("%s: %d %q, want 401 failure", name, got.status, got.body)
			}
		}
		req := f.web.request(http.MethodPost, "/callbacks/alipay?sign_type=RSA2&sign="+url.QueryEscape(good), strings.NewReader(string(fields.encode())))
		if got := f.send(req); got.status != 401 {
			t.Errorf("sign in the address: %d, want 401", got.status)
		}
		if got := f.send(f.web.request(http.MethodPost, "/callbacks/alipay?"+string(f.alipaySigned(fields).body), nil)); got.status != 401 {
			t.Errorf("all in the address: %d, want 401", got.status)
		}
		f.wantOrder("FCNONE", "unpaid 0.00")
		f.wantRows()
		if _, metrics := f.web.get("/metrics"); !strings.Contains(metrics, `callbacks_total{account="alipay",outcome="refused",reason="signature"}`) {
			t.Error("not counted")
		}
		f.wantLogWithout(`"msg":"callback refused","account":"alipay"`, canary, "2088000000000028", good[:40])
		f.alipayAck(f.deliver(f.alipaySigned(fields)))
		f.wantOrder("FCNONE", "paid 0.00 unpaid>paid | payment 2026112822001400000000000001 19.99 CNY succeeded")
		f.wantLogWithout(`"msg":"callback recorded"`, canary, "2088000000000028", good[:40])
	})
}

// wantLogWithout checks that something is logged, and of the messages' own text nothing.
func (f *field) wantLogWithout(told string, never ...string) {
	f.t.Helper()
	log := f.web.stderr.String()
	if !strings.Contains(log, told) {
		f.t.Errorf("the log does not say %s", told)
	}
	for _, text := range never {
		if strings.Contains(log, text) {
			f.t.Errorf("the log holds %q", text)
		}
	}
}

// F07: all fields but sign and sign_type are signed, known or not, empty or not, each decoded once.
func TestFieldAlipayUnknownFields(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		voucher := `[{"amount":"5.00","merchantContribute":"0.00","name":"满5减1 & more=1+1 10%","otherContribute":"5.00","type":"ALIPAY_FIX_VOUCHER"}]`
		plain := func(s signed) signed { return s }
		bytesOf := func(change func(string) string) func(signed) signed {
			return func(s signed) signed { s.body = []byte(change(string(s.body))); return s }
		}
		f.orders("19.99", "CNY", numbered("FCFORM", 100)...)
		n := 0
		check := func(name string, change form, as func(signed) signed, want int) {
			t.Helper()
			n++
			order, trade := fmt.Sprintf("FCFORM%d", n), fmt.Sprintf("20261128220014%014d", n)
			got := f.deliver(as(f.alipaySigned(f.alipayPaid(trade, order, "19.99", change))))
			if got.status != want || (got.body == "success") != (want == 200) || (f.stands(order) == "paid") != (want == 200) {
				t.Errorf("%s: %d %q, order is %s; want %d", name, got.status, got.body, f.stands(order), want)
			}
		}
		for name, change := range map[string]form{
			"nothing more": {}, "two fields nobody knows": {"moon_phase": "full", "zz_new": "1"}, "an empty one": {"body": ""}, "three empty ones": {"a": "", "body": "", "zz": ""},
			"vouchers": {"voucher_detail_list": voucher}, "all of it": {"moon_phase": "full", "zz_new": "1", "body": "", "voucher_detail_list": voucher},
			"capitals first": {"Zebra": "1", "_x": "2", "9": "3"}, "a name with a dot": {"a.b[0]": "c"}, "a name with =": {"a=b": "c"}, "escaped twice": {"passback_params": "a%3Db%26c%3D%2B"},
			"blanks": {"body": " a  b "}, "line breaks": {"body": "a\r\nb\n"}, "plus signs": {"body": "1+1=2"}, "quotes": {"body": `"'<>\`}, "emoji": {"body": "🧧"},
			"name with Chinese": {"备注": "红茶"}, "signature, another's": {"signature": "x"}, "sign2": {"sign2": "x", "sign_typo": "y"}, "long": {"body": strings.Repeat("长", 5000)},
			"order number in another field": {"passback_params": "out_trade_no=FCOTHER"}, "agreement": {"agreement_no": "20260000000000000001", "send_back_fee": "", "dback_status": ""},
			"certificate number": {"alipay_cert_sn": "86b94e1db4b32e513bfdad843a277209"},
		} {
			check(name, change, plain, 200)
		}
		for name, change := range map[string]func(string) string{
			"fields in another order": reversedFields, "blanks as %20": func(b string) string { return strings.ReplaceAll(b, "+", "%20") },
			"small hex":                func(b string) string { return strings.NewReplacer("%2B", "%2b", "%2F", "%2f", "%3D", "%3d").Replace(b) },
			"a & more at both ends":    func(b string) string { return "&" + b + "&" },
			"sign_type in small print": func(b string) string { return strings.Replace(b, "sign_type=RSA2", "sign_type=rsa2", 1) },
			"no sign_type":             func(b string) string { return strings.Replace(b, "&sign_type=RSA2", "", 1) },
		} {
			check(name, form{"body": "", "voucher_detail_list": voucher}, bytesOf(change), 200)
		}
		for name, change := range map[string]func(string) string{
			"an empty field left out": func(b string) string { return strings.Replace(b, "&body=", "", 1) },
			"an empty field added":    func(b string) string { return b + "&extra=" },
			"an unknown one changed":  func(b string) string { return strings.Replace(b, "zz=1", "zz=2", 1) },
			"an unknown one renamed":  func(b string) string { return strings.Replace(b, "zz=1", "zy=1", 1) },
			"decoded twice":           func(b string) string { return strings.Replace(b, "a%253Db", "a%3Db", 1) },
			"the amount":              func(b string) string { return strings.Replace(b, "total_amount=19.99", "total_amount=19.990", 1) },
		} {
			check(name, form{"body": "", "zz": "1", "passback_params": "a%3Db"}, bytesOf(change), 401)
		}
		for name, change := range map[string]func(string) string{
			"a field twice": func(b string) string { return b + "&zz=1" }, "the amount twice": func(b string) string { return "total_amount=0.01&" + b },
			"sign twice": func(b string) string { return b + "&sign=AAAA" }, "broken escape": func(b string) string { return b + "&x=%zz" },
		} {
			check(name, form{"zz": "1"}, bytesOf(change), 400)
		}
	})
}

func reversedFields(body string) string {
	parts := strings.Split(body, "&")
	out := make([]string, 0, len(parts))
	for i := range parts {
		out = append(out, parts[len(parts)-1-i])
	}
	return strings.Join(out, "&")
}

// F08: the signature is over the bytes of the message's charset; only what is proven is converted.
func TestFieldAlipayGBK(t *testing.T) {
	const subject = "测试订单-退换"
	eachField(t, func(t *testing.T, f *field) {
		sent := map[string]string{}
		for i, c := range []struct{ charset, subject, header string }{
			{"gbk", gbkText(t, subject), "gbk"}, {"GBK", gbkText(t, subject), "utf-8"}, {"gb2312", gbkText(t, subject), ""}, {"GB18030", gbkText(t, subject), "iso-8859-1"},
			{"utf-8", subject, "gbk"}, {"UTF-8", subject, "utf-8"}, {gone, subject, "utf-8"},
		} {
			order, trade := fmt.Sprintf("FCGBK%d", i), fmt.Sprintf("20261128220014%014d", i)
			f.order(order, "19.99", "CNY")
			s := f.alipaySigned(f.alipayPaid(trade, order, "19.99", form{"charset": c.charset, "subject": c.subject, "body": ""}))
			sent[order] = string(s.body)
			f.alipayAck(f.deliver(s.with("Content-Type", "application/x-www-form-urlencoded; charset="+c.header)))
			f.wantOrder(order, "paid 0.00 unpaid>paid | payment "+trade+" 19.99 CNY succeeded")
		}
		var list []callbackJSON
		f.json(&list, "callbacks", "list", "--account", "alipay")
		for _, cb := range list {
			var shown shownCallback
			if f.json(&shown, "callbacks", "show", cb.ID, "--body"); shown.Body == nil || *shown.Body != sent[cb.OrderID] {
				t.Errorf("%s: kept other bytes than came", cb.OrderID)
			}
		}
		f.order("FCGBK9", "19.99", "CNY")
		s := f.alipaySigned(f.alipayPaid("2026112822001400000000000009", "FCGBK9", "19.99", form{"charset": "gbk", "subject": gbkText(t, subject)}))
		for name, change := range map[string][2]string{
			"converted on the way":    {url.QueryEscape(gbkText(t, subject)), url.QueryEscape(subject)},
			"another charset claimed": {"charset=gbk", "charset=utf-8"},
		} {
			other := s
			if other.body = []byte(strings.Replace(string(s.body), change[0], change[1], 1)); string(other.body) == string(s.body) {
				t.Fatalf("%s changed nothing", name)
			}
			if got := f.deliver(other); got.status != 401 {
				t.Errorf("%s: %d, want 401", name, got.status)
			}
		}
		// ids never lose a byte: in bytes that mean nothing they are no ids, and nothing is booked
		for _, change := range []form{{"charset": "gbk", "out_trade_no": "FC\xff9"}, {"charset": "utf-8", "out_trade_no": gbkText(t, "订单")}, {"charset": "utf-8", "trade_no": "20\xfe"}} {
			if got := f.alipay(f.alipayPaid("2026112822001400000000000009", "FCGBK9", "19.99", change)); got.body == "success" || got.status >= 500 {
				t.Errorf("%q: %d %q", change, got.status, got.body)
			}
		}
		f.wantOrder("FCGBK9", "unpaid 0.00")
		f.alipayAck(f.deliver(s))
	})
}
