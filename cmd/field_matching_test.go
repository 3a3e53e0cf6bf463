package cmd

import (
	"strings"
	"testing"

	"paybook/ledger/shop"
	"paybook/reconcile"
)

// F55: payments that look the same and have two ids are two payments.
func TestFieldTwins(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCTW1", "20.00", "CNY")
		f.order("FCTW2", "20.00", "CNY")
		f.ack(f.tell("payment SUCCESS fc-tw-1 FCTW1 20.00 CNY"))
		f.ack(f.tell("payment SUCCESS fc-tw-2 FCTW2 20.00 CNY"))
		f.order("FCTW3", "20.00", "CNY")
		f.order("FCTW4", "20.00", "CNY")
		f.ack(f.tell("payment SUCCESS fc-tw-3 FCTW3 20.00 CNY"))
		f.ack(f.tell("payment SUCCESS fc-tw-4 FCTW4 20.00 CNY"))
		row := func(id, order string) string {
			return id + "," + order + ",payment,20.00,CNY,SUCCESS,2026-11-28 12:00:00"
		}
		f.wantRun(f.statement(row("fc-tw-1", "FCTW1"), row("fc-tw-2", "FCTW2"), row("fc-tw-3", ""), row("fc-tw-4", "")), exitDone, "4 4")
	})
}

// F56: one id twice: the same, another, and another kind of movement.
func TestFieldIDTwice(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.fieldDay()
		f.wantRun(f.statement(oneRow, oneRow), exitLook, "1 1", "duplicate_entry payment t1")
		f.wantRun(f.statement(oneRow, strings.Replace(oneRow, "20.00", "21.00", 1)), exitLook, "2 0", "conflict payment t1")
		var gaps []reconcile.GapReport
		f.json(&gaps, "gaps", "list", "--kind", "conflict")
		if len(gaps) != 1 || !strings.Contains(gaps[0].Reason, "row 2") || !strings.Contains(gaps[0].Reason, "row 3") {
			t.Errorf("gap %+v, want both rows named", gaps)
		}
		f.ack(f.tell("refund SUCCESS t1 FCST1 5.00 CNY t1 R1")) // the refund under the payment's own id
		refund := "t1,FCST1,refund,5.00,CNY,SUCCESS,2026-11-28 12:00:00"
		f.wantRun(f.statement(oneRow, refund), exitDone, "2 2")
		f.wantRun(f.statement(refund, refund, oneRow), exitLook, "2 2", "duplicate_entry refund t1")
		f.wantRun(f.statement(oneRow, refund), exitDone, "2 2")
	})
}

// F57: the same day once more adds nothing; what was put right in between is closed and kept.
func TestFieldSameDayAgain(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.fieldDay()
		f.order("FCST2", "30.00", "CNY")
		f.order("FCST3", "40.00", "CNY")
		f.ack(f.tell("payment SUCCESS t3 FCST3 40.00 CNY"))
		day := f.statement(oneRow, "t2,FCST2,payment,30.00,CNY,SUCCESS,2026-11-28 12:00:00")
		list := func(state string) (got []reconcile.GapReport) {
			t.Helper()
			f.json(&got, "gaps", "list", "--state", state)
			return got
		}
		f.wantRun(day, exitLook, "2 1", "missing_local payment t2", "missing_provider payment t3")
		first := f.ok("gaps", "list", "--format", "json")
		f.wantRun(day, exitLook, "2 1", "missing_local payment t2", "missing_provider payment t3")
		if again := f.ok("gaps", "list", "--format", "json"); again != first || len(list("open")) != 2 {
			t.Errorf("the second run left\n%s\nthe first\n%s", again, first)
		}
		f.ack(f.tell("payment SUCCESS t2 FCST2 30.00 CNY"))
		f.wantRun(day, exitLook, "2 2", "missing_provider payment t3")
		if open, closed := list("open"), list("resolved"); len(open) != 1 || len(closed) != 1 || closed[0].TransactionID != "t2" {
			t.Errorf("open %+v, closed %+v; want t3 and t2", open, closed)
		}
	})
}

// F58, F49: nothing is matched by its amount, by a part of its id or by its id as a number.
func TestFieldMatchingByID(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCAM1", "20.00", "CNY")
		f.ack(f.tell("payment SUCCESS fc-am-1 FCAM1 20.00 CNY"))
		at := ",payment,20.00,CNY,SUCCESS,2026-11-28 12:00:00"
		f.wantRun(f.statement("fc-am-9,FCAM9"+at), exitLook, "1 0", "missing_local payment fc-am-9", "missing_provider payment fc-am-1")
		for _, other := range []string{"fc-am-01", "FC-AM-1", "fc-am-1x", "fc-am-"} { // not even with the right order beside it
			f.wantRun(f.statement(other+",FCAM1"+at), exitLook, "1 0", "missing_local payment "+other, "missing_provider payment fc-am-1")
		}
		f.wantRun(f.statement("fc-am-1,FCAM1"+at), exitDone, "1 1")
	})
	eachField(t, func(t *testing.T, f *field) {
		const whole, rounded = "4200000000202610123456789012", "4200000000202610000000000000"
		f.order("FCZERO", "20.00", "CNY")
		f.ack(f.tell("payment SUCCESS " + whole + " FCZERO 20.00 CNY"))
		f.wantRun(f.statement(rounded+",FCZERO,payment,20.00,CNY,SUCCESS,2026-11-28 12:00:00"), exitLook, "1 0",
			"missing_local payment "+rounded, "missing_provider payment "+whole)
		var gaps []reconcile.GapReport
		f.json(&gaps, "gaps", "list", "--state", "open")
		for _, g := range gaps {
			if !strings.Contains(g.Reason, "many zeros") {
				t.Errorf("%s: %q gives no hint", g.Kind, g.Reason)
			}
		}
	})
}

