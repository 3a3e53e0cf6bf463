package generic

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"paybook/callback/parse"
)

// section is one object of the settings while it is read. The first thing that is wrong, anywhere, is kept with its full path,
// and the readers then return fallbacks: so the reading is a plain list of keys. close refuses the keys nobody asked for.
type section struct {
	path  string
	keys  map[string]any
	known []string
	first *error
}

func readObject(raw json.RawMessage) (map[string]any, error) {
	v, err := parse.StrictJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	keys, ok := v.Any().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("settings: missing: the provider %s is made by its settings", Name)
	}
	return keys, nil
}

func (s *section) broken() error { return *s.first }

func (s *section) fail(key, format string, args ...any) {
	if *s.first == nil {
		*s.first = fmt.Errorf("%s.%s: %s", s.path, key, fmt.Sprintf(format, args...))
	}
}

// take is the value of a key; nil when it is absent or null.
func (s *section) take(key string) any {
	if !slices.Contains(s.known, key) {
		s.known = append(s.known, key)
	}
	return s.keys[key]
}

func (s *section) has(key string) bool { return s.take(key) != nil }

func (s *section) ignore(keys ...string) { s.known = append(s.known, keys...) }

func (s *section) close() {
	for _, key := range s.names() {
		if !slices.Contains(s.known, key) {
			slices.Sort(s.known)
			s.fail(key, "unknown key; the keys here are %s", strings.Join(s.known, ", "))
		}
	}
}

// names are the keys that are there, sorted, so that the same settings give the same error.
func (s *section) names() []string { return slices.Sorted(maps.Keys(s.keys)) }

func (s *section) text(key, fallback string) string {
	switch v := s.take(key).(type) {
	case nil:
		return fallback
	case string:
		return v
	default:
		s.fail(key, "text expected, put it into quotes")
		return fallback
	}
}

func (s *section) need(key string) string {
	text := s.text(key, "")
	if text == "" {
		s.fail(key, "missing")
	}
	return text
}

// word is one of the allowed words.
func (s *section) word(key, fallback string, allowed ...string) string {
	text := s.text(key, fallback)
	if !slices.Contains(allowed, text) {
		s.fail(key, "%q is not one of %s", text, strings.Join(allowed, ", "))
		return fallback
	}
	return text
}

// texts is a list of texts; a single one may stand without its list. nil when the key is absent.
func (s *section) texts(key string) []string {
	list, ok := s.take(key).([]any)
	if !ok {
		if text := s.text(key, ""); text != "" || s.has(key) {
			return []string{text}
		}
		return nil
	}
	out := []string{}
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			s.fail(fmt.Sprintf("%s[%d]", key, i), "text expected, put it into quotes")
		}
		out = append(out, text)
	}
	return out
}

// whole is a whole number of min or more.
func (s *section) whole(key string, fallback, min int) int {
	v := s.take(key)
	if v == nil {
		return fallback
	}
	number, _ := v.(json.Number)
	n, err := strconv.Atoi(number.String())
	if err != nil || n < min {
		s.fail(key, "a whole number of %d or more expected", min)
		return fallback
	}
	return n
}

// seconds is a tolerance in whole seconds, 1 to parse.ToleranceMax.
func (s *section) seconds(key string, fallback int) int {
	n := s.whole(key, fallback, 1)
	if n > parse.ToleranceMax {
		s.fail(key, "%d, expected 1 to %d", n, parse.ToleranceMax)
		return fallback
	}
	return n
}

// flag is true or false; nil when the key is absent.
func (s *section) flag(key string) *bool {
	switch v := s.take(key).(type) {
	case nil:
		return nil
	case bool:
		return &v
	}
	s.fail(key, "true or false expected")
	return nil
}

func (s *section) zone(key, fallback string) string {
	name := s.text(key, fallback)
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		s.fail(key, "%q is not an IANA time zone such as Asia/Shanghai", name)
	}
	return name
}

// object is the object under a key; nil when the key is absent. The caller reads it and closes it.
func (s *section) object(key string) *section {
	return s.within(key, s.take(key))
}

// objects is a list of objects.
func (s *section) objects(key string) []*section {
	v := s.take(key)
	list, ok := v.([]any)
	if !ok && v != nil {
		s.fail(key, "a list expected")
	}
	var out []*section
	for i, item := range list {
		name := fmt.Sprintf("%s[%d]", key, i)
		if o := s.within(name, item); o != nil {
			out = append(out, o)
		} else {
			s.fail(name, "an object with keys expected")
		}
	}
	return out
}

func (s *section) within(key string, v any) *section {
	keys, ok := v.(map[string]any)
	if !ok {
		if v != nil {
			s.fail(key, "an object with keys expected")
		}
		return nil
	}
	return &section{path: s.path + "." + key, keys: keys, first: s.first}
}
