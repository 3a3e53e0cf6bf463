package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
)

// AuditFilter narrows the log. Zero fields do not filter. Page.After is a Seq.
type AuditFilter struct {
	Subject string // gap/ID, run/ID, …
	Actor   string
	Page
}

// AuditLog lists the log, newest first, and the cursor of the next page ("" at the end).
func (l *Ledger) AuditLog(ctx context.Context, f AuditFilter) ([]AuditRow, string, error) {
	b := l.sql("SELECT " + auditColumns + " FROM audit WHERE 1=1")
	if f.Subject != "" {
		b.add(" AND subject = ").arg(f.Subject)
	}
	if f.Actor != "" {
		b.add(" AND actor = ").arg(f.Actor)
	}
	if f.After != "" {
		seq, err := strconv.ParseInt(f.After, 10, 64)
		if err != nil {
			return nil, "", fmt.Errorf("--after %q is not a cursor that a list has printed", f.After)
		}
		b.add(" AND seq < ").arg(seq)
	}
	b.add(" ORDER BY seq DESC LIMIT ").arg(f.limit() + 1)
	var list []AuditRow
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var r AuditRow
		err := rows.Scan(&r.Seq, utc{&r.At}, &r.Actor, &r.Action, &r.Subject, &r.Detail, &r.Previous, &r.Hash)
		list = append(list, r)
		return err
	})
	list, next := cutPage(f.Page, list, func(last *AuditRow) string { return strconv.FormatInt(last.Seq, 10) })
	return list, next, err
}

// GapHistory is all that the log tells of a gap, in the order in which it happened.
func (l *Ledger) GapHistory(ctx context.Context, id string) ([]AuditRow, error) {
	var list []AuditRow
	b := l.sql("SELECT " + auditColumns + " FROM audit WHERE subject = ").arg(gapSubject(id)).add(" ORDER BY seq")
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var r AuditRow
		err := rows.Scan(&r.Seq, utc{&r.At}, &r.Actor, &r.Action, &r.Subject, &r.Detail, &r.Previous, &r.Hash)
		list = append(list, r)
		return err
	})
	return list, err
}

// AuditHead is where the log ends: the number and the hash of its last row, 0 and "" while it is empty.
func (l *Ledger) AuditHead(ctx context.Context) (AuditAnchor, error) {
	var head AuditAnchor
	found := false
	err := query(l.read.WithContext(ctx), "SELECT seq, hash FROM audit_head WHERE name = 'audit'", nil, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&head.Seq, &head.Hash)
	})
	if err == nil && !found {
		err = errNoHead
	}
	return head, err
}
