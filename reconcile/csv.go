package reconcile

import (
	"cmp"
	"encoding/csv"
	"io"
	"strings"
	"unicode"

	"paybook/reconcile/lang"
)

// WriteCSV prints one row a gap, open and carried, and one without a gap's id for every kind of row that was not understood. Accounts
// that could not be run have none: their errors are told elsewhere.
func WriteCSV(w io.Writer, items []Item, l lang.Language) error {
	out := newCSV(w, l)
	for _, item := range items {
		if item.Report != nil {
			item.Report.Rows(out.row)
		}
	}
	return out.end()
}

// WriteGapsCSV prints a list of gaps, each with its account and date, in the columns of WriteCSV.
func WriteGapsCSV(w io.Writer, gaps []GapReport, l lang.Language) error {
	out := newCSV(w, l)
	for i := range gaps {
		out.row(Row{GapReport: &gaps[i]})
	}
	return out.end()
}

// csvFile keeps the first error, as its writer does.
type csvFile struct {
	out *csv.Writer
	l   lang.Language
	err error
}

func newCSV(w io.Writer, l lang.Language) *csvFile {
	f := &csvFile{out: csv.NewWriter(w), l: l}
	f.write(func(c *Column) string { return c.Title(l) })
	return f
}

func (f *csvFile) row(r Row) {
	f.write(func(c *Column) string {
		if c.Type == CellAmount { // it may begin with a minus
			return c.Text(r, f.l)
		}
		return Harmless(c.Text(r, f.l))
	})
}

func (f *csvFile) write(cell func(*Column) string) {
	cells := make([]string, len(Columns))
	for i := range Columns {
		cells[i] = cell(&Columns[i])
	}
	if err := f.out.Write(cells); f.err == nil {
		f.err = err
	}
}

func (f *csvFile) end() error {
	f.out.Flush()
	return cmp.Or(f.err, f.out.Error())
}

// Harmed undoes Harmless: the text that was kept from being taken for a formula by an apostrophe.
func Harmed(cell string) string {
	if text, marked := strings.CutPrefix(cell, "'"); marked && Harmless(text) == cell {
		return text
	}
	return cell
}

// Harmless keeps a spreadsheet from taking a stranger's text for a formula, and a terminal from obeying it. Amounts, which may begin
// with a minus, are not text.
func Harmless(cell string) string {
	cell = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, cell)
	unseen := func(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) }
	if seen := strings.TrimLeftFunc(cell, unseen); seen != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(seen)[0]) {
		return "'" + cell
	}
	return cell
}
