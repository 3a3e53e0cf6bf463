package generic

import (
	"fmt"
	"strconv"
	"strings"

	"paybook/callback/parse"
)

// path leads to one value of a JSON document: an object's key (string) or a list's place (int, from 0) a step.
type path []any

// parsePath reads $.data.amount, $.items[0].id or $["data.id"]["x"]. The leading $. may be left out.
func parsePath(text string) (path, error) {
	rest := strings.TrimPrefix(text, "$")
	if rest == text {
		rest = "." + rest
	}
	var p path
	for rest != "" {
		step, after, err := cutStep(rest)
		if err != nil {
			return nil, fmt.Errorf("%q: %w; a path such as $.data.items[0].id expected", text, err)
		}
		p, rest = append(p, step), after
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("%q leads to the whole document", text)
	}
	return p, nil
}

func cutStep(text string) (step any, rest string, err error) {
	if strings.HasPrefix(text, ".") {
		end := strings.IndexAny(text[1:], ".[")
		if end < 0 {
			end = len(text) - 1
		}
		if end == 0 {
			return nil, "", fmt.Errorf("a name is missing")
		}
		return text[1 : 1+end], text[1+end:], nil
	}
	if len(text) > 2 && (text[1] == '"' || text[1] == '\'') {
		name, rest, ok := strings.Cut(text[2:], text[1:2]+"]")
		if !ok || name == "" {
			return nil, "", fmt.Errorf("a quoted name is not closed")
		}
		return name, rest, nil
	}
	inner, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	n, err := strconv.Atoi(inner)
	if !ok || err != nil || n < 0 || text[0] != '[' {
		return nil, "", fmt.Errorf("%q is not understood", text)
	}
	return n, rest, nil
}

// find is the value at the path; the zero Value when there is none.
func (p path) find(v parse.Value) parse.Value {
	at := v.Any()
	for _, step := range p {
		switch step := step.(type) {
		case string:
			object, _ := at.(map[string]any)
			at = object[step]
		case int:
			list, _ := at.([]any)
			if step >= len(list) {
				return parse.Value{}
			}
			at = list[step]
		}
	}
	return parse.Of(at)
}
