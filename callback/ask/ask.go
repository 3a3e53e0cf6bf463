// Package ask is how a provider's own API is called: answers are bounded in size, the context bounds the time, and no error holds a
// query string, a header or a body, which is where secrets travel. It knows no provider. What may be reached at all is decided by the
// client it is given; it never tries twice, as only its caller knows whether that is harmless.
package ask

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"paybook/models"
)

// Limits in bytes.
const (
	AnswerMax = 1 << 20  // of an answer that is held in memory: JSON or a form of a few kilobytes
	FileMax   = 16 << 30 // of a statement, some fifty million rows
)

// Method is the method of the evidence that a question leaves: no callback has it.
const Method = "QUERY"

// agent is sent as User-Agent; some providers refuse requests without one.
const agent = "paybook"

// Answer is what a provider answered, whatever its status.
type Answer struct {
	Host   string // that answered, for messages
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and reads its answer, of at most limit bytes. The error names the host, and wraps the cause.
func Do(client *http.Client, req *http.Request, limit int64) (Answer, error) {
	resp, err := send(client, req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	a := Answer{Host: req.URL.Host, Status: resp.StatusCode, Header: resp.Header}
	a.Body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("%s: the answer was cut off after %d bytes: %w", a.Host, len(a.Body), cause(err))
	case int64(len(a.Body)) > limit:
		return Answer{}, fmt.Errorf("%s: an answer longer than %d bytes", a.Host, limit)
	}
	return a, nil
}

func send(client *http.Client, req *http.Request) (*http.Response, error) {
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", agent)
	}
	resp, err := client.Do(req) //nolint:gosec // where it may lead is the client's to decide, and it is given one that does
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.URL.Host, cause(err))
	}
	return resp, nil
}

// cause takes away the wrapping that spells out the URL, whose query may be signed or hold a token.
func cause(err error) error {
	for {
		var wrapped *url.Error
		if !errors.As(err, &wrapped) {
			return err
		}
		err = wrapped.Err
	}
}

// OK is nil for status 200, else a *StatusError. Said is the provider's own code for what went wrong, "" when it gives none.
func (a Answer) OK(said string) error {
	if a.Status == http.StatusOK {
		return nil
	}
	return &StatusError{Host: a.Host, Status: a.Status, Said: said}
}

// StatusError is an answer by which nothing was learnt, in words for people.
type StatusError struct {
	Host   string
	Status int
	Said   string // the provider's own code for it, "" when it gives none
}

func (e *StatusError) Error() string {
	what := fmt.Sprintf("status %d%s", e.Status, quoted(e.Said))
	switch {
	case e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError:
		return e.Host + " is busy or out of order, " + what + ": ask again later"
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		return e.Host + " refuses us, " + what + ": check the account's key or password, and what it is allowed"
	}
	return e.Host + " answers " + what
}

func quoted(said string) string {
	const max = 64
	if said == "" {
		return ""
	}
	if len(said) > max {
		said = said[:max] + "…"
	}
	return fmt.Sprintf(" (%q)", said)
}

// Evidence is the answer as the book keeps it. path is the API's path, at the time of asking (UTC). What would let somebody else in as
// us is not kept.
func (a Answer) Evidence(path string, at time.Time) models.Callback {
	headers := a.Header.Clone()
	headers.Del("Set-Cookie")
	return models.Callback{Method: Method, Path: path, Headers: headers, Body: a.Body, ReceivedAt: at.UTC()}
}
