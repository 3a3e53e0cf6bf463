package generic_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"paybook/callback/generic"
	"paybook/models"
)

var shanghai = time.FixedZone("CST", 8*3600)

func readStatement(p *generic.Provider, text string) ([]models.Entry, models.Statement, error) {
	var entries []models.Entry
	statement, err := p.ReadStatement("day.csv", strings.NewReader(text), shanghai, func(e models.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return entries, statement, err
}

// line is an entry as one readable line.
func line(e models.Entry) string {
	return fmt.Sprintf("%d %s %s order=%s parent=%s refund=%s %s fee=%s %s(%s) %s", e.Line, e.Kind, e.TransactionID, e.OrderID, e.ParentID,
		e.RefundOrderID, e.Money, e.Fee.Text(), e.Status, e.StatusText, e.OccurredAt.Format(time.RFC3339))
}

func checkLines(t *testing.T, entries []models.Entry, want ...string) {
	t.Helper()
	var got []string
	for _, e := range entries {
		got = append(got, line(e))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("entries\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkFileError checks that a file is refused for what, at the row.
func checkFileError(t *testing.T, err error, row int, what string) {
	t.Helper()
	var fileError *models.FileError
	if !errors.As(err, &fileError) || fileError.Line != row || !strings.Contains(err.Error(), what) {
		t.Errorf("error = %v, want row %d, %q", err, row, what)
	}
}

func demopayFile(t testing.TB) string {
	raw, err := os.ReadFile(testdata + "/demopay/statements/demopay_settlement_20261127.csv")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestDemopayStatement(t *testing.T) {
	entries, statement, err := readStatement(mustOpen(t, "demopay"), demopayFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if !statement.Compared || !statement.Totals || statement.Batch {
		t.Errorf("statement = %+v, want compared, with totals", statement)
	}
	checkLines(t, entries,
		"3 payment DP20261127005001 order=ORD-2026-5001 parent= refund= 49.99 USD fee=1.50 succeeded() 2026-11-27T08:15:02Z",
		"4 payment DP20261127005011 order=ORD-2026-5011 parent= refund= 9.99 USD fee=0.30 succeeded() 2026-11-27T08:16:00Z",
		"5 payment DP20261127005002 order=ORD-2026-5002 parent= refund= 25.00 EUR fee=0.75 succeeded() 2026-11-27T08:20:00Z",
		"6 payment DP20261127005003 order=ORD-2026-5003 parent= refund= 12800 JPY fee=384 succeeded() 2026-11-27T09:00:00Z",
		"7 payment DP20261127005005 order=ORD-2026-5005 parent= refund= 5.120 KWD fee=0.154 succeeded() 2026-11-27T09:30:00Z",
		"8 payment DP20261127005004 order=ORD-2026-5004 parent= refund= 75.00 USD fee=2.25 succeeded() 2026-11-27T10:40:00Z",
		"9 payment DP20261127005007 order=ORD-2026-5007 parent= refund= 29.00 USD fee=0.87 succeeded() 2026-11-27T10:45:00Z",
		"10 refund DR2026112705201 order=ORD-2026-5001 parent=DP20261127005001 refund= 10.00 USD fee=0.00 succeeded() 2026-11-27T11:00:00Z",
		"11 refund DR2026112705203 order=ORD-2026-5003 parent=DP20261127005003 refund= 12800 JPY fee=0 succeeded() 2026-11-27T12:00:00Z",
		"12 payment DP20261127005099 order=ORD-2026-5099 parent= refund= 18.50 USD fee=0.56 succeeded() 2026-11-27T13:45:12Z",
		"13 chargeback DD2026112705301 order=ORD-2026-5004 parent=DP20261127005004 refund= 75.00 USD fee=15.00 succeeded() 2026-11-27T15:00:00Z",
		"14 fee DF2026112700001 order= parent= refund= 1.20 USD fee=0.00 succeeded() 2026-11-27T15:30:00Z",
		"15 payment DP20261127005010 order=ORD-2026-5010 parent= refund= 20.00 USD fee=0.60 succeeded() 2026-11-27T15:59:58Z",
		"16 payout DO2026112800001 order= parent= refund= 95.20 USD fee=0.00 succeeded() 2026-11-27T18:00:00Z",
	)
}

// F51 and its kin: a file that does not end as its footer says is not believed.
func TestFooter(t *testing.T) {
	p, whole := mustOpen(t, "demopay"), demopayFile(t)
	lines := strings.SplitAfter(whole, "\n")
	head, total := strings.Join(lines[:2], ""), "TOTAL,14,,,,,,,,\n"
	for _, c := range []struct {
		name, text string
		row        int
		what       string
	}{
		{"no footer", strings.Replace(whole, total, "", 1), 0, "footer missing: the file is cut"},
		{"header only", head, 0, "footer missing"},
		{"a row less", strings.Join(append(lines[:2:2], lines[3:]...), ""), 16, "13 rows, footer says 14"},
		{"a row twice", strings.Replace(whole, lines[2], lines[2]+lines[2], 1), 18, "15 rows, footer says 14"},
		{"a row after it", whole + lines[2], 18, "a row follows the footer"},
		{"a note after it", whole + "thank you\n", 18, "a row follows the footer"},
		{"cut within a row", whole[:len(head)+40], 3, "cells, the header has 10"},
		{"cut within the header", head[:len(head)-20], 2, "ends in its header line"},
		{"cut behind the header", head[:len(head)-1], 2, "ends in its header line"},
		{"cut within the footer's word", strings.Replace(whole, total, "TOT", 1), 17, "cells, the header has 10"},
		{"cut behind the footer's word", strings.Replace(whole, total, "TOTAL", 1), 17, "ends within its footer"},
		{"cut before the footer's number", strings.Replace(whole, total, "TOTAL,", 1), 17, "ends within its footer"},
		{"cut within the footer's number", strings.Replace(whole, total, "TOTAL,1", 1), 17, "14 rows, footer says 1"},
		{"title only", lines[0], 0, "no header line"},
		{"nothing", "", 0, "the file is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, statement, err := readStatement(p, c.text)
			checkFileError(t, err, c.row, c.what)
			if statement.Totals {
				t.Error("totals are said to be checked")
			}
		})
	}
	if entries, statement, err := readStatement(p, head+"TOTAL,0\n"); err != nil || len(entries) != 0 || !statement.Totals {
		t.Errorf("a day without payments: %d entries, %+v, %v", len(entries), statement, err)
	}
	if _, statement, err := readStatement(p, strings.Replace(whole, total, "TOTAL\n", 1)); err != nil || statement.Totals {
		t.Errorf("a footer without a count: %+v, %v; want accepted, not counted", statement, err)
	}
}

func TestFooterWithItsOwnCountColumn(t *testing.T) {
	p := mustNew(t, settings(func(s object) {
		s["statement"] = object{"footer": object{"column": "type", "equals": "SUM", "count": "order_id"}}
	}))
	row := "T1,O1,payment,1.00,CNY,paid,2026-11-29 10:00:00\n"
	if _, statement, err := readStatement(p, header+row+",1,SUM,1.00,,,\n"); err != nil || !statement.Totals {
		t.Errorf("%+v, %v", statement, err)
	}
	_, _, err := readStatement(p, header+row+",one,SUM,1.00,,,\n")
	checkFileError(t, err, 3, "the footer's number of rows expected")
}

const header = "transaction_id,order_id,type,amount,currency,status,occurred_at\n"

// F42, F46, F47, F48, F54: the default layout, with all that spreadsheets and editors do to a file and that leaves its meaning.
func TestDefaultLayout(t *testing.T) {
	text := "\ufeffstatus,transaction_id,order_id,type,amount,currency,occurred_at,parent_id,refund_order_id,description\r\n" +
		"succeeded,T1,O1,payment,\"1,234.56\",CNY,2026-11-29T10:00:00+08:00,,,\"a, \"\"b\"\"\nand c\"\n" +
		"\ufeffSUCCESS,R1,O1,Refund,-5.00,cny,2026-11-29 10:00:00,T1,RO1,\r\n" +
		"\r\n" +
		"Paid,R2,O1,refund,19.9,CNY,2026-11-29T02:00:00Z,T1,RO2,\n" +
		"PENDING,T2,O2,payment,19.990,CNY,2026-11-29 10:00,,,\n" +
		"FAILED,T3,O3,payment,500,JPY,2026-11-29T10:00:00,,,\n" +
		"CLOSED,T4,O4,payment,5.120,KWD,2026-11-29 10:00:00,,,\n" +
		"REVOKED,T5,O5,payment,1,CNY,2026-11-29 10:00:00,,,\n" +
		"authorised,T6,O6,payment,1,CNY,2026-11-29 10:00:00,,,\n" +
		"SETTLED,T7,O7,payment,1,CNY,2026-11-29 10:00:00,,,\n" +
		"paid,C1,O1,DISPUTE,2.00,CNY,2026-11-29 10:00:00,T1,,\n" +
		"paid,,,fee,0.30,CNY,2026-11-29 10:00:00,,,\n" +
		"paid,X1,,adjustment,-0.01,CNY,2026-11-29 10:00:00,,,\n" +
		"paid,,O1,refund,3.00,CNY,2026-11-29 10:00:00,T1,RO3,"
	entries, statement, err := readStatement(mustNew(t, settings(nil)), text)
	if err != nil {
		t.Fatal(err)
	}
	if !statement.Compared || statement.Totals {
		t.Errorf("statement = %+v, want compared, without totals", statement)
	}
	const at = "2026-11-29T02:00:00Z"
	checkLines(t, entries,
		"2 payment T1 order=O1 parent= refund= 1234.56 CNY fee=0.00 succeeded(succeeded) "+at,
		"4 refund R1 order=O1 parent=T1 refund=RO1 5.00 CNY fee=0.00 succeeded(SUCCESS) "+at,
		"6 refund R2 order=O1 parent=T1 refund=RO2 19.90 CNY fee=0.00 succeeded(Paid) "+at,
		"7 payment T2 order=O2 parent= refund= 19.99 CNY fee=0.00 pending(PENDING) "+at,
		"8 payment T3 order=O3 parent= refund= 500 JPY fee=0.00 failed(FAILED) "+at,
		"9 payment T4 order=O4 parent= refund= 5.120 KWD fee=0.00 closed(CLOSED) "+at,
		"10 payment T5 order=O5 parent= refund= 1.00 CNY fee=0.00 reversed(REVOKED) "+at,
		"11 payment T6 order=O6 parent= refund= 1.00 CNY fee=0.00 authorised(authorised) "+at,
		"12 payment T7 order=O7 parent= refund= 1.00 CNY fee=0.00 unknown(SETTLED) "+at,
		"13 chargeback C1 order=O1 parent=T1 refund= 2.00 CNY fee=0.00 succeeded(paid) "+at,
		"14 fee  order= parent= refund= 0.30 CNY fee=0.00 succeeded(paid) "+at,
		"15 adjustment X1 order= parent= refund= -0.01 CNY fee=0.00 succeeded(paid) "+at,
		"16 refund  order=O1 parent=T1 refund=RO3 3.00 CNY fee=0.00 succeeded(paid) "+at,
	)
}

// F42, F44, F49, F50 and cells that make no sense: refused with row and column, never guessed.
func TestRowsThatAreRefused(t *testing.T) {
	p := mustNew(t, settings(nil))
	good := []string{"T1", "O1", "payment", "19.99", "CNY", "paid", "2026-11-29 10:00:00"}
	names := strings.Split(strings.TrimSpace(header), ",")
	for _, c := range []struct {
		column      int
		value, what string
	}{
		{0, "4.20000E+27", "looks like a rounded number, the file was edited"}, {1, "2,0261127E+15", "looks like a rounded number"},
		{0, "", "empty: the row of a payment must name it"},
		{3, "(5.00)", `"(5.00)"`}, {3, "\u22125.00", "\u22125.00"}, {3, "-", `"-"`}, {3, "", `""`}, {3, "$19.99", "$19.99"},
		{3, "19,99", `"19,99"`}, {3, "1.234,56", "1.234,56"}, {3, "12,34.56", "12,34.56"}, {3, "1e2", "1e2"}, {3, "19.999", "2 decimals"},
		{3, "-19.99", "a payment cannot be negative"}, {3, strings.Repeat("9", 10_000), "too long"},
		{4, "", "not an ISO 4217 code"}, {4, "RMB", "not an ISO 4217 code"},
		{6, "8/11/26 11:59", "expected YYYY-MM-DD HH:MM:SS"}, {6, "13/11/26 9:05", "expected YYYY-MM-DD HH:MM:SS"},
		{6, "2026-11-29", "expected YYYY-MM-DD HH:MM:SS"}, {6, "", "expected YYYY-MM-DD HH:MM:SS"}, {6, "2026-13-01 10:00:00", "is no time"},
	} {
		row := append([]string{}, good...)
		row[c.column] = `"` + c.value + `"`
		_, _, err := readStatement(p, header+strings.Join(good, ",")+"\n"+strings.Join(row, ",")+"\n")
		checkFileError(t, err, 3, c.what)
		if fe := (*models.FileError)(nil); errors.As(err, &fe) && fe.Column != names[c.column] {
			t.Errorf("%q: column %q, want %q", c.value, fe.Column, names[c.column])
		}
	}
	for _, row := range []string{"T1,O1,payment,1.00,CNY,paid\n", "T1,O1,payment,1.00,CNY,paid,2026-11-29 10:00:00,extra\n"} {
		_, _, err := readStatement(p, header+row)
		checkFileError(t, err, 2, "cells, the header has 7")
	}
	for _, name := range names {
		_, _, err := readStatement(p, strings.Replace(header, name, "x", 1)+strings.Join(good, ",")+"\n")
		checkFileError(t, err, 1, "column "+name+": the header has no such column")
	}
	if entries, _, err := readStatement(p, header); err != nil || len(entries) != 0 {
		t.Errorf("header only: %d entries, %v; want a day without rows", len(entries), err)
	}
}

// F50: a sum behind the sign of its own currency, and an id that only looks like a number.
func TestSpellingsThatAreTaken(t *testing.T) {
	entries, _, err := readStatement(mustNew(t, settings(nil)), header+
		"12345E678,O1,payment,¥19.99,CNY,paid,2026-11-29 10:00:00\n4200000000202610000000000000,O2,payment,19.99,CNY,paid,2026-11-29 10:00:00\n")
	if err != nil || len(entries) != 2 || entries[0].Money.Minor != 1999 || entries[0].TransactionID != "12345E678" ||
		entries[1].TransactionID != "4200000000202610000000000000" {
		t.Errorf("entries = %+v, %v", entries, err)
	}
}

// F56 as far as reading goes: what stands twice is handed over twice, with its lines.
func TestRepeatedRowsAreHandedOver(t *testing.T) {
	row := "T1,O1,payment,1.00,CNY,paid,2026-11-29 10:00:00\n"
	entries, _, err := readStatement(mustNew(t, settings(nil)), header+row+row+strings.Replace(row, "1.00", "2.00", 1))
	if err != nil || len(entries) != 3 || entries[1].Line != 3 || entries[2].Money.Minor != 200 {
		t.Errorf("entries = %+v, %v; want three", entries, err)
	}
}

// F53, F73 as far as reading goes: memory does not grow with the rows.
func TestStatementStreams(t *testing.T) {
	const rows = 200_000
	var sum int64
	count := 0
	_, err := mustNew(t, settings(nil)).ReadStatement("day.csv", manyRows(rows), shanghai, func(e models.Entry) error {
		count++
		sum += e.Money.Minor
		return nil
	})
	if err != nil || count != rows || sum != 10*rows {
		t.Errorf("%d rows, sum %d, %v; want %d rows of 0.10", count, sum, err, rows)
	}
	text, err := io.ReadAll(manyRows(1000))
	if err != nil {
		t.Fatal(err)
	}
	p := mustNew(t, settings(nil))
	allocs := testing.AllocsPerRun(5, func() {
		_, _ = p.ReadStatement("day.csv", bytes.NewReader(text), shanghai, func(models.Entry) error { return nil })
	})
	if allocs > 1500 { // one for the row's text, and some for the file
		t.Errorf("%.0f allocations for 1000 rows", allocs)
	}
}

// manyRows is a statement of n payments of 0.10.
func manyRows(n int) *rowsReader { return &rowsReader{left: n, next: []byte(header)} }

type rowsReader struct {
	left int
	next []byte
}

func (r *rowsReader) Read(p []byte) (int, error) {
	var b bytes.Buffer
	b.Write(r.next)
	for r.left > 0 && b.Len() < len(p) {
		fmt.Fprintf(&b, "42000000002026112900000%07d,ORD%d,payment,0.10,CNY,succeeded,2026-11-29T10:00:00+08:00\n", r.left, r.left)
		r.left--
	}
	if b.Len() == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.Bytes())
	r.next = bytes.Clone(b.Bytes()[n:])
	return n, nil
}
