package reconcile

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"paybook/reconcile/lang"
)

// WriteBridges prints bridges for people.
func WriteBridges(w io.Writer, list []Bridge, look Look) error {
	var all strings.Builder
	p := printer{&all, look}
	p.bridges("payout", list)
	_, err := io.WriteString(w, all.String())
	return err
}

// bridgesMax is how many bridges are drawn of each sort: a marketplace has thousands a day.
const bridgesMax = 20

// bridges sets each payout's rows under the totals, as a sum: step by step down to what was paid, and what that leaves over.
func (p *printer) bridges(title string, list []Bridge) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Bridge) int { // what is wrong first
		switch {
		case a.Off() && !b.Off():
			return -1
		case b.Off() && !a.Off():
			return 1
		}
		return 0
	})
	if more := len(list) - bridgesMax; more > 0 {
		defer p.line("  %s", p.Lang.Text("and %d more payouts: app payouts list, or --format json", more))
		list = list[:bridgesMax]
	}
	for i := range list {
		b := &list[i]
		head := p.Lang.Text(title)
		if b.PayoutID != "" {
			head += " " + Plain(b.PayoutID)
		}
		if b.Date != "" {
			head += "  " + b.Date
		}
		if b.Status != "" {
			head += "  " + p.Lang.Word(string(b.Status))
		}
		p.line("")
		p.line("  %s", p.paint(bold, head))
		p.lines(rendered(p.bridge(b)))
	}
}

func (p *printer) bridge(b *Bridge) table.Writer {
	t := p.table("", "rows", b.Currency)
	for _, s := range b.Steps {
		t.AppendRow(table.Row{p.Lang.Word(s.Step), rows(s.Count), signed(s.Amount)})
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{p.Lang.Text("expected"), "", signed(b.Expected)})
	if b.Paid != "" {
		t.AppendRow(table.Row{p.Lang.Text("paid"), "", signed(b.Paid)})
	}
	color := green
	switch {
	case b.Off():
		color = red
	case b.RemainderIs != remainderNone:
		color = yellow
	}
	t.AppendRow(table.Row{p.Lang.Text("remainder"), "", p.paint(color, signed(b.Remainder)), p.paint(color, WhyRemainder(b.RemainderIs, p.Lang))})
	t.SetColumnConfigs(rightAligned(2, 3))
	return t
}

// WhyRemainder says why something is left over; nothing where nothing is.
func WhyRemainder(remainderIs string, l lang.Language) string {
	if remainderIs == remainderNone {
		return ""
	}
	return l.Sentence(remainderIs)
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
