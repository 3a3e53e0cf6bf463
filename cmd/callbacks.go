package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/models"
)

var allOutcomes = []models.Outcome{models.OutcomeApplied, models.OutcomeDuplicate, models.OutcomeConflict, models.OutcomeAmountMismatch,
	models.OutcomeCurrencyMismatch, models.OutcomeNoOrder, models.OutcomePaidAfterClose, models.OutcomeDuplicatePayment,
	models.OutcomeNotAllowed, models.OutcomeNoted, models.OutcomeIgnored, models.OutcomeNeedsFetch, models.OutcomeTestMode,
	models.OutcomeUnreadable}

var allReasons = []models.Reason{models.ReasonSignature, models.ReasonTimestamp, models.ReasonKey, models.ReasonAlgorithm,
	models.ReasonCertificate, models.ReasonChain, models.ReasonCertURL, models.ReasonDecrypt, models.ReasonBasicAuth,
	models.ReasonMerchant, models.ReasonMalformed, models.ReasonTooLarge}

var allEvents = []models.EventKind{models.PaymentPending, models.PaymentAuthorised, models.PaymentSucceeded, models.PaymentCaptured,
	models.PaymentFailed, models.PaymentClosed, models.PaymentVoided, models.RefundPending, models.RefundAbnormal, models.RefundSucceeded,
	models.RefundFailed, models.RefundClosed, models.RefundTotal, models.DisputeNotified, models.DisputeInquiry, models.DisputeCreated,
	models.DisputeUpdated, models.DisputeOpened, models.DisputeWon, models.DisputeLost, models.PayoutPending, models.PayoutPaid,
	models.PayoutFailed, models.ReportAvailable, models.EventThin, models.EventUnknown, models.EventUnparsable}

func newCallbacksCommand(a *app) *cobra.Command {
	return newGroup("callbacks", "Look at what exactly arrived", newCallbacksListCommand(a), newCallbacksShowCommand(a), newCallbacksReplayCommand(a))
}

// callbackJSON is a callback in a list. Status is the HTTP status that was answered.
type callbackJSON struct {
	ID            string           `json:"id"`
	Account       string           `json:"account"`
	ReceivedAt    time.Time        `json:"received_at"`
	Status        int              `json:"status"`
	Reason        models.Reason    `json:"reason"`
	Outcome       models.Outcome   `json:"outcome"`
	Event         models.EventKind `json:"event"`
	TransactionID string           `json:"transaction_id"`
	OrderID       string           `json:"order_id"`
	Deliveries    int64            `json:"deliveries"` // how often it came
}

func listedCallback(cb models.Callback) callbackJSON {
	return callbackJSON{cb.ID, cb.Account, cb.ReceivedAt.UTC(), cb.Status, cb.Reason, cb.Outcome, cb.Event, cb.TransactionID, cb.OrderID, cb.Deliveries}
}

type callbacksListOptions struct {
	account, outcome, reason, event, date, after, format string
	limit                                                int
}

func newCallbacksListCommand(a *app) *cobra.Command {
	var o callbacksListOptions
	c := &cobra.Command{
		Use:     "list",
		Short:   "List callbacks, newest first",
		Long:    "List callbacks, newest first. A repeat of the same body is counted in the row of the first.\n\n" + exitCodesHelp,
		Example: "  app callbacks list --account wechatpay --date 2026-11-29\n  app callbacks list --reason signature",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.listCallbacks(c.Context(), o) },
	}
	formatFlag(c, &o.format, "table", "json")
	c.Flags().StringVar(&o.account, "account", "", "only callbacks of this account")
	c.Flags().StringVar(&o.outcome, "outcome", "", "only those with this `OUTCOME`, such as amount_mismatch")
	c.Flags().StringVar(&o.reason, "reason", "", "only those refused for this `REASON`, such as signature")
	c.Flags().StringVar(&o.outcome, "state", "", "the same as --outcome, in the word of the other lists")
	c.MarkFlagsMutuallyExclusive("outcome", "state")
	c.Flags().StringVar(&o.event, "kind", "", "only those that tell of this `EVENT`, such as payment.succeeded")
	c.Flags().StringVar(&o.date, "date", "", "only those received on this day, `YYYY-MM-DD`: of the account's zone with --account, else of UTC")
	pageFlags(c, &o.limit, &o.after)
	return c
}

func (a *app) callbackFilter(o callbacksListOptions) (f ledger.CallbackFilter, err error) {
	zone := time.UTC
	f.Account = o.account
	account, err := a.filtered(o.account)
	if err != nil {
		return f, err
	}
	if account != nil {
		zone = account.Zone
	}
	if f.Outcome, err = oneOf("--outcome", o.outcome, allOutcomes...); err != nil {
		return f, err
	}
	if f.Reason, err = oneOf("--reason", o.reason, allReasons...); err != nil {
		return f, err
	}
	if f.Event, err = oneOf("--kind", o.event, allEvents...); err != nil {
		return f, err
	}
	if f.From, f.To, err = dayBounds(o.date, zone); err != nil {
		return f, err
	}
	f.Page, err = pageOf(o.limit, o.after)
	return f, err
}

