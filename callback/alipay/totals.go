package alipay

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// sumMax is far beyond any bill, and leaves room to add one more amount of it without overflow. In fen.
const sumMax = int64(4e18)

// tally counts the rows of one sort and adds up some of their columns.
type tally struct {
	word string // what the closing line calls them: 交易 in 交易合计
	rows int64
	sums []sum
}

// sum is one figure of a closing line.
type sum struct {
	label  string // what the closing line calls it: 商家实收 in 商家实收共970.84元
	column int
	total  int64 // fen
}

// addColumn adds a sum, if the header has its column.
func (s *tally) addColumn(label string, column int) {
	if column >= 0 {
		s.sums = append(s.sums, sum{label: label, column: column})
	}
}

// count adds the current row.
func (s *tally) count(t *table) error {
	s.rows++
	for i := range s.sums {
		own := &s.sums[i]
		n, err := t.amount(own.column)
		if err != nil {
			return err
		}
		if n > sumMax || n < -sumMax || own.total+n > sumMax || own.total+n < -sumMax {
			return t.failCell(own.column, "the rows add up to more than any bill can hold")
		}
		own.total += n
	}
	return nil
}

// closing reads the lines behind the list, the current one first, and holds each tally against its total; all must be there. Where
// there are no tallies, the line that ends the list (列表结束) shows that the file is whole. Other lines may follow, rows may not.
// proved is true when a sum was among what was checked.
func (t *table) closing(tallies ...*tally) (proved bool, err error) {
	seen, ended := map[string]bool{}, false
	for more := true; more; {
		text, ok := t.comment()
		if !ok {
			return false, t.fail("", "something follows the end of the list: %s", printable(t.text))
		}
		ended = ended || strings.Contains(text, "列表结束")
		for _, own := range tallies {
			if !strings.HasPrefix(text, own.word+"合计") {
				continue
			}
			sums, err := t.checkTotals(text, own)
			if err != nil {
				return false, err
			}
			seen[own.word], proved = true, proved || sums > 0
		}
		if more, err = t.read(); err != nil {
			return false, err
		}
	}
	for _, own := range tallies {
		if !seen[own.word] {
			return false, t.cut("the closing line %s合计 is missing after %d rows: the file was cut", own.word, t.rows)
		}
	}
	if len(tallies) == 0 && !ended {
		return false, t.cut("the line that ends the list (列表结束) is missing after %d rows: the file was cut", t.rows)
	}
	return proved, nil
}

// totalLine is a closing line: 交易合计：9笔，商家实收共970.84元，商家优惠共10.00元.
var totalLine = regexp.MustCompile(`^\pL+合计[：:](\d{1,12})笔(.*)$`)

// checkTotals returns how many sums it has checked. Those with a label we do not know are left alone.
func (t *table) checkTotals(text string, own *tally) (sums int, err error) {
	found := totalLine.FindStringSubmatch(strings.Join(strings.Fields(text), ""))
	if found == nil {
		return 0, t.cut("a total that cannot be read: %s", printable(text))
	}
	if rows, err := strconv.ParseInt(found[1], 10, 64); err != nil || rows != own.rows {
		return 0, t.totalDiffers(own, fmt.Sprintf("%d rows, the closing line says %s", own.rows, found[1]))
	}
	for rest := found[2]; rest != ""; {
		label, amount, after, ok := cutTotal(rest)
		said, err := parse.StatementAmount(amount, currency)
		if !ok || err != nil {
			return 0, t.cut("a total that cannot be read: %s", printable(text))
		}
		for _, s := range own.sums {
			if s.label != label {
				continue
			}
			if s.total != said.Minor {
				return 0, t.totalDiffers(own, fmt.Sprintf("%s: the rows add up to %s, the closing line says %s", label, yuan(s.total), said.Text()))
			}
			sums++
		}
		rest = after
	}
	return sums, nil
}

// cutTotal takes ，商家实收共970.84元 off the front.
func cutTotal(rest string) (label, amount, after string, ok bool) {
	rest, wide := strings.CutPrefix(rest, "，")
	rest, narrow := strings.CutPrefix(rest, ",")
	label, rest, named := strings.Cut(rest, "共")
	amount, after, closed := strings.Cut(rest, "元")
	return label, amount, after, (wide || narrow) && named && closed
}

func yuan(fen int64) string { return models.Money{Minor: fen, Currency: currency}.Text() }

func (t *table) totalDiffers(own *tally, what string) error {
	return &models.FileError{File: t.file, Line: t.line, Column: own.word + "合计", What: what, Next: "download it again"}
}
