package adyen

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"paybook/models"
)

// batches adds up the net sums of each batch. When a batch closes, all that is in it is paid out (MerchantPayout), or carried over
// (Balancetransfer); with that it comes to nothing.
type batches map[batchKey]*batchSum

type batchKey struct{ account, number, currency string }

// batchSum has no size limit: absurd amounts must not add up to something that looks right.
type batchSum struct {
	rest   big.Int // credits less debits, minor units
	payout big.Int // what the MerchantPayout rows took
	paid   bool
	line   int // of the last payout, else of the last row
}

func (b batches) add(f *settlement, kind models.TransactionKind, net models.Money) {
	key := batchKey{f.Get("Merchant Account"), f.Get("Batch Number"), net.Currency}
	sum := b[key]
	if sum == nil {
		sum = &batchSum{}
		b[key] = sum
	}
	n := big.NewInt(net.Minor)
	sum.rest.Add(&sum.rest, n)
	switch {
	case kind == models.Payout:
		sum.payout.Sub(&sum.payout, n)
		sum.paid, sum.line = true, f.Line()
	case !sum.paid:
		sum.line = f.Line()
	}
}

// check refuses a file whose rows are not all there.
func (b batches) check(file string) error {
	if len(b) == 0 {
		return &models.FileError{File: file, What: "no rows below the header: a closed batch has at least its payout",
			Next: "download it again, or declare a day without one by --no-statement"}
	}
	keys := slices.SortedFunc(maps.Keys(b), func(x, y batchKey) int {
		return cmp.Or(cmp.Compare(x.account, y.account), cmp.Compare(x.number, y.number), cmp.Compare(x.currency, y.currency))
	})
	for _, key := range keys {
		if sum := b[key]; sum.rest.Sign() != 0 {
			return &models.FileError{File: file, Line: sum.line, What: sum.fault(key), Next: "download it again"}
		}
	}
	return nil
}

func (s *batchSum) fault(key batchKey) string {
	var due big.Int
	due.Add(&s.rest, &s.payout)
	credits := major(&due, key.currency)
	if !s.paid {
		return fmt.Sprintf("batch %s: no MerchantPayout of the %s %s that its rows come to: the file is cut, or the batch is not closed yet",
			key.number, credits, key.currency)
	}
	return fmt.Sprintf("batch %s: net credits less net debits are %s %s, its MerchantPayout is %s: rows are missing or changed",
		key.number, credits, key.currency, major(&s.payout, key.currency))
}

// major is a sum in major units.
func major(minor *big.Int, currency string) string {
	digits := models.Digits(currency)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return new(big.Rat).SetFrac(minor, scale).FloatString(digits)
}
