package paypal

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"paybook/models"
)

// Limits of downloads. The URL comes from a stranger until the signature is proven, so nothing about it may grow.
const (
	downloadTime    = 5 * time.Second
	downloadMax     = 64 << 10 // bytes; a chain has less than ten thousand
	downloadsMax    = 8        // at once
	knownMax        = 64       // certificates kept; PayPal uses a handful
	failedMax       = 256      // URLs remembered for having failed
	refusedRest     = time.Minute
	unreachableRest = 5 * time.Second
)

// downloads fetches certificates, each URL once however many callbacks wait for it, and keeps them. It reads no clock: a
// failure is forgotten by the times of the callbacks that ask.
type downloads struct {
	client *http.Client

	mu      sync.Mutex
	known   map[string]*certificate // by URL
	failed  map[string]failure      // by URL, or by host where the network failed
	running map[string]*download
}

// failure is asked again only after a rest.
type failure struct {
	of   string // URL or host
	err  error
	at   time.Time
	rest time.Duration
}

type download struct {
	done chan struct{} // closed when what follows is set
	cert *certificate
	err  error
}

// internet is how certificates are really fetched.
func internet() http.RoundTripper {
	return &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true, DisableCompression: true, MaxResponseHeaderBytes: downloadMax, IdleConnTimeout: time.Minute,
	}
}

func newDownloads(transport http.RoundTripper) *downloads {
	return &downloads{
		client: &http.Client{
			Transport: transport, Timeout: downloadTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		known: map[string]*certificate{}, failed: map[string]failure{}, running: map[string]*download{},
	}
}

// get returns the certificate of a URL that was found to be allowed. A rejection means that there is none; any other error
// that we could not tell.
func (d *downloads) get(ctx context.Context, url string, at time.Time) (*certificate, error) {
	d.mu.Lock()
	if c := d.known[url]; c != nil && !at.After(c.leaf.NotAfter) { // one that has ended may have been renewed in its place
		d.mu.Unlock()
		return c, nil
	}
	run, err := d.join(ctx, url, at)
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case <-run.done:
		return run.cert, run.err
	case <-ctx.Done():
		return nil, fmt.Errorf("certificate: %w", ctx.Err())
	}
}

// join is the download of a URL that is under way, or begins it. It outlives the callback that asked first: others wait for it.
func (d *downloads) join(ctx context.Context, url string, at time.Time) (*download, error) {
	for _, name := range []string{url, hostOf(url)} {
		if f, ok := d.failed[name]; ok && at.Sub(f.at).Abs() < f.rest {
			return nil, f.err
		}
	}
	if run := d.running[url]; run != nil {
		return run, nil
	}
	if len(d.running) >= downloadsMax {
		return nil, errors.New("certificate: too many are being downloaded")
	}
	run := &download{done: make(chan struct{})}
	d.running[url] = run
	go d.run(context.WithoutCancel(ctx), run, url, at)
	return run, nil
}

func (d *downloads) run(ctx context.Context, run *download, url string, at time.Time) {
	cert, failed := d.fetch(ctx, url, at)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.running, url)
	if failed != nil {
		failed.at, run.err = at, failed.err
		put(d.failed, failed.of, *failed, failedMax)
	} else {
		run.cert = cert
		put(d.known, url, cert, knownMax)
	}
	close(run.done)
}

// put forgets everything rather than grow: what is needed again is fetched again.
func put[V any](m map[string]V, key string, value V, limit int) {
	if len(m) >= limit {
		clear(m)
	}
	m[key] = value
}

// fetch asks once. An unreachable host, or one that is out of order, says nothing about the callback; any other answer than a
// certificate says that it is not PayPal's.
func (d *downloads) fetch(ctx context.Context, url string, at time.Time) (*certificate, *failure) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, refused(url, "the certificate's URL can't be asked for")
	}
	answer, err := d.client.Do(req)
	if err != nil {
		return nil, unreachable(hostOf(url), err) // the host rests: no other URL of it would do better
	}
	defer answer.Body.Close()
	switch status := answer.StatusCode; {
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return nil, unreachable(url, fmt.Errorf("%s answers %d", url, status))
	case status != http.StatusOK:
		return nil, refused(url, "the certificate's URL answers %d, no certificate", status)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, downloadMax+1))
	if err != nil {
		return nil, unreachable(url, err)
	}
	if len(raw) > downloadMax {
		return nil, refused(url, "the certificate's URL answers more than %d bytes", downloadMax)
	}
	certs, err := parseCertificates(raw)
	if err != nil {
		return nil, refused(url, "the certificate's URL answers something else: %v", err)
	}
	if end := certs[0].NotAfter; at.After(end) {
		return nil, refused(url, "the certificate ended on %s", end.UTC().Format(time.DateOnly))
	}
	return newCertificate(certs), nil
}

func unreachable(of string, err error) *failure {
	return &failure{of: of, err: fmt.Errorf("download certificate: %w", err), rest: unreachableRest}
}

func refused(url, format string, args ...any) *failure {
	return &failure{of: url, err: reject(models.ReasonCertificate, format, args...), rest: refusedRest}
}

// hostOf is the host of a URL that was found to be allowed.
func hostOf(url string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, certScheme), "/")
	return host
}
