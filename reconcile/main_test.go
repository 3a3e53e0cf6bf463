package reconcile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback"
	"paybook/callback/adyen"
	"paybook/callback/alipay"
	"paybook/callback/generic"
	"paybook/callback/paypal"
	"paybook/callback/stripe"
	"paybook/callback/unionpay"
	"paybook/callback/wechatpay"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

func TestMain(m *testing.M) { os.Exit(ledgertest.Main(m)) }

const testdata = "../testdata"

// shanghai is the zone of most of these tests.
var shanghai = mustZone("Asia/Shanghai")

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

func day(t testing.TB, text string) reconcile.Day {
	t.Helper()
	d, err := reconcile.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// noon is the clock of runs whose clock does not matter.
func noon() time.Time { return time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC) }

// plainSettings are a generic provider's with the default statement layout.
const plainSettings = `{"timezone":"Asia/Shanghai","signature":{"secrets":["s"],"from":"header:X-Signature","template":"{body}"},
 "fields":{"event_id":"$.id","event_type":"$.type","status":"$.status","transaction_id":"$.txn","order_id":"$.order",
 "amount":{"path":"$.amount","unit":"major"},"currency":"$.currency","occurred_at":"$.at"},
 "events":[{"type":"payment","status":"SUCCESS","event":"payment.succeeded"}]}`

// plainAccount reads the default layout.
func plainAccount(t testing.TB) reconcile.Account {
	t.Helper()
	p, err := generic.New(json.RawMessage(plainSettings), ".")
	if err != nil {
		t.Fatal(err)
	}
	return reconcile.Account{Name: "shop", Provider: p, Zone: shanghai}
}

// kitProvider is a provider with the settings of its test kit.
type kitProvider interface {
	callback.Provider
	reconcile.Provider
}

