package adyen

import "paybook/models"

// apiDigits is how many decimals the webhook's integer amounts have where that is not ISO 4217's number
// (docs.adyen.com/development-resources/currency-codes). Reports are in major units and need none of this.
var apiDigits = map[string]int{"CLP": 2, "ISK": 2, "CVE": 0, "IDR": 0}

// money reads an item's amount. It is Adyen's minor units; a sum that is no whole unit of the book's is refused, not rounded.
func (p *Provider) money(it item) (models.Money, error) {
	cur, err := models.ParseCurrency(it.text("amount", "currency"))
	if err != nil {
		return models.Money{}, err
	}
	digits := models.Digits(cur)
	if n, ok := apiDigits[cur]; ok {
		digits = n
	}
	if n, ok := p.digitsOwn[cur]; ok {
		digits = n
	}
	return models.ParseMinor(it.Get("amount", "value").Number(), cur, digits)
}
