package ledger

import (
	"context"
	"database/sql"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"paybook/models"
)

// adoptVersion is the step that tells the log of the gaps and runs that were there before it, so that whatever the log does not know was not
// written by the product. It is Go, for no database makes the hashes.
const (
	adoptVersion = 14
	adoptFile    = "00014_audit_adopts"
)

func (l *Ledger) adoptMigration() *goose.Migration {
	up := func(ctx context.Context, tx *sql.Tx) error {
		db := l.db.Session(&gorm.Session{Context: ctx, NewDB: true})
		db.Statement.ConnPool = tx
		return l.adoptInLog(db)
	}
	return goose.NewGoMigration(adoptVersion, &goose.GoFunc{RunTx: up}, nil)
}

func (l *Ledger) adoptInLog(tx *gorm.DB) error {
	w := auditWriter{l: l, tx: tx}
	err := inPages(func(after string) (last string, err error) {
		b := l.sql("SELECT " + runColumns + " FROM runs WHERE id > ").arg(after).add(" ORDER BY id LIMIT 100") // each with its report
		var page []models.Run
		err = query(tx, b.String(), b.args, func(rows *sql.Rows) error {
			r, err := scanRun(rows)
			page = append(page, r)
			return err
		})
		for i := 0; i < len(page) && err == nil; i++ {
			last, err = page[i].ID, w.add(runEntry(RunAdopted, ActorMigration, &page[i]))
		}
		return last, err
	})
	if err != nil {
		return err
	}
	err = inPages(func(after string) (last string, err error) {
		b := l.sql("SELECT " + gapColumns + " FROM gaps WHERE id > ").arg(after).add(" ORDER BY id LIMIT 500")
		page, err := selectGaps(tx, b)
		for i := 0; i < len(page) && err == nil; i++ {
			g := &page[i]
			last, err = g.ID, w.add(AuditEntry{Actor: ActorMigration, Action: GapAdopted, Subject: gapSubject(g.ID), Detail: GapDetail{Now: saying(g)}})
		}
		return last, err
	})
	if err != nil {
		return err
	}
	return w.close()
}

// inPages goes through a table by its key until a page is empty.
func inPages(page func(after string) (last string, err error)) error {
	for after := ""; ; {
		last, err := page(after)
		if err != nil || last == "" {
			return err
		}
		after = last
	}
}
