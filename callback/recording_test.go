package callback

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestRecordingSurvivesWriteAndRead(t *testing.T) {
	want := Recording{
		Name: "paid", Provider: "demopay", Method: "POST", Path: "/callbacks/demopay", Query: "a=%20b",
		Headers: map[string]string{"x-signature": "abc"}, Body: []byte("{\"n\":1}\r\n\x00\xff"),
		ReceivedAt: time.Date(2026, 11, 29, 10, 0, 3, 0, time.UTC), Note: "bytes are kept",
		Expect: Expect{Verified: true, Event: "payment.succeeded", Amount: "88.00", ReplyStatus: 200},
	}
	path := filepath.Join(t.TempDir(), "01.json")
	if err := WriteRecording(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back\n got %+v\nwant %+v", got, want)
	}
	cb := got.Callback("demo")
	if cb.Headers.Get("X-Signature") != "abc" || string(cb.Body) != string(want.Body) || cb.Account != "demo" || cb.Query != "a=%20b" {
		t.Errorf("callback = %+v", cb)
	}
}

func TestReadRecordingIgnoresUnknownFields(t *testing.T) {
	path := write(t, `{"method":"POST","path":"/x","received_at":"2026-11-29T10:00:03+08:00","body_base64":"","seen_by":"ops","expect":{"mood":1}}`)
	if _, err := ReadRecording(path); err != nil {
		t.Error(err)
	}
}

func TestReadRecordingNamesTheFile(t *testing.T) {
	for _, text := range []string{"", "{", `{"method":"POST"}`, `{"body_base64":"?"}`} {
		path := write(t, text)
		if _, err := ReadRecording(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("ReadRecording(%q) = %v, want an error naming the file", text, err)
		}
	}
}

// What is wrong is told by its key, with what is expected there.
func TestReadRecordingNamesTheKey(t *testing.T) {
	good := map[string]string{"method": `"POST"`, "path": `"/callbacks/stripe"`, "received_at": `"2026-11-29T10:00:03+08:00"`, "body_base64": `""`,
		"headers": `{"A":"b"}`, "expect": `{"verified":true}`}
	for _, c := range []struct{ key, value, want string }{
		{"note", `"as it is"`, ""}, {"body_base64", `"e30="`, ""}, {"headers", "", ""}, {"headers", `null`, ""}, {"expect", "", ""},
		{"body_base64", "", "body_base64: missing"}, {"body_base64", "null", "body_base64: missing"}, {"body_base64", `"?"`, "body_base64: expected the body in base64"},
		{"body_base64", `{}`, "body_base64: expected"}, {"method", "", "method: missing"}, {"method", `""`, "method: missing"}, {"path", "", "path: missing"},
		{"path", `7`, "path: expected a text"}, {"headers", `[["A","b"]]`, "headers: expected an object of texts"}, {"headers", `{"A":["b"]}`, "headers.A: expected an object of texts"},
		{"received_at", "", "received_at: missing"}, {"received_at", `"29.11.2026 10:00"`, "received_at: expected a time with its offset"},
		{"received_at", `1796000000`, "received_at: expected"}, {"received_at", `"0001-01-01T00:00:00Z"`, "received_at: the zero time"},
		{"expect", `{"reply_status":"200"}`, "expect.reply_status: expected"}, {"expect", `[]`, "expect: expected an object"},
	} {
		var parts []string
		for key, value := range good {
			if key != c.key {
				parts = append(parts, fmt.Sprintf("%q:%s", key, value))
			}
		}
		if c.value != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", c.key, c.value))
		}
		path := write(t, "{"+strings.Join(parts, ",")+"}")
		_, err := ReadRecording(path)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), path+": "+c.want)) {
			t.Errorf("%s %s: %v, want %q", c.key, c.value, err, c.want)
		}
	}
	if _, err := ReadRecording(write(t, "[]")); err == nil || !strings.Contains(err.Error(), "a JSON array, expected an object") {
		t.Errorf("an array: %v", err)
	}
}

// An empty body is "" and not a missing one.
func TestRecordingOfAnEmptyBody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	if err := WriteRecording(path, Recording{Method: "POST", Path: "/callbacks/x", ReceivedAt: time.Unix(1796000000, 0)}); err != nil {
		t.Fatal(err)
	}
	if rec, err := ReadRecording(path); err != nil || len(rec.Body) != 0 {
		t.Errorf("%+v, %v", rec, err)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file that others could read is theirs no more once a recording is in it.
func TestRecordingIsItsOwnersAlone(t *testing.T) {
	path := write(t, strings.Repeat("x", 9999))
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteRecording(path, Recording{Method: "POST", Path: "/callbacks/x", ReceivedAt: time.Unix(1796000000, 0)}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want 0600", info.Mode(), err)
	}
	if _, err := ReadRecording(path); err != nil {
		t.Error(err)
	}
}
