package unionpay

import (
	"slices"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// The transaction codes (交易代码) that are known, and what a type (交易类型) says. Other codes are told as unknown kinds, but for those
// of which the type alone is enough: voids and completions have codes that no public table gives.
var (
	codes = map[string]models.TransactionKind{"S22": models.Payment, "S30": models.Refund}
	types = map[string]models.TransactionKind{"01": models.Payment, "03": models.Payment, "04": models.Refund, "31": models.Refund, "33": models.Refund,
		"02": models.EntryAdjustment, "32": models.EntryAdjustment} // an authorisation and its end: no money
	enough = []string{"03", "31", "33"}
)

// kindOf is what a record is, or the words in which it says something that we do not know. A code and a type that contradict each other
// are such words: a void called a payment would be money that never came.
func kindOf(code, txnType string) (kind models.TransactionKind, unknown string) {
	byCode, byType := codes[code], types[txnType]
	switch {
	case byCode != "" && (byType == "" || byType == byCode):
		return byCode, ""
	case byCode != "":
		return models.EntryAdjustment, code + " of type " + txnType
	case slices.Contains(enough, txnType):
		return byType, ""
	case code == "":
		return models.EntryAdjustment, "(empty)"
	}
	return models.EntryAdjustment, code
}

// entry is what the current record says.
func (p *Provider) entry(r *records, y years) (models.Entry, error) {
	if got := r.cell("商户代码"); got != p.merID {
		return models.Entry{}, r.fail("商户代码", "%q is not this account's merchant number %s", clip(got), p.merID)
	}
	if r.layout == zme {
		return correction(r, y)
	}
	return transaction(r, y)
}

// transaction is a ZM record. Only what was settled is in the file, so every row has succeeded.
func transaction(r *records, y years) (models.Entry, error) {
	e := models.Entry{Line: r.line, Status: models.StatusSucceeded, StatusText: r.cell("交易代码")}
	e.Kind, e.UnknownKind = kindOf(e.StatusText, r.cell("交易类型"))
	if err := fillEntryNames(&e, r, y); err != nil {
		return e, err
	}
	at, err := y.near(r.cell("交易传输时间"), e.TransactionID)
	if err != nil {
		return e, r.fail("交易传输时间", "%v", err)
	}
	e.OccurredAt = at
	return e, fillEntryMoney(&e, r)
}

// fillEntryNames: as in the notifications, the order number of a refund, a void or a completion is its own. A refund that does not tell
// its payment's queryId tells its trace.
func fillEntryNames(e *models.Entry, r *records, y years) error {
	ids := map[string]string{}
	for _, column := range []string{"查询流水号", "商户订单号", "原交易查询流水号", "原商户订单号"} {
		id, err := r.id(column)
		if err != nil {
			return err
		}
		ids[column] = id
	}
	e.TransactionID = ids["查询流水号"]
	switch {
	case e.TransactionID == "" && e.UnknownKind == "":
		return r.fail("查询流水号", "empty: the row has no identity")
	case parse.LooksRounded(e.TransactionID):
		return r.fail("查询流水号", "%q looks like a rounded number, the file was edited", clip(e.TransactionID))
	case e.Kind == models.Refund:
		e.ParentID, e.RefundOrderID, e.OrderID = ids["原交易查询流水号"], ids["商户订单号"], ids["原商户订单号"]
		if e.ParentID == "" {
			e.ParentID, _ = originalTrace(r, y, e.TransactionID) // no sense in it: the row is as good as without
		}
	case r.cell("交易类型") == "03": // known by the authorisation, which the callbacks spoke of first
		e.OrderID = ids["原商户订单号"]
		if orig := ids["原交易查询流水号"]; orig != "" {
			e.Aliases = []string{orig}
		}
	default:
		e.OrderID = ids["商户订单号"]
	}
	return nil
}

// fillEntryMoney: the fee is written as it moves the merchant's balance, D when it is taken.
func fillEntryMoney(e *models.Entry, r *records) (err error) {
	if e.Money, err = r.amount("交易金额"); err != nil {
		return err
	}
	if e.Fee, err = r.signed("商户手续费"); err != nil {
		return err
	}
	e.Fee.Minor = -e.Fee.Minor
	_, err = r.signed("结算金额")
	return err
}

// correction is a ZME record: money taken from the merchant after settlement, by a chargeback or another correction, or given
// back. Which code is which is not public, so the side it is settled on decides, and the code stands in StatusText for people. No
// message announces them, so each is found missing in the book: that is the news. A row that settles nothing is counted only.
func correction(r *records, y years) (models.Entry, error) {
	e := models.Entry{Line: r.line, Kind: models.EntryAdjustment, Status: models.StatusSucceeded, StatusText: r.cell("交易代码")}
	at, err := y.near(r.cell("交易传输时间"), "")
	if err != nil {
		return e, r.fail("交易传输时间", "%v", err)
	}
	e.OccurredAt = at
	if e.TransactionID, err = traceOf(r, "系统跟踪号", at); err != nil {
		return e, err
	}
	if e.StatusText != "" { // a correction may go by the trace number of what it corrects
		e.TransactionID += ":" + e.StatusText
	}
	if e.ParentID, err = originalTrace(r, y, ""); err != nil {
		return e, err
	}
	if err := fillEntryMoney(&e, r); err != nil {
		return e, err
	}
	settled, err := r.signed("结算金额")
	switch {
	case settled.Minor < 0:
		e.Kind = models.Chargeback
	case settled.Minor > 0:
		e.Kind = models.ChargebackReversal
	}
	return e, err
}

// originalTrace is the trace name of the payment that a record is about, "" where it has none. queryID is the record's, "" if it has none.
func originalTrace(r *records, y years, queryID string) (string, error) {
	text := r.cell("原始交易日期时间")
	if text == "" {
		return "", nil
	}
	at, err := y.before(text, queryID)
	if err != nil {
		return "", r.fail("原始交易日期时间", "%v", err)
	}
	return traceOf(r, "原始交易的系统跟踪号", at)
}

// traceOf is the name that a trace number in a column gives (traceName).
func traceOf(r *records, column string, at time.Time) (string, error) {
	number, err := r.id(column)
	switch {
	case err != nil:
		return "", err
	case number == "":
		return "", r.fail(column, "empty: the row has no identity")
	}
	return traceName(at, number), nil
}
