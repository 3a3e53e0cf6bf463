package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"paybook/ledger"
)

func newMigrateCommand(a *app) *cobra.Command {
	return newGroup("migrate", "Bring the database schema up to date, or look at it", newMigrateUpCommand(a), newMigrateStatusCommand(a))
}

func newMigrateUpCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "up",
		Short:   "Apply the migrations that are missing",
		Long:    "Apply the migrations that are missing, each in a transaction of its own.\n\n" + exitCodesHelp,
		Example: "  app migrate up\n  app migrate up --database postgres://app@localhost/app",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runMigrateUp(c.Context(), a, format) },
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func newMigrateStatusCommand(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "status",
		Short:   "List the migrations and whether the database has them",
		Long:    "List the migrations and whether the database has them. Nothing is changed.\n\n" + exitCodesHelp,
		Example: "  app migrate status\n  app migrate status --format json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runMigrateStatus(c.Context(), a, format) },
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func runMigrateUp(ctx context.Context, a *app, format string) error {
	if a.noMigrate {
		return errors.New("migrate up --no-migrate: the two contradict each other")
	}
	dsn, err := a.databaseURL()
	if err != nil {
		return err
	}
	files, err := ledger.SchemaUp(ctx, dsn)
	if err != nil {
		return err
	}
	if format == "json" {
		return printJSON(a.out, map[string][]string{"applied": append([]string{}, files...)})
	}
	for _, file := range files {
		fmt.Fprintln(a.out, "applied "+file)
	}
	if len(files) == 0 {
		fmt.Fprintln(a.out, "up to date")
	}
	return nil
}

// step is one migration as `migrate status` shows it.
type step struct {
	Version int64  `json:"version"`
	File    string `json:"file"`
	Applied bool   `json:"applied"`
}

func runMigrateStatus(ctx context.Context, a *app, format string) error {
	dsn, err := a.databaseURL()
	if err != nil {
		return err
	}
	if isNewFile(dsn) {
		dir, err := os.MkdirTemp("", "app-") // looking must not leave a file behind; everything is missing in an empty one too
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		dsn = "sqlite:" + filepath.Join(dir, "empty.db")
	}
	found, err := ledger.SchemaStatus(ctx, dsn)
	if err != nil {
		return err
	}
	steps := []step{}
	for _, m := range found {
		steps = append(steps, step(m))
	}
	if format == "json" {
		return printJSON(a.out, steps)
	}
	t := newTable("version", "state", "file")
	for _, s := range steps {
		state := "missing"
		if s.Applied {
			state = "applied"
		}
		t.AppendRow([]any{s.Version, state, s.File})
	}
	return printTable(a.out, t, "no migrations")
}

// isNewFile says whether dsn is an SQLite file that is not there yet.
func isNewFile(dsn string) bool {
	file, isFile := strings.CutPrefix(dsn, "sqlite:")
	if !isFile {
		return false
	}
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}
