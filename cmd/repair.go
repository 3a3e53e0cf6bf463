package cmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

var allRepairStates = []models.RepairState{models.RepairPlanned, models.RepairApproved, models.RepairApplied, models.RepairUndone, models.RepairDropped}

func newRepairCommand(a *app) *cobra.Command {
	return newGroup("repair", "Look at plans that close gaps by booking what the statement says; approve, apply and reverse them",
		newRepairListCommand(a), newRepairShowCommand(a), newRepairApproveCommand(a), newRepairApplyCommand(a), newRepairReverseCommand(a),
		newRepairDropCommand(a))
}

type repairListOptions struct {
	account, state, date, after, format string
	limit                               int
}

func newRepairListCommand(a *app) *cobra.Command {
	var o repairListOptions
	c := &cobra.Command{
		Use:   "list",
		Short: "List repairs, newest first",
		Long: "List repairs, newest first: all of them, or those of one account, state or day. A repair is made by\n" +
			"`app reconcile --date DAY --repair`.\n\n" + exitCodesHelp,
		Example: "  app repair list --state planned",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listRepairs(c.Context(), o) },
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().StringVar(&o.account, "account", "", "only repairs of this account")
	c.Flags().StringVar(&o.state, "state", "", "only those in this `STATE`: planned, approved, applied, reversed or dropped")
	c.Flags().StringVar(&o.date, "date", "", "only those of this business day, `YYYY-MM-DD`")
	pageFlags(c, &o.limit, &o.after)
	return c
}

func repairFilter(o repairListOptions) (f ledger.RepairFilter, err error) {
	f.Account, f.Date = o.account, o.date
	if f.State, err = oneOf("--state", o.state, allRepairStates...); err != nil {
		return f, err
	}
	if _, _, err = dayBounds(o.date, time.UTC); err != nil {
		return f, err
	}
	f.Page, err = pageOf(o.limit, o.after)
	return f, err
}

func (a *app) listRepairs(ctx context.Context, o repairListOptions) error {
	f, err := repairFilter(o)
	if err != nil {
		return err
	}
	if _, err := a.filtered(o.account); err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	list, next, err := book.Repairs(ctx, f)
	if err != nil {
		return err
	}
	defer a.printNext(next)
	shown := make([]*reconcile.RepairReport, len(list))
	for i, r := range list {
		shown[i] = a.shownRepair(r)
	}
	if o.format == "json" {
		return printJSON(a.out, shown)
	}
	l := a.language()
	t := newTable(a.heads("repair", "account", "day", "state", "planned", "by", "approved by", "applied by", "reversed by")...)
	for _, r := range shown {
		t.AppendRow([]any{r.ID, r.Account, r.Date, l.Word(string(r.State)), r.MadeAt, cell(r.MadeBy), cell(r.ApprovedBy), cell(r.AppliedBy), cell(r.ReversedBy)})
	}
	return printTable(a.out, t, l.Text("no repairs; plan one by app reconcile --date DAY --repair"))
}

// shownRepair dates a repair in its account's zone, or in UTC when the account is configured no more.
func (a *app) shownRepair(r models.Repair) *reconcile.RepairReport {
	return reconcile.NewRepairReport(r, a.zoneOf(r.Account))
}

func newRepairShowCommand(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show one repair: what it books and why, what the shop is told, and what came of it",
		Long: "Show one repair: what it books and why, what the shop is told, and what came of it; and the gaps that it cannot close, with\n" +
			"what to do about them. A beginning of the id will do.\n\n" + exitCodesHelp,
		Example: "  app repair show 019ae8c2",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			_, err := a.withRepair(c.Context(), format, func(book *ledger.Ledger) (models.Repair, error) { return book.Repair(c.Context(), args[0]) })
			return err
		},
	}
	formatFlag(c, &format, "table", "json")
	return c
}

// repairExitCodes are those of commands that change a repair.
const repairExitCodes = `Exit codes:
  0  done
  1  done, but not for every gap: the table says why
  2  could not be done: usage, configuration, database, a second person is needed, a state that does not allow it, busy (somebody is at it)`

