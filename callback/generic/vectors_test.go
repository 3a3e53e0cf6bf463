package generic_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/models"
)

// vector is one signed request in the manner of a well-known provider, with the settings that verify it.
type vector struct {
	Name      string
	Secret    string
	Headers   map[string]string
	Query     string
	Body      []byte `json:"body_base64"`
	Algorithm string
	Encoding  string
	Template  string `json:"signed_template"`
	Knobs     struct {
		PublicURL     string `json:"public_url"`
		PublicKey     string `json:"public_key"`
		KeyDerivation string `json:"key_derivation"`
		Prefix        string
		Parse         object
	}
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	raw, err := os.ReadFile(testdata + "/demopay/signature_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []vector
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// vectorSources says where each provider puts its signature.
var vectorSources = map[string]string{
	"razorpay": "header:X-Razorpay-Signature", "paystack": "header:x-paystack-signature",
	"square": "header:x-square-hmacsha256-signature", "xendit": "header:x-callback-token",
	"mollie-nextgen": "header:X-Mollie-Signature", "mercadopago": "header:x-signature",
	"mercadopago-case-kept": "header:x-signature", "braintree": "form:bt_signature",
}

func (v vector) provider(t *testing.T) *generic.Provider {
	return mustNew(t, settings(func(s object) {
		signature := object{"secrets": v.Secret, "from": vectorSources[v.Name]}
		switch {
		case v.Algorithm == "static_token":
			signature["kind"] = v.Algorithm
		default:
			maps.Copy(signature, object{"algorithm": v.Algorithm, "encoding": v.Encoding, "template": v.Template})
		}
		if v.Knobs.Prefix != "" {
			signature["parse"] = object{"form": "prefix", "prefix": v.Knobs.Prefix}
		}
		if v.Knobs.Parse != nil {
			signature["parse"] = v.Knobs.Parse
		}
		if v.Knobs.PublicKey != "" {
			signature["public_key"], signature["derivation"] = v.Knobs.PublicKey, v.Knobs.KeyDerivation
		}
		if v.Knobs.PublicURL != "" {
			s["public_url"] = v.Knobs.PublicURL
		}
		if v.Name == "braintree" {
			s["content"] = "form"
			s["fields"] = object{"event_type": "form:bt_payload"}
			s["events"] = []any{object{"type": "*", "event": "thin"}}
		}
		if strings.HasPrefix(v.Name, "mercadopago") { // it does not sign the body
			idsOnly(s)
		}
		s["signature"] = signature
	}))
}

// idsOnly are settings of a provider whose callbacks tell ids only.
func idsOnly(s object) { s["events"] = []any{object{"event": "thin"}} }

func (v vector) callback() models.Callback {
	headers := http.Header{}
	for name, value := range v.Headers {
		headers.Set(name, value)
	}
	return models.Callback{Headers: headers, Query: v.Query, Body: slices.Clone(v.Body), ReceivedAt: now}
}

func TestSignatureVectors(t *testing.T) {
	vectors := readVectors(t)
	if len(vectors) != len(vectorSources) {
		t.Fatalf("%d vectors, want %d", len(vectors), len(vectorSources))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			p := v.provider(t)
			if _, err := verify(p, v.callback()); err != nil {
				t.Fatalf("the vector is refused: %v", err)
			}
			for part, cb := range v.tampered() {
				if _, err := verify(p, cb); reasonOf(err) != models.ReasonSignature {
					t.Errorf("%s changed: %v, want a refusal for signature", part, err)
				}
			}
		})
	}
}

// tampered are the vector's requests with one change in a part that is signed.
func (v vector) tampered() map[string]models.Callback {
	out := map[string]models.Callback{}
	name := strings.TrimPrefix(vectorSources[v.Name], "header:")
	if value, ok := v.Headers[name]; ok {
		cb := v.callback()
		cb.Headers.Set(name, strings.Replace(value, value[len(value)-8:], "00000000", 1))
		out["signature"] = cb
	}
	switch {
	case v.Algorithm == "static_token": // signs nothing
	case strings.Contains(v.Template, "{query:"):
		cb := v.callback()
		cb.Query = strings.Replace(cb.Query, "ABC", "ABD", 1)
		out["query"] = cb
		cb = v.callback()
		cb.Headers.Set("x-request-id", "req-TEST-2")
		out["request id"] = cb
		cb = v.callback()
		cb.Headers.Set("x-signature", strings.Replace(cb.Headers.Get("x-signature"), "ts=1", "ts=2", 1))
		out["time"] = cb
	default:
		cb := v.callback()
		cb.Body[len(cb.Body)/2] ^= 1
		out["body"] = cb
	}
	return out
}

