package reconcile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"paybook/callback"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// TestKits plays every provider's recorded callbacks and reconciles its native statement: the gaps must be those the kit planted.
func TestKits(t *testing.T) {
	for _, kit := range []struct {
		name, date string
		files      []string
		entries    int64
	}{
		{"wechatpay", "2026-11-29", []string{"tradebill_ALL_2026-11-29.csv"}, 12},
		{"wechatpay", "2026-11-29", []string{"tradebill_ALL_2026-11-29.csv.gz", "fundflowbill_BASIC_2026-11-29.csv", "tradebill_response.json",
			"tradebill_ALL_2026-11-29.csv"}, 12},
		{"alipay", "2026-11-29", []string{"20880000000000190156_20261129.csv.zip"}, 12},
		{"unionpay", "2026-11-29", []string{"777000000000001_20261129.zip"}, 12},
		{"unionpay", "2026-11-29", []string{"file_transfer_response.form.txt", "INN26112900ZM_777000000000001"}, 12},
		{"paypal", "2026-11-27", []string{"STL-20261127.01.009.CSV"}, 14},
		{"adyen", "2026-11-27", []string{"settlement_detail_report_batch_42.csv"}, 0},
		{"stripe", "2026-11-27", []string{"balance_change_from_activity_itemized_2026-11-27.csv"}, 0},
		{"stripe", "2026-11-27", []string{"payouts_itemized_2026-11-29.csv", "balance_change_from_activity_itemized_2026-11-27.csv"}, 0},
		{"demopay", "2026-11-27", []string{"demopay_settlement_20261127.csv"}, 0},
	} {
		t.Run(kit.name+"/"+kit.files[0], func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
				p := openKit(t, kit.name)
				playKit(t, b, p, kit.name)
				var files []string
				for _, f := range kit.files {
					files = append(files, filepath.Join(testdata, kit.name, "statements", f))
				}
				a := reconcile.Account{Name: kit.name, Provider: p}
				r := run(t, b, a, kit.date, files...)
				checkKit(t, r, kit.name)
				if kit.entries > 0 && r.Statement.Entries != kit.entries {
					t.Errorf("entries = %d, want %d", r.Statement.Entries, kit.entries)
				}
				if again := run(t, b, a, kit.date, files...); neutral(t, again) != neutral(t, r) || again.RunID != r.RunID {
					t.Errorf("the second run differs:\n%s\nfrom the first:\n%s", neutral(t, again), neutral(t, r))
				}
			})
		})
	}
}

// playKit brings a kit's orders, seeds and callbacks into the book.
func playKit(t *testing.T, b *ledger.Ledger, p kitProvider, name string) {
	t.Helper()
	dir := filepath.Join(testdata, name)
	var orders []struct {
		OrderID  string `json:"order_id"`
		Amount   string `json:"amount"`
		Currency string `json:"currency"`
	}
	readJSON(t, filepath.Join(dir, "orders.json"), &orders)
	for _, o := range orders {
		ledgertest.Order(t, b, o.OrderID, o.Amount, o.Currency)
	}
	var seeds []movement
	if readJSON(t, filepath.Join(dir, "seed_transactions.json"), &seeds) {
		book(t, b, name, seeds...)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "callbacks", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no callbacks: %v", err)
	}
	for _, path := range paths {
		rec, err := callback.ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		cb := rec.Callback(name)
		events, err := p.Verify(t.Context(), cb)
		var refused *models.Rejection
		if errors.As(err, &refused) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := b.Record(t.Context(), cb, events, func(models.Outcome) int { return 200 }); err != nil {
			t.Fatal(err)
		}
	}
}

func readJSON(t *testing.T, path string, into any) bool {
	t.Helper()
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}

type kitGap struct {
	Type           string `json:"type"`
	Kind           string `json:"kind"`
	OrderID        string `json:"order_id"`
	RefundOrderID  string `json:"refund_order_id"`
	TransactionID  string `json:"transaction_id"`
	ProviderAmount string `json:"provider_amount"`
	LocalAmount    string `json:"local_amount"`
	LedgerAmount   string `json:"ledger_amount"`
	OrderAmount    string `json:"order_amount"`
}

func checkKit(t *testing.T, r *reconcile.Report, name string) {
	t.Helper()
	var want struct {
		StatementRows int64    `json:"statement_rows"`
		MoneyRows     int64    `json:"money_rows"`
		Matched       int64    `json:"matched"`
		Gaps          []kitGap `json:"gaps"`
	}
	readJSON(t, filepath.Join(testdata, name, "expected_reconciliation.json"), &want)
	if r.Compared != max(want.StatementRows, want.MoneyRows) || r.Matched != want.Matched || len(r.Gaps) != len(want.Gaps) {
		t.Errorf("compared %d, matched %d, %d gaps: %q; want %d, %d, %d", r.Compared, r.Matched, len(r.Gaps), gapLines(r.Gaps),
			max(want.StatementRows, want.MoneyRows), want.Matched, len(want.Gaps))
	}
	for _, w := range want.Gaps {
		i := slices.IndexFunc(r.Gaps, func(g reconcile.GapReport) bool {
			return string(g.Kind) == w.Type && string(g.EntryKind) == w.Kind && g.TransactionID == w.TransactionID
		})
		if i < 0 {
			t.Errorf("%s %s is missing; have %q", w.Type, w.TransactionID, gapLines(r.Gaps))
			continue
		}
		g := r.Gaps[i]
		side := func(s *models.Side, amount, which string) {
			if amount != "" && (s == nil || !decimal.RequireFromString(s.Amount).Equal(decimal.RequireFromString(amount))) {
				t.Errorf("%s: %s side is %+v, want %s", w.TransactionID, which, s, amount)
			}
		}
		side(g.Statement, w.ProviderAmount, "statement")
		side(g.Ledger, w.LocalAmount+w.LedgerAmount, "ledger")
		side(g.Order, w.OrderAmount, "order")
		if w.OrderID != "" && g.OrderID != w.OrderID || w.RefundOrderID != "" && g.RefundOrderID != w.RefundOrderID {
			t.Errorf("%s: order %q, refund number %q", w.TransactionID, g.OrderID, g.RefundOrderID)
		}
		if g.Reason == "" || !strings.HasPrefix(g.Next, "app ") {
			t.Errorf("%s: reason %q, next %q", w.TransactionID, g.Reason, g.Next)
		}
	}
}
