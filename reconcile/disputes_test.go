package reconcile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// TestPayPalDisputes: callbacks call a dispute by its own id, the report its money by another, and both name the capture.
func TestPayPalDisputes(t *testing.T) {
	type rows = []string // of the report: id, code and amount
	for name, c := range map[string]struct {
		told   []models.Event
		report rows
		counts string
		want   []string
	}{
		"lost": {told: told("PP-D-1 opened 30.00, PP-D-1 lost 30.00"), report: rows{"CB1 T1201 30.00"}, counts: "2 2"},
		"won":  {told: told("PP-D-1 opened 30.00, PP-D-1 won 30.00"), report: rows{"CB1 T1201 30.00", "RV1 T1202 30.00"}, counts: "3 3"},
		"won, the money not back yet": {told: told("PP-D-1 opened 30.00, PP-D-1 won 30.00"), report: rows{"CB1 T1201 30.00"}, counts: "2 2",
			want: []string{"missing_provider chargeback_reversal PP-D-1"}},
		"back without a word": {told: told("PP-D-1 opened 30.00"), report: rows{"CB1 T1201 30.00", "RV1 T1202 30.00"}, counts: "3 2",
			want: []string{"missing_local chargeback_reversal RV1"}},
		"taken back, and told as a dispute too": {told: told("CB1 reversed 30.00, PP-D-1 lost 30.00"), report: rows{"CB1 T1201 30.00"}, counts: "2 2"},
		"a dispute, and taken back":             {told: told("PP-D-1 opened 30.00, CB1 reversed 30.00"), report: rows{"CB1 T1201 30.00"}, counts: "2 2"},
		"two of one capture, taken back both":   {told: told("CB1 reversed 30.00, CB2 reversed 20.00"), report: rows{"CB1 T1201 30.00", "CB2 T1201 20.00"}, counts: "3 3"},
		"two disputes of one capture":           {told: told("PP-D-1 opened 30.00, PP-D-2 opened 20.00"), report: rows{"CB1 T1201 30.00", "CB2 T1201 20.00"}, counts: "3 3"},
		"the same, the other way round":         {told: told("PP-D-1 opened 30.00, PP-D-2 opened 20.00"), report: rows{"CB2 T1201 20.00", "CB1 T1201 30.00"}, counts: "3 3"},
		"two of one sum":                        {told: told("PP-D-1 opened 30.00, PP-D-2 opened 30.00"), report: rows{"CB1 T1201 30.00", "CB2 T1201 30.00"}, counts: "3 3"},
		"two, both told by money and dispute": {told: told("PP-D-1 opened 30.00, CB1 reversed 30.00, PP-D-2 opened 20.00, CB2 reversed 20.00"),
			report: rows{"CB1 T1201 30.00", "CB2 T1201 20.00"}, counts: "3 3", want: []string{"missing_provider chargeback PP-D-2"}}, // which of the two CB2 is, nothing tells
		"two, both won": {told: told("PP-D-1 opened 30.00, PP-D-2 opened 20.00, PP-D-1 won 30.00, PP-D-2 won 20.00"),
			report: rows{"CB1 T1201 30.00", "CB2 T1201 20.00", "RV1 T1202 30.00", "RV2 T1202 20.00"}, counts: "5 5"},
		"two, the second won": {told: told("PP-D-1 opened 30.00, PP-D-2 opened 20.00, PP-D-2 won 20.00"),
			report: rows{"CB1 T1201 30.00", "CB2 T1201 20.00", "RV2 T1202 20.00"}, counts: "4 4"},
		"two, one of them told": {told: told("PP-D-2 opened 20.00"), report: rows{"CB1 T1201 30.00", "CB2 T1201 20.00"}, counts: "3 2",
			want: []string{"missing_local chargeback CB1"}},
		"two told, one in the report": {told: told("PP-D-1 opened 30.00, PP-D-2 opened 20.00"), report: rows{"CB2 T1201 20.00"}, counts: "2 2",
			want: []string{"missing_provider chargeback PP-D-1"}},
		"two told days before":                {told: told("PP-D-1 opened 30.00 earlier, PP-D-2 opened 20.00 earlier"), report: rows{"CB2 T1201 20.00", "CB1 T1201 30.00"}, counts: "3 3"},
		"one sum, the first told days before": {told: told("PP-D-1 opened 30.00 earlier, PP-D-2 opened 30.00"), report: rows{"CB2 T1201 30.00"}, counts: "2 2"},
		"another sum":                         {told: told("PP-D-1 opened 30.00"), report: rows{"CB1 T1201 29.00"}, counts: "2 1", want: []string{"amount_mismatch chargeback CB1"}},
	} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
				ledgertest.Order(t, b, "O1", "75.00", "USD")
				events := append([]models.Event{{Kind: models.PaymentSucceeded, TransactionID: "CAP1", Aliases: []string{"CAP1"}, OrderID: "O1",
					Money: dollars("75.00"), OccurredAt: disputedAt}}, c.told...)
				tell(t, b, events...)
				r := run(t, b, reconcile.Account{Name: "shop", Provider: openKit(t, "paypal")}, "2026-11-27", paypalReport(t, c.report...))
				wantRun(t, r, c.counts, c.want...)
			})
		})
	}
}

