package ledger

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quiet passes warnings and errors on, and the same one once a minute: while the database is away the queue complains with every poll.
type quiet struct {
	slog.Handler
	said *said
}

type said struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newSaid() *said { return &said{at: map[string]time.Time{}} }

// Enabled implements slog.Handler.
func (q *quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (q *quiet) Handle(ctx context.Context, r slog.Record) error {
	q.said.mu.Lock()
	again := r.Time.Sub(q.said.at[r.Message]) < time.Minute
	if !again {
		q.said.at[r.Message] = r.Time
	}
	q.said.mu.Unlock()
	if again {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (q *quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quiet{q.Handler.WithAttrs(attrs), q.said}
}

// WithGroup implements slog.Handler.
func (q *quiet) WithGroup(name string) slog.Handler { return &quiet{q.Handler.WithGroup(name), q.said} }
