package parse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"paybook/callback/parse"
)

type shopSettings struct {
	Secrets []string          `json:"secrets"`
	Limit   *int              `json:"limit"`
	Files   map[string]string `json:"files"`
	Inner   *innerSettings    `json:"inner"`
	List    []innerSettings   `json:"list"`
	Hidden  string
	embeddedSettings
}

type innerSettings struct {
	Name string `json:"name"`
}

type embeddedSettings struct {
	Flag bool `json:"flag"`
}

func TestSettings(t *testing.T) {
	var got shopSettings
	err := parse.Settings(json.RawMessage(`{"comment":["x"],"provider":"shop","path":7,"secrets":["a"],"limit":null,"files":{"Aa":"1","aA":"2"},
		"inner":{"name":"n"},"list":[{"name":"l"}],"flag":true}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	if got.Secrets[0] != "a" || got.Limit != nil || len(got.Files) != 2 || got.Inner.Name != "n" || got.List[0].Name != "l" || !got.Flag {
		t.Errorf("read %+v", got)
	}
}

// What encoding/json folds or overwrites in silence is refused, at any depth, by its full path and without a value.
func TestSettingsAreRefused(t *testing.T) {
	const known = "unknown key; the keys here are files, flag, inner, limit, list, secrets"
	for text, want := range map[string]string{
		``:                                     "settings: not usable JSON",
		`null`:                                 "settings: an object expected",
		`[]`:                                   "settings: an object expected",
		`{} {}`:                                "settings: not usable JSON",
		`{"SECRETS":["s3cr3t"]}`:               "settings.SECRETS: " + known,
		`{"Flag":true}`:                        "settings.Flag: " + known,
		`{"\u017fecrets":["a"]}`:               "settings.ſecrets: " + known, // the long s folds to an s
		`{"Comment":1}`:                        "settings.Comment: " + known,
		`{"Hidden":"x"}`:                       "settings.Hidden: " + known,
		`{"secret":"s3cr3t"}`:                  "settings.secret: " + known,
		`{"flag":true,"flag":1}`:               `key "flag" is given twice`,
		`{"comment":1,"path":{"a":1,"a":2}}`:   `key "a" is given twice`,
		`{"files":{"a":"s3cr3t","a":"2"}}`:     `key "a" is given twice`,
		`{"inner":{"Name":"x"}}`:               "settings.inner.Name: unknown key; the keys here are name",
		`{"inner":{"comment":"x"}}`:            "settings.inner.comment: unknown key",
		`{"list":[{"name":"x"},{"NAME":"y"}]}`: "settings.list[1].NAME: unknown key",
		`{"secrets":"s3cr3t"}`:                 "settings.secrets: []string expected, not string",
		`{"secrets":[1234567]}`:                "settings.secrets: string expected, not number",
		`{"limit":1e30}`:                       "settings.limit: int expected, not number",
		`{"inner":{"name":{"deep":1}}}`:        "settings.inner.name: string expected, not object",
		`{"limit":"\ud800"}`:                   "half a surrogate pair",
	} {
		err := parse.Settings(json.RawMessage(text), new(shopSettings))
		if err == nil || !strings.HasPrefix(err.Error(), "settings") || !strings.Contains(err.Error(), want) {
			t.Errorf("Settings(%s) = %v, want an error with %q", text, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "1234567")) {
			t.Errorf("Settings(%s): the error tells a value: %v", text, err)
		}
	}
}

func TestVisible(t *testing.T) {
	for _, text := range []string{"", " ", "\t\r\n", "\u200b", "\u00a0\u3000", "\ufeff", "\x00\x7f\u0085", "\u00ad\u2060", "\u3164", "\u2800", "\u034f\ufe0f", "\U000e0041"} {
		if parse.Visible(text) {
			t.Errorf("Visible(%q), want it invisible", text)
		}
	}
	for _, text := range []string{"a", " a ", "密", "\u200b0", "-", "€", "\u00e9", "😀"} {
		if !parse.Visible(text) {
			t.Errorf("%q is not visible", text)
		}
	}
}
