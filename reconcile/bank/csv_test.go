package bank

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// csvBank is a bank whose CSV has these columns.
func csvBank(l Layout) Bank {
	b := euro()
	b.Format, b.Layout = CSV, l
	return b
}

func TestCSVIsRead(t *testing.T) {
	signed := Layout{Date: "Date", Amount: "Amount", Texts: []string{"Purpose"}, Reference: "Ref"}
	comma := Layout{Delimiter: ';', SkipLines: 1, Dates: []string{"02.01.2006"}, Comma: true, Date: "Buchung", Value: "Valuta", Amount: "Betrag", Texts: []string{"Zweck"}}
	split := Layout{Date: "Date", Debit: "Out", Credit: "In", Texts: []string{"Purpose"}}
	worded := Layout{Date: "Date", Amount: "Amount", Direction: "CD", CreditWords: []string{"CR"}, DebitWords: []string{"DR"}, Texts: []string{"Purpose"}}
	inverted := signed
	inverted.Inverted = true
	for name, c := range map[string]struct {
		layout     Layout
		text, want string
	}{
		"signed":    {signed, "Date,Amount,Purpose,Ref,Other\n2026-11-30,\"1,234.56\",\"a, b\",R1,x\n2026-11-30,-5,c,,\n", "1234.56 -5.00"},
		"plus":      {signed, "Date,Amount,Purpose,Ref\n2026-11-30,+5.10,c,\n", "5.10"},
		"inverted":  {inverted, "Date,Amount,Purpose,Ref\n2026-11-30,5.10,c,\n", "-5.10"},
		"comma":     {comma, "Konto 1\nBuchung;Valuta;Betrag;Zweck\n30.11.2026;01.12.2026;1.234,56;a\n30.11.2026;;-12345,6;b\n", "1234.56 -12345.60"},
		"spaced":    {comma, "Konto 1\nBuchung;Valuta;Betrag;Zweck\n30.11.2026;;1 234,56;a\n30.11.2026;;-12\u00a0345,6;b\n30.11.2026;;1\u202f234\u202f567;c\n", "1234.56 -12345.60 1234567.00"},
		"swiss":     {signed, "Date,Amount,Purpose,Ref\n2026-11-30,1'234.56,a,\n2026-11-30,-1’234’567.80,b,\n", "1234.56 -1234567.80"},
		"two":       {split, "Date,In,Out,Purpose\n2026-11-30,5.00,,a\n2026-11-30,,7.00,b\n2026-11-30,0.00,-7.00,c\n", "5.00 -7.00 -7.00"},
		"direction": {worded, "Date,Amount,CD,Purpose\n2026-11-30,5.00,cr,a\n2026-11-30,7.00,DR,b\n", "5.00 -7.00"},
		"nothing":   {signed, "Date,Amount,Purpose,Ref\n", ""},
	} {
		if got := sums(reads(t, csvBank(c.layout), "2026-11-30", c.text)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Banks list the newest row first or last: the balances must follow from one another either way.
func TestCSVBalances(t *testing.T) {
	b := csvBank(Layout{Date: "Date", Amount: "Amount", Balance: "Balance", Texts: []string{"Purpose"}})
	rows := []string{"2026-11-27,5.00,15.00,a\n", "2026-11-30,7.00,22.00,b\n", "2026-11-30,-2.00,20.00,c\n"}
	const head = "Date,Amount,Balance,Purpose\n"
	for _, text := range []string{head + rows[0] + rows[1] + rows[2], head + rows[2] + rows[1] + rows[0]} {
		in, err := readFile(t, b, "2026-11-30", text)
		if err != nil {
			t.Fatal(err)
		}
		if s := in.statements[0]; s.Opening.Minor != 1000 || s.Closing.Minor != 2000 || sums(s.Lines) != "5.00 7.00 -2.00" {
			t.Errorf("%+v to %+v: %s", s.Opening, s.Closing, sums(s.Lines))
		}
	}
	for _, text := range []string{head + rows[0] + rows[2], head + rows[2] + rows[0], head + strings.Replace(rows[0]+rows[1]+rows[2], "7.00", "7.01", 1)} {
		_, err := readFile(t, b, "2026-11-30", text)
		refused(t, err, "column Balance", "does not follow")
	}
}

// A day is what is written or, of a time with an offset, the day by the bank's clock.
func TestCSVDates(t *testing.T) {
	b := csvBank(Layout{Date: "Date", Amount: "Amount", Texts: []string{"Purpose"},
		Dates: []string{"02.01.2006", "2006-01-02 15:04:05", time.RFC3339, "2006-01-02 15:04 -0700", "02Jan06"}})
	for _, text := range []string{"30.11.2026", "2026-11-30 23:59:59", "2026-11-30 00:00:00", "2026-11-29T23:30:00Z", "2026-11-30T23:30:00+01:00", "2026-12-01 07:30 +0900", "30Nov26"} {
		lines := reads(t, b, "2026-11-30", "Date,Amount,Purpose\n"+text+",1.00,a\n")
		if got := dateText(lines[0].Booked); got != "2026-11-30" {
			t.Errorf("%s is %s", text, got)
		}
	}
	_, err := readFile(t, b, "2026-11-30", "Date,Amount,Purpose\n2026/11/30,1.00,a\n")
	refused(t, err, "row 2", "column Date", "DD.MM.YYYY or YYYY-MM-DD")
}

// What is only announced, or came to nothing, has moved no balance: it is counted, and is no line.
func TestCSVPending(t *testing.T) {
	b := csvBank(Layout{Date: "Date", Amount: "Amount", Balance: "Balance", Texts: []string{"Purpose"}, Status: "State", BookedWords: []string{"COMPLETED"},
		PendingWords: []string{"PENDING", "REVERTED"}})
	const text = "Date,Amount,Balance,State,Purpose\n2026-11-30,5.00,15.00,COMPLETED,a\n,100.00,,PENDING,b\n2026-11-30,7.00,,Reverted,c\n2026-11-30,-2.00,13.00,Completed,d\n"
	in, err := readFile(t, b, "2026-11-30", text)
	if err != nil {
		t.Fatal(err)
	}
	if s := in.statements[0]; sums(s.Lines) != "5.00 -2.00" || s.Pending != 2 || s.Closing.Minor != 1300 {
		t.Errorf("%s, %d pending, closing %+v", sums(s.Lines), s.Pending, s.Closing)
	}
	_, err = readFile(t, b, "2026-11-30", strings.Replace(text, "Reverted", "", 1))
	refused(t, err, "row 4", "column State", "COMPLETED, PENDING, REVERTED", "statuses")
}

func TestCSVInGBK(t *testing.T) {
	b := csvBank(Layout{Date: "交易日期", Debit: "借方", Credit: "贷方", Texts: []string{"摘要", "对方户名"}})
	b.Currency, b.Encoding = "CNY", "gbk"
	text, err := simplifiedchinese.GBK.NewEncoder().String("交易日期,借方,贷方,摘要,对方户名\n2026-11-30,,88.80,结算款 20261128,财付通支付科技有限公司\n")
	if err != nil {
		t.Fatal(err)
	}
	lines := reads(t, b, "2026-11-30", text)
	if sums(lines) != "88.80" || strings.Join(lines[0].Texts, "|") != "结算款 20261128|财付通支付科技有限公司" {
		t.Errorf("%+v", lines)
	}
	b.Encoding = ""
	_, err = readFile(t, b, "2026-11-30", text)
	refused(t, err, "encoding")
}

func TestCSVIsRefused(t *testing.T) {
	l := Layout{Date: "Date", Amount: "Amount", Currency: "Currency", Account: "Account", Texts: []string{"Purpose"}}
	const head = "Date,Amount,Currency,Account,Purpose\n"
	row := func(cells string) string {
		return head + "2026-11-30,1.00,EUR,DE89370400440532013000,a\n" + cells + "\n"
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"column":      {"Date,Sum,Currency,Account,Purpose\n", []string{"column Amount", "no such column"}},
		"date":        {row("30/11/2026,1.00,EUR,DE89370400440532013000,a"), []string{"row 3", "column Date", "YYYY-MM-DD"}},
		"amount":      {row("2026-11-30,\"1,00\",EUR,DE89370400440532013000,a"), []string{"row 3", "column Amount"}},
		"brackets":    {row("2026-11-30,(1.00),EUR,DE89370400440532013000,a"), []string{"row 3", "column Amount"}},
		"minus":       {row("2026-11-30,−1.00,EUR,DE89370400440532013000,a"), []string{"row 3", "column Amount"}},
		"groups":      {row("2026-11-30,1 23.00,EUR,DE89370400440532013000,a"), []string{"row 3", "column Amount"}},
		"comma":       {row("2026-11-30,\"1 234,56\",EUR,DE89370400440532013000,a"), []string{"row 3", "column Amount"}},
		"exponent":    {row("2026-11-30,1e9,EUR,DE89370400440532013000,a"), []string{"row 3", "column Amount"}},
		"currency":    {row("2026-11-30,1.00,USD,DE89370400440532013000,a"), []string{"row 3", "USD", "currency is EUR"}},
		"account":     {row("2026-11-30,1.00,EUR,DE02120300000000202051,a"), []string{"row 3", "DE02…2051", "not ours"}},
		"cut":         {strings.TrimSuffix(row("2026-11-30,1.00,EUR"), "\n"), []string{"row 3", "cut"}},
		"HTML":        {"<html>", []string{"HTML"}},
		"JSON":        {`{"error":"x"}`, []string{"JSON"}},
		"other month": {head + "2026-10-30,1.00,EUR,DE89370400440532013000,a\n", []string{"2026-10-30", "run is for 2026-11-30"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readFile(t, csvBank(l), "2026-11-30", c.text)
			refused(t, err, c.want...)
		})
	}
	worded := csvBank(Layout{Date: "Date", Amount: "Amount", Direction: "CD", CreditWords: []string{"CR"}, DebitWords: []string{"DR"}, Texts: []string{"CD"}})
	_, err := readFile(t, worded, "2026-11-30", "Date,Amount,CD\n2026-11-30,5.00,XX\n")
	refused(t, err, "row 2", "XX", "CR, DR")
	_, err = readFile(t, worded, "2026-11-30", "Date,Amount,CD\n2026-11-30,-5.00,DR\n")
	refused(t, err, "could mean two things")
	split := csvBank(Layout{Date: "Date", Debit: "Out", Credit: "In", Texts: []string{"Date"}})
	for text, want := range map[string]string{"5.00,5.00": "has a sum, too", ",": "both are empty", "-5.00,": "could mean two things"} {
		_, err = readFile(t, split, "2026-11-30", "Date,In,Out\n2026-11-30,"+text+"\n")
		refused(t, err, "row 2", want)
	}
}
