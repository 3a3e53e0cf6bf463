package alipay

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// fieldsMax is far above the forty fields a notification has; sorting a megabyte of "a&b&c" would be a stranger's to ask for.
const fieldsMax = 2000

// form is the fields of a body, decoded once and sorted by name, values in the bytes of the message's own charset. It is what is
// verified, and what is read afterwards: no other parser looks at the body.
type form []field

type field struct{ name, value string }

// readForm is not url.ParseQuery because that keeps the first of two fields of one name and lets others keep the last.
func readForm(body []byte) (form, error) {
	var f form
	for part := range strings.SplitSeq(string(body), "&") {
		if part == "" {
			continue
		}
		if len(f) == fieldsMax {
			return nil, fmt.Errorf("more than %d fields", fieldsMax)
		}
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			return nil, fmt.Errorf("field %d: its name has a broken %% escape", len(f)+1)
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			return nil, fmt.Errorf("field %s: a broken %% escape", printable(name))
		}
		f = append(f, field{name, value})
	}
	slices.SortFunc(f, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	for i := 1; i < len(f); i++ {
		if f[i].name == f[i-1].name {
			return nil, fmt.Errorf("field %s is given twice", printable(f[i].name))
		}
	}
	return f, nil
}

// get is a field's value as it was sent.
func (f form) get(name string) (value string, given bool) {
	i, ok := slices.BinarySearchFunc(f, name, func(x field, name string) int { return cmp.Compare(x.name, name) })
	if !ok {
		return "", false
	}
	return f[i].value, true
}

// without is the form without some fields.
func (f form) without(names ...string) form {
	return slices.DeleteFunc(slices.Clone(f), func(x field) bool { return slices.Contains(names, x.name) })
}

// text is name=value of all fields, joined by &: what the provider signs. Empty values stay in.
func (f form) text() string {
	var b strings.Builder
	for i, x := range f {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(x.name + "=" + x.value)
	}
	return b.String()
}

// ambiguous names a field we read that may stand in the signed text in another way than in the form. The text does not escape & and =,
// so the body can be cut into other fields under the same signature: a subject of "x&total_amount=99.00&z=" would become an amount,
// a refund_fee could hide at the end of receipt_amount, and out_trade_no could take in the field behind it. None of the fields we read
// has an & in a genuine message.
func (f form) ambiguous(text string) string {
	text = "&" + text
	for _, name := range fieldsRead {
		want := 0
		value, given := f.get(name)
		if given {
			want = 1
		}
		if strings.Count(text, "&"+name+"=") != want || strings.Contains(value, "&") {
			return name
		}
	}
	return ""
}

// printable is a stranger's text for a log line.
func printable(s string) string { return fmt.Sprintf("%q", clip(s)) }

// clip keeps what a stranger wrote short enough for a log line, and whole characters of it: half a one is refused by databases.
func clip(s string) string {
	const max = 128 // a notify_id, the longest name we keep
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) > max {
		return strings.ToValidUTF8(s[:max], "") + "…"
	}
	return s
}
