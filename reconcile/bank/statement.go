package bank

import (
	"fmt"
	"math"
	"time"

	"paybook/models"
)

// Statement is one statement of one account, or one page of it, as a file has it.
type Statement struct {
	File     string // as an error names it
	Label    string // as a report names it
	Line     int    // where it begins
	Number   string // the bank's own; "": none
	Page     int    // from 1; 0: it is not told
	Last     bool   // no further page follows, or pages are not told
	Account  string // as it is written; "": the format has none
	Currency string
	// From and To are the days that it covers by its own word, both included, midnight UTC; zero: it does not say.
	From, To         time.Time
	Opening, Closing *Balance // nil: the statement has none
	Lines            []Line
	Pending          int // lines that are announced and not booked; they are not in Lines
}

// Balance is a booked balance.
type Balance struct {
	Minor int64 // negative when overdrawn
	Date  time.Time
}

// Line is one booked line. Dates are midnight UTC of the bank's calendar.
type Line struct {
	Booked, Value time.Time
	Minor         int64 // credits positive, debits negative
	Charge        int64 // what the bank says that it has kept of it
	Reversal      bool  // it takes an earlier line back
	Reference     string
	Texts         []string
	Line          int // of the file, from 1
}

// fail is an error about a place in the statement.
func (s *Statement) fail(line int, column, format string, args ...any) error {
	return &models.FileError{File: s.File, Line: line, Column: column, What: fmt.Sprintf(format, args...)}
}

// sum adds up the lines; it fails rather than wrap around.
func (s *Statement) sum() (credits, debits int64, err error) {
	for i := range s.Lines {
		l := &s.Lines[i]
		if l.Minor > 0 && credits > math.MaxInt64/2-l.Minor || l.Minor < 0 && debits < math.MinInt64/2-l.Minor {
			return 0, 0, s.fail(l.Line, "", "the amounts add up to more than fits")
		}
		if l.Minor > 0 {
			credits += l.Minor
		} else {
			debits += l.Minor
		}
	}
	return credits, debits, nil
}

// check holds the balances against the lines between them.
func (s *Statement) check() error {
	credits, debits, err := s.sum()
	if err != nil || s.Opening == nil || s.Closing == nil {
		return err
	}
	money := func(minor int64) string { return models.Money{Minor: minor, Currency: s.Currency}.String() }
	if want := s.Opening.Minor + credits + debits; want != s.Closing.Minor {
		err := &models.FileError{File: s.File, Line: s.Line, What: fmt.Sprintf("%sopening balance %s and %d lines that come to %s make %s, the closing balance is %s",
			s.name(), money(s.Opening.Minor), len(s.Lines), money(credits+debits), money(want), money(s.Closing.Minor)),
			Next: "lines are missing, doubled or changed: download it again"}
		return err
	}
	return nil
}

// name is how an error speaks of one statement among several.
func (s *Statement) name() string {
	if s.Number == "" {
		return ""
	}
	return "statement " + clip(s.Number) + ": "
}

// period is which days the statement covers: by its own word, else from the day after its opening balance to that of the closing one;
// lines booked outside of that widen it. Both are zero when nothing says it.
func (s *Statement) period() (from, to time.Time) {
	from, to = s.From, s.To
	if s.Closing != nil && s.Closing.Date.After(to) {
		to = s.Closing.Date
	}
	if from.IsZero() && s.Opening != nil && !to.IsZero() {
		if from = s.Opening.Date; from.Before(to) {
			from = from.AddDate(0, 0, 1)
		}
	}
	for i := range s.Lines {
		booked := s.Lines[i].Booked
		if from.IsZero() || booked.Before(from) {
			from = booked
		}
		if booked.After(to) {
			to = booked
		}
	}
	if from.IsZero() || from.After(to) {
		from = to
	}
	return from, to
}

// stated is what the statement says of itself about its days; ok is false when it says nothing.
func (s *Statement) stated() (from, to time.Time, ok bool) {
	bare := Statement{From: s.From, To: s.To, Opening: s.Opening, Closing: s.Closing}
	from, to = bare.period()
	return from, to, !to.IsZero()
}
