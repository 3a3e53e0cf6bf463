// Package parse holds the readers that every provider folder shares: JSON without surprises, delimited tables with places,
// numbers and times as they are written. It knows no provider, and providers import nothing else of ours but models.
package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// depthMax is far deeper than any provider nests, and shallow enough that no recursion hurts.
const depthMax = 64

// ErrJSON is wrapped by every refusal of JSON reads.
var ErrJSON = errors.New("not usable JSON")

// Value is one JSON value: map[string]any, []any, string, json.Number, bool, nil or an Unusable one. Numbers keep the digits they
// were sent with, so an id above 2^53 stays that id.
type Value struct{ v any }

// unusable stands in the place of a string that nobody could keep as it was sent, and says why. Its content is gone, so that it cannot
// be booked as something else: half a surrogate pair becomes the same U+FFFD whatever it was, and a NUL cuts a text or is refused.
type unusable string

func (u unusable) Error() string { return string(u) }

// JSON reads exactly one JSON document. It refuses what a genuine provider never sends and parsers disagree about:
// a key given twice, a second document, broken UTF-8, nesting beyond reason. A string with half a surrogate pair or a NUL (which no
// database text can hold) is an Unusable value: what a payer wrote into a note must not cost the payment. In a key it is refused.
func JSON(body []byte) (Value, error) { return read(body, false) }

// StrictJSON is JSON for what people write for us, such as settings: it refuses unusable strings too.
func StrictJSON(text []byte) (Value, error) { return read(text, true) }

func read(body []byte, strict bool) (Value, error) {
	if !utf8.Valid(body) {
		return Value{}, fmt.Errorf("%w: not UTF-8", ErrJSON)
	}
	// The grammar is left to the standard library; what is left to do is then short, and much cheaper than token by token.
	if !json.Valid(body) {
		return Value{}, fmt.Errorf("%w: %v", ErrJSON, json.Unmarshal(body, new(any))) // fails before it decodes, and says where
	}
	r := reader{text: string(body), strict: strict}
	v, err := r.value(0)
	if err != nil {
		return Value{}, fmt.Errorf("%w: %v", ErrJSON, err)
	}
	return Value{v}, nil
}

// reader walks over a document whose grammar is known to be right.
type reader struct {
	text   string
	at     int
	strict bool // an unusable string is an error
}

func (r *reader) value(depth int) (any, error) {
	if depth > depthMax {
		return nil, fmt.Errorf("nested deeper than %d levels", depthMax)
	}
	switch r.peek() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		return r.content()
	case 't':
		r.at += len("true")
		return true, nil
	case 'f':
		r.at += len("false")
		return false, nil
	case 'n':
		r.at += len("null")
		return nil, nil
	}
	return r.number(), nil
}

func (r *reader) object(depth int) (any, error) {
	obj := map[string]any{}
	for r.at++; r.peek() != '}'; r.comma() {
		key, err := r.str()
		if err != nil {
			return nil, err
		}
		if _, twice := obj[key]; twice {
			return nil, fmt.Errorf("key %q is given twice", clip(key))
		}
		r.peek()
		r.at++ // the colon
		if obj[key], err = r.value(depth + 1); err != nil {
			return nil, err
		}
	}
	r.at++
	return obj, nil
}

func (r *reader) list(depth int) (any, error) {
	list := []any{}
	for r.at++; r.peek() != ']'; r.comma() {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	r.at++
	return list, nil
}

// content is a string as a value, which may be an unusable one.
func (r *reader) content() (any, error) {
	s, err := r.str()
	if bad := unusable(""); errors.As(err, &bad) && !r.strict {
		return bad, nil
	}
	return s, err
}

// str reads a quoted string. Only one with escapes needs more than a cut. The reader is then behind it, also on an unusable one.
func (r *reader) str() (string, error) {
	start, escaped := r.at, false
	for r.at++; r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			escaped = true
			r.at++
		}
	}
	r.at++
	if !escaped {
		return r.text[start+1 : r.at-1], nil
	}
	var s string
	if err := json.Unmarshal([]byte(r.text[start:r.at]), &s); err != nil {
		return "", err
	}
	if strings.IndexByte(s, 0) >= 0 {
		return "", unusable("a string holds a NUL")
	}
	if strings.ContainsRune(s, utf8.RuneError) && halfSurrogate(r.text[start:r.at]) {
		return "", unusable("a string holds half a surrogate pair")
	}
	return s, nil
}

