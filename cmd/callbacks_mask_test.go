package cmd

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paybook/callback"
	"paybook/models"
)

// tokenShop is an account whose provider sends a fixed token, in a header or parameter of its own.
func tokenShop(t *testing.T, from string) *shell {
	t.Helper()
	config := filepath.Join(t.TempDir(), "app.yaml")
	text := `accounts:
  - name: tok
    provider: generic
    settings:
      secrets: ["fixed-token-0123456789"]
      signature: {kind: static_token, from: "` + from + `"}
      fields: {event_id: "$.id", event_type: "$.type", transaction_id: "$.txn", amount: "$.amount", currency: "$.currency"}
      events: [{type: paid, event: payment.succeeded}]
`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &shell{t: t, global: []string{"--config", config, "--database", "sqlite:" + filepath.Join(t.TempDir(), "app.db")}}
}

const tokenRecording = `{"name":"r","provider":"generic","method":"POST","path":"/callbacks/tok","query":"a=1&tok=fixed-token-0123456789","received_at":"2026-11-29T10:00:00Z",
 "headers":{"X-Tok":"fixed-token-0123456789","X-Other":"seen"},"body_base64":"eyJpZCI6ImUxIiwidHlwZSI6InBhaWQiLCJ0eG4iOiJUMSIsImFtb3VudCI6MTk5OSwiY3VycmVuY3kiOiJVU0QifQ==",
 "expect":{"verified":true}}`

// The token of an account stands in a header of its own name: it is shown to nobody, and a saved recording still has it.
func TestTokensAreMasked(t *testing.T) {
	for from, want := range map[string][]string{"header:X-Tok": {"X-Tok: ***", "X-Other: seen"}, "query:tok": {"a=1&tok=***", "X-Other: seen"}} {
		s := tokenShop(t, from)
		recording := s.file("r.json", tokenRecording)
		s.ok("replay", recording)
		var list []callbackJSON
		s.json(&list, "callbacks", "list")
		saved := s.file("saved.json", "before")
		if err := os.Chmod(saved, 0o644); err != nil {
			t.Fatal(err)
		}
		shown := s.ok("callbacks", "show", list[0].ID, "--save", saved)
		for _, text := range want {
			if !strings.Contains(shown, text) {
				t.Errorf("%s: no %q in\n%s", from, text, shown)
			}
		}
		hidden := strings.Split(want[0], "***")[0] + "fixed-token"
		if strings.Contains(shown, hidden) {
			t.Errorf("%s: %s in\n%s", from, hidden, shown)
		}
		if asJSON := s.ok("callbacks", "show", list[0].ID, "--format", "json"); strings.Count(asJSON, "fixed-token") > 1 { // the other place is no secret of this account
			t.Errorf("%s:\n%s", from, asJSON)
		}
		rec, err := callback.ReadRecording(saved)
		if err != nil || rec.Headers["X-Tok"] != "fixed-token-0123456789" || !strings.Contains(rec.Query, "tok=fixed-token-0123456789") {
			t.Errorf("saved: %+v, %v", rec, err)
		}
		if info, err := os.Stat(saved); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("saved as %v, %v; want it to be its owner's alone", info.Mode(), err)
		}
		s.ok("replay", saved)
		if said := s.ok("doctor", "--callback", saved, "--account", "tok", "--full"); strings.Contains(said, "fixed-token") {
			t.Errorf("the doctor says\n%s", said)
		}
	}
}

// Nobody can say what the headers of an account hold that is configured no more.
func TestHeadersOfAnUnknownAccount(t *testing.T) {
	cb := models.Callback{Query: "x=1&access_token=a&%74oken=b&", Headers: http.Header{"X-Auth-Token": {"a"}, "X-Api-Key": {"b"}, "X-Signature": {"c"}}}
	got := masked(nil, cb)
	if got.Headers.Get("X-Auth-Token") != maskedValue || got.Headers.Get("X-Api-Key") != maskedValue || got.Headers.Get("X-Signature") != "c" {
		t.Errorf("headers %v", got.Headers)
	}
	if want := "x=1&access_token=***&%74oken=***&"; got.Query != want {
		t.Errorf("query %s, want %s", got.Query, want)
	}
	if cb.Headers.Get("X-Api-Key") != "b" {
		t.Error("the callback itself was changed")
	}
}
