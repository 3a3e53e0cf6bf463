package reconcile_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// TestGeneratedDay reconciles a made-up day with a known list of gaps: the result must be exactly that list. F73. The size is
// RECONCILE_ROWS, 20,000 unless set.
func TestGeneratedDay(t *testing.T) {
	n := ledgertest.Env("RECONCILE_ROWS", "20000")
	dir := generate(t, n, "-missing-local=0.003", "-currency=0.001", "-duplicate=0.001", "-cross-late=0.0003", "-cross-early=0.0003")
	want, carried := expected(t, dir)
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		importDay(t, b, dir)
		wechat := reconcile.Account{Name: "shop", Provider: openKit(t, "wechatpay")}
		for name, a := range map[string]reconcile.Account{"statement.csv": plainAccount(t), "statement-wechat.csv": wechat} {
			peak := watchHeap()
			began := time.Now()
			r := run(t, b, a, "2026-11-29", filepath.Join(dir, name))
			t.Logf("%s: %s rows in %v, heap at most %d MB", name, n, time.Since(began).Round(time.Millisecond), peak()>>20)
			got := gapLines(r.Gaps)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d gaps, want %d; %s", name, len(got), len(want), firstDifference(got, want))
			}
			for _, g := range r.Carried {
				if !carried[g.TransactionID] {
					t.Errorf("%s: %s is carried and should not be", name, g.TransactionID)
				}
			}
			if int(r.Matched)+len(want)-count(want, "missing_provider")-count(want, "duplicate_entry") != int(r.Compared) {
				t.Errorf("%s: %d compared, %d matched, %d gaps do not add up", name, r.Compared, r.Matched, len(want))
			}
		}
	})
}

func count(lines []string, kind string) (n int) {
	for _, l := range lines {
		if strings.HasPrefix(l, kind) {
			n++
		}
	}
	return n
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("the first to differ is %q, want %q", got[i], want[i])
		}
	}
	return "one is longer"
}

// watchHeap returns a function that tells the most that was in use since.
func watchHeap() func() uint64 {
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(stop); return <-peak }
}

func generate(t testing.TB, n string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"run", "../testdata/bench/recongen", "-n", n, "-out", dir}, flags...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("recongen: %v\n%s", err, out)
	}
	return dir
}

// expected is the list of gaps, and the ids that may be carried.
func expected(t testing.TB, dir string) (gaps []string, carried map[string]bool) {
	t.Helper()
	carried = map[string]bool{}
	for row, err := range rows(filepath.Join(dir, "expected-gaps.csv")) {
		if err != nil {
			t.Fatal(err)
		}
		if row["kind"] == "carried" {
			carried[row["transaction_id"]] = true
			continue
		}
		gaps = append(gaps, fmt.Sprintf("%s %s %s", row["kind"], row["type"], row["transaction_id"]))
	}
	slices.Sort(gaps)
	if len(gaps) == 0 {
		t.Fatal("no gaps are expected: nothing would be tested")
	}
	return gaps, carried
}

func importDay(t testing.TB, b *ledger.Ledger, dir string) {
	t.Helper()
	_, err := b.ImportOrders(t.Context(), func(yield func(models.Order, error) bool) {
		for row, err := range rows(filepath.Join(dir, "orders.csv")) {
			money, amountErr := models.ParseMajor(row["amount"], row["currency"])
			o := models.Order{OrderID: row["order_id"], AmountMinor: money.Minor, Currency: money.Currency}
			if !yield(o, errors.Join(err, amountErr)) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.ImportTransactions(t.Context(), func(yield func(ledger.Import, error) bool) {
		for row, err := range rows(filepath.Join(dir, "transactions.csv")) {
			if err != nil {
				yield(ledger.Import{}, err)
				return
			}
			m := movement{Kind: models.TransactionKind(row["kind"]), TransactionID: row["transaction_id"], ParentID: row["parent_id"], OrderID: row["order_id"],
				RefundOrderID: row["refund_order_id"], Amount: row["amount"], Currency: row["currency"], Status: row["status"], OccurredAt: row["occurred_at"]}
			if !yield(ledger.Import{Account: "shop", Place: row["transaction_id"], Events: []models.Event{m.event(t)}}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rows reads a CSV file by its header.
func rows(path string) iter.Seq2[map[string]string, error] {
	return func(yield func(map[string]string, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		r := csv.NewReader(f)
		head, err := r.Read()
		for err == nil {
			var cells []string
			if cells, err = r.Read(); err != nil {
				break
			}
			row := map[string]string{}
			for i, name := range head {
				row[name] = cells[i]
			}
			if !yield(row, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, err)
		}
	}
}
