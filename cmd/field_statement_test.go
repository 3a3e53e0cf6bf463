package cmd

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The one payment that the account shop has on the day of these tests.
const (
	onePaid = "payment SUCCESS t1 FCST1 20.00 CNY"
	oneRow  = "t1,FCST1,payment,20.00,CNY,SUCCESS,2026-11-28 12:00:00"
)

// fieldDay is a shop whose one payment was reconciled, with nothing to look at.
func (f *field) fieldDay() {
	f.t.Helper()
	f.order("FCST1", "20.00", "CNY")
	f.ack(f.tell(onePaid))
	f.wantRun(f.statement(oneRow), exitDone, "1 1")
}

// F42, F44, F47 to F54: files that say something else than a day's settled money stop the run, with the place, and change nothing.
func TestFieldStatementsThatStop(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.fieldDay()
		for _, c := range statementsThatStop() {
			t.Run(c.name, func(t *testing.T) {
				in := *f.shell
				in.t = t
				g := &field{shell: &in}
				g.stops(c.words, g.file("statement.csv", c.text))
			})
		}
		f.stops("no such file|none.csv", t.TempDir()+"/none.csv") // F52 (6)
		var gaps []any
		if f.json(&gaps, "gaps", "list"); len(gaps) != 0 {
			t.Errorf("gaps were written: %v", gaps)
		}
		f.wantRun(f.statement(oneRow), exitDone, "1 1") // the run from before is as it was
	})
}

// badStatement is a file and the words, separated by |, that the refusal must hold.
type badStatement struct{ name, text, words string }

func statementsThatStop() []badStatement {
	head, row := statementHead+"\n", oneRow+"\n"
	amount := func(text string) string { return head + strings.Replace(row, "20.00", text, 1) }
	at := func(text string) string { return head + strings.Replace(row, "2026-11-28 12:00:00", text, 1) }
	return []badStatement{
		{"F42 a spreadsheet's date", at("8/11/26 11:59"), "row 2|occurred_at|YYYY-MM-DD HH:MM:SS|8/11/26 11:59"},
		{"F42 a later row", head + row + "t2,FCST2,payment,20.00,CNY,SUCCESS,13/11/26 9:05\n", "row 3|occurred_at|YYYY-MM-DD HH:MM:SS"},
		{"F42 day first", at("28-11-2026 12:00:00"), "row 2|occurred_at"},
		{"F42 a serial number", at("46354.5"), "row 2|occurred_at"},
		{"F42 no such day", at("2026-02-30 12:00:00"), "row 2|occurred_at"},
		{"F42 nothing", at(""), "row 2|occurred_at"},
		{"F44 no id column", strings.Replace(head, "transaction_id,", "", 1) + strings.Replace(row, "t1,", "", 1), "transaction_id"},
		{"F44 id column renamed", strings.Replace(head, "transaction_id", "txn", 1) + row, "transaction_id"},
		{"F44 a column twice", strings.Replace(head, "order_id", "amount", 1) + row, "amount"},
		{"F44 a cell too few", head + "t1,FCST1,payment,20.00,CNY,SUCCESS\n", "row 2"},
		{"F44 a cell too many", head + row + strings.Replace(row, "\n", ",more\n", 1), "row 3"},
		{"F44 another file's columns", "Date,Payee,Sum\n2026-11-28,x,20.00\n", "row 1"},
		{"F48 an open quote", head + `"t1,FCST1,payment,20.00,CNY,SUCCESS,2026-11-28 12:00:00` + "\n", "row 2"},
		{"F49 an id as a float", head + strings.Replace(row, "t1", "4.20000E+27", 1), "row 2|transaction_id|rounded"},
		{"F49 small e", head + row + strings.Replace(row, "t1", "4.2e+27", 1), "row 3|transaction_id|rounded"},
		{"F50 euro separators", amount(`"1.234,56"`), "row 2|amount|1.234,56"},
		{"F50 brackets", amount("(5.00)"), "row 2|amount|(5.00)"},
		{"F50 U+2212", amount("\u22125.00"), "row 2|amount"},
		{"F50 a dash", amount("-"), "row 2|amount"},
		{"F50 another sign", amount("$20.00"), "row 2|amount"},
		{"F50 commas anywhere", amount(`"12,34.56"`), "row 2|amount"},
		{"F50 a minus at the end", amount("20.00-"), "row 2|amount"},
		{"F50 a blank inside", amount("1 234.56"), "row 2|amount"},
		{"F50 more decimals than there are", amount("19.999"), "row 2|amount"},
		{"F50 exponent", amount("2e1"), "row 2|amount"},
		{"F50 a comma and no dot", amount(`"1,234"`), "row 2|amount"},
		{"F50 a decimal comma", amount(`"20,00"`), "row 2|amount"},
		{"F50 four after the comma", amount(`"1,2345.00"`), "row 2|amount"},
		{"F50 wide digits", amount("２０.００"), "row 2|amount"},
		{"F50 a plus", amount("+20.00"), "row 2|amount"},
		{"F50 no digits after the dot", amount("20."), "row 2|amount"},
		{"F50 no digits before the dot", amount(".50"), "row 2|amount"},
		{"F50 two minuses", amount("--20.00"), "row 2|amount"},
		{"F50 apostrophes", amount("1'234.56"), "row 2|amount"},
		{"F50 currency behind", amount("20.00 CNY"), "row 2|amount"},
		{"F50 hexadecimal", amount("0x14"), "row 2|amount"},
		{"F50 not a number", amount("NaN"), "row 2|amount"},
		{"F50 an error of the spreadsheet's", amount("#VALUE!"), "row 2|amount"},
		{"F50 as wide as its column", amount("########"), "row 2|amount"},
		{"F50 a negative payment", amount("-20.00"), "row 2|amount"},
		{"F47 carriage returns only", strings.ReplaceAll(head+row, "\n", "\r"), "statement.csv"},
		{"F44 semicolons", strings.ReplaceAll(head+row, ",", ";"), "row 1"},
		{"F44 tabs", strings.ReplaceAll(head+row, ",", "\t"), "row 1"},
		{"F44 no header", row + row, "row 1"},
		{"F50 empty", amount(""), "row 2|amount"},
		{"F50 letters", amount("CNY 20.00"), "row 2|amount"},
		{"F52 no bytes", "", "empty"},
		{"F52 only blank lines", "\r\n\n\n", "statement.csv"},
		{"F52 an error as JSON", `{"code":"NO_STATEMENT_EXIST","message":"none"}`, "JSON"},
		{"F52 an error as XML", "<xml><return_code>FAIL</return_code><return_msg>No Bill Exist</return_msg></xml>", "XML"},
		{"F52 a login page", "<!DOCTYPE html>\n<html><body>Log in</body></html>", "HTML"},
		{"F52 a spreadsheet", "PK\x03\x04\x14\x00\x06\x00", "statement.csv"},
		{"F52 UTF-16", "\xff\xfet\x00r\x00a\x00", "statement.csv"},
		{"F53 another day", at("2026-11-27 12:00:00"), "rows are from 2026-11-27|2026-11-28"},
		{"F53 tomorrow", at("2026-11-29 12:00:00"), "rows are from 2026-11-29"},
		{"no currency", head + strings.Replace(row, "CNY", "XQQ", 1), "row 2|currency"},
		{"not UTF-8", head + strings.Replace(row, "FCST1", "\xb2\xe2\xca\xd4", 1), "row 2"},
	}
}

