package generic

import (
	"fmt"
	"strings"

	"paybook/models"
)

// amountField is the order amount of a message.
type amountField struct {
	field
	unit   string         // minor, major or hundredths
	digits map[string]int // decimals of the provider's minor unit where they are not ISO's
	signed bool           // a negative payment is a refund
}

func (p *Provider) readAmount(s *section) (f amountField) {
	f.unit = "minor"
	f.field = p.readField(s, "amount", func(o *section) {
		f.unit = o.word("unit", f.unit, "minor", "major", "hundredths")
		f.digits = readDigits(o, f.unit)
		f.signed = o.word("sign", "absolute", "absolute", "negative_is_refund") != "absolute"
	})
	return f
}

// readDigits reads the currencies whose minor unit the provider counts otherwise, such as {"ISK": 2}.
func readDigits(s *section, unit string) map[string]int {
	o := s.object("digits")
	if o == nil {
		return nil
	}
	if unit != "minor" {
		s.fail("digits", "means nothing beside the unit %s: it is for minor units that are not ISO's", unit)
	}
	digits := map[string]int{}
	for _, currency := range o.names() {
		if known, err := models.ParseCurrency(currency); err != nil || known != currency {
			o.fail(currency, "not an ISO 4217 code in upper case")
		}
		if digits[currency] = o.whole(currency, 0, 0); digits[currency] > 8 {
			o.fail(currency, "more decimals than any currency has")
		}
	}
	return digits
}

// money reads an amount written in unit, sign kept. digits overrides ISO's decimals of the minor unit.
func money(text, currency, unit string, digits map[string]int) (models.Money, error) {
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

// read is the amount without sign, and the kind it makes of the event.
func (f *amountField) read(r *request, currency string, kind models.EventKind) (models.Money, models.EventKind, error) {
	m, err := money(f.text(r), currency, f.unit, f.digits)
	if err != nil || m.Minor >= 0 {
		return m, kind, err
	}
	if !f.signed {
		return m, kind, fmt.Errorf("%w: %s is negative", models.ErrAmount, m)
	}
	if stage, payment := strings.CutPrefix(string(kind), "payment."); payment {
		kind = models.EventKind("refund." + stage)
	}
	if _, known := kindNeeds[kind]; !known {
		return m, kind, fmt.Errorf("%w: %s is negative, and there is no event %s", models.ErrAmount, m, kind)
	}
	return m.Abs(), kind, nil
}