func openKit(t testing.TB, name string) kitProvider {
	t.Helper()
	dir := filepath.Join(testdata, name)
	settings, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p kitProvider
	switch name {
	case "wechatpay":
		p, err = wechatpay.New(settings, dir)
	case "alipay":
		p, err = alipay.New(settings, dir)
	case "unionpay":
		p, err = unionpay.New(settings, dir)
	case "paypal":
		p, err = paypal.New(settings, dir)
	case "adyen":
		p, err = adyen.New(settings, dir)
	case "stripe":
		p, err = stripe.New(settings, dir)
	default:
		p, err = generic.New(settings, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// movement is a row of a kit's JSON files, and of the tests' own books.
type movement struct {
	Kind          models.TransactionKind `json:"kind"`
	TransactionID string                 `json:"transaction_id"`
	ParentID      string                 `json:"parent_id"`
	OrderID       string                 `json:"order_id"`
	RefundOrderID string                 `json:"refund_order_id"`
	Amount        string                 `json:"amount"`
	Currency      string                 `json:"currency"`
	Status        string                 `json:"status"`
	OccurredAt    string                 `json:"occurred_at"`
	Aliases       []string               `json:"-"`
}

func (m movement) event(t testing.TB) models.Event {
	t.Helper()
	money, err := models.ParseMajor(m.Amount, m.Currency)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, m.OccurredAt)
	if err != nil {
		t.Fatal(err)
	}
	base := map[models.TransactionKind]string{models.Payment: "payment.", models.Refund: "refund.", models.Chargeback: "dispute."}[m.Kind]
	kind := models.EventKind(base + strings.Replace(strings.ToLower(m.Status), "processing", "pending", 1))
	if m.Kind == models.Chargeback {
		kind = models.DisputeOpened
	}
	return models.Event{Kind: kind, TransactionID: m.TransactionID, ParentID: m.ParentID, OrderID: m.OrderID, Aliases: m.Aliases,
		RefundOrderID: m.RefundOrderID, Money: money, OccurredAt: at}
}

// book writes movements as callbacks would have.
func book(t testing.TB, b *ledger.Ledger, account string, movements ...movement) {
	t.Helper()
	for i, m := range movements {
		cb := models.Callback{Account: account, Method: "POST", ReceivedAt: noon(), Body: fmt.Appendf(nil, "%d %+v", i, m)}
		if _, err := b.Record(t.Context(), cb, []models.Event{m.event(t)}, func(models.Outcome) int { return 200 }); err != nil {
			t.Fatal(err)
		}
	}
}

// paid are payments of 20.00 CNY at a local time in Shanghai, with their orders: "id 2026-11-28 10:00:00" or "id … 21.00".
func paid(t testing.TB, b *ledger.Ledger, rows ...string) {
	t.Helper()
	for _, row := range rows {
		f := append(strings.Fields(row), "20.00")
		ledgertest.Order(t, b, "O-"+f[0], f[3], "CNY")
		book(t, b, "shop", movement{Kind: models.Payment, TransactionID: f[0], OrderID: "O-" + f[0], Amount: f[3], Currency: "CNY",
			Status: "succeeded", OccurredAt: f[1] + "T" + f[2] + "+08:00"})
	}
}

const header = "transaction_id,order_id,type,amount,currency,status,occurred_at,parent_id,refund_order_id\n"

// statement writes a file of the default layout; rows are its lines, or in short "id 2026-11-28 10:00:00 [amount [status]]" for a
// payment of 20.00 CNY.
func statement(t testing.TB, rows ...string) string {
	t.Helper()
	text := header
	for _, row := range rows {
		if !strings.Contains(row, ",") {
			f := strings.Fields(row)
			amount, status := "20.00", "succeeded"
			if len(f) > 3 {
				amount = f[3]
			}
			if len(f) > 4 {
				status = f[4]
			}
			row = fmt.Sprintf("%s,O-%s,payment,%s,CNY,%s,%s %s,,", f[0], f[0], amount, status, f[1], f[2])
		}
		text += row + "\n"
	}
	return file(t, "statement.csv", []byte(text))
}

func file(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t testing.TB, b *ledger.Ledger, a reconcile.Account, date string, files ...string) *reconcile.Report {
	t.Helper()
	r, err := tryRun(t.Context(), b, a, day(t, date), files...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryRun(ctx context.Context, b *ledger.Ledger, a reconcile.Account, d reconcile.Day, files ...string) (*reconcile.Report, error) {
	src := reconcile.Files(files...)
	if len(files) == 0 {
		src = reconcile.NoStatement()
	}
	return reconcile.Run(ctx, b, a, src, d, reconcile.Options{Now: noon})
}

// gapLines are a report's gaps in short: "amount_mismatch payment ch_1".
func gapLines(gaps []reconcile.GapReport) []string {
	lines := make([]string, 0, len(gaps))
	for _, g := range gaps {
		line := fmt.Sprintf("%s %s %s", g.Kind, g.EntryKind, g.TransactionID)
		if g.Date != "" {
			line += " of " + g.Date
		}
		lines = append(lines, line)
	}
	return lines
}

// wantRun checks a report in short: counts as "compared matched", then its gaps; carried and healed ones are marked.
func wantRun(t testing.TB, r *reconcile.Report, counts string, want ...string) {
	t.Helper()
	got := gapLines(r.Gaps)
	for _, g := range gapLines(r.Carried) {
		got = append(got, "carried: "+g)
	}
	for _, g := range gapLines(r.Healed) {
		got = append(got, "healed: "+g)
	}
	slices.Sort(got)
	slices.Sort(want)
	if have := fmt.Sprintf("%d %d", r.Compared, r.Matched); have != counts || !slices.Equal(got, want) {
		t.Errorf("run of %s: %s %q\nwant: %s %q", r.Date, have, got, counts, want)
	}
	if open := len(r.Gaps) > 0; open != (r.Result == models.Gapped) {
		t.Errorf("result is %s with %d open gaps", r.Result, len(r.Gaps))
	}
}

// wantFileError checks that a run could not be done because of the file, and says so in these words.
func wantFileError(t testing.TB, err error, words ...string) {
	t.Helper()
	var fileError *models.FileError
	if !errors.As(err, &fileError) {
		t.Fatalf("error is %v, want a *models.FileError", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error is %q, want it to say %q", err, w)
		}
	}
}

// wantNothingWritten checks that an account has no run and no gap.
func wantNothingWritten(t testing.TB, b *ledger.Ledger) {
	t.Helper()
	runs, _, err := b.Runs(t.Context(), ledger.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	gaps, _, err := b.Gaps(t.Context(), ledger.GapFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 0 || len(gaps) != 0 {
		t.Errorf("%d runs and %d gaps were written, want none", len(runs), len(gaps))
	}
}

// neutral is a report's JSON without what may change from run to run.
func neutral(t testing.TB, r *reconcile.Report) string {
	t.Helper()
	still := *r
	still.RunID = ""
	for _, list := range []*[]reconcile.GapReport{&still.Gaps, &still.Carried, &still.Healed, &still.Accepted} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].New, (*list)[i].FirstSeen, (*list)[i].AgeDays = false, "", 0
		}
	}
	var out bytes.Buffer
	if err := reconcile.WriteJSON(&out, []reconcile.Item{{Report: &still}}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// sqlite is an empty book for tests that one database is enough for.
func sqlite(t testing.TB) *ledger.Ledger {
	t.Helper()
	return ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"))
}

// slowProvider does something between the statement's last row and its end.
type slowProvider struct {
	reconcile.Provider
	then func()
}

func (p slowProvider) ReadStatement(name string, r io.Reader, zone *time.Location, each func(models.Entry) error) (models.Statement, error) {
	s, err := p.Provider.ReadStatement(name, r, zone, each)
	p.then()
	return s, err
}
