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
	holdLife  = 30 * time.Second // far longer than a request takes: whoever has not answered by then is dead
	answerFor = 24 * time.Hour   // how long a repeat gets the first answer
	busyRetry = time.Second      // when a repeat will find an answer, most likely

	letGoWithin = time.Second
)

// hold is one request's hold on its key.
type hold struct {
	Key
	holder string    // of this request alone
	gated  bool      // the gate gave it; the database knows nothing of it yet
	until  time.Time // when the gate's hold ends
}

// holdKey claims the key, by the gate or else in the database. An answer means that there is nothing to do any more.
func (l *Ledger) holdKey(ctx context.Context, h *hold) (*Answer, error) {
	pass := l.enter(ctx, h)
	if pass == PassGranted {
		h.gated = true
		return nil, nil
	}
	row, err := l.readToken(l.read.WithContext(ctx), h.Key)
	if err != nil {
		return nil, err
	}
	adopted := l.adopt(h, row)
	known, err := l.claim(ctx, h, row, pass)
	if err != nil && (adopted || !isRefusal(err)) {
		l.letGo(ctx, h, false) // nobody knows whether it was taken
	}
	return known, err
}

// claim writes into the database that the key is held, unless its row or the gate has something against it.
func (l *Ledger) claim(ctx context.Context, h *hold, row *models.Token, pass Pass) (*Answer, error) {
	known, err := h.judge(row, l.clock())
	switch {
	case known != nil || err != nil:
		return known, err
	case pass == PassBusy:
		return nil, &TokenBusy{busyRetry}
	case pass == PassOther:
		return nil, ErrTokenSpent
	}
	err = l.onceTx(ctx, func(tx *gorm.DB) (err error) {
		known, err = l.takeRow(tx, h, l.clock())
		return err
	})
	return known, err
}

// isRefusal says whether a key may not be used, now or at all.
func isRefusal(err error) bool {
	return errors.As(err, new(*TokenBusy)) || errors.Is(err, ErrTokenUnknown) || errors.Is(err, ErrTokenExpired) || errors.Is(err, ErrTokenSpent)
}

// takeRow makes the key's row this holder's, and holds it until the transaction ends. Where that is not allowed the row says why, or has
// the answer.
func (l *Ledger) takeRow(tx *gorm.DB, h *hold, now time.Time) (*Answer, error) {
	if refusal := l.tryRow(tx, h, now); !errors.Is(refusal, errNotTaken) {
		return nil, refusal
	}
	row, err := l.readToken(tx, h.Key)
	if err != nil {
		return nil, err
	}
	known, err := h.judge(row, now)
	if known != nil || err != nil {
		return known, err
	}
	if h.overdue(now) {
		return nil, &TokenBusy{busyRetry}
	}
	return nil, errRetry // it has just become free
}

var errNotTaken = errors.New("the row is not this holder's")

// tryRow is takeRow without a look at what stands against it.
func (l *Ledger) tryRow(tx *gorm.DB, h *hold, now time.Time) error {
	if h.overdue(now) {
		return errNotTaken
	}
	b := l.takeNew(h, now)
	if h.Issued() {
		b = l.takeIssued(h, now)
	}
	res, err := exec(tx, b.String(), b.args...)
	if lockedOut(err) {
		return &TokenBusy{busyRetry} // somebody's transaction has it
	}
	if err = changedOne(res, err); errors.Is(err, errRetry) {
		return errNotTaken
	}
	return err
}

// overdue is a hold that the gate gave, and may have given to another by now, who has left no trace in the database yet.
func (h *hold) overdue(now time.Time) bool { return h.gated && !now.Before(h.until) }

// takeNew takes a key that the client has made up: one that is new, or whose holder is gone, or whose answer is too old to be given.
func (l *Ledger) takeNew(h *hold, now time.Time) *builder {
	b := l.sql("INSERT INTO tokens (owner, token, state, fingerprint, holder, held_until, created_at, expires_at) VALUES ")
	b.list(h.Owner, h.Token, string(models.TokenRunning), h.Fingerprint, h.holder, now.Add(holdLife), now, now.Add(answerFor))
	b.add(` ON CONFLICT (token, owner) DO UPDATE SET state = excluded.state, fingerprint = excluded.fingerprint, holder = excluded.holder,
 held_until = excluded.held_until, created_at = excluded.created_at, expires_at = excluded.expires_at, status = 0, body = '', order_id = ''
 WHERE tokens.state = 'running' AND (tokens.holder = excluded.holder OR tokens.held_until <= excluded.created_at)
 OR tokens.state = 'spent' AND tokens.expires_at <= excluded.created_at`)
	return b
}

