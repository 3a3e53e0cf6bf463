package cmd

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A payout is listed by whoever tells of it, and shown with its bridge.
func TestPayouts(t *testing.T) {
	s := newShell(t)
	s.ok("migrate", "up")
	if out := s.ok("payouts", "list"); out != "no payouts\n" {
		t.Errorf("of an empty book: %q", out)
	}
	for _, provider := range []string{"stripe", "adyen", "paypal"} {
		s.shop(provider)
		s.ok("replay", kit+provider+"/callbacks")
		s.run("reconcile", "--date", "2026-11-27", "--account", provider)
	}
	var list []map[string]any
	s.json(&list, "payouts", "list", "--account", "stripe")
	want := map[string]any{"account": "stripe", "payout_id": "po_TEST4001", "date": "2026-11-29", "amount": "127.45", "currency": "USD", "status": "succeeded",
		"occurred_at": "2026-11-29T06:00:00Z", "file": "", "expected": "127.45", "remainder": "0.00", "remainder_is": "none"}
	if len(list) != 1 || !sameJSON(t, list[0], want) {
		t.Errorf("listed %v, want %v", list, want)
	}
	s.json(&list, "payouts", "list", "--date", "2026-11-28", "--account", "adyen", "--state", "succeeded")
	if len(list) != 1 || list[0]["batch"] != "42" || list[0]["payout_id"] != "TXTEST4200XT batch 42, ExampleShopECOM" || list[0]["file"] != "settlement_detail_report_batch_42.csv" {
		t.Errorf("Adyen's: %v", list)
	}
	s.json(&list, "payouts", "list", "--account", "paypal")
	if len(list) != 1 || list[0]["bank_reference"] != "TESTBANKREF4001" || list[0]["remainder_is"] != "the statements do not say which rows it pays" {
		t.Errorf("PayPal's: %v", list)
	}
	if out := s.ok("payouts", "list", "--state", "failed"); out != "no payouts\n" {
		t.Errorf("failed ones: %q", out)
	}
	var shown struct {
		Account string `json:"account"`
		Bridges []struct{ Expected, Paid, Remainder string }
		Payouts []map[string]any
	}
	s.json(&shown, "payouts", "show", "42")
	if shown.Account != "adyen" || len(shown.Payouts) != 1 || len(shown.Bridges) != 1 || shown.Bridges[0].Expected != "175.98" || shown.Bridges[0].Remainder != "0.00" {
		t.Errorf("shown %+v", shown)
	}
	s.json(&shown, "payouts", "show", "TXTEST4200XT batch 42, ExampleShopECOM")
	if len(shown.Bridges) != 1 || shown.Bridges[0].Paid != "175.98" {
		t.Errorf("by its own id %+v", shown)
	}
	table := s.ok("payouts", "show", "po_TEST4001", "--account", "stripe")
	if heads := strings.Fields(strings.SplitN(table, "\n", 2)[0]); heads[len(heads)-1] != "why" || strings.Contains(table, "\n\n\n") {
		t.Errorf("a column without a heading, or a hole:\n%s", table)
	}
	for _, w := range []string{"127.45 USD", "payout po_TEST4001  2026-11-29  succeeded", "+322.73", "-28.18", "remainder"} {
		if !strings.Contains(table, w) {
			t.Errorf("the table does not show %q:\n%s", w, table)
		}
	}
	s.fails([]string{`payout "po_none"`, "not found", "`app payouts list`"}, "payouts", "show", "po_none")
	s.fails([]string{"not found"}, "payouts", "show", "42", "--account", "stripe")
	s.fails([]string{`no account "nobody"`}, "payouts", "list", "--account", "nobody")
	s.fails([]string{"--state"}, "payouts", "list", "--state", "gone")
	s.fails([]string{"--date"}, "payouts", "list", "--date", "29.11.2026")
}

// A fee schedule in the configuration reaches the report, and a corrected one heals.
func TestReconcileChecksFees(t *testing.T) {
	s := newShell(t)
	s.shop("wechatpay")
	s.ok("replay", kit+"wechatpay/callbacks")
	dir, err := filepath.Abs(kit + "wechatpay")
	if err != nil {
		t.Fatal(err)
	}
	feeGaps := func(rate string) (gaps []map[string]any) {
		t.Helper()
		s.global[1] = s.file("fees.yaml", "accounts:\n- name: wechatpay\n  provider: wechatpay\n  settings_file: "+dir+"/config.json\n  statements: "+dir+
			"/statements/trade*{date}.csv\n  fees:\n  - {kind: payment, currency: CNY, rate: "+rate+", refunds: returned}\n")
		code, _, talk := s.run("reconcile", "--date", "2026-11-29")
		if code != exitLook {
			t.Fatalf("exit %d: %s", code, talk)
		}
		s.json(&gaps, "gaps", "list", "--state", "open", "--kind", "fee_mismatch")
		return gaps
	}
	gaps := feeGaps("0.5%")
	i := slices.IndexFunc(gaps, func(g map[string]any) bool { return g["transaction_id"] == "4200002999202611290000000001" })
	if i < 0 {
		t.Fatalf("gaps %v", gaps)
	}
	statement, _ := gaps[i]["statement"].(map[string]any)
	book, _ := gaps[i]["ledger"].(map[string]any)
	if statement["fee"] != "0.53" || book["fee"] != "0.44" || gaps[i]["reason"] != "the statement's fee is 0.53 CNY, the fee schedule asks for 0.44 CNY (fees[0]: 0.5%): 0.09 too much" {
		t.Errorf("gap %v", gaps[i])
	}
	if shown := s.ok("gaps", "show", gaps[i]["id"].(string)); !strings.Contains(shown, "88.00 CNY succeeded, fee 0.53") || !strings.Contains(shown, "fee 0.44") {
		t.Errorf("shown:\n%s", shown)
	}
	if gaps := feeGaps("0.6%"); len(gaps) != 0 {
		t.Errorf("at the right rate: %v", gaps)
	}
}
