package ledger

import (
	"database/sql"
	"maps"
	"slices"

	"gorm.io/gorm"

	"paybook/models"
)

// Units follow their order: reserved when it is made, sold when it is paid, released when it closes. Who moves an order by its
// compare-and-set, and nobody else, moves its units, in the same transaction: so they are moved once. What one transaction moves is summed
// by SKU and written last, sorted: a row that many orders want is held for the shortest time, and never crosswise.

// units is how many of one SKU change hands.
type units struct{ reserved, sold int64 }

// stockAfter is what becomes of an order's units when it goes to a state. Refunds and disputes leave them: the goods may be with the buyer.
func stockAfter(s models.StockState, to models.OrderStatus) models.StockState {
	switch {
	case to == models.Paid && s != models.StockNone:
		return models.StockSold
	case to == models.Closed && s == models.StockReserved:
		return models.StockReleased
	}
	return s
}

// handOver notes that items go from one state to another.
func (e *engine) handOver(items []models.Item, from, to models.StockState) {
	for _, i := range items {
		e.units[i.SKU] = e.units[i.SKU].plus(from, -i.Quantity).plus(to, i.Quantity)
	}
}

func (u units) plus(state models.StockState, n int64) units {
	switch state {
	case models.StockReserved:
		u.reserved += n
	case models.StockSold:
		u.sold += n
	}
	return u
}

// moveUnits notes the units of orders that have moved. Only orders with items cost a statement.
func (e *engine) moveUnits(moved []*orderWork) error {
	var ids []string
	for _, o := range moved {
		if o.Stock != o.was.Stock {
			ids = append(ids, o.OrderID)
		}
	}
	items, err := e.l.items(e.tx, ids)
	for _, i := range items {
		o := e.orders[i.OrderID]
		e.handOver([]models.Item{i}, o.was.Stock, o.Stock)
	}
	return err
}

// writeUnits writes what changes hands, if there is enough.
func (e *engine) writeUnits() {
	for _, sku := range slices.Sorted(maps.Keys(e.units)) {
		u := e.units[sku]
		needs := max(u.reserved+u.sold, e.wanted[sku]) // a new order must find its units also when it is closed in the same breath
		if u == (units{}) && needs == 0 {
			continue
		}
		b := e.l.sql("UPDATE stock SET reserved = reserved + ").arg(u.reserved).add(", sold = sold + ").arg(u.sold).add(", updated_at = ").arg(e.now)
		b.add(" WHERE sku = ").arg(sku).add(" AND reserved >= ").arg(-u.reserved).add(" AND quantity - reserved - sold >= ").arg(needs)
		e.pipe.writeOr(b, 1, func() error { return e.missing(sku, u) })
	}
}

// missing says what it means that units could not be moved.
func (e *engine) missing(sku string, u units) error {
	switch {
	case e.wanted[sku] > 0:
		return &OutOfStock{SKU: sku, Wanted: e.wanted[sku]}
	case u.reserved+u.sold > 0: // somebody took them since we looked (regain)
		return errRetry
	}
	// The row was changed or deleted by hand. Money that has come must be booked all the same.
	e.l.log.Error("stock: the row of an SKU does not hold what its orders have reserved; correct it with `app import stock`", "sku", sku, "reserved", u.reserved, "sold", u.sold)
	return nil
}

// regain says whether an order that was closed can have its units again, now that it is paid after all. What others of this transaction
// give back does not count: it is theirs until the end.
func (e *engine) regain(o *orderWork) bool {
	if o.Stock != models.StockReleased || o.was.Stock != models.StockReleased {
		return true // it has no items, or has not let go of them yet
	}
	items, err := e.l.items(e.tx, []string{o.OrderID})
	if err != nil {
		e.failed = err // nothing of this transaction will be written
		return false
	}
	for _, i := range items {
		s, err := e.l.stockRow(e.tx, i.SKU)
		if err != nil {
			e.failed = err
		}
		if s.Available()-e.regained[i.SKU] < i.Quantity {
			return false
		}
	}
	for _, i := range items {
		e.regained[i.SKU] += i.Quantity
	}
	return true
}

// items reads what orders take from stock, by order and SKU.
func (l *Ledger) items(tx *gorm.DB, orders []string) (items []models.Item, err error) {
	err = eachChunk(orders, inChunk, func(chunk []string) error {
		b := l.sql("SELECT order_id, sku, quantity FROM items WHERE order_id IN ").list(anys(chunk)...).add(" ORDER BY order_id, sku")
		return query(tx, b.String(), b.args, func(rows *sql.Rows) error {
			var i models.Item
			err := rows.Scan(&i.OrderID, &i.SKU, &i.Quantity)
			items = append(items, i)
			return err
		})
	})
	return items, err
}

// stockRow reads one SKU; one that was never imported has nothing, and no name.
func (l *Ledger) stockRow(tx *gorm.DB, sku string) (s models.Stock, err error) {
	b := l.sql("SELECT sku, quantity, reserved, sold, updated_at FROM stock WHERE sku = ").arg(sku)
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		return rows.Scan(&s.SKU, &s.Quantity, &s.Reserved, &s.Sold, utc{&s.UpdatedAt})
	})
	return s, err
}
