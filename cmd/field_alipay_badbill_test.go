package cmd

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// badAlipay is a bill and the words, separated by |, that its refusal must hold.
type badAlipay struct{ name, file, words string }

// F45, F49 to F53: a bill that was cut, converted, edited, or is another's or another day's stops the run with the place, and changes nothing.
func TestFieldAlipayBillsThatStop(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		whole := f.alipayDay()
		f.wantRunOf("alipay", "2026-11-28", f.file("bill.csv", gb18030(t, whole)), exitDone, "2 2")
		for _, c := range append(f.brokenAlipay(whole), f.foreignAlipay(whole)...) {
			code, _, talk := f.run("reconcile", "--account", "alipay", "--date", "2026-11-28", "--statement", c.file)
			if code != exitFailed || strings.Count(talk, "\n") != 1 || strings.Contains(talk, "\ufffd") {
				t.Errorf("%s: exit %d, %q; want 2 and one line", c.name, code, talk)
			}
			for _, w := range strings.Split(c.words, "|") {
				if !strings.Contains(talk, w) {
					t.Errorf("%s: %q does not say %q", c.name, talk, w)
				}
			}
		}
		if got := f.ok("gaps", "list", "--format", "json"); got != "[]\n" {
			t.Errorf("gaps were written: %s", got)
		}
		f.wantRunOf("alipay", "2026-11-28", f.file("bill.csv", gb18030(t, whole)), exitDone, "2 2")
	})
}

