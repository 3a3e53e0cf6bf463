package cmd

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// F04: no account starts without what its signatures are checked by.
func TestFieldEmptySecretOfEveryProvider(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"alipay, no key":        {"provider: alipay\n  settings: {app_id: '2021000000000001', seller_id: '2088000000000019'}", "alipay_public_key"},
		"alipay, empty key":     {"provider: alipay\n  settings: {app_id: '2021000000000001', seller_id: '2088000000000019', alipay_public_key: ''}", "alipay_public_key"},
		"alipay, blank key":     {"provider: alipay\n  settings: {app_id: '2021000000000001', seller_id: '2088000000000019', alipay_public_key: ['  ']}", "alipay_public_key"},
		"alipay, empty file":    {"provider: alipay\n  settings: {app_id: '2021000000000001', seller_id: '2088000000000019', alipay_public_key: empty.txt}", "alipay_public_key"},
		"alipay, no file":       {"provider: alipay\n  settings: {app_id: '2021000000000001', seller_id: '2088000000000019', alipay_public_key: none.pem}", "none.pem"},
		"alipay, empty app":     {"provider: alipay\n  settings: {app_id: '', seller_id: '2088000000000019', alipay_public_key: empty.txt}", "app_id"},
		"alipay, no seller":     {"provider: alipay\n  settings: {app_id: '2021000000000001', alipay_public_key: empty.txt}", "seller_id"},
		"unionpay, no root":     {"provider: unionpay\n  settings: {merId: '777000000000001', middle_cert: empty.txt}", "root_cert"},
		"unionpay, empty root":  {"provider: unionpay\n  settings: {merId: '777000000000001', root_cert: empty.txt, middle_cert: empty.txt}", "root_cert"},
		"unionpay, no merchant": {"provider: unionpay\n  settings: {merId: ' ', root_cert: empty.txt, middle_cert: empty.txt}", "merId"},
		"unionpay, empty owner": {"provider: unionpay\n  settings: {merId: '777000000000001', accepted_cn_part: '', root_cert: empty.txt, middle_cert: empty.txt}", "accepted_cn_part"},
		"paypal, no webhook":    {"provider: paypal\n  settings: {livemode: true}", "webhook_ids"},
		"paypal, empty webhook": {"provider: paypal\n  settings: {webhook_ids: ['']}", "webhook_ids"},
		"paypal, no roots":      {"provider: paypal\n  settings: {webhook_ids: [W1], trusted_roots: []}", "trusted_roots"},
		"paypal, empty root":    {"provider: paypal\n  settings: {webhook_ids: [W1], trusted_roots: [empty.txt]}", "trusted_roots"},
		"adyen, no key":         {"provider: adyen\n  settings: {merchant_accounts: [A]}", "hmac_keys_hex"},
		"adyen, empty key":      {"provider: adyen\n  settings: {merchant_accounts: [A], hmac_keys_hex: ['']}", "hmac_keys_hex"},
		"adyen, second empty":   {"provider: adyen\n  settings: {merchant_accounts: [A], hmac_keys_hex: ['" + adyenKey + "', ' ']}", "hmac_keys_hex[1]"},
		"adyen, empty file":     {"provider: adyen\n  settings: {merchant_accounts: [A], hmac_keys_hex: ['file:empty.txt']}", "hmac_keys_hex"},
		"adyen, empty password": {"provider: adyen\n  settings: {merchant_accounts: [A], hmac_keys_hex: ['" + adyenKey + "'], basic_auth: {username: u, password: ''}}", "basic_auth.password"},
		"adyen, no merchant":    {"provider: adyen\n  settings: {merchant_accounts: [], hmac_keys_hex: ['" + adyenKey + "']}", "merchant_accounts"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"app.yaml": "accounts:\n- name: shop\n  " + c.yaml + "\n", "empty.txt": " \n"})
			got := runApp(t, map[string]string{"DATABASE_URL": "sqlite:" + dir + "/app.db"}, "serve", "--config", dir+"/app.yaml", "--listen", "127.0.0.1:0")
			if got.code != exitFailed || !strings.Contains(got.err, c.want) || strings.Count(got.err, "\n") != 1 || strings.Contains(got.err, adyenKey[:16]) {
				t.Errorf("exit %d, %q; want 2 and one line with %q", got.code, got.err, c.want)
			}
		})
	}
}

// cut takes what stands between two texts out of a body, with the first of them.
func (s signed) cut(from, to string) signed {
	before, rest, _ := strings.Cut(string(s.body), from)
	i := strings.Index(rest, to)
	if i < 0 {
		i = len(rest)
	}
	s.body = []byte(before + rest[i:])
	return s
}

func (s signed) replaced(from, to string) signed {
	s.body = bytes.Replace(s.body, []byte(from), []byte(to), 1)
	return s
}

