package generic_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback/generic"
	"paybook/callback/providertest"
	"paybook/models"
)

// presetSettings are the least that an account of each preset must say.
var presetSettings = map[string]string{
	"braintree":        `{"secrets":["bt-private-test-only"],"signature":{"public_key":"TESTPUB"}}`,
	"mercadopago":      `{"secrets":["mercadopago-secret-test-only"]}`,
	"mollie":           `{"secrets":["mollie-secret-test-only"]}`,
	"paystack":         `{"secrets":["sk_TESTONLY_paystack"]}`,
	"razorpay":         `{"secrets":["razorpay-secret-test-only"]}`,
	"square":           `{"secrets":["square-key-test-only"],"public_url":"https://shop.example/webhooks/square"}`,
	"standardwebhooks": `{"secrets":["whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4="]}`,
	"xendit":           `{"secrets":["xendit-callback-token-test-only"]}`,
}

func mustPreset(tb testing.TB, name, settings string) *generic.Provider {
	tb.Helper()
	p, err := generic.NewPreset(name)(json.RawMessage(settings), tb.TempDir())
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return p
}

func TestPresetsNeedNothingButSecrets(t *testing.T) {
	if len(presetSettings) != len(generic.Presets()) || !slices.IsSorted(generic.Presets()) {
		t.Errorf("Presets = %q, want those of this test, sorted", generic.Presets())
	}
	for _, name := range generic.Presets() {
		p := mustPreset(t, name, presetSettings[name])
		if p.Name() != name {
			t.Errorf("%s is called %q", name, p.Name())
		}
		for _, w := range p.Warnings() {
			if unsigned := name == "xendit" || name == "mercadopago"; !strings.HasPrefix(w, "settings.livemode: not set") && !(unsigned && strings.HasPrefix(w, "settings.signature: does not cover")) {
				t.Errorf("%s as shipped warns: %s", name, w)
			}
		}
	}
}

// vectorPresets are the presets that each published vector is of.
var vectorPresets = map[string]string{"mollie-nextgen": "mollie", "mercadopago-case-kept": "mercadopago"}

// TestPresetsTakeTheVectors: a preset with nothing but the vector's own secret and addresses takes it, and no changed one.
func TestPresetsTakeTheVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		own := object{"secrets": []any{v.Secret}}
		if v.Knobs.PublicKey != "" {
			own["signature"] = object{"public_key": v.Knobs.PublicKey}
		}
		if v.Knobs.PublicURL != "" {
			own["public_url"] = v.Knobs.PublicURL
		}
		raw, err := json.Marshal(own)
		if err != nil {
			t.Fatal(err)
		}
		p := mustPreset(t, cmp.Or(vectorPresets[v.Name], v.Name), string(raw))
		if e, err := verify(p, v.callback()); err != nil || e.Kind == models.EventUnparsable || e.Kind == models.EventUnknown {
			t.Errorf("%s: %+v, %v", v.Name, e, err)
		}
		for part, cb := range v.tampered() {
			if _, err := verify(p, cb); reasonOf(err) != models.ReasonSignature {
				t.Errorf("%s: %s changed: %v, want a refusal for signature", v.Name, part, err)
			}
		}
	}
}

// An account's settings go over the shipped ones: objects key by key, lists and words whole, null takes away.
func TestPresetsAreOverlaid(t *testing.T) {
	p := mustPreset(t, "standardwebhooks", `{"provider":"mine","comment":"x","path":"/callbacks/x","secrets":"whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4=",
		"signature":{"timestamp":{"tolerance_seconds":60}},"fields":{"transaction_id":"$.data.txn","amount":{"unit":"major"},"parent_id":null},
		"events":[{"type":"payment.*","event":"payment.succeeded"}],"reply":{"ok":null}}`)
	sent := webhook("v1," + base64.StdEncoding.EncodeToString(macOf(sha256.New, webhookSecret, webhookText())))
	if e, err := verify(p, sent); err != nil || e.Kind != models.EventUnparsable || e.Detail != "transaction_id: missing" {
		t.Errorf("the place of the id is replaced: %+v, %v", e, err)
	}
	if status, _, _ := p.Reply(models.Answer{Outcome: models.OutcomeApplied}); status != 200 {
		t.Errorf("reply.ok is taken away, and still answers %d", status)
	}
	sent.ReceivedAt = now.Add(61 * time.Second)
	if _, err := verify(p, sent); reasonOf(err) != models.ReasonTimestamp {
		t.Errorf("61 seconds old: %v, want a refusal for timestamp", err)
	}
	if p.Name() != "standardwebhooks" {
		t.Errorf("Name = %q", p.Name())
	}
}

