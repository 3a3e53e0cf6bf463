package paypal

import (
	"maps"
	"slices"
	"strconv"

	"paybook/models"
)

// reportDecimals: a report writes every amount as a whole number of hundredths, also of currencies without decimals: 100 yen
// are 10000.
const reportDecimals = 2

// No amount has more than amountDigits, so that sumMax leaves room for one more.
const (
	amountDigits = 15
	sumMax       = int64(8e18)
)

// tally counts movements and adds them up by currency.
type tally struct {
	rows   int64
	sums   map[string]*sums
	footed map[string]bool // currencies whose footer was read
}

// sums are, in hundredths, what the footers (SF, RF) say first, in this order. The balances behind them are not checked: what
// each of them means is not documented well enough.
type sums [4]int64

const (
	grossCredits = iota
	grossDebits
	feeCredits
	feeDebits
)

var sumNames = [...]string{"gross credits", "gross debits", "fee credits", "fee debits"}

func newTally() *tally { return &tally{sums: map[string]*sums{}, footed: map[string]bool{}} }

// add puts an amount of the current row into the section's and the file's sums.
func (f *reportFile) add(currency string, which int, hundredths int64) error {
	for _, t := range [...]*tally{f.section, f.all} {
		s := t.sums[currency]
		if s == nil {
			s = &sums{}
			t.sums[currency] = s
		}
		if s[which] += hundredths; s[which] > sumMax {
			return f.Fail("", "the rows add up to more than any report can hold")
		}
	}
	return nil
}

// hundredths reads an amount as reports write it: digits only.
func hundredths(text string) (n int64, ok bool) {
	u, err := strconv.ParseUint(text, 10, 63)
	return int64(u), err == nil && len(text) <= amountDigits
}

// sectionWhole and reportWhole say whether a footer can be held against this file's rows alone: a report of more than a million
// rows goes on in the next file, within a section.
func (f *reportFile) sectionWhole() bool { return f.number == 1 || !f.first }

func (f *reportFile) reportWhole() bool { return f.number == 1 }

func (f *reportFile) readSectionSum() error { return f.checkSum(f.section, f.sectionWhole()) }

func (f *reportFile) readReportSum() error { return f.checkSum(f.all, f.reportWhole()) }

func (f *reportFile) checkSum(t *tally, whole bool) error {
	currency, err := models.ParseCurrency(f.cell(1))
	if err != nil {
		return f.Fail("2", "%v", err)
	}
	if t.footed[currency] {
		return f.Fail("2", "a second sum of %s", currency)
	}
	t.footed[currency] = true
	own := sums{}
	if s := t.sums[currency]; s != nil {
		own = *s
	}
	for i, name := range sumNames {
		n, ok := hundredths(f.cell(2 + i))
		switch {
		case !ok:
			return f.cut("column %d (%s): %q is no whole number of hundredths", 3+i, name, clip(f.cell(2+i)))
		case whole && !f.detail && n != own[i]: // a detail report also lists what its sums leave out
			return f.cut("%s of %s: the rows add up to %d, the report says %d", name, currency, own[i], n)
		}
	}
	return nil
}

func (f *reportFile) readSectionCount() error {
	err := f.checkCount(f.section, f.sectionWhole())
	f.section = nil
	return err
}

func (f *reportFile) readReportCount() (err error) {
	if err := f.checkCount(f.all, f.reportWhole()); err != nil {
		return err
	}
	f.total, err = f.count(1)
	return err
}

// readFileCount: only the report's last file ends the report; until then a section may be open.
func (f *reportFile) readFileCount() error {
	if f.number == 0 {
		return f.Fail("1", "the file's count without its number (FH)")
	}
	return f.checkRows(f.all.rows, true)
}

func (f *reportFile) checkCount(t *tally, whole bool) error {
	for _, currency := range slices.Sorted(maps.Keys(t.sums)) {
		if whole && !f.detail && !t.footed[currency] {
			return f.cut("movements in %s, but no sum of them", currency)
		}
	}
	return f.checkRows(t.rows, whole)
}

func (f *reportFile) checkRows(rows int64, whole bool) error {
	n, err := f.count(1)
	if err != nil {
		return err
	}
	if n < rows || whole && n != rows {
		return f.cut("%d movements, the report says %d", rows, n)
	}
	return nil
}
