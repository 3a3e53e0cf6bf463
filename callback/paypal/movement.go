package paypal

import (
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// Columns of a section, as the newest version writes them.
const (
	columnID          = "Transaction ID"
	columnReference   = "PayPal Reference ID"
	columnRefType     = "PayPal Reference ID Type"
	columnCode        = "Transaction Event Code"
	columnInitiated   = "Transaction Initiation Date"
	columnCompleted   = "Transaction Completion Date"
	columnSide        = "Transaction Debit or Credit"
	columnGross       = "Gross Transaction Amount"
	columnCurrency    = "Gross Transaction Currency"
	columnFeeSide     = "Fee Debit or Credit"
	columnFee         = "Fee Amount"
	columnFeeCurrency = "Fee Currency"
	columnStatus      = "Transactional Status" // detail report only
	columnBank        = "Bank Reference ID"
)

var needed = []string{columnID, columnReference, columnRefType, columnCode, columnCompleted, columnSide, columnGross, columnCurrency,
	columnFeeSide, columnFee, columnFeeCurrency}

var optional = []string{columnInitiated, columnStatus, columnBank, orderFields["invoice_id"].column, orderFields["custom_id"].column}

// reportTime is "2026/11/27 10:15:00 -0800".
const reportTime = "2006/01/02 15:04:05 -0700"

// value is a cell of the current movement, by the column's name.
func (f *reportFile) value(column string) string {
	if i, ok := f.columns[column]; ok {
		return f.cell(i)
	}
	return ""
}

// entry reads the current movement.
func (f *reportFile) entry() (models.Entry, error) {
	e := models.Entry{StatusText: f.value(columnCode), Line: f.Line()}
	credit, err := f.isCredit(columnSide)
	if err != nil {
		return e, err
	}
	m, known := meaningOf(e.StatusText, credit)
	if e.Kind, e.Status = m.kind, m.status; !known {
		e.UnknownKind = e.StatusText
		if e.UnknownKind == "" {
			return e, f.Fail(columnCode, "empty")
		}
	}
	f.readStatus(&e)
	if err := f.readNames(&e); err != nil {
		return e, err
	}
	if err := f.readMoney(&e, credit); err != nil {
		return e, err
	}
	if err := f.readFee(&e); err != nil {
		return e, err
	}
	f.section.rows++
	f.all.rows++
	return e, f.readTime(&e)
}

// readStatus: a detail report also lists what is under way or came to nothing.
func (f *reportFile) readStatus(e *models.Entry) {
	if !f.detail {
		return
	}
	word := f.value(columnStatus)
	e.StatusText = strings.TrimSpace(e.StatusText + " " + word)
	status, known := statuses[word]
	switch {
	case !known:
		e.Status = models.StatusUnknown
	case status != models.StatusSucceeded:
		e.Status = status
	}
}

// readNames: a chargeback has an id of its own here and the dispute's in the callbacks; the capture is what both name.
func (f *reportFile) readNames(e *models.Entry) error {
	for _, n := range [...]struct {
		to     *string
		column string
	}{{&e.TransactionID, columnID}, {&e.ParentID, columnReference}, {&e.OrderID, f.p.orderField.column}} {
		if *n.to = f.value(n.column); parse.LooksRounded(*n.to) {
			return f.Fail(n.column, "%q looks like a rounded number, the file was edited", clip(*n.to))
		}
	}
	if e.TransactionID == "" {
		return f.Fail(columnID, "empty: the row has no name")
	}
	switch isMovement := f.value(columnRefType) == "TXN"; {
	case e.Kind == models.Payout:
		if bank := f.value(columnBank); bank != "" { // what the bank's line shows
			e.Aliases = []string{bank}
		}
	case !isMovement || e.Kind == models.Payment: // an order or a subscription: no row of the book
		e.ParentID = ""
	case e.ParentID != "" && (e.Kind == models.Chargeback || e.Kind == models.ChargebackReversal):
		e.Aliases = []string{e.ParentID}
	}
	return nil
}

// bothWays are kinds that do not tell which way the money went.
var bothWays = []models.TransactionKind{models.EntryAdjustment, models.EntryConversion, models.EntryReserve}

// readMoney: without sign, but where the kind does not tell the direction: then as it moved the balance, and a fee as what PayPal kept.
func (f *reportFile) readMoney(e *models.Entry, credit bool) error {
	which := grossDebits
	if credit {
		which = grossCredits
	}
	var err error
	if e.Money, err = f.amount(columnGross, f.value(columnCurrency), which); err != nil {
		return err
	}
	if e.Kind == models.EntryFee && credit || !credit && slices.Contains(bothWays, e.Kind) {
		e.Money.Minor = -e.Money.Minor
	}
	e.Fee = models.Money{Currency: e.Money.Currency}
	return nil
}

// readFee: rows without a fee leave its cells empty.
func (f *reportFile) readFee(e *models.Entry) error {
	if f.value(columnFee) == "" {
		return nil
	}
	currency := f.value(columnFeeCurrency)
	if currency == "" {
		currency = e.Money.Currency
	}
	credit, which := false, feeDebits
	var err error
	if side := f.value(columnFeeSide); side != "" || strings.Trim(f.value(columnFee), "0") != "" {
		if credit, err = f.isCredit(columnFeeSide); err != nil {
			return err
		}
	}
	if credit {
		which = feeCredits
	}
	if e.Fee, err = f.amount(columnFee, currency, which); err == nil && credit {
		e.Fee.Minor = -e.Fee.Minor
	}
	return err
}

// amount reads hundredths of a currency and puts them into the sums.
func (f *reportFile) amount(column, currency string, which int) (models.Money, error) {
	text := f.value(column)
	n, ok := hundredths(text)
	if !ok {
		return models.Money{}, f.Fail(column, "%q is no whole number of hundredths such as 4999 for 49.99", clip(text))
	}
	m, err := models.ParseMinor(text, currency, reportDecimals)
	if err != nil {
		return m, f.Fail(column, "%v", err)
	}
	return m, f.add(m.Currency, which, n)
}

func (f *reportFile) isCredit(column string) (bool, error) {
	switch side := f.value(column); side {
	case "CR":
		return true, nil
	case "DR":
		return false, nil
	default:
		return false, f.Fail(column, "%q, expected CR or DR", clip(side))
	}
}

// readTime: the balance moved when the transaction was completed. What is still under way has only begun.
func (f *reportFile) readTime(e *models.Entry) error {
	column := columnCompleted
	if f.value(column) == "" {
		column = columnInitiated
	}
	at, err := parse.LocalTime(f.value(column), f.zone, reportTime)
	if err != nil {
		return f.Fail(column, "%v", err)
	}
	e.OccurredAt = at
	return nil
}
