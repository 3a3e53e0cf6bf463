package ledger

import (
	"context"
	"database/sql"

	"gorm.io/gorm"

	"paybook/models"
)

// Wipe empties the book, for the next script.
func (l *Ledger) Wipe(ctx context.Context) error {
	return l.inTx(ctx, func(tx *gorm.DB) error {
		for _, table := range []string{"orders", "transactions", "aliases", "transitions", "messages", "callbacks", "stock", "items", "expiries", "tokens"} {
			if _, err := exec(tx, "DELETE FROM "+table); err != nil {
				return err
			}
		}
		return nil
	})
}

// InsertUnseen makes an order without a look at what is parked for it: what happens when that is committed at the same moment.
func (l *Ledger) InsertUnseen(ctx context.Context, o models.Order) error {
	return l.inTx(ctx, func(tx *gorm.DB) error {
		_, err := l.insertOrders(tx, []models.Order{o}, l.clock())
		return err
	})
}

// Tokens lists all keys, for comparison.
func (l *Ledger) Tokens(ctx context.Context, each func(models.Token)) error {
	text := "SELECT owner, token, state, fingerprint, body, order_id, expires_at FROM tokens"
	return query(l.read.WithContext(ctx), text, nil, func(rows *sql.Rows) error {
		var t models.Token
		err := rows.Scan(&t.Owner, &t.Token, &t.State, &t.Fingerprint, &t.Body, &t.OrderID, utc{&t.ExpiresAt})
		each(t)
		return err
	})
}

// Due counts the orders that are noted for closing and past their time.
func (l *Ledger) Due(ctx context.Context) (n int, err error) {
	list, err := l.due(ctx, expiry{}, 1_000)
	return len(list), err
}