func (a *app) listCallbacks(ctx context.Context, o callbacksListOptions) error {
	f, err := a.callbackFilter(o)
	if err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	list, next, err := book.Callbacks(ctx, f)
	if err != nil {
		return err
	}
	defer a.printNext(next)
	if o.format == "json" {
		shown := make([]callbackJSON, len(list))
		for i, cb := range list {
			shown[i] = listedCallback(cb)
		}
		return printJSON(a.out, shown)
	}
	p := a.colours()
	t := newTable("id", "account", "received", "status", "outcome", "event", "transaction", "order", "times")
	for _, cb := range list {
		t.AppendRow([]any{cb.ID, cb.Account, cb.ReceivedAt.UTC().Format(time.RFC3339), cb.Status, p.became(cb), cb.Event,
			cell(cb.TransactionID), cell(cb.OrderID), cb.Deliveries})
	}
	return printTable(a.out, t, "no callbacks")
}

// became is what happened to a callback, in one coloured word.
func (p paint) became(cb models.Callback) string {
	r := replayed{outcome: cb.Outcome}
	if !cb.Verified {
		r.reason = cb.Reason
	}
	if words := effects[cb.Outcome]; words != nil {
		r.Effect = words[0]
	}
	return r.became(p)
}

func newCallbacksReplayCommand(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:   "replay ID",
		Short: "Verify and book a kept callback once more",
		Long: `Verify a kept callback once more, at the time it was received, with today's keys and program, and book what it says: for one that
could not be read, or was refused because a key was missing here. What is booked already is a duplicate.

Exit codes:
  0  genuine and booked
  1  still refused or unreadable
  2  could not be done`,
		Example: "  app callbacks replay 3f9a12bc",
		Args:    oneArg,
		RunE:    func(c *cobra.Command, args []string) error { return a.replayCallback(c.Context(), args[0], format) },
	}
	formatFlag(c, &format, "text", "json")
	return c
}

func (a *app) replayCallback(ctx context.Context, id, format string) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	book, err := a.openExisting(ctx)
	if err != nil {
		return err
	}
	defer book.Close()
	cb, err := book.Callback(ctx, id)
	if err != nil {
		return listedBy("app callbacks list", err)
	}
	account, err := c.account(cb.Account)
	if err != nil {
		return fmt.Errorf("callback %s: %w", id, err)
	}
	again, err := bookAgain(ctx, book, account.Provider, cb)
	if err != nil {
		return fmt.Errorf("callback %s: %w", id, err)
	}
	if format == "json" {
		err = printJSON(a.out, listedCallback(again))
	} else {
		_, err = fmt.Fprintln(a.out, strings.Join(strings.Fields(strings.Join([]string{a.colours().became(again), string(again.Event),
			cell(again.TransactionID), cell(again.OrderID), cell(again.Detail)}, " ")), " "))
	}
	if err == nil && (!again.Verified || again.Outcome == models.OutcomeUnreadable) {
		err = errLook
	}
	return err
}

// bookAgain verifies a kept callback as if it came now, but at its own time, and books it if it can be read. One that still can't be
// is left as it is: this was no delivery.
func bookAgain(ctx context.Context, book *ledger.Ledger, p provider, cb models.Callback) (models.Callback, error) {
	status := func(answer models.Answer) int { status, _, _ := p.Reply(answer); return status }
	events, err := p.Verify(ctx, cb)
	var refused *models.Rejection
	switch {
	case errors.As(err, &refused):
		cb.Verified, cb.Reason, cb.Detail, cb.Status = false, refused.Reason, refused.Detail, status(models.Answer{Reason: refused.Reason})
		return cb, nil
	case err != nil:
		return cb, err
	}
	first := events[0]
	cb.Verified, cb.Reason, cb.Detail = true, "", first.Detail
	cb.Event, cb.TransactionID, cb.OrderID = first.Kind, first.TransactionID, first.OrderID
	outcomes := []models.Outcome{models.OutcomeUnreadable}
	if len(events) > 1 || first.Kind != models.EventUnparsable {
		outcomes, err = book.Record(ctx, cb, events, func(o models.Outcome) int { return status(models.Answer{Outcome: o}) })
	}
	if err != nil {
		return cb, err
	}
	cb.Outcome = ledger.Worst(outcomes)
	cb.Status = status(models.Answer{Outcome: cb.Outcome})
	if cb.Outcome == models.OutcomeUnreadable {
		cb.Reason = models.ReasonMalformed
	}
	return cb, nil
}