// newRepairAct is a command that does something with one repair by somebody's word.
func newRepairAct(a *app, c *cobra.Command, reason string, do func(ctx context.Context, book *ledger.Ledger, id, who, reason string) (models.Repair, error)) *cobra.Command {
	var format, as, why string
	c.Long += "\n\nWho you are is what --as, APP_USER or the operating system says; nobody has to prove it, so let each person have a login of\n" +
		"their own where it matters.\n\n" + repairExitCodes
	c.Args = oneArg
	c.RunE = func(c *cobra.Command, args []string) error {
		who, err := a.actor(as)
		if err != nil {
			return err
		}
		if reason != "" && strings.TrimSpace(why) == "" {
			return errors.New("--reason: say why; it is what an auditor will read")
		}
		r, err := a.withRepair(c.Context(), format, func(book *ledger.Ledger) (models.Repair, error) { return do(c.Context(), book, args[0], who, why) })
		if err == nil && r.Unfinished() {
			return errLook
		}
		return err
	}
	formatFlag(c, &format, "table", "json")
	actorFlag(c, &as)
	if reason != "" {
		c.Flags().StringVar(&why, "reason", "", reason)
	}
	return c
}

func newRepairApproveCommand(a *app) *cobra.Command {
	return newRepairAct(a, &cobra.Command{
		Use:     "approve ID",
		Short:   "Give a second person's word that a plan may be applied",
		Long:    "Give a second person's word that a plan may be applied, by whoever. The one who planned it is refused.",
		Example: "  app repair approve 019ae8c2 --as bob",
	}, "", func(ctx context.Context, book *ledger.Ledger, id, who, _ string) (models.Repair, error) {
		return book.ApproveRepair(ctx, id, who)
	})
}

func newRepairApplyCommand(a *app) *cobra.Command {
	return newRepairAct(a, &cobra.Command{
		Use:   "apply ID",
		Short: "Book what a plan says, by the way of a callback",
		Long: `Book what a plan says, by the way of a callback: under the same ids, with the same effect on the orders, and with the same messages to
the shop. A callback that comes later is a duplicate. What a callback was quicker with is there already; what would come to something else
than planned is refused, and says so. Applied again it books nothing twice.

Where repair.approvals is 2 in the configuration, the one who planned it is refused, unless somebody else has approved it.`,
		Example: "  app repair apply 019ae8c2\n  app repair apply 019ae8c2 --as bob --format json",
	}, "", func(ctx context.Context, book *ledger.Ledger, id, who, _ string) (models.Repair, error) {
		c, err := a.config()
		if err != nil {
			return models.Repair{}, err
		}
		return book.ApplyRepair(ctx, id, who, c.Approvals)
	})
}

func newRepairReverseCommand(a *app) *cobra.Command {
	return newRepairAct(a, &cobra.Command{
		Use:   "reverse ID --reason TEXT",
		Short: "Take back what a repair has booked, by an equal opposite entry",
		Long: `Take back what a repair has booked. Its rows stay, as reversed, and each gets an equal opposite row ("ID:reversal"); the order returns to
where it was, its stock with it, the shop is told, and the gap is open again. No money moves at the provider. Once a callback has told of
the money, or the order has moved on, it is refused for that order: give the money back at the provider instead.`,
		Example: `  app repair reverse 019ae8c2 --reason "statement of another shop"`,
	}, "why it was wrong (needed)", func(ctx context.Context, book *ledger.Ledger, id, who, reason string) (models.Repair, error) {
		return book.ReverseRepair(ctx, id, who, reason)
	})
}

func newRepairDropCommand(a *app) *cobra.Command {
	return newRepairAct(a, &cobra.Command{
		Use:     "drop ID --reason TEXT",
		Short:   "Give up a plan that was not applied",
		Long:    "Give up a plan that was not applied. Its gaps stay open, and can be planned again.",
		Example: `  app repair drop 019ae8c2 --reason "the provider sends a corrected file"`,
	}, "why it is not wanted (needed)", func(ctx context.Context, book *ledger.Ledger, id, who, reason string) (models.Repair, error) {
		return book.DropRepair(ctx, id, who, reason)
	})
}

// withRepair does something that ends with one repair, and shows it.
func (a *app) withRepair(ctx context.Context, format string, do func(*ledger.Ledger) (models.Repair, error)) (r models.Repair, err error) {
	book, err := a.openExisting(ctx)
	if err != nil {
		return r, err
	}
	defer book.Close()
	if r, err = do(book); err != nil {
		return r, reconcile.AsBusy(listedBy("app repair list", err))
	}
	if format == "json" {
		return r, printJSON(a.out, a.shownRepair(r))
	}
	return r, reconcile.WriteRepair(a.out, a.shownRepair(r), a.look())
}
