package reconcile

import (
	"cmp"
	"math/big"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Bridge says how a payout came about: payments, less refunds, chargebacks and fees, more or less what else there was. Amounts are
// decimal text in major units of Currency, with a sign. What the steps do not explain is the Remainder, which is never left out.
type Bridge struct {
	Account   string       `json:"account"`
	PayoutID  string       `json:"payout_id"` // or the settlement batch; "": what no payout has claimed
	Date      string       `json:"date"`      // when it was paid, in the account's zone; "": not known
	Currency  string       `json:"currency"`
	Steps     []BridgeStep `json:"steps"`
	Expected  string       `json:"expected"`  // the steps' sum
	Paid      string       `json:"paid"`      // what the provider says it paid; "": it does not say
	Remainder string       `json:"remainder"` // Paid less Expected
	// RemainderIs names it: none, what it is, or why nobody knows.
	RemainderIs string                   `json:"remainder_is"`
	Status      models.TransactionStatus `json:"status,omitempty"` // of the payout; "": not told

	expected, paid big.Int // minor units
	told           bool
}

// BridgeStep is one kind of rows in a payout.
type BridgeStep struct {
	Step   string `json:"step"` // payments, refunds, refund_reversals, chargebacks, chargeback_reversals, fees, conversions, reserves, adjustments
	Count  int64  `json:"count"`
	Amount string `json:"amount"`
}

// What a bridge's remainder is.
const (
	remainderNone      = "none"
	remainderUnknown   = "not explained by the rows"
	remainderNotTold   = "no payout is told in this currency"
	remainderNoRows    = "the statements do not say which rows it pays"
	remainderBack      = "the payout came to nothing: the money stays in the balance"
	remainderInBalance = "stays in the balance, or is not paid out yet"
	remainderOfBefore  = "paid from what the balance held before"
)

// stepNames are the steps in their order. A fee is a step of its own, whatever row it stands in.
var stepNames = []struct {
	kind models.TransactionKind
	name string
}{
	{models.Payment, "payments"}, {models.Refund, "refunds"}, {models.RefundReversal, "refund_reversals"},
	{models.Chargeback, "chargebacks"}, {models.ChargebackReversal, "chargeback_reversals"}, {models.EntryFee, "fees"},
	{models.EntryConversion, "conversions"}, {models.EntryReserve, "reserves"}, {models.EntryAdjustment, "adjustments"},
}

// Bridges makes a bridge of every payout that there are steps of, or that is told, in every currency of it: by payout and currency. The
// steps may be of several dates, and payouts of one batch are paid together.
func Bridges(account string, zone *time.Location, cut time.Duration, steps []ledger.PayoutStep, payouts []ledger.Payout) []Bridge {
	all := bridgeSet{}
	for _, s := range wholeSteps(steps) {
		all.of(s.PayoutID, s.Currency).add(&s)
	}
	for i := range payouts {
		all.of(payouts[i].RowsID(), payouts[i].Money.Currency).pay(&payouts[i], zone, cut)
	}
	list := make([]Bridge, 0, len(all))
	for key, b := range all {
		list = append(list, b.finish(account, key))
	}
	slices.SortFunc(list, func(a, b Bridge) int {
		return cmp.Or(cmp.Compare(a.PayoutID, b.PayoutID), cmp.Compare(a.Currency, b.Currency))
	})
	return list
}

// wholeSteps drops what is told twice: once a report has all rows of a payout, those of the daily reports are the same rows. Of two such
// reports the later one counts.
func wholeSteps(steps []ledger.PayoutStep) []ledger.PayoutStep {
	whole := map[string]string{}
	for _, s := range steps {
		if s.Whole {
			whole[s.PayoutID] = max(whole[s.PayoutID], s.Date)
		}
	}
	return slices.DeleteFunc(slices.Clone(steps), func(s ledger.PayoutStep) bool {
		date, told := whole[s.PayoutID]
		return told && (!s.Whole || s.Date != date)
	})
}

type bridgeKey struct{ id, currency string }

type bridgeSet map[bridgeKey]*bridgeSums

func (s bridgeSet) of(id, currency string) *bridgeSums {
	k := bridgeKey{id, currency}
	if s[k] == nil {
		s[k] = &bridgeSums{steps: map[models.TransactionKind]*bridgeSum{}}
	}
	return s[k]
}

// bridgeSums is a bridge while it is added up, in minor units.
type bridgeSums struct {
	steps  map[models.TransactionKind]*bridgeSum
	paid   big.Int
	told   bool
	date   string
	status models.TransactionStatus
}

type bridgeSum struct {
	count  int64
	amount big.Int
}

func (b *bridgeSums) step(kind models.TransactionKind) *bridgeSum {
	if b.steps[kind] == nil {
		b.steps[kind] = &bridgeSum{}
	}
	return b.steps[kind]
}

// add: fees in other rows count as fees, without a row of their own.
func (b *bridgeSums) add(s *ledger.PayoutStep) {
	if s.Count != 0 || s.Amount.Sign() != 0 {
		own := b.step(s.Kind)
		own.count += s.Count
		own.amount.Add(&own.amount, s.Amount)
	}
	if s.Fee.Sign() != 0 {
		fees := b.step(models.EntryFee)
		fees.amount.Sub(&fees.amount, s.Fee)
	}
}

// pay: a payout that came to nothing has paid nothing.
func (b *bridgeSums) pay(p *ledger.Payout, zone *time.Location, cut time.Duration) {
	b.told, b.date = true, max(b.date, DayOf(p.OccurredAt, zone, cut).String())
	if b.status == "" || ended(b.status) {
		b.status = p.Status
	}
	if !ended(p.Status) {
		b.paid.Add(&b.paid, big.NewInt(p.Money.Minor))
	}
}

func (b *bridgeSums) finish(account string, key bridgeKey) Bridge {
	out := Bridge{Account: account, PayoutID: key.id, Date: b.date, Currency: key.currency, Status: b.status, Steps: []BridgeStep{}, told: b.told}
	for _, s := range stepNames {
		if sum := b.steps[s.kind]; sum != nil {
			out.Steps = append(out.Steps, BridgeStep{Step: s.name, Count: sum.count, Amount: major(&sum.amount, key.currency)})
			out.expected.Add(&out.expected, &sum.amount)
		}
	}
	out.paid.Set(&b.paid)
	out.name()
	return out
}

// name fills in the sums, and says what the remainder is.
func (b *Bridge) name() {
	remainder := b.remainder()
	b.Expected, b.Remainder = major(&b.expected, b.Currency), major(remainder, b.Currency)
	if b.told {
		b.Paid = major(&b.paid, b.Currency)
	}
	switch {
	case remainder.Sign() == 0:
		b.RemainderIs = remainderNone
	case b.PayoutID == "" && remainder.Sign() > 0 && b.told:
		b.RemainderIs = remainderOfBefore
	case b.PayoutID == "":
		b.RemainderIs = remainderInBalance
	case !b.told:
		b.RemainderIs = remainderNotTold
	case len(b.Steps) == 0:
		b.RemainderIs = remainderNoRows
	case ended(b.Status):
		b.RemainderIs = remainderBack
	default:
		b.RemainderIs = remainderUnknown
	}
}

func (b *Bridge) remainder() *big.Int { return new(big.Int).Sub(&b.paid, &b.expected) }

// Off says whether the payout is told, its rows are known, and they do not add up to it.
func (b *Bridge) Off() bool { return b.RemainderIs == remainderUnknown }
