package redisgate

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

func open(t *testing.T, address string, o Options) *Gate {
	t.Helper()
	g, err := Open(address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// patient is for tests about what Redis says: a busy machine is no failure.
var patient = Options{Timeout: 30 * time.Second}

var key = ledger.Key{Owner: "web", Token: "k", Fingerprint: "f"}

func enterAt(g *Gate, k ledger.Key) (ledger.Pass, error) {
	now := time.Now()
	return g.Enter(context.Background(), k, "me", now, now.Add(30*time.Second))
}

// counted is a Redis that takes every connection and never says a word. It counts them: each call that times out costs one.
func counted(t *testing.T) (address string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	connections = &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			t.Cleanup(func() { conn.Close() })
		}
	}()
	return "redis://" + l.Addr().String(), connections
}

// TestBreakerOpens: after a few calls that came to nothing nobody pays the time limit any more: Redis is not called.
func TestBreakerOpens(t *testing.T) {
	address, connections := counted(t)
	var said bytes.Buffer
	g := open(t, address, Options{Timeout: 20 * time.Millisecond, Rest: time.Hour, Log: slog.New(slog.NewTextHandler(&said, nil))})
	for range failuresInARow {
		if g.Away() {
			t.Error("given up too early")
		}
		if pass, err := enterAt(g, key); err == nil || pass != ledger.PassUnknown {
			t.Errorf("%q, %v", pass, err)
		}
	}
	if !g.Away() {
		t.Fatal("still asked after it did not answer five times")
	}
	before := connections.Load()
	var wg sync.WaitGroup
	for range 500 {
		wg.Go(func() {
			if _, err := enterAt(g, key); err == nil {
				t.Error("answered")
			}
		})
	}
	wg.Wait()
	if n := connections.Load(); n != before || n > 2*failuresInARow {
		t.Errorf("%d connections, %d before the breaker opened", n, before)
	}
	if strings.Count(said.String(), "redis fails") != 1 || strings.Count(said.String(), "\n") != 1 {
		t.Errorf("said\n%s", said.String())
	}
}

// TestBreakerCloses: one call after the rest finds that Redis is back.
func TestBreakerCloses(t *testing.T) {
	r := ledgertest.Redis(t)
	var said bytes.Buffer
	g := open(t, r.URL, Options{Timeout: 30 * time.Second, Rest: time.Millisecond, Log: slog.New(slog.NewTextHandler(&said, nil))})
	r.Kill()
	for range 2 * failuresInARow {
		if _, err := enterAt(g, key); err == nil {
			t.Error("answered")
		}
	}
	r.Restart(t)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		pass, err := enterAt(g, key)
		if err == nil {
			if pass != ledger.PassGranted {
				t.Errorf("an empty Redis says %q", pass)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if g.Away() || strings.Count(said.String(), "redis fails") != 1 || strings.Count(said.String(), "redis is back") != 1 {
		t.Errorf("away: %v, said\n%s", g.Away(), said.String())
	}
}

// TestWhatCountsAsFailure: half of the calls are enough; a caller that has gone, and one key of another type, are not Redis's fault.
func TestWhatCountsAsFailure(t *testing.T) {
	r := ledgertest.Redis(t)
	for name, c := range map[string]struct {
		spoil func(g *Gate)
		call  func(g *Gate, i int) error
		away  bool
	}{
		"all is well":     {call: func(g *Gate, i int) error { _, err := enterAt(g, key); return err }},
		"the caller left": {call: func(g *Gate, i int) error { return g.Issue(gone(), key, time.Minute) }},
		"another type": {
			spoil: func(g *Gate) { r.Do(t, "LPUSH", g.names(key)[0], "x") },
			call:  func(g *Gate, i int) error { _, err := enterAt(g, key); return err },
		},
		"full, every other call": {
			spoil: func(*Gate) { r.Fill(t) },
			call: func(g *Gate, i int) error {
				if i%2 == 0 {
					return g.Leave(context.Background(), key, "nobody", false) // reads only
				}
				_, err := enterAt(g, ledger.Key{Token: "new"})
				return err
			},
			away: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r.Do(t, "CONFIG", "SET", "maxmemory", "0")
			r.Flush(t)
			g := open(t, r.URL, Options{Timeout: 30 * time.Second, Rest: time.Hour})
			if c.spoil != nil {
				c.spoil(g)
			}
			var err error
			for i := range 2 * failuresOf {
				err = c.call(g, i)
			}
			if g.Away() != c.away {
				t.Errorf("away: %v, last: %v", g.Away(), err)
			}
		})
	}
}

func gone() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestAddresses: what is wrong with one is said without it.
func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:6379", "http://:CANARY@h", "redis://:CANARY%@h", "redis://:CANARY@h/x", "redis://:CANARY@h?nonsense=1", "redis://me:CANARY@h:port"} {
		err := Check(address)
		if err == nil || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), "redis://HOST:PORT") {
			t.Errorf("%q: %v", address, err)
		}
		if g, openErr := Open(address, Options{}); openErr == nil || g != nil {
			t.Errorf("%q is opened", address)
		}
	}
	for _, address := range []string{"redis://h", "rediss://me:CANARY@h:1/2", "unix://:CANARY@/run/redis.sock?db=1"} {
		if g := open(t, address, Options{}); strings.Contains(g.Address(), "CANARY") {
			t.Errorf("%s is shown as %s", address, g.Address())
		}
	}
}

// TestWrongPassword: Redis says so, and neither error nor log nor standard error have it.
func TestWrongPassword(t *testing.T) {
	r := ledgertest.Redis(t, map[string]string{"requirepass": "right"})
	var said bytes.Buffer
	g := open(t, strings.Replace(r.URL, "right", "CANARY", 1), Options{Timeout: 30 * time.Second, Rest: time.Hour, Log: slog.New(slog.NewTextHandler(&said, nil))})
	if err := g.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "WRONGPASS") || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("ping: %v", err)
	}
	stderr := captureStderr(t, func() {
		for range failuresInARow {
			if _, err := enterAt(g, key); err == nil || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("%v", err)
			}
		}
	})
	if !g.Away() || strings.Contains(said.String(), "CANARY") || stderr != "" {
		t.Errorf("away: %v; log %s; standard error %q", g.Away(), said.String(), stderr)
	}
	if err := open(t, r.URL, patient).Ping(t.Context()); err != nil {
		t.Errorf("the right one: %v", err)
	}
}

func captureStderr(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	old := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = old }()
	f()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
