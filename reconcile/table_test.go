package reconcile_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

func tableOf(t *testing.T, items []reconcile.Item, look reconcile.Look) string {
	t.Helper()
	var out bytes.Buffer
	if err := reconcile.WriteTable(&out, items, look); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]+m")

// TestWriteTable: sentences fit the terminal, nothing of a stranger steers it, and every open gap says why it is one and what to do.
func TestWriteTable(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p3 2026-11-28 10:00:00 21.00")
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00", "p2,\x1b[2Jx,payment,20.00,CNY,succeeded,2026-11-28 10:00:00,,",
		"p3 2026-11-28 10:00:00"))
	items := []reconcile.Item{{Report: r}, {Account: "other", Err: errors.New("no statement")}}
	for _, width := range []int{0, 40, 80, 100, 250} {
		plain := tableOf(t, items, reconcile.Look{Width: width})
		coloured := tableOf(t, items, reconcile.Look{Width: width, Color: true})
		if strings.Contains(plain, "\x1b") || escapes.ReplaceAllString(coloured, "") != plain || !strings.Contains(coloured, "\x1b[31m") {
			t.Errorf("width %d: in colour it is not the same, or a stranger's colours came through: %q", width, coloured)
		}
		flat := strings.Join(strings.Fields(plain), " ")
		for part, want := range map[string]int{"why: ": 3, "next: ": 3, "never arrived or was refused": 2, "could not be run": 2, "missing_local 2 gaps": 1} {
			if got := strings.Count(flat, part); got != want {
				t.Errorf("width %d: %q %d times, want %d, in\n%s", width, part, got, want, plain)
			}
		}
		for line := range strings.Lines(plain) {
			sentence := strings.HasPrefix(line, "    why: ") || strings.HasPrefix(line, "         ")
			if n := text.StringWidth(strings.TrimRight(line, "\n")); width >= 80 && sentence && n > width {
				t.Errorf("width %d: a sentence of %d: %s", width, n, line)
			}
		}
	}
}

// TestTableFits: in a terminal that is too narrow for a table of gaps each is a card, and no id is broken.
func TestTableFits(t *testing.T) {
	g := reconcile.GapReport{ID: "a1", Kind: models.GapAmount, EntryKind: models.Payment, TransactionID: strings.Repeat("4", 28), OrderID: strings.Repeat("O", 40),
		State: models.GapOpen, Statement: &models.Side{Amount: "20.00", Currency: "CNY", Status: "succeeded"}, Ledger: &models.Side{Amount: "19.00", Currency: "CNY"}}
	items := []reconcile.Item{{Report: &reconcile.Report{Account: "shop", Gaps: []reconcile.GapReport{g}, Result: models.Gapped}}}
	narrow, wide := tableOf(t, items, reconcile.Look{Width: 80}), tableOf(t, items, reconcile.Look{Width: 200})
	for _, id := range []string{g.TransactionID, g.OrderID} {
		if !strings.Contains(narrow, id) || !strings.Contains(wide, id) {
			t.Errorf("%s is broken:\n%s%s", id, narrow, wide)
		}
	}
	if !strings.Contains(narrow, "    statement: 20.00 CNY succeeded\n") || strings.Contains(wide, "statement: 20.00") {
		t.Errorf("narrow:\n%s\nwide:\n%s", narrow, wide)
	}
}

// TestTableInChinese: headings, kinds, statuses and reasons are Chinese, ids and commands are as they were, and the columns stand below
// each other although a Chinese character is as wide as two others.
func TestTableInChinese(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p3 2026-11-28 10:00:00 21.00", "p4 2026-11-28 10:00:00")
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00", "p3 2026-11-28 10:00:00"))
	chinese := tableOf(t, []reconcile.Item{{Report: r}}, reconcile.Look{Lang: lang.Chinese})
	for _, want := range []string{"账簿缺失 missing_local", "账单缺失 missing_provider", "金额不符 amount_mismatch", "回调从未到达，或被拒收", "账单为 20.00 CNY，账簿为 21.00 CNY",
		"app callbacks list --account shop --date 2026-11-28", "3 处差异", "控制总数：无", "原因：", "下一步："} {
		if !strings.Contains(chinese, want) {
			t.Errorf("%q is missing in\n%s", want, chinese)
		}
	}
	for _, g := range r.Gaps {
		if !strings.Contains(chinese, g.ID) || !strings.Contains(chinese, g.TransactionID) {
			t.Errorf("%s, %s is missing", g.ID, g.TransactionID)
		}
	}
	lines := strings.Split(chinese, "\n")
	head := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "差异号") })
	columnOf := func(line, word string) int {
		before, _, found := strings.Cut(line, word)
		if !found {
			t.Fatalf("no %s in %q", word, line)
		}
		return text.StringWidth(before)
	}
	if got, want := columnOf(lines[head+2], "p1"), columnOf(lines[head], "交易号"); got != want {
		t.Errorf("the transaction stands at %d, its heading at %d:\n%s", got, want, strings.Join(lines[head:head+3], "\n"))
	}
	var asCSV bytes.Buffer
	if err := reconcile.WriteCSV(&asCSV, []reconcile.Item{{Report: r}}, lang.Chinese); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&asCSV).ReadAll()
	if err != nil || len(rows) != 4 || rows[0][0] != "账号" || rows[1][3] != "账簿缺失" || !slices.Contains(rows[0], reconcile.ColumnDecision) {
		t.Errorf("CSV: %v, %v", rows, err)
	}
	if got := tableOf(t, []reconcile.Item{{Report: r}}, reconcile.Look{}); strings.IndexFunc(got, func(c rune) bool { return unicode.Is(unicode.Han, c) }) >= 0 {
		t.Errorf("in English it has Chinese:\n%s", got)
	}
}

