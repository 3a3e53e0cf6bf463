package wechatpay

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

// The order is compared with amount.total; what the payer paid after coupons stands apart.
func TestPaymentIsTheOrderAmount(t *testing.T) {
	p := mustNew(t, nil)
	got, err := tell(t, p, sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	want := models.Event{
		ID: "00000000-2026-5129-8000-000000000099", Kind: models.PaymentSucceeded, TransactionID: "4200002999202611290000000001",
		OrderID: "CNW20261129001", Money: models.Money{Minor: 2000, Currency: "CNY"}, PayerMinor: 1500,
		OccurredAt: time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC),
	}
	if got.Kind != want.Kind || got.TransactionID != want.TransactionID || got.OrderID != want.OrderID || got.ID != want.ID ||
		got.Money != want.Money || got.PayerMinor != want.PayerMinor || !got.OccurredAt.Equal(want.OccurredAt) {
		t.Errorf("event\n got %+v\nwant %+v", got, want)
	}
}

// The bytes are signed, not their meaning: indentation, key order, escapes and a newline at the end are all fine.
func TestSignatureCoversTheBytesAsReceived(t *testing.T) {
	p := mustNew(t, nil)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil), "", "\t"); err != nil {
		t.Fatal(err)
	}
	body := strings.ReplaceAll(pretty.String(), "支付成功", `\u652f\u4ed8成功`)
	body = strings.ReplaceAll(body, "/", `\/`) + "\r\n"
	got, err := tell(t, p, []byte(body))
	if err != nil || got.Kind != models.PaymentSucceeded {
		t.Fatalf("Verify = %+v, %v", got, err)
	}
	cb := signed(t, []byte(body), now, certSerial, certKey)
	cb.Body = []byte(strings.TrimSpace(body))
	_, err = p.Verify(t.Context(), cb)
	wantReason(t, err, models.ReasonSignature)
}

func TestTimestampWindowIsOpenOnBothSides(t *testing.T) {
	p := mustNew(t, nil)
	body := sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil)
	for seconds, fine := range map[int]bool{-301: false, -300: false, -299: true, -270: true, 0: true, 270: true, 299: true, 300: false, 301: false, 330: false} {
		cb := signed(t, body, now.Add(time.Duration(seconds)*time.Second), certSerial, certKey)
		_, err := p.Verify(t.Context(), cb)
		if fine && err != nil {
			t.Errorf("%d s: %v", seconds, err)
		}
		if !fine {
			wantReason(t, err, models.ReasonTimestamp)
		}
	}
	for _, off := range []time.Duration{299*time.Second + 999*time.Millisecond, 300 * time.Second} { // to the millisecond, on both sides
		for _, at := range []time.Time{now.Add(off), now.Add(-off)} {
			cb := signed(t, body, now, certSerial, certKey)
			cb.ReceivedAt = at
			if _, err := p.Verify(t.Context(), cb); (err == nil) != (off < 300*time.Second) {
				t.Errorf("received %s off: %v", off, err)
			}
		}
	}
	wide := mustNew(t, map[string]any{"timestamp_tolerance_seconds": 600})
	if _, err := wide.Verify(t.Context(), signed(t, body, now.Add(-599*time.Second), certSerial, certKey)); err != nil {
		t.Errorf("tolerance 600: %v", err)
	}
}

func TestKeyIsChosenByItsName(t *testing.T) {
	p := mustNew(t, nil)
	body := sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil)
	cases := []struct {
		name, serial, key string
		want              models.Reason // "": accepted
	}{
		{"certificate", certSerial, certKey, ""},
		{"public key", publicKeyID, publicKey, ""},
		{"certificate's name, public key's signature", certSerial, publicKey, models.ReasonSignature},
		{"public key's name, certificate's signature", publicKeyID, certKey, models.ReasonSignature},
		{"unknown serial", "7B27B42EDEC99405C1DFBFE644E98BFDD13D749E", certKey, models.ReasonKey},
		{"no serial", "", certKey, models.ReasonKey},
		{"lower case", strings.ToLower(certSerial), certKey, models.ReasonKey},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.Verify(t.Context(), signed(t, body, now, c.serial, c.key))
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" {
				wantReason(t, err, c.want)
			}
			if c.want == models.ReasonKey && !strings.Contains(err.Error(), c.serial) {
				t.Errorf("%v does not name the serial", err)
			}
		})
	}
}

