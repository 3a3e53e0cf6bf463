package stripe_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

const paid = `{"id":"pi_1","object":"payment_intent","amount":1999,"amount_received":1999,"currency":"usd","latest_charge":"ch_1","metadata":{"order_id":"A1"}}`

// The signature covers bytes, not values: odd but genuine bytes verify, and the same value printed otherwise does not.
func TestRawBytes(t *testing.T) {
	p := mustNew(t, minimal)
	odd := "\n{ \"type\":\"payment_intent.succeeded\",\t\"data\":{\"object\":" + strings.Replace(paid, `"A1"`, `"\u0041\/1"`, 1) +
		"},\"created\":1795767302, \"id\":\"evt_1\"}\r\n\n"
	if ev := say(t, p, odd); ev.Kind != models.PaymentSucceeded || ev.OrderID != "A/1" {
		t.Errorf("event %+v, want payment.succeeded of A/1", ev)
	}
	for name, other := range map[string]string{"trimmed": strings.TrimSpace(odd), "unescaped": strings.Replace(odd, `\/`, "/", 1), "one byte": odd + " "} {
		if got := reason(t, p, request(header(secretNew, now, odd), other)); got != models.ReasonSignature {
			t.Errorf("%s: reason %q, want signature", name, got)
		}
	}
}

func TestSignatureHeader(t *testing.T) {
	p, body := mustNew(t, minimal), snapshot("payment_intent.succeeded", paid)
	good, old := sign(secretNew, now, body), sign(secretOld, now, body)
	bad := sign("whsec_other", now, body)
	stamp := fmt.Sprintf("t=%d", now.Unix())
	for name, tc := range map[string]struct {
		header string
		want   models.Reason
	}{
		"good":                  {stamp + ",v1=" + good, ""},
		"good then bad":         {stamp + ",v1=" + good + ",v1=" + bad, ""},
		"bad, v0, then good":    {stamp + ",v1=" + bad + ",v0=" + bad + ",v1=" + good, ""},
		"previous secret":       {stamp + ",v1=" + old, ""},
		"t last":                {"v1=" + good + "," + stamp, ""},
		"undecodable then good": {stamp + ",v1=zz,v1=,v1,v1=" + good, ""},
		"unknown scheme":        {stamp + ",v2=" + bad + ",x,=,v1=" + good, ""},
		"upper-case hex":        {stamp + ",v1=" + strings.ToUpper(good), ""},
		"blank after comma":     {stamp + ", v1=" + good, ""},
		"none":                  {"", models.ReasonSignature},
		"v0 only":               {stamp + ",v0=" + good, models.ReasonSignature},
		"V1 is no scheme":       {stamp + ",V1=" + good, models.ReasonSignature},
		"other secret":          {stamp + ",v1=" + bad, models.ReasonSignature},
		"63 characters":         {stamp + ",v1=" + good[:63], models.ReasonSignature},
		"62 characters":         {stamp + ",v1=" + good[:62], models.ReasonSignature},
		"65 characters":         {stamp + ",v1=" + good + "0", models.ReasonSignature},
		"66 characters":         {stamp + ",v1=" + good + "00", models.ReasonSignature},
		"no hex":                {stamp + ",v1=" + strings.Repeat("g", 64), models.ReasonSignature},
		"empty v1":              {stamp + ",v1=", models.ReasonSignature},
		"prefix stripped":       {stamp + ",v1=" + sign("test_new", now, body), models.ReasonSignature},
		"empty key":             {stamp + ",v1=" + sign("", now, body), models.ReasonSignature},
		"no t":                  {"v1=" + good, models.ReasonSignature},
		"empty t":               {"t=,v1=" + good, models.ReasonSignature},
		"t twice":               {stamp + "," + stamp + ",v1=" + good, models.ReasonSignature},
		"t in milliseconds":     {stamp + "000,v1=" + good, models.ReasonSignature},
		"t with a plus":         {"t=+" + stamp[2:] + ",v1=" + good, models.ReasonSignature},
		"t with a zero":         {"t=0" + stamp[2:] + ",v1=" + good, models.ReasonSignature},
		"t of words":            {"t=now,v1=" + good, models.ReasonSignature},
		"t negative":            {"t=-1,v1=" + sign(secretNew, time.Unix(-1, 0), body), models.ReasonSignature},
		"t beyond int64":        {"t=99999999999999999999,v1=" + good, models.ReasonSignature},
		"semicolons":            {stamp + ";v1=" + good, models.ReasonSignature},
		"64 kB of nothing":      {strings.Repeat("v1=,", 16<<10), models.ReasonSignature},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reason(t, p, request(tc.header, body)); got != tc.want {
				t.Errorf("reason %q, want %q", got, tc.want)
			}
		})
	}
}

