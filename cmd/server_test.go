package cmd

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
)

// server is `app serve` running in this process on a port of its own.
type server struct {
	t      *testing.T
	url    string
	dsn    string
	stderr *buffer
	stop   context.CancelFunc
	ended  chan int // the exit code
}

// serve starts the server with the recordings' accounts and the shop's orders. env may hold further APP_… variables.
func serve(t *testing.T, env map[string]string, args ...string) *server {
	t.Helper()
	all := map[string]string{"APP_SHUTDOWN_DELAY": "0s", "APP_LOG_LEVEL": "debug", "DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "app.db")}
	for k, v := range env {
		all[k] = v
	}
	if all["APP_CONFIG"] == "" {
		all["APP_CONFIG"] = kitConfig
		for _, account := range []string{"wechatpay", "stripe", "demopay"} {
			if got := runApp(t, all, "import", "orders", "../testdata/"+account+"/orders.json"); got.code != 0 {
				t.Fatal(got.err)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{t: t, dsn: all["DATABASE_URL"], stderr: &buffer{}, stop: cancel, ended: make(chan int, 1)}
	results := &checkedWriter{w: io.Discard}
	a := &app{in: strings.NewReader(""), out: results, err: s.stderr, now: time.Now, env: lookup(all), environ: environ(all)}
	go func() { s.ended <- a.run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), results) }()
	t.Cleanup(func() {
		cancel()
		if code := s.wait(); code != exitDone {
			t.Errorf("serve ended with %d\n%s", code, s.stderr)
		}
	})
	s.url = s.said("\nlistening on ")
	return s
}

// said waits for a line that begins so, and returns the rest of it.
func (s *server) said(prefix string) string {
	s.t.Helper()
	for range 2000 {
		if _, rest, found := strings.Cut("\n"+s.stderr.String(), prefix); found && strings.Contains(rest, "\n") {
			line, _, _ := strings.Cut(rest, "\n")
			return line
		}
		select {
		case code := <-s.ended:
			s.ended <- code
			s.t.Fatalf("serve ended with %d\n%s", code, s.stderr)
		case <-time.After(5 * time.Millisecond):
		}
	}
	s.t.Fatalf("never said %q\n%s", prefix, s.stderr)
	return ""
}

func (s *server) wait() int {
	s.t.Helper()
	select {
	case code := <-s.ended:
		s.ended <- code
		return code
	case <-time.After(20 * time.Second):
		s.t.Fatalf("serve does not end\n%s", s.stderr)
		return -1
	}
}

// dial is a connection for what no client would do; reading from it ends after patience.
func (s *server) dial(patience time.Duration) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err == nil {
		err = conn.SetReadDeadline(time.Now().Add(patience))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it already
	return conn
}

// response is what came back, apart from the body.
type response struct {
	status int
	header http.Header
}

// do sends a request and reads the whole answer.
func (s *server) do(req *http.Request) (response, string) {
	s.t.Helper()
	// A connection of its own: one that is shared may be closed by another request's end while it is taken. It may be kept alive, since a
	// server lingers on such a one after it has refused a body unread; else the rest of the body would be answered by a reset.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Timeout: 20 * time.Second,
		Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response{resp.StatusCode, resp.Header}, string(body)
}

func (s *server) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return req
}

func (s *server) get(path string) (int, string) {
	s.t.Helper()
	resp, body := s.do(s.request(http.MethodGet, path, nil))
	return resp.status, body
}

// demopay is a genuine callback of the account demopay, signed now.
func demopay(s *server, path, id, order, filler string) *http.Request {
	now := time.Now()
	body := fmt.Sprintf(`{"event_id":"e-%s","event_type":"payment","created_at":%q,"note":%q,"data":{"trade_no":%q,"merchant_order_no":%q,"trade_status":"SUCCESS",`+
		`"amount":{"value":"49.99","currency":"USD"}}}`, id, now.Format(time.RFC3339), filler, id, order)
	stamp := fmt.Sprint(now.UnixMilli())
	mac := hmac.New(sha256.New, []byte("demopay-fixture-secret-TEST-ONLY"))
	fmt.Fprint(mac, stamp+"."+body)
	req := s.request(http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("X-Demo-Timestamp", stamp)
	req.Header.Set("X-Demo-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	req.Header.Set("Content-Type", "application/json")
	return req
}

// paid says what became of an order, through a second process's eyes.
func (s *server) paid(order string) bool {
	s.t.Helper()
	book, err := ledger.Open(s.t.Context(), s.dsn, ledger.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer book.Close()
	orders, err := book.Orders(s.t.Context(), []string{order})
	if err != nil {
		s.t.Fatal(err)
	}
	return orders[order].Status == "paid"
}
