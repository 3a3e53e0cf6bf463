package shop

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/ledger"
	"paybook/models"
)

// Defaults of Server.
const (
	DefaultPaymentWindow = 30 * time.Minute
	DefaultTokenLife     = 5 * time.Minute
	DefaultPatience      = 10 * time.Second
)

// Server answers the shop's routes.
type Server struct {
	Book *ledger.Ledger
	Keys []Key            // none: only this machine is answered
	Now  func() time.Time // the clock; nil: time.Now
	Log  *slog.Logger     // nil: discard
	// Fast, if set, is asked first about every new order; what it does not take goes the usual way.
	Fast          Fast
	PaymentWindow time.Duration // until when an order that does not say so may be paid; 0: DefaultPaymentWindow
	TokenLife     time.Duration // how long an issued token may be spent; 0: DefaultTokenLife
	Patience      time.Duration // for the book, in one request; 0: DefaultPatience
	// Observe, if set, is told of every request, for metrics.
	Observe func(Observation)

	guard *guard
}

// Fast takes orders for articles that many buyers want at one moment. taken is false for one that must go the usual way.
type Fast interface {
	Take(ctx context.Context, k ledger.Key, o ledger.NewOrder, say Say) (answer ledger.Answer, taken bool, err error)
}

// Say words what came of a request: an order, or a refusal that is an answer.
type Say = func(models.Order, error) (status int, body []byte)

// Observation is one request as metrics count it. Route is one of ours, never text from outside.
type Observation struct {
	Route  string // POST /orders/:id/pay
	Status int
	Took   time.Duration
}

// verbs are what the shop itself does with an order.
var verbs = map[string]models.EventKind{"pay": models.OrderPay, "ship": models.OrderShip, "cancel": models.OrderCancel}

// Mount registers the routes.
func (s *Server) Mount(g *echo.Group) {
	s.setDefaults()
	s.guard = newGuard(s.Keys, s.Now)
	get := []string{http.MethodGet, http.MethodHead}
	g.POST("/orders", s.route(OrdersWrite, s.createOrder))
	g.Match(get, "/orders/:id", s.route(OrdersRead, s.showOrder))
	for verb, on := range verbs {
		g.POST("/orders/:id/"+verb, s.route(OrdersWrite, s.act(verb, on)))
	}
	g.POST("/tokens", s.route(TokensWrite, s.issueToken))
	g.Match(get, "/stock/:sku", s.route(StockRead, s.showStock))
	g.Match(get, "/openapi.json", describe)
}

func (s *Server) setDefaults() {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.PaymentWindow == 0 {
		s.PaymentWindow = DefaultPaymentWindow
	}
	if s.TokenLife == 0 {
		s.TokenLife = DefaultTokenLife
	}
	if s.Patience == 0 {
		s.Patience = DefaultPatience
	}
}

// request is a request of somebody who may send it.
type request struct {
	echo.Context
	owner string // name of the API key; "" without one
	body  []byte // JSON, not looked at yet; nil for none
}

// handler answers one request. An error is a "no" that is not kept; a "no" that is kept has been sent like every other answer.
type handler func(ctx context.Context, r request) error

// route is what every route has in common: who may, for how long, what is logged and counted.
func (s *Server) route(needs Scope, h handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		r := request{Context: c}
		err := s.take(&r, needs)
		if err == nil {
			ctx, cancel := context.WithTimeout(c.Request().Context(), s.Patience) // only now: a slow body is not the book's fault
			defer cancel()
			err = h(ctx, r)
		}
		status := c.Response().Status
		if err != nil {
			p := s.refused(r, err)
			status, err = p.Status, p
		}
		if s.Observe != nil {
			s.Observe(Observation{Route: r.route(), Status: status, Took: time.Since(start)})
		}
		return err
	}
}

// take asks who sends it before it reads what is sent.
func (s *Server) take(r *request, needs Scope) (err error) {
	if r.owner, err = s.guard.admit(r, needs); err == nil && r.Request().Method == http.MethodPost {
		r.body, err = readBody(r)
	}
	return err
}

// refused logs a "no" in one line and returns what is answered. Neither the body nor a key is in it.
func (s *Server) refused(r request, err error) *Problem {
	p := problemOf(err)
	level := slog.LevelInfo
	switch {
	case p.Code == CodeUnavailable && r.Request().Context().Err() == nil: // else the caller is gone, and will come again
		level = slog.LevelError
	case p.quiet:
		level = slog.LevelDebug
	case p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden:
		level = slog.LevelWarn
	}
	attrs := []any{"route", r.route(), "status", p.Status, "code", p.Code, "key", r.owner, "remote", r.RealIP(), "request_id", requestID(r)}
	if p.OrderID != "" {
		attrs = append(attrs, "order_id", p.OrderID)
	}
	if p.Code == CodeUnavailable {
		attrs = append(attrs, "error", err.Error())
	}
	s.Log.Log(r.Request().Context(), level, "shop request refused", attrs...)
	return p
}

// route is the request's, without what stands in its place for an id.
func (r request) route() string { return r.Request().Method + " " + r.Path() }

// send gives an answer, kept or fresh.
func (s *Server) send(r request, a ledger.Answer) error {
	h := r.Response().Header()
	h.Set(echo.HeaderCacheControl, "no-store")
	if a.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	if a.Status >= http.StatusBadRequest {
		s.Log.Info("shop request refused", "route", r.route(), "status", a.Status, "code", codeOf(a.Body), "replayed", a.Replayed,
			"key", r.owner, "remote", r.RealIP(), "request_id", requestID(r))
		return r.Blob(a.Status, problemType, a.Body)
	}
	return r.Blob(a.Status, echo.MIMEApplicationJSON, a.Body)
}
