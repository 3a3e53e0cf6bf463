package unionpay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

const (
	zmName  = "INN26112900ZM_777000000000001"
	zmeName = "INN26112900ZME_777000000000001"
)

// row is a record of the layout with gap spaces between two columns, which is 1 in all genuine ones; what is not given is blank. Text
// must fit, in bytes.
func row(tb testing.TB, l *layout, gap int, cells fields) string {
	tb.Helper()
	var parts []string
	for _, c := range l.columns {
		text := cells[c.name]
		if len(text) > c.width {
			tb.Fatalf("%s: %q is longer than %d bytes", c.name, text, c.width)
		}
		parts = append(parts, text+strings.Repeat(" ", c.width-len(text)))
	}
	return strings.Join(parts, strings.Repeat(" ", gap))
}

// paid is a ZM payment of 88.00; change overrides columns.
func paid(tb testing.TB, gap int, change fields) string {
	tb.Helper()
	return row(tb, zm, gap, with(fields{
		"交易代码": "S22", "代理机构标识码": "00049992", "发送机构标识码": "00049992", "系统跟踪号": "000001", "交易传输时间": "1129100000", "账号": "6216***********0018",
		"交易金额": "000000008800", "商户类别": "5311", "终端类型": "07", "查询流水号": "202611291000000000001", "商户订单号": "CNU20261129001", "支付卡类型": "01",
		"商户手续费": "D000000000053", "结算金额": "C000000008747", "支付方式": "0001", "交易类型": "01", "交易子类": "01", "业务类型": "000201", "账号类型": "01",
		"交互方式": "0", "商户代码": "777000000000001", "清算净额": "C000000008747",
	}, change))
}

func refunded(tb testing.TB, gap int, change fields) string {
	tb.Helper()
	return paid(tb, gap, with(fields{
		"交易代码": "S30", "系统跟踪号": "000031", "交易传输时间": "1129110000", "交易金额": "000000005000", "查询流水号": "202611291100000000031", "商户订单号": "CNUR20261129001",
		"商户手续费": "C000000000030", "结算金额": "D000000004970", "交易类型": "04", "交易子类": "00", "原交易查询流水号": "202611291000000000001", "原商户订单号": "CNU20261129001",
	}, change))
}

// corrected is a ZME record that takes 88.00 back.
func corrected(tb testing.TB, gap int, change fields) string {
	tb.Helper()
	return row(tb, zme, gap, with(fields{
		"交易代码": "E31", "代理机构标识码": "00049992", "发送机构标识码": "00049992", "系统跟踪号": "000777", "交易传输时间": "1129120000", "账号": "6216***********0018",
		"交易金额": "000000008800", "原始交易的系统跟踪号": "000001", "原始交易日期时间": "1231100000", "原始交易清算日期": "1231", "原始交易金额": "000000008800",
		"商户手续费": "C000000000053", "结算金额": "D000000008747", "商户代码": "777000000000001",
	}, change))
}

func file(rows ...string) string { return strings.Join(rows, "\r\n") + "\r\n" }

