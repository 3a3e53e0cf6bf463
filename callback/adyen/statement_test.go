package adyen_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

const columns = "Company Account,Merchant Account,Psp Reference,Merchant Reference,Creation Date,TimeZone,Type,Modification Reference,Gross Currency," +
	"Gross Debit (GC),Gross Credit (GC),Exchange Rate,Net Currency,Net Debit (NC),Net Credit (NC),Commission (NC),Markup (NC),Scheme Fees (NC),Interchange (NC)," +
	"Modification Merchant Reference,Batch Number"

var amsterdam = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Amsterdam")
	if err != nil {
		panic(err)
	}
	return zone
}()

// row is a row of the columns, from the cells that matter: psp, type, modification, gross currency, debit, credit, net debit, net
// credit and the four fees, between bars. Net is in EUR.
func row(cells string) string {
	c := strings.Split(cells, "|")
	for len(c) < 12 {
		c = append(c, "")
	}
	return strings.Join([]string{"Company", shop, c[0], "O-" + c[0], "2026-11-27 10:00:00", "CET", c[1], c[2], c[3], c[4], c[5], "1", "EUR", c[6], c[7],
		c[8], c[9], c[10], c[11], "", "7"}, ",")
}

// report is a whole report of these rows; the payout is what a row of type MerchantPayout takes, "" for no such row.
func report(payout string, rows ...string) string {
	text := columns + "\n"
	for _, r := range rows {
		text += r + "\n"
	}
	if payout != "" {
		text += row("|MerchantPayout|TX1XT batch 7||||"+payout) + "\n"
	}
	return text
}

func read(tb testing.TB, more, text string) (models.Statement, []models.Entry, error) {
	tb.Helper()
	var out []models.Entry
	st, err := mustNew(tb, settings(more)).ReadStatement("settlement_detail_report_batch_7.csv", strings.NewReader(text), amsterdam, func(e models.Entry) error {
		out = append(out, e)
		return nil
	})
	return st, out, err
}

func mustRead(tb testing.TB, text string) []models.Entry {
	tb.Helper()
	st, out, err := read(tb, "", text)
	if err != nil || !st.Compared || !st.Batch || !st.Totals {
		tb.Fatalf("%+v, %v; want a compared batch with totals", st, err)
	}
	return out
}

// fails checks that the text is refused with a *models.FileError that says all of want.
func fails(tb testing.TB, what, text string, want ...string) {
	tb.Helper()
	_, _, err := read(tb, "", text)
	var fileError *models.FileError
	if !errors.As(err, &fileError) {
		tb.Errorf("%s: ReadStatement = %v, want a *models.FileError", what, err)
		return
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			tb.Errorf("%s: %v, want it to say %q", what, err, part)
		}
	}
}

const settled = "PSP1|Settled|CAP1|EUR||50.00||49.50||0.30|0.05|0.15"