func TestCertificateOutOfDateIsRefused(t *testing.T) {
	p := mustNew(t, nil)
	at := time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)
	cb := signed(t, sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil), at, certSerial, certKey)
	cb.ReceivedAt = at
	_, err := p.Verify(t.Context(), cb)
	wantReason(t, err, models.ReasonCertificate)
}

func TestHeadersDecide(t *testing.T) {
	p := mustNew(t, nil)
	body := sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil)
	cases := []struct {
		name, header, value string
		want                models.Reason
	}{
		{"no signature", "Wechatpay-Signature", "", models.ReasonSignature},
		{"probe", "Wechatpay-Signature", "WECHATPAY/SIGNTEST/abc", models.ReasonSignature},
		{"not base64", "Wechatpay-Signature", "%%%", models.ReasonSignature},
		{"brand products", "Wechatpay-Signature-Type", "WECHATPAY-BRAND-SHA256-RSA2048", models.ReasonAlgorithm},
		{"SM2", "Wechatpay-Signature-Type", "WECHATPAY2-SM2-WITH-SM3", models.ReasonAlgorithm},
		{"no timestamp", "Wechatpay-Timestamp", "", models.ReasonTimestamp},
		{"timestamp no number", "Wechatpay-Timestamp", "1.795917603e9", models.ReasonTimestamp},
		{"timestamp beyond int64", "Wechatpay-Timestamp", "99999999999999999999", models.ReasonTimestamp},
		{"timestamp with a plus", "Wechatpay-Timestamp", "+" + strconv.FormatInt(now.Unix(), 10), models.ReasonTimestamp},
		{"timestamp with a zero", "Wechatpay-Timestamp", "0" + strconv.FormatInt(now.Unix(), 10), models.ReasonTimestamp},
		{"timestamp with a blank", "Wechatpay-Timestamp", strconv.FormatInt(now.Unix(), 10) + " ", models.ReasonTimestamp},
		{"timestamp in milliseconds", "Wechatpay-Timestamp", strconv.FormatInt(now.UnixMilli(), 10), models.ReasonTimestamp},
		{"timestamp far away", "Wechatpay-Timestamp", "-99999999999", models.ReasonTimestamp},
		{"no nonce", "Wechatpay-Nonce", "", models.ReasonSignature},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cb := signed(t, body, now, certSerial, certKey)
			cb.Headers.Set(c.header, c.value)
			_, err := p.Verify(t.Context(), cb)
			wantReason(t, err, c.want)
			if c.name == "probe" && !strings.Contains(err.Error(), "provider's signature probe") {
				t.Errorf("%v does not call the probe a probe", err)
			}
		})
	}
	cb := signed(t, body, now, certSerial, certKey)
	cb.Headers.Set("Wechatpay-Signature-Type", "WECHATPAY2-SHA256-RSA2048")
	if _, err := p.Verify(t.Context(), cb); err != nil {
		t.Errorf("the documented type: %v", err)
	}
}

// A signed header that comes twice is refused, whichever of the two is good: who checks one and reads the other would be fooled.
func TestHeaderTwiceIsRefused(t *testing.T) {
	p := mustNew(t, nil)
	body := sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil)
	for _, name := range signedHeaders {
		for _, second := range []func(good string) []string{
			func(good string) []string { return []string{good, good} },
			func(good string) []string { return []string{good, "x"} },
			func(good string) []string { return []string{"x", good} },
			func(good string) []string { return []string{good, ""} },
		} {
			cb := signed(t, body, now, certSerial, certKey)
			cb.Headers.Set("Wechatpay-Signature-Type", signatureType)
			cb.Headers[name] = second(cb.Headers.Get(name))
			_, err := p.Verify(t.Context(), cb)
			wantReason(t, err, models.ReasonSignature)
		}
	}
	cb := signed(t, body, now, certSerial, certKey)
	cb.Headers["Content-Type"] = []string{"application/json", "text/plain"}
	if _, err := p.Verify(t.Context(), cb); err != nil {
		t.Errorf("a header nobody signs, twice: %v", err)
	}
}

