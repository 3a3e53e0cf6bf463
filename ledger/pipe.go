package ledger

import (
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// pipe sends statements that do not wait for each other together: on PostgreSQL in one round trip instead of one each. A batch of
// callbacks needs two, one to read and one to write.
type pipe struct {
	tx   *gorm.DB
	conn *sql.Conn // the connection tx runs on, when it may be used directly: PostgreSQL
	list []statement
}

// statement is a statement with what is done with its rows, or with the number of rows it must change, -1 for any, and what it means when
// it changes another.
type statement struct {
	text  string
	args  []any
	each  func(scanner) error
	rows  int64
	amiss func() error
}

func (p *pipe) read(b *builder, each func(scanner) error) {
	p.list = append(p.list, statement{text: b.String(), args: b.args, each: each})
}

// write adds a statement that changes so many rows, unless something is not as it was read.
func (p *pipe) write(b *builder, rows int) { p.writeOr(b, rows, somebodyWasFirst) }

// writeOr is write where another number of rows means something else.
func (p *pipe) writeOr(b *builder, rows int, amiss func() error) {
	p.list = append(p.list, statement{text: b.String(), args: b.args, rows: int64(rows), amiss: amiss})
}

func somebodyWasFirst() error { return errRetry }

// anyRows is for a statement that may change any number of rows.
const anyRows = -1

func (p *pipe) flush() error {
	list := p.list
	p.list = nil
	if p.conn != nil && len(list) > 1 {
		return p.conn.Raw(func(driver any) error {
			conn, ok := driver.(*stdlib.Conn)
			if !ok {
				return fmt.Errorf("the connection is a %T, not pgx's", driver)
			}
			return p.together(conn.Conn(), list)
		})
	}
	for _, s := range list {
		if err := p.single(s); err != nil {
			return err
		}
	}
	return nil
}

func (p *pipe) single(s statement) error {
	if s.each != nil {
		return query(p.tx, s.text, s.args, func(rows *sql.Rows) error { return s.each(rows) })
	}
	res, err := exec(p.tx, s.text, s.args...)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && s.rows != anyRows && n != s.rows {
		err = s.amiss()
	}
	return err
}

func (p *pipe) together(conn *pgx.Conn, list []statement) error {
	batch := &pgx.Batch{}
	for _, s := range list {
		batch.Queue(s.text, s.args...)
	}
	results := conn.SendBatch(p.tx.Statement.Context, batch)
	for _, s := range list {
		if err := s.take(results); err != nil {
			_ = results.Close() // the first error is the one that tells
			return err
		}
	}
	return results.Close()
}

// take reads a statement's part of the answer.
func (s statement) take(results pgx.BatchResults) error {
	if s.each == nil {
		done, err := results.Exec()
		if err == nil && s.rows != anyRows && done.RowsAffected() != s.rows {
			err = s.amiss()
		}
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
