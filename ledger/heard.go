package ledger

import (
	"context"
	"database/sql"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Heard notes that genuine callbacks of accounts came at these times. An earlier time than is known changes nothing.
func (l *Ledger) Heard(ctx context.Context, at map[string]time.Time) error {
	if len(at) == 0 {
		return nil
	}
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("INSERT INTO heard (account, at) VALUES ")
		for i, account := range sortedStrings(at) {
			b.row(i == 0, account, micros(at[account]))
		}
		b.add(" ON CONFLICT (account) DO UPDATE SET at = excluded.at WHERE heard.at < excluded.at")
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// LastHeard is when the account's last genuine callback came, to within half a minute; zero when none ever did.
func (l *Ledger) LastHeard(ctx context.Context, account string) (at time.Time, err error) {
	b := l.sql("SELECT at FROM heard WHERE account = ").arg(account)
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(utc{&at}) })
	return at, err
}

// CountWaiting counts, up to limit, the orders made from one time on and not after another that wait for a payment, or waited until not
// longer ago than until: an order that was closed unpaid has waited too.
func (l *Ledger) CountWaiting(ctx context.Context, from, notAfter, until time.Time, limit int) (n int, err error) {
	b := l.sql("SELECT COUNT(*) FROM (SELECT 1 AS one FROM orders WHERE created_at >= ").arg(micros(from)).add(" AND created_at <= ").arg(micros(notAfter))
	b.add(" AND (status IN ").list(string(models.Unpaid), string(models.Paying)).add(" OR status = ").arg(string(models.Closed))
	b.add(" AND paid_transaction_id = '' AND updated_at > ").arg(micros(until)).add(") LIMIT ").arg(limit).add(") AS waiting")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, err
}

// GapCount is how many gaps of one account and kind there are in a state, by how long they have been there.
type GapCount struct {
	Account string
	Kind    models.GapKind
	State   models.GapState
	Day     int64 // not older than a day
	Week    int64 // older than that, not than seven days
	Older   int64
	Overdue int64 // of all, open beyond their date
	Due     int64 // of all, open and due today
	Oldest  time.Time
}

// CountGaps counts the open and carried gaps. today is a date, YYYY-MM-DD, that due dates are held against.
func (l *Ledger) CountGaps(ctx context.Context, now time.Time, today string) (list []GapCount, err error) {
	day, week := micros(now.Add(-24*time.Hour)), micros(now.Add(-7*24*time.Hour))
	sum := func(b *builder, condition func(*builder)) {
		b.add(", SUM(CASE WHEN ")
		condition(b)
		b.add(" THEN 1 ELSE 0 END)")
	}
	b := l.sql("SELECT account, kind, state, MIN(first_seen)")
	sum(b, func(b *builder) { b.add("first_seen > ").arg(day) })
	sum(b, func(b *builder) { b.add("first_seen <= ").arg(day).add(" AND first_seen > ").arg(week) })
	sum(b, func(b *builder) { b.add("first_seen <= ").arg(week) })
	sum(b, func(b *builder) { b.add("state = 'open' AND due_on <> '' AND due_on < ").arg(today) })
	sum(b, func(b *builder) { b.add("state = 'open' AND due_on = ").arg(today) })
	b.add(" FROM gaps WHERE state IN ('open', 'carried') GROUP BY account, kind, state ORDER BY account, kind, state")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var c GapCount
		err := rows.Scan(&c.Account, &c.Kind, &c.State, utc{&c.Oldest}, &c.Day, &c.Week, &c.Older, &c.Overdue, &c.Due)
		list = append(list, c)
		return err
	})
	return list, err
}

// LastRunOf is the newest run of an account's newest day, without its report; an empty one when there is none.
func (l *Ledger) LastRunOf(ctx context.Context, account string) (r models.Run, err error) {
	b := l.sql("SELECT id, account, provider, date, time_zone, result, created_at FROM runs WHERE account = ").arg(account)
	err = query(l.read.WithContext(ctx), b.add(" ORDER BY account DESC, date DESC, created_at DESC LIMIT 1").String(), b.args, func(rows *sql.Rows) error {
		return rows.Scan(&r.ID, &r.Account, &r.Provider, &r.Date, &r.TimeZone, &r.Result, utc{&r.CreatedAt})
	})
	return r, err
}
