package stripe

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// ReadStatement reads Stripe's reports, of the account itself or of a connected one, told apart by their headers: an itemized
// balance or payout reconciliation report, which is compared; a payouts report, whose rows are kept; and the sums that each of
// them also comes as, which are checked only. Columns are found by name, as their order and number are the downloader's choice
// and grow with the report's version (docs.stripe.com/reports/report-types).
//
// Stripe's files have no control totals, so Totals is never set: a file that lost whole rows at its end looks complete. Amounts
// are major units with a decimal point. A column that ends in _utc is UTC; the same without it, used where that is missing, is
// of zone.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	t, err := parse.NewTable(name, r, parse.TableOptions{})
	if err != nil {
		return models.Statement{}, err
	}
	f := &file{Table: t, provider: p, zone: zone}
	switch {
	case t.Has("payout_id"):
		return f.payouts(each)
	case f.isSummary():
		return models.Statement{Title: "summary report"}, f.everyRow(f.summed, nothing)
	}
	return f.items(each)
}

// file is a report with its current row.
type file struct {
	*parse.Table
	provider   *Provider
	zone       *time.Location
	timeColumn string
}

// items reads an itemized report. All of them have the same columns to choose from, so which one it is shows in the file's name,
// in an order of columns that only the payout reconciliation has, or in its rows.
func (f *file) items(each func(models.Entry) error) (models.Statement, error) {
	if err := f.need("balance", "balance_transaction_id", "source_id", "reporting_category", "currency", "gross", "fee", "net"); err != nil {
		return models.Statement{}, err
	}
	if f.Has("customer_facing_amount") != f.Has("customer_facing_currency") { // an amount in we don't know what
		if err := f.need("balance", "customer_facing_amount", "customer_facing_currency"); err != nil {
			return models.Statement{}, err
		}
	}
	b := &balanceFile{file: f, orderColumn: "payment_metadata[" + f.provider.metadataKey + "]"}
	if err := f.setTime("created"); err != nil {
		return models.Statement{}, err
	}
	switch f.report() {
	case endingBalance: // what no payout has settled by its date: told again, and compared, when one does
		return models.Statement{Title: string(endingBalance)}, f.everyRow(b.entry, nothing)
	case payoutReconciliation:
		return models.Statement{Compared: true, Title: string(payoutReconciliation), Batch: true, WholePayouts: true}, f.everyRow(b.entry, each)
	case balanceReport:
		return models.Statement{Compared: true, Title: string(balanceReport)}, f.everyRow(b.entry, each)
	}
	if err := f.everyRow(b.entry, each); err != nil {
		return models.Statement{}, err
	}
	if b.settled.ofPayouts() {
		return models.Statement{Compared: true, Title: string(payoutReconciliation), Batch: true, WholePayouts: true}, nil
	}
	return models.Statement{Compared: true, Title: string(balanceReport)}, nil
}

// report is a kind of itemized report, in words for people; "" is one that only its rows can tell.
type report string

const (
	balanceReport        report = "balance report"
	payoutReconciliation report = "payout reconciliation report"
	endingBalance        report = "ending balance reconciliation report"
)

// report goes by the file's own name, which Stripe makes of the report's type; a folder's name says nothing. Then by the header:
// only a payout reconciliation is asked for with the payout in front of its rows, or with the payout's trace id.
func (f *file) report() report {
	name := strings.NewReplacer("-", "_", " ", "_", ".", "_").Replace(strings.ToLower(filepath.Base(f.File)))
	for _, known := range []struct {
		part string
		report
	}{{"ending_balance", endingBalance}, {"payout_reconciliation", payoutReconciliation}, {"balance_change", balanceReport}} {
		if strings.Contains(name, known.part) {
			return known.report
		}
	}
	payout := slices.Index(f.Header(), "automatic_payout_id")
	if payout >= 0 && (payout < slices.Index(f.Header(), "balance_transaction_id") || f.Has("trace_id") || f.Has("trace_id_status")) {
		return payoutReconciliation
	}
	return ""
}

// isSummary knows the sums that every report also comes as: by category, or as the balance at both ends.
func (f *file) isSummary() bool {
	if f.Has("balance_transaction_id") {
		return false
	}
	return f.Need("category", "currency", "net_amount") == nil || f.Need("reporting_category", "currency", "count", "gross", "fee", "net") == nil
}

// everyRow hands over each row. The header given once more begins another section, as when the files of several currencies or
// payouts were put behind one another.
func (f *file) everyRow(read func() (models.Entry, error), each func(models.Entry) error) error {
	for {
		more, err := f.Next()
		if err != nil || !more {
			return err
		}
		if slices.Equal(f.Cells(), f.Header()) {
			continue
		}
		e, err := read()
		if err == nil {
			err = f.checkAccount()
		}
		if err == nil {
			err = each(e)
		}
		if err != nil {
			return err
		}
	}
}

func nothing(models.Entry) error { return nil }

// checkAccount refuses the rows of a connected account that nobody listed. Only the reports of connected accounts have this
// column; connected_account_id, in a platform's own reports, names the other side of a movement of ours.
func (f *file) checkAccount() error {
	if id := f.Get("connected_account"); id != "" && !f.provider.accounts[id] {
		return f.Fail("connected_account", "%q is a connected account that settings.accounts does not list", clip(id))
	}
	return nil
}

// need refuses a file that lacks columns, naming all of them at once: a downloader chooses the columns, and should not have
// to find out one by one.
func (f *file) need(report string, columns ...string) error {
	var missing []string
	for _, c := range columns {
		if !f.Has(c) {
			missing = append(missing, c)
		}
	}
	if missing == nil {
		return nil
	}
	return &models.FileError{File: f.File, Line: f.Line(), Column: missing[0],
		What: fmt.Sprintf("not a whole Stripe %s report: the header lacks %s; it has %s", report, strings.Join(missing, ", "), clip(strings.Join(f.Header(), ", "))),
		Next: "download the itemized report with these columns"}
}

// setTime prefers the column in UTC, which needs no zone and knows no doubled hour in autumn.
func (f *file) setTime(column string) error {
	f.timeColumn = column
	if f.Has(column + "_utc") {
		f.timeColumn = column + "_utc"
	}
	return f.need("balance or payouts", f.timeColumn)
}

func (f *file) time() (time.Time, error) {
	zone := f.zone
	if strings.HasSuffix(f.timeColumn, "_utc") {
		zone = time.UTC
	}
	return f.Time(f.timeColumn, zone)
}
