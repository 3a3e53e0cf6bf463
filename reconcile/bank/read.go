package bank

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

// intake is what the files of one run hold of our account.
type intake struct {
	bank       *Bank
	day        time.Time
	files      []models.RunFile
	declared   bool // there is no statement, by a person's word
	statements []*Statement
	notes      []string
	others     map[string]int // statements of other accounts, by their masked numbers
	seen       map[string]bool
}

// read reads the day's files. After an error nothing of them is used.
func read(ctx context.Context, b *Bank, src reconcile.Source, day reconcile.Day) (*intake, error) {
	in := &intake{bank: b, day: dayTime(day), others: map[string]int{}, seen: map[string]bool{}}
	var err error
	in.files, err = reconcile.EachLeaf(ctx, src, day, in.leaf)
	var none *reconcile.NoFileError
	switch {
	case errors.As(err, &none):
		return nil, fmt.Errorf("no statement of %s on %s: %w; name the file with --statement, or declare that there is none with --no-statement", b.Name, day, none)
	case err != nil:
		return nil, err
	case in.files == nil:
		in.declared = true
		return in, nil
	}
	return in, in.judge()
}

func dayTime(day reconcile.Day) time.Time {
	at, _ := time.Parse(time.DateOnly, day.String()) // it was written by a Day
	return at
}

// leaf reads one file. Of the same content, packed and plain, the first counts.
func (in *intake) leaf(leaf *reconcile.Leaf, r io.Reader) error {
	buf := bufio.NewReaderSize(r, 64<<10)
	if head, err := buf.Peek(1); len(head) == 0 && errors.Is(err, io.EOF) {
		return &models.FileError{File: leaf.Name, What: "the file is empty", Next: "download it again, or declare a day without one by --no-statement"}
	}
	readers := map[string]func(*Bank, string, string, io.Reader) ([]*Statement, error){Camt053: readCamt, MT940: readMT940, CSV: readCSV}
	statements, err := readers[in.bank.Format](in.bank, leaf.Name, leaf.Label, buf)
	if err != nil {
		return err
	}
	for _, s := range statements {
		switch key := s.fingerprint(); {
		case !in.bank.sameAccount(s.Account):
			in.others[masked(s.Account)]++
		case in.seen[key] && (s.Number != "" || s.Opening != nil || len(s.Lines) > 0):
			in.notes = append(in.notes, fmt.Sprintf("%s: %sthe same as one read before, read once", leaf.Label, s.name()))
		default:
			in.seen[key] = true
			in.statements = append(in.statements, s)
		}
	}
	return nil
}

// fingerprint is the same for two copies of a statement, from whatever file.
func (s *Statement) fingerprint() string {
	var b strings.Builder
	fmt.Fprint(&b, s.Number, s.Page, s.Last, s.Account, s.Currency, s.From, s.To)
	for _, balance := range []*Balance{s.Opening, s.Closing} {
		if balance != nil {
			fmt.Fprint(&b, *balance)
		}
	}
	for i := range s.Lines {
		l := s.Lines[i]
		l.Line = 0
		fmt.Fprintf(&b, "%+v", l)
	}
	return b.String()
}

// judge refuses what is not the statement of our account and day, as a whole.
func (in *intake) judge() error {
	var names []string
	for other := range in.others {
		names = append(names, other)
	}
	slices.Sort(names)
	if len(in.statements) == 0 {
		return fmt.Errorf("%s: the statements are of account %s, ours is %s: give the file of our account, or correct banks[].account",
			in.files[0].Name, strings.Join(names, ", "), masked(in.bank.Account[0]))
	}
	if len(names) > 0 {
		in.notes = append(in.notes, "left out statements of other accounts: "+strings.Join(names, ", "))
	}
	for _, s := range in.statements {
		if s.Currency != in.bank.Currency {
			return &models.FileError{File: s.File, Line: s.Line, What: fmt.Sprintf("%sit is in %s, the account is in %s", s.name(), clip(s.Currency), in.bank.Currency),
				Next: "give the statement of the account, or correct banks[].currency"}
		}
	}
	if err := in.join(); err != nil {
		return err
	}
	for _, s := range in.statements {
		if err := s.check(); err != nil {
			return err
		}
	}
	if err := in.chain(); err != nil {
		return err
	}
	return in.judgePeriod()
}

// join puts the pages of a statement together, in whatever files they came.
func (in *intake) join() error {
	pages := map[string][]*Statement{}
	var whole []*Statement
	for _, s := range in.statements {
		if s.Page <= 1 && s.Last {
			whole = append(whole, s)
			continue
		}
		if pages[s.Number] == nil {
			whole = append(whole, s) // the place of the first one that is met
		}
		pages[s.Number] = append(pages[s.Number], s)
	}
	for i, s := range whole {
		list := pages[s.Number]
		if list == nil || s.Page <= 1 && s.Last {
			continue
		}
		joined, err := joinPages(list)
		if err != nil {
			return err
		}
		whole[i] = joined
	}
	in.statements = whole
	return nil
}