func TestRecordedStatement(t *testing.T) {
	raw, err := os.ReadFile(kit + "/statements/settlement_detail_report_batch_42.csv")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(kit + "/config.json")
	if err != nil {
		t.Fatal(err)
	}
	var got []models.Entry
	st, err := mustNew(t, string(config)).ReadStatement("x.csv", strings.NewReader(string(raw)), amsterdam, func(e models.Entry) error {
		got = append(got, e)
		return nil
	})
	if want := (models.Statement{Compared: true, Title: "settlement details report", Batch: true, WholePayouts: true, Totals: true}); err != nil || !reflect.DeepEqual(st, want) || len(got) != 16 {
		t.Fatalf("%+v, %d entries, %v; want %+v, 16 entries", st, len(got), err, want)
	}
	at := func(text string) time.Time { v, _ := time.Parse(time.DateTime, text); return v }
	jpy := models.Money{Minor: 12800, Currency: "JPY"}
	for i, want := range map[int]models.Entry{
		1: {Kind: models.Payment, TransactionID: "TESTPSP00003011A", Aliases: []string{"TESTPSP0000C011A"}, OrderID: `ORD:2026/3011\x`, Money: eur(999), Fee: eur(11),
			Part: true, Status: models.StatusSucceeded, StatusText: "Settled", OccurredAt: at("2026-11-27 08:16:00"), Line: 3},
		3: {Kind: models.Payment, TransactionID: "TESTPSP00003003A", Aliases: []string{"TESTPSP0000C003A"}, OrderID: "ORD-2026-3003", Money: jpy, Fee: eur(78), Gross: eur(7808),
			Part: true, Status: models.StatusSucceeded, StatusText: "Settled", OccurredAt: at("2026-11-27 09:00:00"), Line: 5},
		12: {Kind: models.Refund, TransactionID: "TESTPSP00003203A", ParentID: "TESTPSP00003003A", OrderID: "ORD-2026-3003", Money: jpy, Fee: eur(0), Gross: eur(-7808),
			Status: models.StatusSucceeded, StatusText: "Refunded", OccurredAt: at("2026-11-27 12:00:00"), Line: 14},
		13: {Kind: models.Chargeback, TransactionID: "TESTPSP00003301A", ParentID: "TESTPSP00003004A", OrderID: "ORD-2026-3004", Money: eur(7500), Fee: eur(750),
			Status: models.StatusSucceeded, StatusText: "Chargeback", OccurredAt: at("2026-11-27 15:00:00"), Line: 15},
		14: {Kind: models.EntryFee, TransactionID: "42:Fee:Transaction Fees November 2026:-1.20:16", Money: eur(120), Fee: eur(0),
			Status: models.StatusSucceeded, StatusText: "Fee", OccurredAt: at("2026-11-28 19:11:00"), Line: 16},
		15: {Kind: models.Payout, TransactionID: "TXTEST4200XT batch 42, ExampleShopECOM", Money: eur(17598), Fee: eur(0),
			Status: models.StatusSucceeded, StatusText: "MerchantPayout", OccurredAt: at("2026-11-28 19:11:00"), Line: 17},
	} {
		if want.PayoutID = "42"; !reflect.DeepEqual(got[i], want) {
			t.Errorf("row %d\n got %+v\nwant %+v", want.Line, got[i], want)
		}
	}
}

func TestRowTypes(t *testing.T) {
	for _, tc := range []struct {
		typ, cells string // cells behind the type
		kind       models.TransactionKind
		money      int64
		net        string // what remains for the payout
	}{
		{"Settled", "M1|EUR||5.00||4.80|0.20", models.Payment, 500, "4.80"},
		{"SettledExternally", "M1|EUR||5.00", models.Payment, 500, ""},
		{"Refunded", "M1|EUR|5.00||5.00", models.Refund, 500, "-5.00"},
		{"RefundedExternally", "M1|EUR|5.00", models.Refund, 500, ""},
		{"RefundedReversed", "M1|EUR||5.00||5.00", models.RefundReversal, 500, "5.00"},
		{"Chargeback", "M1|EUR|5.00||12.50|||7.50", models.Chargeback, 500, "-12.50"},
		{"ChargebackExternally", "M1|EUR|5.00", models.Chargeback, 500, ""},
		{"SecondChargeback", "M1|EUR|5.00||5.00", models.Chargeback, 500, "-5.00"},
		{"ChargebackReversed", "M1|EUR||5.00||5.00", models.ChargebackReversal, 500, "5.00"},
		{"Fee", "Transaction Fees||||1.20", models.EntryFee, 120, "-1.20"},
		{"PaymentCost", "M1|EUR||||1.75", models.EntryFee, -175, "1.75"},
		{"MiscCosts", "x||||1.00", models.EntryFee, 100, "-1.00"},
		{"InvoiceDeduction", "x||||1.00", models.EntryFee, 100, "-1.00"},
		{"DepositCorrection", "x|||||1.00", models.EntryReserve, 100, "1.00"},
		{"Balancetransfer", "x|||||4.19", models.EntryAdjustment, 419, "4.19"},
		{"BalanceTransfer", "x||||4.19", models.EntryAdjustment, -419, "-4.19"},
		{"ReserveAdjustment", "x||||4.19", models.EntryReserve, -419, "-4.19"},
		{"PaidOut", "x||||4.19", models.EntryAdjustment, -419, "-4.19"},
		{"ManualCorrected", "x||||0.01", models.EntryAdjustment, -1, "-0.01"},
		{"INVENTED_2027", "x||||4.19", models.EntryAdjustment, -419, "-4.19"},
		{"", "x||||4.19", models.EntryAdjustment, -419, "-4.19"},
	} {
		text := report("", row("PSP1|"+tc.typ+"|"+tc.cells))
		if out, negative := strings.CutPrefix(tc.net, "-"); negative {
			text += row("|MerchantPayout|TX||||"+"|"+out) + "\n" // taken from the bank account
		} else if tc.net != "" {
			text += row("|MerchantPayout|TX||||"+tc.net) + "\n"
		}
		got := mustRead(t, text)[0]
		if got.Kind != tc.kind || got.Money != eur(tc.money) || got.StatusText != tc.typ || got.Status != models.StatusSucceeded || got.TransactionID == "" {
			t.Errorf("%s: %+v; want %s of %d", tc.typ, got, tc.kind, tc.money)
		}
		if unknown := tc.typ == "INVENTED_2027" || tc.typ == ""; unknown != (got.UnknownKind != "") {
			t.Errorf("%q: unknown kind %q", tc.typ, got.UnknownKind)
		}
		id := "M1"
		if tc.typ == "SecondChargeback" {
			id += models.SecondRound
		}
		if got.Kind.Compared() && got.Kind != models.Payment && (got.TransactionID != id || got.ParentID != "PSP1") {
			t.Errorf("%s: id %s of %s, want %s of PSP1", tc.typ, got.TransactionID, got.ParentID, id)
		}
	}
}

