package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/reconcile"
)

// gapsChange is what the commands that change gaps have in common.
type gapsChange struct {
	as, format string
}

func (o *gapsChange) flags(c *cobra.Command) {
	actorFlag(c, &o.as)
	formatFlag(c, &o.format, "table", "json")
}

const severalGaps = "Several gaps are changed all together or not at all; beginnings of their ids will do. With --format json one gap is an object, several are\nan array.\n\n"

func newGapsAssignCommand(a *app) *cobra.Command {
	var o gapsChange
	to, due := "", ""
	c := &cobra.Command{
		Use:   "assign ID… --to NAME",
		Short: "Say whose task gaps are, and until when",
		Long: "Say whose task gaps are, and until when. The owner and the date stay with a gap whatever becomes of it. --to \"\" takes the owner away, and\n" +
			"the date with it; --due \"\" takes the date away.\n\n" + severalGaps + exitCodesHelp,
		Example: "  app gaps assign 3f9a12bc --to wang --due 2026-12-04\n  app gaps assign 3f9a12bc 77aa01cd --to \"\"",
		Args:    someArgs,
		RunE: func(c *cobra.Command, ids []string) error {
			change := ledger.GapChange{Action: ledger.AssignGap}
			if c.Flags().Changed("to") {
				change.Owner = &to
			}
			if c.Flags().Changed("due") {
				change.DueOn = &due
				if err := isDate("--due", due); err != nil {
					return err
				}
			}
			if change.Owner == nil && change.DueOn == nil {
				return errors.New("app gaps assign: say whose task it is by --to, or until when by --due")
			}
			return a.changeGaps(c.Context(), o, change, ids)
		},
	}
	c.Flags().StringVar(&to, "to", "", "whose task it is: a `NAME`; \"\" is nobody's")
	c.Flags().StringVar(&due, "due", "", "until when, `YYYY-MM-DD` by the account's calendar; \"\" is no date")
	o.flags(c)
	return c
}

func newGapsCommentCommand(a *app) *cobra.Command {
	return newGapsWords(a, &cobra.Command{
		Use:     "comment ID… --text TEXT",
		Short:   "Say something about gaps, for their history",
		Long:    "Say something about gaps. It is kept in their history and changes nothing else.",
		Example: `  app gaps comment 3f9a12bc --text "asked the provider, ticket 4711"`,
	}, ledger.CommentGap, "text", "what there is to say (needed)")
}

func newGapsResolveCommand(a *app) *cobra.Command {
	return newGapsWords(a, &cobra.Command{
		Use:   "resolve ID --reason TEXT",
		Short: "End gaps by a person's word",
		Long: "End gaps by a person's word, which is kept and is what an auditor will read. They stay resolved until a run finds that they look\n" +
			"different; then they are reopened, and their owner keeps them.",
		Example: `  app gaps resolve 3f9a12bc --reason "refunded by hand, ticket 4711"`,
	}, ledger.ResolveGap, "reason", "why it is none any more (needed)")
}

func newGapsReopenCommand(a *app) *cobra.Command {
	return newGapsWords(a, &cobra.Command{
		Use:     "reopen ID… --reason TEXT",
		Short:   "Take back that gaps are resolved",
		Long:    "Take back that gaps are resolved, by a run or by a person. The next run of their day ends those that it does not find.",
		Example: `  app gaps reopen 3f9a12bc --reason "the refund bounced"`,
	}, ledger.ReopenGap, "reason", "why it is not settled after all (needed)")
}

// newGapsWords makes a command that changes gaps by what a person says.
func newGapsWords(a *app, c *cobra.Command, action ledger.GapAction, flag, usage string) *cobra.Command {
	var o gapsChange
	text := ""
	c.Long += "\n\n" + severalGaps + exitCodesHelp
	c.Args = someArgs
	c.RunE = func(c *cobra.Command, ids []string) error {
		return a.changeGaps(c.Context(), o, ledger.GapChange{Action: action, Text: text}, ids)
	}
	c.Flags().StringVar(&text, flag, "", usage)
	o.flags(c)
	return c
}

// changeGaps makes the same change of every gap named, and shows them.
func (a *app) changeGaps(ctx context.Context, o gapsChange, change ledger.GapChange, ids []string) error {
	by, err := a.actor(o.as)
	if err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	changes := make([]ledger.GapChange, len(ids))
	for i, id := range ids {
		changes[i] = change
		changes[i].ID = id
	}
	done, err := book.ChangeGaps(ctx, by, false, changes...)
	if err != nil {
		return listedBy("app gaps list", err)
	}
	gaps := make([]reconcile.GapReport, len(done))
	for i := range done {
		gaps[i] = a.shownGap(done[i].Gap)
	}
	switch {
	case o.format == "json" && len(gaps) == 1:
		return printJSON(a.out, gaps[0])
	case o.format == "json":
		return printJSON(a.out, gaps)
	case len(gaps) == 1:
		a.printGap(gaps[0])
		return nil
	}
	return a.printGaps(a.out, gaps)
}
