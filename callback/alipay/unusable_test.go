package alipay

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"paybook/models"
)

func TestBillThatCannotBeUsed(t *testing.T) {
	p := mustNew(t, nil)
	cases := []struct {
		name, text string
		line       int
		column     string
		what       string
	}{
		{"cut in the middle of a row", wholeBill[:strings.Index(wholeBill, "-5.00")], 7, "", "12 cells, the header has 25"},
		{"cut after a row", wholeBill[:strings.Index(wholeBill, back3)], 7, "", "missing after 2 rows"},
		{"cut after the list", wholeBill[:strings.Index(wholeBill, sum1)], 9, "", "交易合计 is missing after 3 rows"},
		{"cut between the totals", wholeBill[:strings.Index(wholeBill, sum2)], 10, "", "退款合计 is missing"},
		{"cut in a total", wholeBill[:strings.Index(wholeBill, "0元\r\n#退款")], 10, "", "cannot be read"},
		{"cut in the last total", wholeBill[:strings.Index(wholeBill, "25元\r\n#导出")], 11, "", "cannot be read"},
		{"cut in the preamble", wholeBill[:strings.Index(wholeBill, begin)], 3, "", "before its table's header"},
		{"only a header", crlf(title, account, period, begin, header), 5, "", "missing after 0 rows"},
		{"a row is missing", without(back5), 10, "退款合计", "1 rows, the closing line says 2"},
		{"a row twice", swap(paid20, paid20+"\r\n"+paid20), 11, "交易合计", "2 rows, the closing line says 1"},
		{"the total of payments", swap("共19.00", "共19.01"), 10, "交易合计", "商家实收: the rows add up to 19.00, the closing line says 19.01"},
		{"the total of refunds", swap("共-7.75", "共-7.76"), 11, "退款合计", "-7.75"},
		{"the total's sign", swap("共-7.75", "共7.75"), 11, "退款合计", "-7.75"},
		{"the total of discounts", swap("共1.00", "共1.10"), 10, "交易合计", "商家优惠"},
		{"a total that is none", swap("共19.00", "共x"), 10, "", "cannot be read"},
		{"a count that is none", swap("1笔", "x笔"), 10, "", "cannot be read"},
		{"a row behind the end", wholeBill + paid20, 13, "", "something follows the end"},
		{"a comment among the rows", swap(back5, "#"+back5), 8, "", "something follows the end"},

		{"another account", swap("20880000000000190156", "20880000000000200156"), 0, "账号", "settings.seller_id"},
		{"an account that only begins like ours", swap("20880000000000190156", "208800000000001901567"), 0, "账号", "settings.seller_id"},
		{"no account", without(account), 4, "账号", "whose bill"},
		{"no days", without(period), 4, "起始日期", "which days"},
		{"no end", swap("终止日期", "日期"), 5, "起始日期", "which days"},
		{"days that are none", swap("2026年11月28日", "2026-11-28"), 3, "起始日期", "YYYY年MM月DD日"},
		{"an end that is none", swap("2026年11月29日", "2026年11月31日"), 3, "终止日期", "is no time"},
		{"days the wrong way round", swap("2026年11月29日", "2026年11月27日"), 5, "终止日期", "before it begins"},
		{"a row of the day before", swap("2026-11-28 10:00:05", "2026-11-27 23:59:59"), 6, "完成时间", "outside the days"},
		{"a row of the day after", swap("2026-11-28 23:59:59", "2026-11-29 00:00:01"), 8, "完成时间", "outside the days"},
		{"another day's rows altogether", strings.ReplaceAll(wholeBill, "2026-11-28 ", "2026-11-26 "), 6, "完成时间", "2026-11-28 00:00:00 to 2026-11-29 00:00:00"},

		{"no transaction id column", swap("支付宝交易号", "交易号"), 5, "支付宝交易号", "no such column"},
		{"no order column", swap("商户订单号", "订单号"), 5, "商户订单号", "no such column"},
		{"no kind column", swap("业务类型", "类型"), 5, "业务类型", "no such column"},
		{"no time column", swap("完成时间", "时间"), 5, "完成时间", "no such column"},
		{"no amount column", swap("订单金额（元）", "金额（元）"), 5, "订单金额", "no such column"},
		{"amounts in another currency", swap("订单金额（元）", "订单金额（美元）"), 5, "订单金额", "no such column"},
		{"an amount column twice", swap("商家实收（元）", "订单金额(元)"), 5, "订单金额", "twice"},

		{"an optional column twice", swap("券名称", "服务费"), 5, "服务费", "twice"},

		{"a cell too few", swap(",20.00,", ","), 6, "", "24 cells"},
		{"a cell too many behind", swap("20.00,", "20.00,1.00,"), 6, "完成时间", "is no time"},
		{"a comma, and no column for it", strings.Replace(swap("红茶", "红茶,绿茶"), "商品名称", "名称", 1), 6, "", "26 cells"},
		{"a comma in the remark", swap(paid20, paid20+"a,b"), 6, "完成时间", "is no time"},
		{"an open quote", swap("红茶,", "\"红茶,x\",\""), 6, "创建时间", "is no time"},

		{"spreadsheet id", swap("2026112822001400000000000001\t", "2.02611E+27"), 6, "支付宝交易号", "looks like a rounded number"},
		{"spreadsheet order id", swap("FC1\t", "2.02611E+27"), 6, "商户订单号", "looks like a rounded number"},
		{"spreadsheet refund number", swap("R1\t", "2.02611E+27"), 7, "退款批次号/请求号", "looks like a rounded number"},
		{"no id", swap("2026112822001400000000000001\t", "\t"), 6, "支付宝交易号", "empty"},
		{"an id with a blank", swap("2026112822001400000000000001\t", "2026 1128"), 6, "支付宝交易号", `"2026 1128" holds a blank`},
		{"spreadsheet date", swap("2026-11-28 10:00:05", "28/11/26 10:00"), 6, "完成时间", "YYYY-MM-DD HH:MM:SS"},
		{"spreadsheet date with slashes", swap("2026-11-28 10:00:05", "2026/11/28 10:00"), 6, "完成时间", "YYYY-MM-DD"},
		{"no date", swap("2026-11-28 10:00:05", ""), 6, "完成时间", "is no time"},
		{"the other date", swap("2026-11-28 09:59:50", "28/11/26 9:59"), 6, "创建时间", "is no time"},

		{"no amount", swap(",20.00,", ",,"), 6, "订单金额", "empty"},
		{"a payment with a minus", swap(",20.00,", ",-20.00,"), 6, "订单金额", "has no sign"},
		{"a refund without", swap(",-5.00,", ",5.00,"), 7, "订单金额", "has a minus"},
		{"brackets", swap(",-5.00,", ",(5.00),"), 7, "订单金额", "plain decimal"},
		{"minus lookalike", swap(",-5.00,", ",−5.00,"), 7, "订单金额", "plain decimal"},
		{"nothing but a minus", swap(",-5.00,", ",-,"), 7, "订单金额", "plain decimal"},
		{"foreign sign", swap(",20.00,", ",$20.00,"), 6, "订单金额", "plain decimal"},
		{"exponent", swap(",20.00,", ",2e1,"), 6, "订单金额", "plain decimal"},
		{"half a fen", swap(",20.00,", ",20.005,"), 6, "订单金额", "2 decimals"},
		{"a receipt that is none", swap(",19.00,", ",x,"), 6, "商家实收", "plain decimal"},
		{"a fee that is none", swap(",-0.12,", ",free,"), 6, "服务费", "plain decimal"},
		{"absurd receipts", swap(",19.00,", ",90000000000000000.00,"), 6, "商家实收", "more than any bill"},

		{"another table", "a,b\n1,2\n", 1, "", "no bill of Alipay"},
		{"WeChat Pay's bill", "交易时间,公众账号ID,商户号\n`2026-11-28 10:00:00,`wx1,`1\n", 1, "", "no bill of Alipay"},
		{"personal export", personalExport, 1, "", "personal export"},
		{"personal export of the app", appExport, 1, "", "personal export"},
		{"personal export, table only", personalExport[strings.Index(personalExport, "交易号"):], 1, "", "personal export"},
		{"endless line", title + "\n" + strings.Repeat("a", lineMax+1), 2, "", "longer than"},
		{"an answer without a bill", `{"alipay_data_dataservice_bill_downloadurl_query_response":{"code":"40004","sub_code":"isp.bill_not_exist"}}`, 0, "", "JSON"},
		{"login page", "<!DOCTYPE html><html>", 0, "", "HTML"},
		{"XML", "<xml><return_msg>No Bill Exist</return_msg></xml>", 0, "", "XML"},
		{"empty", "", 0, "", "empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readGBK(p, c.text)
			var got *models.FileError
			if !errors.As(err, &got) {
				t.Fatalf("ReadStatement = %v, want a *models.FileError", err)
			}
			if got.File != "bill.csv" || got.Line != c.line || got.Column != c.column || !strings.Contains(got.What, c.what) {
				t.Errorf("error %q (row %d, column %q), want %q at row %d, column %q", got, got.Line, got.Column, c.what, c.line, c.column)
			}
		})
	}
}

