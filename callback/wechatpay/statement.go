package wechatpay

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// ReadStatement reads what the provider hands out under the name of a bill: the trade bill (whole, payments only, refunds only,
// and the 24 columns that old merchants still get), which is compared; the fund flow bill and the answer that names a bill's
// digest, which are checked only. Anything else is a *models.FileError that says what it is.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	buf := bufio.NewReaderSize(r, 64<<10)
	head, _ := buf.Peek(512)
	if text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(bom))); len(text) > 0 && text[0] == '{' {
		return readAnswer(name, buf)
	}
	if err := parse.Sniff(name, buf); err != nil {
		return models.Statement{}, err
	}
	if start, _ := buf.Peek(headMax); bytes.IndexByte(start, '\n') < 0 && bytes.IndexByte(bytes.TrimSpace(start), '\r') >= 0 {
		return models.Statement{}, &models.FileError{File: name, Line: 1, What: "its lines end in CR alone, a bill's in LF or CRLF: a program has saved it anew",
			Next: "download it again"}
	}
	b, err := newBill(name, buf)
	switch {
	case err != nil:
		return models.Statement{}, err
	case b.has("交易对方"), strings.HasPrefix(b.header[0], "微信支付账单明细"):
		return models.Statement{}, b.fail("", "the personal export of the app, not a merchant's bill")
	case b.has("资金流水单号"):
		return b.readFundFlow(zone, each)
	}
	return p.readTradeBill(b, zone, each)
}

// headMax is far longer than any bill's header line, in bytes.
const headMax = 8 << 10

// trade is a trade bill with the places of the columns we read; -1 where the bill has none.
type trade struct {
	*bill
	provider *Provider
	zone     *time.Location

	at, asked, appID, mchID, subMchID, paymentID, orderID, state, currency, fee, order, settled int
	refundID, refundOrderID, refund, refundState, refundSettled                                 int
}

func (p *Provider) readTradeBill(b *bill, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	t, err := newTrade(p, b, zone)
	if err != nil {
		return models.Statement{}, err
	}
	for {
		more, err := t.next()
		if err != nil {
			return models.Statement{}, err
		}
		if !more {
			break
		}
		entry, err := t.entry()
		if err != nil {
			return models.Statement{}, err
		}
		if err := each(entry); err != nil {
			return models.Statement{}, err
		}
	}
	totals, err := t.checkSummary("总交易单数")
	if err != nil {
		return models.Statement{}, err
	}
	return models.Statement{Compared: true, Title: "trade bill", Totals: totals, Only: t.only()}, nil
}

// only tells the bill of payments only, which has no refund columns, and the one of refunds only, the only one to say when each
// was asked for (bill_type SUCCESS and REFUND).
func (t *trade) only() models.TransactionKind {
	switch {
	case t.refundID < 0:
		return models.Payment
	case t.asked >= 0:
		return models.Refund
	}
	return ""
}

func newTrade(p *Provider, b *bill, zone *time.Location) (*trade, error) {
	t := &trade{
		bill: b, provider: p, zone: zone,
		at: b.column("交易时间"), asked: b.column("退款申请时间"),
		appID: b.column("公众账号ID"), mchID: b.column("商户号"), subMchID: b.column("特约商户号", "子商户号"),
		paymentID: b.column("微信订单号"), orderID: b.column("商户订单号"), state: b.column("交易状态"),
		currency: b.column("货币种类"), fee: b.column("手续费"),
		refundID: b.column("微信退款单号"), refundOrderID: b.column("商户退款单号"), refundState: b.column("退款状态"),
	}
	order, refund := amountColumns(b)
	t.order, t.refund = b.column(order), b.column(refund)
	if t.settled, t.refundSettled = b.column("应结订单金额"), -1; refund != "退款金额" {
		t.refundSettled = b.column("退款金额")
	}
	needed := []string{"交易时间", "商户号", "微信订单号", "商户订单号", "交易状态", "货币种类", "手续费", order}
	if t.refundID >= 0 || t.refundOrderID >= 0 || t.refundState >= 0 { // all of a refund, or nothing of it
		needed = append(needed, "微信退款单号", "商户退款单号", "退款状态", refund)
	}
	if len(p.subMchIDs) > 0 && t.subMchID < 0 {
		needed = append(needed, "特约商户号")
	}
	b.sums = tradeSums(b)
	return t, b.need(needed...)
}

// amountColumns: what callbacks speak of. The old form of 24 columns has other names; in the new one 退款金额 leaves out the
// merchant's own coupons, so the one name never stands in for the other.
func amountColumns(b *bill) (order, refund string) {
	if b.has("总金额") && !b.has("订单金额") {
		return "总金额", "退款金额"
	}
	return "订单金额", "申请退款金额"
}

// tradeSums pairs the summary's columns with the rows' columns, old names beside new ones.
func tradeSums(b *bill) []*sum {
	return []*sum{
		{names: []string{"应结订单总金额"}, column: b.column("应结订单金额")},
		{names: []string{"订单总金额"}, column: b.column("订单金额")},
		{names: []string{"总交易额"}, column: b.column("总金额")},
		{names: []string{"退款总金额", "总退款金额"}, column: b.column("退款金额")},
		{names: []string{"充值券退款总金额", "总代金券或立减优惠退款金额", "总企业红包退款金额"}, column: b.column("充值券退款金额", "代金券或立减优惠退款金额", "企业红包退款金额")},
		{names: []string{"申请退款总金额"}, column: b.column("申请退款金额")},
		{names: []string{"手续费总金额"}, column: b.column("手续费")},
	}
}

