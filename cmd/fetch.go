package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/source"
)

type fetchOptions struct {
	date     string
	accounts []string
	list     bool
	format   string
}

// archived is one file of the archive as it is printed.
type archived struct {
	Account   string `json:"account"`
	Date      string `json:"date"`
	Name      string `json:"name"`
	SHA256    string `json:"sha256"`
	Bytes     int64  `json:"bytes"`
	Source    string `json:"source"`
	FetchedAt string `json:"fetched_at"`
	File      string `json:"file"`
}

func newFetchCommand(a *app) *cobra.Command {
	var o fetchOptions
	c := &cobra.Command{
		Use:   "fetch",
		Short: "Fetch the statements of one day into the archive",
		Long: `Fetch the statements of one business day from where the accounts' "fetch" says, into the archive, and list what the archive has of
that day: every file as it came, under its hash. The same bytes are kept once; a corrected statement is a further file, and the run reads
what its source showed last. app serve does this by itself after the providers' publication hours.

Exit codes:
  0  everything is there
  1  at least one statement is not there yet
  2  could not be done for at least one account: usage, configuration, login, host key, network, disk, database`,
		Example: "  app fetch --date 2026-11-29\n  app fetch --date 2026-11-29 --account wechatpay --format json\n  app fetch --date 2026-11-29 --list",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.fetch(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.date, "date", "", "business day, `YYYY-MM-DD` (default: yesterday in the account's zone)")
	f.StringArrayVar(&o.accounts, "account", nil, "only this account; may be given several times (default: all that have fetch)")
	f.BoolVar(&o.list, "list", false, "only list what the archive has of the day")
	formatFlag(c, &o.format, "table", "json")
	return c
}

func (a *app) fetch(ctx context.Context, o fetchOptions) error {
	accounts, err := a.reconcileAccounts(reconcileOptions{date: o.date, accounts: o.accounts})
	if err != nil {
		return err
	}
	if !o.list {
		if accounts, err = fetchable(accounts, o.accounts); err != nil {
			return err
		}
	}
	book, err := a.openFetched(ctx, o)
	if err != nil {
		return err
	}
	defer book.Close()
	early, failed, shown := false, []error{}, []archived{}
	for _, account := range accounts {
		list, missing, err := a.fetchAccount(ctx, book, account, o)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if early = early || missing; err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", account.Name, err))
		}
		shown = append(shown, list...)
	}
	if err := a.printArchived(o.format, cmp.Or(o.date, "yesterday"), shown); err != nil {
		return err
	}
	switch {
	case len(failed) > 0:
		return errors.Join(failed...)
	case early:
		return errLook
	}
	return nil
}

// fetchable are the accounts that have a place to fetch from; one that was named must have.
func fetchable(accounts []*Account, named []string) (out []*Account, err error) {
	for _, account := range accounts {
		switch {
		case len(account.Remotes) > 0:
			out = append(out, account)
		case len(named) > 0:
			return nil, fmt.Errorf("%s: has no place to fetch from: set fetch in its configuration", account.Name)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no account has a place to fetch from: set accounts[].fetch")
	}
	return out, nil
}

// openFetched opens the book; only to list, it must be there.
func (a *app) openFetched(ctx context.Context, o fetchOptions) (*ledger.Ledger, error) {
	if o.list {
		return a.openExisting(ctx)
	}
	return a.openBook(ctx)
}

// fetchAccount looks at every place of one account. What is not there yet is said on standard error, and is no error.
func (a *app) fetchAccount(ctx context.Context, book *ledger.Ledger, account *Account, o fetchOptions) (shown []archived, missing bool, err error) {
	day, err := a.dayOf(account, reconcileOptions{date: o.date})
	if err != nil {
		return nil, false, err
	}
	places, err := a.places(book, account)
	if err != nil {
		return nil, false, err
	}
	var failed []error
	for _, r := range account.Remotes {
		if o.list {
			break
		}
		var early *models.NotReady
		switch _, fresh, err := places.Archive.Fetch(ctx, account.Name, r, day, a.now()); {
		case errors.As(err, &early):
			missing = true
			fmt.Fprintf(a.err, "%s: %s: %s\n", account.Name, day, cell(oneLine(err.Error())))
		case err != nil:
			failed = append(failed, err)
		default:
			fmt.Fprintf(a.err, "%s: %s: %s: %s\n", account.Name, day, r, count(fresh, "new file"))
		}
	}
	list, err := book.Archived(ctx, account.Name, day.String())
	for _, f := range list {
		shown = append(shown, archived{Account: f.Account, Date: f.Date, Name: f.Name, SHA256: f.SHA256, Bytes: f.Bytes, Source: f.Source,
			FetchedAt: f.FetchedAt.Format("2006-01-02T15:04:05Z07:00"), File: places.Archive.Path(f)})
	}
	return shown, missing, errors.Join(append(failed, err)...)
}

func (a *app) printArchived(format, day string, list []archived) error {
	if format == "json" {
		return printJSON(a.out, list)
	}
	t := newTable(a.heads("account", "day", "file", "bytes", "sha256", "from", "fetched")...)
	for _, f := range list {
		t.AppendRow([]any{f.Account, f.Date, cell(f.Name), f.Bytes, f.SHA256[:min(12, len(f.SHA256))], cell(f.Source), f.FetchedAt})
	}
	l := a.language()
	return printTable(a.out, t, l.Text("nothing is archived of %s", l.Text(day)))
}

// places are where an account's statements come from.
func (a *app) places(book *ledger.Ledger, account *Account) (*source.Places, error) {
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	dir, err := a.archiveDir(c)
	if err != nil {
		return nil, err
	}
	p := &source.Places{
		Account: account.Name, Archive: &source.Archive{Dir: dir, Book: book, BytesMax: account.FetchMax}, Remotes: account.Remotes, Now: a.now,
		Keep: c.Archive != "", Note: func(err error) { fmt.Fprintf(a.err, "%s: %s\n", account.Name, cell(oneLine(err.Error()))) },
	}
	if len(account.Statements) > 0 {
		p.Folder = reconcile.Folder(account.Statements)
	}
	return p, nil
}

// runSource is where a run reads from; clean removes what a run that writes nothing has downloaded. Files that were named, and a declared
// absence, are taken as they are.
func (a *app) runSource(book *ledger.Ledger, account *Account, o reconcileOptions) (src reconcile.Source, clean func(), err error) {
	clean = func() {}
	c, err := a.config()
	if err != nil || o.noStatement || len(o.statements) > 0 || len(account.Remotes) == 0 && c.Archive == "" {
		return account.source(o), clean, err
	}
	p, err := a.places(book, account)
	if err != nil {
		return nil, clean, err
	}
	if o.dryRun {
		if p.Scratch, err = os.MkdirTemp("", "app-dry-run-"); err != nil {
			return nil, clean, err
		}
		clean = func() { _ = os.RemoveAll(p.Scratch) } // the system's own cleaning takes what stays
	}
	return p.Files, clean, nil
}

// nowhere is the source of an account whose statements are only fetched, for those who look before the book is open.
func nowhere(account *Account) reconcile.Source {
	return func(context.Context, reconcile.Day) ([]reconcile.File, error) {
		names := make([]string, len(account.Remotes))
		for i, r := range account.Remotes {
			names[i] = r.String()
		}
		return nil, &reconcile.NoFileError{Looked: []string{strings.Join(names, ", ")}}
	}
}
