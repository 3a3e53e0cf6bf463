package cmd

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// recorded is a provider's own recorded statement, with what can be found in its second line of data.
type recorded struct {
	account, date, file string
	id, idColumn        string
	at                  string // a time as it stands there
	amount              string
	footer              bool // the file says itself when it is whole
}

var recordedFiles = []recorded{
	{account: "wechatpay", date: "2026-11-29", file: "tradebill_ALL_2026-11-29.csv", id: "4200002999202611290000000001", idColumn: "微信订单号", at: "2026-11-29 10:00:00", amount: "`88.00", footer: true},
	{account: "stripe", date: "2026-11-27", file: "balance_change_from_activity_itemized_2026-11-27.csv", id: "ch_TEST1001", idColumn: "source_id", at: "2026-11-27 08:15:01", amount: "49.99"},
	{account: "demopay", date: "2026-11-27", file: "demopay_settlement_20261127.csv", id: "DP20261127005001", idColumn: "Trade No", at: "2026-11-27 16:15:02", amount: "49.99", footer: true},
}

// F42, F44, F46, F47, F49 to F53, by each provider's own reader: a statement that somebody opened, cut, or took for another.
func TestFieldEveryReader(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		for _, r := range recordedFiles {
			whole := mustRead(t, filepath.Join(kit, r.account, "statements", r.file))
			good := func(name, text string) {
				t.Helper()
				code, out, talk := f.run("reconcile", "--account", r.account, "--date", r.date, "--dry-run", "--statement", f.file("statement.csv", text))
				if code != exitLook {
					t.Errorf("%s, %s: exit %d\n%s%s", r.account, name, code, out, talk)
				}
			}
			good("as it is", whole)
			good("lines end otherwise", strings.ReplaceAll(strings.ReplaceAll(whole, "\r\n", "\n"), "\n", "\r\n"))
			good("lines end otherwise", strings.ReplaceAll(whole, "\r\n", "\n"))
			good("no end of the last line", strings.TrimRight(whole, "\r\n"))
			good("a mark in front", "\ufeff"+strings.TrimPrefix(whole, "\ufeff"))
			good("blank lines at the end", whole+"\r\n\r\n")
			bad := broken(t, r, whole)
			for name, text := range bad {
				code, _, talk := f.run("reconcile", "--account", r.account, "--date", r.date, "--statement", f.file("statement.csv", text))
				if code != exitFailed || strings.Count(talk, "\n") != 1 || !strings.Contains(talk, "statement.csv") {
					t.Errorf("%s, %s: exit %d, %.300q; want 2 and one line with the file", r.account, name, code, talk)
				}
			}
		}
		if got := f.ok("gaps", "list", "--format", "json"); got != "[]\n" {
			t.Errorf("gaps were written: %s", got)
		}
	})
}

// broken are the ways a statement must not come.
func broken(t *testing.T, r recorded, whole string) map[string]string {
	t.Helper()
	change := func(from, to string) string {
		t.Helper()
		if !strings.Contains(whole, from) {
			t.Fatalf("%s: no %q", r.file, from)
		}
		return strings.Replace(whole, from, to, 1)
	}
	tick := strings.TrimSuffix(r.amount, strings.TrimLeft(r.amount, "`"))
	sum := strings.TrimLeft(r.amount, "`")
	files := map[string]string{
		"F11 a huge exponent": change(r.amount, tick+"1e1000000000"), "F11 ten thousand digits": change(r.amount, tick+strings.Repeat("9", 10_000)),
		"F42 a spreadsheet's date": strings.ReplaceAll(whole, r.at, "27/11/26 8:15"), "F42 a month's name": strings.ReplaceAll(whole, r.at, "27-Nov-26"),
		"F44 no id column": change(r.idColumn, "whatever"), "F44 a column twice": change(r.idColumn, r.idColumn+","+r.idColumn),
		"F49 a rounded id": strings.ReplaceAll(whole, r.id, "4.20000E+27"),
		"F50 brackets":     change(r.amount, tick+"("+sum+")"), "F50 U+2212": change(r.amount, tick+"\u2212"+sum), "F50 a dash": change(r.amount, tick+"-"),
		"F50 other separators": change(r.amount, tick+`1.234,56`), "F50 letters": change(r.amount, tick+"CNY "+sum),
		"F51 cut in a row": whole[:strings.Index(whole, r.id)+4],
		"F52 empty":        "", "F52 JSON": `{"code":"NO_STATEMENT_EXIST","message":"x"}`, "F52 XML": "<xml>No Bill Exist</xml>", "F52 HTML": "<!DOCTYPE html><html></html>",
		"F52 HTML, later": "\r\n <html><head></head></html>", "F52 text": "Service temporarily unavailable\n", "F52 NULs": strings.Repeat("\x00", 4096),
		"F53 another day's": strings.ReplaceAll(whole, r.date, "2026-10-10"),
	}
	if r.footer {
		lines := strings.SplitAfter(whole, "\n")
		files["F51 cut after a row"] = strings.Join(lines[:4], "")
		files["F51 a row left out"] = strings.Join(slices.Delete(slices.Clone(lines), 3, 4), "")
		files["F51 two files in one"] = whole + whole
	}
	return files
}
