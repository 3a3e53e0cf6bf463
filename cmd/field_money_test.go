package cmd

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
	"paybook/models"
)

// F32: another amount than the order's is booked as it is, too much as well as too little, and pays nothing.
func TestFieldWrongAmount(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		amounts := []string{"19.99", "2000.00", "1998.99", "1999.01", "0.01", "199900.00", "0.00"}
		var gaps, rows []string
		for i, amount := range amounts {
			id := fmt.Sprintf("FCAMT%d", i)
			f.order(id, "1999.00", "CNY")
			f.ack(f.tell("payment SUCCESS t" + id + " " + id + " " + amount + " CNY"))
			if amount == "0.00" { // nothing was paid: no payment at all, or one that does not fit
				if got := f.status(id); got != "unpaid" {
					t.Errorf("paid with nothing: %s", got)
				}
				continue
			}
			f.wantOrder(id, "unpaid 0.00 | payment t"+id+" "+amount+" CNY succeeded")
			f.wantMessages(id, 0)
			rows = append(rows, "t"+id+","+id+",payment,"+amount+",CNY,SUCCESS,2026-11-28 12:00:00")
			gaps = append(gaps, "amount_mismatch payment t"+id)
		}
		run := f.runJSON(exitLook, "--account", "shop", "--date", "2026-11-28", "--statement", f.statement(rows...))[0]
		list, _ := run["gaps"].([]any)
		found := 0
		for _, item := range list {
			g, _ := item.(map[string]any)
			order, _ := g["order"].(map[string]any)
			if g["kind"] == "amount_mismatch" && order["amount"] == "1999.00" && strings.HasPrefix(fmt.Sprint(g["transaction_id"]), "tFCAMT") {
				found++
			}
		}
		if found != len(gaps) {
			t.Errorf("%d gaps with the order's amount, want %d: %v", found, len(gaps), list)
		}
		f.ack(f.tell("payment SUCCESS t9 FCAMT0 1999.00 CNY")) // the right one still pays
		f.wantOrder("FCAMT0", "paid 0.00 unpaid>paid | payment t9 1999.00 CNY succeeded | payment tFCAMT0 19.99 CNY succeeded")
	})
}

// F33, F34: the same number is another sum in another currency, and each currency has its own number of decimals.
func TestFieldCurrencies(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for i, c := range []struct {
			amount, currency string // of the order
			minor            int64  // of the event, as Stripe counts
			paid, want       string // currency of the event; row: amount, and what becomes of it
		}{
			{"100.00", "USD", 100, "vnd", "100 VND succeeded currency_mismatch"},
			{"100.00", "USD", 10000, "mxn", "100.00 MXN succeeded currency_mismatch"},
			{"100.00", "USD", 10000, "USD", "100.00 USD succeeded applied"},
			{"100.00", "usd", 10000, "uSd", "100.00 USD succeeded applied"},
			{"500", "JPY", 500, "jpy", "500 JPY succeeded applied"},
			{"5", "JPY", 500, "jpy", "500 JPY succeeded amount_mismatch"},
			{"5.00", "USD", 500, "jpy", "500 JPY succeeded currency_mismatch"},
			{"5.000", "KWD", 5000, "kwd", "5.000 KWD succeeded applied"},
			{"50.00", "KWD", 5000, "kwd", "5.000 KWD succeeded amount_mismatch"},
			{"1500", "ISK", 150000, "isk", "1500 ISK succeeded applied"},
			{"5.00", "USD", 500, "xqq", ""},
			{"5.00", "USD", 500, "", ""},
			{"5.00", "USD", 500, "us$", ""},
		} {
			id := fmt.Sprintf("FCCUR%d", i)
			f.order(id, c.amount, c.currency)
			answer := f.stripe(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_"+id, "ch_"+id, id, c.minor, c.paid)))
			if readable := c.want != ""; readable != (answer.status == 200) || !readable && answer.status != 400 {
				f.t.Errorf("%s: answered %d %s, want 400 for what cannot be read, 200 else", id, answer.status, answer.body)
			}
			status, line := "unpaid 0", ""
			if strings.HasSuffix(c.want, "applied") {
				status = "paid 0"
			}
			if c.want != "" {
				words := strings.Fields(c.want)
				line = " | payment ch_" + id + " " + strings.Join(words[:3], " ")
			}
			var h shop.HistoryJSON
			f.json(&h, "orders", "show", id)
			got := fmt.Sprintf("%s 0", h.Status)
			for _, tx := range h.Transactions {
				got += fmt.Sprintf(" | %s %s %s %s %s", tx.Kind, tx.TransactionID, tx.Amount, tx.Currency, tx.Status)
			}
			if got != status+line {
				t.Errorf("order of %s %s, paid %d %s:\n got %s\nwant %s", c.amount, c.currency, c.minor, c.paid, got, status+line)
			}
		}
		var list []callbackJSON
		for outcome, want := range map[string]int{"currency_mismatch": 3, "amount_mismatch": 2, "unreadable": 3, "applied": 5} {
			if f.json(&list, "callbacks", "list", "--outcome", outcome); len(list) != want {
				t.Errorf("%d callbacks listed as %s, want %d", len(list), outcome, want)
			}
		}
	})
}

