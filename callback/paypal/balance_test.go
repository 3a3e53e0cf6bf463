package paypal

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

// ownColumns is the setting for a balance report as balanceFile writes it: all its names are made up, as everybody's are.
const ownColumns = `{
	"columns": {"transaction_id": "Transaction ID", "parent_id": "Reference ID", "order_id": "Invoice", "kind": ["Record type", "Record subtype"],
		"amount": "Gross amount", "fee": "Fee amount", "currency": "Currency", "occurred_at": "Completed", "status": "State"},
	"kinds": {"Sale": "payment", "Refund": "refund", "Dispute/Chargeback": "chargeback", "Dispute/Chargeback reversal": "chargeback_reversal",
		"Withdraw money": "payout", "Fee": "fee", "Hold": "adjustment", "Currency conversion": "conversion"},
	"statuses": {"Success": "succeeded", "Pending": "pending"},
	"records": {"column": "RD", "equals": "RD"},
	"footer": {"column": "RD", "equals": "RF", "count": "Total number of records"}
}`

const balanceName = "ADSF13S-9HBKUHNC34696-BRR-BALANCE_RECONCILIATION_REPORT-20261127-1-1-20261128051011.csv"

const balanceHead = "\ufeff" + `"RH","Report name","Report status","Report start","Report end","Report generated","Hierarchy","Time zone"
"RH","BALANCE_RECONCILIATION_REPORT","Success","2026/11/27 00:00:00 -0800","2026/11/27 23:59:59 -0800","2026/11/28 05:10:11 -0800","M1","America/Los_Angeles"
"RD","Transaction ID","Reference ID","Invoice","Record type","Record subtype","Completed","State","Gross amount","Fee amount","Net amount","Currency","Payer name"
`

// bd is a row of a balance report: id, reference, invoice, record type, subtype, amount, fee, currency.
func bd(id, reference, invoice, kind, subtype, amount, fee, currency string) string {
	return fmt.Sprintf("\"RD\",%q,%q,%q,%q,%q,\"2026/11/27 10:15:00 -0800\",\"Success\",%q,%q,\"\",%q,\"Müller, \"\"A\"\"\"\n", id, reference, invoice, kind, subtype, amount, fee, currency)
}

func balanceFile(rows ...string) string {
	return balanceHead + strings.Join(rows, "") + balanceFoot(1, len(rows), 1)
}

func balanceFoot(file, rows, files int) string {
	return fmt.Sprintf("\"RF\",\"File number\",\"Total number of records\",\"Total number of files\"\n\"RF\",\"%d\",\"%d\",\"%d\"\n", file, rows, files)
}

var saleRow = bd("CAP1", "O-1", "ORD-1", "Sale", "", "49.99", "-2.24", "USD")

