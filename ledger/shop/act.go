package shop

import (
	"context"
	"errors"
	"math"
	"net/http"

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
	return func(ctx context.Context, r request) error {
		token, err := keyOf(r.Request().Header)
		if err != nil {
			return err
		}
		id, ok := segment(r.Request(), "/orders/", "/"+verb)
		if !ok {
			return unknownOrder(id)
		}
		version, err := readVersion(r.body)
		if err != nil {
			return err
		}
		say := saying(r, func(o models.Order) (int, any) { return http.StatusOK, ShowOrder(o) })
		a := ledger.Act{OrderID: id, On: on, Version: version}
		answer, err := s.move(ctx, ledger.Key{Owner: r.owner, Token: token, Fingerprint: fingerprint(moved{string(on), id, version})}, a, say)
		if errors.Is(err, ledger.ErrNotFound) {
			return unknownOrder(id)
		}
		if err != nil {
			return err
		}
		return s.send(r, answer)
	}
}

func (s *Server) move(ctx context.Context, k ledger.Key, a ledger.Act, say Say) (ledger.Answer, error) {
	if k.Token != "" {
		return s.Book.ActOnce(ctx, k, a, say)
	}
	return answered(say)(s.Book.Act(ctx, a))
}

// readVersion reads {"version": n}; 0 without a body or without a version.
func readVersion(raw []byte) (int64, error) {
	if len(raw) == 0 {
		return 0, nil
	}
	o := readObject(raw, "version")
	if !o.has("version") {
		return 0, o.err()
	}
	return o.whole("version", 1, math.MaxInt64), o.err()
}
