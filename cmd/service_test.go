package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/ledger/ledgertest"
)

// The end in good order: /readyz says no at once, callbacks are still taken while the balancer notices, what is in flight is
// answered, and the exit code is 0.
func TestDrain(t *testing.T) {
	s := serve(t, map[string]string{"APP_SHUTDOWN_DELAY": "1s"})
	if got := runApp(t, map[string]string{"DATABASE_URL": s.dsn}, "import", "orders", orderFile(t, "LATE")); got.code != 0 {
		t.Fatal(got.err)
	}
	conn, finish := halfACallback(t, s)
	if status, _ := s.get("/readyz"); status != 200 {
		t.Fatalf("/readyz before the end: %d", status)
	}
	s.stop()
	s.said(`"msg":"stopping"`)
	if status, body := s.get("/readyz"); status != 503 || !strings.Contains(body, "shutting down") {
		t.Errorf("/readyz while stopping: %d %s", status, body)
	}
	if status, _ := s.get("/healthz"); status != 200 {
		t.Errorf("/healthz while stopping: %d", status)
	}
	if resp, _ := s.do(demopay(s, "/callbacks/demopay", "LATE", "LATE", "")); resp.status != 200 {
		t.Errorf("a callback while stopping: %d", resp.status)
	}
	waitClosed(t, s)
	finish()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.Status != "200 OK" {
		t.Errorf("the callback in flight: %v, %v", resp, err)
	}
	if code := s.wait(); code != exitDone || !s.paid("ORD-2026-5001") || !s.paid("LATE") {
		t.Errorf("exit %d; want 0 and both orders paid\n%s", code, s.stderr)
	}
}

// halfACallback sends all but the last byte of a genuine callback for ORD-2026-5001.
func halfACallback(t *testing.T, s *server) (net.Conn, func()) {
	t.Helper()
	var wire strings.Builder
	if err := demopay(s, "/callbacks/demopay", "FLIGHT", "ORD-2026-5001", "").Write(&wire); err != nil {
		t.Fatal(err)
	}
	conn := s.dial(20 * time.Second)
	text := wire.String()
	fmt.Fprint(conn, text[:len(text)-1])
	return conn, func() { fmt.Fprint(conn, text[len(text)-1:]) }
}

func waitClosed(t *testing.T, s *server) {
	t.Helper()
	for range 1000 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			return
		}
		_ = conn.Close() // only whether it opens matters
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the door stays open")
}

