package cmd

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
)

// F01: the signature covers the bytes as they came, and these bytes are kept.
func TestFieldSignedBytes(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FC/1", "19.99", "USD")
		f.order("FC2", "19.99", "CNY")
		f.order("FC3", "19.99", "CNY")
		stripe := "\r\n{\n\t\"type\" : \"payment_intent.succeeded\",\n  \"livemode\": true, \"data\":{\"object\":{\"metadata\":{\"order_id\":\"\\u0046C\\/1\"}," +
			"\"currency\":\"usd\",\"amount_received\":1999,\"latest_charge\":\"ch_1\",\"id\":\"pi_1\"}},\n\"created\":1795838400,\"id\":\"evt_\\u00e9\"}\n\n"
		shop := strings.NewReplacer(`{`, "{\n  ", `,`, " ,\n\t", `"order":"FC2"`, `"order":"\u0046C2"`).Replace(f.shopMessage("payment SUCCESS t2 FC2 19.99 CNY")) + "\n"
		wechat := strings.NewReplacer(`{"`, "{\r\n \"", `支付成功`, `\u652f\u4ed8 \/ 成功`).Replace(string(f.wechatBody("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000003", "FC3", 1999, nil)))) + "\n"
		f.ack(f.stripe(stripe))
		f.ack(f.shopPost(shop))
		f.ack(f.post("wechatpay", []byte(wechat), wechatHeader(t, []byte(wechat), f.now, wechatCert, wechatCertKey)))
		f.wantOrder("FC/1", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
		f.wantOrder("FC2", "paid 0.00 unpaid>paid | payment t2 19.99 CNY succeeded")
		f.wantOrder("FC3", "paid 0.00 unpaid>paid | payment 4200000000000000000000000003 19.99 CNY succeeded")
		var list []callbackJSON
		f.json(&list, "callbacks", "list")
		for _, cb := range list {
			var shown shownCallback
			f.json(&shown, "callbacks", "show", cb.ID, "--body")
			sent := map[string]string{"stripe": stripe, "shop": shop, "wechatpay": wechat}[cb.Account]
			if shown.Body == nil || sha256.Sum256([]byte(*shown.Body)) != sha256.Sum256([]byte(sent)) || shown.BodyBytes != len(sent) {
				t.Errorf("%s: kept other bytes than came", cb.Account)
			}
		}
		// the same value in other bytes is not what was signed
		header := stripeHeader(f.now, "v1="+v1(fieldSecret, f.now, stripe))
		for _, other := range []string{strings.TrimSpace(stripe), strings.Replace(stripe, `\/`, "/", 1), stripe + " ", strings.ReplaceAll(stripe, "\r\n", "\n")} {
			if got := f.post("stripe", []byte(other), header); got.status != 401 {
				t.Errorf("other bytes: %d, want 401", got.status)
			}
		}
	})
}

// F02: any v1 of any configured secret, in any place; other schemes are no concern of ours.
func TestFieldSecretRoll(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for i, header := range []func(good, old, bad string) []string{
			func(good, _, bad string) []string { return []string{"v1=" + good, "v1=" + bad} },
			func(good, _, bad string) []string { return []string{"v1=" + bad, "v0=" + bad, "v1=" + good} },
			func(_, old, bad string) []string { return []string{"v1=" + bad, "v1=" + old} },
			func(good, old, _ string) []string { return []string{"v2=xyz", "v1=" + old, "v1=" + good} },
			func(good, _, bad string) []string { return []string{"v1=" + bad, "v1=", "v1=zz", "v1=" + good} },
		} {
			id := fmt.Sprintf("FCROLL%d", i)
			f.order(id, "19.99", "USD")
			body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd"))
			signatures := header(v1(fieldSecret, f.now, body), v1(fieldSecretOld, f.now, body), v1("whsec_other", f.now, body))
			f.ack(f.post("stripe", []byte(body), stripeHeader(f.now, signatures...)))
			f.wantOrder(id, "paid 0.00 unpaid>paid | payment ch_"+id+" 19.99 USD succeeded")
		}
		f.order("FCROLL9", "19.99", "USD")
		body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_9", "ch_9", "FCROLL9", 1999, "usd"))
		if got := f.post("stripe", []byte(body), stripeHeader(f.now, "v0="+v1(fieldSecret, f.now, body), "v1="+v1("whsec_other", f.now, body))); got.status != 401 {
			t.Errorf("no v1 of ours: %d, want 401", got.status)
		}
		f.wantOrder("FCROLL9", "unpaid 0.00")
	})
}

