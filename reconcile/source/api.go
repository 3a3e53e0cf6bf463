package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// API is a provider's own download API. hosts are where it lives, for the check; client must reach nothing else.
func API(provider string, fetcher reconcile.Fetcher, client *http.Client, hosts []string) Remote {
	return &api{"api " + provider, fetcher, client, hosts}
}

type api struct {
	name    string
	fetcher reconcile.Fetcher
	client  *http.Client
	hosts   []string
}

func (a *api) String() string { return a.name }

// Fetch implements Remote. What the provider saves counts only when it has found all its promises kept, at its end.
func (a *api) Fetch(ctx context.Context, day reconcile.Day, now time.Time, save Save) error {
	return a.fetcher.FetchStatement(ctx, a.client, day.Date(), now, func(name string, r io.Reader) error {
		return save(File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }})
	})
}

// Check implements Remote: every host answers, whatever it says to a question that means nothing.
func (a *api) Check(ctx context.Context) error {
	for _, host := range a.hosts {
		req, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://"+host+"/", nil)
		if err != nil {
			return fmt.Errorf("%s: %w", host, err)
		}
		resp, err := a.client.Do(req)
		var plain tls.RecordHeaderError
		switch {
		case err == nil:
			_ = resp.Body.Close() // nothing of it is read
		case errors.As(err, &plain): // it answers, in plain HTTP
		default:
			return fmt.Errorf("%s does not answer: %w", host, err)
		}
	}
	return nil
}

// notReady is what a place without a file of the day says.
func notReady(format string, args ...any) error {
	return &models.NotReady{What: fmt.Sprintf(format, args...)}
}
