package ledger

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Payout is a provider's transfer to the bank, as a statement or a callback tells it: one row each, kept by its id. Where both do, the sum
// is the statement's, and the status is the one that is further.
type Payout struct {
	Account       string
	PayoutID      string // the provider's
	Batch         string // the id that its rows carry in the statements where that is another, a settlement batch's; "": PayoutID
	Money         models.Money
	Status        models.TransactionStatus
	OccurredAt    time.Time // when it was paid, by the provider's word
	BankReference string    // what the bank's line shows beside the id; "": not told
	File          string    // the statement that tells it; "": only a callback does
	Date          string    // of the run that read the statement; "": only a callback tells it
}

// RowsID is what the statement's rows of this payout carry.
func (p *Payout) RowsID() string {
	if p.Batch != "" {
		return p.Batch
	}
	return p.PayoutID
}

// PayoutFilter narrows a list of payouts. Zero fields do not filter.
type PayoutFilter struct {
	Account  string
	IDs      []string // payouts or batches
	Status   models.TransactionStatus
	From, To time.Time // paid from ≤ t < to
	Page
}

const payoutColumns = "account, payout_id, batch, amount_minor, currency, status, occurred_at, bank_reference, file, date"

// Payouts lists payouts, newest first, and the cursor of the next page ("" at the end).
func (l *Ledger) Payouts(ctx context.Context, f PayoutFilter) ([]Payout, string, error) {
	b := l.sql("SELECT " + payoutColumns + " FROM payouts WHERE 1=1")
	if f.Account != "" {
		b.add(" AND account = ").arg(f.Account)
	}
	if f.Status != "" {
		b.add(" AND status = ").arg(string(f.Status))
	}
	if len(f.IDs) > 0 {
		b.add(" AND (payout_id IN ").list(anys(f.IDs)...).add(" OR batch <> '' AND batch IN ").list(anys(f.IDs)...).add(")")
	}
	if !f.From.IsZero() {
		b.add(" AND occurred_at >= ").arg(micros(f.From))
	}
	if !f.To.IsZero() {
		b.add(" AND occurred_at < ").arg(micros(f.To))
	}
	// an id is one account's: beside it the account keeps two of one name and moment apart
	if err := b.page(f.Page, "occurred_at", "payout_id || ' ' || account"); err != nil {
		return nil, "", err
	}
	list, err := selectPayouts(l.read.WithContext(ctx), b)
	list, next := cutPage(f.Page, list, func(last *Payout) string { return cursor(last.OccurredAt, last.PayoutID+" "+last.Account) })
	return list, next, err
}

func selectPayouts(tx *gorm.DB, b *builder) (list []Payout, err error) {
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		var p Payout
		err := rows.Scan(&p.Account, &p.PayoutID, &p.Batch, &p.Money.Minor, &p.Money.Currency, &p.Status, utc{&p.OccurredAt}, &p.BankReference, &p.File, &p.Date)
		list = append(list, p)
		return err
	})
	return list, err
}

// putPayouts writes what a run's statements tell of payouts, each once, in place of what earlier runs of the date have told. A statement of
// a later date knows better, and so does a callback that tells of an end: a payout may bounce after the statement.
func (l *Ledger) putPayouts(tx *gorm.DB, run *models.Run, f *Findings) error {
	if f.looksAt(models.Payout) {
		if err := l.dropPayouts(tx, run, f.Payouts); err != nil {
			return err
		}
	}
	return eachChunk(f.Payouts, inChunk, func(chunk []Payout) error {
		b := l.sql("INSERT INTO payouts (" + payoutColumns + ", run_id) VALUES ")
		ids := make([]string, 0, len(chunk))
		for i, p := range chunk {
			ids = append(ids, p.PayoutID)
			b.row(i == 0, run.Account, p.PayoutID, p.Batch, p.Money.Minor, p.Money.Currency, string(p.Status), micros(p.OccurredAt),
				p.BankReference, p.File, run.Date, run.ID)
		}
		b.add(` ON CONFLICT (account, payout_id) DO UPDATE SET batch = excluded.batch, amount_minor = excluded.amount_minor, currency = excluded.currency,
 status = excluded.status, occurred_at = excluded.occurred_at, bank_reference = excluded.bank_reference, file = excluded.file, date = excluded.date,
 run_id = excluded.run_id WHERE payouts.date <= excluded.date`)
		if _, err := exec(tx, b.String(), b.args...); err != nil {
			return err
		}
		return l.tellAgain(tx, run.Account, ids)
	})
}

