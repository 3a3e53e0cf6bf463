package cmd

import (
	"database/sql"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// spoiledShop is a book on which HOT, of a flash sale, COLD and ZERO have 20, 7 and 9 units and one order each for 4 of them, and the hand
// that spoils it.
func spoiledShop(t *testing.T, dsn, redis string) (env map[string]string, byHand func(string)) {
	t.Helper()
	book := ledgertest.Open(t, dsn)
	stock := []models.Stock{{SKU: "HOT", Quantity: 20}, {SKU: "COLD", Quantity: 7}, {SKU: "ZERO", Quantity: 9}}
	_, err := book.ImportStock(t.Context(), func(yield func(models.Stock, error) bool) {
		for _, s := range stock {
			if !yield(s, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stock {
		o := ledger.NewOrder{Order: models.Order{OrderID: "of " + s.SKU, AmountMinor: 999, Currency: "USD"}, Items: []models.Item{{SKU: s.SKU, Quantity: 4}}}
		if _, err := book.CreateOrder(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	driver, source := "pgx", dsn
	if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		driver, source = "sqlite", file
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return map[string]string{"APP_CONFIG": flashConfig(t), "DATABASE_URL": dsn, "APP_REDIS_URL": redis}, func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
}

// What the plan says is what apply writes: Redis's figure too is that of the repaired row, wherever it stood before.
func TestStockPlanIsWhatIsApplied(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		t.Parallel() // most of it is waiting for figures to settle
		redis := ledgertest.Redis(t)
		env, byHand := spoiledShop(t, dsn, redis.URL)
		for left, want := range map[string]string{
			"16": "stock: reserved 10 → 4, sold 0 → 0",                 // right, and the row is not
			"10": "stock: reserved 10 → 4, sold 0 → 0; redis: 10 → 16", // as wrong as the row
			"99": "stock: reserved 10 → 4, sold 0 → 0; redis: 99 → 16", // neither
			"":   "stock: reserved 10 → 4, sold 0 → 0; redis: nothing → 16",
		} {
			byHand("UPDATE stock SET reserved = 10 WHERE sku = 'HOT'")
			redis.Flush(t)
			if left != "" {
				redis.Do(t, "HSET", "paybook:stock:HOT", "left", left)
			}
			if l := stockLines(t, env, exitLook, "--repair")["HOT"]; l.Repair != want || l.Repaired {
				t.Errorf("left %q: the plan is %q", left, l.Repair)
			}
			if l := stockLines(t, env, exitDone, "--repair=apply")["HOT"]; l.Repair != want || !l.Repaired {
				t.Errorf("left %q: applied is %q", left, l.Repair)
			}
			if l := stockLines(t, env, exitDone)["HOT"]; l.Result != "equal" || l.Available != 16 || l.Redis == nil || *l.Redis != 16 {
				t.Errorf("left %q: after it %+v", left, l)
			}
		}
	})
}

// An article that cannot be repaired keeps the others from it, in Redis too; it is named with what to do, and once that is done all are.
func TestStockRepairIsAllOrNothing(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		t.Parallel()
		redis := ledgertest.Redis(t)
		env, byHand := spoiledShop(t, dsn, redis.URL)
		byHand("UPDATE stock SET reserved = 1")
		byHand("UPDATE stock SET quantity = 3 WHERE sku = 'HOT'")
		redis.Do(t, "HSET", "paybook:stock:HOT", "left", "99")
		const why = "SKU HOT has 3 units, and its orders hold 4 and have bought 0: import at least 4 with app import stock"
		plan := stockLines(t, env, exitLook, "--repair")
		for sku, l := range plan {
			if l.Repair != "" || sku == "HOT" && !strings.Contains(l.Reason, "nothing can be repaired before: "+why) {
				t.Errorf("%+v", l)
			}
		}
		got := runApp(t, env, "reconcile", "stock", "--repair=apply")
		if got.code != exitFailed || !strings.Contains(got.err, "nothing was repaired: "+why) || strings.Contains(got.out, "(repaired") {
			t.Errorf("%+v", got)
		}
		for sku, l := range stockLines(t, env, exitLook) {
			if l.Reserved != 1 || l.Result != "differs" || sku == "HOT" && *l.Redis != 99 {
				t.Errorf("half a repair: %+v", l)
			}
		}
		byHand("UPDATE stock SET quantity = 5 WHERE sku = 'HOT'")
		for _, l := range stockLines(t, env, exitDone, "--repair=apply") {
			if !l.Repaired {
				t.Errorf("%+v", l)
			}
		}
		for _, l := range stockLines(t, env, exitDone) {
			if l.Reserved != 4 || l.Result != "equal" {
				t.Errorf("%+v", l)
			}
		}
	})
}