// F42 to F50: spellings that mean one thing only are taken.
func TestFieldStatementsThatAreTaken(t *testing.T) {
	bom := "\ufeff"
	eachField(t, func(t *testing.T, f *field) {
		f.fieldDay()
		f.order("FCST2", "1234.56", "CNY")
		f.ack(f.tell("payment SUCCESS t2 FCST2 1234.56 CNY"))
		f.order("FCST3", "19.90", "CNY")
		f.ack(f.tell("payment SUCCESS t3 FCST3 19.90 CNY"))
		two := "t2,FCST2,payment,1234.56,CNY,SUCCESS,2026-11-28 12:00:00"
		three := "t3,FCST3,payment,19.9,CNY,SUCCESS,2026-11-28 12:00:00"
		for name, text := range map[string]string{
			"F42 no seconds":         strings.ReplaceAll(statementHead+"\n"+oneRow+"\n"+two+"\n"+three+"\n", ":00:00", ":00"),
			"F46 marks":              bom + statementHead + "\n" + bom + oneRow + "\n" + two + "\n" + bom + three + "\n",
			"F46 marks and quotes":   bom + `"transaction_id","order_id","type","amount","currency","status","occurred_at"` + "\n" + oneRow + "\n" + two + "\n" + three + "\n",
			"F47 mixed line ends":    statementHead + "\r\n" + oneRow + "\n" + two + "\r\n\r\n\n" + three,
			"F48 quoted cells":       statementHead + ",description\n" + oneRow + ",\"a, \"\"b\"\"\nc\"\n" + two + ",\"\"\n" + three + ",\"\r\n\r\n\"\n",
			"F44 columns moved":      "amount,description,status,occurred_at,transaction_id,currency,type,order_id,next\n20.00,x,SUCCESS,2026-11-28 12:00:00,t1,CNY,payment,FCST1,y\n1234.56,x,SUCCESS,2026-11-28 12:00:00,t2,CNY,payment,FCST2,y\n19.90,x,SUCCESS,2026-11-28 12:00:00,t3,CNY,payment,FCST3,y\n",
			"F50 separators, zeros":  statementHead + "\n" + strings.Replace(oneRow, "20.00", "20.000", 1) + "\n" + strings.Replace(two, "1234.56", `"1,234.56"`, 1) + "\n" + strings.Replace(three, "19.9", "19.90", 1) + "\n",
			"F50 the currency's own": statementHead + "\n" + strings.Replace(oneRow, "20.00", "¥20.00", 1) + "\n" + two + "\n" + three + "\n",
		} {
			t.Log(name)
			f.wantRun(f.file("statement.csv", text), exitDone, "3 3")
		}
	})
}

