package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sort"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// expiry is a row of expiries: when an order is to be closed, if it is not paid by then.
type expiry struct {
	order string
	at    time.Time
}

// expireAtOnce is how many orders one transaction closes: their rows, and those of their stock, are held together.
const expireAtOnce = 100

// Expire closes what was not paid by now and releases its stock, up to limit orders, and returns how many it closed. Run by any number
// of replicas at once it closes each order once. An order that cannot be closed now (somebody holds it) is an error, and keeps no other
// from being closed.
func (l *Ledger) Expire(ctx context.Context, limit int) (closed int, err error) {
	var failed []error
	var after expiry
	for seen := 0; seen < limit; {
		due, err := l.due(ctx, after, min(limit-seen, expireAtOnce))
		if err != nil {
			return closed, errors.Join(append(failed, err)...)
		}
		if len(due) == 0 {
			break
		}
		seen, after = seen+len(due), due[len(due)-1]
		n, err := l.expireEach(ctx, due)
		closed += n
		failed = append(failed, err)
	}
	return closed, errors.Join(failed...)
}

// due reads what is to be closed by now, without a lock, the longest due first.
func (l *Ledger) due(ctx context.Context, after expiry, limit int) (list []expiry, err error) {
	b := l.sql("SELECT order_id, expires_at FROM expiries WHERE expires_at <= ").arg(l.clock()).add(" AND (expires_at, order_id) > ")
	b.list(after.at, after.order).add(" ORDER BY expires_at, order_id LIMIT ").arg(limit)
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var e expiry
		err := rows.Scan(&e.order, utc{&e.at})
		list = append(list, e)
		return err
	})
	return list, err
}

// expireEach closes orders together, or one by one when somebody holds one of them.
func (l *Ledger) expireEach(ctx context.Context, due []expiry) (int, error) {
	n, err := l.expire(ctx, due)
	if err == nil || ctx.Err() != nil {
		return n, err
	}
	var failed []error
	for _, e := range due {
		one, err := l.expire(ctx, []expiry{e})
		n += one
		if err != nil {
			failed = append(failed, fmt.Errorf("expire order %s: %w", e.order, err))
		}
	}
	return n, errors.Join(failed...)
}

func (l *Ledger) expire(ctx context.Context, due []expiry) (closed int, err error) {
	err = l.onceTx(ctx, func(tx *gorm.DB) (err error) {
		closed, err = l.expireIn(tx, due, l.clock())
		return err
	})
	if err != nil {
		return 0, err
	}
	return closed, nil
}

// expireIn closes those of the orders that are still not paid; all of them are through with their window. Most have been paid, so they are
// read without a lock, and the compare-and-set decides.
func (l *Ledger) expireIn(tx *gorm.DB, due []expiry, now time.Time) (closed int, err error) {
	ids := map[string]bool{}
	for _, d := range due {
		ids[d.order] = true
	}
	e := l.newEngine(tx, now)
	e.careful = false
	if err := e.lock(ids, nil); err != nil {
		return 0, err
	}
	list := make([]string, 0, len(e.orders))
	for id := range e.orders {
		list = append(list, id)
	}
	sort.Strings(list)
	for _, id := range list {
		if e.act(e.orders[id], models.OrderExpire, sourceShop) {
			closed++
		}
	}
	if err := e.write(); err != nil {
		return 0, err
	}
	return closed, l.deleteExpiries(tx, due)
}

// insertExpiries notes when new orders are to be closed, of those that still can be.
func (l *Ledger) insertExpiries(tx *gorm.DB, orders []models.Order) error {
	b := l.sql("INSERT INTO expiries (order_id, expires_at) VALUES ")
	n := 0
	for _, o := range orders {
		if s := statusOf(o); o.ExpiresAt != nil && (s == models.Unpaid || s == models.Paying) {
			b.row(n == 0, o.OrderID, micros(*o.ExpiresAt))
			n++
		}
	}
	if n == 0 {
		return nil
	}
	_, err := exec(tx, b.add(" ON CONFLICT (expires_at, order_id) DO NOTHING").String(), b.args...)
	return err
}

// deleteExpiries takes rows away that were read in their order, if nobody has yet.
func (l *Ledger) deleteExpiries(tx *gorm.DB, due []expiry) error {
	b := l.sql("DELETE FROM expiries WHERE expires_at >= ").arg(due[0].at).add(" AND expires_at <= ").arg(due[len(due)-1].at).add(" AND order_id IN ")
	ids := make([]any, len(due))
	for i, d := range due {
		ids[i] = d.order
	}
	_, err := exec(tx, b.list(ids...).String(), b.args...)
	return err
}
