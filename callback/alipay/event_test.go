package alipay

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

const tradeNo = "2026112922001400000000000001"

func TestEvents(t *testing.T) {
	p := mustNew(t, nil)
	at := func(clock string) time.Time {
		out, err := time.Parse(time.RFC3339, "2026-11-29T"+clock+"+08:00")
		if err != nil {
			t.Fatal(err)
		}
		return out.UTC()
	}
	paid := models.Event{ID: "2026112900222000000000000001358070", Kind: models.PaymentSucceeded, TransactionID: tradeNo, OrderID: "CNA20261129001",
		Money: cny(2000), PayerMinor: 1500, OccurredAt: at("10:00:05"), Detail: "红茶"}
	back := models.Event{ID: paid.ID, Kind: models.RefundSucceeded, ParentID: tradeNo, OrderID: paid.OrderID, RefundOrderID: "R1", RunningTotal: true,
		Money: cny(500), OccurredAt: at("11:00:05"), Detail: "红茶"}
	change := func(ev models.Event, f func(ev *models.Event)) models.Event { f(&ev); return ev }
	closed := fields{"trade_status": "TRADE_CLOSED", "gmt_close": "2026-11-29 11:45:00"}
	cases := []struct {
		name string
		f    fields
		want models.Event
	}{
		{"paid", payment(nil), paid},
		{"paid, no refund yet", payment(fields{"refund_fee": "0.00"}), paid},
		{"paid, empty refund fields", payment(fields{"refund_fee": "", "gmt_refund": "", "out_biz_no": ""}), paid},
		{"no decimals", payment(fields{"total_amount": "20", "buyer_pay_amount": "15"}), paid},
		{"the payer's part is not readable", payment(fields{"buyer_pay_amount": "x"}), change(paid, func(ev *models.Event) { ev.PayerMinor = 0 })},
		{"an odd order number", payment(fields{"out_trade_no": "FC 1/" + strings.Repeat("红", 20)}), change(paid, func(ev *models.Event) { ev.OrderID = "FC 1/" + strings.Repeat("红", 20) })},
		{"a long one", payment(fields{"out_trade_no": strings.Repeat("9", 255)}), change(paid, func(ev *models.Event) { ev.OrderID = strings.Repeat("9", 255) })},
		{"an odd refund number", refund(fields{"out_biz_no": "R 1"}), change(back, func(ev *models.Event) { ev.RefundOrderID = "R 1" })},
		{"no notify_type", payment(fields{"notify_type": gone}), paid},
		{"part refunded", refund(nil), back},
		{"second refund", refund(fields{"refund_fee": "8.00", "out_biz_no": "R2"}), change(back, func(ev *models.Event) { ev.Money, ev.RefundOrderID = cny(800), "R2" })},
		{"refund asked for without a number", refund(fields{"out_biz_no": gone}), change(back, func(ev *models.Event) { ev.RefundOrderID = tradeNo })},
		{"the number is empty", refund(fields{"out_biz_no": ""}), change(back, func(ev *models.Event) { ev.RefundOrderID = tradeNo })},
		{"refunded in full", with(refund(closed), fields{"refund_fee": "20.00"}), change(back, func(ev *models.Event) { ev.Money = cny(2000) })},
		{"refund without its time", refund(fields{"gmt_refund": gone}), change(back, func(ev *models.Event) { ev.OccurredAt = at("11:00:06") })},
		{"closing is the full refund's time", with(refund(closed), fields{"gmt_refund": gone}), change(back, func(ev *models.Event) { ev.OccurredAt = at("11:45:00") })},
		{"never paid", payment(with(fields{"gmt_payment": gone, "buyer_pay_amount": gone}, closed)),
			change(paid, func(ev *models.Event) {
				ev.Kind, ev.PayerMinor, ev.OccurredAt = models.PaymentClosed, 0, at("11:45:00")
			})},
		{"finished", payment(fields{"trade_status": "TRADE_FINISHED"}), change(paid, func(ev *models.Event) { ev.Kind = models.PaymentFinished })},
		{"finished after a refund", refund(fields{"trade_status": "TRADE_FINISHED"}),
			change(paid, func(ev *models.Event) { ev.Kind, ev.Detail = models.PaymentFinished, "refunded so far: 5.00 CNY" })},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := tell(t, p, c.f)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("Verify (%v)\n got %+v\nwant %+v", err, got, c.want)
			}
		})
	}
}

