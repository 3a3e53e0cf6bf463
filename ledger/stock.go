package ledger

import (
	"context"
	"errors"
	"iter"

	"paybook/models"
)

// ImportStock sets the units owned of each SKU, all or nothing. Fewer than are sold and reserved is an error. It returns how many rows
// were new or changed.
func (l *Ledger) ImportStock(ctx context.Context, rows iter.Seq2[models.Stock, error]) (changed int, err error) {
	return 0, errors.ErrUnsupported
}

// Stock reads one SKU; ErrNotFound when it was never imported.
func (l *Ledger) Stock(ctx context.Context, sku string) (models.Stock, error) {
	return models.Stock{}, errors.ErrUnsupported
}

// Items reads what an order takes from stock, by SKU.
func (l *Ledger) Items(ctx context.Context, orderID string) ([]models.Item, error) {
	return nil, errors.ErrUnsupported
}

// Expire closes what was not paid by now and releases its stock, up to limit orders, and returns how many it closed. Run by any number
// of replicas at once it closes each order once.
func (l *Ledger) Expire(ctx context.Context, limit int) (closed int, err error) {
	return 0, errors.ErrUnsupported
}