func TestHeaderInTwoLines(t *testing.T) {
	p, body := mustNew(t, minimal), snapshot("payment_intent.succeeded", paid)
	cb := request(fmt.Sprintf("t=%d", now.Unix()), body)
	cb.Headers.Add("Stripe-Signature", "v1="+sign(secretNew, now, body))
	if got := reason(t, p, cb); got != "" {
		t.Errorf("a header in two lines: reason %q, want it accepted", got)
	}
	cb.Headers.Add("Stripe-Signature", header(secretNew, now, body))
	if got := reason(t, p, cb); got != models.ReasonSignature {
		t.Errorf("two whole headers: reason %q, want signature", got)
	}
}

// Every flipped bit is refused but the one that turns a hex letter into its capital.
func TestHeaderBitFlips(t *testing.T) {
	p, body := mustNew(t, minimal), snapshot("payment_intent.succeeded", paid)
	whole := header(secretNew, now, body)
	for bit := range 8 * len(whole) {
		flipped := []byte(whole)
		flipped[bit/8] ^= 1 << (bit % 8)
		capital := strings.EqualFold(whole, string(flipped)) && bit/8 > strings.Index(whole, "v1=")+2
		if got := reason(t, p, request(string(flipped), body)); (got == "") != capital {
			t.Errorf("header %s: reason %q, accepted only when it is the same hex", flipped, got)
		}
	}
}

// 300 s is in and 301 s is out, on both sides; whether a forged time is too old is not told.
func TestTolerance(t *testing.T) {
	body := snapshot("payment_intent.succeeded", paid)
	for _, tc := range []struct {
		settings string
		age      time.Duration // of the signature at receipt; negative: ahead
		want     models.Reason
	}{
		{minimal, 300 * time.Second, ""},
		{minimal, 301 * time.Second, models.ReasonTimestamp},
		{minimal, -300 * time.Second, ""},
		{minimal, -301 * time.Second, models.ReasonTimestamp},
		{minimal, 270 * time.Second, ""},
		{minimal, 330 * time.Second, models.ReasonTimestamp},
		{minimal, 900 * 24 * time.Hour, models.ReasonTimestamp},
		{`{"signing_secrets":["whsec_test_new"],"tolerance_seconds":60}`, -61 * time.Second, models.ReasonTimestamp},
		{`{"signing_secrets":["whsec_test_new"],"tolerance_seconds":60}`, 60 * time.Second, ""},
		{`{"signing_secrets":["whsec_test_new"],"future_tolerance_seconds":0}`, -time.Second, models.ReasonTimestamp},
		{`{"signing_secrets":["whsec_test_new"],"future_tolerance_seconds":0}`, 300 * time.Second, ""},
	} {
		p, at := mustNew(t, tc.settings), now.Add(-tc.age)
		if got := reason(t, p, request(header(secretNew, at, body), body)); got != tc.want {
			t.Errorf("age %s: reason %q, want %q", tc.age, got, tc.want)
		}
		if got := reason(t, p, request(header("whsec_other", at, body), body)); got != models.ReasonSignature {
			t.Errorf("age %s, forged: reason %q, want signature", tc.age, got)
		}
	}
	p, far := mustNew(t, minimal), time.Unix(1<<62, 0)
	if got := reason(t, p, request(header(secretNew, far, body), body)); got != models.ReasonTimestamp {
		t.Errorf("t at the end of time: reason %q, want timestamp", got)
	}
}

