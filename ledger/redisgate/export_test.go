package redisgate

import (
	"context"

	"paybook/ledger"
)

// Load is load for tests.
func (g *Gate) Load(ctx context.Context, sku string, available func(context.Context) (int64, error)) (bool, error) {
	return g.load(ctx, sku, available)
}

// CompareNow is one look of Compare.
func (f *Flash) CompareNow(ctx context.Context, sku string) (Figure, error) {
	return f.compareOnce(ctx, sku)
}

// KeyMark and OrderMark are where Redis keeps a request's marks.
func KeyMark(k ledger.Key) string {
	return (&Gate{options: Options{Prefix: "paybook:"}}).ticket("", k, "", nil).names[1]
}

// OrderMark is KeyMark by the order's number.
func OrderMark(orderID string) string {
	return (&Gate{options: Options{Prefix: "paybook:"}}).ticket("", ledger.Key{}, orderID, nil).names[0]
}
