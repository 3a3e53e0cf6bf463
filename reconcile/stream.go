package reconcile

import (
	"context"

	"paybook/ledger"
	"paybook/models"
)

// batchSize is how many rows of the book travel together from its reader to the matcher, batches how many of such are on their way.
const (
	batchSize = 512
	batches   = 4
)

// stream joins the two sides. The book is read beside the statement, a few batches ahead.
func (r *run) stream(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	full, empty := make(chan []timed, batches), make(chan []timed, batches+2) // one more is being filled, and one read
	for range cap(empty) {
		empty <- make([]timed, 0, batchSize)
	}
	var failed error // good once full is closed
	go func() {
		defer close(full)
		failed = r.readBook(ctx, empty, full)
	}()
	defer func() {
		stop()
		for range full { // until the reader has let go of its connection
		}
	}()

	var batch []timed
	at := 0
	next := func() (*timed, error) {
		if at == len(batch) {
			if at = 0; batch != nil {
				empty <- batch[:0]
			}
			var more bool
			if batch, more = <-full; !more {
				return nil, failed
			}
		}
		t := &batch[at]
		at++
		r.transactions++
		if t.status == models.StatusSucceeded {
			r.booked.local(&t.local)
		}
		return t, nil
	}
	r.match = newMatcher(next, r.from, r.to, r.account.OrdersElsewhere)
	if err := r.readFiles(ctx); err != nil {
		return err
	}
	return r.match.finish()
}

// readBook sends the day's transactions of the kinds that are compared, in batches that come back to be used again.
func (r *run) readBook(ctx context.Context, empty <-chan []timed, full chan<- []timed) error {
	batch := <-empty
	send := func() error {
		select {
		case full <- batch:
			batch = nil
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := r.book.Movements(ctx, r.account.Name, r.from, r.to, func(m *ledger.Movement) error {
		if !m.Kind.Compared() {
			return nil
		}
		if batch == nil {
			select {
			case batch = <-empty:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		batch = append(batch, timed{localOfMovement(m), m.OccurredAt})
		if len(batch) < batchSize {
			return nil
		}
		return send()
	})
	if err != nil || len(batch) == 0 {
		return err
	}
	return send()
}

// interner keeps one copy of words that every row repeats.
type interner map[string]string

func (in interner) word(w string) string {
	if known, ok := in[w]; ok {
		return known
	}
	in[w] = w
	return w
}
