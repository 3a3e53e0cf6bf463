package generic

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// source is a place of a callback that holds a value.
type source struct {
	kind  string // header, query, form, json, envelope, expr, sig (another key of the signature header), body, public_url, raw_query
	name  string // of the header, parameter or key; the path or expression as it is written
	path  path   // json and envelope only
	expr  *expression
	lower bool // to be read in lower case
	id    bool // an identifier is read there, which is no true or false
}

// parseSource reads header:X, query:x, query:x|lower, form:x, json:path, $.path, envelope:path, sig:t, body, public_url or raw_query.
func parseSource(text string) (source, error) {
	switch text {
	case "body", "public_url", "raw_query":
		return source{kind: text}, nil
	}
	if strings.HasPrefix(text, "$") {
		text = "json:" + text
	}
	kind, name, _ := strings.Cut(text, ":")
	s := source{kind: kind}
	s.name, s.lower = strings.CutSuffix(name, "|lower")
	if s.name == "" {
		return s, fmt.Errorf("%q is no place of a callback: header:NAME, query:NAME, form:NAME, json:PATH expected", text)
	}
	var err error
	switch kind {
	case "header":
		s.name = http.CanonicalHeaderKey(s.name)
	case "json", "envelope":
		s.path, err = parsePath(s.name)
	case "query", "form", "sig":
	default:
		err = fmt.Errorf("%q: %q is none of header, query, form, json, envelope, sig", text, kind)
	}
	return s, err
}

func (s source) String() string { return strings.TrimSuffix(s.kind+":"+s.name, ":") }

// same says whether two places are one, however they are written.
func (s source) same(o source) bool { return s.key() == o.key() }

func (s source) key() string {
	if s.path.query != nil {
		return s.kind + s.path.String()
	}
	return s.kind + ":" + s.name
}

// request is one callback being read. Its parts are taken apart when they are first asked for, so that nothing is parsed
// before the signature is right unless the signature itself lies in it.
type request struct {
	cb        models.Callback
	publicURL string
	isForm    bool
	signature string // the text the signature was found in, with its other keys
	separator string // between those keys

	query, form url.Values
	body        parse.Value
	bodyErr     error
	bodyRead    bool
	item        parse.Value // the element of the body that is read; the zero Value: all of it
	wrong       error       // the first place or expression that could not be read
}

func (r *request) fail(err error) {
	if r.wrong == nil {
		r.wrong = err
	}
}

// find is the value at a source; "" when there is none.
func (r *request) find(s *source) string {
	text := r.raw(s)
	if s.lower {
		return strings.ToLower(text)
	}
	return text
}

func (r *request) raw(s *source) string {
	switch s.kind {
	case "header":
		if values := r.cb.Headers[s.name]; len(values) > 0 {
			return values[0]
		}
	case "query":
		return r.readQuery().Get(s.name)
	case "form":
		return r.readForm().Get(s.name)
	case "json":
		return r.plain(s)(s.path.value(r.doc()))
	case "envelope":
		return r.plain(s)(s.path.value(r.readJSON()))
	case "expr":
		return r.plain(s)(s.expr.value(r))
	case "sig":
		return keyed(r.signature, r.separator, s.name)
	case "body":
		return string(r.cb.Body)
	case "public_url":
		return r.publicURL
	case "raw_query":
		return r.cb.Query
	}
	return ""
}

// plain is a value found at a source as text. One that could not be read, and a truth value in the place of an identifier, are none.
func (r *request) plain(s *source) func(parse.Value, error) string {
	return func(v parse.Value, err error) string {
		if _, truth := v.Bool(); truth && s.id && err == nil {
			err = fmt.Errorf("%s holds %s, which is no identifier", s, scalar(v))
		}
		if err != nil {
			r.fail(err)
			return ""
		}
		return scalar(v)
	}
}

// doc is what $ stands for: the item that is read, else the whole body.
func (r *request) doc() parse.Value {
	if r.item.Exists() {
		return r.item
	}
	return r.readJSON()
}

func (r *request) readQuery() url.Values {
	if r.query == nil {
		r.query, _ = url.ParseQuery(r.cb.Query)
	}
	return r.query
}

func (r *request) readForm() url.Values {
	if r.form == nil {
		r.form, r.bodyErr = url.ParseQuery(string(r.cb.Body))
	}
	return r.form
}

func (r *request) readJSON() parse.Value {
	if !r.bodyRead {
		r.body, r.bodyErr = parse.JSON(r.cb.Body)
		r.bodyRead = true
	}
	return r.body
}

// scalar is the text of a string, a number (its digits as sent) or a truth value; "" for everything else.
func scalar(v parse.Value) string {
	if b, ok := v.Bool(); ok {
		if b {
			return "true"
		}
		return "false"
	}
	return v.Text()
}

// keyed finds the first key=value of a separated list.
func keyed(text, separator, key string) string {
	for item, rest, more := "", text, true; more; {
		item, rest, more = strings.Cut(rest, separator)
		if name, value, ok := strings.Cut(strings.TrimSpace(item), "="); ok && name == key {
			return value
		}
	}
	return ""
}