// A byte without a meaning is named by its place in the file, from 0; nothing is guessed in its stead.
func TestUndecodableBytes(t *testing.T) {
	p := mustNew(t, nil)
	whole := gbk(wholeBill)
	order := strings.Index(whole, "FC1")
	with := func(at int, bytes string) string { return whole[:at] + bytes + whole[at+1:] }
	long := "#" + strings.Repeat("\xb3\xa4", 60_000) + "\r\n"
	cases := []struct {
		name, text string
		line, at   int
		what       string
	}{
		{"in an id", with(order, "\xff"), 6, order, "(0xff) is not GBK"},
		{"half a character before a comma", with(order+3, "\xb2"), 6, order + 3, "(0xb2) is not GBK"},
		{"a NUL", with(order, "\x00"), 6, order, "(0x00) is not GBK"},
		{"U+FFFD, as an earlier conversion left it", with(order, "\x84\x31\xa4\x37"), 6, order, "(0x84) is not GBK"},
		{"behind a long line", long + with(order, "\xff"), 7, len(long) + order, "(0xff) is not GBK"},
		{"GBK in UTF-8", strings.Replace(wholeBill, "FC1", "\xb2\xe8", 1), 6, strings.Index(wholeBill, "FC1"), "(0xb2) is not UTF-8"},
		{"U+FFFD in UTF-8", strings.Replace(wholeBill, "FC1", "\ufffd", 1), 6, strings.Index(wholeBill, "FC1"), "(0xef) is not UTF-8"},
		{"UTF-16", "\xff\xfe#\x00", 1, 0, "(0xff)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, entries, err := read(p, c.text)
			var got *models.FileError
			want := fmt.Sprintf("byte %d of the file %s", c.at, c.what)
			if !errors.As(err, &got) || got.Line != c.line || !strings.Contains(got.What, want) || len(entries) > 0 {
				t.Errorf("ReadStatement = %v after %d entries; want %q in row %d", err, len(entries), want, c.line)
			}
		})
	}
}
