package callback_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/callback"
	"paybook/ledger"
	"paybook/models"
)

// shop takes every body but "forged" for genuine, and remembers how long its context had left.
type shop struct {
	left   chan time.Duration
	verify func(context.Context) error // nil: nothing
}

func (*shop) Name() string { return "shop" }

func (p *shop) Verify(ctx context.Context, cb models.Callback) ([]models.Event, error) {
	if deadline, ok := ctx.Deadline(); ok && p.left != nil {
		p.left <- time.Until(deadline)
	}
	if p.verify != nil {
		if err := p.verify(ctx); err != nil {
			return nil, err
		}
	}
	if string(cb.Body) == "forged" {
		return nil, &models.Rejection{Reason: models.ReasonSignature, Detail: "forged"}
	}
	return []models.Event{{Kind: models.EventUnknown, ID: string(cb.Body), OccurredAt: cb.ReceivedAt}}, nil
}

func (*shop) Reply(a models.Answer) (status int, contentType, body string) {
	switch {
	case a.Accepted():
		return http.StatusOK, "", ""
	case a.Reason == "":
		return http.StatusServiceUnavailable, "", ""
	}
	return http.StatusUnauthorized, "", ""
}

// stand is a server on a database of its own.
type stand struct {
	*httptest.Server
	file string // of the database
	seen chan callback.Observation
	log  *lockedBuffer
}

func newStand(t *testing.T, p *shop, options ledger.Options) *stand {
	t.Helper()
	s := &stand{file: filepath.Join(t.TempDir(), "book.db"), seen: make(chan callback.Observation, 100), log: &lockedBuffer{}}
	book, err := ledger.Open(context.Background(), "sqlite:"+s.file, options)
	if err != nil {
		t.Fatal(err)
	}
	server := callback.Server{
		Book: book, Accounts: []callback.Account{{Name: "stripe", Provider: p}}, Log: slog.New(slog.NewTextHandler(s.log, nil)),
		Observe: func(o callback.Observation) { s.seen <- o },
	}
	e := echo.New()
	server.Mount(e.Group(""))
	s.Server = httptest.NewUnstartedServer(e)
	s.Config.ReadTimeout = 300 * time.Millisecond
	s.Start()
	t.Cleanup(func() {
		s.Close()
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// send is the status of one request whose path is sent as it is written.
func (s *stand) send(t *testing.T, method, path, body string, headers ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	return res.StatusCode
}

// next is what the server says of the next callback.
func (s *stand) next(t *testing.T) callback.Observation {
	t.Helper()
	select {
	case o := <-s.seen:
		return o
	case <-time.After(30 * time.Second):
		t.Fatal("no callback was observed")
		return callback.Observation{}
	}
}

// dial opens a connection, sends raw, and leaves it open.
func (s *stand) dial(t *testing.T, raw string) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, raw); err != nil {
		t.Fatal(err)
	}
	return conn
}

func (s *stand) checkNoError(t *testing.T) {
	t.Helper()
	if log := s.log.String(); strings.Contains(log, "level=ERROR") {
		t.Errorf("a stranger made an error of ours:\n%s", log)
	}
}

const half = "POST /callbacks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf"

func TestRoutes(t *testing.T) {
	s := newStand(t, &shop{}, ledger.Options{})
	for _, c := range []struct {
		method, path string
		want         int
	}{
		{"POST", "/callbacks/stripe", 200},
		{"POST", "/callbacks/stripe/", 200},
		{"POST", "/callbacks/strip%65", 200},
		{"POST", "/callbacks/strip%65/", 200},
		{"POST", "/callbacks/%73%74%72%69%70%65", 200},
		{"POST", "/callbacks/strip%2565", 404}, // decoded once, not twice
		{"POST", "/callbacks/none%2Fstripe", 404},
		{"POST", "/callbacks/stripe%2Fnone", 404},
		{"POST", "/callbacks/none/stripe", 404},
		{"POST", "/callbacks/Stripe", 404},
		{"POST", "/callbacks/none", 404},
		{"GET", "/callbacks/none", 404},
		{"PURGE", "/callbacks/none", 404},
		{"PURGE", "/callbacks/none/", 404},
		{"OPTIONS", "/callbacks/none", 404},
		{"GET", "/callbacks/stripe", 405},
		{"PURGE", "/callbacks/stripe", 405},
		{"PURGE", "/callbacks/strip%65/", 405},
	} {
		if got := s.send(t, c.method, c.path, "genuine"); got != c.want {
			t.Errorf("%s %s = %d, want %d", c.method, c.path, got, c.want)
		}
	}
}

func TestContentEncoding(t *testing.T) {
	s := newStand(t, &shop{}, ledger.Options{})
	for _, c := range []struct {
		encodings []string
		want      int
	}{
		{nil, 200}, {[]string{""}, 200}, {[]string{"identity"}, 200}, {[]string{"Identity", "identity"}, 200}, {[]string{"identity, identity"}, 200},
		{[]string{"gzip"}, 415}, {[]string{"identity", "gzip"}, 415}, {[]string{"gzip", "identity"}, 415}, {[]string{"", "br"}, 415},
		{[]string{"identity, gzip"}, 415}, {[]string{"identity,identity", "identity,zstd"}, 415},
	} {
		var headers []string
		for _, enc := range c.encodings {
			headers = append(headers, "Content-Encoding", enc)
		}
		if got := s.send(t, "POST", "/callbacks/stripe", "genuine", headers...); got != c.want {
			t.Errorf("Content-Encoding %q = %d, want %d", c.encodings, got, c.want)
		}
	}
}

// The time for the book begins when the body is there.
func TestPatienceBeginsAfterTheBody(t *testing.T) {
	p := &shop{left: make(chan time.Duration, 1)}
	s := newStand(t, p, ledger.Options{})
	conn := s.dial(t, "POST /callbacks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\ngen")
	time.Sleep(200 * time.Millisecond)
	if _, err := io.WriteString(conn, "uine"); err != nil {
		t.Fatal(err)
	}
	if o := s.next(t); o.Status != http.StatusOK {
		t.Errorf("observed %+v, want it recorded", o)
	}
	if left := <-p.left; left < callback.Patience-100*time.Millisecond {
		t.Errorf("%s left of %s: the body's way counted", left, callback.Patience)
	}
}

// A body that breaks off, one that stays away, and a caller who does not wait: evidence is kept all the same, and nothing is an error.
func TestStrangersMakeNoErrors(t *testing.T) {
	t.Run("cut off", func(t *testing.T) {
		s := newStand(t, &shop{}, ledger.Options{})
		if err := s.dial(t, half).Close(); err != nil {
			t.Fatal(err)
		}
		s.checkKept(t, s.next(t), models.ReasonMalformed)
	})
	t.Run("slow", func(t *testing.T) {
		s := newStand(t, &shop{}, ledger.Options{})
		conn := s.dial(t, half)
		s.checkKept(t, s.next(t), models.ReasonMalformed)
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "401") {
			t.Errorf("answer %q, %v", line, err)
		}
	})
	t.Run("gone before the verdict", func(t *testing.T) {
		p := &shop{verify: func(ctx context.Context) error { <-ctx.Done(); return nil }}
		s := newStand(t, p, ledger.Options{})
		leave(t, s, "forged")
		s.checkKept(t, s.next(t), models.ReasonSignature)
	})
	t.Run("gone while it is recorded", func(t *testing.T) {
		p := &shop{verify: func(ctx context.Context) error { <-ctx.Done(); return nil }}
		s := newStand(t, p, ledger.Options{})
		leave(t, s, "genuine")
		if o := s.next(t); o.Status != http.StatusServiceUnavailable || o.Dropped {
			t.Errorf("observed %+v, want 503", o)
		}
		s.checkNoError(t)
	})
	t.Run("gone while the provider's code asks elsewhere", func(t *testing.T) {
		p := &shop{verify: func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("ask: %w", ctx.Err()) }}
		s := newStand(t, p, ledger.Options{})
		leave(t, s, "genuine")
		if o := s.next(t); o.Status != http.StatusServiceUnavailable {
			t.Errorf("observed %+v, want 503", o)
		}
		s.checkNoError(t)
	})
}

