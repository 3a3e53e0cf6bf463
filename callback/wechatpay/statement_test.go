package wechatpay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

const (
	allHeader = "交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率,订单金额,申请退款金额,费率备注"
	allSums   = "总交易单数,应结订单总金额,退款总金额,充值券退款总金额,手续费总金额,订单总金额,申请退款总金额"
	paid20    = "`2026-11-28 10:00:00,`wx0000000000000001,`1999999901,`0,`,`4200000000202611280000000001,`FC1,`o1,`JSAPI,`SUCCESS,`OTHERS,`CNY,`15.00,`5.00,`0,`0,`0.00,`0.00,`,`,`红茶,绿茶,`{\"a\":1,\"b\":\"2,3\"},`0.12000,`0.60%,`20.00,`0.00,`"
	refund5   = "`2026-11-28 11:00:00,`wx0000000000000001,`1999999901,`0,`,`4200000000202611280000000001,`FC1,`o1,`JSAPI,`REFUND,`OTHERS,`CNY,`0.00,`0.00,`50300000002026112800000000031,`FCR31,`4.00,`1.00,`ORIGINAL,`SUCCESS,`茶,`,`-0.03000,`0.60%,`0.00,`5.00,`"
	refund3   = "`2026-11-28 12:00:00,`wx0000000000000001,`1999999901,`0,`,`4200000000202611280000000001,`FC1,`o1,`JSAPI,`REFUND,`OTHERS,`CNY,`0.00,`0.00,`50300000002026112800000000032,`FCR32,`3.00,`0.00,`ORIGINAL,`PROCESSING,`茶,`,`-0.02000,`0.60%,`0.00,`3.00,`"
	threeSums = "`3,`15.00,`7.00,`1.00,`0.07000,`20.00,`8.00"
)

// threeRows is a whole bill: one payment and two refunds of it.
var threeRows = lines(allHeader, paid20, refund5, refund3, allSums, threeSums)

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

var shanghai = mustZone("Asia/Shanghai")

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return zone
}

func read(p *Provider, text string) (models.Statement, []models.Entry, error) {
	var entries []models.Entry
	s, err := p.ReadStatement("bill.csv", strings.NewReader(text), shanghai, func(e models.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return s, entries, err
}

func TestTradeBill(t *testing.T) {
	p := mustNew(t, nil)
	want := []models.Entry{
		{Kind: models.Payment, TransactionID: "4200000000202611280000000001", OrderID: "FC1", Money: cny(2000), Fee: cny(12), Gross: cny(1500), Status: models.StatusSucceeded,
			StatusText: "SUCCESS", OccurredAt: time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC), Line: 2},
		{Kind: models.Refund, TransactionID: "50300000002026112800000000031", Aliases: []string{"FCR31"}, ParentID: "4200000000202611280000000001", OrderID: "FC1",
			RefundOrderID: "FCR31", Money: cny(500), Fee: cny(-3), Gross: cny(-400), Status: models.StatusSucceeded, StatusText: "SUCCESS", OccurredAt: time.Date(2026, 11, 28, 3, 0, 0, 0, time.UTC), Line: 3},
		{Kind: models.Refund, TransactionID: "50300000002026112800000000032", Aliases: []string{"FCR32"}, ParentID: "4200000000202611280000000001", OrderID: "FC1",
			RefundOrderID: "FCR32", Money: cny(300), Fee: cny(-2), Gross: cny(-300), Status: models.StatusPending, StatusText: "PROCESSING", OccurredAt: time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC), Line: 4},
	}
	for name, text := range map[string]string{
		"plain":            threeRows,
		"BOM, CRLF":        bom + strings.ReplaceAll(threeRows, "\n", "\r\n"),
		"no final newline": strings.TrimSuffix(threeRows, "\n"),
		"blank at the end": threeRows + "\r\n\n",
	} {
		s, got, err := read(p, text)
		if err != nil || !s.Compared || !s.Totals {
			t.Fatalf("%s: %+v, %v", name, s, err)
		}
		for i := range want {
			if len(got) != len(want) || fmt.Sprintf("%+v", got[i]) != fmt.Sprintf("%+v", want[i]) {
				t.Errorf("%s: entry %d\n got %+v\nwant %+v", name, i, got[i], want[i])
			}
		}
	}
}

