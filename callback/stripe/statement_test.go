package stripe_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

const (
	balanceName = "balance_change_from_activity_itemized_2026-11-27.csv"
	columns     = "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,customer_facing_amount,customer_facing_currency,charge_id,payment_intent_id,payment_metadata[order_id]"
)

func read(tb testing.TB, name, text string, zone *time.Location) (models.Statement, []models.Entry, error) {
	tb.Helper()
	var out []models.Entry
	st, err := mustNew(tb, minimal).ReadStatement(name, strings.NewReader(text), zone, func(e models.Entry) error {
		out = append(out, e)
		return nil
	})
	return st, out, err
}

func mustRead(tb testing.TB, text string) []models.Entry {
	tb.Helper()
	_, out, err := read(tb, "report.csv", text, time.UTC)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestRecordedStatement(t *testing.T) {
	raw, err := os.ReadFile(kit + "/statements/" + balanceName)
	if err != nil {
		t.Fatal(err)
	}
	st, got, err := read(t, balanceName, string(raw), time.UTC)
	if err != nil || !st.Compared || st.Batch || st.Totals || len(got) != 14 {
		t.Fatalf("%+v, %d entries, %v; want 14 compared entries without totals", st, len(got), err)
	}
	at := func(text string) time.Time { v, _ := time.Parse(time.DateTime, text); return v }
	for i, want := range map[int]models.Entry{
		2: {Kind: models.Payment, TransactionID: "ch_TEST1002", Aliases: []string{"pi_TEST1002"}, OrderID: "ORD-2026-1002", Money: models.Money{Minor: 2500, Currency: "EUR"},
			Fee: usd(114), Gross: usd(2905), Status: models.StatusSucceeded, StatusText: "charge", OccurredAt: at("2026-11-27 08:20:00"), Line: 4},
		10: {Kind: models.Refund, TransactionID: "re_TEST2002", ParentID: "ch_TEST1003", OrderID: "ORD-2026-1003", Money: models.Money{Minor: 12800, Currency: "JPY"},
			Fee: usd(0), Gross: usd(-8210), Status: models.StatusSucceeded, StatusText: "refund", OccurredAt: at("2026-11-27 12:00:00"), Line: 12},
		11: {Kind: models.Chargeback, TransactionID: "dp_TEST3001", ParentID: "ch_TEST1004", OrderID: "ORD-2026-1004", Money: usd(7500),
			Fee: usd(1500), Status: models.StatusSucceeded, StatusText: "dispute", OccurredAt: at("2026-11-27 15:00:00"), Line: 13},
		12: {Kind: models.EntryFee, TransactionID: "txn_TESTF5001", Money: usd(50), Fee: usd(0), Status: models.StatusSucceeded, StatusText: "fee",
			OccurredAt: at("2026-11-27 17:00:00"), Line: 14},
	} {
		if want.PayoutID = "po_TEST4001"; !reflect.DeepEqual(got[i], want) {
			t.Errorf("row %d\n got %+v\nwant %+v", want.Line, got[i], want)
		}
	}
}

func TestRecordedPayouts(t *testing.T) {
	const name = "payouts_itemized_2026-11-29.csv"
	raw, err := os.ReadFile(kit + "/statements/" + name)
	if err != nil {
		t.Fatal(err)
	}
	st, got, err := read(t, name, string(raw), time.UTC)
	want := models.Entry{Kind: models.Payout, TransactionID: "po_TEST4001", Money: usd(12745), Fee: usd(0), Status: models.StatusSucceeded, StatusText: "paid",
		OccurredAt: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), Line: 2}
	if err != nil || !reflect.DeepEqual(st, models.Statement{Title: "payouts file"}) || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v, %v\n got %+v\nwant %+v, not compared", st, err, got, want)
	}
	text := strings.Replace(string(raw), ",paid,", ",returned,", 1)
	if _, got, err = read(t, name, text, time.UTC); err != nil || got[0].Status != models.StatusUnknown {
		t.Errorf("an unknown payout_status: %+v, %v; want status unknown", got, err)
	}
}

