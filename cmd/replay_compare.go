package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"paybook/callback"
	"paybook/models"
)

// replayed is one line of a replay: the answer, and what the message said, of several events the first. Diff names what came out
// otherwise than expected.
type replayed struct {
	File          string   `json:"file"`
	Status        int      `json:"status"`
	Body          string   `json:"body"`
	Verified      bool     `json:"verified"`
	Effect        string   `json:"effect"`
	Event         string   `json:"event"`
	TransactionID string   `json:"transaction_id"`
	OrderID       string   `json:"order_id"`
	Amount        string   `json:"amount"`
	Currency      string   `json:"currency"`
	OK            bool     `json:"ok"`
	Diff          []string `json:"diff"`

	outcome models.Outcome
	reason  models.Reason
}

// effects is what a recording calls each outcome. A note may be called by either of two words.
var effects = map[models.Outcome][]string{
	models.OutcomeApplied:          {"apply"},
	models.OutcomeDuplicate:        {"duplicate"},
	models.OutcomeConflict:         {"record_only"},
	models.OutcomeAmountMismatch:   {"record_only"},
	models.OutcomeCurrencyMismatch: {"record_only"},
	models.OutcomeNoOrder:          {"record_only"},
	models.OutcomePaidAfterClose:   {"record_only"},
	models.OutcomeDuplicatePayment: {"record_only"},
	models.OutcomeNotAllowed:       {"record_only"},
	models.OutcomeTestMode:         {"record_only"},
	models.OutcomeNoted:            {"note_only", "check_only"},
	models.OutcomeIgnored:          {"ignore"},
	models.OutcomeNeedsFetch:       {"fetch"},
	models.OutcomeUnreadable:       {"quarantine"},
}

const effectReject = "reject"

// compare holds the answer against the recording's expectation. An expectation that is empty is not checked.
func compare(rec recording, got answer) replayed {
	d := &differences{want: rec.Expect, r: replayed{File: rec.file, Status: got.status, Body: got.body}}
	want := rec.Expect
	if want.ReplyStatus != 0 && want.ReplyStatus != got.status {
		d.differ("status", fmt.Sprint(got.status), fmt.Sprint(want.ReplyStatus))
	}
	if want.ReplyBody != "" && want.ReplyBody != got.body {
		d.differ("body", got.body, want.ReplyBody)
	}
	if got.inside == nil {
		d.fromOutside()
	} else {
		d.fromInside(*got.inside)
	}
	d.r.OK = len(d.r.Diff) == 0
	if d.r.Diff == nil {
		d.r.Diff = []string{}
	}
	return d.r
}

// differences gathers what a recording expected and did not get.
type differences struct {
	want callback.Expect
	r    replayed
}

func (d *differences) differ(what, got, want string) {
	d.r.Diff = append(d.r.Diff, fmt.Sprintf("%s: got %q, want %q", what, got, want))
}

// text compares one fact. accepted are the spellings that say the same; the recording's own is the one that is shown.
func (d *differences) text(what, want string, accepted ...string) string {
	switch {
	case want == "":
	case slices.Contains(accepted, want):
		return want
	default:
		d.differ(what, accepted[0], want)
	}
	return accepted[0]
}

// fromOutside is all that an answer alone tells: 2xx means that the message was taken for genuine.
func (d *differences) fromOutside() {
	d.r.Verified = d.r.Status/100 == 2
	if d.want.ReplyStatus == 0 && d.r.Verified != d.want.Verified {
		d.differ("verified", fmt.Sprint(d.r.Verified), fmt.Sprint(d.want.Verified))
	} else if d.r.Status == d.want.ReplyStatus {
		d.r.Verified = d.want.Verified // a genuine message that cannot be read may be answered with a failure
	}
}

