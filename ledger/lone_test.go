package ledger_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"paybook/ledger"
)

// A lone callback waits for no timer. Inside the bubble the clock only moves when everybody waits for it: a timer anywhere on the way
// would be seen, however short.
func TestLoneCallbackWaitsForNoTimer(t *testing.T) {
	dsn := "sqlite:" + filepath.Join(t.TempDir(), "app.db")
	synctest.Test(t, func(t *testing.T) {
		book, err := ledger.Open(t.Context(), dsn, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer book.Close()
		start := time.Now()
		for _, id := range []string{"ch1", "ch2", "ch3"} {
			if _, err := record(t.Context(), book, "a", payment(id, "nobody", "1.00")); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("three lone callbacks waited %v for a timer", waited)
		}
	})
}
