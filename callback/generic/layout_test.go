package generic_test

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"paybook/callback/generic"
)

// otherLayout is a layout that shares nothing with the default one.
func otherLayout(s object) {
	s["statement"] = object{
		"format": "csv", "delimiter": ";", "skip_lines": 2, "time_layout": "02.01.2006 15:04",
		"columns": object{
			"transaction_id": "Vorgang", "kind": "Art", "amount": "Betrag  in Cent", "currency": "Währung", "occurred_at": "Zeit", "status": "Stand",
		},
		"kinds":    object{"ZAHLUNG": "payment", "GUTSCHRIFT": "refund"},
		"statuses": object{"ok": "succeeded", "offen": "pending"}, "amount_unit": "minor", "sign": "signed",
	}
}

const otherFile = "Bank\n\nVorgang;Art;Betrag in Cent;Währung;Zeit;Stand\n" +
	"A;Zahlung;1999;EUR;29.11.2026 10:00;OK\nB;GUTSCHRIFT;-500;EUR;29.11.2026 10:00;offen\n"

func TestOtherLayout(t *testing.T) {
	p := mustNew(t, settings(otherLayout))
	entries, _, err := readStatement(p, otherFile)
	if err != nil {
		t.Fatal(err)
	}
	checkLines(t, entries,
		"4 payment A order= parent= refund= 19.99 EUR fee=0.00 succeeded(OK) 2026-11-29T02:00:00Z",
		"5 refund B order= parent= refund= 5.00 EUR fee=0.00 pending(offen) 2026-11-29T02:00:00Z")
	_, _, err = readStatement(p, strings.Replace(otherFile, "-500", "500", 1))
	checkFileError(t, err, 5, "a refund is negative in this layout")
	_, _, err = readStatement(p, strings.Replace(otherFile, "1999", "19.99", 1))
	checkFileError(t, err, 4, "whole minor units expected")
	_, _, err = readStatement(p, strings.Replace(otherFile, "29.11.2026 10:00", "11/29/2026 10:00", 1))
	checkFileError(t, err, 4, "expected DD.MM.YYYY HH:MM")
}

func TestEncodings(t *testing.T) {
	const text = "订单,类型,金额,币种,时间\nT-测试,支付,19.99,CNY,2026-11-29 10:00:00\n"
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	layout := func(encoding string) *generic.Provider {
		return mustNew(t, settings(func(s object) {
			s["statement"] = object{
				"encoding": encoding, "kinds": object{"支付": "payment"},
				"columns": object{"transaction_id": "订单", "kind": "类型", "amount": "金额", "currency": "币种", "occurred_at": "时间"},
			}
		}))
	}
	for encoding, file := range map[string]string{"utf-8": text, "gbk": gbk, "gb18030": gbk, "utf-16": wide} {
		entries, _, err := readStatement(layout(encoding), file)
		if err != nil || len(entries) != 1 || entries[0].TransactionID != "T-测试" {
			t.Errorf("%s: %+v, %v", encoding, entries, err)
		}
	}
	_, _, err = readStatement(layout("utf-8"), gbk)
	checkFileError(t, err, 1, "byte 0 of the file (0xb6) is not UTF-8 text; is it in another encoding than configured?")
	_, _, err = readStatement(layout("utf-8"), wide)
	checkFileError(t, err, 1, "is not UTF-8 text")
	_, _, err = readStatement(layout("gbk"), strings.Replace(gbk, "T-", "T\xff-", 1))
	checkFileError(t, err, 2, "bytes that are no character of the configured encoding")
}

func TestFileWithoutHeader(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["statement"] = object{
			"header": false, "delimiter": "tab",
			"columns": object{"transaction_id": "1", "kind": "2", "gross": "3", "currency": "4", "occurred_at": "5"},
		}
	}))
	entries, _, err := readStatement(p, "A\tpayment\t1.00\tCNY\t2026-11-29 10:00:00\nB\tpayment\t2.00\tCNY\t2026-11-29 10:00:00\n")
	if err != nil || len(entries) != 2 || entries[0].TransactionID != "A" || entries[0].Line != 1 || entries[1].Money.Minor != 200 {
		t.Errorf("entries = %+v, %v", entries, err)
	}
}

func TestStatementSettingsAreRefused(t *testing.T) {
	columns := object{"transaction_id": "a", "kind": "b", "gross": "c", "currency": "d", "occurred_at": "e"}
	for _, c := range []struct {
		statement object
		want      string
	}{
		{object{"formt": "csv"}, "settings.statement.formt: unknown key"},
		{object{"format": "xlsx"}, "settings.statement.format:"},
		{object{"delimiter": ""}, "settings.statement.delimiter:"},
		{object{"delimiter": "||"}, "settings.statement.delimiter:"},
		{object{"encoding": "latin-1"}, "settings.statement.encoding:"},
		{object{"skip_lines": -1}, "settings.statement.skip_lines:"},
		{object{"timezone": "CST8"}, "settings.statement.timezone:"},
		{object{"kinds": object{"A": "paymnt"}}, `settings.statement.kinds."A": "paymnt" is no word`},
		{object{"statuses": object{"A": "done"}}, `settings.statement.statuses."A":`},
		{object{"footer": object{"column": "a"}}, "settings.statement.footer.equals: missing"},
		{object{"footer": object{"equals": "a"}}, "settings.statement.footer.column: missing"},
		{object{"columns": object{"kind": "b"}}, "settings.statement.columns.transaction_id: missing"},
		{object{"columns": merge(columns, object{"txn": "x"})}, "settings.statement.columns.txn: unknown key"},
		{object{"columns": merge(columns, object{"amount": "x"})}, "settings.statement.columns.gross: give either"},
		{object{"sign": "both"}, "settings.statement.sign:"},
	} {
		_, err := generic.New(settings(func(s object) { s["statement"] = c.statement }), "")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("New = %v, want %s…", err, c.want)
		}
	}
}

func merge(a, b object) object {
	out := object{}
	for _, m := range []object{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}
