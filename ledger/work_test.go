package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// TestWorkOfACallbackDoesNotGrowWithTheBook counts the index entries and rows PostgreSQL reads for payments, refunds before and after
// their payment, and disputes, in a database that has no statistics yet: there the planner takes any index for as good as the key, and
// a plan that reads an account's whole book is kept until somebody analyses the table.
func TestWorkOfACallbackDoesNotGrowWithTheBook(t *testing.T) {
	ledgertest.Need(t)
	dsn := ledgertest.Postgres(t)
	book := ledgertest.Open(t, dsn)
	const payments = 400
	orders := make([]models.Order, payments)
	for i := range orders {
		orders[i] = models.Order{OrderID: fmt.Sprintf("O%d", i), AmountMinor: 1234, Currency: "CNY"}
	}
	ledgertest.Orders(t, book, orders...)
	total := 0
	for _, kind := range []models.EventKind{models.RefundPending, models.PaymentSucceeded, models.RefundSucceeded, models.DisputeOpened, models.DisputeWon} {
		var callers sync.WaitGroup
		for part := range 8 {
			callers.Go(func() {
				for i := part; i < payments; i += 8 {
					tellWork(t, book, kind, i)
				}
			})
		}
		callers.Wait()
		total += payments
	}
	if err := book.Close(); err != nil { // the connections hand in their counts when they end
		t.Fatal(err)
	}
	const most = 4.0
	for name, read := range rowsRead(t, dsn) {
		if each := float64(read) / float64(total); each > most {
			t.Errorf("%s: %.0f entries read for each callback, at most %.0f expected", name, each, most)
		}
	}
}

func tellWork(t *testing.T, book *ledger.Ledger, kind models.EventKind, i int) {
	ev := models.Event{ID: fmt.Sprint(kind, i), Kind: kind, TransactionID: fmt.Sprint("T", i), OrderID: fmt.Sprint("O", i),
		Money: models.Money{Minor: 1234, Currency: "CNY"}, OccurredAt: time.Unix(1795767302, 0)}
	if kind != models.PaymentSucceeded {
		ev.TransactionID, ev.ParentID, ev.OrderID, ev.Money.Minor = fmt.Sprint("R", i), ev.TransactionID, "", 100
	}
	cb := models.Callback{Account: "a", Method: "POST", Path: "/callbacks/a", Body: fmt.Append(nil, kind, i), ReceivedAt: time.Now()}
	if _, err := book.Record(context.Background(), cb, []models.Event{ev}, func(models.Outcome) int { return 200 }); err != nil {
		t.Error(err)
	}
}

// rowsRead is what was read of each table and through each index.
func rowsRead(t *testing.T, dsn string) map[string]int64 {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes UNION ALL SELECT relname, coalesce(seq_tup_read, 0) FROM pg_stat_user_tables`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	read := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		read[name] = n
	}
	if err := rows.Err(); err != nil || read["orders_pkey"] == 0 {
		t.Fatal("no counts: ", read, err)
	}
	return read
}