// halfSurrogate looks in a quoted string for an escape such as \ud800 without its other half. The standard library turns each of
// them into the same U+FFFD, so that ids which differ become one.
func halfSurrogate(quoted string) bool {
	for i := 0; i < len(quoted); i++ {
		if quoted[i] != '\\' {
			continue
		}
		i++
		unit, ok := escapedUnit(quoted[i-1:])
		if !ok {
			continue
		}
		i += len("0000")
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, ok := escapedUnit(quoted[i+1:])
		if !ok || utf16.DecodeRune(unit, low) == utf8.RuneError {
			return true
		}
		i += len(`\u0000`)
	}
	return false
}

// escapedUnit is the UTF-16 unit of an escape such as \u00e9 that text begins with.
func escapedUnit(text string) (unit rune, ok bool) {
	if !strings.HasPrefix(text, `\u`) {
		return 0, false
	}
	n, err := strconv.ParseUint(text[len(`\u`):len(`\u0000`)], 16, 16)
	return rune(n), err == nil
}

func (r *reader) number() json.Number {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.eE0123456789", r.text[r.at]) >= 0 {
		r.at++
	}
	return json.Number(r.text[start:r.at])
}

// peek is the next byte that is not white space.
func (r *reader) peek() byte {
	for strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.text[r.at]
}

// comma steps over the comma between two members, where there is one; the next one is then in sight.
func (r *reader) comma() {
	if r.peek() == ',' {
		r.at++
		r.peek()
	}
}

// Get walks down object keys. Anything missing on the way, or null, is the zero Value.
func (v Value) Get(path ...string) Value {
	for _, key := range path {
		obj, ok := v.v.(map[string]any)
		if !ok {
			return Value{}
		}
		v = Value{obj[key]}
	}
	return v
}

// Of wraps an already decoded value, such as an expression library returns.
func Of(v any) Value { return Value{v} }

// Any is the value itself.
func (v Value) Any() any { return v.v }

// Exists is false for a missing or null value.
func (v Value) Exists() bool { return v.v != nil }

// Unusable says why nobody could keep a string as it was sent: half a surrogate pair, a NUL. nil for any other value. An unusable
// value exists, but its text is "". Who reads a field that may be missing must ask, or takes it for missing.
func (v Value) Unusable() error {
	if bad, is := v.v.(unusable); is {
		return bad
	}
	return nil
}

// IsObject is true for a JSON object.
func (v Value) IsObject() bool { _, ok := v.v.(map[string]any); return ok }

// Text is a string's content or a number's digits exactly as sent; "" for anything else.
func (v Value) Text() string {
	if n := v.Number(); n != "" {
		return n
	}
	return v.String()
}

// String is a string's content; "" for anything else, a number too. It is a copy: an id that is kept for long must not
// keep the whole document in memory.
func (v Value) String() string { s, _ := v.v.(string); return strings.Clone(s) }

// Number is a JSON number's digits as sent; "" for anything else, a quoted number too.
func (v Value) Number() string { n, _ := v.v.(json.Number); return strings.Clone(n.String()) }

// Bool is a JSON true or false; ok is false for anything else.
func (v Value) Bool() (value, ok bool) { value, ok = v.v.(bool); return }

// List is a JSON array's items; nil for anything else.
func (v Value) List() []Value {
	list, ok := v.v.([]any)
	if !ok {
		return nil
	}
	out := make([]Value, len(list))
	for i := range list {
		out[i] = Value{list[i]}
	}
	return out
}
