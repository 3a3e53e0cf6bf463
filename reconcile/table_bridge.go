package reconcile

import (
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteBridges prints bridges for people.
func WriteBridges(w io.Writer, list []Bridge, color bool) error {
	var text strings.Builder
	p := printer{&text, color, 0}
	p.bridges("payout", list)
	_, err := io.WriteString(w, text.String())
	return err
}

// bridges sets each payout's rows under the totals, as a sum: step by step down to what was paid, and what that leaves over.
func (p *printer) bridges(title string, list []Bridge) {
	for i := range list {
		b := &list[i]
		head := title
		if b.PayoutID != "" {
			head += " " + plain(b.PayoutID)
		}
		if b.Date != "" {
			head += "  " + b.Date
		}
		if b.Status != "" {
			head += "  " + string(b.Status)
		}
		p.line("  %s", p.paint(bold, head))
		p.line("%s", p.bridge(b).Render())
	}
}

func (p *printer) bridge(b *Bridge) table.Writer {
	t := p.table()
	t.AppendHeader(table.Row{"", "rows", b.Currency})
	for _, s := range b.Steps {
		t.AppendRow(table.Row{s.Step, rows(s.Count), signed(s.Amount)})
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{"expected", "", signed(b.Expected)})
	if b.Paid != "" {
		t.AppendRow(table.Row{"paid", "", signed(b.Paid)})
	}
	color := green
	switch {
	case b.isOff():
		color = red
	case b.RemainderIs != remainderNone:
		color = yellow
	}
	t.AppendRow(table.Row{"remainder", "", p.paint(color, signed(b.Remainder)), p.paint(color, b.RemainderIs)})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight, AlignHeader: text.AlignRight}})
	return t
}

// rows: fees that stand in other rows have none of their own.
func rows(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// signed puts a plus before what is more than nothing, so that a sum can be read down.
func signed(amount string) string {
	if r, ok := new(big.Rat).SetString(amount); ok && r.Sign() > 0 {
		return "+" + amount
	}
	return amount
}
