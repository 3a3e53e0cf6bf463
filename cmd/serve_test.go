package cmd

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback"
)

func TestServeCallback(t *testing.T) {
	s := serve(t, nil)
	resp, body := s.do(demopay(s, "/callbacks/demopay", "DP1", "ORD-2026-5001", ""))
	if resp.status != 200 || body != `{"code":0,"message":"ok"}` || resp.header.Get("X-Request-Id") == "" || !s.paid("ORD-2026-5001") {
		t.Errorf("genuine: %d %s %v", resp.status, body, resp.header)
	}
	if resp, _ := s.do(demopay(s, "/callbacks/demopay/", "DP1", "ORD-2026-5001", "")); resp.status != 200 { // F63: no redirect
		t.Errorf("trailing slash: %d", resp.status)
	}
	forged := demopay(s, "/callbacks/demopay", "DP2", "ORD-2026-5004", "")
	forged.Header.Set("X-Demo-Signature", "sha256="+strings.Repeat("0", 64))
	if resp, _ := s.do(forged); resp.status != 401 || s.paid("ORD-2026-5004") {
		t.Errorf("forged: %d", resp.status)
	}
	packed := demopay(s, "/callbacks/demopay", "DP3", "ORD-2026-5004", "")
	packed.Header.Set("Content-Encoding", "gzip")
	if resp, body := s.do(packed); resp.status != 415 || body != "" {
		t.Errorf("Content-Encoding: %d %s", resp.status, body)
	}
}

// A body packed on the way is refused in each provider's own words for a failure.
func TestServePackedBody(t *testing.T) {
	s := serve(t, nil)
	for account, want := range map[string]string{
		"wechatpay": `415 application/json {"code":"FAIL","message":"notification not understood"}`, "alipay": "415 text/plain failure", "stripe": `415 application/json {"error":"malformed"}`,
		"demopay": "415  ",
	} {
		req := s.request("POST", "/callbacks/"+account, strings.NewReader("\x1f\x8b"))
		req.Header.Set("Content-Encoding", "gzip")
		resp, body := s.do(req)
		if got := fmt.Sprintf("%d %s %s", resp.status, resp.header.Get("Content-Type"), body); got != want {
			t.Errorf("%s: %q, want %q", account, got, want)
		}
	}
	if _, numbers := s.get("/metrics"); !strings.Contains(numbers, `callbacks_total{account="wechatpay",outcome="refused",reason="malformed"} 1`) {
		t.Error("a packed body is not counted")
	}
}

// F63: other methods change nothing and say which one would.
func TestServeMethods(t *testing.T) {
	s := serve(t, nil)
	for _, path := range []string{"/callbacks/stripe", "/callbacks/stripe/"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "MADEUP"} {
			resp, _ := s.do(s.request(method, path, nil))
			if resp.status != 405 || resp.header.Get("Allow") != "POST" {
				t.Errorf("%s %s: %d, Allow %q; want 405 and POST", method, path, resp.status, resp.header.Get("Allow"))
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		if resp, _ := s.do(s.request("HEAD", path, nil)); resp.status != 200 {
			t.Errorf("HEAD %s: %d", path, resp.status)
		}
		if resp, body := s.do(s.request("POST", path, nil)); resp.status != 405 || !strings.Contains(body, `"status":405`) ||
			resp.header.Get("Content-Type") != "application/problem+json" || !strings.Contains(resp.header.Get("Allow"), "GET") {
			t.Errorf("POST %s: %d %s", path, resp.status, body)
		}
	}
}

// F70: a browser that comes back from paying proves nothing, and nothing but a callback changes anything.
func TestServeOtherRoutes(t *testing.T) {
	s := serve(t, nil)
	for _, r := range []string{
		"GET /return/stripe?order_no=ORD-2026-1001&status=success", "GET /", "POST /", "POST /callbacks/nosuch", "POST /callbacks/nosuch/", "POST /callbacks/",
		"GET /callbacks", "POST /healthz/x", "GET /debug/pprof/", "TRACE /", "POST /callbacks/stripe/extra", "POST /callbacks/..%2fstripe",
	} {
		method, path, _ := strings.Cut(r, " ")
		resp, body := s.do(s.request(method, path, nil))
		if resp.status != 404 || resp.header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, `"title":"Not Found"`) {
			t.Errorf("%s: %d %s %s; want a 404 problem", r, resp.status, resp.header.Get("Content-Type"), body)
		}
	}
	if s.paid("ORD-2026-1001") {
		t.Error("an order was paid by a page")
	}
}

