package ledger_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// BenchmarkOnce makes fresh orders, each under a key of its own, and asks for each of them again, from 64 callers, with every flush of the
// disk that a production server makes: with a gate and without.
func BenchmarkOnce(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		for _, gated := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/redis=%v", name, gated), func(b *testing.B) {
				dsn := "sqlite:" + b.TempDir() + "/app.db"
				if name == "postgres" {
					c, err := ledgertest.Start(ledgertest.Options{Durable: true})
					if err != nil {
						b.Fatal(err)
					}
					b.Cleanup(c.Stop)
					dsn = c.DSN("postgres")
				}
				var o ledger.Options
				if gated {
					o.Gate = patientGate(b, ledgertest.Redis(b).URL)
				}
				benchOnce(b, ledgertest.Open(b, dsn, o))
			})
		}
	}
}

func benchOnce(b *testing.B, book *ledger.Ledger) {
	word := func(o models.Order, err error) (int, []byte) {
		return 201, fmt.Appendf(nil, `{"order_id":%q}`, o.OrderID)
	}
	var next atomic.Int64
	b.SetParallelism(32) // × 2 cores
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			order := fmt.Sprintf("O%012d", next.Add(1)*7919)
			for _, replayed := range []bool{false, true} {
				a, err := book.CreateOrderOnce(b.Context(), keyOf("key of "+order, order), newOrder(order), word)
				if err != nil || a.Replayed != replayed {
					b.Error(a, err)
					return
				}
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
}
