package parse_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"paybook/callback/parse"
)

// F10: numbers keep the digits they were sent with.
func TestNumbersKeepTheirDigits(t *testing.T) {
	v, err := parse.JSON([]byte(`{"a":8389765929445198309,"b":8389765929445198310,"c":5.120,"d":"5.120","e":-1e5}`))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"a": "8389765929445198309", "b": "8389765929445198310", "c": "5.120", "d": "5.120", "e": "-1e5"} {
		if got := v.Get(key).Text(); got != want {
			t.Errorf("%s = %q, want %q", key, got, want)
		}
	}
	if v.Get("a").String() != "" || v.Get("d").Number() != "" {
		t.Error("a number is taken for a string, or a string for a number")
	}
}

// F12, F15: what a genuine provider never sends.
func TestJSONIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "unexpected end",
		" \n":                      "unexpected end",
		`{"a":1}{"a":2}`:           "after top-level value",
		`{"a":1} x`:                "after top-level value",
		`{"a":1,"a":1}`:            `key "a" is given twice`,
		`{"o":{"a":1,"\u0061":2}}`: `key "a" is given twice`,
		`[{"a":1,"b":2,"a":3}]`:    `key "a" is given twice`,
		"{\"a\":\"\xff\"}":         "not UTF-8",
		`{"\ud800":1,"\ud801":2}`:  "half a surrogate pair",
		`{"a\u0000":1}`:            "NUL",
		`{"a":1`:                   "unexpected end",
		`{"a":01}`:                 "invalid character",
		`{'a':1}`:                  "invalid character",
		`{"a":1,}`:                 "invalid character",
		`NaN`:                      "invalid character",
		"\ufeff{}":                 "invalid character",
		strings.Repeat("[", 65) + "1" + strings.Repeat("]", 65): "nested deeper than 64",
		strings.Repeat("[", 1<<20):                              "",
		strings.Repeat(`{"a":`, 1<<18):                          "",
	} {
		v, err := parse.JSON([]byte(text))
		if !errors.Is(err, parse.ErrJSON) || !strings.Contains(err.Error(), want) {
			t.Errorf("JSON(%.40q) = %v, %v; want an error with %q", text, v, err, want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("JSON(%.40q): the error quotes %d bytes", text, len(err.Error()))
		}
	}
}

func TestJSONReadsEveryKindOfValue(t *testing.T) {
	const text = " {\"s\":\"\u00e9\\u00e9\\n\\\"\\\\\\/\",\"n\" : [ 1 , -2.50e+3 ,[],{} ] ,\"t\":true,\r\n\t\"f\":false,\"null\":null,\"\":{\"a\":{\"b\":\"deep\"}}} "
	v, err := parse.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"s": "éé\n\"\\/", "n": []any{json.Number("1"), json.Number("-2.50e+3"), []any{}, map[string]any{}},
		"t": true, "f": false, "null": nil, "": map[string]any{"a": map[string]any{"b": "deep"}},
	}
	if !reflect.DeepEqual(v.Any(), any(want)) {
		t.Errorf("JSON = %#v, want %#v", v.Any(), want)
	}
	if got := v.Get("", "a", "b").Text(); got != "deep" {
		t.Errorf("Get = %q, want deep", got)
	}
	if b, ok := v.Get("t").Bool(); !b || !ok {
		t.Error("true is not true")
	}
	if _, ok := v.Get("s").Bool(); ok {
		t.Error("a string is taken for a truth value")
	}
	if list := v.Get("n").List(); len(list) != 4 || list[1].Number() != "-2.50e+3" || !list[3].IsObject() {
		t.Errorf("List = %v", list)
	}
	for _, missing := range []parse.Value{v.Get("none"), v.Get("null"), v.Get("s", "x"), v.Get("n", "0"), {}} {
		if missing.Exists() || missing.Text() != "" || missing.List() != nil || missing.IsObject() {
			t.Errorf("%v is there, want nothing", missing)
		}
	}
}

// A whole pair, a literal U+FFFD and an escaped backslash before "ud800" are text like any other.
func TestJSONReadsWholeSurrogatePairs(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83d\ude00"`: "😀", `"\uD83D\uDE00\ufffd"`: "😀\ufffd", "\"\ufffd\\n\"": "\ufffd\n", `"\ufffd"`: "\ufffd",
		`"\\ud800\ufffd"`: "\\ud800\ufffd", "\"\ufffd\\ud83d\\ude00\"": "\ufffd😀", `"\ufffd\ud7ff\ue000"`: "\ufffd\ud7ff\ue000",
	} {
		if v, err := parse.JSON([]byte(text)); err != nil || v.String() != want {
			t.Errorf("JSON(%s) = %q, %v; want %q", text, v.String(), err, want)
		}
	}
}

