package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"paybook/callback"
	"paybook/ledger"
	"paybook/models"
)

func newOrdersQueryCommand(a *app) *cobra.Command {
	var account, format string
	c := &cobra.Command{
		Use:   "query ORDER_ID",
		Short: "Ask the provider what became of an order, and record what it says",
		Long: `Ask the provider what became of an order, and record what it says as a callback would: verified, kept as evidence, and booked. The
accounts where a payment of the order has begun are asked, else all whose provider answers questions. A server does the same by itself
for orders that stay in paying, or with a payment pending, longer than orders.query.after.

Exit codes:
  0  a provider knows the order, and what it says is recorded
  1  no provider that answered knows it, or nothing has moved
  2  could not be done: usage, configuration, database, no provider that could be asked has answered, an answer that is not proven genuine`,
		Example: "  app orders query CNW20261129001\n  app orders query CNW20261129001 --account wechatpay --format json",
		Args:    oneArg,
		RunE: func(c *cobra.Command, args []string) error {
			return a.queryOrder(c.Context(), args[0], account, format)
		},
	}
	formatFlag(c, &format, "table", "json")
	c.Flags().StringVar(&account, "account", "", "only this account (default: those that may have it)")
	return c
}

func (a *app) queryOrder(ctx context.Context, id, account, format string) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	q := c.inquirer(book, slog.New(slog.DiscardHandler), a.now)
	questions, err := orderQuestions(ctx, c, q, book, id, account)
	if err != nil {
		return err
	}
	answers := []answerJSON{}
	var failed []error
	known := false
	for _, name := range slices.Sorted(maps.Keys(questions)) {
		for _, question := range questions[name] {
			h := q.Ask(ctx, name, question)
			known = known || len(h.Events) > 0 && h.Err == nil
			if h.Err != nil || h.Refused != nil {
				failed = append(failed, fmt.Errorf("%s: %s", name, h.Words()))
			}
			answers = append(answers, shownAnswer(h, a.zoneOf(name)))
		}
	}
	if len(failed) == len(answers) {
		return errors.Join(failed...)
	}
	if err := a.printAnswers(format, answers); err != nil || known {
		return err
	}
	return errLook
}

// orderQuestions are what to ask of whom. Unlike a server's own questions they may be about an order that is paid already.
func orderQuestions(ctx context.Context, c *Config, q *callback.Inquirer, book *ledger.Ledger, id, only string) (map[string][]models.Query, error) {
	if only != "" {
		a, err := c.account(only)
		if err != nil {
			return nil, err
		}
		only = a.Name
	}
	h, err := book.OrderHistory(ctx, id)
	if err != nil {
		return nil, listedBy("app orders list", err)
	}
	list, err := q.OrderQuestions(ctx, id, time.Time{})
	if err != nil {
		return nil, err
	}
	if only == "" && len(list) == 0 {
		only = h.Order.PaidAccount
	}
	switch {
	case only == "" && len(list) == 0:
		return nil, fmt.Errorf("order %s is %s, and no configured provider can be asked about it; say which account by --account", id, h.Order.Status)
	case only == "":
		return list, nil
	case list[only] != nil:
		return map[string][]models.Query{only: list[only]}, nil
	}
	return map[string][]models.Query{only: {{Kind: models.Payment, OrderID: id, OrderedAt: h.Order.CreatedAt}}}, nil
}

// answerJSON is what one provider has said.
type answerJSON struct {
	Account string          `json:"account"`
	Answer  string          `json:"answer"` // one line for people
	Events  []answeredEvent `json:"events"`
}

type answeredEvent struct {
	Event         models.EventKind `json:"event"`
	TransactionID string           `json:"transaction_id"`
	OrderID       string           `json:"order_id"`
	Amount        string           `json:"amount"`
	Currency      string           `json:"currency"`
	OccurredAt    string           `json:"occurred_at"` // RFC 3339 in the account's zone
	Outcome       models.Outcome   `json:"outcome"`
}

func shownAnswer(h callback.Heard, zone *time.Location) answerJSON {
	out := answerJSON{Account: h.Account, Answer: h.Words(), Events: []answeredEvent{}}
	for n, ev := range h.Events {
		if n < len(h.Outcomes) {
			out.Events = append(out.Events, answeredEvent{ev.Kind, ev.TransactionID, ev.OrderID, ev.Money.Text(), ev.Money.Currency,
				ev.OccurredAt.In(zone).Format(time.RFC3339), h.Outcomes[n]})
		}
	}
	return out
}

func (a *app) printAnswers(format string, answers []answerJSON) error {
	if format == "json" {
		return printJSON(a.out, answers)
	}
	t := newTable("account", "event", "transaction", "amount", "at", "outcome", "answer")
	for _, h := range answers {
		for _, ev := range h.Events {
			t.AppendRow([]any{h.Account, ev.Event, cell(ev.TransactionID), ev.Amount + " " + ev.Currency, ev.OccurredAt, ev.Outcome, cell(h.Answer)})
		}
		if len(h.Events) == 0 {
			t.AppendRow([]any{h.Account, "", "", "", "", "", cell(h.Answer)})
		}
	}
	return printTable(a.out, t, "nobody was asked")
}