// withBalance is an account with the setting, in which the change is made first.
func withBalance(tb testing.TB, changes ...string) *Provider {
	tb.Helper()
	p, err := New([]byte(`{"webhook_ids":["W1"],"balance_report":`+strings.NewReplacer(changes...).Replace(ownColumns)+`}`), "")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func readAs(p *Provider, name, text string) (models.Statement, []models.Entry, error) {
	var entries []models.Entry
	st, err := p.ReadStatement(name, strings.NewReader(text), time.UTC, func(e models.Entry) error {
		entries = append(entries, e)
		return nil
	})
	return st, entries, err
}

func TestBalanceReport(t *testing.T) {
	text := balanceFile(saleRow,
		bd("REF1", "CAP1", "ORD-1", "Refund", "Referenced", "-10.00", "0.00", "USD"),
		bd("K1", "CAP9", "", "Dispute", "Chargeback", "-1,234.50", "", "USD"),
		bd("K2", "CAP9", "", "Dispute", "Chargeback reversal", "1,234.50", "", "USD"),
		bd("CAP2", "", "ORD-2", "Sale", "Accelerated", "12800", "-300", "JPY"),
		bd("CAP3", "", "ORD-3", "Sale", "", "5000", "", "HUF"),
		bd("W1", "", "", "Withdraw money", "", "-500.00", "", "USD"),
		bd("F1", "", "", "Fee", "", "-0.30", "", "USD"), bd("F2", "", "", "Fee", "", "0.30", "", "USD"),
		bd("H1", "CAP1", "", "Hold", "", "-5.00", "", "USD"),
		bd("B1", "", "", "Bonus", "", "1.00", "", "USD"),
		bd("S9", "", "", "Sale", "", "-7.00", "", "USD"), bd("R9", "", "", "Refund", "", "7.00", "", "USD"))
	st, entries, err := readAs(withBalance(t), balanceName, text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %s of %q %q %q %s fee %s %s %s", e.Line, e.Kind, e.TransactionID, e.ParentID, e.OrderID, e.Aliases, e.Money, e.Fee.Text(), e.Status, e.UnknownKind)))
	}
	want := []string{
		`4 payment CAP1 of "" "ORD-1" [] 49.99 USD fee 2.24 succeeded`,
		`5 refund REF1 of "CAP1" "ORD-1" [] 10.00 USD fee 0.00 succeeded`,
		`6 chargeback K1 of "CAP9" "" ["CAP9"] 1234.50 USD fee 0.00 succeeded`,
		`7 chargeback_reversal K2 of "CAP9" "" ["CAP9"] 1234.50 USD fee 0.00 succeeded`,
		`8 payment CAP2 of "" "ORD-2" [] 12800 JPY fee 300 succeeded`,
		`9 payment CAP3 of "" "ORD-3" [] 5000.00 HUF fee 0.00 succeeded`,
		`10 payout W1 of "" "" [] 500.00 USD fee 0.00 succeeded`,
		`11 fee F1 of "" "" [] 0.30 USD fee 0.00 succeeded`, `12 fee F2 of "" "" [] -0.30 USD fee 0.00 succeeded`,
		`13 adjustment H1 of "CAP1" "" [] -5.00 USD fee 0.00 succeeded`,
		`14 adjustment B1 of "" "" [] 1.00 USD fee 0.00 succeeded Bonus`,
		`15 adjustment S9 of "" "" [] -7.00 USD fee 0.00 succeeded Sale with a minus`,
		`16 adjustment R9 of "" "" [] 7.00 USD fee 0.00 succeeded Refund without a minus`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !entries[0].OccurredAt.Equal(time.Date(2026, 11, 27, 18, 15, 0, 0, time.UTC)) {
		t.Errorf("occurred at %s", entries[0].OccurredAt)
	}
	day := time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)
	wantSt := models.Statement{Compared: true, Title: "balance report", Totals: true, From: day, To: day.Add(24 * time.Hour), Part: models.Part{
		Of: "balance report ADSF13S-9HBKUHNC34696-BRR-BALANCE_RECONCILIATION_REPORT-20261127", Number: 1, Last: true, Rows: 13, Total: 13}}
	if !reflect.DeepEqual(st, wantSt) {
		t.Errorf("statement %+v, want %+v", st, wantSt)
	}
}

// Lines of other kinds may stand anywhere, columns in any order and number.
func TestBalanceFrames(t *testing.T) {
	const noFooter = `"records": {"column": "RD", "equals": "RD"},
	"footer": {"column": "RD", "equals": "RF", "count": "Total number of records"}`
	plainRows := strings.NewReplacer(`"RD",`, "").Replace(balanceHead[strings.Index(balanceHead, `"RD"`):] + saleRow)
	settlementLike := strings.NewReplacer(`"RD","Transaction ID"`, `"CH","Transaction ID"`, `"RD",`, `"SB",`).Replace(
		`"RH","2026/11/28 05:10:11 -0800","A","M1","001"` + "\n\"FH\",\"01\"\n\"SH\",\"2026/11/27 00:00:00 -0800\",\"2026/11/27 23:59:59 -0800\",\"M1\",\"\"\n" +
			plainHeader() + saleRow + "\"SF\",\"USD\",\"49.99\"\n\"SC\",\"1\"\n\"RF\",\"USD\",\"49.99\"\n\"RC\",\"1\"\n\"FF\",\"1\"\n")
	for name, c := range map[string]struct {
		setting []string
		text    string
		totals  bool
	}{
		"as PayPal writes it":       {nil, balanceFile(saleRow), true},
		"CRLF":                      {nil, strings.ReplaceAll(balanceFile(saleRow), "\n", "\r\n"), true},
		"no line end":               {nil, strings.TrimSpace(balanceFile(saleRow)), true},
		"the header again":          {nil, strings.Replace(balanceFile(saleRow), saleRow, plainHeader()+saleRow, 1), true},
		"one more column":           {nil, strings.NewReplacer(`"Payer name"`, `"New","Payer name"`, `"Müller`, `"x","Müller`).Replace(balanceFile(saleRow)), true},
		"another order of columns":  {nil, strings.NewReplacer(`"RD","Transaction ID","Reference ID"`, `"RD","Reference ID","Transaction ID"`, `"CAP1","O-1"`, `"O-1","CAP1"`).Replace(balanceFile(saleRow)), true},
		"a total by its place":      {[]string{`"count": "Total number of records"`, `"count": "3"`}, balanceFile(saleRow), true},
		"a total nobody asks for":   {[]string{`, "count": "Total number of records"`, ""}, balanceFile(saleRow), false},
		"no footer asked for":       {[]string{noFooter, `"records": {"column": "RD", "equals": "RD", "ignore": ["RH", "RF"]}`}, balanceFile(saleRow), false},
		"nothing but header, rows":  {[]string{",\n\t" + noFooter, ""}, plainRows, false},
		"as the settlement report":  {[]string{noFooter, `"records": {"column": "CH", "equals": "SB"}, "footer": {"column": "CH", "equals": "RC", "count": "2"}`}, settlementLike, true},
		"records of two words":      {[]string{`"equals": "RD"`, `"equals": ["RD", "SB"]`}, balanceFile(saleRow), true},
		"a zone for the times":      {[]string{`"statuses"`, `"timezone": "America/Los_Angeles", "statuses"`}, strings.ReplaceAll(balanceFile(saleRow), "10:15:00 -0800", "10:15:00"), true},
		"blanks in a column's name": {nil, strings.Replace(balanceFile(saleRow), "Gross amount", " Gross   amount", 1), true},
	} {
		st, entries, err := readAs(withBalance(t, c.setting...), "report.csv", c.text)
		if err != nil || len(entries) != 1 || !st.Compared || st.Totals != c.totals || st.Part != (models.Part{}) {
			t.Errorf("%s: %+v, %+v, %v", name, st, entries, err)
			continue
		}
		e := entries[0]
		if e.Kind != models.Payment || e.TransactionID != "CAP1" || e.Money.Text() != "49.99" || e.OccurredAt.Hour() != 18 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if st, entries, err := readAs(withBalance(t), balanceName, balanceFile()); err != nil || len(entries) != 0 || !st.Totals || st.From.IsZero() {
		t.Errorf("a day without movements: %+v, %v", st, err)
	}
}

func plainHeader() string { return balanceHead[strings.Index(balanceHead, `"RD"`):] }

// Whatever is not as the settings say is refused, with its place.
func TestBalanceDamage(t *testing.T) {
	whole := balanceFile(saleRow, bd("CAP2", "", "ORD-2", "Sale", "", "20.00", "", "USD"))
	change := func(changes ...string) string { return strings.NewReplacer(changes...).Replace(whole) }
	for _, c := range []struct{ name, text, want string }{
		{"a column missing", change("Gross amount", "Gross"), "row 3: column Gross amount: the header lacks columns that settings.balance_report names: Gross amount; it has RD, Transaction ID, "},
		{"two columns missing", change("Gross amount", "Gross", "Currency", "Money"), "names: Currency, Gross amount; it has RD, "},
		{"the header missing", change(plainHeader(), ""), "no row has the columns that settings.balance_report names: Transaction ID, "},
		{"a column twice", change("Payer name", "Currency"), "row 3: column Currency: the header names this column twice"},
		{"a column twice that nobody reads", change("Payer name", "Net amount"), "names this column twice"},
		{"too many decimals", change("49.99", "49.999"), `row 4: column Gross amount: amount not understood: "49.999": USD has 2 decimals`},
		{"yen with decimals", change(`"49.99"`, `"4999.50"`, `"USD"`, `"JPY"`), "JPY has 0 decimals"},
		{"hundredths with a comma", change("49.99", "49,99"), `"49,99"`},
		{"thousands in two ways", change("49.99", "1.234,56"), `"1.234,56"`},
		{"a group of two", change("49.99", "12,34.56"), `"12,34.56"`},
		{"a minus lookalike", change(`"49.99"`, `"−49.99"`), "amount not understood"},
		{"brackets", change(`"49.99"`, `"(49.99)"`), "amount not understood"},
		{"a minus behind", change(`"49.99"`, `"49.99-"`), "amount not understood"},
		{"an exponent", change(`"49.99"`, `"4.999e1"`), "amount not understood"},
		{"no amount", change(`"49.99"`, `""`), "column Gross amount"},
		{"a fee that is none", change(`"-2.24"`, `"n/a"`), "column Fee amount"},
		{"a currency that is none", change(`"USD"`, `"BTC"`), `row 4: column Currency`},
		{"no currency", change(`"USD"`, `""`), `row 4: column Currency`},
		{"no id", change(`"CAP1"`, `""`), "row 4: column Transaction ID: empty"},
		{"a spreadsheet's id", change(`"CAP1"`, `"4.20000E+27"`), "rounded number"},
		{"another spelling of time", change("2026/11/27 10:15:00 -0800", "11/27/2026 10:15"), "row 4: column Completed"},
		{"a cell too few", change(`"ORD-1",`, ""), "row 4: 12 cells, the header has 13"},
		{"a row lost", change(saleRow, ""), "1 rows, the footer says 2"},
		{"a row twice", change(saleRow, saleRow+saleRow), "3 rows, the footer says 2"},
		{"the footer lost", change(balanceFoot(1, 2, 1), ""), "the footer (settings.balance_report.footer) is missing after 2 rows: the file is cut"},
		{"the footer's values lost", change(`"RF","1","2","1"`+"\n", ""), "column Total number of records: the footer does not say how many rows there are"},
		{"the footer cut", strings.TrimSuffix(whole, `,"2","1"`+"\n"), "the footer does not say"},
		{"the footer cut in its number", change(`"RF","1","2","1"`, `"RF","1",x`), "the footer does not say"},
		{"two counts", whole + `"RF","1","3","1"` + "\n", "3 rows, a line before says 2"},
		{"another name for the count", change("Total number of records", "Records"), "does .footer.count name another column?"},
		{"cut in the header", whole[:strings.Index(whole, `,"Payer name"`)], "ends in its header line"},
		{"cut in the header's last cell", whole[:strings.Index(whole, "\"CAP1\"")-6], "ends in its header line"},
		{"cut in a row", whole[:strings.Index(whole, `"CAP2"`)+20], "row 5"},
		{"a row behind the footer", whole + saleRow, "row 8: a row follows the footer"},
		{"another record type", change(`"RD","CAP2"`, `"","CAP2"`), "row 5: column RD: empty: is the row a record or not?"},
		{"no text", change("Müller", "M\xfcller"), "not UTF-8"},
		{"an open quote", change(`"Müller, ""A"""`, `"Müller`), "row 4"},
	} {
		for _, file := range []string{balanceName, "report.csv"} {
			_, _, err := readAs(withBalance(t), file, c.text)
			if want := strings.Replace(c.want, "does .", "does settings.balance_report.", 1); !isFileError(err, want) {
				t.Errorf("%s: %v, want a file error with %q", c.name, err, want)
			}
		}
	}
	ignoring := withBalance(t, `"equals": "RD"`, `"equals": "RD", "ignore": ["RH"]`)
	if _, _, err := readAs(ignoring, "x.csv", change(`"RD","CAP2"`, `"XX","CAP2"`)); !isFileError(err, `"XX" is neither among settings.balance_report.records.equals nor ignore`) {
		t.Errorf("a record of no word: %v", err)
	}
	bare := withBalance(t, `"records": {"column": "RD", "equals": "RD"},`, "")
	if _, _, err := readAs(bare, "x.csv", change(saleRow, "\"SC\",\"1\"\n"+saleRow)); !isFileError(err, "2 cells, the header has 13", "settings.balance_report.records or footer") {
		t.Errorf("a line that nobody has named: %v", err)
	}
	unsigned := withBalance(t, `"statuses"`, `"sign": "absolute", "statuses"`)
	if _, _, err := readAs(unsigned, "x.csv", balanceFile(bd("S", "", "", "Sale", "", "-7.00", "", "USD"))); !isFileError(err, "a payment cannot be negative") {
		t.Errorf("a negative payment without signs: %v", err)
	}
	if _, e, err := readAs(unsigned, "x.csv", balanceFile(bd("R", "", "", "Refund", "", "7.00", "", "USD"))); err != nil || e[0].Kind != models.Refund {
		t.Errorf("a refund without signs: %+v, %v", e, err)
	}
}

// Wherever the file is cut, up to the count of its footer, none of it is believed.
func TestBalanceCutAnywhere(t *testing.T) {
	whole := balanceFile(saleRow, bd("CAP2", "", "ORD-2", "Sale", "", "20.00", "", "USD"))
	for end := range strings.LastIndex(whole, `,"1"`) {
		if _, _, err := readAs(withBalance(t), balanceName, whole[:end]); !isFileError(err) {
			t.Fatalf("cut behind %q: %v, want a file error", whole[max(0, end-20):end], err)
		}
	}
}

// A status that nobody has mapped is unknown, never taken for succeeded.
func TestBalanceStatuses(t *testing.T) {
	for word, want := range map[string]models.TransactionStatus{
		"Success": models.StatusSucceeded, "SUCCESS": models.StatusSucceeded, "Pending": models.StatusPending, "Reversed": models.StatusUnknown, "": models.StatusUnknown,
	} {
		text := strings.Replace(balanceFile(saleRow), `-0800","Success","49.99"`, `-0800","`+word+`","49.99"`, 1)
		if _, entries, err := readAs(withBalance(t), "x.csv", text); err != nil || entries[0].Status != want {
			t.Errorf("%q: %+v, %v; want %s", word, entries, err, want)
		}
	}
	bare := withBalance(t, `, "status": "State"`, "")
	if _, entries, err := readAs(bare, "x.csv", balanceFile(saleRow)); err != nil || entries[0].Status != models.StatusSucceeded {
		t.Errorf("without a column: %+v, %v", entries, err)
	}
}

// A report in several files: only the first has the head and only the last the footer, whose count is that of all.
func TestBalanceParts(t *testing.T) {
	file := func(number, files int) string {
		return strings.Replace(balanceName, "-1-1-", fmt.Sprintf("-%d-%d-", number, files), 1)
	}
	second := bd("CAP2", "", "ORD-2", "Sale", "", "20.00", "", "USD")
	of := "balance report ADSF13S-9HBKUHNC34696-BRR-BALANCE_RECONCILIATION_REPORT-20261127"
	for _, c := range []struct {
		name, text string
		want       models.Part
	}{
		{file(1, 2), balanceHead + saleRow, models.Part{Of: of, Number: 1, Rows: 1, Total: -1}},
		{file(2, 2), plainHeader() + second + balanceFoot(2, 2, 2), models.Part{Of: of, Number: 2, Last: true, Rows: 1, Total: 2}},
		{"zip/" + file(3, 3), plainHeader() + balanceFoot(3, 2, 3), models.Part{Of: of, Number: 3, Last: true, Total: 2}},
		{file(1, 2), balanceFile(saleRow, second), models.Part{Of: of, Number: 1, Last: true, Rows: 2, Total: 2}}, // it says itself that it is all
		{"ADSF13S-9HBK-X-BTR-My own-template-20261101000000-20261130235959-12-120-x.csv", plainHeader() + saleRow,
			models.Part{Of: "balance report ADSF13S-9HBK-X-BTR-My own-template-20261101000000-20261130235959", Number: 12, Rows: 1, Total: -1}},
		{"renamed.csv", balanceFile(saleRow), models.Part{}},
	} {
		st, _, err := readAs(withBalance(t), c.name, c.text)
		if err != nil || st.Part != c.want || st.Totals != (c.want.Total >= 0 && c.want.Number == 1 || c.name == "renamed.csv") {
			t.Errorf("%s: %+v, %v; want %+v", c.name, st, err, c.want)
		}
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"the end of the last":   {file(2, 2), plainHeader() + second, "the footer (settings.balance_report.footer) is missing"},
		"a last that is called": {"end.csv", plainHeader() + second + balanceFoot(2, 2, 2), "1 rows, the footer says 2"},
		"no names of columns":   {file(2, 2), second + balanceFoot(2, 2, 2), "no row has the columns"},
	} {
		if _, _, err := readAs(withBalance(t), c.file, c.text); !isFileError(err, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What is no balance report is read as before, and a balance report that nobody describes is recognised.
func TestSortsOfReports(t *testing.T) {
	disbursements := strings.Replace(balanceFile(saleRow), "BALANCE_RECONCILIATION_REPORT", "DISBURSEMENT_RECONCILIATION_REPORT", 1)
	activity := "Date,Time,TimeZone,Name,Type,Status,Currency,Gross,Fee,Net,Transaction ID\n27/11/2026,10:15,PST,x,y,Completed,USD,49.99,-2.24,47.75,CAP1\n"
	for name, c := range map[string]struct {
		p           *Provider
		file, text  string
		title, next string
		compared    bool
	}{
		"settlement report":                 {withBalance(t), "x.csv", payments(), "settlement report", "", true},
		"settlement report of a wrong name": {withBalance(t), balanceName, payments(), "settlement report", "", true},
		"columns that settlement has too": {withBalance(t, "Gross amount", "Gross Transaction Amount", `"Currency"`, `"Gross Transaction Currency"`), "x.csv", payments(),
			"settlement report", "", true},
		"balance report, not described":  {plain(t), "x.csv", balanceFile(saleRow), "balance reconciliation report", nextBalance, false},
		"told by its name":               {plain(t), balanceName, plainHeader() + saleRow, "balance reconciliation report", nextBalance, false},
		"told by its columns":            {plain(t), "x.csv", "\"Transaction ID\",\"Gross amount\"\n\"CAP1\",\"49.99\"\n", "balance report or activity download", nextBalance, false},
		"activity download":              {plain(t), "x.csv", activity, "balance report or activity download", nextBalance, false},
		"activity download, described":   {withBalance(t), "x.csv", activity, "activity download, or a balance report of other columns than settings.balance_report names", "", false},
		"what makes up a payout":         {withBalance(t), "x.csv", disbursements, "disbursement reconciliation report", "", false},
		"what makes up a payout, undesc": {plain(t), "x.csv", disbursements, "disbursement reconciliation report", "", false},
		"a later file of a payout report": {withBalance(t), strings.NewReplacer("-BRR-", "-DRR-", "-1-1-", "-2-2-").Replace(balanceName), plainHeader() + saleRow,
			"disbursement reconciliation report", "", false},
	} {
		st, entries, err := readAs(c.p, c.file, c.text)
		if err != nil || st.Title != c.title || st.Next != c.next || st.Compared != c.compared || !c.compared && len(entries) != 0 {
			t.Errorf("%s: %+v, %d entries, %v", name, st, len(entries), err)
		}
	}
	for _, text := range []string{"", "RX,1\n", "transaction_id,amount\n1,2\n", `{"name":"INVALID"}`, "<html></html>", `"RH","x"` + "\n", "\"RH\",\"cut"} {
		if _, _, err := readAs(withBalance(t), "x.csv", text); !isFileError(err) {
			t.Errorf("%q: %v, want a file error", text, err)
		}
	}
}

func TestBalanceSettings(t *testing.T) {
	setting := func(change func(map[string]any)) error {
		var s map[string]any
		if err := json.Unmarshal([]byte(ownColumns), &s); err != nil {
			t.Fatal(err)
		}
		change(s)
		raw, err := json.Marshal(map[string]any{"webhook_ids": []string{"W1"}, "balance_report": s})
		if err != nil {
			t.Fatal(err)
		}
		_, err = New(raw, "")
		return err
	}
	set := func(path string, value any) func(map[string]any) {
		return func(s map[string]any) {
			keys := strings.Split(path, ".")
			for _, key := range keys[:len(keys)-1] {
				s = s[key].(map[string]any)
			}
			if s[keys[len(keys)-1]] = value; value == nil {
				delete(s, keys[len(keys)-1])
			}
		}
	}
	for _, c := range []struct {
		change func(map[string]any)
		want   string
	}{
		{set("types", map[string]any{}), "settings.balance_report.types: unknown key; the keys here are "},
		{set("delimiter", ";"), "settings.balance_report.delimiter: unknown key"},
		{set("columns", nil), "settings.balance_report.columns: missing: name those of your own file's header"},
		{set("kinds", nil), "settings.balance_report.kinds: missing"},
		{set("columns.amount", nil), "settings.balance_report.columns.amount: missing"},
		{set("columns.transaction_id", ""), "settings.balance_report.columns.transaction_id: missing"},
		{set("columns.occured_at", "x"), "settings.balance_report.columns.occured_at: unknown key"},
		{set("columns.kind", 5), "settings.balance_report.columns.kind: text expected"},
		{set("kinds.Sale", "sale"), `settings.balance_report.kinds."Sale": "sale" is no word for kinds`},
		{set("statuses.Success", "ok"), `settings.balance_report.statuses."Success"`},
		{set("footer.equals", nil), "settings.balance_report.footer.equals: missing"},
		{set("records.column", nil), "settings.balance_report.records.column: missing"},
		{set("timezone", "PST8"), "settings.balance_report.timezone:"},
		{set("sign", "both"), "settings.balance_report.sign:"},
		{set("amount_unit", "cents"), "settings.balance_report.amount_unit:"},
		{func(s map[string]any) { s["kind"] = "payment" }, "settings.balance_report.kind: a column gives it"},
	} {
		if err := setting(c.change); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("New = %v, want %s…", err, c.want)
		}
	}
	for raw, want := range map[string]string{`[]`: "settings.balance_report: an object", `"x"`: "settings.balance_report: an object", `{"a":1,"a":2}`: "settings"} {
		if _, err := New([]byte(`{"webhook_ids":["W1"],"balance_report":`+raw+`}`), ""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s…", raw, err, want)
		}
	}
	if p, err := New([]byte(`{"webhook_ids":["W1"],"balance_report":null}`), ""); err != nil || p.balance != nil {
		t.Errorf("null: %+v, %v", p, err)
	}
	warned := func(p *Provider) bool {
		return strings.Contains(strings.Join(p.Warnings(), "\n"), "settings.balance_report.footer is not set")
	}
	if warned(withBalance(t)) || warned(plain(t)) || !warned(withBalance(t, `"footer"`, `"footer": null, "zones"`, `{"column": "RD", "equals": "RF", "count": "Total number of records"}`, "null")) {
		t.Error("a warning is due exactly where a cut report could not be told")
	}
}
