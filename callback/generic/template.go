package generic

import (
	"fmt"
	"io"
	"strings"
)

// template is the text a provider signs, taken apart once: literals and places of the callback.
type template struct {
	segments [][]part // more than one only where a missing value drops its segment
	missing  string   // fail, empty or drop_segment
}

type part struct {
	literal []byte
	from    *source // nil: the literal
}

// parseTemplate reads "{header:X-Time}.{body}". With drop_segment a segment ends with each semicolon.
func parseTemplate(text, missing string) (template, error) {
	t := template{missing: missing}
	segments := []string{text}
	if missing == "drop_segment" {
		segments = strings.SplitAfter(text, ";")
	}
	for _, segment := range segments {
		parts, err := parseParts(segment)
		if err != nil {
			return t, err
		}
		t.segments = append(t.segments, parts)
	}
	if len(t.sources()) == 0 {
		return t, fmt.Errorf("%q has no placeholder: it would sign every callback alike", text)
	}
	return t, nil
}

func parseParts(text string) ([]part, error) {
	var parts []part
	for text != "" {
		literal, rest, open := strings.Cut(text, "{")
		if literal != "" {
			parts = append(parts, part{literal: []byte(literal)})
		}
		if !open {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, fmt.Errorf("the placeholder {%s is not closed", name)
		}
		from, err := parseSource(name)
		if err != nil {
			return nil, fmt.Errorf("unknown placeholder {%s}: %w", name, err)
		}
		parts = append(parts, part{from: &from})
		text = after
	}
	return parts, nil
}

// write writes the signed text of a request to a hash or buffer, which take everything. ok is false when a value is missing that must not be.
func (t *template) write(to io.Writer, r *request, scratch []byte) (_ []byte, ok bool) {
	for _, parts := range t.segments {
		if t.missing != "empty" && !complete(parts, r) {
			if t.missing == "drop_segment" {
				continue
			}
			return scratch, false
		}
		for i := range parts {
			switch p := &parts[i]; {
			case p.from == nil:
				_, _ = to.Write(p.literal)
			case p.from.kind == "body":
				_, _ = to.Write(r.cb.Body)
			default:
				scratch = append(scratch[:0], r.find(p.from)...)
				_, _ = to.Write(scratch)
			}
		}
	}
	return scratch, true
}

// complete is true when every value is there. An empty body is a body.
func complete(parts []part, r *request) bool {
	for i := range parts {
		if from := parts[i].from; from != nil && from.kind != "body" && r.find(from) == "" {
			return false
		}
	}
	return true
}

func (t *template) sources() []source {
	var all []source
	for _, parts := range t.segments {
		for _, p := range parts {
			if p.from != nil {
				all = append(all, *p.from)
			}
		}
	}
	return all
}
