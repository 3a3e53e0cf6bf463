// Package xlsx writes reports as workbooks: a summary first, then a sheet for each kind of gap, which a person can filter, fill in and
// give back to `app gaps apply`. The same report gives the same bytes.
package xlsx

import (
	"errors"
	"io"

	"github.com/xuri/excelize/v2"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// rowsMax is how many rows a sheet can have, its heading with them; the format knows no more.
const rowsMax = excelize.TotalRows

// Write writes the runs' reports. An account that could not be run is in the summary, with what was wrong.
func Write(w io.Writer, items []reconcile.Item, l lang.Language) error {
	gaps := map[models.GapKind][]reconcile.Row{}
	for _, item := range items {
		if item.Report != nil {
			item.Report.Rows(func(r reconcile.Row) { gaps[r.Kind] = append(gaps[r.Kind], r) })
		}
	}
	return write(w, l, rowsMax, gaps, func(b *workbook) { b.summary(items) })
}

// WriteGaps writes a list of gaps, each with its account and date.
func WriteGaps(w io.Writer, gaps []reconcile.GapReport, l lang.Language) error {
	kinds := map[models.GapKind][]reconcile.Row{}
	for i := range gaps {
		kinds[gaps[i].Kind] = append(kinds[gaps[i].Kind], reconcile.Row{GapReport: &gaps[i]})
	}
	return write(w, l, rowsMax, kinds, func(b *workbook) { b.counts(kinds) })
}

func write(w io.Writer, l lang.Language, rows int, gaps map[models.GapKind][]reconcile.Row, summary func(*workbook)) error {
	b := &workbook{file: excelize.NewFile(), lang: l, rowsMax: rows, styles: map[string]int{}}
	b.file.SetZipWriter(newSortedZip)
	b.do(func() error {
		return b.file.SetDocProps(&excelize.DocProperties{Creator: "Paybook", Title: l.Text("Reconciliation report")})
	})
	b.stream(l.Text("Summary"), summary)
	for _, kind := range reconcile.SortedKinds(gaps) {
		b.gaps(kind, gaps[kind])
	}
	if len(gaps) == 0 { // a list to fill in is one, even without a row
		b.stream(l.Text("Gaps"), func(*workbook) { b.gapRows(nil) })
	}
	if b.err == nil {
		_, b.err = b.file.WriteTo(w)
	}
	return errors.Join(b.err, b.file.Close())
}

// workbook is the file in work. One sheet is written at a time, from its first row to its last. The first error is kept, and nothing is
// done after it.
type workbook struct {
	file    *excelize.File
	lang    lang.Language
	rowsMax int
	styles  map[string]int // by what makes them
	out     *excelize.StreamWriter
	sheet   string
	row     int // the last one written
	err     error
}

// do takes the next step, unless one before it has failed.
func (b *workbook) do(step func() error) {
	if b.err == nil {
		b.err = step()
	}
}

// stream writes one sheet.
func (b *workbook) stream(sheet string, content func(*workbook)) {
	b.do(func() (err error) {
		if b.sheet == "" {
			err = b.file.SetSheetName("Sheet1", sheet) // which a new workbook has
		} else {
			_, err = b.file.NewSheet(sheet)
		}
		if err != nil {
			return err
		}
		b.sheet, b.row = sheet, 0
		b.out, err = b.file.NewStreamWriter(sheet)
		return err
	})
	if b.err == nil {
		content(b)
	}
	b.do(func() error { return b.out.Flush() })
}

// put writes the next row.
func (b *workbook) put(cells ...any) {
	b.row++
	b.do(func() error {
		at, err := excelize.CoordinatesToCellName(1, b.row)
		if err != nil {
			return err
		}
		return b.out.SetRow(at, cells)
	})
}

// heads writes a row of headings.
func (b *workbook) heads(titles []string) {
	cells := make([]any, len(titles))
	for i, title := range titles {
		cells[i] = b.styled("head", title)
	}
	b.put(cells...)
}
