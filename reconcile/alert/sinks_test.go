package alert_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"paybook/callback/generic"
	"paybook/models"
	"paybook/reconcile/alert"
)

var noon = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// hostile is an alert whose texts are a stranger's.
var hostile = alert.Alert{ID: "run-1-ops", Kind: alert.Gaps, Title: "shop, 2026-11-29: 2 new gaps\r\nBcc: all@example.com", Account: "shop", Date: "2026-11-29", At: noon,
	Lines: []string{"missing_local <!channel> <at user_id=\"all\"></at> @13800000000 & \x1b[31m\u202e", "zwei 账"}}

// service answers as a chat service does, and keeps what came.
type service struct {
	status int
	answer string
	header http.Header
	query  url.Values
	body   []byte
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.header, s.query = r.Header, r.URL.Query()
	s.body, _ = io.ReadAll(r.Body)
	if s.status != 0 {
		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		w.WriteHeader(s.status)
	}
	fmt.Fprint(w, s.answer)
}

func start(t *testing.T, answer string) (*service, string) {
	t.Helper()
	s := &service{answer: answer}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL + "/hook?key=secret-in-the-address"
}

func (s *service) said(t *testing.T, path ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(s.body, &v); err != nil {
		t.Fatalf("%v in %s", err, s.body)
	}
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return fmt.Sprint(v)
}

