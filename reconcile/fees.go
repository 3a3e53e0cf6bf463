package reconcile

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"paybook/models"
)

// FeeRule is one line of an account's fee schedule: what the provider may keep of a movement. Of the rules the first that fits a row
// decides; a row that none fits is not checked. Sums are in major units of the fee's currency.
type FeeRule struct {
	Kind     models.TransactionKind // of the rows it is about
	Currency string                 // of the movement; "": any
	// Converted: only movements that the provider has converted into another currency, or only those that it has not; nil: both.
	Converted *bool
	// FeeCurrency is what the fee is charged in; "": Currency where a sum below is given, else what the movement was settled in.
	FeeCurrency string
	Rate        decimal.Decimal // share of the movement's amount in the fee's currency: 0.006
	Fixed       decimal.Decimal // on top of it
	Min, Cap    decimal.Decimal // bounds of both together; Cap 0: none
	Rounding    Rounding        // to the currency's decimals; "": RoundHalfUp
	Refunds     RefundFees      // what a payment's rule says of its refunds; "": nothing
	From, Until Day             // the business days of the rows, both included; zero: unbounded
	Tolerance   decimal.Decimal // how far off the fee may be
}

// Rounding is how a fee is rounded.
type Rounding string

// The ways of rounding. Up is away from zero, down towards it.
const (
	RoundHalfUp   Rounding = "half_up"
	RoundHalfEven Rounding = "half_even"
	RoundUp       Rounding = "up"
	RoundDown     Rounding = "down"
)

// RefundFees is what becomes of a payment's fee when it is refunded.
type RefundFees string

// What becomes of it: all that a payment of the refunded sum would have cost comes back, or its rate without the fixed sum (but no
// more than the cap), or nothing.
const (
	FeesReturned     RefundFees = "returned"
	FeesProportional RefundFees = "proportional"
	FeesKept         RefundFees = "kept"
)

// feeRule is a rule of a run: its days are moments.
type feeRule struct {
	FeeRule
	number      int // in the schedule, from 0
	from, until time.Time
	unknown     bool // there were rows without an amount in the currency of the fee
}

func feeRules(a *Account) []feeRule {
	list := make([]feeRule, len(a.Fees))
	for i, f := range a.Fees {
		list[i] = feeRule{FeeRule: f, number: i}
		if f.From != (Day{}) {
			list[i].from = f.From.begin(a.Zone, a.Cut)
		}
		if f.Until != (Day{}) {
			list[i].until = f.Until.Add(1).begin(a.Zone, a.Cut)
		}
	}
	return list
}

// feeDiffers says whether a row's fee is not what the account's fee schedule asks for, which is then put into its FeeDue.
func (r *run) feeDiffers(e *models.Entry) bool {
	e.FeeDue = models.Money{}
	if len(r.fees) == 0 || e.Fee.Currency == "" || e.Adjusts {
		return false
	}
	if e.Status != models.StatusSucceeded && (e.Status != models.StatusPending || e.Fee.Minor == 0) {
		return false // no fee is due, or not yet
	}
	f := r.feeRule(e)
	if f == nil {
		return false
	}
	due, known := f.due(e)
	if !known {
		f.unknown = true
		return false
	}
	if f.agrees(e.Fee, due) {
		return false
	}
	e.FeeDue = due
	return true
}

// feeRule is the rule that decides about a row; nil: none.
func (r *run) feeRule(e *models.Entry) *feeRule {
	for i := range r.fees {
		if r.fees[i].fits(e) {
			return &r.fees[i]
		}
	}
	return nil
}

func (f *feeRule) fits(e *models.Entry) bool {
	ofRefund := f.Kind == models.Payment && e.Kind == models.Refund && f.Refunds != ""
	converted := e.Gross.Currency != "" && e.Gross.Currency != e.Money.Currency
	switch {
	case e.Kind != f.Kind && !ofRefund:
	case f.Currency != "" && f.Currency != e.Money.Currency:
	case f.Converted != nil && *f.Converted != converted:
	case e.OccurredAt.Before(f.from), !f.until.IsZero() && !e.OccurredAt.Before(f.until):
	default:
		return true
	}
	return false
}

// due is the fee of a row. It is not known of a rate without an amount in the currency of the fee.
func (f *feeRule) due(e *models.Entry) (due models.Money, known bool) {
	currency := f.currency(e)
	var amount decimal.Decimal
	switch {
	case currency == e.Gross.Currency && e.Gross.Minor != 0: // what the provider takes its share of: without the shop's own discounts
		amount = e.Gross.Decimal().Abs()
	case currency == e.Money.Currency:
		amount = e.Money.Decimal().Abs()
	case !f.Rate.IsZero():
		return due, false
	}
	sum := amount.Mul(f.Rate)
	if e.Kind == f.Kind || f.Refunds == FeesReturned {
		if sum = sum.Add(f.Fixed); !f.Min.IsZero() {
			sum = decimal.Max(sum, f.Min)
		}
	}
	if f.Cap.IsPositive() { // no more comes back with a refund than a payment costs
		sum = decimal.Min(sum, f.Cap)
	}
	if e.Kind != f.Kind {
		if sum = sum.Neg(); f.Refunds == FeesKept {
			sum = decimal.Zero
		}
	}
	digits := int32(models.Digits(currency))
	minor := f.round(sum, digits).Shift(digits).BigInt()
	return models.Money{Minor: minor.Int64(), Currency: currency}, minor.IsInt64()
}

