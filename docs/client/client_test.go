package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"paybook/docs/client"
)

// One key goes with every try of one order, and a new order gets a new one.
func TestSameKeyWithEveryTry(t *testing.T) {
	var keys, bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		keys, bodies = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(body))
		switch len(keys) {
		case 1:
			panic(http.ErrAbortHandler) // the answer is lost
		case 2:
			http.Error(w, "not now", http.StatusServiceUnavailable)
		default:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"order_id":"A","status":"unpaid","version":1}`)
		}
	}))
	defer server.Close()
	c := &client.Client{Base: server.URL, Pause: time.Millisecond}
	o, err := c.CreateOrder(t.Context(), client.NewOrder{OrderID: "A", Amount: "1.00", Currency: "CNY"}, "")
	if err != nil || o.OrderID != "A" || o.Version != 1 {
		t.Fatalf("%+v, %v", o, err)
	}
	if len(keys) != 3 || keys[0] == "" || keys[1] != keys[0] || keys[2] != keys[0] || bodies[2] != bodies[0] {
		t.Errorf("keys %q, bodies %q", keys, bodies)
	}
	if _, err := c.CreateOrder(t.Context(), client.NewOrder{OrderID: "B", Amount: "1.00", Currency: "CNY"}, ""); err != nil || keys[3] == keys[0] {
		t.Errorf("a second order: %v, keys %q", err, keys)
	}
}

// What the server decided is not asked again.
func TestRefusalsAreNotRepeated(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"status":409,"code":"out_of_stock","detail":"TEA-1: 2 wanted, 0 available","request_id":"R1"}`)
	}))
	defer server.Close()
	c := &client.Client{Base: server.URL, Pause: time.Millisecond}
	_, err := c.CreateOrder(t.Context(), client.NewOrder{OrderID: "A", Amount: "1.00", Currency: "CNY"}, "tok_x")
	var p *client.Problem
	if !errors.As(err, &p) || p.Code != "out_of_stock" || p.RequestID != "R1" || asked != 1 {
		t.Errorf("%v, asked %d times", err, asked)
	}
}

func TestGivesUp(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer server.Close()
	c := &client.Client{Base: server.URL, Pause: time.Millisecond, Tries: 3}
	var p *client.Problem
	if _, err := c.Order(t.Context(), "a/b"); !errors.As(err, &p) || p.Status != http.StatusBadGateway || asked != 3 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Stock(ctx, "TEA-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func Example() {
	c := &client.Client{Base: "http://127.0.0.1:8080"}
	ctx := context.Background()
	token, err := c.IssueToken(ctx, "cart:8812")
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := c.CreateOrder(ctx, client.NewOrder{OrderID: "SO-2026-1001", Amount: "19.99", Currency: "CNY",
		Items: []client.Item{{SKU: "TEA-1", Quantity: 1}}}, token.Token)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.OrderID, o.Status)
}
