package queue

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	openFor     = time.Second     // an answer of the book is used again for so long
	askPatience = 2 * time.Second // a book that takes longer is as good as away
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

// open asks the book, unless it was asked a moment ago; also at the end, when what is there shall still be booked.
func (g *gate) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at.IsZero() || time.Since(g.at) >= openFor {
		asking, cancel := context.WithTimeout(context.Background(), askPatience)
		defer cancel()
		g.err = g.ask(asking)
		g.at = time.Now()
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

// wait returns true when the book can record, and false when ctx ends before.
func (g *gate) wait(ctx context.Context) bool {
	for !g.open() {
		if ctx.Err() != nil {
			return false
		}
		sleep(ctx, openFor/4)
	}
	return true
}

// doubt asks at once, because something has just failed. True: the book works all the same.
func (g *gate) doubt() bool {
	g.mu.Lock()
	g.at = time.Time{}
	g.mu.Unlock()
	return g.open()
}