// F64: while the database is away every callback is told to come again, and when it is back the server goes on by itself.
func TestDatabaseGoesAway(t *testing.T) {
	ledgertest.Postgres(t) // skips when PostgreSQL is left out, and says what to type when it is missing
	cluster, err := ledgertest.Start(ledgertest.Options{Durable: true, TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	s := serve(t, map[string]string{"DATABASE_URL": cluster.TCP("postgres")})
	if status, body := s.get("/readyz"); status != 200 {
		t.Fatalf("/readyz before: %d %s", status, body)
	}

	cluster.Kill9()
	start := time.Now()
	resp, _ := s.do(demopay(s, "/callbacks/demopay", "GONE", "ORD-2026-5001", ""))
	if took := time.Since(start); resp.status != 503 || took > 30*time.Second {
		t.Errorf("a callback without a database: %d after %v; want 503 within 5 s", resp.status, took)
	}
	if resp, body := s.shop("POST", "/orders", shopOrder("GONE"), "Idempotency-Key: gone"); resp.status != 503 || resp.header.Get("Retry-After") == "" || strings.Contains(body, "127.0.0.1") {
		t.Errorf("an order without a database: %d %v %s", resp.status, resp.header, body)
	}
	time.Sleep(readyFor) // the answer from before is used for so long
	if status, body := s.get("/readyz"); status != 503 || strings.Contains(body, "127.0.0.1") {
		t.Errorf("/readyz without a database: %d %s", status, body)
	}
	if status, _ := s.get("/healthz"); status != 200 {
		t.Errorf("/healthz without a database: %d", status)
	}
	if _, body := s.get("/metrics"); !strings.Contains(body, "database_ready 0") || !strings.Contains(body, `outcome="failed"`) {
		t.Error("/metrics does not show that the database is away")
	}

	for range 20 { // a killed process may still hold the shared memory for a moment
		if err = cluster.Up(); err == nil {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if resp, _ = s.do(demopay(s, "/callbacks/demopay", "GONE", "ORD-2026-5001", "")); resp.status == 200 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if resp.status != 200 || !s.paid("ORD-2026-5001") {
		t.Errorf("after the database came back: %d", resp.status)
	}
	if resp, body := s.shop("POST", "/orders", shopOrder("GONE"), "Idempotency-Key: gone"); resp.status != 201 || resp.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("the order again: %d %s", resp.status, body)
	}
	time.Sleep(readyFor)
	if status, _ := s.get("/readyz"); status != 200 {
		t.Errorf("/readyz afterwards: %d", status)
	}
}

// F71: the signature decides, not where a request says it comes from; and only a proxy of ours may say it.
func TestClientAddress(t *testing.T) {
	ours := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, c := range []struct {
		proxies           []netip.Prefix
		peer, header, got string
	}{
		{nil, "203.0.113.9:1", "198.51.100.1", "203.0.113.9"},
		{nil, "127.0.0.1:1", "198.51.100.1", "127.0.0.1"},
		{ours, "203.0.113.9:1", "198.51.100.1", "203.0.113.9"}, // no proxy of ours
		{ours, "10.1.2.3:1", "198.51.100.1", "198.51.100.1"},
		{ours, "10.1.2.3:1", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"}, // what stands in front, anybody wrote
		{ours, "[2001:db8::1]:1", "198.51.100.1", "198.51.100.1"},
		{ours, "127.0.0.1:1", "198.51.100.1", "127.0.0.1"},
		{ours, "10.1.2.3:1", "", "10.1.2.3"},
	} {
		req := httptest.NewRequest(http.MethodPost, "/callbacks/stripe", nil)
		req.RemoteAddr = c.peer
		if c.header != "" {
			req.Header.Set("X-Forwarded-For", c.header)
		}
		if got := clientAddress(c.proxies)(req); got != c.got {
			t.Errorf("proxies %v, peer %s, header %q: got %s, want %s", c.proxies, c.peer, c.header, got, c.got)
		}
	}
}

func TestForgedSenderAddress(t *testing.T) {
	s := serve(t, nil)
	genuine := demopay(s, "/callbacks/demopay", "DP1", "ORD-2026-5001", "")
	genuine.Header.Set("X-Forwarded-For", "203.0.113.9")
	if resp, _ := s.do(genuine); resp.status != 200 || !s.paid("ORD-2026-5001") {
		t.Errorf("genuine, from anywhere: %d", resp.status)
	}
	forged := s.request("POST", "/callbacks/stripe", strings.NewReader("{}"))
	forged.Header.Set("X-Forwarded-For", "3.18.12.63") // one of Stripe's
	if resp, _ := s.do(forged); resp.status != 400 && resp.status != 401 {
		t.Errorf("forged, with the provider's address: %d", resp.status)
	}
	if strings.Contains(s.stderr.String(), "3.18.12.63") {
		t.Error("a header of a stranger's was taken for the sender's address")
	}
}

func testService(t *testing.T, log io.Writer) *service {
	t.Helper()
	book := ledgertest.Open(t, "sqlite:"+t.TempDir()+"/app.db")
	return newService(&Config{}, book, slog.New(slog.NewJSONHandler(log, nil)), newMetrics(), time.Now)
}

// A panic ends one request, not the server, and its stack is for the log only.
func TestPanicIsContained(t *testing.T) {
	var log buffer
	s := testService(t, &log)
	e := s.newEcho()
	e.POST("/callbacks/broken", func(echo.Context) error { panic("boom") })
	e.GET("/fails", func(echo.Context) error { return errors.New("inner detail") })
	web := httptest.NewServer(e)
	defer web.Close()

	resp, body := fetch(t, "POST", web.URL+"/callbacks/broken")
	if resp.status != 503 || strings.Contains(body, "boom") || strings.Contains(body, "goroutine") {
		t.Errorf("panic: %d %s", resp.status, body)
	}
	resp, body = fetch(t, "GET", web.URL+"/fails")
	if resp.status != 500 || strings.Contains(body, "inner detail") || !strings.Contains(body, `"request_id":"`+resp.header.Get("X-Request-Id")) {
		t.Errorf("error: %d %s", resp.status, body)
	}
	for _, want := range []string{`"panic":"boom"`, "service_test.go", "inner detail"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in the log:\n%s", want, log.String())
		}
	}
}

func fetch(t *testing.T, method, url string) (response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{resp.StatusCode, resp.Header}, string(body)
}

// A hundred probes at once ask the database once, and it is told once that it went away and came back.
func TestReadinessAsksSeldom(t *testing.T) {
	var asked atomic.Int32
	var fails atomic.Bool
	var log buffer
	r := &readiness{log: slog.New(slog.NewJSONHandler(&log, nil)), check: func(ctx context.Context) error {
		asked.Add(1)
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("asked without a time limit")
		}
		if fails.Load() {
			return fmt.Errorf("gone")
		}
		return nil
	}}
	var probes sync.WaitGroup
	for range 100 {
		probes.Go(func() {
			if err := r.now(); err != nil {
				t.Error(err)
			}
		})
	}
	probes.Wait()
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
	for _, failing := range []bool{true, true, false, false} {
		fails.Store(failing)
		r.at = r.at.Add(-readyFor)
		if err := r.now(); (err != nil) != failing {
			t.Errorf("failing %v: %v", failing, err)
		}
	}
	if log := log.String(); strings.Count(log, "not ready") != 1 || strings.Count(log, "ready again") != 1 {
		t.Errorf("told more or less than once:\n%s", log)
	}
}