func TestOurOwnFailureIsAnError(t *testing.T) {
	s := newStand(t, &shop{verify: func(context.Context) error { return errors.New("no key") }}, ledger.Options{})
	if got := s.send(t, "POST", "/callbacks/stripe", "genuine"); got != http.StatusServiceUnavailable || !strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("answer %d, log:\n%s", got, s.log.String())
	}
}

// leave sends a whole callback and goes away.
func leave(t *testing.T, s *stand, body string) {
	t.Helper()
	conn := s.dial(t, fmt.Sprintf("POST /callbacks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	time.Sleep(50 * time.Millisecond)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

func (s *stand) checkKept(t *testing.T, o callback.Observation, want models.Reason) {
	t.Helper()
	if o.Reason != want || o.Dropped || !strings.Contains(s.log.String(), "kept=true") {
		t.Errorf("observed %+v, want %s and kept; log:\n%s", o, want, s.log.String())
	}
	s.checkNoError(t)
}

// A forger waits no longer for our database than the evidence may take, and a failed write is not one that the bound forbade.
func TestForgedWhileTheDatabaseHangs(t *testing.T) {
	s := newStand(t, &shop{}, ledger.Options{})
	s.lockDatabase(t)
	start := time.Now()
	if got := s.send(t, "POST", "/callbacks/stripe", "forged"); got != http.StatusUnauthorized {
		t.Errorf("answer %d, want 401", got)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %s, want about a second", took)
	}
	if o := s.next(t); o.Dropped || o.Reason != models.ReasonSignature {
		t.Errorf("observed %+v, want signature, not dropped", o)
	}
	if !strings.Contains(s.log.String(), "refused callback not kept") {
		t.Errorf("the evidence that is missing is not logged:\n%s", s.log.String())
	}
	s.checkNoError(t)
}

func TestDroppedWhenTheBoundIsReached(t *testing.T) {
	s := newStand(t, &shop{}, ledger.Options{RefusedBytes: 1})
	if got := s.send(t, "POST", "/callbacks/stripe", "forged"); got != http.StatusUnauthorized {
		t.Errorf("answer %d, want 401", got)
	}
	if o := s.next(t); !o.Dropped {
		t.Errorf("observed %+v, want it dropped", o)
	}
}

// lockDatabase keeps every other writer out until the test ends.
func (s *stand) lockDatabase(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.file)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(conn.Close(), db.Close()) })
}

// lockedBuffer is a log that many goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
