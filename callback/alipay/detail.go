package alipay

import (
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// detail is the business bill's detail with the places of the columns we read; -1 where the bill has none.
type detail struct {
	*table
	tradeNo, orderID, kind, created, done, order, received, requestNo, fee int

	payments, refunds tally
}

func (t *table) readDetail(each func(models.Entry) error) (models.Statement, error) {
	d := &detail{
		table: t, tradeNo: t.column("支付宝交易号"), orderID: t.column("商户订单号"), kind: t.column("业务类型"),
		created: t.column("创建时间"), done: t.column("完成时间"), order: t.column("订单金额"), received: t.column("商家实收"),
		requestNo: t.column("退款批次号/请求号", "退款批次号", "退款请求号"), fee: t.column("服务费"),
		payments: tally{word: "交易"}, refunds: tally{word: "退款"},
	}
	if err := t.need("支付宝交易号", "商户订单号", "业务类型", "完成时间", "订单金额"); err != nil {
		return models.Statement{}, err
	}
	if err := t.once("退款批次号/请求号", "退款批次号", "服务费", "商家实收", "商家优惠", "商品名称", "创建时间"); err != nil {
		return models.Statement{}, err
	}
	for _, name := range []string{"订单金额", "商家实收", "商家优惠"} { // of these the closing lines may give sums
		d.payments.addColumn(name, t.column(name))
		d.refunds.addColumn(name+"退款", t.column(name))
	}
	for {
		more, err := t.next()
		if err != nil {
			return models.Statement{}, err
		}
		if !more {
			break
		}
		e, err := d.entry()
		if err != nil {
			return models.Statement{}, err
		}
		if err := each(e); err != nil {
			return models.Statement{}, err
		}
	}
	totals, err := t.closing(&d.payments, &d.refunds)
	return models.Statement{Compared: true, Title: "business bill", Totals: totals, Only: d.only()}, err
}

// only: without a column for their numbers a bill cannot hold refunds.
func (d *detail) only() models.TransactionKind {
	if d.requestNo < 0 {
		return models.Payment
	}
	return ""
}

func (d *detail) entry() (models.Entry, error) {
	e := models.Entry{Line: d.row, Status: models.StatusSucceeded, StatusText: strings.Clone(d.cell(d.kind))}
	tradeNo, err := d.ownID(d.tradeNo)
	if err != nil {
		return e, err
	}
	if tradeNo == "" {
		return e, d.failCell(d.tradeNo, "empty")
	}
	if e.OrderID, err = d.number(d.orderID); err != nil {
		return e, err
	}
	if e.OccurredAt, err = d.settledAt(); err != nil {
		return e, err
	}
	switch e.StatusText {
	case "交易":
		e.Kind, e.TransactionID = models.Payment, tradeNo
		return e, d.fillPayment(&e)
	case "退款":
		e.Kind, e.ParentID = models.Refund, tradeNo
		return e, d.fillRefund(&e)
	}
	e.Kind, e.TransactionID, e.UnknownKind = models.EntryAdjustment, tradeNo, e.StatusText
	if e.UnknownKind == "" {
		e.UnknownKind = "(empty)"
	}
	e.Money, err = d.orderAmount()
	return e, err
}

// settledAt is 完成时间: the refund's own time on refunds, where 创建时间 is still the payment's. That one is only looked at to find
// a row whose cells have slipped.
func (d *detail) settledAt() (time.Time, error) {
	if text := d.cell(d.created); text != "" {
		if _, err := parse.LocalTime(text, d.zone); err != nil {
			return time.Time{}, d.failCell(d.created, "%v", err)
		}
	}
	return d.time(d.done)
}

func (d *detail) fillPayment(e *models.Entry) (err error) {
	if e.Money, err = d.orderAmount(); err != nil {
		return err
	}
	if e.Money.Minor < 0 {
		return d.failCell(d.order, "%s: the amount of a payment (交易) has no sign", d.cell(d.order))
	}
	if e.Fee, err = d.feeAmount(); err != nil {
		return err
	}
	if err := d.fillGross(e); err != nil {
		return err
	}
	return d.payments.count(d.table)
}

// fillRefund: the refund is known by the payment's id and the shop's number of the refund, as the callback tells it; asked for
// without a number, by the payment's id twice.
func (d *detail) fillRefund(e *models.Entry) (err error) {
	if d.requestNo < 0 {
		return d.failCell(d.kind, "a refund (退款), and the header has no column 退款批次号/请求号")
	}
	if e.RefundOrderID, err = d.number(d.requestNo); err != nil {
		return err
	}
	if e.RefundOrderID == "" {
		e.RefundOrderID = e.ParentID
	}
	e.TransactionID = e.ParentID + ":" + e.RefundOrderID
	if e.Money, err = d.orderAmount(); err != nil {
		return err
	}
	if e.Money.Minor > 0 {
		return d.failCell(d.order, "%s: the amount of a refund (退款) has a minus", d.cell(d.order))
	}
	e.Money = e.Money.Abs()
	if e.Fee, err = d.feeAmount(); err != nil {
		return err
	}
	e.Fee.Minor = -e.Fee.Minor // given back
	if err := d.fillGross(e); err != nil {
		return err
	}
	return d.refunds.count(d.table)
}

// fillGross is 商家实收, with its sign: the merchant's own discounts never reach the balance.
func (d *detail) fillGross(e *models.Entry) error {
	if d.received < 0 || d.cell(d.received) == "" {
		return nil
	}
	n, err := d.amount(d.received)
	if gross := (models.Money{Minor: n, Currency: currency}); err == nil && e.Moved() != gross {
		e.Gross = gross
	}
	return err
}

// orderAmount is what callbacks speak of (total_amount), with its sign. An empty cell is no zero.
func (d *detail) orderAmount() (models.Money, error) {
	if d.cell(d.order) == "" {
		return models.Money{}, d.failCell(d.order, "empty, expected an amount")
	}
	n, err := d.amount(d.order)
	return models.Money{Minor: n, Currency: currency}, err
}

// feeAmount drops the sign, which differs from bill to bill; whether it was kept or given back is the row's kind to say.
func (d *detail) feeAmount() (models.Money, error) {
	if d.fee < 0 {
		return models.Money{}, nil
	}
	n, err := d.amount(d.fee)
	return models.Money{Minor: n, Currency: currency}.Abs(), err
}