// A small payment can cost more than it brings: its net is a debit, and it is a payment all the same.
func TestNetDebitOfASmallPayment(t *testing.T) {
	got := mustRead(t, report("", row("PSP1|Settled|CAP1|EUR||0.10|0.05||0.15"), row("|Balancetransfer|Balancetransfer|||||0.05")))
	if got[0].Money != eur(10) || got[0].Fee != eur(15) || got[0].Kind != models.Payment {
		t.Errorf("%+v; want a payment of 0.10 with a fee of 0.15", got[0])
	}
}

// Several captures of one payment are one payment, told apart by their own references: the rows add up.
func TestPartialCaptures(t *testing.T) {
	rows := []string{row("PSP1|Settled|CAP1|EUR||20.00||20.00"), row("PSP2|Settled|CAP9|EUR||5.00||5.00"), row("PSP1|Settled|CAP2|EUR||30.00||30.00"),
		row("PSP1|Settled|CAP1|EUR||20.00||20.00")}
	got := mustRead(t, report("75.00", rows...))
	for i, want := range []string{"CAP1", "CAP9", "CAP2", "CAP1"} {
		if e := got[i]; !e.Part || e.Adjusts || e.Money.Minor <= 0 || !reflect.DeepEqual(e.Aliases, []string{want}) {
			t.Errorf("row %d: %+v, want a part of the payment, capture %s", i+1, e, want)
		}
	}
	refunds := mustRead(t, report("", row("PSP1|Refunded|R1|EUR|2.00||2.00"), row("PSP1|Refunded|R2|EUR|3.00||3.00"), row("|Balancetransfer|||||| 5.00")))
	if refunds[0].Part || refunds[1].Part {
		t.Error("two refunds of one payment are two")
	}
}

func TestControl(t *testing.T) {
	two := []string{row(settled), row("PSP2|Refunded|R1|EUR|9.50||9.50")}
	if got := mustRead(t, report("40.00", two...)); len(got) != 3 {
		t.Errorf("%d entries, want 3", len(got))
	}
	fails(t, "another payout", report("40.01", two...), "row 4", "net credits less net debits are 40.00 EUR", "MerchantPayout is 40.01")
	fails(t, "a row lost", report("40.00", two[0]), "49.50 EUR", "40.00")
	fails(t, "no payout", report("", two...), "no MerchantPayout of the 40.00 EUR", "cut")
	fails(t, "no rows", columns+"\n", "no rows")
	fails(t, "cut in the header", columns[:40], "cut")
	fails(t, "cut in a row", report("49.50", row(settled))[:len(columns)+60], "row 2", "cut")

	other := strings.ReplaceAll(report("40.00", two...), ",7\n", ",8\n")
	batches := report("40.00", two...) + strings.SplitN(other, "\n", 2)[1]
	if got := mustRead(t, batches); len(got) != 6 {
		t.Errorf("two batches: %d entries, want 6", len(got))
	}
	mixed := report("40.01", two...) + strings.Replace(strings.SplitN(other, "\n", 2)[1], ",40.00,", ",39.99,", 1)
	fails(t, "two batches that only agree together", mixed, "batch 7")
	huge := row("PSP1|Settled|CAP1|EUR||1.00||92233720368547758.07")
	fails(t, "sums that run over", report("", huge, strings.ReplaceAll(huge, "PSP1", "PSP2"), row("PSP3|Settled|C|EUR||1.00||0.02")), "184467440737095516.16 EUR")
}