// A payer's broken emoji or a stray NUL costs the string it stands in and nothing else, and never becomes another text.
func TestUnusableStrings(t *testing.T) {
	for text, why := range map[string]string{
		`"x\u0000"`: "NUL", `"\u0000\ud800"`: "NUL", `"T\ud800"`: "half", `"\uDFFFT"`: "half", `"\ud83d\ud83d"`: "half", `"\ude00\ud83d"`: "half",
		`"\ud83d\\ude00"`: "half", `"\ud83dx\ude00"`: "half", `"\ud83d\u0041"`: "half", `"\\\ud800"`: "half",
	} {
		doc, err := parse.JSON([]byte(`{"note":` + text + ` , "list":[1,` + text + `,"y"],"id":"T1"}`))
		if err != nil {
			t.Errorf("JSON with %s: %v", text, err)
			continue
		}
		for _, v := range []parse.Value{doc.Get("note"), doc.Get("list").List()[1], parse.Of(doc.Get("note").Any())} {
			if bad := v.Unusable(); bad == nil || !strings.Contains(bad.Error(), why) {
				t.Errorf("%s: Unusable = %v, want %s", text, bad, why)
			}
			_, truth := v.Bool()
			if !v.Exists() || v.Text() != "" || v.String() != "" || v.Number() != "" || v.IsObject() || v.List() != nil || truth || v.Get("x").Exists() {
				t.Errorf("%s: %#v is more than a value that is there", text, v.Any())
			}
			if _, plain := v.Any().(string); plain {
				t.Errorf("%s is a string", text)
			}
		}
		if doc.Get("id").Text() != "T1" || doc.Get("id").Unusable() != nil || len(doc.Get("list").List()) != 3 || doc.Get("list").List()[2].Text() != "y" {
			t.Errorf("%s: the rest is read as %#v", text, doc.Any())
		}
		if _, err := parse.StrictJSON([]byte(`{"note":` + text + `}`)); !errors.Is(err, parse.ErrJSON) || !strings.Contains(err.Error(), why) {
			t.Errorf("StrictJSON(%s): %v, want it refused for %s", text, err, why)
		}
	}
	if v, err := parse.StrictJSON([]byte(`{"a":"\ud83d\ude00"}`)); err != nil || v.Get("a").Text() != "😀" || (parse.Value{}).Unusable() != nil {
		t.Errorf("StrictJSON = %v, %v", v, err)
	}
}

// Deep, but not too deep: 64 levels are read.
func TestJSONDepth(t *testing.T) {
	if _, err := parse.JSON([]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64))); err != nil {
		t.Error(err)
	}
}

// FuzzJSON: whatever we take, the standard library takes too, and reads the same in it.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,"x",null,true,{"b":-1.5e3}]}`, `"\ud83d\ude00"`, `"\ud83d"`, `{"a":["x\u0000",1]}`, " 1 ", `{"a":1,"a":2}`, "[", `"\`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := parse.JSON(text)
		if err != nil {
			return
		}
		dec := json.NewDecoder(strings.NewReader(string(text)))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil || !same(v, want) {
			t.Errorf("JSON(%q) = %#v, the standard library has %#v, %v", text, v.Any(), want, err)
		}
	})
}

// same is deep equality, but for unusable strings: there the library has some text with a NUL or U+FFFD in it.
func same(v parse.Value, want any) bool {
	if v.Unusable() != nil {
		text, ok := want.(string)
		return ok && strings.ContainsAny(text, "\x00\ufffd")
	}
	switch want := want.(type) {
	case map[string]any:
		got, ok := v.Any().(map[string]any)
		for key := range want {
			ok = ok && same(parse.Of(got[key]), want[key])
		}
		return ok && len(got) == len(want)
	case []any:
		got, ok := v.Any().([]any)
		ok = ok && len(got) == len(want)
		for i := range want {
			ok = ok && same(parse.Of(got[i]), want[i])
		}
		return ok
	}
	return reflect.DeepEqual(v.Any(), want)
}

func BenchmarkJSON(b *testing.B) {
	text := []byte(`{"transaction_id":"bench-1","order_no":"O000000000001","amount":"12.34","currency":"CNY","status":"SUCCESS",` +
		`"paid_at":"2026-11-30T10:00:00+08:00","attach":"sku-1001","payer":"o-abcdefghijk"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse.JSON(text); err != nil {
			b.Fatal(err)
		}
	}
}
