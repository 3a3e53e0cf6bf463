package adyen

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// needed are the columns a settlement details report is read by. Their order is the account's choice, as are the further columns.
var needed = []string{"Merchant Account", "Psp Reference", "Creation Date", "Type", "Modification Reference", "Gross Currency", "Gross Debit (GC)",
	"Gross Credit (GC)", "Net Currency", "Net Debit (NC)", "Net Credit (NC)"}

// SettlesInBatches is true: a report is made when a batch closes, and named by its number.
func (p *Provider) SettlesInBatches() bool { return true }

// ReadStatement reads a settlement details report, and recognises a payment accounting report, which is told apart by its header
// and not compared: its rows are the stages of a payment, of which one can take back another, not what was settled.
//
// Amounts are major units, unsigned, in a column for debit and one for credit. Times are local to the row's TimeZone, or to
// zone where that is empty. The rows of a batch must add up to nothing, with what is paid out or carried over among them; so a
// file that lost rows is refused, and so is one of a batch that is not closed yet.
func (p *Provider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	src := bufio.NewReaderSize(r, headerMax)
	t, err := parse.NewTable(name, src, parse.TableOptions{SkipLines: titleLines(src)})
	if err != nil {
		return models.Statement{}, err
	}
	if t.Has("Record Type") && !t.Has("Type") {
		return p.skipAccounting(t)
	}
	if err := needs(t, "settlement details", needed...); err != nil {
		return models.Statement{}, err
	}
	f := &settlement{Table: t, p: p, zone: zone, batches: batches{}}
	st := models.Statement{Compared: true, Title: "settlement details report", Batch: true, WholePayouts: true, Totals: true}
	if err := everyRow(t, func() error {
		e, err := f.entry()
		if err != nil {
			return err
		}
		return each(e)
	}); err != nil {
		return models.Statement{}, err
	}
	return st, f.batches.check(name)
}

// skipAccounting reads a payment accounting report to its end, so that a damaged file or another account's is still refused.
func (p *Provider) skipAccounting(t *parse.Table) (models.Statement, error) {
	st := models.Statement{Title: "payment accounting report"}
	if err := needs(t, "payment accounting", "Merchant Account", "Psp Reference"); err != nil {
		return st, err
	}
	return st, everyRow(t, func() error { return p.checkMerchant(t) })
}

// checkMerchant refuses a row of an account that is not ours: the file is not this account's, or holds others' money as well.
func (p *Provider) checkMerchant(t *parse.Table) error {
	if account := t.Get("Merchant Account"); !p.merchants[account] {
		return t.Fail("Merchant Account", "%q is not one of settings.merchant_accounts", clip(account))
	}
	return nil
}

func everyRow(t *parse.Table, do func() error) error {
	for {
		more, err := t.Next()
		if err != nil || !more {
			return err
		}
		if err := do(); err != nil {
			return err
		}
	}
}

const (
	headerMax     = 64 << 10 // more than any header
	titleLinesMax = 10
)

// titleLines counts the lines above the header: some files have a title there. A file without our header is given back as it
// is, for the error to name what it has.
func titleLines(src *bufio.Reader) int {
	head, _ := src.Peek(headerMax) // what is wrong with the source will be seen when it is read
	lines := bytes.SplitN(head, []byte("\n"), titleLinesMax+1)
	return max(0, slices.IndexFunc(lines, isHeader))
}

func isHeader(line []byte) bool {
	cells := strings.Split(strings.NewReplacer(`"`, "", "\ufeff", "", "\r", "").Replace(string(line)), ",")
	for i := range cells {
		cells[i] = strings.Join(strings.Fields(cells[i]), " ")
	}
	return slices.Contains(cells, "Psp Reference") && slices.Contains(cells, "Merchant Account")
}

// needs refuses a file that lacks columns, naming all of them at once: the columns are chosen in the Customer Area, and should
// not have to be found out one by one.
func needs(t *parse.Table, report string, columns ...string) error {
	missing := slices.DeleteFunc(slices.Clone(columns), t.Has)
	if len(missing) == 0 {
		return nil
	}
	return &models.FileError{File: t.File, Line: t.Line(), Column: missing[0],
		What: fmt.Sprintf("not a whole Adyen %s report: the header lacks %s; it has %s", report, strings.Join(missing, ", "), clip(strings.Join(t.Header(), ", "))),
		Next: "download the report with these columns"}
}