func joinPages(list []*Statement) (*Statement, error) {
	slices.SortStableFunc(list, func(a, b *Statement) int { return cmp.Compare(a.Page, b.Page) })
	all := *list[0]
	all.Lines = nil
	for i, s := range list {
		if s.Page != 0 && s.Page != i+1 {
			return nil, &models.FileError{File: s.File, Line: s.Line, What: fmt.Sprintf("%spage %d is missing, page %d follows", s.name(), i+1, s.Page),
				Next: "give all its pages"}
		}
		if s.Last && i < len(list)-1 {
			return nil, &models.FileError{File: s.File, Line: s.Line, What: fmt.Sprintf("%spage %d calls itself the last, and another follows", s.name(), i+1)}
		}
		all.Lines = append(all.Lines, s.Lines...)
		all.Pending += s.Pending * min(i, 1)
		if s.To.After(all.To) {
			all.To = s.To
		}
	}
	last := list[len(list)-1]
	if !last.Last {
		return nil, &models.FileError{File: last.File, Line: last.Line, What: fmt.Sprintf("%spage %d is not the last, and the last is not there", last.name(), len(list)),
			Next: "give all its pages"}
	}
	all.Closing, all.Page, all.Last = last.Closing, 0, true
	return &all, nil
}

// chain puts the statements into the order of their days, and refuses those between which one is missing, or which overlap.
func (in *intake) chain() error {
	slices.SortStableFunc(in.statements, func(a, b *Statement) int {
		_, aTo := a.period()
		_, bTo := b.period()
		return aTo.Compare(bTo)
	})
	for i := 1; i < len(in.statements); i++ {
		before, s := in.statements[i-1], in.statements[i]
		if before.Closing != nil && s.Opening != nil && before.Closing.Minor != s.Opening.Minor {
			return &models.FileError{File: s.File, Line: s.Line, What: fmt.Sprintf("%sit opens with %s, the one before it closes with %s: one between them is missing, or they overlap",
				s.name(), in.bank.money(s.Opening.Minor), in.bank.money(before.Closing.Minor)), Next: "give the statements of the day, each once"}
		}
	}
	return nil
}

// judgePeriod refuses files of other days than the run's, and lines outside of what their statement says it is of.
func (in *intake) judgePeriod() error {
	covered := false
	for _, s := range in.statements {
		from, to, told := s.stated()
		if !told {
			from, to = s.period()
		}
		if to.IsZero() { // a CSV without rows: of the day, by the word of who gave it
			s.From, s.To = in.day, in.day
			from, to = in.day, in.day
		}
		covered = covered || !in.day.Before(from) && !in.day.After(to)
		if told {
			if err := in.judgeLines(s, from, to); err != nil {
				return err
			}
		}
	}
	if covered {
		return nil
	}
	first, last := in.statements[0], in.statements[len(in.statements)-1]
	from, _ := first.period()
	_, to := last.period()
	return &models.FileError{File: first.File, What: fmt.Sprintf("says it is of %s, the run is for %s", days(from, to), dateText(in.day)),
		Next: "give that day's file, or run for the file's date"}
}

// judgeLines refuses a statement whose lines are all of other days than it says, and notes single ones: banks do book late.
func (in *intake) judgeLines(s *Statement, from, to time.Time) error {
	if s.Opening != nil && s.Opening.Date.Before(from) && s.From.IsZero() {
		from = s.Opening.Date // some banks date it by the first day of the period, not by the last one before it
	}
	outside := func(l Line) bool { return l.Booked.Before(from) || l.Booked.After(to) }
	i := slices.IndexFunc(s.Lines, outside)
	if i < 0 {
		return nil
	}
	what := fmt.Sprintf("booked on %s, the statement is of %s", dateText(s.Lines[i].Booked), days(from, to))
	if !slices.ContainsFunc(s.Lines, func(l Line) bool { return !outside(l) }) {
		return &models.FileError{File: s.File, Line: s.Lines[i].Line, What: s.name() + what, Next: "download it again"}
	}
	in.notes = append(in.notes, fmt.Sprintf("%s, row %d: %s", s.Label, s.Lines[i].Line, what))
	return nil
}

// days are from one to the other, or one.
func days(from, to time.Time) string {
	if from.Equal(to) {
		return dateText(from)
	}
	return dateText(from) + " to " + dateText(to)
}
