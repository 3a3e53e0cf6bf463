package parse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"paybook/models"
)

// Table reads a delimited text file with a header line: columns by name, every value with its place. It streams. It drops a
// byte-order mark wherever a cell begins with one, takes LF and CRLF mixed, and ignores blank lines.
type Table struct {
	File    string
	header  []string
	columns map[string]int
	rows    rows
	row     []string
	o       TableOptions
	first   bool // the row read is still to be handed out: a file without a header
}

// TableOptions says how a file is laid out.
type TableOptions struct {
	Delimiter rune // default comma
	SkipLines int  // title lines above the header
	NoHeader  bool // the columns are then called 1, 2, 3 …
	LazyQuote bool // a quote within a cell is a character like any other
	Ragged    bool // rows are records of several kinds, each with its own number of cells: none is held against the header
	// Passing is true for a reader that keeps nothing of a row: its cells are then parts of what many rows share (models.Arena).
	Passing bool
	// Converted is true for text that was decoded from another encoding: U+FFFD then stands for bytes that had no meaning
	// there, and is refused.
	Converted bool
}

// NewTable reads up to and including the header. An empty file, or one that is plainly something else (JSON, XML, HTML: an
// error saved as the file), is refused by what it is.
func NewTable(file string, r io.Reader, o TableOptions) (*Table, error) {
	if o.Delimiter == 0 {
		o.Delimiter = ','
	}
	buf := bufio.NewReaderSize(r, 64<<10)
	if err := Sniff(file, buf); err != nil {
		return nil, err
	}
	t := &Table{File: file, columns: map[string]int{}, o: o, rows: rows{buf: buf, delimiter: string(o.Delimiter), lazy: o.LazyQuote}}
	if o.Passing {
		t.rows.arena = &models.Arena{}
	}
	for i := range o.SkipLines {
		if _, err := t.rows.readLine(); errors.Is(err, io.EOF) {
			return nil, &models.FileError{File: file, Line: i + 1, What: "the file ends before its header"}
		} else if err != nil {
			return nil, t.place(err)
		}
	}
	if err := t.read(); errors.Is(err, io.EOF) {
		return nil, &models.FileError{File: file, What: "no header line"}
	} else if err != nil {
		return nil, err
	}
	if t.rows.open && !o.NoHeader {
		return nil, t.cutInHeader()
	}
	return t, t.readHeader()
}

// Head makes the current row the header that the next ones are held against: for files whose header stands below records of other
// kinds, or again within the rows. Such a file is opened with NoHeader and Ragged.
func (t *Table) Head() error {
	if t.rows.open {
		return t.cutInHeader()
	}
	t.o.NoHeader, t.o.Ragged = false, false
	t.header, t.columns = nil, map[string]int{}
	return t.readHeader()
}

func (t *Table) cutInHeader() error {
	return &models.FileError{File: t.File, Line: t.Line(), What: "the file ends in its header line: it is cut", Next: "download it again"}
}

func (t *Table) readHeader() error {
	t.first = t.o.NoHeader
	for i, name := range t.row {
		if t.o.NoHeader {
			name = strconv.Itoa(i + 1)
		}
		name = strings.Join(strings.Fields(name), " ")
		if _, twice := t.columns[name]; twice && name != "" {
			return t.Fail(name, "the header names this column twice")
		}
		t.header = append(t.header, name)
		t.columns[name] = i
	}
	return nil
}

// Sniff refuses, by name, what is no statement at all. It looks at the first bytes and takes none.
func Sniff(file string, buf *bufio.Reader) error {
	head, err := buf.Peek(512)
	if len(head) == 0 && err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", file, err)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	what := ""
	switch low := bytes.ToLower(text); {
	case len(text) == 0:
		what = "the file is empty (0 rows, no header)"
	case bytes.HasPrefix(low, []byte("<!doctype html")), bytes.HasPrefix(low, []byte("<html")):
		what = "an HTML page, not a statement"
	case text[0] == '<':
		what = "an XML answer, not a statement: " + clip(string(text))
	case text[0] == '{', text[0] == '[':
		what = "a JSON answer, not a statement: " + clip(string(text))
	default:
		return nil
	}
	return &models.FileError{File: file, What: what, Next: "download it again, or declare a day without one by --no-statement"}
}

// Has says whether the header names the column.
func (t *Table) Has(column string) bool { _, ok := t.columns[column]; return ok }

// Header is the column names in the file's order.
func (t *Table) Header() []string { return t.header }

