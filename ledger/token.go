package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"fmt"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// TokenLife is how long a token may be spent unless it is said otherwise.
const TokenLife = 5 * time.Minute

// IssueToken makes a one-time token for a scope, which is the shop's word for what it is for: a page, a cart, a payment. It may be spent
// by this owner alone, until life is over; 0: TokenLife.
func (l *Ledger) IssueToken(ctx context.Context, owner, scope string, life time.Duration) (models.Token, error) {
	if life < 0 {
		return models.Token{}, fmt.Errorf("issue token: a life of %v", life)
	}
	if life == 0 {
		life = TokenLife
	}
	now := l.clock()
	t := models.Token{Owner: clean(owner), Token: newToken(), Scope: clean(scope), State: models.TokenIssued, CreatedAt: now, ExpiresAt: micros(now.Add(life))}
	err := l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("INSERT INTO tokens (owner, token, scope, state, created_at, expires_at) VALUES ")
		b.list(t.Owner, t.Token, t.Scope, string(t.State), t.CreatedAt, t.ExpiresAt)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
	if err != nil {
		return models.Token{}, err
	}
	if l.options.Gate != nil {
		_ = l.options.Gate.Issue(ctx, Key{Owner: t.Owner, Token: t.Token}, life) // one that does not know it asks the database
	}
	return t, nil
}

// newToken is 192 bits that nobody guesses, as text that needs no quoting anywhere.
func newToken() string {
	var b [24]byte
	_, _ = rand.Read(b[:]) // never fails
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

const (
	tokenRemembered = time.Hour // past its end a token is still told from one that was never issued
	prunedTokens    = 10_000    // in one transaction at most
)

// pruneTokens deletes the keys that count no more, the oldest first.
func (l *Ledger) pruneTokens(ctx context.Context) error {
	l.forget(l.clock())
	before := l.clock().Add(-tokenRemembered)
	b := l.sql("SELECT expires_at FROM tokens WHERE expires_at <= ").arg(before).add(" ORDER BY expires_at LIMIT 1 OFFSET ").arg(prunedTokens - 1)
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(utc{&before}) })
	if err != nil {
		return err
	}
	return l.onceTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("DELETE FROM tokens WHERE expires_at <= ").arg(before)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}
