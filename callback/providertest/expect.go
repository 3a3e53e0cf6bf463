package providertest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"paybook/callback"
	"paybook/models"
)

func (s *suite) testRecordings(t *testing.T) {
	for _, rec := range s.recordings {
		t.Run(rec.Name, func(t *testing.T) {
			cb := rec.Callback(rec.Provider)
			body := slices.Clone(cb.Body)
			events, err := s.verify(cb)
			if !slices.Equal(body, cb.Body) {
				t.Error("Verify changed the body it was given")
			}
			checkVerdict(t, rec.Expect, events, err)
		})
	}
}

func checkVerdict(t *testing.T, want callback.Expect, events []models.Event, err error) {
	t.Helper()
	if !want.Verified {
		var rejection *models.Rejection
		if !errors.As(err, &rejection) {
			t.Fatalf("Verify = %d events, %v; want a rejection for %s", len(events), err, want.Reason)
		}
		if want.Reason != "" && string(rejection.Reason) != want.Reason {
			t.Errorf("refused for %q (%s), want %q", rejection.Reason, rejection.Detail, want.Reason)
		}
		return
	}
	if err != nil || len(events) == 0 {
		t.Fatalf("Verify = %d events, %v; want it verified", len(events), err)
	}
	checkEvent(t, want, events[0])
	if want.Items != nil && len(want.Items) != len(events) {
		t.Fatalf("%d events, want %d", len(events), len(want.Items))
	}
	for i, item := range want.Items {
		checkEvent(t, item, events[i])
	}
}

// checkEvent compares only what the recording states. A name of the movement may stand in the id or among its aliases, since
// which of a provider's names we keep as the key is ours to choose.
func checkEvent(t *testing.T, want callback.Expect, got models.Event) {
	t.Helper()
	cumulative := want.AmountMeaning == "cumulative_refund"
	if kinds := kindsFor(want); !slices.Contains(kinds, got.Kind) && !slices.Contains(kinds, got.Told) {
		t.Errorf("event = %s (%s), want %s", got.Kind, got.Detail, want.Event)
	}
	text := func(field, want, got string, also ...string) {
		t.Helper()
		if want != "" && got != want && !slices.Contains(also, want) {
			t.Errorf("%s = %q, want %q", field, got, want)
		}
	}
	names := got.Aliases
	if cumulative { // a running total belongs to the payment
		names = append(slices.Clone(names), got.ParentID)
	}
	text("event_id", want.EventID, got.ID)
	text("transaction_id", want.TransactionID, got.TransactionID, names...)
	text("parent_id", want.ParentID, got.ParentID, append(slices.Clone(got.Aliases), got.TransactionID)...)
	text("order_id", want.OrderID, got.OrderID)
	text("refund_order_id", want.RefundOrderID, got.RefundOrderID)
	checkMoney(t, want, got)
	if want.OccurredAt != "" {
		at, err := time.Parse(time.RFC3339, want.OccurredAt)
		if err != nil {
			t.Fatalf("the recording's occurred_at: %v", err)
		}
		if !got.OccurredAt.Equal(at) {
			t.Errorf("occurred_at = %s, want %s", got.OccurredAt, at.UTC())
		}
	}
	if got.OccurredAt.Location() != time.UTC && !got.OccurredAt.IsZero() {
		t.Errorf("occurred_at is in zone %s, inside it must be UTC", got.OccurredAt.Location())
	}
}

func checkMoney(t *testing.T, want callback.Expect, got models.Event) {
	t.Helper()
	if want.Amount == "" || got.Kind == models.EventUnknown {
		return // an event we do not use need not be read
	}
	if want.Currency != "" && !strings.EqualFold(want.Currency, got.Money.Currency) {
		t.Errorf("currency = %q, want %q", got.Money.Currency, want.Currency)
	}
	if !number(t, want.Amount).Equal(got.Money.Decimal()) {
		t.Errorf("amount = %s, want %s", got.Money, want.Amount)
	}
	if want.PayerAmount == "" || got.PayerMinor == 0 { // 0: this kind of message does not tell it
		return
	}
	if payer := (models.Money{Minor: got.PayerMinor, Currency: got.Money.Currency}); !number(t, want.PayerAmount).Equal(payer.Decimal()) {
		t.Errorf("payer amount = %s, want %s", payer, want.PayerAmount)
	}
}

