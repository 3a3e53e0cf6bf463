// Package parse holds the readers that every provider folder shares: JSON without surprises, delimited tables with places,
// numbers and times as they are written. It knows no provider, and providers import nothing else of ours but models.
package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// depthMax is far deeper than any provider nests, and shallow enough that no recursion hurts.
const depthMax = 64

// ErrJSON is wrapped by every refusal of JSON reads.
var ErrJSON = errors.New("not usable JSON")

// Value is one JSON value: map[string]any, []any, string, json.Number, bool or nil. Numbers keep the digits they were sent
// with, so an id above 2^53 stays that id.
type Value struct{ v any }

// JSON reads exactly one JSON document. It refuses what a genuine provider never sends and parsers disagree about:
// a key given twice, a second document, broken UTF-8, nesting beyond reason.
func JSON(body []byte) (Value, error) {
	if !utf8.Valid(body) {
		return Value{}, fmt.Errorf("%w: not UTF-8", ErrJSON)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if errors.Is(err, ErrJSON) {
			return Value{}, err
		}
		return Value{}, fmt.Errorf("%w: %v", ErrJSON, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Value{}, fmt.Errorf("%w: something follows the document", ErrJSON)
	}
	return Value{v}, nil
}

func readValue(dec *json.Decoder, depth int) (any, error) {
	if depth > depthMax {
		return nil, fmt.Errorf("%w: nested deeper than %d levels", ErrJSON, depthMax)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return readObject(dec, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	}
	return tok, nil
}

func readObject(dec *json.Decoder, depth int) (any, error) {
	obj := map[string]any{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := tok.(string) // the decoder lets nothing else stand here
		if _, twice := obj[key]; twice {
			return nil, fmt.Errorf("%w: key %q is given twice", ErrJSON, key)
		}
		v, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		obj[key] = v
	}
	_, err := dec.Token()
	return obj, err
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

// IsObject is true for a JSON object.
func (v Value) IsObject() bool { _, ok := v.v.(map[string]any); return ok }

// Text is a string's content or a number's digits exactly as sent; "" for anything else.
func (v Value) Text() string {
	switch t := v.v.(type) {
	case string:
		return t
	case json.Number:
		return t.String()
	}
	return ""
}

// String is a string's content; "" for anything else, a number too.
func (v Value) String() string { s, _ := v.v.(string); return s }

// Number is a JSON number's digits as sent; "" for anything else, a quoted number too.
func (v Value) Number() string {
	if n, ok := v.v.(json.Number); ok {
		return n.String()
	}
	return ""
}

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