var disputedAt = time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC)

func dollars(amount string) models.Money {
	m, err := models.ParseMajor(amount, "USD")
	if err != nil {
		panic(err)
	}
	return m
}

// told are events of disputes of CAP1, in short: "PP-D-1 opened 30.00, CB1 reversed 30.00"; earlier: three days before.
func told(text string) (events []models.Event) {
	for i, one := range strings.Split(text, ", ") {
		w := strings.Fields(one)
		ev := models.Event{Kind: models.EventKind("dispute." + w[1]), TransactionID: w[0], ParentID: "CAP1", Money: dollars(w[2]),
			OccurredAt: disputedAt.Add(time.Duration(i+1) * time.Minute), Aliases: []string{w[0]}, FoundBy: []string{"CAP1"}}
		if w[1] == "reversed" { // told by the money
			ev.Kind, ev.Aliases, ev.FoundBy = models.DisputeLost, []string{w[0], "CAP1"}, nil
		}
		if len(w) > 3 && w[3] == "earlier" {
			ev.OccurredAt = ev.OccurredAt.AddDate(0, 0, -3)
		}
		events = append(events, ev)
	}
	return events
}

func tell(t *testing.T, b *ledger.Ledger, events ...models.Event) {
	t.Helper()
	for i, ev := range events {
		cb := models.Callback{Account: "shop", Method: "POST", ReceivedAt: noon(), Body: fmt.Appendf(nil, "%d %+v", i, ev)}
		if _, err := b.Record(t.Context(), cb, []models.Event{ev}, func(models.Outcome) int { return 200 }); err != nil {
			t.Fatal(err)
		}
	}
}

// paypalReport is a settlement report of the payment CAP1 and of what was taken and given back of it: "CB1 T1201 30.00".
func paypalReport(t *testing.T, rows ...string) string {
	t.Helper()
	const at = `"2026/11/27 12:00:00 -0800"`
	text := `"RH","2026/11/28 05:10:11 -0800","A","M1","009"` + "\r\n" + `"FH","01"` + "\r\n" +
		`"SH","2026/11/27 00:00:00 -0800","2026/11/27 23:59:59 -0800","M1",""` + "\r\n" +
		`"CH","Transaction ID","Invoice ID","PayPal Reference ID","PayPal Reference ID Type","Transaction Event Code","Transaction Initiation Date",` +
		`"Transaction Completion Date","Transaction Debit or Credit","Gross Transaction Amount","Gross Transaction Currency","Fee Debit or Credit","Fee Amount","Fee Currency","Custom Field"` +
		"\r\n" + `"SB","CAP1","O1","ORD1","ODR","T0006",` + at + "," + at + `,"CR","7500","USD","","","",""` + "\r\n"
	credits, debits := int64(7500), int64(0)
	for _, row := range rows {
		w := strings.Fields(row)
		side, minor := "DR", dollars(w[2]).Minor
		if w[1] == "T1202" {
			side, credits = "CR", credits+minor
		} else {
			debits += minor
		}
		text += fmt.Sprintf(`"SB",%q,"O1","CAP1","TXN",%q,%s,%s,%q,"%d","USD","","","",""`+"\r\n", w[0], w[1], at, at, side, minor)
	}
	n := len(rows) + 1
	sums := fmt.Sprintf(`"USD","%d","%d","0","0"`, credits, debits)
	text += fmt.Sprintf("\"SF\",%s\r\n\"SC\",\"%d\"\r\n\"RF\",%s\r\n\"RC\",\"%d\"\r\n\"FF\",\"%d\"\r\n", sums, n, sums, n, n)
	return file(t, "STL-20261127.01.009.CSV", []byte(text))
}

// A row that names only its payment, and by a name that merely finds it, is shown with the payment's order.
func TestGapNamesTheOrderOfItsPayment(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
		ledgertest.Order(t, b, "O1", "75.00", "USD")
		tell(t, b, models.Event{Kind: models.PaymentSucceeded, TransactionID: "T1", FoundBy: []string{"CAP1"}, OrderID: "O1", Money: dollars("75.00"),
			OccurredAt: disputedAt.Add(-72 * time.Hour)})
		r := run(t, b, plainAccount(t), "2026-11-27", file(t, "day.csv", []byte(header+"CB1,,chargeback,30.00,USD,paid,2026-11-27 12:00:00,CAP1,\n")))
		for _, g := range r.Gaps {
			if g.TransactionID == "CB1" && (g.OrderID != "O1" || g.ParentID != "T1" || g.Order == nil) {
				t.Errorf("the gap of CB1 names order %q, payment %q, %+v", g.OrderID, g.ParentID, g.Order)
			}
		}
		if len(r.Gaps) == 0 {
			t.Error("no gap for a chargeback that nobody told of")
		}
	})
}

