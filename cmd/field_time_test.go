package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
	"paybook/ledger/shop"
)

// wechatRow is a payment in a trade bill, or a refund where refund is set.
type wechatRow struct {
	id, order, at                    string
	state                            string // "" is SUCCESS
	settled, voucher, amount         string // "": the amount without a voucher
	refund, refundNumber, refundPaid string // id, the shop's number, sum
}

const (
	billHead = "交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率,订单金额,申请退款金额,费率备注"
	billSums = "总交易单数,应结订单总金额,退款总金额,充值券退款总金额,手续费总金额,订单总金额,申请退款总金额"
)

func (r wechatRow) line() string {
	or := func(text, fallback string) string {
		if text == "" {
			return fallback
		}
		return text
	}
	if r.refund != "" {
		r.amount, r.settled, r.state = "0.00", "0.00", "REFUND"
	}
	cells := []string{r.at, "wx0000000000000001", "1999999901", "0", "", r.id, r.order, "o1", "JSAPI", or(r.state, "SUCCESS"), "OTHERS", "CNY", or(r.settled, r.amount), or(r.voucher, "0.00"),
		or(r.refund, "0"), or(r.refundNumber, "0"), or(r.refundPaid, "0.00"), "0.00", map[bool]string{true: "ORIGINAL"}[r.refund != ""], map[bool]string{true: "SUCCESS"}[r.refund != ""],
		"红茶,绿茶", `{"a":1,"b":"2,3"}`, "0.00000", "0.60%", r.amount, or(r.refundPaid, "0.00"), ""}
	return "`" + strings.Join(cells, ",`")
}

// billText is a whole trade bill, with the byte-order mark, the line ends and the sums of the real ones.
func billText(t *testing.T, rows ...wechatRow) string {
	t.Helper()
	lines := []string{"\ufeff" + billHead}
	var settled, refunded, ordered int64
	for _, r := range rows {
		lines = append(lines, r.line())
		if r.settled == "" && r.refund == "" {
			r.settled = r.amount
		}
		settled, refunded, ordered = settled+fen(t, r.settled), refunded+fen(t, r.refundPaid), ordered+fen(t, r.amount)
	}
	yuan := func(fen int64) string { return fmt.Sprintf("`%d.%02d", fen/100, fen%100) }
	lines = append(lines, billSums, strings.Join([]string{fmt.Sprintf("`%d", len(rows)), yuan(settled), yuan(refunded), "`0.00", "`0.00000", yuan(ordered), yuan(refunded)}, ","))
	return strings.Join(lines, "\r\n") + "\r\n"
}

func fen(t *testing.T, yuan string) (n int64) {
	t.Helper()
	if yuan == "" {
		return 0
	}
	if _, err := fmt.Sscan(strings.Replace(yuan, ".", "", 1), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (f *field) wechatBill(rows ...wechatRow) string {
	f.t.Helper()
	return f.file("bill.csv", billText(f.t, rows...))
}

// F39: the day is the one it was paid on, by the provider's clock; when we heard of it does not matter.
func TestFieldOverMidnight(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		const id = "4200000000000000000000000001"
		f.order("FCMID", "20.00", "CNY")
		f.now = time.Date(2026, 11, 28, 16, 0, 3, 0, time.UTC) // 2026-11-29 00:00:03 in Shanghai
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(id, "FCMID", 2000, map[string]any{"success_time": "2026-11-28T23:59:59+08:00"})))
		f.wantOrder("FCMID", "paid 0.00 unpaid>paid | payment "+id+" 20.00 CNY succeeded")
		row := wechatRow{id: id, order: "FCMID", at: "2026-11-28 23:59:59", amount: "20.00"}
		for range 2 {
			f.wantRunOf("wechatpay", "2026-11-28", f.wechatBill(row), exitDone, "1 1")
			f.wantRunOf("wechatpay", "2026-11-29", f.wechatBill(), exitDone, "0 0")
		}
	})
	eachField(t, func(t *testing.T, f *field) { // the days the other way round
		const id = "4200000000000000000000000001"
		f.order("FCMID", "20.00", "CNY")
		f.now = time.Date(2026, 11, 28, 16, 0, 3, 0, time.UTC)
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(id, "FCMID", 2000, map[string]any{"success_time": "2026-11-28T23:59:59+08:00"})))
		f.wantRunOf("wechatpay", "2026-11-29", f.wechatBill(), exitDone, "0 0")
		f.wantRunOf("wechatpay", "2026-11-28", f.wechatBill(wechatRow{id: id, order: "FCMID", at: "2026-11-28 23:59:59", amount: "20.00"}), exitDone, "1 1")
	})
}

