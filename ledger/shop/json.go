package shop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The standard decoder takes what it should not: a key twice, a key in other letters, a key nobody knows. With money in it a body must
// have one meaning, so it is read into a tree that remembers, and the tree is read by name.

// depthMax is deeper than any request of ours.
const depthMax = 8

// object is one JSON object of a request. The first thing that is wrong with any of them is kept; the readers then return zeros, so that
// the reading is a plain list of keys.
type object struct {
	path   string // "" for the body itself, else with a dot at its end: "items[0]."
	values map[string]any
	first  *error
}

// readObject reads a body that is one object with these keys.
func readObject(raw []byte, keys ...string) object {
	o := object{first: new(error)}
	value, err := parse(raw)
	if err != nil {
		*o.first = err
		return o
	}
	return o.open(value, "", keys...)
}

// open is a value that must be an object with these keys.
func (o object) open(value any, path string, keys ...string) object {
	in := object{path: path, first: o.first}
	values, ok := value.(map[string]any)
	if !ok {
		o.fail(strings.TrimSuffix(path, "."), "an object with %s expected, found %s", strings.Join(keys, ", "), kindOf(value))
		return in
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(keys, key) {
			o.fail(path+cut(key), "unknown; the keys here are %s", strings.Join(keys, ", "))
		}
	}
	in.values = values
	return in
}

func (o object) err() error { return *o.first }

func (o object) fail(field, format string, args ...any) {
	if *o.first == nil {
		*o.first = invalid(field, format, args...)
	}
}

func (o object) has(key string) bool {
	_, there := o.values[key]
	return there
}

// text is a string that must be there.
func (o object) text(key string) string {
	value, there := o.values[key]
	text, ok := value.(string)
	switch {
	case o.err() != nil:
	case !there:
		o.fail(o.path+key, "missing")
	case !ok:
		o.fail(o.path+key, "text expected, found %s", kindOf(value))
	}
	return text
}

// id is text that is kept as it is and looked up by: an order number, an SKU.
func (o object) id(key string) string {
	text := o.text(key)
	if why := unfitNew(text, idMax); o.err() == nil && why != "" {
		o.fail(o.path+key, "%s", why)
	}
	return text
}

// whole is a whole number that must be there, from min to max.
func (o object) whole(key string, min, max int64) int64 {
	value, there := o.values[key]
	number, ok := value.(json.Number)
	n, err := strconv.ParseInt(number.String(), 10, 64)
	switch {
	case o.err() != nil:
	case !there:
		o.fail(o.path+key, "missing")
	case !ok || err != nil && !errors.Is(err, strconv.ErrRange):
		o.fail(o.path+key, "a whole number such as 1 expected, found %s", kindOf(value))
	case err != nil || n < min || n > max:
		o.fail(o.path+key, "%s: from %d to %d expected", cut(number.String()), min, max)
	}
	return n
}

// list is a list; none when it is not there.
func (o object) list(key string, max int) []any {
	value, there := o.values[key]
	list, ok := value.([]any)
	switch {
	case !there || o.err() != nil:
	case !ok:
		o.fail(o.path+key, "a list expected, found %s", kindOf(value))
	case len(list) > max:
		o.fail(o.path+key, "%d of them, at most %d are taken", len(list), max)
	}
	return list
}

// kindOf says what a value is, for people. The value itself may be long, or nobody's business.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case json.Number:
		return "the number " + cut(v.String())
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "an object"
}

// cut makes a stranger's text short enough to be told back.
func cut(s string) string {
	const max = 60
	if len(s) <= max {
		return strings.ToValidUTF8(s, "�")
	}
	return strings.ToValidUTF8(s[:max], "") + "…"
}

// parse reads a JSON text into maps, lists, strings, bools, nils and json.Numbers, which keep their digits.
func parse(raw []byte) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, invalid("", "the body is empty: send a JSON object")
	}
	if !utf8.Valid(raw) {
		return nil, invalid("", "the body is not UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil { // what follows the end, too
		return nil, invalid("", "not JSON: %v%s", err, place(err))
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return parseValue(dec, "", 0)
}

func place(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf(", at byte %d", syntax.Offset)
	}
	return ""
}

func parseValue(dec *json.Decoder, path string, depth int) (any, error) {
	token, err := dec.Token()
	switch {
	case err != nil:
		return nil, invalid("", "not JSON: %v", err)
	case token == json.Delim('{'):
		return parseObject(dec, path, depth+1)
	case token == json.Delim('['):
		return parseList(dec, path, depth+1)
	}
	return token, nil
}

func parseObject(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > depthMax {
		return nil, invalid(path, "nested too deeply")
	}
	out := map[string]any{}
	for dec.More() {
		token, err := dec.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, invalid(path, "not JSON: a key expected")
		}
		at := strings.TrimPrefix(path+"."+cut(key), ".")
		if _, twice := out[key]; twice {
			return nil, invalid(at, "here a second time")
		}
		if out[key], err = parseValue(dec, at, depth); err != nil {
			return nil, err
		}
	}
	return out, closing(dec)
}

func parseList(dec *json.Decoder, path string, depth int) (any, error) {
	if depth > depthMax {
		return nil, invalid(path, "nested too deeply")
	}
	out := []any{}
	for dec.More() {
		value, err := parseValue(dec, fmt.Sprintf("%s[%d]", path, len(out)), depth)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, closing(dec)
}

// closing takes the bracket that ends an object or a list.
func closing(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return invalid("", "not JSON: %v", err)
	}
	return nil
}
