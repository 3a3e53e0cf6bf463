package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// BankStatement is one statement of a bank account, as far as it tells which days have been read. Dates are YYYY-MM-DD by the bank's
// calendar.
type BankStatement struct {
	Date     string // of the run that has read it
	Number   string // the bank's own; "": none
	From, To string // the days it covers, both included
	// Opening and Closing are the balances in minor units, negative when overdrawn; nil: the statement has none.
	Opening, Closing *int64
}

// BankLine is one booked line of a bank statement.
type BankLine struct {
	ID        string // a hash of what the line says, and of how many of the same it is
	Date      string // of the run that has read it
	BookedOn  string // YYYY-MM-DD, as are all dates here
	ValueOn   string
	Money     models.Money // credits positive, debits negative
	Charge    int64        // what the bank says that it has kept of it, in minor units of the same currency
	Reversal  bool         // it takes an earlier line back
	Reference string       // the bank's own
	Texts     []string     // all that may name what it is: references, purpose, names
	File      string
	Line      int // of the unpacked file, from 1
}

// BankMatch is one line that is a payout, or a part of it, or holds it among others.
type BankMatch struct {
	Bank     string
	LineID   string
	BookedOn string // the line's
	Account  string // the payout's
	PayoutID string
	How      string // reference, amount, sum, parts
}

// BankFindings is what a run of a bank account adds to its Findings: Statements and Lines replace what earlier runs of its date have
// read, Matched and Unmatched change which lines are used.
type BankFindings struct {
	Bank               string
	Statements         []BankStatement
	Lines              []BankLine
	Matched, Unmatched []BankMatch
}

// BankGapAccount is what gaps and runs of a bank account are kept under: no account of a provider can be called so.
func BankGapAccount(bank string) string { return "bank/" + bank }

// BankPayouts lists the payouts of accounts from a moment on, and those of these ids whenever they were paid, by time.
func (l *Ledger) BankPayouts(ctx context.Context, accounts []string, from time.Time, ids []string) (list []Payout, err error) {
	seen := map[key]bool{}
	read := func(b *builder) error {
		found, err := selectPayouts(l.read.WithContext(ctx), b.add(" ORDER BY occurred_at, account, payout_id"))
		for _, p := range found {
			if k := (key{account: p.Account, id: p.PayoutID}); !seen[k] {
				seen[k] = true
				list = append(list, p)
			}
		}
		return err
	}
	of := anys(append([]string{""}, accounts...))
	if err := read(l.sql("SELECT " + payoutColumns + " FROM payouts WHERE occurred_at >= ").arg(micros(from)).add(" AND account IN ").list(of...)); err != nil {
		return nil, err
	}
	err = eachChunk(ids, inChunk, func(chunk []string) error {
		return read(l.sql("SELECT " + payoutColumns + " FROM payouts WHERE payout_id IN ").list(anys(chunk)...).add(" AND account IN ").list(of...))
	})
	return list, err
}

// BankStatements lists the statements of a bank account that runs of other dates than this one have read, by the days they cover.
func (l *Ledger) BankStatements(ctx context.Context, bank, notOf string) (list []BankStatement, err error) {
	b := l.sql("SELECT date, number, from_date, to_date, opening_minor, closing_minor FROM bank_statements WHERE bank = ").arg(bank)
	b.add(" AND date <> ").arg(notOf).add(" ORDER BY to_date, from_date, date, place")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var s BankStatement
		err := rows.Scan(&s.Date, &s.Number, &s.From, &s.To, &s.Opening, &s.Closing)
		list = append(list, s)
		return err
	})
	return list, err
}

// BankLines lists the lines booked from a day on that runs of other dates than this one have read, each once, by day.
func (l *Ledger) BankLines(ctx context.Context, bank, from, notOf string) (list []BankLine, err error) {
	b := l.sql("SELECT line_id, date, booked_on, value_on, amount_minor, currency, charge_minor, reversal, reference, texts, file, line")
	b.add(" FROM bank_lines WHERE bank = ").arg(bank).add(" AND booked_on >= ").arg(from).add(" AND date <> ").arg(notOf)
	seen := map[string]bool{}
	err = query(l.read.WithContext(ctx), b.add(" ORDER BY booked_on, line_id, date").String(), b.args, func(rows *sql.Rows) error {
		line, err := scanBankLine(rows)
		if err == nil && !seen[line.ID] {
			seen[line.ID] = true
			list = append(list, line)
		}
		return err
	})
	return list, err
}

