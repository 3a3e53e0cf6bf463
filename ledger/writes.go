package ledger

import (
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// writes collects a transaction's last statements and sends them together: on PostgreSQL in one round trip instead of one each.
type writes struct {
	tx   *gorm.DB
	conn *sql.Conn // the connection tx runs on, when it may be used directly: PostgreSQL
	list []statement
}

// statement is a statement with the number of rows it must change; less means that something is not as it was read. -1: any.
type statement struct {
	text string
	args []any
	rows int64
}

func (w *writes) one(b *builder) { w.all(b, 1) }
func (w *writes) all(b *builder, n int) {
	w.list = append(w.list, statement{b.String(), b.args, int64(n)})
}
func (w *writes) any(b *builder) { w.all(b, -1) }

func (w *writes) flush() error {
	list := w.list
	w.list = nil
	if w.conn == nil || len(list) < 2 {
		return w.flushEach(list)
	}
	return w.conn.Raw(func(driver any) error {
		batch := &pgx.Batch{}
		for _, s := range list {
			batch.Queue(s.text, s.args...)
		}
		results := driver.(*stdlib.Conn).Conn().SendBatch(w.tx.Statement.Context, batch)
		for _, s := range list {
			done, err := results.Exec()
			if err == nil && s.rows >= 0 && done.RowsAffected() != s.rows {
				err = errRetry
			}
			if err != nil {
				_ = results.Close() // the first error is the one that tells
				return err
			}
		}
		return results.Close()
	})
}

func (w *writes) flushEach(list []statement) error {
	for _, s := range list {
		res, err := exec(w.tx, s.text, s.args...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || s.rows >= 0 && n != s.rows {
			if err == nil {
				err = errRetry
			}
			return err
		}
	}
	return nil
}
