package paypal

import (
	"reflect"
	"strings"
	"testing"

	"paybook/models"
)

const dispute = `{"dispute_id":"PP-D-1","create_time":"2026-11-27T21:00:00Z","update_time":"2026-11-28T03:00:00Z","reason":"UNAUTHORISED","status":"RESOLVED",
	"disputed_transactions":[{"seller_transaction_id":"CAP1","invoice_number":"ORD-1","custom":"cart 1","gross_amount":{"currency_code":"USD","value":"75.00"}}],
	"dispute_amount":{"currency_code":"USD","value":"75.00"},"dispute_life_cycle_stage":"CHARGEBACK","dispute_outcome":{"outcome_code":"RESOLVED_BUYER_FAVOUR"}}`

func TestDisputes(t *testing.T) {
	const created, updated, resolved = "CUSTOMER.DISPUTE.CREATED", "CUSTOMER.DISPUTE.UPDATED", "CUSTOMER.DISPUTE.RESOLVED"
	for _, c := range []struct {
		kind, stage, outcome string
		want                 models.EventKind
	}{
		{created, "CHARGEBACK", "", models.DisputeOpened}, {created, "PRE_ARBITRATION", "", models.DisputeOpened}, {created, "ARBITRATION", "", models.DisputeOpened},
		{created, "INQUIRY", "", models.DisputeInquiry}, {updated, "INQUIRY", "", models.DisputeInquiry}, {updated, "CHARGEBACK", "", models.DisputeOpened},
		{updated, "PRE_ARBITRATION", "", models.DisputeOpened}, {updated, "ARBITRATION", "", models.DisputeOpened}, {updated, "", "", models.DisputeUpdated},
		{updated, "SOMETHING", "", models.DisputeUpdated},
		{resolved, "CHARGEBACK", "RESOLVED_BUYER_FAVOUR", models.DisputeLost}, {resolved, "CHARGEBACK", "ACCEPTED", models.DisputeLost},
		{resolved, "CHARGEBACK", "RESOLVED_SELLER_FAVOUR", models.DisputeWon}, {resolved, "ARBITRATION", "DENIED", models.DisputeWon},
		{resolved, "CHARGEBACK", "CANCELED_BY_BUYER", models.DisputeWon}, {resolved, "CHARGEBACK", "RESOLVED_WITH_PAYOUT", models.DisputeWon},
		{resolved, "CHARGEBACK", "NONE", models.DisputeUpdated}, {resolved, "INQUIRY", "RESOLVED_BUYER_FAVOUR", models.DisputeLost},
		{resolved, "INQUIRY", "CANCELED_BY_BUYER", models.DisputeInquiry}, // no money was taken, so none comes back
	} {
		body := edit(t, dispute, "dispute_life_cycle_stage", c.stage, "dispute_outcome.outcome_code", c.outcome)
		got := one(t, c.kind, "dispute", body)
		if got.Kind != c.want || got.TransactionID != "PP-D-1" || got.ParentID != "CAP1" || got.OrderID != "ORD-1" || got.Money.Text() != "75.00" {
			t.Errorf("%s %s %s: %+v, want %s", c.kind, c.stage, c.outcome, got, c.want)
		}
		moves := c.want == models.DisputeOpened || c.want == models.DisputeLost || c.want == models.DisputeWon
		if want := []string{"CAP1"}; moves && !reflect.DeepEqual(got.FoundBy, want) {
			t.Errorf("%s %s: found by %q, want %q", c.kind, c.stage, got.FoundBy, want)
		}
	}
	if got := say(t, "custom_id", created, "dispute", dispute)[0]; got.OrderID != "cart 1" {
		t.Errorf("by custom_id: order %q, want cart 1", got.OrderID)
	}
}