// The probe is told apart whatever else is wrong with it, so that the alarm for forgeries stays quiet.
func TestProbeIsAProbe(t *testing.T) {
	p := mustNew(t, nil)
	cb := signed(t, sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil), now.AddDate(-1, 0, 0), "unknown", certKey)
	for value, want := range map[string]bool{"WECHATPAY/SIGNTEST/": true, "WECHATPAY/SIGNTEST/x": true, "wechatpay/signtest/x": false, "xWECHATPAY/SIGNTEST/": false} {
		cb.Headers.Set("Wechatpay-Signature", value)
		_, err := p.Verify(t.Context(), cb)
		if rejection := (*models.Rejection)(nil); !errors.As(err, &rejection) || rejection.Probe != want {
			t.Errorf("%s: %v, want probe %v", value, err, want)
		}
	}
}

// A border that could move would let the start of a body pass for the end of a nonce.
func TestNonceWithLineBreakIsRefused(t *testing.T) {
	p := mustNew(t, nil)
	body := sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil)
	cb := signed(t, append([]byte("x\n"), body...), now, certSerial, certKey)
	cb.Headers.Set("Wechatpay-Nonce", kitNonce+"\nx")
	cb.Body = body
	_, err := p.Verify(t.Context(), cb)
	wantReason(t, err, models.ReasonSignature)
}

func TestSignedButUselessJSON(t *testing.T) {
	p := mustNew(t, nil)
	good := string(sealed(t, p, "TRANSACTION.SUCCESS", payment(nil), nil))
	xml := `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`
	for _, body := range []string{
		"", "null", "[]", "{}", `"x"`, "{", good + good, good[:len(good)-1] + `,"event_type":"REFUND.SUCCESS"}`, xml, "\xff",
		`{"resource":null}`, `{"resource":[]}`, `{"resource":"x"}`,
	} {
		_, err := tell(t, p, []byte(body))
		wantReason(t, err, models.ReasonMalformed)
	}
}

func TestResourceThatCannotBeOpened(t *testing.T) {
	p := mustNew(t, nil)
	other := mustNew(t, map[string]any{"api_v3_key": "AnotherApiV3Key0123456789abcdefg"})
	resource := func(change fields) fields {
		return fields{"resource": with(fields{"algorithm": "AEAD_AES_256_GCM", "nonce": "WrOZqYZxODzh", "ciphertext": "AAAA"}, change)}
	}
	cases := []struct {
		name string
		body []byte
		want models.Reason
	}{
		{"another key", sealed(t, other, "TRANSACTION.SUCCESS", payment(nil), nil), models.ReasonDecrypt},
		{"not sealed", sealed(t, p, "TRANSACTION.SUCCESS", "", resource(nil)), models.ReasonDecrypt},
		{"long nonce", sealed(t, p, "TRANSACTION.SUCCESS", "", resource(fields{"nonce": "WrOZqYZxODzhWrOZ"})), models.ReasonDecrypt},
		{"no nonce", sealed(t, p, "TRANSACTION.SUCCESS", "", resource(fields{"nonce": nil})), models.ReasonDecrypt},
		{"no ciphertext", sealed(t, p, "TRANSACTION.SUCCESS", "", resource(fields{"ciphertext": nil})), models.ReasonDecrypt},
		{"not base64", sealed(t, p, "TRANSACTION.SUCCESS", "", resource(fields{"ciphertext": "?"})), models.ReasonDecrypt},
		{"SM4", sealed(t, p, "TRANSACTION.SUCCESS", "", resource(fields{"algorithm": "AEAD_SM4_GCM"})), models.ReasonAlgorithm},
		{"no algorithm", sealed(t, p, "TRANSACTION.SUCCESS", "", resource(fields{"algorithm": nil})), models.ReasonAlgorithm},
		{"text inside", sealed(t, p, "TRANSACTION.SUCCESS", `"x"`, nil), models.ReasonMalformed},
		{"keys twice inside", sealed(t, p, "TRANSACTION.SUCCESS", `{"mchid":"1","mchid":"1999999901"}`, nil), models.ReasonMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := tell(t, p, c.body)
			wantReason(t, err, c.want)
		})
	}
}

