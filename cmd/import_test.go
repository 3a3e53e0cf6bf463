package cmd

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/shop"
	"paybook/models"
)

var kitProviders = []string{"wechatpay", "alipay", "unionpay", "stripe", "paypal", "adyen", "demopay", "standardwebhooks"}

func TestImportOrdersTwiceChangesNothing(t *testing.T) {
	s := newShell(t)
	if got := s.ok("import", "orders", kit+"wechatpay/orders.json"); got != "orders: 13 new, 0 already here\n" {
		t.Errorf("first import: %q", got)
	}
	before := s.ok("orders", "list", "--format", "json")
	if got := s.ok("import", "orders", kit+"wechatpay/orders.json"); got != "orders: 0 new, 13 already here\n" {
		t.Errorf("second import: %q", got)
	}
	if after := s.ok("orders", "list", "--format", "json"); after != before {
		t.Errorf("the second import changed the orders:\n%s", after)
	}
}

func TestImportOrdersCSV(t *testing.T) {
	s := newShell(t)
	s.stdin = "\ufefforder_id,currency,amount,status,expires_at,note\r\n" +
		"A-1,jpy,12800,PAID,,\"a, note\"\n\n" +
		"\"A/2\",KWD,5.120,,2026-11-29T10:00:00+08:00,x"
	var got imported
	s.json(&got, "import", "orders", "-")
	if got.Rows != 2 || got.New != 2 {
		t.Errorf("imported %+v", got)
	}
	var orders []shop.OrderJSON
	s.json(&orders, "orders", "list")
	want := "[{A/2 5.120 KWD unpaid 1 0.000 2026-11-29 02:00:00 +0000 UTC} {A-1 12800 JPY paid 1 0 <nil>}]"
	if fmt.Sprint(orders) != want {
		t.Errorf("orders = %v, want %s", orders, want)
	}
}

func TestImportOrdersAllOrNothing(t *testing.T) {
	s := newShell(t)
	header := "order_id,amount,currency\nA,1.00,CNY\n"
	for text, want := range map[string][]string{
		"":                               {"in.csv", "empty"},
		"{}":                             {"in.csv", "JSON array"},
		"<html>":                         {"in.csv", "JSON array"},
		"order_id,amount,currency,sum\n": {"in.csv: row 1: column sum", "order_id, amount"},
		"order_id,amount\nA,1\n":         {"column currency", "no such column"},
		header + "B,1.001,CNY\n":         {"in.csv: row 3: column amount", "CNY has 2 decimals"},
		header + "B,-1,CNY\n":            {"row 3: column amount", "no sign"},
		header + "B,\"1,000.00\",CNY\n":  {"row 3: column amount"},
		header + "B,1,XXQ\n":             {"row 3: column currency", "XXQ"},
		header + ",1,CNY\n":              {"row 3: column order_id", "empty"},
		header + "4.2E+27,1,CNY\n":       {"row 3: column order_id", "rounded number"},
		header + "a\tb,1,CNY\n":          {"row 3: column order_id", `"a\tb" holds a control character`},
		header + "\u200b,1,CNY\n":        {"row 3: column order_id", "shows no character"},
		header + strings.Repeat("9", 256) + ",1,CNY\n": {"row 3: column order_id", "has 256 bytes, at most 255 are kept"},
		header + "B,1\n":                                                         {"row 3: 2 cells"},
		header + "A,2.00,CNY\n":                                                  {"row 3: order A", "1.00 CNY", "2.00 CNY"},
		`[{"order_id":"A","amount":"1"}]`:                                        {"row 1: column currency", "missing"},
		`[{"order_id":"A"},7]`:                                                   {"row 1"},
		`[{"order_id":"A","order_id":"B"}]`:                                      {"given twice"},
		`[{"order_id":["A"],"amount":"1"}]`:                                      {"row 1: column order_id", "text or a number"},
		`[{"order_id":"A","amount":1e2,"currency":"CNY"}]`:                       {"row 1: column amount"},
		`[{"order_id":"A","amount":1,"currency":"CNY","status":"done"}]`:         {"row 1: column status", "part_refunded"},
		`[{"order_id":"A","amount":1,"currency":"CNY","expires_at":"tomorrow"}]`: {"row 1: column expires_at"},
		`[{"order_id":"A","amount":1,"currency":"CNY","price":1}]`:               {"row 1: column price", "unknown"},
	} {
		s.fails(want, "import", "orders", s.file("in.csv", text))
	}
	s.fails([]string{"no such file"}, "import", "orders", "nowhere.json")
	s.fails([]string{"a folder"}, "import", "orders", t.TempDir())
	if got := s.ok("orders", "list", "--format", "json"); got != "[]\n" {
		t.Errorf("a failed import left %s", got)
	}
}

