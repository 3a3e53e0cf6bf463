package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// A message that counts only where its dispute is booked returns the money of one that took some, and makes no rows for one that never
// did: a statement would never have them.
func TestOnlyKnownDisputesAreWon(t *testing.T) {
	for opened, want := range map[string]string{
		"":                                      "noted paid payment p1",
		"dispute.created d1 0 USD parent=p1":    "noted paid payment p1",
		"dispute.opened d1 19.99 USD parent=p1": "applied paid chargeback d1, chargeback_reversal d1, payment p1",
		"dispute.opened d2 19.99 USD parent=p1": "noted disputed chargeback d2, payment p1",
		"dispute.lost d1 19.99 USD parent=p1":   "applied paid chargeback d1, chargeback_reversal d1, payment p1",
	} {
		ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
			ledgertest.Order(t, book, "O1", "19.99", "USD")
			lines := []string{"payment.succeeded p1 19.99 USD order=O1", opened, "dispute.won d1 19.99 USD parent=p1 at=15:00"}
			var last models.Outcome
			for _, line := range lines {
				if line == "" {
					continue
				}
				account, ev := event(strings.Fields(line))
				ev.OnlyKnown = ev.Kind == models.DisputeWon
				outcomes, err := record(t.Context(), book, account, ev)
				if err != nil {
					t.Fatal(line, err)
				}
				last = outcomes[0]
			}
			h, err := book.OrderHistory(t.Context(), "O1")
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			err = book.Transactions(t.Context(), "a", day.AddDate(-1, 0, 0), day.AddDate(1, 0, 0), func(tx models.Transaction) error {
				rows = append(rows, fmt.Sprint(tx.Kind, " ", tx.TransactionID))
				return nil
			})
			if got := fmt.Sprint(last, " ", h.Order.Status, " ", sorted(rows)); err != nil || got != want {
				t.Errorf("after %q: %s, %v; want %s", opened, got, err, want)
			}
		})
	}
}

func sorted(texts []string) string {
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
