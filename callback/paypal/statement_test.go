package paypal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"paybook/models"
)

const columns = `"CH","Transaction ID","Invoice ID","PayPal Reference ID","PayPal Reference ID Type","Transaction Event Code","Transaction Initiation Date",` +
	`"Transaction Completion Date","Transaction Debit or Credit","Gross Transaction Amount","Gross Transaction Currency","Fee Debit or Credit","Fee Amount","Fee Currency","Custom Field"`

const moved = "2026/11/27 10:15:00 -0800"

// sb is a movement: id, order, reference, its type, code, direction, amount, currency; then, if there is one, fee direction, fee
// and its currency.
func sb(id, order, ref, refType, code, side, amount, currency string, fee ...string) string {
	fee = append(fee, "", "", "")[:3]
	return `"` + strings.Join(append([]string{"SB", id, order, ref, refType, code, moved, moved, side, amount, currency}, append(fee, "cart 1")...), `","`) + `"`
}

// report is a settlement report of one section.
func report(body ...string) string {
	return strings.Join(append([]string{`"RH","2026/11/28 05:10:11 -0800","A","M1","009"`, `"FH","01"`, `"SH","2026/11/27 00:00:00 -0800","2026/11/27 23:59:59 -0800","M1",""`}, body...), "\r\n") + "\r\n"
}

// payments is a whole report with one payment of 49.99 USD.
func payments(changes ...string) string {
	return strings.NewReplacer(changes...).Replace(report(columns, sb("CAP1", "ORD-1", "O1", "ODR", "T0006", "CR", "4999", "USD", "DR", "224", "USD"),
		`"SF","USD","4999","0","0","224","CR","0"`, `"SC","1"`, `"RF","USD","4999","0","0","224","CR","0"`, `"RC","1"`, `"FF","1"`))
}

