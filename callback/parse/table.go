package parse

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"paybook/models"
)

// Table reads a delimited text file with a header line: columns by name, every value with its place. It streams. It drops a
// byte-order mark wherever a cell begins with one, takes any line ending, and ignores blank lines.
type Table struct {
	File    string
	header  []string
	columns map[string]int
	csv     *csv.Reader
	row     []string
	skipped int // physical lines before the csv reader's first
	line    int
}

// TableOptions says how a file is laid out.
type TableOptions struct {
	Delimiter rune // default comma
	SkipLines int  // title lines above the header
	LazyQuote bool
}

// NewTable reads up to and including the header. An empty file, or one that is plainly something else (JSON, XML, HTML: an
// error saved as the file), is refused by what it is.
func NewTable(file string, r io.Reader, o TableOptions) (*Table, error) {
	buf := bufio.NewReaderSize(r, 64<<10)
	if err := Sniff(file, buf); err != nil {
		return nil, err
	}
	t := &Table{File: file, columns: map[string]int{}, skipped: o.SkipLines}
	for i := 0; i < o.SkipLines; i++ {
		if _, err := readLine(buf); err != nil {
			return nil, &models.FileError{File: file, Line: i + 1, What: "the file ends before its header"}
		}
	}
	t.csv = csv.NewReader(&utf8Reader{r: buf})
	t.csv.Comma = ','
	if o.Delimiter != 0 {
		t.csv.Comma = o.Delimiter
	}
	t.csv.FieldsPerRecord = -1
	t.csv.ReuseRecord = true
	t.csv.LazyQuotes = o.LazyQuote
	if err := t.read(); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &models.FileError{File: file, What: "no header line"}
		}
		return nil, err
	}
	for i, name := range t.row {
		name = strings.Join(strings.Fields(name), " ")
		if _, twice := t.columns[name]; twice && name != "" {
			return nil, &models.FileError{File: file, Line: t.line, Column: name, What: "the header names this column twice"}
		}
		t.header = append(t.header, name)
		t.columns[name] = i
	}
	return t, nil
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
			return &models.FileError{File: t.File, Line: t.skipped + 1, Column: c, What: "the header has no such column; it has " + clip(strings.Join(t.header, ", "))}
		}
	}
	return nil
}

// Next moves to the next row; false at the end of the file. A row with another number of cells than the header stops it.
func (t *Table) Next() (bool, error) {
	if err := t.read(); err != nil {
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, err
	}
	if len(t.row) != len(t.header) {
		return true, &models.FileError{File: t.File, Line: t.line, What: fmt.Sprintf("%d cells, the header has %d: the row is cut or damaged", len(t.row), len(t.header))}
	}
	return true, nil
}

func (t *Table) read() error {
	row, err := t.csv.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return err
		}
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			return &models.FileError{File: t.File, Line: pe.StartLine + t.skipped, What: pe.Err.Error()}
		}
		var fe *utf8Error
		if errors.As(err, &fe) {
			return &models.FileError{File: t.File, What: fe.Error(), Next: "is it in another encoding than configured?"}
		}
		return &models.FileError{File: t.File, What: err.Error(), Next: "download it again"}
	}
	t.line, _ = t.csv.FieldPos(0)
	t.line += t.skipped
	for i := range row {
		row[i] = strings.TrimSpace(strings.TrimPrefix(row[i], "\ufeff"))
	}
	t.row = row
	return nil
}

// Line is the current row's first line in the unpacked file, from 1.
func (t *Table) Line() int { return t.line }

// Get is the current row's cell, trimmed; "" for a column the header lacks.
func (t *Table) Get(column string) string {
	if i, ok := t.columns[column]; ok && i < len(t.row) {
		return t.row[i]
	}
	return ""
}

// Fail is an error about one cell of the current row.
func (t *Table) Fail(column, format string, args ...any) error {
	return &models.FileError{File: t.File, Line: t.line, Column: column, What: fmt.Sprintf(format, args...)}
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

var rounded = regexp.MustCompile(`^[+-]?\d+([.,]\d+)?[eE][+-]?\d+$`)

// LooksRounded is true for an id that a spreadsheet turned into scientific notation (4.20000E+27).
func LooksRounded(id string) bool { return rounded.MatchString(id) }

var grouped = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+\.\d+$`)

// StatementAmount reads a statement's amount: a plain decimal, or one with thousands commas and a dot (1,234.56). Every other
// spelling is refused: a minus lookalike, brackets, a currency sign, a comma for the decimal point could mean two sums.
func StatementAmount(text, currency string) (models.Money, error) {
	if grouped.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	return models.ParseMajor(text, currency)
}

// LocalTime reads "2006-01-02 15:04:05" (seconds may be missing) in zone, or one of the given layouts instead; a layout with an
// offset uses the offset. A local time that the zone skips or has twice is what time.ParseInLocation makes of it.
func LocalTime(text string, zone *time.Location, layouts ...string) (time.Time, error) {
	if len(layouts) == 0 {
		layouts = []string{"2006-01-02 15:04:05", "2006-01-02 15:04"}
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time, expected YYYY-MM-DD HH:MM:SS", clip(text))
}

func readLine(buf *bufio.Reader) (string, error) {
	line, err := buf.ReadString('\n')
	if err != nil && line == "" {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
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

// utf8Reader passes text through and stops at the first byte that is not UTF-8, with its offset: a wrong encoding must not
// become U+FFFD inside an id.
type utf8Reader struct {
	r      io.Reader
	offset int64
	tail   []byte // an unfinished rune at the end of the last read
}

type utf8Error struct{ offset int64 }

func (e *utf8Error) Error() string { return fmt.Sprintf("byte %d is not UTF-8", e.offset) }

func (u *utf8Reader) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	check := p[:n]
	if len(u.tail) > 0 {
		check = append(u.tail, p[:n]...)
	}
	base := u.offset - int64(len(u.tail))
	for i := 0; i < len(check); {
		if check[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(check[i:])
		if r == utf8.RuneError && size <= 1 {
			if !utf8.FullRune(check[i:]) && err == nil {
				u.tail = append([]byte(nil), check[i:]...)
				u.offset += int64(n)
				return n, nil
			}
			return 0, &utf8Error{base + int64(i)}
		}
		i += size
	}
	u.tail = nil
	u.offset += int64(n)
	return n, err
}
