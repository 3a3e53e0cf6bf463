package reconcile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paybook/models"
)

// findFiles finds and hashes the day's files and what is packed in them. Of the same content, packed or plain, the first is read.
func (r *run) findFiles(ctx context.Context, src Source) error {
	files, err := src(ctx, r.day)
	var none *NoFileError
	switch {
	case errors.Is(err, errDeclaredNone):
		return nil
	case errors.As(err, &none), err == nil && len(files) == 0:
		return fmt.Errorf("no statement for %s on %s%s; name the file with --statement, or declare that there is none with --no-statement",
			r.account.Name, r.day, none.places())
	case err != nil:
		return err
	}
	first := map[string]*input{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		file, inputs, err := inspect(f, r.account.Provider)
		if err != nil {
			return err
		}
		r.files = append(r.files, file)
		r.inputs = append(r.inputs, inputs...)
		for _, in := range inputs {
			if in.twin = first[in.content]; in.twin == nil {
				first[in.content] = in
			}
		}
	}
	r.label()
	return nil
}

// label names the files in the report by their last element, which does not change with the folder they are run from, unless two
// are called the same.
func (r *run) label() {
	used := map[string]int{}
	for _, f := range r.files {
		used[filepath.Base(f.file.Name)]++
	}
	for _, f := range r.files {
		f.label = f.file.Name
		if base := filepath.Base(f.file.Name); used[base] == 1 {
			f.label = base
		}
	}
	for _, in := range r.inputs {
		in.label = in.outer.label + strings.TrimPrefix(in.name, in.file.Name)
	}
}

// readFiles hands the rows of every file to the matcher, and judges each file when it is at its end.
func (r *run) readFiles(ctx context.Context) error {
	compared := 0
	for i, in := range r.inputs {
		if in.twin != nil {
			continue
		}
		sheet := sheet{tally: newTally(), idle: totals{}}
		if err := r.scan(ctx, i, func(e *models.Entry, at place) error { return r.take(&sheet, e, at) }); err != nil {
			return err
		}
		if err := r.judgePeriod(in); err != nil {
			return err
		}
		if !in.statement.Compared {
			if sheet.money > 0 {
				return fmt.Errorf("%s: the reader of %s calls it not compared and yet gave rows of it", in.name, r.account.Provider.Name())
			}
			r.note("%s: recognised as %s, not compared%s", in.label, withArticle(in.statement.Title), next(in))
			continue
		}
		compared++
		in.rows = sheet.entries
		if err := r.judge(in, &sheet); err != nil {
			return err
		}
	}
	switch {
	case compared > 0:
	case len(r.left) > 0:
		if err := r.nothingNew(); err != nil {
			return err
		}
	case len(r.inputs) > 0:
		return r.nothingToCompare()
	}
	if len(r.left) == 0 { // what is promised counts their rows too
		if err := r.checkParts(); err != nil {
			return err
		}
		if err := r.checkPromises(); err != nil {
			return err
		}
	}
	return r.checkDigests()
}

// sheet is what is counted of one file while it is read.
type sheet struct {
	tally
	idle        totals
	entries     int64
	money       int64 // rows that are compared
	outside     int64 // of those, dated outside the day
	unknown     []*unknownKind
	unknowns    int64 // rows of all of them
	first, last time.Time
	copies      int // payouts that it has told already
	firstCopy   int // the line of the first of them
}

func (s *sheet) payoutCopy(line int) {
	if s.copies++; s.copies == 1 {
		s.firstCopy = line
	}
}

