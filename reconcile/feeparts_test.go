package reconcile_test

import (
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile"
)

// kitPayment books a payment of a kit's account, with its order.
func kitPayment(t *testing.T, b *ledger.Ledger, account, id, amount, currency, at string) {
	t.Helper()
	ledgertest.Order(t, b, "O-"+id, amount, currency)
	book(t, b, account, movement{Kind: models.Payment, TransactionID: id, OrderID: "O-" + id, Amount: amount, Currency: currency, Status: "succeeded", OccurredAt: at})
}

// A partial capture is two rows of one charge, and has one fee: of what was captured.
func TestFeeOfAPartialCapture(t *testing.T) {
	const head = "balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,source_id,charge_id,automatic_payout_id\n" +
		"txn_1,2026-11-27 10:00:00,usd,100.00,3.20,96.80,charge,ch_1,ch_1,po_1\n"
	a := reconcile.Account{Name: "stripe", Provider: openKit(t, "stripe"), Fees: []reconcile.FeeRule{
		{Kind: models.Payment, Currency: "USD", Rate: dec("0.029"), Fixed: dec("0.30")}}}
	for back, want := range map[string][]string{
		"-40.00,-1.16,-38.84": nil,
		"-40.00,-1.00,-39.00": {"fee_mismatch payment ch_1"},
	} {
		b := sqlite(t)
		kitPayment(t, b, "stripe", "ch_1", "60.00", "USD", "2026-11-27T10:00:00Z")
		r := run(t, b, a, "2026-11-27", file(t, "balance_change_2026-11-27.csv", []byte(head+"txn_2,2026-11-27 10:01:00,usd,"+back+",partial_capture_reversal,ch_1,ch_1,po_1\n")))
		wantRun(t, r, map[bool]string{true: "1 1", false: "1 0"}[want == nil], want...)
		if want != nil && (r.Gaps[0].Statement.Fee != "2.20" || r.Gaps[0].Ledger.Fee != "2.04") {
			t.Errorf("sides %+v, %+v", r.Gaps[0].Statement, r.Gaps[0].Ledger)
		}
		if len(r.Bridges) != 1 || r.Bridges[0].Steps[0].Amount != "60.00" {
			t.Errorf("bridges %q", bridgeLines(r.Bridges))
		}
	}
}

const adyenHead = "Merchant Account,Psp Reference,Merchant Reference,Creation Date,TimeZone,Type,Modification Reference,Gross Currency,Gross Debit (GC),Gross Credit (GC)," +
	"Net Currency,Net Debit (NC),Net Credit (NC),Commission (NC),Batch Number\n"

func adyenBatch(t *testing.T, rows ...string) string {
	t.Helper()
	text := adyenHead
	for _, row := range rows {
		text += "ExampleShopECOM," + strings.ReplaceAll(row, "@", "2026-11-27 11:00:00,CET") + ",7\n"
	}
	return file(t, "settlement_detail_report_batch_7.csv", []byte(text))
}

// Each capture of a payment has a fee of its own.
func TestFeesOfSeveralCaptures(t *testing.T) {
	a := reconcile.Account{Name: "adyen", Provider: openKit(t, "adyen"), Fees: []reconcile.FeeRule{{Kind: models.Payment, Currency: "EUR", Fixed: dec("0.10")}}}
	for fee, want := range map[string]string{"0.10": "", "0.15": "0.25 for 0.20"} {
		b := sqlite(t)
		kitPayment(t, b, "adyen", "PSP1", "50.00", "EUR", "2026-11-27T10:00:00Z")
		net := map[string]string{"0.10": "19.90", "0.15": "19.85"}[fee]
		paidOut := map[string]string{"0.10": "49.80", "0.15": "49.75"}[fee]
		r := run(t, b, a, "2026-11-27", adyenBatch(t, "PSP1,O-PSP1,@,Settled,CAP1,EUR,,30.00,EUR,,29.90,0.10", "PSP1,O-PSP1,@,Settled,CAP2,EUR,,20.00,EUR,,"+net+","+fee,
			",,@,MerchantPayout,TX1,,,,EUR,"+paidOut+",,"))
		got := ""
		for _, g := range r.Gaps {
			got += g.Statement.Fee + " for " + g.Ledger.Fee
		}
		if got != want || r.Compared != 1 {
			t.Errorf("a second fee of %s: %q, want %q (%q)", fee, got, want, gapLines(r.Gaps))
		}
		wantBridges(t, r.Bridges, "7 EUR: payments 2 50.00, fees 0 -"+map[string]string{"0.10": "0.20", "0.15": "0.25"}[fee]+"; expected "+paidOut+", paid "+paidOut+", remainder 0.00 none")
	}
}

// A batch of refunds only is collected from the bank account: a payout below zero.
func TestPayoutThatIsCollected(t *testing.T) {
	b := sqlite(t)
	kitPayment(t, b, "adyen", "PSP1", "50.00", "EUR", "2026-11-20T10:00:00Z")
	book(t, b, "adyen", movement{Kind: models.Refund, TransactionID: "REF1", ParentID: "PSP1", OrderID: "O-PSP1", Amount: "10.00", Currency: "EUR", Status: "succeeded", OccurredAt: "2026-11-27T10:00:00Z"})
	r := run(t, b, reconcile.Account{Name: "adyen", Provider: openKit(t, "adyen")}, "2026-11-27", adyenBatch(t, "PSP1,O-PSP1,@,Refunded,REF1,EUR,10.00,,EUR,10.00,,",
		",,@,DepositCorrection,D1,,,,EUR,,2.50,", ",,@,MerchantPayout,TX1,,,,EUR,,7.50,"))
	wantBridges(t, r.Bridges, "7 EUR: refunds 1 -10.00, reserves 1 2.50; expected -7.50, paid -7.50, remainder 0.00 none")
	list, _, err := b.Payouts(t.Context(), ledger.PayoutFilter{})
	if err != nil || len(list) != 1 || list[0].Money.Minor != -750 || list[0].Batch != "7" || list[0].PayoutID != "TX1" {
		t.Errorf("payouts %+v, %v", list, err)
	}
}