func TestRowsRefused(t *testing.T) {
	good := row(settled)
	for name, tc := range map[string]struct{ text, place, want string }{
		"another account":   {strings.Replace(good, shop, "Stranger", 1), "column Merchant Account", "Stranger"},
		"no account":        {strings.Replace(good, shop, "", 1), "column Merchant Account", "merchant_accounts"},
		"no psp reference":  {strings.Replace(good, ",PSP1,", ",,", 1), "column Psp Reference", "empty"},
		"rounded psp":       {strings.Replace(good, ",PSP1,", ",8.53529665015332E+15,", 1), "column Psp Reference", "rounded"},
		"rounded capture":   {strings.Replace(good, ",CAP1,", ",8.5E+15,", 1), "column Modification Reference", "rounded"},
		"no refund id":      {row("PSP1|Refunded||EUR|5.00||5.00"), "column Modification Reference", "empty"},
		"no gross":          {row("PSP1|Settled|CAP1|EUR||||5.00"), "column Gross Credit (GC)", "empty"},
		"both sides":        {row("PSP1|Settled|CAP1|EUR|5.00|5.00||5.00"), "column Gross Debit (GC)", "one of the two"},
		"both nets":         {row("PSP1|Settled|CAP1|EUR||5.00|5.00|5.00"), "column Net Debit (NC)", "one of the two"},
		"settled debit":     {row("PSP1|Settled|CAP1|EUR|5.00|||5.00"), "column Gross Debit (GC)", "wrong side"},
		"refunded credit":   {row("PSP1|Refunded|R1|EUR||5.00|5.00"), "column Gross Credit (GC)", "wrong side"},
		"signed":            {row("PSP1|Refunded|R1|EUR|-5.00||5.00"), "column Gross Debit (GC)", "sign"},
		"signed net":        {row("PSP1|Refunded|R1|EUR|5.00||-5.00"), "column Net Debit (NC)", "sign"},
		"comma":             {row(`PSP1|Settled|CAP1|EUR||"50,00"||49.50`), "column Gross Credit (GC)", "50,00"},
		"exponent":          {row("PSP1|Settled|CAP1|EUR||1e1000000000||49.50"), "column Gross Credit (GC)", "plain decimal"},
		"too many decimals": {row("PSP1|Settled|CAP1|JPY||12800.5||49.50"), "column Gross Credit (GC)", "JPY has 0 decimals"},
		"fee no number":     {row("PSP1|Settled|CAP1|EUR||50.00||49.50|x"), "column Commission (NC)", "plain decimal"},
		"gross currency":    {row("PSP1|Settled|CAP1|QQQ||50.00||49.50"), "column Gross Currency", "QQQ"},
		"no net currency":   {strings.Replace(good, ",1,EUR,", ",1,,", 1), "column Net Currency", "not an ISO"},
		"date":              {strings.Replace(good, "2026-11-27 10:00:00", "27/11/2026 10:00", 1), "column Creation Date", "YYYY-MM-DD"},
		"no date":           {strings.Replace(good, "2026-11-27 10:00:00", "", 1), "column Creation Date", "YYYY-MM-DD"},
		"letters":           {strings.Replace(good, ",CET,", ",CST,", 1), "column TimeZone", "settings.time_zone_letters"},
		"a cell too few":    {strings.TrimSuffix(good, ",7"), "row 2", "cut or damaged"},
	} {
		fails(t, name, report("49.50", tc.text), "row 2", tc.place, tc.want)
	}
	for _, column := range []string{"Psp Reference", "Type", "Net Credit (NC)"} {
		fails(t, "no "+column, strings.Replace(report("49.50", good), column, "X", 1), column)
	}
}

