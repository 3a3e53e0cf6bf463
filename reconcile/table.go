package reconcile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"paybook/models"
)

// The colours of a report, as a terminal is told them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

// printer writes reports for people.
type printer struct {
	w     io.Writer
	color bool
	width int
}

// WriteTable prints the items for people: per account what was read, the totals, the gaps and what to do next. width is the
// terminal's, 0 when there is none; only the reasons are broken to fit, never an id or an amount.
func WriteTable(w io.Writer, items []Item, color bool, width int) error {
	var text strings.Builder
	p := printer{&text, color, width}
	for i, item := range items {
		if i > 0 {
			p.line("")
		}
		if item.Err != nil {
			p.line("%s  %s", p.paint(bold, plain(item.Account)), p.paint(red, "could not be run"))
			p.line("  %s", plain(item.Err.Error()))
			continue
		}
		p.report(item.Report)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

func (p *printer) report(r *Report) {
	result := p.paint(green, "balanced")
	if r.Result != models.Balanced {
		result = p.paint(red, plural(len(r.Gaps), "gap"))
	}
	p.line("%s  %s  %s  %s", p.paint(bold, plain(r.Account)), r.Date, r.TimeZone, result)
	for _, f := range r.Statement.Files {
		p.line("  %s  sha256 %.12s", plain(f.Name), f.SHA256)
	}
	switch {
	case len(r.Statement.Files) > 0:
	case len(r.Statement.LeftOut) > 0:
		p.line("  no new statement")
	default:
		p.line("  no statement: declared so")
	}
	for _, note := range r.Notes {
		p.line("  %s", plain(note))
	}
	p.line("  control totals: %s; %s read, %d compared, %d matched; %s in the book", r.Statement.ControlTotals,
		plural(int(r.Statement.Entries), "row"), r.Compared, r.Matched, plural(int(r.Ledger.Transactions), "transaction"))
	p.totals(r)
	p.bridges("payout", r.Bridges)
	p.bridges("rows of no payout", r.NotPaidOut)
	p.gaps("", r.Gaps)
	p.gaps("carried: waits for a neighbouring day's statement", r.Carried)
	p.gaps("healed", r.Healed)
	p.gaps("accepted: resolved by a person, still there", r.Accepted)
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (p *printer) table() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.SeparateRows = false
	return t
}

// totals sets the two sides beside each other.
func (p *printer) totals(r *Report) {
	type pair struct{ statement, ledger Total }
	pairs := map[totalKey]*pair{}
	var keys []totalKey
	of := func(t Total) *pair {
		k := totalKey{t.Kind, t.Currency}
		if pairs[k] == nil {
			pairs[k] = &pair{}
			keys = append(keys, k)
		}
		return pairs[k]
	}
	for _, t := range r.Statement.Totals {
		of(t).statement = t
	}
	for _, t := range r.Ledger.Totals {
		of(t).ledger = t
	}
	if len(keys) == 0 {
		return
	}
	slices.SortFunc(keys, compareTotals)
	t := p.table()
	t.AppendHeader(table.Row{"", "currency", "statement", "amount", "fee", "book", "amount"})
	for _, k := range keys {
		s, l := pairs[k].statement, pairs[k].ledger
		t.AppendRow(table.Row{string(k.kind), k.currency, s.Count, s.Amount, s.Fee, l.Count, l.Amount})
	}
	t.SetColumnConfigs(rightAligned(3, 7))
	p.line("%s", t.Render())
}

// tableMax is how many gaps of a list a table shows: nobody reads more, and every one is laid out in memory.
const tableMax = 1000

// reasonMin is how narrow the reasons may get in the table; in a narrower terminal they stand below it.
const reasonMin = 30

func (p *printer) gaps(title string, gaps []GapReport) {
	if len(gaps) == 0 {
		return
	}
	if title != "" {
		p.line("  %s", title)
	}
	more := len(gaps) - tableMax
	gaps = gaps[:min(len(gaps), tableMax)]
	narrow := p.gapTable(gaps, false).Render()
	left := p.width - text.LongestLineLen(narrow) - len("  │")
	beside := p.width <= 0 || left >= reasonMin
	if beside {
		t := p.gapTable(gaps, true)
		t.SetColumnConfigs(append(gapColumns(), table.ColumnConfig{Number: 9, WidthMax: max(0, left), WidthMaxEnforcer: text.WrapSoft}))
		narrow = t.Render()
	}
	p.line("%s", narrow)
	if more > 0 {
		p.line("  and %d more: app gaps list, or --format json", more)
	}
	for i := range gaps {
		if !beside {
			p.line("  %s: %s", gaps[i].ID, plain(gaps[i].Reason))
		}
		if gaps[i].State == models.GapOpen {
			p.line("  %s  next: %s", gaps[i].ID, plain(gaps[i].Next))
		}
	}
}

func (p *printer) gapTable(gaps []GapReport, reasons bool) table.Writer {
	t := p.table()
	heads := table.Row{"gap", "kind", "of", "transaction", "order", "statement", "book", "order asks"}
	if reasons {
		heads = append(heads, "reason")
	}
	t.AppendHeader(heads)
	for i := range gaps {
		g := &gaps[i]
		kind := string(g.Kind)
		if g.Date != "" {
			kind += "\n(" + g.Date + ")"
		}
		color := yellow
		if g.State == models.GapOpen {
			color = red
		}
		row := table.Row{g.ID, p.paint(color, kind), string(g.EntryKind), plain(g.TransactionID), plain(g.OrderID),
			sideText(g.Statement), sideText(g.Ledger), sideText(g.Order)}
		if reasons {
			row = append(row, plain(g.Reason))
		}
		t.AppendRow(row)
	}
	t.SetColumnConfigs(gapColumns())
	return t
}

func gapColumns() []table.ColumnConfig { return rightAligned(6, 8) }

func rightAligned(from, to int) []table.ColumnConfig {
	var columns []table.ColumnConfig
	for n := from; n <= to; n++ {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return columns
}

func sideText(s *models.Side) string {
	if s == nil {
		return ""
	}
	text := s.Amount + " " + s.Currency + " " + s.Status
	if s.Fee != "" {
		text += "\nfee " + s.Fee
	}
	return plainLines(text)
}

// paint colours every line of a text on its own, as a table's cell is cut into lines.
func (p *printer) paint(color, s string) string {
	if !p.color {
		return s
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = "\x1b[" + color + "m" + lines[i] + "\x1b[0m"
	}
	return strings.Join(lines, "\n")
}

// plainLines is plain for a cell of several lines.
func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

// plain keeps a stranger's text from steering the terminal.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return '·'
		}
		return c
	}, s)
}