func hmacOf(key, text string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func TestFeishu(t *testing.T) {
	s, address := start(t, `{"code":0,"msg":"success"}`)
	sink := &alert.Feishu{URL: address, Secret: "top", Client: http.DefaultClient, Now: clock}
	if err := sink.Alert(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprint(noon.Unix())
	if s.said(t, "timestamp") != at || s.said(t, "sign") != hmacOf(at+"\ntop", "") || s.said(t, "msg_type") != "text" {
		t.Errorf("%s", s.body)
	}
	if text := s.said(t, "content", "text"); strings.ContainsAny(text, "<>\x1b\u202e\r") || !strings.Contains(text, "＜at user_id") || strings.Count(text, "\n") != 2 {
		t.Errorf("%q", text)
	}
	if sink.Secret = ""; sink.Alert(t.Context(), hostile) != nil || strings.Contains(string(s.body), "sign\"") {
		t.Errorf("without a secret: %s", s.body)
	}
}

func TestDingTalk(t *testing.T) {
	s, address := start(t, `{"errcode":0,"errmsg":"ok"}`)
	sink := &alert.DingTalk{URL: address, Secret: "SECtop", Client: http.DefaultClient, Now: clock}
	if err := sink.Alert(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprint(noon.UnixMilli())
	if s.query.Get("timestamp") != at || s.query.Get("sign") != hmacOf("SECtop", at+"\nSECtop") || s.query.Get("key") != "secret-in-the-address" {
		t.Errorf("%v", s.query)
	}
	if text := s.said(t, "text", "content"); s.said(t, "msgtype") != "text" || s.said(t, "at", "isAtAll") != "false" || strings.Contains(text, "@") {
		t.Errorf("%s", s.body)
	}
}

func TestWeComAndSlack(t *testing.T) {
	s, address := start(t, `{"errcode":0,"errmsg":"ok"}`)
	long := hostile
	for i := range 300 {
		long.Lines = append(long.Lines, fmt.Sprintf("第 %d 行", i))
	}
	if err := (&alert.WeCom{URL: address, Client: http.DefaultClient}).Alert(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	text := s.said(t, "text", "content")
	if len(text) > 2048 || !utf8.ValidString(text) || strings.Contains(text, "<") || !strings.Contains(text, "… +") {
		t.Errorf("%d bytes, %q", len(text), text)
	}
	s, address = start(t, "ok")
	if err := (&alert.Slack{URL: address, Client: http.DefaultClient}).Alert(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	if text := s.said(t, "text"); strings.Contains(text, "<!channel>") || !strings.Contains(text, "&lt;!channel&gt;") || !strings.Contains(text, " &amp; ") {
		t.Errorf("%q", text)
	}
}

// The signature is one that our own reader of Standard Webhooks takes, and takes no other.
func TestWebhook(t *testing.T) {
	s, address := start(t, "")
	const secret = "whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4="
	key, err := alert.ParseSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&alert.Webhook{URL: address, Key: key, Client: http.DefaultClient, Now: clock}).Alert(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile("../../testdata/standardwebhooks/config.json")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := generic.New(settings, "../../testdata/standardwebhooks")
	if err != nil {
		t.Fatal(err)
	}
	verify := func(body []byte) error {
		_, err := reader.Verify(t.Context(), models.Callback{Method: "POST", Headers: s.header, Body: body, ReceivedAt: noon})
		return err
	}
	if refused := new(models.Rejection); errors.As(verify(s.body), &refused) && refused.Reason == models.ReasonSignature {
		t.Errorf("not taken: %v", refused)
	}
	if refused := new(models.Rejection); !errors.As(verify(append(bytes.Clone(s.body), ' ')), &refused) || refused.Reason != models.ReasonSignature {
		t.Errorf("another body is taken: %v", refused)
	}
	if s.header.Get("webhook-id") != "run-1-ops" || s.said(t, "account") != "shop" || s.said(t, "kind") != "gaps" {
		t.Errorf("%v %s", s.header, s.body)
	}
}

func TestParseSecret(t *testing.T) {
	for _, text := range []string{"", "whsec_", "whsec_AAAA", "not base64 at all!", "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 65))} {
		if _, err := alert.ParseSecret(text); err == nil || text != "" && strings.Contains(err.Error(), text+"\"") {
			t.Errorf("%q is taken, or told: %v", text, err)
		}
	}
}

// A service that does not say that it has taken a message has not; and no error tells the address, where a key may lie.
func TestSinkRefuses(t *testing.T) {
	sinks := map[string]func(address string) alert.Sink{
		"feishu": func(a string) alert.Sink {
			return &alert.Feishu{URL: a, Secret: "s", Client: http.DefaultClient, Now: clock}
		},
		"dingtalk": func(a string) alert.Sink {
			return &alert.DingTalk{URL: a, Secret: "s", Client: http.DefaultClient, Now: clock}
		},
		"wecom": func(a string) alert.Sink { return &alert.WeCom{URL: a, Client: http.DefaultClient} },
		"slack": func(a string) alert.Sink { return &alert.Slack{URL: a, Client: http.DefaultClient} },
		"webhook": func(a string) alert.Sink {
			return &alert.Webhook{URL: a, Key: make([]byte, 32), Client: http.DefaultClient, Now: clock}
		},
	}
	for name, sink := range sinks {
		for _, c := range []service{
			{answer: `{"errcode":310000,"errmsg":"sign not match","code":19021,"msg":"sign match fail"}`}, {answer: `{"errcode":0,"code":0}`, status: 500},
			{answer: "<html>"}, {answer: "{}"}, {answer: "ok", status: 302}, {answer: `{"errcode":"0","code":"0"}`}, {answer: ""}, {status: 429},
		} {
			if name == "webhook" && c.status == 0 {
				continue // any 2xx is a yes
			}
			s, address := start(t, c.answer)
			s.status = c.status
			if err := sink(address).Alert(t.Context(), hostile); err == nil || strings.Contains(err.Error(), "secret-in-the-address") || strings.Contains(err.Error(), "elsewhere?") {
				t.Errorf("%s, %d %q: %v", name, c.status, c.answer, err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := sink("http://127.0.0.1:1/hook?key=secret-in-the-address").Alert(ctx, hostile); err == nil || strings.Contains(err.Error(), "secret-in-the-address") {
			t.Errorf("%s, away: %v", name, err)
		}
	}
}

func TestLog(t *testing.T) {
	var b bytes.Buffer
	if err := (&alert.Log{Log: slog.New(slog.NewJSONHandler(&b, nil))}).Alert(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `"level":"WARN"`) || strings.Contains(text, `\r`) || !strings.Contains(text, "missing_local") {
		t.Errorf("%s", text)
	}
}

func TestText(t *testing.T) {
	a := alert.Alert{Title: "title", Lines: []string{"one", "two", "three"}}
	asIs := func(s string) string { return s }
	for most, want := range map[int]string{100: "title\none\ntwo\nthree", 19: "title\none\ntwo\nthree", 18: "title\none\n… +2", 15: "title\n… +3", 11: "t…\n… +3"} {
		if got := a.Text(most, asIs); got != want || len(got) > most {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
}