// brokenAlipay are bills that are damaged or were edited.
func (f *field) brokenAlipay(whole string) []badAlipay {
	t := f.t
	t.Helper()
	gbk := gb18030(t, whole)
	raw := func(text string) string { return f.file("bill.csv", text) }
	swap := func(from, to string) string {
		t.Helper()
		if !strings.Contains(whole, from) {
			t.Fatalf("no %q", from)
		}
		return raw(gb18030(t, strings.Replace(whole, from, to, 1)))
	}
	bytesIn := func(from, to string) string {
		t.Helper()
		return raw(strings.Replace(gbk, gb18030(t, from), to, 1))
	}
	latin, err := charmap.ISO8859_1.NewDecoder().String(gbk)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(gbk, "\r\n")
	return []badAlipay{
		{"a byte in an id that is none", bytesIn("\t,FCBILL", "\xff\t,FCBILL"), fmt.Sprintf("bill.csv|row 6|byte %d of the file|0xff", strings.Index(gbk, "\t,FCBILL"))},
		{"half a character", bytesIn("红茶", "\xba"), "bill.csv|row 6|byte"}, {"a hole from an earlier conversion", raw(strings.Replace(whole, "红茶", "\ufffd", 1)), "row 6|byte"},
		{"a hole in an id", raw(strings.Replace(whole, "FCBILL", "FC\ufffdBILL", 1)), "row 6|byte"}, {"UTF-8 in a GBK file", bytesIn("红茶", "\xe7\xba\xa2\xe8\x8c"), "row 6|byte"},
		{"GBK in a UTF-8 file", raw(strings.Replace(whole, "红茶", gb18030(t, "红茶"), 1)), "row 6|byte"}, {"NUL", bytesIn("红茶", "\x00"), "row 6"},
		{"GBK taken for Latin-1", raw(latin), "bill.csv"}, {"UTF-16", raw(wide), "bill.csv"}, {"question marks", raw(strings.NewReplacer("订单金额", "????", "交易", "??").Replace(whole)), "bill.csv"},
		{"cut in the preamble", raw(strings.Join(lines[:3], "")), "bill.csv"}, {"cut after the header", raw(strings.Join(lines[:5], "")), "cut"}, {"cut in a row", raw(gbk[:strings.Index(gbk, "FCBILL")+3]), "row 6"},
		{"cut after a row", raw(strings.Join(lines[:6], "")), "cut"}, {"cut after the rows", raw(strings.Join(lines[:7], "")), "cut"}, {"cut after the end of the list", raw(strings.Join(lines[:8], "")), "合计"},
		{"cut before the refunds' sum", raw(strings.Join(lines[:9], "")), "退款合计"}, {"a row left out", raw(strings.Join(lines[:6], "") + strings.Join(lines[7:], "")), "退款合计|0|1"},
		{"a row twice", raw(strings.Join(lines[:6], "") + lines[5] + strings.Join(lines[6:], "")), "交易合计|2|1"}, {"two files in one", raw(gbk + gbk), "row"},
		{"another count", swap("交易合计：1笔", "交易合计：2笔"), "交易合计"}, {"another sum", swap("商家实收共20.00元", "商家实收共20.01元"), "20.0"},
		{"refund without its minus", swap(",-5.00,-5.00,", ",5.00,5.00,"), "row 7|订单金额"}, {"payment with a minus", swap(",20.00,20.00,", ",-20.00,-20.00,"), "row 6|订单金额"},
		{"brackets", swap(",20.00,20.00,", ",(20.00),20.00,"), "row 6|订单金额"}, {"U+2212", swap(",-5.00,-5.00,", ",\u22125.00,-5.00,"), "row 7|订单金额"},
		{"a dash", swap(",20.00,20.00,", ",-,20.00,"), "row 6"},
		{"no amount", swap(",20.00,20.00,", ",,20.00,"), "row 6|订单金额"}, {"a huge exponent", swap(",20.00,20.00,", ",1e1000000000,20.00,"), "row 6"},
		{"three decimals", swap(",20.00,20.00,", ",20.001,20.00,"), "row 6"},
		{"a rounded id", swap(billTrade, "2.02611E+27"), "row 6|支付宝交易号|rounded"}, {"no id", swap(billTrade, ""), "row 6|支付宝交易号"},
		{"a rounded refund number", swap(",R1\t", ",1.2E+15\t"), "row 7|rounded"},
		{"a spreadsheet's date", swap(",2026-11-28 12:00:00,2026-11-28 12:00:00,", ",28/11/26 12:00,28/11/26 12:00,"), "row 6|28/11/26"},
		{"no such time", swap(",2026-11-28 12:00:00,2026-11-28 12:00:00,", ",2026-11-28 12:00:00,2026-11-28 25:00:00,"), "row 6|完成时间"},
		{"a cell too few", swap(",0.00,\r\n", "\r\n"), "row 6|23 cells"}, {"no id column", swap("支付宝交易号,", "号,"), "支付宝交易号"},
		{"no amount column", swap("订单金额（元）", "金额（元）"), "订单金额"},
		{"a column twice", swap("商家实收（元）", "订单金额（元）"), "订单金额"},
		{"refunds without their column", swap("退款批次号/请求号", "别的"), "退款批次号"},
		{"the detail and a summary of other rows", f.zipped([2]string{sumName, gb18030(t, alipaySummary(2, 1, "35.00"))}, [2]string{detailName, gbk}), "2"},
		{"a summary alone", f.zipped([2]string{sumName, gb18030(t, alipaySummary(1, 1, "15.00"))}), "summary"}, {"an empty zip", f.zipped(), "zip"},
		{"a cut zip", f.file("bill.csv.zip", mustRead(t, f.zipped([2]string{detailName, gbk}))[:200]), "zip"},
	}
}

