package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"paybook/models"
)

// refusing is one refusal on its way to be kept.
type refusing struct {
	asking
	orderID string
	refusal Answer
}

// RefuseOrder spends a key that a client has made up on a refusal that was decided elsewhere, and returns what is to be told: the refusal,
// or the answer that is kept under the key already. So whoever came too late is told the same for 24 hours, and the key is good for no
// other order, also where units come back. Many refusals that come at once share a transaction. A key that may not be used for this request
// is the same error as from CreateOrderOnce. When ctx ends first nobody knows; the repeat finds out.
func (l *Ledger) RefuseOrder(ctx context.Context, k Key, o NewOrder, refusal Answer) (Answer, error) {
	if k.Issued() || !usableKey(k.Token) || clean(k.Owner) != k.Owner {
		return Answer{}, ErrTokenUnusable
	}
	if _, _, err := o.check(l.clock()); err != nil {
		return Answer{}, err
	}
	w := &refusing{asking: asking{hold: hold{Key: k, holder: uuid.NewString()}, done: make(chan struct{})}, orderID: o.Order.OrderID, refusal: refusal}
	if !l.refusals.add(w) {
		return Answer{}, errClosed
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	if w.err != nil {
		return Answer{}, w.err
	}
	return *w.answer, nil
}

// refuseAll keeps a bunch. When it fails for a reason of its content each is tried alone.
func (l *Ledger) refuseAll(bunch []*refusing) {
	rows, err := l.refuseTogether(bunch)
	if err != nil && len(bunch) > 1 && !retriable(err) && !errors.Is(err, context.DeadlineExceeded) {
		for _, w := range bunch {
			l.refuseAll([]*refusing{w})
		}
		return
	}
	l.commits.noteHealth(err)
	now := l.clock()
	for _, w := range bunch {
		w.find(rows, now, err)
	}
}

// find is asking's, where a key that is free after all was taken and let go by another at this very moment.
func (w *refusing) find(rows map[keyID]*models.Token, now time.Time, err error) {
	defer close(w.done)
	if w.err = err; err != nil {
		return
	}
	if w.answer, w.err = w.judge(rows[w.id()], now); w.answer == nil && w.err == nil {
		w.err = &TokenBusy{busyRetry}
	}
}

// refuseTogether writes what it may and reads all of it back: what is there then counts, whoever wrote it.
func (l *Ledger) refuseTogether(bunch []*refusing) (rows map[keyID]*models.Token, err error) {
	defer func() {
		if p := recover(); p != nil { // a fault of ours must not keep the others waiting for ever
			err = fmt.Errorf("keeping refusals panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), l.options.Patience)
	defer cancel()
	err = l.retrying(ctx, func() error {
		rows = map[keyID]*models.Token{}
		return l.inConnTx(ctx, func(tx *gorm.DB, conn *sql.Conn) error {
			p := pipe{tx: tx, conn: conn}
			l.keepRefusals(&p, firstOfEach(bunch), l.clock())
			keys := make([]Key, len(bunch))
			for i, w := range bunch {
				keys[i] = w.Key
			}
			l.pipeTokens(&p, keys, rows)
			return p.flush()
		})
	})
	return rows, err
}

// firstOfEach is one refusal a key, sorted by it: a statement may write a row only once.
func firstOfEach(bunch []*refusing) []*refusing {
	list := slices.Clone(bunch)
	slices.SortStableFunc(list, func(a, b *refusing) int { return compareKeys(a.id(), b.id()) })
	return slices.CompactFunc(list, func(a, b *refusing) bool { return a.id() == b.id() })
}

// keepRefusals spends the keys that nobody has spent or is using.
func (l *Ledger) keepRefusals(p *pipe, list []*refusing, now time.Time) {
	eachSlice(list, func(chunk []*refusing) {
		b := l.sized("INSERT INTO tokens (owner, token, state, fingerprint, holder, status, body, order_id, created_at, expires_at) VALUES ", 10*len(chunk))
		for i, w := range chunk {
			b.row(i == 0, w.Owner, w.Token, string(models.TokenSpent), w.Fingerprint, w.holder, int64(w.refusal.Status), string(w.refusal.Body),
				w.orderID, now, now.Add(answerFor))
		}
		p.write(b.add(` ON CONFLICT (token, owner) DO UPDATE SET state = excluded.state, fingerprint = excluded.fingerprint, holder = excluded.holder,
 held_until = NULL, status = excluded.status, body = excluded.body, order_id = excluded.order_id, expires_at = excluded.expires_at
 WHERE tokens.state = 'running' AND tokens.held_until <= excluded.created_at
 OR tokens.state = 'spent' AND tokens.expires_at <= excluded.created_at`), anyRows)
	})
}
