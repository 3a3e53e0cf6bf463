package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

func newPayoutsCommand(a *app) *cobra.Command {
	return newGroup("payouts", "Look at what providers have paid out, and what each payout is made of", newPayoutsListCommand(a), newPayoutsShowCommand(a))
}

type payoutsListOptions struct {
	account, state, date, after, format string
	limit                               int
}

var payoutStates = []models.TransactionStatus{models.StatusPending, models.StatusSucceeded, models.StatusFailed, models.StatusReversed, models.StatusUnknown}

func newPayoutsListCommand(a *app) *cobra.Command {
	var o payoutsListOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "List payouts, newest first",
		Long: "List payouts, newest first, as statements and callbacks tell of them, each with what its rows come to (expected) and what they do not\n" +
			"explain of it (remainder).\n\n" + exitCodesHelp,
		Example: "  app payouts list --account stripe\n  app payouts list --date 2026-11-29 --format json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listPayouts(c.Context(), o) },
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().StringVar(&o.account, "account", "", "only payouts of this account")
	c.Flags().StringVar(&o.state, "state", "", "only those in this `STATE`, such as succeeded")
	c.Flags().StringVar(&o.date, "date", "", "only those paid on this day, `YYYY-MM-DD`, of the account's zone, or of UTC without --account")
	pageFlags(c, &o.limit, &o.after)
	return c
}

// payoutJSON is a payout as it is printed. Amounts are decimal text in major units.
type payoutJSON struct {
	Account       string                   `json:"account"`
	PayoutID      string                   `json:"payout_id"`
	Batch         string                   `json:"batch,omitempty"` // what its rows carry instead
	Date          string                   `json:"date"`            // when it was paid, in the account's zone
	Amount        string                   `json:"amount"`
	Currency      string                   `json:"currency"`
	Status        models.TransactionStatus `json:"status"`
	OccurredAt    time.Time                `json:"occurred_at"`
	BankReference string                   `json:"bank_reference,omitempty"`
	File          string                   `json:"file"` // the statement that tells it; "": only a callback does
	Expected      string                   `json:"expected"`
	Remainder     string                   `json:"remainder"` // of the whole batch, where it is paid by several payouts
	RemainderIs   string                   `json:"remainder_is"`
}

func (a *app) listPayouts(ctx context.Context, o payoutsListOptions) error {
	f := ledger.PayoutFilter{Account: o.account}
	var err error
	if f.Status, err = oneOf("--state", o.state, payoutStates...); err != nil {
		return err
	}
	if _, err := a.filtered(o.account); err != nil {
		return err
	}
	zone, _ := a.calendar(o.account)
	if f.From, f.To, err = dayBounds(o.date, zone); err != nil {
		return err
	}
	if f.Page, err = pageOf(o.limit, o.after); err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	list, next, err := book.Payouts(ctx, f)
	if err != nil {
		return err
	}
	defer a.printNext(next)
	shown, err := a.shownPayouts(ctx, book, list)
	if err != nil {
		return err
	}
	if o.format == "json" {
		return printJSON(a.out, shown)
	}
	return a.printPayouts(shown)
}

func (a *app) printPayouts(list []payoutJSON) error {
	p := a.colours()
	l := a.language()
	t := newTable(a.heads("payout", "account", "day", "amount", "state", "expected", "remainder", "why")...)
	for _, s := range list {
		t.AppendRow([]any{cell(s.PayoutID), s.Account, s.Date, s.Amount + " " + s.Currency, l.Word(string(s.Status)), s.Expected, s.Remainder, p.dim(reconcile.WhyRemainder(s.RemainderIs, l))})
	}
	t.SetColumnConfigs(rightAligned(4, 6, 7))
	return printTable(a.out, t, l.Text("no payouts"))
}

// calendar is an account's zone and cut; UTC when it is configured no more.
func (a *app) calendar(name string) (*time.Location, time.Duration) {
	if c, err := a.config(); err == nil && name != "" {
		if account, err := c.account(name); err == nil {
			return account.Zone, account.Cut
		}
	}
	return time.UTC, 0
}

