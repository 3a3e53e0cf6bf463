package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"paybook/models"
)

// Key is under what a request counts once.
type Key struct {
	Owner       string // name of the API key; "" without one
	Token       string // the header's text, 1 to 255 bytes
	Fingerprint string // hash of what is asked: the same token with another one is an ErrTokenSpent
}

// Answer is what a request was told, and will be told again.
type Answer struct {
	Status   int    // HTTP status
	Body     []byte // byte for byte; text
	Replayed bool   // it is the answer of an earlier request

	refused bool // nothing was done
	unspent bool // and it may be asked for again under the same token
}

// CreateOrderOnce is CreateOrder, counted once under a key. say words the answer from what came of it (an order, an *OrderExists, an
// *OutOfStock); it is kept with the order, in the same transaction, and given again to every repeat for 24 hours. A transaction that has
// to be repeated asks it anew. A token of ours is spent by the first order that is made with it: a refusal is told and not kept, so that the
// buyer's page, which has no other, may order less. Any other error is returned and not kept: the request may be tried again. While somebody is at the same
// request it is a *TokenBusy; a key that may not be used is an ErrTokenUnknown, ErrTokenExpired, ErrTokenSpent or ErrTokenUnusable.
func (l *Ledger) CreateOrderOnce(ctx context.Context, k Key, o NewOrder, say func(models.Order, error) (status int, body []byte)) (Answer, error) {
	return l.once(ctx, k, request{orderID: o.Order.OrderID, say: say,
		do: func(tx *gorm.DB, now time.Time) (models.Order, error) { return l.createIn(tx, o, now) }})
}

// ActOnce is Act, counted once under a key, as CreateOrderOnce; what is kept are a *StaleVersion and a *NotInState. An order that is not
// here is an ErrNotFound, which is not kept.
func (l *Ledger) ActOnce(ctx context.Context, k Key, a Act, say func(models.Order, error) (status int, body []byte)) (answer Answer, err error) {
	err = l.whenWritten(ctx, a.OrderID, func() (err error) {
		answer, err = l.once(ctx, k, request{orderID: a.OrderID, say: say,
			do: func(tx *gorm.DB, now time.Time) (models.Order, error) { return l.actIn(tx, a, now) }})
		return err
	})
	return answer, err
}

// request is what is to be done once.
type request struct {
	orderID string
	do      func(tx *gorm.DB, now time.Time) (models.Order, error)
	say     func(models.Order, error) (status int, body []byte)
}

// once takes the key, does the work and keeps the answer. A gate that lets us in saves the claim; all else is the same with it and
// without, since the transaction of the work takes the key's row itself, whoever else was let in anywhere.
func (l *Ledger) once(ctx context.Context, k Key, r request) (Answer, error) {
	if !usableKey(k.Token) || clean(k.Owner) != k.Owner {
		return Answer{}, ErrTokenUnusable
	}
	h := &hold{Key: k, holder: uuid.NewString()}
	known, err := l.holdKey(ctx, h)
	if err != nil {
		return Answer{}, err
	}
	if known != nil {
		return *known, nil
	}
	spent := false
	defer func() { l.letGo(ctx, h, spent) }() // after a panic too
	answer, err := l.spend(ctx, h, r)
	if err != nil {
		return Answer{}, err
	}
	spent = !answer.unspent
	return *answer, nil
}

// spend does the work and keeps the answer, in one transaction. Whoever was overtaken meanwhile, because the claim had ended, gets the
// other's answer.
func (l *Ledger) spend(ctx context.Context, h *hold, r request) (answer *Answer, err error) {
	err = l.retryTx(ctx, func(tx *gorm.DB) (err error) {
		now := l.clock()
		if answer, err = l.takeRow(tx, h, now); answer != nil || err != nil {
			return err
		}
		if answer, err = r.answer(tx, now); err != nil {
			return err
		}
		if answer.unspent = answer.refused && h.Issued(); answer.unspent {
			return l.releaseRow(tx, h)
		}
		return l.keepAnswer(tx, h, r.orderID, answer, now)
	})
	return answer, err
}

// answer does the work. A refusal that is an answer leaves nothing of it behind.
func (r request) answer(tx *gorm.DB, now time.Time) (*Answer, error) {
	if _, err := exec(tx, "SAVEPOINT work"); err != nil {
		return nil, err
	}
	order, refusal := r.do(tx, now)
	if refusal != nil {
		if !isAnswer(refusal) {
			return nil, refusal
		}
		if _, err := exec(tx, "ROLLBACK TO SAVEPOINT work"); err != nil {
			return nil, err
		}
	}
	status, body := r.say(order, refusal)
	return &Answer{Status: status, Body: body, refused: refusal != nil}, nil
}

// isAnswer says whether an error is the shop's own doing, to be told again, and not a failure that a repeat may heal.
func isAnswer(err error) bool {
	return errors.As(err, new(*OrderExists)) || errors.As(err, new(*OutOfStock)) ||
		errors.As(err, new(*StaleVersion)) || errors.As(err, new(*NotInState))
}
