package cmd

import (
	"github.com/spf13/cobra"

	"paybook/models"
)

var allGapKinds = []models.GapKind{models.GapMissingLocal, models.GapMissingProvider, models.GapAmount, models.GapCurrency, models.GapStatus,
	models.GapDuplicateEntry, models.GapConflict, models.GapUnknownOrder, models.GapPaidAfterClose, models.GapDuplicatePayment,
	models.GapNotAllowed, models.GapWrongDay, models.GapUnknownStatus, models.GapFee, models.GapPayout, models.GapBankMissing,
	models.GapBankUnexpected}

func newGapsCommand(a *app) *cobra.Command {
	return newGroup("gaps", "Look at the differences that daily runs have found, and resolve them",
		newGapsListCommand(a), newGapsShowCommand(a), newGapsResolveCommand(a))
}

type gapsListOptions struct {
	account, state, kind, date, after, format string
	limit                                     int
}

func newGapsListCommand(a *app) *cobra.Command {
	var o gapsListOptions
	c := &cobra.Command{
		Use:     "list",
		Short:   "List gaps, newest first",
		Long:    "List gaps, newest first: all of them, or those of one account, state, kind or day.\n\n" + exitCodesHelp,
		Example: "  app gaps list --state open\n  app gaps list --account wechatpay --date 2026-11-29 --format json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listGaps(c.Context(), o) },
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().StringVar(&o.account, "account", "", "only gaps of this account")
	c.Flags().StringVar(&o.state, "state", "", "only those in this `STATE`: open, carried or resolved")
	c.Flags().StringVar(&o.kind, "kind", "", "only those of this `KIND`, such as missing_local")
	c.Flags().StringVar(&o.date, "date", "", "only those of this business day, `YYYY-MM-DD`")
	pageFlags(c, &o.limit, &o.after)
	return c
}

func gapFilter(o gapsListOptions) (f ledger.GapFilter, err error) {
	f.Account, f.Date = o.account, o.date
	if f.State, err = oneOf("--state", o.state, models.GapOpen, models.GapCarried, models.GapResolved); err != nil {
		return f, err
	}
	if f.Kind, err = oneOf("--kind", o.kind, allGapKinds...); err != nil {
		return f, err
	}
	if _, _, err = dayBounds(o.date, time.UTC); err != nil {
		return f, err
	}
	f.Page, err = pageOf(o.limit, o.after)
	return f, err
}

func (a *app) listGaps(ctx context.Context, o gapsListOptions) error {
	if err := onlyFormats(o.format, "table", "json"); err != nil {
		return err
	}
	f, err := gapFilter(o)
	if err != nil {
		return err
	}
	c, err := a.config()
	if err != nil {
		return err
	}
	if _, err := c.filtered(o.account); err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	list, next, err := book.Gaps(ctx, f)
	if err != nil {
		return err
	}
	defer a.printNext(next)
	gaps := make([]reconcile.GapReport, len(list))
	for i, g := range list {
		gaps[i] = a.shownGap(g)
	}
	if o.format == "json" {
		return printJSON(a.out, gaps)
	}
	p := a.colours()
	t := newTable("gap", "account", "day", "kind", "of", "transaction", "order", "statement", "book", "state", "days")
	for _, g := range gaps {
		t.AppendRow([]any{g.ID, g.Account, g.Date, p.gap(g.Kind), g.EntryKind, cell(g.TransactionID), cell(g.OrderID), side(g.Statement),
			side(g.Ledger), g.State, g.AgeDays})
	}
	return printTable(a.out, t, "no gaps")
}

// shownGap dates a gap in its account's zone, or in UTC when the account is configured no more.
func (a *app) shownGap(g models.Gap) reconcile.GapReport {
	zone := time.UTC
	if c, err := a.config(); err == nil {
		if account, err := c.account(g.Account); err == nil && account.Name == g.Account {
			zone = account.Zone
		}
	}
	shown := reconcile.NewGapReport(g, zone, a.now())
	if g.ResolvedAt != nil {
		shown.ResolvedAt = g.ResolvedAt.In(zone).Format(time.RFC3339)
	}
	return shown
}

// side is what one side says, for a table.
func side(s *models.Side) string {
	if s == nil {
		return "–"
	}
	text := s.Amount + " " + s.Currency + " " + s.Status
	if s.Fee != "" {
		text += ", fee " + s.Fee
	}
	return cell(text)
}

func newGapsShowCommand(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:     "show ID",
		Short:   "Show one gap: what each side says, why it is one, and what to do next",
		Long:    "Show one gap: what each side says, why it is one, and what to do next. A beginning of the id will do.\n\n" + exitCodesHelp,
		Example: "  app gaps show 3f9a12bc",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withGap(c.Context(), format, func(book *ledger.Ledger) (models.Gap, error) { return book.Gap(c.Context(), args[0]) })
		},
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func newGapsResolveCommand(a *app) *cobra.Command {
	format, reason := "", ""
	c := &cobra.Command{
		Use:   "resolve ID --reason TEXT",
		Short: "End a gap by a person's word",
		Long: "End a gap by a person's word, which is kept and is what an auditor will read. It stays resolved until a run finds that it looks\n" +
			"different.\n\n" + exitCodesHelp,
		Example: `  app gaps resolve 3f9a12bc --reason "refunded by hand, ticket 4711"`,
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withGap(c.Context(), format, func(book *ledger.Ledger) (models.Gap, error) { return book.ResolveGap(c.Context(), args[0], reason) })
		},
	}
	formatFlag(c, &format, "table", "json")
	c.Flags().StringVar(&reason, "reason", "", "why it is none any more (needed)")
	return c
}

// withGap does something that ends with one gap, and shows it.
func (a *app) withGap(ctx context.Context, format string, do func(*ledger.Ledger) (models.Gap, error)) error {
	if err := onlyFormats(format, "table", "json"); err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	found, err := do(book)
	if err != nil {
		return listedBy("app gaps list", err)
	}
	g := a.shownGap(found)
	if format == "json" {
		return printJSON(a.out, g)
	}
	a.printGap(g)
	return nil
}

func (a *app) printGap(g reconcile.GapReport) {
	p := a.colours()
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.out, "%s %s\n", p.dim(fmt.Sprintf("%-12s", name)), value)
		}
	}
	line("gap", g.ID)
	line("kind", p.gap(g.Kind))
	line("account", g.Account)
	line("day", g.Date)
	line("state", string(g.State))
	line("first seen", fmt.Sprintf("%s, %s ago", g.FirstSeen, count(g.AgeDays, "day")))
	line("of", string(g.EntryKind)+" "+cell(g.TransactionID))
	line("order", cell(g.OrderID))
	line("payment", cell(g.ParentID))
	line("refund", cell(g.RefundOrderID))
	statement := side(g.Statement)
	if s := g.Statement; s != nil && s.File != "" {
		statement += fmt.Sprintf("  (%s, row %d)", cell(s.File), s.Line)
	}
	line("statement", statement)
	line("book", side(g.Ledger))
	line("order asks", side(g.Order))
	line("why", cell(g.Reason))
	if g.State == models.GapOpen {
		line("next", cell(g.Next))
	}
	line("resolved", g.ResolvedAt)
	line("resolution", cell(g.Resolution))
}
