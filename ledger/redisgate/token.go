package redisgate

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"paybook/ledger"
)

// A key's value is one of
//
//	issued                           a token that may be spent
//	held MICROSECONDS HOLDER PRINT   being worked on; until then, since 1970
//	spent                            the database has the answer
//
// and no value means that nothing is known. All of them end by themselves.

// spentFor is how long a repeat is known for one without a try to take its key: as long as clients repeat themselves, mostly.
const spentFor = 15 * time.Minute

// Issue implements ledger.Gate.
func (g *Gate) Issue(ctx context.Context, k ledger.Key, life time.Duration) error {
	_, err := g.run(ctx, issue, g.names(k), max(life.Milliseconds(), 1))
	return err
}

var issue = redis.NewScript(`return redis.call('SET', KEYS[1], 'issued', 'NX', 'PX', ARGV[1])`)

// Enter implements ledger.Gate. Looking at the key and taking it are one step.
func (g *Gate) Enter(ctx context.Context, k ledger.Key, holder string, now, until time.Time) (ledger.Pass, error) {
	mine := fmt.Sprintf("held %d %s %s", until.UnixMicro(), holder, k.Fingerprint)
	made := ""
	if k.Issued() {
		made = "issued"
	}
	said, err := g.run(ctx, enter, g.names(k), mine, max(until.Sub(now).Milliseconds(), 1), now.UnixMicro(), k.Fingerprint, made)
	if err != nil {
		return ledger.PassUnknown, err
	}
	text, _ := said.(string)
	return ledger.Pass(text), nil
}

// A token of ours that Redis has forgotten is not taken: only the database knows whether it was ever issued.
var enter = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
if value == 'spent' then return 'spent' end
if value and value ~= 'issued' then
  local ends, print = string.match(value, '^held (%d+) %S+ (.*)$')
  if ends and tonumber(ends) > tonumber(ARGV[3]) then
    if print == ARGV[4] then return 'busy' end
    return 'other'
  end
elseif not value and ARGV[5] == 'issued' then
  return 'unknown'
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 'granted'`)

// Leave implements ledger.Gate. Only what is this holder's is touched: the hold may have ended, and passed to another.
func (g *Gate) Leave(ctx context.Context, k ledger.Key, holder string, spent bool) error {
	keep := int64(0)
	if spent {
		keep = spentFor.Milliseconds()
	}
	_, err := g.run(ctx, leave, g.names(k), holder, keep)
	return err
}

var leave = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
if not value or string.match(value, '^held %d+ (%S+)') ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], 'spent', 'PX', ARGV[2])
return 1`)

// names is where Redis keeps a key: hashed, because it is as long as the client likes, and opens something.
func (g *Gate) names(k ledger.Key) []string {
	sum := sha256.Sum256([]byte(strings.Join([]string{k.Owner, k.Token}, "\x00")))
	return []string{g.options.Prefix + "token:" + base64.RawURLEncoding.EncodeToString(sum[:])}
}

var _ ledger.Gate = (*Gate)(nil)
