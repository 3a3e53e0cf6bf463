package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"
)

// bookTables are the tables that callbacks and the shop's requests fill.
var bookTables = []any{"orders", "transactions", "aliases", "transitions", "messages", "callbacks", "items", "stock", "tokens", "expiries"}

// freshStatistics lets PostgreSQL look at tables that have grown tenfold since it looked last. Its own round can be minutes away, and
// until then it takes one account for a handful of rows and reads all of them to find one key.
func (l *Ledger) freshStatistics(ctx context.Context) error {
	if l.dialect.name != postgresName {
		return nil
	}
	b := l.sql(`SELECT c.relname FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid
 WHERE s.schemaname = current_schema() AND s.n_live_tup > 1000 AND s.n_live_tup > 10 * greatest(c.reltuples, 0) AND c.relname IN `).list(bookTables...)
	var grown []string
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		grown = append(grown, name)
		return err
	})
	for _, table := range grown {
		if err == nil {
			_, err = exec(l.db.WithContext(ctx), "ANALYZE "+table)
		}
	}
	if err != nil {
		return fmt.Errorf("statistics of the book's tables: %w", err)
	}
	return nil
}

// growing is freshStatistics inside one long transaction, which nobody outside can see growing: at 1, 10, 100, … chunks.
type growing struct{ chunks, next int }

func (g *growing) chunk(l *Ledger, tx *gorm.DB, tables ...string) error {
	g.chunks++
	if l.dialect.name != postgresName || g.chunks < max(g.next, 1) {
		return nil
	}
	g.next = 10 * g.chunks
	for _, table := range tables {
		if _, err := exec(tx, "ANALYZE "+table); err != nil {
			return err
		}
	}
	return nil
}
