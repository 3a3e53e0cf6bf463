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
		days := s.From
		if s.To != s.From {
			days = p.Lang.Text("%s to %s", s.From, s.To)
		}
		text := p.Lang.Text("statement %s of %s: %s", Plain(s.Number), days, p.Lang.Count(s.Lines, "line"))
		if s.Opening != "" {
			text += p.Lang.Text(", %s before, %s %s after", s.Opening, s.Closing, b.Currency)
		}
		p.line("  %s", strings.ReplaceAll(text, "  ", " ")) // a statement may have no number
	}
	if b.Pending > 0 {
		p.line("  %s", p.Lang.Text("%s announced and not booked: not counted", p.Lang.Count(b.Pending, "line")))
	}
	if len(b.Matched) == 0 {
		return
	}
	t := p.table()
	l := p.Lang
	t.AppendHeader(table.Row{l.Text("payout"), l.Text("account"), l.Text("paid"), l.Text("amount"), l.Text("came"), l.Text("bank's reference"), l.Text("amount"),
		l.Text("bank fee"), l.Text("found by")})
	for _, m := range b.Matched {
		var ids, accounts, paid, amounts, came, lines, sums []string
		for _, o := range m.Payouts {
			ids, accounts, paid = append(ids, Plain(o.PayoutID)), append(accounts, o.Account), append(paid, o.Date)
			amounts = append(amounts, o.Amount+" "+o.Currency)
		}
		for _, l := range m.Lines {
			came, lines, sums = append(came, l.Date), append(lines, Plain(l.Reference)), append(sums, l.Amount+" "+b.Currency)
		}
		fee := m.BankFee
		if m.BankFee == m.Difference && strings.Trim(fee, "0.") == "" {
			fee = ""
		}
		t.AppendRow(table.Row{block(ids), block(accounts), block(paid), block(amounts), block(came), block(lines), block(sums), fee, l.Word(m.How)})
	}
	t.SetColumnConfigs(append(rightAligned(4, 4), rightAligned(7, 8)...))
	p.line("%s", t.Render())
}

func block(lines []string) string { return strings.Join(lines, "\n") }