func TestCategories(t *testing.T) {
	for _, tc := range []struct {
		category, gross string
		want            string // kind, status, id, minor units; an adjusting row is marked
	}{
		{"charge", "10.00", "payment succeeded src_1 1000"},
		{"refund", "-10.00", "refund succeeded src_1 1000"},
		{"refund_failure", "10.00", "refund_reversal succeeded src_1 1000"},
		{"dispute", "-10.00", "chargeback succeeded src_1 1000"},
		{"dispute_reversal", "10.00", "chargeback_reversal succeeded src_1 1000"},
		{"charge_failure", "-10.00", "payment reversed ch_1 1000"},
		{"partial_capture_reversal", "-10.00", "payment succeeded ch_1 -1000 adjusts"},
		{"payout", "-10.00", "payout succeeded src_1 1000"},
		{"payout", "10.00", "payout succeeded src_1 1000"},
		{"payout_reversal", "10.00", "payout reversed src_1 1000"},
		{"fee", "-10.00", "fee succeeded src_1 1000"},
		{"fee", "10.00", "fee succeeded src_1 -1000"},
		{"stripe_fee", "-10.00", "fee succeeded src_1 1000"},
		{"network_cost", "-10.00", "fee succeeded src_1 1000"},
		{"tax", "-10.00", "fee succeeded src_1 1000"},
		{"topup", "10.00", "adjustment succeeded src_1 1000"},
		{"transfer", "-10.00", "adjustment succeeded src_1 -1000"},
		{"risk_reserved_funds", "-10.00", "reserve succeeded src_1 -1000"},
		{"connect_reserved_funds", "10.00", "reserve succeeded src_1 1000"},
		{"advance", "10.00", "adjustment succeeded src_1 1000"},
		{"invented_2027", "10.00", "adjustment succeeded src_1 1000"},
	} {
		got := mustRead(t, fmt.Sprintf("%s\ntxn_1,2026-11-27 08:00:00,usd,%s,0,%s,%s,src_1,,,ch_1,pi_1,A1\n", columns, tc.gross, tc.gross, tc.category))[0]
		text := fmt.Sprintf("%s %s %s %d", got.Kind, got.Status, got.TransactionID, got.Money.Minor)
		if got.Adjusts {
			text += " adjusts"
		}
		if text != tc.want || got.StatusText != tc.category || got.OrderID != "A1" {
			t.Errorf("%s %s = %s (%s, %s), want %s", tc.category, tc.gross, text, got.StatusText, got.OrderID, tc.want)
		}
	}
}

// A partial capture is the whole authorised sum and a row that takes back what was let go: both under the charge.
func TestPartialCaptureAddsUp(t *testing.T) {
	got := mustRead(t, columns+"\n"+
		"txn_1,2026-11-27 08:00:00,usd,92.00,3.00,89.00,charge,ch_1,80.00,eur,ch_1,pi_1,A1\n"+
		"txn_2,2026-11-27 08:00:00,usd,-34.50,-1.00,-33.50,partial_capture_reversal,pcr_1,-30.00,eur,ch_1,pi_1,A1\n")
	if got[1].TransactionID != got[0].TransactionID || got[0].Money.Minor+got[1].Money.Minor != 5000 || got[1].Money.Currency != "EUR" || got[1].Fee != usd(-100) {
		t.Errorf("%+v, want two rows of ch_1 with 50.00 EUR together", got)
	}
}

