package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
	"paybook/models"
)

// An order that is accepted and not yet written is shown as the shop's route shows it; the list, which has none of them, says how many.
func TestOrdersThatAreQueued(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		book := ledgertest.Open(t, dsn)
		env := map[string]string{"APP_CONFIG": kitConfig, "DATABASE_URL": dsn}
		run := func(want int, args ...string) result {
			t.Helper()
			got := runApp(t, env, args...)
			if got.code != want {
				t.Fatalf("%v: exit %d\n%s%s", args, got.code, got.out, got.err)
			}
			return got
		}
		if got := run(exitDone, "orders", "list"); got.err != "" {
			t.Error(got.err)
		}
		run(exitFailed, "orders", "show", "F1")
		ledgertest.Order(t, book, "W1", "5.00", "USD")
		if _, err := book.ImportStock(t.Context(), func(yield func(models.Stock, error) bool) { yield(models.Stock{SKU: "HOT", Quantity: 9}, nil) }); err != nil {
			t.Fatal(err)
		}
		accept := func(id string) {
			o := ledger.NewOrder{Order: models.Order{OrderID: id, AmountMinor: 999, Currency: "USD"},
				Items: []models.Item{{SKU: "HOT", Quantity: 2}}}
			if _, err := book.AcceptOrder(t.Context(), ledger.Key{}, o, func(models.Order, error) (int, []byte) { return 201, nil }); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{"1 more order is accepted and not yet written", "2 more orders are accepted and not yet written"} {
			accept(fmt.Sprintf("F%d", i+1))
			got := run(exitDone, "orders", "list", "--date", time.Now().UTC().Format(time.DateOnly))
			if strings.Count(got.err, "\n") != 1 || !strings.HasPrefix(got.err, want) || !strings.Contains(got.out, "W1") || strings.Contains(got.out, "F1") {
				t.Errorf("%+v", got)
			}
		}
		for _, filter := range [][]string{{"--status", "paid"}, {"--date", "2020-01-01"}} {
			if got := run(exitDone, append([]string{"orders", "list"}, filter...)...); got.err != "" {
				t.Error(filter, got.err)
			}
		}
		var shown shop.HistoryJSON
		text := run(exitDone, "orders", "show", "F1", "--format", "json").out
		if err := json.Unmarshal([]byte(text), &shown); err != nil || shown.OrderID != "F1" || shown.Amount != "9.99" || shown.Status != models.Unpaid ||
			shown.Version != 1 || shown.Stock != models.StockReserved || fmt.Sprint(shown.Items) != "[{HOT 2}]" || shown.Transactions == nil || shown.Transitions == nil {
			t.Error(text, err)
		}
		if table := run(exitDone, "orders", "show", "F1").out; !strings.Contains(table, "F1  9.99 USD  unpaid") {
			t.Error(table)
		}
	})
}