// dropPayouts takes out what the date's earlier runs have told and this one does not. What callbacks have told stays.
func (l *Ledger) dropPayouts(tx *gorm.DB, run *models.Run, told []Payout) error {
	b := l.sql("SELECT " + payoutColumns + " FROM payouts WHERE account = ").arg(run.Account).add(" AND date = ").arg(run.Date)
	before, err := selectPayouts(tx, b.add(" ORDER BY payout_id"))
	if err != nil {
		return err
	}
	var gone []string
	for _, p := range before {
		if !slices.ContainsFunc(told, func(t Payout) bool { return t.PayoutID == p.PayoutID }) {
			gone = append(gone, p.PayoutID)
		}
	}
	return eachChunk(gone, inChunk, func(ids []string) error {
		b := l.sql("DELETE FROM payouts WHERE account = ").arg(run.Account).add(" AND payout_id IN ").list(anys(ids)...)
		if _, err := exec(tx, b.String(), b.args...); err != nil {
			return err
		}
		return l.tellAgain(tx, run.Account, ids)
	})
}

// tellAgain adds what callbacks have told of these payouts. It reads them when the rows are written: a callback that comes now waits for
// the row, and adds its word behind ours.
func (l *Ledger) tellAgain(tx *gorm.DB, account string, ids []string) error {
	keys := map[key]bool{}
	for _, id := range ids {
		keys[key{account, models.Payout, id}] = true
	}
	p := pipe{tx: tx}
	err := l.loadTransactions(tx, keys, func(t models.Transaction) error {
		l.tellPayout(&p, &t)
		return nil
	})
	if err != nil {
		return err
	}
	return p.flush()
}

// FurtherPayout is the status of two that a payout comes to in the end: it is paid after it is pending, and may bounce after it is paid.
func FurtherPayout(a, b models.TransactionStatus) models.TransactionStatus {
	rank := func(s models.TransactionStatus) int {
		return slices.Index([]models.TransactionStatus{models.StatusUnknown, models.StatusPending, models.StatusSucceeded}, s)
	}
	if ra, rb := rank(a), rank(b); ra < 0 || rb >= 0 && ra >= rb {
		return a
	}
	return b
}

// furtherSQL is how far a payout's status is, of the table's row or the one that comes.
func furtherSQL(row string) string {
	return "CASE " + row + ".status WHEN 'unknown' THEN 0 WHEN 'pending' THEN 1 WHEN 'succeeded' THEN 2 ELSE 3 END"
}

// tellPayout adds a statement that books what a callback says of a payout. A statement's sum stays.
func (l *Ledger) tellPayout(p *pipe, t *models.Transaction) {
	b := l.sql("INSERT INTO payouts ("+payoutColumns+", run_id) VALUES ").list(t.Account, t.TransactionID, "", t.AmountMinor, t.Currency,
		string(t.Status), micros(t.OccurredAt), "", "", "", "")
	b.add(` ON CONFLICT (account, payout_id) DO UPDATE SET
 amount_minor = CASE payouts.date WHEN '' THEN excluded.amount_minor ELSE payouts.amount_minor END,
 currency = CASE payouts.date WHEN '' THEN excluded.currency ELSE payouts.currency END,
 occurred_at = CASE payouts.date WHEN '' THEN excluded.occurred_at ELSE payouts.occurred_at END,
 status = CASE WHEN payouts.date = '' OR ` + furtherSQL("excluded") + " > " + furtherSQL("payouts") + ` THEN excluded.status ELSE payouts.status END`)
	p.write(b, anyRows)
}
