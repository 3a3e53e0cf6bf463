package generic_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"paybook/callback/generic"
	"paybook/models"
)

var now = time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)

// signed is a callback as the provider of settings(nil) would send it.
func signed(body string, at time.Time) models.Callback {
	return signedWith("first-secret-01234", body, at)
}

func signedWith(secret, body string, at time.Time) models.Callback {
	sent := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(sent + "." + body))
	return models.Callback{
		Method: http.MethodPost, Path: "/callbacks/shop", Body: []byte(body), ReceivedAt: now,
		Headers: http.Header{"X-Timestamp": {sent}, "X-Signature": {hex.EncodeToString(mac.Sum(nil))}},
	}
}

const payment = `{"id":"e1","type":"payment","status":"SUCCESS","txn":"T1","order":"O1","amount":"19.99","currency":"CNY","at":"2026-11-29T10:59:58+08:00"}`

func verify(p *generic.Provider, cb models.Callback) (models.Event, error) {
	events, err := p.Verify(context.Background(), cb)
	if err != nil {
		return models.Event{}, err
	}
	if len(events) != 1 {
		return models.Event{}, fmt.Errorf("%d events, want 1", len(events))
	}
	return events[0], nil
}

func reasonOf(err error) models.Reason {
	var rejection *models.Rejection
	if errors.As(err, &rejection) {
		return rejection.Reason
	}
	return models.Reason(fmt.Sprint("no rejection: ", err))
}

func TestVerifyReadsTheEvent(t *testing.T) {
	p := mustNew(t, settings(nil))
	got, err := verify(p, signed(payment, now))
	if err != nil {
		t.Fatal(err)
	}
	want := models.Event{
		ID: "e1", Kind: models.PaymentSucceeded, TransactionID: "T1", OrderID: "O1",
		Money: models.Money{Minor: 1999, Currency: "CNY"}, OccurredAt: time.Date(2026, 11, 29, 2, 59, 58, 0, time.UTC),
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("Verify =\n%+v, want\n%+v", got, want)
	}
	if _, err := verify(p, signedWith("second-secret-0123", payment, now)); err != nil {
		t.Errorf("the second secret is refused: %v", err)
	}
	for _, secret := range []string{"", " ", "third-secret"} {
		if _, err := verify(p, signedWith(secret, payment, now)); reasonOf(err) != models.ReasonSignature {
			t.Errorf("signed with %q: %v, want a refusal for signature", secret, err)
		}
	}
}

// F10: ids above 2^53 sent as numbers keep every digit.
func TestNumericIDsKeepTheirDigits(t *testing.T) {
	p := mustNew(t, settings(nil))
	for _, id := range []string{"8389765929445198309", "8389765929445198310", "123456789012345678901234567890"} {
		got, err := verify(p, signed(strings.Replace(payment, `"T1"`, id, 1), now))
		if err != nil || got.TransactionID != id {
			t.Errorf("transaction id = %q, %v; want %s", got.TransactionID, err, id)
		}
	}
}

