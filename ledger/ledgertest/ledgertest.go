package ledgertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Each runs f on an empty book on SQLite, and on one on PostgreSQL (SQLITE_ONLY=1 leaves that out), as subtests.
func Each(t *testing.T, f func(t *testing.T, book *ledger.Ledger), options ...ledger.Options) {
	t.Helper()
	EachDSN(t, func(t *testing.T, dsn string) { f(t, Open(t, dsn, options...)) })
}

// EachDSN is Each for tests that open the database themselves.
func EachDSN(t *testing.T, f func(t *testing.T, dsn string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db")) })
	t.Run("postgres", func(t *testing.T) { f(t, Postgres(t, migrate)) })
}

// migrate fills the template database that every further one is copied from.
func migrate(dsn string) error {
	book, err := ledger.Open(context.Background(), dsn, ledger.Options{})
	if err != nil {
		return err
	}
	return book.Close()
}

// Open opens a book and closes it at the end of the test.
func Open(t testing.TB, dsn string, options ...ledger.Options) *ledger.Ledger {
	t.Helper()
	var o ledger.Options
	if len(options) > 0 {
		o = options[0]
	}
	if o.Patience == 0 {
		o.Patience = 40 * time.Second // a slow machine is no failure
	}
	book, err := ledger.Open(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
	return book
}

// Order creates an unpaid order of a sum in major units.
func Order(t testing.TB, book *ledger.Ledger, id, amount, currency string) {
	t.Helper()
	m, err := models.ParseMajor(amount, currency)
	if err != nil {
		t.Fatal(err)
	}
	Orders(t, book, models.Order{OrderID: id, AmountMinor: m.Minor, Currency: m.Currency})
}

// Orders creates orders.
func Orders(t testing.TB, book *ledger.Ledger, orders ...models.Order) {
	t.Helper()
	_, err := book.ImportOrders(t.Context(), func(yield func(models.Order, error) bool) {
		for _, o := range orders {
			if !yield(o, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Env is the value of an environment variable, or a default: for sizes of long runs.
func Env(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}
