package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/models"
	"paybook/reconcile"
)

// A list in Chinese opens in a spreadsheet as what it is, and comes back as a Chinese one saves it: in UTF-8 or in GBK.
func TestChineseSheetComesBack(t *testing.T) {
	for name, save := range map[string]func(string) (string, error){
		"UTF-8 with its mark": func(text string) (string, error) { return text, nil },
		"UTF-8 without":       func(text string) (string, error) { return strings.TrimPrefix(text, "\uFEFF"), nil },
		"GBK": func(text string) (string, error) {
			return simplifiedchinese.GBK.NewEncoder().String(strings.TrimPrefix(text, "\uFEFF"))
		},
		"GB18030 and semicolons": func(text string) (string, error) {
			return simplifiedchinese.GB18030.NewEncoder().String(strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), ",", ";"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, gaps := newGapsShell(t)
			path := filepath.Join(t.TempDir(), "gaps.csv")
			s.ok("gaps", "list", "--lang", "zh", "--format", "csv", "--output", path)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			heading, _, _ := strings.Cut(string(raw), "\n")
			if !strings.HasPrefix(heading, "\uFEFF账号,") {
				t.Fatalf("%q", heading)
			}
			columns := strings.Split(heading, ",")
			list, err := save(decided(string(raw), gaps[0].ID, columns, "comment", "与 WeChat 核对，镕喆"))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.ok("gaps", "apply", s.file("gaps.csv", list), "--lang", "zh"); !strings.Contains(got, gaps[0].ID) {
				t.Errorf("%s", got)
			}
			history := s.gap(gaps[0].ID).History
			if last := history[len(history)-1].Text; !strings.Contains(last, "与 WeChat 核对，镕喆") {
				t.Errorf("%q", last)
			}
		})
	}
}

// decided fills in the last columns of a gap's row, which are empty.
func decided(text, id string, columns []string, decision, note string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if cells := strings.Split(line, ","); strings.Contains(line, ","+id+",") {
			end := len(cells) - len(columns)
			cells[end+slices.Index(columns, reconcile.ColumnDecision)], cells[end+slices.Index(columns, reconcile.ColumnNote)] = decision, note
			lines[i] = strings.Join(cells, ",")
		}
	}
	return strings.Join(lines, "\n")
}

// What is neither UTF-8 nor GBK is refused in Chinese too, a pipe gets no mark, and an id that was rounded is said to be one.
func TestChineseSheetRefused(t *testing.T) {
	s, gaps := newGapsShell(t)
	if out := s.ok("gaps", "list", "--lang", "zh", "--format", "csv"); !strings.HasPrefix(out, "账号,") {
		t.Errorf("%.40q", out)
	}
	rows := sheetOf(t, s)
	fill(t, rows, gaps[0].ID, "decision=comment", "note=caf\xe9")
	s.fails([]string{"row 2", "neither UTF-8 nor GBK"}, "gaps", "apply", s.file("gaps.csv", sheetText(rows, ',', false)), "--lang", "zh")
	fill(t, rows, gaps[0].ID, "gap_id=1234567890123460", "note=ok")
	s.fails([]string{"row 2", "column gap_id", "there is no gap 1234567890123460", "rounded it"}, "gaps", "apply", s.file("gaps.csv", sheetText(rows, ',', false)))
	if g := s.gap(gaps[0].ID); g.State != models.GapOpen || len(g.History) != 1 {
		t.Errorf("%+v", g)
	}
}
