package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// StockConflict is an SKU that an import cannot set to what it is given.
type StockConflict struct{ SKU, What string }

func (e *StockConflict) Error() string { return "SKU " + e.SKU + " " + e.What }

// ImportStock sets the units owned of each SKU, all or nothing. Fewer than are sold and reserved, below zero, or an SKU given twice with
// two figures, is a *StockConflict. It returns how many rows were new or changed.
func (l *Ledger) ImportStock(ctx context.Context, rows iter.Seq2[models.Stock, error]) (changed int, err error) {
	given, err := stockGiven(rows)
	if err != nil {
		return 0, err
	}
	skus := make([]string, 0, len(given)) // sorted over the whole file, not by the chunk: others take several rows too
	for sku := range given {
		skus = append(skus, sku)
	}
	slices.Sort(skus)
	err = l.retryTx(ctx, func(tx *gorm.DB) error {
		changed = 0
		return eachChunk(skus, inChunk, func(chunk []string) error {
			n, err := l.setStock(tx, chunk, given, l.clock())
			changed += n
			return err
		})
	})
	if err != nil {
		return 0, err
	}
	return changed, nil
}

func stockGiven(rows iter.Seq2[models.Stock, error]) (map[string]int64, error) {
	given := map[string]int64{}
	for s, err := range rows {
		if err != nil {
			return nil, err
		}
		before, twice := given[s.SKU]
		switch {
		case !usableKey(s.SKU):
			return nil, &StockConflict{short(s.SKU, 40), fmt.Sprintf("is no usable SKU: text of 1 to %d bytes expected", idMax)}
		case s.Quantity < 0:
			return nil, &StockConflict{s.SKU, fmt.Sprintf("is given with %d units: 0 or more expected", s.Quantity)}
		case twice && before != s.Quantity:
			return nil, &StockConflict{s.SKU, fmt.Sprintf("is given twice, with %d and %d units", before, s.Quantity)}
		}
		given[s.SKU] = s.Quantity
	}
	return given, nil
}

// setStock writes a chunk and says how many rows it changed. A row it left alone has that quantity, or is one that cannot have it.
func (l *Ledger) setStock(tx *gorm.DB, skus []string, given map[string]int64, now time.Time) (int, error) {
	b := l.sized("INSERT INTO stock (sku, quantity, updated_at) VALUES ", 3*len(skus))
	for i, sku := range skus {
		b.row(i == 0, sku, given[sku], now)
	}
	b.add(` ON CONFLICT (sku) DO UPDATE SET quantity = excluded.quantity, updated_at = excluded.updated_at
 WHERE stock.quantity <> excluded.quantity AND stock.reserved + stock.sold <= excluded.quantity`)
	res, err := exec(tx, b.String(), b.args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, err
	}
	check := l.sql("SELECT sku, quantity, reserved, sold FROM stock WHERE sku IN ").list(anys(skus)...).add(" ORDER BY sku")
	return int(n), query(tx, check.String(), check.args, func(rows *sql.Rows) error {
		var s models.Stock
		if err := rows.Scan(&s.SKU, &s.Quantity, &s.Reserved, &s.Sold); err != nil || s.Quantity == given[s.SKU] {
			return err
		}
		return &StockConflict{s.SKU, fmt.Sprintf("is given with %d units, but %d are sold and %d reserved: at least %d expected",
			given[s.SKU], s.Sold, s.Reserved, s.Sold+s.Reserved)}
	})
}

// Stock reads one SKU; ErrNotFound when it was never imported.
func (l *Ledger) Stock(ctx context.Context, sku string) (models.Stock, error) {
	s, err := l.stockRow(l.read.WithContext(ctx), sku)
	if err == nil && s.SKU == "" {
		err = fmt.Errorf("SKU %q: %w", short(sku, 40), ErrNotFound)
	}
	return s, err
}

// Items reads what an order takes from stock, by SKU.
func (l *Ledger) Items(ctx context.Context, orderID string) ([]models.Item, error) {
	return l.items(l.read.WithContext(ctx), []string{orderID})
}