func TestImportOrderThatIsThereWithAnotherAmount(t *testing.T) {
	s := newShell(t)
	s.ok("import", "orders", s.file("a.csv", "order_id,amount,currency\nA,1.00,CNY\n"))
	s.fails([]string{"b.csv: row 4: order A is already here with 1.00 CNY unpaid, given with 1.50 CNY unpaid"},
		"import", "orders", s.file("b.csv", "order_id,amount,currency\nB,1.00,CNY\nC,1.00,CNY\nA,1.50,CNY\n"))
	if got := s.ok("orders", "list", "--format", "json"); strings.Contains(got, `"B"`) {
		t.Errorf("a failed import left %s", got)
	}
}

// What the kits call the ledger's contents is an import file like any other, before the callbacks and after them.
func TestImportKitRecords(t *testing.T) {
	for _, provider := range kitProviders {
		records := kit + provider + "/local_records.json"
		if !exists(records) {
			continue
		}
		t.Run(provider, func(t *testing.T) {
			s := newShell(t)
			s.ok("import", "orders", kit+provider+"/orders.json")
			var first, second imported
			s.json(&first, "import", "transactions", "--account", provider, records)
			s.json(&second, "import", "transactions", "--account", provider, records)
			if first.New != first.Rows || first.Rows == 0 || second.New != 0 || second.Rows != first.Rows {
				t.Errorf("first %+v, second %+v", first, second)
			}
		})
		t.Run(provider+" after its callbacks", func(t *testing.T) {
			s := newShell(t)
			s.shop(provider)
			s.ok("replay", kit+provider+"/callbacks")
			var again imported
			s.json(&again, "import", "transactions", "--account", provider, records)
			if again.New != 0 {
				t.Errorf("records that the callbacks did not bring: %+v", again)
			}
		})
	}
}

// F22: the shop has asked for a refund; the provider's callback is about that very refund.
func TestImportedRefundRequestMeetsItsCallback(t *testing.T) {
	s := newShell(t)
	s.shop("wechatpay")
	s.ok("replay", kit+"wechatpay/callbacks/03_payment_success_public_key_id.json")
	s.stdin = `[{"kind":"refund","transaction_id":"","parent_id":"4200002999202611290000000003","refund_order_id":"CNWR20261129003",
		"order_id":"CNW20261129003","amount":"50.00","currency":"CNY","status":"REQUESTED","occurred_at":"2026-11-29 10:59:00"}]`
	s.ok("import", "transactions", "--account", "wechatpay", "-")
	s.ok("replay", kit+"wechatpay/callbacks/06_refund_partial_success.json")
	var h shop.HistoryJSON
	s.json(&h, "orders", "show", "CNW20261129003")
	if h.Refunded != "50.00" || h.Status != models.PartRefunded || len(h.Transactions) != 2 {
		t.Fatalf("order = %+v", h)
	}
	if refund := h.Transactions[1]; refund.TransactionID != "50302902992026112900000000003" || refund.Status != models.StatusSucceeded {
		t.Errorf("refund = %+v, want it under the provider's id", refund)
	}
}

// F55: two payments that look the same are two payments, when their ids differ.
func TestImportTwins(t *testing.T) {
	s := newShell(t)
	s.ok("import", "orders", s.file("o.csv", "order_id,amount,currency\nT1,20.00,CNY\nT2,20.00,CNY\n"))
	rows := "kind,transaction_id,order_id,amount,currency,status,occurred_at\n" +
		"payment,tw-1,T1,20.00,CNY,paid,2026-11-29 10:00:00\npayment,tw-2,T2,20.00,CNY,paid,2026-11-29 10:00:00\n"
	var got imported
	s.json(&got, "import", "transactions", "--account", "wechatpay", s.file("t.csv", rows))
	if got.New != 2 || got.Outcomes[models.OutcomeApplied] != 2 {
		t.Errorf("imported %+v", got)
	}
}

