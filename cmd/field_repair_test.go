package cmd

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

// F60, with every provider's own names: the books are the same whether the callbacks came before the repair or after it.
func TestFieldRepairBeforeOrAfterTheCallbacks(t *testing.T) {
	for _, provider := range kitProviders {
		if !exists(kit + provider + "/expected_reconciliation.json") {
			continue
		}
		t.Run(provider, func(t *testing.T) {
			var want struct{ Date string }
			raw, err := os.ReadFile(kit + provider + "/expected_reconciliation.json")
			if err != nil {
				t.Fatal(err)
			}
			decode(t, string(raw), &want)
			day := []string{"reconcile", "--format", "json", "--date", want.Date, "--account", provider, "--repair=apply", "--as", "alice"}
			before, after := newShell(t), newShell(t)
			for _, s := range []*shell{before, after} {
				s.shop(provider)
			}
			before.ok("replay", kit+provider+"/callbacks")
			skip := before.unequal(day)
			before.run(day...)
			after.run(day...)
			after.run("replay", kit+provider+"/callbacks") // many are duplicates now, which is not what the recordings expect
			if b, a := before.allOrders(skip), after.allOrders(skip); !slices.Equal(a, b) {
				t.Errorf("repaired first:\n%s\ncallbacks first:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
		})
	}
}

// unequal are the orders of which statement and callbacks tell different sums: whoever comes first is booked.
func (s *shell) unequal(day []string) map[string]bool {
	s.t.Helper()
	_, out, _ := s.run(append(slices.Clone(day), "--dry-run")...)
	var reports []struct {
		Gaps []struct {
			Kind    string
			OrderID string `json:"order_id"`
		}
	}
	decode(s.t, out, &reports)
	skip := map[string]bool{}
	for _, g := range reports[0].Gaps {
		if g.Kind == "amount_mismatch" {
			skip[g.OrderID] = true
		}
	}
	return skip
}

// allOrders are all orders with their rows, by kind, sum and state.
func (s *shell) allOrders(skip map[string]bool) (lines []string) {
	s.t.Helper()
	book := ledgertest.Open(s.t, s.global[3])
	list, _, err := book.ListOrders(s.t.Context(), ledger.OrderFilter{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, o := range list {
		if skip[o.OrderID] {
			continue
		}
		h, err := book.OrderHistory(s.t.Context(), o.OrderID)
		if err != nil {
			s.t.Fatal(err)
		}
		var rows []string
		for _, t := range h.Transactions {
			rows = append(rows, fmt.Sprint(t.Kind, " ", t.AmountMinor, " ", t.Status, " ", t.Outcome))
		}
		slices.Sort(rows)
		lines = append(lines, fmt.Sprint(o.OrderID, " ", o.Status, " ", o.RefundedMinor, " ", rows))
	}
	slices.Sort(lines)
	return lines
}
