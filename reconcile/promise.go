package reconcile

import (
	"fmt"
	"math/big"
	"slices"

	"paybook/models"
	"paybook/reconcile/lang"
)

// A summary file promises what the compared files of the run hold, all together: it finds the file that was forgotten and the rows
// that were cut off. All rows count, whatever their status, for a summary counts lines.

// checkPromises holds every summary against the rows. A file's own control totals have been checked by its reader before.
func (r *run) checkPromises() error {
	counted := totals{}
	counted.merge(r.stated)
	counted.merge(r.idle)
	var promises []models.Promise
	for _, in := range r.inputs {
		if in.twin != nil {
			continue
		}
		for _, p := range in.statement.Promises {
			if err := checkPromise(in, p, counted); err != nil {
				return err
			}
		}
		promises = append(promises, in.statement.Promises...)
	}
	if coverAll(promises, counted) {
		r.controlTotals = controlAgree
	}
	return nil
}

func checkPromise(in *input, p models.Promise, counted totals) error {
	count, sum := counted.promised(p)
	want := big.NewInt(p.Money.Minor)
	if p.Kind != "" { // a sum of one kind has no sign
		want.Abs(want)
		sum.Abs(sum)
	}
	if count == p.Count && (p.Money.Currency == "" || sum.Cmp(want) == 0) {
		return nil
	}
	return &models.FileError{File: in.name, What: fmt.Sprintf("it promises %s, the day's files have %s", promiseText(p, p.Count, want), promiseText(p, count, sum)),
		Next: "give all files of the day, or download them again"}
}

// promised is the count and sum of what a promise is about.
func (t totals) promised(p models.Promise) (count int64, sum *big.Int) {
	sum = new(big.Int)
	for k, have := range t {
		if !isAbout(p, k) {
			continue
		}
		count += have.count
		if p.Kind == "" && k.kind != models.Payment {
			sum.Sub(sum, have.amount.value())
		} else {
			sum.Add(sum, have.amount.value())
		}
	}
	return count, sum
}

func isAbout(p models.Promise, k totalKey) bool {
	return (p.Kind == k.kind || p.Kind == "" && k.kind.Compared()) && (p.Money.Currency == "" || p.Money.Currency == k.currency)
}

func promiseText(p models.Promise, count int64, sum *big.Int) string {
	text := lang.English.Count(int(count), promiseWord(p.Kind))
	if p.Money.Currency != "" {
		text += " of " + major(sum, p.Money.Currency) + " " + p.Money.Currency
	}
	if p.Kind == "" {
		text += " (payments less all others)"
	}
	return text
}

// promiseWord is a kind as a sentence says it.
func promiseWord(kind models.TransactionKind) string {
	switch {
	case kind == "":
		return "row"
	case kindWords[kind] != "":
		return kindWords[kind]
	}
	return string(kind)
}

// coverAll says whether sums were promised of every kind of row that is compared.
func coverAll(promises []models.Promise, counted totals) bool {
	for k, sum := range counted {
		covers := func(p models.Promise) bool { return p.Money.Currency != "" && isAbout(p, k) }
		if sum.count > 0 && k.kind.Compared() && !slices.ContainsFunc(promises, covers) {
			return false
		}
	}
	return slices.ContainsFunc(promises, func(p models.Promise) bool { return p.Money.Currency != "" })
}