// An old event sent again today is genuine; only the signature's age counts.
func TestOldEventSentAgain(t *testing.T) {
	p, old := mustNew(t, minimal), now.AddDate(0, 0, -900)
	body := strings.Replace(snapshot("payment_intent.succeeded", paid), "1795767302", fmt.Sprint(old.Unix()), 1)
	if ev := say(t, p, body); ev.Kind != models.PaymentSucceeded || !ev.OccurredAt.Equal(old) {
		t.Errorf("event %+v, want payment.succeeded of %s", ev, old)
	}
	if got := reason(t, p, request(header(secretNew, old, body), body)); got != models.ReasonTimestamp {
		t.Errorf("the old signature with it: reason %q, want timestamp", got)
	}
}

func TestContentTypeDoesNotMatter(t *testing.T) {
	p, body := mustNew(t, minimal), snapshot("payment_intent.succeeded", paid)
	for _, contentType := range []string{"text/plain", "application/json;charset=UTF-8", "application/octet-stream", "application/x-www-form-urlencoded", ""} {
		cb := request(header(secretNew, now, body), body)
		cb.Headers.Set("Content-Type", contentType)
		if got := reason(t, p, cb); got != "" {
			t.Errorf("content type %q: reason %q, want it accepted", contentType, got)
		}
	}
}

// Well signed and useless: refused when it is no JSON object, else kept as unparsable. Never a payment, never a panic.
func TestUselessJSON(t *testing.T) {
	p := mustNew(t, minimal)
	for name, body := range map[string]string{
		"empty": "", "null": "null", "list": "[]", "text": `"evt_1"`, "cut": `{"id":"evt_1"`, "two documents": `{"id":"a"}{"id":"b"}`,
		"trailing": snapshot("payment_intent.succeeded", paid) + "x", "deep": strings.Repeat("[", 1e5), "NUL in a key": `{"id\u0000":"evt"}`, "not UTF-8": "{\"id\":\"\xff\"}",
		"key twice":    strings.Replace(snapshot("payment_intent.succeeded", paid), `"amount_received":1999`, `"amount_received":1,"amount_received":1999`, 1),
		"status twice": strings.Replace(snapshot("payment_intent.succeeded", paid), `"type"`, `"type":"product.created","type"`, 1),
	} {
		if got := reason(t, p, request(header(secretNew, now, body), body)); got != models.ReasonMalformed {
			t.Errorf("%s: reason %q, want malformed", name, got)
		}
	}
	for name, body := range map[string]string{
		"NUL": `{"id":"evt\u0000"}`, "NUL in the payment": snapshot("payment_intent.succeeded", strings.NewReplacer(`"pi_1"`, `"pi_1\u0000"`, `"ch_1"`, `"ch_1\u0000"`).Replace(paid)),
		"half a pair in the order": snapshot("payment_intent.succeeded", strings.Replace(paid, `"A1"`, `"A1\ud83d"`, 1)),
		"empty object":             `{}`, "no type": `{"id":"evt_1","object":"event","created":1795767302}`,
		"no id": `{"type":"payment_intent.succeeded","created":1795767302}`, "null fields": `{"id":null,"type":null,"created":null,"data":null}`,
		"created is text": `{"id":"evt_1","type":"x","created":"1795767302"}`, "created is far": `{"id":"evt_1","type":"x","created":1e400}`,
		"created beyond year 9999": `{"id":"evt_1","type":"x","created":9999999999999}`,
		"other object":             `{"id":"evt_1","object":"list","type":"payment_intent.succeeded","created":1795767302}`,
		"data null":                strings.Replace(snapshot("payment_intent.succeeded", paid), paid, "null", 1),
		"object is a list":         snapshot("charge.refunded", "[]"),
		"thin without time":        `{"id":"evt_1","object":"v2.core.event","type":"v1.x","created":1795767302}`,
	} {
		if ev := say(t, p, body); ev.Kind != models.EventUnparsable || ev.Detail == "" || ev.Money != (models.Money{}) {
			t.Errorf("%s: event %+v, want unparsable with a detail and no money", name, ev)
		}
	}
}