// F11, F33, F34 and fields that are missing or make no sense: kept as unparsable, never booked, and at once.
func TestUnparsable(t *testing.T) {
	p := mustNew(t, settings(nil))
	long := strings.Repeat("9", 10_000)
	for _, c := range []struct{ name, from, to, detail string }{
		{"huge exponent", `"19.99"`, `1e1000000000`, "amount"},
		{"tiny exponent", `"19.99"`, `"1e-1000000000"`, "amount"},
		{"capital exponent", `"19.99"`, `1E400`, "amount"},
		{"10,000 digits", `"19.99"`, long, "amount"},
		{"19 digits and two decimals", `"19.99"`, `"9999999999999999999.99"`, "out of range"},
		{"three decimals", `"19.99"`, `"19.999"`, "2 decimals"},
		{"negative", `"19.99"`, `"-19.99"`, "negative"},
		{"separator", `"19.99"`, `"1,999.00"`, "amount"},
		{"amount is an object", `"19.99"`, `{"value":"19.99"}`, "amount or currency: missing"},
		{"amount is null", `"19.99"`, `null`, "amount or currency: missing"},
		{"unknown currency", `"CNY"`, `"XQQ"`, "not an ISO 4217 code"},
		{"no currency", `"CNY"`, `""`, "missing"},
		{"no id", `"T1"`, `""`, "transaction_id: missing"},
		{"id is a list", `"T1"`, `["T1"]`, "transaction_id: missing"},
		{"id with a line break", `"T1"`, `"T\n1"`, "makes no sense"},
		{"endless id", `"T1"`, `"` + long + `"`, "makes no sense"},
		{"id is true", `"T1"`, `true`, "json:$.txn holds true, which is no identifier"},
		{"order is false", `"O1"`, `false`, "no identifier"},
		{"no type", `"payment"`, `null`, "event_type: missing"},
		{"no status", `"SUCCESS"`, `null`, "status: missing"},
		{"broken time", `2026-11-29T10:59:58+08:00`, `29/11/26 10:59`, "occurred_at"},
	} {
		start := time.Now()
		got, err := verify(p, signed(strings.Replace(payment, c.from, c.to, 1), now))
		if err != nil || got.Kind != models.EventUnparsable || got.ID != "e1" || !strings.Contains(got.Detail, c.detail) {
			t.Errorf("%s: %+v, %v; want unparsable with id and %q", c.name, got, err, c.detail)
		}
		if got.TransactionID != "" || got.Money != (models.Money{}) || len(got.Detail) > 200 {
			t.Errorf("%s: half an event: %+v", c.name, got)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: took %s", c.name, took)
		}
	}
}

