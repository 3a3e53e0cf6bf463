package adyen

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// settlement is a settlement details report with its current row.
type settlement struct {
	*parse.Table
	p       *Provider
	zone    *time.Location
	batches batches
}

func (f *settlement) entry() (models.Entry, error) {
	e := models.Entry{Status: models.StatusSucceeded, StatusText: f.Get("Type"), OrderID: f.Get("Merchant Reference"), Line: f.Line()}
	if err := f.p.checkMerchant(f.Table); err != nil {
		return e, err
	}
	typ, known := rowTypes[strings.ToLower(e.StatusText)]
	if !known {
		typ.kind, e.UnknownKind = models.EntryAdjustment, cmp.Or(e.StatusText, "(empty)")
	}
	e.Kind = typ.kind
	net, err := f.balance("Net Debit (NC)", "Net Credit (NC)", "Net Currency")
	if err != nil {
		return e, err
	}
	if e.OccurredAt, err = f.p.rowTime(f.Table, "Creation Date", f.zone); err != nil {
		return e, err
	}
	if e.Kind.Compared() {
		err = f.movement(&e, typ, net)
	} else {
		f.other(&e, net)
	}
	f.batches.add(f, e.Kind, net)
	e.PayoutID = f.batch()
	return e, err
}

// batch is what the payout that settles the row is known by in every other row: the number of its batch, which each merchant account
// counts for itself.
func (f *settlement) batch() string {
	number := f.Get("Batch Number")
	if number == "" || len(f.p.merchants) == 1 {
		return number
	}
	return f.Get("Merchant Account") + "/" + number
}

// movement is a row that a callback has told of: the payment by its own reference, all else by that of the modification or dispute.
// Its sum is the gross one, in the shopper's currency; a small payment can cost more than it brings, so the net says nothing.
func (f *settlement) movement(e *models.Entry, typ rowType, net models.Money) error {
	if err := f.names(e, typ.round); err != nil {
		return err
	}
	gross, err := f.balance("Gross Debit (GC)", "Gross Credit (GC)", "Gross Currency")
	if err != nil {
		return err
	}
	side, other := "Gross Debit (GC)", "Gross Credit (GC)"
	if typ.credit {
		side, other = other, side
	}
	switch {
	case f.Get(side) == "" && f.Get(other) == "":
		return f.Fail(side, "empty: a row of type %s needs its sum", clip(e.StatusText))
	case typ.credit != (gross.Minor > 0) && gross.Minor != 0:
		return f.Fail(other, "%s is on the wrong side for a row of type %s", gross.Abs().Text(), clip(e.StatusText))
	}
	e.Money = gross.Abs()
	e.Part = e.Kind == models.Payment // of which there may be more captures
	if e.Fee, err = f.fee(net.Currency); err != nil {
		return err
	}
	settled := models.Money{Minor: net.Minor + e.Fee.Minor, Currency: net.Currency}
	if e.Moved() != settled {
		e.Gross = settled
	}
	return nil
}

// names: the Modification Reference is the capture of a payment, and the very thing of all else. A dispute's second chargeback has the
// reference of the first, and is money taken once more.
func (f *settlement) names(e *models.Entry, round string) error {
	payment, err := f.id("Psp Reference")
	if err != nil {
		return err
	}
	if e.Kind == models.Payment {
		e.TransactionID = payment
		capture, err := f.ID("Modification Reference")
		if capture != "" && capture != payment {
			e.Aliases = []string{capture}
		}
		return err
	}
	if own := f.Get("Modification Merchant Reference"); e.Kind == models.Refund && own != e.OrderID {
		e.RefundOrderID = own
	}
	e.ParentID = payment
	e.TransactionID, err = f.id("Modification Reference")
	e.TransactionID += round
	return err
}

// id is an identifier that must be there.
func (f *settlement) id(column string) (string, error) {
	id, err := f.ID(column)
	if err == nil && id == "" {
		err = f.Fail(column, "empty: a row of type %s has no name without it", clip(f.Get("Type")))
	}
	return id, err
}

// other is a row of the account: a fee as what Adyen kept, a payout as what was paid, all else as it moved the balance. Such rows can
// be alike in every cell, so the row's number is part of their name; a payout has the text that the bank shows.
func (f *settlement) other(e *models.Entry, net models.Money) {
	reference := f.Get("Modification Reference")
	e.ParentID = f.Get("Psp Reference")
	e.Money, e.Fee = net, models.Money{Currency: net.Currency}
	e.TransactionID = strings.Join([]string{f.Get("Batch Number"), e.StatusText, reference, net.Text(), strconv.Itoa(e.Line)}, ":")
	switch e.Kind {
	case models.EntryFee:
		e.Money.Minor = -net.Minor
	case models.Payout:
		e.TransactionID = cmp.Or(reference, e.TransactionID)
		if e.Money = net.Abs(); net.Minor > 0 {
			e.Gross = net
		}
	}
}

// balance reads a debit and a credit column as one sum, credit positive. Either may be empty.
func (f *settlement) balance(debit, credit, currency string) (models.Money, error) {
	sum, err := f.unsigned(credit, currency)
	if err != nil {
		return sum, err
	}
	out, err := f.unsigned(debit, currency)
	switch {
	case err != nil:
		return sum, err
	case sum.Minor != 0 && out.Minor != 0:
		return sum, f.Fail(debit, "%s here and %s in %s: one of the two must be empty", out.Text(), sum.Text(), credit)
	}
	sum.Minor -= out.Minor
	return sum, nil
}

func (f *settlement) unsigned(column, currency string) (models.Money, error) {
	code, err := models.ParseCurrency(f.Get(currency))
	if err != nil {
		return models.Money{}, f.Fail(currency, "%v", err)
	}
	if f.Get(column) == "" {
		return models.Money{Currency: code}, nil
	}
	m, err := f.Money(column, code)
	if err == nil && m.Minor < 0 {
		err = f.Fail(column, "%s has a sign; debit and credit have columns of their own", m.Text())
	}
	return m, err
}

// fee may be negative, when Adyen gave back.
func (f *settlement) fee(currency string) (models.Money, error) {
	var fee models.Money // without a column for it nobody knows
	for _, column := range feeColumns {
		if f.Has(column) {
			fee.Currency = currency
		}
		if f.Get(column) == "" {
			continue
		}
		part, err := f.Money(column, currency)
		if err != nil {
			return fee, err
		}
		fee.Minor += part.Minor
	}
	return fee, nil
}