// F40: the day is the account's, whatever zone the machine is in.
func TestFieldZoneOfTheMachine(t *testing.T) {
	if dsn := os.Getenv("PAYBOOK_FIELD_TZ"); dsn != "" {
		f := openField(t, dsn)
		row := wechatRow{id: "4200000000000000000000000001", order: "FCZONE", at: "2026-11-29 00:30:00", amount: "20.00"}
		f.wantRunOf("wechatpay", "2026-11-29", f.wechatBill(row), exitDone, "1 1")
		f.wantRunOf("wechatpay", "2026-11-28", f.wechatBill(), exitDone, "0 0")
		var h shop.HistoryJSON
		if f.json(&h, "orders", "show", "FCZONE"); h.Transactions[0].OccurredAt.Format(time.RFC3339) != "2026-11-28T16:30:00Z" {
			t.Errorf("occurred_at is %s", h.Transactions[0].OccurredAt)
		}
		return
	}
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		f.order("FCZONE", "20.00", "CNY")
		f.now = time.Date(2026, 11, 28, 16, 30, 1, 0, time.UTC)
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000001", "FCZONE", 2000, map[string]any{"success_time": "2026-11-29T00:30:00+08:00"})))
		for _, zone := range []string{"UTC", "America/New_York", "Asia/Shanghai", "Pacific/Kiritimati"} {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestFieldZoneOfTheMachine$")
			cmd.Env = append(os.Environ(), "TZ="+zone, "PAYBOOK_FIELD_TZ="+dsn)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("TZ=%s: %v\n%s", zone, err, out)
			}
		}
	})
}

// F41: only the signature's age counts; an old event that is sent again today is genuine.
func TestFieldOldEvent(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCOLD", "19.99", "USD")
		old := f.now.AddDate(0, 0, -900)
		body := f.stripeEventAt("payment_intent.succeeded", old, stripeIntent("pi_1", "ch_1", "FCOLD", 1999, "usd"))
		if got := f.post("stripe", []byte(body), stripeHeader(old, "v1="+v1(fieldSecret, old, body))); got.status != 401 {
			t.Errorf("signed 900 days ago: %d, want 401", got.status)
		}
		f.wantOrder("FCOLD", "unpaid 0.00")
		for range 2 {
			f.ack(f.stripe(body))
		}
		f.wantOrder("FCOLD", "paid 0.00 unpaid>paid | payment ch_1 19.99 USD succeeded")
		var h shop.HistoryJSON
		if f.json(&h, "orders", "show", "FCOLD"); !h.Transactions[0].OccurredAt.Equal(old) {
			t.Errorf("occurred_at is %s, want %s", h.Transactions[0].OccurredAt, old)
		}
		f.wantCallbacks("401 timestamp", "200 applied payment.succeeded")
		f.order("FCOLD2", "19.99", "CNY")
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000001", "FCOLD2", 1999, map[string]any{"success_time": "2024-06-11T12:00:00+08:00"})))
		f.wantOrder("FCOLD2", "paid 0.00 unpaid>paid | payment 4200000000000000000000000001 19.99 CNY succeeded")
		f.now = f.now.Add(time.Hour) // the very request once more, an hour later
		if got := f.post("stripe", []byte(body), stripeHeader(f.now.Add(-time.Hour), "v1="+v1(fieldSecret, f.now.Add(-time.Hour), body))); got.status != 401 {
			t.Errorf("replayed: %d, want 401", got.status)
		}
	})
}