// F12, F15: signed, but no use. Each is malformed or unparsable, never money.
func TestUselessBodies(t *testing.T) {
	p := mustNew(t, settings(nil))
	for _, body := range []string{
		"", "null", "[]", `"payment"`, "17", payment + payment, payment + "x", `{"type":"payment"`, "\xff" + payment,
		`{"amount":"1.00",` + payment[1:], strings.Replace(payment, `"order":"O1"`, `"order":"O1","order":"O2"`, 1),
		`{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", strings.Replace(payment, `"txn"`, `"txn\u0000"`, 1),
	} {
		if _, err := verify(p, signed(body, now)); reasonOf(err) != models.ReasonMalformed {
			t.Errorf("body %.40q: %v, want malformed", body, err)
		}
	}
	for _, text := range []string{`T\u0000`, `T\ud800`} {
		for _, good := range []string{"T1", "O1", "SUCCESS", "19.99", "CNY"} { // whatever is needed; the expression and the list as well
			body := strings.Replace(payment, good, text, 1)
			if got, err := verify(p, signed(body, now)); err != nil || got.Kind != models.EventUnparsable || !strings.Contains(got.Detail, "a string holds") {
				t.Errorf("body %s: %+v, %v; want unparsable", body, got, err)
			}
		}
		body := strings.Replace(payment, `"order"`, `"note":"`+text+`","order"`, 1)
		if got, err := verify(p, signed(body, now)); err != nil || got.Kind != models.PaymentSucceeded {
			t.Errorf("body %s: %+v, %v; want the payment: nobody needs its note", body, got, err)
		}
	}
	for _, body := range []string{"{}", `{"data":null}`, `{"type":null,"txn":null}`, `{"type":"payment"}`} {
		if got, err := verify(p, signed(body, now)); err != nil || got.Kind != models.EventUnparsable {
			t.Errorf("body %s: %+v, %v; want unparsable", body, got, err)
		}
	}
}

// F03: the tolerance itself is in, one second more is out, on both sides; a fraction of the receipt's second decides nothing.
func TestTolerance(t *testing.T) {
	p := mustNew(t, settings(nil))
	for _, c := range []struct {
		age time.Duration
		in  bool
	}{{-301 * time.Second, false}, {-300 * time.Second, true}, {0, true}, {300 * time.Second, true}, {301 * time.Second, false}, {900 * 24 * time.Hour, false}} {
		cb := signed(payment, now.Add(-c.age))
		cb.ReceivedAt = now.Add(999 * time.Millisecond)
		_, err := verify(p, cb)
		if c.in && err != nil || !c.in && reasonOf(err) != models.ReasonTimestamp {
			t.Errorf("age %s: %v, want accepted: %v", c.age, err, c.in)
		}
	}
	cb := signed(payment, now.Add(-time.Hour))
	cb.Headers.Set("X-Timestamp", strconv.FormatInt(now.Unix(), 10))
	if _, err := verify(p, cb); reasonOf(err) != models.ReasonSignature {
		t.Errorf("an old request with a new time: %v, want a refusal for signature", err)
	}
}

func TestTimeUnits(t *testing.T) {
	for _, c := range []struct {
		unit, text string
		ok         bool
	}{
		{"s", "1795921200", true}, {"s", "1795921200000", false}, {"ms", "1795921200000", true}, {"ms", "1795921200", false},
		{"auto", "1795921200", true}, {"auto", "1795921200000", true}, {"rfc3339", "2026-11-29T11:00:00+08:00", true},
		{"rfc3339", "2026-11-29 03:00:00", false}, {"s", "+1795921200", false}, {"s", "-1", false}, {"s", "1e9", false},
		{"s", "99999999999999999999", false}, {"auto", "999999999999999", false},
	} {
		p := mustNew(t, settings(func(s object) {
			s["signature"] = object{
				"kind": "static_token", "secrets": "token", "from": "header:X-Token",
				"timestamp": object{"from": "header:X-Timestamp", "unit": c.unit},
			}
		}))
		cb := signed(payment, now)
		cb.Headers = http.Header{"X-Token": {"token"}, "X-Timestamp": {c.text}}
		if _, err := verify(p, cb); c.ok && err != nil || !c.ok && reasonOf(err) != models.ReasonTimestamp {
			t.Errorf("unit %s, %s: %v, want accepted: %v", c.unit, c.text, err, c.ok)
		}
	}
}

// F05, F68: a signature is compared as bytes, and only whole.
func TestSignatureSpellings(t *testing.T) {
	p := mustNew(t, settings(nil))
	good := signed(payment, now).Headers.Get("X-Signature")
	for text, ok := range map[string]bool{
		good: true, strings.ToUpper(good): true, good[:63]: false, good + "0": false, good[:62]: false, "": false, " ": false,
		"zz" + good[2:]: false, "sha256=" + good: false, strings.Repeat("0", 64): false,
	} {
		cb := signed(payment, now)
		cb.Headers.Set("X-Signature", text)
		if _, err := verify(p, cb); ok && err != nil || !ok && reasonOf(err) != models.ReasonSignature {
			t.Errorf("signature %q: %v, want accepted: %v", text, err, ok)
		}
	}
}

func TestUnmappedTypesAreKept(t *testing.T) {
	p := mustNew(t, settings(nil))
	for _, typ := range []string{"coupon", "invented.event_2027", "refund", "Payment"} {
		got, err := verify(p, signed(strings.Replace(payment, `"payment"`, `"`+typ+`"`, 1), now))
		if err != nil || got.Kind != models.EventUnknown || got.ID != "e1" {
			t.Errorf("type %s: %+v, %v; want unknown", typ, got, err)
		}
	}
	got, err := verify(p, signed(strings.Replace(payment, `"payment"`, `"refund.done"`, 1), now))
	if err != nil || got.Kind != models.RefundSucceeded {
		t.Errorf("type refund.done: %+v, %v; want refund.succeeded by refund.*", got, err)
	}
}

// F66, F69: test traffic is told apart, and another account's message refused.
func TestModeAndAccount(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["livemode"], s["account"] = true, "M1"
		f := s["fields"].(object)
		f["livemode"], f["account"] = "$.live", "$.merchant"
	}))
	for _, c := range []struct {
		extra string
		test  bool
		err   models.Reason
	}{
		{`"live":true,"merchant":"M1",`, false, ""}, {`"live":false,"merchant":"M1",`, true, ""}, {`"merchant":"M1",`, true, ""},
		{`"live":true,"merchant":"M2",`, false, models.ReasonMerchant}, {`"live":true,`, false, models.ReasonMerchant},
	} {
		got, err := verify(p, signed("{"+c.extra+payment[1:], now))
		if c.err != "" && reasonOf(err) != c.err || c.err == "" && (err != nil || got.TestMode != c.test) {
			t.Errorf("%s: test mode %v, %v; want %v, %q", c.extra, got.TestMode, err, c.test, c.err)
		}
	}
}

func TestAmountUnits(t *testing.T) {
	for _, c := range []struct {
		amount         object
		text, currency string
		want           int64
		kind           models.EventKind
	}{
		{object{"unit": "minor"}, "500", "jpy", 500, models.PaymentSucceeded},
		{object{"unit": "minor"}, "5120", "KWD", 5120, models.PaymentSucceeded},
		{object{"unit": "minor", "digits": object{"ISK": 2}}, "150000", "ISK", 1500, models.PaymentSucceeded},
		{object{"unit": "minor", "digits": object{"ISK": 2}}, "150050", "ISK", 0, models.EventUnparsable},
		{object{"unit": "minor"}, "19.99", "CNY", 0, models.EventUnparsable},
		{object{"unit": "hundredths"}, "50000", "JPY", 500, models.PaymentSucceeded},
		{object{"unit": "major"}, "5.120", "KWD", 5120, models.PaymentSucceeded},
		{object{"unit": "major", "sign": "negative_is_refund"}, "-19.99", "CNY", 1999, models.RefundSucceeded},
		{object{"unit": "major", "const": "1.00"}, "", "CNY", 100, models.PaymentSucceeded},
	} {
		p := mustNew(t, settings(func(s object) {
			c.amount["path"] = []any{"$.none", "$.amount"}
			s["fields"].(object)["amount"] = c.amount
		}))
		body := strings.NewReplacer("19.99", c.text, "CNY", c.currency).Replace(payment)
		got, err := verify(p, signed(body, now))
		if err != nil || got.Kind != c.kind || got.Money.Minor != c.want {
			t.Errorf("%v %s %s: %s %s (%s), %v; want %s %d", c.amount, c.text, c.currency, got.Kind, got.Money, got.Detail, err, c.kind, c.want)
		}
	}
}

func TestFormContent(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["content"] = "form"
		s["fields"] = object{
			"event_type": object{"const": "payment"}, "status": "form:state", "transaction_id": "form:id", "order_id": "query:order",
			"amount": object{"path": "form:sum", "unit": "major"}, "currency": "header:X-Currency",
			"occurred_at": object{"path": "form:paid", "layout": "2006-01-02 15:04:05"},
		}
		s["timezone"] = "Asia/Shanghai"
		s["signature"] = object{"secrets": "k", "from": "header:X-Signature", "template": "{raw_query}.{header:X-Currency}.{body}"}
	}))
	signed := func(body string) models.Callback {
		return models.Callback{Body: []byte(body), Query: "order=O%201", ReceivedAt: now,
			Headers: http.Header{"X-Currency": {"CNY"}, "X-Signature": {macHex("k", "order=O%201.CNY."+body)}}}
	}
	cb := signed("state=SUCCESS&id=T%2B1&sum=19.99&paid=2026-11-29+10:59:58")
	got, err := verify(p, cb)
	if err != nil || got.TransactionID != "T+1" || got.OrderID != "O 1" || got.Money.String() != "19.99 CNY" {
		t.Errorf("Verify = %+v, %v", got, err)
	}
	if want := now.Add(-2 * time.Second); !got.OccurredAt.Equal(want) {
		t.Errorf("occurred_at = %s, want %s", got.OccurredAt, want)
	}
	for _, body := range []string{"id=1&id=2", "%zz", ""} {
		got, err := verify(p, signed(body))
		if body == "" && got.Kind != models.EventUnparsable || body != "" && reasonOf(err) != models.ReasonMalformed {
			t.Errorf("form %q: %+v, %v", body, got, err)
		}
	}
}

func TestBasicAuth(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["signature"] = object{"kind": "basic", "secrets": "shop:pa:ss"}
	}))
	for text, ok := range map[string]bool{
		"Basic c2hvcDpwYTpzcw==": true, "basic c2hvcDpwYTpzcw==": true, "Basic c2hvcDpwYTpzcw": false, "Basic c2hvcDo=": false,
		"Bearer c2hvcDpwYTpzcw==": false, "c2hvcDpwYTpzcw==": false, "": false,
	} {
		cb := models.Callback{Headers: http.Header{"Authorization": {text}}, Body: []byte(payment), ReceivedAt: now}
		if _, err := verify(p, cb); ok && err != nil || !ok && reasonOf(err) != models.ReasonBasicAuth {
			t.Errorf("%q: %v, want accepted: %v", text, err, ok)
		}
	}
}

func macHex(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}
