// Package client is an example of a client of the shop's routes, small enough to be copied: it needs the standard library only.
//
// What matters in it is CreateOrder: it makes up one idempotency key before its first try and sends the same key with every further
// one, so that an answer that was lost on the way never makes a second order.
package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Client talks to one server. It is safe for any number of goroutines.
type Client struct {
	Base  string        // where the shop's routes are (admin_listen where that is set), without a slash at the end: http://127.0.0.1:8080
	Key   string        // the API key; "" on loopback
	HTTP  *http.Client  // nil: one with a time limit of 15 s
	Tries int           // of one request in all; 0: 5
	Pause time.Duration // before the second try, doubled before each further one unless the server says how long; 0: 200 ms
}

// Item is what an order takes from stock.
type Item struct {
	SKU      string `json:"sku"`
	Quantity int64  `json:"quantity"`
}

// NewOrder is an order to be made. Amount is decimal text in major units ("19.99"), Currency an ISO 4217 code.
type NewOrder struct {
	OrderID   string     `json:"order_id"`
	Amount    string     `json:"amount"`
	Currency  string     `json:"currency"`
	Items     []Item     `json:"items,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // nil: now + the server's orders.payment_window
}

// Order is an order as the server has it. Amounts are decimal text in major units.
type Order struct {
	OrderID      string     `json:"order_id"`
	Amount       string     `json:"amount"`
	Currency     string     `json:"currency"`
	Status       string     `json:"status"`
	Version      int64      `json:"version"`
	Refunded     string     `json:"refunded"`
	ExpiresAt    *time.Time `json:"expires_at"` // when it is closed unless it is paid; nil: never
	Items        []Item     `json:"items"`      // Order only
	Stock        string     `json:"stock"`      // Order only: reserved, sold or released
	Transactions []struct { // Order only
		Account       string    `json:"account"`
		Kind          string    `json:"kind"`
		TransactionID string    `json:"transaction_id"`
		Amount        string    `json:"amount"`
		Currency      string    `json:"currency"`
		Status        string    `json:"status"`
		OccurredAt    time.Time `json:"occurred_at"`
	} `json:"transactions"`
}

// Token is a one-time token: the page that shows the button sends it back with the order.
type Token struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Stock is what may still be ordered of an SKU.
type Stock struct {
	SKU       string `json:"sku"`
	Available int64  `json:"available"`
	Reserved  int64  `json:"reserved"`
}

// Problem is an error that the server told (RFC 9457).
type Problem struct {
	Status     int           `json:"status"`
	Code       string        `json:"code"`         // for programs: out_of_stock, …
	Detail     string        `json:"detail"`       // for people: what is wrong, and what to do next
	Field      string        `json:"field"`        // invalid_request: where
	OrderState string        `json:"order_status"` // not_allowed, stale_version: where the order is now
	Version    int64         `json:"version"`      // and at which version
	SKU        string        `json:"sku"`          // out_of_stock: of what there is too little
	Available  int64         `json:"available"`    // and how much there is
	RequestID  string        `json:"request_id"`
	RetryAfter time.Duration `json:"-"` // 0: trying again changes nothing
}

func (p *Problem) Error() string {
	return fmt.Sprintf("%d %s: %s (request %s)", p.Status, p.Code, p.Detail, p.RequestID)
}

// IssueToken asks for a one-time token for a scope, such as "cart:8812".
func (c *Client) IssueToken(ctx context.Context, scope string) (t Token, err error) {
	return t, c.do(ctx, http.MethodPost, "/tokens", "", map[string]string{"scope": scope}, &t)
}

// CreateOrder makes an order once, however often it has to be sent. token is what IssueToken gave; "" makes up a key for this call.
func (c *Client) CreateOrder(ctx context.Context, o NewOrder, token string) (made Order, err error) {
	if token == "" {
		token = rand.Text()
	}
	return made, c.do(ctx, http.MethodPost, "/orders", token, o, &made)
}

// Order reads an order.
func (c *Client) Order(ctx context.Context, id string) (o Order, err error) {
	return o, c.do(ctx, http.MethodGet, "/orders/"+url.PathEscape(id), "", nil, &o)
}

// Pay says that the buyer was sent to a provider. Like Ship and Cancel it counts once. version is the one you have seen; another one is a
// Problem with status 409; 0 moves whichever.
func (c *Client) Pay(ctx context.Context, id string, version int64) (Order, error) {
	return c.act(ctx, id, "pay", version)
}

// Ship says that the goods are out.
func (c *Client) Ship(ctx context.Context, id string, version int64) (Order, error) {
	return c.act(ctx, id, "ship", version)
}

// Cancel gives an order up that is not paid.
func (c *Client) Cancel(ctx context.Context, id string, version int64) (Order, error) {
	return c.act(ctx, id, "cancel", version)
}

func (c *Client) act(ctx context.Context, id, what string, version int64) (o Order, err error) {
	body := map[string]int64{}
	if version != 0 {
		body["version"] = version
	}
	return o, c.do(ctx, http.MethodPost, "/orders/"+url.PathEscape(id)+"/"+what, rand.Text(), body, &o)
}

// Stock reads an SKU.
func (c *Client) Stock(ctx context.Context, sku string) (s Stock, err error) {
	return s, c.do(ctx, http.MethodGet, "/stock/"+url.PathEscape(sku), "", nil, &s)
}

// do sends one request until it is answered: what was lost on the way, and what the server asks to be sent again, is sent again as it was.
func (c *Client) do(ctx context.Context, method, path, key string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	tries, pause := c.Tries, c.Pause
	if tries == 0 {
		tries = 5
	}
	if pause == 0 {
		pause = 200 * time.Millisecond
	}
	for {
		err := c.once(ctx, method, path, key, body, out)
		tries--
		wait, again := retryIn(err, pause)
		if !again || tries <= 0 {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
		pause *= 2
	}
}

// retryIn says whether sending again can help, and when.
func retryIn(err error, pause time.Duration) (time.Duration, bool) {
	var p *Problem
	switch {
	case err == nil:
		return 0, false
	case !errors.As(err, &p):
		return pause, true // no answer: nobody knows whether it counted, and the key makes that harmless
	case p.RetryAfter > 0:
		return p.RetryAfter, true
	}
	return pause, p.Status >= http.StatusInternalServerError
}

func (c *Client) once(ctx context.Context, method, path, key string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	client := c.HTTP
	if client == nil {
		client = &http.Client{Timeout: 15 * time.Second}
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		p := &Problem{Status: resp.StatusCode}
		_ = json.Unmarshal(raw, p) // a proxy's error page is no problem+json: the status alone has to do
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			p.RetryAfter = time.Duration(seconds) * time.Second
		}
		return p
	}
	return json.Unmarshal(raw, out)
}