func (d *differences) fromInside(o callback.Observation) {
	d.r.Verified, d.r.outcome, d.r.reason = len(o.Events) > 0, o.Outcome, o.Reason
	if d.r.Verified != d.want.Verified {
		d.differ("verified", fmt.Sprint(d.r.Verified), fmt.Sprint(d.want.Verified))
	}
	if !d.r.Verified {
		d.r.Effect = d.text("effect", d.want.Effect, effectReject)
		d.text("reason", d.want.Reason, string(o.Reason))
		return
	}
	d.event("", d.want, o.Events[0], o.Outcomes[0], &d.r)
	if d.want.Items == nil {
		return
	}
	if len(d.want.Items) != len(o.Events) {
		d.differ("items", fmt.Sprint(len(o.Events)), fmt.Sprint(len(d.want.Items)))
		return
	}
	for i, item := range d.want.Items {
		d.event(fmt.Sprintf("items[%d].", i), item, o.Events[i], o.Outcomes[i], &replayed{})
	}
}

// event compares one event and fills in what the message states. A movement may have several names; which of them we keep as its
// key is ours to choose, so the expected one may be any of them.
func (d *differences) event(at string, want callback.Expect, ev models.Event, outcome models.Outcome, r *replayed) {
	own, parents := []string{ev.TransactionID}, []string{ev.ParentID}
	own = append(own, ev.Aliases...)
	switch {
	case ev.RunningTotal: // it names the payment, and has no id of the refund
		own[0] = ev.ParentID
	case want.AmountMeaning == "cumulative_refund": // a running total belongs to the payment
		own = append(own, ev.ParentID)
	}
	parents = append(parents, own...)
	r.Effect = d.text(at+"effect", want.Effect, effectsFor(want, outcome)...)
	r.Event = d.text(at+"event", want.Event, eventNames(want, ev)...)
	r.TransactionID = d.text(at+"transaction_id", want.TransactionID, own...)
	r.OrderID = d.text(at+"order_id", want.OrderID, ev.OrderID)
	d.text(at+"event_id", want.EventID, ev.ID)
	d.text(at+"parent_id", want.ParentID, parents...)
	d.text(at+"refund_order_id", want.RefundOrderID, ev.RefundOrderID)
	if outcome == models.OutcomeUnreadable {
		d.text(at+"reason", want.Reason, string(models.ReasonMalformed))
	}
	if want.OrderCheck != "" {
		d.text(at+"order_check", want.OrderCheck, string(outcome))
	}
	if ev.Money.Currency != "" {
		r.Amount, r.Currency = ev.Money.Text(), ev.Money.Currency
	}
	if ev.Kind == models.EventUnknown {
		return // an event we do not use need not be read
	}
	if !strings.EqualFold(want.Currency, ev.Money.Currency) {
		d.text(at+"currency", want.Currency, ev.Money.Currency)
	}
	d.number(at+"amount", want.Amount, ev.Money)
	if ev.PayerMinor != 0 {
		d.number(at+"payer_amount", want.PayerAmount, models.Money{Minor: ev.PayerMinor, Currency: ev.Money.Currency})
	}
	d.time(at+"occurred_at", want.OccurredAt, ev.OccurredAt)
}

func (d *differences) number(what, want string, got models.Money) {
	if want == "" {
		return
	}
	if n, err := decimal.NewFromString(want); err != nil || !n.Equal(got.Decimal()) {
		d.differ(what, got.Text(), want)
	}
}

func (d *differences) time(what, want string, got time.Time) {
	if want == "" {
		return
	}
	if at, err := time.Parse(time.RFC3339, want); err != nil || !at.Equal(got) {
		d.differ(what, got.Format(time.RFC3339), want)
	}
}

// finished is what a recording calls the provider's last word on a payment, after which it can't be refunded: a success told again.
const finished = "payment.finished"

func effectsFor(want callback.Expect, outcome models.Outcome) []string {
	if want.Event == finished && (outcome == models.OutcomeDuplicate || outcome == models.OutcomeNoted) {
		return []string{"note_only", "duplicate"}
	}
	return effects[outcome]
}

// eventNames is what the recording may call an event: what we make of it, or what the message says of itself.
func eventNames(want callback.Expect, ev models.Event) []string {
	names := []string{string(ev.Kind)}
	switch {
	case ev.Told != "":
		names = append(names, string(ev.Told))
	case want.Event == finished && ev.Kind == models.PaymentSucceeded:
		names = append(names, finished)
	case want.AmountMeaning == "cumulative_refund" && ev.Kind == models.RefundTotal: // told as the refund it stands for
		names = append(names, string(models.RefundSucceeded))
	}
	return names
}
