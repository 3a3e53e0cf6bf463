package callback

import (
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
	path := write(t, `{"method":"POST","path":"/x","received_at":"2026-11-29T10:00:03+08:00","seen_by":"ops","expect":{"mood":1}}`)
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

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
