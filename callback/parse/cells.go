package parse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"paybook/models"
)

var rounded = regexp.MustCompile(`^[+-]?\d+([.,]\d+[eE][+-]?|[eE][+-])\d+$`)

// LooksRounded is true for an id that a spreadsheet turned into scientific notation (4.20000E+27). Spreadsheets write a
// decimal point or the exponent's sign; 12345E678, without either, is an id like any other.
func LooksRounded(id string) bool {
	return (strings.IndexByte(id, 'E') >= 0 || strings.IndexByte(id, 'e') >= 0) && rounded.MatchString(id)
}

var grouped = regexp.MustCompile(`^-?\d{1,3}(,\d{3})+\.\d+$`)

// signs are the currency signs a statement may put before a sum, and the currencies they stand for there.
var signs = map[string][]string{
	"¥": {"CNY", "JPY"}, "￥": {"CNY", "JPY"}, "$": {"USD"}, "€": {"EUR"}, "£": {"GBP"}, "₹": {"INR"}, "₩": {"KRW"},
}

// StatementAmount reads a statement's amount in major units: a plain decimal, one with thousands commas and a dot (1,234.56),
// either behind the sign of the very currency (¥19.99 with CNY). Every other spelling is refused: a minus lookalike, brackets,
// another currency's sign, a comma for the decimal point could mean two sums.
func StatementAmount(text, currency string) (models.Money, error) {
	plain := text
	if len(plain) > 0 && (plain[0] < '0' || plain[0] > '9') {
		plain = withoutSign(plain, currency)
	}
	if strings.IndexByte(plain, ',') >= 0 && grouped.MatchString(plain) {
		plain = strings.ReplaceAll(plain, ",", "")
	}
	m, err := models.ParseMajor(plain, currency)
	if err != nil && plain != text {
		_, err = models.ParseMajor(text, currency) // speaks of the cell as it is written
	}
	return m, err
}

// withoutSign drops the currency's own sign, which stands before the digits and behind a minus.
func withoutSign(text, currency string) string {
	minus, rest := "", text
	if strings.HasPrefix(rest, "-") {
		minus, rest = "-", rest[1:]
	}
	for sign, currencies := range signs {
		if sum, ok := strings.CutPrefix(rest, sign); ok && !strings.HasPrefix(sum, "-") && slices.Contains(currencies, strings.ToUpper(currency)) {
			return minus + sum
		}
	}
	return text
}

// LocalTime reads "2006-01-02 15:04:05" (seconds may be missing) in zone, or one of the given layouts instead; a layout with an
// offset uses the offset. The result is UTC. A local time that the zone skips or has twice is what time.ParseInLocation makes of it.
func LocalTime(text string, zone *time.Location, layouts ...string) (time.Time, error) {
	if at, ok := usualTime(text, zone, layouts); ok {
		return at, nil
	}
	plain := len(layouts) == 0
	if plain {
		layouts = localLayouts
	}
	for _, layout := range layouts {
		at, err := time.ParseInLocation(layout, text, zone)
		if err != nil {
			continue
		}
		if year := at.UTC().Year(); year < yearMin || year > yearMax {
			return time.Time{}, fmt.Errorf("%q: the year is not within %d to %d", clip(text), yearMin, yearMax)
		}
		return at.UTC(), nil
	}
	if plain {
		layouts = localLayouts[:1]
	}
	return time.Time{}, fmt.Errorf("%q is no time, expected %s", clip(text), inWords.Replace(strings.Join(layouts, " or ")))
}

// The years a payment can be of. What lies outside is a damaged cell, and no database holds all of it.
const yearMin, yearMax = 1970, 9999

// inWords turns a Go layout into what people write: YYYY-MM-DD HH:MM:SS. Longer marks go before those they begin with.
var inWords = strings.NewReplacer("2006", "YYYY", "Z07:00", "+HH:MM", "-07:00", "+HH:MM", "Z0700", "+HHMM", "-0700", "+HHMM", "-07", "+HH",
	"MST", "ZONE", "January", "MONTH", "Monday", "WEEKDAY", "Jan", "MMM", "Mon", "DDD", "15", "HH", "01", "MM", "02", "DD", "03", "HH",
	"04", "MM", "05", "SS", "06", "YY", "PM", "AM/PM", "pm", "am/pm", "_2", "D", ".000000000", ".fraction", ".000000", ".fraction",
	".000", ".fraction", ".999999999", ".fraction", "1", "M", "2", "D", "3", "H", "4", "M", "5", "S")

var localLayouts = []string{"2006-01-02 15:04:05", "2006-01-02 15:04"}
