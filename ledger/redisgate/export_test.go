package redisgate

import "context"

// Load is load for tests.
func (g *Gate) Load(ctx context.Context, sku string, available func(context.Context) (int64, error)) (bool, error) {
	return g.load(ctx, sku, available)
}
