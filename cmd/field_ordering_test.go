package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
)

// F23: a callback before its order is kept, listed as long as there is no order, and applied by itself when there is one.
func TestFieldCallbackBeforeItsOrder(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		f.ack(f.tell("payment SUCCESS t1 FCEARLY1 19.99 CNY"))
		f.ack(f.tell("payment SUCCESS t2 FCEARLY2 19.99 CNY"))
		f.ack(f.tell("refund SUCCESS r2 FCEARLY2 5.00 CNY t2 R2"))
		f.wantRows("shop payment t1 19.99 CNY succeeded no_order", "shop payment t2 19.99 CNY succeeded no_order", "shop refund r2 5.00 CNY succeeded no_order")
		day := f.statement("t1,FCEARLY1,payment,19.99,CNY,SUCCESS,2026-11-28 12:00:00", "t2,FCEARLY2,payment,19.99,CNY,SUCCESS,2026-11-28 12:00:00",
			"r2,FCEARLY2,refund,5.00,CNY,SUCCESS,2026-11-28 12:00:00")
		f.wantRun(day, exitLook, "3 0", "unknown_order payment t1", "unknown_order payment t2", "unknown_order refund r2")

		f.order("FCEARLY1", "19.99", "CNY") // the front door
		f.wantOrder("FCEARLY1", "paid 0.00 unpaid>paid | payment t1 19.99 CNY succeeded")
		f.hold(dsn, insertOrder(dsn, "FCEARLY2", 1999, "CNY"))("COMMIT") // behind our back: the sweep finds it
		for range 300 {
			if f.status("FCEARLY2") == "part_refunded" {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		f.wantOrder("FCEARLY2", "part_refunded 5.00 unpaid>paid>part_refunded | payment t2 19.99 CNY succeeded | refund r2 5.00 CNY succeeded")
		f.wantMessages("FCEARLY1", 1)
		f.wantMessages("FCEARLY2", 2)
		f.wantRun(day, exitDone, "3 3")
	})
}

// F23 as its title has it: the order is written and not yet committed when its callback comes.
func TestFieldCallbackBeforeTheCommit(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		end := f.hold(dsn, insertOrder(dsn, "FCOPEN", 1999, "CNY"))
		message, first := f.shopMessage("payment SUCCESS t1 FCOPEN 19.99 CNY"), make(chan fieldAnswer, 1)
		go func() { first <- f.shopPost(message) }()
		time.Sleep(300 * time.Millisecond)
		end("COMMIT")
		if got := <-first; got.status != 200 {
			t.Errorf("answered %d %s", got.status, got.body)
		}
		for range 300 { // nothing is delivered again
			if f.status("FCOPEN") == "paid" {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		f.wantOrder("FCOPEN", "paid 0.00 unpaid>paid | payment t1 19.99 CNY succeeded")
		f.wantMessages("FCOPEN", 1)
	})
}

// insertOrder is the SQL by which a program of the shop's own would write an order.
func insertOrder(dsn, id string, minor int64, currency string) string {
	now := "now()"
	if strings.HasPrefix(dsn, "sqlite:") {
		now = "'2026-11-28 04:00:02+00:00'"
	}
	return fmt.Sprintf("INSERT INTO orders (order_id, amount_minor, currency, status, version, created_at, updated_at) "+
		"VALUES ('%s', %d, '%s', 'unpaid', 1, %s, %[4]s)", id, minor, currency, now)
}

// wantRun reconciles the account shop's 2026-11-28: exit code, "COMPARED MATCHED", and its gaps as "KIND ENTRY-KIND ID".
func (f *field) wantRun(statement string, code int, counts string, gaps ...string) {
	f.t.Helper()
	f.wantRunOf("shop", "2026-11-28", statement, code, counts, gaps...)
}

func (f *field) wantRunOf(account, date, statement string, code int, counts string, gaps ...string) {
	f.t.Helper()
	run := f.runJSON(code, "--account", account, "--date", date, "--statement", statement)[0]
	list, _ := run["gaps"].([]any)
	got := []string{}
	for _, item := range list {
		g, _ := item.(map[string]any)
		got = append(got, fmt.Sprint(g["kind"], " ", g["entry_kind"], " ", g["transaction_id"]))
	}
	slices.Sort(got)
	slices.Sort(gaps)
	if have := fmt.Sprint(run["compared"], " ", run["matched"]); have != counts || strings.Join(got, ", ") != strings.Join(gaps, ", ") {
		f.t.Errorf("run of %s: %s %q\nwant: %s %q", date, have, got, counts, gaps)
	}
}

