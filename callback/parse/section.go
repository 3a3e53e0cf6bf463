package parse

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Section is one object of the settings while it is read. The first thing that is wrong, anywhere, is kept with its full path,
// and the readers then return fallbacks: so the reading is a plain list of keys. Close refuses the keys nobody asked for.
type Section struct {
	path  string
	keys  map[string]any
	known []string
	first *error
}

// NewSection begins to read settings that stand under path, which is what errors call them.
func NewSection(path string, keys map[string]any) *Section {
	return &Section{path: path, keys: keys, first: new(error)}
}

// Path is where the section stands: settings.statement.
func (s *Section) Path() string { return s.path }

// Broken is the first thing that was wrong in the section or in any other of the same settings; nil: all is well.
func (s *Section) Broken() error { return *s.first }

// Fail says what is wrong with a key, unless something was wrong before.
func (s *Section) Fail(key, format string, args ...any) {
	if *s.first == nil {
		*s.first = fmt.Errorf("%s.%s: %s", s.path, key, fmt.Sprintf(format, args...))
	}
}

// Take is the value of a key; nil when it is absent or null.
func (s *Section) Take(key string) any {
	if !slices.Contains(s.known, key) {
		s.known = append(s.known, key)
	}
	return s.keys[key]
}

// Has is true for a key that is there and not null.
func (s *Section) Has(key string) bool { return s.Take(key) != nil }

// Ignore lets keys pass that somebody else reads, or nobody.
func (s *Section) Ignore(keys ...string) { s.known = append(s.known, keys...) }

// Close refuses the keys that nobody has asked for.
func (s *Section) Close() {
	for _, key := range s.Names() {
		if !slices.Contains(s.known, key) {
			slices.Sort(s.known)
			s.Fail(key, "unknown key; the keys here are %s", strings.Join(s.known, ", "))
		}
	}
}

// Names are the keys that are there, sorted, so that the same settings give the same error.
func (s *Section) Names() []string { return slices.Sorted(maps.Keys(s.keys)) }

// Text is a text, or the fallback when the key is absent.
func (s *Section) Text(key, fallback string) string {
	switch v := s.Take(key).(type) {
	case nil:
		return fallback
	case string:
		return v
	default:
		s.Fail(key, "text expected, put it into quotes")
		return fallback
	}
}

// Need is a text that must be there.
func (s *Section) Need(key string) string {
	text := s.Text(key, "")
	if text == "" {
		s.Fail(key, "missing")
	}
	return text
}

// Word is one of the allowed words.
func (s *Section) Word(key, fallback string, allowed ...string) string {
	text := s.Text(key, fallback)
	if !slices.Contains(allowed, text) {
		s.Fail(key, "%q is not one of %s", text, strings.Join(allowed, ", "))
		return fallback
	}
	return text
}

// Texts is a list of texts; a single one may stand without its list. nil when the key is absent.
func (s *Section) Texts(key string) []string {
	list, ok := s.Take(key).([]any)
	if !ok {
		if text := s.Text(key, ""); text != "" || s.Has(key) {
			return []string{text}
		}
		return nil
	}
	out := []string{}
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			s.Fail(fmt.Sprintf("%s[%d]", key, i), "text expected, put it into quotes")
		}
		out = append(out, text)
	}
	return out
}

// Whole is a whole number of min or more.
func (s *Section) Whole(key string, fallback, min int) int {
	v := s.Take(key)
	if v == nil {
		return fallback
	}
	number, _ := v.(json.Number)
	n, err := strconv.Atoi(number.String())
	if err != nil || n < min {
		s.Fail(key, "a whole number of %d or more expected", min)
		return fallback
	}
	return n
}

// Seconds is a tolerance in whole seconds, 1 to ToleranceMax.
func (s *Section) Seconds(key string, fallback int) int {
	n := s.Whole(key, fallback, 1)
	if n > ToleranceMax {
		s.Fail(key, "%d, expected 1 to %d", n, ToleranceMax)
		return fallback
	}
	return n
}

// Flag is true or false; nil when the key is absent.
func (s *Section) Flag(key string) *bool {
	switch v := s.Take(key).(type) {
	case nil:
		return nil
	case bool:
		return &v
	}
	s.Fail(key, "true or false expected")
	return nil
}

// Zone is the name of an IANA time zone.
func (s *Section) Zone(key, fallback string) string {
	name := s.Text(key, fallback)
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		s.Fail(key, "%q is not an IANA time zone such as Asia/Shanghai", name)
	}
	return name
}

// Object is the object under a key; nil when the key is absent. The caller reads it and closes it.
func (s *Section) Object(key string) *Section {
	return s.within(key, s.Take(key))
}

// Objects is a list of objects.
func (s *Section) Objects(key string) []*Section {
	v := s.Take(key)
	list, ok := v.([]any)
	if !ok && v != nil {
		s.Fail(key, "a list expected")
	}
	var out []*Section
	for i, item := range list {
		name := fmt.Sprintf("%s[%d]", key, i)
		if o := s.within(name, item); o != nil {
			out = append(out, o)
		} else {
			s.Fail(name, "an object with keys expected")
		}
	}
	return out
}

func (s *Section) within(key string, v any) *Section {
	keys, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			s.Fail(key, "an object with keys expected")
		}
		return nil
	}
	return s.Inner(key, keys)
}

// Inner is a section as if it stood under the key: for what is to be read where nothing is given.
func (s *Section) Inner(key string, keys map[string]any) *Section {
	return &Section{path: s.path + "." + key, keys: keys, first: s.first}
}
