package generic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/models"
)

// What is not signed must not move money: whoever has an old callback could change it and send it again.
func TestUnsignedFieldsAreRefused(t *testing.T) {
	both := func(changes ...func(object)) func(object) {
		return func(s object) {
			for _, change := range changes {
				change(s)
			}
		}
	}
	template := func(text any) func(object) { return within("signature", "template", text) }
	const all = "{header:X-Timestamp}.{json:type}.{json:status}.{json:txn}.{json:order}.{json:parent}.{json:amount}.{json:currency}"
	without := func(place string) func(object) { return template(strings.Replace(all, "{json:"+place+"}", "", 1)) }
	checkRefused(t, []refusal{
		{template("{header:X-Timestamp}"), "settings.fields.event_type: json:$.type is not part of what is signed"},
		{without("status"), "settings.fields.status: json:$.status is not"},
		{without("txn"), "settings.fields.transaction_id: json:$.txn is not"},
		{without("parent"), "settings.fields.parent_id: json:$.parent is not"},
		{without("order"), "settings.fields.order_id: json:$.order is not"},
		{without("amount"), "settings.fields.amount: json:$.amount is not"},
		{without("currency"), "settings.fields.currency: json:$.currency is not"},
		{both(template(all), within("fields", "success", "$.ok")), "settings.fields.success: json:$.ok is not"},
		{both(template(all), within("fields", "aliases", "$.also")), "settings.fields.aliases: json:$.also is not"},
		{template([]any{"{header:X-Timestamp}.{body}", all, "{header:X-Timestamp}"}), "settings.fields.event_type: json:$.type is not"},
		{within("fields", "order_id", []any{"$.order", "query:order"}), "settings.fields.order_id: query:order is not"},
		{within("fields", "amount", "header:X-Amount"), "settings.fields.amount: header:X-Amount is not"},
		{within("fields", "order_id", object{"expr": `body.order ?? header["x-order"]`}), "settings.fields.order_id: header:X-Order is not"},
		{within("fields", "order_id", object{"expr": `query.order`}), "settings.fields.order_id: query:order is not"},
		{within("fields", "order_id", object{"expr": `let q = query; q.order`}), "settings.fields.order_id: query is not"},
		{both(template(all), within("fields", "order_id", object{"expr": `body.order + body.shop[0].name`})), `settings.fields.order_id: json:$["shop"][0]["name"] is not`},
		{both(template(all), within("fields", "order_id", object{"expr": `first(filter(body.list, .a == 1)).b`})), `settings.fields.order_id: json:$["list"] is not`},
	})
	for name, change := range map[string]func(object){
		"each place":     template(all),
		"const":          both(without("currency"), within("fields", "currency", object{"const": "CNY"})),
		"expressions":    both(template(all), within("fields", "order_id", object{"expr": `split(body["order"], "#")[0] + (body.parent ?? "")`})),
		"the query":      both(template("{raw_query}{body}"), within("fields", "order_id", "query:order"), within("fields", "status", object{"expr": "query.state"})),
		"time, event id": both(template(all), within("fields", "occurred_at", "header:X-At"), within("fields", "event_id", "header:X-Id")),
		"ids only":       both(template("{header:X-Timestamp}"), idsOnly),
		"notes only":     both(template("{header:X-Timestamp}"), top("events", []any{object{"event": "dispute.updated"}})),
		"a fixed token":  top("signature", object{"kind": "static_token", "secrets": "a-token-of-16-bytes", "from": "header:X-Token"}),
		"user, password": top("signature", object{"kind": "basic", "secrets": "user:password"}),
	} {
		if _, err := generic.New(settings(change), ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := generic.New(json.RawMessage(adyenSettings), ""); err != nil {
		t.Error(err)
	}
}

// Nonsense in what is not signed is a stranger's: the time of receipt stands in, and no message is lost for it.
func TestUnsignedTimeAndID(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		within("fields", "occurred_at", "$.at")(s)
		within("fields", "event_id", "$.id")(s)
		within("signature", "template", "{json:type}{json:status}{json:txn}{json:order}{json:parent}{json:amount}{json:currency}")(s)
		within("signature", "timestamp", nil)(s)
		within("signature", "missing", "empty")(s)
	}))
	for _, text := range []string{`"x"`, `"\ud800"`, "null", `["2026"]`} {
		body := strings.NewReplacer(`"2026-11-29T10:59:58+08:00"`, text, `"e1"`, text).Replace(payment)
		cb := models.Callback{Body: []byte(body), ReceivedAt: now, Headers: http.Header{"X-Signature": {macHex("first-secret-01234", "paymentSUCCESST1O119.99CNY")}}}
		if got, err := verify(p, cb); err != nil || got.Kind != models.PaymentSucceeded || !got.OccurredAt.Equal(now) {
			t.Errorf("%s: %+v, %v; want the payment, at the time of receipt", text, got, err)
		}
	}
}

// A dot in the id of a message would let id.timestamp.body be cut in another way; Standard Webhooks forbids it.
func TestForbiddenCharacters(t *testing.T) {
	forbidding := mustNew(t, settings(func(s object) {
		withID(s)
		within("signature", "forbid", object{"header:X-Id": ".|"})(s)
	}))
	plain := mustNew(t, settings(withID))
	for id, fine := range map[string]bool{"msg_1": true, "": true, "msg.1": false, "a|b": false, ".": false} {
		cb := signed(payment, now)
		sent := cb.Headers.Get("X-Timestamp")
		cb.Headers.Set("X-Id", id)
		cb.Headers.Set("X-Signature", macHex("first-secret-01234", fmt.Sprintf("%s.%s.%s", id, sent, payment)))
		if _, err := verify(plain, cb); err != nil {
			t.Errorf("%q: %v without settings.signature.forbid", id, err)
		}
		_, err := verify(forbidding, cb)
		if fine && err != nil || !fine && (reasonOf(err) != models.ReasonSignature || !strings.Contains(err.Error(), "header:X-Id")) {
			t.Errorf("%q: %v, want accepted: %v", id, err, fine)
		}
	}
}

func withID(s object) {
	within("signature", "template", "{header:X-Id}.{header:X-Timestamp}.{body}")(s)
	within("signature", "missing", "empty")(s)
}

// The names under which a secret comes as it is, for whoever shows callbacks to people.
func TestSecrets(t *testing.T) {
	for want, signature := range map[string]object{
		"[] []":                      {"secrets": "a-secret-of-16-bytes", "from": "header:X-Tok", "template": "{body}"},
		"[X-Tok] []":                 {"kind": "static_token", "secrets": "a-token-of-16-bytes", "from": "header:x-tok"},
		"[] [tok]":                   {"kind": "static_token", "secrets": "a-token-of-16-bytes", "from": "query:tok"},
		"[Authorization] []":         {"kind": "basic", "secrets": "user:password"},
		"[Authorization X-Token] []": {"kind": "static_token", "secrets": "a-token-of-16-bytes", "from": "header:X-Token", "basic_auth": "user:password"},
		"[Authorization] [] ":        {"secrets": "a-secret-of-16-bytes", "from": "header:X-Tok", "template": "{body}", "basic_auth": "user:password"},
	} {
		headers, parameters := mustNew(t, settings(top("signature", signature))).Secrets()
		if got := fmt.Sprint(headers, parameters); got != strings.TrimSuffix(want, " ") {
			t.Errorf("%v: %s, want %s", signature, got, want)
		}
	}
}
