package cmd

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"

	"paybook/models"
	"paybook/reconcile"
)

var feeKinds = []string{"payment", "refund", "chargeback", "refund_reversal", "chargeback_reversal"}

// readFees reads an account's fee schedule: what its provider may keep of what.
func readFees(s *section) []reconcile.FeeRule {
	if !s.has("fees") {
		return nil
	}
	list := s.keys["fees"]
	if list.Kind != yaml.SequenceNode {
		s.fail("fees", "a list expected, each rule with - in front")
		return nil
	}
	var rules []reconcile.FeeRule
	for i, node := range list.Content {
		item := s.r.section(node, fmt.Sprintf("%sfees[%d].", s.path, i), "kind", "currency", "converted", "fee_currency", "rate", "fixed", "min", "cap",
			"rounding", "refunds", "from", "until", "tolerance")
		rule := readFeeRule(item)
		for j := range rules {
			if s.r.err() == nil && hides(&rules[j], &rule) {
				item.fail("kind", "never decides: fees[%d] stands before it and fits all that this one does; bound that one by until, or put this one first", j)
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

func readFeeRule(s *section) reconcile.FeeRule {
	f := reconcile.FeeRule{
		Kind:        models.TransactionKind(s.word("kind", "payment", feeKinds...)),
		Currency:    s.currency("currency"),
		FeeCurrency: s.currency("fee_currency"),
		Rate:        s.percent("rate"),
		Rounding:    reconcile.Rounding(s.word("rounding", "half_up", "half_up", "half_even", "up", "down")),
		From:        s.day("from"),
		Until:       s.day("until"),
	}
	if s.has("converted") {
		converted := s.word("converted", "true", "true", "false") == "true"
		f.Converted = &converted
	}
	if s.has("refunds") {
		f.Refunds = reconcile.RefundFees(s.word("refunds", "kept", "returned", "proportional", "kept"))
		if f.Kind != models.Payment {
			s.fail("refunds", "stands in a rule of payments, and says what becomes of their fees; this one is of %ss", f.Kind)
		}
	}
	f.Fixed, f.Min, f.Cap, f.Tolerance = s.sum("fixed", &f), s.sum("min", &f), s.sum("cap", &f), s.sum("tolerance", &f)
	checkFeeRule(s, &f)
	return f
}

// checkFeeRule refuses what could not be meant.
func checkFeeRule(s *section, f *reconcile.FeeRule) {
	switch {
	case s.node == nil || s.node.Kind != yaml.MappingNode:
		s.fail("kind", "missing: a rule has at least kind and rate")
	case !s.has("rate") && !s.has("fixed"):
		s.fail("rate", "missing: give rate or fixed, or both; rate: 0%% for what costs nothing")
	case s.has("cap") && !f.Cap.IsPositive():
		s.fail("cap", "more than nothing expected; leave it out for none")
	case f.Min.IsNegative():
		s.fail("min", "%s: no less than nothing expected", f.Min)
	case f.Tolerance.IsNegative():
		s.fail("tolerance", "%s: no less than nothing expected", f.Tolerance)
	case f.Cap.IsPositive() && f.Min.GreaterThan(f.Cap):
		s.fail("min", "%s is more than cap, %s", f.Min, f.Cap)
	case f.From != (reconcile.Day{}) && f.Until != (reconcile.Day{}) && f.Until.Before(f.From):
		s.fail("until", "%s is before from, %s", f.Until, f.From)
	}
}

// hides says whether a rule fits whatever a later one fits, which then never decides.
func hides(first, later *reconcile.FeeRule) bool {
	zero := reconcile.Day{}
	sameKind := first.Kind == later.Kind || first.Refunds != "" && later.Kind == models.Refund
	refunds := later.Refunds == "" || first.Refunds != ""
	switch {
	case !sameKind, !refunds:
		return false
	case first.Currency != "" && first.Currency != later.Currency:
		return false
	case first.Converted != nil && (later.Converted == nil || *first.Converted != *later.Converted):
		return false
	case first.From != zero && (later.From == zero || later.From.Before(first.From)):
		return false
	}
	return first.Until == zero || later.Until != zero && !first.Until.Before(later.Until)
}

// percent is a share such as 0.6%. Without the sign it could be meant as 0.6 of all.
func (s *section) percent(key string) decimal.Decimal {
	text := s.text(key, "0%")
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := plainDecimal(strings.TrimSpace(number))
	if !isPercent || err != nil || share.Abs().GreaterThan(decimal.NewFromInt(100)) {
		s.fail(key, "%q: a share of the amount such as 0.6%% expected, with its %%", text)
		return decimal.Zero
	}
	return share.Shift(-2)
}

// sum is an amount in major units of the currency that the fee is charged in.
func (s *section) sum(key string, f *reconcile.FeeRule) decimal.Decimal {
	text := s.text(key, "")
	if text == "" {
		return decimal.Zero
	}
	currency := f.FeeCurrency
	if currency == "" {
		currency = f.Currency
	}
	sum, err := plainDecimal(text)
	switch {
	case err != nil:
		s.fail(key, "%q: a plain amount such as 0.30 expected", text)
	case currency == "" && key != "tolerance":
		s.fail(key, "of which currency? give currency, or fee_currency where the fee is charged in another")
	case currency != "":
		if _, err := models.ParseMajor(text, currency); err != nil {
			s.fail(key, "%v", err)
		}
	}
	return sum
}

// plainDecimal reads digits with a point and a minus, and nothing else a decimal could be written with.
func plainDecimal(text string) (decimal.Decimal, error) {
	if strings.Trim(text, "0123456789.-") != "" || len(text) > 20 {
		return decimal.Zero, fmt.Errorf("%q is no plain decimal", text)
	}
	return decimal.NewFromString(text)
}

func (s *section) currency(key string) string {
	text := s.text(key, "")
	if text == "" {
		return ""
	}
	code, err := models.ParseCurrency(text)
	if err != nil {
		s.fail(key, "%v", err)
	}
	return code
}

func (s *section) day(key string) reconcile.Day {
	text := s.text(key, "")
	if text == "" {
		return reconcile.Day{}
	}
	day, err := reconcile.ParseDay(text)
	if err != nil {
		s.fail(key, "%v", err)
	}
	return day
}
