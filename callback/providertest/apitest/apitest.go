// Package apitest is what the tests of providers' APIs share: a client, a place for what is saved, faults to put in front of a
// stand-in, and the check that a question and a callback about one movement are one row of the book.
package apitest

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

// Client is a client without the guard, which has tests of its own. Its time limit is no measurement.
func Client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

// Serve is a stand-in for a provider's API.
func Serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// Saved keeps what a download hands over.
type Saved struct {
	Names []string
	Files map[string]string
}

// Save is for FetchStatement.
func (s *Saved) Save(name string, r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.Files == nil {
		s.Files = map[string]string{}
	}
	s.Names = append(s.Names, name)
	s.Files[name] = string(raw)
	return nil
}

// Fault is a way in which a service fails, whatever it was asked.
type Fault struct {
	Name   string
	Answer http.HandlerFunc
	Says   string // part of the error
}

// Faults are those that each provider's calls must survive with an error that tells to try again or to look, and nothing learnt.
func Faults() []Fault {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>sorry</html>", code) }
	}
	return []Fault{
		{"busy", status(http.StatusTooManyRequests), "ask again later"},
		{"broken", status(http.StatusInternalServerError), "ask again later"},
		{"gateway", status(http.StatusBadGateway), "ask again later"},
		{"away", status(http.StatusServiceUnavailable), "ask again later"},
		{"refused", status(http.StatusUnauthorized), "refuses us"},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"half":`)
		}, "cut off"},
		{"huge", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 2<<20))
		}, "longer than"},
	}
}

// Secretless fails if an error holds one of the secrets.
func Secretless(t *testing.T, err error, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		if err != nil && secret != "" && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), url.QueryEscape(secret))) {
			t.Errorf("the error holds %.12q…: %v", secret, err)
		}
	}
}

// NotReady says whether an error is one.
func NotReady(err error) bool {
	var not *models.NotReady
	return errors.As(err, &not)
}

// CannotAsk says whether an error is one.
func CannotAsk(err error) bool {
	var cannot *models.CannotAsk
	return errors.As(err, &cannot)
}

// Refused is the reason of a rejection, "" for any other error.
func Refused(err error) models.Reason {
	var refused *models.Rejection
	if !errors.As(err, &refused) {
		return ""
	}
	return refused.Reason
}