func plain(tb testing.TB) *Provider {
	tb.Helper()
	p, err := New([]byte(`{"webhook_ids":["W1"],"merchant_ids":["M1","M2"]}`), "")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func read(p *Provider, text string) (models.Statement, []models.Entry, error) {
	var entries []models.Entry
	st, err := p.ReadStatement("STL-20261127.01.009.CSV", strings.NewReader(text), time.UTC, func(e models.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return st, entries, err
}

// mustRead reads a report of these movements, whose counts and sums are made to fit.
func mustRead(tb testing.TB, p *Provider, rows ...string) []models.Entry {
	tb.Helper()
	// Sums are not what is asked here: a second file's first section is not held against them.
	text := strings.Replace(report(append(append([]string{columns}, rows...), fmt.Sprintf(`"FF","%d"`, len(rows)))...), `"FH","01"`, `"FH","02"`, 1)
	_, entries, err := read(p, text)
	if err != nil || len(entries) != len(rows) {
		tb.Fatalf("%d entries, %v", len(entries), err)
	}
	return entries
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		code, side string
		kind       models.TransactionKind
		amount     string
		status     models.TransactionStatus
	}{
		{"T0006", "CR", models.Payment, "10.00", models.StatusSucceeded}, {"T0000", "CR", models.Payment, "10.00", models.StatusSucceeded},
		{"T0003", "CR", models.Payment, "10.00", models.StatusSucceeded}, {"T0099", "CR", models.Payment, "10.00", models.StatusSucceeded},
		{"T0006", "DR", models.EntryAdjustment, "-10.00", models.StatusSucceeded}, {"T0000", "DR", models.EntryAdjustment, "-10.00", models.StatusSucceeded},
		{"T0001", "DR", models.EntryAdjustment, "-10.00", models.StatusSucceeded},
		{"T0106", "DR", models.EntryFee, "10.00", models.StatusSucceeded}, {"T0106", "CR", models.EntryFee, "-10.00", models.StatusSucceeded},
		{"T0200", "DR", models.EntryConversion, "-10.00", models.StatusSucceeded}, {"T0201", "CR", models.EntryConversion, "10.00", models.StatusSucceeded},
		{"T0300", "CR", models.EntryAdjustment, "10.00", models.StatusSucceeded},
		{"T0400", "DR", models.Payout, "10.00", models.StatusSucceeded}, {"T0400", "CR", models.Payout, "10.00", models.StatusReversed},
		{"T1107", "DR", models.Refund, "10.00", models.StatusSucceeded}, {"T1107", "CR", models.EntryAdjustment, "10.00", models.StatusSucceeded},
		{"T1106", "DR", models.Chargeback, "10.00", models.StatusSucceeded}, {"T1108", "CR", models.EntryFee, "-10.00", models.StatusSucceeded},
		{"T1110", "DR", models.EntryReserve, "-10.00", models.StatusSucceeded}, {"T1111", "CR", models.EntryReserve, "10.00", models.StatusSucceeded},
		{"T1105", "CR", models.EntryReserve, "10.00", models.StatusSucceeded}, {"T1503", "DR", models.EntryReserve, "-10.00", models.StatusSucceeded},
		{"T1201", "DR", models.Chargeback, "10.00", models.StatusSucceeded}, {"T1202", "CR", models.ChargebackReversal, "10.00", models.StatusSucceeded},
		{"T1200", "DR", models.EntryAdjustment, "-10.00", models.StatusSucceeded}, {"T2101", "DR", models.EntryReserve, "-10.00", models.StatusSucceeded},
		{"T9900", "CR", models.EntryAdjustment, "10.00", models.StatusSucceeded},
	} {
		e := mustRead(t, plain(t), sb("ID1", "ORD-1", "CAP1", "TXN", c.code, c.side, "1000", "USD"))[0]
		if e.Kind != c.kind || e.Money.Text() != c.amount || e.Status != c.status || e.UnknownKind != "" || e.StatusText != c.code {
			t.Errorf("%s %s: %+v, want %s of %s", c.code, c.side, e, c.kind, c.amount)
		}
	}
	for _, code := range []string{"T7700", "X", "T00", "T00066", "t0006"} {
		if e := mustRead(t, plain(t), sb("ID1", "", "", "", code, "CR", "1000", "USD"))[0]; e.Kind != models.EntryAdjustment || e.UnknownKind != code {
			t.Errorf("%s: %+v, want an adjustment of a kind we do not know", code, e)
		}
	}
}

func TestMovement(t *testing.T) {
	e := mustRead(t, plain(t), sb("CAP1", "ORD-1", "O1", "ODR", "T0006", "CR", "4999", "usd", "DR", "224", "USD"))[0]
	usd := func(minor int64) models.Money { return models.Money{Minor: minor, Currency: "USD"} }
	want := models.Entry{Kind: models.Payment, TransactionID: "CAP1", OrderID: "ORD-1", Money: usd(4999), Fee: usd(224), Status: models.StatusSucceeded,
		StatusText: "T0006", OccurredAt: time.Date(2026, 11, 27, 18, 15, 0, 0, time.UTC), Line: 5}
	if !reflect.DeepEqual(e, want) {
		t.Errorf("got  %+v\nwant %+v", e, want)
	}
	for _, c := range []struct {
		row     string
		parent  string
		aliases []string
	}{
		{sb("R1", "", "CAP1", "TXN", "T1107", "DR", "100", "USD"), "CAP1", nil},
		{sb("R1", "", "B-1", "PAP", "T1107", "DR", "100", "USD"), "", nil},
		{sb("K1", "", "CAP1", "TXN", "T1201", "DR", "100", "USD"), "CAP1", []string{"CAP1"}},
		{sb("K2", "", "CAP1", "TXN", "T1202", "CR", "100", "USD"), "CAP1", []string{"CAP1"}},
		{sb("K1", "", "", "", "T1201", "DR", "100", "USD"), "", nil},
		{sb("CAP2", "", "I-SUB", "SUB", "T0002", "CR", "100", "USD"), "", nil},
	} {
		if e := mustRead(t, plain(t), c.row)[0]; e.ParentID != c.parent || !reflect.DeepEqual(e.Aliases, c.aliases) {
			t.Errorf("%s: parent %q, names %q; want %q, %q", c.row, e.ParentID, e.Aliases, c.parent, c.aliases)
		}
	}
	p := plain(t)
	p.orderField = orderFields["custom_id"]
	if e := mustRead(t, p, sb("CAP1", "ORD-1", "", "", "T0006", "CR", "100", "USD"))[0]; e.OrderID != "cart 1" {
		t.Errorf("by custom_id: order %q, want cart 1", e.OrderID)
	}
}

// Hundredths of every currency, whatever its own decimals are.
func TestAmounts(t *testing.T) {
	for _, c := range []struct{ amount, currency, want string }{
		{"10000", "USD", "100.00"}, {"10000", "JPY", "100"}, {"1280000", "JPY", "12800"}, {"500000", "HUF", "5000.00"}, {"10000", "TWD", "100.00"},
		{"10000", "KWD", "100.000"}, {"0", "USD", "0.00"}, {"007", "USD", "0.07"},
		{"1280050", "JPY", ""}, {"-4999", "USD", ""}, {"+4999", "USD", ""}, {"49.99", "USD", ""}, {"4,999", "USD", ""}, {"", "USD", ""}, {"$5", "USD", ""},
		{"1e3", "USD", ""}, {"9999999999999999", "USD", ""}, {"4999", "XXX", ""}, {"4999", "", ""},
	} {
		_, entries, err := read(plain(t), payments(`"4999","USD","DR"`, fmt.Sprintf(`"%s","%s","DR"`, c.amount, c.currency), `"FH","01"`, `"FH","02"`))
		if c.want != "" && (err != nil || entries[0].Money.Text() != c.want) || c.want == "" && !isFileError(err, "row 5") {
			t.Errorf("%s %s: %+v, %v; want %q", c.amount, c.currency, entries, err, c.want)
		}
	}
	for _, c := range []struct {
		fee  []string
		want string
	}{
		{[]string{"DR", "224", "USD"}, "2.24 USD"}, {[]string{"CR", "224", "USD"}, "-2.24 USD"}, {[]string{"", "", ""}, "0.00 USD"}, {[]string{"", "0", ""}, "0.00 USD"},
		{[]string{"DR", "22400", "JPY"}, "224 JPY"}, {[]string{"DR", "224", ""}, "2.24 USD"},
	} {
		if e := mustRead(t, plain(t), sb("C", "", "", "", "T0006", "CR", "1000", "USD", c.fee...))[0]; e.Fee.String() != c.want {
			t.Errorf("fee %q: %s, want %s", c.fee, e.Fee, c.want)
		}
	}
}

func isFileError(err error, words ...string) bool {
	var fe *models.FileError
	if !errors.As(err, &fe) {
		return false
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			return false
		}
	}
	return true
}

// TestSpellings: the same report as other versions and other programs write it.
func TestSpellings(t *testing.T) {
	utf16 := func(order unicode.Endianness) string {
		out, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(payments())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, text := range map[string]string{
		"plain":           payments(),
		"byte-order mark": "\ufeff" + payments(),
		"LF":              payments("\r\n", "\n"),
		"blank lines":     payments("\r\n", "\r\n\r\n"),
		"no line end":     strings.TrimSpace(payments()),
		"no quotes":       payments(`"`, ""),
		"tabs":            payments(`","`, "\"\t\""),
		"semicolons":      payments(`"`, "", ",", ";"),
		"UTF-16 LE":       utf16(unicode.LittleEndian),
		"UTF-16 BE":       utf16(unicode.BigEndian),
		"two blanks":      payments("Transaction Debit", "Transaction  Debit"),
		"no blanks":       payments("Transaction ID", "TransactionID", "Transaction Debit or Credit", "TransactionDebitOrCredit", "Gross Transaction Amount", "GrossTransactionAmount"),
		"more columns":    payments(`"Custom Field"`, `"Custom Field","Store ID","A new one"`, `"cart 1"`, `"cart 1","",""`),
		"no order":        payments(`"Invoice ID",`, "", `"ORD-1",`, ""),
		"a quoted field":  payments("cart 1", `Müller, ""Sohn"" & Co`),
		"other account":   payments("M1", "M2"),
	} {
		st, entries, err := read(plain(t), text)
		if err != nil || !st.Compared || !st.Totals || st.Title != "settlement report" || len(entries) != 1 || entries[0].Money.Text() != "49.99" {
			t.Errorf("%s: %+v, %+v, %v", name, st, entries, err)
		}
	}
}

// TestDamage: whatever is cut, edited or of somebody else is refused with its place.
func TestDamage(t *testing.T) {
	row := sb("CAP1", "ORD-1", "O1", "ODR", "T0006", "CR", "4999", "USD", "DR", "224", "USD") + "\r\n"
	for _, c := range []struct{ name, text, want string }{
		{"a row lost", payments(row, ""), "the rows add up to 0, the report says 4999"},
		{"a row lost in a later file", payments(row, "", `"FH","01"`, `"FH","02"`, `"FF","1"`, `"FF","2"`), "0 movements, the report says 2"},
		{"a row twice", payments(row, row+row), "the rows add up to 9998"},
		{"an amount changed", payments(`"CR","4999"`, `"CR","4998"`), "gross credits of USD: the rows add up to 4998"},
		{"a direction changed", payments(`"CR","4999"`, `"DR","4999"`), "gross credits of USD"},
		{"a fee changed", payments(`"DR","224"`, `"DR","225"`), "fee debits of USD: the rows add up to 225"},
		{"section sum lost", payments(`"SF","USD","4999","0","0","224","CR","0"`+"\r\n", ""), "movements in USD, but no sum"},
		{"report sum lost", payments(`"RF","USD","4999","0","0","224","CR","0"`+"\r\n", ""), "movements in USD, but no sum"},
		{"sum of another currency", payments(`"SF","USD"`, `"SF","EUR"`), "gross credits of EUR"},
		{"sum twice", payments(`"SC","1"`, `"SF","USD","4999","0","0","224"`+"\r\n"+`"SC","1"`), "a second sum of USD"},
		{"sum cut", payments(`"SF","USD","4999","0","0","224","CR","0"`, `"SF","USD","4999"`), "gross debits"},
		{"section count", payments(`"SC","1"`, `"SC","2"`), "1 movements, the report says 2"},
		{"report count", payments(`"RC","1"`, `"RC","2"`), "1 movements, the report says 2"},
		{"file count", payments(`"FF","1"`, `"FF","2"`), "1 movements, the report says 2"},
		{"no count", payments(`"FF","1"`, `"FF","x"`), `"x" is no count`},
		{"section count lost", payments(`"SC","1"`+"\r\n", ""), "SC) is missing"},
		{"file count lost", payments(`"FF","1"`+"\r\n", ""), "the last record (FF) is missing"},
		{"something behind", payments() + `"SB","x"`, "something follows the last record"},
		{"two reports", payments() + payments(), "something follows the last record"},
		{"a second head", payments(`"FH","01"`, `"FH","01"`+"\r\n"+`"RH","x"`), "a second report"},
		{"a second file number", payments(`"FH","01"`, `"FH","01"`+"\r\n"+`"FH","02"`), "a second file number"},
		{"no file number", payments(`"FH","01"`+"\r\n", ""), "before the file number"},
		{"file number zero", payments(`"FH","01"`, `"FH","00"`), "begin at 1"},
		{"no section", payments(`"SH",`, `"XX",`), `"XX" is no record type`},
		{"no columns", payments(columns+"\r\n", ""), "before the column names"},
		{"a column missing", payments("Gross Transaction Amount", "Amount"), "column Gross Transaction Amount"},
		{"a column twice", payments("Custom Field", "transaction id"), "names this column twice"},
		{"a cell too few", payments(`,"cart 1"`, ""), "14 cells, the header has 15"},
		{"a cell too many", payments(`"cart 1"`, `"cart","1"`), "16 cells, the header has 15"},
		{"an open quote", payments(`"cart 1"`, `"cart 1`), "row"},
		{"no id", payments(`"CAP1"`, `""`), "Transaction ID: empty"},
		{"a spreadsheet's id", payments(`"CAP1"`, `"4.20000E+27"`), "rounded number"},
		{"a spreadsheet's reference", payments(`"O1"`, `"4.2E+20"`), "column PayPal Reference ID"},
		{"no code", payments("T0006", ""), "Transaction Event Code: empty"},
		{"another direction", payments(`"CR","4999"`, `"C","4999"`), `"C", expected CR or DR`},
		{"a fee without direction", payments(`"DR","224"`, `"","224"`), "Fee Debit or Credit"},
		{"a time without offset", payments(moved, "2026/11/27 10:15:00"), "is no time"},
		{"a spreadsheet's time", payments(moved, "27.11.26 10:15"), "Transaction Completion Date"},
		{"another account", payments(`"M1"`, `"THEIRS"`), `account "THEIRS"`},
		{"another account's section", payments(`-0800","M1",""`, `-0800","THEIRS",""`), `account "THEIRS"`},
		{"latin-1", payments("cart 1", "M\xfcller"), "not UTF-8"},
	} {
		if _, _, err := read(plain(t), c.text); !isFileError(err, c.want) {
			t.Errorf("%s: %v, want a file error with %q", c.name, err, c.want)
		}
	}
}

func TestSeveralSectionsAndFiles(t *testing.T) {
	section := payments()
	section = section[strings.Index(section, `"SH"`):strings.Index(section, `"RF"`)]
	second := strings.NewReplacer("M1", "M2", "CAP1", "CAP2", "USD", "JPY", `"4999"`, `"10000"`, `"224"`, `"300"`).Replace(section)
	two := payments(`"RF","USD"`, `"RF","JPY","10000","0","0","300"`+"\r\n"+`"RF","USD"`, `"RC","1"`, `"RC","2"`, `"FF","1"`, `"FF","2"`)
	two = strings.Replace(two, section, section+second, 1)
	if _, entries, err := read(plain(t), two); err != nil || len(entries) != 2 || entries[1].Money.String() != "100 JPY" {
		t.Errorf("two sections: %+v, %v", entries, err)
	}
	empty := report(columns, `"SF","USD","0","0","0","0"`, `"SC","0"`, `"RF","USD","0","0","0","0"`, `"RC","0"`, `"FF","0"`)
	if st, entries, err := read(plain(t), empty); err != nil || !st.Compared || len(entries) != 0 {
		t.Errorf("a day without movements: %+v, %v", entries, err)
	}
	// A report that is too long goes on in the next file, within its section; only the last file ends the report.
	begun := payments()
	begun = begun[:strings.Index(begun, `"SF"`)] + `"FF","1"` + "\r\n"
	ended := payments(`"FH","01"`, `"FH","02"`, `"SF","USD","4999"`, `"SF","USD","9998"`, `"SC","1"`, `"SC","2"`, `"RF","USD","4999"`, `"RF","USD","9998"`, `"RC","1"`, `"RC","2"`)
	for name, c := range map[string]struct {
		text string
		want models.Part
	}{
		"first": {begun, models.Part{Of: "settlement report M1", Number: 1, Rows: 1}}, "last": {ended, models.Part{Of: "settlement report M1", Number: 2, Last: true, Rows: 1, Total: 2}},
		"RC taken away":        {payments(`"RC","1"`+"\r\n", ""), models.Part{Of: "settlement report M1", Number: 1, Rows: 1}},
		"RF and RC taken away": {payments(`"RF","USD","4999","0","0","224","CR","0"`+"\r\n"+`"RC","1"`+"\r\n", ""), models.Part{Of: "settlement report M1", Number: 1, Rows: 1}},
	} {
		st, entries, err := read(plain(t), c.text)
		if err != nil || len(entries) != 1 || st.Part != c.want || st.Totals { // the sums are those of all files
			t.Errorf("%s: %+v, %+v, %v; want %+v", name, st, entries, err, c.want)
		}
	}
	if st, _, err := read(plain(t), payments()); err != nil || st.Part != (models.Part{Of: "settlement report M1", Number: 1, Last: true, Rows: 1, Total: 1}) || !st.Totals {
		t.Errorf("the only file: %+v, %v", st, err)
	}
}

// A section's head says which day it is of, which is all that a day without movements can be told by.
func TestPeriod(t *testing.T) {
	const head = `"SH","2026/11/27 00:00:00 -0800","2026/11/27 23:59:59 -0800"`
	empty := report(columns, `"SF","USD","0","0","0","0"`, `"SC","0"`, `"RF","USD","0","0","0","0"`, `"RC","0"`, `"FF","0"`)
	for _, c := range []struct{ head, from, to string }{
		{head, "2026-11-27T08:00:00Z", "2026-11-28T08:00:00Z"},
		{`"SH","2026/11/28 00:00:00 -0800","2026/11/28 23:59:59 -0800"`, "2026-11-28T08:00:00Z", "2026-11-29T08:00:00Z"},
		{`"SH","2026/11/27 00:00:00 +0000","2026/11/27 23:59:59 +0000"`, "2026-11-27T00:00:00Z", "2026-11-28T00:00:00Z"},
		{`"SH","2026/11/27 00:00:00 -0800","2026/11/28 00:00:00 -0800"`, "2026-11-27T08:00:00Z", "2026-11-28T08:00:00Z"},
		{`"SH","2026/11/01 00:00:00 -0700","2026/11/01 23:59:59 -0800"`, "2026-11-01T07:00:00Z", "2026-11-02T08:00:00Z"}, // a day of 25 hours
		{`"SH","",""`, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
	} {
		for name, text := range map[string]string{"with a row": payments(), "empty": empty} {
			st, _, err := read(plain(t), strings.Replace(text, head, c.head, 1))
			if err != nil || st.From.Format(time.RFC3339) != c.from || st.To.Format(time.RFC3339) != c.to {
				t.Errorf("%s, %s: from %s to %s, %v; want %s to %s", name, c.head, st.From, st.To, err, c.from, c.to)
			}
		}
	}
	for bad, want := range map[string]string{
		`"SH","27.11.2026","2026/11/27 23:59:59 -0800"`: "column 2: the period", `"SH","2026/11/27 00:00:00 -0800",""`: "column 3: the period",
		`"SH","2026/11/27 00:00:00","2026/11/27 23:59:59 -0800"`:             "column 2: the period",
		`"SH","2026/11/28 00:00:00 -0800","2026/11/27 22:59:59 -0800"`:       "before it begins",
		`"SH","2026/11/27 00:00:00 -0800","2026/11/27 23:59:59 -0800 extra"`: "column 3",
	} {
		if _, _, err := read(plain(t), payments(head, bad)); !isFileError(err, "row 3", want) {
			t.Errorf("%s: %v, want a file error with %q", bad, err, want)
		}
	}
	section := payments()
	section = section[strings.Index(section, `"SH"`):strings.Index(section, `"RF"`)]
	two := payments(`"RF","USD","4999","0","0","224"`, `"RF","USD","9998","0","0","448"`, `"RC","1"`, `"RC","2"`, `"FF","1"`, `"FF","2"`)
	two = strings.Replace(two, section, section+strings.ReplaceAll(section, head, `"SH","2026/11/28 00:00:00 -0800","2026/11/28 23:59:59 -0800"`), 1)
	if st, _, err := read(plain(t), two); err != nil || st.To.Sub(st.From) != 48*time.Hour {
		t.Errorf("two sections of two days: %+v, %v", st, err)
	}
}

func TestDetailReport(t *testing.T) {
	text := payments(`"Custom Field"`, `"Custom Field","Transactional Status"`, `"4999","0","0","224"`, `"1","2","3","4"`) // its sums are its own
	for word, want := range map[string]models.TransactionStatus{
		"S": models.StatusSucceeded, "P": models.StatusPending, "D": models.StatusFailed, "V": models.StatusReversed, "X": models.StatusUnknown, "": models.StatusUnknown,
	} {
		st, entries, err := read(plain(t), strings.Replace(text, `"cart 1"`, `"cart 1","`+word+`"`, 1))
		if err != nil || st.Title != "transaction detail report" || !st.Compared || entries[0].Status != want {
			t.Errorf("%q: %+v, %+v, %v; want %s", word, st, entries, err, want)
		}
	}
	pending := strings.Replace(strings.Replace(text, `"cart 1"`, `"cart 1","P"`, 1), moved+`","`+moved, moved+`","`, 1)
	if _, entries, err := read(plain(t), pending); err != nil || entries[0].OccurredAt.Hour() != 18 {
		t.Errorf("not completed yet: %+v, %v", entries, err)
	}
}

func TestOtherReports(t *testing.T) {
	for _, text := range []string{
		"Date,Time,TimeZone,Name,Type,Status,Currency,Gross,Fee,Net,Transaction ID\n27/11/2026,10:15,PST,x,y,Completed,USD,49.99,-2.24,47.75,CAP1\n",
		"\"Transaction ID\",\"Gross amount\"\n\"CAP1\",\"49.99\"\n",
	} {
		if st, entries, err := read(plain(t), text); err != nil || st.Compared || st.Title == "" || len(entries) != 0 {
			t.Errorf("%q: %+v, %+v, %v; want it recognised and not compared", text, st, entries, err)
		}
	}
	for _, text := range []string{"", "RX,1\n", "transaction_id,amount\n1,2\n", `{"name":"INVALID"}`, "<html></html>"} {
		if _, _, err := read(plain(t), text); !isFileError(err) {
			t.Errorf("%q: %v, want a file error", text, err)
		}
	}
}

// The kit's file, whatever zone the caller is in: its times carry their offset.
func TestKitStatement(t *testing.T) {
	raw, err := os.ReadFile(kit + "/statements/STL-20261127.01.009.CSV")
	if err != nil {
		t.Fatal(err)
	}
	count := map[models.TransactionKind]int{}
	var last models.Entry
	if _, err := plainKit(t).ReadStatement("x", bytes.NewReader(raw), time.FixedZone("x", 3600), func(e models.Entry) error {
		count[e.Kind]++
		if e.TransactionID == "0TESTCAP2010X" {
			last = e
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	want := map[models.TransactionKind]int{models.Payment: 7, models.Refund: 2, models.Chargeback: 1, models.EntryConversion: 2, models.EntryFee: 1, models.Payout: 1}
	if !reflect.DeepEqual(count, want) || !last.OccurredAt.Equal(time.Date(2026, 11, 28, 7, 59, 28, 0, time.UTC)) {
		t.Errorf("%v, the last at %s; want %v", count, last.OccurredAt, want)
	}
}

func plainKit(tb testing.TB) *Provider {
	tb.Helper()
	p, err := New(kitSettings(tb, nil), kit)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}
