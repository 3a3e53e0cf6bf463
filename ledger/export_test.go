package ledger

import (
	"context"

	"gorm.io/gorm"

	"paybook/models"
)

// ErrRetry is errRetry for tests.
var ErrRetry = errRetry

// MoveStale writes an order as somebody would who has read it long ago.
func (l *Ledger) MoveStale(ctx context.Context, was models.Order, to models.OrderStatus) error {
	now := was
	now.Status, now.Version = to, was.Version+1
	return l.inTx(ctx, func(tx *gorm.DB) error {
		w := pipe{tx: tx}
		l.moveOrders(&w, []*orderWork{{Order: now, was: was}}, l.clock())
		return w.flush()
	})
}
