package callback

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// ErrNoAccount is the Err of a Result whose callback names an account that is not configured: nothing was done.
var ErrNoAccount = errors.New("no such account")

// Arrival is one callback as it came in, over HTTP or by a queue.
type Arrival struct {
	models.Callback                   // Account, Method, Path, Query, Headers, Body, Sender and ReceivedAt (UTC)
	Unread          *models.Rejection // why it could not be taken as it was sent; nil: it could
	Began           time.Time         // when it began to come in, for Observation.Took; zero: now
	RequestID       string            // for the log
}

// Result is what became of one callback, and what its sender is told.
type Result struct {
	Observation        // Status is the answer's
	ContentType string // of the answer
	Body        string // the answer, byte for byte
	Detail      string // refused: one line for people, without a secret or the body
	// Err is a failure of ours: of a genuine callback nothing is known to be stored, of a refused one the evidence is not. The same
	// callback again can be cured by it.
	Err error
}

// Receive is the one way into the book: it has the provider verify the callback, records what it says or keeps the refusal as evidence,
// and words the answer; success only after the commit. It takes Patience at most, and is safe for any number of goroutines.
func (s *Server) Receive(ctx context.Context, a Arrival) Result {
	s.prepare()
	start := a.Began
	if start.IsZero() {
		start = time.Now()
	}
	provider, ok := s.accounts[a.Account]
	if !ok {
		return Result{Err: ErrNoAccount}
	}
	if int64(len(a.Body)) > s.BodyMax {
		a.Body, a.Unread = nil, s.tooLarge()
	}
	r := Result{Observation: Observation{Account: a.Account}}
	if encoded(a.Headers) {
		s.refuseEncoded(provider, a, &r)
	} else {
		s.decide(ctx, provider, a, &r)
	}
	r.Took = time.Since(start)
	if s.Observe != nil {
		s.Observe(r.Observation)
	}
	return r
}

// Has says whether an account of this name is configured.
func (s *Server) Has(account string) bool {
	s.prepare()
	return s.accounts[account] != nil
}

// decide refuses or records.
func (s *Server) decide(ctx context.Context, p Provider, a Arrival, r *Result) {
	patient, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	if a.Unread != nil {
		s.refuse(ctx, p, a, a.Unread, r)
		return
	}
	events, err := verify(patient, p, a.Callback)
	var why *models.Rejection
	switch {
	case err == nil:
		s.record(ctx, patient, p, a, events, r)
	case errors.As(err, &why):
		s.refuse(ctx, p, a, why, r)
	default:
		s.Log.Log(ctx, failureLevel(ctx, err), "callback failed", "account", a.Account, "request_id", a.RequestID, "error", err.Error())
		r.Err = err
		r.answer(p, models.Answer{})
	}
}

// refuseEncoded answers a body that something has packed in the provider's own words for one it should not send like this. Nothing is
// kept: what is in it is not what was signed.
func (s *Server) refuseEncoded(p Provider, a Arrival, r *Result) {
	r.Reason, r.Detail = models.ReasonMalformed, "a Content-Encoding: callbacks are signed as sent, take it off on the way"
	r.answer(p, models.Answer{Reason: r.Reason})
	r.Status = http.StatusUnsupportedMediaType
	s.Log.Warn("callback refused", "account", a.Account, "reason", r.Reason, "detail", r.Detail, "status", r.Status, "remote", a.Sender, "request_id", a.RequestID)
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

// refuse answers a callback that was not accepted. The evidence is kept as well as can be, also when the caller is gone, which a
// cut-off body's is: nothing that a stranger can bring about is an error.
func (s *Server) refuse(ctx context.Context, p Provider, a Arrival, why *models.Rejection, r *Result) {
	r.Reason, r.Detail, r.Probe = why.Reason, why.Detail, why.Probe
	r.answer(p, models.Answer{Reason: why.Reason})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), evidenceTime)
	defer cancel()
	kept, err := s.Book.Reject(ctx, a.Callback, why, r.Status)
	r.Dropped, r.Err = !kept && err == nil, err
	level := slog.LevelWarn
	if r.Probe {
		level = slog.LevelInfo
	}
	s.Log.Log(ctx, level, "callback refused", "account", a.Account, "reason", why.Reason, "detail", why.Detail, "status", r.Status,
		"kept", kept, "remote", a.Sender, "request_id", a.RequestID)
	if err != nil {
		s.Log.Warn("refused callback not kept", "account", a.Account, "request_id", a.RequestID, "error", err.Error())
	}
}

// record books the events; success is answered only when they are committed.
func (s *Server) record(ctx, patient context.Context, p Provider, a Arrival, events []models.Event, r *Result) {
	outcomes, err := s.Book.Record(patient, a.Callback, events, func(outcome models.Outcome) int {
		status, _, _ := p.Reply(models.Answer{Outcome: outcome})
		return status
	})
	if err != nil {
		s.Log.Log(ctx, failureLevel(ctx, err), "callback not recorded", "account", a.Account, "event", first(events).Kind,
			"transaction_id", first(events).TransactionID, "request_id", a.RequestID, "error", err.Error())
		r.Err = err
		r.answer(p, models.Answer{})
		return
	}
	r.Outcome, r.Events, r.Outcomes = ledger.Worst(outcomes), events, outcomes
	r.answer(p, models.Answer{Outcome: r.Outcome})
	level := slog.LevelInfo
	if r.Outcome == models.OutcomeApplied || r.Outcome == models.OutcomeDuplicate {
		level = slog.LevelDebug // the book has it; what went as it should is no news
	}
	if s.Log.Enabled(ctx, level) {
		s.Log.Log(ctx, level, "callback recorded", "account", a.Account, "outcome", r.Outcome, "event", events[0].Kind,
			"transaction_id", events[0].TransactionID, "order_id", events[0].OrderID, "request_id", a.RequestID)
	}
}

// first is the event that the log names; a provider that returns none has broken its promise, and must not stop us.
func first(events []models.Event) models.Event {
	if len(events) == 0 {
		return models.Event{}
	}
	return events[0]
}

// failureLevel is WARN when the caller went away before we were done; it will send again, and our own Patience was not used up.
func failureLevel(caller context.Context, err error) slog.Level {
	if errors.Is(err, context.Canceled) && caller.Err() != nil {
		return slog.LevelWarn
	}
	return slog.LevelError
}

// answer puts what happened into the provider's own words.
func (r *Result) answer(p Provider, a models.Answer) {
	r.Status, r.ContentType, r.Body = p.Reply(a)
}
