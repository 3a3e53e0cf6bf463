package cmd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"paybook/callback"
	"paybook/callback/queue"
	"paybook/ledger"
	"paybook/ledger/redisgate"
	"paybook/ledger/shop"
)

// sweepEvery is how often parked events are tried again: one can slip between two commits.
const sweepEvery = 2 * time.Second

// service is a running server: the routes, and what runs beside them.
type service struct {
	conf        *Config
	book        *ledger.Ledger
	log         *slog.Logger
	metrics     *metrics
	now         func() time.Time
	ready       *readiness
	replayClock bool
	drain       time.Duration
	flash       *redisgate.Flash           // nil: no flash sale
	watch       func(callback.Observation) // told of every callback beside the metrics; nil: nobody
	queue       *queue.Consumer            // nil: HTTP only
	chores      []ledger.Chore
	listener    listener
}

func newService(conf *Config, book *ledger.Ledger, log *slog.Logger, m *metrics, now func() time.Time) *service {
	s := &service{conf: conf, book: book, log: log, metrics: m, now: now, drain: drainMax}
	s.ready = &readiness{check: book.Ready, log: log}
	m.watch(s.ready)
	return s
}

// callbacks are the routes that providers call.
func (s *service) callbacks() *callback.Server {
	server := &callback.Server{
		Book: s.book, Now: s.now, BodyMax: s.conf.BodyMax, Log: s.log, ReplayClock: s.replayClock,
		Observe: func(o callback.Observation) {
			s.metrics.observe(o)
			s.listener.hear(o, s.now())
			if s.watch != nil {
				s.watch(o)
			}
		},
	}
	for _, a := range s.conf.Accounts {
		server.Accounts = append(server.Accounts, callback.Account{Name: a.Name, Provider: a.Provider})
	}
	return server
}

// shop are the routes that the shop's own back end calls.
func (s *service) shop() *shop.Server {
	server := &shop.Server{
		Book: s.book, Keys: s.conf.APIKeys, Now: s.now, Log: s.log, PaymentWindow: s.conf.PaymentWindow, TokenLife: s.conf.TokenLife,
		Observe: s.metrics.shop,
	}
	if s.flash != nil {
		server.Fast = s.flash
	}
	return server
}

// run serves until ctx ends, and then stops in an order in which no callback is lost: not ready, so that the balancer sends no
// more; the door closed; what is in flight answered. admin may be nil. The book stays open.
func (s *service) run(ctx context.Context, public, admin net.Listener) error {
	failed := make(chan error, 2)
	servers := []*http.Server{s.start(public, s.publicRoutes(admin != nil), failed)}
	if admin != nil {
		servers = append(servers, s.start(admin, s.adminRoutes(), failed))
	}
	jobs, stopJobs := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { s.sweep(jobs) })
	running.Go(func() {
		if err := s.book.Work(jobs, append(s.inquiries(), s.chores...)...); err != nil {
			s.log.Error("job queue", "error", err.Error())
		}
	})
	running.Go(func() { s.listener.run(jobs, s) })
	if s.flash != nil {
		running.Go(func() { s.flash.Run(jobs) })
	}
	consuming, stopConsuming := context.WithCancel(ctx) // ends with ctx at once: no balancer has to notice
	defer stopConsuming()
	running.Go(func() { s.takeFromQueue(consuming) })
	var err error
	select {
	case <-ctx.Done():
		s.log.Info("stopping", "delay", s.conf.ShutdownDelay.String())
		s.ready.draining.Store(true)
		time.Sleep(s.conf.ShutdownDelay)
	case err = <-failed:
	}
	s.stop(servers)
	stopConsuming()
	stopJobs()
	running.Wait()
	return err
}

// takeFromQueue runs beside the routes. What it finds wrong later than at the start does not end them.
func (s *service) takeFromQueue(ctx context.Context) {
	if s.queue == nil {
		return
	}
	if err := s.queue.Run(ctx); err != nil {
		s.log.Error("queue not taken from", "error", err.Error())
	}
}

func (s *service) start(ln net.Listener, routes http.Handler, failed chan<- error) *http.Server {
	server := &http.Server{
		Handler:           routes,
		ReadHeaderTimeout: 5 * time.Second, // half a header must not hold a connection
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      15 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // what strangers do wrong below HTTP
	}
	go func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
	return server
}

func (s *service) stop(servers []*http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), s.drain)
	defer cancel()
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			s.log.Warn("connections cut at the end", "after", s.drain.String(), "error", err.Error())
			_ = server.Close() // closing the listener twice is no news
		}
	}
	s.log.Info("stopped")
}

// sweep applies what is parked. While the database is away it says so once.
func (s *service) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		applied, err := s.book.Tend(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			s.log.Error("sweep of parked events failed", "error", err.Error())
		case err == nil && failing:
			s.log.Info("sweep of parked events works again")
		}
		if failing = err != nil; applied > 0 {
			s.log.Info("parked events applied", "count", applied)
		}
	}
}
