package generic

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"paybook/callback/parse"
	"paybook/models"
)

// ReadStatement reads a statement in the configured layout, row by row. Rows of a kind nobody mapped are adjustments of an
// UnknownKind, and an error in the layout that is not configured, whose words are fixed; statuses nobody mapped are StatusUnknown. With a footer configured, a file without it is cut.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	statement := models.Statement{Compared: true, Title: p.name + " statement"}
	t, err := parse.NewTable(name, decoded(r, p.layout.encoding), p.layout.options)
	if err != nil {
		return statement, err
	}
	rows := rowReader{Table: t, layout: &p.layout, zone: zone}
	if err := rows.needColumns(); err != nil {
		return statement, err
	}
	for count := 0; ; count++ {
		ok, err := t.Next()
		if ok && rows.isFooter() {
			statement.Totals, err = rows.checkFooter(count)
			return statement, err
		}
		if err != nil {
			return statement, err
		}
		if !ok {
			return statement, rows.checkEnd()
		}
		e, err := rows.entry()
		if err != nil {
			return statement, err
		}
		if err := each(e); err != nil {
			return statement, err
		}
	}
}

func decoded(r io.Reader, name string) io.Reader {
	var from encoding.Encoding
	switch name {
	case "gbk":
		from = simplifiedchinese.GBK
	case "gb18030":
		from = simplifiedchinese.GB18030
	case "utf-16":
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	default:
		return r
	}
	return from.NewDecoder().Reader(r)
}

// rowReader reads the rows of one file.
type rowReader struct {
	*parse.Table
	*layout
	zone *time.Location
}

func (r *rowReader) needColumns() error {
	if f := r.footer; f != nil {
		if err := r.Need(f.column); err != nil {
			return err
		}
		if f.count != "" && !r.Has(f.count) {
			return r.Need(f.count)
		}
	}
	return r.Need(r.needed...)
}

func (r *rowReader) entry() (models.Entry, error) {
	e := models.Entry{Line: r.Line(), Status: models.StatusSucceeded}
	kind, known := lookup(r.kinds, r.Get(r.kind))
	if e.Kind = kind; !known {
		if r.fixed {
			return e, r.Fail(r.kind, "%q is no kind of this layout, expected one of %s", clip(r.Get(r.kind)), strings.Join(slices.Sorted(maps.Keys(kindWords)), ", "))
		}
		e.Kind, e.StatusText, e.UnknownKind = models.EntryAdjustment, r.Get(r.kind), cmp.Or(r.Get(r.kind), "(empty)")
	}
	err := r.readIDs(&e)
	if err == nil {
		err = r.readMoney(&e)
	}
	if err == nil {
		e.OccurredAt, err = r.readTime()
	}
	if r.status != "" {
		r.readStatus(&e)
	}
	return e, err
}

func (r *rowReader) readIDs(e *models.Entry) (err error) {
	read := func(column string) string {
		if column == "" || err != nil {
			return ""
		}
		var id string
		id, err = r.ID(column)
		return id
	}
	e.TransactionID, e.ParentID = read(r.transactionID), read(r.parentID)
	e.OrderID, e.RefundOrderID = read(r.orderID), read(r.refundOrderID)
	if err != nil {
		return err
	}
	// A refund may be known by the shop's number alone; any other row that is compared needs the provider's id.
	named := e.TransactionID != "" || e.Kind == models.Refund && e.RefundOrderID != "" && e.ParentID != ""
	if e.Kind.Known() && !named {
		return r.Fail(r.transactionID, "empty: the row of a %s must name it", e.Kind)
	}
	return nil
}

func (r *rowReader) readMoney(e *models.Entry) error {
	currency := r.Get(r.currency)
	if _, err := models.ParseCurrency(currency); err != nil {
		return r.Fail(r.currency, "%v", err)
	}
	m, err := r.sum(r.amount, currency)
	if err != nil {
		return err
	}
	if e.Money, err = r.withoutSign(e.Kind, m); err != nil {
		return err
	}
	if r.fee != "" && r.Get(r.fee) != "" {
		e.Fee, err = r.sum(r.fee, currency)
	}
	return err
}

func (r *rowReader) sum(column, currency string) (models.Money, error) {
	if r.unit == "major" {
		return r.Money(column, currency)
	}
	m, err := money(r.Get(column), currency, r.unit, r.digits)
	if err != nil {
		return m, r.Fail(column, "%v", err)
	}
	return m, nil
}

// withoutSign checks that the sign goes with the kind, and drops it. In a signed layout money that leaves us is negative; in one
// without signs only what takes money back may have a minus. Fees and payouts count what left us; the rest keeps its sign.
func (r *rowReader) withoutSign(kind models.TransactionKind, m models.Money) (models.Money, error) {
	out := kind == models.Refund || kind == models.Chargeback
	switch {
	case kind == models.EntryFee, kind == models.Payout:
		if r.signed {
			m.Minor = -m.Minor
		}
	case !kind.Known():
	case !out && m.Minor < 0:
		return m, r.Fail(r.amount, "%s: a %s cannot be negative", m, kind)
	case out && r.signed && m.Minor > 0:
		return m, r.Fail(r.amount, "%s: a %s is negative in this layout (settings.statement.sign)", m, kind)
	default:
		m = m.Abs()
	}
	return m, nil
}

func (r *rowReader) readTime() (time.Time, error) {
	layouts := r.timeLayouts
	if layouts == nil && strings.Contains(r.Get(r.occurredAt), "T") {
		layouts = isoLayouts
	}
	return r.Time(r.occurredAt, r.zone, layouts...)
}

var isoLayouts = []string{time.RFC3339, "2006-01-02T15:04:05"}

func (r *rowReader) readStatus(e *models.Entry) {
	word := r.Get(r.status)
	status, known := lookup(r.statuses, word)
	if e.Status = status; !known {
		e.Status = models.StatusUnknown
	}
	if e.StatusText == "" { // an unmapped kind's word says more
		e.StatusText = word
	}
}

func (r *rowReader) isFooter() bool {
	return r.footer != nil && r.Get(r.footer.column) == r.footer.equals
}

// checkFooter compares the footer's number of rows with ours, and makes sure that nothing follows.
func (r *rowReader) checkFooter(count int) (counted bool, err error) {
	text, column := r.footerCount()
	said, err := strconv.Atoi(text)
	counted = err == nil
	switch {
	case !counted && r.footer.count != "":
		return false, r.Fail(column, "%q: the footer's number of rows expected", text)
	case !counted && r.Cut():
		return false, &models.FileError{File: r.File, Line: r.Line(), What: "the file ends within its footer: it is cut", Next: "download it again"}
	case counted && said != count:
		return false, r.Fail(column, "%d rows, footer says %d: the file is cut or was edited", count, said)
	}
	ok, err := r.Next()
	if ok {
		return false, &models.FileError{File: r.File, Line: r.Line(), What: "a row follows the footer", Next: "are two files in one?"}
	}
	return counted, err
}

func (r *rowReader) footerCount() (text, column string) {
	if column = r.footer.count; column != "" {
		return r.Get(column), column
	}
	for i, name := range r.Header() {
		if name == r.footer.column && i+1 < len(r.Cells()) && digitsOnly(r.Cells()[i+1]) {
			return r.Cells()[i+1], fmt.Sprint(i + 2)
		}
	}
	return "", r.footer.column
}

func digitsOnly(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func (r *rowReader) checkEnd() error {
	if r.footer == nil {
		return nil
	}
	return &models.FileError{File: r.File, What: "footer missing: the file is cut", Next: "download it again"}
}
