package queue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"paybook/ledger"
)

const (
	openFor     = time.Second     // an answer of the book is used again for so long
	askPatience = 2 * time.Second // a book that takes longer is as good as away
	// failingWait is longer than the time for which one failed commit makes the book say that it is failing: then it tells the truth again.
	failingWait = 7 * time.Second
)

// gate knows whether the book could record right now. While it could not, nothing is fetched: each delivery counts.
type gate struct {
	ask func(context.Context) error
	log *slog.Logger

	mu   sync.Mutex
	at   time.Time
	err  error
	shut bool
}

// open asks the book, unless it was asked a moment ago.
func (g *gate) open(ctx context.Context) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at.IsZero() || time.Since(g.at) >= openFor {
		asking, cancel := context.WithTimeout(ctx, askPatience)
		defer cancel()
		g.err = g.ask(asking)
		g.at = time.Now()
	}
	if ctx.Err() != nil {
		return false
	}
	switch {
	case g.err != nil && !g.shut:
		g.log.Warn("queue waits: the book cannot record", "error", g.err.Error())
	case g.err == nil && g.shut:
		g.log.Info("queue goes on: the book can record again")
	}
	g.shut = g.err != nil
	return !g.shut
}

// doubt makes the next open ask: something has just failed.
func (g *gate) doubt() {
	g.mu.Lock()
	g.at = time.Time{}
	g.mu.Unlock()
}

// sound says whether the book works, apart from what has just failed: then that is the message's fault. It waits until the failure
// itself no longer speaks for the book.
func (g *gate) sound(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, failingWait)
	defer cancel()
	for {
		err := g.ask(ctx)
		if !errors.Is(err, ledger.ErrFailing) {
			return err == nil
		}
		sleep(ctx, failingWait/20)
		if ctx.Err() != nil {
			return false
		}
	}
}
