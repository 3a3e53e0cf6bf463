package generic_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/models"
)

// refusal is a change of good settings, and how the error must begin.
type refusal struct {
	change func(object)
	want   string
}

func checkRefused(t *testing.T, refusals []refusal) {
	t.Helper()
	for _, r := range refusals {
		_, err := generic.New(settings(r.change), t.TempDir())
		if err == nil || !strings.HasPrefix(err.Error(), r.want) {
			t.Errorf("New = %v, want %s…", err, r.want)
		}
		if err != nil && strings.Contains(err.Error(), "second-secret-0123") {
			t.Errorf("a secret in the error: %v", err)
		}
	}
}

func top(key string, value any) func(object) { return func(s object) { s[key] = value } }

func within(section, key string, value any) func(object) {
	return func(s object) {
		if inner, ok := s[section].(object); ok {
			inner[key] = value
		}
	}
}

// F04, and all that would let a forger in or refuse everybody: refused at once, by its full path.
func TestSignatureSettingsAreRefused(t *testing.T) {
	signature := func(key string, value any) func(object) { return within("signature", key, value) }
	checkRefused(t, []refusal{
		{signature("secrets", nil), "settings.signature.secrets: empty"},
		{signature("secrets", []any{}), "settings.signature.secrets: empty"},
		{signature("secrets", ""), "settings.signature.secrets[0]: empty or blank"},
		{signature("secrets", []any{"good", " \t"}), "settings.signature.secrets[1]: empty or blank"},
		{signature("secrets", "\u200b\x07"), "settings.signature.secrets[0]: empty or blank"},
		{signature("secrets", "\u3164"), "settings.signature.secrets[0]: empty or blank"},
		{func(s object) {
			inner, _ := s["signature"].(object)
			inner["secrets"], inner["secret_strip_prefix"] = "whsec_\u200b", "whsec_"
		}, "settings.signature.secrets[0]: is not raw, or is nothing but its prefix"},
		{signature("secrets", []any{"${DEMO_SECRET}"}), "settings.signature.secrets[0]: ${DEMO_SECRET} is not filled in"},
		{signature("secrets", []any{17}), "settings.signature.secrets[0]: text expected"},
		{signature("secrets", "file:none.key"), "settings.signature.secrets[0]: open"},
		{signature("secret_encoding", "hex"), "settings.signature.secrets[0]: is not hex"},
		{signature("secret_strip_prefix", "first-secret-01234"), "settings.signature.secrets[0]: is not raw, or is nothing but its prefix"},
		{signature("templte", "{body}"), "settings.signature.templte: unknown key"},
		{signature("template", ""), `settings.signature.template: "" has no placeholder`},
		{signature("template", nil), "settings.signature.template: missing"},
		{signature("template", "fixed"), "settings.signature.template: \"fixed\" has no placeholder"},
		{signature("template", "{body"), "settings.signature.template: the placeholder {body is not closed"},
		{signature("from", "json:$.sig"), "settings.signature.from: json:$.sig is part of the template \"{header:X-Timestamp}.{body}\""},
		{signature("from", "header:x-timestamp"), "settings.signature.from: header:X-Timestamp is part of the template"},
		{signature("template", []any{"{header:X-Timestamp}.{json:txn}", "{header:X-Signature}"}), "settings.signature.from: header:X-Signature is part"},
		{signature("forbid", object{"header:X-Other": "."}), "settings.signature.forbid.header:X-Other: is no place of settings.signature.template"},
		{signature("forbid", object{"header:X-Timestamp": ""}), "settings.signature.forbid.header:X-Timestamp: missing"},
		{signature("forbid", "."), "settings.signature.forbid: an object"},
		{signature("template", "{bodi}"), "settings.signature.template: unknown placeholder {bodi}"},
		{signature("template", "{public_url}{body}"), "settings.signature.template: needs settings.public_url"},
		{signature("template", "{form:x}"), "settings.signature.template: form:x: the content is JSON"},
		{signature("template", "{sig:t}"), "settings.signature.template: sig:t: needs settings.signature.parse.form: kv"},
		{signature("kind", "none"), "settings.signature.kind: \"none\" is not one of hmac"},
		{signature("algorithm", "md5"), "settings.signature.algorithm: \"md5\" is not one of"},
		{signature("encoding", "base32"), "settings.signature.encoding:"},
		{signature("from", ""), "settings.signature.from: missing"},
		{signature("from", "cookie:x"), "settings.signature.from:"},
		{signature("parse", object{"form": "kv"}), "settings.signature.parse.key: missing"},
		{signature("parse", object{"form": "prefix", "prefx": "x", "prefix": "x"}), "settings.signature.parse.prefx: unknown key"},
		{signature("parse", object{"form": "pairs"}), "settings.signature.public_key: missing"},
		{signature("parse", "plain"), "settings.signature.parse: an object"},
		{signature("timestamp", object{"from": "header:X", "tolerance_seconds": 0}), "settings.signature.timestamp.tolerance_seconds:"},
		{signature("timestamp", object{"from": "header:X", "tolerance_seconds": "300"}), "settings.signature.timestamp.tolerance_seconds:"},
		{signature("timestamp", object{"from": "header:X", "tolerance_seconds": -300}), "settings.signature.timestamp.tolerance_seconds:"},
		{signature("timestamp", object{"from": "header:X", "tolerance_seconds": 86401}), "settings.signature.timestamp.tolerance_seconds: 86401, expected 1 to 86400"},
		{signature("timestamp", object{"from": "header:X", "future_tolerance_seconds": -1}), "settings.signature.timestamp.future_tolerance_seconds:"},
		{signature("timestamp", object{"from": "header:X", "future_tolerance_seconds": 86401}), "settings.signature.timestamp.future_tolerance_seconds: 86401"},
		{signature("timestamp", object{"unit": "s"}), "settings.signature.timestamp.from: missing"},
		{top("signature", nil), "settings.signature: missing"},
		{top("signature", object{"kind": "basic", "secrets": "user:\u200b"}), "settings.signature.secrets: user:password"},
		{top("signature", object{"kind": "basic", "secrets": "user"}), "settings.signature.secrets: user:password"},
	})
}

