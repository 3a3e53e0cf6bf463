package ledger

import (
	"context"
	"database/sql"

	"gorm.io/gorm"
)

// StockBeside is how many units of an SKU are available (0 of one that is not here), and which of these orders are here, written or
// accepted: both of one moment, so that each order's units are either counted in the stock already or its number is not known.
func (l *Ledger) StockBeside(ctx context.Context, sku string, orders []string) (available int64, known map[string]bool, err error) {
	known = map[string]bool{}
	var ids []string
	for _, id := range orders {
		if short(id, idMax) == id { // no other is ever stored, and a database may refuse to be asked for it
			ids = append(ids, id)
		}
	}
	err = l.snapshot(ctx, func(tx *gorm.DB) error {
		row, err := l.stockRow(tx, sku)
		available = row.Available()
		p := pipe{tx: tx}
		for _, table := range []string{"accepted", "orders"} {
			eachSlice(ids, func(chunk []string) {
				p.read(l.sql("SELECT order_id FROM "+table+" WHERE order_id IN ").list(anys(chunk)...), func(rows scanner) error {
					var id string
					err := rows.Scan(&id)
					known[id] = true
					return err
				})
			})
		}
		if err != nil {
			return err
		}
		return p.flush()
	})
	return available, known, err
}

// snapshot reads what belongs to one moment.
func (l *Ledger) snapshot(ctx context.Context, f func(tx *gorm.DB) error) error {
	options := &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
	if l.dialect.name == sqliteName {
		options = nil // there a transaction is a snapshot
	}
	return l.read.WithContext(ctx).Transaction(f, options)
}
