package bank

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	xunicode "golang.org/x/text/encoding/unicode"

	"paybook/models"
)

// Encodings are those that a statement may be written in; utf-8 is the default.
func Encodings() []string {
	return []string{"utf-8", "latin1", "iso-8859-2", "iso-8859-15", "windows-1250", "windows-1251", "windows-1252", "cp852", "gbk", "gb18030",
		"big5", "shift_jis", "utf-16"}
}

var encodings = map[string]encoding.Encoding{
	"latin1": charmap.ISO8859_1, "iso-8859-2": charmap.ISO8859_2, "iso-8859-15": charmap.ISO8859_15,
	"windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251, "windows-1252": charmap.Windows1252, "cp852": charmap.CodePage852,
	"gbk": simplifiedchinese.GBK, "gb18030": simplifiedchinese.GB18030, "big5": traditionalchinese.Big5, "shift_jis": japanese.ShiftJIS,
	"utf-16": xunicode.UTF16(xunicode.LittleEndian, xunicode.UseBOM),
}

// decoded is the text in UTF-8.
func decoded(r io.Reader, name string) io.Reader {
	if e := encodings[name]; e != nil {
		return e.NewDecoder().Reader(r)
	}
	return r
}

// sizeMax bounds what is read of one statement file: its lines are held in memory until they are matched.
const sizeMax = 256 << 20

// bounded fails where a file is longer than any statement.
type bounded struct {
	r    io.Reader
	left int64
}

func limit(r io.Reader) io.Reader { return &bounded{r, sizeMax} }

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %d MiB, which is no statement of a day", sizeMax>>20)
	}
	return n, err
}

// civil is a date as midnight UTC.
func civil(at time.Time) time.Time {
	y, m, d := at.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func dateText(d time.Time) string {
	if d.IsZero() {
		return ""
	}
	return d.Format(time.DateOnly)
}

// bic is the bank's own identifier, which some banks put before the number in :25:.
var bic = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?/`)

// sameAccount compares account numbers as they are written: spaces, dots and slashes mean nothing, nor does the currency behind it. The
// bank's identifier before it may be left out on either side.
func (b *Bank) sameAccount(written string) bool {
	split := func(text string) (id, number string) {
		id = bic.FindString(text)
		return id, bare(text[len(id):])
	}
	bankID, number := split(written)
	short := strings.TrimSuffix(number, b.Currency)
	return slices.ContainsFunc(b.Account, func(account string) bool {
		id, ours := split(account)
		return (ours == number || ours == short) && (id == "" || bankID == "" || id == bankID)
	})
}

// bare keeps letters and digits, in upper case.
func bare(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToUpper(c)
		}
		return -1
	}, text)
}

// masked shows enough of somebody's account number to know it again.
func masked(number string) string {
	number = bare(number)
	if len(number) <= 8 {
		return "…" + number[max(0, len(number)-4):]
	}
	return number[:4] + "…" + number[len(number)-4:]
}

// clip keeps a stranger's text short in a message.
func clip(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// readerError is what a reader of text has to say of its file, with the place.
func readerError(file string, line int, err error) error {
	return &models.FileError{File: file, Line: line, What: err.Error(), Next: "download it again"}
}
