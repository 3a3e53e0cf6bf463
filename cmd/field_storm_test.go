package cmd

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"paybook/ledger/ledgertest"
	"paybook/models"
)

// withSettings adds lines to the configuration of the field tests.
func withSettings(t *testing.T, lines string) string {
	t.Helper()
	name := fieldConfig(t, stripeSettings)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(text, lines...), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// F74: a provider sends everything of the last hours again, with new payments among it, over many more connections than the database has:
// all are answered with success, what is known costs nothing but a look, and what is new is paid.
func TestFieldRetryStorm(t *testing.T) {
	const known, fresh, connections = 1000, 100, 200
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openFieldWith(t, dsn, withSettings(t, "ledger: {connections: 10}\n"))
		var file strings.Builder
		bodies := make([]string, known+fresh)
		for i := range bodies {
			fmt.Fprintf(&file, "FST%d,19.99,CNY\n", i)
			bodies[i] = f.shopMessage(fmt.Sprintf("payment SUCCESS t-FST%d FST%d 19.99 CNY", i, i))
		}
		f.ok("import", "orders", f.file("o.csv", "order_id,amount,currency\n"+file.String()))
		storm := func(bodies []string) {
			var all sync.WaitGroup
			for part := range connections {
				all.Go(func() {
					for i := part; i < len(bodies); i += connections {
						f.ack(f.shopPost(bodies[i]))
					}
				})
			}
			all.Wait()
		}
		storm(bodies[:known])
		again := append(append([]string(nil), bodies...), bodies...) // everything twice
		rand.New(rand.NewPCG(1, 74)).Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		storm(again)
		for i := range bodies {
			h, err := f.book.OrderHistory(t.Context(), fmt.Sprintf("FST%d", i))
			if err != nil || h.Order.Status != models.Paid || h.Order.Version != 2 || len(h.Transactions) != 1 || h.Transactions[0].Outcome != models.OutcomeApplied {
				t.Fatalf("FST%d: %+v %v", i, h, err)
			}
		}
		f.wantQuietLog("ERROR")
	})
}

// F62: what lies beside the book hangs, Redis in the middle of an answer and the queue before its first: callbacks are answered and booked,
// orders are made, and no row waits for either.
func TestFieldSlowNeighbours(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		redis := ledgertest.Redis(t)
		nats := ledgertest.StartNATS(t)
		nats.Pause(t)
		f := openFieldWith(t, dsn, withSettings(t, fmt.Sprintf("redis: {url: '%s'}\nqueue: {url: '%s'}\n", redis.URL, nats.URL)))
		redis.Pause(t)
		var all sync.WaitGroup
		for i := range 20 {
			id := fmt.Sprintf("FSN%d", i)
			all.Go(func() {
				req := f.web.request(http.MethodPost, "/orders", strings.NewReader(`{"order_id":"`+id+`","amount":"19.99","currency":"CNY"}`))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Idempotency-Key", "key-"+id)
				if got, body := f.web.do(req); got.status != http.StatusCreated {
					t.Errorf("%s: %d %s", id, got.status, body)
				}
			})
			all.Go(func() { f.ack(f.tell("payment SUCCESS t-" + id + " " + id + " 19.99 CNY")) })
		}
		all.Wait()
		if _, err := f.book.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			h, err := f.book.OrderHistory(t.Context(), fmt.Sprintf("FSN%d", i))
			if err != nil || h.Order.Status != models.Paid || len(h.Transactions) != 1 {
				t.Errorf("FSN%d: %+v %v", i, h, err)
			}
		}
		nats.Resume(t)
		redis.Resume(t)
	})
}