// kindsFor lists the kinds that say what the recording says: a running total may be told as the refund it stands for, and
// "finished" is a success told again.
func kindsFor(want callback.Expect) []models.EventKind {
	switch {
	case want.Event == "payment.finished":
		return []models.EventKind{"payment.finished", models.PaymentSucceeded}
	case want.AmountMeaning == "cumulative_refund":
		return []models.EventKind{models.EventKind(want.Event), models.RefundTotal}
	}
	return []models.EventKind{models.EventKind(want.Event)}
}

func number(t *testing.T, text string) decimal.Decimal {
	t.Helper()
	d, err := decimal.NewFromString(text)
	if err != nil {
		t.Fatalf("the recording's amount: %v", err)
	}
	return d
}

func (s *suite) testReplies(t *testing.T) {
	for _, rec := range s.recordings {
		status, contentType, body := s.p.Reply(answerFor(rec.Expect))
		if status != rec.Expect.ReplyStatus {
			t.Errorf("%s: status %d, want %d", rec.Name, status, rec.Expect.ReplyStatus)
		}
		if rec.Expect.ReplyBody != "" && body != rec.Expect.ReplyBody {
			t.Errorf("%s: body %q, want %q", rec.Name, body, rec.Expect.ReplyBody)
		}
		if body != "" && contentType == "" {
			t.Errorf("%s: a body without a content type", rec.Name)
		}
	}
	for _, o := range effects {
		if status, _, _ := s.p.Reply(models.Answer{Outcome: o}); o != models.OutcomeUnreadable && status/100 != 2 {
			t.Errorf("outcome %s is answered %d: the provider would send for ever what is stored for good", o, status)
		}
	}
	if status, _, _ := s.p.Reply(models.Answer{}); status < 500 {
		t.Errorf("a failure of ours is answered %d: the provider would not send again", status)
	}
	for _, r := range []models.Reason{models.ReasonSignature, models.ReasonMerchant, models.ReasonMalformed, models.ReasonTooLarge, "new"} {
		if status, _, _ := s.p.Reply(models.Answer{Reason: r}); status < 400 {
			t.Errorf("a refusal for %s is answered %d", r, status)
		}
	}
}

var effects = map[string]models.Outcome{
	"apply": models.OutcomeApplied, "duplicate": models.OutcomeDuplicate, "record_only": models.OutcomeAmountMismatch,
	"note_only": models.OutcomeNoted, "check_only": models.OutcomeNoted, "ignore": models.OutcomeIgnored,
	"fetch": models.OutcomeNeedsFetch, "quarantine": models.OutcomeUnreadable, "parked": models.OutcomeNoOrder,
}

func answerFor(want callback.Expect) models.Answer {
	if !want.Verified {
		return models.Answer{Reason: models.Reason(want.Reason)}
	}
	return models.Answer{Outcome: effects[want.Effect]}
}

func sameEvents(want, got []models.Event) bool { return reflect.DeepEqual(want, got) }

// sameFacts leaves out the line for people: it may repeat a text that nothing is decided by.
func sameFacts(want, got []models.Event) bool {
	bare := func(events []models.Event) []models.Event {
		events = slices.Clone(events)
		for i := range events {
			events[i].Detail = ""
		}
		return events
	}
	return sameEvents(bare(want), bare(got))
}

func sameMoney(want, got []models.Event) bool {
	return slices.EqualFunc(want, got, func(a, b models.Event) bool {
		return a.Kind == b.Kind && a.TransactionID == b.TransactionID && a.ParentID == b.ParentID && a.OrderID == b.OrderID && a.Money == b.Money
	})
}