// Columns in another order, unknown and missing ones, a title above the header, a byte-order mark, CRLF and blank lines.
func TestLayouts(t *testing.T) {
	plain := report("49.50", row(settled))
	want := mustRead(t, plain)
	for name, tc := range map[string]struct {
		text  string
		lines int // further down than in the plain file
	}{
		"CRLF":         {strings.ReplaceAll(plain, "\n", "\r\n"), 0},
		"BOM":          {"\ufeff" + plain, 0},
		"quoted":       {strings.Replace(plain, "Psp Reference", `"Psp Reference"`, 1), 0},
		"blank lines":  {strings.ReplaceAll(plain, "\n", "\n\n"), -1},
		"no last LF":   {strings.TrimSuffix(plain, "\n"), 0},
		"title":        {"Settlement details report\n" + plain, 1},
		"three titles": {"\ufeffSettlement details, batch 7\n\nTestShop\n" + plain, 3},
	} {
		st, got, err := read(t, "", tc.text)
		if err != nil || !st.Totals || len(got) != len(want) {
			t.Errorf("%s: %+v, %v; want %d entries", name, got, err, len(want))
			continue
		}
		for i := range got {
			if tc.lines < 0 {
				got[i].Line, got[i].TransactionID = want[i].Line, want[i].TransactionID
			}
			got[i].Line -= max(0, tc.lines)
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("%s: %+v, want %+v", name, got[i], want[i])
			}
		}
	}
	few := "Note,Type,Net Credit (NC),Net Debit (NC),Net Currency,Gross Credit (GC),Gross Debit (GC),Gross Currency,Modification Reference,Creation Date,Psp Reference,Merchant Account\n" +
		"a,Settled,5.00,,EUR,5.00,,EUR,,2026-11-27 10:00:00,PSP1," + shop + "\n" + "b,MerchantPayout,,5.00,EUR,,,,TX,2026-11-27 10:00:00,," + shop + "\n"
	got := mustRead(t, few)
	if at := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC); got[0].Money != eur(500) || got[0].TransactionID != "PSP1" || got[0].Aliases != nil || !got[0].OccurredAt.Equal(at) {
		t.Errorf("the columns that are needed alone: %+v", got[0])
	}
}

// The shop's refund number is the modification's reference where that is not just the order again.
func TestRefundNumber(t *testing.T) {
	refund := strings.Replace(row("PSP1|Refunded|R1|EUR|5.00||5.00"), ",,7", ",REF-1,7", 1)
	again := strings.Replace(row("PSP2|Refunded|R2|EUR|5.00||5.00"), ",,7", ",O-PSP2,7", 1)
	got := mustRead(t, report("", refund, again, row("|Balancetransfer||||||10.00")))
	if got[0].RefundOrderID != "REF-1" || got[1].RefundOrderID != "" {
		t.Errorf("refund numbers %q and %q, want REF-1 and none", got[0].RefundOrderID, got[1].RefundOrderID)
	}
}

func TestAccountingReport(t *testing.T) {
	const header = "Company Account,Merchant Account,Psp Reference,Merchant Reference,Booking Date,TimeZone,Record Type,Modification Psp Reference,Main Currency,Main Amount\n"
	st, got, err := read(t, "", header+"Company,"+shop+",PSP1,O-1,2026-11-27 10:00:00,CET,Authorised,PSP1,EUR,50.00\n")
	if want := (models.Statement{Title: "payment accounting report"}); err != nil || !reflect.DeepEqual(st, want) || got != nil {
		t.Errorf("%+v, %+v, %v; want it recognised and not compared", st, got, err)
	}
	fails(t, "another account's", header+"Company,Stranger,PSP1,O-1,2026-11-27 10:00:00,CET,Authorised,PSP1,EUR,50.00\n", "row 2", "Stranger")
	fails(t, "damaged", header+"Company,"+shop+",PSP1\n", "row 2", "cut")
}
