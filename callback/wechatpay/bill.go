package wechatpay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"paybook/models"
)

const bom = "\ufeff"

// lineMax bounds a line's memory; the longest free text of a bill, 商户数据包, has 128 characters.
const lineMax = 256 << 10

// bill reads the layout that all bills share: a header; rows, each cell of them behind a back-tick; a summary's header; the
// summary. Nothing is quoted, so a comma inside a cell is a comma: only comma and back-tick together part two cells.
type bill struct {
	file    string
	lines   *bufio.Scanner
	arena   models.Arena // of the lines: nothing is kept of one
	line    int          // of the current line, from 1
	text    string       // the current line
	header  []string
	columns map[string]int
	cells   []string
	rows    int64
	sums    []*sum
	unit    yuan // of unitOf, the currency of the last amount: see minorUnit
	unitOf  string
}

// sum is one control total: the column it adds up and its names in the summary.
type sum struct {
	names  []string
	column int // -1: the rows have no such column
	total  yuan
	only   func() bool // nil: every row counts
}

// newBill reads the header. Columns go by name, without what stands in brackets: 收支金额(元), half or full width.
func newBill(file string, r io.Reader) (*bill, error) {
	b := &bill{file: file, lines: bufio.NewScanner(r), columns: map[string]int{}}
	b.lines.Buffer(make([]byte, 0, 64<<10), lineMax)
	more, err := b.read()
	if err != nil {
		return nil, err
	}
	if !more {
		return nil, b.fail("", "no header line")
	}
	b.header = names(b.text)
	for i, name := range b.header {
		if _, twice := b.columns[name]; twice && name != "" {
			return nil, b.fail(clip(name), "the header names this column twice")
		}
		b.columns[name] = i
	}
	return b, nil
}

// names splits a header line. Its fields have no back-tick; some documents part them by a full-width comma.
func names(line string) []string {
	fields := strings.Split(strings.ReplaceAll(line, "，", ","), ",")
	for i, f := range fields {
		f, _, _ = strings.Cut(strings.ReplaceAll(f, "（", "("), "(")
		fields[i] = strings.Trim(f, " \t`"+bom)
	}
	return fields
}

// read moves to the next line that is not blank.
func (b *bill) read() (bool, error) {
	for b.lines.Scan() {
		b.line++
		b.text = strings.TrimSpace(strings.TrimPrefix(b.arena.Text(b.lines.Bytes()), bom))
		if !utf8.ValidString(b.text) {
			return false, b.fail("", "not UTF-8; bills are, so the file was changed, or is still packed")
		}
		if i := strings.IndexByte(b.text, 0); i >= 0 {
			return false, b.fail(b.columnAt(i), "a NUL byte: the file is damaged, or in another encoding than UTF-8")
		}
		if b.text != "" {
			return true, nil
		}
	}
	switch err := b.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return false, &models.FileError{File: b.file, Line: b.line + 1, What: fmt.Sprintf("a line longer than %d bytes is no row of a bill", lineMax)}
	case err != nil:
		return false, fmt.Errorf("%s: row %d: %w", b.file, b.line+1, err)
	}
	return false, nil
}

// columnAt is the name of the column that a place in the current line belongs to, "" where it cannot be told.
func (b *bill) columnAt(place int) string {
	if n := strings.Count(b.text[:place], ",`"); strings.HasPrefix(b.text, "`") && n < len(b.header) {
		return b.name(n)
	}
	return ""
}

// next moves to the next row and adds it to the sums; false at the summary.
func (b *bill) next() (bool, error) {
	more, err := b.read()
	if err != nil {
		return false, err
	}
	if !more {
		return false, b.cut("the summary is missing after %d rows: the file was cut", b.rows)
	}
	if b.text[0] != '`' {
		return false, nil
	}
	if err := b.split(len(b.header)); err != nil {
		return false, err
	}
	b.rows++
	return true, b.add()
}

// split cuts the current line into cells. The first back-tick begins the line; the others stand behind their comma.
func (b *bill) split(want int) error {
	b.cells = b.cells[:0]
	text := strings.TrimPrefix(b.text, "`")
	start := 0
	for at := 0; ; { // a comma is looked for, not comma and back-tick: 27 cells a row are many
		i := strings.IndexByte(text[at:], ',')
		if i < 0 {
			break
		}
		if at += i + 1; at < len(text) && text[at] == '`' {
			b.cells = append(b.cells, trimmed(text[start:at-1]))
			at++
			start = at
		}
	}
	b.cells = append(b.cells, trimmed(text[start:]))
	if len(b.cells) != want {
		return b.cut("%d cells, the header has %d: the row is cut or damaged", len(b.cells), want)
	}
	return nil
}

// trimmed is a cell without blanks around it, and without a byte-order mark, at hardly any cost where there is neither.
func trimmed(cell string) string {
	plain := func(c byte) bool { return c > ' ' && c < utf8.RuneSelf }
	if cell == "" || plain(cell[0]) && plain(cell[len(cell)-1]) {
		return cell
	}
	return strings.TrimSpace(strings.TrimPrefix(cell, bom))
}

func (b *bill) has(name string) bool { _, ok := b.columns[name]; return ok }

// column is the place of the first of the names that the header has, or -1.
func (b *bill) column(names ...string) int {
	for _, name := range names {
		if i, ok := b.columns[name]; ok {
			return i
		}
	}
	return -1
}

func (b *bill) need(names ...string) error {
	for _, name := range names {
		if !b.has(name) {
			return &models.FileError{File: b.file, Line: b.line, Column: name,
				What: "the header has no such column, so it is no trade bill or fund flow bill of WeChat Pay we know; it has " + clip(strings.Join(b.header, ","))}
		}
	}
	return nil
}

// cell is the current row's cell, "" for a column that is not there.
func (b *bill) cell(column int) string {
	if column < 0 {
		return ""
	}
	return b.cells[column]
}

// id is a cell that names something. Bills write 0 where there is nothing to name.
func (b *bill) id(column int) string {
	if id := b.cell(column); id != "0" {
		return id
	}
	return ""
}

func (b *bill) name(column int) string { return b.header[column] }

func (b *bill) fail(column, format string, args ...any) error {
	return &models.FileError{File: b.file, Line: b.line, Column: column, What: fmt.Sprintf(format, args...)}
}

// cut is fail for what a broken download looks like.
func (b *bill) cut(format string, args ...any) error {
	return &models.FileError{File: b.file, Line: b.line, What: fmt.Sprintf(format, args...), Next: "download it again"}
}
