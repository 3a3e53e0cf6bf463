package reconcile_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"paybook/callback/generic"
	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// feeSettings are a generic provider's whose statements tell fees and payouts.
const feeSettings = `{"timezone":"Asia/Shanghai","signature":{"secrets":["s"],"from":"header:X-Signature","template":"{body}"},
 "fields":{"event_id":"$.id","event_type":"$.type","transaction_id":"$.txn","order_id":"$.order","amount":{"path":"$.amount","unit":"major"},
 "currency":"$.currency","occurred_at":"$.at"},"events":[{"type":"payment","event":"payment.succeeded"}],
 "statement":{"columns":{"transaction_id":"id","order_id":"order","kind":"kind","amount":"amount","fee":"fee","currency":"currency","status":"status",
 "occurred_at":"at","parent_id":"parent","payout_id":"payout"},"sign":"signed"}}`

func feeAccount(t testing.TB, rules ...reconcile.FeeRule) reconcile.Account {
	t.Helper()
	p, err := generic.New(json.RawMessage(feeSettings), ".")
	if err != nil {
		t.Fatal(err)
	}
	return reconcile.Account{Name: "shop", Provider: p, Zone: shanghai, Fees: rules}
}

// feeFile writes a statement of rows "id,order,kind,amount,fee,currency,status,at,parent,payout"; what is missing at the end is empty.
func feeFile(t testing.TB, rows ...string) string {
	t.Helper()
	text := "id,order,kind,amount,fee,currency,status,at,parent,payout\n"
	for _, row := range rows {
		text += row + strings.Repeat(",", 9-strings.Count(row, ",")) + "\n"
	}
	return file(t, "fees.csv", []byte(text))
}

