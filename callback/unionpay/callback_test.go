package unionpay

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback"
	"paybook/callback/providertest"
	"paybook/models"
)

// The chain proves an authority of many customers, so it takes the owner as well, at the time of receipt.
func TestCertificateMustBeUnionPays(t *testing.T) {
	c := newCA(t)
	p := c.provider(nil)
	twoNames := func(t *x509.Certificate) {
		t.Subject = pkix.Name{ExtraNames: []pkix.AttributeTypeAndValue{
			{Type: []int{2, 5, 4, 3}, Value: "041@SHOP@SHOP LTD@00000001"}, {Type: []int{2, 5, 4, 3}, Value: unionPayCN},
		}}
	}
	dates := func(from, to time.Time) func(*x509.Certificate) {
		return func(t *x509.Certificate) { t.NotBefore, t.NotAfter = from, to }
	}
	for _, s := range []struct {
		name string
		by   func(testing.TB) signing
		want models.Reason // "": accepted
	}{
		{"UnionPay", c.leaf(unionPayCN, nil, 2048), ""},
		{"UnionPay with another product", c.leaf("042@ACP@中国银联股份有限公司@00000002", nil, 2048), ""},
		{"usage of a server", c.leaf(unionPayCN, func(t *x509.Certificate) { t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageEmailProtection} }, 2048), ""},
		{"a merchant", c.leaf("041@SHOP@SHOP LTD@00000001", nil, 2048), models.ReasonCertificate},
		{"a merchant called so in another part", c.leaf("041@中国银联股份有限公司@SHOP LTD@00000001", nil, 2048), models.ReasonCertificate},
		{"a merchant whose name begins so", c.leaf("041@SHOP@中国银联股份有限公司分公司@00000001", nil, 2048), models.ReasonCertificate},
		{"blanks around", c.leaf("041@SHOP@ 中国银联股份有限公司 @00000001", nil, 2048), models.ReasonCertificate},
		{"no parts", c.leaf("中国银联股份有限公司", nil, 2048), models.ReasonCertificate},
		{"no name", c.leaf("", nil, 2048), models.ReasonCertificate},
		{"an empty third part", c.leaf("041@SHOP@@00000001", nil, 2048), models.ReasonCertificate},
		{"two names", c.leaf("", twoNames, 2048), models.ReasonCertificate},
		{"the test environment", c.leaf("041@TEST@00040000:SIGN@00000001", nil, 2048), models.ReasonCertificate},
		{"ended a second ago", c.leaf(unionPayCN, dates(now.AddDate(-1, 0, 0), now.Add(-time.Second)), 2048), models.ReasonCertificate},
		{"begins in a second", c.leaf(unionPayCN, dates(now.Add(time.Second), now.AddDate(1, 0, 0)), 2048), models.ReasonCertificate},
		{"ends now", c.leaf(unionPayCN, dates(now.AddDate(-1, 0, 0), now), 2048), ""},
		{"a weak key", c.leaf(unionPayCN, nil, 1024), models.ReasonCertificate},
		{"another authority", newCA(t).leaf(unionPayCN, nil, 2048), models.ReasonCertificate},
		{"the kit's authority", production, models.ReasonCertificate},
		{"the authority itself", func(testing.TB) signing { return c.middle }, models.ReasonCertificate},
	} {
		t.Run(s.name, func(t *testing.T) {
			if s.want != "" {
				wantReason(t, p, sent(t, s.by, payment(nil)), s.want)
			} else if _, err := p.Verify(t.Context(), sent(t, s.by, payment(nil))); err != nil {
				t.Error(err)
			}
		})
	}
}

// Dates are those of the whole chain, checked with each message: what was good yesterday may not be good today.
func TestDatesAreCheckedEveryTime(t *testing.T) {
	p := mustNew(t, nil)
	cb := sent(t, production, payment(nil))
	for at, fine := range map[time.Time]bool{
		now: true,
		time.Date(2029, 12, 31, 16, 0, 0, 0, time.UTC):   true,
		time.Date(2029, 12, 31, 16, 0, 1, 0, time.UTC):   false,
		time.Date(2024, 12, 31, 15, 59, 59, 0, time.UTC): false,
	} {
		cb.ReceivedAt = at
		if _, err := p.Verify(t.Context(), cb); (err == nil) != fine {
			t.Errorf("%s: %v, want accepted %v", at, err, fine)
		}
	}
	cb.ReceivedAt = time.Time{}
	wantReason(t, p, cb, models.ReasonCertificate) // no time is not "now"
}