func TestOtherSettingsAreRefused(t *testing.T) {
	field := func(key string, value any) func(object) { return within("fields", key, value) }
	event := func(row object) func(object) { return top("events", []any{row}) }
	reply := func(key string, value object) func(object) { return top("reply", object{key: value}) }
	checkRefused(t, []refusal{
		{top("fields", nil), "settings.fields: missing"},
		{top("content", "xml"), "settings.content:"},
		{top("contnt", "json"), "settings.contnt: unknown key"},
		{top("timezone", "Mars/Olympus"), "settings.timezone:"},
		{top("provider", "acme pay"), `settings.provider: "acme pay": letters, digits, - and _`},
		{top("provider", "acme!"), "settings.provider:"},
		{top("provider", ""), "settings.provider:"},
		{top("provider", "../acme"), "settings.provider:"},
		{top("provider", 17), "settings.provider: text expected"},
		{top("livemode", true), "settings.livemode: needs settings.fields.livemode"},
		{top("livemode", "yes"), "settings.livemode: true or false"},
		{top("account", "M1"), "settings.account: needs settings.fields.account"},
		{top("events", nil), "settings.events: empty"},
		{top("events", "payment"), "settings.events: a list"},
		{event(object{"type": "payment"}), "settings.events[0].event: missing"},
		{event(object{"event": "payment.suceeded"}), `settings.events[0].event: "payment.suceeded" is no event`},
		{event(object{"event": "unparsable"}), "settings.events[0].event:"},
		{event(object{"event": "unknown", "success": true}), "settings.events[0].success: needs settings.fields.success"},
		{event(object{"event": "dispute.updated", "known": true}), "settings.events[0].known: is for events that move money"},
		{event(object{"event": "dispute.won", "known": "yes"}), "settings.events[0].known: true or false"},
		{event(object{"event": "unknown", "stats": "x"}), "settings.events[0].stats: unknown key"},
		{field("transaction_id", nil), "settings.events[0].event: needs settings.fields.transaction_id"},
		{field("currency", nil), "settings.events[0].event: needs settings.fields.currency"},
		{field("txn_id", "$.x"), "settings.fields.txn_id: unknown key"},
		{field("order_id", ""), "settings.fields.order_id"},
		{field("order_id", "$.a[x]"), "settings.fields.order_id"},
		{field("order_id", "$"), "settings.fields.order_id"},
		{field("order_id", object{"paths": "$.x"}), "settings.fields.order_id.path: missing"},
		{field("order_id", "form:x"), "settings.fields.order_id: form:x: the content is JSON"},
		{field("amount", object{"path": "$.a", "unit": "cents"}), "settings.fields.amount.unit:"},
		{field("amount", object{"path": "$.a", "digits": object{"XQQ": 2}}), "settings.fields.amount.digits.XQQ:"},
		{field("amount", object{"path": "$.a", "unit": "major", "digits": object{"ISK": 2}}), "settings.fields.amount.digits: means nothing beside the unit major"},
		{field("amount", object{"path": "$.a", "unit": "hundredths", "digits": object{"ISK": 0}}), "settings.fields.amount.digits: means nothing"},
		{top("statement", object{"digits": object{"ISK": 2}}), "settings.statement.digits: means nothing beside the unit major"},
		{field("currency", object{"const": "XXY"}), `settings.fields.currency.const: "XXY" is not an ISO 4217 code`},
		{field("currency", object{"path": "$.currency", "const": "cny"}), "settings.fields.currency.const:"},
		{field("status", object{"expr": `1 + "a"`}), "settings.fields.status.expr: expression \"1 + \\\"a\\\"\": + between a number and a text"},
		{top("comment", "\u0000"), "settings: not usable JSON: a string holds a NUL"},
		{field("occurred_at", object{"path": "$.a", "unit": "iso"}), "settings.fields.occurred_at.unit:"},
		{reply("ok", object{"status": 500}), "settings.reply.ok.status:"},
		{reply("rejected", object{"status": 200}), "settings.reply.rejected.status:"},
		{reply("temporary", object{"status": 404}), "settings.reply.temporary.status:"},
		{reply("ok", object{"status": 204, "body": "ok"}), "settings.reply.ok.body:"},
		{reply("okay", object{"status": 204}), "settings.reply.okay: unknown key"},
	})
}

