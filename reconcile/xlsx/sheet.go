package xlsx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"github.com/xuri/excelize/v2"

	"paybook/models"
	"paybook/reconcile"
)

// sampled is how many rows a column's width is taken from: laying out all of them would tell nobody more.
const sampled = 1000

// Widths of columns, in characters.
const (
	widthMin = 8
	widthMax = 60
)

// gaps writes the sheet of one kind, and further ones when it has more rows than a sheet can have.
func (b *workbook) gaps(kind models.GapKind, rows []reconcile.Row) {
	room := b.rowsMax - 1 // for the heading
	for n := 1; len(rows) > 0; n++ {
		name := b.lang.Word(string(kind))
		if n > 1 {
			name = fmt.Sprintf("%s (%d)", name, n)
		}
		part := rows[:min(room, len(rows))]
		rows = rows[len(part):]
		b.stream(name, func(*workbook) { b.gapRows(part) })
	}
}

func (b *workbook) gapRows(rows []reconcile.Row) {
	b.layOut(rows)
	titles := make([]string, len(reconcile.Columns))
	for i := range titles {
		titles[i] = reconcile.Columns[i].Title(b.lang)
	}
	b.heads(titles)
	cells := make([]any, len(reconcile.Columns))
	for _, r := range rows {
		for i := range cells {
			cells[i] = b.cell(&reconcile.Columns[i], r)
		}
		b.put(cells...)
	}
	b.do(func() error { return b.filter(len(rows)) })
}

// layOut sets what must stand before the rows: the widths, and the heading that stays when the sheet is scrolled.
func (b *workbook) layOut(rows []reconcile.Row) {
	for i := range reconcile.Columns {
		c := &reconcile.Columns[i]
		width := textWidth(c.Title(b.lang)) + 3 // the filter's button
		for _, r := range rows[:min(sampled, len(rows))] {
			width = max(width, textWidth(c.Text(r, b.lang))+2)
		}
		b.width(i+1, min(max(width, widthMin), widthMax))
	}
	b.do(func() error {
		return b.out.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"})
	})
}

// width sets a column's, in characters.
func (b *workbook) width(column, characters int) {
	width, _ := decimal.NewFromInt(int64(characters)).Float64()
	b.do(func() error { return b.out.SetColWidth(column, column, width) })
}

// textWidth counts what is not ASCII as two characters, which Chinese is.
func textWidth(s string) int { return utf8.RuneCountInString(s) + (len(s)-utf8.RuneCountInString(s))/2 }

// filter puts what belongs to the rows as a whole: the filter, and the decisions to choose from.
func (b *workbook) filter(rows int) error {
	if rows == 0 {
		return nil
	}
	last, err := excelize.CoordinatesToCellName(len(reconcile.Columns), rows+1)
	if err != nil {
		return err
	}
	if err := b.file.AutoFilter(b.sheet, "A1:"+last, nil); err != nil {
		return err
	}
	at := slices.IndexFunc(reconcile.Columns, func(c reconcile.Column) bool { return c.Name == reconcile.ColumnDecision })
	column, err := excelize.ColumnNumberToName(at + 1)
	if err != nil {
		return err
	}
	choice := excelize.NewDataValidation(true)
	choice.SetSqref(fmt.Sprintf("%s2:%s%d", column, column, rows+1))
	if err := choice.SetDropList(reconcile.Decisions); err != nil {
		return err
	}
	choice.SetError(excelize.DataValidationErrorStyleStop, reconcile.ColumnDecision, b.lang.Text("one of: %s", strings.Join(reconcile.Decisions, ", ")))
	return b.file.AddDataValidation(b.sheet, choice)
}

// cell is one cell, typed. What is no such number or date after all stays text.
func (b *workbook) cell(c *reconcile.Column, r reconcile.Row) excelize.Cell {
	text := c.Text(r, b.lang)
	switch c.Type {
	case reconcile.CellAmount:
		return b.amount(text, c.Currency(r))
	case reconcile.CellNumber:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return b.styled("number", n)
		}
	case reconcile.CellDay:
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			return b.styled("day", day)
		}
		if text == "" {
			return b.styled("day", nil) // a date that is filled in is one
		}
	}
	return b.text(text)
}

// text is text for good: neither a number, however long an id is, nor a formula, here or in a CSV that is made of the workbook.
func (b *workbook) text(s string) excelize.Cell { return b.styled("text", reconcile.Harmless(s)) }

// digitsMax is how many digits the numbers of a spreadsheet keep.
const digitsMax = 15

// amount is a number with the currency's decimals. One with more digits than a spreadsheet's numbers have stays text, to the last digit.
func (b *workbook) amount(text, currency string) excelize.Cell {
	exact, err := decimal.NewFromString(text)
	switch {
	case err != nil:
		return b.text(text)
	case exact.NumDigits() > digitsMax:
		return b.styled("text", text) // a minus before digits is no formula
	}
	n, _ := exact.Float64() // the format knows binary numbers only, and so few digits come out of one as they went in
	return b.styled(amountStyle(models.Digits(currency)), n)
}