// foreignAlipay are whole files, but not this account's bill of this day.
func (f *field) foreignAlipay(whole string) []badAlipay {
	t := f.t
	t.Helper()
	raw := func(text string) string { return f.file("bill.csv", text) }
	swap := func(pairs ...string) string { return raw(gb18030(t, strings.NewReplacer(pairs...).Replace(whole))) }
	yesterday := strings.NewReplacer("2026年11月29日 00", "2026年11月28日 00", "2026年11月28日", "2026年11月27日", "2026-11-28", "2026-11-27")
	return []badAlipay{
		{"F53 the day before", raw(gb18030(t, yesterday.Replace(whole))), "2026-11-27|2026-11-28"},
		{"F53 the day before, empty", raw(gb18030(t, yesterday.Replace(alipayText(t)))), "2026-11-27|2026-11-28"},
		{"F53 rows of another day than the preamble's", swap("2026-11-28", "2026-11-27"), "row 6|2026-11-27"},
		{"F53 the preamble of another day than the rows'", swap("2026年11月28日 00", "2026年11月26日 00", "2026年11月29日 00", "2026年11月27日 00"), "2026-11-2"},
		{"F53 one row of the evening before", swap("2026-11-28 12:00:00,2026-11-28 12:00:00,", "2026-11-27 23:59:59,2026-11-27 23:59:59,"), "row 6|2026-11-27 23:59:59"},
		{"F53 a day that is yet to come", swap("2026年11月29日 00", "2026年11月30日 00", "2026年11月28日 00", "2026年11月29日 00"), "2026-11-2"},
		{"F53 no days told", swap(alipayPeriod+"\r\n", ""), "起始日期"}, {"F53 days that end before they begin", swap("2026年11月29日 00", "2026年11月20日 00"), "终止日期"},
		{"F53 a zip with two days", f.zipped([2]string{"1.csv", gb18030(t, whole)}, [2]string{"2.csv", gb18030(t, yesterday.Replace(whole))}), "2026-11-27"},
		{"another account's", swap("[20880000000000190156]", "[20880000000000200156]"), "20880000000000200156|2088000000000019"}, {"nobody's", swap("#账号：[20880000000000190156]\r\n", ""), "账号"},
		{"F52 nothing", raw(""), "empty"}, {"F52 blank lines", raw("\r\n\r\n"), "bill.csv"}, {"F52 JSON", raw(`{"code":"40004","sub_code":"isp.bill_not_exist"}`), "JSON"},
		{"F52 a page", raw("<html><body>系统繁忙</body></html>"), "HTML"}, {"F52 XML", raw(`<?xml version="1.0" encoding="GBK"?><alipay><is_success>F</is_success></alipay>`), "XML"},
		{"the payer's own export", raw(gb18030(t, "支付宝交易记录明细查询\n账号:[x@example.com]\n交易号,商家订单号,交易创建时间,付款时间,交易对方,商品名称,金额（元）,收/支,交易状态\n")), "交易记录明细"},
		{"another provider's bill", raw(billText(t)), "bill.csv"},
	}
}

// F52, F53: a day without payments has a bill, and the first and the last second belong to their day.
func TestFieldAlipayDays(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.wantRunOf("alipay", "2026-11-28", f.alipayBill(), exitDone, "0 0")
		f.orders("19.99", "CNY", numbered("FCDAY", 3)...)
		var rows []alipayRow
		for i, at := range []string{"2026-11-28 00:00:00", "2026-11-28 12:00:00", "2026-11-28 23:59:59"} {
			trade, order := "202611282200140000000000000"+string(rune('0'+i)), "FCDAY"+string(rune('0'+i))
			f.alipayAck(f.alipay(f.alipayPaid(trade, order, "19.99", form{"gmt_payment": at})))
			rows = append(rows, alipayRow{trade: trade, order: order, at: at})
		}
		f.wantRunOf("alipay", "2026-11-28", f.alipayBill(rows...), exitDone, "3 3")
		f.wantRunOf("alipay", "2026-11-28", f.alipayBill(rows[0], rows[2]), exitLook, "2 2", "missing_provider payment "+rows[1].trade)
		f.wantRunOf("alipay", "2026-11-28", f.alipayBill(), exitLook, "0 0", "missing_provider payment "+rows[1].trade) // those at midnight may be in the next day's
		f.wantRunOf("alipay", "2026-11-28", f.alipayBill(rows...), exitDone, "3 3")
	})
}
