package generic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"paybook/callback/generic"
	"paybook/models"
)

func TestSenders(t *testing.T) {
	from := func(senders any) json.RawMessage {
		return settings(func(s object) { s["signature"].(object)["senders"] = senders })
	}
	p := mustNew(t, from([]any{"203.0.113.7", "198.51.100.0/24", "2001:db8::/32"}))
	for sender, taken := range map[string]bool{
		"203.0.113.7": true, "198.51.100.200": true, "::ffff:203.0.113.7": true, "2001:db8::1": true, "": true, // a recording
		"203.0.113.8": false, "198.51.101.1": false, "2001:db9::1": false, "nonsense": false,
	} {
		cb := signed(payment, now)
		cb.Sender = sender
		_, err := p.Verify(t.Context(), cb)
		if (err == nil) != taken || err != nil && (reasonOf(err) != models.ReasonBasicAuth || !strings.Contains(err.Error(), "settings.signature.senders")) {
			t.Errorf("from %q: %v, want it taken: %v", sender, err, taken)
		}
	}
	for _, senders := range []any{[]any{}, []any{"shop.example"}, "203.0.113.0/33", []any{""}} {
		if _, err := generic.New(from(senders), ""); err == nil || !strings.Contains(err.Error(), "senders") {
			t.Errorf("%v: %v", senders, err)
		}
	}
}
