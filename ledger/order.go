package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"sort"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// ImportOrders creates orders, all or nothing, and applies what was parked for them. An order that is already there, or accepted to be
// written, with the same amount is left as it is; with another amount the import fails: *OrderConflict. It returns how many were new.
func (l *Ledger) ImportOrders(ctx context.Context, orders iter.Seq2[models.Order, error]) (created int, err error) {
	var anyParked bool
	var now time.Time
	err = importing(ctx, l, orders, func(tx *gorm.DB) (err error) {
		created, now = 0, l.clock()
		anyParked, err = l.anyParked(tx)
		return err
	}, func(tx *gorm.DB, chunk []models.Order) error {
		fresh, err := l.insertOrders(tx, chunk, now)
		created += len(fresh)
		if err != nil || !anyParked || len(fresh) == 0 {
			return err
		}
		_, err = l.applyParked(tx, now, fresh)
		return err
	})
	return created, err
}

// insertOrders writes what is not there yet and returns those ids; what is there must be the same order.
func (l *Ledger) insertOrders(tx *gorm.DB, chunk []models.Order, now time.Time) ([]string, error) {
	given := make(map[string]models.Order, len(chunk))
	for _, o := range chunk {
		if before, twice := given[o.OrderID]; twice && !sameOrder(before, o) {
			return nil, &OrderConflict{o.OrderID, fmt.Sprintf("is given twice, with %s and %s", terms(before), terms(o))}
		}
		if o.OrderID == "" || short(o.OrderID, idMax) != o.OrderID {
			return nil, &OrderConflict{short(o.OrderID, 40), fmt.Sprintf("is no usable order number: text of 1 to %d bytes expected", idMax)}
		}
		given[o.OrderID] = o
	}
	ids := make([]string, 0, len(given))
	for id := range given {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	fresh, err := l.insertFree(tx, ids, given, now)
	if err != nil {
		return nil, err
	}
	var created, old []string
	var made []models.Order
	for _, id := range ids {
		if fresh[id] {
			created, made = append(created, id), append(made, given[id])
		} else {
			old = append(old, id)
		}
	}
	if err := l.sameOrders(tx, old, given, now); err != nil {
		return created, err
	}
	if err := l.askAbout(tx, made, now); err != nil {
		return created, err
	}
	return created, l.insertExpiries(tx, made)
}

// insertFree writes the orders whose number is free, in accepted too, and says which they are.
func (l *Ledger) insertFree(tx *gorm.DB, ids []string, given map[string]models.Order, now time.Time) (map[string]bool, error) {
	free, err := l.takeNumbers(tx, ids, now)
	if err != nil || len(free) == 0 {
		return nil, err
	}
	numbers := sortedStrings(free)
	b := l.sql("INSERT INTO orders (" + orderColumns + ") VALUES ")
	for i, id := range numbers {
		b.order(i == 0, given[id], now)
	}
	fresh := map[string]bool{}
	err = query(tx, b.add(" ON CONFLICT (order_id) DO NOTHING RETURNING order_id").String(), b.args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		fresh[id] = true
		return err
	})
	if err != nil {
		return nil, err
	}
	p := pipe{tx: tx}
	l.giveNumbers(&p, numbers)
	return fresh, p.flush()
}

// order adds the row of a new order.
func (b *builder) order(first bool, o models.Order, now time.Time) {
	var expires any
	if o.ExpiresAt != nil {
		expires = micros(*o.ExpiresAt)
	}
	b.row(first, o.OrderID, o.AmountMinor, o.Currency, string(statusOf(o)), int64(1), int64(0), o.Status == models.Shipped, "", string(o.Stock),
		"", "", expires, now, now)
}

// sameOrder says whether two rows of one file ask for the same order.
func sameOrder(a, b models.Order) bool {
	expires := func(o models.Order) (at time.Time) {
		if o.ExpiresAt != nil {
			at = micros(*o.ExpiresAt)
		}
		return at
	}
	return a.Money() == b.Money() && statusOf(a) == statusOf(b) && expires(a).Equal(expires(b))
}

func statusOf(o models.Order) models.OrderStatus { return cmp.Or(o.Status, models.Unpaid) }

