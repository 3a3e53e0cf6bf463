package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Act is what the shop does with an order: OrderPay, OrderShip, OrderCancel or OrderExpire.
type Act struct {
	OrderID string
	On      models.EventKind
	Version int64  // the version the shop has seen (optimistic lock); 0: whichever
	source  string // "": sourceShop
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

// Act moves an order by one row of the state table; one that is only accepted is written first. An order that is not here is an ErrNotFound, another version than the given one a
// *StaleVersion, a state without such a row a *NotInState; then nothing is written.
func (l *Ledger) Act(ctx context.Context, a Act) (moved models.Order, err error) {
	err = l.whenWritten(ctx, a.OrderID, func() error {
		return l.retryTx(ctx, func(tx *gorm.DB) (err error) {
			moved, err = l.actIn(tx, a, l.clock())
			return err
		})
	})
	if err != nil {
		return models.Order{}, err
	}
	return moved, nil
}

// actIn is Act inside a transaction that somebody else opened, repeats where that heals, and may still undo to a savepoint.
func (l *Ledger) actIn(tx *gorm.DB, a Act, now time.Time) (models.Order, error) {
	e := l.newEngine(tx, now)
	if err := e.lock(map[string]bool{a.OrderID: true}, nil); err != nil {
		return models.Order{}, err
	}
	o := e.orders[a.OrderID]
	switch {
	case o == nil:
		return models.Order{}, fmt.Errorf("order %q: %w", short(a.OrderID, 40), ErrNotFound)
	case a.Version != 0 && a.Version != o.Version:
		return models.Order{}, &StaleVersion{o.OrderID, a.Version, o.Version, o.Status}
	case !e.act(o, a.On, cmp.Or(a.source, sourceShop)):
		return models.Order{}, &NotInState{o.OrderID, a.On, o.Status, o.Version}
	}
	o.UpdatedAt = now
	return o.Order, e.write()
}

// act is the shop's own move; false when the table has no row for it.
func (e *engine) act(o *orderWork, on models.EventKind, source string) bool {
	switch on {
	case models.OrderPay, models.OrderShip, models.OrderCancel, models.OrderExpire:
		return e.move(o, &row{}, on, source, func(c condition) bool { return c == notShipped && !o.Shipped })
	}
	return false // what a provider says is not the shop's to say
}

// CloseOrder gives up an order that is not paid, for good: OrderExpire when why says so, else OrderCancel. It is nil for one that is closed
// already, and an ErrState for one that was paid. The shop, which says so, is not told.
func (l *Ledger) CloseOrder(ctx context.Context, id, why string) error {
	on := models.OrderCancel
	if strings.HasPrefix(why, string(models.OrderExpire)) { // order.expired too
		on = models.OrderExpire
	}
	_, err := l.Act(ctx, Act{OrderID: id, On: on, source: sourceImport})
	var not *NotInState
	if errors.As(err, &not) && not.Status == models.Closed {
		return nil
	}
	return err
}
