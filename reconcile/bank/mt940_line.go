package bank

import (
	"regexp"
	"strings"
	"time"

	"paybook/models"
)

// booking61 is value date, entry date, mark, funds code, sum, type, references. Marks: C credit, D debit, RC a credit taken back, RD a
// debit taken back.
var booking61 = regexp.MustCompile(`^(\d{6})(\d{4})?(R?[DC])([A-Z])?(\d[\d,.]*)([A-Z][A-Z0-9]{3})(.*)$`)

// charges are what a bank says in a booking or a purpose that it has kept: /CHGS/EUR1,50/.
var charges = regexp.MustCompile(`/CHG[SD]?/([A-Z]{3})(\d{1,15},\d{0,4})`)

// booking reads one line.
func (m *mt940) booking(s *Statement, f *field) error {
	part := booking61.FindStringSubmatch(strings.TrimSpace(f.text[0]))
	if part == nil {
		return m.fail(f.line, f.tag, "%q: value date, D or C, sum, type and reference expected, such as 2611301130C1234,56NTRFNONREF//B4711", clip(f.text[0]))
	}
	value, err := shortDate(part[1])
	if err != nil {
		return m.fail(f.line, f.tag, "%q: a value date YYMMDD expected", part[1])
	}
	l := Line{Value: value, Line: f.line}
	if part[2] != "" {
		if l.Booked = entryDate(part[2], value); l.Booked.IsZero() {
			return m.fail(f.line, f.tag, "%q: an entry date MMDD expected", part[2])
		}
	}
	if l.Minor, err = m.amount(s, f, part[5]); err != nil {
		return err
	}
	if mark := part[3]; mark == "D" || mark == "RC" {
		l.Minor = -l.Minor
	}
	l.Reversal = strings.HasPrefix(part[3], "R")
	owner, bank, _ := strings.Cut(part[7], "//")
	l.Reference = strings.TrimSpace(bank)
	for _, text := range append([]string{owner, bank}, f.text[1:]...) {
		if text = strings.TrimSpace(text); text != "" && text != "NONREF" {
			l.Texts = append(l.Texts, text)
		}
	}
	s.Lines = append(s.Lines, l)
	m.charge(s, strings.Join(f.text[1:], ""))
	return nil
}

// entryDate is the day MMDD that is nearest to the value date: about the turn of the year, one of them is of the other year.
func entryDate(text string, value time.Time) (nearest time.Time) {
	for year := value.Year() - 1; year <= value.Year()+1; year++ {
		at, err := time.Parse("20060102", time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006")+text)
		if err != nil { // the 29th of February is not in every year
			continue
		}
		if nearest.IsZero() || at.Sub(value).Abs() < nearest.Sub(value).Abs() {
			nearest = at
		}
	}
	return nearest
}

// structured is the beginning of a purpose in pieces: ?20 and so on, with whatever sign the bank takes for the question mark.
var structured = regexp.MustCompile(`^(\d{3})([^\p{L}\p{M}\p{N}\s/+.,:-])(\d\d)`)

// purpose adds what :86: says to its line: a plain text as it is, a structured one as its purpose, names and the rest.
func (m *mt940) purpose(l *Line, f *field) {
	whole := strings.Join(f.text, "")
	if part := structured.FindStringSubmatch(whole); part != nil {
		l.Texts = append(l.Texts, parts86(whole[3:], part[2])...)
	} else if plain := strings.TrimSpace(strings.Join(f.text, "\n")); plain != "" {
		l.Texts = append(l.Texts, plain)
	}
	l.Texts = unique(l.Texts)
	m.chargeOf(l, whole)
}

// parts86 puts the pieces of a structured purpose together: ?20 to ?29 and ?60 to ?63 are one text in pieces of 27 characters, ?32 and
// ?33 one name.
func parts86(text, sign string) (texts []string) {
	var purpose, name []string
	marks := regexp.MustCompile(regexp.QuoteMeta(sign)+`\d\d`).FindAllStringIndex(text, -1)
	for i, at := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		code, value := text[at[0]+len(sign):at[1]], text[at[1]:end]
		switch {
		case strings.TrimSpace(value) == "":
		case code >= "20" && code <= "29", code >= "60" && code <= "63":
			purpose = append(purpose, value)
		case code == "32", code == "33":
			name = append(name, value)
		default:
			texts = append(texts, strings.TrimSpace(value))
		}
	}
	for _, list := range [][]string{name, purpose} {
		if len(list) > 0 {
			texts = append(texts, strings.TrimSpace(strings.Join(list, "\n")))
		}
	}
	return texts
}

// charge notes on the last line what its booking says that the bank has kept.
func (m *mt940) charge(s *Statement, text string) {
	l := &s.Lines[len(s.Lines)-1]
	if part := charges.FindStringSubmatch(text); part != nil && part[1] == s.Currency {
		l.Charge = commaMinor(part[2], part[1])
	}
}

// chargeOf is charge for a purpose, which has to be in the bank's own currency.
func (m *mt940) chargeOf(l *Line, text string) {
	if part := charges.FindStringSubmatch(text); part != nil && part[1] == m.bank.Currency && l.Charge == 0 {
		l.Charge = commaMinor(part[2], part[1])
	}
}

// commaMinor is a sum with a comma in minor units; 0 for one that the currency does not have.
func commaMinor(text, currency string) int64 {
	m, err := models.ParseMajor(strings.TrimSuffix(strings.Replace(text, ",", ".", 1), "."), currency)
	if err != nil {
		return 0
	}
	return m.Minor
}
