package cmd

import (
	"strings"
	"time"
	"unicode/utf8"

	"paybook/reconcile/bank"
)

// readBankLayout reads how a bank's CSV is laid out.
func readBankLayout(s *section, b *bank.Bank) {
	if b.Format != bank.CSV {
		for _, key := range csvKeys {
			if s.has(key) {
				s.fail(key, "means nothing for %s: it is for csv", b.Format)
			}
		}
		return
	}
	columns := s.object("columns", "date", "value_date", "amount", "direction", "debit", "credit", "currency", "account", "balance", "charge",
		"reference", "status", "texts")
	l := bank.Layout{
		Delimiter: readBankDelimiter(s),
		SkipLines: s.whole("skip_lines", 0, 0, 1000),
		Dates:     readDateLayouts(s),
		Comma:     s.word("decimal", "dot", "dot", "comma") == "comma",
		Inverted:  s.word("sign", "credit", "credit", "debit") == "debit",
	}
	for key, into := range map[string]*string{"date": &l.Date, "value_date": &l.Value, "amount": &l.Amount, "direction": &l.Direction, "debit": &l.Debit,
		"credit": &l.Credit, "currency": &l.Currency, "account": &l.Account, "balance": &l.Balance, "charge": &l.Charge, "reference": &l.Reference,
		"status": &l.Status} {
		*into = squeezedName(columns.text(key, ""))
	}
	for _, text := range columns.list("texts") {
		l.Texts = append(l.Texts, squeezedName(text))
	}
	l.CreditWords, l.DebitWords = readWords(s, "directions", "credit", []string{"C", "CR", "CRDT", "Credit"}, "debit", []string{"D", "DR", "DBIT", "Debit"})
	l.BookedWords, l.PendingWords = readWords(s, "statuses", "booked", []string{"Booked", "BOOK", "Completed", "Posted", "Settled"},
		"pending", []string{"Pending", "PDNG"})
	checkBankColumns(s, columns, &l)
	b.Layout = l
}

// readDateLayouts are Go's layouts; what does not name a whole day, such as DD.MM.YYYY, is told here and not of every row.
func readDateLayouts(s *section) []string {
	layouts := s.list("date_layout")
	day := time.Date(2031, time.December, 28, 0, 0, 0, 0, time.UTC)
	for i, layout := range layouts {
		if at, err := time.Parse(layout, day.Format(layout)); err != nil || !at.Equal(day) {
			s.failItem("date_layout", i, "%q: how the bank would write the second of January 2006 expected, such as 02.01.2006", layout)
		}
	}
	return layouts
}

// squeezedName is a column's name as a table knows it, with single spaces.
func squeezedName(text string) string { return strings.Join(strings.Fields(text), " ") }

func checkBankColumns(s, columns *section, l *bank.Layout) {
	split := l.Debit != "" || l.Credit != ""
	switch {
	case l.Date == "":
		columns.fail("date", "missing: the column of the booking date")
	case !split && l.Amount == "":
		columns.fail("amount", "missing: the column of the sum, or debit and credit")
	case split && (l.Amount != "" || l.Direction != ""):
		columns.fail("debit", "give either debit and credit, or amount")
	case split && (l.Debit == "" || l.Credit == ""):
		columns.fail("debit", "debit and credit go together")
	case (split || l.Direction != "") && s.has("sign"):
		s.fail("sign", "the columns say already which way the money went")
	case l.Direction == "" && s.has("directions"):
		s.fail("directions", "means nothing without columns.direction")
	case l.Status == "" && s.has("statuses"):
		s.fail("statuses", "means nothing without columns.status")
	case l.Reference == "" && len(l.Texts) == 0:
		columns.fail("texts", "missing: the columns in which a payout may be named")
	}
}

func readBankDelimiter(s *section) rune {
	text := s.text("delimiter", ",")
	if text == "tab" {
		return '\t'
	}
	delimiter, size := utf8.DecodeRuneInString(text)
	if size == 0 || size != len(text) || strings.ContainsRune("\"\r\n", delimiter) {
		s.fail("delimiter", "one character, or tab, expected")
	}
	return delimiter
}

// readWords are the file's words for two things, such as what came and what left; without the key the usual ones.
func readWords(s *section, key, one string, ofOne []string, other string, ofOther []string) (first, second []string) {
	if !s.has(key) {
		return ofOne, ofOther
	}
	o := s.object(key, one, other)
	if first, second = o.list(one), o.list(other); len(first) == 0 || len(second) == 0 {
		s.fail(key, "%s and %s are both needed: the words of the column", one, other)
	}
	return first, second
}
