package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/ledger/shop"
	"paybook/models"
)

func newOrdersCommand(a *app) *cobra.Command {
	return newGroup("orders", "Look at orders: their state, and how they got there", newOrdersListCommand(a), newOrdersShowCommand(a),
		newOrdersQueryCommand(a))
}

type ordersListOptions struct {
	status, date, after, format string
	limit                       int
}

func newOrdersListCommand(a *app) *cobra.Command {
	var o ordersListOptions
	c := &cobra.Command{
		Use:     "list",
		Short:   "List orders, newest first",
		Long:    "List orders, newest first. Those of a flash sale that are accepted and not yet written are left out; standard error says how many.\n\n" + exitCodesHelp,
		Example: "  app orders list --status paid --limit 20",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listOrders(c.Context(), o) },
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().StringVar(&o.status, "status", "", "only orders in this `STATE`, such as paid")
	c.Flags().StringVar(&o.status, "state", "", "the same as --status, in the word of the other lists")
	c.MarkFlagsMutuallyExclusive("status", "state")
	c.Flags().StringVar(&o.date, "date", "", "only orders created on this day, `YYYY-MM-DD` in UTC")
	pageFlags(c, &o.limit, &o.after)
	return c
}

// pageFlags adds what every list has.
func pageFlags(c *cobra.Command, limit *int, after *string) {
	c.Flags().IntVar(limit, "limit", 100, "how many at most")
	c.Flags().StringVar(after, "after", "", "go on behind this `CURSOR`, printed as next by the page before")
}

func pageOf(limit int, after string) (ledger.Page, error) {
	if limit < 1 {
		return ledger.Page{}, fmt.Errorf("--limit %d: at least 1 expected", limit)
	}
	return ledger.Page{Limit: limit, After: after}, nil
}

func (a *app) listOrders(ctx context.Context, o ordersListOptions) error {
	var f ledger.OrderFilter
	var err error
	if f.Status, err = oneOf("--status", o.status, allStatuses...); err != nil {
		return err
	}
	if f.From, f.To, err = dayBounds(o.date, time.UTC); err != nil {
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
	queued, err := book.CountQueued(ctx, f) // first, so that what is written meanwhile is told twice rather than not at all
	if err != nil {
		return err
	}
	list, next, err := book.ListOrders(ctx, f)
	if err != nil {
		return err
	}
	defer a.printQueued(queued)
	defer a.printNext(next)
	shown := make([]shop.OrderJSON, len(list))
	for i, order := range list {
		shown[i] = shop.ShowOrder(order)
	}
	if o.format == "json" {
		return printJSON(a.out, shown)
	}
	p := a.colours()
	t := newTable("order", "amount", "state", "refunded", "version")
	for _, order := range shown {
		t.AppendRow([]any{cell(order.OrderID), order.Amount + " " + order.Currency, p.state(order.Status), order.Refunded, order.Version})
	}
	return printTable(a.out, t, "no orders")
}

func (a *app) printQueued(n int64) {
	switch {
	case n == 1:
		fmt.Fprintln(a.err, "1 more order is accepted and not yet written; app orders show ORDER_ID shows it")
	case n > 1:
		fmt.Fprintf(a.err, "%d more orders are accepted and not yet written; app orders show ORDER_ID shows one\n", n)
	}
}

func newOrdersShowCommand(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:     "show ORDER_ID",
		Short:   "Show one order with all that moved it",
		Long:    "Show one order with its transactions and the moves they made, oldest first; also one that is accepted and not yet written.\n\n" + exitCodesHelp,
		Example: "  app orders show CNW20261129001",
		Args:    oneArg,
		RunE:    func(c *cobra.Command, args []string) error { return a.showOrder(c.Context(), args[0], format) },
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func (a *app) showOrder(ctx context.Context, id, format string) error {
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	h, err := book.OrderHistory(ctx, id)
	if err != nil {
		return listedBy("app orders list", err)
	}
	if format == "json" {
		return printJSON(a.out, shop.ShowHistory(h))
	}
	return a.printHistory(shop.ShowHistory(h))
}

func (a *app) printHistory(h shop.HistoryJSON) error {
	p := a.colours()
	fmt.Fprintf(a.out, "%s  %s %s  %s  refunded %s  version %d\n", p.bold(cell(h.OrderID)), h.Amount, h.Currency, p.state(h.Status), h.Refunded, h.Version)
	if len(h.Items) > 0 {
		fmt.Fprintf(a.out, "\nitems, %s\n", h.Stock)
		t := newTable("sku", "quantity")
		for _, i := range h.Items {
			t.AppendRow([]any{cell(i.SKU), i.Quantity})
		}
		if err := printTable(a.out, t, "none"); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.out, "\ntransactions")
	t := newTable("occurred", "account", "kind", "transaction", "amount", "status", "outcome", "source", "why")
	for _, tx := range h.Transactions {
		t.AppendRow([]any{tx.OccurredAt.Format(time.RFC3339), tx.Account, tx.Kind, cell(tx.TransactionID), tx.Amount + " " + tx.Currency,
			tx.Status, tx.Outcome, tx.Source, cell(tx.Detail)})
	}
	if err := printTable(a.out, t, "none"); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "\nmoves")
	t = newTable("at", "from", "to", "by", "transaction")
	for _, m := range h.Transitions {
		t.AppendRow([]any{m.At.Format(time.RFC3339), m.From, p.state(m.To), m.Event, cell(m.TransactionID)})
	}
	return printTable(a.out, t, "none")
}

// state colours an order's state: green where money is in, red where it was taken back.
func (p paint) state(s models.OrderStatus) string {
	switch s {
	case models.Paid, models.Shipped:
		return p.good(string(s))
	case models.Disputed, models.ChargedBack:
		return p.bad(string(s))
	case models.Refunded, models.PartRefunded:
		return p.warn(string(s))
	}
	return string(s)
}