// F09, F14: the route decides how a body is read, never its header, and nothing reads it before the provider.
func TestServeContentTypes(t *testing.T) {
	s := serve(t, nil)
	types := []string{"text/plain", "application/json;charset=UTF-8", "application/octet-stream", "", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"}
	for i, contentType := range types {
		id := fmt.Sprintf("CT%d", i)
		if got := runApp(t, map[string]string{"DATABASE_URL": s.dsn}, "import", "orders", orderFile(t, id)); got.code != 0 {
			t.Fatal(got.err)
		}
		req := demopay(s, "/callbacks/demopay", id, id, "")
		req.Header.Del("Content-Type")
		if contentType != "" {
			req.Header.Set("Content-Type", contentType)
		}
		if resp, body := s.do(req); resp.status != 200 || !s.paid(id) {
			t.Errorf("Content-Type %q: %d %s", contentType, resp.status, body)
		}
	}
}

func orderFile(t *testing.T, id string) string {
	return filepath.Join(writeFiles(t, map[string]string{"o.json": `[{"order_id":"` + id + `","amount":"49.99","currency":"USD"}]`}), "o.json")
}

// F13: a large body is taken up to the limit; beyond it the answer comes at once and the connection ends.
func TestServeBodySizes(t *testing.T) {
	s := serve(t, nil)
	if resp, body := s.do(demopay(s, "/callbacks/demopay", "BIG", "ORD-2026-5001", strings.Repeat("x", 900<<10))); resp.status != 200 || !s.paid("ORD-2026-5001") {
		t.Errorf("900 KiB: %d %s", resp.status, body)
	}
	for name, head := range map[string]string{
		"with its length": "Content-Length: 67108864\r\n\r\n",
		"in chunks":       "Transfer-Encoding: chunked\r\n\r\n",
	} {
		conn := s.dial(10 * time.Second)
		go func() {
			fmt.Fprintf(conn, "POST /callbacks/demopay HTTP/1.1\r\nHost: x\r\n%s", head)
			chunk := bytes.Repeat([]byte("x"), 64<<10)
			for range 1024 {
				if name == "in chunks" {
					fmt.Fprintf(conn, "%x\r\n%s\r\n", len(chunk), chunk)
				} else if _, err := conn.Write(chunk); err != nil {
					return
				}
			}
		}()
		start := time.Now()
		answer, _ := io.ReadAll(conn) // ends when the server closes; a reset after the answer is as good
		if !strings.HasPrefix(string(answer), "HTTP/1.1 413 ") || time.Since(start) > 30*time.Second {
			t.Errorf("64 MiB %s: %.60q after %v; want 413 and the end of the connection", name, answer, time.Since(start))
		}
	}
}

// Half a header must not hold a connection.
func TestServeSlowHeader(t *testing.T) {
	s := serve(t, nil)
	conn := s.dial(9 * time.Second)
	fmt.Fprint(conn, "POST /callbacks/stripe HTTP/1.1\r\nHost: x\r\nX-Slow:")
	start := time.Now()
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("still held after %v: %v", time.Since(start), err)
	}
}

func TestServeMetrics(t *testing.T) {
	s := serve(t, nil)
	s.do(demopay(s, "/callbacks/demopay", "DP1", "ORD-2026-5001", ""))
	s.do(s.request("POST", "/callbacks/stripe", strings.NewReader("{}")))
	s.do(s.request("POST", "/callbacks/made-up-by-a-stranger", nil))
	_, body := s.get("/metrics")
	for _, line := range []string{
		`callbacks_total{account="demopay",outcome="applied",reason=""} 1`,
		`callbacks_total{account="stripe",outcome="refused",reason="signature"} 1`,
		`callback_duration_seconds_count{account="demopay"} 1`, `commit_batch_size_count`, `database_ready 1`, `go_goroutines`, `process_`,
	} {
		if !strings.Contains(body, line) {
			t.Errorf("/metrics: no %s", line)
		}
	}
	if strings.Contains(body, "made-up") {
		t.Error("/metrics: a label's value came from outside")
	}
}

