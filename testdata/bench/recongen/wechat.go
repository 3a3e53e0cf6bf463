package main

import "strconv"

// The trade bill of WeChat Pay: a byte-order mark, 27 columns, every cell with a backtick before it, CRLF, and two summary
// lines at the end that add the few rows in another currency as plain figures.
const (
	billHeader = "\ufeff交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类," +
		"应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率," +
		"订单金额,申请退款金额,费率备注\r\n"
	billSummary = "总交易单数,应结订单总金额,退款总金额,充值券退款总金额,手续费总金额,订单总金额,申请退款总金额\r\n"
)

// billTotals are in cents; rows is a count.
type billTotals struct{ rows, paid, refunded, fee int64 }

func (t *billTotals) line(b []byte, d *day, r *row, o *options) []byte {
	cents := r.remote.cents
	fee := cents * 6 / 1000
	state := "SUCCESS"
	if r.refund {
		fee, state = -fee, "REFUND"
		t.refunded += cents
	} else {
		t.paid += cents
	}
	t.fee += fee
	t.rows++

	text := func(cells ...string) {
		for _, cell := range cells {
			b = append(append(append(b, '`'), cell...), ',')
		}
	}
	sums := func(cells ...int64) {
		for _, cell := range cells {
			b = append(signed(append(b, '`'), cell), ',')
		}
	}
	b = append(d.stamp(append(b, '`'), r.remote.at, ' '), ',')
	text(o.appID, o.merchantID, "0", "", string(r.payment[:]), string(r.order[:]))
	text("oUpF8uMuAJO"+strconv.FormatUint(mix(r.index)%1e17, 36), "JSAPI", state, "CMB_DEBIT", r.remote.currency)
	if r.refund {
		sums(0, 0)
		text(string(r.refundID[:]), "R"+string(r.order[:]))
		sums(cents, 0)
		text("ORIGINAL", "SUCCESS")
	} else {
		sums(cents, 0)
		text("0", "0")
		sums(0, 0)
		text("", "")
	}
	text("在线商城订单", "")
	sums(fee)
	text("0.60%")
	if r.refund {
		sums(0, cents)
	} else {
		sums(cents, 0)
	}
	return append(b, "`\r\n"...)
}

func (t *billTotals) footer() []byte {
	b := append([]byte(billSummary), '`')
	b = strconv.AppendInt(b, t.rows, 10)
	for _, cents := range []int64{t.paid, t.refunded, 0, t.fee, t.paid, t.refunded} {
		b = signed(append(b, ",`"...), cents)
	}
	return append(b, "\r\n"...)
}

func signed(b []byte, cents int64) []byte {
	if cents < 0 {
		b, cents = append(b, '-'), -cents
	}
	return money(b, cents)
}
