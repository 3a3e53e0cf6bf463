// Package callback receives what providers send: it takes the request as it came, has the provider prove it genuine, hands it to
// the ledger, and answers in the provider's own words, success only after the commit.
//
// A provider's own knowledge lies in a folder of its name below; those folders import models and parse only.
package callback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/ledger"
	"paybook/models"
)

// BodyMax is the default limit of a callback's body: providers send a few kilobytes, and 900 KiB has been seen.
const BodyMax = 1 << 20

// Patience is the default time for one callback, below the shortest limit of a provider (5 s).
const Patience = 4500 * time.Millisecond

// evidenceTime bounds how long a refusal waits for its evidence: a forger must not wait on our database, nor make it wait.
const evidenceTime = time.Second

// Account is one configured account: its route is POST /callbacks/{Name}.
type Account struct {
	Name     string
	Provider Provider
}

// Server answers the callback routes.
type Server struct {
	Book     *ledger.Ledger
	Accounts []Account
	Now      func() time.Time // the clock; nil: time.Now
	BodyMax  int64            // bytes; 0: BodyMax
	Patience time.Duration    // from the last byte of the body on; 0: Patience
	Log      *slog.Logger     // nil: discard
	// ReplayClock takes the time of a request from its header App-Received-At, if it has one: for recordings, never for the world.
	ReplayClock bool
	// Observe, if set, is told of every callback, for metrics.
	Observe func(Observation)

	accounts map[string]Provider
}

// Observation is one callback as metrics count it. Account is a configured name, never text from outside.
type Observation struct {
	Account string
	Outcome models.Outcome // "" when refused or failed
	Reason  models.Reason  // "" unless refused
	Status  int
	Took    time.Duration
	Probe   bool // refused, but a provider's known probe: no reason for an alarm
	Dropped bool // refused, and not kept as evidence: the bound was reached
	// Events is what it said, and Outcomes what became of each; nil when it was refused. For replay and evidence, not for metrics.
	Events   []models.Event
	Outcomes []models.Outcome
}

// ReplayHeader carries the time of a request for a server with ReplayClock.
const ReplayHeader = "App-Received-At"

// Mount registers the routes. Every method arrives at receive, which answers what is no POST itself.
func (s *Server) Mount(g *echo.Group) {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.BodyMax == 0 {
		s.BodyMax = BodyMax
	}
	if s.Patience == 0 {
		s.Patience = Patience
	}
	s.accounts = map[string]Provider{}
	for _, a := range s.Accounts {
		s.accounts[a.Name] = a.Provider
	}
	for _, path := range []string{"/callbacks/:account", "/callbacks/:account/"} { // no redirect: a provider does not follow it
		g.Any(path, s.receive)
		g.RouteNotFound(path, s.receive) // methods that echo has never heard of
	}
}

// receive is the whole way of a callback.
func (s *Server) receive(c echo.Context) error {
	start := time.Now()
	account := accountOf(c.Request())
	provider, ok := s.accounts[account]
	if !ok {
		return echo.NewHTTPError(http.StatusNotFound, "no such account")
	}
	if c.Request().Method != http.MethodPost {
		if done, err := challenged(c, provider); done {
			return err
		}
		c.Response().Header().Set(echo.HeaderAllow, http.MethodPost)
		return c.NoContent(http.StatusMethodNotAllowed)
	}
	if encoded(c.Request().Header) {
		return s.refuseEncoded(c, provider, account)
	}
	cb, err := s.take(c, account)
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.Patience) // only now: a slow body is not the book's fault
	defer cancel()
	var events []models.Event
	if err == nil {
		events, err = verify(ctx, provider, cb)
	}
	o := Observation{Account: account}
	if err != nil {
		o.Status, err = s.refuse(c, provider, cb, err, &o)
	} else {
		o.Status, err = s.record(ctx, c, provider, cb, events, &o)
	}
	o.Took = time.Since(start)
	if s.Observe != nil {
		s.Observe(o)
	}
	return err
}

// challenged answers a provider's check of the address, where the account has one.
func challenged(c echo.Context, p Provider) (done bool, err error) {
	challenger, ok := p.(Challenger)
	req := c.Request()
	if !ok || req.Method != http.MethodGet && req.Method != http.MethodHead {
		return false, nil
	}
	status, contentType, body, ok := challenger.Challenge(models.Callback{Method: req.Method, Path: req.URL.Path, Query: req.URL.RawQuery, Headers: req.Header})
	if !ok {
		return false, nil
	}
	c.Response().Header().Set(echo.HeaderXContentTypeOptions, "nosniff") // an echo is a stranger's text
	return true, send(c, status, contentType, body)
}

// accountOf is the account the path names, percent-decoded once. Echo's own parameter is decoded or not, depending on how the path
// is spelled (/strip%65), and is lost with a method that echo does not know.
func accountOf(req *http.Request) string {
	_, name, _ := strings.Cut(req.URL.Path, "/callbacks/")
	return strings.TrimSuffix(name, "/")
}

// encoded is true when any Content-Encoding, in any of its lines, is not identity.
func encoded(h http.Header) bool {
	for _, line := range h.Values(echo.HeaderContentEncoding) {
		for enc := range strings.SplitSeq(line, ",") {
			if enc = strings.TrimSpace(enc); enc != "" && !strings.EqualFold(enc, "identity") {
				return true
			}
		}
	}
	return false
}

