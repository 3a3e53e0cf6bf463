package reconcile

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"

	"paybook/ledger"
	"paybook/models"
)

// paidRows adds up a run's rows by the payout that they are part of; "" is those that no payout has claimed.
type paidRows struct {
	sums map[paidKey]*paidSum
	key  paidKey // of the last row: the next one is mostly like it
	last *paidSum
}

type paidKey struct {
	payout   string
	file     int // index of the input
	kind     models.TransactionKind
	currency string
}

type paidSum struct {
	count       int64
	amount, fee sum
}

// addStep adds a row to the sums of its payout.
func (r *run) addStep(e *models.Entry, file int) { r.paid.add(e, file, 1) }

// forgetStep takes a row out again that turned out to be another one told twice. Where one of the two reports has all rows of its payouts,
// the sums of the other do not count anyway.
func (r *run) forgetStep(h, twin *held) {
	whole := func(h *held) bool { return r.inputs[h.place.file].statement.WholePayouts }
	if h.place.file == twin.place.file || !whole(h) && !whole(twin) {
		r.paid.add(&h.Entry, h.place.file, -1)
	}
}

func (p *paidRows) add(e *models.Entry, file int, times int64) {
	if e.Kind == models.Payout || e.Gross.Currency == "" && e.Status != models.StatusSucceeded {
		return
	}
	moved := e.Moved()
	sum := p.of(paidKey{e.PayoutID, file, e.Kind, moved.Currency})
	sum.count += times
	sum.amount.add(times * moved.Minor)
	if e.Fee.Minor != 0 {
		p.of(paidKey{e.PayoutID, file, e.Kind, cmp.Or(e.Fee.Currency, moved.Currency)}).fee.add(times * e.Fee.Minor)
	}
}

func (p *paidRows) of(k paidKey) *paidSum {
	if p.last != nil && k == p.key {
		return p.last
	}
	if p.sums == nil {
		p.sums = map[paidKey]*paidSum{}
	}
	if p.sums[k] == nil {
		k.payout = strings.Clone(k.payout)
		p.sums[k] = &paidSum{}
	}
	p.key, p.last = k, p.sums[k]
	return p.last
}

// steps are the sums for the ledger, by payout, kind and currency. Of a payout that a report has all rows of, that report's count only.
func (r *run) steps() []ledger.PayoutStep {
	whole := map[string]bool{}
	compared := func(k paidKey) bool { return r.inputs[k.file].statement.Compared }
	for k := range r.paid.sums {
		if k.payout != "" && compared(k) && r.inputs[k.file].statement.WholePayouts {
			whole[k.payout] = true
		}
	}
	merged := map[paidKey]*ledger.PayoutStep{}
	for k, sum := range r.paid.sums {
		if !compared(k) || whole[k.payout] && !r.inputs[k.file].statement.WholePayouts {
			continue
		}
		k.file = 0
		s := merged[k]
		if s == nil {
			s = &ledger.PayoutStep{PayoutID: k.payout, Date: r.day.String(), Kind: k.kind, Currency: k.currency, Amount: new(big.Int),
				Fee: new(big.Int), Whole: whole[k.payout]}
			merged[k] = s
		}
		s.Count += sum.count
		s.Amount.Add(s.Amount, sum.amount.value())
		s.Fee.Add(s.Fee, sum.fee.value())
	}
	list := make([]ledger.PayoutStep, 0, len(merged))
	for _, s := range merged {
		if s.Count != 0 || s.Amount.Sign() != 0 || s.Fee.Sign() != 0 {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(a, b ledger.PayoutStep) int {
		return cmp.Or(cmp.Compare(a.PayoutID, b.PayoutID), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Currency, b.Currency))
	})
	return list
}

// keepPayout keeps a payout by its id. Of one that is told again, as what came back, the status is the further one, wherever it stands. copied
// is true when the same file has told just the same before.
func (r *run) keepPayout(e *models.Entry, file string) (copied bool) {
	p := payoutOf(e, file)
	if known, again := r.payouts[p.PayoutID]; again {
		copied = known.File == p.File && known.Money == p.Money && known.Status == p.Status && known.OccurredAt.Equal(p.OccurredAt)
		p.Status = ledger.FurtherPayout(known.Status, p.Status)
	}
	r.payouts[p.PayoutID] = p
	return copied
}

// payoutOf is a payout as a statement's row tells it. One that was collected from the bank is below zero.
func payoutOf(e *models.Entry, file string) ledger.Payout {
	p := ledger.Payout{PayoutID: strings.Clone(e.TransactionID), Money: e.Money, Status: e.Status, OccurredAt: e.OccurredAt, File: file}
	if e.PayoutID != e.TransactionID {
		p.Batch = strings.Clone(e.PayoutID)
	}
	if e.Gross.Currency != "" {
		p.Money = models.Money{Minor: -e.Gross.Minor, Currency: e.Gross.Currency}
	}
	if len(e.Aliases) > 0 {
		p.BankReference = strings.Clone(e.Aliases[0])
	}
	return p
}

func (r *run) sortedPayouts() []ledger.Payout {
	list := make([]ledger.Payout, 0, len(r.payouts))
	for _, id := range slices.Sorted(maps.Keys(r.payouts)) {
		list = append(list, r.payouts[id])
	}
	return list
}

// notPaidOut is what of the day's rows no payout has claimed, less the payouts that no row names. Providers that do not say which rows a
// payout pays have all of it here; those without payouts have nothing.
func (r *run) notPaidOut(steps []ledger.PayoutStep) []Bridge {
	claims := map[string]bool{}
	for _, s := range steps {
		claims[s.PayoutID] = true
	}
	rest := slices.DeleteFunc(slices.Clone(steps), func(s ledger.PayoutStep) bool { return s.PayoutID != "" })
	if len(rest) == 0 || len(rest) == len(steps) && len(r.payouts) == 0 {
		return nil
	}
	var payouts []ledger.Payout
	for _, p := range r.sortedPayouts() {
		if claims[p.RowsID()] {
			continue
		}
		if p.PayoutID, p.Batch = "", ""; p.Status == models.StatusReversed { // a row of its own: it came back
			p.Money.Minor, p.Status = -p.Money.Minor, models.StatusSucceeded
		}
		payouts = append(payouts, p)
	}
	list := Bridges(r.account.Name, r.account.Zone, r.account.Cut, rest, payouts)
	for i := range list {
		list[i].Date, list[i].Status = r.day.String(), ""
	}
	return list
}

// joinBalance gives a provider's only payout of the day in a currency the day's rows, where it says of no row which payout pays it: what
// they do not explain is the balance's.
func (r *run) joinBalance() {
	if len(r.ownSteps) > 0 {
		return
	}
	for i := range r.bridges {
		b := &r.bridges[i]
		only := func(o Bridge) bool { return o.Currency == b.Currency && o.Paid == b.Paid }
		if len(b.Steps) > 0 || r.payouts[b.PayoutID].Money.Currency != b.Currency || r.payoutsIn(b.Currency) > 1 {
			continue
		}
		if at := slices.IndexFunc(r.unpaid, only); at >= 0 {
			rest := r.unpaid[at]
			b.Steps, b.Expected, b.Remainder, b.RemainderIs = rest.Steps, rest.Expected, rest.Remainder, rest.RemainderIs
			r.unpaid = slices.Delete(r.unpaid, at, at+1)
		}
	}
}

func (r *run) payoutsIn(currency string) (n int) {
	for _, p := range r.payouts {
		if p.Money.Currency == currency {
			n++
		}
	}
	return n
}