// What the shop or the payer wrote into a field that nobody needs does not cost the payment.
func TestUnusableTextElsewhere(t *testing.T) {
	body := snapshot("payment_intent.succeeded", strings.Replace(paid, `"object":"payment_intent"`, `"object":"payment_intent","description":"\ud83d","x":"\u0000"`, 1))
	if ev := say(t, mustNew(t, minimal), body); ev.Kind != models.PaymentSucceeded || ev.TransactionID != "ch_1" || ev.OrderID != "A1" {
		t.Errorf("event %+v, want the payment", ev)
	}
}

func TestLivemode(t *testing.T) {
	const live, test = `{"signing_secrets":["whsec_test_new"],"livemode":true}`, `{"signing_secrets":["whsec_test_new"],"livemode":false}`
	yes := strings.Replace(snapshot("payment_intent.succeeded", paid), `"livemode":false`, `"livemode":true`, 1)
	no := snapshot("payment_intent.succeeded", paid)
	missing := strings.Replace(no, `"livemode":false,`, "", 1)
	odd := strings.Replace(no, `"livemode":false`, `"livemode":"true"`, 1)
	for _, tc := range []struct {
		name, settings, body string
		want                 bool
	}{
		{"live, live", live, yes, false}, {"live, test", live, no, true}, {"live, missing", live, missing, true}, {"live, text", live, odd, true},
		{"test, live", test, yes, true}, {"test, test", test, no, false}, {"test, missing", test, missing, false},
		{"not set, live", minimal, yes, false}, {"not set, test", minimal, no, false},
	} {
		if ev := say(t, mustNew(t, tc.settings), tc.body); ev.TestMode != tc.want || ev.Kind != models.PaymentSucceeded {
			t.Errorf("%s: %s, test mode %t; want payment.succeeded, %t", tc.name, ev.Kind, ev.TestMode, tc.want)
		}
	}
}

func TestConnectedAccounts(t *testing.T) {
	listed := `{"signing_secrets":["whsec_test_new"],"accounts":["acct_ours"]}`
	of := func(account string) string {
		return strings.Replace(snapshot("payment_intent.succeeded", paid), `"id":"evt_1"`, `"id":"evt_1","account":`+account, 1)
	}
	inContext := func(context string) string {
		return strings.Replace(of(`null,"context":`+context), `"account":null,`, "", 1)
	}
	thin := `{"id":"evt_1","object":"v2.core.event","type":"v1.x","created":"2026-11-27T13:30:00Z","context":"acct_theirs"}`
	for _, tc := range []struct {
		settings, body string
		want           models.Reason
	}{
		{minimal, of(`"acct_ours"`), models.ReasonMerchant}, {listed, of(`"acct_ours"`), ""}, {listed, of(`"acct_theirs"`), models.ReasonMerchant},
		{listed, of(`1`), models.ReasonMerchant}, {minimal, of(`null`), ""}, {minimal, of(`""`), ""}, {minimal, thin, models.ReasonMerchant},
		{listed, strings.Replace(thin, "theirs", "ours", 1), ""}, {minimal, strings.Replace(thin, `"acct_theirs"`, "null", 1), ""},
		{minimal, inContext(`"acct_theirs"`), models.ReasonMerchant}, {listed, inContext(`"acct_theirs"`), models.ReasonMerchant},
		{listed, inContext(`"acct_ours"`), ""}, {minimal, inContext(`null`), ""}, {minimal, inContext(`""`), ""},
		{listed, inContext(`{"id":"acct_ours"}`), models.ReasonMerchant}, {listed, inContext(`7`), models.ReasonMerchant},
		{minimal, of(`null,"context":"acct_theirs"`), models.ReasonMerchant}, {minimal, of(`"","context":"acct_theirs"`), models.ReasonMerchant},
		{listed, of(`"acct_theirs","context":"acct_ours"`), models.ReasonMerchant},
	} {
		if got := reason(t, mustNew(t, tc.settings), request(header(secretNew, now, tc.body), tc.body)); got != tc.want {
			t.Errorf("%.90s: reason %q, want %q", tc.body, got, tc.want)
		}
	}
}