// shownPayouts puts payouts beside what their rows come to.
func (a *app) shownPayouts(ctx context.Context, book *ledger.Ledger, list []ledger.Payout) ([]payoutJSON, error) {
	ids := map[string]map[string]bool{} // by account: what the rows carry
	for i := range list {
		if ids[list[i].Account] == nil {
			ids[list[i].Account] = map[string]bool{}
		}
		ids[list[i].Account][list[i].RowsID()] = true
	}
	type key struct{ account, id, currency string }
	bridges := map[key]reconcile.Bridge{}
	for account, set := range ids {
		zone, cut := a.calendar(account)
		made, err := reconcile.LoadBridges(ctx, book, account, zone, cut, slices.Sorted(maps.Keys(set)))
		if err != nil {
			return nil, err
		}
		for _, b := range made {
			bridges[key{account, b.PayoutID, b.Currency}] = b
		}
	}
	shown := make([]payoutJSON, len(list))
	for i := range list {
		p := &list[i]
		b := bridges[key{p.Account, p.RowsID(), p.Money.Currency}]
		zone, cut := a.calendar(p.Account)
		shown[i] = payoutJSON{Account: p.Account, PayoutID: p.PayoutID, Batch: p.Batch, Date: reconcile.DayOf(p.OccurredAt, zone, cut).String(),
			Amount: p.Money.Text(), Currency: p.Money.Currency, Status: p.Status, OccurredAt: p.OccurredAt, BankReference: p.BankReference, File: p.File,
			Expected: b.Expected, Remainder: b.Remainder, RemainderIs: b.RemainderIs}
	}
	return shown, nil
}

func newPayoutsShowCommand(a *app) *cobra.Command {
	format, account := "", ""
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show one payout or batch: the bridge from its rows to what was paid",
		Long: "Show one payout or settlement batch: who tells of it, and the bridge from its rows, of all the days that have some, to what was paid.\n" +
			"What the rows do not explain is the remainder.\n\n" + exitCodesHelp,
		Example: "  app payouts show po_TEST4001\n  app payouts show 42 --account adyen --format json",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return a.showPayout(c.Context(), args[0], account, format)
		},
	}
	formatFlag(c, &format, "table", "json")
	c.Flags().StringVar(&account, "account", "", "the account, where several have a payout of that name")
	return c
}

// payoutShown is one payout or batch with its bridges, one a currency.
type payoutShown struct {
	Account  string             `json:"account"`
	PayoutID string             `json:"payout_id"`
	Payouts  []payoutJSON       `json:"payouts"`
	Bridges  []reconcile.Bridge `json:"bridges"`
}

func (a *app) showPayout(ctx context.Context, id, account, format string) error {
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	found, err := a.findPayout(ctx, book, id, account)
	if err != nil {
		return err
	}
	if format == "json" {
		return printJSON(a.out, found)
	}
	if len(found.Payouts) == 0 {
		fmt.Fprintf(a.out, "%s: no statement and no callback tells of this payout yet\n", found.Account)
	} else if err := a.printPayouts(found.Payouts); err != nil {
		return err
	}
	return reconcile.WriteBridges(a.out, found.Bridges, a.look())
}

// findPayout looks for a payout by its id or its batch, in one account or in all of them; it must be one account's.
func (a *app) findPayout(ctx context.Context, book *ledger.Ledger, id, account string) (*payoutShown, error) {
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	if _, err := a.filtered(account); err != nil {
		return nil, err
	}
	told, _, err := book.Payouts(ctx, ledger.PayoutFilter{Account: account, IDs: []string{id}})
	if err != nil {
		return nil, err
	}
	accounts := map[string]bool{}
	for _, p := range told {
		accounts[p.Account] = true
	}
	for _, other := range c.Accounts { // rows may be here before their payout is told
		accounts[other.Name] = accounts[other.Name] || account == "" || account == other.Name
	}
	var found []*payoutShown
	for _, name := range slices.Sorted(maps.Keys(accounts)) {
		shown, err := a.payoutOf(ctx, book, name, id, told)
		if err != nil {
			return nil, err
		}
		if accounts[name] && len(shown.Bridges) > 0 {
			found = append(found, shown)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("payout %q: %w; `app payouts list` shows what there is", id, ledger.ErrNotFound)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Account)
	}
	return nil, fmt.Errorf("payout %q: several accounts have one; say which with --account: %s", id, strings.Join(names, ", "))
}

func (a *app) payoutOf(ctx context.Context, book *ledger.Ledger, account, id string, told []ledger.Payout) (*payoutShown, error) {
	own := slices.DeleteFunc(slices.Clone(told), func(p ledger.Payout) bool { return p.Account != account })
	for i := range own {
		id = own[i].RowsID()
	}
	zone, cut := a.calendar(account)
	bridges, err := reconcile.LoadBridges(ctx, book, account, zone, cut, []string{id})
	if err != nil {
		return nil, err
	}
	payouts, err := a.shownPayouts(ctx, book, own)
	return &payoutShown{Account: account, PayoutID: id, Payouts: payouts, Bridges: bridges}, err
}
