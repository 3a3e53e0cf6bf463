package ledger_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/models"
)

// newOrder is an order of 19.99 USD for so many units of each SKU.
func newOrder(id string, items ...models.Item) ledger.NewOrder {
	return ledger.NewOrder{Order: models.Order{OrderID: id, AmountMinor: 1999, Currency: "USD"}, Items: items}
}

func units(sku string, n int64) models.Item { return models.Item{SKU: sku, Quantity: n} }

// own sets what the shop owns: SKU, quantity, …
func own(t *testing.T, book *ledger.Ledger, rows ...models.Item) {
	t.Helper()
	if err := importStock(t.Context(), book, rows...); err != nil {
		t.Fatal(err)
	}
}

func importStock(ctx context.Context, book *ledger.Ledger, rows ...models.Item) error {
	_, err := book.ImportStock(ctx, func(yield func(models.Stock, error) bool) {
		for _, r := range rows {
			if !yield(models.Stock{SKU: r.SKU, Quantity: r.Quantity}, nil) {
				return
			}
		}
	})
	return err
}

// wantStock compares "available reserved sold".
func wantStock(t *testing.T, book *ledger.Ledger, sku, want string) {
	t.Helper()
	s, err := book.Stock(t.Context(), sku)
	if got := fmt.Sprint(s.Available(), s.Reserved, s.Sold); err != nil || got != want {
		t.Errorf("stock of %s: available, reserved, sold = %s, want %s (%v)", sku, got, want, err)
	}
}

// shopStep is a line of a story about what the shop does.
func shopStep(ctx context.Context, book *ledger.Ledger, w []string) error {
	want := ""
	if n := len(w); n > 2 && w[n-2] == "=>" {
		w, want = w[:n-2], strings.ReplaceAll(w[n-1], "_", " ")
	}
	err := shopAct(ctx, book, w)
	switch {
	case want == "":
		return err
	case err == nil || !strings.Contains(err.Error(), want):
		return fmt.Errorf("error %v, want %q", err, want)
	}
	return nil
}

func shopAct(ctx context.Context, book *ledger.Ledger, w []string) error {
	switch w[0] {
	case "own":
		return importStock(ctx, book, units(w[1], number(w[2])))
	case "create":
		m := sum(w[2], w[3])
		o := ledger.NewOrder{Order: models.Order{OrderID: w[1], AmountMinor: m.Minor, Currency: m.Currency}}
		for sku, n := range pairs(w[4:]) {
			o.Items = append(o.Items, units(sku, number(n)))
		}
		_, err := book.CreateOrder(ctx, o)
		return err
	case "stock?":
		s, err := book.Stock(ctx, w[1])
		if got, want := fmt.Sprint(s.Available(), s.Reserved, s.Sold), strings.Join(w[2:], " "); err == nil && got != want {
			err = fmt.Errorf("available, reserved, sold: %s", got)
		}
		return err
	}
	a := ledger.Act{OrderID: w[1], On: models.EventKind("order." + w[0])}
	if len(w) > 2 {
		a.Version = number(w[2])
	}
	_, err := book.Act(ctx, a)
	return err
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