// F35: every amount from 0.01 to 100.00 is exactly itself, told in cents or as a decimal, and ten thousand times 0.10 is 1000.00.
func TestFieldEveryCent(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		const most = 10_000
		orders := make([]models.Order, most)
		var movements []ledger.Import
		for i := range orders {
			text := fmt.Sprintf("%d.%02d", (i+1)/100, (i+1)%100)
			due, err := models.ParseMajor(text, "USD")
			if err != nil {
				t.Fatal(err)
			}
			paid, err := models.ParseMinor(fmt.Sprint(i+1), "usd", 2)
			if err != nil || due != paid || due.Text() != text {
				t.Fatalf("%s is read as %s and written as %s (%v)", text, paid, due.Text(), err)
			}
			orders[i] = models.Order{OrderID: "FC" + text, AmountMinor: due.Minor, Currency: due.Currency}
			movements = append(movements, ledger.Import{Account: "a", Place: text, Events: []models.Event{{Kind: models.PaymentSucceeded, TransactionID: "ch" + text,
				OrderID: "FC" + text, Money: paid, OccurredAt: time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC)}}})
		}
		ledgertest.Orders(t, book, orders...)
		counts, err := book.ImportTransactions(t.Context(), func(yield func(ledger.Import, error) bool) {
			for _, m := range movements {
				if !yield(m, nil) {
					return
				}
			}
		})
		if err != nil || counts[models.OutcomeApplied] != most || len(counts) != 1 {
			t.Fatalf("%v, %v; want all %d applied", counts, err, most)
		}
		for i, o := range orders {
			if i%500 != 7 {
				continue
			}
			h, err := book.OrderHistory(t.Context(), o.OrderID)
			if err != nil || h.Order.Status != models.Paid {
				t.Errorf("%s: %s, %v", o.OrderID, h.Order.Status, err)
			}
		}
	})
}

// F35, second half.
func TestFieldTenThousandDimes(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		var orders, movements, rows strings.Builder
		for i := range 10_000 {
			fmt.Fprintf(&orders, "FCD%d,0.10,CNY\n", i)
			fmt.Fprintf(&movements, "payment,t%d,FCD%[1]d,0.10,CNY,paid,2026-11-28 12:00:00\n", i)
			fmt.Fprintf(&rows, "t%d,FCD%[1]d,payment,0.1,CNY,SUCCESS,2026-11-28 12:00:00\n", i)
		}
		f.ok("import", "orders", f.file("o.csv", "order_id,amount,currency\n"+orders.String()))
		f.ok("import", "transactions", "--account", "shop", f.file("t.csv", "kind,transaction_id,order_id,amount,currency,status,occurred_at\n"+movements.String()))
		out := f.ok("reconcile", "--account", "shop", "--date", "2026-11-28", "--format", "json", "--statement", f.file("s.csv", statementHead+"\n"+rows.String()))
		if strings.Count(out, `"amount":"1000.00"`)+strings.Count(out, `"amount": "1000.00"`) != 2 || !strings.Contains(out, "balanced") {
			t.Errorf("the sums are not 1000.00 on both sides: %.800s", out)
		}
		if found := regexp.MustCompile(`"(amount|refunded|fee)": ?[-0-9]`).FindString(out); found != "" {
			t.Errorf("money as a number: %s", found)
		}
		f.wantOrder("FCD9999", "paid 0.00 unpaid>paid | payment t9999 0.10 CNY succeeded")
	})
}

