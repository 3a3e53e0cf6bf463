package generic_test

import (
	"encoding/json"
	"slices"
	"testing"

	"paybook/callback/generic"
)

// shop is the least an account of each preset must say.
var presetSettings = map[string]string{
	"braintree":        `{"secrets":["bt-private-test-only"],"signature":{"public_key":"TESTPUB"}}`,
	"mercadopago":      `{"secrets":["mercadopago-secret-test-only"]}`,
	"mollie":           `{"secrets":["mollie-secret-test-only"]}`,
	"paystack":         `{"secrets":["sk_TESTONLY_paystack"]}`,
	"razorpay":         `{"secrets":["razorpay-secret-test-only"]}`,
	"square":           `{"secrets":["square-key-test-only"],"public_url":"https://shop.example/webhooks/square"}`,
	"standardwebhooks": `{"secrets":["whsec_VEVTVC1PTkxZIHN0YW5kYXJkIHdlYmhvb2tzIGtleS4="]}`,
	"xendit":           `{"secrets":["xendit-callback-token-test-only"]}`,
}

func mustPreset(tb testing.TB, name, settings string) *generic.Provider {
	tb.Helper()
	p, err := generic.NewPreset(name)(json.RawMessage(settings), tb.TempDir())
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return p
}

func TestPresetsNeedNothingButSecrets(t *testing.T) {
	if len(presetSettings) != len(generic.Presets()) || !slices.IsSorted(generic.Presets()) {
		t.Errorf("Presets = %q, want those of this test, sorted", generic.Presets())
	}
	for _, name := range generic.Presets() {
		p := mustPreset(t, name, presetSettings[name])
		if p.Name() != name {
			t.Errorf("%s is called %q", name, p.Name())
		}
		t.Logf("%s: %q", name, p.Warnings())
	}
}
