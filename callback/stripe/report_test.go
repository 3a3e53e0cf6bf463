package stripe_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

// The columns as a payout reconciliation is asked for, and as every itemized report has them by default.
const (
	payoutFirst = "automatic_payout_id,automatic_payout_effective_at_utc,balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,customer_facing_amount,customer_facing_currency,charge_id,payment_intent_id,payment_metadata[order_id]"
	payoutLast  = "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,automatic_payout_id,automatic_payout_effective_at_utc"
	twoDays     = "txn_1,2026-11-26 08:00:00,usd,10.00,0.59,9.41,charge,ch_1,po_1,2026-11-29 00:00:00\ntxn_2,2026-11-27 08:00:00,usd,-4.00,0,-4.00,refund,re_1,po_1,2026-11-29 00:00:00\n"
)

// A payout's report holds all kinds of rows, of several days and payouts; each is compared like a row of the daily report.
func TestPayoutReconciliation(t *testing.T) {
	text := payoutFirst + "\n" +
		"po_1,2026-11-29 00:00:00,txn_1,2026-11-25 08:00:00,usd,49.99,1.75,48.24,charge,ch_1,49.99,usd,ch_1,pi_1,A1\n" +
		"po_1,2026-11-29 00:00:00,txn_2,2026-11-26 09:00:00,usd,82.56,3.12,79.44,charge,ch_2,12800,jpy,ch_2,pi_2,A2\n" +
		"po_1,2026-11-29 00:00:00,txn_3,2026-11-26 10:00:00,usd,16.64,0.97,15.67,charge,py_3,5.120,kwd,py_3,pi_3,A3\n" +
		"po_1,2026-11-29 00:00:00,txn_4,2026-11-27 10:00:00,usd,-75.00,15.00,-90.00,dispute,dp_1,-75.00,usd,ch_1,pi_1,A1\n" +
		"po_2,2026-11-30 00:00:00,txn_5,2026-11-28 10:00:00,usd,75.00,-15.00,90.00,dispute_reversal,dp_1,75.00,usd,ch_1,pi_1,A1\n" +
		"po_2,2026-11-30 00:00:00,txn_6,2026-11-28 11:00:00,usd,5.00,0,5.00,refund_failure,re_1,5.00,usd,ch_1,pi_1,A1\n" +
		"po_2,2026-11-30 00:00:00,txn_7,2026-11-28 12:00:00,usd,-0.50,0,-0.50,fee,,,,,,\n" +
		"po_2,2026-11-30 00:00:00,txn_8,2026-11-28 13:00:00,usd,-20.00,0,-20.00,transfer,tr_1,,,,,\n" +
		"po_2,2026-11-30 00:00:00,txn_9,2026-11-28 14:00:00,usd,-3.00,0,-3.00,other_adjustment,,,,,,\n" +
		"po_2,2026-11-30 00:00:00,txn_10,2026-11-30 00:00:00,usd,-71.50,0,-71.50,payout,po_2,,,,,\n"
	st, got, err := read(t, "report.csv", text, time.UTC)
	if err != nil || !st.Compared || !st.Batch || st.Totals || st.Title != "payout reconciliation report" {
		t.Fatalf("%+v, %v; want a compared batch", st, err)
	}
	want := []string{
		"payment ch_1  49.99 USD fee 1.75 USD", "payment ch_2  12800 JPY fee 3.12 USD", "payment py_3  5.120 KWD fee 0.97 USD",
		"chargeback dp_1 ch_1 75.00 USD fee 15.00 USD", "chargeback_reversal dp_1 ch_1 75.00 USD fee -15.00 USD",
		"refund_reversal re_1 ch_1 5.00 USD fee 0.00 USD", "fee txn_7  0.50 USD fee 0.00 USD", "adjustment tr_1  -20.00 USD fee 0.00 USD",
		"adjustment txn_9  -3.00 USD fee 0.00 USD", "payout po_2  71.50 USD fee 0.00 USD",
	}
	for i, e := range got {
		if text := fmt.Sprintf("%s %s %s %s fee %s", e.Kind, e.TransactionID, e.ParentID, e.Money, e.Fee); len(got) != len(want) || text != want[i] {
			t.Errorf("row %d: %s, want %s", i, text, want[i])
		}
	}
}

