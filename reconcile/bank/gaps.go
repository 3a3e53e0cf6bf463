package bank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"paybook/models"
)

// What a line of the bank is called on its side of a gap.
const (
	statusBooked   = "booked"
	statusReversal = "reversal"
)

// payoutGap is the id of the gap that a payout may have, whatever kind it turns out to be: a missing payout that comes with another sum
// is the same gap with new evidence.
func (r *run) payoutGap(p *payout) string {
	return hash(r.account, dateText(p.paid), "payout", p.Account, p.PayoutID)
}

// lineGap is the id of the gap that a line may have.
func (r *run) lineGap(l *line) string { return hash(r.account, l.BookedOn, "line", l.ID) }

// findGaps turns what the matcher has found, and what it has not, into gaps.
func (r *run) findGaps() {
	told := map[*payout]bool{}
	for i := range r.match.pairs {
		if p := &r.match.pairs[i]; p.differs != "" {
			r.mismatch(p)
		}
	}
	foreign, early := map[string]int{}, 0
	for _, p := range r.match.payouts {
		switch {
		case p.used || p.due == 0 || p.hearsay:
		case p.Money.Currency != r.bank.Currency:
			if !slices.Contains(r.bank.Elsewhere[p.Account], p.Money.Currency) {
				foreign[p.Account+" in "+p.Money.Currency]++
			}
		default:
			var before bool
			if told[p], before = r.missing(p); before {
				early++
			}
		}
	}
	for _, l := range r.match.lines {
		candidate := slices.ContainsFunc(l.might, func(p *payout) bool { return told[p] })
		if !l.used && !candidate && (l.ours || l.unknown != "") {
			r.unexpected(l)
		}
	}
	r.noteLeftOut(foreign, early)
	for i := range r.gaps {
		r.decide(&r.gaps[i])
	}
	slices.SortFunc(r.gaps, compareGaps)
}

// compareGaps is the order in which gaps are listed.
func compareGaps(a, b models.Gap) int {
	kinds := []models.GapKind{models.GapPayout, models.GapBankMissing, models.GapBankUnexpected}
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
		cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.ID, b.ID))
}

// noteLeftOut tells what is not looked for: nothing is left out silently.
func (r *run) noteLeftOut(foreign map[string]int, early int) {
	var names []string
	for name := range foreign {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		r.notes = append(r.notes, fmt.Sprintf("payouts of %s (%d) are not looked for: this account is in %s, and no other bank is configured for them", name,
			foreign[name], r.bank.Currency))
	}
	if early > 0 {
		r.notes = append(r.notes, fmt.Sprintf("payouts from before the first statement that was read, %s (%d), are not looked for", dateText(r.read.first()), early))
	}
}

// decide says which run has decided a gap of another day: this one, unless it is as an earlier one has left it.
func (r *run) decide(g *models.Gap) {
	was, known := r.known[g.ID]
	switch {
	case g.Date == r.date:
	case known && was.State != models.GapCarried && sameSides(g, &was) && (g.State == was.State || was.State == models.GapResolved && was.HealedRun == ""):
		g.DecidedOn = was.DecidedOn
		r.quiet[g.ID] = was.DecidedOn != r.date
	case g.State == models.GapOpen:
		g.DecidedOn = r.date
	}
}

func sameSides(a, b *models.Gap) bool {
	same := func(a, b *models.Side) bool {
		return a == nil && b == nil || a != nil && b != nil && a.Amount == b.Amount && a.Currency == b.Currency && a.Status == b.Status && a.Fee == b.Fee
	}
	return a.Kind == b.Kind && slices.Equal(a.Differs, b.Differs) && same(a.Statement, b.Statement) && same(a.Ledger, b.Ledger)
}

// gap is the beginning of any.
func (r *run) gap(id, date string, kind models.GapKind, of string) models.Gap {
	return models.Gap{ID: id, Account: r.account, Date: date, Kind: kind, EntryKind: models.Payout, TransactionID: of, State: models.GapOpen}
}

