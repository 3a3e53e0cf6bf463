package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Act is what the shop does with an order: OrderPay, OrderShip, OrderCancel or OrderExpire.
type Act struct {
	OrderID string
	On      models.EventKind
	Version int64 // the version the shop has seen (optimistic lock); 0: whichever
}

// StaleVersion is an act on a version that is not the order's any more.
type StaleVersion struct {
	OrderID        string
	Given, Current int64
	Status         models.OrderStatus
}

func (e *StaleVersion) Error() string {
	return fmt.Sprintf("order %s is at version %d (%s), not %d", e.OrderID, e.Current, e.Status, e.Given)
}

// NotInState is an act that the state table has no row for. It is an ErrState.
type NotInState struct {
	OrderID string
	On      models.EventKind
	Status  models.OrderStatus
	Version int64
}

func (e *NotInState) Error() string {
	return fmt.Sprintf("order %s is %s: no %s from there", e.OrderID, e.Status, e.On)
}

// Is makes errors.Is(err, ErrState) hold.
func (e *NotInState) Is(target error) bool { return target == ErrState }

// Act moves an order by one row of the state table. An order that is not here is an ErrNotFound, another version than the given one a
// *StaleVersion, a state without such a row a *NotInState; then nothing is written.
func (l *Ledger) Act(ctx context.Context, a Act) (models.Order, error) {
	return models.Order{}, errors.ErrUnsupported
}

// actIn is Act inside a transaction that somebody else opened and may still undo to a savepoint.
func (l *Ledger) actIn(tx *gorm.DB, a Act, now time.Time) (models.Order, error) {
	return models.Order{}, errors.ErrUnsupported
}
