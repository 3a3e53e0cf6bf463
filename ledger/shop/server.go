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

// handler answers one request of somebody who may send it. owner is the name of the API key, "" without one. An error is a "no" that is
// not kept; a "no" that is kept has been sent like every other answer.
type handler func(ctx context.Context, c echo.Context, owner string) error

// route is what every route has in common: who may, for how long, what is logged and counted.
func (s *Server) route(needs Scope, h handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		owner, err := s.guard.admit(c, needs)
		if err == nil {
			ctx, cancel := context.WithTimeout(c.Request().Context(), s.Patience)
			defer cancel()
			err = h(ctx, c, owner)
		}
		status := c.Response().Status
		if err != nil {
			p := s.refused(c, owner, err)
			status, err = p.Status, p
		}
		if s.Observe != nil {
			s.Observe(Observation{Route: c.Request().Method + " " + c.Path(), Status: status, Took: time.Since(start)})
		}
		return err
	}
}

// refused logs a "no" in one line and returns what is answered. Neither the body nor a key is in it.
func (s *Server) refused(c echo.Context, owner string, err error) *Problem {
	p := problemOf(err)
	level := slog.LevelInfo
	switch {
	case p.Code == CodeUnavailable && c.Request().Context().Err() == nil: // else the caller is gone, and will come again
		level = slog.LevelError
	case p.quiet:
		level = slog.LevelDebug
	case p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden:
		level = slog.LevelWarn
	}
	attrs := []any{"route", c.Request().Method + " " + c.Path(), "status", p.Status, "code", p.Code, "key", owner, "remote", c.RealIP(), "request_id", requestID(c)}
	if p.OrderID != "" {
		attrs = append(attrs, "order_id", p.OrderID)
	}
	if p.Code == CodeUnavailable {
		attrs = append(attrs, "error", err.Error())
	}
	s.Log.Log(c.Request().Context(), level, "shop request refused", attrs...)
	return p
}

// send gives an answer, kept or fresh.
func (s *Server) send(c echo.Context, owner string, a ledger.Answer) error {
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, "no-store")
	if a.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	if a.Status >= http.StatusBadRequest {
		s.Log.Info("shop request refused", "route", c.Request().Method+" "+c.Path(), "status", a.Status, "code", codeOf(a.Body), "replayed", a.Replayed,
			"key", owner, "remote", c.RealIP(), "request_id", requestID(c))
		return c.Blob(a.Status, problemType, a.Body)
	}
	return c.Blob(a.Status, echo.MIMEApplicationJSON, a.Body)
}
