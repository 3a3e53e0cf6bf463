package alipay

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

func wholeEntries() []models.Entry {
	at := func(h, m, s int) time.Time { return time.Date(2026, 11, 28, h-8, m, s, 0, time.UTC) }
	const trade = "2026112822001400000000000001"
	base := models.Entry{Kind: models.Refund, TransactionID: trade + ":R1", ParentID: trade, OrderID: "FC1", RefundOrderID: "R1", Money: cny(500), Fee: cny(-3), Gross: cny(-475),
		Status: models.StatusSucceeded, StatusText: "退款", OccurredAt: at(11, 0, 5), Line: 7}
	numberless := base
	numberless.Gross = models.Money{} // all of it
	numberless.TransactionID, numberless.RefundOrderID, numberless.Money, numberless.Fee = trade+":"+trade, trade, cny(300), cny(0)
	numberless.OccurredAt, numberless.Line = at(23, 59, 59), 8
	return []models.Entry{
		{Kind: models.Payment, TransactionID: trade, OrderID: "FC1", Money: cny(2000), Fee: cny(12), Gross: cny(1900), Status: models.StatusSucceeded, StatusText: "交易",
			OccurredAt: at(10, 0, 5), Line: 6},
		base, numberless,
	}
}

func TestBusinessBill(t *testing.T) {
	p := mustNew(t, nil)
	from, to := time.Date(2026, 11, 27, 16, 0, 0, 0, time.UTC), time.Date(2026, 11, 28, 16, 0, 0, 0, time.UTC)
	for name, text := range map[string]string{
		"GBK":                  gbk(wholeBill),
		"UTF-8":                wholeBill,
		"UTF-8 with BOM":       bom + wholeBill,
		"a BOM in the middle":  bom + strings.Replace(wholeBill, paid20, bom+paid20, 1),
		"LF":                   gbk(strings.ReplaceAll(wholeBill, "\r\n", "\n")),
		"no final newline":     gbk(strings.TrimSuffix(wholeBill, "\r\n")),
		"half-width brackets":  gbk(strings.NewReplacer("（", "(", "）", ")").Replace(wholeBill)),
		"half-width colons":    gbk(strings.ReplaceAll(wholeBill, "：", ":")),
		"padded":               gbk(strings.ReplaceAll(wholeBill, "\t", "  \t ")),
		"not padded":           gbk(strings.ReplaceAll(wholeBill, "\t", "")),
		"fees without sign":    gbk(strings.NewReplacer("-0.12", "0.12").Replace(wholeBill)),
		"fees' signs reversed": gbk(strings.NewReplacer(",-0.12,", ",0.12,", ",0.03,", ",-0.03,").Replace(wholeBill)),
		"quoted cells":         gbk(swap("2026112822001400000000000001\t,FC1\t", "\"2026112822001400000000000001\t\",\"FC1\"")),
		"the last moment":      gbk(swap("终止日期：[2026年11月29日 00:00:00]", "终止日期：[2026年11月28日 23:59:59]")),
	} {
		t.Run(name, func(t *testing.T) {
			s, got, err := read(p, text)
			if err != nil || !s.Compared || !s.Totals || s.Only != "" || s.Promises != nil {
				t.Fatalf("%+v, %v", s, err)
			}
			if !s.From.Equal(from) || !s.To.Equal(to) && name != "the last moment" || s.From.Location() != time.UTC {
				t.Errorf("from %s to %s", s.From, s.To)
			}
			if !reflect.DeepEqual(got, wholeEntries()) {
				t.Errorf("entries\n got %+v\nwant %+v", got, wholeEntries())
			}
		})
	}
	blank := strings.ReplaceAll(wholeBill, "\r\n", "\r\n\r\n")
	if _, got := mustRead(t, p, blank); len(got) != 3 || got[0].Line != 11 {
		t.Errorf("blank lines: %+v", got)
	}
}

