package alipay

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/models"
)

const (
	title   = "#支付宝业务明细查询"
	account = "#账号：[20880000000000190156]"
	period  = "#起始日期：[2026年11月28日 00:00:00]   终止日期：[2026年11月29日 00:00:00]"
	begin   = "#-----------------------------------------业务明细列表----------------------------------------"
	header  = "支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注"
	paid20  = "2026112822001400000000000001\t,FC1\t,交易\t,红茶,2026-11-28 09:59:50,2026-11-28 10:00:05,\t,\t,\t,\t,*测试(tes***@example.com)\t,20.00,19.00,0.00,0.00,0.00,1.00,0.00,,0.00\t,0.00,\t,-0.12,0.00,"
	back5   = "2026112822001400000000000001\t,FC1\t,退款\t,红茶,2026-11-28 09:59:50,2026-11-28 11:00:05,\t,\t,\t,\t,*测试(tes***@example.com)\t,-5.00,-4.75,0.00,0.00,0.00,-0.25,0.00,,0.00\t,0.00,R1\t,0.03,0.00,"
	back3   = "2026112822001400000000000001\t,FC1\t,退款\t,红茶,2026-11-28 09:59:50,2026-11-28 23:59:59,\t,\t,\t,\t,*测试(tes***@example.com)\t,-3.00,-3.00,0.00,0.00,0.00,0.00,0.00,,0.00\t,0.00,\t,0.00,0.00,"
	end     = "#-----------------------------------------业务明细列表结束------------------------------------"
	sum1    = "#交易合计：1笔，商家实收共19.00元，商家优惠共1.00元"
	sum2    = "#退款合计：2笔，商家实收退款共-7.75元，商家优惠退款共-0.25元"
	made    = "#导出时间：[2026年11月29日 05:46:49]"
)

// wholeBill is one payment and two refunds of it, one of them asked for without a number.
var wholeBill = crlf(title, account, period, begin, header, paid20, back5, back3, end, sum1, sum2, made)

var emptyBill = crlf(title, account, period, begin, header, end, "#交易合计：0笔，商家实收共0.00元，商家优惠共0.00元", "#退款合计：0笔，商家实收退款共0.00元，商家优惠退款共0.00元", made)

const (
	summaryHeader = "门店编号,门店名称,交易订单总笔数,退款订单总笔数,订单金额（元）,商家实收（元）,支付宝优惠（元）,商家优惠（元）,卡消费金额（元）,服务费（元）,分润（元）,实收净额（元）"
	summarySum    = "合计\t,\t,3,2,32.00,31.25,0.00,0.75,0.00,-0.09,0.00,31.16"
)

// shops is a summary of two shops.
var shops = crlf("#支付宝业务汇总查询", account, period, "#----业务汇总列表----", summaryHeader,
	"S1\t,一店\t,1,2,12.00,11.25,0.00,0.75,0.00,-0.09,0.00,11.16", "S2\t,二店\t,2,0,20.00,20.00,0.00,0.00,0.00,0.00,0.00,20.00", summarySum,
	"#----业务汇总列表结束----", made)

var balance = crlf("#支付宝账务明细查询", account, period, "#----账务明细列表----",
	"账务流水号,业务流水号,商户订单号,商品名称,发生时间,对方账号,收入金额（+元）,支出金额（-元）,账户余额（元）,交易渠道,业务类型,备注",
	"1\t,2026112822001400000000000001\t,FC1\t,红茶, 绿茶,2026-11-28 10:00:05,a\t,19.00, ,119.00,支付宝,在线支付\t,",
	"2\t,2026112822001400000000000001\t,FC1\t,红茶,2026-11-28 10:00:05,a\t,0.00,-0.12,118.88,支付宝,收费\t,",
	"3\t,2026112822001400000000000001\t,FC1\t,红茶,2026-11-28 11:00:05,a\t,,-4.75,114.13,支付宝,交易退款\t,",
	"4\t,\t,\t,,2026-11-28 12:00:05,a\t,,-100.00,14.13,支付宝,提现\t,",
	"#----账务明细列表结束----", "#支出合计：3笔，共-104.87元", "#收入合计：1笔，共19.00元", made)

const personalExport = "支付宝交易记录明细查询\n账号:[x@example.com]\n起始日期:[2026-11-28 00:00:00]    终止日期:[2026-11-29 00:00:00]\n" +
	"---------------------------------交易记录明细列表------------------------------------\n交易号,商家订单号,交易创建时间,付款时间,交易对方,商品名称,金额（元）,收/支,交易状态\n"

const appExport = "------------------------------------------------------------------------------------\n导出信息：\n姓名：测试\n" +
	"------------------------支付宝（中国）网络技术有限公司  电子客户回单------------------------\n交易时间,交易分类,交易对方,收/支,金额\n"

func crlf(l ...string) string { return strings.Join(l, "\r\n") + "\r\n" }

func gbk(text string) string {
	out, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	return out
}

// swap is the whole bill with one thing changed.
func swap(old, changed string) string { return strings.Replace(wholeBill, old, changed, 1) }

// without is the whole bill without one line.
func without(line string) string { return swap(line+"\r\n", "") }

var shanghai = mustZone("Asia/Shanghai")

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

// read reads text as it is; readGBK as the provider would encode it.
func read(p *Provider, text string) (models.Statement, []models.Entry, error) {
	var entries []models.Entry
	s, err := p.ReadStatement("bill.csv", strings.NewReader(text), shanghai, func(e models.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return s, entries, err
}

func readGBK(p *Provider, text string) (models.Statement, []models.Entry, error) {
	return read(p, gbk(text))
}

func mustRead(tb testing.TB, p *Provider, text string) (models.Statement, []models.Entry) {
	tb.Helper()
	s, entries, err := readGBK(p, text)
	if err != nil {
		tb.Fatal(err)
	}
	return s, entries
}