func terms(o models.Order) string {
	text := o.Money().String() + " " + string(statusOf(o))
	if o.ExpiresAt != nil {
		text += " until " + o.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return text
}

// OrderConflict is an order that an import gives with another amount than it has.
type OrderConflict struct {
	OrderID string
	What    string
}

func (e *OrderConflict) Error() string { return "order " + e.OrderID + " " + e.What }

// sameOrders holds given orders against those that are there, accepted or written. One that this very import has made must be the same in
// all; an older one may have moved on.
func (l *Ledger) sameOrders(tx *gorm.DB, ids []string, given map[string]models.Order, now time.Time) error {
	same := func(have models.Order, all bool) error {
		o := given[have.OrderID]
		if have.Money() != o.Money() || all && !sameOrder(have, o) {
			return &OrderConflict{o.OrderID, fmt.Sprintf("is already here with %s, given with %s", terms(have), terms(o))}
		}
		return nil
	}
	// The accepted first: one that is written meanwhile is then seen among the orders.
	err := l.readAccepted(tx, ids, func(a *accepted) error { return same(a.order, false) })
	if err != nil {
		return err
	}
	return l.readOrders(tx, ids, func(have models.Order) error { return same(have, have.CreatedAt.Equal(now) && have.Version == 1) })
}

func (l *Ledger) readAccepted(tx *gorm.DB, ids []string, each func(*accepted) error) error {
	return eachChunk(ids, inChunk, func(chunk []string) error {
		b := l.sql("SELECT " + acceptedColumns + " FROM accepted WHERE order_id IN ").list(anys(chunk)...)
		return query(tx, b.String(), b.args, func(rows *sql.Rows) error {
			a, err := scanAccepted(rows)
			if err != nil {
				return err
			}
			return each(a)
		})
	})
}

func (l *Ledger) readOrders(tx *gorm.DB, ids []string, each func(models.Order) error) error {
	p := pipe{tx: tx}
	l.pipeOrders(&p, ids, each)
	return p.flush()
}

// ErrState is wrapped when an order's state does not allow what was asked.
var ErrState = errors.New("not allowed in this state")

// Orders reads orders by id; those that are not there are left out.
func (l *Ledger) Orders(ctx context.Context, ids []string) (map[string]models.Order, error) {
	found := make(map[string]models.Order, len(ids))
	err := l.readOrders(l.read.WithContext(ctx), ids, func(o models.Order) error { found[o.OrderID] = o; return nil })
	return found, err
}

// OrderHistory is an order with all that moved it, oldest first.
type OrderHistory struct {
	Order        models.Order
	Items        []models.Item // what it takes from stock, by SKU
	Transactions []models.Transaction
	Transitions  []models.Transition
}

// OrderHistory reads one order with its transactions and transitions. One that is accepted and waits to be written is here too: nothing has
// happened to it yet. ErrNotFound for one that is neither.
func (l *Ledger) OrderHistory(ctx context.Context, id string) (OrderHistory, error) {
	var h OrderHistory
	found, err := l.Orders(ctx, []string{id})
	if err != nil {
		return h, err
	}
	o, ok := found[id]
	if !ok {
		queued, err := l.QueuedOrder(ctx, id)
		if !errors.Is(err, ErrNotFound) {
			return OrderHistory{Order: queued.Order, Items: queued.Items}, err
		}
		if found, err = l.Orders(ctx, []string{id}); err != nil { // it may have been written at this very moment
			return h, err
		}
		if o, ok = found[id]; !ok {
			return h, fmt.Errorf("order %q: %w", id, ErrNotFound)
		}
	}
	h.Order = o
	db := l.read.WithContext(ctx)
	if o.Stock != models.StockNone {
		if h.Items, err = l.items(db, []string{id}); err != nil {
			return h, err
		}
	}
	b := l.sql("SELECT " + transactionColumns + " FROM transactions WHERE order_id = ").arg(id).add(" ORDER BY occurred_at, kind, transaction_id")
	if err := selectTransactions(db, b, func(t models.Transaction) error { h.Transactions = append(h.Transactions, t); return nil }); err != nil {
		return h, err
	}
	return h, db.Where("order_id = ?", id).Order("version").Find(&h.Transitions).Error
}

// OrderFilter narrows a list of orders. Zero fields do not filter.
type OrderFilter struct {
	Status   models.OrderStatus
	From, To time.Time // created, from ≤ t < to
	Page
}

func (b *builder) created(f OrderFilter) {
	if !f.From.IsZero() {
		b.add(" AND created_at >= ").arg(micros(f.From))
	}
	if !f.To.IsZero() {
		b.add(" AND created_at < ").arg(micros(f.To))
	}
}

// CountQueued counts the orders that are accepted and not written yet, which ListOrders leaves out. All of them are unpaid.
func (l *Ledger) CountQueued(ctx context.Context, f OrderFilter) (n int64, err error) {
	if f.Status != "" && f.Status != models.Unpaid {
		return 0, nil
	}
	b := l.sql("SELECT COUNT(*) FROM accepted WHERE 1=1")
	b.created(f)
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, err
}

// ListOrders lists the written orders, newest first, and the cursor of the next page ("" at the end).
func (l *Ledger) ListOrders(ctx context.Context, f OrderFilter) ([]models.Order, string, error) {
	b := l.sql("SELECT " + orderColumns + " FROM orders WHERE 1=1")
	if f.Status != "" {
		b.add(" AND status = ").arg(string(f.Status))
	}
	b.created(f)
	if err := b.page(f.Page, "created_at", "order_id"); err != nil {
		return nil, "", err
	}
	var list []models.Order
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var o models.Order
		err := scanOrder(rows, &o)
		list = append(list, o)
		return err
	})
	list, next := cutPage(f.Page, list, func(last *models.Order) string { return cursor(last.CreatedAt, last.OrderID) })
	return list, next, err
}