// Need refuses a file whose header lacks one of the columns.
func (t *Table) Need(columns ...string) error {
	for _, c := range columns {
		if !t.Has(c) {
			return t.Fail(c, "the header has no such column; it has %s", clip(strings.Join(t.header, ", ")))
		}
	}
	return nil
}

// Next moves to the next row; false at the end of the file. A row with another number of cells than the header is an error,
// yet true: who knows it for a trailer, which may be shorter, can look at its cells and go on.
func (t *Table) Next() (bool, error) {
	if t.first {
		t.first = false
		return true, nil
	}
	if err := t.read(); err != nil {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	if len(t.row) != len(t.header) && !t.o.Ragged {
		return true, t.Fail("", "%d cells, the header has %d: the row is cut or damaged", len(t.row), len(t.header))
	}
	return true, nil
}

func (t *Table) read() error {
	row, err := t.rows.next()
	if err != nil {
		return t.place(err)
	}
	for i := range row {
		row[i] = trimmed(row[i])
		if t.o.Converted && strings.ContainsRune(row[i], utf8.RuneError) {
			what := fmt.Sprintf("cell %d: bytes that are no character of the configured encoding", i+1)
			return &models.FileError{File: t.File, Line: t.Line(), What: what, Next: otherEncoding}
		}
	}
	t.row = row
	return nil
}

const otherEncoding = "is it in another encoding than configured?"

// trimmed is strings.TrimSpace, at hardly any cost where there is nothing to trim.
func trimmed(cell string) string {
	plain := func(c byte) bool { return c > ' ' && c < utf8.RuneSelf }
	if cell == "" || plain(cell[0]) && plain(cell[len(cell)-1]) {
		return cell
	}
	return strings.TrimSpace(cell)
}

// place makes an error of the reading one with the file and row.
func (t *Table) place(err error) error {
	var at *rowError
	switch {
	case errors.Is(err, io.EOF):
		return err
	case errors.As(err, &at) && at.text:
		return &models.FileError{File: t.File, Line: at.line, What: at.what, Next: otherEncoding}
	case errors.As(err, &at):
		return &models.FileError{File: t.File, Line: at.line, What: at.what}
	}
	return &models.FileError{File: t.File, Line: t.rows.line + 1, What: err.Error(), Next: "download it again"}
}

// Cut is true for a row with fewer cells than the header in whose line, without an end, the file ends.
func (t *Table) Cut() bool { return t.rows.open && len(t.row) < len(t.header) }

// Line is the current row's first line in the unpacked file, from 1.
func (t *Table) Line() int { return t.rows.start }

// Cells are the current row's cells, trimmed, good until the next row: for rows that do not follow the header.
func (t *Table) Cells() []string { return t.row }

// Column is the place of a column in the header, for At; -1 for one it lacks. It holds until the next Head.
func (t *Table) Column(name string) int {
	if i, ok := t.columns[name]; ok {
		return i
	}
	return -1
}

// At is Get by a place that Column has told: looking a name up for every cell costs more than reading the row.
func (t *Table) At(place int) string {
	if place < 0 || place >= len(t.row) {
		return ""
	}
	return t.row[place]
}

// Get is the current row's cell, trimmed; "" for a column the header lacks.
func (t *Table) Get(column string) string {
	if i, ok := t.columns[column]; ok && i < len(t.row) {
		return t.row[i]
	}
	return ""
}

// Fail is an error about one cell of the current row, or about the row when the column is "".
func (t *Table) Fail(column, format string, args ...any) error {
	return &models.FileError{File: t.File, Line: t.Line(), Column: column, What: fmt.Sprintf(format, args...)}
}

// Money reads a cell as an amount in major units, sign kept.
func (t *Table) Money(column, currency string) (models.Money, error) {
	m, err := StatementAmount(t.Get(column), currency)
	if err != nil {
		return m, t.Fail(column, "%v", err)
	}
	return m, nil
}

// ID reads a cell as an identifier: never a number a spreadsheet has rounded.
func (t *Table) ID(column string) (string, error) {
	id := t.Get(column)
	if LooksRounded(id) {
		return "", t.Fail(column, "%q looks like a rounded number, the file was edited", clip(id))
	}
	return id, nil
}

// Time reads a cell as local time of zone. Seconds may be missing; any other spelling is refused, never guessed.
func (t *Table) Time(column string, zone *time.Location, layouts ...string) (time.Time, error) {
	at, err := LocalTime(t.Get(column), zone, layouts...)
	if err != nil {
		return at, t.Fail(column, "%v", err)
	}
	return at, nil
}

func clip(s string) string {
	const max = 120
	if len(s) <= max {
		return s
	}
	cut := max
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
