package cmd

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A Chinese document is the English one: the same sections, tables, code and figures. Prose may be laid out as a language likes, and
// comments in code and labels in diagrams are translated.
func TestReadmesKeepStep(t *testing.T) {
	for _, name := range []string{"README", "docs/orders", "docs/reconcile"} {
		english, chinese := readme(t, name+languages[0]), readme(t, name+languages[1])
		if base := path.Base(name); !strings.Contains(english, "[中文]("+base+languages[1]+")") || !strings.Contains(chinese, "[English]("+base+languages[0]+")") {
			t.Errorf("%s: the languages do not lead to each other", name)
		}
		a, b := outline(english), outline(chinese)
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				t.Errorf("%s: the languages part here:\n%q\n%q", name, a[min(i, len(a)):min(i+3, len(a))], b[min(i, len(b)):min(i+3, len(b))])
				break
			}
		}
	}
}

// What outline leaves out is seen to be left out, and nothing else is.
func TestOutline(t *testing.T) {
	const text = "# A\n\nfive is 5\n\n| a | b |\n\n```sh\nrun  # it\n```\n\n```go\nx := 1 // one\n```\n\n```mermaid\nA -- yes --> B\n```\n"
	for change, same := range map[[2]string]bool{
		{"five is 5", "5 五"}: true, {"# it", "# 它"}: true, {"yes", "是"}: true, {"| a |", "| 甲 |"}: true, {"# A", "# 甲"}: true,
		{"five is 5", "five is 6"}: false, {"run", "go"}: false, {"// one", "// 一"}: false, {"| b |", "|"}: false, {"-->", "---"}: false, {"# A", "## A"}: false,
	} {
		if got := slices.Equal(outline(text), outline(strings.Replace(text, change[0], change[1], 1))); got != same {
			t.Errorf("%q: the same outline: %v, want %v", change, got, same)
		}
	}
}

func readme(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile("../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var (
	figure  = regexp.MustCompile(`[0-9]+([.,][0-9]+)*`)
	remark  = regexp.MustCompile(`(^|\s+)#.*`)
	drawing = regexp.MustCompile(`^\s*\w+|-->|\.->|--|-\.`)
)

// outline is what two languages of one document have in common: the level of each heading, the cells of each row, code, marks, and the
// figures of each section.
func outline(text string) (lines []string) {
	var figures []string
	endSection := func() {
		slices.Sort(figures)
		lines, figures = append(lines, fmt.Sprint("figures ", figures)), nil
	}
	code := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence:
			code = fence
			lines = append(lines, line)
		case code != "":
			lines = append(lines, codeLine(code, line))
		case strings.HasPrefix(line, "#"):
			endSection()
			level, _, _ := strings.Cut(line, " ")
			lines = append(lines, level)
		case strings.HasPrefix(line, "<"):
			mark, _, _ := strings.Cut(line, ">")
			lines = append(lines, mark)
		default:
			if cells := strings.Count(line, "|"); strings.HasPrefix(line, "|") {
				lines = append(lines, fmt.Sprint(cells, " cells"))
			}
			figures = append(figures, figure.FindAllString(line, -1)...)
		}
	}
	endSection()
	return lines
}

// codeLine is the line without what may be translated in it.
func codeLine(language, line string) string {
	switch language {
	case "sh", "yaml":
		return remark.ReplaceAllString(line, "")
	case "mermaid":
		return strings.Join(drawing.FindAllString(line, -1), " ")
	}
	return line
}
