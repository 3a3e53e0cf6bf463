package ledger

import (
	"context"
	"database/sql"

	"paybook/models"
)

// WriteByHand writes an order as a person does in the database, who asks nobody whether its number is taken.
func (l *Ledger) WriteByHand(ctx context.Context, o models.Order) error {
	b := l.sql("INSERT INTO orders (" + orderColumns + ") VALUES ")
	b.order(true, o, l.clock())
	_, err := exec(l.db.WithContext(ctx), b.String(), b.args...)
	return err
}

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
