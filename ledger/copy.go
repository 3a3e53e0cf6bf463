package ledger

import (
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/gorm"
)

// copyRows adds rows that are not there yet, within tx, which runs on conn, by PostgreSQL's COPY: it costs a fraction of an INSERT with as
// many arguments, on both sides. columns are names with commas between, row gives the values of each.
func copyRows(tx *gorm.DB, conn *sql.Conn, table, columns string, n int, row func(i int) ([]any, error)) error {
	names := strings.FieldsFunc(columns, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '"' })
	return conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the connection is a %T, not pgx's", driver)
		}
		_, err := c.Conn().CopyFrom(tx.Statement.Context, pgx.Identifier{table}, names, pgx.CopyFromSlice(n, row))
		return err
	})
}
