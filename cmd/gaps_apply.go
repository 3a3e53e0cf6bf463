package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
)

type gapsApplyOptions struct {
	gapsChange
	dryRun bool
}

func newGapsApplyCommand(a *app) *cobra.Command {
	var o gapsApplyOptions
	c := &cobra.Command{
		Use:   "apply FILE",
		Short: "Do what people have decided in a spreadsheet of gaps",
		Long: `Do what people have decided in a spreadsheet of gaps: a CSV or XLSX file as "app gaps list" or "app reconcile" writes it with
--format csv or xlsx, with its last columns filled in:

  decision  resolve, reopen, assign or comment; empty: nothing is done
  note      the reason of resolve and reopen, the words of comment; with assign it may be empty
  owner     for assign: whose task it is; empty takes it away
  due_on    for assign: until when, YYYY-MM-DD

All of it is done or nothing. What cannot be done is told for every row and column. The column evidence says what was seen: a gap that
has changed since the list was written is refused. The same file again changes nothing. CSV may have been saved by a spreadsheet, with
commas, semicolons or tabs, in UTF-8 or UTF-16, and with --lang zh in GBK.

Exit codes:
  0  done, or with --dry-run: could be done
  2  could not be done: a row that is refused, usage, file, configuration, database; nothing of it is done`,
		Example: "  app gaps list --state open --format xlsx --output gaps.xlsx\n  app gaps apply gaps.xlsx --dry-run\n  app gaps apply gaps.xlsx --as wang",
		Args:    oneArg,
		RunE:    func(c *cobra.Command, args []string) error { return a.applySheet(c.Context(), o, args[0]) },
	}
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "say what would be done, and do nothing")
	o.flags(c)
	return c
}

// appliedJSON is what `app gaps apply --format json` prints.
type appliedJSON struct {
	Applied   bool         `json:"applied"` // false: a dry run, or refused
	Changed   int          `json:"changed"`
	Unchanged int          `json:"unchanged"` // applied before
	Rows      []appliedRow `json:"rows"`
	Faults    []faultJSON  `json:"faults"`
}

type appliedRow struct {
	File     string           `json:"file"` // and sheet
	Row      int              `json:"row"`
	Gap      string           `json:"gap_id"`
	Account  string           `json:"account"`
	Decision ledger.GapAction `json:"decision"`
	Changed  bool             `json:"changed"` // false: applied before
	State    models.GapState  `json:"state"`   // behind it
	Owner    string           `json:"owner"`
	DueOn    string           `json:"due_on"`
}

type faultJSON struct {
	File    string `json:"file"`
	Row     int    `json:"row"`
	Column  string `json:"column"`
	Message string `json:"message"`
}

func (a *app) applySheet(ctx context.Context, o gapsApplyOptions, path string) error {
	by, err := a.actor(o.as)
	if err != nil {
		return err
	}
	s, err := readSheet(path, a.language())
	if err != nil {
		return unreadable(path, err)
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	done, err := book.ChangeGaps(ctx, by, o.dryRun || len(s.faults) > 0, s.changes()...)
	var refused ledger.GapFaults
	if errors.As(err, &refused) {
		s.refused(refused)
	} else if err != nil {
		return err
	}
	for _, i := range s.ignored {
		fmt.Fprintln(a.err, cell(i.Error()))
	}
	if len(s.faults) > 0 {
		return a.refuseSheet(o, s)
	}
	return a.printApplied(o, s, done)
}

// unreadable names the file in an error of the system's.
func unreadable(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return fmt.Errorf("%s: %w", path, of.Err)
	}
	return err
}

// refuseSheet tells all that is wrong, a line each; one alone is the command's error itself.
func (a *app) refuseSheet(o gapsApplyOptions, s *sheet) error {
	slices.SortStableFunc(s.faults, func(a, b *models.FileError) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	if o.format == "json" {
		out := appliedJSON{Rows: []appliedRow{}}
		for _, f := range s.faults {
			out.Faults = append(out.Faults, faultJSON{f.File, f.Line, f.Column, f.What})
		}
		if err := printJSON(a.out, out); err != nil {
			return err
		}
	}
	if len(s.faults) == 1 {
		return fmt.Errorf("%s; nothing was applied", cell(s.faults[0].Error()))
	}
	for _, f := range s.faults {
		fmt.Fprintln(a.err, cell(f.Error()))
	}
	return fmt.Errorf("%s: %s; nothing was applied", s.name, count(len(s.faults), "fault"))
}

func (a *app) printApplied(o gapsApplyOptions, s *sheet, done []ledger.ChangedGap) error {
	out := appliedJSON{Applied: !o.dryRun, Rows: make([]appliedRow, len(done)), Faults: []faultJSON{}}
	for i, g := range done {
		at := s.decisions[i].at
		out.Rows[i] = appliedRow{at.File, at.Line, g.ID, g.Account, g.Action, g.Changed, g.State, g.Owner, g.DueOn}
		if g.Changed {
			out.Changed++
		} else {
			out.Unchanged++
		}
	}
	if o.format == "json" {
		return printJSON(a.out, out)
	}
	l := a.language()
	t := newTable(append(a.heads("row", "gap", "account", "decision", "state", "owner", "due"), "")...)
	for _, r := range out.Rows {
		note := ""
		if !r.Changed {
			note = l.Text("was so already")
		}
		t.AppendRow([]any{r.Row, r.Gap, r.Account, l.Word(string(r.Decision)), l.Word(string(r.State)), cell(r.Owner), r.DueOn, note})
	}
	if err := printTable(a.out, t, l.Text("no decisions")); err != nil {
		return err
	}
	decisions := l.Count(out.Changed, "decision")
	if o.dryRun {
		fmt.Fprint(a.err, l.Text("%s: %s would be applied, nothing was written; %d already as decided\n", s.name, decisions, out.Unchanged))
	} else {
		fmt.Fprint(a.err, l.Text("%s: %s applied; %d already as decided\n", s.name, decisions, out.Unchanged))
	}
	return nil
}
