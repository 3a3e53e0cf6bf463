package ledger

import (
	"context"
	"iter"
	"time"

	"gorm.io/gorm"
)

// importing runs a sequence through one transaction, a chunk at a time: all or nothing. What fits into one chunk is kept, so that it can be
// repeated when the database asks for it; a longer sequence can be read only once.
func importing[T any](ctx context.Context, l *Ledger, seq iter.Seq2[T, error], begin func(*gorm.DB) error, each func(*gorm.DB, []T) error) error {
	next, stop := iter.Pull2(seq)
	defer stop()
	first, err := pull(next, inChunk)
	if err != nil {
		return err
	}
	if len(first) < inChunk {
		return l.retryTx(ctx, func(tx *gorm.DB) error {
			if err := begin(tx); err != nil || len(first) == 0 {
				return err
			}
			return each(tx, first)
		})
	}
	return l.inTx(ctx, func(tx *gorm.DB) error {
		if err := begin(tx); err != nil {
			return err
		}
		if err := l.endWhenSilent(tx, 24*time.Hour); err != nil { // the rows may come from a slow pipe
			return err
		}
		for chunk := first; len(chunk) > 0; {
			if err := each(tx, chunk); err != nil {
				return err
			}
			if chunk, err = pull(next, inChunk); err != nil {
				return err
			}
		}
		return nil
	})
}

// pull takes up to n values; the first error ends it.
func pull[T any](next func() (T, error, bool), n int) ([]T, error) {
	chunk := make([]T, 0, n)
	for len(chunk) < n {
		v, err, ok := next()
		if err != nil || !ok {
			return chunk, err
		}
		chunk = append(chunk, v)
	}
	return chunk, nil
}
