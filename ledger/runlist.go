package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"paybook/models"
)

// RunDates tells which of the dates of an account have a saved run, and the only kinds of rows that the files of all of its runs can
// hold; nil is any.
func (l *Ledger) RunDates(ctx context.Context, account string, dates []string) (map[string][]models.TransactionKind, error) {
	found := map[string][]models.TransactionKind{}
	err := eachChunk(dates, inChunk, func(chunk []string) error {
		b := l.sql(`SELECT DISTINCT r.date, coalesce(s.only_kind, '') AS only_kind FROM runs r
 LEFT JOIN statements s ON s.account = r.account AND s.date = r.date AND s.compared WHERE r.account = `).arg(account)
		b.add(" AND r.date IN ").list(anys(chunk)...).add(" ORDER BY 1, 2") // any kind, "", first
		return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
			var date string
			var only models.TransactionKind
			err := rows.Scan(&date, &only)
			if kinds, seen := found[date]; only == "" || seen && kinds == nil {
				found[date] = nil
			} else {
				found[date] = append(kinds, only)
			}
			return err
		})
	})
	return found, err
}

// ReadBatch is a settlement batch that a run has read.
type ReadBatch struct {
	Date string                 // of the run
	Only models.TransactionKind // the one kind it can hold; "" is any
}

// BatchesElsewhere tells which of the statements, named by the hash of their unpacked content, are settlement batches that the run of
// another date than this one has read.
func (l *Ledger) BatchesElsewhere(ctx context.Context, account, date string, contents []string) (map[string]ReadBatch, error) {
	found := map[string]ReadBatch{}
	err := eachChunk(contents, inChunk, func(chunk []string) error {
		b := l.sql("SELECT content_sha256, date, only_kind FROM statements WHERE account = ").arg(account).add(" AND batch AND date <> ").arg(date)
		b.add(" AND content_sha256 IN ").list(anys(chunk)...).add(" ORDER BY read_at DESC")
		return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
			var content string
			var batch ReadBatch
			err := rows.Scan(&content, &batch.Date, &batch.Only)
			found[content] = batch // at last that of the run that was first
			return err
		})
	})
	return found, err
}

// CrossedElsewhere tells which of the transactions are matched by the statement of another date than this one.
func (l *Ledger) CrossedElsewhere(ctx context.Context, date string, names map[Name]bool) (map[Name]bool, error) {
	look := make(map[key]bool, len(names))
	for n := range names {
		look[key{n.Account, n.Kind, n.ID}] = true
	}
	found := map[Name]bool{}
	err := eachChunk(sortedKeys(look), inChunk, func(keys []key) error {
		b := l.sql("SELECT account, kind, transaction_id FROM crossed WHERE (").whereKeys("transaction_id", keys)
		b.add(") AND date <> ").arg(date)
		return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
			var n Name
			err := rows.Scan(&n.Account, &n.Kind, &n.ID)
			found[n] = true
			return err
		})
	})
	return found, err
}

const runColumns = "id, account, provider, date, time_zone, result, files, entries, control_totals, report, fingerprint, created_at"

// scanRun reads runColumns, and what stands behind them.
func scanRun(rows *sql.Rows, more ...any) (models.Run, error) {
	var r models.Run
	var files string
	err := rows.Scan(append([]any{&r.ID, &r.Account, &r.Provider, &r.Date, &r.TimeZone, &r.Result, &files, &r.Entries, &r.ControlTotals, &r.Report,
		&r.Fingerprint, utc{&r.CreatedAt}}, more...)...)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal([]byte(files), &r.Files)
}

// LastRun is the newest run of an account and date; an error that wraps ErrNotFound when there is none.
func (l *Ledger) LastRun(ctx context.Context, account, date string) (models.Run, error) {
	return l.lastRun(l.read.WithContext(ctx), account, date)
}

func (l *Ledger) lastRun(tx *gorm.DB, account, date string) (run models.Run, err error) {
	b := l.sql("SELECT " + runColumns + " FROM runs WHERE account = ").arg(account).add(" AND date = ").arg(date)
	found := false
	err = query(tx, b.add(" ORDER BY created_at DESC, id DESC LIMIT 1").String(), b.args, func(rows *sql.Rows) (err error) {
		found = true
		run, err = scanRun(rows)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("run of %s, %s: %w", account, date, ErrNotFound)
	}
	return run, err
}

// RunFilter narrows a list of runs. Zero fields do not filter.
type RunFilter struct {
	Account string
	Date    string // business day, YYYY-MM-DD
	Page
}

// Runs lists runs, newest first, and the cursor of the next page ("" at the end).
func (l *Ledger) Runs(ctx context.Context, f RunFilter) ([]models.Run, string, error) {
	b := l.sql("SELECT " + runColumns + " FROM runs WHERE 1=1")
	if f.Account != "" {
		b.add(" AND account = ").arg(f.Account)
	}
	if f.Date != "" {
		b.add(" AND date = ").arg(f.Date)
	}
	if err := b.page(f.Page, "created_at", "id"); err != nil {
		return nil, "", err
	}
	var list []models.Run
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		r, err := scanRun(rows)
		list = append(list, r)
		return err
	})
	list, next := cutPage(f.Page, list, func(last *models.Run) string { return cursor(last.CreatedAt, last.ID) })
	return list, next, err
}