func (t *trade) entry() (models.Entry, error) {
	if err := t.checkMerchant(); err != nil {
		return models.Entry{}, err
	}
	e := models.Entry{Kind: models.Payment, Line: t.line, OrderID: t.id(t.orderID), StatusText: t.cell(t.state)}
	paymentID := t.id(t.paymentID)
	if parse.LooksRounded(paymentID) {
		return e, t.fail("微信订单号", "%q looks like a rounded number, the file was edited", clip(paymentID))
	}
	if paymentID == "" {
		return e, t.fail("微信订单号", "empty")
	}
	at, column := t.at, "交易时间"
	if t.isRefund() {
		e.Kind, e.ParentID = models.Refund, paymentID
		if t.cell(t.asked) != "" { // the refund belongs to the day it was asked for
			at, column = t.asked, "退款申请时间"
		}
	} else {
		e.TransactionID, e.Status = paymentID, paymentStatus(e.StatusText)
		e.Final = e.Status == models.StatusPending
	}
	var err error
	if e.OccurredAt, err = parse.LocalTime(t.cell(at), t.zone); err != nil {
		return e, t.fail(column, "%v", err)
	}
	if e.Kind == models.Refund {
		if err := t.fillRefund(&e); err != nil {
			return e, err
		}
	}
	return e, t.fillMoney(&e)
}

func (t *trade) checkMerchant() error {
	if got := t.cell(t.mchID); got != t.provider.mchID {
		return t.fail("商户号", "%q is not this account's merchant number %s", clip(got), t.provider.mchID)
	}
	if got := t.id(t.subMchID); len(t.provider.subMchIDs) > 0 && !slices.Contains(t.provider.subMchIDs, got) {
		return t.fail("特约商户号", "%q is not among settings.sub_mchids", clip(got))
	}
	if got := t.id(t.appID); got != "" && !slices.Contains(t.provider.appIDs, got) {
		return t.fail("公众账号ID", "%q is not configured; add it to settings.appids if it is yours", clip(got))
	}
	return nil
}

// isRefund trusts the state; in a state we don't know it goes by whether there is a refund number.
func (t *trade) isRefund() bool {
	state := t.cell(t.state)
	return state == "REFUND" || paymentStatus(state) == models.StatusUnknown && t.id(t.refundID) != ""
}

func (t *trade) fillRefund(e *models.Entry) error {
	if t.refundID < 0 {
		return t.fail("微信退款单号", "a refund row, and the header has no refund columns")
	}
	e.TransactionID, e.RefundOrderID = t.id(t.refundID), t.id(t.refundOrderID)
	if parse.LooksRounded(e.TransactionID) {
		return t.fail("微信退款单号", "%q looks like a rounded number, the file was edited", clip(e.TransactionID))
	}
	if e.TransactionID == "" {
		e.TransactionID = e.RefundOrderID
	}
	if e.TransactionID == "" {
		return t.fail("微信退款单号", "empty, and 商户退款单号 too: the refund has no identity")
	}
	if e.RefundOrderID != "" && e.RefundOrderID != e.TransactionID {
		e.Aliases = []string{e.RefundOrderID}
	}
	if e.StatusText != "REFUND" { // a state we do not know
		e.Status = models.StatusUnknown
		return nil
	}
	e.StatusText = t.cell(t.refundState)
	e.Status = refundStatus(e.StatusText)
	return nil
}

// fillMoney takes the amount that callbacks speak of: what was ordered, or asked back, before coupons are told apart.
func (t *trade) fillMoney(e *models.Entry) (err error) {
	currency, err := models.ParseCurrency(t.cell(t.currency))
	if err != nil {
		return t.fail("货币种类", "%v", err)
	}
	column := t.order
	if e.Kind == models.Refund {
		column = t.refund
	}
	if e.Status == models.StatusReversed && t.refund >= 0 && t.isZero(column) {
		column = t.refund // a cancelled payment can stand as money going out
	}
	if e.Money, err = t.money(column, currency); err != nil {
		return err
	}
	if e.Fee, err = t.feeMoney(t.fee, currency); err != nil {
		return err
	}
	return t.fillGross(e, t.cell(column))
}

// fillGross: the merchant's own coupons never reach the balance. What a refund takes it loses when the refund is accepted.
func (t *trade) fillGross(e *models.Entry, asTold string) (err error) {
	column, gross := t.settled, e.Money
	if e.Kind == models.Refund {
		column = t.refundSettled
	}
	if settled := t.cell(column); settled != "" && settled != asTold {
		if gross, err = t.money(column, e.Money.Currency); err != nil {
			return err
		}
	}
	switch {
	case e.Kind == models.Refund && (e.Status == models.StatusSucceeded || e.Status == models.StatusPending):
		gross.Minor = -gross.Minor
	case e.Kind != models.Payment || e.Status != models.StatusSucceeded:
		return nil
	}
	if e.Moved() != gross {
		e.Gross = gross
	}
	return nil
}

func paymentStatus(word string) models.TransactionStatus {
	switch word {
	case "SUCCESS":
		return models.StatusSucceeded
	case "REVOKED":
		return models.StatusReversed
	case "NOTPAY", "USERPAYING", "ACCEPT": // not paid when the bill was made, hours after the day's end
		return models.StatusPending
	case "CLOSED":
		return models.StatusClosed
	case "PAYERROR":
		return models.StatusFailed
	}
	return models.StatusUnknown
}

// refundStatus: the word is how far the refund was when it was accepted, and is never brought up to date.
func refundStatus(word string) models.TransactionStatus {
	switch word {
	case "SUCCESS":
		return models.StatusSucceeded
	case "PROCESSING", "ABNORMAL", "CHANGE":
		return models.StatusPending
	case "CLOSE", "CLOSED", "REFUNDCLOSE":
		return models.StatusClosed
	case "FAIL":
		return models.StatusFailed
	}
	return models.StatusUnknown
}