func TestMerchantMustBeOurs(t *testing.T) {
	plain := mustNew(t, map[string]any{"appids": []string{"wx0000000000000002"}})
	service := mustNew(t, map[string]any{"sub_mchids": []string{"1900000001", "1900000002"}})
	sub := func(change fields) fields {
		served := payment(fields{"sp_mchid": "1999999901", "sp_appid": "wx0000000000000001", "sub_mchid": "1900000002", "sub_appid": "wxAny"})
		return with(with(served, fields{"mchid": nil, "appid": nil}), change)
	}
	cases := []struct {
		name  string
		p     *Provider
		kind  string
		plain fields
		fine  bool
	}{
		{"second app", plain, "TRANSACTION.SUCCESS", payment(fields{"appid": "wx0000000000000002"}), true},
		{"foreign app", plain, "TRANSACTION.SUCCESS", payment(fields{"appid": "wx9"}), false},
		{"no app", plain, "TRANSACTION.SUCCESS", payment(fields{"appid": nil}), false},
		{"foreign merchant", plain, "TRANSACTION.SUCCESS", payment(fields{"mchid": "1999999902"}), false},
		{"no merchant", plain, "TRANSACTION.SUCCESS", payment(fields{"mchid": nil}), false},
		{"merchant as number", plain, "TRANSACTION.SUCCESS", payment(fields{"mchid": 1999999901}), false},
		{"refund of a foreign merchant", plain, "REFUND.SUCCESS", refund(fields{"mchid": "1"}), false},
		{"other product of a foreign merchant", plain, "PAYSCORE.USER_PAID", fields{"mchid": "1"}, false},
		{"service provider's message, plain account", plain, "TRANSACTION.SUCCESS", sub(nil), false},
		{"service provider", service, "TRANSACTION.SUCCESS", sub(nil), true},
		{"sub merchant not served", service, "TRANSACTION.SUCCESS", sub(fields{"sub_mchid": "1900000003"}), false},
		{"no sub merchant", service, "TRANSACTION.SUCCESS", sub(fields{"sub_mchid": nil}), false},
		{"foreign service provider", service, "TRANSACTION.SUCCESS", sub(fields{"sp_mchid": "1"}), false},
		{"foreign service provider's app", service, "TRANSACTION.SUCCESS", sub(fields{"sp_appid": "1"}), false},
		{"plain message, service provider's account", service, "TRANSACTION.SUCCESS", payment(nil), false},
		{"service provider's refund of a sub merchant not served", service, "REFUND.SUCCESS", refund(fields{"mchid": nil, "sp_mchid": "1999999901", "sub_mchid": "1900000003"}), false},
		{"service provider's refund without sub merchant", service, "REFUND.CLOSED", refund(fields{"mchid": nil, "sp_mchid": "1999999901"}), false},
		{"complaint that names no merchant", service, "COMPLAINT.CREATE", fields{"complaint_id": "1"}, true},
		{"complaint of a foreign merchant", plain, "COMPLAINT.CREATE", fields{"complaint_id": "1", "mchid": "1"}, false},
		{"service provider's refund", service, "REFUND.SUCCESS", refund(fields{"mchid": nil, "sp_mchid": "1999999901", "sub_mchid": "1900000001"}), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := tell(t, c.p, sealed(t, c.p, c.kind, c.plain, nil))
			if c.fine && err != nil {
				t.Error(err)
			}
			if !c.fine {
				wantReason(t, err, models.ReasonMerchant)
			}
		})
	}
}

