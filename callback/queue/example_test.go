package queue_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An edge gateway: it takes a request as it comes, stores it in JetStream, and answers success only then. Here nobody is at the server's
// address, so that nothing is stored, and the caller is told to send again.
func Example_publisher() {
	conn, err := nats.Connect("nats://127.0.0.1:1", nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1)) // no buffer: what is not stored is not acknowledged
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		fmt.Println(err)
		return
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://pay.example.com/callbacks/stripe?source=shop", strings.NewReader(`{"id":"evt_1"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Stripe-Signature", "t=1,v1=…")
	req.Header.Set("App-Received-At", "2020-01-01T00:00:00Z") // a stranger who wants an old signature to be young
	req.RemoteAddr = "203.0.113.7:4711"
	m, err := asMessage(req, time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Subject, string(m.Data))
	fmt.Println(m.Header["App-Received-At"], m.Header["App-Query"], m.Header["App-Sender"])
	fmt.Println(forward(req.Context(), js, m))
	// Output:
	// callbacks.stripe {"id":"evt_1"}
	// [2026-11-29T08:00:00Z] [source=shop] [203.0.113.7]
	// 503
}

// asMessage is the request as a message.
func asMessage(req *http.Request, receivedAt time.Time) (*nats.Msg, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, req.Body, 1<<20)) // below the server's max_payload
	if err != nil {
		return nil, err
	}
	m := nats.NewMsg("callbacks." + path.Base(req.URL.Path))
	m.Data = body // byte for byte: this is what was signed
	for name, values := range req.Header {
		if !strings.HasPrefix(name, "App-") && !strings.HasPrefix(name, "Nats-") { // these are ours to set, not the world's
			m.Header[name] = values
		}
	}
	sender, _, err := net.SplitHostPort(req.RemoteAddr) // behind a balancer: what that says
	if err != nil {
		return nil, err
	}
	m.Header.Set("App-Received-At", receivedAt.UTC().Format(time.RFC3339Nano))
	m.Header.Set("App-Query", req.URL.RawQuery)
	m.Header.Set("App-Sender", sender)
	return m, nil
}

// forward answers 200 only for what is stored.
func forward(ctx context.Context, js jetstream.JetStream, m *nats.Msg) int {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if _, err := js.PublishMsg(ctx, m); err != nil {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}
