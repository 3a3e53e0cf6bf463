package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// riverSteps are River's own migrations as steps of ours: under the same lock, in the same list, refused with NoMigrate when they are
// missing. Two steps, because PostgreSQL uses a new value of an enum only after the commit of what added it.
var riverSteps = []struct {
	version int64 // ours
	upTo    int   // River's
}{{5, 5}, {6, 8}}

// riverDriver is River's way to a pool of either database.
func (d dialect) riverDriver(pool *sql.DB) riverdriver.Driver[*sql.Tx] {
	if d.name == sqliteName {
		return riversqlite.New(pool)
	}
	return riverdatabasesql.New(pool)
}

// riverMigrations are goose's form of riverSteps.
func (d dialect) riverMigrations(pool *sql.DB) ([]*goose.Migration, error) {
	river, err := rivermigrate.New(d.riverDriver(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, fmt.Errorf("migrations of the job queue: %w", err)
	}
	var list []*goose.Migration
	for _, step := range riverSteps {
		up := func(ctx context.Context, tx *sql.Tx) error {
			// in goose's transaction: SQLite has no second connection for it
			_, err := river.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{TargetVersion: step.upTo}) //nolint:staticcheck // split where one transaction would not do
			return err
		}
		list = append(list, goose.NewGoMigration(step.version, &goose.GoFunc{RunTx: up}, nil))
	}
	return list, nil
}

// riverFile is what stands for a file in the list of migrations.
func riverFile(version int64) string {
	for _, step := range riverSteps {
		if step.version == version {
			return fmt.Sprintf("%05d_river_%d", version, step.upTo)
		}
	}
	return ""
}