func TestReplyWords(t *testing.T) {
	p := mustNew(t, nil)
	cases := []struct {
		answer models.Answer
		status int
		body   string
	}{
		{models.Answer{Outcome: models.OutcomeApplied}, 200, `{"code":"SUCCESS","message":"OK"}`},
		{models.Answer{Outcome: models.OutcomeConflict}, 200, `{"code":"SUCCESS","message":"OK"}`},
		{models.Answer{Outcome: models.OutcomeUnreadable}, 400, `{"code":"FAIL","message":"notification not understood"}`},
		{models.Answer{Outcome: models.OutcomeUnreadable, Reason: models.ReasonMalformed}, 400, `{"code":"FAIL","message":"notification not understood"}`},
		{models.Answer{}, 503, `{"code":"FAIL","message":"try again later"}`},
		{models.Answer{Reason: models.ReasonMalformed}, 400, `{"code":"FAIL","message":"notification not understood"}`},
		{models.Answer{Reason: models.ReasonMerchant}, 403, `{"code":"FAIL","message":"notification not accepted"}`},
		{models.Answer{Reason: models.ReasonDecrypt}, 500, `{"code":"FAIL","message":"notification not accepted"}`},
		{models.Answer{Reason: models.ReasonTooLarge}, 413, `{"code":"FAIL","message":"notification too large"}`},
		{models.Answer{Reason: models.ReasonAlgorithm}, 401, `{"code":"FAIL","message":"signature verification failed"}`},
	}
	for _, c := range cases {
		status, contentType, body := p.Reply(c.answer)
		if status != c.status || body != c.body || contentType != "application/json" {
			t.Errorf("Reply(%+v) = %d %s %s, want %d %s", c.answer, status, contentType, body, c.status, c.body)
		}
	}
}

func FuzzVerify(f *testing.F) {
	providertest.FuzzVerify(f, mustNew(f, nil), kit, providertest.Signed("Wechatpay-Timestamp", "Wechatpay-Nonce", "Wechatpay-Serial"),
		providertest.Varied("Wechatpay-Signature", "Wechatpay-Signature-Type"))
}

// FuzzSigned: whatever is signed and sealed, there is one event or a rejection; whatever is forged is refused.
func FuzzSigned(f *testing.F) {
	p := mustNew(f, nil)
	for _, body := range []string{
		string(sealed(f, p, "TRANSACTION.SUCCESS", payment(nil), nil)), string(sealed(f, p, "REFUND.SUCCESS", refund(nil), nil)),
		"", "null", `{"event_type":"TRANSACTION.SUCCESS","resource":{"algorithm":"AEAD_AES_256_GCM","nonce":"short"}}`,
	} {
		f.Add([]byte(body), []byte(`{"amount":{"total":1e9}}`), "REFUND.CLOSED", "1795917603", "WECHATPAY/SIGNTEST/x")
	}
	for kind, plain := range map[string]fields{
		"TRANSACTION.SUCCESS": payment(nil), "REFUND.ABNORMAL": refund(fields{"refund_status": "ABNORMAL", "success_time": nil}),
		"COMPLAINT.CREATE": {"complaint_id": "200201820200101080076610000", "action_type": "CREATE_COMPLAINT"},
	} {
		f.Add([]byte("{}"), mustJSON(f, plain), kind, "0", "")
	}
	f.Fuzz(func(t *testing.T, body, plain []byte, eventType, timestamp, signature string) {
		forged := signed(t, body, now, certSerial, certKey)
		forged.Headers.Set("Wechatpay-Timestamp", timestamp)
		forged.Headers.Set("Wechatpay-Signature", signature)
		genuine := []models.Callback{
			signed(t, body, now, certSerial, certKey),
			signed(t, sealed(t, p, eventType, string(plain), nil), now, certSerial, certKey),
		}
		providertest.Bounded(t, len(body)+len(plain), func() {
			if events, err := p.Verify(t.Context(), forged); err == nil {
				t.Fatalf("a forged callback was accepted: %+v", events)
			}
			for _, cb := range genuine {
				events, err := p.Verify(t.Context(), cb)
				if err == nil && (len(events) != 1 || events[0].Kind == "" || events[0].Money.Minor < 0) {
					t.Fatalf("events %+v", events)
				}
			}
		})
	})
}

func BenchmarkVerify(b *testing.B) {
	p := mustNew(b, nil)
	cb := signed(b, sealed(b, p, "TRANSACTION.SUCCESS", payment(nil), nil), now, certSerial, certKey)
	for b.Loop() {
		if _, err := p.Verify(b.Context(), cb); err != nil {
			b.Fatal(err)
		}
	}
}
