package cmd

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"paybook/ledger"
	"paybook/models"
)

// F28: two real payments for one order, by two providers: the second is booked, acknowledged, and listed to be given back.
func TestFieldAlipayTwoPayments(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.orders("19.99", "CNY", "FCDOUBLE0", "FCDOUBLE1", "FCDOUBLE2")
		pay := map[string]func(order string) fieldAnswer{
			"alipay": func(order string) fieldAnswer {
				return f.alipay(f.alipayPaid("20261128220014000000000"+order[2:], order, "19.99"))
			},
			"wechatpay": func(order string) fieldAnswer {
				return f.wechat("TRANSACTION.SUCCESS", wechatPaid("42000000000000000"+order[2:], order, 1999, nil))
			},
			"again": func(order string) fieldAnswer {
				return f.alipay(f.alipayPaid("20261128220015000000000"+order[2:], order, "19.99"))
			},
		}
		var rows []string
		for i, way := range [][2]string{{"alipay", "wechatpay"}, {"wechatpay", "alipay"}, {"alipay", "again"}} {
			order := fmt.Sprintf("FCDOUBLE%d", i)
			for _, account := range []string{way[0], way[1], way[1], way[0], way[1]} { // and their repeats
				f.ack(pay[account](order))
			}
			for n, account := range way {
				id := map[string]string{"alipay": "20261128220014000000000DOUBLE", "wechatpay": "42000000000000000DOUBLE", "again": "20261128220015000000000DOUBLE"}[account] + fmt.Sprint(i)
				outcome := []string{"applied", "duplicate_payment"}[n]
				rows = append(rows, strings.Replace(account, "again", "alipay", 1)+" payment "+id+" 19.99 CNY succeeded "+outcome)
			}
			f.wantMessages(order, 1)
			if got := f.stands(order); got != "paid" {
				t.Errorf("order is %s", got)
			}
		}
		f.wantRows(rows...)
		f.wantOrder("FCDOUBLE0", "paid 0.00 unpaid>paid | payment 20261128220014000000000DOUBLE0 19.99 CNY succeeded | payment 42000000000000000DOUBLE0 19.99 CNY succeeded")
		var list []callbackJSON
		if f.json(&list, "callbacks", "list", "--limit", "1000", "--outcome", "duplicate_payment"); len(list) != 3 {
			t.Errorf("%d callbacks listed as a second payment, want 3", len(list))
		}
		run := f.runJSON(exitLook, "--account", "alipay", "--date", "2026-11-28", "--dry-run", "--statement", f.alipayBill(alipayRow{trade: "20261128220014000000000DOUBLE0", order: "FCDOUBLE0"},
			alipayRow{trade: "20261128220014000000000DOUBLE1", order: "FCDOUBLE1"}, alipayRow{trade: "20261128220014000000000DOUBLE2", order: "FCDOUBLE2"},
			alipayRow{trade: "20261128220015000000000DOUBLE2", order: "FCDOUBLE2"}))[0]
		if summary, _ := run["summary"].(map[string]any); len(summary) != 1 || summary["duplicate_payment"] != 2.0 {
			t.Errorf("reconciled: %v, want two duplicate_payment", run["summary"])
		}
		// its refund does not un-pay the order
		f.alipayAck(f.alipay(f.alipayRefunded("20261128220014000000000DOUBLE1", "FCDOUBLE1", "19.99", "R1", form{"trade_status": "TRADE_CLOSED"})))
		if got := f.stands("FCDOUBLE1"); got != "paid" {
			t.Errorf("after the refund of the second payment the order is %s", got)
		}
	})
}

// alipayStep is one notification of the life of a payment of 19.99: what was refunded so far, by which number, in which state.
type alipayStep struct{ soFar, number, state string }

