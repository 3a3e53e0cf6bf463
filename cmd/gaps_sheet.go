package cmd

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// sheet is what a file of gaps asks for: the rows with a decision, and all that is wrong with them.
type sheet struct {
	name      string // of the file
	language  lang.Language
	decisions []decision
	faults    []*models.FileError
	ignored   []*models.FileError // what was filled in beside an empty decision
	decided   map[string]*models.FileError
}

// decision is what a person has written in one row.
type decision struct {
	at     models.FileError // where; what is wrong with it is still to be seen
	change ledger.GapChange
}

// sheetTable is one table of the file: that of a CSV, or one sheet of a workbook.
type sheetTable struct {
	label   string         // file, and sheet of a workbook
	columns map[string]int // by name
	width   int            // of the heading
	due     func(cell string) (string, error)
}

// needed are the columns without which a decision cannot be understood. The others may have been deleted.
var needed = []string{reconcile.ColumnGap, reconcile.ColumnDecision, reconcile.ColumnEvidence}

// newTable reads a heading. isHeading is false when it is none of a list of gaps.
func newSheetTable(label string, row int, cells []string) (t *sheetTable, isHeading bool, err error) {
	t = &sheetTable{label: label, columns: map[string]int{}, width: len(cells)}
	for i, c := range cells {
		name := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(c, "\uFEFF")))
		if _, twice := t.columns[name]; twice && slices.Contains(filled, name) {
			err = &models.FileError{File: label, Line: row, Column: name, What: "the column is there twice", Next: "delete the one that does not count"}
		}
		t.columns[name] = i
	}
	has := func(name string) bool { _, is := t.columns[name]; return is }
	if !has(reconcile.ColumnGap) && !has(reconcile.ColumnDecision) {
		return nil, false, nil
	}
	for _, name := range needed {
		if !has(name) && err == nil {
			err = &models.FileError{File: label, Line: row, What: "there is no column " + name,
				Next: "fill in a list as `app gaps list --format csv` or `--format xlsx` writes it, and keep this column"}
		}
	}
	return t, true, err
}

// filled are the columns that are read.
var filled = append(slices.Clone(needed), reconcile.ColumnNote, reconcile.ColumnOwner, reconcile.ColumnDueOn)

// cell is a cell's text as it was before it was made harmless; "" where there is none.
func (t *sheetTable) cell(cells []string, column string) string {
	i, known := t.columns[column]
	if !known || i >= len(cells) {
		return ""
	}
	return strings.TrimSpace(reconcile.Harmed(strings.TrimPrefix(cells[i], "\uFEFF")))
}

// row takes one row of a table.
func (s *sheet) row(t *sheetTable, row int, cells []string) {
	at := models.FileError{File: t.label, Line: row}
	word := t.cell(cells, reconcile.ColumnDecision)
	if word == "" {
		if t.cell(cells, reconcile.ColumnNote) != "" {
			at.Column, at.What = reconcile.ColumnNote, "a note without a decision: nothing is done"
			s.ignored = append(s.ignored, &at)
		}
		return
	}
	d := decision{at: at, change: ledger.GapChange{ID: strings.ToLower(t.cell(cells, reconcile.ColumnGap)), Text: t.cell(cells, reconcile.ColumnNote),
		Mark: t.cell(cells, reconcile.ColumnEvidence), From: fmt.Sprintf("%s row %d", t.label, row)}}
	before := len(s.faults)
	fault := func(column, format string, args ...any) {
		s.fault(at, column, fmt.Sprintf(format, args...))
	}
	s.checkDecision(&d, word, fault)
	s.checkGap(&d, fault)
	for _, column := range []string{reconcile.ColumnNote, reconcile.ColumnOwner, reconcile.ColumnDueOn} {
		if text := t.cell(cells, column); formulaError.MatchString(text) {
			fault(column, "%s: the spreadsheet took what was written for a formula; write an apostrophe before it", text)
		}
	}
	if d.change.Action == ledger.AssignGap {
		s.takeOwner(t, cells, &d, fault)
	}
	if len(s.faults) == before {
		s.decisions = append(s.decisions, d)
	}
}

func (s *sheet) fault(at models.FileError, column, what string) {
	at.Column, at.What = column, what
	s.faults = append(s.faults, &at)
}

var formulaError = regexp.MustCompile(`^#(NAME\?|VALUE!|REF!|N/A|DIV/0!|NULL!|NUM!|CALC!|SPILL!)$`)

