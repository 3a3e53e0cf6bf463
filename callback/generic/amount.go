package generic

import (
	"fmt"
	"strings"

	"paybook/callback/layout"
	"paybook/callback/parse"
	"paybook/models"
)

// amountField is the order amount of a message.
type amountField struct {
	field
	unit   string         // minor, major or hundredths
	digits map[string]int // decimals of the provider's minor unit where they are not ISO's
	signed bool           // a negative payment is a refund
}

func (p *Provider) readAmount(s *parse.Section) (f amountField) {
	f.unit = "minor"
	f.field = p.readField(s, "amount", func(o *parse.Section) {
		f.unit = o.Word("unit", f.unit, "minor", "major", "hundredths")
		f.digits = layout.Digits(o, f.unit)
		f.signed = o.Word("sign", "absolute", "absolute", "negative_is_refund") != "absolute"
	})
	return f
}

// read is the amount without sign, and the kind it makes of the event.
func (f *amountField) read(r *request, currency string, kind models.EventKind) (models.Money, models.EventKind, error) {
	m, err := layout.Amount(f.text(r), currency, f.unit, f.digits)
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