func TestPresetSettingsAreRefused(t *testing.T) {
	for _, c := range []struct{ preset, settings, want string }{
		{"razorpay", ``, "settings.signature.secrets: empty"},
		{"razorpay", `null`, "settings.signature.secrets: empty"},
		{"razorpay", `{}`, "settings.signature.secrets: empty"},
		{"razorpay", `{"secrets":[]}`, "settings.secrets: empty"},
		{"razorpay", `{"secrets":["good-secret-of-the-shop"," "]}`, "settings.secrets[1]: empty or blank"},
		{"razorpay", `{"secrets":["${RAZORPAY_SECRET}"]}`, "settings.secrets[0]: ${RAZORPAY_SECRET} is not filled in"},
		{"razorpay", `{"signature":{"secrets":"${X}"}}`, "settings.signature.secrets[0]: ${X} is not filled in"},
		{"razorpay", `{"secrets":"a","signature":{"secrets":"b"}}`, "settings.secrets: given twice"},
		{"razorpay", `{"secrets":"a","secret":"b"}`, "settings.secret: unknown key"},
		{"razorpay", `{"secrets":"a","fields":{"order_no":"$.x"}}`, "settings.fields.order_no: unknown key"},
		{"razorpay", `{"secrets":"a","fields":{"order_id":"$.a-b"}}`, "settings.fields.order_id: \"$.a-b\""},
		{"razorpay", `{"secrets":"a","secrets":"b"}`, "settings: not usable JSON"},
		{"razorpay", `{"secrets":"a","signature":"x"}`, "settings.signature: an object"},
		{"razorpay", `[]`, "settings: "},
		{"square", `{"secrets":"a"}`, "settings.signature.template: needs settings.public_url"},
		{"braintree", `{"secrets":"a"}`, "settings.signature.public_key: missing"},
		{"standardwebhooks", `{"secrets":"not base64!"}`, "settings.secrets[0]: is not base64"},
		{"acmepay", `{"secrets":"a"}`, `there is no preset "acmepay"; there is braintree, mercadopago`},
		{"../presets/razorpay", `{"secrets":"a"}`, "there is no preset"},
	} {
		_, err := generic.NewPreset(c.preset)(json.RawMessage(c.settings), t.TempDir())
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "good-secret") {
			t.Errorf("%s %s: %v, want %s…", c.preset, c.settings, err, c.want)
		}
	}
}

// sent is a body as the provider of a kit would send it.
func (k *kit) sent(body, query string) models.Callback {
	headers := map[string]string{}
	k.sign(body, query, headers, k.secret)
	cb := models.Callback{Method: "POST", Query: query, Body: []byte(body), ReceivedAt: now, Headers: http.Header{}}
	for name, value := range headers {
		cb.Headers.Set(name, value)
	}
	return cb
}

// The end of a dispute often states no deducted amount, also where one was deducted: it counts if the dispute is booked.
func TestRazorpayDisputes(t *testing.T) {
	k, p := razorpayKit(), mustPreset(t, "razorpay", `{"secrets":["razorpay-webhook-secret-TEST-ONLY"]}`)
	for _, c := range []struct {
		event     string
		deducted  string
		want      models.EventKind
		onlyKnown bool
	}{
		{"created", "150000", models.DisputeOpened, false}, {"created", "0", models.DisputeCreated, false}, {"created", "null", models.DisputeCreated, false},
		{"won", "150000", models.DisputeWon, false}, {"won", "0", models.DisputeWon, true}, {"won", "null", models.DisputeWon, true},
		{"closed", "0", models.DisputeWon, true}, {"closed", "150000", models.DisputeWon, true},
		{"lost", "0", models.DisputeLost, false}, {"under_review", "0", models.DisputeUpdated, false}, {"action_required", "150000", models.DisputeUpdated, false},
	} {
		body := fmt.Sprintf(`{"event":"payment.dispute.%s","payload":{"dispute":{"entity":{"id":"disp_1","payment_id":"pay_1","amount":150000,"currency":"INR",`+
			`"amount_deducted":%s,"created_at":1795776000}}},"created_at":1795776000}`, c.event, c.deducted)
		got, err := verify(p, k.sent(body, ""))
		if err != nil || got.Kind != c.want || got.OnlyKnown != c.onlyKnown || got.TransactionID != "disp_1" || got.ParentID != "pay_1" {
			t.Errorf("%s, %s deducted: %+v, %v; want %s, only known: %v", c.event, c.deducted, got, err, c.want, c.onlyKnown)
		}
	}
}

