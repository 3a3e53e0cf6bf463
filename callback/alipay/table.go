package alipay

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// table is the layout that all bills share: comment lines that begin with # (what it is, whose, of which days), a header, rows,
// and comment lines again (the end of the list, totals, when it was made).
type table struct {
	*lines
	zone     *time.Location
	title    string
	account  string
	from, to time.Time // what the preamble says the rows are of

	header  []string
	columns map[string]int
	cells   []string
	row     int // the current row's first line
	over    int // how many cells it had more than the header
	rows    int64
	free    int // the column of free text that may hold commas, -1: none
}

// openTable reads up to and including the header.
func openTable(file string, r io.Reader, zone *time.Location) (*table, error) {
	t := &table{lines: newLines(file, r), zone: zone, columns: map[string]int{}}
	for {
		more, err := t.read()
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, t.cut("the file ends before its table's header")
		}
		text, ok := t.comment()
		if !ok {
			t.readHeader()
			return t, nil
		}
		if err := t.readPreamble(text); err != nil {
			return nil, err
		}
	}
}

var (
	accountLine = regexp.MustCompile(`^账号\s*[：:]\s*\[?([^\[\]]*)\]?$`)
	fromLine    = regexp.MustCompile(`起始日期\s*[：:]\s*\[([^\[\]]*)\]`)
	toLine      = regexp.MustCompile(`终止日期\s*[：:]\s*\[([^\[\]]*)\]`)
)

func (t *table) readPreamble(text string) (err error) {
	if t.title == "" {
		t.title = text
	}
	if found := accountLine.FindStringSubmatch(text); found != nil {
		t.account = strings.TrimSpace(found[1])
	}
	if found := fromLine.FindStringSubmatch(text); found != nil {
		if t.from, err = t.bound("起始日期", found[1]); err != nil {
			return err
		}
	}
	if found := toLine.FindStringSubmatch(text); found != nil {
		t.to, err = t.bound("终止日期", found[1])
	}
	return err
}

func (t *table) bound(column, text string) (time.Time, error) {
	at, err := parse.LocalTime(text, t.zone, "2006年01月02日 15:04:05")
	if err != nil {
		return at, t.fail(column, "%v", err)
	}
	return at, nil
}

// checkPreamble refuses another account's bill, and one that does not say whose it is or of when.
func (t *table) checkPreamble(sellerID string) error {
	rest, ours := strings.CutPrefix(t.account, sellerID)
	switch {
	case t.account == "":
		return t.fail("账号", "the lines above the header do not say whose bill it is (#账号：[…])")
	case !ours || rest != "" && len(rest) != accountTail:
		return &models.FileError{File: t.file, Column: "账号", What: "the bill of account " + printable(t.account) + ", settings.seller_id is " + printable(sellerID),
			Next: "give this account's bill"}
	case t.from.IsZero() || t.to.IsZero():
		return t.fail("起始日期", "the lines above the header do not say which days the bill is of (#起始日期：[…] 终止日期：[…])")
	case !t.from.Before(t.to):
		return t.fail("终止日期", "the bill ends (%s) before it begins (%s)", t.to.In(t.zone).Format(time.DateTime), t.from.In(t.zone).Format(time.DateTime))
	}
	return nil
}

// accountTail is how many digits bills write behind the seller's 16: 0156.
const accountTail = 4

func (t *table) readHeader() {
	t.header = strings.Split(t.text, ",")
	for i, name := range t.header {
		t.header[i] = columnName(name)
		if _, twice := t.columns[t.header[i]]; !twice {
			t.columns[t.header[i]] = i
		}
	}
	t.free = t.column("商品名称")
}

var unit = regexp.MustCompile(`\([+-]?元\)$`)

// columnName leaves out the unit: 订单金额（元）, 订单金额(元) and 订单金额 are one column.
func columnName(cell string) string {
	name := strings.NewReplacer("（", "(", "）", ")", " ", "").Replace(trimCell(cell))
	return unit.ReplaceAllString(name, "")
}

// trimCell drops what fills cells up: tabs, blanks, a byte-order mark, a spreadsheet's quotes.
func trimCell(cell string) string {
	cell = strings.TrimPrefix(strings.TrimSpace(cell), bom)
	if len(cell) > 1 && cell[0] == '"' && cell[len(cell)-1] == '"' {
		cell = strings.TrimSpace(cell[1 : len(cell)-1])
	}
	return cell
}

// column is the place of the first of the names that the header has, or -1.
func (t *table) column(names ...string) int {
	for _, name := range names {
		if i, ok := t.columns[name]; ok {
			return i
		}
	}
	return -1
}

// need refuses a header that lacks a column, or has it twice.
func (t *table) need(names ...string) error {
	for _, name := range names {
		if t.column(name) < 0 {
			return t.fail(name, "the header has no such column; it has %s", clip(strings.Join(t.header, ",")))
		}
	}
	return t.once(names...)
}

// once refuses a header that has a column twice. Columns that nobody reads may be as they like.
func (t *table) once(names ...string) error {
	for _, name := range names {
		if i, ok := t.columns[name]; ok && slices.Contains(t.header[i+1:], name) {
			return t.fail(name, "the header names this column twice")
		}
	}
	return nil
}

// next moves to the next row; false at the comment line behind the last, which is then the current line.
func (t *table) next() (bool, error) {
	more, err := t.read()
	if err != nil {
		return false, err
	}
	if !more {
		return false, t.cut("the closing lines are missing after %d rows: the file was cut", t.rows)
	}
	if _, closing := t.comment(); closing {
		return false, nil
	}
	if err := t.split(); err != nil {
		return false, err
	}
	t.rows++
	return true, nil
}
