package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/html"
	"paybook/reconcile/xlsx"
)

type reconcileOptions struct {
	date        string
	accounts    []string
	statements  []string
	noStatement bool
	format      string
	output      string
	dryRun      bool
	force       bool
	sorting     func() // see reconcile.Options
	repair, as  string
}

// reportFormats are the ways a report can be written.
var reportFormats = []string{"table", "json", "csv", "xlsx", "html"}

func newReconcileCommand(a *app) *cobra.Command {
	var o reconcileOptions
	c := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare the book with the providers' statements of one day",
		Long: `Compare the book with the providers' statements of one business day, account by account, and keep what differs as gaps. The statement
files are found by the account's "statements" patterns, fetched as its "fetch" says, or named by --statement. The same files again
change nothing, and a day about which nothing has changed is answered by what the last run of it has found, at once (--force makes the
run in full); a corrected file rewrites the open gaps. An account that cannot be run does not stop the others.

--repair plans what would be booked to close the open gaps, why, and what the shop would be told, and keeps the plan for ` + "`app repair`" + `.
--repair=apply books it, by the way of a callback, and runs the day once more; where repair.approvals is 2, only if another person has
planned the same before.

Exit codes:
  0  balanced
  1  there are open gaps
  2  could not be done for at least one account: no or a wrong file, usage, configuration, database, busy (the same run is under
     way elsewhere, or was taken over there while this one was stalled), a repair that needs a second person; nothing of it is written
     but the repair's plan`,
		Example: "  app reconcile --date 2026-11-29\n  app reconcile --date 2026-11-29 --account wechatpay --statement tradebill.csv --format json\n" +
			"  app reconcile --date 2026-11-29 --account wechatpay --no-statement\n  app reconcile --date 2026-11-29 --account wechatpay --repair\n" +
			"  app reconcile --date 2026-11-29 --format html --output report.html --lang zh",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.reconcile(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.date, "date", "", "business day, `YYYY-MM-DD` (default: yesterday in the account's zone)")
	f.StringArrayVar(&o.accounts, "account", nil, "only this account; may be given several times (default: all)")
	f.StringArrayVar(&o.statements, "statement", nil, "statement `FILE` instead of the account's source; may be given several times, needs exactly one account")
	f.BoolVar(&o.noStatement, "no-statement", false, "declare that the provider has no statement for this day")
	f.StringVar(&o.output, "output", "", "write the report to `FILE`; - is standard output")
	f.BoolVar(&o.force, "force", false, "make the run in full, also when neither the files nor the book have changed since the last one")
	f.BoolVar(&o.dryRun, "dry-run", false, "find everything out, write nothing to the book")
	f.StringVar(&o.repair, "repair", "", "`plan` (the default of the flag) or apply: close gaps by booking what the statement says")
	f.Lookup("repair").NoOptDefVal = repairPlan
	actorFlag(c, &o.as)
	formatFlag(c, &o.format, reportFormats...)
	c.AddCommand(newReconcileStockCommand(a), newReconcileBankCommand(a))
	return c
}

func (a *app) reconcile(ctx context.Context, o reconcileOptions) error {
	accounts, err := a.reconcileAccounts(o)
	if err != nil {
		return err
	}
	memory := steadyMemory()
	defer memory.restore()
	o.sorting = memory.sorting
	runs := make([]dayRun, len(accounts))
	for i, account := range accounts {
		day, err := a.dayOf(account, o)
		if err != nil {
			return err
		}
		runs[i] = dayRun{account.Name, account.source(o), day, func(ctx context.Context, book *ledger.Ledger) (*reconcile.Report, error) {
			return a.reconcileAccount(ctx, book, account, day, o)
		}}
	}
	return a.makeRuns(ctx, o, runs)
}

// dayOf is the day to be run: the one asked for, or yesterday in the account's zone.
func (a *app) dayOf(account *Account, o reconcileOptions) (reconcile.Day, error) {
	if o.date != "" {
		return reconcile.ParseDay(o.date)
	}
	return reconcile.Yesterday(a.now(), account.Zone, account.Cut), nil
}

