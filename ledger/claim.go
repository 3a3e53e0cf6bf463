package ledger

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Refusals of a token.
var (
	ErrTokenUnknown  = errors.New("a token that was never issued here") // tok_… that is not ours
	ErrTokenExpired  = errors.New("the token has expired")
	ErrTokenSpent    = errors.New("the token was spent on another request")
	ErrTokenUnusable = errors.New("no usable token: text of 1 to 255 bytes expected")
)

// TokenBusy is a token whose first request is still being worked on.
type TokenBusy struct{ RetryAfter time.Duration }

func (e *TokenBusy) Error() string {
	return "the first request with this token is still being worked on"
}

const (
	claimLife = 30 * time.Second // far longer than a request takes: whoever has not answered by then is dead
	answerFor = 24 * time.Hour   // how long a repeat gets the first answer
	busyRetry = time.Second      // when a repeat will find an answer, most likely
	endWithin = time.Second      // a claim that cannot be given back so soon ends by itself
)

// claim is one request's hold on its key.
type claim struct {
	Key
	holder string // of this request alone
	gated  bool   // the gate gave it; the database knows nothing of it yet
}

// begin claims the key, by the gate or else in the database. An answer means that there is nothing to do any more.
func (l *Ledger) begin(ctx context.Context, c *claim) (*Answer, error) {
	pass := l.enter(ctx, c)
	if pass == PassGranted {
		c.gated = true
		return nil, nil
	}
	row, err := l.readToken(l.read.WithContext(ctx), c.Key)
	if err != nil {
		return nil, err
	}
	known, err := c.judge(row, l.clock())
	switch {
	case known != nil || err != nil:
		return known, err
	case pass == PassBusy:
		return nil, &TokenBusy{busyRetry}
	case pass == PassOther:
		return nil, ErrTokenSpent
	}
	err = l.onceTx(ctx, func(tx *gorm.DB) (err error) {
		known, err = l.take(tx, c, l.clock())
		return err
	})
	return known, err
}

// take makes the key's row this holder's, and holds it until the transaction ends. Where that is not allowed the row says why, or has
// the answer.
func (l *Ledger) take(tx *gorm.DB, c *claim, now time.Time) (*Answer, error) {
	b := l.takeNew(c, now)
	if c.issued() {
		b = l.takeIssued(c, now)
	}
	res, err := exec(tx, b.String(), b.args...)
	if lockedOut(err) {
		return nil, &TokenBusy{busyRetry} // somebody's transaction has it
	}
	if err = changedOne(res, err); !errors.Is(err, errRetry) {
		return nil, err
	}
	row, err := l.readToken(tx, c.Key)
	if err != nil {
		return nil, err
	}
	known, err := c.judge(row, now)
	if known == nil && err == nil {
		err = errRetry // it has just become free
	}
	return known, err
}

// takeNew takes a key that the client has made up: one that is new, or whose holder is gone, or whose answer is too old to be given.
func (l *Ledger) takeNew(c *claim, now time.Time) *builder {
	b := l.sql("INSERT INTO tokens (owner, token, state, fingerprint, holder, held_until, created_at, expires_at) VALUES ")
	b.list(c.Owner, c.Token, string(models.TokenRunning), c.Fingerprint, c.holder, now.Add(claimLife), now, now.Add(answerFor))
	b.add(` ON CONFLICT (token, owner) DO UPDATE SET state = excluded.state, fingerprint = excluded.fingerprint, holder = excluded.holder,
 held_until = excluded.held_until, created_at = excluded.created_at, expires_at = excluded.expires_at, status = 0, body = '', order_id = ''
 WHERE tokens.state = 'running' AND (tokens.holder = excluded.holder OR tokens.held_until <= excluded.created_at)
 OR tokens.state = 'spent' AND tokens.expires_at <= excluded.created_at`)
	return b
}