// A comma in the product's name is only a comma; what a spreadsheet has quoted is understood as well.
func TestCommasInFreeText(t *testing.T) {
	p := mustNew(t, nil)
	for name, text := range map[string]string{
		"one":                            swap("红茶", "红茶, 绿茶"),
		"three":                          swap("红茶", "红茶,绿茶,,"),
		"a quote":                        swap("红茶", `19" 显示器`),
		"a quote and a comma":            swap("红茶", `19" 显示器, 黑`),
		"quoted":                         swap("红茶", `"红茶, ""大""杯"`),
		"quoted, with a tab":             swap("红茶", "\"红茶, 绿茶\"\t"),
		"a quoted remark":                swap(paid20, paid20+`"a, b"`),
		"a line break in quotes":         swap("红茶", "\"红茶,\r\n绿茶\""),
		"a line break, name and remark":  swap(paid20, strings.Replace(paid20, "红茶", "\"红茶\n绿茶\"", 1)+`"a, b"`),
		"every comma of the other sort":  swap("红茶", "红茶，绿茶"),
		"a # at the beginning of a cell": swap("红茶", "#1 红茶"),
	} {
		t.Run(name, func(t *testing.T) {
			_, got, err := readGBK(p, text)
			want := wholeEntries()
			if err == nil { // a line break moves the lines below it
				for i := range got {
					want[i].Line = got[i].Line
				}
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
			}
		})
	}
}

func TestOtherHeaders(t *testing.T) {
	p := mustNew(t, nil)
	bill := func(lines ...string) string {
		return crlf(append([]string{title, account, period, begin}, lines...)...)
	}
	const payments, refunds = "#交易合计：1笔，商家实收共20.00元，商家优惠共0.00元", "#退款合计：1笔，商家实收退款共-5.00元，商家优惠退款共0.00元"
	cases := []struct{ name, text, want string }{
		{"29 columns", bill(
			"支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号,服务费（元）,实收净额（元）,商户识别号,交易方式,备注,花呗分期手续费,花呗分期数",
			"1001,FC1,交易,红茶,2026-11-28 09:59:50,2026-11-28 10:00:05,,,,,x,20.00,20.00,0.00,0.00,0.00,0.00,0.00,,0.00,0.00,,-0.12,19.88,M,扫码,,0.00,3",
			"1001,FC1,退款,红茶,2026-11-28 09:59:50,2026-11-28 11:00:05,,,,,x,-5.00,-5.00,0.00,0.00,0.00,0.00,0.00,,0.00,0.00,R1,0.03,-4.97,M,扫码,,0.00,3", end, payments, refunds),
			"payment 1001 20.00 0.12|refund 1001:R1 5.00 -0.03|"},
		{"moved, one more, no fee", bill("完成时间,退款批次号/请求号,新的一列,商户订单号,业务类型,商家实收(元),支付宝交易号,订单金额",
			"2026-11-28 10:00,,x,FC1,交易,20.00,1001,20.00", "2026-11-28 11:00:05,R1,,FC1,退款,-5.00,1001,-5.00", end, payments, refunds),
			"payment 1001 20.00 0.00|refund 1001:R1 5.00 0.00|"},
		{"no line for the end of the list", bill("完成时间,退款批次号/请求号,商户订单号,业务类型,商家实收,支付宝交易号,订单金额",
			"2026-11-28 10:00,,FC1,交易,20.00,1001,20.00", payments, "#退款合计：0笔，商家实收退款共0.00元"), "payment 1001 20.00 0.00|"},
		{"thousands", bill("完成时间,退款批次号/请求号,商户订单号,业务类型,商家实收,支付宝交易号,订单金额",
			"2026-11-28 10:00,,FC1,交易,\"1,020.00\",1001,\"1,020.00\"", end, "#交易合计：1笔，商家实收共1,020.00元", "#退款合计：0笔"), "payment 1001 1020.00 0.00|"},
		{"an order without number", bill("完成时间,退款批次号/请求号,商户订单号,业务类型,商家实收,支付宝交易号,订单金额",
			"2026-11-28 10:00,,\t,交易,20.00,1001,20.00", end, payments, "#退款合计：0笔"), "payment 1001 20.00 0.00|"},
		{"a day without payments", emptyBill, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, entries, err := readGBK(p, c.text)
			got := ""
			for _, e := range entries {
				got += fmt.Sprintf("%s %s %s %s|", e.Kind, e.TransactionID, e.Money.Text(), e.Fee.Text())
			}
			if err != nil || got != c.want || !s.Compared || !s.Totals {
				t.Errorf("%+v, entries %q, %v; want %q", s, got, err, c.want)
			}
		})
	}
}