func scanBankLine(rows *sql.Rows) (line BankLine, err error) {
	var texts string
	if err = rows.Scan(&line.ID, &line.Date, &line.BookedOn, &line.ValueOn, &line.Money.Minor, &line.Money.Currency, &line.Charge,
		&line.Reversal, &line.Reference, &texts, &line.File, &line.Line); err != nil {
		return line, err
	}
	return line, json.Unmarshal([]byte(texts), &line.Texts)
}

// BankMatches lists the matches of lines booked from a day on, of all banks: a payout lands in one of them only.
func (l *Ledger) BankMatches(ctx context.Context, from string) (list []BankMatch, err error) {
	b := l.sql("SELECT bank, line_id, booked_on, account, payout_id, how FROM bank_matches WHERE booked_on >= ").arg(from)
	err = query(l.read.WithContext(ctx), b.add(" ORDER BY bank, booked_on, line_id, account, payout_id").String(), b.args, func(rows *sql.Rows) error {
		var m BankMatch
		err := rows.Scan(&m.Bank, &m.LineID, &m.BookedOn, &m.Account, &m.PayoutID, &m.How)
		list = append(list, m)
		return err
	})
	return list, err
}

// GapsSince lists the gaps of an account from a day on, in whatever state.
func (l *Ledger) GapsSince(ctx context.Context, account, from string) ([]models.Gap, error) {
	b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE account = ").arg(account).add(" AND date >= ").arg(from)
	return selectGaps(l.read.WithContext(ctx), b.add(" ORDER BY date, id"))
}

func (l *Ledger) putBank(tx *gorm.DB, run *models.Run, f *BankFindings) error {
	if f == nil {
		return nil
	}
	for _, table := range []string{"bank_statements", "bank_lines"} {
		b := l.sql("DELETE FROM " + table + " WHERE bank = ").arg(f.Bank).add(" AND date = ").arg(run.Date)
		if _, err := exec(tx, b.String(), b.args...); err != nil {
			return err
		}
	}
	if err := l.putBankStatements(tx, run, f); err != nil {
		return err
	}
	if err := l.putBankLines(tx, run, f); err != nil {
		return err
	}
	return l.putBankMatches(tx, run, f)
}

func (l *Ledger) putBankStatements(tx *gorm.DB, run *models.Run, f *BankFindings) error {
	place := 0
	return eachChunk(f.Statements, inChunk, func(chunk []BankStatement) error {
		b := l.sql("INSERT INTO bank_statements (bank, date, place, number, from_date, to_date, opening_minor, closing_minor) VALUES ")
		for i, s := range chunk {
			place++
			b.row(i == 0, f.Bank, run.Date, place, s.Number, s.From, s.To, s.Opening, s.Closing)
		}
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

func (l *Ledger) putBankLines(tx *gorm.DB, run *models.Run, f *BankFindings) error {
	return eachChunk(f.Lines, inChunk, func(chunk []BankLine) error {
		b := l.sized(`INSERT INTO bank_lines (bank, date, line_id, booked_on, value_on, amount_minor, currency, charge_minor, reversal,
 reference, texts, file, line) VALUES `, 13*len(chunk))
		for i, line := range chunk {
			texts, err := json.Marshal(line.Texts)
			if err != nil {
				return err
			}
			b.row(i == 0, f.Bank, run.Date, line.ID, line.BookedOn, line.ValueOn, line.Money.Minor, line.Money.Currency, line.Charge,
				line.Reversal, line.Reference, string(texts), line.File, line.Line)
		}
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

func (l *Ledger) putBankMatches(tx *gorm.DB, run *models.Run, f *BankFindings) error {
	for _, m := range f.Unmatched {
		b := l.sql("DELETE FROM bank_matches WHERE bank = ").arg(f.Bank).add(" AND line_id = ").arg(m.LineID)
		b.add(" AND account = ").arg(m.Account).add(" AND payout_id = ").arg(m.PayoutID)
		if _, err := exec(tx, b.String(), b.args...); err != nil {
			return err
		}
	}
	return eachChunk(f.Matched, inChunk, func(chunk []BankMatch) error {
		b := l.sql("INSERT INTO bank_matches (bank, line_id, account, payout_id, booked_on, how, run_id) VALUES ")
		for i, m := range chunk {
			b.row(i == 0, f.Bank, m.LineID, m.Account, m.PayoutID, m.BookedOn, m.How, run.ID)
		}
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}