// F03: too old and too new are both refused. Stripe: 300 s is in. WeChat Pay: 300 s is out. The made-up demopay: 600 s is in.
func TestFieldTimestampTolerance(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		n := 0
		check := func(account string, seconds int, in bool, send func(at time.Time, order, id string) fieldAnswer) {
			t.Helper()
			n++
			order, id := fmt.Sprintf("FCT%d", n), fmt.Sprintf("42000000000000000000000%05d", n)
			f.order(order, "19.99", map[string]string{"stripe": "USD"}[account]+map[string]string{"wechatpay": "CNY", "demopay": "CNY"}[account])
			got := send(f.now.Add(time.Duration(seconds)*time.Second), order, id)
			if in != (got.status == 200) || !in && got.status != 401 {
				t.Errorf("%s, %d s: %d %s", account, seconds, got.status, got.body)
			}
			if status := f.status(order); (status == "paid") != in {
				t.Errorf("%s, %d s: order is %s", account, seconds, status)
			}
		}
		for seconds, in := range map[int]bool{-330: false, 330: false, -270: true, 270: true, -300: true, 300: true, -301: false, 301: false} {
			check("stripe", seconds, in, func(at time.Time, order, id string) fieldAnswer {
				body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, order, 1999, "usd"))
				return f.post("stripe", []byte(body), stripeHeader(at, "v1="+v1(fieldSecret, at, body)))
			})
		}
		for seconds, in := range map[int]bool{-330: false, 330: false, -270: true, 270: true, -299: true, 299: true, -300: false, 300: false} {
			check("wechatpay", seconds, in, func(at time.Time, order, id string) fieldAnswer {
				body := f.wechatBody("TRANSACTION.SUCCESS", wechatPaid(id, order, 1999, nil))
				return f.post("wechatpay", body, wechatHeader(t, body, at, wechatCert, wechatCertKey))
			})
		}
		for seconds, in := range map[int]bool{-600: true, 600: true, -601: false, 601: false} {
			check("demopay", seconds, in, func(at time.Time, order, id string) fieldAnswer {
				body, stamp := demopayBody(id, order, `"19.99"`, "CNY"), fmt.Sprint(at.UnixMilli())
				return f.post("demopay", []byte(body), http.Header{"X-Demo-Timestamp": {stamp}, "X-Demo-Signature": {"sha256=" + hmacHex("demopay-fixture-secret-TEST-ONLY", stamp+"."+body)}})
			})
		}
	})
}

// demopayBody is a payment; id and amount are JSON, the amount in major units.
func demopayBody(id, order, amount, currency string) string {
	return fmt.Sprintf(`{"event_id":"e-%s","event_type":"payment","created_at":"2026-11-28T12:00:00+08:00","data":{"trade_no":%q,"merchant_order_no":%q,"trade_status":"SUCCESS",`+
		`"amount":{"value":%s,"currency":%q}}}`, id, id, order, amount, currency)
}

func (f *field) status(order string) string {
	f.t.Helper()
	var h shop.HistoryJSON
	f.json(&h, "orders", "show", order)
	return string(h.Status)
}