// checkDecision understands the word of the decision.
func (s *sheet) checkDecision(d *decision, word string, fault func(column, format string, args ...any)) {
	switch action := ledger.GapAction(strings.ToLower(word)); action {
	case ledger.ResolveGap, ledger.ReopenGap, ledger.AssignGap, ledger.CommentGap:
		d.change.Action = action
		if d.change.Text == "" && action != ledger.AssignGap {
			fault(reconcile.ColumnNote, "empty, but %s needs words: they are what an auditor will read", action)
		}
	case "repair":
		fault(reconcile.ColumnDecision, "a repair is planned and approved, not decided in a list: `app reconcile --repair` plans it, `app repair apply` books it")
	default:
		fault(reconcile.ColumnDecision, "%q is no decision; expected resolve, reopen, assign, comment, or nothing", shown(word))
	}
}

// checkGap looks at which gap is meant, and as what it was seen.
func (s *sheet) checkGap(d *decision, fault func(column, format string, args ...any)) {
	switch id := d.change.ID; {
	case id == "":
		fault(reconcile.ColumnGap, "empty: the row is about no gap, so nothing can be decided about it")
	case rounded.MatchString(id):
		fault(reconcile.ColumnGap, "%q is an id that a spreadsheet took for a number and rounded; use --format xlsx, which keeps ids as they are", shown(id))
	case !gapID.MatchString(id):
		fault(reconcile.ColumnGap, "%q is no whole id of a gap", shown(id))
	case s.decided[id] != nil:
		first := s.decided[id]
		fault(reconcile.ColumnGap, "gap %s is decided already in row %d of %s; one decision a gap", id, first.Line, first.File)
	default:
		at := d.at
		s.decided[id] = &at
	}
	switch mark := d.change.Mark; {
	case mark == "":
		fault(reconcile.ColumnEvidence, "empty: it says what was seen when this was decided; copy it from the list as it was written")
	case !evidence.MatchString(mark):
		fault(reconcile.ColumnEvidence, "%q is not what the list had there; copy it from the list as it was written", shown(mark))
	}
}

var (
	gapID    = regexp.MustCompile(`^[0-9a-f]{2,64}$`)
	digits   = regexp.MustCompile(`^[0-9]+$`)
	evidence = regexp.MustCompile(`^h[0-9a-f]{16}$`)
	rounded  = regexp.MustCompile(`^[0-9]+([.,][0-9]+)?e\+[0-9]+$|^[0-9]+[.,][0-9]+$`)
)

// takeOwner reads the columns that only an assignment has.
func (s *sheet) takeOwner(t *sheetTable, cells []string, d *decision, fault func(column, format string, args ...any)) {
	if _, given := t.columns[reconcile.ColumnOwner]; given {
		owner := t.cell(cells, reconcile.ColumnOwner)
		d.change.Owner = &owner
	}
	if _, given := t.columns[reconcile.ColumnDueOn]; given {
		due, err := t.due(t.cell(cells, reconcile.ColumnDueOn))
		if err != nil {
			fault(reconcile.ColumnDueOn, "%v", err)
		}
		d.change.DueOn = &due
	}
	if d.change.Owner == nil && d.change.DueOn == nil {
		fault(reconcile.ColumnDecision, "assign, but there is neither a column %s nor %s", reconcile.ColumnOwner, reconcile.ColumnDueOn)
	}
}

// sheetColumns says which column the book's words for a part of a change are in.
var sheetColumns = map[string]string{"id": reconcile.ColumnGap, "action": reconcile.ColumnDecision, "text": reconcile.ColumnNote,
	"owner": reconcile.ColumnOwner, "due_on": reconcile.ColumnDueOn, "mark": reconcile.ColumnEvidence}

// refused adds what the book has against the decisions.
func (s *sheet) refused(faults ledger.GapFaults) {
	for _, f := range faults {
		what := f.Err.Error()
		if errors.Is(f.Err, ledger.ErrNotFound) {
			id := s.decisions[f.Index].change.ID
			what = "there is no gap " + id + " in this database; `app gaps list` shows what there is"
			if digits.MatchString(id) {
				what += "; a spreadsheet may have taken an id of digits for a number and rounded it: --format xlsx keeps ids as they are"
			}
		}
		s.fault(s.decisions[f.Index].at, sheetColumns[f.Field], what)
	}
}

// changes are the decisions as the book takes them.
func (s *sheet) changes() []ledger.GapChange {
	list := make([]ledger.GapChange, len(s.decisions))
	for i := range s.decisions {
		list[i] = s.decisions[i].change
	}
	return list
}

// shown is a cell's text, cut short.
func shown(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}
