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

// Lists, filters and places from the end; what is not one value is an error, since to take one of several would be a guess.
func TestPathsThatChoose(t *testing.T) {
	doc, err := parse.JSON([]byte(`{"amounts":[{"type":"fee","value":"1"},{"type":"total","value":"2","id":8389765929445198309},{"type":"tax","value":"2","id":8389765929445198310}],
		"same":["x","","x"],"o":{"b":"1","a":"2"},"n":[1,2.50,true,null]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`$.amounts[?@.type == "total"].value`: "2", `$.amounts[?@.type=='none'].value`: "", `$.amounts[-1].type`: "tax", `$.same[*]`: "x", `$.n[1]`: "2.50", `$.n[0:1]`: "1",
		`$.amounts[?@.id == $.amounts[1].id].type`: "total", `$.amounts[?@.type == "total"].id`: "8389765929445198309", `$.amounts[?match(@.type, "t.t.*")].value`: "2",
		`$.amounts[*].value`: "error", `$.o.*`: "error", `$.o[?@ == "2"]`: "2", `$.amounts[?@.value > 1].type`: "", `$.n[?@ > 2]`: "2.50",
	} {
		p, err := parsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.text(doc); got != want && (err == nil || want != "error") {
			t.Errorf("%s = %q, %v; want %q", text, got, err, want)
		}
	}
}

// FuzzPath: whatever the path and the document, there is a value or an error.
func FuzzPath(f *testing.F) {
	for _, text := range []string{"$.a[0].b", "a", `$["x"]`, `$.a[?@.b == 1 && length(@.c) > 2]`, "$[*]", "$.a[1:9:2]", `$.a[?search(@.b, "x")]`, "$..a"} {
		f.Add(text, `{"a":[{"b":1,"c":"xyz"}],"x":1e99}`)
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		p, err := parsePath(text)
		if err != nil {
			return
		}
		doc, err := parse.JSON([]byte(body))
		if err != nil {
			return
		}
		if got, err := p.text(doc); err != nil && got != "" {
			t.Errorf("%s in %s = %q, %v", text, body, got, err)
		}
	})
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

// Items chosen by a filter keep the digits of their numbers.
func TestListsKeepLongNumbers(t *testing.T) {
	doc, err := parse.JSON([]byte(`{"groups":[{"type":"old"},{"type":"new","items":[{"id":8389765929445198309},{"ids":[8389765929445198310]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePath(`$.groups[?@.type == "new"].items`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.list(doc)
	if err != nil || len(list) != 2 || list[0].Get("id").Number() != "8389765929445198309" || list[1].Get("ids").List()[0].Number() != "8389765929445198310" {
		t.Errorf("list = %+v, %v", list, err)
	}
}

// text is the value as a field reads it.
func (p path) text(doc parse.Value) (string, error) {
	v, err := p.value(doc)
	return scalar(v), err
}
