package cmd

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	readyFor      = time.Second     // an answer is used again for so long: probes must not add to the load
	readyPatience = 2 * time.Second // a database that takes longer is as good as away
)

// readiness knows whether we could record right now.
type readiness struct {
	check    func(context.Context) error
	log      *slog.Logger
	draining atomic.Bool

	mu   sync.Mutex // held while asking: many probes ask once
	at   time.Time
	err  error
	down bool
}

// now asks the database, unless it was asked within the last second.
func (r *readiness) now() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < readyFor {
		return r.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyPatience)
	defer cancel()
	r.err = r.check(ctx)
	r.at = time.Now()
	switch {
	case r.err != nil && !r.down:
		r.log.Error("not ready", "error", r.err.Error())
	case r.err == nil && r.down:
		r.log.Info("ready again")
	}
	r.down = r.err != nil
	return r.err
}

// answer is GET /readyz. Why the database is away is for the log, not for the world.
func (r *readiness) answer(c echo.Context) error {
	if r.draining.Load() {
		return echo.NewHTTPError(http.StatusServiceUnavailable, "shutting down")
	}
	if r.now() != nil {
		return echo.NewHTTPError(http.StatusServiceUnavailable, "the database cannot record right now")
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ready"})
}
