package stripe

import (
	"fmt"

	"paybook/models"
)

// apiDigits is how many decimals the API's integer amounts have where that is not two (docs.stripe.com/currencies). Reports
// are in major units and need none of this.
//
// Not here on purpose: ISK and UGX have no decimals any more, but the API keeps counting them in hundredths (150000 is 1500
// ISK). HUF and TWD have two decimals throughout; payouts of them are whole units, written as multiples of 100.
var apiDigits = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "JPY": 0, "KMF": 0, "KRW": 0, "MGA": 0, "PYG": 0, "RWF": 0, "VND": 0, "VUV": 0,
	"XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "JOD": 3, "KWD": 3, "OMR": 3, "TND": 3,
	"ISK": 2, "UGX": 2,
}

// digits is how many decimals the API's minor unit of a currency stands for. A currency that Stripe's list does not have
// and ISO does not give two decimals is refused: a guess would book a tenth or a hundredfold.
func (p *Provider) digits(code string) (int, error) {
	cur, err := models.ParseCurrency(code)
	if err != nil {
		return 0, err
	}
	if n, ok := p.digitsOwn[cur]; ok {
		return n, nil
	}
	if n, ok := apiDigits[cur]; ok {
		return n, nil
	}
	if models.Digits(cur) != 2 {
		return 0, fmt.Errorf("%s is not in Stripe's list of currencies; give its decimals in settings.currency_digits", cur)
	}
	return 2, nil
}
