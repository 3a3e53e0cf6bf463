package cmd

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"paybook/models"
	"paybook/reconcile/lang"
)

// sheetMax bounds a file of decisions, and sheetUnpacked what a workbook may unpack to, in bytes: a few hundred thousand rows.
const (
	sheetMax      = 128 << 20
	sheetUnpacked = 1 << 30
)

// saveAs is what to do about a file that is not understood as a whole.
const saveAs = "save it as \"CSV UTF-8\" or as .xlsx"

// readSheet reads the decisions of a CSV or XLSX file. What is wrong with a row is in the sheet's faults, what is wrong with the file an error.
// l is the language of who filled it in.
func readSheet(path string, l lang.Language) (*sheet, error) {
	s := &sheet{name: filepath.Base(path), language: l, decided: map[string]*models.FileError{}}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, sheetMax+1))
	if err != nil {
		return nil, err
	}
	switch {
	case len(content) > sheetMax:
		return nil, s.unusable(fmt.Sprintf("larger than %d MiB", sheetMax>>20), "apply it in parts")
	case len(bytes.TrimSpace(content)) == 0:
		return nil, s.unusable("the file is empty", "write one by `app gaps list --format csv`")
	case bytes.HasPrefix(content, []byte("PK\x03\x04")):
		return s, s.readXLSX(content)
	case bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0")):
		return nil, s.unusable("a table of the old kind (.xls), or one with a password", saveAs)
	}
	return s, s.readCSV(content)
}

func (s *sheet) unusable(what, next string) error {
	return &models.FileError{File: s.name, What: what, Next: next}
}

// readCSV reads what a spreadsheet saves as CSV: with or without a byte order mark, with commas, semicolons or tabs.
func (s *sheet) readCSV(content []byte) error {
	text, err := s.decode(content)
	if err != nil {
		return err
	}
	comma, text := separator(text)
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = comma, -1
	var t *sheetTable
	for row, line := 0, 1; ; {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return s.badCSV(err)
		}
		at, _ := r.FieldPos(0)
		row += 1 + at - line // with the empty lines, which a spreadsheet counts as rows
		line = at + 1 + strings.Count(strings.Join(cells, ""), "\n")
		if t == nil {
			if t, err = s.heading(row, cells); err != nil {
				return err
			}
			t.due = dueOn
			continue
		}
		if more := len(cells) - t.width; more > 0 && strings.Join(cells[t.width:], "") != "" {
			s.fault(models.FileError{File: t.label, Line: row}, "", fmt.Sprintf("%d cells more than the heading has: text with a %q in it must be in quotes", more, comma))
			continue
		}
		s.row(t, row, cells)
	}
	if t == nil {
		return s.unusable("no heading", "fill in a list as `app gaps list --format csv` writes it")
	}
	return nil
}

func (s *sheet) heading(row int, cells []string) (*sheetTable, error) {
	t, isHeading, err := newSheetTable(s.name, row, cells)
	if err == nil && !isHeading {
		err = &models.FileError{File: s.name, Line: row, What: "this is not the heading of a list of gaps: it has neither gap_id nor decision",
			Next: "fill in a list as `app gaps list --format csv` writes it"}
	}
	return t, err
}

func (s *sheet) badCSV(err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return &models.FileError{File: s.name, Line: at.StartLine, What: at.Err.Error(), Next: "quotes inside a cell are doubled, and the cell is in quotes; or " + saveAs}
	}
	return err
}

// decode makes UTF-8 of what it surely is. Whatever else it may be is not guessed: GBK, in which spreadsheets in China save CSV, would take
// most of what Latin-1 can write for Chinese, so the language must have been said.
func (s *sheet) decode(content []byte) (string, error) {
	if bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		plain, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(content)
		if err != nil {
			return "", s.unusable("not readable as UTF-16", saveAs)
		}
		content = plain
	}
	text := string(bytes.TrimPrefix(content, []byte("\uFEFF")))
	what, next := "not UTF-8: a spreadsheet has saved it in another encoding", saveAs+"; or say --lang zh if it is GBK"
	if s.language == lang.Chinese && !utf8.ValidString(text) {
		what, next = "neither UTF-8 nor GBK: a spreadsheet has saved it in another encoding", saveAs
		if plain, err := simplifiedchinese.GB18030.NewDecoder().String(text); err == nil && !strings.ContainsRune(plain, utf8.RuneError) {
			text = plain
		}
	}
	if at := firstUnreadable(text); at >= 0 {
		return "", &models.FileError{File: s.name, Line: 1 + strings.Count(text[:at], "\n"), What: what, Next: next}
	}
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text, nil
}

