package paypal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"paybook/callback/parse"
	"paybook/models"
)

// wholeOnly are the currencies that PayPal takes no decimals of (developer.paypal.com/reference/currency-codes). HUF and TWD
// have two by ISO 4217, and so in the book: 5000 HUF is 500000 minor units there.
var wholeOnly = []string{"HUF", "JPY", "TWD"}

// money reads an amount object that must be more than nothing.
func money(amount parse.Value) (models.Money, error) {
	m, err := signedMoney(amount)
	if err == nil && m.Minor < 0 {
		return models.Money{}, errors.New("negative")
	}
	return m, err
}

// signedMoney reads a decimal of major units: {currency_code, value}, in version 1 {currency, total}, for payouts {currency, value}.
func signedMoney(amount parse.Value) (models.Money, error) {
	text := cmp.Or(amount.Get("value").Text(), amount.Get("total").Text())
	currency := cmp.Or(amount.Get("currency_code").String(), amount.Get("currency").String())
	if text == "" || currency == "" {
		return models.Money{}, errors.New("missing, or without value or currency")
	}
	m, err := models.ParseMajor(text, currency)
	switch {
	case err != nil:
		return models.Money{}, err
	case slices.Contains(wholeOnly, m.Currency) && strings.Contains(text, "."):
		return models.Money{}, fmt.Errorf("%q: PayPal's %s has no decimals", clip(text), m.Currency)
	case m.Minor == 0:
		return models.Money{}, errors.New("zero, expected more than nothing")
	}
	return m, nil
}

// isID is false for text that would spoil an index or a log line. PayPal's ids are short; invoice_id has 127 characters at
// most, custom_id 255.
func isID(s string) bool {
	return parse.Visible(s) && len(s) <= 1020 && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r == unicode.ReplacementChar
	})
}
