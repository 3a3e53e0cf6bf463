package ledger

import (
	"context"
	"time"

	"paybook/models"
)

// asking is a look at one key.
type asking struct {
	hold
	answer *Answer
	err    error
	done   chan struct{}
}

// Answered is the answer that is kept under a key; ok is false when there is none. It takes nothing. A key that may not be used for this
// request, or that somebody is using, is the same error as from CreateOrderOnce. Many that ask at once share a read.
func (l *Ledger) Answered(ctx context.Context, k Key) (a Answer, ok bool, err error) {
	w := &asking{hold: hold{Key: k}, done: make(chan struct{})}
	if !l.asked.add(w) {
		return Answer{}, false, errClosed
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		return Answer{}, false, ctx.Err()
	}
	if w.answer == nil || w.err != nil {
		return Answer{}, false, w.err
	}
	return *w.answer, true, nil
}

// answerAll reads the keys of a bunch together.
func (l *Ledger) answerAll(bunch []*asking) {
	ctx, cancel := context.WithTimeout(context.Background(), l.options.Patience)
	defer cancel()
	keys := make([]Key, len(bunch))
	for i, w := range bunch {
		keys[i] = w.Key
	}
	rows, now := map[keyID]*models.Token{}, l.clock()
	err := l.retrying(ctx, func() error {
		p := pipe{tx: l.read.WithContext(ctx)}
		l.pipeTokens(&p, keys, rows)
		return p.flush()
	})
	for _, w := range bunch {
		w.find(rows, now, err)
	}
}

func (w *asking) find(rows map[keyID]*models.Token, now time.Time, err error) {
	defer close(w.done)
	if w.err = err; err == nil {
		w.answer, w.err = w.judge(rows[w.id()], now)
	}
}
