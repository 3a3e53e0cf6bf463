package stripe

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// ReadStatement reads an itemized balance report (balance_change_from_activity, payout_reconciliation) or a payouts report,
// told apart by their headers. Columns are found by name, as their order and number are the downloader's choice and grow
// with the report's version.
//
// Stripe's files have no control totals, so Totals is never set: a file that lost whole rows at its end looks complete. They
// do not name the account either. Amounts are major units. created_utc is UTC; created, used where that is missing, is of zone.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	t, err := parse.NewTable(name, r, parse.TableOptions{})
	if err != nil {
		return models.Statement{}, err
	}
	if t.Has("payout_id") {
		return readPayouts(t, zone, each)
	}
	if err := need(t, "balance", "balance_transaction_id", "source_id", "reporting_category", "currency", "gross", "fee", "net"); err != nil {
		return models.Statement{}, err
	}
	if t.Has("customer_facing_amount") != t.Has("customer_facing_currency") { // an amount in we don't know what
		if err := need(t, "balance", "customer_facing_amount", "customer_facing_currency"); err != nil {
			return models.Statement{}, err
		}
	}
	f := &balanceFile{Table: t, zone: zone, orderColumn: "payment_metadata[" + p.metadataKey + "]"}
	if f.timeColumn, err = timeColumn(t, "created"); err != nil {
		return models.Statement{}, err
	}
	// A payout gathers the rows of several days; its report is told from the daily one by the file's name only: both may
	// have the columns of the payout, and a folder's name says nothing.
	batch := strings.Contains(filepath.Base(name), "payout_reconciliation")
	return models.Statement{Compared: true, Title: "balance report", Batch: batch}, everyRow(t, f.entry, each)
}

// balanceFile is a balance report with its current row.
type balanceFile struct {
	*parse.Table
	zone        *time.Location
	timeColumn  string
	orderColumn string
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
	if err := f.names(&e); err != nil {
		return e, err
	}
	gross, err := f.sums(&e)
	if err != nil {
		return e, err
	}
	if c.sign*sign(gross) < 0 {
		return e, f.Fail("gross", "%s has the wrong sign for a %s", gross.Text(), e.StatusText)
	}
	if err := f.money(&e, gross); err != nil {
		return e, err
	}
	e.OccurredAt, err = readTime(f.Table, f.timeColumn, f.zone)
	return e, err
}

// names reads the ids. A movement is named by its source; rows without one (fees) by their own row id. What a charge_failure
// or a partial_capture_reversal changes is the charge, whatever its source is.
func (f *balanceFile) names(e *models.Entry) error {
	var source, row, charge, intent string
	for _, cell := range [...]struct {
		to     *string
		column string
	}{{&source, "source_id"}, {&row, "balance_transaction_id"}, {&charge, "charge_id"}, {&intent, "payment_intent_id"}} {
		id, err := f.ID(cell.column)
		if err != nil {
			return err
		}
		*cell.to = id
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
		return f.Fail("source_id", "empty, and balance_transaction_id too: the row has no name")
	}
	return nil
}

// sums reads gross and fee in the settlement currency and proves them by net, which catches a file that was edited.
func (f *balanceFile) sums(e *models.Entry) (gross models.Money, err error) {
	currency := f.Get("currency")
	if gross, err = f.Money("gross", currency); err != nil {
		return gross, err
	}
	e.Fee = models.Money{Currency: gross.Currency}
	if f.Get("fee") != "" {
		if e.Fee, err = f.Money("fee", currency); err != nil {
			return gross, err
		}
	}
	if f.Get("fee") == "" || f.Get("net") == "" {
		return gross, nil
	}
	net, err := f.Money("net", currency)
	if err == nil && net.Minor != gross.Minor-e.Fee.Minor {
		err = f.Fail("net", "%s is not gross %s less fee %s", net.Text(), gross.Text(), e.Fee.Text())
	}
	return gross, err
}

// money is the sum the callback spoke of: the customer's currency where the report tells it, else the settlement's. It has no
// sign but where the kind does not tell the direction: an adjustment as it moved the balance, a fee as what Stripe kept.
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
	case e.Kind != models.EntryAdjustment:
		e.Money = e.Money.Abs()
	}
	return nil
}

// readPayouts reads a payouts report. Its rows are kept by payout id and not compared.
func readPayouts(t *parse.Table, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	st := models.Statement{Title: "payouts file"}
	if err := need(t, "payouts", "payout_id", "payout_status", "currency", "gross"); err != nil {
		return st, err
	}
	column, err := timeColumn(t, "effective_at")
	if err != nil {
		return st, err
	}
	return st, everyRow(t, func() (models.Entry, error) { return payoutEntry(t, column, zone) }, each)
}

func payoutEntry(t *parse.Table, timeColumn string, zone *time.Location) (models.Entry, error) {
	e := models.Entry{Kind: models.Payout, StatusText: t.Get("payout_status"), Line: t.Line()}
	status, known := payoutStatuses[e.StatusText]
	if !known {
		status = models.StatusUnknown
	}
	e.Status = status
	var err error
	if e.TransactionID, err = t.ID("payout_id"); err != nil {
		return e, err
	}
	if e.TransactionID == "" {
		return e, t.Fail("payout_id", "empty")
	}
	gross, err := t.Money("gross", t.Get("currency"))
	if err != nil {
		return e, err
	}
	e.Money, e.Fee = gross.Abs(), models.Money{Currency: gross.Currency}
	if t.Get("fee") != "" {
		if e.Fee, err = t.Money("fee", gross.Currency); err != nil {
			return e, err
		}
	}
	e.OccurredAt, err = readTime(t, timeColumn, zone)
	return e, err
}

func everyRow(t *parse.Table, read func() (models.Entry, error), each func(models.Entry) error) error {
	for {
		more, err := t.Next()
		if err != nil || !more {
			return err
		}
		e, err := read()
		if err != nil {
			return err
		}
		if err := each(e); err != nil {
			return err
		}
	}
}

// need refuses a file that lacks columns, naming all of them at once: a downloader chooses the columns, and should not have
// to find out one by one.
func need(t *parse.Table, report string, columns ...string) error {
	var missing []string
	for _, c := range columns {
		if !t.Has(c) {
			missing = append(missing, c)
		}
	}
	if missing == nil {
		return nil
	}
	return &models.FileError{File: t.File, Line: t.Line(), Column: missing[0],
		What: fmt.Sprintf("not a whole Stripe %s report: the header lacks %s; it has %s", report, strings.Join(missing, ", "), clip(strings.Join(t.Header(), ", "))),
		Next: "download the itemized report with these columns"}
}

// timeColumn prefers the column in UTC, which needs no zone and knows no doubled hour in autumn.
func timeColumn(t *parse.Table, name string) (string, error) {
	if t.Has(name + "_utc") {
		return name + "_utc", nil
	}
	return name, need(t, "balance or payouts", name)
}

func readTime(t *parse.Table, column string, zone *time.Location) (time.Time, error) {
	if strings.HasSuffix(column, "_utc") {
		zone = time.UTC
	}
	return t.Time(column, zone)
}

func sign(m models.Money) int { return cmp.Compare(m.Minor, 0) }

func negative(m models.Money) models.Money {
	m.Minor = -m.Minor
	return m
}