func read(p *Provider, name string, r io.Reader) (models.Statement, []models.Entry, error) {
	var entries []models.Entry
	s, err := p.ReadStatement(name, r, beijing, func(e models.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return s, entries, err
}

func mustReadFile(tb testing.TB, p *Provider, name, text string) []models.Entry {
	tb.Helper()
	_, entries, err := read(p, name, strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	return entries
}

func TestTransactionFile(t *testing.T) {
	p := mustNew(t, nil)
	want := []models.Entry{
		{Kind: models.Payment, TransactionID: "202611291000000000001", OrderID: "CNU20261129001", Money: cny(8800), Fee: cny(53), Status: models.StatusSucceeded,
			StatusText: "S22", OccurredAt: at("2026-11-29 10:00:00"), Line: 1},
		{Kind: models.Refund, TransactionID: "202611291100000000031", ParentID: "202611291000000000001", OrderID: "CNU20261129001", RefundOrderID: "CNUR20261129001",
			Money: cny(5000), Fee: cny(-30), Status: models.StatusSucceeded, StatusText: "S30", OccurredAt: at("2026-11-29 11:00:00"), Line: 2},
	}
	spaced := file(paid(t, 1, nil), refunded(t, 1, nil))
	shop := fields{"二级商户简称": "\xb2\xe2\xca\xd4\xc3\xc5\xb5\xea"} // 测试门店 in GBK, eight bytes
	for name, text := range map[string]string{
		"CRLF": spaced, "LF": strings.ReplaceAll(spaced, "\r\n", "\n"), "no last line end": strings.TrimSuffix(spaced, "\r\n"),
		"BOM": "\ufeff" + spaced, "blank lines behind": spaced + "\r\n\r\n",
		"a Chinese name": file(paid(t, 1, shop), refunded(t, 1, shop)),
	} {
		for _, file := range []string{zmName, "777000000000001_20261129.zip/" + zmName, `C:\bills\` + zmName + ".txt", "statement.csv", "bill-2026-11-29.txt"} {
			s, got, err := read(p, file, strings.NewReader(text))
			if err != nil || !s.Compared || s.Totals || s.Batch || s.Only != "" || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %+v, %v\n got %+v\nwant %+v", name, file, s, err, got, want)
			}
		}
	}
}

// The code says what a row is; where no code is known, a type of which none is. Where the two contradict each other, neither does.
func TestCodes(t *testing.T) {
	p := mustNew(t, nil)
	orig := "202611280000000000009"
	for _, c := range []struct {
		code, txnType string
		want          string
	}{
		{"S22", "01", "payment order=O1"}, {"S30", "04", "refund parent=" + orig + " order=O0 number=O1"},
		{"S22", "", "payment order=O1"}, {"S22", "99", "payment order=O1"}, {"S30", "", "refund parent=" + orig + " order=O0 number=O1"},
		{"S30", "31", "refund parent=" + orig + " order=O0 number=O1"}, {"S30", "33", "refund parent=" + orig + " order=O0 number=O1"},
		{"S22", "04", "adjustment unknown=S22 of type 04 order=O1"}, {"S22", "31", "adjustment unknown=S22 of type 31 order=O1"},
		{"S22", "33", "adjustment unknown=S22 of type 33 order=O1"}, {"S22", "02", "adjustment unknown=S22 of type 02 order=O1"},
		{"S22", "32", "adjustment unknown=S22 of type 32 order=O1"}, {"S30", "01", "adjustment unknown=S30 of type 01 order=O1"},
		{"S30", "02", "adjustment unknown=S30 of type 02 order=O1"},
		{"S31", "31", "refund parent=" + orig + " order=O0 number=O1"},
		{"S99", "33", "refund parent=" + orig + " order=O0 number=O1"}, {"S36", "03", "payment alias=" + orig + " order=O0"}, {"S22", "03", "payment alias=" + orig + " order=O0"},
		{"S30", "03", "adjustment unknown=S30 of type 03 alias=" + orig + " order=O0"},
		{"S99", "01", "adjustment unknown=S99 order=O1"}, {"S99", "04", "adjustment unknown=S99 order=O1"}, {"X30", "12", "adjustment unknown=X30 order=O1"},
		{"", "01", "adjustment unknown=(empty) order=O1"}, {"s22", "01", "adjustment unknown=s22 order=O1"}, {"S3", "04", "adjustment unknown=S3 order=O1"},
	} {
		e := mustReadFile(t, p, zmName, file(paid(t, 1, fields{"交易代码": c.code, "交易类型": c.txnType, "商户订单号": "O1", "原商户订单号": "O0", "原交易查询流水号": orig})))[0]
		got := string(e.Kind)
		for _, part := range [][2]string{{"unknown", e.UnknownKind}, {"parent", e.ParentID}, {"alias", strings.Join(e.Aliases, ",")}, {"order", e.OrderID}, {"number", e.RefundOrderID}} {
			if part[1] != "" {
				got += " " + part[0] + "=" + part[1]
			}
		}
		if got != c.want || e.Status != models.StatusSucceeded || e.StatusText != c.code {
			t.Errorf("%s/%s: %s (%s), want %s", c.code, c.txnType, got, e.StatusText, c.want)
		}
	}
}

// A refund without its payment's queryId looks for it by its trace; what makes no sense there is as good as nothing.
func TestRefundByTrace(t *testing.T) {
	p := mustNew(t, nil)
	for name, want := range map[string]string{zmName: "trace:000001:20261128100000", "statement.csv": "trace:000001:20261128100000"} {
		for _, c := range []struct{ number, at, want string }{
			{"000001", "1128100000", want}, {"", "1128100000", ""}, {"000001", "", ""}, {"000000", "0000000000", ""}, {"000001", "1399100000", ""},
		} {
			row := refunded(t, 1, fields{"原交易查询流水号": "", "原始交易的系统跟踪号": c.number, "原始交易日期时间": c.at})
			if got := mustReadFile(t, p, name, file(row))[0]; got.ParentID != c.want || got.Kind != models.Refund {
				t.Errorf("%s, %q at %q: parent %q, want %q", name, c.number, c.at, got.ParentID, c.want)
			}
		}
	}
	if got := mustReadFile(t, p, zmName, file(refunded(t, 1, fields{"原始交易的系统跟踪号": "000009", "原始交易日期时间": "1128100000"})))[0]; got.ParentID != "202611291000000000001" {
		t.Errorf("with both: parent %q, want the queryId", got.ParentID)
	}
}

func TestFees(t *testing.T) {
	p := mustNew(t, nil)
	for cell, want := range map[string]int64{"D000000000053": 53, "C000000000053": -53, "": 0, "C000000000000": 0, "D999999999999": 999999999999} {
		if got := mustReadFile(t, p, zmName, file(paid(t, 1, fields{"商户手续费": cell})))[0].Fee; got != cny(want) {
			t.Errorf("%s: fee %s, want %s", cell, got, cny(want))
		}
	}
}

// A chargeback is known by the trace of the payment it takes back, with the year that only the settlement day can give.
func TestCorrectionsFile(t *testing.T) {
	p := mustNew(t, nil)
	const parent = "trace:000001:20251231100000"
	base := models.Entry{Kind: models.Chargeback, TransactionID: "trace:000777:20261129120000:E31", ParentID: parent, Money: cny(8800), Fee: cny(-53),
		Status: models.StatusSucceeded, StatusText: "E31", OccurredAt: at("2026-11-29 12:00:00"), Line: 1}
	reversal, nothing := base, base
	reversal.Kind, reversal.Line = models.ChargebackReversal, 2
	nothing.Kind, nothing.Line, nothing.ParentID, nothing.Fee = models.EntryAdjustment, 3, "", cny(0)
	text := file(corrected(t, 1, nil), corrected(t, 1, fields{"结算金额": "C000000008747"}),
		corrected(t, 1, fields{"结算金额": "", "商户手续费": "", "原始交易日期时间": "", "原始交易的系统跟踪号": ""}))
	s, got, err := read(p, zmeName, strings.NewReader(text))
	if err != nil || !s.Compared || s.Only != models.Chargeback || !s.Batch || !reflect.DeepEqual(got, []models.Entry{base, reversal, nothing}) {
		t.Errorf("%+v, %v\n got %+v", s, err, got)
	}
	ev := mustTell(t, p, payment(fields{"txnTime": "20251231100000", "traceTime": "1231100000", "settleDate": "1231"}))
	if ev.FoundBy[0] != got[0].ParentID {
		t.Errorf("the payment is found by %q, the correction looks for %s", ev.FoundBy, got[0].ParentID)
	}
	if s, entries, err := read(p, zmeName, strings.NewReader("")); err != nil || !s.Compared || s.Only != models.Chargeback || s.From.IsZero() || len(entries) != 0 {
		t.Errorf("a day without corrections: %+v, %v, %v", s, entries, err)
	}
	if _, _, err := read(p, "corrections.txt", strings.NewReader(file(corrected(t, 1, nil)))); err == nil || !strings.Contains(err.Error(), "nothing tells its year") {
		t.Errorf("without a date in its name: %v", err)
	}
	s, got, err = read(p, "corrections-20261129.txt", strings.NewReader(file(corrected(t, 1, nil))))
	if err != nil || got[0].ParentID != parent || s.Batch {
		t.Errorf("told by its length: %+v, %+v, %v", s, got, err)
	}
}

func TestSummariesAreKnownAndNotRead(t *testing.T) {
	p := mustNew(t, nil)
	for _, name := range []string{"RD2010_777000000000001", "x.zip/RD20102611290000", "RN26112900", "PED_777000000000001_20261129.txt", "ped_1"} {
		s, entries, err := read(p, name, strings.NewReader("anything\x00\xff"))
		if err != nil || s.Compared || s.Title != "summary file" || len(entries) != 0 {
			t.Errorf("%s: %+v, %v, %v", name, s, entries, err)
		}
	}
	for _, name := range []string{"REPORT.txt", "random.csv", "RD.txt", "RD2010/x.txt", "PEDAL.txt"} {
		if s, _, err := read(p, name, strings.NewReader("anything")); err == nil {
			t.Errorf("%s is taken for a %s", name, s.Title)
		}
	}
}

func TestFileThatCannotBeUsed(t *testing.T) {
	p := mustNew(t, nil)
	good, zmeGood := paid(t, 1, nil), corrected(t, 1, nil)
	gbkName := paid(t, 1, fields{"二级商户简称": "\xb2\xe2\xca\xd4\xc3\xc5\xb5\xea"})
	converted := strings.Replace(gbkName, "\xb2\xe2\xca\xd4\xc3\xc5\xb5\xea", "测试门店", 1)
	for _, c := range []struct {
		name, file, text string
		line             int
		column, what     string
	}{
		{"empty", zmName, "", 0, "", "empty"},
		{"blank", zmName, "\r\n\r\n", 0, "", "empty"},
		{"a BOM only", zmName, "\ufeff", 0, "", "empty"},
		{"HTML", zmName, "<html></html>", 0, "", "HTML"},
		{"JSON", zmName, `{"respCode":"98"}`, 0, "", "JSON"},
		{"text", zmName, "Service temporarily unavailable\n", 1, "", "31 bytes, expected 607 in a transaction file (ZM): it is cut, or the file was edited"},
		{"text under no name", "bill.txt", "a,b,c\n", 1, "", "5 bytes, expected 607"},
		{"a cut record", zmName, file(good, good[:300]), 2, "", "300 bytes, expected 607"},
		{"a byte less", zmName, file(good, good[:606]), 2, "", "606 bytes, expected 607"},
		{"a byte more", zmName, file(good, good+" "), 2, "", "608 bytes, expected 607"},
		{"only a cut record", "bill.txt", good[:300], 1, "", "300 bytes"},
		{"cut to the length of one without spaces", zmName, good[:561], 1, "", "561 bytes, expected 607"},
		{"cut to the length of a correction", "bill.txt", good[:339], 1, "", ""},
		{"cut to the length of a correction without spaces", "bill.txt", good[:318], 1, "", "318 bytes, expected 607"},
		{"a correction cut to the length of one without spaces", zmeName, zmeGood[:318], 1, "", "318 bytes, expected 339"},
		{"trailing blanks dropped by an editor", zmName, file(strings.TrimRight(good, " ")), 1, "", "edited"},
		{"without spaces", zmName, file(paid(t, 0, nil)), 1, "", "561 bytes, expected 607"},
		{"without spaces, under no name", "bill-2026-11-29.txt", file(paid(t, 0, nil)), 1, "", "561 bytes, expected 607"},
		{"then without spaces", zmName, file(good, paid(t, 0, nil)), 2, "", "561 bytes, expected 607"},
		{"corrections without spaces", zmeName, file(corrected(t, 0, nil)), 1, "", "318 bytes, expected 339"},
		{"two spaces", zmName, file(paid(t, 2, nil)), 1, "", "653 bytes, expected 607"},
		{"corrections among transactions", zmName, file(good, zmeGood), 2, "", "339 bytes"},
		{"transactions under the name of corrections", zmeName, file(good), 1, "", "607 bytes, expected 339 in a file of corrections (ZME)"},
		{"corrections under the name of transactions", zmName, file(zmeGood), 1, "", "339 bytes, expected 607"},
		{"columns shifted", zmName, file(good[:100] + " " + good[100:606]), 1, "支付方式（旧）", "the columns are shifted"},
		{"characters counted, not bytes", zmName, file(converted), 1, "", "611 bytes, expected 607 in a transaction file (ZM): it is cut, or the file was edited, or converted from GBK to UTF-8"},
		{"no GBK", zmName, file(good, paid(t, 1, fields{"二级商户简称": "\xb2\xe2\xff\xff"})), 2, "二级商户简称", "byte 330 of the record (0xff) is no GBK text"},
		{"half a character at a column's end", zmName, file(paid(t, 1, fields{"商户自定义域": strings.Repeat("a", 31) + "\xb2"})), 1, "商户自定义域", "(0xb2)"},
		{"NUL", zmName, file(paid(t, 1, fields{"商户自定义域": "a\x00b"})), 1, "商户自定义域", "(0x00)"},
		{"an endless line", zmName, file(good) + strings.Repeat("x", 1<<20), 2, "", "longer than 4096 bytes"},
		{"another merchant", zmName, file(good, paid(t, 1, fields{"商户代码": "777000000000002"})), 2, "商户代码", `"777000000000002" is not this account's merchant number 777000000000001`},
		{"no merchant", zmName, file(paid(t, 1, fields{"商户代码": ""})), 1, "商户代码", "not this account's"},
		{"no id", zmName, file(paid(t, 1, fields{"查询流水号": ""})), 1, "查询流水号", "no identity"},
		{"a rounded id", zmName, file(paid(t, 1, fields{"查询流水号": "4.20000E+27"})), 1, "查询流水号", "rounded"},
		{"an id with a gap", zmName, file(paid(t, 1, fields{"查询流水号": "2026 1"})), 1, "查询流水号", "is no id"},
		{"an order that is no id", zmName, file(paid(t, 1, fields{"商户订单号": "\xb2\xe2"})), 1, "商户订单号", `"测" is no id`},
		{"no amount", zmName, file(paid(t, 1, fields{"交易金额": ""})), 1, "交易金额", "digits only"},
		{"an amount with a sign", zmName, file(paid(t, 1, fields{"交易金额": "-00000008800"})), 1, "交易金额", `"-00000008800" is no amount`},
		{"an amount in yuan", zmName, file(paid(t, 1, fields{"交易金额": "88.00"})), 1, "交易金额", "digits only"},
		{"an amount with letters", zmName, file(paid(t, 1, fields{"交易金额": "1e9"})), 1, "交易金额", "digits only"},
		{"a fee without a side", zmName, file(paid(t, 1, fields{"商户手续费": "0000000000053"})), 1, "商户手续费", "neither C nor D"},
		{"a fee in small letters", zmName, file(paid(t, 1, fields{"商户手续费": "d000000000053"})), 1, "商户手续费", "neither C nor D"},
		{"a fee with two signs", zmName, file(paid(t, 1, fields{"商户手续费": "D-00000000053"})), 1, "商户手续费", "digits only"},
		{"a side without a sum", zmName, file(paid(t, 1, fields{"结算金额": "C"})), 1, "结算金额", "digits only"},
		{"a correction without a trace", zmeName, file(corrected(t, 1, fields{"系统跟踪号": ""})), 1, "系统跟踪号", "no identity"},
		{"a correction of what?", zmeName, file(corrected(t, 1, fields{"原始交易的系统跟踪号": ""})), 1, "原始交易的系统跟踪号", "no identity"},
		{"a correction of no time", zmeName, file(corrected(t, 1, fields{"原始交易日期时间": "9999999999"})), 1, "原始交易日期时间", ""},
		{"a correction of another merchant", zmeName, file(corrected(t, 1, fields{"商户代码": "1"})), 1, "商户代码", "not this account's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := read(p, c.file, strings.NewReader(c.text))
			var got *models.FileError
			if !errors.As(err, &got) {
				t.Fatalf("ReadStatement = %v, want a *models.FileError", err)
			}
			column := c.column == got.Column || c.what == ""
			if got.File != c.file || got.Line != c.line || !column || !strings.Contains(got.What, c.what) || len(got.Error()) > 400 {
				t.Errorf("error %q (row %d, column %q), want %q at row %d, column %q", got, got.Line, got.Column, c.what, c.line, c.column)
			}
		})
	}
}

// What a broken connection leaves is no statement, and the caller's own error comes back as it is.
func TestErrorsOfOthers(t *testing.T) {
	p := mustNew(t, nil)
	text := file(paid(t, 1, nil), refunded(t, 1, nil))
	broken := io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, _, err := read(p, zmName, broken); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), zmName+": row 3") {
		t.Errorf("ReadStatement = %v, want the reader's error with the place", err)
	}
	stop := errors.New("stop")
	if _, err := p.ReadStatement(zmName, strings.NewReader(text), beijing, func(models.Entry) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("ReadStatement = %v, want the caller's error", err)
	}
}

// The widths are those of the kit's own list.
func TestWidths(t *testing.T) {
	for l, want := range map[*layout][2]int{zm: {47, 607}, zme: {22, 339}} {
		if got := [2]int{len(l.columns), l.length}; got != want || len(l.places) != len(l.columns) {
			t.Errorf("%s: %v, want columns and length %v", l.title, got, want)
		}
	}
	var widths []string
	for _, c := range zm.columns {
		widths = append(widths, fmt.Sprintf("    %d", c.width))
	}
	if want := strings.Join(widths, ",\n"); !strings.Contains(string(mustRead(t, "statements", "zm_widths.json")), want) {
		t.Errorf("the kit's widths are not\n%s", want)
	}
}

// A million rows are read with the memory of one, and in the zone that is asked for.
func TestManyRows(t *testing.T) {
	p := mustNew(t, nil)
	one := []byte(file(paid(t, 1, nil)))
	const rows = 20_000
	n := 0
	s, err := p.ReadStatement(zmName, bytes.NewReader(bytes.Repeat(one, rows)), time.UTC, func(e models.Entry) error {
		if n++; e.Line != n || !e.OccurredAt.Equal(time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)) {
			return fmt.Errorf("row %d: %+v", n, e)
		}
		return nil
	})
	if err != nil || n != rows || !s.Compared {
		t.Errorf("%d rows, %+v, %v; want %d", n, s, err, rows)
	}
}

