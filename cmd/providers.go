package cmd

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"paybook/callback"
	"paybook/callback/adyen"
	"paybook/callback/alipay"
	"paybook/callback/generic"
	"paybook/callback/paypal"
	"paybook/callback/stripe"
	"paybook/callback/unionpay"
	"paybook/callback/wechatpay"
	"paybook/reconcile"
)

// provider is both halves of what we know of one provider.
type provider interface {
	callback.Provider
	reconcile.Provider
}

// opener makes a provider of an account's settings; paths in them are relative to dir.
type opener func(settings json.RawMessage, dir string) (provider, error)

// providers is every provider there is, by its name in the configuration. One in code is one line here; one by configuration alone is a
// file in callback/generic/presets.
var providers = withPresets(map[string]opener{
	adyen.Name:     open(adyen.New),
	alipay.Name:    open(alipay.New),
	generic.Name:   open(generic.New),
	paypal.Name:    open(paypal.New),
	stripe.Name:    open(stripe.New),
	unionpay.Name:  open(unionpay.New),
	wechatpay.Name: open(wechatpay.New),
})

func withPresets(all map[string]opener) map[string]opener {
	for _, name := range generic.Presets() {
		all[name] = open(generic.NewPreset(name))
	}
	return all
}

// open turns a provider's own New, which returns its own type, into an opener.
func open[P provider](newProvider func(json.RawMessage, string) (P, error)) opener {
	return func(settings json.RawMessage, dir string) (provider, error) { return newProvider(settings, dir) }
}

// providerNames lists them for people.
func providerNames() string { return strings.Join(slices.Sorted(maps.Keys(providers)), ", ") }