// F29: a refund looks like a payment but for refund_fee, which is the running total.
func TestFieldAlipayRefundNotices(t *testing.T) {
	paid := alipayStep{"", "", "TRADE_SUCCESS"}
	zero := alipayStep{"0.00", "", "TRADE_SUCCESS"}
	five, eight := alipayStep{"5.00", "A", "TRADE_SUCCESS"}, alipayStep{"8.00", "B", "TRADE_SUCCESS"}
	full := alipayStep{"19.99", "C", "TRADE_CLOSED"}
	eachField(t, func(t *testing.T, f *field) {
		cases := []struct {
			name  string
			steps []alipayStep
			want  string // status, refunded, messages; then the refunds by number
		}{
			{"paid", []alipayStep{paid}, "paid 0.00 1"},
			{"paid, told with a refund of nothing", []alipayStep{zero, zero, paid}, "paid 0.00 1"},
			{"one part", []alipayStep{paid, five}, "part_refunded 5.00 2 A=5.00"},
			{"part and rest", []alipayStep{paid, five, {"19.99", "B", "TRADE_CLOSED"}}, "refunded 19.99 3 A=5.00 B=14.99"},
			{"three", []alipayStep{paid, five, eight, full}, "refunded 19.99 4 A=5.00 B=3.00 C=11.99"},
			{"at once", []alipayStep{paid, {"19.99", "A", "TRADE_CLOSED"}}, "refunded 19.99 2 A=19.99"},
			{"at once, still TRADE_SUCCESS", []alipayStep{paid, {"19.99", "A", "TRADE_SUCCESS"}}, "refunded 19.99 2 A=19.99"},
			{"repeats", []alipayStep{paid, five, paid, five, eight, five, full, eight, full, paid, zero}, "refunded 19.99 4 A=5.00 B=3.00 C=11.99"},
			{"the payment last", []alipayStep{five, eight, full, paid}, "refunded 19.99 - A=5.00 B=3.00 C=11.99"},
			{"the second first", []alipayStep{paid, eight, five}, "part_refunded 8.00 2 A=5.00 B=3.00"},
			{"the full one first", []alipayStep{paid, full, eight, five}, "refunded 19.99 2 A=5.00 B=3.00 C=11.99"},
			{"finished", []alipayStep{paid, {"", "", "TRADE_FINISHED"}}, "paid 0.00 1"},
			{"finished after a part", []alipayStep{paid, five, {"5.00", "A", "TRADE_FINISHED"}}, "part_refunded 5.00 2 A=5.00"},
			{"closed, never paid", []alipayStep{{"", "", "TRADE_CLOSED"}}, "closed 0.00 1"},
			{"closed late", []alipayStep{paid, {"", "", "TRADE_CLOSED"}}, "paid 0.00 1"},
			{"waiting, then paid", []alipayStep{{"", "", "WAIT_BUYER_PAY"}, paid}, "paid 0.00 1"},
			{"nothing but waiting", []alipayStep{{"", "", "WAIT_BUYER_PAY"}}, "unpaid 0.00 0"},
			{"finished instead of success", []alipayStep{{"", "", "TRADE_FINISHED"}}, "paid 0.00 1"},
			{"no number", []alipayStep{paid, {"5.00", "", "TRADE_SUCCESS"}}, "part_refunded 5.00 2 own=5.00"},
		}
		f.orders("19.99", "CNY", numbered("FCBACK", len(cases))...)
		for i, c := range cases {
			order, trade := fmt.Sprintf("FCBACK%d", i), fmt.Sprintf("20261128220014%014d", i)
			for _, step := range c.steps {
				f.alipayAck(f.alipay(f.alipayStep(trade, order, step)))
			}
			if got := f.refundedAs(order, trade, strings.Contains(c.want, " - ")); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
			}
		}
		f.wantQuietLog("ERROR")
		f.wantLogWithout("callback recorded", "2088000000000028", "测试商品")
	})
}

func (f *field) alipayStep(trade, order string, s alipayStep) form {
	change := form{"trade_status": s.state}
	switch {
	case s.soFar == "":
	case s.number == "" && s.soFar == "0.00":
		change["refund_fee"] = "0.00"
	case s.number == "":
		return f.alipayRefunded(trade, order, s.soFar, gone, change)
	default:
		return f.alipayRefunded(trade, order, s.soFar, "R"+s.number+order, change)
	}
	if s.state == "TRADE_CLOSED" {
		change["gmt_payment"], change["gmt_close"] = gone, "2026-11-28 12:30:00"
	}
	return f.alipayPaid(trade, order, "19.99", change)
}

// refundedAs is an order's status, refunded sum and number of messages, and its refunds by the shop's number.
func (f *field) refundedAs(order, trade string, anyMessages bool) string {
	f.t.Helper()
	h, err := f.book.OrderHistory(f.t.Context(), order)
	if err != nil {
		f.t.Fatal(err)
	}
	list, err := f.book.Messages(f.t.Context(), order)
	if err != nil {
		f.t.Fatal(err)
	}
	told := fmt.Sprint(len(list))
	if anyMessages {
		told = "-"
	}
	text := fmt.Sprint(h.Order.Status, " ", models.Money{Minor: h.Order.RefundedMinor, Currency: h.Order.Currency}.Text(), " ", told)
	var refunds []string
	payments := 0
	for _, tx := range h.Transactions {
		switch tx.Kind {
		case models.Payment:
			payments++
		case models.Refund:
			number := strings.TrimSuffix(strings.TrimPrefix(tx.RefundOrderID, "R"), order)
			refunds = append(refunds, strings.Replace(number, trade, "own", 1)+"="+tx.Money().Text())
		}
	}
	if payments > 1 {
		f.t.Errorf("order %s: %d payments", order, payments)
	}
	slices.Sort(refunds)
	return strings.Join(append([]string{text}, refunds...), " ")
}

