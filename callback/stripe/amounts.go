package stripe

import (
	"cmp"

	"paybook/models"
)

// amounts reads gross and fee in the settlement currency and proves them by net, which catches a file that was edited. An empty
// fee is none.
func (f *file) amounts() (gross, fee models.Money, err error) {
	currency := f.Get("currency")
	if gross, err = f.Money("gross", currency); err != nil {
		return gross, fee, err
	}
	fee = models.Money{Currency: gross.Currency}
	if f.Get("fee") != "" {
		if fee, err = f.Money("fee", currency); err != nil {
			return gross, fee, err
		}
	}
	if f.Get("fee") == "" || f.Get("net") == "" {
		return gross, fee, nil
	}
	net, err := f.Money("net", currency)
	if err == nil && net.Minor != gross.Minor-fee.Minor {
		err = f.Fail("net", "%s is not gross %s less fee %s", net.Text(), gross.Text(), fee.Text())
	}
	return gross, fee, err
}

// summed checks a row of a summary: sums by category in the settlement currency, or, in the balance summary, a net amount alone.
// They can't be held against the rows, which are compared in the customer's currency.
func (f *file) summed() (models.Entry, error) {
	if f.Has("net_amount") {
		_, err := f.Money("net_amount", f.Get("currency"))
		return models.Entry{}, err
	}
	_, _, err := f.amounts()
	return models.Entry{}, err
}

func sign(m models.Money) int { return cmp.Compare(m.Minor, 0) }

func negative(m models.Money) models.Money {
	m.Minor = -m.Minor
	return m
}
