package cmd

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/models"
)

// alipayRow is a payment in a business bill, or a refund where number is set. All sums are in yuan.
type alipayRow struct {
	trade, order, at           string // at: "" is noon
	amount, received, discount string // "": 19.99, the amount, nothing
	fee                        string // "": -0.12
	number                     string
}

const (
	alipayBegin  = "#-----------------------------------------业务明细列表----------------------------------------"
	alipayHead   = "支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注"
	alipayEnd    = "#-----------------------------------------业务明细列表结束------------------------------------"
	alipayMade   = "#导出时间：[2026年11月29日 05:46:49]"
	alipayPeriod = "#起始日期：[2026年11月28日 00:00:00]   终止日期：[2026年11月29日 00:00:00]"
)

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func (r alipayRow) filled() alipayRow {
	r.at, r.amount, r.discount, r.fee = or(r.at, "2026-11-28 12:00:00"), or(r.amount, "19.99"), or(r.discount, "0.00"), or(r.fee, "-0.12")
	r.received = or(r.received, r.amount)
	return r
}

func (r alipayRow) line() string {
	r = r.filled()
	kind := map[bool]string{true: "退款", false: "交易"}[r.number != ""]
	return strings.Join([]string{r.trade + "\t", r.order + "\t", kind + "\t", "红茶", r.at, r.at, "\t", "\t", "\t", "\t", "*测试(tes***@example.com)\t", r.amount, r.received,
		"0.00", "0.00", "0.00", r.discount, "0.00", "", "0.00\t", "0.00", r.number + "\t", r.fee, "0.00", ""}, ",")
}

// alipayText is a whole bill of 2026-11-28 in UTF-8, its sums added up.
func alipayText(t *testing.T, rows ...alipayRow) string {
	t.Helper()
	lines := []string{"#支付宝业务明细查询", "#账号：[20880000000000190156]", alipayPeriod, alipayBegin, alipayHead}
	var count, received, discount [2]int64
	for _, r := range rows {
		lines = append(lines, r.line())
		r = r.filled()
		i := map[bool]int{true: 1}[r.number != ""]
		count[i], received[i], discount[i] = count[i]+1, received[i]+yuanFen(t, r.received), discount[i]+yuanFen(t, r.discount)
	}
	yuan := func(fen int64) string { return models.Money{Minor: fen, Currency: "CNY"}.Text() }
	lines = append(lines, alipayEnd, fmt.Sprintf("#交易合计：%d笔，商家实收共%s元，商家优惠共%s元", count[0], yuan(received[0]), yuan(discount[0])),
		fmt.Sprintf("#退款合计：%d笔，商家实收退款共%s元，商家优惠退款共%s元", count[1], yuan(received[1]), yuan(discount[1])), alipayMade)
	return strings.Join(lines, "\r\n") + "\r\n"
}

func yuanFen(t *testing.T, text string) int64 {
	t.Helper()
	m, err := models.ParseMajor(text, "CNY")
	if err != nil {
		t.Fatal(err)
	}
	return m.Minor
}

// alipaySummary is the file beside a bill of so many payments and refunds, which come to so many yuan together.
func alipaySummary(payments, refunds int, net string) string {
	return strings.Join([]string{"#支付宝业务汇总查询", "#账号：[20880000000000190156]", alipayPeriod, "#----业务汇总列表----",
		"门店编号,门店名称,交易订单总笔数,退款订单总笔数,订单金额（元）,商家实收（元）,支付宝优惠（元）,商家优惠（元）,卡消费金额（元）,服务费（元）,分润（元）,实收净额（元）",
		fmt.Sprintf("合计\t,\t,%d,%d,%s,%[3]s,0.00,0.00,0.00,0.00,0.00,%[3]s", payments, refunds, net), "#----业务汇总列表结束----", alipayMade}, "\r\n") + "\r\n"
}

func gb18030(t *testing.T, text string) string {
	t.Helper()
	out, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// alipayBill writes a bill as it is downloaded without its zip.
func (f *field) alipayBill(rows ...alipayRow) string {
	f.t.Helper()
	return f.file("bill.csv", gb18030(f.t, alipayText(f.t, rows...)))
}

// zipped writes a zip with these files, each a name and its bytes; names are GBK without the mark that says so, as Alipay's are.
func (f *field) zipped(files ...[2]string) string {
	f.t.Helper()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, file := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: gbkText(f.t, file[0]), NonUTF8: true, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write([]byte(file[1]))
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		f.t.Fatal(err)
	}
	return f.file("20880000000000190156_20261128.csv.zip", packed.String())
}

