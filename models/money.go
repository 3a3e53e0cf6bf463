package models

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/shopspring/decimal"
)

// Money is an exact sum: integer minor units (fen, cents; whole yen for JPY) of an ISO 4217 currency. Signs are kept out
// of the book: a refund of 5.00 is +500 of kind refund.
type Money struct {
	Minor    int64
	Currency string // upper case, "" only for "not stated"
}

// ErrAmount is wrapped by every refusal of an amount's spelling; the text around it says what is wrong with it.
var ErrAmount = errors.New("amount not understood")

// amountTextMax is far above any sum that fits int64 minor units (19 digits), and keeps "1e1000000000" and ten thousand
// digits away from big-number arithmetic.
const amountTextMax = 40

// ParseMajor reads a plain decimal in major units ("19.9", "19.99", "-5.00", "12800"), as people and statements write it.
// More decimals than the currency has are refused unless they are zeros ("19.990" is 19.99 CNY). No exponent, no separator.
func ParseMajor(text, currency string) (Money, error) {
	cur, err := parseCurrency(currency)
	if err != nil {
		return Money{}, err
	}
	return parseScaled(text, cur, 0)
}

// ParseMinor reads an integer number of the provider's minor units. digits is how many decimals the provider's minor unit
// stands for, which is not always ISO's (Stripe: ISK has 2); a fraction of our own minor unit is refused, not rounded.
func ParseMinor(text, currency string, digits int) (Money, error) {
	cur, err := parseCurrency(currency)
	if err != nil {
		return Money{}, err
	}
	if strings.ContainsRune(text, '.') {
		return Money{}, fmt.Errorf("%w: %q: whole minor units expected, found a decimal point", ErrAmount, clip(text))
	}
	return parseScaled(text, cur, digits)
}

// parseScaled reads text × 10^-scale major units of cur.
func parseScaled(text string, cur currency, scale int) (Money, error) {
	bad := func(why string) (Money, error) {
		return Money{}, fmt.Errorf("%w: %q: %s", ErrAmount, clip(text), why)
	}
	if len(text) > amountTextMax {
		return bad("too long")
	}
	body := strings.TrimPrefix(text, "-")
	whole, frac, dotted := strings.Cut(body, ".")
	if whole == "" || !digitsOnly(whole) || dotted && (frac == "" || !digitsOnly(frac)) {
		return bad("a plain decimal such as 1234.56 expected")
	}
	if n, ok := shortMinor(whole, frac, cur.digits-scale); ok {
		if len(body) < len(text) {
			n = -n
		}
		return Money{Minor: n, Currency: cur.code}, nil
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return bad("a plain decimal such as 1234.56 expected")
	}
	minor := d.Shift(int32(cur.digits - scale))
	if !minor.IsInteger() {
		return bad(fmt.Sprintf("%s has %d decimals", cur.code, cur.digits))
	}
	n := minor.BigInt()
	if !n.IsInt64() || n.Cmp(minInt64) == 0 { // the smallest int64 has no positive twin
		return bad("out of range")
	}
	return Money{Minor: n.Int64(), Currency: cur.code}, nil
}

// shortMinor reads the usual sum, which fits int64, without big numbers: they would cost more than all else about a
// statement's row. It leaves alone whatever is long, odd or to be refused; digits are checked before.
func shortMinor(whole, frac string, shift int) (n int64, ok bool) {
	if shift < 0 || len(whole)+shift > 18 {
		return 0, false
	}
	if len(frac) > shift {
		if strings.Trim(frac[shift:], "0") != "" {
			return 0, false
		}
		frac = frac[:shift]
	}
	for _, digits := range [2]string{whole, frac} {
		for i := range len(digits) {
			n = n*10 + int64(digits[i]-'0')
		}
	}
	for i := len(frac); i < shift; i++ {
		n *= 10
	}
	return n, true
}

var minInt64 = big.NewInt(-1 << 63)

// ParseCurrency returns the ISO code in upper case. A code we do not know is refused: guessing two decimals for it would
// book a hundredth or a hundredfold.
func ParseCurrency(code string) (string, error) {
	known, err := parseCurrency(code)
	return known.code, err
}

// currency is a code with its decimals.
type currency struct {
	code   string
	digits int
}

func parseCurrency(code string) (currency, error) {
	known, ok := currencies[code]
	if !ok {
		known, ok = currencies[strings.ToUpper(strings.TrimSpace(code))]
	}
	if !ok {
		return currency{}, fmt.Errorf("%w: currency %q is not an ISO 4217 code", ErrAmount, clip(code))
	}
	return known, nil
}

// currencies gives every sum the same copy of its code: a part of a file's row would keep the whole row in memory.
var currencies = func() map[string]currency {
	known := make(map[string]currency, len(currencyDigits))
	for code, digits := range currencyDigits {
		known[code] = currency{code, digits}
	}
	return known
}()

// Digits is the number of decimals of a currency that ParseCurrency accepted: JPY 0, CNY 2, KWD 3. Unknown: 2, for printing only.
func Digits(currency string) int {
	if n, ok := currencyDigits[currency]; ok {
		return n
	}
	return 2
}

// Decimal is the sum in major units.
func (m Money) Decimal() decimal.Decimal { return decimal.New(m.Minor, -int32(Digits(m.Currency))) }

// Text is the sum in major units with the currency's own number of decimals, without the code: "149.00", "12800", "5.120".
func (m Money) Text() string { return m.Decimal().StringFixed(int32(Digits(m.Currency))) }

// String is Text with the code.
func (m Money) String() string { return strings.TrimSpace(m.Text() + " " + m.Currency) }

// Abs is the sum without its sign.
func (m Money) Abs() Money {
	if m.Minor < 0 {
		m.Minor = -m.Minor
	}
	return m
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func clip(s string) string {
	if len(s) > amountTextMax {
		return s[:amountTextMax] + "…"
	}
	return s
}
