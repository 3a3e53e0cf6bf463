package reconcile

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"paybook/models"
)

// tableMax is how many gaps of a list a table shows: nobody reads more, and every one is laid out in memory.
const tableMax = 1000

// gaps prints a list, kind by kind.
func (p *printer) gaps(title string, gaps []GapReport) {
	if len(gaps) == 0 {
		return
	}
	p.line("")
	if title != "" {
		p.line("  %s", p.Lang.Text(title))
	}
	more := len(gaps) - tableMax
	gaps = gaps[:min(len(gaps), tableMax)]
	kinds := map[models.GapKind][]*GapReport{}
	var order []models.GapKind
	for i := range gaps {
		kind := gaps[i].Kind
		if kinds[kind] == nil {
			order = append(order, kind)
		}
		kinds[kind] = append(kinds[kind], &gaps[i])
	}
	for _, kind := range order {
		p.kind(kind, kinds[kind])
	}
	if more > 0 {
		p.line("  %s", p.Lang.Text("and %d more: app gaps list, or --format json", more))
	}
}

// kind prints the gaps of one kind: a table of them when the width allows it, each with its reason and what to do below.
func (p *printer) kind(kind models.GapKind, gaps []*GapReport) {
	color := yellow
	if gaps[0].State == models.GapOpen {
		color = red
	}
	name := string(kind)
	if word := p.Lang.Word(name); word != name {
		name = word + " " + name
	}
	p.line("  %s  %s", p.paint(color, name), p.paint(dim, p.Lang.Count(len(gaps), "gap")))
	lines := rendered(p.gapTable(gaps))
	beside := p.fits(lines)
	if beside {
		p.lines(lines[:2])
	}
	for i, g := range gaps {
		if beside {
			p.line("%s", lines[2+i])
		} else {
			p.card(g)
		}
		next := g.Next
		if g.State != models.GapOpen {
			next = ""
		}
		p.because(p.Lang.Sentence(g.Reason), next)
	}
}

// because prints a reason and what to type next, where there is one, below what they are about.
func (p *printer) because(reason, next string) {
	if reason != "" {
		p.sentence("    "+p.label("why"), Plain(reason))
	}
	p.named("next", p.paint(bold, Plain(next)))
}

// fits says whether lines are no wider than the terminal.
func (p *printer) fits(lines []string) bool {
	return p.Width <= 0 || !slices.ContainsFunc(lines, func(line string) bool { return text.StringWidthWithoutEscSequences(line) > p.Width })
}

// card is a gap in a terminal that is too narrow for the table.
func (p *printer) card(g *GapReport) {
	head := []string{g.ID, g.Date, p.Lang.Word(string(g.EntryKind)), Plain(g.TransactionID)}
	p.line("  %s", strings.Join(slices.DeleteFunc(head, func(s string) bool { return s == "" }), "  "))
	for _, row := range []struct{ name, value string }{
		{"order", Plain(g.OrderID)}, {"statement", p.side(g.Statement, 0)}, {"book", p.side(g.Ledger, 0)}, {"order asks", p.side(g.Order, 0)},
	} {
		p.named(row.name, row.value)
	}
}

// named prints a value of a card behind its name, where there is one.
func (p *printer) named(name, value string) {
	if value != "" {
		p.line("    %s%s", p.label(name), value)
	}
}

// label is the name of what follows it.
func (p *printer) label(name string) string {
	return p.paint(dim, p.Lang.Text("%s: ", p.Lang.Text(name)))
}

// gapTable has one line a gap, and only the columns that any of them fills.
func (p *printer) gapTable(gaps []*GapReport) table.Writer {
	columns := []struct {
		head  string
		right bool
		of    func(*GapReport) string
	}{
		{"gap", false, func(g *GapReport) string { return g.ID }},
		{"day", false, func(g *GapReport) string { return g.Date }},
		{"of", false, func(g *GapReport) string { return p.Lang.Word(string(g.EntryKind)) }},
		{"transaction", false, func(g *GapReport) string { return Plain(g.TransactionID) }},
		{"order", false, func(g *GapReport) string { return Plain(g.OrderID) }},
		{"statement", true, p.sides(gaps, func(g *GapReport) *models.Side { return g.Statement })},
		{"book", true, p.sides(gaps, func(g *GapReport) *models.Side { return g.Ledger })},
		{"order asks", true, p.sides(gaps, func(g *GapReport) *models.Side { return g.Order })},
	}
	var heads []string
	var right []table.ColumnConfig
	rows := make([]table.Row, len(gaps))
	for _, c := range columns {
		if !slices.ContainsFunc(gaps, func(g *GapReport) bool { return c.of(g) != "" }) {
			continue
		}
		heads = append(heads, c.head)
		for i, g := range gaps {
			rows[i] = append(rows[i], c.of(g))
		}
		if c.right {
			right = append(right, rightAligned(len(heads), len(heads))...)
		}
	}
	t := p.table(heads...)
	t.AppendRows(rows)
	t.SetColumnConfigs(right)
	return t
}

// sides prints one side of each gap, the statuses as wide as the longest, so that the amounts stand below each other.
func (p *printer) sides(gaps []*GapReport, of func(*GapReport) *models.Side) func(*GapReport) string {
	width := 0
	for _, g := range gaps {
		if s := of(g); s != nil {
			width = max(width, text.StringWidth(p.Lang.Word(s.Status)))
		}
	}
	return func(g *GapReport) string { return p.side(of(g), width) }
}

// side is an amount with its status, filled up to a width.
func (p *printer) side(s *models.Side, width int) string {
	if s == nil {
		return ""
	}
	status := p.Lang.Word(s.Status)
	out := Plain(s.Amount + " " + s.Currency)
	if s.Fee != "" {
		out += " " + p.Lang.Text("fee") + " " + Plain(s.Fee)
	}
	if width == 0 && status == "" {
		return out
	}
	return out + " " + Plain(status) + strings.Repeat(" ", max(0, width-text.StringWidth(status)))
}