// A provider's test of our endpoint is counted as such, and not among the forgeries, which somebody may be woken up for.
func TestServeCountsProbesApart(t *testing.T) {
	s := serve(t, nil, "--replay-clock")
	for _, name := range []string{"12_signature_probe", "11_bad_signature"} {
		rec, err := callback.ReadRecording("../testdata/wechatpay/callbacks/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if resp, _ := s.do(recordedRequest(s, rec, rec.ReceivedAt.Format(time.RFC3339Nano))); resp.status != rec.Expect.ReplyStatus {
			t.Errorf("%s: %d", name, resp.status)
		}
	}
	_, numbers := s.get("/metrics")
	for _, line := range []string{
		`callback_probes_total{account="wechatpay"} 1`, `callbacks_total{account="wechatpay",outcome="refused",reason="signature"} 1`,
		`callback_duration_seconds_count{account="wechatpay"} 2`,
	} {
		if !strings.Contains(numbers, line+"\n") {
			t.Errorf("/metrics: no %s", line)
		}
	}
}

// recordedRequest is a recording as a request that says when it came, "" for one that does not.
func recordedRequest(s *server, rec callback.Recording, at string) *http.Request {
	req := s.request(rec.Method, rec.Path, bytes.NewReader(rec.Body))
	for name, value := range rec.Headers {
		req.Header.Set(name, value)
	}
	if at != "" {
		req.Header.Set(callback.ReplayHeader, at)
	}
	return req
}

// With --replay-clock a request that does not say when it came, came now; one that says nonsense is refused.
func TestServeReplayClockWithoutATime(t *testing.T) {
	s := serve(t, nil, "--replay-clock")
	if resp, body := s.do(demopay(s, "/callbacks/demopay", "DP1", "ORD-2026-5001", "")); resp.status != 200 || !s.paid("ORD-2026-5001") {
		t.Errorf("without a time: %d %s", resp.status, body)
	}
	rec, err := callback.ReadRecording("../testdata/wechatpay/callbacks/01_payment_success.json")
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]int{"": 401, "now": 400, "2026-11-29": 400, " ": 400} { // an old recording is too old now
		if resp, body := s.do(recordedRequest(s, rec, at)); resp.status != want {
			t.Errorf("at %q: %d %s, want %d", at, resp.status, body, want)
		}
	}
}

func TestServeAdminListen(t *testing.T) {
	s := serve(t, map[string]string{"APP_ADMIN_LISTEN": "127.0.0.1:0"})
	if status, _ := s.get("/metrics"); status != 404 {
		t.Errorf("/metrics on the public address: %d", status)
	}
	public := s.url
	s.url = s.said("\nadmin listening on ")
	for path, want := range map[string]int{"/metrics": 200, "/healthz": 200, "/readyz": 200, "/callbacks/stripe": 404} {
		if status, _ := s.get(path); status != want {
			t.Errorf("%s on the admin address: %d, want %d", path, status, want)
		}
	}
	s.url = public
	if status, _ := s.get("/readyz"); status != 200 {
		t.Errorf("/readyz on the public address: %d", status)
	}
}

// What is secret or personal is in no log, also not in the most talkative one.
func TestServeLogHidesBodyAndSecret(t *testing.T) {
	s := serve(t, nil)
	const canary = "CANARY-4242"
	s.do(demopay(s, "/callbacks/demopay?token="+canary, "DP1", "ORD-2026-5001", canary))
	forged := demopay(s, "/callbacks/demopay?token="+canary, "DP2", "ORD-2026-5001", canary)
	forged.Header.Set("X-Demo-Signature", canary)
	forged.Header.Set("Authorization", "Bearer "+canary)
	forged.Header.Set("X-Request-Id", "{"+canary+"}")
	s.do(forged)
	s.do(s.request("POST", "/callbacks/demopay", strings.NewReader(canary)))
	s.stop()
	s.wait()
	log := s.stderr.String()
	if !strings.Contains(log, "callback recorded") || !strings.Contains(log, "callback refused") {
		t.Errorf("the log does not tell what happened:\n%s", log)
	}
	for _, secret := range []string{canary, "TEST-ONLY", "whsec_"} {
		if strings.Contains(log, secret) {
			t.Errorf("%s in the log:\n%s", secret, log)
		}
	}
}

