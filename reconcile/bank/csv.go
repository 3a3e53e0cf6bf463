package bank

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Layout says how a bank's CSV is laid out. A column is called by the header's name, "" is one that the file does not have.
type Layout struct {
	Delimiter rune
	SkipLines int      // title lines above the header
	Dates     []string // Go layouts; none: 2006-01-02
	Comma     bool     // sums are written 1.234,56 or 1234,56
	Inverted  bool     // a positive sum has left the account

	Date, Value             string
	Amount, Direction       string // one column of sums, and one that says which way they went
	Debit, Credit           string // or one for each way
	Currency, Account       string
	Balance, Charge         string // the balance behind each row; what the bank has kept of it
	Reference               string // the bank's own
	Texts                   []string
	DebitWords, CreditWords []string // the words of Direction, in any case
	Status                  string   // says whether a row has moved the balance; "": all have
	BookedWords             []string // the words of Status for rows that have, in any case
	PendingWords            []string // and for those that have not, or not yet: they are counted and left out
}

// table reads one CSV.
type table struct {
	*parse.Table
	bank *Bank
	s    *Statement
}

// readCSV reads a file of rows: one statement, of the account that is configured.
func readCSV(b *Bank, file, label string, r io.Reader) ([]*Statement, error) {
	l := &b.Layout
	t, err := parse.NewTable(file, decoded(limit(r), b.Encoding), parse.TableOptions{Delimiter: l.Delimiter, SkipLines: l.SkipLines,
		Converted: encodings[b.Encoding] != nil})
	if err != nil {
		return nil, err
	}
	rows := &table{t, b, &Statement{File: file, Label: label, Account: b.Account[0], Currency: b.Currency, Last: true}}
	for _, column := range append([]string{l.Date, l.Value, l.Amount, l.Direction, l.Debit, l.Credit, l.Currency, l.Account, l.Balance,
		l.Charge, l.Reference, l.Status}, l.Texts...) {
		if column != "" && !t.Has(column) {
			return nil, t.Need(column)
		}
	}
	return rows.read()
}

func (t *table) read() ([]*Statement, error) {
	var balances []int64
	for {
		ok, err := t.Next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if booked, err := t.booked(); err != nil {
			return nil, err
		} else if !booked {
			t.s.Pending++
			continue
		}
		line, err := t.row()
		if err != nil {
			return nil, err
		}
		t.s.Lines = append(t.s.Lines, line)
		if t.bank.Layout.Balance != "" {
			balance, err := t.sum(t.bank.Layout.Balance)
			if err != nil {
				return nil, err
			}
			balances = append(balances, balance)
		}
	}
	return []*Statement{t.s}, t.balanced(balances)
}

func (t *table) row() (line Line, err error) {
	l := &t.bank.Layout
	line.Line = t.Line()
	if err := t.ours(); err != nil {
		return line, err
	}
	if line.Booked, err = t.date(l.Date); err != nil {
		return line, err
	}
	if line.Value = line.Booked; l.Value != "" && t.Get(l.Value) != "" {
		if line.Value, err = t.date(l.Value); err != nil {
			return line, err
		}
	}
	if line.Minor, err = t.amount(); err != nil {
		return line, err
	}
	if l.Charge != "" && t.Get(l.Charge) != "" {
		if line.Charge, err = t.sum(l.Charge); err != nil {
			return line, err
		}
		line.Charge = max(line.Charge, -line.Charge)
	}
	line.Reference = t.Get(l.Reference)
	for _, column := range append([]string{l.Reference}, l.Texts...) {
		if text := t.Get(column); text != "" {
			line.Texts = append(line.Texts, text)
		}
	}
	line.Texts = unique(line.Texts)
	return line, nil
}

// ours refuses a row of another account or in another currency.
func (t *table) ours() error {
	l := &t.bank.Layout
	if l.Account != "" && !t.bank.sameAccount(t.Get(l.Account)) {
		return t.Fail(l.Account, "account %s is not ours, which is %s", masked(t.Get(l.Account)), masked(t.bank.Account[0]))
	}
	if l.Currency != "" && !strings.EqualFold(t.Get(l.Currency), t.bank.Currency) {
		return t.Fail(l.Currency, "%q: the account's currency is %s", clip(t.Get(l.Currency)), t.bank.Currency)
	}
	return nil
}

// booked says whether a row has moved the balance. A word that is not known may mean either, and is refused.
func (t *table) booked() (bool, error) {
	l := &t.bank.Layout
	is := func(known string) bool { return strings.EqualFold(known, t.Get(l.Status)) }
	switch {
	case l.Status == "", slices.ContainsFunc(l.BookedWords, is):
		return true, nil
	case slices.ContainsFunc(l.PendingWords, is):
		return false, nil
	}
	return false, t.Fail(l.Status, "%q says neither booked nor pending, expected one of %s: name it in banks[].statuses", clip(t.Get(l.Status)),
		strings.Join(slices.Concat(l.BookedWords, l.PendingWords), ", "))
}

// date is the day that a cell names, by the bank's clock where it is a time with an offset.
func (t *table) date(column string) (time.Time, error) {
	layouts := t.bank.Layout.Dates
	if len(layouts) == 0 {
		layouts = []string{time.DateOnly}
	}
	for _, layout := range layouts {
		if at, err := t.Time(column, time.UTC, layout); err == nil && hasOffset(layout) {
			return civil(at.In(t.bank.Zone)), nil
		} else if err == nil {
			return civil(at), nil
		}
	}
	at, err := t.Time(column, time.UTC, layouts...) // the error names all of them
	return civil(at), err
}

