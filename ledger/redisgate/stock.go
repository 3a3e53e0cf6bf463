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
//	taken:ID    "UNITS MILLISECONDS": taken by a request that is being written, and when
//	loading     who is reading the figure from the database, and since when
//	since
//
// so that at rest left is what the database says is available. A request's marks, by its key and its order number, are
//
//	taken PRINT ID             it has its units, or had them and was written
//	out PRINT                  it came too late, and is about to be told
//	kept PRINT STATUS BODY     what it was told
//
// (PRINT is the fingerprint of what is asked.) All of it may be lost at any moment: the database counts.

const (
	takenFor   = 24 * time.Hour   // as long as the database keeps an answer
	refusedFor = 15 * time.Minute // as long as clients repeat themselves, mostly
	// forsakenAfter is when units count as lost whose request has not ended: its process was killed. No request takes that long.
	forsakenAfter = 30 * time.Second
)

// ticket is one request's way through the script.
type ticket struct {
	id    string   // of this request alone
	print string   // of what it asks
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
	t := &ticket{id: id, print: hashed(k.Fingerprint), items: items, issued: k.Issued()}
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
	what string // taken, seen, spent, load, out, kept
	item int    // load, out: of which of the items
	left int64  // out
	kept *ledger.Answer
}

// take knows a repeat, and else takes the units of all items, in one step.
func (g *Gate) take(ctx context.Context, t *ticket) (took, error) {
	remember := refusedFor.Milliseconds()
	if t.issued {
		remember = 0 // a refusal does not spend it
	}
	args := []any{t.id, t.print, takenFor.Milliseconds(), remember}
	for _, i := range t.items {
		args = append(args, i.units)
	}
	said, err := g.run(ctx, take, t.names, args...)
	if err != nil {
		return took{}, err
	}
	return readTook(said)
}

// spent is for a key that came too late with another request.
var take = redis.NewScript(`
local keyed = KEYS[1] ~= KEYS[2]
local mark = redis.call('GET', KEYS[2])
if keyed and mark then
  local what, print, rest = string.match(mark, '^(%a+) (%S+) ?(.*)$')
  if what == 'taken' then return {'seen'} end
  if print ~= ARGV[2] then return {'spent'} end
  if what == 'kept' then return {'kept', rest} end
elseif redis.call('EXISTS', KEYS[1]) == 1 then
  return {'seen'}
end
for i = 3, #KEYS do
  local left = redis.call('HGET', KEYS[i], 'left')
  if not left or not tonumber(left) then return {'load', i - 3} end
  if tonumber(left) < tonumber(ARGV[i + 2]) then
    if keyed and ARGV[4] ~= '0' then redis.call('SET', KEYS[2], 'out ' .. ARGV[2], 'PX', ARGV[4]) end
    return {'out', i - 3, left}
  end
end
local now = redis.call('TIME')
for i = 3, #KEYS do
  redis.call('HINCRBY', KEYS[i], 'version', 1)
  redis.call('HINCRBY', KEYS[i], 'left', -ARGV[i + 2])
  redis.call('HSET', KEYS[i], 'taken:' .. ARGV[1], ARGV[i + 2] .. ' ' .. now[1] .. string.format('%03d', math.floor(now[2] / 1000)))
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
	switch t.what {
	case "kept":
		text, _ := list[1].(string)
		t.kept = readAnswer(text)
	case "load", "out":
		n, _ := list[1].(int64)
		t.item = int(n)
		if t.what == "out" {
			text, _ := list[2].(string)
			left, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return took{}, fmt.Errorf("redis: a figure of stock is no number: %w", err)
			}
			t.left = left
		}
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

// The marks of a request that may be tried again are taken away, if they are its own.
var finish = redis.NewScript(`
for i = 3, #KEYS do
  if redis.call('HDEL', KEYS[i], 'taken:' .. ARGV[1]) == 1 then
    redis.call('HINCRBY', KEYS[i], 'version', 1)
    if ARGV[2] == 'give' then redis.call('HINCRBY', KEYS[i], 'left', ARGV[i + 1]) end
  end
end
if ARGV[2] == 'done' then return 1 end
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
if ARGV[2] == 'give' and redis.call('GET', KEYS[2]) == 'taken ' .. ARGV[3] .. ' ' .. ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1`)

// keep keeps what a request that came too late is told, and returns what it was told first.
func (g *Gate) keep(ctx context.Context, t *ticket, a ledger.Answer) ledger.Answer {
	said, err := g.run(ctx, keep, t.names[1:2], t.print, fmt.Sprintf("%d %s", a.Status, a.Body), refusedFor.Milliseconds())
	if text, _ := said.(string); err == nil && text != "" {
		if first := readAnswer(text); first != nil {
			return *first
		}
	}
	return a
}

var keep = redis.NewScript(`
local mark = redis.call('GET', KEYS[1])
if mark then
  local what, print, rest = string.match(mark, '^(%a+) (%S+) ?(.*)$')
  if what == 'kept' and print == ARGV[1] then return rest end
  if what ~= 'out' then return '' end
end
redis.call('SET', KEYS[1], 'kept ' .. ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
return ''`)

// readAnswer reads "STATUS BODY"; nil when it is none.
func readAnswer(text string) *ledger.Answer {
	var status int
	if _, err := fmt.Sscanf(text, "%d ", &status); err != nil {
		return nil
	}
	return &ledger.Answer{Status: status, Body: []byte(text[len(strconv.Itoa(status))+1:]), Replayed: true}
}
