package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"paybook/models"
)

// CreateOrderOnceAnd is CreateOrderOnce with something that happens between the work and the commit.
func (l *Ledger) CreateOrderOnceAnd(ctx context.Context, k Key, o NewOrder, and func() error, say func(models.Order, error) (int, []byte)) (Answer, error) {
	return l.once(ctx, k, request{orderID: o.Order.OrderID, say: say, do: func(tx *gorm.DB, now time.Time) (models.Order, error) {
		order, err := l.createIn(tx, o, now)
		if failed := and(); failed != nil {
			return order, failed
		}
		return order, err
	}})
}

// Holder is a request under a key between its first step and its second, where it may stall for as long as a test likes.
type Holder struct {
	l *Ledger
	h *hold
}

// HoldKey is the first step. known is the answer when there is one already.
func (l *Ledger) HoldKey(ctx context.Context, k Key) (holder *Holder, known *Answer, err error) {
	h := &hold{Key: k, holder: uuid.NewString()}
	known, err = l.holdKey(ctx, h)
	return &Holder{l, h}, known, err
}

// Gated says whether the gate let it in.
func (s *Holder) Gated() bool { return s.h.gated }

// CreateOrder is the second step.
func (s *Holder) CreateOrder(ctx context.Context, o NewOrder, say func(models.Order, error) (int, []byte)) (*Answer, error) {
	answer, err := s.l.spend(ctx, s.h, request{orderID: o.Order.OrderID, say: say,
		do: func(tx *gorm.DB, now time.Time) (models.Order, error) { return s.l.createIn(tx, o, now) }})
	s.l.letGo(ctx, s.h, err == nil)
	return answer, err
}