// reconcileAccounts checks the flags and finds the accounts, before anything is done.
func (a *app) reconcileAccounts(o reconcileOptions) ([]*Account, error) {
	if o.repair != "" && o.repair != repairPlan && o.repair != repairApply {
		return nil, fmt.Errorf("--repair=%s: expected plan or apply", o.repair)
	}
	if o.date != "" {
		if _, err := reconcile.ParseDay(o.date); err != nil {
			return nil, fmt.Errorf("--date: %w", err)
		}
	}
	switch {
	case len(o.statements) > 0 && o.noStatement:
		return nil, errors.New("--statement and --no-statement exclude each other")
	case (len(o.statements) > 0 || o.noStatement) && len(o.accounts) > 1:
		return nil, errOneAccount
	}
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	if len(o.accounts) == 0 {
		switch {
		case len(c.Accounts) == 0:
			return nil, c.noAccounts()
		case (len(o.statements) > 0 || o.noStatement) && len(c.Accounts) > 1:
			return nil, fmt.Errorf("%w; there is: %s", errOneAccount, c.accountNames())
		}
		return c.Accounts, nil
	}
	var accounts []*Account
	for _, name := range o.accounts {
		if name == "" {
			return nil, errors.New("--account: empty")
		}
		account, err := c.account(name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
	}
	return accounts, nil
}

var errOneAccount = errors.New("--statement and --no-statement need exactly one --account")

// source is where the account's statement comes from; nil when it has none.
func (a *Account) source(o reconcileOptions) reconcile.Source {
	switch {
	case o.noStatement:
		return reconcile.NoStatement()
	case len(o.statements) > 0:
		return reconcile.Files(o.statements...)
	case len(a.Statements) > 0:
		return reconcile.Folder(a.Statements)
	case len(a.Remotes) > 0:
		return nowhere(a)
	}
	return nil
}

// reconciled is the account as package reconcile wants it.
func (a *Account) reconciled() reconcile.Account {
	edge := a.Edge
	if edge == 0 {
		edge = -1 // configured as none, where zero would mean the default
	}
	return reconcile.Account{
		Name: a.Name, ProviderName: a.ProviderName, Provider: a.Provider, Zone: a.Zone, Cut: a.Cut, Edge: edge, Lag: a.Lag,
		OrdersElsewhere: a.Elsewhere, Statements: a.Statements, Fees: a.Fees, Settings: a.reading(),
	}
}

// reading is what decides, beside the account's own keys, what comes out of a statement: the provider's settings and this very program.
func (a *Account) reading() string {
	program := thisProgram()
	if program == "" || a.settings == "" {
		return ""
	}
	return a.settings + " " + program
}

// thisProgram tells one build from another, also of a version that has no number yet; "" when it cannot.
var thisProgram = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano())
})

func (a *app) reconcileAccount(ctx context.Context, book *ledger.Ledger, account *Account, day reconcile.Day, o reconcileOptions) (*reconcile.Report, error) {
	progress := a.progress(account.Name)
	defer progress.done()
	src, clean, err := a.runSource(book, account, o)
	if err != nil {
		return nil, err
	}
	defer clean()
	options := reconcile.Options{DryRun: o.dryRun, Force: o.force, Sorting: o.sorting, Now: a.now, Progress: progress.tick}
	return a.runOf(ctx, book, account, o, src, day, options)
}

// runOf is the run, with a repair when one was asked for.
func (a *app) runOf(ctx context.Context, book *ledger.Ledger, account *Account, o reconcileOptions, src reconcile.Source, day reconcile.Day, options reconcile.Options) (*reconcile.Report, error) {
	if o.repair == "" {
		return reconcile.Run(ctx, book, account.reconciled(), src, day, options)
	}
	who, err := a.actor(o.as)
	if err != nil {
		return nil, err
	}
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	repair := reconcile.Repair{Apply: o.repair == repairApply, Who: who, Approvals: c.Approvals}
	return reconcile.RunRepair(ctx, book, account.reconciled(), src, day, options, repair)
}

// writeReport writes to out, or to standard output when it is nil. What the readers noticed is said on standard error too, unless the
// table on standard output says it.
func (a *app) writeReport(o reconcileOptions, out *destination, items []reconcile.Item) error {
	look := a.look()
	write := func(w io.Writer) error {
		switch o.format {
		case "json":
			return reconcile.WriteJSON(w, items)
		case "csv":
			return reconcile.WriteCSV(w, items, look.Lang)
		case "xlsx":
			return xlsx.Write(w, items, look.Lang)
		case "html":
			return html.Write(w, items, look.Lang)
		}
		return reconcile.WriteTable(w, items, look)
	}
	if out != nil || o.format != "table" {
		a.printNotes(items)
	}
	if out == nil {
		if o.format == "table" { // what could not be run is said on standard error, once
			items = slices.DeleteFunc(slices.Clone(items), func(item reconcile.Item) bool { return item.Err != nil })
		}
		return write(a.out)
	}
	look.Color, look.Width = a.color == "always", 0
	if err := out.write(out.marked(o.format, look.Lang, write)); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "written to %s\n", o.output)
	return nil
}

func (a *app) printNotes(items []reconcile.Item) {
	for _, item := range items {
		if item.Report == nil {
			continue
		}
		for _, note := range item.Report.Notes {
			fmt.Fprintf(a.err, "%s: %s\n", item.Report.Account, cell(a.language().Sentence(note)))
		}
	}
}

// reconcileResult is the exit code of all accounts together: the worst of them.
func reconcileResult(items []reconcile.Item) error {
	var failed []error
	gaps := false
	for _, item := range items {
		switch {
		case item.Err != nil && errors.Is(item.Err, context.Canceled):
			return item.Err
		case item.Err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", item.Account, item.Err))
		case item.Report.RepairErr != nil:
			failed = append(failed, fmt.Errorf("%s: %w; app repair apply %s --as NAME", item.Report.Account, item.Report.RepairErr, item.Report.Repair.ID))
		case item.Report.Result != models.Balanced:
			gaps = true
		}
	}
	switch {
	case len(failed) > 0:
		return errors.Join(failed...)
	case gaps:
		return errLook
	}
	return nil
}
