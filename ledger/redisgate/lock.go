package redisgate

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"paybook/ledger"
)

// Lock implements ledger.LeaseLock.
func (g *Gate) Lock(ctx context.Context, name, holder string, length time.Duration) (bool, error) {
	said, err := g.run(ctx, lock, g.lockName(name), holder, milliseconds(length))
	free, _ := said.(int64)
	return free == 1 && err == nil, err
}

var lock = redis.NewScript(`
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0`)

// Relock implements ledger.LeaseLock.
func (g *Gate) Relock(ctx context.Context, name, holder string, length time.Duration) error {
	_, err := g.run(ctx, relock, g.lockName(name), holder, milliseconds(length))
	return err
}

var relock = redis.NewScript(`
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

// Unlock implements ledger.LeaseLock.
func (g *Gate) Unlock(ctx context.Context, name, holder string) error {
	_, err := g.run(ctx, unlock, g.lockName(name), holder)
	return err
}

var unlock = redis.NewScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`)

func (g *Gate) lockName(name string) []string { return []string{g.options.Prefix + "lease:" + name} }

// milliseconds is what PX takes, which refuses zero.
func milliseconds(d time.Duration) int64 { return max(d.Milliseconds(), 1) }

var _ ledger.LeaseLock = (*Gate)(nil)
