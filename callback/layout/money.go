package layout

import (
	"maps"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// moneyColumns is how a statement writes its sums: in one column, which may be signed or have a column beside it that says which
// way the money went, or in one column for what came and one for what left.
type moneyColumns struct {
	amount, direction string
	debit, credit     string
	fees              []string // added up
	netDebit          string   // with netCredit: what the row moved in the balance after its fees, which tells the way of an adjustment too
	netCredit         string
	unit              string
	digits            map[string]int
	directions        map[string]bool // the file's words; true: the money left us
	signed            bool            // money leaving us is negative; else amounts have no sign of their own
	feesSigned        bool            // likewise for fees, which else count what the provider kept
}

// directionWords are understood in any case; true is money that left us.
var directionWords = map[string]bool{"cr": false, "credit": false, "c": false, "dr": true, "debit": true, "d": true}

// readMoneyColumns: signed is what sums are where the settings do not say it.
func readMoneyColumns(s, columns *parse.Section, signed bool) moneyColumns {
	habit := "absolute"
	if signed {
		habit = "signed"
	}
	unit := s.Word("amount_unit", "major", "minor", "major", "hundredths")
	m := moneyColumns{
		amount: columnName(columns, "amount"), direction: columnName(columns, "direction"),
		debit: columnName(columns, "debit"), credit: columnName(columns, "credit"), fees: columnNames(columns, "fee"),
		netDebit: columnName(columns, "net_debit"), netCredit: columnName(columns, "net_credit"),
		unit: unit, digits: Digits(s, unit),
		signed:     s.Word("sign", habit, "signed", "absolute") == "signed",
		feesSigned: s.Word("fee_sign", habit, "signed", "absolute") == "signed",
		directions: readDirections(s),
	}
	if gross := columnName(columns, "gross"); gross != "" {
		if m.amount != "" {
			columns.Fail("gross", "give either gross or amount")
		}
		m.amount = gross
	}
	if (m.netDebit == "") != (m.netCredit == "") {
		columns.Fail("net_debit", "give both net_debit and net_credit, or none")
	}
	split := m.debit != "" || m.credit != ""
	switch {
	case !split && m.amount == "":
		columns.Fail("amount", "missing: the column of the file it stands in, or debit and credit")
	case split && (m.amount != "" || m.direction != ""):
		columns.Fail("debit", "give either debit and credit, or amount")
	case split && m.debit == "":
		columns.Fail("debit", "missing beside credit")
	case split && m.credit == "":
		columns.Fail("credit", "missing beside debit")
	case (split || m.direction != "") && s.Has("sign"):
		s.Fail("sign", "the columns say already which way the money went")
	}
	m.signed = m.signed || split || m.direction != ""
	return m
}

func readDirections(s *parse.Section) map[string]bool {
	o := s.Object("directions")
	if o == nil {
		return directionWords
	}
	words := map[string]bool{}
	for _, word := range o.Names() {
		out := o.Word(word, "", "credit", "debit") == "debit"
		words[word], words[strings.ToLower(word)] = out, out
	}
	return words
}

func (m *moneyColumns) names() []string {
	return append([]string{m.amount, m.direction, m.debit, m.credit, m.netDebit, m.netCredit}, m.fees...)
}

// place is the column an error about the sum names.
func (m *moneyColumns) place() string {
	if m.amount == "" {
		return m.debit + ", " + m.credit
	}
	return m.amount
}

// amountOf is the row's sum, negative where the layout says that it left us.
func (m *moneyColumns) amountOf(r *rowReader, currency string) (models.Money, error) {
	if m.amount == "" {
		return m.split(r, currency, m.debit, m.credit)
	}
	sum, err := m.sum(r, r.at.amount, m.amount, currency)
	if err != nil || m.direction == "" {
		return sum, err
	}
	out, known := lookup(m.directions, r.Get(m.direction))
	switch {
	case !known:
		return sum, r.Fail(m.direction, "%q says neither in nor out, expected one of %s", clip(r.Get(m.direction)),
			strings.Join(slices.Sorted(maps.Keys(m.directions)), ", "))
	case sum.Minor < 0:
		return sum, r.Fail(m.amount, "%s is negative beside %s, which could mean two things", sum, m.direction)
	case out:
		sum.Minor = -sum.Minor
	}
	return sum, nil
}

// split reads a debit and a credit column, of which one is empty or zero.
func (m *moneyColumns) split(r *rowReader, currency, debit, credit string) (out models.Money, err error) {
	for _, column := range []string{debit, credit} {
		if r.Get(column) == "" {
			continue
		}
		sum, err := m.sum(r, r.Column(column), column, currency)
		switch {
		case err != nil:
			return out, err
		case sum.Minor < 0:
			return out, r.Fail(column, "%s is negative, which in this column could mean two things", sum)
		case sum.Minor != 0 && out.Minor != 0:
			return out, r.Fail(column, "%s: %s has a sum too", sum, debit)
		case sum.Minor != 0 && column == debit:
			sum.Minor = -sum.Minor
			out = sum
		case out.Minor == 0:
			out = sum
		}
	}
	if out.Currency == "" {
		return out, r.Fail(debit+", "+credit, "both are empty")
	}
	return out, nil
}

// grossOf is what a row moved before its fees.
func (m *moneyColumns) grossOf(r *rowReader, currency string, fee int64) (gross models.Money, err error) {
	gross, err = m.split(r, currency, m.netDebit, m.netCredit)
	gross.Minor += fee
	return gross, err
}

// feeOf is what the provider kept of the row; negative when it gave back.
func (m *moneyColumns) feeOf(r *rowReader, currency string) (fee models.Money, err error) {
	for i, column := range m.fees {
		if r.At(r.at.fees[i]) == "" {
			continue
		}
		part, err := m.sum(r, r.at.fees[i], column, currency)
		if err != nil {
			return fee, err
		}
		if m.feesSigned {
			part.Minor = -part.Minor
		}
		total := fee.Minor + part.Minor
		if (total > fee.Minor) != (part.Minor > 0) && part.Minor != 0 {
			return fee, r.Fail(column, "the fees of the row add up to more than fits")
		}
		fee = models.Money{Minor: total, Currency: part.Currency}
	}
	return fee, nil
}

func (m *moneyColumns) sum(r *rowReader, place int, column, currency string) (sum models.Money, err error) {
	if m.unit == "major" {
		sum, err = parse.StatementAmount(r.At(place), currency)
	} else {
		sum, err = Amount(r.At(place), currency, m.unit, m.digits)
	}
	if err != nil {
		return sum, r.Fail(column, "%v", err)
	}
	return sum, nil
}
