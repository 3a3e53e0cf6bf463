package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"

	"gorm.io/gorm"

	"paybook/models"
)

// PayoutStep is what the statements of one date say about one kind of rows of one payout, in one currency. The sums have no size limit.
type PayoutStep struct {
	PayoutID string // or the batch
	Date     string // of the run that read the rows
	Kind     models.TransactionKind
	Currency string
	Count    int64
	Amount   *big.Int // minor units, as the balance moved before fees: negative when it left us
	Fee      *big.Int // minor units that the provider kept of these rows, negative when it gave back
	// Whole is true for rows of a report that holds all rows of its payouts. Then what other dates' statements have of the payout is the
	// same told before, and does not count.
	Whole bool
}

const stepColumns = "payout_id, date, kind, currency, count, amount, fee, whole"

// PayoutSteps are the steps of payouts or batches of an account, by payout, date, kind and currency.
func (l *Ledger) PayoutSteps(ctx context.Context, account string, ids []string) (list []PayoutStep, err error) {
	err = eachChunk(ids, inChunk, func(chunk []string) error {
		b := l.sql("SELECT " + stepColumns + " FROM payout_steps WHERE account = ").arg(account)
		b.add(" AND payout_id IN ").list(anys(chunk)...).add(" ORDER BY payout_id, date, kind, currency")
		return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
			s, err := scanStep(rows)
			list = append(list, s)
			return err
		})
	})
	return list, err
}

// PayoutsBefore are the payouts or batches, by what their rows carry, that earlier runs of a date have told anything of, and those whose
// gaps wait for the date.
func (l *Ledger) PayoutsBefore(ctx context.Context, account, date string) (ids []string, err error) {
	b := l.sql("SELECT payout_id FROM payout_steps WHERE account = ").arg(account).add(" AND date = ").arg(date)
	b.add(" UNION SELECT CASE batch WHEN '' THEN payout_id ELSE batch END FROM payouts WHERE account = ").arg(account).add(" AND date = ").arg(date)
	b.add(" UNION SELECT transaction_id FROM gaps WHERE account = ").arg(account).add(" AND kind = ").arg(string(models.GapPayout))
	b.add(" AND entry_kind = ").arg(string(models.Payout)).add(" AND (date = ").arg(date).add(" OR state = 'carried' AND waits_for LIKE ").arg(`%"` + date + `"%`)
	b.add(" OR decided_on <> '' AND decided_on = ").arg(date).add(") ORDER BY 1")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func scanStep(rows *sql.Rows) (s PayoutStep, err error) {
	var amount, fee string
	if err = rows.Scan(&s.PayoutID, &s.Date, &s.Kind, &s.Currency, &s.Count, &amount, &fee, &s.Whole); err != nil {
		return s, err
	}
	var ok [2]bool
	s.Amount, ok[0] = new(big.Int).SetString(amount, 10)
	s.Fee, ok[1] = new(big.Int).SetString(fee, 10)
	if !ok[0] || !ok[1] {
		err = fmt.Errorf("payout_steps: %s of %s: a sum is no number; run reconcile for that date again", s.PayoutID, s.Date)
	}
	return s, err
}

// putPayoutSteps replaces what earlier runs of the date have told of the kinds that this one has looked at.
func (l *Ledger) putPayoutSteps(tx *gorm.DB, run *models.Run, f *Findings) error {
	d := l.sql("DELETE FROM payout_steps WHERE account = ").arg(run.Account).add(" AND date = ").arg(run.Date)
	if f.Kinds != nil {
		d.add(" AND kind IN ").list(words(f.Kinds)...)
	}
	if _, err := exec(tx, d.String(), d.args...); err != nil {
		return err
	}
	return eachChunk(f.Steps, inChunk, func(chunk []PayoutStep) error {
		b := l.sql("INSERT INTO payout_steps (account, " + stepColumns + ") VALUES ")
		for i, s := range chunk {
			b.row(i == 0, run.Account, s.PayoutID, run.Date, string(s.Kind), s.Currency, s.Count, s.Amount.String(), s.Fee.String(), s.Whole)
		}
		b.add(` ON CONFLICT (account, payout_id, date, kind, currency) DO UPDATE SET count = excluded.count, amount = excluded.amount,
 fee = excluded.fee, whole = excluded.whole`)
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}
