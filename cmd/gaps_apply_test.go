package cmd

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"paybook/models"
	"paybook/reconcile"
)

// sheetOf is a list of gaps as CSV cells, heading first.
func sheetOf(t *testing.T, s *shell) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(s.ok("gaps", "list", "--format", "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// fill writes cells into the row of a gap: "column=text".
func fill(t *testing.T, rows [][]string, id string, cells ...string) {
	t.Helper()
	for _, row := range rows[1:] {
		if row[slices.Index(rows[0], reconcile.ColumnGap)] != id {
			continue
		}
		for _, c := range cells {
			column, text, _ := strings.Cut(c, "=")
			row[slices.Index(rows[0], column)] = text
		}
		return
	}
	t.Fatalf("no row of gap %s", id)
}

func sheetText(rows [][]string, comma rune, crlf bool) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = comma, crlf
	_ = w.WriteAll(rows) // into memory
	return b.String()
}

func utf16(t *testing.T, text string) string {
	t.Helper()
	out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// xlsxFile writes cells into a workbook: the list on its second sheet below a title, each cell as text unless it is set otherwise.
func xlsxFile(t *testing.T, rows [][]string, set map[string]any) string {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	if _, err := f.NewSheet("missing"); err != nil {
		t.Fatal(err)
	}
	put := func(sheet, at string, v any) {
		if err := f.SetCellValue(sheet, at, v); err != nil {
			t.Fatal(err)
		}
	}
	put("Sheet1", "A1", "summary")
	put("missing", "A1", "Gaps of 2026-11-27")
	for i, row := range rows {
		for j, text := range row {
			at, err := excelize.CoordinatesToCellName(j+1, i+3)
			if err != nil {
				t.Fatal(err)
			}
			put("missing", at, text)
		}
	}
	for at, v := range set {
		put("missing", at, v)
	}
	path := filepath.Join(t.TempDir(), "gaps.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSheetsOfEverySpreadsheet: however it was saved, the same is done, and only once.
func TestSheetsOfEverySpreadsheet(t *testing.T) {
	base, gaps := newGapsShell(t)
	raw, err := os.ReadFile(strings.TrimPrefix(base.global[3], "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	rows := sheetOf(t, base)
	fill(t, rows, gaps[0].ID, "decision=resolve", "note=paid \"by hand\", ticket 1;\n王")
	fill(t, rows, gaps[1].ID, "decision= Assign ", "owner='=wang", "due_on=2026/12/4", "note='-5 is theirs")
	fill(t, rows, gaps[2].ID, "decision=COMMENT", "note='tis late")
	due, err := excelize.CoordinatesToCellName(slices.Index(rows[0], reconcile.ColumnDueOn)+1, 5)
	if err != nil {
		t.Fatal(err)
	}
	plain := sheetText(rows, ',', false)
	for name, path := range map[string]string{
		"as written":     base.file("gaps.csv", plain),
		"Excel":          base.file("gaps.csv", "\uFEFF"+sheetText(rows, ',', true)),
		"Excel, Europe":  base.file("gaps.csv", "\uFEFF"+sheetText(rows, ';', true)),
		"said separator": base.file("gaps.csv", "sep=;\r\n"+sheetText(rows, ';', true)),
		"Unicode text":   base.file("gaps.txt", utf16(t, sheetText(rows, '\t', true))),
		"xlsx":           xlsxFile(t, rows, nil),
		"xlsx, a date":   xlsxFile(t, rows, map[string]any{due: 46360}),
	} {
		t.Run(name, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "app.db")
			write(t, db, string(raw), 0o600)
			s := &shell{t: t, global: []string{base.global[0], base.global[1], "--database", "sqlite:" + db}}
			var out appliedJSON
			if s.json(&out, "gaps", "apply", path, "--dry-run"); out.Applied || out.Changed != 3 || s.gap(gaps[0].ID).State != models.GapOpen {
				t.Errorf("dry run: %+v", out)
			}
			if s.json(&out, "gaps", "apply", path); !out.Applied || out.Changed != 3 || out.Unchanged != 0 {
				t.Errorf("applied: %+v", out)
			}
			before := s.ok("audit", "verify")
			if s.json(&out, "gaps", "apply", path); out.Changed != 0 || out.Unchanged != 3 || s.ok("audit", "verify") != before {
				t.Errorf("applied again: %+v", out)
			}
			resolved, assigned, commented := s.gap(gaps[0].ID), s.gap(gaps[1].ID), s.gap(gaps[2].ID)
			if resolved.State != models.GapResolved || resolved.Resolution != "paid \"by hand\", ticket 1;\n王" {
				t.Errorf("resolved: %+v", resolved.GapReport)
			}
			if assigned.Owner != "=wang" || assigned.DueOn != "2026-12-04" || !strings.Contains(assigned.History[1].Text, "-5 is theirs") {
				t.Errorf("assigned: %+v", assigned)
			}
			if last := commented.History[len(commented.History)-1]; !strings.HasPrefix(last.Text, "commented: 'tis late, from "+filepath.Base(path)) {
				t.Errorf("commented: %+v", last)
			}
			if s.gap(gaps[3].ID).State != models.GapOpen || len(s.gap(gaps[3].ID).History) != 1 {
				t.Error("something was done about a row without a decision")
			}
		})
	}
}

func (s *shell) gap(id string) (g gapWithHistory) {
	s.t.Helper()
	s.json(&g, "gaps", "show", id)
	return g
}

// TestFaultsOfASheet: every one is told, with its row and column, and nothing is applied.
func TestFaultsOfASheet(t *testing.T) {
	s, gaps := newGapsShell(t)
	rows := sheetOf(t, s)
	good := slices.Clone(rows[1])
	at := func(column string) int { return slices.Index(rows[0], column) }
	add := func(cells ...string) {
		row := slices.Clone(rows[2])
		for _, c := range cells {
			column, text, _ := strings.Cut(c, "=")
			row[at(column)] = text
		}
		rows = append(rows, row)
	}
	rows = rows[:3]
	rows[1] = good
	fill(t, rows, gaps[0].ID, "decision=resolve", "note=fine")
	want := []string{}
	bad := func(column, says string, cells ...string) {
		add(cells...)
		want = append(want, fmt.Sprintf("gaps.csv: row %d: column %s: |%s", len(rows), column, says))
	}
	bad("decision", `"fix" is no decision`, "decision=fix", "note=x", "gap_id=a0")
	bad("decision", "app repair apply", "decision=repair", "gap_id="+gaps[3].ID)
	bad("note", "resolve needs words", "decision=resolve", "gap_id=abcd", "evidence=h0123456789abcdef")
	bad("gap_id", "about no gap", "decision=comment", "note=x", "gap_id=")
	bad("gap_id", "rounded", "decision=comment", "note=x", "gap_id=1.23457E+15")
	bad("gap_id", "no whole id", "decision=comment", "note=x", "gap_id=x y")
	bad("gap_id", "there is no gap ffffffffffffffff", "decision=comment", "note=x", "gap_id=ffffffffffffffff")
	bad("gap_id", "decided already in row 2", "decision=comment", "note=x", "gap_id="+gaps[0].ID)
	bad("evidence", "empty", "decision=comment", "note=x", "gap_id=aa", "evidence=")
	bad("evidence", "copy it", "decision=comment", "note=x", "gap_id=ab", "evidence=1")
	bad("evidence", "changed since", "decision=comment", "note=x", "gap_id="+gaps[2].ID, "evidence=h0123456789abcdef")
	bad("due_on", "which is the day", "decision=assign", "owner=li", "due_on=12/4/2026", "gap_id=ac")
	bad("due_on", "no such day", "decision=assign", "owner=li", "due_on=2026-13-01", "gap_id=ad")
	bad("due_on", "a number", "decision=assign", "owner=li", "due_on=46360", "gap_id=ae")
	bad("note", "formula", "decision=comment", "note=#NAME?", "gap_id=af")
	bad("decision", "open, not resolved", "decision=reopen", "note=x", "gap_id="+gaps[1].ID)
	path := s.file("gaps.csv", sheetText(rows, ',', false))
	before := s.ok("audit", "verify")
	code, out, talk := s.run("gaps", "apply", path)
	if code != exitFailed || out != "" || s.ok("audit", "verify") != before {
		t.Errorf("exit %d, %s", code, out)
	}
	lines := strings.Split(strings.TrimSpace(talk), "\n")
	if len(lines) != len(want)+1 || lines[len(lines)-1] != fmt.Sprintf("app: gaps.csv: %d faults; nothing was applied", len(want)) {
		t.Fatalf("%d faults wanted, told:\n%s", len(want), talk)
	}
	for i, w := range want {
		place, says, _ := strings.Cut(w, "|")
		if !strings.HasPrefix(lines[i], place) || !strings.Contains(lines[i], says) {
			t.Errorf("told  %s\nwant  %s… %s", lines[i], place, says)
		}
	}
	var told appliedJSON
	code, out, _ = s.run("gaps", "apply", path, "--format", "json")
	if decode(t, out, &told); code != exitFailed || told.Applied || len(told.Faults) != len(want) || told.Faults[0].Row != 4 || told.Faults[0].Column != "decision" {
		t.Errorf("exit %d, %+v", code, told)
	}
}

// TestFilesThatAreNoSheet are told as a whole.
func TestFilesThatAreNoSheet(t *testing.T) {
	s, gaps := newGapsShell(t)
	rows := sheetOf(t, s)
	fill(t, rows, gaps[0].ID, "decision=resolve", "note=已退款")
	text := sheetText(rows, ',', false)
	gbk, err := simplifiedchinese.GBK.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	twice := slices.Clone(rows)
	twice[0] = append(slices.Clone(rows[0]), "note")
	for name, c := range map[string]struct{ content, want string }{
		"empty":              {"", "empty"},
		"no list":            {"a,b\n1,2\n", "row 1: this is not the heading"},
		"no evidence":        {"gap_id,decision,note\n", "no column evidence"},
		"no decision":        {"gap_id,evidence\n", "no column decision"},
		"GBK":                {gbk, "row 2: not UTF-8: a spreadsheet has saved it in another encoding; save it as \"CSV UTF-8\" or as .xlsx; or say --lang zh if it is GBK"},
		"UTF-16 unmarked":    {utf16(t, text)[2:], "not UTF-8"},
		"old xls":            {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".xls"},
		"broken workbook":    {"PK\x03\x04 broken", "not readable as a workbook"},
		"broken quotes":      {strings.Replace(text, "resolve,", `re"solve,`, 1), "row 2: "},
		"a column twice":     {sheetText(twice, ',', false), "column note: the column is there twice"},
		"comma in no quotes": {strings.Replace(text, "已退款", "已退款, by, hand", 1), "row 2: 2 cells more"},
	} {
		path := s.file("gaps.csv", c.content)
		code, out, talk := s.run("gaps", "apply", path)
		if code != exitFailed || out != "" || !strings.Contains(talk, c.want) || !strings.Contains(talk, "gaps.csv") || strings.Contains(talk, filepath.Dir(path)) {
			t.Errorf("%s: exit %d, %q; want %q", name, code, talk, c.want)
		}
	}
	s.fails([]string{"no such file"}, "gaps", "apply", filepath.Join(t.TempDir(), "none.csv"))
	s.fails([]string{"FILE is missing"}, "gaps", "apply")
	if g := s.gap(gaps[0].ID); g.State != models.GapOpen {
		t.Errorf("the gap is %s", g.State)
	}
	code, out, talk := s.run("gaps", "apply", s.file("gaps.csv", sheetText(sheetOf(t, s), ',', false)))
	if code != exitDone || out != "no decisions\n" {
		t.Errorf("without decisions: exit %d, %s%s", code, out, talk)
	}
}

// TestRowsAreCountedAsASpreadsheetDoes: a cell of several lines is one row, an empty line is one too.
func TestRowsAreCountedAsASpreadsheetDoes(t *testing.T) {
	s, gaps := newGapsShell(t)
	rows := sheetOf(t, s)
	fill(t, rows, gaps[0].ID, "decision=comment", "note=two\nlines")
	text := sheetText(rows, ',', false)
	lines := strings.SplitAfter(text, "\n")
	last := len(lines) - 2
	lines[last] = "\n" + strings.Replace(lines[last], ",,h", "what,,h", 1)
	s.fails([]string{"gaps.csv: row " + strconv.Itoa(len(rows)+1) + ": column decision", "nothing was applied"}, "gaps", "apply", s.file("gaps.csv", strings.Join(lines, "")))
}

// TestSheetOfARun: the CSV that `app reconcile` writes is filled in as well, and a gap that has changed since is refused.
func TestSheetOfARun(t *testing.T) {
	s, gaps := newGapsShell(t)
	_, out, _ := s.run("reconcile", "--date", "2026-11-27", "--account", "demopay", "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	fill(t, rows, gaps[0].ID, "decision=resolve", "note=paid by hand")
	fill(t, rows, gaps[1].ID, "decision=resolve", "note=paid by hand")
	path := s.file("gaps.csv", sheetText(rows, ',', false))
	s.ok("gaps", "assign", gaps[1].ID, "--to", "wang")
	s.fails([]string{"row ", "column evidence", "changed since", "of wang", "nothing was applied"}, "gaps", "apply", path)
	s.ok("gaps", "assign", gaps[1].ID, "--to", "")
	s.ok("gaps", "apply", path)
	s.ok("gaps", "reopen", gaps[1].ID, "--reason", "not so")
	s.fails([]string{"applied already", "reopened"}, "gaps", "apply", path)
}

// TestWorkbooksComeBack: filled in by hand, as `app gaps list` and `app reconcile` write them, in every language.
func TestWorkbooksComeBack(t *testing.T) {
	base, gaps := newGapsShell(t)
	raw, err := os.ReadFile(strings.TrimPrefix(base.global[3], "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"gaps list", "gaps list --lang zh", "reconcile --account demopay --date 2026-11-27", "reconcile --account demopay --date 2026-11-27 --lang zh"} {
		t.Run(command, func(t *testing.T) {
			db, book := filepath.Join(t.TempDir(), "app.db"), filepath.Join(t.TempDir(), "gaps.xlsx")
			write(t, db, string(raw), 0o600)
			s := &shell{t: t, global: []string{base.global[0], base.global[1], "--database", "sqlite:" + db}}
			if code, _, talk := s.run(append(strings.Fields(command), "--format", "xlsx", "--output", book)...); code == exitFailed {
				t.Fatal(talk)
			}
			if out := s.ok("gaps", "apply", book); out != "no decisions\n" {
				t.Errorf("as it was written: %s", out)
			}
			fillWorkbook(t, book, gaps[0].ID, map[string]any{"decision": "assign", "owner": "王", "due_on": time.Date(2026, 12, 4, 0, 0, 0, 0, time.UTC)})
			fillWorkbook(t, book, gaps[1].ID, map[string]any{"decision": "resolve", "note": "已退款"})
			var out appliedJSON
			if s.json(&out, "gaps", "apply", book); out.Changed != 2 {
				t.Errorf("applied: %+v", out)
			}
			one, two := s.gap(gaps[0].ID), s.gap(gaps[1].ID)
			if one.Owner != "王" || one.DueOn != "2026-12-04" || two.State != models.GapResolved || two.Resolution != "已退款" {
				t.Errorf("%+v\n%+v", one.GapReport, two.GapReport)
			}
		})
	}
}

// fillWorkbook writes cells into the row of a gap, on whichever sheet it is.
func fillWorkbook(t *testing.T, path, id string, cells map[string]any) {
	t.Helper()
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	written := 0
	for _, name := range f.GetSheetList() {
		rows, err := f.GetRows(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if !slices.Contains(row, id) || !slices.Contains(rows[0], reconcile.ColumnGap) {
				continue
			}
			for column, v := range cells {
				at, err := excelize.CoordinatesToCellName(slices.Index(rows[0], column)+1, i+1)
				if err != nil {
					t.Fatal(err)
				}
				if err := f.SetCellValue(name, at, v); err != nil {
					t.Fatal(err)
				}
				written++
			}
		}
	}
	if err := f.Save(); err != nil || written != len(cells) {
		t.Fatalf("%d cells written, %v", written, err)
	}
}
