package wechatpay

import (
	"errors"
	"strings"
	"testing"

	"paybook/models"
)

// Totals are proved when an amount was held against the rows, not the number of rows alone.
func TestTotalsNeedAnAmount(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range []struct {
		head, figures string
		want          bool
	}{
		{allSums, threeSums, true},
		{"总交易单数,订单总金额", "`3,`20.00", true},
		{"总交易单数", "`3", false},
		{"总交易单数,某某总金额", "`3,`20.00", false},
	} {
		s, _, err := read(p, lines(allHeader, paid20, refund5, refund3, c.head, c.figures))
		if err != nil || s.Totals != c.want {
			t.Errorf("summary %s: totals %v, %v; want %v", c.head, s.Totals, err, c.want)
		}
	}
}

// A NUL, which one database refuses and the other cuts at, is refused with its place wherever it stands.
func TestNULIsRefused(t *testing.T) {
	p := mustNew(t, nil)
	for place, column := range map[string]string{"FC1": "商户订单号", "红茶": "商品名称", "FCR31": "商户退款单号", "wx0000000000000001": "公众账号ID", "20.00,`0.00,`": "订单金额"} {
		_, entries, err := read(p, strings.Replace(threeRows, place, "\x00"+place, 1))
		var got *models.FileError
		if !errors.As(err, &got) || got.Column != column || got.Line < 2 || !strings.Contains(err.Error(), "NUL") {
			t.Errorf("before %s: %d entries, %v; want a refusal of column %s", place, len(entries), err, column)
		}
	}
	if _, _, err := read(p, "\x00"+threeRows); err == nil {
		t.Error("a NUL in the header was taken")
	}
}

// Which kinds a bill can hold is told by its columns, which are those of bill_type.
func TestBillTypes(t *testing.T) {
	const success = "交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,商品名称,商户数据包,手续费,费率,订单金额,费率备注"
	refunds := strings.Replace(allHeader, "微信退款单号", "退款申请时间,退款成功时间,微信退款单号", 1)
	for header, want := range map[string]models.TransactionKind{allHeader: "", success: models.Payment, refunds: models.Refund} {
		s, _, err := read(mustNew(t, nil), lines(header, "总交易单数,手续费总金额", "`0,`0.00"))
		if err != nil || s.Only != want {
			t.Errorf("%s: only %q, %v; want %q", header, s.Only, err, want)
		}
	}
}
