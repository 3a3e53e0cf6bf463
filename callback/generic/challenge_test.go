package generic_test

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"testing"

	"paybook/models"
)

func TestChallengeIsEchoed(t *testing.T) {
	p := mustNew(t, settings(top("challenge", object{"query": "hub.challenge"})))
	for _, c := range []struct{ method, query, want string }{
		{"GET", "hub.challenge=abc-123&x=1", "abc-123"}, {"HEAD", "hub.challenge=abc", "abc"}, {"GET", "", ""}, {"GET", "hub.challenge=", ""},
		{"GET", "hub.challenge=%3Cscript%3E", ""}, {"GET", "hub.challenge=a&hub.challenge=b", ""}, {"GET", "hub.challenge=a%0Ab", ""}, {"GET", "hub.challenge=%zz", ""},
		{"GET", "hub.challenge=" + strings.Repeat("a", 256), ""}, {"POST", "hub.challenge=abc", ""}, {"PUT", "hub.challenge=abc", ""}, {"GET", "challenge=abc", ""},
	} {
		status, contentType, body, ok := p.Challenge(models.Callback{Method: c.method, Query: c.query})
		if ok != (c.want != "") || ok && (status != 200 || body != c.want || !strings.HasPrefix(contentType, "text/plain")) {
			t.Errorf("%s ?%.40s: %d %s %q %v, want %q", c.method, c.query, status, contentType, body, ok, c.want)
		}
	}
	if _, _, _, ok := mustNew(t, settings(nil)).Challenge(models.Callback{Method: "GET", Query: "hub.challenge=abc"}); ok {
		t.Error("answered without settings.challenge")
	}
}

// Braintree's check wants a MAC, and so must not give one for anything that could be a payload.
func TestChallengeIsSigned(t *testing.T) {
	p := mustPreset(t, "braintree", presetSettings["braintree"])
	const text = "20f9f8ed05f77439fe955c977e4c8a53"
	key := sha1.Sum([]byte("bt-private-test-only"))
	want := "TESTPUB|" + hex.EncodeToString(macOf(sha1.New, string(key[:]), text))
	if _, _, body, ok := p.Challenge(models.Callback{Method: "GET", Query: "bt_challenge=" + text}); !ok || body != want {
		t.Errorf("Challenge = %q, %v; want %q", body, ok, want)
	}
	for _, query := range []string{
		"bt_challenge=PG5vdGlmaWNhdGlvbj4%3D", "bt_challenge=" + text[:19], "bt_challenge=" + text + "0", "bt_challenge=" + strings.ToUpper(text), "bt_challenge=" + text + "%0A",
	} {
		if _, _, body, ok := p.Challenge(models.Callback{Method: "GET", Query: query}); ok {
			t.Errorf("%s is answered with %q", query, body)
		}
	}
	checkRefused(t, []refusal{
		{top("challenge", object{}), "settings.challenge.query: missing"},
		{top("challenge", object{"query": "x", "answer": "sign"}), "settings.challenge.answer:"},
		{func(s object) {
			s["challenge"] = object{"query": "x", "answer": "mac"}
			s["signature"] = object{"kind": "static_token", "secrets": "t", "from": "header:X"}
		}, "settings.challenge.answer: mac needs"},
	})
}
