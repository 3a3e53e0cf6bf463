package stripe

import (
	"cmp"
	"slices"
	"time"

	"paybook/models"
)

// balanceFile is an itemized report of balance transactions: each row moves the balance by net, which is gross less fee.
type balanceFile struct {
	*file
	orderColumn string
	settled     settled
}

func (f *balanceFile) entry() (models.Entry, error) {
	e := models.Entry{StatusText: f.Get("reporting_category"), OrderID: f.Get(f.orderColumn), RefundOrderID: f.Get("refund_metadata[refund_order_id]"), Line: f.Line()}
	c, known := categories[e.StatusText]
	if !known {
		c = category{kind: models.EntryAdjustment, status: models.StatusSucceeded}
		if !slices.Contains(otherCategories, e.StatusText) {
			e.UnknownKind = cmp.Or(e.StatusText, "(empty)")
		}
	}
	e.Kind, e.Status, e.Adjusts = c.kind, c.status, c.adjusts
	payout, err := f.names(&e)
	if err != nil {
		return e, err
	}
	gross, fee, err := f.amounts()
	if err != nil {
		return e, err
	}
	if c.sign*sign(gross) < 0 {
		return e, f.Fail("gross", "%s has the wrong sign for a %s", gross.Text(), e.StatusText)
	}
	e.Fee, e.PayoutID = fee, payout
	if err := f.money(&e, gross); err != nil {
		return e, err
	}
	if e.Moved() != gross {
		e.Gross = gross
	}
	if e.OccurredAt, err = f.time(); err == nil {
		f.settled.row(payout, e.OccurredAt, f.zone)
	}
	return e, err
}

// names reads the ids. A movement is named by its source; rows without one (fees) by their own row id. What a charge_failure
// or a partial_capture_reversal changes is the charge, whatever its source is. payout is the one that settled the row, if any has.
func (f *balanceFile) names(e *models.Entry) (payout string, err error) {
	var source, row, charge, intent string
	for _, cell := range [...]struct {
		to     *string
		column string
	}{
		{&source, "source_id"}, {&row, "balance_transaction_id"}, {&charge, "charge_id"}, {&intent, "payment_intent_id"},
		{&payout, "automatic_payout_id"},
	} {
		if *cell.to, err = f.ID(cell.column); err != nil {
			return "", err
		}
	}
	e.TransactionID = cmp.Or(source, row)
	switch {
	case e.Kind == models.Payment:
		if e.StatusText != "charge" {
			e.TransactionID = cmp.Or(charge, source, row)
		}
		if intent != "" && intent != e.TransactionID {
			e.Aliases = []string{intent}
		}
	case e.Kind.Compared():
		e.ParentID = cmp.Or(charge, intent)
	}
	if e.TransactionID == "" {
		return "", f.Fail("source_id", "empty, and balance_transaction_id too: the row has no name")
	}
	return payout, nil
}

// money is the sum the callback spoke of: the customer's currency where the report tells it, else the settlement's. It has no
// sign but where the kind does not tell the direction: an adjustment or a reserve as it moved the balance, a fee as what Stripe kept.
func (f *balanceFile) money(e *models.Entry, gross models.Money) error {
	e.Money = gross
	if f.Get("customer_facing_amount") != "" && e.Kind.Compared() {
		told, err := f.Money("customer_facing_amount", f.Get("customer_facing_currency"))
		if err != nil {
			return err
		}
		e.Money = told
	}
	switch {
	case e.Adjusts:
		e.Money = negative(e.Money.Abs())
	case e.Kind == models.EntryFee:
		e.Money = negative(gross)
	case e.Kind != models.EntryAdjustment && e.Kind != models.EntryReserve:
		e.Money = e.Money.Abs()
	}
	return nil
}

// settled tells a payout's rows from a day's, where neither name nor header does: every row has been paid out, and they are of
// several days.
type settled struct {
	rows, paidOut int
	first         civil
	severalDays   bool
}

// civil is a day of the report's zone.
type civil struct {
	year  int
	month time.Month
	day   int
}

func (s *settled) row(payout string, at time.Time, zone *time.Location) {
	var on civil
	on.year, on.month, on.day = at.In(zone).Date()
	if s.rows == 0 {
		s.first = on
	}
	s.rows++
	if payout != "" {
		s.paidOut++
	}
	s.severalDays = s.severalDays || on != s.first
}

func (s *settled) ofPayouts() bool { return s.severalDays && s.paidOut == s.rows }
