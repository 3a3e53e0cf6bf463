package shop

import (
	"context"
	"errors"
	"math"
	"net/http"

	"github.com/labstack/echo/v4"

	"paybook/ledger"
	"paybook/models"
)

// moved is what POST /orders/{id}/{pay,ship,cancel} asks for, in one spelling.
type moved struct {
	Route   string `json:"route"`
	OrderID string `json:"order_id"`
	Version int64  `json:"version"`
}

// act is POST /orders/{id}/pay, ship or cancel.
func (s *Server) act(verb string, on models.EventKind) handler {
	return func(ctx context.Context, c echo.Context, owner string) error {
		token, err := keyOf(c.Request().Header)
		if err != nil {
			return err
		}
		id, ok := segment(c.Request(), "/orders/", "/"+verb)
		if !ok {
			return unknownOrder(id)
		}
		version, err := readVersion(c)
		if err != nil {
			return err
		}
		say := s.saying(c, func(o models.Order) (int, any) { return http.StatusOK, ShowOrder(o) })
		a := ledger.Act{OrderID: id, On: on, Version: version}
		answer, err := s.move(ctx, ledger.Key{Owner: owner, Token: token, Fingerprint: fingerprint(moved{string(on), id, version})}, a, say)
		if errors.Is(err, ledger.ErrNotFound) {
			return unknownOrder(id)
		}
		if err != nil {
			return err
		}
		return s.send(c, owner, answer)
	}
}

func (s *Server) move(ctx context.Context, k ledger.Key, a ledger.Act, say Say) (ledger.Answer, error) {
	if k.Token != "" {
		return s.Book.ActOnce(ctx, k, a, say)
	}
	return answered(say)(s.Book.Act(ctx, a))
}

// readVersion reads {"version": n}; 0 without a body or without a version.
func readVersion(c echo.Context) (int64, error) {
	raw, err := readBody(c)
	if err != nil || len(raw) == 0 {
		return 0, err
	}
	o := readObject(raw, "version")
	if !o.has("version") {
		return 0, o.err()
	}
	return o.whole("version", 1, math.MaxInt64), o.err()
}
