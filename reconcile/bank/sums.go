package bank

import "slices"

// Bounds of the search for sums: beyond them so many combinations fit by chance that none would prove anything.
const (
	poolMax  = 16 // payouts or lines to choose from
	partsMax = 5  // how many of them make up a sum
)

// solution is a line with the payouts that come to it, or a payout with its lines.
type solution[One, Many any] struct {
	one  One
	many []Many
}

// settled are the solutions that share nothing with one another.
func settled[One, Many comparable](list []solution[One, Many]) (alone []solution[One, Many]) {
	claims := map[Many]int{}
	for _, s := range list {
		for _, x := range s.many {
			claims[x]++
		}
	}
	for _, s := range list {
		if !slices.ContainsFunc(s.many, func(x Many) bool { return claims[x] > 1 }) {
			alone = append(alone, s)
		}
	}
	return alone
}

// days matches a line with all that an account has paid out on one day and that is still to be found.
func (m *matcher) days() {
	type group struct{ account, day string }
	groups := map[group][]*payout{}
	var order []group
	for _, p := range m.spare() {
		g := group{p.Account, dateText(p.paid)}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], p)
	}
	var list []solution[*line, *payout]
	for _, l := range m.idle() {
		var fits [][]*payout
		for _, g := range order {
			if of := groups[g]; len(of) > 1 && of[0].fits(l) && sumOf(of) == l.Money.Minor {
				fits = append(fits, of)
			}
		}
		if len(fits) == 1 {
			list = append(list, solution[*line, *payout]{l, fits[0]})
		}
	}
	for _, s := range settled(list) {
		m.pair(bySum, s.many, []*line{s.one})
	}
}

// sums matches a line that looks like a provider's money with a few payouts of one account, when only these come to it.
func (m *matcher) sums() {
	var list []solution[*line, *payout]
	spare := m.spare()
	for _, l := range m.idle() {
		if !l.ours {
			continue
		}
		var fits [][]*payout
		for _, account := range m.bank.Accounts {
			var pool []*payout
			for _, p := range spare {
				if p.Account == account && p.fits(l) {
					pool = append(pool, p)
				}
			}
			fits = append(fits, subsets(pool, l.Money.Minor, func(p *payout) int64 { return p.due })...)
		}
		if len(fits) == 1 {
			list = append(list, solution[*line, *payout]{l, fits[0]})
		}
	}
	for _, s := range settled(list) {
		m.pair(bySum, s.many, []*line{s.one})
	}
}

// parts matches a payout with a few lines that look like a provider's money, when only these come to it.
func (m *matcher) parts() {
	var list []solution[*payout, *line]
	idle := m.idle()
	for _, p := range m.spare() {
		var pool []*line
		for _, l := range idle {
			if l.ours && p.fits(l) {
				pool = append(pool, l)
			}
		}
		if fits := subsets(pool, p.due, func(l *line) int64 { return l.Money.Minor }); len(fits) == 1 {
			list = append(list, solution[*payout, *line]{p, fits[0]})
		}
	}
	for _, s := range settled(list) {
		m.pair(byParts, []*payout{s.one}, s.many)
	}
}

// spare are the free payouts that no single line may be, idle the lines left that no single payout may be.
func (m *matcher) spare() []*payout {
	return slices.DeleteFunc(m.free(), func(p *payout) bool { return len(p.might) > 0 })
}

func (m *matcher) idle() []*line {
	return slices.DeleteFunc(m.left(), func(l *line) bool { return len(l.might) > 0 })
}

func sumOf(payouts []*payout) (sum int64) {
	for _, p := range payouts {
		sum += p.due
	}
	return sum
}

// subsets are the choices of two to partsMax of the pool that come to a sum; it stops at the second, which is one too many. A larger
// pool is not searched.
func subsets[T any](pool []T, sum int64, of func(T) int64) (fits [][]T) {
	if len(pool) > poolMax {
		return nil
	}
	var chosen []T
	var choose func(from int, left int64)
	choose = func(from int, left int64) {
		if left == 0 && len(chosen) > 1 {
			fits = append(fits, slices.Clone(chosen))
		}
		for i := from; i < len(pool) && len(chosen) < partsMax && len(fits) < 2; i++ {
			chosen = append(chosen, pool[i])
			choose(i+1, left-of(pool[i]))
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0, sum)
	return fits
}