// Which itemized report it is: by name, then by the header, then by the rows. A day's report must stay one, or that of another
// day would be taken.
func TestWhichReport(t *testing.T) {
	const oneDay = "txn_1,2026-11-26 08:00:00,usd,10.00,0.59,9.41,charge,ch_1,po_1,2026-11-29 00:00:00\n"
	unpaid := strings.Replace(twoDays, "po_1", "", 1)
	for _, tc := range []struct {
		why, name, text string
		batch           bool
	}{
		{"its name", "payout_reconciliation.itemized.5_2026-11-29.csv", payoutLast + "\n" + oneDay, true},
		{"its name", "stripe_payout_reconciliation.by_id.itemized.4_po_1.csv", payoutLast + "\n" + oneDay, true},
		{"its name in a dashboard's words", "Itemized payout-reconciliation USD 2026-11-29.csv", payoutLast + "\n" + oneDay, true},
		{"a connected account's", "connected_account_payout_reconciliation.itemized.5.csv", payoutLast + "\n" + oneDay, true},
		{"the payout in front", "r.csv", payoutFirst + "\n", true},
		{"the payout's trace id", "r.csv", payoutLast + ",trace_id\n" + strings.ReplaceAll(oneDay, "\n", ",\n"), true},
		{"several days, all paid out", "r.csv", payoutLast + "\n" + twoDays, true},
		{"its name", "balance_change_from_activity.itemized.3.csv", payoutLast + "\n" + twoDays, false},
		{"its name", "Itemized_balance_change_from_activity_USD.csv", payoutFirst + "\n", false},
		{"one day", "r.csv", payoutLast + "\n" + oneDay, false},
		{"not all paid out", "r.csv", payoutLast + "\n" + unpaid, false},
		{"no rows", "r.csv", payoutLast + "\n", false},
		{"no payouts", "r.csv", columns + "\n", false},
	} {
		st, _, err := read(t, tc.name, tc.text, time.UTC)
		if err != nil || st.Batch != tc.batch || !st.Compared || (st.Title == "payout reconciliation report") != tc.batch {
			t.Errorf("%s (%s): %+v, %v; want batch %v", tc.name, tc.why, st, err, tc.batch)
		}
	}
	shanghai := time.FixedZone("UTC+8", 8*3600)
	text := strings.Replace(payoutLast+"\n"+twoDays, "2026-11-26 08:00:00", "2026-11-26 23:00:00", 1)
	if st, _, err := read(t, "r.csv", text, shanghai); err != nil || st.Batch {
		t.Errorf("two UTC days that are one of the zone: %+v, %v; want no batch", st, err)
	}
}

// Files put behind one another repeat the header; any other header is another report.
func TestSections(t *testing.T) {
	section := payoutLast + "\n" + twoDays
	_, got, err := read(t, "r.csv", section+section+"\n"+section, time.UTC)
	if err != nil || len(got) != 6 || got[2].Line != 5 {
		t.Errorf("%d entries, %v; want those of three sections", len(got), err)
	}
	if _, got, err := read(t, "r.csv", section+strings.Replace(section, "gross,fee", "fee,gross", 1), time.UTC); err == nil {
		t.Errorf("a section with other columns: %d entries, want it refused", len(got))
	}
}

// What is known and not compared gives no rows, and is read to its end all the same.
func TestNotComparedReports(t *testing.T) {
	const byCategory = "reporting_category,currency,count,gross,fee,net\n"
	for name, tc := range map[string]struct{ text, title string }{
		"ending_balance_reconciliation.itemized.4.csv": {payoutLast + "\n" + twoDays, "ending balance reconciliation report"},
		"balance_change_from_activity.summary.1.csv":   {byCategory + "charge,usd,2,20.00,1.00,19.00\n", "summary report"},
		"payout_reconciliation.summary.1.csv":          {byCategory + "refund,jpy,2,-2000,0,-2000\n", "summary report"},
		"payouts.summary.1.csv":                        {byCategory, "summary report"},
		"balance.summary.1.csv":                        {"category,description,net_amount,currency\nstarting_balance,x,12.50,usd\nactivity,y,-1.00,usd\n", "summary report"},
	} {
		st, got, err := read(t, name, tc.text, time.UTC)
		if err != nil || !reflect.DeepEqual(st, models.Statement{Title: tc.title}) || len(got) != 0 {
			t.Errorf("%s: %+v, %d entries, %v; want a %s without entries", name, st, len(got), err, tc.title)
		}
		if _, _, err := read(t, name, tc.text+"cut", time.UTC); err == nil {
			t.Errorf("%s: a damaged row was taken", name)
		}
	}
}

