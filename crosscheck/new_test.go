package crosscheck

import (
	"encoding/json"
	"os"
	"testing"

	"paybook/callback"
)

// newProvider is our provider with the settings of its kit.
func newProvider[P callback.Provider](t *testing.T, kit string, open func(json.RawMessage, string) (P, error)) P {
	t.Helper()
	dir := "../testdata/" + kit
	settings := must(os.ReadFile(dir + "/config.json"))(t)
	return must(open(settings, dir))(t)
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