// TestEveryReasonInChinese: what the kits' statements find is said in Chinese, and nothing of it is left in English.
func TestEveryReasonInChinese(t *testing.T) {
	english := regexp.MustCompile(`\b(the|book|order|payment|refund|which|this|of)\b`)
	b := sqlite(t)
	ledgerRows := []string{"p3 2026-11-28 10:00:00 21.00", "p4 2026-11-28 10:00:00", "p5 2026-11-28 10:00:00"}
	paid(t, b, ledgerRows...)
	book(t, b, "shop", movement{Kind: models.Payment, TransactionID: "p9", OrderID: "nobody", Amount: "5.00", Currency: "CNY", Status: "succeeded", OccurredAt: "2026-11-28T10:00:00+08:00"})
	r := run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 10:00:00", "p3 2026-11-28 10:00:00", "p5 2026-11-28 10:00:00 20.00 failed",
		"p7 2026-11-28 10:00:00", "p7 2026-11-28 10:00:00", "p8 2026-11-28 10:00:00", "p8 2026-11-28 10:00:00 22.00", "p6 2026-11-27 10:00:00",
		"p9,nobody,payment,5.00,CNY,succeeded,2026-11-28 10:00:00,,"))
	kinds := map[models.GapKind]bool{}
	for _, g := range r.Gaps {
		kinds[g.Kind] = true
		said := lang.Chinese.Sentence(g.Reason)
		if said == g.Reason || english.MatchString(said) {
			t.Errorf("%s: %q is %q", g.Kind, g.Reason, said)
		}
	}
	if len(kinds) < 7 {
		t.Errorf("%d kinds of gaps only: %v", len(kinds), kinds)
	}
}

// TestWriteRepair: every item is told with its reason, in a table where the terminal has room for one and line by line where not, and
// nothing of a stranger steers the terminal.
func TestWriteRepair(t *testing.T) {
	r := &reconcile.RepairReport{ID: "r1", Account: "wechat", Date: "2026-11-28", State: models.RepairApplied, MadeBy: "wang\x1b[2J", MadeAt: "2026-11-29T09:00:00+08:00",
		Items: []reconcile.RepairItemReport{
			{GapID: "a1", State: models.ItemBooked, Kind: models.Payment, TransactionID: "p1", OrderID: "O1", Amount: "9.90", Currency: "CNY", Status: models.StatusSucceeded,
				Outcome: models.OutcomeApplied, Messages: []string{"order.paid"}, Why: "planned so", Result: "the book has it by now"},
			{GapID: "b2", GapKind: models.GapAmount, State: models.ItemNotRepairable, Kind: models.Payment, TransactionID: "p2\x1b[2J",
				Why: "there is nothing to book", Next: "app orders show O2"},
		}}
	for _, width := range []int{0, 40, 80, 250} {
		var out bytes.Buffer
		if err := reconcile.WriteRepair(&out, r, reconcile.Look{Width: width}); err != nil {
			t.Fatal(err)
		}
		plain := out.String()
		for _, want := range []string{"repair r1", "order.paid", "9.90 CNY", "why: the book has it by now", "not repairable", "why: there is nothing to book", "next: app orders show O2"} {
			if !strings.Contains(strings.Join(strings.Fields(plain), " "), want) {
				t.Errorf("width %d: %q is missing in\n%s", width, want, plain)
			}
		}
		if narrow := strings.Contains(plain, "the shop is told: order.paid"); narrow != (width == 40 || width == 80) || strings.Contains(plain, "\x1b") || strings.Contains(plain, "planned so") {
			t.Errorf("width %d: printed as\n%s", width, plain)
		}
	}
	var out bytes.Buffer
	if err := reconcile.WriteRepair(&out, r, reconcile.Look{Lang: lang.Chinese}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"补单 r1", "账簿已有记录", "不能补单", "没有可记账的内容"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
