package ledger

import (
	"context"
	"database/sql"
	"strconv"

	"gorm.io/gorm"
)

// Audit adds entries to the log in a transaction of their own.
func (l *Ledger) Audit(ctx context.Context, entries ...AuditEntry) error {
	return l.retryTx(ctx, func(tx *gorm.DB) error { return l.audit(tx, entries...) })
}

// Forge is what somebody does who can write to the database and knows how the hashes are made: the rows from this one on are chained anew,
// each with what forge makes of it, and the head follows.
func (l *Ledger) Forge(ctx context.Context, from int64, forge func(*AuditRow)) error {
	return l.inTx(ctx, func(tx *gorm.DB) error {
		var rows []AuditRow
		b := l.sql("SELECT " + auditColumns + " FROM audit WHERE seq >= ").arg(from).add(" ORDER BY seq")
		err := query(tx, b.String(), b.args, func(in *sql.Rows) error {
			var r AuditRow
			err := in.Scan(&r.Seq, utc{&r.At}, &r.Actor, &r.Action, &r.Subject, &r.Detail, &r.Previous, &r.Hash)
			rows = append(rows, r)
			return err
		})
		for i := 0; i < len(rows) && err == nil; i++ {
			r := &rows[i]
			if i > 0 {
				r.Previous = rows[i-1].Hash
			}
			forge(r)
			r.Hash = r.sum()
			b := l.sql("UPDATE audit SET actor = ").arg(r.Actor).add(", previous = ").arg(r.Previous).add(", hash = ").arg(r.Hash)
			_, err = exec(tx, b.add(" WHERE seq = ").arg(r.Seq).String(), b.args...)
		}
		if err == nil {
			b := l.sql("UPDATE audit_head SET hash = ").arg(rows[len(rows)-1].Hash)
			_, err = exec(tx, b.String(), b.args...)
		}
		return err
	})
}

// ForgeOne makes one row's own hash fit what it says now.
func (l *Ledger) ForgeOne(ctx context.Context, seq int64) error {
	list, _, err := l.AuditLog(ctx, AuditFilter{Page: Page{After: strconv.FormatInt(seq+1, 10), Limit: 1}})
	if err != nil {
		return err
	}
	b := l.sql("UPDATE audit SET hash = ").arg(list[0].sum()).add(" WHERE seq = ").arg(seq)
	_, err = exec(l.db.WithContext(ctx), b.String(), b.args...)
	return err
}

// SchemaUpTo brings an empty database to an older version of the schema.
func SchemaUpTo(ctx context.Context, dsn string, version int64) error {
	return withSchema(dsn, func(l *Ledger) error {
		p, err := l.migrator()
		if err == nil {
			_, err = p.UpTo(ctx, version)
		}
		return err
	})
}
