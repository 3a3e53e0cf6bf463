package generic

import (
	"testing"

	"paybook/callback/parse"
)

func TestPath(t *testing.T) {
	doc, err := parse.JSON([]byte(`{"a":{"b":[{"c":"x"},{"c":17}],"d.e":{"f]":"y"}},"n":null,"t":true,"s":"z"}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"$.s": "z", "s": "z", "$.a.b[0].c": "x", "$.a.b[1].c": "17", `$["a"]["b"][0]["c"]`: "x", "$['s']": "z", `$.a["d.e"]["f]"]`: "y",
		"$.t": "true", "$.n": "", "$.a": "", "$.a.b": "", "$.a.b[2].c": "", "$.a.b.c": "", "$.s.x": "", "$.s[0]": "", "$.none.x[3]": "",
	} {
		p, err := parsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.text(doc); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "$", "$.", "$..a", "$.a.", "$.a[", "$.a[]", "$.a[x]", `$["a`, "$a]b[", "$.a-b", `$.a[?@.b=="x"]..c`} {
		if p, err := parsePath(text); err == nil {
			t.Errorf("parsePath(%q) = %v, want an error", text, p)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "anything", true}, {"*", "", true}, {"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*b", "ab", true}, {"*b", "ba", false},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*c", "a", false}, {"a*b*c", "axbyc", true}, {"a*b*c", "acb", false}, {"*b*", "abc", true},
		{"*b*", "ac", false}, {"a*a", "a", false}, {"**", "x", true}, {"a*bc*", "abcbc", true},
	} {
		if got := glob(c.pattern, c.text); got != c.want {
			t.Errorf("glob(%q, %q) = %v, want %v", c.pattern, c.text, got, c.want)
		}
	}
}