const (
	billTrade  = "2026112822001400000000000001"
	detailName = "20880000000000190156_20261128_业务明细.csv"
	sumName    = "20880000000000190156_20261128_业务明细(汇总).csv"
)

// alipayDay is a shop with one payment of 20.00, of which 5.00 went back, and its bill.
func (f *field) alipayDay() string {
	f.t.Helper()
	f.order("FCBILL", "20.00", "CNY")
	f.alipayAck(f.alipay(f.alipayPaid(billTrade, "FCBILL", "20.00")))
	f.alipayAck(f.alipay(f.alipayPaid(billTrade, "FCBILL", "20.00", form{"refund_fee": "5.00", "out_biz_no": "R1", "gmt_refund": "2026-11-28 13:00:00.456"})))
	return alipayText(f.t, alipayRow{trade: billTrade, order: "FCBILL", amount: "20.00"},
		alipayRow{trade: billTrade, order: "FCBILL", amount: "-5.00", fee: "0.03", number: "R1", at: "2026-11-28 13:00:00"})
}

// F45: in whatever wrapping and encoding a bill comes, it is the same two rows.
func TestFieldAlipayBillsThatAreTaken(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		whole := f.alipayDay()
		gbk, sum := gb18030(t, whole), gb18030(t, alipaySummary(1, 1, "15.00"))
		change := func(pairs ...string) string {
			t.Helper()
			text := strings.NewReplacer(pairs...).Replace(whole)
			if text == whole {
				t.Fatalf("%q changes nothing", pairs)
			}
			return gb18030(t, text)
		}
		wide := change("退款批次号/请求号,服务费（元）,分润（元）,备注", "退款批次号,服务费（元）,实收净额（元）,商户识别号,交易方式,备注,花呗分期手续费,花呗分期数", ",\t,-0.12,0.00,", ",\t,-0.12,19.88,x,y,,0.00,",
			",R1\t,0.03,0.00,", ",R1\t,0.03,-4.97,x,y,,0.00,")
		for name, file := range map[string]string{
			"as it is": f.file("bill.csv", gbk), "zip, summary first": f.zipped([2]string{sumName, sum}, [2]string{detailName, gbk}),
			"zip, detail first": f.zipped([2]string{detailName, gbk}, [2]string{sumName, sum}), "zip, one file": f.zipped([2]string{detailName, gbk}),
			"zip, names that say nothing": f.zipped([2]string{"1.csv", sum}, [2]string{"2.csv", gbk}), "zip in a folder": f.zipped([2]string{"账单/" + detailName, gbk}),
			"gzip": packedFile(t, gbk), "UTF-8": f.file("bill.csv", whole), "UTF-8 with a mark": f.file("bill.csv", "\ufeff"+whole), "LF": f.file("bill.csv", strings.ReplaceAll(gbk, "\r\n", "\n")),
			"no last line end": f.file("bill.csv", strings.TrimSpace(gbk)), "blank lines": f.file("bill.csv", strings.ReplaceAll(gbk, "\r\n", "\r\n\r\n")),
			"no tabs": f.file("bill.csv", change("\t", "")), "tabs everywhere": f.file("bill.csv", change(",", "\t,")), "blanks around": f.file("bill.csv", change(",R1\t", ", R1 \t ")),
			"narrow brackets": f.file("bill.csv", change("（", "(", "）", ")")), "no unit": f.file("bill.csv", change("（元）", "")), "fee without its sign": f.file("bill.csv", change(",-0.12,", ",0.12,")),
			"no fee told": f.file("bill.csv", change(",-0.12,", ",,", ",0.03,", ",,")), "a comma in the name": f.file("bill.csv", change("红茶", "红茶,绿茶,大杯")),
			"quotes in the name": f.file("bill.csv", change("红茶", `"红茶" 5寸"`)),
			"a rare character":   f.file("bill.csv", change("红茶", "㐀茶𠮷")), "29 columns": f.file("bill.csv", wide),
			"more columns":                 f.file("bill.csv", change(",备注\r\n", ",备注,新列\r\n", "0.00,\r\n", "0.00,,x\r\n")),
			"the day's last second":        f.file("bill.csv", change("终止日期：[2026年11月29日 00:00:00]", "终止日期：[2026年11月28日 23:59:59]")),
			"the account without its tail": f.file("bill.csv", change("00190156]", "0019]")),
			"a # in a name":                f.file("bill.csv", change("红茶", "#1 红茶")), "closing lines the other way round": f.file("bill.csv", gb18030(t, swapLines(whole, "#交易合计", "#退款合计"))),
			"columns moved": f.file("bill.csv", gb18030(t, movedColumns(whole))), "more decimals": f.file("bill.csv", change(",20.00,20.00,", ",20.0,20.000,")),
		} {
			t.Log(name)
			f.wantRunOf("alipay", "2026-11-28", file, exitDone, "2 2")
		}
	})
}

