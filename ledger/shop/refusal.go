package shop

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"paybook/ledger"
	"paybook/models"
)

// problemOf words an error of the book, or of ours. What is not foreseen is a failure of ours: the caller may try again.
func problemOf(err error) *Problem {
	var own *Problem
	if errors.As(err, &own) {
		return own
	}
	var bad *ledger.BadOrder
	if errors.As(err, &bad) {
		return invalid("", "%s", bad.What)
	}
	for _, word := range []func(error) *Problem{orderProblem, tokenProblem} {
		if p := word(err); p != nil {
			return p
		}
	}
	p := problem(http.StatusServiceUnavailable, CodeUnavailable, "it could not be written down; send the same request again")
	p.RetryAfter = retryAfterUnavailable
	return p
}

// orderProblem is what stands against an order or a move; nil for every other error.
func orderProblem(err error) *Problem {
	var (
		exists *ledger.OrderExists
		out    *ledger.OutOfStock
		stale  *ledger.StaleVersion
		state  *ledger.NotInState
	)
	switch {
	case errors.As(err, &exists):
		p := problem(http.StatusConflict, CodeOrderExists, "order %s is already here: read it with GET %s, or take another number for a new order",
			exists.OrderID, orderPath(exists.OrderID))
		p.OrderID = exists.OrderID
		return p
	case errors.As(err, &out):
		p := problem(http.StatusConflict, CodeOutOfStock, "%s: %d wanted, %d available; nothing was reserved: order less, or again with a new Idempotency-Key when there is more (an SKU that was never imported has none: app import stock)",
			out.SKU, out.Wanted, out.Available)
		p.Title, p.SKU, p.Available = "Out of stock", out.SKU, &out.Available
		return p
	case errors.As(err, &stale):
		p := problem(http.StatusConflict, CodeStaleVersion, "order %s is at version %d (%s), not %d: read it again, then decide",
			stale.OrderID, stale.Current, stale.Status, stale.Given)
		p.OrderID, p.OrderStatus, p.Version = stale.OrderID, stale.Status, stale.Current
		return p
	case errors.As(err, &state):
		p := problem(http.StatusConflict, CodeNotAllowed, "order %s is %s: %s", state.OrderID, state.Status, whyNot[state.On])
		p.OrderID, p.OrderStatus, p.Version = state.OrderID, state.Status, state.Version
		return p
	}
	return nil
}

// whyNot says from which states a move is possible.
var whyNot = map[models.EventKind]string{
	models.OrderPay:    "only an unpaid order can be sent to be paid",
	models.OrderShip:   "only a paid order that was not shipped yet can be shipped",
	models.OrderCancel: "only an unpaid order or one being paid can be cancelled; what is closed stays closed, what is paid is refunded at the provider",
}

// tokenProblem is what stands against the key of a request; nil for every other error.
func tokenProblem(err error) *Problem {
	var busy *ledger.TokenBusy
	switch {
	case errors.As(err, &busy):
		p := problem(http.StatusConflict, CodeInProgress, "the first request with this Idempotency-Key is still being worked on: send the same again a moment later")
		p.RetryAfter = max(busy.RetryAfter, 1)
		return p
	case errors.Is(err, ledger.ErrTokenUnknown):
		return problem(http.StatusForbidden, CodeTokenUnknown, "this token was never issued to you: ask for one with POST /tokens, or make up a key that does not begin with tok_")
	case errors.Is(err, ledger.ErrTokenExpired):
		return problem(http.StatusForbidden, CodeTokenExpired, "the token has expired: ask for a new one with POST /tokens, and show the buyer the page again")
	case errors.Is(err, ledger.ErrTokenUnusable):
		return problem(http.StatusBadRequest, CodeInvalidKey, "this Idempotency-Key is no text that can be kept")
	case errors.Is(err, ledger.ErrTokenSpent):
		return problem(http.StatusUnprocessableEntity, CodeKeyReused, "this Idempotency-Key was spent on another request: a new request needs a new key")
	}
	return nil
}

// isRefusal is true for what is an answer: it is kept under a key, and replayed like a success.
func isRefusal(err error) bool { return orderProblem(err) != nil }

func unknownOrder(id string) *Problem {
	p := problem(http.StatusNotFound, CodeUnknownOrder, "no order %q here: compare the number, and percent-encode it in the address (a slash is %%2F)", cut(id))
	p.OrderID = cut(id)
	return p
}

// codeOf is the code in a problem's bytes.
func codeOf(body []byte) string {
	var p struct{ Code string }
	if json.Unmarshal(body, &p) != nil {
		return ""
	}
	return p.Code
}

// orderPath is the address of an order.
func orderPath(id string) string { return "/orders/" + url.PathEscape(id) }
