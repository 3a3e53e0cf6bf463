package reconcile

import (
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/shopspring/decimal"

	"paybook/models"
)

// Pair is one kind in one currency, as both sides add it up.
type Pair struct {
	Kind              models.TransactionKind
	Currency          string
	Statement, Ledger Total  // zero: that side has none
	Difference        string // the statement's amount less the book's; "": of a kind that the book does not have
}

// Pairs sets the totals of both sides beside each other.
func (r *Report) Pairs() []Pair {
	at := map[totalKey]*Pair{}
	var keys []totalKey
	of := func(t Total) *Pair {
		k := totalKey{t.Kind, t.Currency}
		if at[k] == nil {
			at[k] = &Pair{Kind: t.Kind, Currency: t.Currency}
			keys = append(keys, k)
		}
		return at[k]
	}
	for _, t := range r.Statement.Totals {
		of(t).Statement = t
	}
	for _, t := range r.Ledger.Totals {
		of(t).Ledger = t
	}
	slices.SortFunc(keys, compareTotals)
	pairs := make([]Pair, len(keys))
	for i, k := range keys {
		pairs[i] = *at[k]
		if k.kind.Compared() {
			pairs[i].Difference = difference(pairs[i].Statement.Amount, pairs[i].Ledger.Amount, k.currency)
		}
	}
	return pairs
}

// difference is a less b, with the currency's decimals; "" is nothing.
func difference(a, b, currency string) string {
	of := func(amount string) decimal.Decimal {
		d, _ := decimal.NewFromString(amount) // "" is zero, and our own sums are numbers
		return d
	}
	return of(a).Sub(of(b)).StringFixed(int32(models.Digits(currency)))
}

// totals prints the two sides beside each other.
func (p *printer) totals(r *Report) {
	pairs := r.Pairs()
	if len(pairs) == 0 {
		return
	}
	t := p.table("of", "currency", "statement", "amount", "fee", "book", "amount", "difference")
	for _, pair := range pairs {
		s, l := pair.Statement, pair.Ledger
		t.AppendRow(table.Row{p.Lang.Word(string(pair.Kind)), Plain(pair.Currency), s.Count, s.Amount, s.Fee, l.Count, l.Amount, p.unlessZero(pair.Difference)})
	}
	t.SetColumnConfigs(rightAligned(3, 8))
	p.lines(rendered(t))
}

// unlessZero marks an amount that should be none.
func (p *printer) unlessZero(amount string) string {
	if d, err := decimal.NewFromString(amount); err == nil && !d.IsZero() {
		return p.paint(red, amount)
	}
	return p.paint(dim, amount)
}

// inAll prints one line for each account.
func (p *printer) inAll(items []Item) {
	t := p.table("account", "day", "result", "compared", "matched", "gaps", "carried", "healed")
	for _, item := range items {
		if item.Err != nil {
			t.AppendRow(table.Row{Plain(item.Account), "", p.paint(red, p.Lang.Text("could not be run"))})
			continue
		}
		r := item.Report
		t.AppendRow(table.Row{Plain(r.Account), r.Date, p.result(r), r.Compared, r.Matched, len(r.Gaps), len(r.Carried), len(r.Healed)})
	}
	t.SetColumnConfigs(rightAligned(4, 8))
	p.lines(rendered(t))
}
