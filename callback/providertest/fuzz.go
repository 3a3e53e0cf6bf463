package providertest

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paybook/callback"
	"paybook/models"
)

// FuzzVerify is a provider's fuzz target FuzzVerify: the kit's recordings with any body, and anything in the headers that Varied and
// Signed name. What is accepted must be what was signed: byte for byte the body of a genuine recording, or, where the options say that
// less than the body is signed, a body that says the same as one.
func FuzzVerify(f *testing.F, p callback.Provider, dir string, options ...Option) {
	s := newSuite(f, p, dir, options)
	names := slices.Concat(s.signed, s.varied)
	for i, rec := range s.recordings {
		f.Add(uint8(i), rec.Body, headerLines(rec, names))
	}
	f.Fuzz(func(t *testing.T, number uint8, body []byte, headers string) {
		rec := s.recordings[int(number)%len(s.recordings)]
		cb := rec.Callback(rec.Provider)
		cb.Body = bytes.Clone(body)
		setHeaders(cb.Headers, names, headers)
		var events []models.Event
		var err error
		Bounded(t, len(body)+len(headers), func() { events, err = s.verify(cb) })
		switch {
		case !bytes.Equal(body, cb.Body):
			t.Error("Verify changed the body it was given")
		case err == nil && !s.isSigned(cb, events):
			t.Errorf("accepted as %+v, which nobody has signed", events)
		case err != nil && len(events) > 0:
			t.Errorf("%d events, and %v", len(events), err)
		case err != nil && !s.mayFail && !errors.As(err, new(*models.Rejection)):
			t.Errorf("error = %v, want a rejection", err)
		}
	})
}

// Varied names headers that decide whether a callback is genuine, and may be spelt in several ways.
func Varied(headers ...string) Option { return func(s *suite) { s.varied = headers } }

// MayFail is for a provider that cannot always tell, because it has something to fetch first.
func MayFail() Option { return func(s *suite) { s.mayFail = true } }

// isSigned is true when one of the recordings says the same, had it come at the same time.
func (s *suite) isSigned(cb models.Callback, events []models.Event) bool {
	return slices.ContainsFunc(s.recordings, func(rec callback.Recording) bool {
		original := rec.Callback(rec.Provider)
		original.ReceivedAt = cb.ReceivedAt
		want, err := s.verify(original)
		switch {
		case err != nil:
			return false
		case s.bodyMayHold != nil:
			return s.bodyMayHold(want, events)
		}
		return bytes.Equal(rec.Body, cb.Body) && sameEvents(want, events)
	})
}

// headerLines is a line for each header named: a fuzz target's number of arguments is fixed.
func headerLines(rec callback.Recording, names []string) string {
	var lines []string
	cb := rec.Callback(rec.Provider)
	for _, name := range names {
		lines = append(lines, cb.Headers.Get(name))
	}
	return strings.Join(lines, "\n")
}

func setHeaders(headers http.Header, names []string, lines string) {
	values := strings.SplitN(lines, "\n", len(names))
	for i, name := range names {
		headers.Del(name)
		if i < len(values) {
			headers.Set(name, values[i])
		}
	}
}

// Recordings are the kit's callbacks: seeds of a fuzz target.
func Recordings(tb testing.TB, dir string) []callback.Recording { return load(tb, dir) }

// Statements are all files in the kit's folder of statements, packed ones too, by their path in it: seeds of a fuzz target.
func Statements(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	root := os.DirFS(filepath.Join(dir, "statements"))
	out := map[string][]byte{}
	for _, pattern := range []string{"*", "*/*"} {
		paths, err := fs.Glob(root, pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, path := range paths {
			if raw, err := fs.ReadFile(root, path); err == nil { // else a folder
				out[path] = raw
			}
		}
	}
	if len(out) == 0 {
		tb.Fatalf("no statements in %s", dir)
	}
	return out
}
