package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"paybook/models"
)

// StockCheck is one SKU's row held against what its orders say.
type StockCheck struct {
	SKU      string
	Known    bool         // it has a row
	Row      models.Stock // what the row says
	Reserved int64        // units of orders that hold them, the accepted among them
	Queued   int64        // of them, units of orders that are accepted and not written yet
	Sold     int64        // units of orders that were paid
}

// Equal is true when the row says what the orders say.
func (c StockCheck) Equal() bool { return c.Row.Reserved == c.Reserved && c.Row.Sold == c.Sold }

// CheckStock holds every SKU's row against the orders, in one snapshot: what moves meanwhile is no difference. Sorted by SKU.
func (l *Ledger) CheckStock(ctx context.Context) (list []StockCheck, err error) {
	err = l.snapshot(ctx, func(tx *gorm.DB) error {
		found, err := l.checkStock(tx)
		if err != nil {
			return err
		}
		for _, sku := range sortedStrings(found) {
			list = append(list, *found[sku])
		}
		return nil
	})
	return list, err
}

// Beyond is the *StockConflict of an SKU whose orders hold more units than are owned, which no repair can write; else nil.
func (c StockCheck) Beyond() error {
	if c.Reserved+c.Sold <= c.Row.Quantity {
		return nil
	}
	return &StockConflict{c.SKU, fmt.Sprintf("has %d units, and its orders hold %d and have bought %d: import at least %d with app import stock, or cancel orders that are not paid",
		c.Row.Quantity, c.Reserved, c.Sold, c.Reserved+c.Sold)}
}

// RepairStock makes the rows of SKUs say what their orders say, if somebody has spoilt them by hand, and returns them: all of them or none.
// Who moves units writes the rows last, so while they are held here no order's units are on their way. An SKU whose orders hold more units
// than are owned is a *StockConflict, one without a row an ErrNotFound; a lease that has passed to another repair is a *LostLease.
func (l *Ledger) RepairStock(ctx context.Context, lease *Lease, skus ...string) (now map[string]models.Stock, err error) {
	skus = slices.Compact(slices.Sorted(slices.Values(skus)))
	err = l.retryTx(ctx, func(tx *gorm.DB) error {
		if err := lease.hold(tx); err != nil {
			return err
		}
		if err := l.holdStock(tx, skus); err != nil {
			return err
		}
		found, err := l.checkStock(tx)
		if err != nil {
			return err
		}
		now, err = l.repairRows(tx, skus, found)
		return err
	})
	if err != nil {
		return nil, err
	}
	return now, nil
}

// holdStock locks rows, in the order in which everybody does.
func (l *Ledger) holdStock(tx *gorm.DB, sorted []string) error {
	for _, sku := range sorted {
		b := l.sql("UPDATE stock SET reserved = reserved WHERE sku = ").arg(sku)
		if err := changedOne(exec(tx, b.String(), b.args...)); errors.Is(err, errRetry) {
			return fmt.Errorf("SKU %q: %w", short(sku, 40), ErrNotFound)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) repairRows(tx *gorm.DB, skus []string, found stockChecks) (map[string]models.Stock, error) {
	var beyond []error
	for _, sku := range skus {
		beyond = append(beyond, found.of(sku).Beyond())
	}
	if err := errors.Join(beyond...); err != nil {
		return nil, err
	}
	now := map[string]models.Stock{}
	for _, sku := range skus {
		c := found.of(sku)
		row := c.Row
		row.Reserved, row.Sold, row.UpdatedAt = c.Reserved, c.Sold, l.clock()
		b := l.sql("UPDATE stock SET reserved = ").arg(row.Reserved).add(", sold = ").arg(row.Sold).add(", updated_at = ").arg(row.UpdatedAt)
		b.add(" WHERE sku = ").arg(sku)
		if err := changedOne(exec(tx, b.String(), b.args...)); err != nil {
			return nil, err
		}
		now[sku] = row
	}
	return now, nil
}

func (l *Ledger) checkStock(tx *gorm.DB) (stockChecks, error) {
	found, err := l.stockRows(tx)
	return found, errors.Join(err, l.addWritten(tx, found), l.addAccepted(tx, found))
}

type stockChecks map[string]*StockCheck

func (c stockChecks) of(sku string) *StockCheck {
	if c[sku] == nil {
		c[sku] = &StockCheck{SKU: sku}
	}
	return c[sku]
}

func (l *Ledger) stockRows(tx *gorm.DB) (stockChecks, error) {
	found := stockChecks{}
	err := query(tx, "SELECT sku, quantity, reserved, sold, updated_at FROM stock", nil, func(rows *sql.Rows) error {
		var s models.Stock
		err := rows.Scan(&s.SKU, &s.Quantity, &s.Reserved, &s.Sold, utc{&s.UpdatedAt})
		c := found.of(s.SKU)
		c.Known, c.Row = true, s
		return err
	})
	return found, err
}

func (l *Ledger) addWritten(tx *gorm.DB, found stockChecks) error {
	const text = `SELECT i.sku, o.stock, CAST(SUM(i.quantity) AS BIGINT) FROM items i JOIN orders o ON o.order_id = i.order_id
 WHERE o.stock IN ('reserved', 'sold') GROUP BY i.sku, o.stock`
	return query(tx, text, nil, func(rows *sql.Rows) error {
		var sku, state string
		var n int64
		err := rows.Scan(&sku, &state, &n)
		c := found.of(sku)
		if models.StockState(state) == models.StockSold {
			c.Sold += n
		} else {
			c.Reserved += n
		}
		return err
	})
}

func (l *Ledger) addAccepted(tx *gorm.DB, found stockChecks) error {
	return query(tx, "SELECT "+acceptedColumns+" FROM accepted", nil, func(rows *sql.Rows) error {
		a, err := scanAccepted(rows)
		if err != nil {
			return err
		}
		for _, i := range a.items {
			c := found.of(i.SKU)
			c.Reserved, c.Queued = c.Reserved+i.Quantity, c.Queued+i.Quantity
		}
		return nil
	})
}
