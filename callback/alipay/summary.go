package alipay

import (
	"strconv"
	"strings"

	"paybook/models"
)

// The summary's columns with figures. All but the two counts are yuan.
const (
	paymentCount = "交易订单总笔数"
	refundCount  = "退款订单总笔数"
	netAmount    = "订单金额"
)

var figures = []string{paymentCount, refundCount, netAmount, "商家实收", "支付宝优惠", "商家优惠", "卡消费金额", "服务费", "分润", "实收净额"}

// readSummary reads the business bill's summary: a line for each shop, where there are shops, and their sum (合计). It holds the sum
// against the shops, and promises its figures for the detail.
func (t *table) readSummary() (models.Statement, error) {
	out := models.Statement{Title: "business summary"}
	if err := t.need("门店编号", paymentCount, refundCount, netAmount); err != nil {
		return out, err
	}
	var shops tally
	for _, name := range figures {
		shops.addColumn(name, t.column(name))
	}
	for {
		more, err := t.next()
		if err != nil {
			return out, err
		}
		if !more {
			break
		}
		switch isSum := strings.HasPrefix(t.cell(t.column("门店编号")), "合计"); {
		case out.Promises != nil:
			return out, t.fail("", "a row behind the sum (合计)")
		case isSum:
			out.Promises, err = t.readSum(&shops)
		default:
			err = shops.count(t)
		}
		if err != nil {
			return out, err
		}
	}
	if out.Promises == nil {
		return out, t.cut("the sum (合计) is missing: the file was cut")
	}
	_, err := t.closing()
	return out, err
}

// readSum is the promise of the row 合计: how many rows of each kind, and one sum of all of them, payments less refunds.
func (t *table) readSum(shops *tally) ([]models.Promise, error) {
	for _, s := range shops.sums {
		said, err := t.amount(s.column)
		if err != nil {
			return nil, err
		}
		if shops.rows > 0 && said != s.total {
			return nil, t.failCell(s.column, "the shops add up to %s, the sum (合计) says %s", yuan(s.total), yuan(said))
		}
	}
	payments, err := t.countCell(paymentCount)
	if err != nil {
		return nil, err
	}
	refunds, err := t.countCell(refundCount)
	if err != nil {
		return nil, err
	}
	net, err := t.amount(t.column(netAmount))
	return []models.Promise{
		{Kind: models.Payment, Count: payments},
		{Kind: models.Refund, Count: refunds},
		{Count: payments + refunds, Money: models.Money{Minor: net, Currency: currency}},
	}, err
}

func (t *table) countCell(name string) (int64, error) {
	text := t.cell(t.column(name))
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, t.failCell(t.column(name), "%s is no count", printable(text))
	}
	return int64(n), nil
}
