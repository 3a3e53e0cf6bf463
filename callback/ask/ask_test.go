package ask_test

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback/ask"
	"paybook/models"
)

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer SECRET")
	return req
}

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// No error repeats the address, whose query may be signed or hold a token, nor what was sent along.
func TestErrorsHoldNoSecret(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	loop := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x?token=SECRET", http.StatusFound) })
	for name, url := range map[string]string{"nobody there": gone.URL, "a loop": loop, "no such host": "http://no-such-host.invalid", "no scheme": "nothing://x"} {
		_, err := ask.Do(http.DefaultClient, get(t, url+"/x?token=SECRET"), 10)
		if err == nil || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "token") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err = ask.Download(http.DefaultClient, get(t, url+"/x?token=SECRET"), 10); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 11)) })
	if a, err := ask.Do(http.DefaultClient, get(t, url), 11); err != nil || len(a.Body) != 11 {
		t.Errorf("%d bytes, %v", len(a.Body), err)
	}
	if _, err := ask.Do(http.DefaultClient, get(t, url), 10); err == nil || !strings.Contains(err.Error(), "longer than 10 bytes") {
		t.Errorf("error %v", err)
	}
	before := temporary(t)
	f, err := ask.Download(http.DefaultClient, get(t, url), 11)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // readers do not disturb each other
		if raw, err := io.ReadAll(f.Reader()); err != nil || len(raw) != 11 {
			t.Errorf("%d bytes, %v", len(raw), err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := ask.Download(http.DefaultClient, get(t, url), 10); err == nil || !strings.Contains(err.Error(), "longer than 10 bytes") {
		t.Errorf("error %v", err)
	}
	if after := temporary(t); !slices.Equal(before, after) {
		t.Errorf("left behind: %q", after)
	}
}

// temporary are our files in the temporary folder, which the test has for itself.
func temporary(t *testing.T) []string {
	t.Helper()
	if os.Getenv("TMPDIR") == "" || !strings.Contains(os.Getenv("TMPDIR"), t.Name()) {
		t.Setenv("TMPDIR", t.TempDir())
	}
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "statement-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStatusInWords(t *testing.T) {
	for status, want := range map[int]string{
		200: "", 400: `h answers status 400 ("code")`, 401: "check the account's key", 403: "check the account's key", 429: "ask again later", 500: "ask again later", 503: "ask again later",
	} {
		err := ask.Answer{Host: "h", Status: status}.OK("code")
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if err := (ask.Answer{Status: 400}).OK(strings.Repeat("x", 1000)); len(err.Error()) > 200 {
		t.Errorf("a stranger's text of %d bytes", len(err.Error()))
	}
}

func TestEvidence(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.FixedZone("", 8*3600))
	got := ask.Answer{Body: []byte("x"), Header: http.Header{"Set-Cookie": {"SECRET"}, "Signature": {"s"}}}.Evidence("/p", at)
	if got.Method != "QUERY" || got.Path != "/p" || got.Headers.Get("Set-Cookie") != "" || got.Headers.Get("Signature") != "s" || got.ReceivedAt != at.UTC() || string(got.Body) != "x" {
		t.Errorf("%+v", got)
	}
}

func TestBase(t *testing.T) {
	for given, want := range map[string]string{
		"": "https://api.example", "https://x.example/base/": "https://x.example/base", "http://127.0.0.1:80": "http://127.0.0.1:80", "http://localhost:1": "http://localhost:1",
		"http://10.1.2.3": "http://10.1.2.3", "http://[::1]:1": "http://[::1]:1",
		"http://x.example": "?", "ftp://127.0.0.1": "?", "x.example": "?", "https://": "?", "https://u:SECRET@x.example": "?", "https://x.example?k=SECRET": "?",
		"https://x.example#SECRET": "?", "http://8.8.8.8": "?", "mailto:SECRET": "?", "https://%zz": "?", "http://169.254.169.254": "?",
	} {
		u, err := ask.Base("api", given, "https://api.example")
		if want == "?" {
			if err == nil || !strings.HasPrefix(err.Error(), "settings.api: ") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s: %v, %v", given, u, err)
			}
		} else if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v", given, u, err)
		}
	}
}