// Without a column for their numbers no refund can be in it; without 商家实收 only the rows are counted.
func TestShortBill(t *testing.T) {
	p := mustNew(t, nil)
	text := crlf(title, account, period, begin, "支付宝交易号,商户订单号,业务类型,完成时间,订单金额(元)", "1001,FC1,交易,2026-11-28 10:00:00,20.00", end,
		"#交易合计：1笔，商家实收共20.00元", "#退款合计：0笔，商家实收退款共0.00元")
	if s, entries := mustRead(t, p, text); s.Only != models.Payment || s.Totals || len(entries) != 1 {
		t.Errorf("%+v, %+v", s, entries)
	}
	_, _, err := readGBK(p, strings.Replace(text, "交易,2026", "退款,2026", 1))
	if err == nil || !strings.Contains(err.Error(), "退款批次号") {
		t.Errorf("a refund in it: %v", err)
	}
}

// A kind of row that nobody knows is told, and is in no total of the bill.
func TestUnknownKindOfRow(t *testing.T) {
	p := mustNew(t, nil)
	for word, want := range map[string]string{"分账": "分账", "": "(empty)"} {
		odd := strings.Replace(back5, "退款\t", word+"\t", 1)
		_, entries := mustRead(t, p, swap(paid20, paid20+"\r\n"+odd))
		if e := entries[1]; len(entries) != 4 || e.Kind != models.EntryAdjustment || e.UnknownKind != want || e.Money != cny(-500) {
			t.Errorf("%q: %+v", word, e)
		}
	}
}

