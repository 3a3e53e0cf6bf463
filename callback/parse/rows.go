package parse

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

// rowMax bounds one row: a quote that is never closed must not swallow the file into memory.
const rowMax = 1 << 20

// rows cuts a delimited text into rows of cells, by the rules of RFC 4180. It is not encoding/csv because a statement needs
// more and pays for less: a byte-order mark before a quoted cell, the place of a byte that is no text, and, since nearly all
// rows have no quote in them, a third of the time.
type rows struct {
	buf       *bufio.Reader
	delimiter string
	lazy      bool          // a quote within a cell is a character like any other
	arena     *models.Arena // nil: every row is a piece of memory of its own

	line   int   // the last physical line read, from 1
	start  int   // the line the current row began on
	offset int64 // bytes read
	open   bool  // the last line read had no end: the file ends in it
	long   []byte
	cells  []string // of the current row; used again for the next
}

// rowError is a row that cannot be read, and where it is.
type rowError struct {
	line int
	what string
	text bool // the bytes are no text
}

func (e *rowError) Error() string { return e.what }

// next reads a row; io.EOF after the last. Blank lines are no rows.
func (r *rows) next() ([]string, error) {
	for {
		line, err := r.readLine()
		if err != nil {
			return nil, err
		}
		if (len(line) == 0 || line[0] <= ' ' || line[0] >= utf8.RuneSelf) && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r.start = r.line
		if bytes.IndexByte(line, '"') < 0 {
			r.split(r.text(line))
			return r.cells, nil
		}
		return r.quoted(r.text(line))
	}
}

func (r *rows) text(line []byte) string {
	if r.arena == nil {
		return string(line)
	}
	return r.arena.Text(line)
}

// readLine reads up to the end of the line, which it drops. The bytes are good until the next call.
func (r *rows) readLine() ([]byte, error) {
	line, err := r.buf.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.readLong(line)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	r.line++
	r.open = line[len(line)-1] != '\n'
	if i := badByte(line); i >= 0 {
		return nil, &rowError{r.line, fmt.Sprintf("byte %d of the file (0x%02x) is not UTF-8 text", r.offset+int64(i), line[i]), true}
	}
	r.offset += int64(len(line))
	return withoutEnd(line), nil
}

func withoutEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

func (r *rows) readLong(part []byte) (line []byte, err error) {
	r.long = append(r.long[:0], part...)
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		if len(r.long) > rowMax {
			return nil, r.fail(r.line+1, "longer than %d bytes: not a row of a statement", rowMax)
		}
		part, err = r.buf.ReadSlice('\n')
		r.long = append(r.long, part...)
	}
	return r.long, err
}

// badByte is the index of the first byte that is not text, -1 when all is well. NUL is a sign of UTF-16, and no database
// holds it.
func badByte(line []byte) int {
	if utf8.Valid(line) {
		return bytes.IndexByte(line, 0)
	}
	for i := 0; ; {
		c, size := utf8.DecodeRune(line[i:])
		if c == utf8.RuneError && size <= 1 || c == 0 {
			return i
		}
		i += size
	}
}

// split cuts a row without quotes.
func (r *rows) split(line string) {
	r.cells = r.cells[:0]
	for more := true; more; {
		var cell string
		if len(r.delimiter) > 1 {
			cell, line, more = strings.Cut(line, r.delimiter)
		} else if i := strings.IndexByte(line, r.delimiter[0]); i >= 0 {
			cell, line = line[:i], line[i+1:]
		} else {
			cell, more = line, false
		}
		if cell != "" && cell[0] == bom[0] {
			cell = strings.TrimPrefix(cell, bom)
		}
		r.cells = append(r.cells, cell)
	}
}

const bom = "\ufeff"

// quoted cuts a row in which some cell is quoted; such a cell may run on over several lines.
func (r *rows) quoted(line string) ([]string, error) {
	r.cells = r.cells[:0]
	for rest, more := line, true; more; {
		rest = strings.TrimPrefix(rest, bom)
		var cell string
		if strings.HasPrefix(rest, `"`) {
			var err error
			if cell, rest, more, err = r.quotedCell(rest[1:]); err != nil {
				return nil, err
			}
		} else {
			cell, rest, more = strings.Cut(rest, r.delimiter)
			if !r.lazy && strings.Contains(cell, `"`) {
				return nil, r.fail(r.start, "cell %d: a quote within a cell that does not begin with one", len(r.cells)+1)
			}
		}
		r.cells = append(r.cells, cell)
	}
	return r.cells, nil
}

// quotedCell reads on behind an opening quote. more is true when another cell follows.
func (r *rows) quotedCell(rest string) (cell, after string, more bool, err error) {
	var b strings.Builder
	for {
		text, tail, closed := strings.Cut(rest, `"`)
		b.WriteString(text)
		if after, more = strings.CutPrefix(tail, r.delimiter); closed && (more || tail == "") {
			return b.String(), after, more, nil
		}
		switch {
		case closed && strings.HasPrefix(tail, `"`):
			b.WriteByte('"')
			rest = tail[1:]
		case closed && r.lazy:
			b.WriteByte('"')
			rest = tail
		case closed:
			return "", "", false, r.fail(r.start, "cell %d: something follows its closing quote", len(r.cells)+1)
		default:
			if rest, err = r.continued(b.Len()); err != nil {
				return "", "", false, err
			}
			b.WriteByte('\n')
		}
	}
}

// continued is the next line of a quoted cell.
func (r *rows) continued(sofar int) (string, error) {
	if sofar > rowMax {
		return "", r.fail(r.start, "cell %d: longer than %d bytes, a quote is not closed", len(r.cells)+1, rowMax)
	}
	line, err := r.readLine()
	if errors.Is(err, io.EOF) {
		return "", r.fail(r.start, "cell %d: its quote is never closed: the file is cut or damaged", len(r.cells)+1)
	}
	return string(line), err
}

func (r *rows) fail(line int, format string, args ...any) error {
	return &rowError{line: line, what: fmt.Sprintf(format, args...)}
}