// F46, F47, F49, F50: the shop's own files go through the same programs as the provider's.
func TestFieldImportFiles(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.ok("import", "orders", f.file("o.csv", "\ufefforder_id,amount,currency\r\n\ufeffFCI1,19.99,CNY\nFCI2,19.9,CNY\r\n\r\n\"FCI,3\",1234.56,CNY"))
		f.wantOrder("FCI1", "unpaid 0.00")
		f.wantOrder("FCI,3", "unpaid 0.00")
		for _, row := range []string{"FCI4,1e3,CNY", "FCI4,(5.00),CNY", "FCI4,\u22125.00,CNY", "FCI4,-5.00,CNY", "FCI4,19.999,CNY", "FCI4,5.00,XQQ", "FCI4,,CNY", ",5.00,CNY", "4.20000E+27,5.00,CNY"} {
			f.fails([]string{"o.csv", "row 3"}, "import", "orders", f.file("o.csv", "order_id,amount,currency\nFCI5,1.00,CNY\n"+row+"\n"))
		}
		head := "kind,transaction_id,order_id,amount,currency,status,occurred_at\n"
		for _, row := range []string{"payment,4.2E+27,FCI1,19.99,CNY,paid,2026-11-28 12:00:00", "payment,t1,FCI1,1e1000000000,CNY,paid,2026-11-28 12:00:00", "payment,t1,FCI1,19.99,CNY,paid,28/11/26 12:00"} {
			f.fails([]string{"t.csv", "row 2"}, "import", "transactions", "--account", "shop", f.file("t.csv", head+row+"\n"))
		}
		f.wantRows()
		if code, _, _ := f.run("orders", "show", "FCI5"); code != exitFailed {
			t.Error("half a file was imported")
		}
	})
}

// F59: refunds are known by their own ids, or by the shop's numbers, never by the payment's.
func TestFieldRefundsOfOnePayment(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		const payment, first, second = "4200000000000000000000000001", "50302902992026112800000000031", "50302902992026112800000000032"
		f.order("FCRB", "19.99", "CNY")
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(payment, "FCRB", 1999, nil)))
		f.ack(f.wechat("REFUND.SUCCESS", wechatRefund(first, "R31", payment, "FCRB", 1999, 500)))
		bill := f.wechatBill(
			wechatRow{id: payment, order: "FCRB", at: "2026-11-28 12:00:00", amount: "19.99"},
			wechatRow{id: payment, order: "FCRB", at: "2026-11-28 13:00:00", refund: first, refundNumber: "R31", refundPaid: "5.00"},
			wechatRow{id: payment, order: "FCRB", at: "2026-11-28 14:00:00", refund: second, refundNumber: "R32", refundPaid: "3.00"},
		)
		f.wantRunOf("wechatpay", "2026-11-28", bill, exitLook, "3 2", "missing_local refund "+second)
		var gaps []reconcile.GapReport
		f.json(&gaps, "gaps", "list")
		if len(gaps) != 1 || gaps[0].Statement.Amount != "3.00" || gaps[0].RefundOrderID != "R32" {
			t.Errorf("gap %+v, want R32 of 3.00", gaps)
		}
		f.ack(f.wechat("REFUND.SUCCESS", wechatRefund(second, "R32", payment, "FCRB", 1999, 300)))
		f.wantRunOf("wechatpay", "2026-11-28", bill, exitDone, "3 3")
	})
}

// F60: what was brought in by hand, because its callback was lost, meets the callback after all.
func TestFieldBroughtInThenCallback(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCREP", "20.00", "CNY")
		row := f.statement("fc-rep-1,FCREP,payment,20.00,CNY,SUCCESS,2026-11-28 12:00:00")
		f.wantRun(row, exitLook, "1 0", "missing_local payment fc-rep-1")
		for range 2 {
			f.ok("import", "transactions", "--account", "shop", f.file("t.csv", "kind,transaction_id,order_id,amount,currency,status,occurred_at\npayment,fc-rep-1,FCREP,20.00,CNY,paid,2026-11-28 12:00:00\n"))
		}
		for range 3 {
			f.ack(f.tell("payment SUCCESS fc-rep-1 FCREP 20.00 CNY"))
		}
		f.wantOrder("FCREP", "paid 0.00 unpaid>paid | payment fc-rep-1 20.00 CNY succeeded")
		f.wantMessages("FCREP", 0) // the shop brought it in itself
		f.wantRun(row, exitDone, "1 1")
		var h shop.HistoryJSON
		if f.json(&h, "orders", "show", "FCREP"); h.Transactions[0].Source != "import" {
			t.Errorf("source is %s, want import", h.Transactions[0].Source)
		}
	})
}
