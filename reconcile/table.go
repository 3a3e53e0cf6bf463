package reconcile

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"paybook/models"
	"paybook/reconcile/lang"
)

// Look is how a report for people looks. Its zero value is plain English of any width.
type Look struct {
	Lang  lang.Language // "": English
	Color bool
	Width int // columns of the terminal; 0: any number
}

// The colours of a report, as a terminal is told them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
	dim    = "2"
)

// printer writes reports for people.
type printer struct {
	w io.Writer
	Look
}

// WriteTable prints the items for people: per account what was read, the totals, the gaps and what to do next; of several accounts a
// summary at the end. Only sentences are broken to fit the width, never an id or an amount.
func WriteTable(w io.Writer, items []Item, look Look) error {
	var all strings.Builder
	p := printer{&all, look}
	for i, item := range items {
		if i > 0 {
			p.line("")
		}
		if item.Err != nil {
			p.line("%s  %s", p.paint(bold, Plain(item.Account)), p.paint(red, p.Lang.Text("could not be run")))
			p.sentence("  ", Plain(item.Err.Error()))
			continue
		}
		p.report(item.Report)
	}
	if len(items) > 1 {
		p.line("")
		p.inAll(items)
	}
	_, err := io.WriteString(w, all.String())
	return err
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// sentence prints a text behind an indent, on as many lines as the width makes of it.
func (p *printer) sentence(indent, s string) {
	if room := p.Width - text.StringWidthWithoutEscSequences(indent); p.Width > 0 && room >= reasonMin {
		s = text.WrapSoft(s, room)
	}
	blank := strings.Repeat(" ", text.StringWidthWithoutEscSequences(indent))
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			indent = blank
		}
		p.line("%s%s", indent, strings.TrimRight(line, " "))
	}
}

// reasonMin is how narrow a sentence may get: one that is told less room than that is left to the terminal.
const reasonMin = 30

func (p *printer) report(r *Report) {
	p.line("%s  %s  %s  %s", p.paint(bold, Plain(r.Account)), r.Date, r.TimeZone, p.result(r))
	for _, f := range r.Statement.Files {
		p.line("  %s  %s", Plain(f.Name), p.paint(dim, fmt.Sprintf("sha256 %.12s", f.SHA256)))
	}
	switch {
	case len(r.Statement.Files) > 0:
	case len(r.Statement.LeftOut) > 0:
		p.line("  %s", p.Lang.Text("no new statement"))
	default:
		p.line("  %s", p.Lang.Text("no statement: declared so"))
	}
	for _, note := range r.Notes {
		p.sentence("  ", Plain(p.Lang.Sentence(note)))
	}
	p.sentence("  ", p.Lang.Text("control totals: %s; %s read, %d compared, %d matched; %s in the book", p.Lang.Word(r.Statement.ControlTotals),
		p.Lang.Count(int(r.Statement.Entries), "row"), r.Compared, r.Matched, p.Lang.Count(int(r.Ledger.Transactions), "transaction")))
	p.totals(r)
	p.bridges("payout", r.Bridges)
	p.bridges("rows of no payout", r.NotPaidOut)
	p.bank(r.Bank)
	p.gaps("", r.Gaps)
	p.gaps("carried: waits for a neighbouring day's statement", r.Carried)
	p.gaps("healed", r.Healed)
	p.gaps("accepted: resolved by a person, still there", r.Accepted)
	if r.Repair != nil {
		p.line("")
		p.repair(r.Repair)
	}
}

// result is the run's, in its colour.
func (p *printer) result(r *Report) string {
	if r.Result == models.Balanced {
		return p.paint(green, p.Lang.Word(string(models.Balanced)))
	}
	return p.paint(red, p.Lang.Count(len(r.Gaps), "gap"))
}

// table is one without a frame, so that a column can be copied from the screen. The headings are translated.
func (p *printer) table(heads ...string) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	row := make(table.Row, len(heads))
	for i, head := range heads {
		row[i] = p.Lang.Text(head)
	}
	t.AppendHeader(row)
	return t
}

// rendered are a table's lines, indented, without blanks at their ends. The first two are the heading.
func rendered(t table.Writer) []string {
	lines := strings.Split(t.Render(), "\n")
	for i := range lines {
		lines[i] = "  " + strings.TrimRight(lines[i], " ")
	}
	return lines
}

func (p *printer) lines(lines []string) {
	for _, line := range lines {
		p.line("%s", line)
	}
}

func rightAligned(from, to int) []table.ColumnConfig {
	var columns []table.ColumnConfig
	for n := from; n <= to; n++ {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return columns
}

// paint colours every line of a text on its own, as a table's cell is cut into lines.
func (p *printer) paint(color, s string) string {
	if !p.Color || s == "" {
		return s
	}
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = "\x1b[" + color + "m" + lines[i] + "\x1b[0m"
	}
	return strings.Join(lines, "\n")
}

// Plain keeps a stranger's text from steering the terminal.
func Plain(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return '·'
		}
		return c
	}, s)
}
