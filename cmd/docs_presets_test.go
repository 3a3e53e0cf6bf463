package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"paybook/callback/generic"
)

// presetsConfig is the configuration of the recordings of providers by configuration alone.
const presetsConfig = kit + "presets.yaml"

// keysThatAre fails for a setting that is told and is none. A page tells the few of the many keys that its provider needs.
func keysThatAre(t *testing.T, provider string, told []string) {
	t.Helper()
	if !slices.Contains(told, "secrets") {
		t.Error("the secrets are not told")
	}
	for _, key := range append(told, "no_such_key", "signature.no_such_key") {
		err := openWith(provider, key)
		unknown := err != nil && strings.Contains(err.Error(), "settings."+key+": unknown key")
		if want := strings.HasSuffix(key, "no_such_key"); unknown != want {
			t.Errorf("%s: %v; an unknown key: %v, want %v", key, err, unknown, want)
		}
	}
}

// openWith makes an account that has nonsense under one key, and else what every preset needs.
func openWith(provider, key string) error {
	settings := map[string]any{"secrets": []string{"whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4="}, "public_url": "https://shop.example"}
	signature := map[string]any{}
	if provider == "braintree" {
		signature["public_key"] = "TESTPUBLICKEY"
	}
	settings["signature"] = signature
	at := settings
	names := strings.Split(key, ".")
	for _, name := range names[:len(names)-1] {
		inner, ok := at[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			at[name] = inner
		}
		at = inner
	}
	at[names[len(names)-1]] = []any{1}
	raw, err := json.Marshal(settings)
	if err == nil {
		_, err = providers[provider](raw, "")
	}
	return err
}

// A preset's page tells each row of its events, each column of its statement, and the zone of its day, as the preset has them.
func TestPagesTellThePreset(t *testing.T) {
	everyPage(t, func(t *testing.T, provider string, p page) {
		if !slices.Contains(generic.Presets(), provider) {
			return
		}
		var preset struct {
			Timezone string
			Events   []struct{ Type, Status, Event string }
			// The columns: a name, or a list of them.
			Statement struct{ Columns map[string]any }
		}
		raw, err := os.ReadFile("../callback/generic/presets/" + provider + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &preset); err != nil {
			t.Fatal(err)
		}
		tells := func(section int, what string) {
			if what != "" && !strings.Contains(p[section], "`"+what+"`") {
				t.Errorf("section %d does not tell %s", section, what)
			}
		}
		tells(sectionSettings, preset.Timezone)
		for _, row := range preset.Events {
			tells(sectionEvents, row.Type)
			tells(sectionEvents, row.Event)
		}
		for _, columns := range preset.Statement.Columns {
			for _, column := range strings.FieldsFunc(strings.Trim(fmt.Sprintf("%q", columns), "[]"), func(r rune) bool { return r == '"' }) {
				if strings.TrimSpace(column) != "" {
					tells(sectionStatement, column)
				}
			}
		}
	})
}