func TestServeKeepsRequestID(t *testing.T) {
	s := serve(t, nil)
	for id, kept := range map[string]bool{"abc-123.x_Y": true, "": false, "with blank": false, strings.Repeat("x", 65): false, `"}`: false} {
		req := s.request("GET", "/healthz", nil)
		req.Header.Set("X-Request-Id", id)
		resp, _ := s.do(req)
		if got := resp.header.Get("X-Request-Id"); got == "" || (got == id) != kept {
			t.Errorf("X-Request-Id %q: answered %q", id, got)
		}
	}
}

// The recordings, each at its own time, through the network.
func TestServeReplayClock(t *testing.T) {
	s := serve(t, nil, "--replay-clock")
	if !strings.Contains(s.stderr.String(), "WARNING: --replay-clock") {
		t.Error("no warning")
	}
	files, err := filepath.Glob("../testdata/*/callbacks/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	configured, err := loadConfig(kitConfig, lookup(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		rec, err := callback.ReadRecording(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := configured.account(strings.TrimPrefix(rec.Path, "/callbacks/")); err != nil {
			continue
		}
		resp, body := s.do(recordedRequest(s, rec, rec.ReceivedAt.Format(time.RFC3339Nano)))
		if resp.status != rec.Expect.ReplyStatus || rec.Expect.ReplyBody != "" && body != rec.Expect.ReplyBody {
			t.Errorf("%s: %d %s, want %d %s", file, resp.status, body, rec.Expect.ReplyStatus, rec.Expect.ReplyBody)
		}
	}
}

func TestServeRefusesToStart(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	dir := writeFiles(t, map[string]string{
		"none.yaml":  "listen: 127.0.0.1:0\n",
		"empty.yaml": stripeAccount + "  settings: {signing_secrets: ['${SECRET}']}\n", // F04
		"file":       "",
	})
	for name, c := range map[string]struct {
		args string
		want string
	}{
		"no accounts":           {"--config " + dir + "/none.yaml", dir + "/none.yaml: write them there"},
		"empty secret":          {"--config " + dir + "/empty.yaml", "signing_secrets[0]: empty"},
		"replay to the world":   {"--config " + kitConfig + " --replay-clock --listen 0.0.0.0:0", "loopback"},
		"replay on every one":   {"--config " + kitConfig + " --replay-clock --listen :0", "loopback"},
		"address taken":         {"--config " + kitConfig + " --listen " + busy.Addr().String(), "address already in use: stop what has it, or name another address by --listen"},
		"no address":            {"--config " + kitConfig + " --listen 8080", "HOST:PORT"},
		"no such folder":        {"--config " + kitConfig + " --listen 127.0.0.1:0 --database sqlite:" + dir + "/no/app.db", "/no/app.db"},
		"folder below a file":   {"--config " + kitConfig + " --listen 127.0.0.1:0 --database sqlite:" + dir + "/file/app.db", "/file/app.db"},
		"PostgreSQL not there":  {"--config " + kitConfig + " --listen 127.0.0.1:0 --database postgres://me:CANARY@127.0.0.1:1/app", "127.0.0.1:1"},
		"no database we know":   {"--config " + kitConfig + " --listen 127.0.0.1:0 --database mysql://me:CANARY@h/app", "postgres://"},
		"database with no name": {"--config " + kitConfig + " --listen 127.0.0.1:0 --database sqlite:", "sqlite:FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runApp(t, map[string]string{"SECRET": "", "APP_DATABASE": "sqlite:" + dir + "/app.db"}, append([]string{"serve"}, strings.Fields(c.args)...)...)
			if got.code != exitFailed || !strings.Contains(got.err, c.want) || strings.Contains(got.err, "CANARY") || strings.Count(got.err, "\n") != 1 {
				t.Errorf("exit %d, %q; want 2 and one line with %q", got.code, got.err, c.want)
			}
		})
	}
	if files, _ := filepath.Glob("app.db*"); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
	if _, err := os.Stat(dir + "/app.db"); err == nil {
		t.Error("a start that was refused made a database")
	}
}