// mismatch is a payout that a line names, with another sum.
func (r *run) mismatch(p *pair) {
	first := p.payouts[0]
	g := r.gap(r.payoutGap(first), dateText(first.paid), models.GapPayout, first.PayoutID)
	g.Differs = []string{p.differs}
	g.Statement = r.bankSide(p.lines)
	g.Ledger = r.payoutSide(p)
	if p.fee != 0 {
		g.Statement.Fee = r.bank.money(p.fee).Text()
		g.Differs = append(g.Differs, "fee")
	}
	g.Reason, g.Next = r.mismatchReason(p), resolve(&g)
	r.gaps = append(r.gaps, g)
}

// payoutSide is what was paid out: all of it, or of several currencies the first that is not the bank's.
func (r *run) payoutSide(p *pair) *models.Side {
	first := p.payouts[0]
	paid := r.bank.money(0)
	for _, o := range p.payouts {
		paid.Minor += o.Money.Minor
	}
	if p.differs == "currency" {
		paid = p.payouts[slices.IndexFunc(p.payouts, func(o *payout) bool { return o.Money.Currency != r.bank.Currency })].Money
	}
	return &models.Side{Amount: paid.Text(), Currency: paid.Currency, Status: string(first.Status)}
}

func (r *run) bankSide(lines []*line) *models.Side {
	first, status := lines[0], statusBooked
	var sum int64
	for _, l := range lines {
		sum += l.Money.Minor
	}
	if first.Reversal && len(lines) == 1 {
		status = statusReversal
	}
	return &models.Side{Amount: r.bank.money(sum).Text(), Currency: r.bank.Currency, Status: status, File: first.File, Line: first.Line}
}

// missing is a payout without a line. It is no gap while a day on which it may come has not been read, nor when all of these are from
// before the first statement (before), nor when it is later than all that was read.
func (r *run) missing(p *payout) (told, before bool) {
	_, to := r.bank.window(p.paid)
	switch first := r.read.first(); {
	case first.IsZero() || p.paid.After(r.read.last()):
		return false, false
	case to.Before(first):
		return false, true
	}
	g := r.gap(r.payoutGap(p), dateText(p.paid), models.GapBankMissing, p.PayoutID)
	g.Ledger = &models.Side{Amount: p.Money.Text(), Currency: p.Money.Currency, Status: string(p.Status)}
	g.WaitsFor = r.bank.open(r.read, p.paid)
	g.Next = resolve(&g)
	if len(g.WaitsFor) > 0 {
		g.State = models.GapCarried
		g.Next = "app reconcile bank --date " + g.WaitsFor[0] + " --bank " + r.bank.Name
	}
	g.Reason = r.missingReason(p, &g)
	r.gaps = append(r.gaps, g)
	return true, false
}

// unexpected is a line that looks like a provider's money and is no payout.
func (r *run) unexpected(l *line) {
	g := r.gap(r.lineGap(l), l.BookedOn, models.GapBankUnexpected, cmp.Or(l.Reference, l.ID))
	g.Statement = r.bankSide([]*line{l})
	g.Reason, g.Next = r.unexpectedReason(l), resolve(&g)
	if len(r.bank.Accounts) == 1 {
		g.Next = "app reconcile --date " + l.BookedOn + " --account " + r.bank.Accounts[0]
	}
	r.gaps = append(r.gaps, g)
}

func resolve(g *models.Gap) string {
	return "app gaps resolve " + g.ID + ` --reason "asked the bank"`
}

// payoutText is how a sentence calls a payout.
func payoutText(p *payout) string {
	return fmt.Sprintf("payout %s of %s, %s on %s", clip(p.PayoutID), p.Account, p.Money, dateText(p.paid))
}

// lineText is how a sentence calls a line.
func lineText(l *line) string {
	text := fmt.Sprintf("%s, row %d (%s, %s", l.File, l.Line, l.BookedOn, l.Money)
	if l.Reference != "" {
		text += ", " + clip(l.Reference)
	}
	return text + ")"
}

// textsMax bounds a sentence.
const textsMax = 5

func listed[T any](list []T, text func(T) string) string {
	var parts []string
	for i, x := range list {
		if i == textsMax {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		parts = append(parts, text(x))
	}
	return strings.Join(parts, "; ")
}
