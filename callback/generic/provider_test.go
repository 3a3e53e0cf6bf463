package generic_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"paybook/callback/generic"
	"paybook/callback/providertest"
)

const testdata = "../../testdata"

func TestDemopay(t *testing.T) {
	providertest.Run(t, mustOpen(t, "demopay"), testdata+"/demopay", providertest.Signed("X-Demo-Timestamp"))
}

func TestStandardWebhooks(t *testing.T) {
	providertest.RunCallbacks(t, mustOpen(t, "standardwebhooks"), testdata+"/standardwebhooks",
		providertest.Signed("webhook-id", "webhook-timestamp"))
}

func TestNameAndCalendar(t *testing.T) {
	p := mustOpen(t, "demopay")
	if zone, cut := p.Calendar(); p.Name() != "demopay" || zone != "Asia/Shanghai" || cut != 0 {
		t.Errorf("Name, Calendar = %q, %q, %v; want demopay, Asia/Shanghai, 0", p.Name(), zone, cut)
	}
	if w := p.Warnings(); len(w) != 0 {
		t.Errorf("Warnings = %q, want none", w)
	}
	p = mustNew(t, settings(nil))
	if zone, _ := p.Calendar(); p.Name() != generic.Name || zone != "UTC" {
		t.Errorf("Name, Calendar = %q, %q; want generic, UTC", p.Name(), zone)
	}
	p = mustNew(t, settings(func(s object) { s["timezone"] = "Asia/Tokyo" }))
	if zone, _ := p.Calendar(); zone != "Asia/Tokyo" {
		t.Errorf("Calendar = %q, want the zone of the settings", zone)
	}
}

// object is a piece of settings.
type object = map[string]any

// settings is a small whole set: HMAC over time and body, JSON. change makes it another.
func settings(change func(object)) json.RawMessage {
	s := object{
		"signature": object{
			"secrets": []any{"first-secret-01234", "second-secret-0123"}, "from": "header:X-Signature",
			"template":  "{header:X-Timestamp}.{body}",
			"timestamp": object{"from": "header:X-Timestamp"},
		},
		"fields": object{
			"event_id": "$.id", "event_type": "$.type", "status": "$.status", "transaction_id": "$.txn", "order_id": "$.order",
			"parent_id": "$.parent", "amount": object{"path": "$.amount", "unit": "major"}, "currency": "$.currency",
			"occurred_at": "$.at",
		},
		"events": []any{
			object{"type": "payment", "status": "SUCCESS", "event": "payment.succeeded"},
			object{"type": "refund.*", "event": "refund.succeeded"},
		},
	}
	if change != nil {
		change(s)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return raw
}

func mustNew(tb testing.TB, raw json.RawMessage) *generic.Provider {
	tb.Helper()
	p, err := generic.New(raw, tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func mustOpen(tb testing.TB, kit string) *generic.Provider {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(testdata, kit, "config.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return mustNew(tb, raw)
}