func TestStatementRefuses(t *testing.T) {
	row := func(cells string) string { return columns + "\n" + cells + "\n" }
	for name, tc := range map[string]struct {
		text   string
		line   int
		column string
		what   string
	}{
		"charge with a minus":   {row("txn_1,2026-11-27 08:00:00,usd,-10.00,0,-10.00,charge,ch_1,,,,,"), 2, "gross", "wrong sign"},
		"refund without one":    {row("txn_1,2026-11-27 08:00:00,usd,10.00,0,10.00,refund,re_1,,,,,"), 2, "gross", "wrong sign"},
		"net":                   {row("txn_1,2026-11-27 08:00:00,usd,10.00,1.00,9.01,charge,ch_1,,,,,"), 2, "net", "9.01 is not gross 10.00 less fee 1.00"},
		"cut row":               {row("txn_1,2026-11-27 08:00:00,usd,10.00"), 2, "", "cut or damaged"},
		"no amount":             {row("txn_1,2026-11-27 08:00:00,usd,,0,,charge,ch_1,,,,,"), 2, "gross", "amount"},
		"too many decimals":     {row("txn_1,2026-11-27 08:00:00,usd,10.001,0,10.001,charge,ch_1,,,,,"), 2, "gross", "decimals"},
		"other currency's sign": {row("txn_1,2026-11-27 08:00:00,usd,¥10.00,0,10.00,charge,ch_1,,,,,"), 2, "gross", "¥"},
		"brackets":              {row("txn_1,2026-11-27 08:00:00,usd,(10.00),0,10.00,refund,ch_1,,,,,"), 2, "gross", "plain decimal"},
		"minus lookalike":       {row("txn_1,2026-11-27 08:00:00,usd,\u221210.00,0,10.00,refund,ch_1,,,,,"), 2, "gross", "plain decimal"},
		"dash":                  {row("txn_1,2026-11-27 08:00:00,usd,10.00,-,10.00,charge,ch_1,,,,,"), 2, "fee", "plain decimal"},
		"decimal comma":         {row(`txn_1,2026-11-27 08:00:00,usd,"10,00",0,10.00,charge,ch_1,,,,,`), 2, "gross", "plain decimal"},
		"huge exponent":         {row("txn_1,2026-11-27 08:00:00,usd,1e1000000000,0,1,charge,ch_1,,,,,"), 2, "gross", "plain decimal"},
		"10,000 digits":         {row("txn_1,2026-11-27 08:00:00,usd," + strings.Repeat("9", 1e4) + ",0,1,charge,ch_1,,,,,"), 2, "gross", "too long"},
		"unknown currency":      {row("txn_1,2026-11-27 08:00:00,qqq,10.00,0,10.00,charge,ch_1,,,,,"), 2, "gross", "qqq"},
		"customer's currency":   {row("txn_1,2026-11-27 08:00:00,usd,10.00,0,10.00,charge,ch_1,9.00,,,,"), 2, "customer_facing_amount", "currency"},
		"rounded id":            {row("txn_1,2026-11-27 08:00:00,usd,10.00,0,10.00,charge,4.20000E+27,,,,,"), 2, "source_id", "rounded number"},
		"no name":               {row(",2026-11-27 08:00:00,usd,10.00,0,10.00,charge,,,,,,"), 2, "source_id", "no name"},
		"other time":            {row("txn_1,27/11/2026 08:00,usd,10.00,0,10.00,charge,ch_1,,,,,"), 2, "created_utc", "no time"},
		"bare quote":            {row(`txn_1,2026-11-27 08:00:00,usd,10.00,0,10.00,charge,ch"1,,,,,`), 2, "", "quote"},
		"half a summary":        {"reporting_category,currency,gross,fee,net\ncharge,usd,10.00,0,10.00\n", 1, "balance_transaction_id", "the header lacks balance_transaction_id, source_id"},
		"damaged summary":       {"reporting_category,currency,count,gross,fee,net\ncharge,usd,1,10.00,1.00,10.00\n", 2, "net", "less fee"},
		"damaged balance":       {"category,description,net_amount,currency\nactivity,x,ten,usd\n", 2, "net_amount", "plain decimal"},
		"payouts' net":          {"payout_id,effective_at_utc,currency,gross,fee,net,payout_status\npo_1,2026-11-27 08:00:00,usd,-1.00,0.25,-1.00,paid\n", 2, "net", "less fee"},
		"rounded payout":        {strings.Replace(columns, "charge_id", "automatic_payout_id", 1) + "\ntxn_1,2026-11-27 08:00:00,usd,10.00,0,10.00,charge,ch_1,,,4.2E+27,,\n", 2, "automatic_payout_id", "rounded number"},
		"no time column":        {strings.Replace(columns, "created_utc", "created_at", 1) + "\n", 1, "created", "created"},
		"payouts without state": {"payout_id,effective_at_utc,currency,gross\npo_1,2026-11-27 08:00:00,usd,-1\n", 1, "payout_status", "payout_status"},
		"payout without id":     {"payout_id,effective_at_utc,currency,gross,payout_status\n,2026-11-27 08:00:00,usd,-1,paid\n", 2, "payout_id", "empty"},
		"HTML":                  {"<!DOCTYPE html><html>", 0, "", "HTML"},
		"an API error":          {`{"error":{"type":"invalid_request_error"}}`, 0, "", "JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, got, err := read(t, "report.csv", tc.text, time.UTC)
			var fe *models.FileError
			if !errors.As(err, &fe) {
				t.Fatalf("ReadStatement = %+v, %v; want a FileError", got, err)
			}
			if fe.File != "report.csv" || fe.Line != tc.line || fe.Column != tc.column || !strings.Contains(fe.What, tc.what) {
				t.Errorf("%v; want line %d, column %q, %q", fe, tc.line, tc.column, tc.what)
			}
		})
	}
}

// What spreadsheets and mail do to a file without changing what it says.
func TestStatementSpellings(t *testing.T) {
	const first = "txn_1,2026-11-27 08:00:00,USD,\"1,234.50\",4.5,1230.0,charge,ch_1,,,ch_1,pi_1,A1"
	const second = "txn_2,2026-11-27 09:00:00,usd,-10.000,0,-10,refund,re_1,,,ch_1,pi_1,A1"
	want := mustRead(t, columns+"\n"+first+"\n"+second+"\n")
	if want[0].Money != usd(123450) || want[1].Money != usd(1000) {
		t.Fatalf("%+v, want 1234.50 and 10.00", want)
	}
	for name, text := range map[string]string{
		"BOM":                "\ufeff" + columns + "\n" + first + "\n\ufeff" + second,
		"mixed line endings": columns + "\r\n" + first + "\n" + second + "\r\n",
		"no final newline":   columns + "\n" + first + "\n" + second,
		"quoted":             `"` + strings.ReplaceAll(columns, ",", `","`) + "\"\n" + first + "\n" + second,
	} {
		if got := mustRead(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", name, got, want)
		}
	}
	got := mustRead(t, columns+"\n\n"+first+"\n\n"+second)
	if len(got) != 2 || got[1].Line != 5 {
		t.Errorf("blank lines: %+v, want two rows, the second in line 5", got)
	}
	got = mustRead(t, "description,"+columns+"\n\"Mug, \"\"blue\"\"\nlarge\","+first+"\nx,"+second)
	if len(got) != 2 || got[0].Money != want[0].Money || got[1].Line != 4 {
		t.Errorf("comma, quotes and line break in a description: %+v, want two rows, the second in line 4", got)
	}
}