// tampered is the message about another order, or where that is sealed, of another type.
func (s signed) tampered() signed {
	if bytes.Contains(s.body, []byte("FC")) {
		return s.replaced("FC", "FD")
	}
	return s.replaced("TRANSACTION", "TRANSACTIOM")
}

// unproven are the ways a genuine message can lose its proof, by what the provider signs with.
func unproven(s signed) map[string]signed {
	out := map[string]signed{"tampered with": s.tampered()}
	switch s.account {
	case "alipay":
		out["no sign"], out["empty sign"] = s.cut("&sign=", "&"), s.cut("&sign=", "&").replaced("&sign_type", "&sign=&sign_type")
	case "unionpay":
		out["no signature"], out["empty signature"] = s.cut("&signature=", "&"), s.cut("&signature=", "&").replaced("&traceNo", "&signature=&traceNo")
		out["no certificate"], out["another version"] = s.cut("&signPubKeyCert=", "&"), s.replaced("version=5.1.0", "version=5.0.0")
		out["a shared key's method"] = s.replaced("signMethod=01", "signMethod=11")
	case "adyen":
		out["no MAC"], out["empty MAC"] = s.cut(`"hmacSignature":`, "}"), s.cut(`"hmacSignature":"`, `"`).replaced(`{"}`, `{"hmacSignature":""}`)
		out["no data"] = s.cut(`"additionalData":`, ",")
	default:
		for name := range s.header {
			if name != "Content-Type" {
				out["without "+name] = s.with(name, "")
			}
		}
	}
	return out
}

// F05: no signature is no proof, whatever else the message has; it is counted and told without the body.
func TestFieldNoSignatureOfEveryProvider(t *testing.T) {
	eachKitAndDatabase(t, func(t *testing.T, f *field, k fieldKit) {
		order := "FCPROOF-" + k.account
		f.order(order, "19.99", k.currency)
		s := k.paid(f, 1, order)
		for name, forged := range unproven(s) {
			if got := f.deliver(forged); got.status != 400 && got.status != 401 {
				t.Errorf("%s, %s: %d %q, want 400 or 401", k.account, name, got.status, got.body)
			}
		}
		if got := f.stands(order); got != "unpaid" {
			t.Errorf("%s: order is %s", k.account, got)
		}
		if _, metrics := f.web.get("/metrics"); !strings.Contains(metrics, `callbacks_total{account="`+k.account+`",outcome="refused",reason="signature"}`) {
			t.Errorf("%s: not counted", k.account)
		}
		f.wantLogWithout(`"msg":"callback refused","account":"`+k.account+`"`, order)
		if f.ack(f.deliver(s)); f.stands(order) != "paid" {
			t.Errorf("%s: with its proof the order is %s", k.account, f.stands(order))
		}
	})
}

// F12: what is given twice means two things, so the message is refused.
func TestFieldGivenTwice(t *testing.T) {
	eachKitAndDatabase(t, func(t *testing.T, f *field, k fieldKit) {
		order := "FCTWICE-" + k.account
		f.order(order, "19.99", k.currency)
		twice := map[string][]signed{"alipay": nil, "unionpay": nil}
		for _, more := range []string{"total_amount=0.01", "out_trade_no=FCOTHER", "trade_status=TRADE_SUCCESS", "app_id=2021000000000001", "total%5Famount=19.99", "sign=AAAA", "charset=gbk"} {
			s := k.paid(f, 1, order)
			twice["alipay"] = append(twice["alipay"], s.replaced("app_id", more+"&app_id"), signed{s.account, append(s.body, "&"+more...), s.header})
		}
		for _, more := range []string{"txnAmt=1", "orderId=FCOTHER", "respCode=00", "merId=777000000000001", "txn%41mt=1999", "signature=AAAA", "encoding=GBK"} {
			s := k.paid(f, 1, order)
			twice["unionpay"] = append(twice["unionpay"], s.replaced("accessType", more+"&accessType"), signed{s.account, append(s.body, "&"+more...), s.header})
		}
		paypal := f.paypalEvent("PAYMENT.CAPTURE.COMPLETED", "FIELDCAP1X", order, "19.99")
		for _, part := range []string{`"value":"19.99"`, `"status":"COMPLETED"`, `"currency_code":"USD"`, `"event_type":"PAYMENT.CAPTURE.COMPLETED"`, `"invoice_id":"` + order + `"`} {
			twice["paypal"] = append(twice["paypal"], f.paypalSigned(strings.Replace(paypal, part, part+","+part, 1)))
		}
		adyen := f.adyenItem("AUTHORISATION", "FIELDPSP00000001", order, 1999, nil)
		for _, part := range []string{`"value":1999`, `"success":"true"`, `"eventCode":"AUTHORISATION"`, `"live":"true"`, `"merchantReference":"` + order + `"`} {
			twice["adyen"] = append(twice["adyen"], adyenBody(strings.Replace(adyen, part, part+","+part, 1), ""))
		}
		for i, s := range twice[k.account] {
			if got := f.deliver(s); got.status != http.StatusBadRequest {
				t.Errorf("%s, %d: %d %q, want 400", k.account, i, got.status, got.body)
			}
		}
		if got := f.stands(order); got != "unpaid" {
			t.Errorf("%s: order is %s", k.account, got)
		}
		f.ack(f.deliver(k.paid(f, 1, order)))
	})
}

