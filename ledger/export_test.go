package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"

	"paybook/models"
)

// ErrRetry is errRetry for tests.
var ErrRetry = errRetry

// FillDisk lets a SQLite file grow no further, as a full disk does; with room it may again.
func (l *Ledger) FillDisk(ctx context.Context, full bool) error {
	pages := "PRAGMA max_page_count = 4294967294"
	if full {
		pages = "PRAGMA max_page_count = 1" // never below what the file has
	}
	_, err := exec(l.db.WithContext(ctx), pages)
	return err
}

// MoveStale writes an order as somebody would who has read it long ago.
func (l *Ledger) MoveStale(ctx context.Context, was models.Order, to models.OrderStatus) error {
	now := was
	now.Status, now.Version = to, was.Version+1
	return l.inTx(ctx, func(tx *gorm.DB) error {
		w := pipe{tx: tx}
		l.moveOrders(&w, []*orderWork{{Order: now, was: was}}, l.clock())
		return w.flush()
	})
}

// BookWithoutParked books n payments with their orders, O0/ch0 and on, without a look at what waits for them: what another replica does
// whose transaction has not seen it yet.
func (l *Ledger) BookWithoutParked(ctx context.Context, n int) error {
	return l.inTx(ctx, func(tx *gorm.DB) error {
		now := l.clock()
		e := l.newEngine(tx, now)
		for i := range n {
			o := models.Order{OrderID: fmt.Sprintf("O%d", i), AmountMinor: 1999, Currency: "USD"}
			if _, err := l.insertOrders(tx, []models.Order{o}, now); err != nil {
				return err
			}
			if err := e.lock(map[string]bool{o.OrderID: true}, nil); err != nil {
				return err
			}
			ev := models.Event{Kind: models.PaymentSucceeded, TransactionID: fmt.Sprintf("ch%d", i), OrderID: o.OrderID, Money: o.Money(), OccurredAt: now}
			e.book(&delivery{account: "a", source: sourceCallback}, ev)
		}
		return e.write()
	})
}

// CreateInSavepoints makes orders in one transaction, undoing each refused one to where it began.
func (l *Ledger) CreateInSavepoints(ctx context.Context, orders ...NewOrder) (refusals []error, err error) {
	err = l.inTx(ctx, func(tx *gorm.DB) error {
		for _, o := range orders {
			refusals = append(refusals, tx.Transaction(func(tx *gorm.DB) error { _, err := l.createIn(tx, o, l.clock()); return err }))
		}
		return nil
	})
	return refusals, err
}

// ActInSavepoints is CreateInSavepoints for acts.
func (l *Ledger) ActInSavepoints(ctx context.Context, acts ...Act) (refusals []error, err error) {
	err = l.inTx(ctx, func(tx *gorm.DB) error {
		for _, a := range acts {
			refusals = append(refusals, tx.Transaction(func(tx *gorm.DB) error { _, err := l.actIn(tx, a, l.clock()); return err }))
		}
		return nil
	})
	return refusals, err
}

// Setting is a setting of PostgreSQL on a connection that writes.
func (l *Ledger) Setting(ctx context.Context, name string) (value string) {
	_ = query(l.db.WithContext(ctx), "SELECT current_setting($1)", []any{name}, func(rows *sql.Rows) error { return rows.Scan(&value) })
	return value
}