func TestDisputeThatCannotBeRead(t *testing.T) {
	const created, resolved = "CUSTOMER.DISPUTE.CREATED", "CUSTOMER.DISPUTE.RESOLVED"
	for _, c := range []struct{ kind, body, want string }{
		{created, edit(t, dispute, "dispute_id", nil), "dispute_id"},
		{created, edit(t, dispute, "dispute_amount", nil), "dispute_amount"},
		{created, edit(t, dispute, "dispute_amount.value", "-1.00"), "dispute_amount: negative"},
		{created, edit(t, dispute, "disputed_transactions", nil), "disputed_transactions: missing"},
		{created, edit(t, dispute, "disputed_transactions", []any{}), "disputed_transactions: missing"},
		{created, edit(t, dispute, "disputed_transactions", []any{map[string]string{"invoice_number": "O"}}), "seller_transaction_id"},
		{created, edit(t, dispute, "dispute_amount.currency_code", "EUR"), "dispute_amount: 75.00 EUR, and the disputed payment CAP1 is of 75.00 USD"},
		{resolved, edit(t, dispute, "dispute_amount.currency_code", "EUR"), "dispute_amount: 75.00 EUR"},
		{"CUSTOMER.DISPUTE.UPDATED", edit(t, dispute, "dispute_amount", nil), "dispute_amount"},
		{resolved, edit(t, dispute, "dispute_outcome", nil), "outcome_code: missing"},
		{resolved, edit(t, dispute, "dispute_outcome.outcome_code", "SOMETHING"), `"SOMETHING" is a word`},
	} {
		if got := one(t, c.kind, "dispute", c.body); got.Kind != models.EventUnparsable || !strings.Contains(got.Detail, c.want) {
			t.Errorf("%s: %+v, want unparsable for %q", c.body, got, c.want)
		}
	}
	bare := `{"dispute_id":"PP-D-1","dispute_life_cycle_stage":"INQUIRY"}`
	if got := one(t, created, "dispute", bare); got.Kind != models.DisputeInquiry || got.TransactionID != "PP-D-1" {
		t.Errorf("an inquiry moves no money and needs no more than its id: %+v", got)
	}
}

// aboutShares is a dispute of 75.00 USD about payments of these sums.
func aboutShares(t *testing.T, shares ...string) string {
	t.Helper()
	var list []any
	for i, share := range shares {
		n := string(rune('1' + i))
		list = append(list, map[string]any{"seller_transaction_id": "CAP" + n, "invoice_number": "ORD-" + n,
			"gross_amount": map[string]string{"currency_code": "USD", "value": share}})
	}
	return edit(t, dispute, "disputed_transactions", list)
}

// A dispute about several payments is parted among them, by their sums when they add up to the disputed one.
func TestDisputeOfSeveralPayments(t *testing.T) {
	about := func(shares ...string) string { return aboutShares(t, shares...) }
	events := say(t, "invoice_id", "CUSTOMER.DISPUTE.CREATED", "dispute", about("50.00", "25.00"))
	if len(events) != 2 {
		t.Fatalf("%+v, want two events", events)
	}
	for i, want := range []struct{ id, capture, order, amount string }{{"PP-D-1", "CAP1", "ORD-1", "50.00"}, {"PP-D-1:CAP2", "CAP2", "ORD-2", "25.00"}} {
		got := events[i]
		if got.TransactionID != want.id || got.ParentID != want.capture || got.OrderID != want.order || got.Money.Text() != want.amount || got.ID != "WH-1" ||
			!reflect.DeepEqual(got.FoundBy, []string{want.capture}) || !reflect.DeepEqual(got.Aliases, []string{want.id}) {
			t.Errorf("event %d is %+v, want %+v", i, got, want)
		}
	}
}

// Where the shares are not told the order of each payment is moved all the same, nothing is taken twice, and the words say so.
func TestSharesThatAreNotTold(t *testing.T) {
	for _, c := range []struct{ sums, want []string }{
		{[]string{"50.00", "50.00"}, []string{"50.00", "25.00"}}, {[]string{"75.00", ""}, []string{"75.00", "0.00"}}, {[]string{"", ""}, []string{"75.00", "0.00"}},
		{[]string{"20.00", "20.00"}, []string{"55.00", "20.00"}}, {[]string{"100.00", "1.00"}, []string{"75.00", "0.00"}}, {[]string{"", "50.00", ""}, []string{"25.00", "50.00", "0.00"}},
	} {
		events := say(t, "invoice_id", "CUSTOMER.DISPUTE.CREATED", "dispute", aboutShares(t, c.sums...))
		if len(events) != len(c.want) {
			t.Errorf("%q: %d events, want one for each payment", c.sums, len(events))
			continue
		}
		for i, ev := range events {
			n := string(rune('1' + i))
			if ev.Kind != models.DisputeOpened || ev.Money.Text() != c.want[i] || ev.Money.Currency != "USD" || ev.ParentID != "CAP"+n || ev.OrderID != "ORD-"+n ||
				!strings.Contains(ev.Detail, "payments, their shares are not told") {
				t.Errorf("%q, payment %s: %+v, want %s of it, and told", c.sums, n, ev, c.want[i])
			}
		}
	}
	twice := strings.Replace(aboutShares(t, "75.00", "75.00"), `"CAP2"`, `"CAP1"`, 1)
	if events := say(t, "invoice_id", "CUSTOMER.DISPUTE.CREATED", "dispute", twice); len(events) != 1 || events[0].Money.Text() != "75.00" {
		t.Errorf("a payment named twice: %+v, want it once", events)
	}
}