// A refund under way that has no name yet is acknowledged: an answer of 422 would have it told again for three days. One that has
// happened moves money, and must have a name.
func TestPaystackRefundsWithoutID(t *testing.T) {
	k, p := paystackKit(), mustPreset(t, "paystack", `{"secrets":["sk_test_TESTONLY_paystack_secret_key"]}`)
	for _, c := range []struct {
		event, names string
		want         models.EventKind
		id           string
	}{
		{"refund.pending", `"refund_reference":null`, models.EventUnknown, ""}, {"refund.pending", `"x":1`, models.EventUnknown, ""},
		{"refund.processing", `"id":null,"refund_reference":null`, models.EventUnknown, ""},
		{"refund.pending", `"refund_reference":"R1"`, models.RefundPending, "R1"}, {"refund.processing", `"id":7`, models.RefundPending, "7"},
		{"refund.processed", `"refund_reference":null`, models.EventUnparsable, ""}, {"refund.processed", `"refund_reference":"R1"`, models.RefundSucceeded, "R1"},
		{"refund.failed", `"id":7`, models.RefundFailed, "7"}, {"refund.pending", `"id":"\u0000"`, models.EventUnparsable, ""},
	} {
		body := fmt.Sprintf(`{"event":%q,"data":{"status":"x","transaction_reference":"ORD-1",%s,"amount":"10000","currency":"NGN","domain":"live"}}`, c.event, c.names)
		if got, err := verify(p, k.sent(body, "")); err != nil || got.Kind != c.want || c.id != "" && got.TransactionID != c.id {
			t.Errorf("%s with %s: %+v, %v; want %s of %q", c.event, c.names, got, err, c.want, c.id)
		}
	}
}

// What the query says goes before the body, which is not signed and may be empty.
func TestMercadoPagoReadsTheQueryFirst(t *testing.T) {
	k, p := mercadopagoKit(), mustPreset(t, "mercadopago", `{"secrets":["mercadopago-secret-TEST-ONLY"],"livemode":true}`)
	for _, c := range []struct {
		query, body string
		want        models.EventKind
		id          string
	}{
		{"data.id=7&type=payment", `{}`, models.EventThin, "7"},
		{"data.id=7&type=payment", `{"type":"plan","data":{"id":"8"}}`, models.EventThin, "7"},
		{"data.id=7&type=plan", `{"type":"payment","data":{"id":"8"}}`, models.EventUnknown, "7"},
		{"data.id=7&x=1", `{"type":"payment","data":{"id":"8"},"date_created":"yesterday","id":[]}`, models.EventThin, "7"},
		{"data.id=7&x=1", `{}`, models.EventUnparsable, ""},
	} {
		cb := k.sent(c.body, c.query)
		cb.ReceivedAt = time.Unix(1795767304, 0)
		if got, err := verify(p, cb); err != nil || got.Kind != c.want || got.TransactionID != c.id || got.TestMode {
			t.Errorf("%s %s: %+v, %v; want %s of %q", c.query, c.body, got, err, c.want, c.id)
		}
	}
	cb := k.sent(`{"live_mode":false}`, "data.id=7&type=payment")
	cb.ReceivedAt = time.Unix(1795767304, 0)
	if got, err := verify(p, cb); err != nil || !got.TestMode {
		t.Errorf("%+v, %v; want the other mode", got, err)
	}
}

// Standard Webhooks forbids a dot in the id: the signed text is id.timestamp.body.
func TestStandardWebhooksIDHasNoDot(t *testing.T) {
	p := mustPreset(t, "standardwebhooks", presetSettings["standardwebhooks"])
	for id, fine := range map[string]bool{"msg_1": true, "msg.1": false} {
		cb := webhook("")
		cb.Headers.Set("webhook-id", id)
		text := id + "." + cb.Headers.Get("webhook-timestamp") + "." + string(cb.Body)
		cb.Headers.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(macOf(sha256.New, webhookSecret, text)))
		if _, err := verify(p, cb); fine && err != nil || !fine && reasonOf(err) != models.ReasonSignature {
			t.Errorf("%s: %v, want accepted: %v", id, err, fine)
		}
	}
}

// FuzzPresets: whatever is signed, and whatever the provider, nothing is booked by halves.
func FuzzPresets(f *testing.F) {
	for _, k := range kits() {
		for _, s := range k.shots {
			f.Add(s.body, s.query)
		}
	}
	all := map[string]*generic.Provider{}
	for _, k := range kits() {
		all[k.name] = openKit(f, k.name)
	}
	f.Fuzz(func(t *testing.T, body, query string) {
		for _, k := range kits() {
			headers := map[string]string{}
			if k.name != "mercadopago" {
				k.sign(body, query, headers, k.secret)
			}
			cb := models.Callback{Method: "POST", Query: query, Body: []byte(body), ReceivedAt: now, Headers: http.Header{}}
			for name, value := range headers {
				cb.Headers.Set(name, value)
			}
			var e models.Event
			var err error
			providertest.Bounded(t, len(body)+len(query), func() { e, err = verify(all[k.name], cb) })
			if err != nil {
				if refusal := (*models.Rejection)(nil); !errors.As(err, &refusal) {
					t.Fatalf("%s: %v, want a rejection", k.name, err)
				}
				continue
			}
			if strings.HasSuffix(string(e.Kind), ".succeeded") && (e.TransactionID == "" || e.Money.Currency == "" || e.Money.Minor < 0) {
				t.Fatalf("%s: half an event: %+v", k.name, e)
			}
		}
	})
}
