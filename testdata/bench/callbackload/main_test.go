package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestHistogramError(t *testing.T) {
	for v := uint64(1); v < 1<<40; v = v*9/8 + 1 {
		got := lowest(bucket(v))
		if got > v || float64(v-got) > float64(v)/64+1 {
			t.Fatalf("%d reads back as %d", v, got)
		}
	}
	if bucket(math.MaxUint64) >= 64*64 {
		t.Fatal("the largest value has no bucket")
	}
}

func TestHistogramQuantile(t *testing.T) {
	var h histogram
	for i := uint64(1); i <= 1000; i++ {
		h.add(i * 1e6)
	}
	if q := h.quantile(.5); math.Abs(q-500) > 8 {
		t.Errorf("p50 = %v, want about 500", q)
	}
	if q := h.quantile(.99); math.Abs(q-990) > 16 {
		t.Errorf("p99 = %v, want about 990", q)
	}
}

func TestTemplate(t *testing.T) {
	for _, wrong := range []string{"{{nope}}", "{{txn"} {
		if _, err := parseTemplate(wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
	pieces, err := parseTemplate(`{"a":"{{txn}}","b":{{order}},"c":"{{orderno}}"}`)
	if err != nil {
		t.Fatal(err)
	}
	got := string(fill(nil, pieces, values{txn: "T1-7", order: 42}))
	if want := `{"a":"T1-7","b":42,"c":"O000000000042"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRunAgainstServer sends signed callbacks, half of them twice, to a server that checks each signature and keeps the bodies.
func TestRunAgainstServer(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte("s3cret"))
		mac.Write([]byte(r.Header.Get("X-Timestamp") + "."))
		mac.Write(body)
		if r.Header.Get("X-Signature") != hex.EncodeToString(mac.Sum(nil)) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		seen[string(body)] = true
	}))
	defer server.Close()
	l, err := newLoad(&options{url: server.URL, body: defaultBody, secret: "s3cret", sigHeader: "X-Signature", tsHeader: "X-Timestamp",
		signed: "ts.body", okCodes: "200", conns: 4, orders: 1000, stride: 7919, dup: .5, duration: time.Minute, requests: 200})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.connect(); err != nil {
		t.Fatal(err)
	}
	out := l.measureAll()
	if out["refused"] != uint64(0) || out["io_errors"] != uint64(0) {
		t.Fatalf("refused or failed: %v", out)
	}
	if l.distinct() != len(seen) || out["acks_dup"] == uint64(0) {
		t.Fatalf("%d distinct acknowledged, the server has %d; %v resent", l.distinct(), len(seen), out["acks_dup"])
	}
}

func TestResponseBodiesAreSkipped(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"length":  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"code":0}`) },
		"empty":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"chunked": func(w http.ResponseWriter, _ *http.Request) { chunked(w) },
		"closing": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close"); chunked(w) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			l, err := newLoad(&options{url: server.URL, body: "{}", okCodes: "200,204", conns: 1, orders: 1, stride: 1, signed: "body"})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.connect(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				l.workers[0].send(time.Time{})
			}
			if l.distinct() != 3 {
				t.Fatalf("%d acknowledged of 3: %s", l.distinct(), l.workers[0].lastErr)
			}
		})
	}
}

func chunked(w http.ResponseWriter) {
	out := bufio.NewWriter(w)
	for i := range 3000 { // past the server's own buffer, so that it cannot tell a length
		_, _ = out.WriteString(strconv.Itoa(i))
	}
	_ = out.Flush()
}

func TestWrongFlagsAreRefused(t *testing.T) {
	good := options{url: "http://h/x", body: "{}", okCodes: "200", conns: 1, orders: 1, signed: "body"}
	for name, change := range map[string]func(*options){
		"https":    func(o *options) { o.url = "https://h/x" },
		"code":     func(o *options) { o.okCodes = "abc" },
		"dup code": func(o *options) { o.dupCodes = "4o9" },
		"orders":   func(o *options) { o.orders = 0 },
		"signed":   func(o *options) { o.signed = "all" },
		"body":     func(o *options) { o.body = "@/no/such/file" },
	} {
		o := good
		change(&o)
		if _, err := newLoad(&o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
