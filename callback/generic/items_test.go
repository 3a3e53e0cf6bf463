package generic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/callback/providertest"
	"paybook/models"
)

// adyenSettings describe Adyen by settings alone: several items, each signed for itself, behind a user and password.
const adyenSettings = `{
 "items": {"path": "$.notificationItems", "wrapper": "NotificationRequestItem"},
 "signature": {
  "scope": "item", "from": "json:additionalData.hmacSignature", "encoding": "base64", "secret_encoding": "hex", "missing": "empty",
  "secrets": ["007E57DB249A3ADF556FC44FC941EDB65D827BACD4CF6BA5A28778D1CD6D7778", "934F08925E5D1FD1C8F9ED61DFFC938CB1C1EEA9C310B58E9AC6FB112200ECAD"],
  "basic_auth": "adyen-fixture:basic-auth-test-only",
  "template": "{json:pspReference}:{json:originalReference}:{json:merchantAccountCode}:{json:merchantReference}:{json:amount.value}:{json:amount.currency}:{json:eventCode}:{json:success}"
 },
 "account": "ExampleShopECOM", "livemode": false,
 "fields": {
  "event_type": "$.eventCode", "success": "$.success", "transaction_id": "$.pspReference", "parent_id": "$.originalReference",
  "order_id": "$.merchantReference", "account": "$.merchantAccountCode", "livemode": "envelope:$.live",
  "amount": {"path": "$.amount.value", "digits": {"CLP": 2, "ISK": 2, "CVE": 0, "IDR": 0}}, "currency": "$.amount.currency", "occurred_at": "$.eventDate"
 },
 "events": [
  {"type": "AUTHORISATION", "success": true, "event": "payment.authorised"}, {"type": "AUTHORISATION", "success": false, "event": "payment.failed"},
  {"type": "CAPTURE", "success": true, "event": "payment.captured"}, {"type": "REFUND", "success": true, "event": "refund.succeeded"},
  {"type": "REFUND", "success": false, "event": "refund.failed"}, {"type": "REFUND_FAILED", "success": true, "event": "refund.failed"},
  {"type": "NOTIFICATION_OF_CHARGEBACK", "event": "dispute.notified"}, {"type": "CHARGEBACK", "event": "dispute.opened"},
  {"type": "CHARGEBACK_REVERSED", "event": "dispute.won"}, {"type": "REPORT_AVAILABLE", "event": "report.available"}
 ],
 "reply": {"ok": {"body": "[accepted]"}}
}`

func TestAdyenBySettings(t *testing.T) {
	providertest.RunCallbacks(t, mustNew(t, json.RawMessage(adyenSettings)), testdata+"/adyen", providertest.UnsignedParts())
}

// itemSettings take several messages under one signature.
func itemSettings(t *testing.T, path string) *generic.Provider {
	t.Helper()
	return mustNew(t, settings(func(s object) { s["items"] = object{"path": path} }))
}

func TestItemsOfOneSignature(t *testing.T) {
	p := itemSettings(t, "$.data.messages")
	second := strings.NewReplacer(`"T1"`, `"T2"`, "19.99", "oops").Replace(payment)
	events, err := p.Verify(t.Context(), signed(`{"data":{"messages":[`+payment+","+second+`]}}`, now))
	if err != nil || len(events) != 2 || events[0].TransactionID != "T1" || events[0].Money.Minor != 1999 || events[1].Kind != models.EventUnparsable {
		t.Errorf("Verify = %+v, %v; want a payment and an unparsable one", events, err)
	}
	for _, body := range []string{
		"{}", `{"data":{}}`, `{"data":{"messages":[]}}`, `{"data":{"messages":null}}`, `{"data":{"messages":{"a":{}}}}`, `{"data":{"messages":["x"]}}`,
		`{"data":{"messages":[` + payment + `,null]}}`, `{"data":{"messages":[` + strings.Repeat("{},", 1000) + `{}]}}`,
	} {
		if events, err := p.Verify(t.Context(), signed(body, now)); reasonOf(err) != models.ReasonMalformed {
			t.Errorf("%.60s: %+v, %v; want malformed", body, events, err)
		}
	}
}

func TestItemSettingsAreRefused(t *testing.T) {
	checkRefused(t, []refusal{
		{top("items", object{}), "settings.items.path: missing"},
		{top("items", object{"path": "$"}), "settings.items.path: \"$\" leads to the whole document"},
		{top("items", object{"path": "$.a", "wraper": "x"}), "settings.items.wraper: unknown key"},
		{top("items", "$.a"), "settings.items: an object"},
		{within("signature", "scope", "item"), "settings.signature.scope: item needs settings.items"},
		{within("signature", "scope", "items"), "settings.signature.scope: \"items\" is not one of"},
		{within("fields", "status", "envelope:$.x"), "settings.fields.status: envelope:$.x: needs settings.items"},
		{within("signature", "basic_auth", []any{}), "settings.signature.basic_auth: empty"},
		{within("signature", "basic_auth", "user"), "settings.signature.basic_auth[0]: user:password expected"},
		{within("signature", "basic_auth", []any{"user:secret-word", " "}), "settings.signature.basic_auth[1]: empty or blank"},
	})
}

// A user and password beside the signature: both must be right.
func TestBasicAuthBesideASignature(t *testing.T) {
	p := mustNew(t, settings(within("signature", "basic_auth", []any{"old:first-password", "shop:pa:ss"})))
	for header, want := range map[string]models.Reason{
		"Basic c2hvcDpwYTpzcw==": "", "Basic c2hvcDpwYTpz": models.ReasonBasicAuth, "": models.ReasonBasicAuth, "Basic": models.ReasonBasicAuth,
	} {
		cb := signed(payment, now)
		cb.Headers.Set("Authorization", header)
		if _, err := verify(p, cb); want == "" && err != nil || want != "" && reasonOf(err) != want {
			t.Errorf("%q: %v, want %q", header, err, want)
		}
		cb.Headers = http.Header{"Authorization": {header}}
		if _, err := verify(p, cb); err == nil {
			t.Errorf("%q without a signature is accepted", header)
		}
	}
}
