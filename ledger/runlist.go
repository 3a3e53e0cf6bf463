package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"paybook/models"
)

// RunDates tells which of the dates of an account have a saved run.
func (l *Ledger) RunDates(ctx context.Context, account string, dates []string) (map[string]bool, error) {
	found := map[string]bool{}
	err := eachChunk(dates, inChunk, func(chunk []string) error {
		b := l.sql("SELECT DISTINCT date FROM runs WHERE account = ").arg(account).add(" AND date IN ").list(anys(chunk)...)
		return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
			var date string
			err := rows.Scan(&date)
			found[date] = true
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

func scanRun(rows *sql.Rows) (models.Run, error) {
	var r models.Run
	var files string
	err := rows.Scan(&r.ID, &r.Account, &r.Provider, &r.Date, &r.TimeZone, &r.Result, &files, &r.Entries, &r.ControlTotals, &r.Report,
		&r.Fingerprint, utc{&r.CreatedAt})
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
	next := ""
	if len(list) > f.limit() {
		list = list[:f.limit()]
		last := list[len(list)-1]
		next = cursor(last.CreatedAt, last.ID)
	}
	return list, next, err
}
