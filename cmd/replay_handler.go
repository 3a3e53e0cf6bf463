package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/callback"
	"paybook/ledger"
)

const (
	// replayTimeout is above the time a server takes for a callback at most.
	replayTimeout = 30 * time.Second
	rfc3339Nano   = time.RFC3339Nano
)

// replaySender sends to --target, or through a handler of our own over the book. finish ends the replay.
func (a *app) replaySender(ctx context.Context, target string, recordings []recording) (send sender, finish func() error, err error) {
	if target != "" {
		if u, err := url.Parse(target); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, nil, fmt.Errorf("--target %q: an address such as http://127.0.0.1:8080 expected", target)
		}
		return overHTTP(target), func() error { return nil }, nil
	}
	c, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	for _, rec := range recordings {
		if rec.account() == "" {
			return nil, nil, fmt.Errorf("%s: path %q names no account", rec.file, rec.Path)
		}
		if _, err := c.account(rec.account()); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", rec.file, err)
		}
	}
	book, err := a.openBook(ctx)
	if err != nil {
		return nil, nil, err
	}
	finish = func() error {
		_, err := book.Sweep(ctx)
		return errors.Join(err, book.Close())
	}
	return throughHandler(c, book), finish, nil
}

// throughHandler sends to the very handler that serves the world, in this process, at the recorded time.
func throughHandler(c *Config, book *ledger.Ledger) sender {
	var now time.Time
	var seen *callback.Observation
	server := &callback.Server{
		Book: book, BodyMax: c.BodyMax, Patience: replayTimeout,
		Now:     func() time.Time { return now },
		Observe: func(o callback.Observation) { seen = &o },
	}
	for _, account := range c.Accounts {
		server.Accounts = append(server.Accounts, callback.Account{Name: account.Name, Provider: account.Provider})
	}
	e := echo.New()
	server.Mount(e.Group(""))
	return func(ctx context.Context, rec recording) (answer, error) {
		req, err := rec.request(ctx, "http://replay.invalid")
		if err != nil {
			return answer{}, err
		}
		now, seen = rec.ReceivedAt, nil
		w := httptest.NewRecorder()
		e.ServeHTTP(w, req)
		return answer{status: w.Code, body: w.Body.String(), inside: seen}, nil
	}
}
