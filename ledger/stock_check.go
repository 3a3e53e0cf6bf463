package ledger

import (
	"context"
	"database/sql"

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
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if l.dialect.name == sqliteName {
		options = nil // there a transaction is a snapshot
	}
	err = l.read.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		found, err := l.stockRows(tx)
		if err != nil {
			return err
		}
		if err := l.addWritten(tx, found); err != nil {
			return err
		}
		if err := l.addAccepted(tx, found); err != nil {
			return err
		}
		for _, sku := range sortedStrings(found) {
			list = append(list, *found[sku])
		}
		return nil
	}, options)
	return list, err
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
