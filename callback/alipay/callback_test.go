package alipay

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha1" // the algorithm that must not be accepted
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/callback/providertest"
	"paybook/models"
)

// All fields are signed, known or not, empty or not, in whatever order they are sent and however they are escaped.
func TestSignatureCoversEveryField(t *testing.T) {
	p := mustNew(t, nil)
	good := payment(fields{"body": "", "never_heard_of": "1", "moon_phase": "full", "voucher_detail_list": `[{"amount":"5.00","name":"满减 10% & +1"}]`,
		"passback_params": "merchantBizType%3d3C%26n%3d1", "Zed": "capitals go first", "a=b": "c"})
	bodies := map[string]string{"as sent": signed(t, good)}
	parts := strings.Split(bodies["as sent"], "&")
	reversed := make([]string, 0, len(parts))
	for i := range parts {
		reversed = append(reversed, parts[len(parts)-1-i])
	}
	bodies["another order"] = strings.Join(reversed, "&")
	bodies["blanks as %20"] = strings.ReplaceAll(bodies["as sent"], "+", "%20")
	bodies["lower-case escapes"] = strings.NewReplacer("%2B", "%2b", "%2F", "%2f", "%3A", "%3a").Replace(bodies["as sent"])
	bodies["more escapes than needed"] = strings.Replace(bodies["as sent"], "TRADE_SUCCESS", "TRADE%5FSUCCESS", 1)
	bodies["no sign_type"] = strings.Replace(bodies["as sent"], "&sign_type=RSA2", "", 1)
	bodies["another sign_type, RSA2 all the same"] = strings.Replace(bodies["as sent"], "sign_type=RSA2", "sign_type=RSA", 1)
	for name, body := range bodies {
		if got, err := verify(t, p, body); err != nil || got.Kind != models.PaymentSucceeded || got.Money != cny(2000) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name := range good {
		body := signed(t, good)
		for what, f := range map[string]fields{
			"changed": with(payment(nil), good), "left out": with(payment(nil), good),
		} {
			f[name] += "1"
			if what == "left out" {
				delete(f, name)
			}
			_, err := verify(t, p, encode(f)+body[strings.Index(body, "&sign_type"):])
			wantReason(t, err, models.ReasonSignature)
		}
	}
	_, err := verify(t, p, bodies["as sent"]+"&injected=")
	wantReason(t, err, models.ReasonSignature)
}

// signOld signs as Alipay does with sign_type RSA.
func signOld(t *testing.T, text string) string {
	t.Helper()
	digest := sha1.Sum([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, kitPrivateKey(), crypto.SHA1, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(signature)
}

func TestRequestsThatAreRefused(t *testing.T) {
	p := mustNew(t, nil)
	good := signed(t, payment(nil))
	plain := encode(payment(nil))
	oldSign := "&sign=" + url.QueryEscape(signOld(t, signedText(payment(nil))))
	genuine := good[strings.Index(good, "&sign="):]
	cases := []struct {
		name, body string
		want       models.Reason
	}{
		{"no sign", plain, models.ReasonSignature},
		{"empty sign", plain + "&sign=&sign_type=RSA2", models.ReasonSignature},
		{"blank sign", plain + "&sign=+", models.ReasonSignature},
		{"sign is no base64", plain + "&sign=%25", models.ReasonSignature},
		{"sign with blanks for +", strings.ReplaceAll(plain+genuine, "%2B", "+") + "&x=", models.ReasonSignature},
		{"short sign", plain + "&sign=AAAA", models.ReasonSignature},
		{"SHA-1, and says so", plain + oldSign + "&sign_type=RSA", models.ReasonSignature},
		{"SHA-1, and says RSA2", plain + oldSign + "&sign_type=RSA2", models.ReasonSignature},
		{"sign_type was signed too", plain + "&sign_type=RSA2&sign=" + url.QueryEscape(sign(t, signedText(with(payment(nil), fields{"sign_type": "RSA2"})))), models.ReasonSignature},
		{"empty values were left out", encode(payment(fields{"body": ""})) + "&sign=" + url.QueryEscape(sign(t, signedText(payment(nil)))), models.ReasonSignature},
		{"a field twice", good + "&total_amount=20.00", models.ReasonMalformed},
		{"a field twice, escaped", good + "&total%5Famount=0.01", models.ReasonMalformed},
		{"an unknown field twice", signed(t, payment(fields{"x": "1"})) + "&x=1", models.ReasonMalformed},
		{"sign twice", good + genuine, models.ReasonMalformed},
		{"sign_type twice", good + "&sign_type=RSA", models.ReasonMalformed},
		{"broken escape in a value", good + "&x=%zz", models.ReasonMalformed},
		{"broken escape in a name", good + "&%=1", models.ReasonMalformed},
		{"cut in an escape", good + "&x=%e", models.ReasonMalformed},
		{"endless fields", good + strings.Repeat("&a", fieldsMax), models.ReasonMalformed},
		{"JSON", `{"trade_status":"TRADE_SUCCESS"}`, models.ReasonSignature},
		{"XML", `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`, models.ReasonSignature},
		{"nothing", "", models.ReasonSignature},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := verify(t, p, c.body)
			wantReason(t, err, c.want)
			if err != nil && strings.Contains(err.Error(), "20.00") {
				t.Errorf("%v repeats the body", err)
			}
		})
	}
}

// Parameters of our own in the notify_url are not signed, and a signature there counts for nothing.
func TestQueryIsNotRead(t *testing.T) {
	p := mustNew(t, nil)
	cb := post(signed(t, payment(nil)))
	cb.Query = "total_amount=0.01&app_id=1&x=%zz"
	cb.Headers.Set("Content-Type", "text/plain")
	if events, err := p.Verify(t.Context(), cb); err != nil || events[0].Money != cny(2000) {
		t.Errorf("Verify = %+v, %v", events, err)
	}
	cb = post("")
	cb.Query = signed(t, payment(nil))
	_, err := p.Verify(t.Context(), cb)
	wantReason(t, err, models.ReasonSignature)
}

// The signed text does not escape & and =, so one text can be several forms. Only the one that was meant is read.
func TestSignedTextIsReadInOneWayOnly(t *testing.T) {
	p := mustNew(t, nil)
	bought := payment(fields{"subject": "x&total_amount=9999.00&total_b=", "total_amount": "0.01"})
	full := refund(fields{"trade_status": "TRADE_CLOSED", "refund_fee": "20.00", "gmt_close": "2026-11-29 11:00:05"})
	cases := map[string]struct{ genuine, forged fields }{
		"an amount out of the buyer's own text": {bought, with(payment(nil), fields{"subject": "x", "total_amount": "9999.00", "total_b": "&total_amount=0.01"})},
		"a refund hidden behind another amount": {full, with(with(payment(nil), full), fields{
			"receipt_amount": "20.00&refund_fee=20.00", "refund_fee": gone, "gmt_payment": "2026-11-29 10:00:05&gmt_refund=2026-11-29 11:00:05.123", "gmt_refund": gone})},
		"two fields in one": {payment(nil), with(payment(nil), fields{"seller_id": "2088000000000019&subject=红茶", "subject": gone})},
	}
	for name, c := range cases {
		if signedText(c.genuine) != signedText(c.forged) {
			t.Fatalf("%s: the texts differ:\n%s\n%s", name, signedText(c.genuine), signedText(c.forged))
		}
		genuine := signed(t, c.genuine)
		if got, err := verify(t, p, encode(c.forged)+genuine[strings.Index(genuine, "&sign_type"):]); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
	// Free text may hold both characters as long as nothing of it could pass for a field.
	if _, err := tell(t, p, payment(fields{"subject": "10% off & more=1+1 &amount=1&x", "body": "a=b&c=d"})); err != nil {
		t.Error(err)
	}
}

func TestKeysAreTriedAndDated(t *testing.T) {
	both := mustNew(t, nil)
	cert := mustNew(t, map[string]any{"alipay_public_key": nil})
	late := post(signed(t, payment(nil)))
	late.ReceivedAt = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := cert.Verify(t.Context(), late)
	wantReason(t, err, models.ReasonCertificate)
	if _, err := both.Verify(t.Context(), late); err != nil {
		t.Errorf("the public key has no end: %v", err)
	}
	early := post(signed(t, payment(nil)))
	early.ReceivedAt = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err = cert.Verify(t.Context(), early)
	wantReason(t, err, models.ReasonCertificate)
}

// Whether alipay_cert_sn is signed is not documented: both are fine, and an unknown one is named, not looked up.
func TestCertificateNumberInTheMessage(t *testing.T) {
	p := mustNew(t, nil)
	for name, body := range map[string]string{
		"signed":              signed(t, payment(fields{"alipay_cert_sn": kitSN})),
		"not signed":          signed(t, payment(nil)) + "&alipay_cert_sn=" + kitSN,
		"unknown, not signed": signed(t, payment(nil)) + "&alipay_cert_sn=feed",
	} {
		if got, err := verify(t, p, body); err != nil || got.Kind != models.PaymentSucceeded {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err := verify(t, p, encode(payment(fields{"alipay_cert_sn": "feed"}))+"&sign=AAAA")
	wantReason(t, err, models.ReasonSignature)
	if err == nil || !strings.Contains(err.Error(), `alipay_cert_sn "feed" is not configured`) {
		t.Errorf("%v does not name the certificate", err)
	}
}

// The provider repeats for a day, so its own clock is no reason to refuse.
func TestAgeIsNoReason(t *testing.T) {
	p := mustNew(t, nil)
	for _, sent := range []string{"2020-01-01 00:00:00", "2036-01-01 00:00:00", "soon", "", gone} {
		if got, err := tell(t, p, payment(fields{"notify_time": sent})); err != nil || got.Kind != models.PaymentSucceeded {
			t.Errorf("notify_time %q: %+v, %v", sent, got, err)
		}
	}
}

func TestReceiverMustBeOurs(t *testing.T) {
	p := mustNew(t, nil)
	two := mustNew(t, map[string]any{"app_id": []string{"2021000000000001", "2021000000000002"}})
	nameless := mustNew(t, map[string]any{"seller_email": nil})
	agreement := fields{"notify_type": "dut_user_sign", "trade_status": gone, "seller_id": gone, "seller_email": gone}
	cases := []struct {
		name string
		p    *Provider
		f    fields
		fine bool
	}{
		{"ours", p, payment(nil), true},
		{"second app", two, payment(fields{"app_id": "2021000000000002"}), true},
		{"second app, not configured", p, payment(fields{"app_id": "2021000000000002"}), false},
		{"no app", p, payment(fields{"app_id": gone}), false},
		{"empty app", p, payment(fields{"app_id": ""}), false},
		{"app with a blank", p, payment(fields{"app_id": "2021000000000001 "}), false},
		{"the authorising app is another one", p, payment(fields{"auth_app_id": "2021000000000009"}), true},
		{"foreign seller", p, payment(fields{"seller_id": "2088000000009999"}), false},
		{"foreign seller, our email", p, payment(fields{"seller_id": "2088000000009999", "seller_email": "merchant-test@example.com"}), false},
		{"our seller, masked email", p, payment(fields{"seller_email": "mer***@example.com"}), true},
		{"email alone", p, payment(fields{"seller_id": gone}), true},
		{"foreign email alone", p, payment(fields{"seller_id": gone, "seller_email": "x@example.com"}), false},
		{"email alone, none configured", nameless, payment(fields{"seller_id": gone}), false},
		{"no seller at all", p, payment(fields{"seller_id": gone, "seller_email": gone}), false},
		{"empty seller", p, payment(fields{"seller_id": "", "seller_email": ""}), false},
		{"refund of a foreign seller", p, refund(fields{"seller_id": "2088000000009999"}), false},
		{"another product names no seller", p, payment(agreement), true},
		{"another product of a foreign app", p, with(payment(agreement), fields{"app_id": "1"}), false},
		{"another product of a foreign seller", p, with(payment(agreement), fields{"seller_id": "1"}), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := tell(t, c.p, c.f)
			if c.fine && err != nil {
				t.Error(err)
			}
			if !c.fine {
				wantReason(t, err, models.ReasonMerchant)
			}
		})
	}
}

// The signature is over the bytes of the charset; text is converted only after it has been proven.
func TestCharset(t *testing.T) {
	p := mustNew(t, nil)
	gbk := func(text string) string {
		out, err := simplifiedchinese.GBK.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	cases := []struct{ charset, subject, want string }{
		{"utf-8", "测试订单-退换", "测试订单-退换"},
		{"UTF-8", "测试订单-退换", "测试订单-退换"},
		{"gbk", gbk("测试订单-退换"), "测试订单-退换"},
		{"GBK", gbk("测试订单-退换"), "测试订单-退换"},
		{"gb2312", gbk("测试订单-退换"), "测试订单-退换"},
		{"GB18030", gbk("测试订单-退换"), "测试订单-退换"},
		{gone, "测试订单-退换", "测试订单-退换"},
		{"iso-8859-1", "caf\xe9", "caf\ufffd"},
		{"utf-8", gbk("国标"), "\ufffd"},
		{"gbk", "\xff", "\ufffd"},
	}
	for _, c := range cases {
		got, err := tell(t, p, payment(fields{"charset": c.charset, "subject": c.subject}))
		if err != nil || got.Kind != models.PaymentSucceeded || got.Detail != c.want {
			t.Errorf("%s: %+v, %v; want the subject %q", c.charset, got, err, c.want)
		}
	}
	// What was signed in one charset does not verify in another.
	body := signed(t, payment(fields{"charset": "gbk", "subject": gbk("测试")}))
	_, err := verify(t, p, strings.Replace(body, url.QueryEscape(gbk("测试")), url.QueryEscape("测试"), 1))
	wantReason(t, err, models.ReasonSignature)
	// A number is never read with a hole in it.
	got, err := tell(t, p, payment(fields{"out_trade_no": "A\xff1"}))
	if err != nil || got.Kind != models.EventUnparsable {
		t.Errorf("an id in no charset: %+v, %v", got, err)
	}
}

func TestReplyIsTheBareWord(t *testing.T) {
	p := mustNew(t, nil)
	cases := []struct {
		answer models.Answer
		status int
		body   string
	}{
		{models.Answer{Outcome: models.OutcomeApplied}, 200, "success"},
		{models.Answer{Outcome: models.OutcomeDuplicate}, 200, "success"},
		{models.Answer{Outcome: models.OutcomeAmountMismatch}, 200, "success"},
		{models.Answer{Outcome: models.OutcomeNoOrder}, 200, "success"},
		{models.Answer{Outcome: models.OutcomeIgnored}, 200, "success"},
		{models.Answer{Outcome: models.OutcomeUnreadable}, 400, "failure"},
		{models.Answer{}, 503, "failure"},
		{models.Answer{Reason: models.ReasonMalformed}, 400, "failure"},
		{models.Answer{Reason: models.ReasonMerchant}, 403, "failure"},
		{models.Answer{Reason: models.ReasonTooLarge}, 413, "failure"},
		{models.Answer{Reason: models.ReasonSignature}, 401, "failure"},
		{models.Answer{Reason: models.ReasonCertificate}, 401, "failure"},
	}
	for _, c := range cases {
		if status, contentType, body := p.Reply(c.answer); status != c.status || body != c.body || contentType != "text/plain" {
			t.Errorf("Reply(%+v) = %d %q %q, want %d %q", c.answer, status, contentType, body, c.status, c.body)
		}
	}
}

func FuzzVerify(f *testing.F) {
	providertest.FuzzVerify(f, mustNew(f, nil), kit, providertest.EquivalentBody())
}

// FuzzSigned: nothing unsigned is accepted, and what is signed is read from the very fields that were signed.
func FuzzSigned(f *testing.F) {
	p := mustNew(f, nil)
	f.Add(encode(payment(nil)), "1")
	f.Add(encode(refund(nil)), "")
	f.Add("", "x")
	f.Add("%&%=%zz&&==&sign", "x")
	for _, rec := range providertest.Recordings(f, kit) {
		f.Add(string(rec.Body), "x")
	}
	f.Add("a&b=&=c&total_amount=1e9&trade_status=TRADE_CLOSED&refund_fee=-1", "AAAA")
	f.Fuzz(func(t *testing.T, body, signature string) {
		if got, err := verify(t, p, body+"&sign="+url.QueryEscape(signature)); err == nil {
			t.Fatalf("a forged callback was accepted: %+v", got)
		}
		form, err := readForm([]byte(body))
		if err != nil {
			return
		}
		signedForm := form.without("sign", "sign_type", "alipay_cert_sn")
		var pairs []string
		values := url.Values{}
		for _, x := range signedForm {
			pairs = append(pairs, x.name+"="+x.value)
			values.Set(x.name, x.value)
		}
		ev, err := verify(t, p, values.Encode()+"&sign="+url.QueryEscape(sign(t, strings.Join(pairs, "&"))))
		if err != nil {
			var rejection *models.Rejection
			if !errors.As(err, &rejection) {
				t.Fatalf("%v is no rejection", err)
			}
			return
		}
		if ev.Kind == models.EventUnparsable || ev.Kind == models.EventUnknown {
			return
		}
		source := values.Get("total_amount")
		if ev.RunningTotal {
			source = values.Get("refund_fee")
		}
		want, err := models.ParseMajor(source, "CNY")
		if err != nil || ev.Money != want || ev.Money.Minor <= 0 || ev.OrderID != values.Get("out_trade_no") || ev.TransactionID+ev.ParentID != values.Get("trade_no") {
			t.Fatalf("read %+v from %s (%v)", ev, fmt.Sprint(values), err)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	p := mustNew(b, nil)
	cb := post(signed(b, payment(nil)))
	for b.Loop() {
		if _, err := p.Verify(b.Context(), cb); err != nil {
			b.Fatal(err)
		}
	}
}
