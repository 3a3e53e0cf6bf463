package alipay

import (
	"fmt"
	"strings"
	"testing"

	"paybook/callback/providertest"
)

// A bill in GBK, as it comes, whose closing lines count and add up its rows.
func TestLongBillsNeedNoMemory(t *testing.T) {
	before, after, _ := strings.Cut(gbk(paid20), "2026112822001400000000000001")
	providertest.Flat(t, mustNew(t, nil), "bill.csv", providertest.Big{
		Head: gbk(crlf(title, account, period, begin, header)),
		Row:  func(i int) string { return before + fmt.Sprintf("20261128220014%014d", i) + after + "\r\n" },
		Tail: func(n int) string {
			return gbk(crlf(end, fmt.Sprintf("#交易合计：%d笔，商家实收共%d.00元，商家优惠共%d.00元", n, 19*n, n),
				"#退款合计：0笔，商家实收退款共0.00元，商家优惠退款共0.00元", made))
		},
	})
}
