package ledger_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// BenchmarkRecord books fresh payments, each of its own order, from 64 callers, with every flush of the disk that a production
// server makes. It is the callback path without HTTP and signature.
func BenchmarkRecord(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			dsn := "sqlite:" + b.TempDir() + "/app.db"
			if name == "postgres" {
				c, err := ledgertest.Start(ledgertest.Options{Durable: true})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(c.Stop)
				dsn = c.DSN("postgres")
			}
			benchRecord(b, dsn)
		})
	}
}

func benchRecord(b *testing.B, dsn string) {
	var batches, rows atomic.Int64
	book, err := ledger.Open(context.Background(), dsn, ledger.Options{OnBatch: func(n int) { batches.Add(1); rows.Add(int64(n)) }})
	if err != nil {
		b.Fatal(err)
	}
	defer book.Close()
	orders := make([]models.Order, b.N)
	for i := range orders {
		orders[i] = models.Order{OrderID: fmt.Sprintf("O%012d", i*7919), AmountMinor: 1234, Currency: "CNY"}
	}
	ledgertest.Orders(b, book, orders...)
	var next atomic.Int64
	b.SetParallelism(32) // × 2 cores
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := next.Add(1) - 1
			ev := models.Event{ID: "e", Kind: models.PaymentSucceeded, TransactionID: fmt.Sprintf("T%d", i), OrderID: orders[i].OrderID,
				Money: models.Money{Minor: 1234, Currency: "CNY"}, OccurredAt: time.Unix(1795767302, 0)}
			cb := models.Callback{Account: "a", Method: "POST", Path: "/callbacks/a", Body: fmt.Appendf(nil, `{"transaction_id":"T%d"}`, i), ReceivedAt: time.Now()}
			out, err := book.Record(context.Background(), cb, []models.Event{ev}, func(models.Outcome) int { return 200 })
			if err != nil || out[0] != models.OutcomeApplied {
				b.Error(out, err)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(rows.Load())/float64(max(batches.Load(), 1)), "callbacks/batch")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "callbacks/s")
}
