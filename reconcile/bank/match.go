package bank

import (
	"cmp"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// The ways by which lines and payouts are matched, the surest first.
const (
	byReference = "reference" // a text of the line names the payout
	byAmount    = "amount"    // the only line of the sum within the window, and the only payout
	bySum       = "sum"       // one line for several payouts
	byParts     = "parts"     // several lines for one payout
)

// payout is one transfer that a provider has told of.
type payout struct {
	ledger.Payout
	paid     time.Time // its day by the bank's calendar
	from, to time.Time // when it may be booked, both included
	due      int64     // what the bank should have: nothing of one that failed
	used     bool
	// hearsay is true for what only a callback tells, of an account whose statements tell payouts: it may be another's money, such as one
	// that the shop pays out to people. It is matched by its name only, and never missing.
	hearsay bool
	// might are the lines that may be it, of which nothing says which.
	might []*line
}

// fits says whether a line is booked when the payout may be.
func (p *payout) fits(l *line) bool { return !l.booked.Before(p.from) && !l.booked.After(p.to) }

func (p *payout) before(o *payout) bool { return p.compare(o) < 0 }

func (p *payout) compare(o *payout) int {
	return cmp.Or(p.paid.Compare(o.paid), cmp.Compare(p.Account, o.Account), cmp.Compare(p.PayoutID, o.PayoutID))
}

// line is one line of the bank.
type line struct {
	ledger.BankLine
	booked  time.Time
	fresh   bool // of the statements that this run reads
	used    bool
	ours    bool   // it looks like a provider's money
	unknown string // it names something that no payout is called
	might   []*payout
}

// pair is one or more lines that are one or more payouts.
type pair struct {
	how     string
	payouts []*payout
	lines   []*line
	due     int64  // of the payouts
	got     int64  // of the lines
	charge  int64  // that the lines name
	fee     int64  // of the difference, what is the bank's charge
	differs string // what disagrees: amount, currency, status; "": nothing
}

// fresh says whether this run has read a line of it.
func (p *pair) fresh() bool {
	return slices.ContainsFunc(p.lines, func(l *line) bool { return l.fresh })
}

// matcher finds the pairs among the lines and payouts that are still to be settled. What it finds depends on these alone, not on the
// order in which statements were read.
type matcher struct {
	bank    *Bank
	payouts []*payout // sorted
	lines   []*line   // sorted
	pairs   []pair
}

// match goes from the surest way to the least sure one. It never guesses: what is not the only way is none.
func (m *matcher) match() {
	slices.SortFunc(m.payouts, (*payout).compare)
	slices.SortFunc(m.lines, func(a, b *line) int { return cmp.Or(a.booked.Compare(b.booked), cmp.Compare(a.ID, b.ID)) })
	for _, p := range m.payouts {
		p.from, p.to = m.bank.window(p.paid)
	}
	for _, l := range m.lines {
		l.ours = m.bank.Ours.looks(l.Texts, l.Money.Minor)
	}
	m.references()
	m.takenBack()
	m.amounts()
	m.days()
	m.sums()
	m.parts()
}

func (m *matcher) pair(how string, payouts []*payout, lines []*line) {
	p := pair{how: how, payouts: payouts, lines: lines}
	for _, o := range payouts {
		o.used = true
		p.due += o.due
	}
	for _, l := range lines {
		l.used = true
		p.got += l.Money.Minor
		p.charge += l.Charge
	}
	m.pairs = append(m.pairs, p)
}

// references puts together what names one another. One line may name several payouts, one payout may come in several lines.
func (m *matcher) references() {
	names := m.names()
	group := map[*payout]*component{}
	var order []*component
	for _, l := range m.lines {
		named := names[l]
		if len(named.payouts) == 0 {
			l.unknown = named.unknown
			continue
		}
		into := &component{}
		order = append(order, into)
		into.lines = append(into.lines, l)
		for _, p := range named.payouts {
			switch known := group[p]; known {
			case nil:
				into.payouts = append(into.payouts, p)
			case into:
			default:
				into.take(known)
				for _, q := range known.payouts {
					group[q] = into
				}
				known.payouts, known.lines = nil, nil
			}
			group[p] = into
		}
	}
	for _, c := range order {
		if len(c.lines) > 0 {
			m.named(c)
		}
	}
}

// names is what each line names. A line that takes another back often says no more than that: it names what the other does.
func (m *matcher) names() map[*line]found {
	f := newFinder(m.bank, m.payouts)
	names := make(map[*line]found, len(m.lines))
	for _, l := range m.lines {
		names[l] = f.find(l.Texts, l.Money.Minor)
	}
	for _, l := range m.lines {
		if l.Reversal && len(names[l].payouts) == 0 {
			if taken := m.takenBy(l); len(taken) == 1 && len(names[taken[0]].payouts) > 0 {
				names[l] = names[taken[0]]
			}
		}
	}
	return names
}

// component are lines and payouts that name one another.
type component struct {
	payouts []*payout
	lines   []*line
}

func (c *component) take(o *component) {
	c.payouts, c.lines = append(c.payouts, o.payouts...), append(c.lines, o.lines...)
}

// named judges what was put together by name.
func (m *matcher) named(c *component) {
	c.payouts = sorted(c.payouts)
	m.pair(byReference, c.payouts, c.lines)
	p := &m.pairs[len(m.pairs)-1]
	switch {
	case slices.ContainsFunc(c.payouts, func(o *payout) bool { return o.Money.Currency != m.bank.Currency }):
		p.differs = "currency"
	default:
		p.fee, p.differs = m.judge(p)
	}
}

// judge says what of a difference is the bank's charge, and whether it is to be looked at.
func (m *matcher) judge(p *pair) (fee int64, differs string) {
	off := p.due - p.got
	dead := !slices.ContainsFunc(p.payouts, func(o *payout) bool { return o.due != 0 })
	switch {
	case off == 0, abs(off) <= m.bank.Tolerance && !dead:
		return 0, ""
	case dead:
		return 0, "status"
	case p.charge > 0 && abs(off-p.charge) <= m.bank.Tolerance:
		if m.bank.Fee.Told || p.charge <= m.bank.Fee.Max {
			return off, ""
		}
		return off, "amount"
	case off > 0 && off <= m.bank.Fee.Max:
		return off, ""
	}
	return 0, "amount"
}

func abs(n int64) int64 { return max(n, -n) }

// takenBack lets a line and the one that takes it back cancel out, where only one can be meant: neither is a payout. When one of several
// is, so that a payout may have been taken back, somebody has to look.
func (m *matcher) takenBack() {
	named := map[*line]bool{}
	for i := range m.pairs {
		for _, l := range m.pairs[i].lines {
			named[l] = true
		}
	}
	for _, back := range m.lines {
		if back.used || !back.Reversal {
			continue
		}
		taken := m.takenBy(back)
		if len(taken) == 1 && !taken[0].used {
			back.used, taken[0].used = true, true
		} else if slices.ContainsFunc(taken, func(l *line) bool { return named[l] }) {
			back.ours = true
		}
	}
}

// takenBy are the lines that a reversal may take back: of its sum, the other way, and booked within the window before it.
func (m *matcher) takenBy(back *line) (taken []*line) {
	from, _ := m.bank.window(back.booked)
	for _, l := range m.lines {
		if !l.Reversal && l.Money.Minor == -back.Money.Minor && !l.booked.After(back.booked) && !l.booked.Before(from) {
			taken = append(taken, l)
		}
	}
	return taken
}

// free are the payouts that have still to be found, and could be.
func (m *matcher) free() (list []*payout) {
	for _, p := range m.payouts {
		if !p.used && !p.hearsay && p.due != 0 && p.Money.Currency == m.bank.Currency {
			list = append(list, p)
		}
	}
	return list
}

// left are the lines of nothing yet, and that do not name something else.
func (m *matcher) left() (list []*line) {
	for _, l := range m.lines {
		if !l.used && l.unknown == "" && l.Money.Minor != 0 {
			list = append(list, l)
		}
	}
	return list
}

// amounts matches a line and a payout of one sum within the window, when neither could be with another.
func (m *matcher) amounts() {
	bySum := map[int64][]*line{}
	for _, l := range m.left() {
		bySum[l.Money.Minor] = append(bySum[l.Money.Minor], l)
		if full := l.Money.Minor + l.Charge; l.Charge > 0 && m.bank.Fee.Told {
			bySum[full] = append(bySum[full], l)
		}
	}
	for _, p := range m.free() {
		for _, l := range bySum[p.due] {
			if p.fits(l) {
				p.might = append(p.might, l)
				l.might = append(l.might, p)
			}
		}
	}
	for _, p := range m.free() {
		if len(p.might) == 1 && len(p.might[0].might) == 1 {
			l := p.might[0]
			m.pair(byAmount, []*payout{p}, []*line{l})
			m.pairs[len(m.pairs)-1].fee = p.due - l.Money.Minor
		}
	}
}

// isDue says whether the bank should have a payout: not what failed or was taken back, by the provider's own word.
func isDue(status models.TransactionStatus) bool {
	return status != models.StatusFailed && status != models.StatusClosed && status != models.StatusReversed
}