// take sorts one row by its kind. Only movements of our own are compared; the others are counted.
func (r *run) take(s *sheet, e *models.Entry, at place) error {
	s.entries++
	s.tally.entry(e)
	if isIdle(e.Status) {
		s.idle.row(e)
	}
	s.noteKind(e)
	r.addStep(e, at.file)
	switch {
	case e.Kind == models.Payout:
		if r.keepPayout(e, r.inputs[at.file].label) {
			s.payoutCopy(e.Line)
		}
		return nil
	case !e.Kind.Compared():
		return nil
	case e.Adjusts:
		r.adjusts = append(r.adjusts, newHeld(e, at))
		return nil
	}
	s.money++
	if !r.inDay(e.OccurredAt) {
		s.outside++
		if s.first.IsZero() || e.OccurredAt.Before(s.first) {
			s.first = e.OccurredAt
		}
		if e.OccurredAt.After(s.last) {
			s.last = e.OccurredAt
		}
	}
	r.compared++
	r.feeDiffers(e)
	return r.match.entry(e, at)
}

// judgePeriod refuses a file that says itself that it is of other days, which an empty one cannot show by its rows.
func (r *run) judgePeriod(in *input) error {
	s := &in.statement
	if s.From.IsZero() || s.To.IsZero() || s.From.Before(r.to) && s.To.After(r.from) {
		return nil
	}
	from, last := DayOf(s.From, r.account.Zone, r.account.Cut).String(), DayOf(s.To.Add(-1), r.account.Zone, r.account.Cut).String()
	if last != from {
		from += " to " + last
	}
	return &models.FileError{File: in.name, What: fmt.Sprintf("says it is of %s, the run is for %s", from, r.day), Next: "give that day's file, or run for the file's date"}
}

// judge refuses a file of another day, and adds up what the report says of it.
func (r *run) judge(in *input, s *sheet) error {
	if s.money > 0 && s.outside == s.money && !in.statement.Batch {
		from := DayOf(s.first, r.account.Zone, r.account.Cut).String()
		if last := DayOf(s.last, r.account.Zone, r.account.Cut).String(); last != from {
			from += " to " + last
		}
		return &models.FileError{File: in.name, What: fmt.Sprintf("rows are from %s, the run is for %s", from, r.day),
			Next: "give that day's file, or run for the file's date"}
	}
	if in.statement.Compared {
		if err := r.judgeKinds(in, s); err != nil {
			return err
		}
	}
	r.entries += s.entries
	r.stated.merge(s.totals)
	r.idle.merge(s.idle)
	if !in.statement.Totals {
		r.controlTotals = controlNone
	}
	return nil
}

// next is what would have the file compared, behind what it is.
func next(in *input) string {
	if in.statement.Next == "" {
		return ""
	}
	return " (" + in.statement.Next + ")"
}

func (r *run) nothingToCompare() error {
	var have []string
	for _, in := range r.inputs {
		if in.twin == nil {
			have = append(have, in.label+" is "+withArticle(in.statement.Title)+next(in))
		}
	}
	return fmt.Errorf("no statement to compare for %s on %s: %s; give the statement itself, or declare that there is none with --no-statement",
		r.account.Name, r.day, strings.Join(have, ", "))
}

// checkDigests holds what a download answer promises against the files given with it.
func (r *run) checkDigests() error {
	for _, answer := range r.inputs {
		if answer.twin != nil || answer.statement.Digest == "" {
			continue
		}
		kind, want, _ := strings.Cut(answer.statement.Digest, ":")
		kept, blame := false, answer
		for _, in := range slices.Concat(r.left, r.inputs) {
			if in.statement.Compared {
				blame = in
			}
			if kept || in == answer {
				continue
			}
			have, err := in.digest(kind, r.account.Provider)
			if err != nil {
				return err
			}
			kept = have == want
		}
		if !kept {
			return &models.FileError{File: blame.name, What: fmt.Sprintf("digest differs: %s promises a file with %s %s", answer.label, kind, want),
				Next: "download it again"}
		}
	}
	return nil
}

// digest is a hash of the content by its name, hex; "" for one we do not make.
func (in *input) digest(kind string, p Provider) (string, error) {
	switch kind {
	case "sha1":
		return in.sha1(p)
	case "sha256":
		return in.content, nil
	}
	return "", nil
}
