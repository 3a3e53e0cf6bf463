package queue_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"paybook/callback/queue"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		pattern, of string
		want        bool
	}{
		{"a.*", "a.*", true}, {"a.>", "a.*", true}, {">", "a.*", true}, {"*.*", "a.*", true}, {"a.b", "a.*", false}, {"a.*", "a.>", false}, {"a.>", "a.>", true},
		{"a.>", "a.b.c", true}, {"a.*", "a.b.c", false}, {"a.>", "a", false}, {"a", "a.*", false}, {"b.*", "a.*", false}, {"*", "a", true}, {"*", ">", false},
	} {
		if got := queue.Covers(c.pattern, c.of); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.of, got)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{"2.9.10": false, "2.10.3": false, "2.10.4": true, "2.10.10": true, "2.11.0-RC.1": true, "3.0.0": true, "v2.12.1": true, "1.4.1": false,
		"": false, "2.10": false, "x": false} {
		if got := queue.AtLeast(version, 2, 10, 4); got != want {
			t.Errorf("%q is at least 2.10.4: %v", version, got)
		}
	}
}

// The pauses grow, and not for ever.
func TestPauses(t *testing.T) {
	for n, want := range map[uint64]string{1: "1s", 2: "2s", 3: "4s", 8: "2m8s", 9: "4m16s", 10: "5m0s", 1000: "5m0s"} {
		if got := (queue.Options{}).PauseAfter(n); got != want {
			t.Errorf("after delivery %d: %s, want %s", n, got, want)
		}
	}
}

// A header holds one line, of text, not too long.
func TestShort(t *testing.T) {
	got := queue.Short("a\r\nNats-Msg-Id: b\x00\xff" + strings.Repeat("回", 300))
	if strings.ContainsAny(got, "\r\n\x00") || len(got) > 310 || !utf8.ValidString(got) || !strings.HasPrefix(got, "a Nats-Msg-Id: b") {
		t.Errorf("%q", got)
	}
}

// What is secret in an address is in no log.
func TestAddress(t *testing.T) {
	for url, want := range map[string]string{
		"nats://h:4222":                        "nats://h:4222",
		"nats://me:CANARY@h:4222":              "nats://h:4222",
		"tls://CANARY@a:1, tls://x:CANARY@b:2": "tls://a:1,tls://b:2",
		"nats://me:CANARY@h:x y":               "an address that cannot be read",
		"wss://h/path?token=CANARY":            "wss://h",
	} {
		if got := (queue.Options{URL: url}).Address(); got != want {
			t.Errorf("%q", got)
		}
	}
}

// A receipt lies in a year that every database can keep. It may lie after the message was stored: recordings have clocks of their own.
func TestReceivedAt(t *testing.T) {
	stored := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for told, ok := range map[string]bool{
		"2026-11-29T09:00:00Z": true, "2026-11-29T18:00:00+08:00": true, "2026-11-29T10:04:00Z": true, "1970-01-01T00:00:00Z": true,
		"2027-01-01T00:00:00Z": true, "9999-12-31T23:59:59-14:00": false, "0000-01-01T00:00:00+14:00": false,
		"1969-12-31T23:59:59Z": false, "yesterday": false, "": false,
	} {
		at, unread, _ := queue.Arrives(nats.Header{"App-Received-At": {told}}, stored)
		if ok != (unread == nil) || !ok && !at.Equal(stored) {
			t.Errorf("%q: %v, %v", told, at, unread)
		}
	}
}

// A header in two spellings is read alike every time.
func TestTwoSpellings(t *testing.T) {
	for range 50 {
		_, _, h := queue.Arrives(nats.Header{"x-signature": {"b"}, "X-Signature": {"a"}, "X-SIGNATURE": {"c"}}, time.Now())
		if got := strings.Join(h["X-Signature"], ","); got != "c,a,b" {
			t.Fatalf("got %s", got)
		}
	}
}

// Credentials may be the text itself: it is not taken for a file's name, which an error would print.
func TestCredentialsAsText(t *testing.T) {
	o := queue.Options{URL: "nats://127.0.0.1:1", Credentials: "-----BEGIN NATS USER JWT-----\nCANARY\n------END NATS USER JWT------\n"}
	var set nats.Options
	for _, option := range queue.Login(o) {
		if err := option(&set); err != nil && strings.Contains(err.Error(), "CANARY") {
			t.Error(err)
		}
	}
	if set.UserJWT == nil {
		t.Fatal("no login")
	}
	if jwt, err := set.UserJWT(); err != nil && strings.Contains(err.Error(), "no such file") {
		t.Errorf("%q, %v", jwt, err)
	}
}