// Mercado Pago's two spellings in one configuration, and its rule that what is missing drops its segment.
func TestSeveralTemplatesAndDroppedSegments(t *testing.T) {
	build := func(missing string) *generic.Provider {
		return mustNew(t, settings(func(s object) {
			idsOnly(s)
			s["signature"] = object{
				"secrets": "mp-test-only", "from": "header:x-signature", "missing": missing,
				"parse": object{"form": "kv", "separator": ",", "key": "v1"},
				"template": []any{
					"id:{query:data.id|lower};request-id:{header:x-request-id};ts:{sig:ts};",
					"id:{query:data.id};request-id:{header:x-request-id};ts:{sig:ts};",
				},
				"timestamp": object{"from": "{sig:ts}", "unit": "auto", "tolerance_seconds": 86400},
			}
		}))
	}
	p := build("drop_segment")
	for _, v := range readVectors(t) {
		if strings.HasPrefix(v.Name, "mercadopago") {
			if _, err := verify(p, v.callback()); err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
		}
	}
	cb := models.Callback{Body: []byte(payment), ReceivedAt: now, Headers: http.Header{}}
	cb.Headers.Set("x-signature", "ts=1795921200,v1="+macHex("mp-test-only", "ts:1795921200;"))
	if _, err := verify(p, cb); err != nil {
		t.Errorf("only the time is there, and it is signed: %v", err)
	}
	if _, err := verify(build("fail"), cb); reasonOf(err) != models.ReasonSignature {
		t.Errorf("missing: fail: %v, want a refusal", err)
	}
	cb.Headers.Set("x-signature", "ts=1795921200,v1="+macHex("mp-test-only", "id:;request-id:;ts:1795921200;"))
	if _, err := verify(build("empty"), cb); err != nil {
		t.Errorf("missing: empty: %v", err)
	}
}

// A signature inside the JSON body, as some providers have it: the body is read for it, and acted on only if it is right.
func TestSignatureInTheBody(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["signature"] = object{"secrets": "k", "from": "json:sign", "missing": "empty",
			"template": "{json:txn}:{json:amount}:{json:extra.list[0]}:{json:type}{json:status}:{json:order}:{json:parent}:{json:currency}"}
	}))
	body := func(txn string) models.Callback {
		text := strings.Replace(payment, `"T1"`, `"`+txn+`","sign":"`+macHex("k", "T1:19.99::paymentSUCCESS:O1::CNY")+`"`, 1)
		return models.Callback{Body: []byte(text), ReceivedAt: now}
	}
	if got, err := verify(p, body("T1")); err != nil || got.TransactionID != "T1" {
		t.Errorf("Verify = %+v, %v", got, err)
	}
	if _, err := verify(p, body("T2")); reasonOf(err) != models.ReasonSignature {
		t.Errorf("another id: %v, want a refusal for signature", err)
	}
	if _, err := verify(p, models.Callback{Body: []byte("{"), ReceivedAt: now}); reasonOf(err) != models.ReasonSignature {
		t.Errorf("broken body: %v, want a refusal for signature", err)
	}
}

// F02: several signatures, good and bad, known and unknown, in any order.
func TestSeveralSignatures(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["signature"] = object{
			"secrets": []any{"old", "new"}, "from": "header:Sig", "parse": object{"form": "kv", "key": "v1"},
			"template": "{sig:t}.{body}", "timestamp": object{"from": "{sig:t}"},
		}
	}))
	good, bad := macHex("new", "1795921200."+payment), strings.Repeat("ab", 32)
	for text, ok := range map[string]bool{
		"t=1795921200,v1=" + good + ",v1=" + bad: true, "t=1795921200,v1=" + bad + ",v0=x, v1=" + good: true,
		"v1=" + good + ",t=1795921200": true, "t=1795921200,v0=" + good: false, "t=1795921201,v1=" + good: false, "v1=" + good: false,
		"t=1795921200,v1=" + bad + ",v1=": false,
	} {
		cb := models.Callback{Body: []byte(payment), ReceivedAt: now, Headers: http.Header{"Sig": {text}}}
		if _, err := verify(p, cb); ok && err != nil || !ok && reasonOf(err) != models.ReasonSignature {
			t.Errorf("%s: %v, want accepted: %v", text, err, ok)
		}
	}
}