func TestTestEnvironmentIsASwitch(t *testing.T) {
	rec, err := callback.ReadRecording(filepath.Join(kit, "callbacks", "10_test_environment_cn.json"))
	if err != nil {
		t.Fatal(err)
	}
	on := mustNew(t, map[string]any{"test_environment": true})
	events, err := on.Verify(t.Context(), rec.Callback(Name))
	if err != nil || len(events) != 1 || events[0].Kind != models.PaymentSucceeded {
		t.Errorf("Verify = %+v, %v; want the payment", events, err)
	}
	if _, err := tell(t, on, payment(nil)); err != nil {
		t.Errorf("the production certificate: %v", err)
	}
	for _, off := range []*Provider{mustNew(t, nil), mustNew(t, map[string]any{"test_environment": false})} {
		wantReason(t, off, rec.Callback(Name), models.ReasonCertificate)
	}
	wantReason(t, newCA(t).provider(map[string]any{"test_environment": true}), rec.Callback(Name), models.ReasonCertificate)
}

// While an authority changes, certificates of the old and the new one come side by side.
func TestTwoAuthorities(t *testing.T) {
	a, b := newCA(t), newCA(t)
	for file, both := range map[string]string{"root.cer": a.root.cert + b.root.cert, "middle.cer": a.middle.cert + b.middle.cert} {
		if err := os.WriteFile(filepath.Join(a.dir, file), []byte(both), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := a.provider(nil)
	for name, c := range map[string]*ca{"old": a, "new": b} {
		if _, err := p.Verify(t.Context(), sent(t, c.leaf(unionPayCN, nil, 2048), payment(nil))); err != nil {
			t.Errorf("%s authority: %v", name, err)
		}
	}
	if got := len(p.Expiries()); got != 4 {
		t.Errorf("%d expiries, want 4", got)
	}
}

// A file that ends in .cer may as well be DER.
func TestCertificateFilesInDER(t *testing.T) {
	c := newCA(t)
	for file, s := range map[string]signing{"root.cer": c.root, "middle.cer": c.middle} {
		block, _ := pem.Decode([]byte(s.cert))
		if err := os.WriteFile(filepath.Join(c.dir, file), block.Bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.provider(nil).Verify(t.Context(), sent(t, c.leaf(unionPayCN, nil, 2048), payment(nil))); err != nil {
		t.Error(err)
	}
}

func TestDowngradesAreRefused(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range []struct {
		change fields
		want   models.Reason
	}{
		{fields{"version": "5.0.0"}, models.ReasonAlgorithm},
		{fields{"version": "5.0.0", "certId": "123", "signPubKeyCert": ""}, models.ReasonAlgorithm},
		{fields{"version": "-"}, models.ReasonAlgorithm},
		{fields{"version": "5.1.0 "}, models.ReasonAlgorithm},
		{fields{"signMethod": "11"}, models.ReasonAlgorithm},
		{fields{"signMethod": "12"}, models.ReasonAlgorithm},
		{fields{"signMethod": "02"}, models.ReasonAlgorithm},
		{fields{"signMethod": "-"}, models.ReasonAlgorithm},
		{fields{"signPubKeyCert": "", "certId": "123"}, models.ReasonCertificate},
		{fields{"signPubKeyCert": "not a certificate"}, models.ReasonCertificate},
		{fields{"signPubKeyCert": string(mustRead(t, "keys", "unionpay_sign_private_key.TEST_ONLY.pem"))}, models.ReasonCertificate},
		{fields{"signPubKeyCert": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}, models.ReasonCertificate},
		{fields{"merId": "777000000000002"}, models.ReasonMerchant},
		{fields{"merId": "-"}, models.ReasonMerchant},
		{fields{"merId": "777000000000001 "}, models.ReasonMerchant},
	} {
		wantReason(t, p, sent(t, production, payment(c.change)), c.want)
	}
}

func TestSignatureCoversTheBytes(t *testing.T) {
	p := mustNew(t, nil)
	signed := sign(t, production(t), payment(nil))
	for name, f := range map[string]fields{
		"a field more":        with(signed, fields{"extra": "1"}),
		"a field less":        with(signed, fields{"accNo": "-"}),
		"another sum":         with(signed, fields{"txnAmt": "8801"}),
		"another case":        with(signed, fields{"respCode": "a6"}),
		"a blank behind":      with(signed, fields{"respMsg": signed["respMsg"] + " "}),
		"a field emptied":     with(signed, fields{"settleAmt": ""}),
		"other line ends":     with(signed, fields{"signPubKeyCert": strings.ReplaceAll(signed["signPubKeyCert"], "\n", "\r\n")}),
		"plus for space":      with(signed, fields{"reqReserved": strings.ReplaceAll(signed["reqReserved"], " ", "+")}),
		"no signature":        with(signed, fields{"signature": "-"}),
		"an empty signature":  with(signed, fields{"signature": ""}),
		"not base64":          with(signed, fields{"signature": "%%%"}),
		"a cut signature":     with(signed, fields{"signature": signed["signature"][:100]}),
		"another's signature": with(signed, fields{"signature": sign(t, testCN(t), payment(nil))["signature"]}),
		"signature in hex":    with(signed, fields{"signature": "00ff"}),
	} {
		t.Run(name, func(t *testing.T) { wantReason(t, p, received(encode(f)), models.ReasonSignature) })
	}
}

// The expected digest is from `printf 'a=1' | sha256sum | cut -c1-64 | tr -d '\n' | sha256sum`.
func TestDigestIsHashedTwice(t *testing.T) {
	const want = "bb713088d21c01160e25d41f095e6974708f6c75334488d73e99107e7852d632"
	got := digestOf(form{"a": "1", "empty": "", "signature": "x"}.signedText())
	if text := hex.EncodeToString(got[:]); text != want {
		t.Errorf("digest of a=1 is %s, want %s", text, want)
	}
	p := mustNew(t, nil)
	once := sha256.Sum256(form(with(payment(nil), fields{"signPubKeyCert": production(t).cert})).signedText())
	signature, err := rsa.SignPKCS1v15(nil, production(t).key, crypto.SHA256, once[:])
	if err != nil {
		t.Fatal(err)
	}
	wantReason(t, p, received(encode(with(payment(nil), fields{"signPubKeyCert": production(t).cert,
		"signature": base64.StdEncoding.EncodeToString(signature)}))), models.ReasonSignature)
}

// What surrounds the signed fields is free: their order, empty ones, other spellings of the same bytes, the headers, the query.
func TestEquivalentRequests(t *testing.T) {
	p := mustNew(t, nil)
	signed := sign(t, production(t), payment(nil))
	plain := string(encode(signed))
	pairs := strings.Split(plain, "&")
	backwards := make([]string, 0, len(pairs))
	for i := len(pairs) - 1; i >= 0; i-- {
		backwards = append(backwards, pairs[i])
	}
	want := mustTell(t, p, payment(nil))
	for name, cb := range map[string]models.Callback{
		"backwards":          received([]byte(strings.Join(backwards, "&"))),
		"an empty field":     received([]byte(plain + "&issInsCode=&payType")),
		"ends in &":          received([]byte("&" + plain + "&&")),
		"%20 for space":      received([]byte(strings.ReplaceAll(plain, "+", "%20"))),
		"lower-case hex":     received([]byte(strings.ReplaceAll(plain, "%2B", "%2b"))),
		"an unknown field":   sent(t, production, payment(fields{"newField2027": "x"})),
		"values with blanks": sent(t, production, payment(fields{"reqReserved": "  a  "})),
		"CRLF certificate":   received(encode(sign(t, signing{strings.ReplaceAll(production(t).cert, "\n", "\r\n"), production(t).key}, payment(nil)))),
	} {
		t.Run(name, func(t *testing.T) {
			cb.Query, cb.Headers = "shop=1&txnAmt=1&merId=2&signature=x", http.Header{"Content-Type": {"application/json"}}
			events, err := p.Verify(t.Context(), cb)
			if err != nil || len(events) != 1 || events[0].TransactionID != want.TransactionID || events[0].Money != want.Money {
				t.Errorf("Verify = %+v, %v; want %+v", events, err, want)
			}
		})
	}
}

// One text can be cut into several forms. The shop's own text may look like fields; whatever else does is refused.
func TestTextThatCanBeCutInTwoWays(t *testing.T) {
	p := mustNew(t, nil)
	cert := production(t).cert
	own := "a&respCode=05&signMethod=01&signPubKeyCert=" + cert + "&txnAmt=1&txnB="
	if got := mustTell(t, p, payment(fields{"reqReserved": own})); got.OrderID != "CNU20261129001" || got.Money != cny(8800) || got.Kind != models.PaymentSucceeded {
		t.Errorf("the shop's own text is read: %+v", got)
	}
	signed := sign(t, production(t), payment(fields{"reqReserved": own}))
	text := string(form(signed).signedText())
	_, behind, _ := strings.Cut(text, "&txnB=")
	swallowed, _, _ := strings.Cut(behind, "&txnSubType=")
	for name, change := range map[string]fields{
		"the shop's text as fields": {"reqReserved": "a", "respCode": "05", "txnAmt": "1", "txnB": swallowed, "respMsg": "-", "settleAmt": "-", "settleCurrencyCode": "-",
			"settleDate": "-", "traceNo": "-", "traceTime": "-"},
		"another payment's id": {"queryId": signed["queryId"] + "&reqReserved=" + own, "reqReserved": "-"},
		"no sum":               {"traceTime": signed["traceTime"] + "&txnAmt=8800", "txnAmt": "-"},
		"no sum, in a name":    {"traceTime": "-", "traceTime=" + signed["traceTime"] + "&txnAmt": "8800", "txnAmt": "-"},
		"no time, in the text": {"reqReserved": own + strings.TrimSuffix(behind, "&version=5.1.0"), "respCode": "-", "respMsg": "-", "settleAmt": "-", "settleCurrencyCode": "-",
			"settleDate": "-", "signMethod": "-", "signPubKeyCert": "-", "traceNo": "-", "traceTime": "-", "txnAmt": "-", "txnSubType": "-", "txnTime": "-", "txnType": "-"},
	} {
		t.Run(name, func(t *testing.T) {
			f := with(signed, change)
			if got := string(form(f).signedText()); got != text {
				t.Fatalf("the text is another one:\n%s\n%s", got, text)
			}
			events, err := p.Verify(t.Context(), received(encode(f)))
			if err == nil {
				t.Errorf("accepted as %+v", events)
			}
		})
	}
}

// A name given twice means one thing to the signature and may mean another to who reads it.
func TestFieldsGivenTwice(t *testing.T) {
	p := mustNew(t, nil)
	plain := string(encode(sign(t, production(t), payment(nil))))
	for _, more := range []string{"txnAmt=1", "txnAmt=8800", "txnAmt=", "merId=777000000000001", "%74xnAmt=1", "signature=x", "signature="} {
		wantReason(t, p, received([]byte(plain+"&"+more)), models.ReasonMalformed)
		wantReason(t, p, received([]byte(more+"&"+plain)), models.ReasonMalformed)
	}
	for _, bad := range []string{"a=%zz", "a=%", "%g=1", "a=%4"} {
		wantReason(t, p, received([]byte(plain+"&"+bad)), models.ReasonMalformed)
	}
}

// What is no form at all has no signature.
func TestUselessBodies(t *testing.T) {
	p := mustNew(t, nil)
	for _, body := range []string{"", "&", "=", "{}", "null", "[]", "txnType=01&respCode=00&merId=777000000000001", `{"txnType":"01"}`,
		`<?xml version="1.0"?><!DOCTYPE a []><a/>`, "\xff\xfe", strings.Repeat("&", 1<<20), strings.Repeat("a=", 1<<19)} {
		wantReason(t, p, received([]byte(body)), models.ReasonSignature)
	}
}

func TestReplyWords(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range []struct {
		answer models.Answer
		status int
		body   string
	}{
		{models.Answer{Outcome: models.OutcomeApplied}, 200, "ok"},
		{models.Answer{Outcome: models.OutcomeConflict}, 200, "ok"},
		{models.Answer{Outcome: models.OutcomeIgnored}, 200, "ok"},
		{models.Answer{Outcome: models.OutcomeUnreadable}, 400, "fail"},
		{models.Answer{Outcome: models.OutcomeUnreadable, Reason: models.ReasonMalformed}, 400, "fail"},
		{models.Answer{}, 503, "fail"},
		{models.Answer{Reason: models.ReasonSignature}, 401, "fail"},
		{models.Answer{Reason: models.ReasonAlgorithm}, 401, "fail"},
		{models.Answer{Reason: models.ReasonCertificate}, 401, "fail"},
		{models.Answer{Reason: models.ReasonMerchant}, 403, "fail"},
		{models.Answer{Reason: models.ReasonMalformed}, 400, "fail"},
		{models.Answer{Reason: models.ReasonTooLarge}, 413, "fail"},
	} {
		if status, contentType, body := p.Reply(c.answer); status != c.status || body != c.body || contentType != "text/plain; charset=utf-8" {
			t.Errorf("Reply(%+v) = %d %s %s, want %d %s", c.answer, status, contentType, body, c.status, c.body)
		}
	}
}

// What a stranger wrote goes into logs: short, one line, and never a card number.
func TestRefusalsTellLittle(t *testing.T) {
	p := mustNew(t, nil)
	for _, change := range []fields{{"merId": strings.Repeat("x\n\x00", 1000)}, {"version": strings.Repeat("\xff", 1000)}, {"merId": "1", "accNo": "6216261000000000018"}} {
		_, err := p.Verify(t.Context(), sent(t, production, payment(change)))
		if err == nil || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x00") || strings.Contains(err.Error(), "6216261000000000018") {
			t.Errorf("Verify = %q", err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	providertest.FuzzVerify(f, mustNew(f, nil), kit, providertest.EquivalentBody())
}

// FuzzSigned: whatever is signed, there is one event, with money only where there is an id and a sum.
func FuzzSigned(f *testing.F) {
	p := mustNew(f, nil)
	f.Add(encode(sign(f, production(f), payment(nil))), "04", "A6", "0", "999", "1231235959", "GBK")
	f.Add(encode(sign(f, production(f), refund(nil))), "03", "61", "20261129100000", "156", "0229000000", "")
	f.Add([]byte("a=%&&=&signature=x"), "", "", "", "", "", "\x00")
	f.Fuzz(func(t *testing.T, body []byte, txnType, respCode, txnTime, currency, traceTime, encoding string) {
		if encoding == "GBK" {
			return // what the fuzzer writes need not fit into it
		}
		genuine := sent(t, production, payment(fields{"txnType": txnType, "respCode": respCode, "txnTime": txnTime, "currencyCode": currency, "traceTime": traceTime,
			"encoding": encoding, "reqReserved": string(body)}))
		mayBeTwo := strings.Contains(txnType+respCode+txnTime+currency+traceTime+encoding, "&") || strings.Contains(string(body), "&")
		providertest.Bounded(t, len(body), func() {
			events, err := p.Verify(t.Context(), genuine)
			if mayBeTwo && errors.As(err, new(*models.Rejection)) {
				return
			}
			if err != nil || len(events) != 1 || events[0].Kind == "" || events[0].Money.Minor < 0 {
				t.Fatalf("events %+v, %v", events, err)
			}
			if events[0].Kind == models.PaymentSucceeded && (events[0].TransactionID != "202611291000000000001" || events[0].OccurredAt.IsZero()) {
				t.Fatalf("half a payment: %+v", events)
			}
		})
	})
}

func BenchmarkVerify(b *testing.B) {
	p := mustNew(b, nil)
	cb := sent(b, production, payment(nil))
	for b.Loop() {
		if _, err := p.Verify(b.Context(), cb); err != nil {
			b.Fatal(err)
		}
	}
}