// F69: genuine, and somebody else's: refused, warned of, and the order is left alone.
func TestFieldForeignAccountOfEveryProvider(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCFOREIGN", "19.99", "CNY")
		var foreign []signed
		for _, mer := range []string{"777000000000002", "", "777000000000001 ", gone} {
			foreign = append(foreign, f.unionpaySigned(unionpayPaid("202611281200000000001", "FCFOREIGN", 1999, form{"merId": mer})))
		}
		event := f.paypalEvent("PAYMENT.CAPTURE.COMPLETED", "FIELDCAP1X", "FCFOREIGN", "19.99")
		for _, payee := range []string{`{"merchant_id":"OTHERMERCHANT"}`, `{"merchant_id":"fieldmerchant"}`} {
			foreign = append(foreign, f.paypalSigned(strings.Replace(event, `"resource":{`, `"resource":{"payee":`+payee+`,`, 1)))
		}
		for _, merchant := range []string{"OtherShop", "fieldshop", "", "FieldShop "} {
			foreign = append(foreign, adyenBody(f.adyenItem("AUTHORISATION", "FIELDPSP00000001", "FCFOREIGN", 1999, map[string]any{"merchantAccountCode": merchant}), ""))
		}
		for i, s := range foreign {
			if got := f.deliver(s); got.status != http.StatusForbidden {
				t.Errorf("%s, %d: %d %q, want 403", s.account, i, got.status, got.body)
			}
		}
		f.wantOrder("FCFOREIGN", "unpaid 0.00")
		f.wantRows()
		if list := f.listed("merchant"); len(list) != len(foreign) {
			t.Errorf("%d callbacks listed as another account's, want %d", len(list), len(foreign))
		}
		for _, account := range []string{"unionpay", "paypal", "adyen"} {
			f.wantLogWithout(`"level":"WARN","msg":"callback refused","account":"`+account+`","reason":"merchant"`, "FCFOREIGN")
		}
	})
}

// F11: numbers that would need a machine's whole memory are refused or parked at once, in forms as in JSON.
func TestFieldHugeNumbersOfEveryProvider(t *testing.T) {
	long := strings.Repeat("9", 10_000)
	eachField(t, func(t *testing.T, f *field) {
		f.orders("19.99", "CNY", "FCHUGE")
		for _, number := range []string{"1e1000000000", "1E400", "-1e999999999", long, "0." + long, "9223372036854775808", "-19.99", "0", "0.00", "19.999", "NaN", "Infinity", "1_9", "0x7cf", " 19.99", "１９.９９", ""} {
			for _, s := range []signed{
				f.alipaySigned(f.alipayPaid("2026112822001400000000000001", "FCHUGE", "19.99", form{"total_amount": number})),
				f.alipaySigned(f.alipayRefunded("2026112822001400000000000001", "FCHUGE", or(number, "x"), "R1")),
				f.unionpaySigned(unionpayPaid("202611281200000000001", "FCHUGE", 1999, form{"txnAmt": number})),
				f.paypalSigned(f.paypalEvent("PAYMENT.CAPTURE.COMPLETED", "FIELDCAP1X", "FCHUGE", number)),
				adyenBody(strings.Replace(f.adyenItem("AUTHORISATION", "FIELDPSP00000001", "FCHUGE", 777, nil), `"value":777`, `"value":`+or(number, `""`), 1), ""),
			} {
				start := time.Now()
				if got := f.deliver(s); got.status >= 500 || time.Since(start) > 30*time.Second {
					t.Errorf("%s, %.20s: %d %s after %v", s.account, number, got.status, got.body, time.Since(start))
				}
			}
		}
		if strings.Contains(f.web.stderr.String(), "panic") {
			t.Errorf("panicked:\n%.2000s", f.web.stderr)
		}
		f.wantOrder("FCHUGE", "unpaid 0.00")
		f.ack(f.deliver(f.alipaySigned(f.alipayPaid(fmt.Sprintf("20261128220014%014d", 2), "FCHUGE", "19.99"))))
		f.wantOrder("FCHUGE", "paid 0.00 unpaid>paid | payment 2026112822001400000000000002 19.99 CNY succeeded")
	})
}
