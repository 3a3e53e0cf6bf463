package bank

import (
	"cmp"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/reconcile"
)

// A payout is missing when the bank's statements of all banking days on which it may come have been read, never at some hour: the same
// statements give the same result whenever they are read. Banking days are Monday to Friday; of a holiday that brings no statement, the
// next one shows by its opening balance that nothing was booked, or a person declares it.

const dayLength = 24 * time.Hour

func weekend(d time.Time) bool { return d.Weekday() == time.Saturday || d.Weekday() == time.Sunday }

// bankingDays is the date n banking days after d, before it when n is negative. From a weekend the first is the next, or the last,
// weekday.
func bankingDays(d time.Time, n int) time.Time {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for n > 0 {
		if d = d.AddDate(0, 0, step); !weekend(d) {
			n--
		}
	}
	return d
}

// window is when a payout of a date may be booked: both ends included.
func (b *Bank) window(paid time.Time) (from, to time.Time) {
	return bankingDays(paid, -b.Window), bankingDays(paid, b.Window)
}

// span is a run of days, both ends included.
type span struct{ from, to time.Time }

// coverage is which days' statements have been read.
type coverage struct{ spans []span }

// covering takes the statements of all runs. Between two of which the later opens with what the earlier has closed with, nothing was
// booked.
func covering(statements []ledger.BankStatement) coverage {
	list := slices.Clone(statements)
	slices.SortStableFunc(list, func(a, b ledger.BankStatement) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
	})
	var c coverage
	var before *ledger.BankStatement // the last one that has balances
	for i := range list {
		s := &list[i]
		from, to := parseDate(s.From), parseDate(s.To)
		if s.Opening != nil && s.Closing != nil {
			if before != nil && *before.Closing == *s.Opening {
				from = earlier(from, parseDate(before.To))
			}
			before = s
		}
		c.spans = append(c.spans, span{from, to})
	}
	return c
}

// LastBankingDay is the last day before now's, by a zone's calendar, of which a bank makes a statement.
func LastBankingDay(now time.Time, zone *time.Location) reconcile.Day {
	return reconcile.DayOf(bankingDays(civil(now.In(zone)), -1), time.UTC, 0)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func parseDate(text string) time.Time {
	at, _ := time.Parse(time.DateOnly, text) // it was written by dateText
	return at
}

// has says whether the day's statement has been read.
func (c coverage) has(d time.Time) bool {
	return slices.ContainsFunc(c.spans, func(s span) bool { return !d.Before(s.from) && !d.After(s.to) })
}

// first is the first day that was read; zero when none was.
func (c coverage) first() (first time.Time) {
	for _, s := range c.spans {
		if first.IsZero() || s.from.Before(first) {
			first = s.from
		}
	}
	return first
}

// last is the last day that was read.
func (c coverage) last() (last time.Time) {
	for _, s := range c.spans {
		if s.to.After(last) {
			last = s.to
		}
	}
	return last
}

// open are the days of a payout's window, from its own day on, whose statements have still to be read.
func (b *Bank) open(c coverage, paid time.Time) (waits []string) {
	_, to := b.window(paid)
	for d := paid; !d.After(to); d = d.Add(dayLength) {
		if !weekend(d) && !c.has(d) {
			waits = append(waits, dateText(d))
		}
	}
	return waits
}
