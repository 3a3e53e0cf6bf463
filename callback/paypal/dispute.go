package paypal

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// outcomes of a dispute, by dispute_outcome.outcome_code. NONE decides nothing. Who won is our reading of the names; when
// PayPal pays out of its own pocket the seller keeps the money.
var outcomes = map[string]models.EventKind{
	"RESOLVED_BUYER_FAVOUR":  models.DisputeLost,
	"ACCEPTED":               models.DisputeLost,
	"RESOLVED_SELLER_FAVOUR": models.DisputeWon,
	"DENIED":                 models.DisputeWon,
	"CANCELED_BY_BUYER":      models.DisputeWon,
	"RESOLVED_WITH_PAYOUT":   models.DisputeWon,
	"NONE":                   models.DisputeUpdated,
}

// disputeCreated: an inquiry is buyer and seller talking; no money is taken for it.
func disputeCreated(m message) ([]models.Event, error) {
	if m.isInquiry() {
		return m.dispute(models.DisputeInquiry)
	}
	return m.dispute(models.DisputeOpened)
}

// chargebackStages are those of a dispute that PayPal has taken the money for.
var chargebackStages = []string{"CHARGEBACK", "PRE_ARBITRATION", "ARBITRATION"}

// disputeUpdated may be the first to tell that an inquiry has become a claim. Of a dispute that is open already it is a repeat.
func disputeUpdated(m message) ([]models.Event, error) {
	switch {
	case m.isInquiry():
		return m.dispute(models.DisputeInquiry)
	case slices.Contains(chargebackStages, m.resource.Get("dispute_life_cycle_stage").String()):
		return m.dispute(models.DisputeOpened)
	}
	return m.dispute(models.DisputeUpdated)
}

// disputeResolved: an inquiry that is won ends before any money was taken, so nothing comes back. A lost one is money gone.
func disputeResolved(m message) ([]models.Event, error) {
	code := m.resource.Get("dispute_outcome", "outcome_code").String()
	kind, known := outcomes[code]
	switch {
	case code == "":
		return nil, errors.New("dispute_outcome.outcome_code: missing")
	case !known:
		return nil, fmt.Errorf("dispute_outcome.outcome_code: %q is a word we do not know", clip(code))
	case kind == models.DisputeWon && m.isInquiry():
		kind = models.DisputeInquiry
	}
	return m.dispute(kind)
}

func (m message) isInquiry() bool {
	return m.resource.Get("dispute_life_cycle_stage").String() == "INQUIRY"
}

// dispute is one event, or one for each payment where the dispute is about several and tells their shares. What moves no
// money needs no more than the dispute's id.
func (m message) dispute(kind models.EventKind) ([]models.Event, error) {
	own, err := id(m.resource.Get("dispute_id"))
	if err != nil {
		return nil, fmt.Errorf("dispute_id: %w", err)
	}
	ev := models.Event{Kind: kind, TransactionID: own, Aliases: []string{own}, Detail: m.disputeWords()}
	ev.OccurredAt, err = m.occurredAt("update_time", "create_time")
	if err != nil {
		return nil, err
	}
	moves := kind != models.DisputeInquiry && kind != models.DisputeUpdated
	whole, err := money(m.resource.Get("dispute_amount"))
	if err != nil && moves {
		return nil, fmt.Errorf("dispute_amount: %w", err)
	}
	ev.Money = whole
	about, err := m.disputed()
	if err != nil && moves {
		return nil, fmt.Errorf("disputed_transactions: %w", err)
	}
	if len(about) > 0 {
		ev.ParentID, ev.OrderID = about[0].capture, about[0].order
	}
	if !moves {
		return []models.Event{ev}, nil
	}
	for _, a := range about { // an amount of another currency than the payment's cannot be taken from it
		if a.money.Currency != "" && a.money.Currency != whole.Currency {
			return nil, fmt.Errorf("dispute_amount: %s, and the disputed payment %s is of %s", whole, a.capture, a.money)
		}
	}
	return shares(ev, about), nil
}

func (m message) disputeWords() string {
	var words []string
	for _, field := range []string{"dispute_life_cycle_stage", "status", "reason"} {
		words = append(words, m.resource.Get(field).String())
	}
	words = append(words, m.resource.Get("dispute_outcome", "outcome_code").String())
	return clip(strings.Join(strings.Fields(strings.Join(words, " ")), " "))
}

// disputedPayment is one payment that a dispute is about.
type disputedPayment struct {
	capture, order string
	money          models.Money // zero when it is not told
}

func (m message) disputed() ([]disputedPayment, error) {
	var list []disputedPayment
	for _, t := range m.resource.Get("disputed_transactions").List() {
		capture, err := id(t.Get("seller_transaction_id"))
		if err != nil {
			return list, fmt.Errorf("seller_transaction_id: %w", err)
		}
		order, err := firstID(t.Get(m.order.dispute))
		if err != nil {
			return list, fmt.Errorf("%s: %w", m.order.dispute, err)
		}
		if !slices.ContainsFunc(list, func(p disputedPayment) bool { return p.capture == capture }) {
			list = append(list, disputedPayment{capture, order, share(t)})
		}
	}
	if list == nil {
		return nil, errors.New("missing")
	}
	return list, nil
}

// share is what the payment was in all; no currency where that is not told.
func share(t parse.Value) models.Money {
	m, err := money(t.Get("gross_amount"))
	if err != nil {
		return models.Money{}
	}
	return m
}

// shares parts a dispute among its payments, so that the order of each is moved. The first keeps the dispute's own id. Each takes as
// much as it was in all, until the disputed sum is used up, and the first what is left; a share may so be nothing. Where that is a
// guess the words say so, and the statement's row will have the sum.
func shares(ev models.Event, about []disputedPayment) []models.Event {
	if len(about) > 1 && !addUp(ev.Money, about) {
		ev.Detail = clip(fmt.Sprintf("about %d payments, their shares are not told; %s", len(about), ev.Detail))
	}
	rest := ev.Money.Minor
	events := make([]models.Event, len(about))
	for i, a := range about {
		one := ev
		if i > 0 {
			one.TransactionID = ev.TransactionID + ":" + a.capture
		}
		one.Aliases, one.FoundBy = []string{one.TransactionID}, []string{a.capture}
		one.ParentID, one.OrderID = a.capture, a.order
		one.Money.Minor = min(a.money.Minor, rest)
		rest -= one.Money.Minor
		events[i] = one
	}
	events[0].Money.Minor += rest
	return events
}

func addUp(whole models.Money, about []disputedPayment) bool {
	for _, a := range about {
		if a.money.Currency == "" {
			return false
		}
		whole.Minor -= a.money.Minor
	}
	return whole.Minor == 0
}