func TestConnectedAccountsReport(t *testing.T) {
	text := strings.Replace(payoutLast, "source_id", "source_id,connected_account", 1) + "\n" + strings.NewReplacer("ch_1", "ch_1,acct_ours", "re_1", "re_1,acct_theirs").Replace(twoDays)
	for accounts, want := range map[string]string{`["acct_ours","acct_theirs"]`: "", `["acct_ours"]`: `row 3: column connected_account: "acct_theirs"`, `[]`: `row 2: column connected_account: "acct_ours"`} {
		p := mustNew(t, `{"signing_secrets":["whsec_test_new"],"accounts":`+accounts+`}`)
		_, err := p.ReadStatement("r.csv", strings.NewReader(text), time.UTC, func(models.Entry) error { return nil })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("accounts %s: %v, want %q", accounts, err, want)
		}
	}
	ours := strings.Replace(columns, "charge_id", "connected_account_id", 1) + "\ntxn_1,2026-11-27 08:00:00,usd,10.00,0,10.00,transfer,tr_1,,,acct_theirs,,\n"
	if got := mustRead(t, ours); len(got) != 1 {
		t.Errorf("a platform's own transfer to somebody: %+v, want it taken", got)
	}
}

// A payouts report has the words of the API; a payout that came back is one row with its last status.
func TestPayoutWords(t *testing.T) {
	for word, want := range map[string]models.TransactionStatus{
		"paid": models.StatusSucceeded, "pending": models.StatusPending, "in_transit": models.StatusPending, "failed": models.StatusFailed,
		"canceled": models.StatusFailed, "melted": models.StatusUnknown, "": models.StatusUnknown,
	} {
		st, got, err := read(t, "payouts.csv", "payout_status,payout_id,effective_at,currency,gross\n"+word+",po_1,2026-11-29 00:00:00,HUF,-1200.00\n", time.FixedZone("UTC+1", 3600))
		if err != nil || st.Compared || len(got) != 1 || got[0].Status != want || got[0].Money != (models.Money{Minor: 120000, Currency: "HUF"}) ||
			!got[0].OccurredAt.Equal(time.Date(2026, 11, 28, 23, 0, 0, 0, time.UTC)) {
			t.Errorf("%q: %+v, %+v, %v; want %s", word, st, got, err, want)
		}
	}
}

// Reports may be asked for with a decimal comma; 1,234 could then be two sums.
func TestDecimalCommaIsRefused(t *testing.T) {
	for _, amount := range []string{`"10,00"`, `"1.234,56"`, `"1,234"`} {
		_, _, err := read(t, "r.csv", columns+"\ntxn_1,2026-11-27 08:00:00,usd,"+amount+",0,10.00,charge,ch_1,,,,,\n", time.UTC)
		if fe := (*models.FileError)(nil); !errors.As(err, &fe) || fe.Column != "gross" {
			t.Errorf("%s: %v, want column gross refused", amount, err)
		}
	}
}

func TestLongReportsNeedNoMemory(t *testing.T) {
	providertest.Flat(t, mustNew(t, minimal), "report.csv", providertest.Big{
		Head: payoutLast + "\n",
		Row: func(i int) string {
			return fmt.Sprintf("txn_%09d,2026-11-27 08:00:00,usd,10.00,0.59,9.41,charge,ch_%09d,po_1,2026-11-29 00:00:00\n", i, i)
		},
		Tail: func(int) string { return "" },
	})
}
