package reconcile

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// bank sets what came to a bank account beside the payouts that it is.
func (p *printer) bank(b *BankReport) {
	if b == nil {
		return
	}
	for _, s := range b.Statements {
		text := "  statement"
		if s.Number != "" {
			text += " " + plain(s.Number)
		}
		text += " of " + s.From
		if s.To != s.From {
			text += " to " + s.To
		}
		text += ": " + plural(s.Lines, "line")
		if s.Opening != "" {
			text += ", " + s.Opening + " before, " + s.Closing + " " + b.Currency + " after"
		}
		p.line("%s", text)
	}
	if b.Pending > 0 {
		p.line("  %s announced and not booked: not counted", plural(b.Pending, "line"))
	}
	if len(b.Matched) == 0 {
		return
	}
	t := p.table()
	t.AppendHeader(table.Row{"payout", "of", "paid", "amount", "came", "as", "amount", "bank fee", "found by"})
	for _, m := range b.Matched {
		var ids, accounts, paid, amounts, came, lines, sums []string
		for _, o := range m.Payouts {
			ids, accounts, paid = append(ids, plain(o.PayoutID)), append(accounts, o.Account), append(paid, o.Date)
			amounts = append(amounts, o.Amount+" "+o.Currency)
		}
		for _, l := range m.Lines {
			came, lines, sums = append(came, l.Date), append(lines, plain(l.Reference)), append(sums, l.Amount+" "+b.Currency)
		}
		fee := m.BankFee
		if m.BankFee == m.Difference && strings.Trim(fee, "0.") == "" {
			fee = ""
		}
		t.AppendRow(table.Row{block(ids), block(accounts), block(paid), block(amounts), block(came), block(lines), block(sums), fee, m.How})
	}
	t.SetColumnConfigs(append(rightAligned(4, 4), rightAligned(7, 8)...))
	p.line("%s", t.Render())
}

func block(lines []string) string { return strings.Join(lines, "\n") }