// F43, F44, F51: the trade bill with its ticks, its mark and its summary; the columns of older merchants; and cut anywhere.
func TestFieldWeChatBills(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		rows := []wechatRow{
			{id: "4200000000000000000000000001", order: "FCB1", at: "2026-11-28 12:00:00", amount: "20.00"},
			{id: "4200000000000000000000000002", order: "FCB2", at: "2026-11-28 12:00:01", amount: "30.00"},
			{id: "4200000000000000000000000003", order: "FCB3", at: "2026-11-28 12:00:02", amount: "40.00"},
		}
		for i, r := range rows {
			f.order(r.order, r.amount, "CNY")
			f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid(r.id, r.order, int64(2000+1000*i), nil)))
		}
		whole := billText(t, rows...)
		lines := strings.SplitAfter(whole, "\r\n")
		sums := lines[len(lines)-2]
		digest := func(of string) string {
			return f.file("answer.json", fmt.Sprintf(`{"hash_type":"SHA1","hash_value":"%x","download_url":"https://api.mch.weixin.qq.com/v3/billdownload/file?token=x"}`, sha1.Sum([]byte(of))))
		}
		file := func(text string) string { return f.file("bill.csv", text) }
		f.wantRunOf("wechatpay", "2026-11-28", file(whole), exitDone, "3 3")
		for _, c := range []struct {
			name  string
			files []string
			words string
		}{
			{"F51 in the middle of row 3", []string{file(whole[:strings.Index(whole, "FCB3")+2])}, "bill.csv|row 4"},
			{"F51 after row 2", []string{file(strings.Join(lines[:3], ""))}, "summary"},
			{"F51 after the summary's head", []string{file(strings.Join(lines[:5], ""))}, "summary"},
			{"F51 a row left out", []string{file(strings.Join(lines[:3], "") + strings.Join(lines[4:], ""))}, "2|3"},
			{"F51 the footer says 4", []string{file(strings.Replace(whole, sums, strings.Replace(sums, "`3", "`4", 1), 1))}, "3|4"},
			{"F51 a sum that is not the rows'", []string{file(strings.Replace(whole, sums, strings.Replace(sums, "`90.00", "`90.01", 1), 1))}, "90.0"},
			{"F51 the digest of another file", []string{digest(whole + "x"), file(whole)}, "digest differs"},
			{"F51 cut, and the digest known", []string{digest(whole), file(strings.Join(lines[:3], ""))}, "bill.csv"},
			{"F44 no id column", []string{file(strings.Replace(whole, "微信订单号", "订单", 1))}, "微信订单号"},
			{"F52 an error as the file", []string{file(`{"code":"NO_STATEMENT_EXIST","message":"账单文件不存在"}`)}, "NO_STATEMENT_EXIST"},
			{"F52 the old interface's error", []string{file("<xml><return_msg><![CDATA[No Bill Exist]]></return_msg></xml>")}, "XML"},
			{"F53 another day's", []string{file(strings.ReplaceAll(whole, "2026-11-28", "2026-11-27"))}, "rows are from 2026-11-27"},
			{"another merchant's", []string{file(strings.ReplaceAll(whole, "1999999901", "1999999902"))}, "1999999902"},
		} {
			t.Log(c.name)
			args := []string{"reconcile", "--account", "wechatpay", "--date", "2026-11-28"}
			for _, path := range c.files {
				args = append(args, "--statement", path)
			}
			code, _, talk := f.run(args...)
			if code != exitFailed || strings.Count(talk, "\n") != 1 {
				t.Errorf("exit %d, %q; want 2 and one line", code, talk)
			}
			for _, w := range strings.Split(c.words, "|") {
				if !strings.Contains(talk, w) {
					t.Errorf("%q does not say %q", talk, w)
				}
			}
		}
		var gaps []any
		if f.json(&gaps, "gaps", "list"); len(gaps) != 0 {
			t.Errorf("gaps were written: %v", gaps)
		}
		f.wantRunOf("wechatpay", "2026-11-28", file(olderBill(rows)), exitDone, "3 3")
		f.wantRunOf("wechatpay", "2026-11-28", packedFile(t, whole), exitDone, "3 3")
		run := f.runJSON(exitDone, "--account", "wechatpay", "--date", "2026-11-28", "--statement", digest(whole), "--statement", file(whole))[0]
		if s, _ := run["statement"].(map[string]any); run["result"] != "balanced" || s["control_totals"] != "agree" {
			t.Errorf("with the right digest: %v", run)
		}
	})
}