func dec(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// feeOf runs one payment of an amount with a fee against rules, and says what is wrong with it: "1.30 for 1.20", or "".
func feeOf(t *testing.T, b *ledger.Ledger, n int, amount, fee, currency string, rules ...reconcile.FeeRule) string {
	t.Helper()
	id := fmt.Sprint("p", n)
	ledgertest.Order(t, b, "O-"+id, amount, currency)
	book(t, b, "shop", movement{Kind: models.Payment, TransactionID: id, OrderID: "O-" + id, Amount: amount, Currency: currency, Status: "succeeded",
		OccurredAt: "2026-11-28T10:00:00+08:00"})
	r, err := reconcile.Run(t.Context(), b, feeAccount(t, rules...), reconcile.Files(feeFile(t, fmt.Sprintf("%s,O-%s,payment,%s,%s,%s,success,2026-11-28 10:00:00",
		id, id, amount, fee, currency))), day(t, "2026-11-28"), reconcile.Options{Now: noon, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Gaps, func(g reconcile.GapReport) bool { return g.TransactionID == id })
	if i < 0 {
		return ""
	}
	g := r.Gaps[i]
	if g.Kind != models.GapFee || !slices.Equal(g.Differs, []string{"fee"}) || g.Statement.Amount != g.Ledger.Amount {
		t.Errorf("gap is %+v", g)
	}
	return g.Statement.Fee + " for " + g.Ledger.Fee
}

// What a schedule asks for, to the last cent: each row is a rule, an amount with the fee that the statement has, and what is wrong with it.
func TestFeeSchedules(t *testing.T) {
	b := sqlite(t)
	pay := func(change func(f *reconcile.FeeRule)) reconcile.FeeRule {
		f := reconcile.FeeRule{Kind: models.Payment, Currency: "CNY", Rate: dec("0.006")}
		change(&f)
		return f
	}
	plain := pay(func(*reconcile.FeeRule) {})
	rounded := func(r reconcile.Rounding) reconcile.FeeRule {
		return pay(func(f *reconcile.FeeRule) { f.Rounding = r })
	}
	capped := pay(func(f *reconcile.FeeRule) { f.Min, f.Cap = dec("0.08"), dec("20") })
	cents := pay(func(f *reconcile.FeeRule) { f.Currency, f.Rate, f.Fixed = "USD", dec("0.029"), dec("0.30") })
	tolerant := pay(func(f *reconcile.FeeRule) { f.Tolerance = dec("0.01") })
	anyCurrency := reconcile.FeeRule{Kind: models.Payment, Rate: dec("0.03")}
	for n, c := range []struct {
		rules                       []reconcile.FeeRule
		amount, fee, currency, want string
	}{
		{nil, "100.00", "99.00", "CNY", ""},
		{[]reconcile.FeeRule{plain}, "100.00", "0.60", "CNY", ""},
		{[]reconcile.FeeRule{plain}, "100.00", "0.61", "CNY", "0.61 for 0.60"},
		{[]reconcile.FeeRule{plain}, "100.00", "0", "CNY", "0.00 for 0.60"},
		{[]reconcile.FeeRule{plain}, "100.00", "-0.60", "CNY", "-0.60 for 0.60"},
		{[]reconcile.FeeRule{plain}, "100.00", "0.61", "USD", ""}, // no rule fits
		{[]reconcile.FeeRule{plain}, "0.01", "0", "CNY", ""},      // 0.00006
		{[]reconcile.FeeRule{plain}, "12.50", "0.08", "CNY", ""},  // 0.075, half up
		{[]reconcile.FeeRule{rounded(reconcile.RoundHalfEven)}, "12.50", "0.08", "CNY", ""},
		{[]reconcile.FeeRule{rounded(reconcile.RoundHalfEven)}, "7.50", "0.04", "CNY", ""}, // 0.045
		{[]reconcile.FeeRule{plain}, "7.50", "0.05", "CNY", ""},
		{[]reconcile.FeeRule{rounded(reconcile.RoundUp)}, "100.01", "0.61", "CNY", ""},
		{[]reconcile.FeeRule{rounded(reconcile.RoundDown)}, "100.99", "0.60", "CNY", ""},
		{[]reconcile.FeeRule{rounded(reconcile.RoundDown)}, "100.99", "0.61", "CNY", "0.61 for 0.60"},
		{[]reconcile.FeeRule{capped}, "1.00", "0.08", "CNY", ""},
		{[]reconcile.FeeRule{capped}, "3333.33", "20.00", "CNY", ""},
		{[]reconcile.FeeRule{capped}, "5000.00", "30.00", "CNY", "30.00 for 20.00"},
		{[]reconcile.FeeRule{cents}, "49.99", "1.75", "USD", ""},
		{[]reconcile.FeeRule{cents}, "49.99", "1.74", "USD", "1.74 for 1.75"},
		{[]reconcile.FeeRule{tolerant}, "100.00", "0.61", "CNY", ""},
		{[]reconcile.FeeRule{tolerant}, "100.00", "0.59", "CNY", ""},
		{[]reconcile.FeeRule{tolerant}, "100.00", "0.62", "CNY", "0.62 for 0.60"},
		{[]reconcile.FeeRule{anyCurrency}, "12800", "384", "JPY", ""},
		{[]reconcile.FeeRule{anyCurrency}, "12800", "385", "JPY", "385 for 384"},
		{[]reconcile.FeeRule{anyCurrency}, "5.120", "0.154", "KWD", ""},
		{[]reconcile.FeeRule{anyCurrency}, "90071992547409.93", "2702159776422.30", "EUR", ""}, // 2^53 cents and one: 2702159776422.2979
		{[]reconcile.FeeRule{cents, plain, anyCurrency}, "100.00", "0.60", "CNY", ""},          // the first that fits
		{[]reconcile.FeeRule{anyCurrency, plain}, "100.00", "0.60", "CNY", "0.60 for 3.00"},
	} {
		if got := feeOf(t, b, n, c.amount, c.fee, c.currency, c.rules...); got != c.want {
			t.Errorf("%d: fee %s of %s %s: %q, want %q", n, c.fee, c.amount, c.currency, got, c.want)
		}
	}
}

// A rule is valid by the business day of the row, in the account's zone.
func TestFeeRulesHaveDays(t *testing.T) {
	b := sqlite(t)
	old := reconcile.FeeRule{Kind: models.Payment, Rate: dec("0.006"), Until: day(t, "2026-11-27")}
	fresh := reconcile.FeeRule{Kind: models.Payment, Rate: dec("0.0038"), From: day(t, "2026-11-28"), Until: day(t, "2026-11-28")}
	if got := feeOf(t, b, 1, "100.00", "0.38", "CNY", old, fresh); got != "" {
		t.Errorf("the day's own rate: %q", got)
	}
	later := fresh
	later.From, later.Until = day(t, "2026-11-29"), reconcile.Day{}
	if got := feeOf(t, b, 2, "100.00", "5.00", "CNY", old, later); got != "" {
		t.Errorf("no rule is valid on the day: %q", got)
	}
}

// What becomes of the fee when its payment is refunded.
func TestFeesOfRefunds(t *testing.T) {
	for refunds, want := range map[reconcile.RefundFees]string{
		"":                           "",
		reconcile.FeesReturned:       "-0.45 for -0.59",
		reconcile.FeesProportional:   "-0.45 for -0.29",
		reconcile.FeesKept:           "-0.45 for 0.00",
		"returned, with a tolerance": "",
	} {
		t.Run(string(refunds), func(t *testing.T) {
			b := sqlite(t)
			f := reconcile.FeeRule{Kind: models.Payment, Currency: "USD", Rate: dec("0.029"), Fixed: dec("0.30"), Refunds: refunds}
			if strings.Contains(string(refunds), ",") {
				f.Refunds, f.Tolerance = reconcile.FeesReturned, dec("0.14")
			}
			at := "2026-11-28T10:00:00+08:00"
			ledgertest.Order(t, b, "O-1", "20.00", "USD")
			book(t, b, "shop", movement{Kind: models.Payment, TransactionID: "p1", OrderID: "O-1", Amount: "20.00", Currency: "USD", Status: "succeeded", OccurredAt: at},
				movement{Kind: models.Refund, TransactionID: "r1", ParentID: "p1", OrderID: "O-1", Amount: "10.00", Currency: "USD", Status: "succeeded", OccurredAt: at})
			r := run(t, b, feeAccount(t, f), "2026-11-28", feeFile(t, "p1,O-1,payment,20.00,0.88,USD,success,2026-11-28 10:00:00",
				"r1,O-1,refund,-10.00,-0.45,USD,success,2026-11-28 10:00:00,p1"))
			got := ""
			for _, g := range r.Gaps {
				got += g.TransactionID + " " + g.Statement.Fee + " for " + g.Ledger.Fee
				if !strings.Contains(g.Reason, "of refunds "+string(f.Refunds)) || !strings.Contains(g.Reason, "fees[0]: 2.9% + 0.3") {
					t.Errorf("reason %q", g.Reason)
				}
			}
			if want != "" {
				want = "r1 " + want
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// What was capped when it was charged is capped when it comes back: a refund never returns more than its payment has cost.
func TestFeesOfRefundsAreCapped(t *testing.T) {
	for refunds, want := range map[reconcile.RefundFees]string{reconcile.FeesReturned: "-25.00", reconcile.FeesProportional: "-25.00", reconcile.FeesKept: "0.00"} {
		t.Run(string(refunds), func(t *testing.T) {
			b := sqlite(t)
			f := reconcile.FeeRule{Kind: models.Payment, Currency: "CNY", Rate: dec("0.006"), Cap: dec("25"), Refunds: refunds}
			at := "2026-11-28T10:00:00+08:00"
			ledgertest.Order(t, b, "O-1", "10000.00", "CNY")
			book(t, b, "shop", movement{Kind: models.Payment, TransactionID: "p1", OrderID: "O-1", Amount: "10000.00", Currency: "CNY", Status: "succeeded", OccurredAt: at},
				movement{Kind: models.Refund, TransactionID: "r1", ParentID: "p1", OrderID: "O-1", Amount: "10000.00", Currency: "CNY", Status: "succeeded", OccurredAt: at})
			r := run(t, b, feeAccount(t, f), "2026-11-28", feeFile(t, "p1,O-1,payment,10000.00,25.00,CNY,success,2026-11-28 10:00:00",
				"r1,O-1,refund,-10000.00,-60.00,CNY,success,2026-11-28 10:00:00,p1"))
			if len(r.Gaps) != 1 || r.Gaps[0].Ledger.Fee != want || !strings.Contains(r.Gaps[0].Reason, "0.6%, at most 25.00") {
				t.Errorf("%+v, want a fee of %s", r.Gaps, want)
			}
		})
	}
}

// Of a pair that differs in more than the fee, the fee names the gap last; a corrected statement heals, and a person's word holds while the
// fee stays as it is.
func TestLifeOfAFeeGap(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t, reconcile.FeeRule{Kind: models.Payment, Currency: "CNY", Rate: dec("0.006")})
		paid(t, b, "p1 2026-11-28 10:00:00", "p2 2026-11-28 10:00:00")
		ledgertest.Order(t, b, "O-p3", "25.00", "CNY") // and 20.00 are paid
		book(t, b, "shop", movement{Kind: models.Payment, TransactionID: "p3", OrderID: "O-p3", Amount: "20.00", Currency: "CNY", Status: "succeeded", OccurredAt: "2026-11-28T10:00:00+08:00"})
		row := func(id, amount, fee string) string {
			return fmt.Sprintf("%s,O-%s,payment,%s,%s,CNY,success,2026-11-28 10:00:00", id, id, amount, fee)
		}
		r := run(t, b, a, "2026-11-28", feeFile(t, row("p1", "20.00", "0.13"), row("p2", "21.00", "0.30"), row("p3", "20.00", "0.20")))
		wantRun(t, r, "3 0", "fee_mismatch payment p1", "amount_mismatch payment p2", "amount_mismatch payment p3")
		for _, g := range r.Gaps {
			want := map[string]string{"p1": "fee", "p2": "amount fee", "p3": "amount fee"}[g.TransactionID]
			if strings.Join(g.Differs, " ") != want || !strings.Contains(g.Reason, "the fee schedule asks for 0.1") || g.Statement.Fee == "" || g.Ledger.Fee == "" {
				t.Errorf("%s differs by %q (%q), sides %+v, %+v", g.TransactionID, g.Differs, g.Reason, g.Statement, g.Ledger)
			}
		}
		fee := r.Gaps[slices.IndexFunc(r.Gaps, func(g reconcile.GapReport) bool { return g.Kind == models.GapFee })]
		if fee.Reason != "the statement's fee is 0.13 CNY, the fee schedule asks for 0.12 CNY (fees[0]: 0.6%): 0.01 too much" || fee.Next != "app gaps resolve "+fee.ID+` --reason "asked the provider"` {
			t.Errorf("reason %q, next %q", fee.Reason, fee.Next)
		}
		if again := run(t, b, a, "2026-11-28", feeFile(t, row("p1", "20.00", "0.13"), row("p2", "21.00", "0.30"), row("p3", "20.00", "0.20"))); again.RunID != r.RunID {
			t.Errorf("the same again is another run")
		}
		if _, err := b.ResolveGap(t.Context(), fee.ID, "agreed"); err != nil {
			t.Fatal(err)
		}
		wantRun(t, run(t, b, a, "2026-11-28", feeFile(t, row("p1", "20.00", "0.13"), row("p2", "20.00", "0.12"), row("p3", "20.00", "0.12"))), "3 1",
			"amount_mismatch payment p3", "healed: amount_mismatch payment p2")
		wantRun(t, run(t, b, a, "2026-11-28", feeFile(t, row("p1", "20.00", "0.14"), row("p2", "20.00", "0.12"), row("p3", "20.00", "0.12"))), "3 1",
			"fee_mismatch payment p1", "amount_mismatch payment p3", "healed: amount_mismatch payment p2")
		wantRun(t, run(t, b, a, "2026-11-28", feeFile(t, row("p1", "20.00", "0.12"), row("p2", "20.00", "0.12"), row("p3", "20.00", "0.12"))), "3 2",
			"amount_mismatch payment p3", "healed: amount_mismatch payment p2", "healed: fee_mismatch payment p1")
	})
}

// A row given twice, a row near midnight whose callback comes later, and one whose money has not moved.
func TestFeesOfOddRows(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		a := feeAccount(t, reconcile.FeeRule{Kind: models.Payment, Rate: dec("0.006")})
		paid(t, b, "p1 2026-11-28 10:00:00", "p4 2026-11-28 12:00:00")
		twice := "p1,O-p1,payment,20.00,0.10,CNY,success,2026-11-28 10:00:00"
		r := run(t, b, a, "2026-11-28", feeFile(t, twice, twice, "p2,O-p2,payment,20.00,0.10,CNY,success,2026-11-28 23:59:58",
			"p3,O-p3,payment,20.00,0.00,CNY,failed,2026-11-28 11:00:00", "p4,O-p4,payment,20.00,,CNY,success,2026-11-28 12:00:00"))
		wantRun(t, r, "4 0", "duplicate_entry payment p1", "fee_mismatch payment p1", "fee_mismatch payment p4", "carried: missing_local payment p2")
		paid(t, b, "p2 2026-11-29 00:00:01")
		next := run(t, b, a, "2026-11-29", feeFile(t))
		wantRun(t, next, "0 0", "fee_mismatch payment p2 of 2026-11-28")
		if g := next.Gaps[0]; g.Statement.Fee != "0.10" || g.Ledger == nil || g.Ledger.Fee != "0.12" {
			t.Errorf("the row near midnight: %+v, %+v", g.Statement, g.Ledger)
		}
	})
}

// A statement without a column for fees says nothing of them.
func TestFeesThatNobodyTellsAreNotChecked(t *testing.T) {
	b := sqlite(t)
	a := plainAccount(t)
	a.Fees = []reconcile.FeeRule{{Kind: models.Payment, Rate: dec("0.006")}}
	paid(t, b, "p1 2026-11-28 10:00:00")
	wantRun(t, run(t, b, a, "2026-11-28", statement(t, "p1 2026-11-28 10:00:00")), "1 1")
}

// The prices that the kits' statements were made by are said in a line each. Of Stripe's, what was converted costs more.
func TestFeesOfTheKits(t *testing.T) {
	converted, kept := true, false
	for _, kit := range []struct {
		name, date, file string
		fees             []reconcile.FeeRule
		want             []string
	}{
		{"wechatpay", "2026-11-29", "tradebill_ALL_2026-11-29.csv", []reconcile.FeeRule{{Kind: models.Payment, Currency: "CNY", Rate: dec("0.006"), Refunds: reconcile.FeesProportional}}, nil},
		{"alipay", "2026-11-29", "20880000000000190156_20261129.csv.zip", []reconcile.FeeRule{{Kind: models.Payment, Rate: dec("0.006"), Refunds: reconcile.FeesReturned}}, nil},
		{"unionpay", "2026-11-29", "777000000000001_20261129.zip", []reconcile.FeeRule{{Kind: models.Payment, Currency: "CNY", Rate: dec("0.006"), Cap: dec("20"), Refunds: reconcile.FeesReturned}}, nil},
		{"stripe", "2026-11-27", "balance_change_from_activity_itemized_2026-11-27.csv", []reconcile.FeeRule{
			{Kind: models.Payment, Converted: &converted, FeeCurrency: "USD", Rate: dec("0.029"), Fixed: dec("0.30")},
			{Kind: models.Payment, Converted: &kept, Currency: "USD", Rate: dec("0.029"), Fixed: dec("0.30"), Refunds: reconcile.FeesKept},
			{Kind: models.Chargeback, Currency: "USD", Fixed: dec("15")}},
			[]string{"ch_TEST1003 3.12 USD for 2.69 USD", "ch_TEST1005 0.97 USD for 0.78 USD"}},
		{"paypal", "2026-11-27", "STL-20261127.01.009.CSV", []reconcile.FeeRule{
			{Kind: models.Payment, Currency: "USD", Rate: dec("0.0349"), Fixed: dec("0.49"), Refunds: reconcile.FeesKept}}, []string{"0TESTCAP2001X 2.24 for 2.23"}},
		{"adyen", "2026-11-27", "settlement_detail_report_batch_42.csv", []reconcile.FeeRule{{Kind: models.Refund, Rate: dec("0")}, {Kind: models.Chargeback, FeeCurrency: "EUR", Fixed: dec("7.50")}}, nil},
	} {
		t.Run(kit.name, func(t *testing.T) {
			b := sqlite(t)
			p := openKit(t, kit.name)
			playKit(t, b, p, kit.name)
			r := run(t, b, reconcile.Account{Name: kit.name, Provider: p, Fees: kit.fees}, kit.date, filepath.Join(testdata, kit.name, "statements", kit.file))
			var got []string
			for _, g := range r.Gaps {
				if g.Kind == models.GapFee {
					got = append(got, g.TransactionID+" "+g.Statement.Fee+" for "+g.Ledger.Fee)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, kit.want) {
				t.Errorf("wrong fees %q, want %q", got, kit.want)
			}
		})
	}
}

// TestFeeRuleText: sums have their currency's decimals, and no digit of a finer price is hidden.
func TestFeeRuleText(t *testing.T) {
	for want, rule := range map[string]reconcile.FeeRule{
		"2.9% + 0.30":                {Rate: decimal.RequireFromString("0.029"), Fixed: decimal.RequireFromString("0.3"), Currency: "USD"},
		"0.305":                      {Fixed: decimal.RequireFromString("0.305"), Currency: "USD"},
		"3.6%, at most 300":          {Rate: decimal.RequireFromString("0.036"), Cap: decimal.NewFromInt(300), Currency: "JPY"},
		"0.6%, at least 0.05":        {Rate: decimal.RequireFromString("0.006"), Min: decimal.RequireFromString("0.05")},
		"1% + 0.100, at most 20.000": {Rate: decimal.RequireFromString("0.01"), Fixed: decimal.RequireFromString("0.1"), Cap: decimal.NewFromInt(20), Currency: "KWD"},
	} {
		if got := rule.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