// F36: the order is worth total_amount, whoever paid which part of it.
func TestFieldAlipayVouchers(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		cases := []struct {
			total, payer, receipt string
			discount              string // the shop's own part, in the bill
			status                string
			payerMinor            int64
		}{
			{"20.00", "15.00", "20.00", "0.00", "paid", 1500}, {"20.00", "20.00", "20.00", "0.00", "paid", 2000}, {"20.00", "15.00", "15.00", "5.00", "paid", 1500},
			{"20.00", "12.00", "17.00", "3.00", "paid", 1200}, {"20.00", "0.00", "20.00", "0.00", "paid", 0}, {"20", "15", "20", "0.00", "paid", 1500}, {"20.0", gone, gone, "0.00", "paid", 0},
			{"15.00", "20.00", "20.00", "0.00", "unpaid", 2000}, {"25.00", "20.00", "20.00", "5.00", "unpaid", 2000}, {"19.99", "20.00", "20.00", "0.00", "unpaid", 2000},
		}
		f.orders("20.00", "CNY", numbered("FCVOUCH", len(cases))...)
		var rows []alipayRow
		for i, c := range cases {
			order, trade := fmt.Sprintf("FCVOUCH%d", i), fmt.Sprintf("20261128220014%014d", i)
			f.alipayAck(f.alipay(f.alipayPaid(trade, order, "20.00", form{"total_amount": c.total, "buyer_pay_amount": c.payer, "receipt_amount": c.receipt,
				"voucher_detail_list": `[{"amount":"5.00","name":"满20减5","type":"ALIPAY_FIX_VOUCHER"}]`})))
			n := ledger.Name{Account: "alipay", Kind: models.Payment, ID: trade}
			found, err := f.book.FindTransactions(t.Context(), map[ledger.Name]bool{n: true})
			total, parseErr := models.ParseMajor(c.total, "CNY")
			if err != nil || parseErr != nil || f.stands(order) != c.status || found[n].Money() != total || found[n].PayerMinor != c.payerMinor {
				t.Errorf("%+v: order is %s, booked %+v (%v)", c, f.stands(order), found[n], err)
			}
			if c.status == "paid" {
				rows = append(rows, alipayRow{trade: trade, order: order, amount: "20.00", received: strings.Replace(c.receipt, gone, "20.00", 1), discount: c.discount})
			} else {
				rows = append(rows, alipayRow{trade: trade, order: order, amount: c.total, received: "20.00", discount: c.discount})
			}
		}
		f.wantRunOf("alipay", "2026-11-28", f.alipayBill(rows...), exitLook, fmt.Sprint(len(cases), " ", len(cases)-3),
			"amount_mismatch payment 2026112822001400000000000007", "amount_mismatch payment 2026112822001400000000000008", "amount_mismatch payment 2026112822001400000000000009")
	})
}

// F69: genuine, and somebody else's: refused, warned of without the body, and the order is left alone.
func TestFieldAlipayForeignAccount(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCFOR", "19.99", "CNY")
		const trade = "2026112822001400000000000001"
		foreign := []form{
			{"seller_id": "2088000000000020"}, {"app_id": "2021000000000002"}, {"seller_id": "2088000000000020", "app_id": "2021000000000002"}, {"seller_id": "2088000000000019 "},
			{"seller_id": "", "seller_email": gone}, {"app_id": ""}, {"app_id": gone}, {"app_id": "2088000000000019", "seller_id": "2021000000000001"}, {"app_id": "02021000000000001"},
			{"seller_id": "2088000000000020", "seller_email": gone}, {"seller_id": gone, "seller_email": "other@example.com"}, {"seller_id": gone, "seller_email": gone},
			{"seller_id": "２０８８０００００００００００１９"}, {"app_id": "2021000000000001,2021000000000002"},
		}
		refused := 0
		for _, change := range foreign {
			for _, fields := range []form{f.alipayPaid(trade, "FCFOR", "19.99", change), f.alipayRefunded(trade, "FCFOR", "5.00", "R1", change),
				f.alipayPaid(trade, "FCFOR", "19.99", form{"trade_status": "TRADE_FINISHED"}, change), f.alipayPaid(trade, "FCFOR", "19.99", form{"trade_status": "TRADE_CLOSED"}, change)} {
				refused++
				if got := f.alipay(fields); got.status != 403 || got.body != "failure" {
					t.Errorf("%q: %d %q, want 403 failure", change, got.status, got.body)
				}
			}
		}
		f.wantOrder("FCFOR", "unpaid 0.00")
		f.wantRows()
		if list := f.listed("merchant"); len(list) != refused {
			t.Errorf("%d callbacks listed as another account's, want %d", len(list), refused)
		}
		f.wantLogWithout(`"level":"WARN","msg":"callback refused","account":"alipay","reason":"merchant"`, "2088000000000028", "测试商品", "FCFOR")
		f.wantQuietLog("ERROR")
		f.alipayAck(f.alipay(f.alipayPaid(trade, "FCFOR", "19.99", form{"auth_app_id": "2021000000000009", "seller_email": "mer***@example.com"}))) // a service provider's, and ours
		f.wantOrder("FCFOR", "paid 0.00 unpaid>paid | payment "+trade+" 19.99 CNY succeeded")
		f.alipayAck(f.alipay(f.alipayPaid(trade, "FCFOR", "19.99", form{"seller_id": gone}))) // named by its login alone
	})
}
