package ledger

import (
	"context"
	"errors"
	"time"

	"paybook/models"
)

// Key is under what a request counts once.
type Key struct {
	Owner       string // name of the API key; "" without one
	Token       string // the header's text
	Fingerprint string // hash of what is asked: the same token with another one is a *TokenSpent
}

// Answer is what a request was told, and will be told again.
type Answer struct {
	Status   int    // HTTP status
	Body     []byte // byte for byte
	Replayed bool   // it is the answer of an earlier request
}

// Refusals of a token.
var (
	ErrTokenUnknown = errors.New("a token that was never issued here") // tok_… that is not ours
	ErrTokenExpired = errors.New("the token has expired")
	ErrTokenSpent   = errors.New("the token was spent on another request")
)

// TokenBusy is a token whose first request is still being worked on.
type TokenBusy struct{ RetryAfter time.Duration }

func (e *TokenBusy) Error() string {
	return "the first request with this token is still being worked on"
}

// IssueToken makes a one-time token for a scope.
func (l *Ledger) IssueToken(ctx context.Context, owner, scope string, life time.Duration) (models.Token, error) {
	return models.Token{}, errors.ErrUnsupported
}

// CreateOrderOnce is CreateOrder, counted once under a key. say words the answer from what came of it (an order, an *OrderExists, an
// *OutOfStock); it is kept with the order, in the same transaction, and given again to every repeat. Any other error is returned and not
// kept: the request may be tried again.
func (l *Ledger) CreateOrderOnce(ctx context.Context, k Key, o NewOrder, say func(models.Order, error) (status int, body []byte)) (Answer, error) {
	return Answer{}, errors.ErrUnsupported
}

// ActOnce is Act, counted once under a key, as CreateOrderOnce.
func (l *Ledger) ActOnce(ctx context.Context, k Key, a Act, say func(models.Order, error) (status int, body []byte)) (Answer, error) {
	return Answer{}, errors.ErrUnsupported
}
