package callback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/time/rate"

	"paybook/ledger"
	"paybook/models"
)

// Inquirer asks providers what became of orders that stay unpaid after the buyer was sent there, of payments that stay pending, and of
// messages that only say where to look. What it learns goes the way of a callback: verified, kept as evidence, recorded.
type Inquirer struct {
	Book      *ledger.Ledger
	Accounts  []Account                         // those whose provider is a Querier are asked
	Elsewhere func(account string) bool         // whose orders are not kept here: not asked about ours; nil: none
	Client    func(hosts []string) *http.Client // makes the client that reaches these hosts and no other
	Now       func() time.Time                  // nil: time.Now
	Log       *slog.Logger                      // nil: discard
	GiveUp    time.Duration                     // after it nobody is asked any more; 0: a day
	PerSecond int                               // questions to one account; 0: 2

	once  sync.Once
	asked map[string]*asked
}

// asked is one account that can be asked.
type asked struct {
	account   string
	elsewhere bool
	querier   Querier
	client    *http.Client
	limit     *rate.Limiter
	breaker   *gobreaker.CircuitBreaker[heard]
}

// heard is what a provider has said.
type heard struct {
	callback models.Callback
	events   []models.Event
	why      *models.Rejection // it has answered, and the answer is not proven genuine
}

// Heard is what came of one question. Of Err, Refused and Events one at most says something; none: the provider does not know it, or
// nothing has moved.
type Heard struct {
	Account  string
	Events   []models.Event
	Outcomes []models.Outcome // one for each event
	Refused  *models.Rejection
	Err      error // nothing was learnt
}

// Words are one line for people, without anything of the answer that could be secret.
func (h Heard) Words() string {
	switch {
	case h.Err != nil:
		return h.Err.Error()
	case h.Refused != nil:
		return h.Refused.Error()
	case len(h.Events) == 0:
		return "nothing known, or nothing has moved"
	}
	var words []string
	for n, ev := range h.Events {
		words = append(words, fmt.Sprintf("%s: %s", ev.Kind, h.Outcomes[n]))
	}
	return strings.Join(words, ", ")
}

const (
	questionTime      = 20 * time.Second // of one question
	inquiriesAtOnce   = 200              // of one round
	inquiryFirstPause = time.Minute      // then twice as long each time
	inquiryLongest    = time.Hour
	failuresInARow    = 5 // then a provider is left alone
	breakerRest       = time.Minute
)

func (q *Inquirer) prepare() {
	q.once.Do(func() {
		q.GiveUp, q.PerSecond = cmp.Or(q.GiveUp, 24*time.Hour), cmp.Or(q.PerSecond, 2)
		if q.Now == nil {
			q.Now = time.Now
		}
		if q.Log == nil {
			q.Log = slog.New(slog.DiscardHandler)
		}
		q.asked = map[string]*asked{}
		for _, a := range q.Accounts {
			if querier, ok := a.Provider.(Querier); ok {
				q.asked[a.Name] = q.newAsked(a, querier)
			}
		}
	})
}

func (q *Inquirer) newAsked(a Account, querier Querier) *asked {
	var hosts []string
	if out, ok := a.Provider.(Outgoing); ok {
		hosts = out.Hosts()
	}
	return &asked{
		account: a.Name, elsewhere: q.Elsewhere != nil && q.Elsewhere(a.Name), querier: querier, client: q.Client(hosts),
		limit: rate.NewLimiter(rate.Limit(q.PerSecond), max(1, q.PerSecond)),
		breaker: gobreaker.NewCircuitBreaker[heard](gobreaker.Settings{
			Timeout:     breakerRest,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresInARow },
			IsExcluded:  saysNothing,
			OnStateChange: func(_ string, _, to gobreaker.State) {
				if to == gobreaker.StateOpen {
					q.Log.Warn("provider does not answer questions: left alone for a while", "account", a.Name, "rest", breakerRest.String())
				}
			},
		}),
	}
}

// errLeftAlone is that nobody was asked.
var errLeftAlone = errors.New("it has not answered lately and is left alone for up to " + breakerRest.String())

// saysNothing is an error that says nothing of the provider's health.
func saysNothing(err error) bool {
	return errors.As(err, new(*models.CannotAsk)) || errors.Is(err, context.Canceled)
}

// CanAskAny says whether any account's provider can be asked.
func (q *Inquirer) CanAskAny() bool { q.prepare(); return len(q.asked) > 0 }

// Ask puts one question to an account, and records what it learns.
func (q *Inquirer) Ask(ctx context.Context, account string, question models.Query) Heard {
	q.prepare()
	h := Heard{Account: account}
	a := q.asked[account]
	if a == nil {
		h.Err = &models.CannotAsk{What: "the provider of account " + account + " answers no questions"}
		return h
	}
	if h.Err = a.limit.Wait(ctx); h.Err != nil {
		return h
	}
	question.Asked = q.Now().UTC()
	said, err := a.ask(ctx, question)
	if err == nil && said.why == nil {
		said.why = misses(question, said.events)
	}
	said.callback.Account, said.callback.ReceivedAt = account, question.Asked
	switch {
	case err != nil:
		h.Err = err
	case said.why != nil:
		h.Refused = said.why
		_, h.Err = q.Book.Reject(ctx, said.callback, said.why, 0)
	case len(said.events) > 0:
		h.Events = said.events
		h.Outcomes, h.Err = q.Book.Record(ctx, said.callback, said.events, func(models.Outcome) int { return 0 }) // nobody is answered
	}
	q.tell(ctx, question, h)
	return h
}

// ask goes through the breaker. An answer that is not genuine is an answer all the same.
func (a *asked) ask(ctx context.Context, question models.Query) (heard, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	said, err := a.breaker.Execute(func() (said heard, err error) {
		defer func() {
			if p := recover(); p != nil { // an answer must not be able to stop the server
				err = fmt.Errorf("reading the answer panicked: %v", p)
			}
		}()
		said.callback, said.events, err = a.querier.Query(ctx, a.client, question)
		if errors.As(err, &said.why) {
			err = nil
		}
		return said, err
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		err = errLeftAlone
	}
	return said, err
}

// misses refuses an answer that is about another order than was asked about.
func misses(question models.Query, events []models.Event) *models.Rejection {
	for _, ev := range events {
		if question.OrderID != "" && ev.OrderID != "" && ev.OrderID != question.OrderID {
			return &models.Rejection{Reason: models.ReasonMalformed, Detail: "the answer is about another order than was asked about"}
		}
	}
	return nil
}

func (q *Inquirer) tell(ctx context.Context, question models.Query, h Heard) {
	level := slog.LevelInfo
	switch {
	case h.Refused != nil:
		level = slog.LevelWarn
	case h.Err != nil && saysNothing(h.Err):
		level = slog.LevelDebug
	}
	q.Log.Log(ctx, level, "provider asked", "account", h.Account, "order_id", question.OrderID, "transaction_id", question.TransactionID, "answer", h.Words())
}
