package ledger

import (
	"context"
	"database/sql"
)

// MessageTopics lists what the shop is told about an order.
func (l *Ledger) MessageTopics(ctx context.Context, orderID string) (topics []string, err error) {
	b := l.sql("SELECT topic FROM messages WHERE order_id = ").arg(orderID).add(" ORDER BY id")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var topic string
		err := rows.Scan(&topic)
		topics = append(topics, topic)
		return err
	})
	return topics, err
}
