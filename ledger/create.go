package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// NewOrder is an order the shop asks for, with what it takes from stock.
type NewOrder struct {
	Order models.Order // OrderID, AmountMinor, Currency and ExpiresAt (nil: never) count
	Items []models.Item
}

// OrderExists is an order number that is taken: the unique index is the last line against a second one.
type OrderExists struct{ OrderID string }

func (e *OrderExists) Error() string { return "order " + e.OrderID + " is already here" }

// OutOfStock is an order for more than there is. Nothing of it is reserved.
type OutOfStock struct {
	SKU       string
	Wanted    int64
	Available int64 // 0 for an SKU that was never imported
}

func (e *OutOfStock) Error() string {
	return fmt.Sprintf("%s: %d wanted, %d available", e.SKU, e.Wanted, e.Available)
}

// CreateOrder makes an order, takes its stock and applies what was parked for it, in one transaction. A number that is taken is an
// *OrderExists, too little stock an *OutOfStock; then nothing is written.
func (l *Ledger) CreateOrder(ctx context.Context, o NewOrder) (models.Order, error) {
	return models.Order{}, errors.ErrUnsupported
}

// createIn is CreateOrder inside a transaction that somebody else opened and may still undo to a savepoint.
func (l *Ledger) createIn(tx *gorm.DB, o NewOrder, now time.Time) (models.Order, error) {
	return models.Order{}, errors.ErrUnsupported
}
