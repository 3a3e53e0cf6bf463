package ledger

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations
var migrations embed.FS

// Migration is one step of the schema.
type Migration struct {
	Version int64
	File    string
	Applied bool
}

func (l *Ledger) migrator() (*goose.Provider, error) {
	pool, err := l.db.DB()
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(migrations, "migrations/"+l.dialect.name)
	if err != nil {
		return nil, err
	}
	steps, err := l.dialect.riverMigrations(pool)
	if err != nil {
		return nil, err
	}
	steps = append(steps, l.adoptMigration())
	if l.dialect.name == sqliteName {
		return goose.NewProvider(goose.DialectSQLite3, pool, files, goose.WithGoMigrations(steps...))
	}
	// replicas that start together take turns
	turns, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300)) // seconds, times
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, pool, files, goose.WithSessionLocker(turns), goose.WithGoMigrations(steps...))
}

// Migrate applies what is missing and returns the files it applied.
func (l *Ledger) Migrate(ctx context.Context) ([]string, error) {
	p, err := l.migrator()
	if err != nil {
		return nil, err
	}
	done, err := p.Up(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	var files []string
	for _, r := range done {
		files = append(files, fileOf(r.Source))
	}
	return files, nil
}

// fileOf names a step's file, or what stands for one.
func fileOf(s *goose.Source) string {
	if s.Version == adoptVersion {
		return adoptFile
	}
	return cmp.Or(s.Path, riverFile(s.Version))
}

// MigrationStatus lists every step and whether the database has it.
func (l *Ledger) MigrationStatus(ctx context.Context) ([]Migration, error) {
	p, err := l.migrator()
	if err != nil {
		return nil, err
	}
	status, err := p.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	var list []Migration
	for _, s := range status {
		list = append(list, Migration{Version: s.Source.Version, File: fileOf(s.Source), Applied: s.State == goose.StateApplied})
	}
	return list, nil
}

// upToDate migrates, or with NoMigrate refuses a schema that is behind. A database newer than the program is refused too.
func (l *Ledger) upToDate(ctx context.Context) error {
	p, err := l.migrator()
	if err != nil {
		return err
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("database does not answer: %w", err)
	}
	switch {
	case have > want:
		return fmt.Errorf("database schema %d is newer than this program's %d: use the newer program", have, want)
	case have == want:
		return nil
	case l.options.NoMigrate:
		return fmt.Errorf("database schema %d is behind this program's %d: run `app migrate up`", have, want)
	}
	_, err = l.Migrate(ctx)
	return err
}
