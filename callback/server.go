// Package callback receives what providers send: it takes the request as it came, has the provider prove it genuine, hands it to
// the ledger, and answers in the provider's own words, success only after the commit.
//
// A provider's own knowledge lies in a folder of its name below; those folders import models and parse only.
package callback

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
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

	once     sync.Once
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

// ReadReceived reads the time that a ReplayHeader tells, in UTC. A year that no database keeps alike is an error.
func ReadReceived(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	at = at.UTC()
	if err == nil && (at.Year() < 1970 || at.Year() > 9998) {
		err = fmt.Errorf("the year %d", at.Year())
	}
	return at, err
}

// Mount registers the routes. Every method arrives at serve, which answers what is no POST itself.
func (s *Server) Mount(g *echo.Group) {
	s.prepare()
	for _, path := range []string{"/callbacks/:account", "/callbacks/:account/"} { // no redirect: a provider does not follow it
		g.Any(path, s.serve)
		g.RouteNotFound(path, s.serve) // methods that echo has never heard of
	}
}

// prepare fills in what was left out, once.
func (s *Server) prepare() {
	s.once.Do(func() {
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
	})
}

// serve is the way of a callback that comes over HTTP.
func (s *Server) serve(c echo.Context) error {
	start := time.Now()
	account := accountOf(c.Request())
	provider, ok := s.accounts[account]
	if !ok {
		return echo.NewHTTPError(http.StatusNotFound, ErrNoAccount.Error())
	}
	if c.Request().Method != http.MethodPost {
		if done, err := challenged(c, provider); done {
			return err
		}
		c.Response().Header().Set(echo.HeaderAllow, http.MethodPost)
		return c.NoContent(http.StatusMethodNotAllowed)
	}
	a := Arrival{Began: start, RequestID: requestID(c)}
	a.Callback, a.Unread = s.take(c, account)
	r := s.Receive(c.Request().Context(), a) // its patience begins only now: a slow body is not the book's fault
	return send(c, r.Status, r.ContentType, r.Body)
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

// take reads the request once, byte for byte, before anything else can. What is packed is not read: it is refused unseen.
func (s *Server) take(c echo.Context, account string) (models.Callback, *models.Rejection) {
	req := c.Request()
	cb := models.Callback{Account: account, Method: req.Method, Path: req.URL.Path, Query: req.URL.RawQuery, Headers: req.Header.Clone(), ReceivedAt: s.Now().UTC(),
		Sender: c.RealIP()}
	if encoded(req.Header) {
		return cb, nil
	}
	if _, told := req.Header[ReplayHeader]; s.ReplayClock && told {
		at, err := ReadReceived(req.Header.Get(ReplayHeader))
		if err != nil {
			return cb, &models.Rejection{Reason: models.ReasonMalformed, Detail: "header " + ReplayHeader + ": an RFC 3339 time expected"}
		}
		cb.ReceivedAt, cb.Sender = at, "" // a recording
		cb.Headers.Del(ReplayHeader)
	}
	if req.ContentLength > s.BodyMax {
		c.Response().Header().Set(echo.HeaderConnection, "close")
		return cb, s.tooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), req.Body, s.BodyMax))
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return cb, s.tooLarge()
	case err != nil: // cut off: what came is not what was signed
		return cb, &models.Rejection{Reason: models.ReasonMalformed, Detail: "the body was cut off"}
	}
	cb.Body = body
	return cb, nil
}

func (s *Server) tooLarge() *models.Rejection {
	return &models.Rejection{Reason: models.ReasonTooLarge, Detail: fmt.Sprintf("the body is larger than %d bytes", s.BodyMax)}
}

// send writes exactly these bytes: some providers compare them.
func send(c echo.Context, status int, contentType, body string) error {
	if body == "" {
		return c.NoContent(status)
	}
	return c.Blob(status, contentType, []byte(body))
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }
