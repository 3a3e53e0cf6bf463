package generic

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/theory/jsonpath"

	"paybook/callback/parse"
)

// path is a JSONPath of RFC 9535: $.data.items[0].id, $["data.id"], $.amounts[?@.type == "total"].value.
type path struct {
	query  *jsonpath.Path
	filter bool // compares values, which the library does as floating-point numbers
}

var quotedName = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// parsePath reads a path. The leading $. may be left out. A path that looks at every depth (..) is refused: what it finds, and
// how long it looks, would be for the sender to say.
func parsePath(text string) (path, error) {
	full := text
	if !strings.HasPrefix(text, "$") {
		full = "$." + text
	}
	query, err := jsonpath.Parse(full)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "jsonpath: ")
		return path{}, fmt.Errorf("%q: %s; a JSONPath such as $.data.items[0].id expected, and $[\"an-odd.name\"] for other names than words", text, why)
	}
	plain := quotedName.ReplaceAllString(query.String(), "")
	switch {
	case plain == "$":
		return path{}, fmt.Errorf("%q leads to the whole document", text)
	case strings.Contains(plain, ".."):
		return path{}, fmt.Errorf("%q: .. looks at every depth; write the whole way", text)
	}
	return path{query, strings.Contains(plain, "?")}, nil
}

// find is what the path leads to; where there is a filter, in a copy whose long numbers are digits.
func (p path) find(doc parse.Value) []any {
	if p.filter {
		return p.query.Select(forFilter(doc.Any()))
	}
	return p.query.Select(doc.Any())
}

// value is the string, number or truth value the path leads to; none when it is missing, empty, a list or an object. Several that
// differ are an error: to take one of them would be a guess, and for the members of an object another one each time. So is a text
// that nobody could keep.
func (p path) value(doc parse.Value) (value parse.Value, err error) {
	for _, v := range p.find(doc) {
		if long, ok := v.(digits); ok {
			v = json.Number(long)
		}
		found := parse.Of(v)
		if err := found.Unusable(); err != nil {
			return parse.Value{}, fmt.Errorf("%s: %w", p, err)
		}
		text, before := scalar(found), scalar(value)
		if text != "" && before != "" && text != before {
			return parse.Value{}, fmt.Errorf("%s leads to several values", p)
		}
		if before == "" && text != "" {
			value = found
		}
	}
	return value, nil
}

// list is the array the path leads to.
func (p path) list(doc parse.Value) ([]parse.Value, error) {
	found := p.find(doc)
	if len(found) != 1 {
		return nil, errors.New("missing")
	}
	list := parse.Of(found[0])
	if p.filter {
		list = parse.Of(withoutDigits(found[0]))
	}
	if _, ok := list.Any().([]any); !ok {
		return nil, errors.New("is no array")
	}
	return list.List(), nil
}

func (p path) String() string { return p.query.String() }

// digits is a number of more digits than a float64 holds. It is a type of its own so that a filter compares it as text: as
// floats, the ids 8389765929445198309 and 8389765929445198310 are the same.
type digits string

const exactDigits = 15 // of any decimal number, a float64 gives back

// forFilter is a value with its long numbers made safe for comparing.
func forFilter(v any) any {
	switch v := v.(type) {
	case json.Number:
		if len(strings.Trim(v.String(), "-.0")) > exactDigits {
			return digits(v)
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = forFilter(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = forFilter(v[key])
		}
		return out
	}
	return v
}

// withoutDigits undoes forFilter, in place: forFilter has made the copy.
func withoutDigits(v any) any {
	switch v := v.(type) {
	case digits:
		return json.Number(v)
	case []any:
		for i := range v {
			v[i] = withoutDigits(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withoutDigits(v[key])
		}
	}
	return v
}