// takeIssued takes a token of ours: one that is not spent and not too old, or whose holder is gone.
func (l *Ledger) takeIssued(c *claim, now time.Time) *builder {
	b := l.sql("UPDATE tokens SET state = 'running', fingerprint = ").arg(c.Fingerprint).add(", holder = ").arg(c.holder)
	b.add(", held_until = ").arg(now.Add(claimLife)).whereToken(c.Key)
	b.add(" AND (state = 'issued' AND expires_at > ").arg(now)
	return b.add(" OR state = 'running' AND (holder = ").arg(c.holder).add(" OR held_until <= ").arg(now).add("))")
}

// judge says what a key's row means for a request: an answer, a refusal, or neither: it may be taken. It allows what take allows.
func (c *claim) judge(row *models.Token, now time.Time) (*Answer, error) {
	switch {
	case row == nil && c.issued():
		return nil, ErrTokenUnknown
	case row == nil:
		return nil, nil
	case row.State == models.TokenRunning:
		if row.Holder == c.holder || row.HeldUntil == nil || !now.Before(*row.HeldUntil) {
			return nil, nil
		}
		if row.Fingerprint != c.Fingerprint {
			return nil, ErrTokenSpent
		}
		return nil, &TokenBusy{busyRetry}
	case !now.Before(row.ExpiresAt):
		if c.issued() {
			return nil, ErrTokenExpired
		}
		return nil, nil
	case row.State == models.TokenIssued:
		return nil, nil
	case row.Fingerprint != c.Fingerprint:
		return nil, ErrTokenSpent
	}
	return &Answer{Status: int(row.Status), Body: []byte(row.Body), Replayed: row.Holder != c.holder}, nil
}

// keep spends the key: its answer is there from the commit on. A holder that was overtaken cannot.
func (l *Ledger) keep(tx *gorm.DB, c *claim, orderID string, a *Answer, now time.Time) error {
	b := l.sql("UPDATE tokens SET state = 'spent', held_until = NULL, status = ").arg(int64(a.Status)).add(", body = ").arg(string(a.Body))
	b.add(", order_id = ").arg(orderID).add(", expires_at = ").arg(now.Add(answerFor)).whereToken(c.Key)
	b.add(" AND state = 'running' AND holder = ").arg(c.holder)
	return changedOne(exec(tx, b.String(), b.args...))
}

// end gives the claim back; a request that was not answered may be tried again at once.
func (l *Ledger) end(ctx context.Context, c *claim, answered bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if !answered && !c.gated {
		_ = l.inTx(ctx, func(tx *gorm.DB) error { return l.release(tx, c) }) // it ends by itself
	}
	l.leave(ctx, c, answered)
}

// release makes the row what it was before: nothing of a key that the client has made up.
func (l *Ledger) release(tx *gorm.DB, c *claim) error {
	b := l.sql("DELETE FROM tokens")
	if c.issued() {
		b = l.sql("UPDATE tokens SET state = 'issued', fingerprint = '', holder = '', held_until = NULL")
	}
	b.whereToken(c.Key).add(" AND state = 'running' AND holder = ").arg(c.holder)
	_, err := exec(tx, b.String(), b.args...)
	return err
}

// tokenPrefix begins every token that IssueToken makes; no key that a client makes up may begin so.
const tokenPrefix = "tok_"

func (k Key) issued() bool { return strings.HasPrefix(k.Token, tokenPrefix) }

func (b *builder) whereToken(k Key) *builder {
	return b.add(" WHERE token = ").arg(k.Token).add(" AND owner = ").arg(k.Owner)
}

// readToken is nil for a key without a row.
func (l *Ledger) readToken(tx *gorm.DB, k Key) (row *models.Token, err error) {
	b := l.sql("SELECT state, fingerprint, holder, held_until, status, body, expires_at FROM tokens").whereToken(k)
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		row = &models.Token{Owner: k.Owner, Token: k.Token}
		return rows.Scan(&row.State, &row.Fingerprint, &row.Holder, nullUTC{&row.HeldUntil}, &row.Status, &row.Body, utc{&row.ExpiresAt})
	})
	return row, err
}
