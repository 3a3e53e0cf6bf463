package alipay

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// split cuts the current row into cells. Alipay quotes nothing that we know of, so a comma in the product's name is a comma: what
// is too much belongs to that column. Quotes that a spreadsheet has put around commas and line breaks are understood.
func (t *table) split() error {
	t.row = t.line
	text, err := t.wholeRow()
	if err != nil {
		return err
	}
	over := len(t.cells) - len(t.header)
	t.over = 0
	if over != 0 && strings.Contains(text, `"`) {
		if cells, ok := unquote(text); ok && len(cells) == len(t.header) {
			t.cells, over = cells, 0
		}
	}
	switch {
	case over < 0, over > 0 && t.free < 0:
		return &models.FileError{File: t.file, Line: t.row, What: fmt.Sprintf("%d cells, the header has %d: the row is cut or damaged", len(t.cells), len(t.header)),
			Next: "download it again"}
	case over > 0:
		t.over = over
		end := t.free + over + 1
		t.cells = slices.Replace(t.cells, t.free, end, strings.Join(t.cells[t.free:end], ","))
	}
	for i, cell := range t.cells {
		t.cells[i] = trimCell(cell)
	}
	return nil
}

// wholeRow is the current line, with those that follow while a quote is open and cells are missing.
func (t *table) wholeRow() (string, error) {
	text := t.text
	t.cutCells(text)
	for len(t.cells) < len(t.header) && strings.Count(text, `"`)%2 == 1 && len(text) < lineMax {
		more, err := t.read()
		if err != nil {
			return "", err
		}
		if _, closing := t.comment(); !more || closing {
			break
		}
		text += "\n" + t.text
		t.cutCells(text)
	}
	return text, nil
}

func (t *table) cutCells(text string) {
	t.cells = t.cells[:0]
	for more := true; more; {
		var cell string
		cell, text, more = strings.Cut(text, ",")
		t.cells = append(t.cells, cell)
	}
}

func unquote(text string) (cells []string, ok bool) {
	cells, err := csv.NewReader(strings.NewReader(text)).Read()
	return cells, err == nil
}

// cell is the current row's cell, "" for a column that is not there.
func (t *table) cell(column int) string {
	if column < 0 {
		return ""
	}
	return t.cells[column]
}

// ownID is a cell with an id that Alipay made, number one with a number of the shop's; "" when it is empty.
func (t *table) ownID(column int) (string, error) {
	return t.id(column, func(id string) error { return parse.CheckOwnID(id, idMax) })
}

func (t *table) number(column int) (string, error) { return t.id(column, parse.CheckID) }

// id is a copy: a kept id must not keep its whole row in memory.
func (t *table) id(column int, check func(string) error) (string, error) {
	id := t.cell(column)
	switch {
	case id == "":
		return "", nil
	case parse.LooksRounded(id):
		return "", t.failCell(column, "%q looks like a rounded number, the file was edited", clip(id))
	}
	if err := check(id); err != nil {
		return "", t.failCell(column, "%v", err)
	}
	return strings.Clone(id), nil
}

// amount is a cell in yuan with its sign; an empty one is nothing.
func (t *table) amount(column int) (int64, error) {
	text := t.cell(column)
	if text == "" {
		return 0, nil
	}
	sum, err := parse.StatementAmount(text, currency)
	if err != nil {
		return 0, t.failCell(column, "%v", err)
	}
	return sum.Minor, nil
}

// time is a cell in local time, which must be of the days the preamble names. Their end is the first moment after them, or the
// last of them: bills write it both ways.
func (t *table) time(column int) (time.Time, error) {
	at, err := parse.LocalTime(t.cell(column), t.zone)
	if err != nil {
		return at, t.failCell(column, "%v", err)
	}
	if at.Before(t.from) || at.After(t.to) {
		return at, t.failCell(column, "%s is outside the days the bill says it is of, %s to %s", t.cell(column),
			t.from.In(t.zone).Format(time.DateTime), t.to.In(t.zone).Format(time.DateTime))
	}
	return at, nil
}

// failCell is an error about a cell of the current row.
func (t *table) failCell(column int, format string, args ...any) error {
	err := &models.FileError{File: t.file, Line: t.row, Column: t.header[column], What: fmt.Sprintf(format, args...)}
	if t.over > 0 {
		err.Next = fmt.Sprintf("the row has %d cells more than the header: is there a comma in another column than 商品名称?", t.over)
	}
	return err
}