// F04: a secret that is not there stops the start; nothing is ever verified with an empty key.
func TestFieldEmptySecret(t *testing.T) {
	unused := "${" + "FIELD_SECRET}"
	for name, c := range map[string]struct{ yaml, want string }{
		"stripe, empty":      {"provider: stripe\n  settings: {signing_secrets: ['']}", "signing_secrets"},
		"stripe, no list":    {"provider: stripe\n  settings: {signing_secrets: []}", "signing_secrets"},
		"stripe, missing":    {"provider: stripe\n  settings: {livemode: true}", "signing_secrets"},
		"stripe, blanks":     {"provider: stripe\n  settings: {signing_secrets: ['   ']}", "signing_secrets"},
		"stripe, second one": {"provider: stripe\n  settings: {signing_secrets: [whsec_a, '']}", "signing_secrets[1]"},
		"stripe, from env":   {"provider: stripe\n  settings: {signing_secrets: ['" + unused + "']}", "FIELD_SECRET"},
		"stripe, empty file": {"provider: stripe\n  settings: {signing_secrets: ['file:empty.txt']}", "signing_secrets"},
		"stripe, no file":    {"provider: stripe\n  settings: {signing_secrets: ['file:none.txt']}", "none.txt"},
		"wechatpay, empty":   {"provider: wechatpay\n  settings: {mchid: '1', appid: a, api_v3_key: ''}", "api_v3_key"},
		"wechatpay, no keys": {"provider: wechatpay\n  settings: {mchid: '1', appid: a, api_v3_key: " + wechatAPIv3Key + "}", "public_keys"},
		"generic, empty": {"provider: generic\n  settings: " + strings.ReplaceAll(strings.Replace(shopSettings, `["`+shopSecret+`"]`, `[""]`, 1), "\n", ""),
			"signature.secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"app.yaml": "accounts:\n- name: shop\n  " + c.yaml + "\n", "empty.txt": " \n"})
			got := runApp(t, map[string]string{"DATABASE_URL": "sqlite:" + dir + "/app.db"}, "serve", "--config", dir+"/app.yaml", "--listen", "127.0.0.1:0")
			if got.code != exitFailed || !strings.Contains(got.err, c.want) || strings.Count(got.err, "\n") != 1 {
				t.Errorf("exit %d, %q; want 2 and one line with %q", got.code, got.err, c.want)
			}
		})
	}
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCEMPTY", "19.99", "USD")
		for _, key := range []string{"", " ", "\n", "field_new", "null"} {
			body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCEMPTY", 1999, "usd"))
			if got := f.post("stripe", []byte(body), stripeHeader(f.now, "v1="+v1(key, f.now, body))); got.status != 401 {
				t.Errorf("signed with the key %q: %d, want 401", key, got.status)
			}
			shop := f.shopMessage("payment SUCCESS t1 FCEMPTY 19.99 USD")
			if got := f.post("shop", []byte(shop), http.Header{"X-Signature": {hmacHex(key, shop)}}); got.status != 401 {
				t.Errorf("shop, signed with the key %q: %d, want 401", key, got.status)
			}
		}
		f.wantOrder("FCEMPTY", "unpaid 0.00")
		f.wantRows()
	})
}

