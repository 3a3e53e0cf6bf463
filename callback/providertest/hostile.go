package providertest

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"paybook/callback"
	"paybook/models"
)

// testBitFlips turns every bit of a genuine request once. With -short only every seventh.
func (s *suite) testBitFlips(t *testing.T) {
	for _, rec := range s.genuine() {
		want, err := s.verify(rec.Callback(rec.Provider))
		if err != nil {
			t.Fatalf("%s: %v", rec.Name, err)
		}
		t.Run(rec.Name+"/body", func(t *testing.T) { s.flipBody(t, rec, want) })
		for name := range rec.Headers {
			t.Run(rec.Name+"/"+name, func(t *testing.T) { s.flipHeader(t, rec, name, want) })
		}
	}
}

func (s *suite) flipBody(t *testing.T, rec callback.Recording, want []models.Event) {
	cb := rec.Callback(rec.Provider)
	for bit := 0; bit < 8*len(rec.Body); bit += step() {
		cb.Body = flip(rec.Body, bit)
		got, err := s.verify(cb)
		if err != nil || s.bodyMayHold != nil && s.bodyMayHold(want, got) {
			continue
		}
		t.Fatalf("bit %d of body byte %d flipped and still accepted: %+v", bit%8, bit/8, got)
	}
}

func (s *suite) flipHeader(t *testing.T, rec callback.Recording, name string, want []models.Event) {
	signed := slices.ContainsFunc(s.signed, func(h string) bool {
		return http.CanonicalHeaderKey(h) == http.CanonicalHeaderKey(name)
	})
	value := rec.Headers[name]
	for bit := 0; bit < 8*len(value); bit += step() {
		cb := rec.Callback(rec.Provider)
		cb.Headers.Set(name, string(flip([]byte(value), bit)))
		got, err := s.verify(cb)
		same := sameEvents
		if strings.EqualFold(name, s.messageID) {
			same = sameMoney
		}
		if err == nil && (signed || !same(want, got)) {
			t.Fatalf("bit %d of byte %d of header %s flipped and still accepted: %+v", bit%8, bit/8, name, got)
		}
	}
}

func flip(text []byte, bit int) []byte {
	out := bytes.Clone(text)
	out[bit/8] ^= 1 << (bit % 8)
	return out
}

func step() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// testHostile gives what a stranger may send. All of it is the stranger's fault, so it is a rejection: any other error would be
// answered "send again".
func (s *suite) testHostile(t *testing.T) {
	rec := s.genuine()[0]
	bodies := map[string][]byte{
		"empty": {}, "nil": nil, "long": bytes.Repeat([]byte("a"), 1<<20), "null": []byte("null"), "list": []byte("[]"),
		"object": []byte("{}"), "text": []byte(`"x"`), "twice": slices.Concat(rec.Body, rec.Body), "cut": rec.Body[:len(rec.Body)/2],
		"xml":  []byte(`<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`),
		"deep": bytes.Repeat([]byte("["), 100_000), "zeros": make([]byte, 4096), "percent": []byte("%&%=%zz&&==&sign"),
	}
	if bytes.HasPrefix(rec.Body, []byte("{")) {
		bodies["duplicate keys"] = slices.Concat(rec.Body[:len(rec.Body)-1], []byte(","), rec.Body[1:])
	}
	for name, body := range bodies {
		cb := rec.Callback(rec.Provider)
		cb.Body = body
		if err := s.refused(cb); err != nil {
			t.Errorf("body %s: %v", name, err)
		}
		cb.Headers = nil
		if err := s.refused(cb); err != nil {
			t.Errorf("body %s, no headers: %v", name, err)
		}
	}
	s.testHostileHeaders(t, rec)
}

// testHostileHeaders only asks for survival: a header that nobody reads may be anything.
func (s *suite) testHostileHeaders(t *testing.T, rec callback.Recording) {
	values := []string{"", " ", "\x00", "=", "a,b,c", "999999999999999999999999", "-1", string(bytes.Repeat([]byte("A"), 64<<10))}
	for name := range rec.Headers {
		for _, value := range values {
			cb := rec.Callback(rec.Provider)
			cb.Headers.Set(name, value)
			_, _ = s.verify(cb)
			cb.Headers[http.CanonicalHeaderKey(name)] = nil
			_, _ = s.verify(cb)
		}
	}
	cb := rec.Callback(rec.Provider)
	cb.Headers = nil
	want, _ := s.verify(rec.Callback(rec.Provider))
	if got, err := s.verify(cb); err == nil && !sameEvents(want, got) {
		t.Errorf("without headers the same body says something else: %+v", got)
	}
}

func (s *suite) refused(cb models.Callback) error {
	events, err := s.verify(cb)
	if err == nil && s.unsignedBody && cb.Headers != nil {
		return s.harmless(events)
	}
	if err == nil {
		return fmt.Errorf("accepted: %+v", events)
	}
	if rejection := (*models.Rejection)(nil); !errors.As(err, &rejection) {
		return fmt.Errorf("%w: want a rejection", err)
	}
	return nil
}

func (s *suite) testConcurrent(t *testing.T) {
	type verdict struct {
		events []models.Event
		text   string
	}
	all := func() []verdict {
		var out []verdict
		for _, rec := range s.recordings {
			events, err := s.verify(rec.Callback(rec.Provider))
			out = append(out, verdict{events, fmt.Sprint(err)})
		}
		return out
	}
	want := all()
	got := make([][]verdict, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i] = all() })
	}
	wg.Wait()
	for i := range got {
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("goroutine %d came to another result", i)
		}
	}
}

// harmless asks that nothing is booked of a body that says nothing, where no signature can tell that it is not the provider's.
func (s *suite) harmless(events []models.Event) error {
	for _, e := range events {
		if e.Kind != models.EventUnparsable && e.Kind != models.EventUnknown && e.Kind != models.EventThin {
			return fmt.Errorf("booked: %+v", e)
		}
	}
	return nil
}
