package reconcile

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"paybook/models"
)

// totals adds up money by kind and currency. The sums have no size limit: a file of absurd amounts must not add up to something
// that looks right.
type totals map[totalKey]*total

type totalKey struct {
	kind     models.TransactionKind
	currency string
}

type total struct {
	count       int64
	amount, fee sum
}

// sum is high + low: what is usual fits low, and costs nothing.
type sum struct {
	low  int64
	high big.Int
}

func (s *sum) add(minor int64) {
	if next := s.low + minor; (next > s.low) == (minor > 0) {
		s.low = next
		return
	}
	s.high.Add(&s.high, big.NewInt(s.low))
	s.low = minor
}

func (s *sum) value() *big.Int { return new(big.Int).Add(&s.high, big.NewInt(s.low)) }

func (s *sum) merge(o *sum) {
	s.high.Add(&s.high, &o.high)
	s.add(o.low)
}

func (t totals) of(kind models.TransactionKind, currency string) *total {
	k := totalKey{kind, currency}
	if t[k] == nil {
		t[k] = &total{}
	}
	return t[k]
}

// tally is totals that are added to row by row: mostly the same sum as the row before.
type tally struct {
	totals
	last totalKey
	sum  *total
}

func newTally() tally { return tally{totals: totals{}} }

func (t *tally) of(kind models.TransactionKind, currency string) *total {
	if t.sum == nil || t.last.kind != kind || t.last.currency != currency {
		t.last, t.sum = totalKey{kind, currency}, t.totals.of(kind, currency)
	}
	return t.sum
}

// entry is totals.entry.
func (t *tally) entry(e *models.Entry) {
	if e.Fee.Minor != 0 || e.Adjusts || isIdle(e.Status) {
		t.totals.entry(e)
		return
	}
	sum := t.of(e.Kind, e.Money.Currency)
	sum.count++
	sum.amount.add(e.Money.Minor)
}

func (t *tally) local(l *local) {
	sum := t.of(l.kind, l.money.Currency)
	sum.count++
	sum.amount.add(l.money.Minor)
}

// entry adds a statement's row, unless it says that no money has moved. A fee may be in another currency than its payment.
func (t totals) entry(e *models.Entry) {
	if isIdle(e.Status) {
		return
	}
	t.row(e)
	if e.Fee.Minor != 0 {
		t.of(e.Kind, cmp.Or(e.Fee.Currency, e.Money.Currency)).fee.add(e.Fee.Minor)
	}
}

// isIdle is true for a row that says that no money has moved, or in words we do not know.
func isIdle(s models.TransactionStatus) bool { return ended(s) || s == models.StatusUnknown }

// row adds a statement's row, whatever it says.
func (t totals) row(e *models.Entry) {
	sum := t.of(e.Kind, e.Money.Currency)
	if !e.Adjusts {
		sum.count++
	}
	sum.amount.add(e.Money.Minor)
}

// forget takes a row out again that entry has added.
func (t totals) forget(e *models.Entry) {
	if isIdle(e.Status) {
		return
	}
	sum := t.of(e.Kind, e.Money.Currency)
	sum.count--
	sum.amount.add(-e.Money.Minor)
	if e.Fee.Minor != 0 {
		t.of(e.Kind, cmp.Or(e.Fee.Currency, e.Money.Currency)).fee.add(-e.Fee.Minor)
	}
}

// twice tells, behind a note that reports overlap, of totals whose rows are not compared: of those nobody knows which is told again.
func (t totals) twice() string {
	found := map[string]bool{}
	for k := range t {
		if !k.kind.Compared() {
			found[string(k.kind)] = true
		}
	}
	kinds := slices.Sorted(maps.Keys(found))
	if kinds == nil {
		return ""
	}
	return "; the totals of what is not compared (" + strings.Join(kinds, ", ") + ") are those of all reports together"
}

func (t totals) merge(o totals) {
	for k, sum := range o {
		into := t.of(k.kind, k.currency)
		into.count += sum.count
		into.amount.merge(&sum.amount)
		into.fee.merge(&sum.fee)
	}
}

// kindOrder is how kinds are listed.
var kindOrder = []models.TransactionKind{
	models.Payment, models.Refund, models.Chargeback, models.RefundReversal, models.ChargebackReversal,
	models.Payout, models.EntryFee, models.EntryConversion, models.EntryReserve, models.EntryAdjustment,
}

// report lists the totals for the report, with fees or without.
func (t totals) report(fees bool) []Total {
	list := make([]Total, 0, len(t))
	for k, sum := range t {
		line := Total{Kind: k.kind, Currency: k.currency, Count: sum.count, Amount: major(sum.amount.value(), k.currency)}
		if fees {
			line.Fee = major(sum.fee.value(), k.currency)
		}
		list = append(list, line)
	}
	slices.SortFunc(list, func(a, b Total) int { return compareTotals(totalKey{a.Kind, a.Currency}, totalKey{b.Kind, b.Currency}) })
	return list
}

func compareTotals(a, b totalKey) int {
	return cmp.Or(cmp.Compare(slices.Index(kindOrder, a.kind), slices.Index(kindOrder, b.kind)), cmp.Compare(a.currency, b.currency))
}

func major(minor *big.Int, currency string) string {
	digits := int32(models.Digits(currency))
	return decimal.NewFromBigInt(minor, -digits).StringFixed(digits)
}