func TestLink(t *testing.T) {
	secure, err := ask.Base("api", "https://api.example", "")
	if err != nil {
		t.Fatal(err)
	}
	near, err := ask.Base("api", "http://127.0.0.1:1", "")
	if err != nil {
		t.Fatal(err)
	}
	hosts := []string{"api.example", "files.example", "127.0.0.1:1"}
	for told, want := range map[string]string{
		"https://files.example/x?t=SECRET": "https://files.example/x?t=SECRET", "http://files.example/x": "https://files.example/x",
		"https://evil.example/x?t=SECRET": "", "https://files.example:8443/x": "", "//files.example/x": "", "/x": "", "": "", "https://a:SECRET@files.example/": "",
		"ftp://files.example/": "", "https://files.example.evil.example/?t=SECRET": "", "http://127.0.0.1:2/x": "",
	} {
		u, err := ask.Link(secure, hosts, told)
		if want == "" && (err == nil || strings.Contains(err.Error(), "SECRET")) || want != "" && (err != nil || u.String() != want) {
			t.Errorf("%s: %v, %v", told, u, err)
		}
	}
	if u, err := ask.Link(near, hosts, "http://127.0.0.1:1/x"); err != nil || u.Scheme != "http" {
		t.Errorf("%v, %v", u, err)
	}
}

// Days of 23 and 25 hours are those, whatever the zone of the machine.
func TestDay(t *testing.T) {
	for _, tt := range []struct {
		zone     string
		cut      time.Duration
		date     string
		from, to string
	}{
		{"Asia/Shanghai", 0, "2026-11-29", "2026-11-28T16:00:00Z", "2026-11-29T16:00:00Z"},
		{"Asia/Shanghai", -time.Hour, "2026-11-29", "2026-11-28T15:00:00Z", "2026-11-29T15:00:00Z"},
		{"Europe/Amsterdam", 0, "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"America/New_York", 0, "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		{"Etc/UTC", 0, "2026-12-31", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"},
	} {
		date, err := time.Parse(time.DateOnly, tt.date)
		if err != nil {
			t.Fatal(err)
		}
		end, err := time.Parse(time.RFC3339, tt.to)
		if err != nil {
			t.Fatal(err)
		}
		from, to, err := ask.Day(tt.zone, tt.cut, date, end)
		if err != nil || from.Format(time.RFC3339) != tt.from || !to.Equal(end) {
			t.Errorf("%s %s: %s to %s, %v", tt.zone, tt.date, from, to, err)
		}
		var not *models.NotReady
		if _, _, err := ask.Day(tt.zone, tt.cut, date, end.Add(-time.Second)); !errors.As(err, &not) {
			t.Errorf("%s %s: a second before it ends: %v", tt.zone, tt.date, err)
		}
	}
	if _, _, err := ask.Day("Nowhere/Else", 0, time.Time{}, time.Time{}); err == nil {
		t.Error("a zone that is none")
	}
}

func TestPrivateKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := x509.MarshalPKCS1PrivateKey(key)
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key.pem"), []byte(text("PRIVATE KEY", pkcs8)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, given := range map[string]string{
		"a file": "key.pem", "its whole path": filepath.Join(dir, "key.pem"), "PKCS 8": text("PRIVATE KEY", pkcs8), "PKCS 1": "\n" + text("RSA PRIVATE KEY", pkcs1),
		"base64": base64.StdEncoding.EncodeToString(pkcs8), "base64 in lines": base64.StdEncoding.EncodeToString(pkcs1)[:100] + "\n" + base64.StdEncoding.EncodeToString(pkcs1)[100:],
	} {
		if got, err := ask.PrivateKey(dir, given); err != nil || !got.Equal(key) {
			t.Errorf("%s: %v", name, err)
		}
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	for name, given := range map[string]string{
		"no file": "gone.pem", "nothing": "", "a folder": ".", "a public key": text("PUBLIC KEY", x509.MarshalPKCS1PublicKey(&key.PublicKey)), "another kind": text("PRIVATE KEY", ec),
		"cut": text("PRIVATE KEY", pkcs8)[:400], "cut base64": base64.StdEncoding.EncodeToString(pkcs8)[:800], "under a password": text("ENCRYPTED PRIVATE KEY", pkcs8),
	} {
		_, err := ask.PrivateKey(dir, given)
		if err == nil || len(given) > 100 && strings.Contains(err.Error(), given[60:90]) || len(err.Error()) > 300 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckZip(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("a.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, strings.Repeat("line\n", 1000)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(raw []byte) (names []string, err error) {
		err = ask.CheckZip(bytes.NewReader(raw), int64(len(raw)), func(name string) error { names = append(names, name); return nil })
		return names, err
	}
	if names, err := check(b.Bytes()); err != nil || !slices.Equal(names, []string{"a.csv"}) {
		t.Errorf("%q, %v", names, err)
	}
	for cut := 1; cut < b.Len(); cut += 7 {
		if _, err := check(b.Bytes()[:b.Len()-cut]); err == nil {
			t.Errorf("%d bytes less: taken", cut)
		}
	}
	changed := bytes.Clone(b.Bytes())
	changed[40] ^= 1
	if _, err := check(changed); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a bit changed: %v", err)
	}
}