// firstUnreadable is where text is not UTF-8 or has a zero byte; -1: nowhere.
func firstUnreadable(text string) int {
	if zero := strings.IndexByte(text, 0); zero >= 0 {
		return zero
	}
	if utf8.ValidString(text) {
		return -1
	}
	for i, c := range text {
		if c == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

// separator finds what stands between the cells of the heading, which has no such sign in its names. A first line sep=; says it itself.
func separator(text string) (rune, string) {
	first, rest, _ := strings.Cut(text, "\n")
	if sep, said := strings.CutPrefix(strings.ToLower(strings.Trim(strings.TrimSpace(first), `"`)), "sep="); said && len(sep) == 1 && strings.ContainsAny(sep, ",;\t|") {
		return rune(sep[0]), "\n" + rest // the line counts
	}
	best := ','
	for _, c := range ";\t|" {
		if strings.Count(first, string(c)) > strings.Count(first, string(best)) {
			best = c
		}
	}
	return best, text
}

var (
	yearFirst = regexp.MustCompile(`^(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?:[ T]0?0:00(?::00)?)?$`)
	number    = regexp.MustCompile(`^\d+(?:\.\d+)?$`)
)

// dueOn understands a date with the year first, however a spreadsheet has written it. With the day or the month first it is not guessed.
func dueOn(cell string) (string, error) {
	if cell == "" {
		return "", nil
	}
	m := yearFirst.FindStringSubmatch(cell)
	if number.MatchString(cell) {
		return "", fmt.Errorf("%q is a number, not a date; write it as YYYY-MM-DD", shown(cell))
	}
	if m == nil {
		return "", fmt.Errorf("%q: which is the day and which the month is not sure; write it as YYYY-MM-DD", shown(cell))
	}
	month, _ := strconv.Atoi(m[2]) // digits
	day, _ := strconv.Atoi(m[3])
	date := fmt.Sprintf("%s-%02d-%02d", m[1], month, day)
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return "", fmt.Errorf("%q: there is no such day", shown(cell))
	}
	return date, nil
}

// headingRows is how far down a sheet its heading is looked for.
const headingRows = 20

// readXLSX reads every sheet that has a list of gaps; at least one must.
func (s *sheet) readXLSX(content []byte) error {
	f, err := excelize.OpenReader(bytes.NewReader(content), excelize.Options{RawCellValue: true, UnzipSizeLimit: sheetUnpacked})
	if err != nil {
		return s.unusable("not readable as a workbook: "+err.Error(), saveAs)
	}
	defer f.Close()
	props, err := f.GetWorkbookProps()
	if err != nil {
		return s.unusable("not readable as a workbook: "+err.Error(), saveAs)
	}
	since1904 := props.Date1904 != nil && *props.Date1904
	found := false
	for _, name := range f.GetSheetList() {
		is, err := s.readTable(f, name, func(cell string) (string, error) { return dueNumber(cell, since1904) })
		if err != nil {
			return err
		}
		found = found || is
	}
	if !found {
		return s.unusable("no sheet of it has a list of gaps, with a heading gap_id and decision", "fill in a workbook as `app gaps list --format xlsx` writes it")
	}
	return nil
}

func (s *sheet) readTable(f *excelize.File, name string, due func(string) (string, error)) (found bool, err error) {
	rows, err := f.Rows(name)
	if err != nil {
		var other excelize.ErrSheetNotExist // a sheet of another kind, such as a chart
		if errors.As(err, &other) {
			return false, nil
		}
		return false, s.unusable("sheet "+name+" is not readable: "+err.Error(), saveAs)
	}
	defer rows.Close()
	label := s.name + ", sheet " + name
	var t *sheetTable
	for row := 1; rows.Next(); row++ {
		cells, err := rows.Columns()
		switch {
		case err != nil:
			return false, s.unusable(fmt.Sprintf("sheet %s, row %d is not readable: %v", name, row, err), saveAs)
		case t != nil:
			s.row(t, row, cells)
		case row <= headingRows:
			if t, found, err = newSheetTable(label, row, cells); err != nil {
				return true, err
			} else if found {
				t.due = due
			}
		}
	}
	return found, rows.Error()
}

// dueNumber is dueOn for a workbook, where a date is the number of a day.
func dueNumber(cell string, since1904 bool) (string, error) {
	if !number.MatchString(cell) {
		return dueOn(cell)
	}
	days, err := strconv.ParseFloat(cell, 64)
	if err == nil && days >= 1 && days < 2958466 {
		var at time.Time
		if at, err = excelize.ExcelDateToTime(days, since1904); err == nil {
			return at.Format(time.DateOnly), nil
		}
	}
	return "", fmt.Errorf("%q is no date; write it as YYYY-MM-DD", shown(cell))
}