// The zip of the kit holds both files under GBK names; they are told by their content.
func TestMembersOfTheKitsZip(t *testing.T) {
	p := mustNew(t, nil)
	z, err := zip.OpenReader(filepath.Join(kit, "statements", "20880000000000190156_20261129.csv.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	got := map[string]int{}
	for _, member := range z.File {
		r, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.ReadStatement("x.zip/"+member.Name, iotest.HalfReader(r), shanghai, func(models.Entry) error { got["entries"]++; return nil })
		if err != nil {
			t.Fatalf("%s: %v", member.Name, err)
		}
		got[fmt.Sprintf("%s %v %d", s.Title, s.Compared, len(s.Promises))]++
	}
	want := map[string]int{"business bill true 0": 1, "business summary false 3": 1, "entries": 12}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
}

func TestSummaryPromisesItsFigures(t *testing.T) {
	p := mustNew(t, nil)
	s, entries := mustRead(t, p, shops)
	want := []models.Promise{{Kind: models.Payment, Count: 3}, {Kind: models.Refund, Count: 2}, {Count: 5, Money: cny(3200)}}
	if s.Compared || s.Title != "business summary" || len(entries) != 0 || !reflect.DeepEqual(s.Promises, want) {
		t.Errorf("%+v, want the promises %+v", s, want)
	}
	alone := strings.NewReplacer("S1\t", "#S1", "S2\t", "#S2").Replace(shops)
	if _, _, err := readGBK(p, alone); err == nil {
		t.Error("comments between the rows accepted")
	}
	single := shops[:strings.Index(shops, "S1")] + shops[strings.Index(shops, "合计"):]
	if s, _ := mustRead(t, p, single); len(s.Promises) != 3 {
		t.Errorf("no shops: %+v", s)
	}
	for column, text := range map[string]string{
		"交易订单总笔数": strings.Replace(shops, ",3,2,", ",4,2,", 1),
		"退款订单总笔数": strings.Replace(shops, ",3,2,", ",3,-2,", 1),
		"订单金额":    strings.Replace(shops, "32.00", "32.01", 1),
		"商家实收":    strings.Replace(shops, "31.25", "31.52", 1),
		"服务费":     strings.Replace(shops, "2,32.00,31.25,0.00,0.75,0.00,-0.09", "2,32.00,31.25,0.00,0.75,0.00,0.09", 1),
		"实收净额":    strings.Replace(shops, "31.16", "", 1),
		"门店编号":    strings.Replace(shops, "门店编号", "编号", 1),
		"账号":      strings.Replace(shops, "20880000000000190156", "20880000000000200156", 1),
	} {
		wantFileError(t, p, text, column, "")
	}
	for what, text := range map[string]string{
		"no sum":               strings.Replace(shops, summarySum+"\r\n", "", 1),
		"a row behind":         strings.Replace(shops, summarySum, summarySum+"\r\n"+summarySum, 1),
		"no end":               shops[:strings.Index(shops, "#----业务汇总列表结束")],
		"a count that is none": strings.Replace(single, ",3,2,", ",3.5,2,", 1),
	} {
		if _, _, err := readGBK(p, text); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func TestAccountBillIsCheckedNotCompared(t *testing.T) {
	p := mustNew(t, nil)
	s, entries := mustRead(t, p, balance)
	if s.Compared || !s.Totals || s.Title != "account bill" || len(entries) != 1 {
		t.Fatalf("%+v, %d entries", s, len(entries))
	}
	if e := entries[0]; e.Kind != models.Payout || e.TransactionID != "4" || e.Money != cny(10000) || e.Status != models.StatusSucceeded ||
		!e.OccurredAt.Equal(time.Date(2026, 11, 28, 4, 0, 5, 0, time.UTC)) {
		t.Errorf("the withdrawal is %+v", e)
	}
	for column, text := range map[string]string{
		"支出合计":  strings.Replace(balance, "3笔", "2笔", 1),
		"收入合计":  strings.Replace(balance, "共19.00", "共19.01", 1),
		"账务流水号": strings.Replace(balance, "\r\n4\t", "\r\n4.0E+27\t", 1),
		"发生时间":  strings.Replace(balance, "2026-11-28 12:00:05", "2026-11-27 12:00:05", 1),
		"支出金额":  strings.Replace(balance, "0.00,-0.12", "1.00,-0.12", 1),
		"账号":    strings.Replace(balance, "20880000000000190156", "20880000000000200156", 1),
	} {
		wantFileError(t, p, text, column, "")
	}
	summary := crlf("#支付宝账务汇总查询", account, period, "类型,收入笔数,收入金额（+元）", "合计,1,19.00", made)
	if s, _ := mustRead(t, p, summary); s.Compared || s.Title != "account bill summary" {
		t.Errorf("%+v", s)
	}
}

func wantFileError(tb testing.TB, p *Provider, text, column, what string) {
	tb.Helper()
	_, _, err := readGBK(p, text)
	var got *models.FileError
	if !errors.As(err, &got) || got.Column != column || !strings.Contains(got.What, what) {
		tb.Errorf("ReadStatement = %v, want an error of column %q that says %q", err, column, what)
	}
}

// FuzzReadStatement: whatever the file, an error is a *models.FileError, and every entry has an identity and a place.
func FuzzReadStatement(f *testing.F) {
	p := mustNew(f, nil)
	for _, text := range []string{wholeBill, emptyBill, shops, balance, personalExport, swap("红茶", "\"红茶,\n绿茶\"")} {
		f.Add([]byte(text))
		f.Add([]byte(gbk(text)))
	}
	for _, text := range []string{"", "#", "\"", "#\n,\n", "\xff\xfe#\x00", "支付宝交易号\n\"", bom} {
		f.Add([]byte(text))
	}
	for _, raw := range providertest.Statements(f, kit) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s models.Statement
		var entries []models.Entry
		var err error
		providertest.Bounded(t, len(raw), func() { s, entries, err = read(p, string(raw)) })
		if fileError := (*models.FileError)(nil); err != nil && !errors.As(err, &fileError) {
			t.Fatalf("%v is no *models.FileError", err)
		}
		if err == nil && (s.Title == "" || !s.Compared && slices.ContainsFunc(entries, func(e models.Entry) bool { return e.Kind.Compared() }) || !s.From.Before(s.To)) {
			t.Fatalf("%+v with %d entries", s, len(entries))
		}
		for _, e := range entries {
			if e.TransactionID == "" || e.Line <= 0 || e.Kind.Known() && e.Money.Minor < 0 || e.OccurredAt.IsZero() || strings.ContainsRune(e.TransactionID+e.OrderID, '\ufffd') {
				t.Fatalf("entry %+v", e)
			}
		}
	})
}

func BenchmarkReadStatement(b *testing.B) {
	p := mustNew(b, nil)
	const rows = 10_000
	text := []byte(gbk(crlf(title, account, period, begin, header) + strings.Repeat(paid20+"\r\n", rows) +
		crlf(end, fmt.Sprintf("#交易合计：%d笔，商家实收共%d.00元", rows, 19*rows), "#退款合计：0笔，商家实收退款共0.00元")))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var r io.Reader = bytes.NewReader(text)
		if _, err := p.ReadStatement("bill.csv", r, shanghai, func(models.Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
