package unionpay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"paybook/models"
)

// lineMax bounds a line's memory; the longest record has 607 bytes.
const lineMax = 4096

var bom = []byte("\ufeff")

// records reads a file of fixed-width records. Widths are bytes of GBK, not characters.
type records struct {
	file   string
	lines  *bufio.Scanner
	line   int // of the current record, from 1
	layout *layout
	count  int // records so far
	cells  [][]byte
}

// newRecords reads from r. layout is what the file's name promises, nil when the first record must tell.
func newRecords(file string, r io.Reader, l *layout) *records {
	rec := &records{file: file, lines: bufio.NewScanner(r), layout: l}
	rec.lines.Buffer(make([]byte, 0, 16<<10), lineMax)
	return rec
}

// next moves to the next record; false at the end of the file. Blank lines are none.
func (r *records) next() (bool, error) {
	for r.lines.Scan() {
		r.line++
		line := r.lines.Bytes()
		if r.line == 1 {
			line = bytes.TrimPrefix(line, bom)
		}
		if len(line) == 0 {
			continue
		}
		if r.count == 0 {
			r.settle(line)
		}
		r.count++
		return true, r.cut(line)
	}
	switch err := r.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return false, &models.FileError{File: r.file, Line: r.line + 1, What: fmt.Sprintf("a line longer than %d bytes is no record", lineMax)}
	case err != nil:
		return false, fmt.Errorf("%s: row %d: %w", r.file, r.line+1, err)
	}
	return false, nil
}

// settle lets the first record's length tell what the file is when its name does not. One that fits nothing is refused by cut.
func (r *records) settle(first []byte) {
	for _, l := range layouts {
		if r.layout == nil && len(first) == l.length {
			r.layout = l
		}
	}
}

// cut parts a record into its columns.
func (r *records) cut(line []byte) error {
	if r.layout == nil || len(line) != r.layout.length {
		return r.wrongLength(line)
	}
	plain := isASCII(line) && bytes.IndexByte(line, 0) < 0
	r.cells = r.cells[:0]
	at := 0
	for i, c := range r.layout.columns {
		if i > 0 {
			if line[at] != ' ' {
				return r.fail(c.name, "no space before it (byte %d of the record): the columns are shifted", at+1)
			}
			at++
		}
		cell := line[at : at+c.width]
		if !plain {
			if i, bad := badByte(cell); bad {
				return r.fail(c.name, "byte %d of the record (0x%02x) is no GBK text: the file is damaged, or was converted", at+i+1, cell[i])
			}
		}
		r.cells = append(r.cells, cell)
		at += c.width
	}
	return nil
}

// badByte finds the first byte of a column that is no text. Half a character at its end is none.
func badByte(cell []byte) (int, bool) {
	if i := bytes.IndexByte(cell, 0); i >= 0 {
		return i, true
	}
	if _, ok := fromGBK(string(cell)); ok {
		return 0, false
	}
	for i := 0; i < len(cell); i++ {
		if cell[i] < utf8.RuneSelf {
			continue
		}
		if _, ok := fromGBK(string(cell[i:min(i+2, len(cell))])); !ok {
			return i, true
		}
		i++
	}
	return 0, true
}

func (r *records) wrongLength(line []byte) error {
	expected := zm
	if r.layout != nil {
		expected = r.layout
	}
	e := &models.FileError{File: r.file, Line: r.line, Next: "download it again",
		What: fmt.Sprintf("the record has %d bytes, expected %d in a %s: it is cut, or the file was edited", len(line), expected.length, expected.title)}
	if utf8.Valid(line) && !isASCII(line) {
		e.What += ", or converted from GBK to UTF-8"
	}
	return e
}

// cell is a column of the current record without the spaces that fill it up.
func (r *records) cell(name string) string {
	text, _ := fromGBK(string(r.cells[r.layout.place(name)])) // cut has checked it
	return strings.Trim(text, " ")
}

func (r *records) fail(column, format string, args ...any) error {
	return &models.FileError{File: r.file, Line: r.line, Column: column, What: fmt.Sprintf(format, args...)}
}

// id is a column that names something, "" when it is blank.
func (r *records) id(name string) (string, error) {
	id := r.cell(name)
	if id != "" && !isID(id) {
		return "", r.fail(name, "%q is no id", clip(id))
	}
	return id, nil
}

// amount is a column of digits, in fen.
func (r *records) amount(name string) (models.Money, error) {
	return r.fen(name, r.cell(name))
}

// signed is an amount behind C (to the merchant's credit) or D (debit); a debit is below zero, a blank column nothing.
func (r *records) signed(name string) (models.Money, error) {
	text := r.cell(name)
	if text == "" {
		return models.Money{Currency: currencyOfFiles}, nil
	}
	sum, err := r.fen(name, text[1:])
	switch {
	case text[0] != 'C' && text[0] != 'D':
		return sum, r.fail(name, "%q begins with neither C nor D", clip(text))
	case err == nil && text[0] == 'D':
		sum.Minor = -sum.Minor
	}
	return sum, err
}

// currencyOfFiles: the files have no column for a currency, UnionPay settles with merchants in China in yuan.
const currencyOfFiles = "CNY"

func (r *records) fen(name, digits string) (models.Money, error) {
	sum, err := models.ParseMinor(digits, currencyOfFiles, 2)
	if err != nil || strings.HasPrefix(digits, "-") {
		return models.Money{}, r.fail(name, "%q is no amount in fen, which is digits only", clip(r.cell(name)))
	}
	return sum, nil
}