func swapLines(text, first, second string) string {
	lines := strings.Split(text, "\r\n")
	at := func(prefix string) int {
		for i, line := range lines {
			if strings.HasPrefix(line, prefix) {
				return i
			}
		}
		return 0
	}
	i, j := at(first), at(second)
	lines[i], lines[j] = lines[j], lines[i]
	return strings.Join(lines, "\r\n")
}

// movedColumns puts the last column first.
func movedColumns(text string) string {
	lines := strings.Split(text, "\r\n")
	for i, line := range lines {
		if last := strings.LastIndex(line, ","); last > 0 && !strings.HasPrefix(line, "#") {
			lines[i] = line[last+1:] + "," + line[:last]
		}
	}
	return strings.Join(lines, "\r\n")
}

// F38: gross is compared with gross, in every way that fee, net and discounts can stand in the row; fees have a sum of their own.
func TestFieldAlipayGross(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.order("FCBILL", "20.00", "CNY")
		f.alipayAck(f.alipay(f.alipayPaid(billTrade, "FCBILL", "20.00", form{"buyer_pay_amount": "15.00", "receipt_amount": "19.88"})))
		for _, c := range []struct {
			row  alipayRow
			fee  string // the fees' sum
			gaps []string
		}{
			{alipayRow{amount: "20.00", received: "20.00", fee: "-0.12"}, "0.12", nil}, {alipayRow{amount: "20.00", received: "20.00", fee: "0.12"}, "0.12", nil},
			{alipayRow{amount: "20.00", received: "19.88", fee: "-0.12"}, "0.12", nil}, {alipayRow{amount: "20.00", received: "15.00", discount: "5.00", fee: "0.00"}, "0.00", nil},
			{alipayRow{amount: "20.00", received: "0.00", discount: "20.00", fee: "-20.00"}, "20.00", nil},
			{alipayRow{amount: "19.88", received: "20.00", fee: "-0.12"}, "0.12", []string{"amount_mismatch payment " + billTrade}},
			{alipayRow{amount: "20.12", received: "20.00", fee: "-0.12"}, "0.12", []string{"amount_mismatch payment " + billTrade}},
			{alipayRow{amount: "15.00", received: "20.00", fee: "-0.12"}, "0.12", []string{"amount_mismatch payment " + billTrade}},
			{alipayRow{amount: "0.12", received: "20.00", fee: "-20.00"}, "20.00", []string{"amount_mismatch payment " + billTrade}},
		} {
			c.row.trade, c.row.order = billTrade, "FCBILL"
			file, code, matched := f.alipayBill(c.row), exitDone, 1-len(c.gaps)
			if len(c.gaps) > 0 {
				code = exitLook
			}
			f.wantRunOf("alipay", "2026-11-28", file, code, fmt.Sprint("1 ", matched), c.gaps...)
			f.wantTotal("alipay", "2026-11-28", file, code, "payment CNY 1 "+c.row.amount+" fee "+c.fee)
		}
	})
}

// wantTotal checks the sums of a statement that a run reports: "KIND CURRENCY COUNT AMOUNT fee FEE".
func (f *field) wantTotal(account, date, file string, code int, want string) {
	f.t.Helper()
	run := f.runJSON(code, "--account", account, "--date", date, "--statement", file)[0]
	statement, _ := run["statement"].(map[string]any)
	totals, _ := statement["totals"].([]any)
	var got []string
	for _, item := range totals {
		total, _ := item.(map[string]any)
		got = append(got, fmt.Sprint(total["kind"], " ", total["currency"], " ", total["count"], " ", total["amount"], " fee ", total["fee"]))
	}
	if all := strings.Join(got, ", "); all != want {
		f.t.Errorf("%s: the statement's sums are %s, want %s", account, all, want)
	}
}
