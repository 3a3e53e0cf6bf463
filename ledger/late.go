package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/google/uuid"

	"paybook/models"
)

// LateAfter is how old a movement must be for a change of it to be noted. A daily run is of a day that has long ended, and by what is
// noted of it it sees that nothing has changed since it was made last. What changes on its own day, nearly everything, costs nothing.
const LateAfter = 6 * time.Hour

// lateDay is a day (UTC) of an account, YYYY-MM-DD.
type lateDay struct{ account, day string }

func lateDayOf(account string, at time.Time) lateDay {
	return lateDay{account, at.UTC().Format(time.DateOnly)}
}

// noteLate notes the days whose book this transaction changes, if they are over. By the machine's clock: the book's own is that of a
// recording while one is played.
func (e *engine) noteLate() {
	days, limit := map[lateDay]bool{}, time.Now().Add(-LateAfter)
	note := func(t *models.Transaction) {
		if t.OccurredAt.Before(limit) {
			days[lateDayOf(t.Account, t.OccurredAt)] = true
		}
	}
	for _, r := range e.rows {
		if r.was == nil && r.gone || r.was != nil && !r.gone && (!r.dirty || r.Transaction == *r.was) {
			continue
		}
		note(&r.Transaction)
		if r.was != nil {
			note(r.was)
		}
	}
	for _, names := range []map[key]string{e.proposed, e.renamed} {
		for k, id := range names {
			if r := e.rows[key{k.account, k.kind, id}]; r != nil && (e.fresh[k] || e.renamed[k] != "") {
				note(&r.Transaction)
			}
		}
	}
	e.writeLate(days)
}

func (e *engine) writeLate(days map[lateDay]bool) {
	list := make([]lateDay, 0, len(days))
	for d := range days {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b lateDay) int { return cmp.Or(cmp.Compare(a.account, b.account), cmp.Compare(a.day, b.day)) })
	id := uuid.Must(uuid.NewV7()).String()
	eachSlice(list, func(chunk []lateDay) {
		b := e.l.sql("INSERT INTO late (account, day, id) VALUES ")
		for i, d := range chunk {
			b.row(i == 0, d.account, d.day, id)
		}
		e.pipe.write(b, len(chunk))
	})
}

// LateChanges counts the transactions of ours that have changed an account's book of from ≤ occurred_at < to, widened to whole days of
// UTC, LateAfter its time or later. It only grows.
func (l *Ledger) LateChanges(ctx context.Context, account string, from, to time.Time) (n int64, err error) {
	b := l.sql("SELECT count(*) FROM late WHERE account = ").arg(account)
	b.add(" AND day >= ").arg(lateDayOf(account, from).day).add(" AND day <= ").arg(lateDayOf(account, to).day)
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, err
}

// KeepAnswer keeps what a run of an account and date has answered, in place of what it answered before.
func (l *Ledger) KeepAnswer(ctx context.Context, account, date, key, answer string) error {
	b := l.sql("INSERT INTO answers (account, date, key, answer) VALUES ").list(account, date, key, answer)
	b.add(" ON CONFLICT (account, date) DO UPDATE SET key = excluded.key, answer = excluded.answer")
	_, err := exec(l.db.WithContext(ctx), b.String(), b.args...)
	return err
}

// Answer is the answer kept for an account and date, with its key; "" for none.
func (l *Ledger) Answer(ctx context.Context, account, date string) (key, answer string, err error) {
	b := l.sql("SELECT key, answer FROM answers WHERE account = ").arg(account).add(" AND date = ").arg(date)
	err = query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error { return rows.Scan(&key, &answer) })
	return key, answer, err
}

// GapsOf reads all gaps of an account and date, by id, without loading them all.
func (l *Ledger) GapsOf(ctx context.Context, account, date string, each func(models.Gap) error) error {
	b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE account = ").arg(account).add(" AND date = ").arg(date).add(" ORDER BY id")
	return query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		g, err := scanGap(rows)
		if err != nil {
			return err
		}
		return each(g)
	})
}
