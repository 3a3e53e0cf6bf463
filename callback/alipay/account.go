package alipay

import "paybook/models"

// readAccount reads the account bill (bill_type signcustomer): every movement of the balance. It is checked, not compared: what
// reaches the balance is the order's amount less discounts, its refunds lack the shop's number that tells two refunds of one payment
// apart, and beside a business bill every payment would be there twice.
func (t *table) readAccount() (models.Statement, error) {
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
	}
	var err error
	out.Totals, err = t.closing(income, spent)
	return out, err
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
