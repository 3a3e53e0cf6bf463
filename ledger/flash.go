package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"paybook/models"
)

// A flash sale: more buyers at one moment than the database could write orders for. An order is accepted first: its units are reserved,
// its number and its key are taken, its answer is kept and a job is queued that will write it, for many orders in one transaction. So
// nothing is promised that is not stored, and one row of stock is moved once for all of them. Then the job writes them (flash_write.go).
// Reserved units = those of the orders that are written + those of the accepted.

// accepting is one order on its way to be accepted.
type accepting struct {
	hold
	order models.Order
	items []models.Item
	say   func(models.Order, error) (status int, body []byte)

	refusal error   // what stands against it and is told; nil: accepted
	answer  *Answer // what is told
	err     error   // what is returned
	done    chan struct{}
}

// AcceptOrder accepts an order that a job will write soon; until then QueuedOrder has it. It counts once under its key, as with
// CreateOrderOnce (one without a token only under its order's number), and say is asked in the same way: an accepted order is given to it
// as it will be written, and where it says 201 the answer is 202. Many that come at once share a transaction. When ctx ends first nobody
// knows; the repeat finds out.
func (l *Ledger) AcceptOrder(ctx context.Context, k Key, o NewOrder, say func(models.Order, error) (status int, body []byte)) (Answer, error) {
	if k.Token != "" && (short(k.Token, idMax) != k.Token || clean(k.Owner) != k.Owner) {
		return Answer{}, ErrTokenUnusable
	}
	order, items, err := o.check(l.clock())
	if err != nil {
		return Answer{}, err
	}
	w := &accepting{hold: hold{Key: k, holder: uuid.NewString()}, order: order, items: items, say: say, done: make(chan struct{})}
	if !l.accepts.add(w) {
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

// acceptAll writes a bunch. When it fails for a reason of its content each is tried alone.
func (l *Ledger) acceptAll(bunch []*accepting) {
	err := l.acceptTogether(bunch)
	if err != nil && len(bunch) > 1 && !retriable(err) && !errors.Is(err, context.DeadlineExceeded) {
		for _, w := range bunch {
			l.acceptAll([]*accepting{w})
		}
		return
	}
	l.commits.noteHealth(err)
	for _, w := range bunch {
		if err != nil {
			w.err = err
		}
		close(w.done)
	}
}

func (l *Ledger) acceptTogether(bunch []*accepting) (err error) {
	defer func() {
		if p := recover(); p != nil { // a fault of ours must not keep the others waiting for ever
			err = fmt.Errorf("accepting orders panicked: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), l.options.Patience)
	defer cancel()
	return l.retrying(ctx, func() error {
		return l.inConnTx(ctx, func(tx *gorm.DB, conn *sql.Conn) error { return l.acceptIn(tx, conn, bunch) })
	})
}

// acceptIn reads what it needs, decides in memory, and writes what was decided if all is still so; else it is repeated.
func (l *Ledger) acceptIn(tx *gorm.DB, conn *sql.Conn, bunch []*accepting) error {
	now := l.clock()
	p := pipe{tx: tx, conn: conn}
	seen, err := l.look(&p, bunch)
	if err != nil {
		return err
	}
	accepted, keyed := seen.decide(bunch, now)
	if len(accepted) == 0 && len(keyed) == 0 {
		return nil
	}
	l.keepAnswers(&p, keyed, now)
	batch := uuid.Must(uuid.NewV7()).String()
	l.insertAccepted(&p, accepted, batch, now)
	l.reserve(&p, accepted, now)
	if err := p.flush(); err != nil || len(accepted) == 0 {
		return err
	}
	t, err := sqlTx(tx)
	if err != nil {
		return err
	}
	_, err = l.jobs.InsertTx(tx.Statement.Context, t, writeJob{Batch: batch}, nil)
	return err
}

// keepAnswers spends the keys, with the answers. All of them are free, or somebody was first.
func (l *Ledger) keepAnswers(p *pipe, keyed []*accepting, now time.Time) {
	slices.SortFunc(keyed, func(a, b *accepting) int { return compareKeys(a.id(), b.id()) })
	eachSlice(keyed, func(chunk []*accepting) {
		b := l.sized("INSERT INTO tokens (owner, token, state, fingerprint, holder, status, body, order_id, created_at, expires_at) VALUES ", 10*len(chunk))
		for i, w := range chunk {
			b.row(i == 0, w.Owner, w.Token, string(models.TokenSpent), w.Fingerprint, w.holder, int64(w.answer.Status), string(w.answer.Body),
				w.order.OrderID, now, now.Add(answerFor))
		}
		p.write(b.add(` ON CONFLICT (token, owner) DO UPDATE SET state = excluded.state, fingerprint = excluded.fingerprint, holder = excluded.holder,
 held_until = NULL, status = excluded.status, body = excluded.body, order_id = excluded.order_id, expires_at = excluded.expires_at
 WHERE tokens.state = 'issued' AND tokens.expires_at > excluded.created_at
 OR tokens.state = 'running' AND tokens.held_until <= excluded.created_at
 OR tokens.state = 'spent' AND tokens.expires_at <= excluded.created_at`), len(chunk))
	})
}

// insertAccepted takes the numbers of orders, and lets no written one have it too.
func (l *Ledger) insertAccepted(p *pipe, accepted []*accepting, batch string, now time.Time) {
	slices.SortFunc(accepted, func(a, b *accepting) int { return strings.Compare(a.order.OrderID, b.order.OrderID) })
	eachSlice(accepted, func(chunk []*accepting) {
		b := l.sized("INSERT INTO accepted (order_id, batch, amount_minor, currency, items, expires_at, created_at) VALUES ", 7*len(chunk))
		for i, w := range chunk {
			var expires any
			if w.order.ExpiresAt != nil {
				expires = *w.order.ExpiresAt
			}
			b.row(i == 0, w.order.OrderID, batch, w.order.AmountMinor, w.order.Currency, itemsText(w.items), expires, now)
		}
		p.write(b.add(" ON CONFLICT (order_id) DO NOTHING"), len(chunk))
	})
	ids := make([]string, len(accepted))
	for i, w := range accepted {
		ids[i] = w.order.OrderID
	}
	l.beforeOrders(p, ids)
}

// reserve takes the units of all of them, in one statement an SKU.
func (l *Ledger) reserve(p *pipe, accepted []*accepting, now time.Time) {
	sums := map[string]int64{}
	for _, w := range accepted {
		for _, i := range w.items {
			sums[i.SKU] += i.Quantity
		}
	}
	for _, sku := range sortedStrings(sums) {
		b := l.sql("UPDATE stock SET reserved = reserved + ").arg(sums[sku]).add(", updated_at = ").arg(now)
		p.write(b.add(" WHERE sku = ").arg(sku).add(" AND quantity - reserved - sold >= ").arg(sums[sku]), 1)
	}
}

// expectAccepted makes say's word for an order that is made the word for one that will be.
func expectAccepted(status int) int {
	if status == http.StatusCreated {
		return http.StatusAccepted
	}
	return status
}