func TestSettingsThatAreNoObject(t *testing.T) {
	for _, raw := range []string{"", "null", "[]", "{", `{"provider":"a","provider":"b"}`, `"text"`} {
		if _, err := generic.New(json.RawMessage(raw), ""); err == nil || !strings.HasPrefix(err.Error(), "settings: ") {
			t.Errorf("New(%s) = %v, want an error about settings", raw, err)
		}
	}
}

func TestSecretsFromFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"good.key": "first-secret-01234\r\n", "blank.key": " \n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(secret string) (*generic.Provider, error) {
		return generic.New(settings(func(s object) { s["signature"].(object)["secrets"] = secret }), dir)
	}
	for _, secret := range []string{"file:good.key", "file:" + filepath.Join(dir, "good.key")} {
		p, err := read(secret)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify(p, signed(payment, now)); err != nil {
			t.Errorf("%s: %v", secret, err)
		}
	}
	if _, err := read("file:blank.key"); err == nil || !strings.Contains(err.Error(), "settings.signature.secrets[0]: empty or blank") {
		t.Errorf("blank file: %v", err)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		change func(object)
		want   string
	}{
		{func(s object) { s["signature"].(object)["template"] = "{body}" }, "settings.signature.timestamp: not part of the signed text"},
		{func(s object) { s["signature"].(object)["template"] = []any{"{header:X-Timestamp}.{body}", "{body}"} }, "settings.signature.timestamp"},
		{func(s object) { s["signature"] = object{"kind": "static_token", "secrets": "t", "from": "header:X"} }, "settings.signature: does not cover the body"},
		{func(s object) { s["fields"].(object)["livemode"] = "$.live" }, "settings.livemode: not set"},
		{within("signature", "secrets", []any{"long-enough-to-be-no-guess", "short"}), "settings.signature.secrets[1]: 5 bytes: short"},
		{top("secrets", "short"), "settings.secrets[0]: 5 bytes: short"},
		{within("signature", "secret_min_bytes", 24), "settings.signature.secrets[0]: 18 bytes: short"},
	} {
		got := mustNew(t, settings(func(s object) {
			if c.change(s); s["secrets"] != nil {
				delete(s["signature"].(object), "secrets")
			}
		})).Warnings()
		if !slices.ContainsFunc(got, func(w string) bool { return strings.HasPrefix(w, c.want) }) {
			t.Errorf("Warnings = %q, want %s…", got, c.want)
		}
	}
	if got := mustNew(t, settings(nil)).Warnings(); len(got) != 0 {
		t.Errorf("Warnings = %q, want none", got)
	}
}

func TestReplies(t *testing.T) {
	type answer struct {
		status     int
		kind, body string
	}
	plain := mustNew(t, settings(nil))
	own := mustNew(t, settings(func(s object) {
		s["reply"] = object{
			"ok": object{"body": "OK"}, "ignored": object{"status": 202}, "rejected": object{"status": 400, "content_type": "application/json", "body": "{}"},
			"merchant": object{"status": 404}, "malformed": object{"status": 422}, "too_large": object{"status": 400},
			"unparsable": object{"status": 200}, "temporary": object{"status": 500},
		}
	}))
	const text = "text/plain; charset=utf-8"
	for _, c := range []struct {
		a          models.Answer
		plain, own answer
	}{
		{models.Answer{Outcome: models.OutcomeApplied}, answer{200, "", ""}, answer{200, text, "OK"}},
		{models.Answer{Outcome: models.OutcomeNoOrder}, answer{200, "", ""}, answer{200, text, "OK"}},
		{models.Answer{Outcome: models.OutcomeDuplicate}, answer{200, "", ""}, answer{200, text, "OK"}},
		{models.Answer{Outcome: models.OutcomeIgnored}, answer{200, "", ""}, answer{202, "", ""}},
		{models.Answer{Outcome: models.OutcomeUnreadable}, answer{422, "", ""}, answer{200, "", ""}},
		{models.Answer{Reason: models.ReasonSignature}, answer{401, "", ""}, answer{400, "application/json", "{}"}},
		{models.Answer{Reason: models.ReasonTimestamp}, answer{401, "", ""}, answer{400, "application/json", "{}"}},
		{models.Answer{Reason: models.ReasonMerchant}, answer{403, "", ""}, answer{404, "", ""}},
		{models.Answer{Reason: models.ReasonMalformed}, answer{400, "", ""}, answer{422, "", ""}},
		{models.Answer{Reason: models.ReasonTooLarge}, answer{413, "", ""}, answer{400, "", ""}},
		{models.Answer{}, answer{503, "", ""}, answer{500, "", ""}},
	} {
		for p, want := range map[*generic.Provider]answer{plain: c.plain, own: c.own} {
			status, kind, body := p.Reply(c.a)
			if got := (answer{status, kind, body}); got != want {
				t.Errorf("Reply(%+v) = %+v, want %+v", c.a, got, want)
			}
		}
	}
}