func cny(minor int64) models.Money { return models.Money{Minor: minor, Currency: "CNY"} }

func TestOtherHeaders(t *testing.T) {
	p := mustNew(t, nil)
	cases := []struct{ name, text, want string }{
		{"24 columns of old merchants", lines(
			"交易时间,公众账号ID,商户号,子商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,总金额,企业红包金额,微信退款单号,商户退款单号,退款金额,企业红包退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率",
			"`2026-11-28 10:54:45,`wx0000000000000001,`1999999901,`0,`,`42001,`FC1,`o,`NATIVE,`REFUND,`CFT,`CNY,`0.00,`0.00,`50001,`FCR1,`0.02,`0.00,`ORIGINAL,`SUCCESS,`n,`a,`0.00000,`0.60%",
			"`2026-11-28 10:45:37,`wx0000000000000001,`1999999901,`0,`,`42001,`FC1,`o,`NATIVE,`SUCCESS,`CFT,`CNY,`0.03,`0.00,`0,`0,`0.00,`0.00,`,`,`n,`a,`0.00000,`0.60%",
			"总交易单数,总交易额,总退款金额,总企业红包退款金额,手续费总金额", "`2,`0.03,`0.02,`0.00,`0.00000"),
			"refund 50001 0.02 succeeded|payment 42001 0.03 succeeded|"},
		{"24 columns with brackets", lines(
			"交易时间,公众账号ID,商户号,特约商户号 (子商户号),设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,总金额,代金券或立减优惠金额（企业红包金额）,微信退款单号,商户退款单号,退款金额,代金券或立减优惠退款金额，退款类型，退款状态,商品名称,商户数据包,手续费,费率",
			"`2026-11-28 10:45:37,`wx0000000000000001,`1999999901,`0,`,`42001,`FC1,`o,`NATIVE,`SUCCESS,`CFT,`CNY,`0.03,`0.00,`0,`0,`0.00,`0.00,`,`,`n,`a,`0.00000,`0.60%",
			"总交易单数，总交易额，总退款金额，总代金券或立减优惠退款金额，手续费总金额", "`1,`0.03,`0.00,`0.00,`0.00000"),
			"payment 42001 0.03 succeeded|"},
		{"SUCCESS, 20 columns", lines(
			"交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,商品名称,商户数据包,手续费,费率,订单金额,费率备注",
			"`2026-11-28 18:46:41,`wx0000000000000001,`1999999901,`0,`,`42001,`FC1,`o,`JSAPI,`SUCCESS,`CFT,`CNY,`0.01,`0.00,`n,`a,`0.00000,`0.60%,`0.01,`",
			allSums, "`1,`0.01,`0.00,`0.00,`0.00000,`0.01,`0.00"),
			"payment 42001 0.01 succeeded|"},
		{"columns moved, one more", lines(
			"手续费,新的一列,订单金额,货币种类,交易状态,商户订单号,微信订单号,商户号,交易时间",
			"`0.01000,`x,y,`1.50,`CNY,`SUCCESS,`FC1,`42001,`1999999901,`2026-11-28 18:46",
			"总交易单数,订单总金额,手续费总金额", "`1,`1.50,`0.01000"),
			"payment 42001 1.50 succeeded|"},
		{"a day without payments", lines(allHeader, allSums, "`0,`0.00,`0.00,`0.00,`0.00000,`0.00,`0.00"), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, entries, err := read(p, c.text)
			got := ""
			for _, e := range entries {
				got += fmt.Sprintf("%s %s %s %s|", e.Kind, e.TransactionID, e.Money.Text(), e.Status)
			}
			if err != nil || got != c.want {
				t.Errorf("entries %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// In a refund bill 交易时间 is the payment's time; the refund belongs to the day it was asked for.
func TestRefundBillIsDatedByTheRequest(t *testing.T) {
	p := mustNew(t, nil)
	_, entries, err := read(p, lines(
		strings.Replace(allHeader, "微信退款单号", "退款申请时间,退款成功时间,微信退款单号", 1),
		strings.Replace(refund5, "`50300", "`2026-11-29 18:13:10,`2026-11-29 18:13:12,`50300", 1),
		allSums, "`1,`0.00,`4.00,`1.00,`-0.03000,`0.00,`5.00"))
	if err != nil || len(entries) != 1 || !entries[0].OccurredAt.Equal(time.Date(2026, 11, 29, 10, 13, 10, 0, time.UTC)) {
		t.Errorf("entries %+v, %v", entries, err)
	}
}

func TestStatusWords(t *testing.T) {
	p := mustNew(t, nil)
	cases := []struct{ row, old, word, kind, status, text string }{
		{paid20, "`SUCCESS", "`REVOKED", "payment", "reversed", "REVOKED"},
		{paid20, "`SUCCESS", "`USERPAYING", "payment", "pending", "USERPAYING"},
		{paid20, "`SUCCESS", "`NOTPAY", "payment", "pending", "NOTPAY"},
		{paid20, "`SUCCESS", "`ACCEPT", "payment", "pending", "ACCEPT"},
		{paid20, "`SUCCESS", "`CLOSED", "payment", "closed", "CLOSED"},
		{paid20, "`SUCCESS", "`PAYERROR", "payment", "failed", "PAYERROR"},
		{paid20, "`SUCCESS", "`MOON", "payment", "unknown", "MOON"},
		{paid20, "`SUCCESS", "`", "payment", "unknown", ""},
		{refund5, "`SUCCESS", "`PROCESSING", "refund", "pending", "PROCESSING"},
		{refund5, "`SUCCESS", "`ABNORMAL", "refund", "pending", "ABNORMAL"},
		{refund5, "`SUCCESS", "`CHANGE", "refund", "pending", "CHANGE"},
		{refund5, "`SUCCESS", "`CLOSE", "refund", "closed", "CLOSE"},
		{refund5, "`SUCCESS", "`CLOSED", "refund", "closed", "CLOSED"},
		{refund5, "`SUCCESS", "`FAIL", "refund", "failed", "FAIL"},
		{refund5, "`SUCCESS", "`MOON", "refund", "unknown", "MOON"},
		{refund5, "`REFUND", "`MOON", "refund", "unknown", "MOON"},
	}
	for _, c := range cases {
		_, entries, err := read(p, lines(allHeader, strings.Replace(c.row, c.old, c.word, 1), "总交易单数", "`1"))
		if err != nil || len(entries) != 1 {
			t.Fatalf("%s: %v", c.word, err)
		}
		if e := entries[0]; e.Final != (c.kind == "payment" && c.status == "pending") || string(e.Kind) != c.kind || string(e.Status) != c.status || e.StatusText != c.text {
			t.Errorf("%s: %s %s %q, want %s %s %q", c.word, e.Kind, e.Status, e.StatusText, c.kind, c.status, c.text)
		}
	}
}

// A payment cancelled at the counter can stand as money going out, without refund numbers.
func TestRevokedRowWithoutOrderAmount(t *testing.T) {
	p := mustNew(t, nil)
	row := strings.NewReplacer("`REFUND", "`REVOKED", "`50300000002026112800000000031", "`0", "`FCR31", "`0").Replace(refund5)
	_, entries, err := read(p, lines(allHeader, row, allSums, "`1,`0.00,`4.00,`1.00,`-0.03000,`0.00,`5.00"))
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	if e := entries[0]; e.Kind != models.Payment || e.Status != models.StatusReversed || e.Money != cny(500) || e.TransactionID != "4200000000202611280000000001" {
		t.Errorf("entry %+v", e)
	}
}

func TestRefundWithoutProviderIDIsKnownByTheShopsNumber(t *testing.T) {
	p := mustNew(t, nil)
	_, entries, err := read(p, strings.Replace(threeRows, "`50300000002026112800000000031", "`0", 1))
	if err != nil || entries[1].TransactionID != "FCR31" || entries[1].Aliases != nil {
		t.Errorf("entries %+v, %v", entries, err)
	}
}

type unusable struct {
	name, text string
	line       int
	column     string
	what       string
}

func TestBillThatCannotBeUsed(t *testing.T) {
	p := mustNew(t, nil)
	for _, c := range unusableBills() {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(p, c.text)
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

// swap is the whole bill with one thing changed.
func swap(old, changed string) string { return strings.Replace(threeRows, old, changed, 1) }

func unusableBills() []unusable {
	return append(noBills(), []unusable{
		{"cut in the middle of a row", threeRows[:strings.Index(threeRows, "FCR32")], 4, "", "16 cells, the header has 27"},
		{"cut after a row", lines(allHeader, paid20, refund5), 3, "", "summary is missing after 2 rows"},
		{"only a header", lines(allHeader), 1, "", "summary is missing after 0 rows"},
		{"cut after the summary's header", lines(allHeader, paid20, allSums), 3, "", "summary has no figures"},
		{"cut in the summary", lines(allHeader, paid20, refund5, refund3, allSums, "`3,`15.00"), 6, "", "2 cells"},
		{"footer says another count", swap("`3,`15", "`4,`15"), 6, "总交易单数", "3 rows, the summary says 4"},
		{"footer's count is none", swap("`3,`15", "`3.5,`15"), 6, "总交易单数", "no count"},
		{"order total", swap("`20.00,`8.00", "`20.01,`8.00"), 6, "订单总金额", "add up to 20.00, the summary says 20.01"},
		{"settled total", swap("`3,`15.00", "`3,`15.01"), 6, "应结订单总金额", "15.01"},
		{"refund total", swap("`15.00,`7.00", "`15.00,`7.10"), 6, "退款总金额", "7.10"},
		{"voucher total", swap("`7.00,`1.00", "`7.00,`1.10"), 6, "充值券退款总金额", "1.10"},
		{"asked total", swap("`20.00,`8.00", "`20.00,`8.10"), 6, "申请退款总金额", "8.10"},
		{"fee total, a thousandth", swap("`0.07000", "`0.07001"), 6, "手续费总金额", "0.07001"},
		{"total is no number", swap("`20.00,`8.00", "`x,`8.00"), 6, "订单总金额", "no plain amount"},
		{"something after the summary", threeRows + paid20, 7, "", "something follows"},
		{"a line that is no row", strings.Replace(threeRows, paid20, "-----", 1), 2, "", "neither a row"},
		{"one cell too many", swap("`0.60%", "`0.60%,`"), 2, "", "28 cells"},
		{"no transaction id column", swap("微信订单号", "单号"), 1, "微信订单号", "no such column"},
		{"no column of the amount asked back", swap("申请退款金额", "x1"), 1, "申请退款金额", "no such column"},
		{"a column twice", swap("费率备注", "费率"), 1, "费率", "twice"},
		{"another merchant", strings.ReplaceAll(threeRows, "1999999901", "1999999902"), 2, "商户号", "1999999902"},
		{"another merchant's single row", strings.Replace(threeRows, refund3, strings.Replace(refund3, "1999999901", "1", 1), 1), 4, "商户号", "not this account's"},
		{"another app", swap("wx0000000000000001", "wx9"), 2, "公众账号ID", "settings.appids"},
		{"spreadsheet id", swap("4200000000202611280000000001", "4.20000E+27"), 2, "微信订单号", "looks like a rounded number"},
		{"spreadsheet refund id", swap("50300000002026112800000000031", "5.03E+28"), 3, "微信退款单号", "looks like a rounded number"},
		{"no id", swap("4200000000202611280000000001", "0"), 2, "微信订单号", "empty"},
		{"no refund id at all", strings.NewReplacer("`50300000002026112800000000031", "`0", "FCR31", "0").Replace(threeRows), 3, "微信退款单号", "no identity"},
		{"spreadsheet date", swap("2026-11-28 10:00:00", "28/11/26 10:00"), 2, "交易时间", "YYYY-MM-DD"},
		{"currency", swap("`CNY", "`RMB"), 2, "货币种类", "ISO 4217"},
		{"no amount", swap("`20.00,`0.00", "`,`0.00"), 2, "订单金额", "empty"},
		{"sign", swap("`20.00,`0.00", "`-20.00,`0.00"), 2, "订单金额", "without sign"},
		{"half a fen", swap("`20.00,`0.00", "`20.005,`0.00"), 2, "订单金额", "2 decimals"},
		{"currency sign", swap("`20.00,`0.00", "`¥20.00,`0.00"), 2, "订单金额", "no plain amount"},
		{"exponent", swap("`20.00,`0.00", "`2e1,`0.00"), 2, "订单金额", "no plain amount"},
		{"thousands comma", swap("`20.00,`0.00", "`1,020.00,`0.00"), 2, "订单金额", "no plain amount"},
		{"minus lookalike", swap("`-0.03000", "`−0.03000"), 3, "手续费", "no plain amount"},
		{"not UTF-8", swap("红茶", "\xba\xec"), 2, "", "not UTF-8"},
		{"endless line", allHeader + "\n`" + strings.Repeat("a", lineMax+1), 2, "", "longer than"},
	}...)
}

// noBills is what else is saved under a bill's name.
func noBills() []unusable {
	return []unusable{
		{"personal export", lines("微信支付账单明细,,,,,,,,", "微信昵称：[x],,"), 1, "", "personal export"},
		{"personal export's table", lines("交易时间,交易类型,交易对方,商品,收/支,金额(元)", "2026-11-28 10:00:00,x,y,z,支出,¥1.00"), 1, "", "personal export"},
		{"empty", "", 0, "", "empty"},
		{"no statement", `{"code":"NO_STATEMENT_EXIST","message":"账单文件不存在"}`, 0, "", "NO_STATEMENT_EXIST"},
		{"no bill, version 2", "<xml><return_code>FAIL</return_code><return_msg>No Bill Exist</return_msg></xml>", 0, "", "No Bill Exist"},
		{"login page", "<!DOCTYPE html><html>", 0, "", "HTML"},
		{"digest of another kind", `{"hash_type":"MD5","hash_value":"7fc2c9dd9d2067d99281ac3dd07f0a58"}`, 0, "", "SHA1"},
		{"digest too short", `{"hash_type":"SHA1","hash_value":"7fc2"}`, 0, "", "SHA1"},
		{"broken JSON", `{"code"`, 0, "", "JSON"},
		{"lines that end in CR", strings.ReplaceAll(threeRows, "\n", "\r"), 1, "", "its lines end in CR alone"},
		{"long lines that end in CR", strings.ReplaceAll(threeRows+strings.Repeat(paid20+"\n", 1000), "\n", "\r"), 1, "", "its lines end in CR alone"},
		{"a fund flow bill of CR", strings.ReplaceAll("记账时间,资金流水单号\n`1,`2\n", "\n", "\r"), 1, "", "its lines end in CR alone"},
		{"packed", "\x1f\x8b\x08\x00\x00\x00", 1, "", "packed"},
		{"another table", "a,b\n1,2\n", 1, "交易时间", "it has a,b"},
	}
}

func TestServiceProvidersBill(t *testing.T) {
	p := mustNew(t, map[string]any{"sub_mchids": []string{"1900000001"}})
	ours := strings.ReplaceAll(threeRows, "`1999999901,`0", "`1999999901,`1900000001")
	if _, entries, err := read(p, ours); err != nil || len(entries) != 3 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	for _, text := range []string{threeRows, strings.Replace(ours, "1900000001", "1900000002", 1), strings.Replace(ours, "特约商户号", "x", 1)} {
		if _, _, err := read(p, text); err == nil || !strings.Contains(err.Error(), "特约商户号") {
			t.Errorf("ReadStatement = %v, want the sub merchant refused", err)
		}
	}
}

func TestFundFlowBillIsCheckedNotCompared(t *testing.T) {
	p := mustNew(t, nil)
	raw, err := os.ReadFile(filepath.Join(kit, "statements", "fundflowbill_BASIC_2026-11-29.csv"))
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	s, entries, err := read(p, good)
	if err != nil || s.Compared || s.Title != "fund flow bill" || len(entries) != 0 {
		t.Fatalf("%+v, %d entries, %v", s, len(entries), err)
	}
	for name, text := range map[string]string{
		"full-width brackets": strings.NewReplacer("(", "（", ")", "）").Replace(good),
		"counts as 21.0":      strings.Replace(good, "`21,`9,", "`21.0,`9.0,", 1),
	} {
		if _, _, err := read(p, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for column, text := range map[string]string{
		"资金流水总笔数": strings.Replace(good, "`21,", "`22,", 1),
		"收入笔数":    strings.Replace(good, "`21,`9,", "`21,`8,", 1),
		"支出笔数":    strings.Replace(good, "`12,`156.45", "`11,`156.45", 1),
		"收入金额":    strings.Replace(good, "`960.84,", "`960.85,", 1),
		"支出金额":    strings.Replace(good, "`156.45", "`156.46", 1),
		"收支类型":    strings.Replace(good, "`支出", "`借出", 1),
		"记账时间":    strings.Replace(good, "`2026-11-29 10:00:00", "`10:00", 1),
		"收支金额":    strings.Replace(good, "`12.34", "`-12.34", 1),
	} {
		_, _, err := read(p, text)
		var got *models.FileError
		if !errors.As(err, &got) || got.Column != column {
			t.Errorf("ReadStatement = %v, want an error of column %s", err, column)
		}
	}
}

func TestDownloadAnswerHoldsTheDigest(t *testing.T) {
	p := mustNew(t, nil)
	raw, err := os.ReadFile(filepath.Join(kit, "statements", "tradebill_response.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := models.Statement{Title: "download answer", Digest: "sha1:7fc2c9dd9d2067d99281ac3dd07f0a5882694ea9"}
	if s, entries, err := read(p, string(raw)); err != nil || !reflect.DeepEqual(s, want) || len(entries) != 0 {
		t.Errorf("statement %+v, %v; want %+v", s, err, want)
	}
}

func FuzzReadStatement(f *testing.F) {
	p := mustNew(f, nil)
	for _, seed := range []string{
		threeRows, bom + threeRows, threeRows[:400], "", "`", "`,`", ",", "{", `{"hash_type":"SHA1"}`, lines(allHeader, allSums, "`0"),
		lines("记账时间,微信支付业务单号,资金流水单号,收支类型,收支金额(元)", "`2026-11-28 10:00:00,`1,`2,`收入,`1.00", "资金流水总笔数,收入笔数,收入金额,支出笔数,支出金额", "`1,`1,`1.00,`0,`0.00"),
	} {
		f.Add(seed)
	}
	for _, raw := range providertest.Statements(f, kit) {
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, text string) {
		providertest.Bounded(t, len(text), func() {
			s, entries, err := read(p, text)
			if fileError := (*models.FileError)(nil); err != nil && !errors.As(err, &fileError) {
				t.Fatalf("%v is no *models.FileError", err)
			}
			if err == nil && !s.Compared && len(entries) > 0 {
				t.Fatalf("%d entries of a file that is not compared", len(entries))
			}
			for _, e := range entries {
				if e.TransactionID == "" || e.Money.Minor < 0 {
					t.Fatalf("entry %+v", e)
				}
			}
		})
	})
}

func BenchmarkReadStatement(b *testing.B) {
	p := mustNew(b, nil)
	const rows = 10_000
	text := []byte(lines(allHeader) + strings.Repeat(paid20+"\n", rows) + lines("总交易单数,订单总金额", fmt.Sprintf("`%d,`%d.00", rows, 20*rows)))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var r io.Reader = bytes.NewReader(text)
		if _, err := p.ReadStatement("bill.csv", r, shanghai, func(models.Entry) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