// F05: no signature is no proof; it is counted and told without the body.
func TestFieldNoSignature(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCNONE", "19.99", "USD")
		const canary = "CANARY-FCNONE"
		stripe := strings.Replace(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCNONE", 1999, "usd")), "{", `{"note":"`+canary+`",`, 1)
		wechat := f.wechatBody("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000001", "FCNONE", 1999, nil))
		whole := wechatHeader(t, wechat, f.now, wechatCert, wechatCertKey)
		for name, got := range map[string]fieldAnswer{
			"stripe":                  f.post("stripe", []byte(stripe), nil),
			"stripe, empty header":    f.post("stripe", []byte(stripe), http.Header{"Stripe-Signature": {""}}),
			"stripe, time only":       f.post("stripe", []byte(stripe), stripeHeader(f.now)),
			"stripe, other name":      f.post("stripe", []byte(stripe), http.Header{"X-Signature": {v1(fieldSecret, f.now, stripe)}}),
			"wechatpay":               f.post("wechatpay", wechat, nil),
			"wechatpay, no signature": f.post("wechatpay", wechat, without(whole, "Wechatpay-Signature")),
			"wechatpay, no nonce":     f.post("wechatpay", wechat, without(whole, "Wechatpay-Nonce")),
			"wechatpay, no serial":    f.post("wechatpay", wechat, without(whole, "Wechatpay-Serial")),
			"wechatpay, no timestamp": f.post("wechatpay", wechat, without(whole, "Wechatpay-Timestamp")),
			"shop":                    f.post("shop", []byte(f.shopMessage("payment SUCCESS t1 FCNONE 19.99 USD")), nil),
			"demopay":                 f.post("demopay", []byte(demopayBody("d1", "FCNONE", `"19.99"`, "USD")), nil),
		} {
			if got.status < 400 || got.status > 401 {
				t.Errorf("%s: %d %s, want 400 or 401", name, got.status, got.body)
			}
		}
		f.wantOrder("FCNONE", "unpaid 0.00")
		f.wantRows()
		_, metrics := f.web.get("/metrics")
		for _, account := range []string{"stripe", "wechatpay", "shop", "demopay"} {
			if !strings.Contains(metrics, `callbacks_total{account="`+account+`",outcome="refused",reason="signature"}`) {
				t.Errorf("%s: not counted", account)
			}
		}
		if log := f.web.stderr.String(); !strings.Contains(log, `"msg":"callback refused"`) || strings.Contains(log, canary) {
			t.Error("not logged, or with the body")
		}
	})
}

func without(header http.Header, name string) http.Header {
	header = header.Clone()
	header.Del(name)
	return header
}

// F06: two keys work side by side, an unknown one is refused at once by its name, and works once it is configured.
func TestFieldUnknownKey(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		n := 0
		made := func(serial, keyFile string) (body []byte, header http.Header, order string) {
			n++
			order = fmt.Sprintf("FCKEY%d", n)
			f.order(order, "19.99", "CNY")
			body = f.wechatBody("TRANSACTION.SUCCESS", wechatPaid(fmt.Sprintf("42000000000000000000000%05d", n), order, 1999, nil))
			return body, wechatHeader(t, body, f.now, serial, keyFile), order
		}
		for serial, keyFile := range map[string]string{wechatCert: wechatCertKey, wechatPublic: wechatPublicKey} {
			body, header, order := made(serial, keyFile)
			if f.ack(f.post("wechatpay", body, header)); f.status(order) != "paid" {
				t.Errorf("%s: order is not paid", serial)
			}
		}
		const unknown = "PUB_KEY_ID_0119999999012026112900000000000009"
		body, header, order := made(unknown, wechatPublicKey)
		for serial, want := range map[string]int{unknown: 500, "7B27B42EDEC99405C1DFBFE644E98BFDD13D749E": 500, "../../etc/passwd": 500} {
			header.Set("Wechatpay-Serial", serial)
			start := time.Now()
			got := f.post("wechatpay", body, header)
			if took := time.Since(start); got.status != 401 && got.status < want || took > 30*time.Second || f.status(order) != "unpaid" {
				t.Errorf("unknown key %s: %d after %v, order %s", serial, got.status, took, f.status(order))
			}
			if !strings.Contains(f.web.stderr.String(), serial) {
				t.Errorf("the log does not name the key %s", serial)
			}
		}
		f.web.stop()
		f.web.wait()

		pub := mustRead(t, kit+"wechatpay/keys/wechatpay_public_key.pem")
		dir := writeFiles(t, map[string]string{"pub.pem": pub, "app.yaml": "accounts:\n- {name: wechatpay, provider: wechatpay, settings: {api_v3_key: " + wechatAPIv3Key +
			", appid: wx0000000000000001, mchid: '1999999901', public_keys: {" + unknown + ": pub.pem}}}\n"})
		later := openFieldWith(t, dsn, dir+"/app.yaml")
		header.Set("Wechatpay-Serial", unknown)
		later.ack(later.post("wechatpay", body, header))
		later.wantOrder(order, "paid 0.00 unpaid>paid | payment 4200000000000000000000000003 19.99 CNY succeeded")
	})
}
