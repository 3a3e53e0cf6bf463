package providertest

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"testing"

	"paybook/models"
)

// testRecuts is for forms whose signed text is name=value&name=value without any escaping: one text, so one signature, fits many forms.
// Each recording's text is cut anew, with some fields put into the value or the name of the one before. Such a form must be refused, or
// say what the genuine one says.
func (s *suite) testRecuts(t *testing.T) {
	if !s.form {
		t.Skip("no form is signed")
	}
	for _, rec := range s.recordings {
		cb := rec.Callback(rec.Provider)
		want, err := s.verify(cb)
		if err != nil {
			continue
		}
		signed, rest := formFields(t, rec.Body)
		for i := range signed {
			for n := i + 2; n <= len(signed); n++ {
				for _, recut := range [][2]string{intoValue(signed[i:n]), intoName(signed[i:n])} {
					fields := slices.Concat(signed[:i], [][2]string{recut}, signed[n:], rest)
					cb.Body = encodeFields(fields)
					s.checkRecut(t, rec.Name, recut, cb, want)
				}
			}
		}
	}
}

func (s *suite) checkRecut(t *testing.T, name string, recut [2]string, cb models.Callback, want []models.Event) {
	t.Helper()
	if got, err := s.verify(cb); err == nil && !sameFacts(want, got) {
		t.Errorf("%s: with %s=%s as one field it is still accepted, as %+v", name, recut[0], clip([]byte(recut[1])), got)
	}
}

// intoValue is one field of the same text, with all fields but the first in its value; intoName has all but the last in its name.
func intoValue(fields [][2]string) [2]string {
	name, value, _ := strings.Cut(fieldsText(fields), "=")
	return [2]string{name, value}
}

func intoName(fields [][2]string) [2]string {
	last := fields[len(fields)-1]
	return [2]string{fieldsText(fields[:len(fields)-1]) + "&" + last[0], last[1]}
}

func fieldsText(fields [][2]string) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, f[0]+"="+f[1])
	}
	return strings.Join(parts, "&")
}

// formFields are a form's fields that hold something, by name; what is not signed stands apart.
func formFields(t *testing.T, body []byte) (signed, rest [][2]string) {
	t.Helper()
	values, err := url.ParseQuery(string(body))
	if err != nil {
		t.Fatal(err)
	}
	for name := range values {
		field := [2]string{name, values.Get(name)}
		if slices.Contains([]string{"sign", "sign_type", "signature"}, name) || field[1] == "" {
			rest = append(rest, field)
			continue
		}
		signed = append(signed, field)
	}
	slices.SortFunc(signed, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	return signed, rest
}

func encodeFields(fields [][2]string) []byte {
	var parts []string
	for _, f := range fields {
		parts = append(parts, url.QueryEscape(f[0])+"="+url.QueryEscape(f[1]))
	}
	return []byte(strings.Join(parts, "&"))
}
