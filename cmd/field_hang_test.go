package cmd

import (
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
)

// wire passes everything on to a database until it is held: then connections stay open and nothing comes through.
type wire struct {
	addr string
	gate sync.RWMutex
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	w := &wire{addr: ln.Addr().String()}
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			go w.pass(client, target)
		}
	}()
	return w
}

func (w *wire) pass(client net.Conn, target string) {
	w.gate.RLock()
	server, err := net.Dial("tcp", target)
	w.gate.RUnlock()
	if err != nil {
		_ = client.Close()
		return
	}
	go w.copy(server, client)
	w.copy(client, server)
}

func (w *wire) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		w.gate.RLock()
		_, writeErr := to.Write(buf[:n])
		w.gate.RUnlock()
		if err != nil || writeErr != nil {
			return
		}
	}
}

// F64, the silent way: the database is there and says nothing. Every callback is answered in time, none with success, and when the
// database speaks again the server goes on by itself.
func TestFieldDatabaseHangs(t *testing.T) {
	ledgertest.Postgres(t) // skips when PostgreSQL is left out, and says what to type when it is missing
	cluster, err := ledgertest.Start(ledgertest.Options{TCP: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	dsn := cluster.TCP("postgres")
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t, u.Host)
	f := openField(t, strings.Replace(dsn, u.Host, w.addr, 1))
	f.global[3] = dsn // the operator's own way in
	f.book = ledgertest.Open(t, dsn)
	f.order("FCHANG", "19.99", "USD")
	body := f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCHANG", 1999, "usd"))
	f.ack(f.stripe(f.stripeEvent("customer.created", `{"id":"cus_1"}`))) // connections are open now

	w.gate.Lock()
	var sending sync.WaitGroup
	for i := range 20 {
		sending.Go(func() {
			start := time.Now()
			got, want := fieldAnswer{}, 503
			if i == 0 {
				got, want = f.post("stripe", []byte(body), nil), 401 // forged: the evidence may be lost, the answer is the same
			} else {
				got = f.stripe(body)
			}
			if took := time.Since(start); got.status != want || took > 30*time.Second {
				t.Errorf("request %d: %d after %v, want %d within 5 s", i, got.status, took, want)
			}
		})
	}
	sending.Wait()
	time.Sleep(readyFor)
	if status, _ := f.web.get("/readyz"); status != 503 {
		t.Errorf("/readyz: %d, want 503", status)
	}
	if status, _ := f.web.get("/healthz"); status != 200 {
		t.Errorf("/healthz: %d, want 200", status)
	}
	f.wantOrder("FCHANG", "unpaid 0.00")
	w.gate.Unlock()

	for range 200 {
		if f.stripe(body).status == 200 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.ack(f.stripe(body))
	f.wantOrder("FCHANG", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
	f.wantMessages("FCHANG", 1)
	if strings.Contains(f.web.stderr.String(), "panic") {
		t.Errorf("panicked:\n%s", f.web.stderr)
	}
}
