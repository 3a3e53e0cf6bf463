package layout

import (
	"paybook/callback/parse"
	"paybook/models"
)

// Digits reads the currencies whose minor unit the provider counts otherwise, such as {"ISK": 2}.
func Digits(s *parse.Section, unit string) map[string]int {
	o := s.Object("digits")
	if o == nil {
		return nil
	}
	if unit != "minor" {
		s.Fail("digits", "means nothing beside the unit %s: it is for minor units that are not ISO's", unit)
	}
	digits := map[string]int{}
	for _, currency := range o.Names() {
		if known, err := models.ParseCurrency(currency); err != nil || known != currency {
			o.Fail(currency, "not an ISO 4217 code in upper case")
		}
		if digits[currency] = o.Whole(currency, 0, 0); digits[currency] > 8 {
			o.Fail(currency, "more decimals than any currency has")
		}
	}
	return digits
}

// Amount reads an amount written in unit, sign kept. digits overrides ISO's decimals of the minor unit.
func Amount(text, currency, unit string, digits map[string]int) (models.Money, error) {
	if unit == "major" {
		return models.ParseMajor(text, currency)
	}
	code, err := models.ParseCurrency(currency)
	if err != nil {
		return models.Money{}, err
	}
	n, special := digits[code]
	switch {
	case unit == "hundredths":
		n = 2
	case !special:
		n = models.Digits(code)
	}
	return models.ParseMinor(text, code, n)
}
