package shop

import (
	"context"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"paybook/ledger"
)

// StockJSON is what may be ordered of one article.
type StockJSON struct {
	SKU       string `json:"sku"`
	Available int64  `json:"available"`
	Reserved  int64  `json:"reserved"`
}

// TokenJSON is a one-time token.
type TokenJSON struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"` // until then it may be spent
}

// showOrder is GET /orders/{id}.
func (s *Server) showOrder(ctx context.Context, r request) error {
	id, ok := segment(r.Request(), "/orders/", "")
	if !ok {
		return unknownOrder(id)
	}
	h, err := s.Book.OrderHistory(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return unknownOrder(id)
	}
	if err != nil {
		return err
	}
	return reply(r, http.StatusOK, ShowHistory(h))
}

// showStock is GET /stock/{sku}.
func (s *Server) showStock(ctx context.Context, r request) error {
	sku, ok := segment(r.Request(), "/stock/", "")
	unknown := problem(http.StatusNotFound, CodeUnknownSKU, "no SKU %q here: give its units with app import stock", cut(sku))
	if !ok {
		return unknown
	}
	stock, err := s.Book.Stock(ctx, sku)
	if errors.Is(err, ledger.ErrNotFound) {
		return unknown
	}
	if err != nil {
		return err
	}
	return reply(r, http.StatusOK, StockJSON{SKU: stock.SKU, Available: stock.Available(), Reserved: stock.Reserved})
}

// scopeMax is how many characters say what a token is for.
const scopeMax = 200

// issueToken is POST /tokens.
func (s *Server) issueToken(ctx context.Context, r request) error {
	o := readObject(r.body, "scope")
	scope := o.text("scope")
	if why := unfit(scope, scopeMax*utf8.UTFMax); o.err() == nil && why != "" {
		o.fail("scope", "%s", why)
	} else if n := utf8.RuneCountInString(scope); n > scopeMax {
		o.fail("scope", "%d characters, at most %d are kept", n, scopeMax)
	}
	if o.err() != nil {
		return o.err()
	}
	t, err := s.Book.IssueToken(ctx, r.owner, scope, s.TokenLife)
	if err != nil {
		return err
	}
	return reply(r, http.StatusCreated, TokenJSON{Token: t.Token, ExpiresAt: t.ExpiresAt.UTC()})
}

func reply(r request, status int, body any) error {
	r.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return r.Blob(status, echo.MIMEApplicationJSON, encode(body))
}
