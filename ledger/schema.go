package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// SchemaStatus lists every step of the schema at dsn and changes nothing in it; unlike Open it takes an older schema as it is.
func SchemaStatus(ctx context.Context, dsn string) (steps []Migration, err error) {
	err = withSchema(dsn, func(l *Ledger) error {
		steps, err = l.MigrationStatus(ctx)
		return err
	})
	return steps, err
}

// SchemaUp brings the schema at dsn up to date and returns the files it applied. A schema newer than the program is an error.
func SchemaUp(ctx context.Context, dsn string) (files []string, err error) {
	err = withSchema(dsn, func(l *Ledger) error {
		p, err := l.migrator()
		if err != nil {
			return err
		}
		have, want, err := p.GetVersions(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("database does not answer: %w", err)
		case have > want:
			return fmt.Errorf("database schema %d is newer than this program's %d: use the newer program", have, want)
		}
		files, err = l.Migrate(ctx)
		return err
	})
	return files, err
}

// withSchema connects without a look at the schema, and without starting the committer.
func withSchema(dsn string, f func(*Ledger) error) error {
	l := &Ledger{}
	setDefaults(&l.options)
	l.now, l.log = l.options.Now, l.options.Log
	if err := l.connect(dsn); err != nil {
		return err
	}
	err := f(l)
	if closeErr := l.closePools(); err == nil {
		err = closeErr
	}
	return err
}

// Clock is the database server's time in UTC, to be held against our own. SQLite has no server: its clock is ours.
func (l *Ledger) Clock(ctx context.Context) (time.Time, error) {
	return l.clockOf(l.read.WithContext(ctx))
}

func (l *Ledger) clockOf(tx *gorm.DB) (at time.Time, err error) {
	if l.dialect.name == sqliteName {
		return time.Now().UTC(), nil
	}
	err = query(tx, "SELECT now()", nil, func(rows *sql.Rows) error { return rows.Scan(utc{&at}) })
	return at, err
}
