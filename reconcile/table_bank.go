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
			days += " – " + s.To
		}
		text := p.Lang.Text("statement %s of %s: %s", Plain(s.Number), days, p.Lang.Count(s.Lines, "line"))
		if s.Number == "" { // a CSV file has none
			text = p.Lang.Text("statement of %s: %s", days, p.Lang.Count(s.Lines, "line"))
		}
		if s.Opening != "" {
			text += p.Lang.Text(", %s before, %s after", s.Opening+" "+b.Currency, s.Closing+" "+b.Currency)
		}
		p.sentence("  ", text)
	}
	if b.Pending > 0 {
		p.line("  %s", p.Lang.Text("%s announced and not booked: not counted", p.Lang.Count(b.Pending, "line")))
	}
	if len(b.Matched) == 0 {
		return
	}
	t := p.table("payout", "account", "paid", "amount", "booked", "reference", "amount", "bank fee", "found by")
	for _, m := range b.Matched {
		t.AppendRow(p.bankMatch(b, m))
	}
	t.SetColumnConfigs(append(rightAligned(4, 4), rightAligned(7, 8)...))
	p.line("")
	p.lines(rendered(t))
}

func (p *printer) bankMatch(b *BankReport, m BankMatchReport) table.Row {
	var ids, accounts, paid, amounts, booked, references, sums []string
	for _, o := range m.Payouts {
		ids, accounts, paid = append(ids, Plain(o.PayoutID)), append(accounts, o.Account), append(paid, o.Date)
		amounts = append(amounts, o.Amount+" "+o.Currency)
	}
	for _, l := range m.Lines {
		booked, references, sums = append(booked, l.Date), append(references, Plain(l.Reference)), append(sums, l.Amount+" "+b.Currency)
	}
	fee := m.BankFee
	if strings.Trim(fee, "0.") == "" {
		fee = ""
	}
	below := func(lines []string) string { return strings.Join(lines, "\n") }
	return table.Row{below(ids), below(accounts), below(paid), below(amounts), below(booked), below(references), below(sums), fee, p.Lang.Word(m.How)}
}