// currency is what the fee of a row is charged in.
func (f *feeRule) currency(e *models.Entry) string {
	hasSums := !f.Fixed.IsZero() || !f.Min.IsZero() || !f.Cap.IsZero()
	switch {
	case f.FeeCurrency != "":
		return f.FeeCurrency
	case f.Currency != "" && hasSums:
		return f.Currency
	case e.Gross.Currency != "":
		return e.Gross.Currency
	}
	return e.Money.Currency
}

func (f *feeRule) round(sum decimal.Decimal, digits int32) decimal.Decimal {
	switch f.Rounding {
	case RoundHalfEven:
		return sum.RoundBank(digits)
	case RoundUp:
		return sum.RoundUp(digits)
	case RoundDown:
		return sum.RoundDown(digits)
	}
	return sum.Round(digits)
}

// agrees: nothing is the same in every currency.
func (f *feeRule) agrees(stated, due models.Money) bool {
	if stated.Minor == 0 && due.Minor == 0 {
		return true
	}
	return stated.Currency == due.Currency && stated.Decimal().Sub(due.Decimal()).Abs().LessThanOrEqual(f.Tolerance)
}

// String is the rule's price for people: 2.9% + 0.30, at most 20.00. Its sums are in the fee's currency.
func (f *FeeRule) String() string {
	currency := cmp.Or(f.FeeCurrency, f.Currency)
	sum := func(d decimal.Decimal) string {
		if currency == "" {
			return d.String()
		}
		return d.StringFixed(max(int32(models.Digits(currency)), -d.Exponent())) // a price may be finer than the currency
	}
	var parts []string
	if !f.Rate.IsZero() || f.Fixed.IsZero() {
		parts = append(parts, f.Rate.Shift(2).String()+"%")
	}
	if !f.Fixed.IsZero() {
		parts = append(parts, sum(f.Fixed))
	}
	text := strings.Join(parts, " + ")
	if !f.Min.IsZero() {
		text += ", at least " + sum(f.Min)
	}
	if f.Cap.IsPositive() {
		text += ", at most " + sum(f.Cap)
	}
	return text
}

// feeOfGroup judges the fee of a movement that several rows tell of, once e is all of them: first with further ones. Each of its parts has
// a fee of its own; what adjusts it has one with it.
func (r *run) feeOfGroup(e, first *held, further []*held) {
	own := *first
	off := r.feeDiffers(&own.Entry)
	due := own.feeAsDue()
	joined := false
	for _, a := range further {
		off = r.feeDiffers(&a.Entry) || off
		due.Minor += a.feeAsDue().Minor
		joined = joined || a.Part
		if a.Fee.Currency == e.Fee.Currency {
			e.Fee.Minor += a.Fee.Minor
		}
		if a.Gross.Currency == e.Gross.Currency {
			e.Gross.Minor += a.Gross.Minor
		}
	}
	r.feeDiffers(&e.Entry)
	if joined && e.Status == models.StatusSucceeded {
		if e.FeeDue = (models.Money{}); off {
			e.FeeDue = due
		}
	}
}

// feeAsDue is what the row's fee ought to be.
func (h *held) feeAsDue() models.Money {
	if h.FeeDue.Currency != "" {
		return h.FeeDue
	}
	return h.Fee
}

// feeText is a fee beside a sum of that currency.
func feeText(fee models.Money, beside string) string {
	if fee.Currency == beside || fee.Currency == "" {
		return fee.Text()
	}
	return fee.String()
}

// feeReason says what is wrong with a fee, and by which rule.
func (r *run) feeReason(e *models.Entry) string {
	by := ""
	if f := r.feeRule(e); f != nil {
		by = fmt.Sprintf(" (fees[%d]: %s)", f.number, f.String())
		if e.Kind != f.Kind {
			by = fmt.Sprintf(" (fees[%d]: %s, of refunds %s)", f.number, f.String(), f.Refunds)
		}
	}
	text := fmt.Sprintf("the statement's fee is %s, the fee schedule asks for %s%s", e.Fee, e.FeeDue, by)
	off := models.Money{Minor: e.Fee.Minor - e.FeeDue.Minor, Currency: e.Fee.Currency}
	switch {
	case e.Fee.Currency != e.FeeDue.Currency:
		return text
	case off.Minor < 0:
		return text + ": " + off.Abs().Text() + " too little"
	}
	return text + ": " + off.Text() + " too much"
}

// noteFees tells of rows whose fees could not be checked.
func (r *run) noteFees() {
	for i := range r.fees {
		if f := &r.fees[i]; f.unknown {
			r.note("fees[%d]: of some rows the statement has no amount in the currency of the fee, to take the rate of: their fees were not checked", f.number)
		}
	}
}

// feeOfGap judges anew the fee of another day's row, which its gap has kept because it was wrong.
func (r *run) feeOfGap(g *models.Gap, e *models.Entry) {
	text, currency, own := strings.Cut(g.Statement.Fee, " ")
	if !own {
		currency = g.Statement.Currency
	}
	day, err := ParseDay(g.Date)
	if fee, feeErr := models.ParseMajor(text, currency); text != "" && err == nil && feeErr == nil {
		e.Fee, e.OccurredAt = fee, day.begin(r.account.Zone, r.account.Cut)
		r.feeDiffers(e)
	}
}
