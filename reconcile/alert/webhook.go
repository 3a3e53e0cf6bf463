package alert

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Webhook is a program of one's own: it gets the Alert as JSON, signed as Standard Webhooks says (v1, HMAC-SHA256), and takes it by any 2xx.
type Webhook struct {
	URL    string
	Key    []byte // see ParseSecret
	Client *http.Client
	Now    func() time.Time
}

// ParseSecret reads the secret of a Standard Webhook: whsec_ and the base64 of 24 to 64 bytes.
func ParseSecret(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, "whsec_"))
	if err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("whsec_ and 24 to 64 bytes in base64 expected, as `echo whsec_$(openssl rand -base64 32)` makes it")
	}
	return key, nil
}

// Alert implements Sink.
func (s *Webhook) Alert(ctx context.Context, a Alert) error {
	body, err := jsonOf(a)
	if err != nil {
		return err
	}
	at := strconv.FormatInt(s.Now().Unix(), 10)
	header := http.Header{}
	header.Set("webhook-id", a.ID)
	header.Set("webhook-timestamp", at)
	header.Set("webhook-signature", "v1,"+sign(string(s.Key), a.ID+"."+at+"."+string(body)))
	_, err = post(ctx, s.Client, s.URL, header, body)
	return err
}

func jsonOf(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}

// Log is our own log.
type Log struct{ Log *slog.Logger }

// Alert implements Sink.
func (s *Log) Alert(ctx context.Context, a Alert) error {
	level := slog.LevelWarn
	if a.Kind == Balanced || a.Kind == Recovered || a.Kind == Digest || a.Kind == Test {
		level = slog.LevelInfo
	}
	s.Log.Log(ctx, level, "alert", "kind", string(a.Kind), "title", OneLine(a.Title), "account", a.Account, "date", a.Date, "lines", oneLines(a.Lines))
	return nil
}

func oneLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = OneLine(line)
	}
	return out
}
