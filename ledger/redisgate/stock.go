package redisgate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"paybook/ledger"
)

// An SKU's hash holds
//
//	left        units that may still be taken; missing: to be loaded from the database
//	version     grows with every change, so that whoever has read something else meanwhile knows
//	taken:ID    "UNITS MILLISECONDS ORDER": taken by a request that is being written, when, and for which order number
//	loading     who is reading the figure from the database, and since when
//	since
//
// so that left is what the database says is available, less what is taken for orders that the database does not know yet. A request's
// marks, by its key and its order number, are
//
//	taken PRINT ID     it has its units, or had them and was written
//	out PRINT          it came too late
//
// and of an order the ID alone. (PRINT is the fingerprint of what is asked.) All of it may be lost at any moment, or be something else:
// the database counts.

const (
	takenFor   = 24 * time.Hour   // as long as the database keeps an answer
	refusedFor = 15 * time.Minute // as long as clients repeat themselves, mostly
	// forsakenAfter is when units are no longer held for a request that has not ended: its process was killed, most likely. Should it
	// be slow only, somebody else may be let through to the database, which decides.
	forsakenAfter = 5 * time.Second
)

// ours is what the scripts take for ours: whole numbers as we write them, that a script's numbers hold exactly, and marks of our form.
// figure is nil unless there is one to go on with; all else counts as not known.
const ours = `
local function number(v, most)
  return type(v) == 'string' and #v <= most and (v == '0' or string.match(v, '^[1-9]%d*$') ~= nil)
end
local function figure(key)
  local v = redis.pcall('HMGET', key, 'left', 'version')
  if v.err or not number(v[1], 15) or v[2] and not number(v[2], 16) then return nil end
  return v[1], v[2] or ''
end
local function text(key)
  local v = redis.pcall('GET', key)
  return type(v) == 'string' and v or ''
end
local function mark(key)
  local what, print, id = string.match(text(key), '^(%a+) ([%w_%-]+) ?(.*)$')
  if not what or #print ~= 43 then return nil end
  if what == 'out' and id == '' or what == 'taken' and string.match(id, '^%x[%x%-]+$') then return what, print end
end
`

// ticket is one request's way through the script.
type ticket struct {
	id    string   // of this request alone
	print string   // of what it asks
	order string   // its number
	names []string // its order's mark, its key's (the order's again without a key), its SKUs' hashes
	items []ledgerItem
	// issued is true for a token of ours as its key.
	issued bool
}

type ledgerItem struct {
	sku   string
	units int64
}

// stockName is where Redis keeps an SKU.
func (g *Gate) stockName(sku string) string { return g.options.Prefix + "stock:" + sku }

func (g *Gate) ticket(id string, k ledger.Key, orderID string, items []ledgerItem) *ticket {
	t := &ticket{id: id, print: hashed(k.Fingerprint), order: orderID, items: items, issued: k.Issued()}
	order := g.options.Prefix + "flash:order:" + hashed(orderID)
	key := order
	if k.Token != "" {
		key = g.options.Prefix + "flash:key:" + hashed(k.Owner+"\x00"+k.Token)
	}
	t.names = []string{order, key}
	for _, i := range items {
		t.names = append(t.names, g.stockName(i.sku))
	}
	return t
}

// hashed makes a name of text that is as long as the client likes.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// took is what the script said.
type took struct {
	what string // taken, seen, late, load, out
	item int    // load, out: of which of the items
	left int64  // out
}

// take knows a repeat, and else takes the units of all items, in one step.
func (g *Gate) take(ctx context.Context, t *ticket) (took, error) {
	remember := refusedFor.Milliseconds()
	if t.issued {
		remember = 0 // a refusal does not spend it
	}
	args := []any{t.id, t.print, takenFor.Milliseconds(), remember, t.order}
	for _, i := range t.items {
		args = append(args, i.units)
	}
	said, err := g.run(ctx, take, t.names, args...)
	if err != nil {
		return took{}, err
	}
	return readTook(said)
}

// seen is for a key that is used for another request too: the database knows which was first. late is for one that was told before that it
// came too late.
var take = redis.NewScript(ours + `
local keyed = KEYS[1] ~= KEYS[2]
if keyed then
  local what, print = mark(KEYS[2])
  if what == 'taken' or what and print ~= ARGV[2] then return {'seen'} end
  if what == 'out' then return {'late'} end
end
if string.match(text(KEYS[1]), '^%x[%x%-]+$') then return {'seen'} end
for i = 3, #KEYS do
  local left = figure(KEYS[i])
  if not left then return {'load', i - 3} end
  if tonumber(left) < tonumber(ARGV[i + 3]) then
    if keyed and ARGV[4] ~= '0' then redis.call('SET', KEYS[2], 'out ' .. ARGV[2], 'PX', ARGV[4]) end
    return {'out', i - 3, left}
  end
end
local now = redis.call('TIME')
now = now[1] .. string.format('%03d', math.floor(now[2] / 1000))
for i = 3, #KEYS do
  redis.call('HINCRBY', KEYS[i], 'version', 1)
  redis.call('HINCRBY', KEYS[i], 'left', '-' .. ARGV[i + 3])
  redis.call('HSET', KEYS[i], 'taken:' .. ARGV[1], ARGV[i + 3] .. ' ' .. now .. ' ' .. ARGV[5])
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
if keyed then redis.call('SET', KEYS[2], 'taken ' .. ARGV[2] .. ' ' .. ARGV[1], 'PX', ARGV[3]) end
return {'taken'}`)

func readTook(said any) (took, error) {
	list, _ := said.([]any)
	if len(list) == 0 {
		return took{}, fmt.Errorf("redis: the script for stock says %T", said)
	}
	var t took
	t.what, _ = list[0].(string)
	if len(list) > 1 {
		n, _ := list[1].(int64)
		t.item = int(n)
	}
	if len(list) > 2 {
		text, _ := list[2].(string)
		left, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return took{}, fmt.Errorf("redis: a figure of stock is no number: %w", err)
		}
		t.left = left
	}
	return t, nil
}

// end is how a request that took units ends.
type end string

const (
	endDone end = "done" // they are the database's now
	endGive end = "give" // they are free again
	endDrop end = "drop" // the database had none of them: nor has Redis
)

// finish ends what take began, once.
func (g *Gate) finish(ctx context.Context, t *ticket, how end) error {
	args := []any{t.id, string(how), t.print}
	for _, i := range t.items {
		args = append(args, i.units)
	}
	_, err := g.run(ctx, finish, t.names, args...)
	return err
}

// The marks of a request that may be tried again are taken away, if they are its own. A figure that is none is left to be loaded.
var finish = redis.NewScript(ours + `
for i = 3, #KEYS do
  if figure(KEYS[i]) and redis.call('HDEL', KEYS[i], 'taken:' .. ARGV[1]) == 1 then
    redis.call('HINCRBY', KEYS[i], 'version', 1)
    if ARGV[2] == 'give' then redis.call('HINCRBY', KEYS[i], 'left', ARGV[i + 1]) end
  end
end
if ARGV[2] == 'done' then return 1 end
if text(KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
if ARGV[2] == 'give' and text(KEYS[2]) == 'taken ' .. ARGV[3] .. ' ' .. ARGV[1] then
  redis.call('DEL', KEYS[2])
end
return 1`)
