package shop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
	"paybook/models"
)

func TestMain(m *testing.M) { os.Exit(ledgertest.Main(m)) }

// site is the shop's routes over real HTTP, on a book and a clock of its own.
type site struct {
	*testing.T
	url  string
	book *ledger.Ledger
	now  *atomic.Int64 // unix nanoseconds
	log  *buffer
	seen *observations
}

var opened = time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)

// each runs f on a site on SQLite, and on one on PostgreSQL.
func each(t *testing.T, f func(s site), keys ...shop.Key) {
	t.Helper()
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) { f(open(t, dsn, keys...)) })
}

// onSQLite is each for what has nothing to do with the database.
func onSQLite(t *testing.T, f func(s site), keys ...shop.Key) {
	t.Helper()
	f(open(t, "sqlite:"+t.TempDir()+"/app.db", keys...))
}

func open(t *testing.T, dsn string, keys ...shop.Key) site {
	t.Helper()
	s := site{T: t, now: new(atomic.Int64), log: &buffer{}, seen: &observations{}}
	s.now.Store(opened.UnixNano())
	s.book = ledgertest.Open(t, dsn, ledger.Options{Now: s.clock})
	s.url = s.serve(&shop.Server{Book: s.book, Keys: keys})
	return s
}

func (s site) clock() time.Time { return time.Unix(0, s.now.Load()) }

func (s site) later(d time.Duration) { s.now.Add(int64(d)) }

// serve puts a server on a port of its own, and returns its address.
func (s site) serve(server *shop.Server) string {
	server.Now, server.Observe = s.clock, s.seen.add
	server.Log = slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		if p, _ := shop.ProblemOf(err); !c.Response().Committed {
			_ = p.Send(c) // a client that is gone needs no answer
		}
	}
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderXRequestID, c.Request().Header.Get(echo.HeaderXRequestID))
			return next(c)
		}
	})
	server.Mount(e.Group(""))
	h := httptest.NewServer(e)
	s.Cleanup(h.Close)
	return h.URL
}

// said is what came back.
type said struct {
	status int
	header http.Header
	body   string
}

