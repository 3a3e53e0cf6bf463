package cmd

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"paybook/callback"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// edge publishes as a gateway does.
type edge struct {
	t  *testing.T
	js jetstream.JetStream
}

func newEdge(t *testing.T, n *ledgertest.NATS) *edge {
	t.Helper()
	conn, err := nats.Connect(n.URL, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return &edge{t, js}
}

func (e *edge) publish(account string, req *http.Request) {
	e.t.Helper()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	m := &nats.Msg{Subject: "callbacks." + account, Header: nats.Header(req.Header), Data: body}
	for range 300 {
		ctx, cancel := context.WithTimeout(e.t.Context(), 2*time.Second)
		_, err = e.js.PublishMsg(ctx, m)
		cancel()
		if err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	e.t.Fatal("not published:", err)
}

// idle waits until every message is done.
func (e *edge) idle() {
	e.t.Helper()
	for range 600 {
		c, err := e.js.Consumer(e.t.Context(), "CALLBACKS", "paybook")
		if err == nil && c.CachedInfo().NumPending == 0 && c.CachedInfo().NumAckPending == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	e.t.Fatal("the queue does not get empty")
}

// consumer is `app consume` running in this process.
func consumer(t *testing.T, env map[string]string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{t: t, dsn: env["DATABASE_URL"], stderr: &buffer{}, stop: cancel, ended: make(chan int, 1)}
	results := &checkedWriter{w: io.Discard}
	a := &app{in: strings.NewReader(""), out: results, err: s.stderr, now: time.Now, env: lookup(env)}
	go func() { s.ended <- a.run(ctx, []string{"consume"}, results) }()
	t.Cleanup(func() {
		cancel()
		if code := s.wait(); code != exitDone {
			t.Errorf("consume ended with %d\n%s", code, s.stderr)
		}
	})
	return s
}

// app serve takes callbacks over HTTP and from the queue; the same by both is one.
func TestServeWithQueue(t *testing.T) {
	n := ledgertest.StartNATS(t)
	s := serve(t, map[string]string{"APP_QUEUE_URL": n.URL})
	if said := s.said("\ntaking callbacks from "); said != n.URL+": stream CALLBACKS, subject callbacks.*, consumer paybook" {
		t.Errorf("announced: %s", said)
	}
	e := newEdge(t, n)
	both := demopay(s, "/callbacks/demopay", "DP1", "ORD-2026-5001", "")
	body, err := io.ReadAll(both.Body)
	if err != nil {
		t.Fatal(err)
	}
	again := s.request(http.MethodPost, "/callbacks/demopay", strings.NewReader(string(body)))
	again.Header = both.Header.Clone()
	both.Body = io.NopCloser(strings.NewReader(string(body)))
	e.publish("demopay", both)
	if resp, text := s.do(again); resp.status != 200 || text != `{"code":0,"message":"ok"}` {
		t.Errorf("over HTTP: %d %s", resp.status, text)
	}
	forged := demopay(s, "/callbacks/demopay", "DP2", "ORD-2026-5004", "")
	forged.Header.Set("X-Demo-Signature", "sha256="+strings.Repeat("0", 64))
	e.publish("demopay", forged)
	e.publish("made-up-by-a-stranger", demopay(s, "/callbacks/demopay", "DP3", "ORD-2026-5004", ""))
	e.idle()
	if !s.paid("ORD-2026-5001") || s.paid("ORD-2026-5004") {
		t.Error("the wrong order is paid")
	}
	_, numbers := s.get("/metrics")
	for _, line := range []string{`queue_messages_total{account="demopay",result="booked"} 1`, `queue_messages_total{account="demopay",result="refused"} 1`,
		`queue_messages_total{account="",result="refused"} 1`, `callbacks_total{account="demopay",outcome="refused",reason="signature"} 1`} {
		if !strings.Contains(numbers, line) {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(numbers, "stranger") {
		t.Error("a metric holds a name from outside")
	}
	if list := s.callbacks("ORD-2026-5001"); len(list) != 1 || list[0].Deliveries != 2 {
		t.Errorf("evidence %+v, want one row with two deliveries", list)
	}
}

// callbacks are what is kept of an order.
func (s *server) callbacks(order string) (out []callbackJSON) {
	s.t.Helper()
	got := runApp(s.t, map[string]string{"DATABASE_URL": s.dsn, "APP_CONFIG": kitConfig}, "callbacks", "list", "--format", "json")
	var all []callbackJSON
	if err := json.Unmarshal([]byte(got.out), &all); err != nil {
		s.t.Fatal(err, got.err)
	}
	for _, cb := range all {
		if cb.OrderID == order {
			out = append(out, cb)
		}
	}
	return out
}

// The recordings of every provider through the queue, each at its own time: what must be booked is, and the rest dies for its reason.
func TestConsumeRecordings(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		n := ledgertest.StartNATS(t)
		env := map[string]string{"APP_CONFIG": kitConfig, "DATABASE_URL": dsn, "APP_QUEUE_URL": n.URL, "APP_LOG_LEVEL": "error"}
		consumer(t, env).said("\ntaking callbacks from ")
		conf, err := loadConfig(kitConfig, lookup(nil))
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob("../testdata/*/callbacks/*.json")
		if err != nil {
			t.Fatal(err)
		}
		e := newEdge(t, n)
		want := map[string]callback.Expect{}
		for _, file := range files {
			rec, err := callback.ReadRecording(file)
			if err != nil {
				t.Fatal(err)
			}
			account := strings.TrimPrefix(rec.Path, "/callbacks/")
			if _, err := conf.account(account); err != nil || rec.Method != http.MethodPost || len(rec.Body) == 0 {
				continue
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://edge.invalid"+rec.Path, strings.NewReader(string(rec.Body)))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range rec.Headers {
				req.Header.Set(name, value)
			}
			req.Header.Set("App-Received-At", rec.ReceivedAt.Format(time.RFC3339Nano))
			req.Header.Set("App-Query", rec.Query)
			e.publish(account, req)
			want[account+" "+string(rec.Body)] = rec.Expect
		}
		e.idle()
		book, err := ledger.Open(t.Context(), dsn, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer book.Close()
		list, _, err := book.Callbacks(t.Context(), ledger.CallbackFilter{Page: ledger.Page{Limit: 10_000}})
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]bool{} // by account and body: verified in the end
		for _, cb := range list {
			key := cb.Account + " " + string(cb.Body)
			kept[key] = kept[key] || cb.Verified
		}
		if len(want) < 50 {
			t.Fatalf("%d recordings", len(want))
		}
		for key, expect := range want {
			if verified, there := kept[key]; !there || expect.Verified && !verified {
				t.Errorf("%.80s: kept %v, verified %v; want verified %v", key, there, verified, expect.Verified)
			}
		}
	})
}

// What died is brought again when its cause is cured.
func TestConsumeDead(t *testing.T) {
	n := ledgertest.StartNATS(t)
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
	env := map[string]string{"APP_CONFIG": shopConfig(t), "DATABASE_URL": dsn, "APP_QUEUE_URL": n.URL, "APP_LOG_LEVEL": "error"}
	if got := runApp(t, env, "consume", "--dead"); got.code != exitDone || got.out != "no dead letters\n" {
		t.Errorf("before there is any: %+v", got)
	}
	c := consumer(t, env)
	c.said("\ntaking callbacks from ")
	e := newEdge(t, n)
	e.publish("wechatpay", demopay(c, "/", "W1", "", ""))
	unknown := demopay(c, "/", "DP1", "", "")
	unknown.Header.Set("X-Demo-Signature", "sha256="+strings.Repeat("0", 64))
	e.publish("demopay", unknown)
	e.idle()
	c.stop()
	c.wait()
	if code, out := findings(t, time.Now(), env); !strings.Contains(out, "warning queue: 2 dead letters") || code != exitDone {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	got := runApp(t, env, "consume", "--dead", "--format", "json")
	var list []deadLetterJSON
	if err := json.Unmarshal([]byte(got.out), &list); err != nil || got.code != exitLook || len(list) != 2 {
		t.Fatalf("%+v %v", got, err)
	}
	if list[0].Account != "wechatpay" || list[0].Reason != "unknown_account" || list[0].Booked || list[1].Reason != "signature" || !strings.HasPrefix(list[1].Now, "signature: ") {
		t.Errorf("%+v", list)
	}
	env["APP_CONFIG"] = kitConfig // here wechatpay is an account, whose signature the first does not have either
	if got := runApp(t, env, "consume", "--dead"); got.code != exitLook || !strings.Contains(got.out, "unknown_account") || strings.Count(got.out, "signature:") != 2 {
		t.Errorf("%+v", got)
	}
}

// A start with a queue that does not fit is refused; one with a queue that is away is not.
func TestConsumeRefusesToStart(t *testing.T) {
	n := ledgertest.StartNATS(t, "--user", "me", "--pass", "CANARY-right")
	dir := writeFiles(t, map[string]string{"none.yaml": "queue: {url: 'nats://127.0.0.1:1'}\n"})
	env := map[string]string{"APP_CONFIG": kitConfig, "DATABASE_URL": "sqlite:" + dir + "/app.db"}
	for want, more := range map[string]map[string]string{
		"no queue configured":      {},
		"no accounts configured":   {"APP_CONFIG": dir + "/none.yaml"},
		"does not let us in":       {"APP_QUEUE_URL": n.URL, "APP_QUEUE_USER": "me", "APP_QUEUE_PASSWORD": "CANARY-wrong"},
		"there is no stream OTHER": {"APP_QUEUE_URL": n.URL, "APP_QUEUE_USER": "me", "APP_QUEUE_PASSWORD": "CANARY-right", "APP_QUEUE_STREAM": "OTHER", "APP_QUEUE_CREATE": "false"},
		"APP_QUEUE_MAX_DELIVER":    {"APP_QUEUE_URL": n.URL, "APP_QUEUE_MAX_DELIVER": "many"},
	} {
		for name, value := range env {
			if more[name] == "" {
				more[name] = value
			}
		}
		for _, args := range [][]string{{"consume"}, {"serve", "--listen", "127.0.0.1:0"}} {
			if args[0] == "serve" && want == "no queue configured" {
				continue // it has its routes
			}
			got := runApp(t, more, args...)
			lines := strings.Split(strings.TrimSpace(got.err), "\n")
			if last := lines[len(lines)-1]; got.code != exitFailed || !strings.HasPrefix(last, "app: ") || !strings.Contains(last, want) || strings.Contains(got.err, "CANARY") {
				t.Errorf("%v: exit %d, %q; want 2 and %q", args, got.code, got.err, want)
			}
		}
	}
	if code, out := findings(t, time.Now(), map[string]string{"APP_CONFIG": kitConfig, "DATABASE_URL": env["DATABASE_URL"], "APP_QUEUE_URL": "nats://me:CANARY@127.0.0.1:1"}); code != exitLook ||
		!strings.Contains(out, "failed queue: nats://127.0.0.1:1 does not work (") || strings.Contains(out, "CANARY") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	if got := runApp(t, env, "consume", "--format", "json"); got.code != exitFailed || !strings.Contains(got.err, "--dead") {
		t.Errorf("%+v", got)
	}
}

// A queue that is away does not keep HTTP from working.
func TestServeWhileTheQueueIsAway(t *testing.T) {
	s := serve(t, map[string]string{"APP_QUEUE_URL": "nats://127.0.0.1:1"})
	if resp, _ := s.do(demopay(s, "/callbacks/demopay", "DP1", "ORD-2026-5001", "")); resp.status != 200 || !s.paid("ORD-2026-5001") {
		t.Errorf("answer %d", resp.status)
	}
	if !strings.Contains(s.stderr.String(), "queue not usable") {
		t.Error("nothing in the log")
	}
}
