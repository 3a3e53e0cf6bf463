package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// KeepArchived writes down what one look at a source has shown of one account and day, in one transaction, and returns how many of the
// files were not known before. The same bytes again are the same row, which keeps its name and its first time. SeenAt is filled in: it
// is the clock's, and later than that of any look before it.
func (l *Ledger) KeepArchived(ctx context.Context, look []models.Archive) (fresh int, err error) {
	if len(look) == 0 {
		return 0, errors.New("archive: a look that has shown nothing")
	}
	account, date := look[0].Account, look[0].Date
	err = l.retryTx(ctx, func(tx *gorm.DB) error {
		known, at, err := l.archivedBefore(tx, account, date)
		if err != nil {
			return err
		}
		b := l.sql("INSERT INTO archives (" + archiveColumns + ") VALUES ")
		var kept []AuditEntry
		for i := range look {
			f := &look[i]
			f.SeenAt = at
			b.row(i == 0, account, date, f.SHA256, f.Name, f.Bytes, f.Source, f.Mark, micros(f.FetchedAt), at)
			if !known[f.SHA256] {
				kept = append(kept, AuditEntry{Actor: ActorRun, Action: "archive.kept", Subject: "archive/" + account + "/" + date + "/" + f.SHA256[:min(12, len(f.SHA256))],
					Detail: archiveDetail{f.SHA256, f.Name, f.Bytes, f.Source}})
			}
		}
		b.add(" ON CONFLICT (account, date, sha256) DO UPDATE SET source = excluded.source, mark = excluded.mark, seen_at = excluded.seen_at")
		if _, err := exec(tx, b.String(), b.args...); err != nil {
			return err
		}
		fresh = len(kept)
		return l.audit(tx, kept...)
	})
	if err != nil {
		return 0, fmt.Errorf("archive of %s, %s: %w", account, date, err)
	}
	return fresh, nil
}

// archiveDetail is what the audit log tells of a file that is kept.
type archiveDetail struct {
	SHA256 string `json:"sha256"`
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	Source string `json:"source"`
}

// archivedBefore is what is known of the day, and a time for the next look. The day's rows are held until tx has ended, so that two looks
// at once have two times.
func (l *Ledger) archivedBefore(tx *gorm.DB, account, date string) (known map[string]bool, next time.Time, err error) {
	known, next = map[string]bool{}, l.clock()
	b := l.sql("UPDATE archives SET seen_at = seen_at WHERE account = ").arg(account).add(" AND date = ").arg(date).add(" RETURNING sha256, seen_at")
	err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
		var sum string
		var seen time.Time
		err := rows.Scan(&sum, utc{&seen})
		known[sum] = true
		if !seen.Before(next) {
			next = seen.Add(time.Microsecond)
		}
		return err
	})
	return known, next, err
}

const archiveColumns = "account, date, sha256, name, bytes, source, mark, fetched_at, seen_at"

// Archived lists the files that were archived for an account and day, by source, name and hash.
func (l *Ledger) Archived(ctx context.Context, account, date string) (list []models.Archive, err error) {
	b := l.sql("SELECT " + archiveColumns + " FROM archives WHERE account = ").arg(account).add(" AND date = ").arg(date)
	err = query(l.read.WithContext(ctx), b.add(" ORDER BY source, name, sha256").String(), b.args, func(rows *sql.Rows) error {
		var f models.Archive
		err := rows.Scan(&f.Account, &f.Date, &f.SHA256, &f.Name, &f.Bytes, &f.Source, &f.Mark, utc{&f.FetchedAt}, utc{&f.SeenAt})
		list = append(list, f)
		return err
	})
	return list, err
}

// NoteFetch counts one more try at the scheduled run of an account and day. problem is why it made no run, "" when it made one.
func (l *Ledger) NoteFetch(ctx context.Context, account, date, problem string) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error {
		b := l.sql("INSERT INTO fetches (account, date, tries, tried_at, problem) VALUES ").list(account, date, 1, l.clock(), problem)
		b.add(" ON CONFLICT (account, date) DO UPDATE SET tries = fetches.tries + 1, tried_at = excluded.tried_at, problem = excluded.problem")
		_, err := exec(tx, b.String(), b.args...)
		return err
	})
}

// Fetches are the tries of an account for days from this one on, by date.
func (l *Ledger) Fetches(ctx context.Context, account, from string) (map[string]models.Fetch, error) {
	found := map[string]models.Fetch{}
	b := l.sql("SELECT account, date, tries, tried_at, problem FROM fetches WHERE account = ").arg(account).add(" AND date >= ").arg(from)
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var f models.Fetch
		err := rows.Scan(&f.Account, &f.Date, &f.Tries, utc{&f.TriedAt}, &f.Problem)
		found[f.Date] = f
		return err
	})
	return found, err
}

// RunDays tells which days from this one on an account has a run of.
func (l *Ledger) RunDays(ctx context.Context, account, from string) (map[string]bool, error) {
	found := map[string]bool{}
	b := l.sql("SELECT DISTINCT date FROM runs WHERE account = ").arg(account).add(" AND date >= ").arg(from)
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var date string
		err := rows.Scan(&date)
		found[date] = true
		return err
	})
	return found, err
}

// Began is the time of the account's first transaction, and the date of its first run; zero and "" while there is none. What lies before
// both is none of this book's days.
func (l *Ledger) Began(ctx context.Context, account string) (first time.Time, run string, err error) {
	b := l.sql("SELECT occurred_at FROM transactions WHERE account = ").arg(account).add(" ORDER BY account, occurred_at, transaction_id LIMIT 1")
	if err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(utc{&first}) }); err != nil {
		return first, run, err
	}
	b = l.sql("SELECT date FROM runs WHERE account = ").arg(account).add(" ORDER BY account, date, created_at LIMIT 1")
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&run) })
	return first, run, err
}
