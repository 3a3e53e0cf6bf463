// Package providertest runs the same checks over every provider and its recordings: what is genuine is understood, what is
// not is refused, nothing makes it panic, and a damaged statement is never half believed. A provider's own test file then
// only holds what is peculiar to it.
package providertest

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paybook/callback"
	"paybook/models"
	"paybook/reconcile"
)

// Provider is both halves of a payment provider.
type Provider interface {
	callback.Provider
	reconcile.Provider
}

// Option adapts Run to a provider's way of signing.
type Option func(*suite)

// Signed names the headers that are part of the signed text: any flipped bit in them must be refused. In every other header a
// flipped bit must be refused or change nothing.
func Signed(headers ...string) Option { return func(s *suite) { s.signed = headers } }

// EquivalentBody is for providers that sign the decoded parameters of a form: a flipped bit of the body may then change nothing
// (%2f and %2F), and is fine as long as the events are the same.
func EquivalentBody() Option {
	return func(s *suite) { s.form, s.bodyMayHold = true, sameFacts }
}

// UnsignedParts is for providers whose signature leaves parts of the body out: a flipped bit there may change times and notes,
// never the kind, an id or the money.
func UnsignedParts() Option { return func(s *suite) { s.bodyMayHold = sameMoney } }

// UnsignedBody is for providers whose signature does not cover the body at all (a static token, a signed query): any change of it may
// go unseen, and is only asked not to do harm by its spelling.
func UnsignedBody() Option {
	return func(s *suite) {
		s.unsignedBody = true
		s.bodyMayHold = func(_, _ []models.Event) bool { return true }
	}
}

// MessageID names a header that is not signed and that only an event's own id is read from, so that a flipped bit of it may change
// that id: it is for people, and no key of the money.
func MessageID(header string) Option { return func(s *suite) { s.messageID = header } }

// Run checks p with everything in dir, such as "../../testdata/wechatpay": callbacks/*.json, and the statements that
// expected_reconciliation.json speaks of, where there are any.
func Run(t *testing.T, p Provider, dir string, options ...Option) {
	t.Helper()
	RunCallbacks(t, p, dir, options...)
	t.Run("Statements", func(t *testing.T) { testStatements(t, p, dir) })
}

// RunCallbacks is Run for a scheme that has no statements.
func RunCallbacks(t *testing.T, p callback.Provider, dir string, options ...Option) {
	t.Helper()
	s := newSuite(t, p, dir, options)
	t.Run("Recordings", s.testRecordings)
	t.Run("Replies", s.testReplies)
	t.Run("BitFlips", s.testBitFlips)
	t.Run("Hostile", s.testHostile)
	t.Run("Recuts", s.testRecuts)
	t.Run("Concurrent", s.testConcurrent)
	t.Run("Explain", s.testExplain)
}

type suite struct {
	p           callback.Provider
	recordings  []callback.Recording
	signed      []string
	varied      []string
	bodyMayHold func(want, got []models.Event) bool // nil: every flipped bit of a body is refused

	unsignedBody bool   // whatever the body, the callback is genuine
	messageID    string // a header that events have their own id from
	form         bool   // the body is a form whose decoded parameters are signed
	mayFail      bool   // errors need not be rejections
}

func newSuite(tb testing.TB, p callback.Provider, dir string, options []Option) *suite {
	tb.Helper()
	s := &suite{p: p, recordings: load(tb, dir)}
	for _, o := range options {
		o(s)
	}
	return s
}

func load(t testing.TB, dir string) []callback.Recording {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "callbacks", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings in %s/callbacks (%v)", dir, err)
	}
	slices.Sort(paths)
	var out []callback.Recording
	for _, path := range paths {
		rec, err := callback.ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		rec.Name = filepath.Base(path)
		out = append(out, rec)
	}
	return out
}

func (s *suite) verify(cb models.Callback) ([]models.Event, error) {
	return s.p.Verify(context.Background(), cb)
}

// genuine is the first recording that is good, and the first good refund where there is one.
func (s *suite) genuine() []callback.Recording {
	var out []callback.Recording
	for _, prefix := range []string{"", "refund."} {
		i := slices.IndexFunc(s.recordings, func(r callback.Recording) bool {
			return r.Expect.Verified && strings.HasPrefix(r.Expect.Event, prefix)
		})
		if i >= 0 {
			out = append(out, s.recordings[i])
		}
	}
	return out
}