func TestReply(t *testing.T) {
	p := mustNew(t, minimal)
	for _, tc := range []struct {
		answer models.Answer
		want   int
	}{
		{models.Answer{Outcome: models.OutcomeApplied}, 200}, {models.Answer{Outcome: models.OutcomeIgnored}, 200},
		{models.Answer{Outcome: models.OutcomeUnreadable}, 400}, {models.Answer{Outcome: models.OutcomeUnreadable, Reason: models.ReasonMalformed}, 400},
		{models.Answer{Reason: models.ReasonSignature}, 401}, {models.Answer{Reason: models.ReasonTimestamp}, 401},
		{models.Answer{Reason: models.ReasonMerchant}, 403}, {models.Answer{Reason: models.ReasonMalformed}, 400},
		{models.Answer{Reason: models.ReasonTooLarge}, 413}, {models.Answer{}, 503},
	} {
		status, contentType, body := p.Reply(tc.answer)
		if status != tc.want || contentType != "application/json" || !strings.HasPrefix(body, `{"`) {
			t.Errorf("Reply(%+v) = %d %s %s, want %d with JSON", tc.answer, status, contentType, body, tc.want)
		}
	}
}

// No detail tells a secret or a body.
func TestRejectionsKeepSecrets(t *testing.T) {
	p, body := mustNew(t, minimal), snapshot("payment_intent.succeeded", strings.Replace(paid, "pi_1", "4242424242424242", 1))
	for _, cb := range []models.Callback{request("", body), request("t=1,v1=00", body), request(header(secretNew, now.Add(-time.Hour), body), body)} {
		_, err := p.Verify(context.Background(), cb)
		if err == nil || strings.Contains(err.Error(), "whsec_") || strings.Contains(err.Error(), "4242") {
			t.Errorf("error %v, want one without secret or body", err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	settings, err := os.ReadFile(kit + "/config.json")
	if err != nil {
		f.Fatal(err)
	}
	providertest.FuzzVerify(f, mustNew(f, string(settings)), kit, providertest.Varied("Stripe-Signature"))
}

// FuzzSigned: whatever is signed, there is one event or a rejection.
func FuzzSigned(f *testing.F) {
	for _, body := range []string{
		snapshot("payment_intent.succeeded", paid), snapshot("charge.dispute.closed", `{"id":"dp_1","status":"won"}`), `{}`, `null`, ``,
		snapshot("payout.updated", `{"id":"po_1","amount":-5,"currency":"usd","status":"paid"}`),
		`{"id":"evt_1","object":"v2.core.event","type":"v1.x","created":"2026-11-27T08:15:02Z","related_object":{"id":"pi_1"}}`,
	} {
		f.Add(body)
	}
	for _, rec := range providertest.Recordings(f, kit) {
		f.Add(string(rec.Body))
	}
	p := mustNew(f, minimal)
	f.Fuzz(func(t *testing.T, body string) {
		cb := request(header(secretNew, now, body), body)
		providertest.Bounded(t, len(body), func() {
			if reason(t, p, cb) != "" {
				return
			}
			events, _ := p.Verify(context.Background(), cb)
			if len(events) != 1 || events[0].Kind == "" || events[0].Money.Minor < 0 {
				t.Errorf("accepted as %+v", events)
			}
		})
	})
}