// hasOffset says whether what a Go layout describes bears its own offset from UTC.
func hasOffset(layout string) bool {
	return strings.Contains(layout, "Z07") || strings.Contains(layout, "-07")
}

// amount is the row's sum with its sign.
func (t *table) amount() (int64, error) {
	l := &t.bank.Layout
	if l.Amount == "" {
		return t.split()
	}
	minor, err := t.sum(l.Amount)
	if err != nil {
		return 0, err
	}
	if l.Inverted {
		minor = -minor
	}
	if l.Direction == "" {
		return minor, nil
	}
	word := func(known string) bool { return strings.EqualFold(known, t.Get(l.Direction)) }
	switch {
	case minor < 0:
		return 0, t.Fail(l.Amount, "%s is negative beside %s, which could mean two things", t.Get(l.Amount), l.Direction)
	case slices.ContainsFunc(l.DebitWords, word):
		return -minor, nil
	case slices.ContainsFunc(l.CreditWords, word):
		return minor, nil
	}
	return 0, t.Fail(l.Direction, "%q says neither in nor out, expected one of %s", clip(t.Get(l.Direction)),
		strings.Join(slices.Concat(l.CreditWords, l.DebitWords), ", "))
}

// split reads the debit and credit columns, of which one is empty or zero. A minus before a debit is how some banks mark it.
func (t *table) split() (int64, error) {
	l := &t.bank.Layout
	var sums [2]int64
	for i, column := range []string{l.Debit, l.Credit} {
		if t.Get(column) == "" {
			continue
		}
		sum, err := t.sum(column)
		switch {
		case err != nil:
			return 0, err
		case sum < 0 && column == l.Credit:
			return 0, t.Fail(column, "%s is negative, which in this column could mean two things", t.Get(column))
		}
		sums[i] = max(sum, -sum)
	}
	switch {
	case sums[0] != 0 && sums[1] != 0:
		return 0, t.Fail(l.Credit, "%s has a sum, too", l.Debit)
	case t.Get(l.Debit) == "" && t.Get(l.Credit) == "":
		return 0, t.Fail(l.Debit+", "+l.Credit, "both are empty")
	}
	return sums[1] - sums[0], nil
}

var commaSum = regexp.MustCompile(`^([+-]?)(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d+))?$`)

// spaced is a sum in groups of three digits with spaces or apostrophes between them, which mean one thing whatever the decimal sign.
var (
	spaced    = regexp.MustCompile(`^[+-]?\d{1,3}(?:[ \x{a0}\x{2009}\x{202f}'’]\d{3})+(?:[.,]\d+)?$`)
	groupSign = regexp.MustCompile(`[ \x{a0}\x{2009}\x{202f}'’]`)
)

// sum reads a cell in the layout's one spelling; any other is refused, for it could mean two sums.
func (t *table) sum(column string) (int64, error) {
	text := t.Get(column)
	if spaced.MatchString(text) {
		text = groupSign.ReplaceAllString(text, "")
	}
	if !t.bank.Layout.Comma {
		m, err := parse.StatementAmount(strings.TrimPrefix(text, "+"), t.bank.Currency)
		if err != nil {
			return 0, t.Fail(column, "%v", err)
		}
		return m.Minor, nil
	}
	part := commaSum.FindStringSubmatch(text)
	if part == nil {
		return 0, t.Fail(column, "%q: a sum such as 1.234,56 expected, as decimal: comma says", clip(text))
	}
	plain := strings.TrimPrefix(part[1], "+") + strings.ReplaceAll(part[2], ".", "")
	if part[3] != "" {
		plain += "." + part[3]
	}
	m, err := models.ParseMajor(plain, t.bank.Currency)
	if err != nil {
		return 0, t.Fail(column, "%v", err)
	}
	return m.Minor, nil
}

// balanced holds the balance behind each row against the row before it, in whichever order the bank lists them, and takes from them what
// the statement opens and closes with.
func (t *table) balanced(balances []int64) error {
	lines := t.s.Lines
	if len(balances) == 0 {
		return nil
	}
	broken := func() int { // the first row that does not follow from the one before; 0: none
		for i := 1; i < len(lines); i++ {
			if balances[i] != balances[i-1]+lines[i].Minor {
				return i
			}
		}
		return 0
	}
	at := broken()
	if at > 0 {
		slices.Reverse(lines)
		slices.Reverse(balances)
		if back := broken(); back > 0 {
			if back > 1 && at == 1 { // newest first, as most of the rows say
				at = back
			} else {
				slices.Reverse(lines)
			}
			return &models.FileError{File: t.s.File, Line: lines[at].Line, Column: t.bank.Layout.Balance, Next: "download it again",
				What: fmt.Sprintf("the balance does not follow from the row before it and %s: rows are missing, doubled or changed", t.bank.money(lines[at].Minor))}
		}
	}
	last := len(lines) - 1
	t.s.Opening = &Balance{balances[0] - lines[0].Minor, lines[0].Booked}
	t.s.Closing = &Balance{balances[last], lines[last].Booked}
	return nil
}
