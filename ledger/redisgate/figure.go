package redisgate

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// figure is what Redis says of one SKU.
type figure struct {
	state   string // what it has of it
	left    int64  // units that may still be taken
	version string
	flying  []flight // requests that have taken units and are being written
	lost    int64    // units of requests that have not ended, and are taken for dead
}

// What Redis may have of an SKU.
const (
	figureNone   = "none"
	figureOurs   = "ours"
	figureSpoilt = "spoilt" // what is there is nothing that we write
)

// flight is a request that has taken units.
type flight struct {
	id, order string
	units     int64
}

// figureMost is the largest figure that there may be; of more units only these are given to Redis.
const figureMost = 999_999_999_999_999

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

var beginLoad = redis.NewScript(ours + `
if figure(KEYS[1]) then return 'there' end
local now = redis.call('TIME')
now = now[1] .. string.format('%03d', math.floor(now[2] / 1000))
local since = redis.pcall('HGET', KEYS[1], 'since')
if type(since) == 'table' then redis.call('DEL', KEYS[1]) end
if number(since, 15) and tonumber(since) <= tonumber(now) and tonumber(since) > tonumber(now) - tonumber(ARGV[2]) then return 'wait' end
redis.call('HSET', KEYS[1], 'loading', ARGV[1], 'since', now)
return 'go'`)

// A version begins with the time, so that after a loss it is none that somebody still has in hand. Whatever was there is gone: the
// requests under way are not counted, and give nothing back.
var endLoad = redis.NewScript(`
if redis.pcall('HGET', KEYS[1], 'loading') ~= ARGV[1] then return 0 end
local now = redis.call('TIME')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'left', ARGV[2], 'version', now[1] .. string.format('%06d', now[2]))
return 1`)

// look reads an SKU's figure.
func (g *Gate) look(ctx context.Context, sku string) (figure, error) {
	said, err := g.run(ctx, look, []string{g.stockName(sku)}, forsakenAfter.Milliseconds())
	if err != nil {
		return figure{}, err
	}
	list, _ := said.([]any)
	if len(list) < 4 {
		return figure{}, fmt.Errorf("redis: the figure of %s is a %T", sku, said)
	}
	words := make([]string, len(list))
	for i := range list {
		words[i], _ = list[i].(string)
	}
	f := figure{state: words[0], left: whole(words[1]), version: words[2], lost: whole(words[3])}
	for i := 4; i+2 < len(words); i += 3 {
		f.flying = append(f.flying, flight{words[i], words[i+1], whole(words[i+2])})
	}
	return f, nil
}

// whole reads what the scripts have found to be a number; anything else is nothing.
func whole(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// A mark that is none of ours, or from a time to come, holds nothing.
var look = redis.NewScript(ours + `
local now = redis.call('TIME')
now = tonumber(now[1] .. string.format('%03d', math.floor(now[2] / 1000)))
local all = redis.pcall('HGETALL', KEYS[1])
if all.err then return {'spoilt', '', '', '0'} end
local has, lost, flying = {}, 0, {}
for i = 1, #all, 2 do
  if string.sub(all[i], 1, 6) ~= 'taken:' then has[all[i]] = all[i + 1] else
    local units, at, order = string.match(all[i + 1], '^(%d+) (%d+) ?(.*)$')
    if number(units, 15) and number(at, 15) and math.abs(now - tonumber(at)) <= tonumber(ARGV[1]) then
      for _, v in ipairs({string.sub(all[i], 7), order, units}) do flying[#flying + 1] = v end
    elseif number(units, 15) then lost = lost + tonumber(units) end
  end
end
local left, version = figure(KEYS[1])
if not left then
  local none = not has.left and (not has.version or number(has.version, 16))
  return {none and 'none' or 'spoilt', '', has.version or '', string.format('%.0f', lost)}
end
local said = {'ours', left, version, string.format('%.0f', lost)}
for i = 1, #flying do said[i + 4] = flying[i] end
return said`)

// put sets an SKU's figure, if nothing has changed since it was looked at, and keeps the marks of the requests that it takes into account,
// and no others.
func (g *Gate) put(ctx context.Context, sku, version string, units int64, counted []string) (bool, error) {
	args := []any{version, units}
	for _, id := range counted {
		args = append(args, id)
	}
	said, err := g.run(ctx, put, []string{g.stockName(sku)}, args...)
	return said == int64(1), err
}

var put = redis.NewScript(ours + `
local has = redis.pcall('HGET', KEYS[1], 'version')
if type(has) ~= 'string' then has = '' end
if has ~= ARGV[1] then return 0 end
local marks = {}
if figure(KEYS[1]) then
  for i = 3, #ARGV do
    local mark = redis.call('HGET', KEYS[1], 'taken:' .. ARGV[i])
    if mark then marks[#marks + 1] = 'taken:' .. ARGV[i]; marks[#marks + 1] = mark end
  end
end
local now = redis.call('TIME')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'left', ARGV[2], 'version', now[1] .. string.format('%06d', now[2]))
for i = 1, #marks, 2 do redis.call('HSET', KEYS[1], marks[i], marks[i + 1]) end
return 1`)
