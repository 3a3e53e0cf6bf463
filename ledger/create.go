package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// NewOrder is an order the shop asks for, with what it takes from stock.
type NewOrder struct {
	Order models.Order  // OrderID, AmountMinor, Currency and ExpiresAt (nil: never) count
	Items []models.Item // SKU and Quantity count; an SKU that is named twice is summed
}

// BadOrder is an order that nobody could make: its text says what is wrong with it. Nothing is written.
type BadOrder struct{ OrderID, What string }

func (e *BadOrder) Error() string { return "order " + e.OrderID + ": " + e.What }

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

// CreateOrder makes an order, takes its stock and applies what was parked for it, in one transaction, and returns it as it then stands. A
// number that is taken is an *OrderExists, too little stock an *OutOfStock, an order that makes no sense a *BadOrder; then nothing is
// written.
func (l *Ledger) CreateOrder(ctx context.Context, o NewOrder) (made models.Order, err error) {
	err = l.retryTx(ctx, func(tx *gorm.DB) (err error) {
		made, err = l.createIn(tx, o, l.clock())
		return err
	})
	if err != nil {
		return models.Order{}, err
	}
	return made, nil
}

// createIn is CreateOrder inside a transaction that somebody else opened, repeats where that heals, and may still undo to a savepoint: no
// statement of it fails for what the shop asks.
func (l *Ledger) createIn(tx *gorm.DB, asked NewOrder, now time.Time) (models.Order, error) {
	o, items, err := asked.check(now)
	if err != nil {
		return o, err
	}
	if err := l.insertNew(tx, o, items); err != nil {
		return o, err
	}
	e := l.newEngine(tx, now)
	e.handOver(items, models.StockNone, models.StockReserved)
	e.wanted = map[string]int64{}
	for _, i := range items {
		e.wanted[i.SKU] = i.Quantity
	}
	if err := e.writeNew(o.OrderID); err != nil {
		return o, l.withAvailable(tx, err)
	}
	if moved := e.orders[o.OrderID]; moved != nil { // by what was parked for it
		o = moved.Order
	}
	return o, l.insertExpiries(tx, []models.Order{o})
}

// check puts an order together from what counts of the asked one.
func (asked NewOrder) check(now time.Time) (models.Order, []models.Item, error) {
	o := models.Order{OrderID: asked.Order.OrderID, AmountMinor: asked.Order.AmountMinor, Currency: asked.Order.Currency, Status: models.Unpaid,
		Version: 1, CreatedAt: now, UpdatedAt: now}
	if at := asked.Order.ExpiresAt; at != nil {
		expires := micros(*at)
		o.ExpiresAt = &expires
	}
	bad := func(format string, args ...any) (models.Order, []models.Item, error) {
		return models.Order{}, nil, &BadOrder{short(o.OrderID, 40), fmt.Sprintf(format, args...)}
	}
	code, err := models.ParseCurrency(o.Currency)
	switch {
	case !usableKey(o.OrderID):
		return bad("no usable order number: text of 1 to %d bytes expected", idMax)
	case err != nil || code != o.Currency:
		return bad("currency %q: an ISO 4217 code in upper case expected", short(o.Currency, 10))
	case o.AmountMinor < 0:
		return bad("a negative amount: %s", o.Money())
	}
	quantity := map[string]int64{}
	for _, i := range asked.Items {
		have := quantity[i.SKU]
		switch {
		case !usableKey(i.SKU):
			return bad("no usable SKU %q: text of 1 to %d bytes expected", short(i.SKU, 40), idMax)
		case i.Quantity < 1:
			return bad("%s: quantity %d, at least 1 expected", i.SKU, i.Quantity)
		case i.Quantity > math.MaxInt64-have:
			return bad("%s: the quantities add up to more than can be counted", i.SKU)
		}
		quantity[i.SKU] = have + i.Quantity
	}
	var items []models.Item
	for _, sku := range slices.Sorted(maps.Keys(quantity)) {
		items = append(items, models.Item{OrderID: o.OrderID, SKU: sku, Quantity: quantity[sku]})
	}
	if len(items) > 0 {
		o.Stock = models.StockReserved
	}
	return o, items, nil
}

// usableKey is text that every database takes as a key.
func usableKey(id string) bool { return id != "" && short(id, idMax) == id }

// insertNew writes the order and its items, if its number is free.
func (l *Ledger) insertNew(tx *gorm.DB, o models.Order, items []models.Item) error {
	number := []string{o.OrderID}
	free, err := l.takeNumbers(tx, number, o.CreatedAt)
	if err != nil {
		return err
	}
	if !free[o.OrderID] {
		return &OrderExists{o.OrderID}
	}
	b := l.sql("INSERT INTO orders (" + orderColumns + ") VALUES ")
	b.order(true, o, o.CreatedAt)
	p := pipe{tx: tx}
	p.writeOr(b.add(" ON CONFLICT (order_id) DO NOTHING"), 1, func() error { return &OrderExists{o.OrderID} })
	l.giveNumbers(&p, number)
	l.insertItems(&p, items)
	return p.flush()
}

func (l *Ledger) insertItems(p *pipe, items []models.Item) {
	eachSlice(items, func(chunk []models.Item) {
		b := l.sized("INSERT INTO items (order_id, sku, quantity) VALUES ", 3*len(chunk))
		for n, i := range chunk {
			b.row(n == 0, i.OrderID, i.SKU, i.Quantity)
		}
		p.write(b, len(chunk))
	})
}

// writeNew applies what was parked for new orders, and writes what they take from stock.
func (e *engine) writeNew(ids ...string) error {
	parked, err := e.l.parkedOf(e.tx, ids)
	switch {
	case err != nil:
		return err
	case len(parked) > 0:
		_, err = e.placeParked(parked)
		return err
	}
	return e.write()
}

// withAvailable adds to an *OutOfStock how much there is.
func (l *Ledger) withAvailable(tx *gorm.DB, err error) error {
	var out *OutOfStock
	if !errors.As(err, &out) {
		return err
	}
	s, readErr := l.stockRow(tx, out.SKU)
	out.Available = s.Available()
	if readErr != nil {
		return readErr
	}
	return err
}
