package alipay

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"

	"paybook/models"
)

const bom = "\ufeff"

// lineMax bounds a line's memory; the longest free texts of a bill, 商品名称 and 备注, have 256 characters each.
const lineMax = 256 << 10

// lines reads the text lines of a bill. Bills are GBK, read as its superset GB18030; one that somebody saved again may be UTF-8, which
// the first line with a Chinese character shows.
type lines struct {
	file string
	src  *bufio.Scanner
	line int    // of the current line, from 1
	text string // the current line, trimmed

	offset  int64 // of the current line's first byte in the file, from 0
	end     int64 // behind its last byte
	decided bool  // the encoding is known
	gbk     transform.Transformer
	buf     []byte
}

func newLines(file string, r io.Reader) *lines {
	l := &lines{file: file, src: bufio.NewScanner(r)}
	l.src.Buffer(make([]byte, 0, 64<<10), lineMax)
	l.src.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := bufio.ScanLines(data, atEOF)
		if advance > 0 {
			l.offset, l.end = l.end, l.end+int64(advance)
		}
		return advance, line, err
	})
	return l
}

// read moves to the next line that is not blank; false at the end of the file.
func (l *lines) read() (bool, error) {
	for l.src.Scan() {
		l.line++
		text, err := l.decode(l.src.Bytes())
		if err != nil {
			return false, err
		}
		if l.text = strings.TrimSpace(strings.TrimPrefix(text, bom)); l.text != "" {
			return true, nil
		}
	}
	switch err := l.src.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return false, &models.FileError{File: l.file, Line: l.line + 1, What: fmt.Sprintf("a line longer than %d bytes is no row of a bill", lineMax)}
	case err != nil:
		return false, fmt.Errorf("%s: row %d: %w", l.file, l.line+1, err)
	}
	return false, nil
}

// comment is the current line when it is one of those around the table, without its mark and a spreadsheet's empty cells.
func (l *lines) comment() (text string, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimLeft(l.text, `"`), "#")
	return strings.TrimSpace(strings.TrimRight(text, ",\"\t ")), ok
}

func (l *lines) decode(raw []byte) (string, error) {
	if !l.decided && !isASCII(raw) {
		l.decided = true
		if !utf8.Valid(raw) {
			l.gbk = simplifiedchinese.GB18030.NewDecoder()
		}
	}
	if l.gbk == nil {
		if i := badByte(raw); i >= 0 {
			return "", l.badByte(raw, i, "UTF-8")
		}
		return string(raw), nil
	}
	text := l.convert(raw)
	if strings.ContainsRune(text, utf8.RuneError) || strings.IndexByte(text, 0) >= 0 {
		return "", l.badByte(raw, l.badGBK(raw), "GBK")
	}
	return text, nil
}

func (l *lines) badByte(raw []byte, i int, encoding string) error {
	what := fmt.Sprintf("byte %d of the file (0x%02x) is not %s text", l.offset+int64(i), raw[i], encoding)
	return &models.FileError{File: l.file, Line: l.line, What: what, Next: "download it again; bills are GBK, or UTF-8 when saved so as a whole"}
}

// convert reads GBK; what has no meaning becomes U+FFFD.
func (l *lines) convert(raw []byte) string {
	if need := 3*len(raw) + utf8.UTFMax; len(l.buf) < need { // a byte without meaning grows threefold, any other by half at most
		l.buf = make([]byte, 2*need)
	}
	l.gbk.Reset()
	n, _, err := l.gbk.Transform(l.buf, raw, true)
	if err != nil {
		return string(unicode.ReplacementChar)
	}
	return string(l.buf[:n])
}

// badGBK is the place of the first byte without a meaning, found character by character: it is only asked once there is one.
func (l *lines) badGBK(raw []byte) int {
	for i := 0; i < len(raw); {
		size := min(gbkSize(raw[i:]), len(raw)-i)
		if text := l.convert(raw[i : i+size]); text == "\x00" || strings.ContainsRune(text, utf8.RuneError) {
			return i
		}
		i += size
	}
	return 0
}

// gbkSize is how many bytes the first character takes in GB18030.
func gbkSize(raw []byte) int {
	switch {
	case raw[0] < utf8.RuneSelf || len(raw) == 1:
		return 1
	case raw[1] >= '0' && raw[1] <= '9':
		return 4
	}
	return 2
}

// badByte is the index of the first byte that is not UTF-8 text, -1 when all is well.
func badByte(raw []byte) int {
	for i := 0; i < len(raw); {
		c, size := utf8.DecodeRune(raw[i:])
		if c == utf8.RuneError || c == 0 { // U+FFFD itself is what an earlier, careless conversion left of an id
			return i
		}
		i += size
	}
	return -1
}

func isASCII(raw []byte) bool {
	for _, c := range raw {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (l *lines) fail(column, format string, args ...any) error {
	return &models.FileError{File: l.file, Line: l.line, Column: column, What: fmt.Sprintf(format, args...)}
}

// cut is fail for what a broken download looks like.
func (l *lines) cut(format string, args ...any) error {
	return &models.FileError{File: l.file, Line: l.line, What: fmt.Sprintf(format, args...), Next: "download it again"}
}
