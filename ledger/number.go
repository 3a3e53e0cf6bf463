package ledger

import (
	"database/sql"
	"time"

	"gorm.io/gorm"
)

// An order's number is taken in one of two tables: in accepted by a flash sale, in orders by every other way. So that two that come at once
// meet, each of them first takes it in accepted, whose key lets one through and keeps the other waiting until that one has ended. Who
// writes into orders then gives it back in the same transaction; who stays in accepted looks at orders only after that, when it sees what
// the other has left there.

// takeNumbers says which numbers nobody has accepted; these are this transaction's until it ends. Sorted, lest two wait for each other.
func (l *Ledger) takeNumbers(tx *gorm.DB, sorted []string, now time.Time) (free map[string]bool, err error) {
	free = make(map[string]bool, len(sorted))
	err = eachChunk(sorted, inChunk, func(chunk []string) error {
		b := l.sized("INSERT INTO accepted (order_id, batch, amount_minor, currency, items, created_at) VALUES ", 6*len(chunk))
		for i, id := range chunk {
			b.row(i == 0, id, "", int64(0), "", "", now)
		}
		return query(tx, b.add(" ON CONFLICT (order_id) DO NOTHING RETURNING order_id").String(), b.args, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			free[id] = true
			return err
		})
	})
	return free, err
}

// giveNumbers removes what takeNumbers has written, when the orders are.
func (l *Ledger) giveNumbers(p *pipe, ids []string) {
	eachSlice(ids, func(chunk []string) {
		p.write(l.sql("DELETE FROM accepted WHERE order_id IN ").list(anys(chunk)...), len(chunk))
	})
}

// beforeOrders repeats the transaction when a number that it has taken is an order's: one that was written since it was looked for.
func (l *Ledger) beforeOrders(p *pipe, ids []string) {
	eachSlice(ids, func(chunk []string) {
		p.read(l.sql("SELECT order_id FROM orders WHERE order_id IN ").list(anys(chunk)...), func(scanner) error { return somebodyWasFirst() })
	})
}