// TestAdyenDisputeOfTwoRounds: chargeback and second chargeback of one dispute have one reference, and are two movements.
func TestAdyenDisputeOfTwoRounds(t *testing.T) {
	dispute := func(code string, kind models.EventKind, minute int) models.Event {
		return models.Event{ID: code, Kind: kind, TransactionID: "D1", ParentID: "PSP1", OrderID: "O1", Money: models.Money{Minor: 5000, Currency: "EUR"},
			OccurredAt: disputedAt.Add(time.Duration(minute) * time.Minute)}
	}
	paid := models.Event{Kind: models.PaymentCaptured, TransactionID: "CAP1", ParentID: "PSP1", OrderID: "O1", Money: models.Money{Minor: 5000, Currency: "EUR"}, OccurredAt: disputedAt}
	opened, won, lost := dispute("CHARGEBACK", models.DisputeOpened, 1), dispute("CHARGEBACK_REVERSED", models.DisputeWon, 2), dispute("SECOND_CHARGEBACK", models.DisputeLost, 3)
	first, back, second := `PSP1,O1,2026-11-27 21:01:00,Chargeback,D1,EUR,50.00,,EUR,50.00,`, `PSP1,O1,2026-11-27 21:02:00,ChargebackReversed,D1,EUR,,50.00,EUR,,50.00`,
		`PSP1,O1,2026-11-27 21:03:00,SecondChargeback,D1,EUR,50.00,,EUR,50.00,`
	for name, c := range map[string]struct {
		told   []models.Event
		rows   []string
		counts string
		want   []string
	}{
		"all three":                  {[]models.Event{opened, won, lost}, []string{first, back, second}, "4 4", nil},
		"the file the other way":     {[]models.Event{opened, won, lost}, []string{second, back, first}, "4 4", nil},
		"told the other way":         {[]models.Event{lost, won, opened}, []string{first, back, second}, "4 4", nil},
		"the second row only":        {[]models.Event{opened, won, lost}, []string{second}, "2 2", []string{"missing_provider chargeback D1", "missing_provider chargeback_reversal D1"}},
		"the second one not told":    {[]models.Event{opened, won}, []string{first, back, second}, "4 3", []string{"missing_local chargeback D1:2"}},
		"a row of the first twice":   {[]models.Event{opened}, []string{first, first}, "2 2", []string{"duplicate_entry chargeback D1"}},
		"a row of the second twice":  {[]models.Event{opened, won, lost}, []string{first, back, second, second}, "4 4", []string{"duplicate_entry chargeback D1:2"}},
		"lost without a second loss": {[]models.Event{opened, dispute("PREARBITRATION_LOST", models.DisputeLost, 3)}, []string{first}, "2 2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			ledgertest.Each(t, func(t *testing.T, b *ledger.Ledger) {
				ledgertest.Order(t, b, "O1", "50.00", "EUR")
				tell(t, b, append([]models.Event{paid}, c.told...)...)
				r := run(t, b, reconcile.Account{Name: "shop", Provider: openKit(t, "adyen")}, "2026-11-27", adyenReport(t, c.rows...))
				wantRun(t, r, c.counts, c.want...)
			})
		})
	}
}

// adyenReport is a settlement details report of the payment PSP1 and of these rows; the difference is carried over.
func adyenReport(t *testing.T, rows ...string) string {
	t.Helper()
	text := "Merchant Account,Psp Reference,Merchant Reference,Creation Date,Type,Modification Reference,Gross Currency,Gross Debit (GC),Gross Credit (GC),Net Currency,Net Debit (NC),Net Credit (NC)\n"
	rest := 50
	for _, row := range append([]string{"PSP1,O1,2026-11-27 21:00:00,Settled,CAP1,EUR,,50.00,EUR,,50.00"}, rows...) {
		text += "ExampleShopECOM," + row + "\n"
		if strings.HasSuffix(row, ",") {
			rest -= 50
		}
		if strings.Contains(row, "Reversed") {
			rest += 50
		}
	}
	sums := fmt.Sprintf("%d.00,", rest)
	if rest < 0 {
		sums = fmt.Sprintf(",%d.00", -rest)
	}
	text += "ExampleShopECOM,,,2026-11-27 23:00:00,Balancetransfer,,,,,EUR," + sums + "\n"
	return file(t, "settlement_detail_report_batch_7.csv", []byte(text))
}
