package wechatpay

import (
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// readFundFlow reads the account's movements (11 columns) to the end and holds them against their summary. It is not compared:
// it nets refunds with returned fees, and knows settlements and withdrawals that no callback speaks of.
func (b *bill) readFundFlow(zone *time.Location) (models.Statement, error) {
	if err := b.need("记账时间", "微信支付业务单号", "资金流水单号", "收支类型", "收支金额"); err != nil {
		return models.Statement{}, err
	}
	at, direction, amount := b.column("记账时间"), b.column("收支类型"), b.column("收支金额")
	in := func() bool { return b.cell(direction) == "收入" }
	out := func() bool { return b.cell(direction) == "支出" }
	b.sums = []*sum{
		{names: []string{"收入金额"}, column: amount, only: in},
		{names: []string{"支出金额"}, column: amount, only: out},
	}
	var counts fundCounts
	for {
		more, err := b.next()
		if err != nil {
			return models.Statement{}, err
		}
		if !more {
			break
		}
		switch {
		case in():
			counts.in++
		case out():
			counts.out++
		default:
			return models.Statement{}, b.fail("收支类型", "%q, expected 收入 or 支出", clip(b.cell(direction)))
		}
		if _, err := parse.LocalTime(b.cell(at), zone); err != nil {
			return models.Statement{}, b.fail("记账时间", "%v", err)
		}
		if _, err := b.money(amount, "CNY"); err != nil {
			return models.Statement{}, err
		}
	}
	totals, err := b.checkFundSummary(counts)
	return models.Statement{Title: "fund flow bill", Totals: totals}, err
}

type fundCounts struct{ in, out int64 }

// checkFundSummary checks the two counts that only this bill has, and then what all bills have.
func (b *bill) checkFundSummary(counts fundCounts) (proved bool, err error) {
	head := names(b.text)
	if proved, err = b.checkSummary("资金流水总笔数"); err != nil {
		return false, err
	}
	for i, name := range head {
		rows := counts.in
		switch name {
		case "支出笔数":
			rows = counts.out
		case "收入笔数":
		default:
			continue
		}
		if err := b.checkCount(name, b.cells[i], rows); err != nil {
			return false, err
		}
	}
	return proved, nil
}
