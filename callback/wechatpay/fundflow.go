package wechatpay

import (
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// readFundFlow reads the account's movements (11 columns) to the end and holds them against their summary. It is not compared:
// it nets refunds with returned fees. Settlements and withdrawals, of which no callback speaks, are handed over as payouts.
func (b *bill) readFundFlow(zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
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
		when, err := parse.LocalTime(b.cell(at), zone)
		if err != nil {
			return models.Statement{}, b.fail("记账时间", "%v", err)
		}
		sum, err := b.money(amount, "CNY")
		if err != nil {
			return models.Statement{}, err
		}
		if kind := b.cell(b.column("业务类型")); strings.Contains(kind, "提现") || strings.Contains(kind, "结算") {
			if err := each(b.payout(kind, sum, when, in())); err != nil {
				return models.Statement{}, err
			}
		}
	}
	totals, err := b.checkFundSummary(counts)
	return models.Statement{Title: "fund flow bill", Totals: totals}, err
}

// payout is money that went to the merchant's bank, or came back from there.
func (b *bill) payout(kind string, sum models.Money, at time.Time, back bool) models.Entry {
	e := models.Entry{Kind: models.Payout, TransactionID: b.id(b.column("资金流水单号")), Money: sum, Status: models.StatusSucceeded, StatusText: kind,
		OccurredAt: at, Line: b.line}
	if back {
		e.Status = models.StatusReversed
	}
	if voucher := b.id(b.column("业务凭证号")); voucher != "" { // what the bank's line may show
		e.Aliases = []string{voucher}
	}
	return e
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