// ask sends a request; headers are "Name: value". A body is JSON unless a header says otherwise.
func (s site) ask(method, path, body string, headers ...string) said {
	s.Helper()
	got, err := s.try(method, path, body, headers...)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

func (s site) try(method, path, body string, headers ...string) (said, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return said{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			req.Host = value
		case value == "-":
			req.Header.Del(name)
		case name == "Content-Type":
			req.Header.Set(name, value)
		default:
			req.Header.Add(name, value)
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		return said{}, err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	got := said{resp.StatusCode, resp.Header, string(all)}
	if err == nil {
		s.described(req, body, got)
	}
	return got, err
}

var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func (s site) post(path, body string, headers ...string) said {
	s.Helper()
	return s.ask(http.MethodPost, path, body, headers...)
}

func (s site) get(path string, headers ...string) said {
	s.Helper()
	return s.ask(http.MethodGet, path, "", headers...)
}

// want fails unless the answer has this status and these texts in its body.
func (s site) want(got said, status int, texts ...string) said {
	s.Helper()
	if got.status != status {
		s.Errorf("%d %s; want %d", got.status, got.body, status)
	}
	for _, text := range texts {
		if !strings.Contains(got.body, text) {
			s.Errorf("%d %s; want %s in it", got.status, got.body, text)
		}
	}
	return got
}

// wantProblem fails unless the answer is a whole problem of this kind.
func (s site) wantProblem(got said, status int, code string, texts ...string) shop.Problem {
	s.Helper()
	var p shop.Problem
	if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.header.Get("Content-Type") != "application/problem+json" {
		s.Errorf("%d %s %s: no problem: %v", got.status, got.header.Get("Content-Type"), got.body, err)
	}
	if p.Status != status || p.Code != code || p.Title == "" || p.Detail == "" || p.Type != "urn:problem-type:paybook:"+code {
		s.Errorf("problem %+v; want %d %s", p, status, code)
	}
	if got.header.Get("Cache-Control") != "no-store" && got.status < 500 && got.header.Get("Idempotency-Replayed") == "" {
		s.Errorf("%s may be cached", got.body)
	}
	s.want(got, status, texts...)
	return p
}

// wantOrder fails unless the book has the order so: its status, its version and how often it moved.
func (s site) wantOrder(id string, status models.OrderStatus, version int64) {
	s.Helper()
	h, err := s.book.OrderHistory(context.Background(), id)
	if err != nil {
		s.Fatal(err)
	}
	if h.Order.Status != status || h.Order.Version != version || int64(len(h.Transitions)) != version-1 {
		s.Errorf("order %s: %s at version %d with %d moves; want %s at %d", id, h.Order.Status, h.Order.Version, len(h.Transitions), status, version)
	}
}

// wantOrders fails unless the book has just these orders.
func (s site) wantOrders(ids ...string) {
	s.Helper()
	list, _, err := s.book.ListOrders(context.Background(), ledger.OrderFilter{Page: ledger.Page{Limit: 1000}})
	if err != nil {
		s.Fatal(err)
	}
	have := map[string]bool{}
	for _, o := range list {
		have[o.OrderID] = true
	}
	for _, id := range ids {
		if !have[id] {
			s.Errorf("order %q is not in the book", id)
		}
	}
	if len(list) != len(ids) {
		s.Errorf("%d orders in the book, want %d", len(list), len(ids))
	}
}

func (s site) wantStock(sku string, available, reserved, sold int64) {
	s.Helper()
	have, err := s.book.Stock(context.Background(), sku)
	if err != nil {
		s.Fatal(err)
	}
	if have.Available() != available || have.Reserved != reserved || have.Sold != sold {
		s.Errorf("%s: %d available, %d reserved, %d sold; want %d, %d, %d", sku, have.Available(), have.Reserved, have.Sold, available, reserved, sold)
	}
}

func (s site) stock(sku string, units int64) {
	s.Helper()
	_, err := s.book.ImportStock(context.Background(), func(yield func(models.Stock, error) bool) { yield(models.Stock{SKU: sku, Quantity: units}, nil) })
	if err != nil {
		s.Fatal(err)
	}
}

// paidBy books a payment of an order, as a callback would.
func (s site) paidBy(transaction, order, amount string) models.Outcome {
	s.Helper()
	m, err := models.ParseMajor(amount, "CNY")
	if err != nil {
		s.Fatal(err)
	}
	cb := models.Callback{Account: "demo", Method: "POST", Path: "/callbacks/demo", Body: []byte(transaction), ReceivedAt: s.clock()}
	outcomes, err := s.book.Record(context.Background(), cb, []models.Event{{ID: transaction, Kind: models.PaymentSucceeded, TransactionID: transaction,
		OrderID: order, Money: m, OccurredAt: s.clock()}}, func(models.Outcome) int { return 200 })
	if err != nil {
		s.Fatal(err)
	}
	return outcomes[0]
}

// order is a body of POST /orders. items are "SKU×QUANTITY".
func order(id, amount string, items ...string) string {
	list := ""
	for i, item := range items {
		sku, quantity, _ := strings.Cut(item, "×")
		if i > 0 {
			list += ","
		}
		list += fmt.Sprintf(`{"sku":%q,"quantity":%s}`, sku, quantity)
	}
	return fmt.Sprintf(`{"order_id":%q,"amount":%q,"currency":"CNY","items":[%s]}`, id, amount, list)
}

func key(name, secret string, scopes ...shop.Scope) shop.Key {
	if len(scopes) == 0 {
		scopes = shop.Scopes()
	}
	return shop.Key{Name: name, Secrets: []shop.Secret{shop.HashSecret(secret)}, Scopes: scopes}
}

// buffer is a log that a server writes while a test reads.
type buffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type observations struct {
	mu  sync.Mutex
	all []shop.Observation
}

func (o *observations) add(one shop.Observation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, one)
}

// count is how many requests of a route were answered so.
func (o *observations) count(route string, status int) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.all {
		if one.Route == route && one.Status == status {
			n++
		}
	}
	return n
}