// F35: no binary float comes near money.
func TestFieldNoFloats(t *testing.T) {
	for _, root := range []string{"../models", "../ledger", "../callback", "../reconcile"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "ledgertest" || d.Name() == "providertest") {
				return filepath.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && (id.Name == "float64" || id.Name == "float32" || id.Name == "ParseFloat" || id.Name == "InexactFloat64") {
					t.Errorf("%s: %s", path, id.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// F36: the order is worth what was sold, whatever part of it a voucher paid; the payer's part stands apart.
func TestFieldVouchers(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		const id = "4200000000000000000000000001"
		f.order("FCVOUCHER", "20.00", "CNY")
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(id, "FCVOUCHER", 2000, map[string]any{
			"amount":           map[string]any{"total": 2000, "payer_total": 1500, "currency": "CNY", "payer_currency": "CNY"},
			"promotion_detail": []any{map[string]any{"coupon_id": "1", "amount": 500, "wechatpay_contribute": 500}},
		})))
		f.wantOrder("FCVOUCHER", "paid 0.00 unpaid>paid | payment "+id+" 20.00 CNY succeeded")
		n := ledger.Name{Account: "wechatpay", Kind: models.Payment, ID: id}
		found, err := f.book.FindTransactions(t.Context(), map[ledger.Name]bool{n: true})
		if err != nil || found[n].PayerMinor != 1500 || found[n].AmountMinor != 2000 {
			t.Errorf("payer paid %d of %d (%v), want 1500 of 2000", found[n].PayerMinor, found[n].AmountMinor, err)
		}
		bill := f.wechatBill(wechatRow{id: id, order: "FCVOUCHER", at: "2026-11-28 12:00:00", settled: "15.00", voucher: "5.00", amount: "20.00"})
		f.wantRunOf("wechatpay", "2026-11-28", bill, exitDone, "1 1")
		f.order("FCVOUCHER2", "15.00", "CNY") // what the payer paid is not what the order is worth
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000002", "FCVOUCHER2", 2000, map[string]any{
			"amount": map[string]any{"total": 2000, "payer_total": 1500, "currency": "CNY"}})))
		f.wantOrder("FCVOUCHER2", "unpaid 0.00 | payment 4200000000000000000000000002 20.00 CNY succeeded")
	})
}

// F37: a running total is no sum to be added.
func TestFieldRunningTotals(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCTOTAL", "19.99", "USD")
		f.ack(f.stripe(f.stripeEvent("payment_intent.succeeded", stripeIntent("pi_1", "ch_1", "FCTOTAL", 1999, "usd"))))
		total := func(minor int64) {
			t.Helper()
			f.ack(f.stripe(f.stripeEvent("charge.refunded", fmt.Sprintf(`{"id":"ch_1","payment_intent":"pi_1","amount":1999,"amount_captured":1999,"captured":true,"amount_refunded":%d,"currency":"usd","metadata":{"order_id":"FCTOTAL"}}`, minor))))
		}
		want := func(want string) {
			t.Helper()
			var h shop.HistoryJSON
			if f.json(&h, "orders", "show", "FCTOTAL"); string(h.Status)+" "+h.Refunded != want {
				t.Errorf("order is %s %s, want %s", h.Status, h.Refunded, want)
			}
		}
		for _, step := range []struct {
			minor int64
			want  string
		}{{500, "part_refunded 5.00"}, {800, "part_refunded 8.00"}, {500, "part_refunded 8.00"}, {800, "part_refunded 8.00"}} {
			total(step.minor)
			want(step.want)
		}
		// the same refunds, each by its id, before and after the total that has them in it
		f.ack(f.stripe(f.stripeEvent("refund.created", stripeRefund("re_1", "ch_1", "succeeded", 500, ""))))
		want("part_refunded 8.00")
		f.ack(f.stripe(f.stripeEvent("refund.created", stripeRefund("re_2", "ch_1", "succeeded", 300, ""))))
		want("part_refunded 8.00")
		total(1999)
		want("refunded 19.99")
		total(800)
		total(1999)
		want("refunded 19.99")
	})
}