// F24: what comes late does not take a payment back, whichever was told first.
func TestFieldLateFailure(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		noon := f.now
		kinds := []string{"payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled"}
		created := []time.Time{noon, noon.Add(-2 * time.Minute), noon.Add(5 * time.Minute)}
		for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			id := fmt.Sprintf("FCLATE%d", i)
			f.order(id, "19.99", "USD")
			for _, n := range order {
				f.ack(f.stripe(f.stripeEventAt(kinds[n], created[n], stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd"))))
			}
			var h shop.HistoryJSON
			f.json(&h, "orders", "show", id)
			if h.Status != "paid" || h.Refunded != "0.00" || h.Transitions[len(h.Transitions)-1].To != "paid" {
				t.Errorf("order of events %v: %+v", order, h)
			}
			f.wantMessages(id, len(h.Transitions)) // one, or two where the close came before the payment
			if order[0] == 0 {
				f.wantOrder(id, "paid 0.00 unpaid>paid | payment ch_"+id+" 19.99 USD succeeded")
			}
		}
		f.order("FCLATE9", "19.99", "CNY")
		for _, status := range []string{"SUCCESS", "FAILED", "CLOSED", "PENDING"} {
			f.ack(f.tell("payment " + status + " t9 FCLATE9 19.99 CNY"))
		}
		f.wantOrder("FCLATE9", "paid 0.00 unpaid>paid | payment t9 19.99 CNY succeeded")
		var list []callbackJSON
		if f.json(&list, "callbacks", "list", "--account", "shop", "--outcome", "not_allowed"); len(list) != 2 {
			t.Fatalf("not applied: %+v, want the failure and the close", list)
		}
		var shown shownCallback
		if f.json(&shown, "callbacks", "show", list[0].ID); shown.Detail == "" {
			t.Error("the reason why it was not applied is not kept")
		}
	})
}

// F25: a late "paid" does not open again what was refunded, in part or whole.
func TestFieldLatePaid(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for i, refund := range []int64{1999, 500} {
			id, status := fmt.Sprintf("FCREOPEN%d", i), []string{"refunded 19.99 unpaid>paid>refunded", "part_refunded 5.00 unpaid>paid>part_refunded"}[i]
			sum := []string{"19.99", "5.00"}[i]
			f.order(id, "19.99", "USD")
			intent := stripeIntent("pi_"+id, "ch_"+id, id, 1999, "usd")
			f.ack(f.stripe(f.stripeEvent("payment_intent.succeeded", intent)))
			f.ack(f.stripe(f.stripeEvent("refund.created", stripeRefund("re_"+id, "ch_"+id, "succeeded", refund, ""))))
			for _, late := range []string{"payment_intent.succeeded", "payment_intent.processing", "payment_intent.succeeded"} {
				f.ack(f.stripe(f.stripeEventAt(late, f.now.Add(time.Hour), intent)))
			}
			f.ack(f.stripe(f.stripeEvent("checkout.session.completed", fmt.Sprintf(`{"id":"cs_%s","payment_intent":"pi_%[1]s","payment_status":"paid","amount_total":1999,"currency":"usd","client_reference_id":%[1]q}`, id))))
			f.wantOrder(id, status+" | payment ch_"+id+" 19.99 USD succeeded | refund re_"+id+" "+sum+" USD succeeded")
			f.wantMessages(id, 2)
		}
		var list []callbackJSON
		if f.json(&list, "callbacks", "list", "--outcome", "duplicate"); len(list) != 8 {
			t.Errorf("%d late events recorded as not applied, want 8", len(list))
		}
	})
}

// F26: no order is ever written as a whole; a status changes only where it is still what was read.
func TestFieldNoWholeRowIsSaved(t *testing.T) {
	files, err := filepath.Glob("../ledger/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	whole := regexp.MustCompile(`\.(Save|Updates|UpdateColumns)\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := whole.FindString(string(text)); found != "" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s: %s writes rows that may be stale", file, found)
		}
	}
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCSTALE1", "19.99", "CNY")
		f.ack(f.tell("payment SUCCESS t1 FCSTALE1 19.99 CNY"))
		// the shop's file as it was before the payment, and as somebody edited it
		f.order("FCSTALE1", "19.99", "CNY")
		f.ok("import", "orders", f.file("o.json", `[{"order_id":"FCSTALE1","amount":"19.99","currency":"CNY","status":"unpaid"}]`))
		f.wantOrder("FCSTALE1", "paid 0.00 unpaid>paid | payment t1 19.99 CNY succeeded")
		var h shop.HistoryJSON
		if f.json(&h, "orders", "show", "FCSTALE1"); h.Version != 2 {
			t.Errorf("version %d, want 2", h.Version)
		}
	})
}