// olderBill is the bill of 24 columns that merchants from before still get.
func olderBill(rows []wechatRow) string {
	head := strings.NewReplacer("特约商户号", "子商户号", "应结订单金额", "总金额", "代金券金额", "企业红包金额", "充值券退款金额", "企业红包退款金额").Replace(billHead)
	text := strings.TrimSuffix(head, ",订单金额,申请退款金额,费率备注") + "\n"
	for _, r := range rows {
		cells := strings.Split(strings.NewReplacer("红茶,绿茶", "红茶", `{"a":1,"b":"2,3"}`, "x").Replace(r.line()), ",")
		text += strings.Join(cells[:24], ",") + "\n"
	}
	return text + "总交易单数,总交易额,总退款金额,总企业红包退款金额,手续费总金额\n`3,`90.00,`0.00,`0.00,`0.00000\n"
}

func packedFile(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/bill.csv.gz"
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// F52: a day without payments is a day like any other; a day without a statement must be declared.
func TestFieldEmptyDay(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.wantRunOf("wechatpay", "2026-11-28", f.wechatBill(), exitDone, "0 0")
		f.wantRun(f.statement(), exitDone, "0 0")
		f.order("FCNO", "20.00", "CNY")
		f.ack(f.wechat("TRANSACTION.SUCCESS", wechatPaid("4200000000000000000000000001", "FCNO", 2000, nil)))
		f.wantRunOf("wechatpay", "2026-11-28", f.wechatBill(), exitLook, "0 0", "missing_provider payment 4200000000000000000000000001")
		run := f.runJSON(exitLook, "--account", "wechatpay", "--date", "2026-11-28", "--no-statement")[0]
		if summary, _ := run["summary"].(map[string]any); summary["missing_provider"] != 1.0 {
			t.Errorf("--no-statement: %v", run)
		}
		run = f.runJSON(exitDone, "--account", "wechatpay", "--date", "2026-11-27", "--no-statement")[0]
		if run["result"] != "balanced" {
			t.Errorf("an empty day, declared: %v", run)
		}
	})
}

// F53, F54: a stray row is told, not dropped; only settled rows are money.
func TestFieldRowsThatAreNotSettled(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.fieldDay()
		f.order("FCST2", "20.00", "CNY")
		f.ack(f.tell("payment PENDING t2 FCST2 20.00 CNY"))
		row := func(id, status string) string {
			return id + ",X-" + id + ",payment,20.00,CNY," + status + ",2026-11-28 12:00:00"
		}
		pending := strings.Replace(row("t2", "PENDING"), "X-t2", "FCST2", 1)
		f.wantRun(f.statement(oneRow, pending, row("t3", "PENDING"), row("t4", "FAILED"), row("t5", "CLOSED"), row("t6", "REVOKED")), exitDone, "6 2")
		for _, status := range []string{"FAILED", "REVOKED", "CLOSED"} {
			f.wantRun(f.statement(strings.Replace(oneRow, "SUCCESS", status, 1)), exitLook, "1 0", "status_mismatch payment t1")
		}
		f.wantRun(f.statement(oneRow, row("t7", "SETTLED_SOMEHOW")), exitLook, "2 1", "unknown_status payment t7")
		f.wantRun(f.statement(strings.Replace(oneRow, "SUCCESS", "SETTLED_SOMEHOW", 1)), exitLook, "1 0", "unknown_status payment t1")
		f.wantRun(f.statement(oneRow, strings.Replace(row("t8", "SUCCESS"), "2026-11-28 12:00:00", "2026-11-27 23:59:59", 1)), exitLook, "2 1", "wrong_day payment t8")
		f.wantRun(f.statement(oneRow), exitDone, "1 1")
	})
}
