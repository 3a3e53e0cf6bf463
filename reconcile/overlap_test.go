package reconcile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// ofOrder is a payment's row that names another order, or none.
func ofOrder(e models.Entry, order string) models.Entry {
	e.OrderID = order
	return e
}

// TestReportsThatOverlap: two reports of a day that both list everything tell each movement once, also where one of them lacks the order; one
// report that tells it twice repeats itself, and two that disagree are a conflict.
func TestReportsThatOverlap(t *testing.T) {
	good, bare := entry("p1", "20.00", models.StatusSucceeded), ofOrder(entry("p1", "20.00", models.StatusSucceeded), "")
	unknown := entry("p9", "20.00", models.StatusSucceeded)
	titled := func(title string, entries ...models.Entry) script {
		return script{models.Statement{Compared: true, Title: title}, entries}
	}
	for name, c := range map[string]struct {
		first, second script
		counts, total string
		want          []string
	}{
		"the same rows":                {titled("balance", good), titled("payout", good), "1 1", "1 20.00", nil},
		"the second lacks the order":   {titled("balance", good), titled("payout", bare), "1 1", "1 20.00", nil},
		"the first lacks the order":    {titled("balance", bare), titled("payout", good), "1 1", "1 20.00", nil},
		"bills of one kind and of all": {stated("", good), stated(models.Payment, good), "1 1", "1 20.00", nil},
		"unknown to the book": {titled("balance", unknown), titled("payout", ofOrder(unknown, "")), "1 0", "1 20.00",
			[]string{"missing_provider payment p1", "missing_local payment p9"}},
		"one report given twice":           {titled("balance", good), titled("balance", bare), "1 1", "2 40.00", []string{"duplicate_entry payment p1"}},
		"twice in one file":                {titled("balance", good, bare), titled("payout"), "1 1", "2 40.00", []string{"duplicate_entry payment p1"}},
		"twice in the second":              {titled("balance", good), titled("payout", good, good), "1 1", "2 40.00", []string{"duplicate_entry payment p1"}},
		"another amount":                   {titled("balance", good), titled("payout", entry("p1", "21.00", models.StatusSucceeded)), "2 0", "2 41.00", []string{"conflict payment p1"}},
		"another order":                    {titled("balance", good), titled("payout", ofOrder(good, "O-p2")), "2 0", "2 40.00", []string{"conflict payment p1"}},
		"another order, and one without":   {titled("balance", bare, good), titled("payout", ofOrder(good, "O-p2")), "3 0", "3 60.00", []string{"conflict payment p1"}},
		"another status, and it is unpaid": {titled("balance", good), titled("payout", entry("p1", "20.00", models.StatusFailed)), "2 0", "1 20.00", []string{"conflict payment p1"}},
	} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
				paid(t, b, "p1 2026-11-28 10:00:00")
				a := reconcile.Account{Name: "shop", Provider: scripts{"a.csv": c.first, "b.csv": c.second}}
				r := run(t, b, a, "2026-11-28", scripted(t, "a.csv", "b.csv")...)
				wantRun(t, r, c.counts, c.want...)
				if total := r.Statement.Totals[0]; strings.Join([]string{string(rune('0' + total.Count)), total.Amount}, " ") != c.total {
					t.Errorf("total %d of %s, want %s", total.Count, total.Amount, c.total)
				}
				if again := run(t, b, a, "2026-11-28", scripted(t, "a.csv", "b.csv")...); neutral(t, again) != neutral(t, r) {
					t.Errorf("again it is\n%s", neutral(t, again))
				}
			})
		})
	}
}

// TestStripeReportsTogether: the balance report beside the payout reconciliation of the same movements, with and without the column that
// names the order.
func TestStripeReportsTogether(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(testdata, "stripe", "statements", "balance_change_from_activity_itemized_2026-11-27.csv"))
	if err != nil {
		t.Fatal(err)
	}
	column := "payment_metadata[order_id]"
	without := strings.Replace(string(raw), column, "payment_metadata[colour]", 1)
	if without == string(raw) {
		t.Fatalf("the kit's report has no column %s", column)
	}
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		p := openKit(t, "stripe")
		playKit(t, b, p, "stripe")
		a := reconcile.Account{Name: "stripe", Provider: p}
		balance := file(t, "balance_change_from_activity_itemized_2026-11-27.csv", raw)
		for _, second := range []string{without, string(raw) + "\n"} {
			r := run(t, b, a, "2026-11-27", balance, file(t, "payout_reconciliation_itemized_2026-11-27.csv", []byte(second)))
			checkKit(t, r, "stripe")
			if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "the reports overlap") {
				t.Errorf("notes %q", notes)
			}
		}
	})
}
