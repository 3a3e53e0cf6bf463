package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/xlsx"
)

type gapsListOptions struct {
	account, state, kind, date, after, format, output string
	owner                                             *string // nil: anybody's
	dueBefore                                         string
	overdue                                           bool
	olderThan                                         int // days; below 0: any age
	limit                                             int
	whole                                             bool // no limit was asked for
}

func newGapsListCommand(a *app) *cobra.Command {
	var o gapsListOptions
	owner := ""
	c := &cobra.Command{
		Use:   "list",
		Short: "List gaps, newest first",
		Long: `List gaps, newest first: all of them, or those of one account, state, kind, day or owner, those due soon or overdue, or those of some age.

As csv or xlsx it is a sheet of all that match, for people to fill in its columns decision, note, owner and due_on; "app gaps apply" reads
it back.

` + exitCodesHelp,
		Example: "  app gaps list --state open\n  app gaps list --account wechatpay --date 2026-11-29 --format json\n  app gaps list --owner wang --overdue\n" +
			"  app gaps list --state open --older-than 3 --format xlsx --output gaps.xlsx",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("owner") {
				o.owner = &owner
			}
			if c.Flags().Changed("older-than") && o.olderThan < 0 {
				return fmt.Errorf("--older-than %d: a number of days expected, 0 or more", o.olderThan)
			}
			o.whole = !c.Flags().Changed("limit")
			return a.listGaps(c.Context(), o)
		},
	}
	formatFlag(c, &o.format, gapListFormats...)
	f := c.Flags()
	f.StringVar(&o.output, "output", "", "write the list to `FILE`; - is standard output")
	f.StringVar(&o.account, "account", "", "only gaps of this account")
	f.StringVar(&o.state, "state", "", "only those in this `STATE`: open, carried or resolved")
	f.StringVar(&o.kind, "kind", "", "only those of this `KIND`, such as missing_local")
	f.StringVar(&o.date, "date", "", "only those of this business day, `YYYY-MM-DD`")
	f.StringVar(&owner, "owner", "", "only those of this `NAME`; \"\" is nobody's")
	f.StringVar(&o.dueBefore, "due-before", "", "only those due before this date, `YYYY-MM-DD`")
	f.BoolVar(&o.overdue, "overdue", false, "only those not resolved by their due date, by the account's calendar")
	f.IntVar(&o.olderThan, "older-than", -1, "only those first seen more than this many `DAYS` ago")
	pageFlags(c, &o.limit, &o.after)
	return c
}

var gapListFormats = []string{"table", "json", "csv", "xlsx"}

func (a *app) gapFilter(o gapsListOptions) (f ledger.GapFilter, err error) {
	f.Account, f.Date, f.Owner, f.DueBefore = o.account, o.date, o.owner, o.dueBefore
	if f.State, err = oneOf("--state", o.state, models.GapOpen, models.GapCarried, models.GapResolved); err != nil {
		return f, err
	}
	if f.Kind, err = oneOf("--kind", o.kind, allGapKinds...); err != nil {
		return f, err
	}
	if _, _, err = dayBounds(o.date, time.UTC); err != nil {
		return f, err
	}
	if err := isDate("--due-before", o.dueBefore); err != nil {
		return f, err
	}
	a.addAges(&f, o)
	f.Page, err = pageOf(o.limit, o.after)
	return f, err
}

// isDate refuses what is not YYYY-MM-DD; "" is none.
func isDate(flag, text string) error {
	if _, err := time.Parse(time.DateOnly, text); text != "" && err != nil {
		return fmt.Errorf("%s %q: expected YYYY-MM-DD", flag, text)
	}
	return nil
}

// addAges makes "overdue" and "older than" times of the calendar of each account; an account configured no more has UTC's.
func (a *app) addAges(f *ledger.GapFilter, o gapsListOptions) {
	zones := map[string]*time.Location{"": time.UTC}
	if c, err := a.config(); err == nil {
		for _, account := range c.Accounts {
			zones[account.Name] = account.Zone
		}
		for _, b := range c.Banks {
			zones[ledger.BankGapAccount(b.Name)] = b.Zone
		}
	}
	for name, zone := range zones {
		now := a.now().In(zone)
		if o.overdue {
			put(&f.Overdue, name, now.Format(time.DateOnly))
		}
		if o.olderThan >= 0 {
			year, month, day := now.Date()
			put(&f.SeenBefore, name, time.Date(year, month, day-o.olderThan, 0, 0, 0, 0, zone).UTC())
		}
	}
}

func put[T any](m *map[string]T, key string, value T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = value
}

func (a *app) listGaps(ctx context.Context, o gapsListOptions) error {
	f, err := a.gapFilter(o)
	if err != nil {
		return err
	}
	if _, err := a.filtered(o.account); err != nil {
		return err
	}
	toFile := o.output != "" && o.output != "-"
	if o.format == "xlsx" && !toFile && isTerminal(a.out) {
		return errors.New("an xlsx file is nothing for a screen: name one by --output, such as --output gaps.xlsx")
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	gaps, next, err := a.readGaps(ctx, book, f, o.whole && o.format != "table" && o.format != "json")
	if err != nil {
		return err
	}
	defer a.printNext(next)
	if !toFile {
		return a.writeGaps(a.out, o.format, gaps)
	}
	out, err := openDestination(ctx, o.output, nil)
	if err != nil {
		return err
	}
	defer out.discard()
	content := func(w io.Writer) error { return a.writeGaps(w, o.format, gaps) }
	if err := out.write(out.marked(o.format, a.language(), content)); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s written to %s\n", count(len(gaps), "gap"), o.output)
	return nil
}

// readGaps reads one page, or all of them: a sheet that lacks some would be taken for the whole.
func (a *app) readGaps(ctx context.Context, book *ledger.Ledger, f ledger.GapFilter, all bool) (gaps []reconcile.GapReport, next string, err error) {
	gaps = []reconcile.GapReport{}
	if all {
		f.Limit = 5000
	}
	for {
		list, after, err := book.Gaps(ctx, f)
		if err != nil {
			return nil, "", err
		}
		for _, g := range list {
			gaps = append(gaps, a.shownGap(g))
		}
		if f.After = after; !all || after == "" {
			return gaps, after, nil
		}
	}
}

func (a *app) writeGaps(w io.Writer, format string, gaps []reconcile.GapReport) error {
	switch format {
	case "json":
		return printJSON(w, gaps)
	case "csv":
		return reconcile.WriteGapsCSV(w, gaps, a.language())
	case "xlsx":
		return xlsx.WriteGaps(w, gaps, a.language())
	}
	return a.printGaps(w, gaps)
}

func (a *app) printGaps(w io.Writer, gaps []reconcile.GapReport) error {
	p, l := a.colours(), a.language()
	t := newTable(a.heads("gap", "account", "day", "kind", "of", "transaction", "order", "statement", "book", "state", "days", "owner", "due")...)
	for _, g := range gaps {
		due := g.DueOn
		if g.Overdue != nil && *g.Overdue {
			due = p.bad(due + " " + l.Text("overdue"))
		}
		t.AppendRow([]any{g.ID, g.Account, g.Date, p.kind(g.Kind, l), l.Word(string(g.EntryKind)), cell(g.TransactionID), cell(g.OrderID),
			side(g.Statement, l), side(g.Ledger, l), l.Word(string(g.State)), g.AgeDays, cell(g.Owner), due})
	}
	return printTable(w, t, l.Text("no gaps"))
}
