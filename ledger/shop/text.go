package shop

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// idMax is how many bytes of an order number or an SKU the book keeps.
const idMax = 255

// unfit says why a text cannot be kept and found again; "" when it can.
func unfit(text string, max int) string {
	switch {
	case text == "":
		return "empty"
	case len(text) > max:
		return fmt.Sprintf("%d bytes long, at most %d are kept", len(text), max)
	case !utf8.ValidString(text) || strings.ContainsRune(text, unicode.ReplacementChar):
		return "holds bytes that are no text"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "holds a control character"
	}
	return ""
}

// unfitNew is unfit for a number that is given for the first time. One that was imported may look like that, and is found all the same.
func unfitNew(text string, max int) string {
	switch why := unfit(text, max); {
	case why != "":
		return why
	case strings.TrimSpace(text) != text:
		return "begins or ends with a blank"
	case text == "." || text == "..":
		return "would vanish from the order's address"
	}
	return ""
}

// segment is the part of the address between prefix and suffix, percent-decoded once: %2F in it is a slash of the number's own, and a bare
// one is none. ok is false for what can be no order's and no article's.
func segment(req *http.Request, prefix, suffix string) (text string, ok bool) {
	_, rest, _ := strings.Cut(req.URL.EscapedPath(), prefix)
	rest = strings.TrimSuffix(rest, suffix)
	text, err := url.PathUnescape(rest)
	return text, err == nil && !strings.Contains(rest, "/") && unfit(text, idMax) == ""
}
