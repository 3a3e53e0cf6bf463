package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/reconcile/source"
)

// store answers as S3-compatible storage does to those who list and read the bucket "bills". The signatures are checked where the client is.
type store struct {
	mu      sync.Mutex
	objects map[string]string
	moved   string
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Last-Modified", "Mon, 30 Nov 2026 00:00:00 GMT")
	switch text, ok := s.objects[strings.TrimPrefix(r.URL.Path, "/bills/")]; {
	case s.moved != "":
		http.Redirect(w, r, s.moved, http.StatusTemporaryRedirect)
	case r.URL.Query().Get("list-type") == "2":
		fmt.Fprint(w, "<ListBucketResult>")
		for key, text := range s.objects {
			if strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
				fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size><ETag>"%x"</ETag><LastModified>2026-11-30T00:00:00.000Z</LastModified></Contents>`, key, len(text), len(text))
			}
		}
		fmt.Fprint(w, "</ListBucketResult>")
	case ok:
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, len(text)))
		fmt.Fprint(w, text)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// newStore is storage with DemoPay's settlement report of 2026-11-27.
func newStore(t *testing.T) (*store, string) {
	t.Helper()
	raw, err := os.ReadFile(kit + "demopay/statements/demopay_settlement_20261127.csv")
	if err != nil {
		t.Fatal(err)
	}
	s := &store{objects: map[string]string{"out/20261127.csv": string(raw)}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

// fetching is a configuration whose only account has its statements in storage.
func fetching(t *testing.T, address, more string) string {
	t.Helper()
	settings, err := filepath.Abs(kit + "demopay/config.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := writeFiles(t, map[string]string{"key": "s3-secret-TEST-ONLY\n", "app.yaml": fmt.Sprintf(`
accounts:
- name: demopay
  provider: generic
  settings_file: %q
  fetch: {from: s3, endpoint: %q, bucket: bills, access_key: AKIATESTONLY, secret_key: "file:key", files: "out/{yyyymmdd}*.csv"}
%s`, settings, address, more)})
	return filepath.Join(dir, "app.yaml")
}

// A statement is fetched by hand or by the run itself, kept once beside the database, and read from there.
func TestFetch(t *testing.T) {
	kept, address := newStore(t)
	s := replayedShop(t, "demopay")
	s.global[1] = fetching(t, address, "")
	var list []archived
	for _, said := range []string{"1 new file", "0 new files"} {
		code, out, talk := s.run("fetch", "--date", "2026-11-27", "--format", "json")
		decode(t, out, &list)
		if code != exitDone || len(list) != 1 || !strings.Contains(talk, said) || list[0].Name != "20261127.csv" || !strings.HasPrefix(list[0].Source, "s3 127.0.0.1:") {
			t.Fatalf("exit %d, %s%s", code, out, talk)
		}
	}
	if dir := filepath.Dir(strings.TrimPrefix(s.global[3], "sqlite:")); list[0].File != filepath.Join(dir, "archive", "demopay", "2026-11-27", list[0].SHA256[:12]+"-20261127.csv") || !exists(list[0].File) {
		t.Errorf("kept in %s", list[0].File)
	}
	if code, _, talk := s.run("fetch", "--date", "2026-11-26"); code != exitLook || !strings.Contains(talk, "not there yet") {
		t.Errorf("a day without: exit %d, %s", code, talk)
	}
	delete(kept.objects, "out/20261127.csv") // it is in the archive
	got := s.runJSON(exitLook, "--date", "2026-11-27")
	files, _ := got[0]["statement"].(map[string]any)["files"].([]any)
	if file, _ := files[0].(map[string]any); len(files) != 1 || file["name"] != "20261127.csv" || file["sha256"] != list[0].SHA256 {
		t.Errorf("%v", files)
	}
	var trail []map[string]any
	if s.json(&list, "fetch", "--list", "--date", "2026-11-27"); len(list) != 1 {
		t.Errorf("%v %v", list, trail)
	}
}

// What a run finds after fetching by itself is what it finds in a folder, and a dry run keeps nothing.
func TestReconcileFetches(t *testing.T) {
	_, address := newStore(t)
	s := replayedShop(t, "demopay")
	want := s.runJSON(exitLook, "--date", "2026-11-27", "--account", "demopay", "--dry-run")[0]["summary"]
	s.global[1] = fetching(t, address, "")
	archive := filepath.Join(filepath.Dir(strings.TrimPrefix(s.global[3], "sqlite:")), "archive")
	for _, more := range [][]string{{"--dry-run"}, nil} {
		got := s.runJSON(exitLook, append([]string{"--date", "2026-11-27"}, more...)...)
		if fmt.Sprint(got[0]["summary"]) != fmt.Sprint(want) || exists(archive) != (more == nil) {
			t.Errorf("%v: %v, want %v; archive %v", more, got[0]["summary"], want, exists(archive))
		}
	}
	s.fails([]string{"demopay: no statement for demopay on 2026-11-25: looked for s3 127.0.0.1:", "out/20261125*.csv", "--no-statement"}, "reconcile", "--date", "2026-11-25")
}

// Storage that sends us elsewhere is not followed, and no message says where, or who we are there.
func TestFetchIsNotSentElsewhere(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	defer elsewhere.Close()
	kept, address := newStore(t)
	kept.moved = elsewhere.URL + "/?token=secret"
	s := newShell(t)
	s.global[1] = fetching(t, address, "")
	code, _, talk := s.run("fetch", "--date", "2026-11-27")
	if code != exitFailed || strings.Contains(talk, "token") || strings.Contains(talk, "s3-secret") {
		t.Errorf("exit %d, %s", code, talk)
	}
	code, out, _ := s.run("doctor", "--format", "json")
	if code != exitLook || !strings.Contains(out, `"check": "fetch"`) || strings.Contains(out, "token") || strings.Contains(out, "s3-secret") {
		t.Errorf("doctor: exit %d, %s", code, out)
	}
}

// With an archive configured, what the folder has is kept too; the run finds the same.
func TestFolderIsArchived(t *testing.T) {
	s := replayedShop(t, "demopay")
	statements, err := filepath.Abs(kit + "demopay/statements")
	if err != nil {
		t.Fatal(err)
	}
	settings, _ := filepath.Abs(kit + "demopay/config.json")
	dir := writeFiles(t, map[string]string{"app.yaml": fmt.Sprintf("archive: kept\naccounts:\n- name: demopay\n  provider: generic\n  settings_file: %q\n  statements: %q\n", settings, statements+"/*{yyyymmdd}*")})
	want := s.runJSON(exitLook, "--date", "2026-11-27", "--account", "demopay", "--dry-run")
	s.global[1] = filepath.Join(dir, "app.yaml")
	got := s.runJSON(exitLook, "--date", "2026-11-27")
	if fmt.Sprint(got[0]["statement"]) != fmt.Sprint(want[0]["statement"]) || fmt.Sprint(got[0]["summary"]) != fmt.Sprint(want[0]["summary"]) {
		t.Errorf("%v\nwant %v", got[0]["statement"], want[0]["statement"])
	}
	if found, err := filepath.Glob(filepath.Join(dir, "kept/demopay/2026-11-27/*-demopay_settlement_20261127.csv")); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestFetchUsage(t *testing.T) {
	s := newShell(t)
	s.fails([]string{"no account has a place to fetch from", "accounts[].fetch"}, "fetch")
	s.fails([]string{"stripe: has no place to fetch from"}, "fetch", "--account", "stripe")
	s.fails([]string{"--date", "YYYY-MM-DD"}, "fetch", "--date", "yesterday")
	s.fails([]string{"--format"}, "fetch", "--format", "csv")
}

// The server makes the run by itself once the statement is published, tells who is to be told, once, and counts.
func TestServeRunsByItself(t *testing.T) {
	_, address := newStore(t)
	told := make(chan []byte, 9)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var a map[string]any
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || r.Header.Get("webhook-signature") == "" {
			t.Errorf("%v, %v", err, r.Header)
		}
		told <- fmt.Append(nil, a["title"])
	}))
	defer hook.Close()
	config := fetching(t, address, fmt.Sprintf("  schedule: {at: \"10:00\", days: 1}\nalerts:\n- {name: hook, kind: webhook, url: %q, secret: whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4=}\n", hook.URL))
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
	env := map[string]string{"APP_CONFIG": config, "DATABASE_URL": dsn, "APP_SHUTDOWN_DELAY": "0s"}
	now := func() time.Time { return time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC) }
	ctx, stop := context.WithCancel(t.Context())
	var talk buffer
	a := &app{in: strings.NewReader(""), out: &talk, err: &talk, now: now, env: lookup(env), environ: environ(env)}
	ended := make(chan int, 1)
	go func() {
		ended <- a.run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}, &checkedWriter{w: &talk})
	}()
	defer func() {
		stop()
		if code := <-ended; code != exitDone {
			t.Errorf("exit %d: %s", code, talk.String())
		}
	}()
	made := until(t, func() bool { return strings.Contains(talk.String(), `"msg":"run made"`) })
	if !made {
		t.Fatal(talk.String())
	}
	book := ledgertest.Open(t, dsn, ledger.Options{Now: now})
	if post := (&app{now: now, err: &talk}).post(mustConfig(t, config), book, slog.New(slog.DiscardHandler)); post.Tick(t.Context()) != nil { // the chore's own time is a minute away
		t.Fatal("not told")
	}
	if got := string(<-told); !strings.HasPrefix(got, "demopay, 2026-11-27: ") || !strings.HasSuffix(got, " new gaps") {
		t.Errorf("told %q", got)
	}
	_, base, _ := strings.Cut(talk.String(), "\nlistening on ")
	base, _, _ = strings.Cut(base, "\n")
	_, numbers := (&server{t: t, url: base}).get("/metrics")
	if !strings.Contains(numbers, `reconcile_last_run_balanced{account="demopay"} 0`) || !strings.Contains(numbers, `reconcile_gaps{account="demopay",kind="missing_local",state="open"}`) {
		t.Errorf("/metrics lacks the run: %s", numbers)
	}
	select {
	case again := <-told:
		t.Errorf("told again: %s", again)
	default:
	}
}

func mustConfig(t *testing.T, file string) *Config {
	t.Helper()
	c, err := loadConfig(file, lookup(nil))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// until waits for something that must happen.
func until(t *testing.T, happened func() bool) bool {
	t.Helper()
	for range 3000 {
		if happened() {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

const demoAccount = "accounts:\n- name: shop\n  provider: stripe\n  settings: {signing_secrets: [whsec_x]}\n"

func TestFetchConfigErrors(t *testing.T) {
	const sftpPlace = demoAccount + "  fetch: {from: sftp, address: 'h:22', user: u, "
	const fingerprint = "'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'"
	for text, want := range map[string]string{
		demoAccount + "  fetch: {from: ftp}\n":                                                                                                 `fetch: from: "ftp"|sftp, s3 or api`,
		demoAccount + "  fetch: {address: h}\n":                                                                                                "app.yaml:5",
		demoAccount + "  fetch: []\n":                                                                                                          "fetch: empty",
		demoAccount + "  fetch: {from: api, host_key: x}\n":                                                                                    "fetch.host_key: unknown key",
		sftpPlace + "password: pw-secret, files: '/{date}'}\n":                                                                                 "fetch.host_key: missing|ssh-keyscan",
		sftpPlace + "password: pw-secret, host_key: abc, files: '/{date}'}\n":                                                                  "fetch.host_key|SHA256:",
		sftpPlace + "host_key: " + fingerprint + ", files: '/{date}'}\n":                                                                       "fetch.password: missing",
		sftpPlace + "password: pw-secret, key: k-secret, host_key: " + fingerprint + ", files: '/{date}'}\n":                                   "exclude each other",
		sftpPlace + "key: k-secret, host_key: " + fingerprint + ", files: '/{date}'}\n":                                                        "fetch.key: no private key",
		sftpPlace + "password: pw-secret, host_key: " + fingerprint + ", files: '/all/*.csv'}\n":                                               "names no day",
		sftpPlace + "password: pw-secret, host_key: " + fingerprint + ", files: 'out/{date}'}\n":                                               "begins with /",
		sftpPlace + "password: pw-secret, host_key: " + fingerprint + "}\n":                                                                    "fetch.files: missing",
		demoAccount + "  fetch: {from: s3, endpoint: 'http://s3.example.com', bucket: bills, access_key: a, secret_key: b, files: '{date}'}\n": "fetch.endpoint: https expected",
		demoAccount + "  fetch: {from: s3, endpoint: s3.example.com, bucket: BIG, access_key: a, secret_key: b, files: '{date}'}\n":            "fetch.bucket",
		demoAccount + "  fetch: {from: s3, endpoint: s3.example.com, bucket: bills, access_key: a, files: '{date}'}\n":                         "secret_key are needed",
		demoAccount + "  schedule: {at: '10:00'}\n":                                                                                            "schedule: means nothing without fetch or statements",
		demoAccount + "  statements: 'x/{date}'\n  schedule: {at: '25:00'}\n":                                                                  "app.yaml:6|schedule.at|HH:MM",
		demoAccount + "  statements: 'x/{date}'\n  schedule: sometimes\n":                                                                      "schedule",
		demoAccount + "  orders: elsewhere\n  silence: 30m\n":                                                                                  "silence: means nothing with orders: elsewhere",
		demoAccount + "  silence: 1s\n":                                                                                                        "silence",
		demoAccount + "alerts: {kind: log}\n":                                                                                                  "alerts: a list expected",
		demoAccount + "alerts: [{kind: pager}]\n":                                                                                              `alerts[0].kind: "pager"`,
		demoAccount + "alerts: [{kind: log, url: x}]\n":                                                                                        "alerts[0].url: unknown key",
		demoAccount + "alerts: [{kind: log}, {kind: log}]\n":                                                                                   "is the name of another sink too",
		demoAccount + "alerts: [{kind: wecom, url: 'http://example.com/?key=in-the-url'}]\n":                                                   "https expected",
		demoAccount + "alerts: [{kind: wecom}]\n":                                                                                              "url: missing",
		demoAccount + "alerts: [{kind: webhook, url: 'https://example.com/?key=in-the-url', secret: short}]\n":                                 "alerts[0].secret: whsec_",
		demoAccount + "alerts: [{kind: log, accounts: [nobody]}]\n":                                                                            `no account "nobody"`,
		demoAccount + "alerts: [{kind: log, kinds: [lost]}]\n":                                                                                 `unknown kind of gap "lost"`,
		demoAccount + "alerts: [{kind: log, digest: '9:00'}]\n":                                                                                "digest",
		demoAccount + "alerts: [{kind: email, server: 'h:587', sender: x, to: [a@b.c]}]\n":                                                     "sender",
		demoAccount + "alerts: [{kind: email, server: 'h:587', sender: a@b.c, to: [\"a@b.c\\r\\nBcc: x@y.z\"]}]\n":                             "to",
		demoAccount + "alerts: [{kind: email, server: 'h:587', sender: a@b.c, to: [a@b.c], user: u}]\n":                                        "go together",
	} {
		dir := writeFiles(t, map[string]string{"app.yaml": text})
		_, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(nil))
		if err == nil {
			t.Errorf("accepted:\n%s", text)
			continue
		}
		for _, part := range strings.Split(want, "|") {
			if !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "app.yaml:") {
				t.Errorf("%s\ngot  %v\nwant %s in it", text, err, part)
			}
		}
		for _, secret := range []string{"pw-secret", "k-secret", "in-the-url", "short\""} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("told: %v", err)
			}
		}
	}
}

// When an account is run by itself, and by which hours.
func TestScheduleConfig(t *testing.T) {
	place := "  fetch: {from: s3, endpoint: s3.example.com, bucket: bills, access_key: a, secret_key: b, files: '{date}'}\n"
	for text, want := range map[string]*source.Schedule{
		demoAccount + "  statements: 'x/{date}'\n":                                         nil,
		demoAccount + place + "  schedule: off\n":                                          nil,
		demoAccount + place:                                                                {At: 12 * time.Hour, Late: 14 * time.Hour, Retry: 10 * time.Minute, Again: time.Hour, Days: 7},
		demoAccount + "  statements: 'x/{date}'\n  schedule: {}\n":                         {At: 12 * time.Hour, Late: 14 * time.Hour, Retry: 10 * time.Minute, Again: time.Hour, Days: 7},
		demoAccount + "  statements: 'x/{date}'\n  schedule: on\n":                         {At: 12 * time.Hour, Late: 14 * time.Hour, Retry: 10 * time.Minute, Again: time.Hour, Days: 7},
		demoAccount + place + "  schedule: {at: '09:30', late: off}\n":                     {At: 9*time.Hour + 30*time.Minute, Late: never, Retry: 10 * time.Minute, Again: time.Hour, Days: 7},
		demoAccount + place + "  schedule: {at: '23:00', retry: 1m, days: 2, again: 0s}\n": {At: 23 * time.Hour, Late: time.Hour, Retry: time.Minute, Days: 2},
	} {
		dir := writeFiles(t, map[string]string{"app.yaml": text})
		c, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(nil))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := c.Accounts[0].Schedule
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s\ngot %+v, want %+v", text, got, want)
		}
	}
	dir := writeFiles(t, map[string]string{"app.yaml": demoAccount + "  silence: {after: 45m, orders: 5}\n"})
	if c, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(nil)); err != nil || c.Accounts[0].Silence != (Silence{45 * time.Minute, 5}) {
		t.Errorf("%v", err)
	}
}

// A test message reaches the sinks that are there, and the table says which are not.
func TestAlertsTest(t *testing.T) {
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"errcode":0}`) }))
	defer hook.Close()
	s := newShell(t)
	dir := writeFiles(t, map[string]string{"app.yaml": demoAccount + fmt.Sprintf("alerts:\n- {name: ops, kind: wecom, url: '%s/?key=in-the-url'}\n- {name: chat, kind: slack, url: '%s/?key=in-the-url'}\n", hook.URL, hook.URL)})
	s.fails([]string{"set alerts"}, "alerts", "test")
	s.global[1] = filepath.Join(dir, "app.yaml")
	if out := s.ok("alerts", "test", "ops"); !strings.Contains(out, "ops") || !strings.Contains(out, "taken") {
		t.Error(out)
	}
	code, out, talk := s.run("alerts", "test", "--format", "json")
	var results []sinkResult
	decode(t, out, &results)
	if code != exitLook || len(results) != 2 || !results[0].OK || results[1].OK || !strings.Contains(results[1].Error, "ok") || strings.Contains(out+talk, "in-the-url") {
		t.Errorf("exit %d, %s%s", code, out, talk)
	}
	s.fails([]string{`no sink "nobody"; there is: ops, chat`}, "alerts", "test", "nobody")
}
