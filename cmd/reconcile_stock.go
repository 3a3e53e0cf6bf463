package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/ledger/redisgate"
)

// What --repair may say.
const (
	repairPlan  = "plan"
	repairApply = "apply"
)

func newReconcileStockCommand(a *app) *cobra.Command {
	var format, repair string
	c := &cobra.Command{
		Use:   "stock",
		Short: "Hold the stock's figures against the orders, and Redis's against the stock",
		Long: `Hold what the stock says is reserved and sold against what the orders say, written and queued, in one snapshot; and, for the articles
of orders.flash, Redis's figure against what the database has available. It is right while orders run: what differs is looked at once more
before it is told, and so is what requests under way hold, until these have ended or count as lost.
Redis having no figure is no difference: it is loaded when it is asked for.

--repair plans, --repair=apply writes: the stock's figures from the orders, all of them or none, then Redis's figures from the stock, also
where Redis has lost them. An article whose orders hold more units than are owned cannot be repaired, and keeps the others from it: import
its units, or cancel orders. Run it again to see.

Exit codes:
  0  equal (with --repair=apply: by now)
  1  there are differences
  2  could not be done: usage, configuration, database, Redis, busy (the same repair is under way elsewhere)`,
		Example: "  app reconcile stock\n  app reconcile stock --repair\n  app reconcile stock --repair=apply --format json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.reconcileStock(c.Context(), format, repair) },
	}
	formatFlag(c, &format, "table", "json", "csv")
	c.Flags().StringVar(&repair, "repair", "", "`plan` (the default of the flag) or apply: correct what differs")
	c.Flags().Lookup("repair").NoOptDefVal = repairPlan
	return c
}

func (a *app) reconcileStock(ctx context.Context, format, repair string) error {
	if repair != "" && repair != repairPlan && repair != repairApply {
		return fmt.Errorf("--repair=%s: expected plan or apply", repair)
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	book, err := a.openBook(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	flash, end, err := conf.openFlash(book)
	if err != nil {
		return err
	}
	defer end()
	s := stockReport{book: book, flash: flash}
	away := s.read(ctx)
	if s.lines == nil && away != nil {
		return away
	}
	if repair != "" && away == nil {
		away = s.repair(ctx, repair == repairApply)
	}
	if err := a.printStock(format, s.lines); err != nil {
		return err
	}
	if away != nil {
		return away
	}
	return s.result()
}

// openFlash is nil without a flash sale.
func (c *Config) openFlash(book *ledger.Ledger) (flash *redisgate.Flash, end func(), err error) {
	patient := c.Redis // nobody waits to buy
	patient.Timeout = max(patient.Timeout, 2*time.Second)
	gate, err := patient.open(nil)
	if err != nil || gate == nil {
		return nil, func() {}, err
	}
	end = func() { _ = gate.Close() } // it was only asked
	if len(c.Flash) == 0 {
		return nil, end, nil
	}
	return redisgate.NewFlash(book, gate, c.Flash, nil), end, nil
}
