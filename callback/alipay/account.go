package alipay

import (
	"strings"

	"paybook/models"
)

// readAccount reads the account bill (bill_type signcustomer): every movement of the balance. It is checked, not compared: what
// reaches the balance is the order's amount less discounts, its refunds lack the shop's number that tells two refunds of one payment
// apart, and beside a business bill every payment would be there twice. Withdrawals to the bank (提现) are handed over as payouts.
func (t *table) readAccount(each func(models.Entry) error) (models.Statement, error) {
	out := models.Statement{Title: "account bill"}
	if err := t.need("账务流水号", "发生时间", "收入金额", "支出金额"); err != nil {
		return out, err
	}
	income, spent := &tally{word: "收入"}, &tally{word: "支出"}
	income.addColumn("", t.column("收入金额"))
	spent.addColumn("", t.column("支出金额"))
	for {
		more, err := t.next()
		if err != nil {
			return out, err
		}
		if !more {
			break
		}
		if err := t.countMovement(income, spent); err != nil {
			return out, err
		}
		if kind := t.cell(t.column("业务类型")); strings.Contains(kind, "提现") {
			e, err := t.payout(kind, income, spent)
			if err == nil {
				err = each(e)
			}
			if err != nil {
				return out, err
			}
		}
	}
	var err error
	out.Totals, err = t.closing(income, spent)
	return out, err
}

// payout is money that went to the merchant's bank, or came back from there.
func (t *table) payout(kind string, income, spent *tally) (models.Entry, error) {
	e := models.Entry{Kind: models.Payout, Status: models.StatusSucceeded, StatusText: strings.Clone(kind), Line: t.row}
	var err error
	if e.TransactionID, err = t.ownID(t.column("账务流水号")); err != nil {
		return e, err
	}
	if e.OccurredAt, err = t.time(t.column("发生时间")); err != nil {
		return e, err
	}
	in, err := t.amount(income.sums[0].column)
	if err != nil {
		return e, err
	}
	if in != 0 {
		e.Status = models.StatusReversed
	}
	out, err := t.amount(spent.sums[0].column)
	e.Money = models.Money{Minor: in + out, Currency: currency}.Abs()
	return e, err
}

// countMovement: a row is either income or expense; the other column is empty or zero.
func (t *table) countMovement(income, spent *tally) error {
	serial, err := t.ownID(t.column("账务流水号"))
	if err != nil {
		return err
	}
	if serial == "" {
		return t.failCell(t.column("账务流水号"), "empty")
	}
	if _, err := t.time(t.column("发生时间")); err != nil {
		return err
	}
	in, err := t.amount(income.sums[0].column)
	if err != nil {
		return err
	}
	out, err := t.amount(spent.sums[0].column)
	switch {
	case err != nil:
		return err
	case in != 0 && out != 0:
		return t.failCell(spent.sums[0].column, "the row is income and expense at once")
	case in != 0:
		return income.count(t)
	}
	return spent.count(t)
}

// readAccountSummary knows the file that lies beside the account bill by its title. Nobody has shown its columns, so all that is
// checked is that it is text.
func (t *table) readAccountSummary() (models.Statement, error) {
	for {
		if more, err := t.read(); err != nil || !more {
			return models.Statement{Title: "account bill summary"}, err
		}
	}
}