func TestImportReversals(t *testing.T) {
	s := newShell(t)
	s.ok("import", "orders", s.file("o.csv", "order_id,amount,currency\nR1,20.00,CNY\nR2,20.00,CNY\nR3,20.00,CNY\nR4,20.00,CNY\n"))
	rows := `account,kind,transaction_id,parent_id,order_id,amount,currency,status,occurred_at
wechatpay,refund_reversal,rf-1,p-1,R1,5.00,CNY,succeeded,2026-11-30 10:00:00
wechatpay,payment,p-1,,R1,20.00,CNY,succeeded,2026-11-29T10:00:00
wechatpay,refund,rf-1,p-1,R1,5.00,CNY,succeeded,2026-11-29T11:00:00+08:00
wechatpay,payment,p-2,,R2,20.00,CNY,succeeded,2026-11-29 10:00:00
wechatpay,refund,rf-2,p-2,R2,5.00,CNY,REVERSED,2026-11-29 11:00:00
wechatpay,payment,p-3,,R3,20.00,CNY,PAID,2026-11-29 10:00:00
wechatpay,dispute,cb-3,p-3,R3,20.00,CNY,WON,2026-11-29 11:00:00
wechatpay,payment,p-4,,R4,20.00,CNY,PAID,2026-11-29 10:00:00
wechatpay,Chargeback,cb-4,p-4,R4,20.00,CNY,lost,2026-11-29 11:00:00
`
	file := s.file("t.csv", rows)
	for i, want := range []int{9, 0} {
		var got imported
		if s.json(&got, "import", "transactions", file); got.New != want {
			t.Errorf("import %d: %+v, want %d new", i+1, got, want)
		}
	}
	for id, want := range map[string]string{
		"R1": "paid 0.00 payment refund refund_reversal",
		"R2": "paid 0.00 payment refund refund_reversal",
		"R3": "paid 0.00 payment chargeback chargeback_reversal",
		"R4": "charged_back 0.00 payment chargeback",
	} {
		var h shop.HistoryJSON
		s.json(&h, "orders", "show", id)
		got := string(h.Status) + " " + h.Refunded
		for _, tx := range h.Transactions {
			got += " " + string(tx.Kind)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	var h shop.HistoryJSON
	s.json(&h, "orders", "show", "R1")
	if at := h.Transactions[1].OccurredAt; !at.Equal(time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)) {
		t.Errorf("the refund's time is %s, not its own", at)
	}
}

func TestImportTransactionsNamesThePlace(t *testing.T) {
	s := newShell(t)
	header := "kind,transaction_id,order_id,amount,currency,status,occurred_at\n"
	good := "payment,p-1,A,1.00,CNY,paid,2026-11-29 10:00:00\n"
	for text, want := range map[string][]string{
		"type,transaction_id\n": {"row 1: column type", "unknown"},
		header + good + "paymnt,p-2,A,1.00,CNY,paid,2026-11-29 10:00:00\n":     {"in.csv: row 3: column kind", "chargeback"},
		header + good + "payment,p-2,A,1.00,CNY,done,2026-11-29 10:00:00\n":    {"row 3: column status", "done"},
		header + good + "payout,p-2,A,1.00,CNY,abnormal,2026-11-29 10:00:00\n": {"row 3: column status", "payout"},
		header + good + "payment,,A,1.00,CNY,paid,2026-11-29 10:00:00\n":       {"row 3: column transaction_id", "empty"},
		header + good + "payment,p-2,A,1.00,CNY,paid,29/11/26 10:00\n":         {"row 3: column occurred_at", "Asia/Shanghai"},
		header + good + "payment,p-1,A,2.00,CNY,paid,2026-11-29 10:00:00\n":    {"in.csv: row 3", "p-1"},
	} {
		s.fails(want, "import", "transactions", "--account", "wechatpay", s.file("in.csv", text))
	}
	s.fails([]string{"row 2: column account", "--account", "wechatpay, alipay"}, "import", "transactions", s.file("in.csv", header+good))
	s.fails([]string{"nobody"}, "import", "transactions", "--account", "nobody", s.file("in.csv", header+good))
	unconfigured := &shell{t: t, global: []string{"--config", s.file("none.yaml", "accounts: []\n")}}
	unconfigured.fails([]string{"write them there, or give --config FILE"}, "import", "transactions", s.file("in.csv", header+good))
	s.fails([]string{"row 2: column account", `"stripe", but the import is for wechatpay`}, "import", "transactions", "--account", "wechatpay",
		s.file("in.csv", "account,"+header+"stripe,"+good))
	if code, _, talk := s.run("orders", "show", "A"); code != exitFailed || !strings.Contains(talk, "not found") {
		t.Errorf("orders show A: exit %d, %q", code, talk)
	}
}

// One PaymentIntent can have several charges; only the one that has the money takes its name.
func TestStripeParentIsASecondName(t *testing.T) {
	s := newShell(t)
	s.ok("import", "orders", s.file("o.csv", "order_id,amount,currency\nS1,20.00,USD\n"))
	rows := "kind,transaction_id,parent_id,order_id,amount,currency,status,occurred_at\n" +
		"payment,ch_1,pi_1,S1,20.00,USD,failed,2026-11-29T10:00:00Z\npayment,ch_2,pi_1,S1,20.00,USD,paid,2026-11-29T10:01:00Z\n"
	s.ok("import", "transactions", "--account", "stripe", s.file("t.csv", rows))
	book, err := (&app{configFile: kit + "app.yaml", database: s.global[3], now: time.Now, env: noEnv}).openBook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	intent := ledger.Name{Account: "stripe", Kind: models.Payment, ID: "pi_1"}
	found, err := book.FindTransactions(t.Context(), map[ledger.Name]bool{intent: true})
	if err != nil || found[intent].TransactionID != "ch_2" {
		t.Errorf("pi_1 is a name of %q, %v; want ch_2", found[intent].TransactionID, err)
	}
}

func noEnv(string) (string, bool) { return "", false }

func TestImportedEventsKnowsEveryWord(t *testing.T) {
	for _, c := range []struct {
		kind   models.TransactionKind
		status string
		want   models.EventKind
	}{
		{models.Payment, "SUCCEEDED", models.PaymentSucceeded}, {models.Payment, "Paid", models.PaymentSucceeded},
		{models.Payment, "PENDING", models.PaymentPending}, {models.Payment, "PROCESSING", models.PaymentPending},
		{models.Payment, "ABNORMAL", models.PaymentPending}, {models.Payment, "REQUESTED", models.PaymentPending},
		{models.Payment, "AUTHORISED", models.PaymentAuthorised}, {models.Payment, "FAILED", models.PaymentFailed},
		{models.Payment, "CLOSED", models.PaymentClosed}, {models.Refund, "ABNORMAL", models.RefundAbnormal},
		{models.Refund, "CLOSED", models.RefundClosed}, {models.Refund, "REVERSED", models.RefundSucceeded},
		{models.Chargeback, "OPEN", models.DisputeOpened}, {models.Chargeback, "succeeded", models.DisputeOpened},
		{models.Chargeback, "LOST", models.DisputeLost}, {models.Chargeback, "WON", models.DisputeWon},
		{models.Payout, "PAID", models.PayoutPaid}, {models.Payout, "failed", models.PayoutFailed},
	} {
		got, err := importedEvents(c.kind, c.status)
		if err != nil || got[0] != c.want {
			t.Errorf("importedEvents(%s, %s) = %v, %v; want %s", c.kind, c.status, got, err, c.want)
		}
	}
	for kind, status := range map[models.TransactionKind]string{models.Payment: "reversed", models.Chargeback: "pending", models.Refund: ""} {
		if got, err := importedEvents(kind, status); err == nil {
			t.Errorf("importedEvents(%s, %q) = %v, want an error", kind, status, got)
		}
	}
}