func TestEventsNobodyUses(t *testing.T) {
	p := mustNew(t, nil)
	for what, f := range map[string]fields{
		"WAIT_BUYER_PAY": payment(fields{"trade_status": "WAIT_BUYER_PAY", "gmt_payment": gone}),
		"TRADE_PENDING":  payment(fields{"trade_status": "TRADE_PENDING"}),
		"trade_success":  payment(fields{"trade_status": "trade_success"}),
		"dut_user_sign":  payment(fields{"notify_type": "dut_user_sign", "trade_status": gone}),
	} {
		if got, err := tell(t, p, f); err != nil || got.Kind != models.EventUnknown || got.Detail != what || got.Money.Minor != 0 {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

func TestGenuineButUnreadable(t *testing.T) {
	p := mustNew(t, nil)
	cases := []struct {
		name string
		f    fields
		want string
	}{
		{"no state", payment(fields{"trade_status": gone}), "trade_status"},
		{"no trade_no", payment(fields{"trade_no": gone}), "trade_no"},
		{"empty trade_no", payment(fields{"trade_no": ""}), "trade_no"},
		{"trade_no with a blank", payment(fields{"trade_no": "1 2"}), `trade_no "1 2" holds a blank`},
		{"endless trade_no", payment(fields{"trade_no": strings.Repeat("1", 65)}), "trade_no"},
		{"no out_trade_no", payment(fields{"out_trade_no": gone}), "out_trade_no is missing"},
		{"out_trade_no with NUL", payment(fields{"out_trade_no": "A\x00"}), `out_trade_no "A\x00" holds a control character`},
		{"out_trade_no that is longer than the book's", payment(fields{"out_trade_no": strings.Repeat("9", 256)}), "out_trade_no has 256 bytes, at most 255 are kept"},
		{"out_trade_no of blanks", payment(fields{"out_trade_no": "  "}), "shows no character"},
		{"no amount", payment(fields{"total_amount": gone}), "total_amount"},
		{"nothing paid", payment(fields{"total_amount": "0.00"}), "total_amount"},
		{"sign", payment(fields{"total_amount": "-20.00"}), "total_amount"},
		{"half a fen", payment(fields{"total_amount": "20.005"}), "total_amount"},
		{"exponent", payment(fields{"total_amount": "1e1000000000"}), "total_amount"},
		{"ten thousand digits", payment(fields{"total_amount": strings.Repeat("9", 10_000)}), "total_amount"},
		{"full-width digits", payment(fields{"total_amount": "２０.00"}), "total_amount"},
		{"no time of payment", payment(fields{"gmt_payment": gone}), "gmt_payment"},
		{"spreadsheet time", payment(fields{"gmt_payment": "29/11/26 10:00"}), "gmt_payment"},
		{"refund without its sum", refund(fields{"refund_fee": gone}), "gmt_refund"},
		{"refund of nothing", refund(fields{"refund_fee": "0.00"}), "gmt_refund"},
		{"refund below nothing", refund(fields{"refund_fee": "-5.00"}), "refund_fee"},
		{"refund no number", refund(fields{"refund_fee": "five"}), "refund_fee"},
		{"refund of no trade", refund(fields{"trade_no": gone}), "trade_no"},
		{"refund of no order", refund(fields{"out_trade_no": ""}), "out_trade_no"},
		{"refund number with a line break", refund(fields{"out_biz_no": "R\n1"}), "out_biz_no"},
		{"refund of no time", refund(fields{"gmt_refund": gone, "notify_time": gone}), "gmt_refund"},
		{"closed without amount", payment(fields{"trade_status": "TRADE_CLOSED", "total_amount": gone}), "total_amount"},
		{"finished without amount", payment(fields{"trade_status": "TRADE_FINISHED", "total_amount": gone}), "total_amount"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := tell(t, p, c.f)
			if err != nil || got.Kind != models.EventUnparsable || !strings.Contains(got.Detail, c.want) || strings.ContainsAny(got.Detail, "\n\x00") {
				t.Errorf("%+v, %v; want it unparsable for %s", got, err, c.want)
			}
		})
	}
}
