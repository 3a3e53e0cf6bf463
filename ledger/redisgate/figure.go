package redisgate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// figure is what Redis says of one SKU.
type figure struct {
	known   bool  // it has a figure
	left    int64 // units that may still be taken
	version string
	flying  int // requests that have taken units and are being written
}

// load reads an SKU's figure from the database when Redis has none, and is true when it has one. Of several that try, one reads; what it
// has read counts only if nobody else has begun to load since, and Redis has forgotten nothing again: who was held up must not bring back
// units that are sold.
func (g *Gate) load(ctx context.Context, sku string, available func(context.Context) (int64, error)) (bool, error) {
	me := uuid.NewString()
	for range loadWaits {
		said, err := g.run(ctx, beginLoad, []string{g.stockName(sku)}, me, loadWithin.Milliseconds())
		if err != nil {
			return false, err
		}
		switch said {
		case "there":
			return true, nil
		case "go":
			n, err := available(ctx)
			if err != nil {
				return false, err
			}
			said, err = g.run(ctx, endLoad, []string{g.stockName(sku)}, me, n)
			return said == int64(1), err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(loadPause):
		}
	}
	return false, nil
}

const (
	loadWithin = 2 * time.Second // then another may load
	loadPause  = 5 * time.Millisecond
	loadWaits  = 40
)

var beginLoad = redis.NewScript(`
if tonumber(redis.call('HGET', KEYS[1], 'left') or '') then return 'there' end
local now = redis.call('TIME')
now = now[1] .. string.format('%03d', math.floor(now[2] / 1000))
local since = redis.call('HGET', KEYS[1], 'since')
if since and tonumber(since) > tonumber(now) - tonumber(ARGV[2]) then return 'wait' end
redis.call('HSET', KEYS[1], 'loading', ARGV[1], 'since', now)
return 'go'`)

// A version begins with the time, so that after a loss it is none that somebody still has in hand.
var endLoad = redis.NewScript(`
if redis.call('HGET', KEYS[1], 'loading') ~= ARGV[1] then return 0 end
local now = redis.call('TIME')
redis.call('HDEL', KEYS[1], 'loading', 'since')
redis.call('HSET', KEYS[1], 'left', ARGV[2], 'version', now[1] .. string.format('%06d', now[2]))
return 1`)

// look reads an SKU's figure. forget: units of requests whose process was killed are no longer held for them.
func (g *Gate) look(ctx context.Context, sku string, forget bool) (figure, error) {
	said, err := g.run(ctx, look, []string{g.stockName(sku)}, forsakenAfter.Milliseconds(), strconv.FormatBool(forget))
	if err != nil {
		return figure{}, err
	}
	list, _ := said.([]any)
	if len(list) != 3 {
		return figure{}, fmt.Errorf("redis: the figure of %s is a %T", sku, said)
	}
	left, _ := list[0].(string)
	f := figure{known: left != ""}
	f.version, _ = list[1].(string)
	flying, _ := list[2].(int64)
	f.flying = int(flying)
	if f.known {
		if f.left, err = strconv.ParseInt(left, 10, 64); err != nil {
			return figure{}, fmt.Errorf("redis: the figure of %s is no number", sku)
		}
	}
	return f, nil
}

var look = redis.NewScript(`
local now = redis.call('TIME')
now = tonumber(now[1] .. string.format('%03d', math.floor(now[2] / 1000)))
local all = redis.call('HGETALL', KEYS[1])
local left, version, flying, lost = '', '', 0, {}
for i = 1, #all, 2 do
  if all[i] == 'left' then left = tonumber(all[i + 1]) and all[i + 1] or ''
  elseif all[i] == 'version' then version = all[i + 1]
  elseif string.sub(all[i], 1, 6) == 'taken:' then
    local at = tonumber(string.match(all[i + 1], ' (%d+)$') or '0')
    if at < now - tonumber(ARGV[1]) then lost[#lost + 1] = all[i] else flying = flying + 1 end
  end
end
if ARGV[2] == 'true' then
  for _, field in ipairs(lost) do redis.call('HDEL', KEYS[1], field) end
end
return {left, version, flying}`)

// put sets an SKU's figure, if nothing has changed since it was looked at. One that is of another type goes, whatever it was.
func (g *Gate) put(ctx context.Context, sku, version string, units int64) (bool, error) {
	said, err := g.run(ctx, put, []string{g.stockName(sku)}, version, units)
	return said == int64(1), err
}

var put = redis.NewScript(`
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then redis.call('DEL', KEYS[1]) end
if (redis.call('HGET', KEYS[1], 'version') or '') ~= ARGV[1] then return 0 end
local now = redis.call('TIME')
redis.call('HDEL', KEYS[1], 'loading', 'since')
redis.call('HSET', KEYS[1], 'left', ARGV[2], 'version', now[1] .. string.format('%06d', now[2]))
return 1`)

// isWrongType is a key that somebody has used for something else.
func isWrongType(err error) bool { return err != nil && strings.Contains(err.Error(), "WRONGTYPE ") }
