package xlsx

import (
	"slices"

	"paybook/models"
	"paybook/reconcile"
)

// summary writes what the runs come to: one line each, then the totals of both sides, the gaps by kind, the payouts and the notes.
func (b *workbook) summary(items []reconcile.Item) {
	b.widths()
	b.runs(items)
	var reports []*reconcile.Report
	for _, item := range items {
		if item.Report != nil {
			reports = append(reports, item.Report)
		}
	}
	b.totals(reports)
	b.kinds(reports)
	b.bridges(reports)
	b.bank(reports)
	b.repairs(reports)
	b.notes(reports)
}

func (b *workbook) widths() {
	for i, width := range []int{22, 18, 20, 20, 18, 14, 14, 14, 14, 14, 14, 40} {
		b.width(i+1, width)
	}
}

// block begins a table of the summary, below what stands there.
func (b *workbook) block(title string, heads ...string) {
	if b.row > 0 {
		b.row++ // a line between
	}
	b.put(b.styled("title", b.lang.Text(title)))
	for i := range heads {
		heads[i] = b.lang.Text(heads[i])
	}
	b.heads(heads)
}

type money struct{ amount, currency string }

// line writes a row of a table. A string is text, a money an amount, and what is left a number.
func (b *workbook) line(values ...any) {
	cells := make([]any, len(values))
	for i, value := range values {
		switch v := value.(type) {
		case string:
			cells[i] = b.text(v)
		case money:
			cells[i] = b.amount(v.amount, v.currency)
		default:
			cells[i] = b.styled("number", v)
		}
	}
	b.put(cells...)
}

func (b *workbook) runs(items []reconcile.Item) {
	b.block("Runs", "account", "provider", "date", "time zone", "result", "rows", "compared", "matched", "gaps", "carried", "healed", "run")
	for _, item := range items {
		if item.Err != nil {
			b.line(item.Account, "", "", "", b.lang.Text("could not be run"), "", "", "", "", "", "", item.Err.Error())
			continue
		}
		r := item.Report
		b.line(r.Account, r.Provider, r.Date, r.TimeZone, b.lang.Word(string(r.Result)), r.Statement.Entries, r.Compared, r.Matched,
			len(r.Gaps), len(r.Carried), len(r.Healed), r.RunID)
	}
}

func (b *workbook) totals(reports []*reconcile.Report) {
	b.block("Totals", "account", "date", "of", "currency", "statement", "amount", "fee", "book", "amount", "difference")
	for _, r := range reports {
		for _, p := range r.Pairs() {
			of := func(amount string) money { return money{amount, p.Currency} }
			b.line(r.Account, r.Date, b.lang.Word(string(p.Kind)), p.Currency, p.Statement.Count, of(p.Statement.Amount), of(p.Statement.Fee),
				p.Ledger.Count, of(p.Ledger.Amount), of(p.Difference))
		}
	}
}

func (b *workbook) kinds(reports []*reconcile.Report) {
	b.block("Gaps by kind", "account", "date", "kind", "word", "gaps")
	for _, r := range reports {
		for _, kind := range reconcile.SortedKinds(r.Summary) {
			b.line(r.Account, r.Date, b.lang.Word(string(kind)), string(kind), r.Summary[kind])
		}
	}
}

// bridges writes each payout's steps and what they come to.
func (b *workbook) bridges(reports []*reconcile.Report) {
	b.block("Payouts", "account", "payout", "date", "currency", "step", "rows", "amount", "")
	for _, r := range reports {
		for _, bridge := range slices.Concat(r.Bridges, r.NotPaidOut) {
			line := func(step string, rows any, amount string, more ...any) {
				b.line(append([]any{bridge.Account, bridge.PayoutID, bridge.Date, bridge.Currency, step, rows, money{amount, bridge.Currency}}, more...)...)
			}
			for _, s := range bridge.Steps {
				line(b.lang.Word(s.Step), s.Count, s.Amount)
			}
			line(b.lang.Text("expected"), nil, bridge.Expected)
			line(b.lang.Text("paid"), nil, bridge.Paid)
			line(b.lang.Text("remainder"), nil, bridge.Remainder, b.lang.Sentence(bridge.RemainderIs))
		}
	}
}

// bank writes which lines of a bank were found to be which payouts, a line for each two of them.
func (b *workbook) bank(reports []*reconcile.Report) {
	titled := false
	for _, r := range reports {
		if r.Bank == nil {
			continue
		}
		if !titled {
			b.block("Bank", "account", "payout", "account", "paid", "amount", "came", "bank's reference", "amount", "bank fee", "found by")
			titled = true
		}
		for _, m := range r.Bank.Matched {
			for _, o := range m.Payouts {
				for _, l := range m.Lines {
					b.line(r.Account, o.PayoutID, o.Account, o.Date, money{o.Amount, o.Currency}, l.Date, l.Reference, money{l.Amount, r.Bank.Currency},
						money{m.BankFee, r.Bank.Currency}, b.lang.Word(m.How))
				}
			}
		}
	}
}

// repairs writes what is or would be booked, and what cannot be, with the next command for it.
func (b *workbook) repairs(reports []*reconcile.Report) {
	titled := false
	for _, r := range reports {
		if r.Repair == nil {
			continue
		}
		if !titled {
			b.block("Repairs", "account", "gap", "transaction", "order", "books", "amount", "currency", "progress", "comes to", "the shop is told", "next", "why")
			titled = true
		}
		for i := range r.Repair.Items {
			item := &r.Repair.Items[i]
			told := ""
			if item.Outcome != "" {
				told = item.Told(b.lang)
			}
			b.line(r.Account, item.GapID, item.TransactionID, item.OrderID, b.lang.Word(string(item.Kind)), money{item.Amount, item.Currency}, item.Currency,
				b.lang.Word(string(item.State)), b.lang.Word(string(item.Outcome)), told, item.Next, item.Because(b.lang))
		}
	}
}

func (b *workbook) notes(reports []*reconcile.Report) {
	b.block("Notes", "account", "date", "note")
	for _, r := range reports {
		for _, note := range r.Notes {
			b.line(r.Account, r.Date, b.lang.Sentence(note))
		}
	}
}

// counts is the summary of a list of gaps.
func (b *workbook) counts(gaps map[models.GapKind][]reconcile.Row) {
	b.widths()
	b.block("Gaps by kind", "kind", "word", "gaps")
	for _, kind := range reconcile.SortedKinds(gaps) {
		b.line(b.lang.Word(string(kind)), string(kind), len(gaps[kind]))
	}
}