// refuseEncoded answers a body that something has packed in the provider's own words for one it should not send like this. Nothing is
// kept: what is in it is not what was signed.
func (s *Server) refuseEncoded(c echo.Context, p Provider, account string) error {
	s.Log.Warn("callback refused", "account", account, "reason", models.ReasonMalformed, "detail", "a Content-Encoding: callbacks are signed as sent, take it off on the way",
		"status", http.StatusUnsupportedMediaType, "remote", c.RealIP(), "request_id", requestID(c))
	if s.Observe != nil {
		s.Observe(Observation{Account: account, Reason: models.ReasonMalformed, Status: http.StatusUnsupportedMediaType})
	}
	_, contentType, body := p.Reply(models.Answer{Reason: models.ReasonMalformed})
	return send(c, http.StatusUnsupportedMediaType, contentType, body)
}

// take reads the request once, byte for byte, before anything else can.
func (s *Server) take(c echo.Context, account string) (models.Callback, error) {
	req := c.Request()
	cb := models.Callback{Account: account, Method: req.Method, Path: req.URL.Path, Query: req.URL.RawQuery, Headers: req.Header.Clone(), ReceivedAt: s.Now().UTC(),
		Sender: c.RealIP()}
	if _, told := req.Header[ReplayHeader]; s.ReplayClock && told {
		at, err := time.Parse(time.RFC3339Nano, req.Header.Get(ReplayHeader))
		if err != nil {
			return cb, &models.Rejection{Reason: models.ReasonMalformed, Detail: "header " + ReplayHeader + ": an RFC 3339 time expected"}
		}
		cb.ReceivedAt, cb.Sender = at.UTC(), "" // a recording
		cb.Headers.Del(ReplayHeader)
	}
	tooLarge := &models.Rejection{Reason: models.ReasonTooLarge, Detail: fmt.Sprintf("the body is larger than %d bytes", s.BodyMax)}
	if req.ContentLength > s.BodyMax {
		c.Response().Header().Set(echo.HeaderConnection, "close")
		return cb, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), req.Body, s.BodyMax))
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return cb, tooLarge
	case err != nil: // cut off: what came is not what was signed
		return cb, &models.Rejection{Reason: models.ReasonMalformed, Detail: "the body was cut off"}
	}
	cb.Body = body
	return cb, nil
}

// verify asks the provider. What a stranger sends must not be able to stop the server, whatever a provider's code does with it.
func verify(ctx context.Context, p Provider, cb models.Callback) (events []models.Event, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("verify panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return p.Verify(ctx, cb)
}

// refuse answers a callback that was not accepted; an error that is no Rejection is a failure of ours. The evidence is kept as
// well as can be, also when the caller is gone, which a cut-off body's is: nothing that a stranger can bring about is an error.
func (s *Server) refuse(c echo.Context, p Provider, cb models.Callback, err error, o *Observation) (int, error) {
	var why *models.Rejection
	if !errors.As(err, &why) {
		s.Log.Log(c.Request().Context(), failureLevel(c, err), "callback failed", "account", cb.Account, "request_id", requestID(c), "error", err.Error())
		return s.answer(c, p, models.Answer{})
	}
	o.Reason, o.Probe = why.Reason, why.Probe
	status, contentType, body := p.Reply(models.Answer{Reason: why.Reason})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), evidenceTime)
	defer cancel()
	kept, keepErr := s.Book.Reject(ctx, cb, why, status)
	o.Dropped = !kept && keepErr == nil
	level := slog.LevelWarn
	if o.Probe {
		level = slog.LevelInfo
	}
	s.Log.Log(ctx, level, "callback refused", "account", cb.Account, "reason", why.Reason, "detail", why.Detail, "status", status,
		"kept", kept, "remote", c.RealIP(), "request_id", requestID(c))
	if keepErr != nil {
		s.Log.Warn("refused callback not kept", "account", cb.Account, "request_id", requestID(c), "error", keepErr.Error())
	}
	return status, send(c, status, contentType, body)
}

// record books the events; success is answered only when they are committed.
func (s *Server) record(ctx context.Context, c echo.Context, p Provider, cb models.Callback, events []models.Event, o *Observation) (int, error) {
	outcomes, err := s.Book.Record(ctx, cb, events, func(outcome models.Outcome) int {
		status, _, _ := p.Reply(models.Answer{Outcome: outcome})
		return status
	})
	if err != nil {
		s.Log.Log(ctx, failureLevel(c, err), "callback not recorded", "account", cb.Account, "event", events[0].Kind, "transaction_id", events[0].TransactionID,
			"request_id", requestID(c), "error", err.Error())
		return s.answer(c, p, models.Answer{})
	}
	o.Outcome, o.Events, o.Outcomes = ledger.Worst(outcomes), events, outcomes
	level := slog.LevelInfo
	if o.Outcome == models.OutcomeApplied || o.Outcome == models.OutcomeDuplicate {
		level = slog.LevelDebug // the book has it; what went as it should is no news
	}
	if !s.Log.Enabled(ctx, level) {
		return s.answer(c, p, models.Answer{Outcome: o.Outcome})
	}
	s.Log.Log(ctx, level, "callback recorded", "account", cb.Account, "outcome", o.Outcome, "event", events[0].Kind,
		"transaction_id", events[0].TransactionID, "order_id", events[0].OrderID, "request_id", requestID(c))
	return s.answer(c, p, models.Answer{Outcome: o.Outcome})
}

// failureLevel is WARN when the caller went away before we were done; it will send again, and our own Patience was not used up.
func failureLevel(c echo.Context, err error) slog.Level {
	if errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil {
		return slog.LevelWarn
	}
	return slog.LevelError
}

func (s *Server) answer(c echo.Context, p Provider, a models.Answer) (int, error) {
	status, contentType, body := p.Reply(a)
	return status, send(c, status, contentType, body)
}

// send writes exactly these bytes: some providers compare them.
func send(c echo.Context, status int, contentType, body string) error {
	if body == "" {
		return c.NoContent(status)
	}
	return c.Blob(status, contentType, []byte(body))
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }
