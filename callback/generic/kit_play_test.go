package generic_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback"
	"paybook/callback/generic"
	"paybook/callback/providertest"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// openKit makes the account that a kit's config.json describes, as a user's settings would.
func openKit(tb testing.TB, name string) *generic.Provider {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(testdata, name, "config.json"))
	if err != nil {
		tb.Fatal(err)
	}
	return mustPreset(tb, name, string(raw))
}

// kitOptions say what of each request is signed.
func kitOptions(name string) []providertest.Option {
	switch name {
	case "razorpay":
		return []providertest.Option{providertest.MessageID("x-razorpay-event-id")}
	case "xendit":
		return []providertest.Option{providertest.Signed("x-callback-token"), providertest.MessageID("webhook-id"), providertest.UnsignedBody()}
	case "mercadopago":
		return []providertest.Option{providertest.Signed("x-request-id"), providertest.UnsignedBody()}
	case "braintree":
		return []providertest.Option{providertest.EquivalentBody()}
	}
	return nil
}

func TestKits(t *testing.T) {
	for _, k := range kits() {
		t.Run(k.name, func(t *testing.T) {
			providertest.Run(t, openKit(t, k.name), filepath.Join(testdata, k.name), kitOptions(k.name)...)
		})
	}
}

// TestKitsAreBooked plays a kit into a book: every effect, what the book holds then, and the gaps of the day.
func TestKitsAreBooked(t *testing.T) {
	for _, k := range kits() {
		t.Run(k.name, func(t *testing.T) {
			book := ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
			p := openKit(t, k.name)
			for _, o := range k.orders {
				ledgertest.Order(t, book, o["order_id"].(string), o["amount"].(string), o["currency"].(string))
			}
			seed(t, book, k)
			play(t, book, p, k)
			checkBook(t, book, k)
			checkRun(t, book, p, k)
		})
	}
}

func seed(t *testing.T, book *ledger.Ledger, k kit) {
	t.Helper()
	for i, s := range k.seeds {
		text := func(key string) string { return s[key].(string) }
		money, err := models.ParseMajor(text("amount"), text("currency"))
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, text("occurred_at"))
		if err != nil {
			t.Fatal(err)
		}
		e := models.Event{
			Kind: models.EventKind(text("kind") + "." + strings.ToLower(text("status"))), TransactionID: text("transaction_id"), ParentID: text("parent_id"),
			OrderID: text("order_id"), Money: money, OccurredAt: at,
		}
		cb := models.Callback{Account: k.name, Method: "POST", ReceivedAt: at, Body: []byte{byte(i)}}
		if _, err := book.Record(t.Context(), cb, []models.Event{e}, func(models.Outcome) int { return 200 }); err != nil {
			t.Fatal(err)
		}
	}
}

var effectOf = map[models.Outcome]string{
	models.OutcomeApplied: "apply", models.OutcomeDuplicate: "duplicate", models.OutcomeNoted: "note_only", models.OutcomeIgnored: "ignore",
	models.OutcomeNeedsFetch: "fetch", models.OutcomeUnreadable: "quarantine",
}

func play(t *testing.T, book *ledger.Ledger, p *generic.Provider, k kit) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testdata, k.name, "callbacks", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		rec, err := callback.ReadRecording(path)
		if err != nil {
			t.Fatal(err)
		}
		cb := rec.Callback(k.name)
		events, err := p.Verify(t.Context(), cb)
		if refusal := (*models.Rejection)(nil); errors.As(err, &refusal) {
			continue // TestKits has compared the reason
		}
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := book.Record(t.Context(), cb, events, func(models.Outcome) int { return 200 })
		if err != nil {
			t.Fatal(err)
		}
		got, known := effectOf[outcomes[0]]
		if !known {
			got = "record_only"
		}
		if got != rec.Expect.Effect {
			t.Errorf("%s: %s (%s), want %s", rec.Name, got, outcomes[0], rec.Expect.Effect)
		}
	}
}

func checkBook(t *testing.T, book *ledger.Ledger, k kit) {
	t.Helper()
	var got, want []string
	line := func(cells ...string) string { return strings.Join(cells, " ") }
	err := book.Transactions(t.Context(), k.name, time.Unix(0, 0), time.Unix(1<<40, 0), func(x models.Transaction) error {
		got = append(got, line(string(x.Kind), x.ShownID(), "of="+x.ParentID, x.OrderID, x.Money().String(), string(x.Status), x.OccurredAt.UTC().Format(time.RFC3339)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range k.local {
		text := func(key string) string { return r[key].(string) }
		at, err := time.Parse(time.RFC3339, text("occurred_at"))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, line(text("kind"), text("transaction_id"), "of="+text("parent_id"), text("order_id"), text("amount"), text("currency"),
			strings.ToLower(text("status")), at.UTC().Format(time.RFC3339)))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the book holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func checkRun(t *testing.T, book *ledger.Ledger, p *generic.Provider, k kit) {
	t.Helper()
	zoneName, cut := p.Calendar()
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		t.Fatal(err)
	}
	day, err := reconcile.ParseDay(k.expected["date"].(string))
	if err != nil {
		t.Fatal(err)
	}
	report, err := reconcile.Run(t.Context(), book, reconcile.Account{Name: k.name, Provider: p, Zone: zone, Cut: cut},
		reconcile.Files(filepath.Join(testdata, k.name, "statements", k.file)), day, reconcile.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Rows    int64 `json:"money_rows"`
		Matched int64 `json:"matched"`
		Gaps    []struct {
			Type, Kind    string
			TransactionID string `json:"transaction_id"`
			Provider      string `json:"provider_amount"`
			Local         string `json:"local_amount"`
		} `json:"gaps"`
	}
	raw, err := json.Marshal(k.expected)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	var got, planted []string
	side := func(s *models.Side) string {
		if s == nil {
			return ""
		}
		return s.Amount
	}
	for _, g := range report.Gaps {
		got = append(got, strings.Join([]string{string(g.Kind), string(g.EntryKind), g.TransactionID, side(g.Statement), side(g.Ledger)}, " "))
	}
	for _, g := range want.Gaps {
		planted = append(planted, strings.Join([]string{g.Type, g.Kind, g.TransactionID, g.Provider, g.Local}, " "))
	}
	slices.Sort(got)
	slices.Sort(planted)
	if report.Compared != want.Rows || report.Matched != want.Matched || !slices.Equal(got, planted) {
		t.Errorf("compared %d, matched %d, gaps %q; want %d, %d, %q", report.Compared, report.Matched, got, want.Rows, want.Matched, planted)
	}
}
