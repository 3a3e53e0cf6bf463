package ledger_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

const sellerDSN = "TEST_SELLER_DSN"

// TestSellerProcess is the process that TestSellerIsKilled kills: it accepts orders and works the queue at once, and says every order
// it has acknowledged.
func TestSellerProcess(t *testing.T) {
	dsn := os.Getenv(sellerDSN)
	if dsn == "" {
		t.Skip("a process of TestSellerIsKilled")
	}
	book := ledgertest.Open(t, dsn)
	working(t, book)
	var out sync.Mutex
	var callers sync.WaitGroup
	for part := range 8 {
		callers.Go(func() {
			for i := 0; t.Context().Err() == nil; i++ {
				id := fmt.Sprintf("O%d-%d-%d", os.Getpid(), part, i)
				a, err := book.AcceptOrder(t.Context(), ledger.Key{Token: id, Fingerprint: id}, hot(id, 1), told)
				if err != nil || a.Status != 202 {
					continue
				}
				out.Lock()
				fmt.Println("accepted " + id)
				out.Unlock()
			}
		})
	}
	callers.Wait()
}

// A process is killed while it accepts orders and writes them, three times in a row. Every order it has acknowledged is written in the end,
// once, by another process; and at every moment the reserved units are those of the orders, written and queued.
func TestSellerIsKilled(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		t.Parallel() // most of it is waiting for the queue to see who is dead
		book := ledgertest.Open(t, dsn)
		stocked(t, book, "SKU", 1_000_000)
		acknowledged := map[string]bool{}
		for round := range 3 {
			for _, id := range sellUntilKilled(t, dsn, 100*(round+1)) {
				acknowledged[id] = true
			}
			checks, err := book.CheckStock(t.Context())
			if err != nil || len(checks) != 1 || !checks[0].Equal() {
				t.Fatalf("%+v %v", checks, err)
			}
		}
		start := time.Now()
		working(t, book)
		eventually(t, "what was accepted is written", func() bool {
			checks, err := book.CheckStock(t.Context())
			return err == nil && checks[0].Queued == 0
		})
		t.Logf("%d orders acknowledged; the last was written %v after the restart", len(acknowledged), time.Since(start).Round(time.Millisecond))
		written := allOrders(t, book)
		for _, o := range written {
			delete(acknowledged, o.OrderID)
		}
		if len(acknowledged) > 0 {
			t.Errorf("%d acknowledged orders were never written", len(acknowledged))
		}
		books(t, book, "SKU", int64(len(written)), 0)
	})
}

// sellUntilKilled lets a process sell, kills it, and returns the orders it has acknowledged.
func sellUntilKilled(t *testing.T, dsn string, orders int) (ids []string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestSellerProcess$")
	child.Env = append(os.Environ(), sellerDSN+"="+dsn)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(2*time.Minute, func() { _ = child.Process.Kill() })
	defer hang.Stop()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "accepted "); ok {
			ids = append(ids, id)
		}
		if len(ids) == orders {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || len(ids) < orders {
		t.Fatalf("%d orders, then %v", len(ids), err)
	}
	return ids
}
