package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/reconcile"
	"paybook/reconcile/bank"
)

func newReconcileBankCommand(a *app) *cobra.Command {
	var o reconcileOptions
	c := &cobra.Command{
		Use:   "bank",
		Short: "Hold what came to the bank against the payouts of the providers",
		Long: `Hold the bank's statements of one day (camt.053, MT940 or CSV) against the payouts that the providers' statements have told of. A payout
is found by its reference in the line's texts, else by its sum where only one line and one payout have it; several payouts may come in one
line, and one in several. What differs is kept as gaps of the account bank/NAME: bank_missing when the statements of all days on which a
payout may come have been read (until then it is carried), bank_unexpected for a provider's money that is no payout, payout_mismatch for
another sum. The same files again change nothing; a corrected one heals. Run the accounts first: their statements tell the payouts.

Exit codes:
  0  balanced
  1  there are open gaps
  2  could not be done for at least one bank: no or a wrong file, usage, configuration, database, busy (the same run is under way
     elsewhere); nothing of it is written`,
		Example: "  app reconcile bank --date 2026-11-30\n  app reconcile bank --date 2026-11-30 --bank main --statement camt053.xml --format json\n" +
			"  app reconcile bank --date 2026-12-25 --bank main --no-statement",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.reconcileBanks(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.date, "date", "", "day of the bank's calendar, `YYYY-MM-DD` (default: the last weekday before today in the bank's zone)")
	f.StringArrayVar(&o.accounts, "bank", nil, "only this bank; may be given several times (default: all)")
	f.StringArrayVar(&o.statements, "statement", nil, "statement `FILE` instead of the bank's pattern; may be given several times, needs exactly one bank")
	f.BoolVar(&o.noStatement, "no-statement", false, "declare that the bank has no statement for this day, such as a holiday")
	f.StringVar(&o.output, "output", "", "write the report to `FILE`; - is standard output")
	f.BoolVar(&o.dryRun, "dry-run", false, "find everything out, write nothing to the book")
	formatFlag(c, &o.format, reportFormats...)
	return c
}

func (a *app) reconcileBanks(ctx context.Context, o reconcileOptions) error {
	banks, err := a.chosenBanks(o)
	if err != nil {
		return err
	}
	runs := make([]dayRun, len(banks))
	for i, b := range banks {
		day, err := a.bankDay(b, o)
		if err != nil {
			return err
		}
		source := (&Account{Statements: b.Statements}).source(o)
		runs[i] = dayRun{ledger.BankGapAccount(b.Name), source, day, func(ctx context.Context, book *ledger.Ledger) (*reconcile.Report, error) {
			return bank.Run(ctx, book, *b, source, day, reconcile.Options{DryRun: o.dryRun, Now: a.now})
		}}
	}
	return a.makeRuns(ctx, o, runs)
}

func (a *app) bankDay(b *bank.Bank, o reconcileOptions) (reconcile.Day, error) {
	if o.date != "" {
		return reconcile.ParseDay(o.date)
	}
	return bank.LastBankingDay(a.now(), b.Zone), nil
}

// chosenBanks checks the flags and finds the banks, before anything is done.
func (a *app) chosenBanks(o reconcileOptions) ([]*bank.Bank, error) {
	if o.date != "" {
		if _, err := reconcile.ParseDay(o.date); err != nil {
			return nil, fmt.Errorf("--date: %w", err)
		}
	}
	if len(o.statements) > 0 && o.noStatement {
		return nil, errors.New("--statement and --no-statement exclude each other")
	}
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	banks := c.Banks
	if len(o.accounts) > 0 {
		banks = nil
	}
	for _, name := range o.accounts {
		b := c.bankOf(ledger.BankGapAccount(name))
		if b == nil {
			return nil, fmt.Errorf("no bank %q in %s; there is: %s", name, c.File, c.bankNames())
		}
		if !slices.Contains(banks, b) {
			banks = append(banks, b)
		}
	}
	switch {
	case len(banks) == 0:
		return nil, errors.New("no banks configured: write them under banks: in app.yaml, or give --config FILE")
	case (len(o.statements) > 0 || o.noStatement) && len(banks) > 1:
		return nil, fmt.Errorf("--statement and --no-statement need exactly one --bank; there is: %s", c.bankNames())
	}
	return banks, nil
}

// bankOf is the bank whose gaps are kept under an account; nil when there is none.
func (c *Config) bankOf(account string) *bank.Bank {
	for _, b := range c.Banks {
		if ledger.BankGapAccount(b.Name) == account {
			return b
		}
	}
	return nil
}

func (c *Config) bankNames() string {
	names := make([]string, len(c.Banks))
	for i, b := range c.Banks {
		names[i] = b.Name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
