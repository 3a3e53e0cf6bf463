package wechatpay

import (
	"fmt"
	"strings"

	"paybook/models"
)

// yuan is an amount in 1/100000 yuan: bills write fees with five decimals, everything else with two.
type yuan int64

const (
	yuanDecimals = 5
	yuanOne      = 100_000
	// yuanMax is ten times what yuanWholeMax digits can say, and leaves room to add one more row without overflow.
	yuanMax      = yuan(8e18)
	yuanWholeMax = 12
)

// parseYuan reads a plain decimal without building big numbers: it is called eight times a row. An empty cell is nothing.
func parseYuan(s string) (yuan, bool) {
	if s == "" {
		return 0, true
	}
	if n, ok := parseFen(s); ok {
		return n, true
	}
	body := strings.TrimPrefix(s, "-")
	whole, frac, dotted := strings.Cut(body, ".")
	if whole == "" || len(whole) > yuanWholeMax || dotted && frac == "" {
		return 0, false
	}
	frac = trimZeros(frac)
	if len(frac) > yuanDecimals {
		return 0, false
	}
	var n yuan
	for i := range len(whole) + yuanDecimals {
		digit := byte('0')
		if i < len(whole) {
			digit = whole[i]
		} else if j := i - len(whole); j < len(frac) {
			digit = frac[j]
		}
		if digit < '0' || digit > '9' {
			return 0, false
		}
		n = n*10 + yuan(digit-'0')
	}
	if len(body) < len(s) {
		n = -n
	}
	return n, true
}

// parseFen reads what nearly all amounts look like: digits, a point, two digits.
func parseFen(s string) (n yuan, ok bool) {
	point := len(s) - 3
	if point < 1 || point > yuanWholeMax || s[point] != '.' {
		return 0, false
	}
	for i := range len(s) {
		if i == point {
			continue
		}
		digit := s[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = n*10 + yuan(digit)
	}
	return n * (yuanOne / 100), true
}

// trimZeros drops decimals that say nothing, so that 19.990000 is 19.99.
func trimZeros(frac string) string {
	for len(frac) > yuanDecimals && frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	return frac
}

// String writes at least two decimals, as bills do.
func (y yuan) String() string {
	sign := ""
	if y < 0 {
		sign, y = "-", -y
	}
	text := fmt.Sprintf("%s%d.%05d", sign, y/yuanOne, y%yuanOne)
	for range yuanDecimals - 2 {
		text = strings.TrimSuffix(text, "0")
	}
	return text
}

func (b *bill) yuan(column int) (yuan, error) {
	n, ok := parseYuan(b.cells[column])
	if !ok {
		return 0, b.fail(b.name(column), "%q is no plain amount such as 1234.56", clip(b.cells[column]))
	}
	return n, nil
}

func (b *bill) isZero(column int) bool { n, ok := parseYuan(b.cells[column]); return ok && n == 0 }

// money is a cell that must hold an amount: present, without sign, and whole in the currency's minor units.
func (b *bill) money(column int, currency string) (models.Money, error) {
	n, err := b.yuan(column)
	if err != nil {
		return models.Money{}, err
	}
	unit := b.minorUnit(currency)
	switch {
	case b.cells[column] == "":
		return models.Money{}, b.fail(b.name(column), "empty, expected an amount")
	case n < 0:
		return models.Money{}, b.fail(b.name(column), "%s: bills write amounts without sign", clip(b.cells[column]))
	case n%unit != 0:
		return models.Money{}, b.fail(b.name(column), "%q: %s has %d decimals", clip(b.cells[column]), currency, models.Digits(currency))
	}
	return models.Money{Minor: int64(n / unit), Currency: currency}, nil
}

// feeMoney rounds half away from zero: fees have five decimals and are, but for old bills, whole fen. The total is checked
// before rounding.
func (b *bill) feeMoney(column int, currency string) (models.Money, error) {
	n, err := b.yuan(column)
	if err != nil {
		return models.Money{}, err
	}
	unit := b.minorUnit(currency)
	half := unit / 2
	if n < 0 {
		half = -half
	}
	return models.Money{Minor: int64((n + half) / unit), Currency: currency}, nil
}

// minorUnit is one minor unit of the currency in our 1/100000.
func (b *bill) minorUnit(currency string) yuan {
	if b.unit == 0 || b.unitOf != currency {
		b.unit, b.unitOf = yuanOne, currency
		for range models.Digits(currency) {
			b.unit /= 10
		}
	}
	return b.unit
}

// add puts the current row into the sums.
func (b *bill) add() error {
	for _, s := range b.sums {
		if s.column < 0 || s.only != nil && !s.only() {
			continue
		}
		n, err := b.yuan(s.column)
		if err != nil {
			return err
		}
		if s.total += n; s.total > yuanMax || s.total < -yuanMax {
			return b.fail(b.name(s.column), "the rows add up to more than any bill can hold")
		}
	}
	return nil
}

// checkSummary reads the two last lines and holds them against the rows. The current line is the summary's header. proved is false
// when the number of rows is all that could be held against them.
func (b *bill) checkSummary(countName string) (proved bool, err error) {
	head := names(b.text)
	if head[0] != countName {
		return false, b.cut("neither a row (it would begin with a back-tick) nor the summary (%s): %q", countName, clip(b.text))
	}
	more, err := b.read()
	if err != nil {
		return false, err
	}
	if !more {
		return false, b.cut("the summary has no figures: the file was cut")
	}
	if err := b.split(len(head)); err != nil {
		return false, err
	}
	if err := b.checkCount(countName, b.cells[0], b.rows); err != nil {
		return false, err
	}
	for i, name := range head[1:] {
		known, err := b.checkSum(name, b.cells[i+1])
		if err != nil {
			return false, err
		}
		proved = proved || known
	}
	return proved, b.checkEnd()
}

// checkCount: some bills write counts as 20.0.
func (b *bill) checkCount(name, text string, rows int64) error {
	n, ok := parseYuan(text)
	if !ok || text == "" || n%yuanOne != 0 {
		return b.fail(name, "%q is no count", clip(text))
	}
	if int64(n/yuanOne) != rows {
		return &models.FileError{File: b.file, Line: b.line, Column: name, What: fmt.Sprintf("%d rows, the summary says %d", rows, n/yuanOne), Next: "download it again"}
	}
	return nil
}

// checkSum leaves alone a total of a column we do not know.
func (b *bill) checkSum(name, text string) (known bool, err error) {
	for _, s := range b.sums {
		for _, own := range s.names {
			if own != name || s.column < 0 {
				continue
			}
			n, ok := parseYuan(text)
			if !ok || text == "" {
				return false, b.fail(name, "%q is no plain amount such as 1234.56", clip(text))
			}
			if n != s.total {
				return false, &models.FileError{File: b.file, Line: b.line, Column: name, What: fmt.Sprintf("the rows add up to %s, the summary says %s", s.total, n), Next: "download it again"}
			}
			known = true
		}
	}
	return known, nil
}

func (b *bill) checkEnd() error {
	more, err := b.read()
	if err == nil && more {
		err = b.fail("", "something follows the summary: %q", clip(b.text))
	}
	return err
}