// takeIssued takes a token of ours: one that is not spent and not too old, or whose holder is gone.
func (l *Ledger) takeIssued(h *hold, now time.Time) *builder {
	b := l.sql("UPDATE tokens SET state = 'running', fingerprint = ").arg(h.Fingerprint).add(", holder = ").arg(h.holder)
	b.add(", held_until = ").arg(now.Add(holdLife)).whereToken(h.Key)
	b.add(" AND (state = 'issued' AND expires_at > ").arg(now)
	return b.add(" OR state = 'running' AND (holder = ").arg(h.holder).add(" OR held_until <= ").arg(now).add("))")
}

// judge says what a key's row means for a request: an answer, a refusal, or neither: it may be taken. It allows what takeRow allows.
func (h *hold) judge(row *models.Token, now time.Time) (*Answer, error) {
	switch {
	case row == nil && h.Issued():
		return nil, ErrTokenUnknown
	case row == nil:
		return nil, nil
	case row.State == models.TokenRunning:
		if row.Holder == h.holder || row.HeldUntil == nil || !now.Before(*row.HeldUntil) {
			return nil, nil
		}
		if row.Fingerprint != h.Fingerprint {
			return nil, ErrTokenSpent
		}
		return nil, &TokenBusy{busyRetry}
	case !now.Before(row.ExpiresAt):
		if h.Issued() {
			return nil, ErrTokenExpired
		}
		return nil, nil
	case row.State == models.TokenIssued:
		return nil, nil
	case row.Fingerprint != h.Fingerprint:
		return nil, ErrTokenSpent
	}
	return &Answer{Status: int(row.Status), Body: []byte(row.Body), Replayed: row.Holder != h.holder}, nil
}

// keepAnswer spends the key: its answer is there from the commit on. A holder that was overtaken cannot.
func (l *Ledger) keepAnswer(tx *gorm.DB, h *hold, orderID string, a *Answer, now time.Time) error {
	b := l.sql("UPDATE tokens SET state = 'spent', held_until = NULL, status = ").arg(int64(a.Status)).add(", body = ").arg(string(a.Body))
	b.add(", order_id = ").arg(orderID).add(", expires_at = ").arg(now.Add(answerFor)).whereToken(h.Key)
	b.add(" AND state = 'running' AND holder = ").arg(h.holder)
	return changedOne(exec(tx, b.String(), b.args...))
}

// letGo ends the hold. A request that was not answered may be tried again at once. While the database is away that cannot be said; then
// this process remembers, and for all others the hold ends by itself.
func (l *Ledger) letGo(ctx context.Context, h *hold, answered bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), letGoWithin)
	defer cancel()
	if !answered && !h.gated && l.inTx(ctx, func(tx *gorm.DB) error { return l.releaseRow(tx, h) }) != nil {
		l.forsaken.Store(h.holder, l.clock().Add(holdLife))
	}
	if h.gated || !answered { // a gate whose word did not come through may hold the key all the same
		l.leave(ctx, h, answered)
	}
}

// adopt makes a hold that could not be let go the next one's for the same key.
func (l *Ledger) adopt(h *hold, row *models.Token) bool {
	if row == nil || row.State != models.TokenRunning {
		return false
	}
	_, forsaken := l.forsaken.LoadAndDelete(row.Holder)
	if forsaken {
		h.holder = row.Holder
	}
	return forsaken
}

// forget drops what nobody came back for.
func (l *Ledger) forget(now time.Time) {
	l.forsaken.Range(func(holder, until any) bool {
		if at, ok := until.(time.Time); ok && !now.Before(at) {
			l.forsaken.Delete(holder)
		}
		return true
	})
}

// releaseRow makes the row what it was before: nothing of a key that the client has made up.
func (l *Ledger) releaseRow(tx *gorm.DB, h *hold) error {
	b := l.sql("DELETE FROM tokens")
	if h.Issued() {
		b = l.sql("UPDATE tokens SET state = 'issued', fingerprint = '', holder = '', held_until = NULL")
	}
	b.whereToken(h.Key).add(" AND state = 'running' AND holder = ").arg(h.holder)
	_, err := exec(tx, b.String(), b.args...)
	return err
}

// tokenPrefix begins every token that IssueToken makes; no key that a client makes up may begin so.
const tokenPrefix = "tok_"

// Issued says whether the token claims to be one that IssueToken made.
func (k Key) Issued() bool { return strings.HasPrefix(k.Token, tokenPrefix) }

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