func TestStatementColumnsInAnyOrder(t *testing.T) {
	got := mustRead(t, "net,new_column,source_id,gross,reporting_category,fee,currency,created_utc,balance_transaction_id,payment_metadata[order_id],refund_metadata[refund_order_id]\n"+
		"-5.00,?,re_1,-5.00,refund,0,usd,2026-11-27 08:00:00,txn_1,A1,R1\n")
	if got[0].TransactionID != "re_1" || got[0].OrderID != "A1" || got[0].RefundOrderID != "R1" || got[0].Money != usd(500) {
		t.Errorf("%+v, want refund re_1, R1 of A1, 5.00 USD", got[0])
	}
}

func TestStatementTimes(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	both := "created,created_utc,currency,gross,fee,net,reporting_category,source_id,balance_transaction_id\n2026-11-28 07:00:00,2026-11-27 23:00:00,usd,1,0,1,charge,ch_1,txn_1\n"
	local := strings.ReplaceAll(strings.Replace(both, "created_utc,", "", 1), "2026-11-27 23:00:00,", "")
	want := time.Date(2026, 11, 27, 23, 0, 0, 0, time.UTC)
	for name, text := range map[string]string{"UTC column": both, "local column": local} {
		_, got, err := read(t, "report.csv", text, shanghai)
		if err != nil || !got[0].OccurredAt.Equal(want) || got[0].OccurredAt.Location() != time.UTC {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, want)
		}
	}
}

// A payout's report gathers several days; a day without movements is a header alone.
func TestStatementKinds(t *testing.T) {
	st, got, err := read(t, "stripe_payout_reconciliation.itemized.5_2026-11-27.csv", columns+"\n", time.UTC)
	if err != nil || !st.Compared || !st.Batch || got != nil {
		t.Errorf("%+v, %d entries, %v; want an empty batch", st, len(got), err)
	}
}

func FuzzReadStatement(f *testing.F) {
	for _, raw := range providertest.Statements(f, kit) {
		f.Add(raw)
	}
	f.Add([]byte("payout_id,effective_at,currency,gross,payout_status\npo_1,2026-11-27 08:00,usd,-1,paid\n"))
	f.Add([]byte(payoutFirst + "\n" + payoutFirst + "\n"))
	f.Add([]byte(payoutLast + "\n" + twoDays))
	f.Add([]byte("reporting_category,currency,count,gross,fee,net\ncharge,usd,2,20.00,1.00,19.00\n"))
	f.Add([]byte("category,description,net_amount,currency\nactivity,y,-1.00,usd\n"))
	f.Add([]byte("\ufeff\"a\nb\",c\n1,2\n"))
	p := mustNew(f, minimal)
	f.Fuzz(func(t *testing.T, text []byte) {
		providertest.Bounded(t, len(text), func() {
			st, err := p.ReadStatement("f.csv", bytes.NewReader(text), time.UTC, func(e models.Entry) error {
				if e.Kind == "" || e.TransactionID == "" || e.Line < 2 || e.Kind.Compared() && !e.Adjusts && e.Money.Minor < 0 {
					t.Errorf("entry %+v", e)
				}
				return nil
			})
			if fe := (*models.FileError)(nil); err != nil && !errors.As(err, &fe) {
				t.Errorf("%v, want a FileError", err)
			}
			if err == nil && (st.Title == "" || st.Batch && !st.Compared) {
				t.Errorf("statement %+v", st)
			}
		})
	})
}

func BenchmarkReadStatement(b *testing.B) {
	const row = "txn_1234567890,2026-11-27 08:15:01,usd,49.99,1.75,48.24,charge,ch_1234567890,45.10,eur,ch_1234567890,pi_1234567890,ORD-2026-1001\n"
	const rows = 100_000
	p := mustNew(b, minimal)
	for b.Loop() {
		r := io.MultiReader(strings.NewReader(columns+"\n"), strings.NewReader(strings.Repeat(row, rows)))
		if _, err := p.ReadStatement("r.csv", r, time.UTC, func(models.Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