func FuzzReadStatement(f *testing.F) {
	p := mustNew(f, nil)
	f.Add(zmName, []byte(file(paid(f, 1, nil), refunded(f, 1, nil))))
	f.Add("bill.txt", []byte(file(paid(f, 0, fields{"二级商户简称": "\xb2\xe2"}))))
	f.Add(zmeName, []byte(file(corrected(f, 1, nil), corrected(f, 1, fields{"结算金额": ""}))))
	f.Add("x.zip/INN99999900ZM_", []byte("\ufeff\r\n"))
	for name, raw := range providertest.Statements(f, kit) {
		f.Add(name, raw)
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		var entries []models.Entry
		var err error
		providertest.Bounded(t, len(name)+len(text), func() { _, entries, err = read(p, name, bytes.NewReader(text)) })
		if fileError := (*models.FileError)(nil); err != nil && !errors.As(err, &fileError) {
			t.Fatalf("error %v, want a *models.FileError", err)
		}
		for _, e := range entries {
			if e.Line < 1 || e.Money.Minor < 0 || e.Kind == "" || e.Kind.Compared() && e.TransactionID == "" || e.OccurredAt.Location() != time.UTC {
				t.Fatalf("entry %+v", e)
			}
		}
	})
}

func BenchmarkReadStatement(b *testing.B) {
	p := mustNew(b, nil)
	text := bytes.Repeat([]byte(file(paid(b, 1, nil))), 1000)
	for b.Loop() {
		if _, _, err := read(p, zmName, bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
