package cmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"paybook/reconcile/source"
)

// sourcePatience is for how long each place that statements are fetched from may take to answer. All are asked at once.
const sourcePatience = 15 * time.Second

// sources looks whether the places can be reached, are who they should be, and let us in, and whether what they have can be kept.
func (d *doctor) sources(ctx context.Context, c *Config) {
	type asked struct {
		account *Account
		place   source.Remote
		err     error
	}
	var all []*asked
	var asking sync.WaitGroup
	for _, a := range c.Accounts {
		for _, r := range a.Remotes {
			one := &asked{account: a, place: r}
			all = append(all, one)
			asking.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, sourcePatience)
				defer cancel()
				one.err = r.Check(ctx)
			})
		}
	}
	asking.Wait()
	for _, one := range all {
		if one.err != nil {
			d.add(checkFail, "fetch", "%s: %s: %s", one.account.Name, one.place, cell(one.err.Error()))
			continue
		}
		d.add(checkOK, "fetch", "%s: %s answers and lets us in", one.account.Name, one.place)
	}
	for _, a := range c.Accounts {
		if a.Schedule != nil {
			d.add(checkOK, "schedule", "%s: run by itself from %s on, %s, again every %v until it is made", a.Name, clockText(a.Schedule.At), lateText(a), a.Schedule.Retry)
		}
	}
	if len(all) > 0 || c.Archive != "" {
		d.archive(c)
	}
}

func lateText(a *Account) string {
	if a.Schedule.Late < 0 {
		return "never called late"
	}
	return "late at " + clockText(a.Schedule.Late) + " " + a.Zone.String()
}

// archive looks whether the archive's folder, or the nearest one above it that there is, can be written to.
func (d *doctor) archive(c *Config) {
	dir, err := d.a.archiveDir(c)
	if err != nil {
		d.add(checkFail, "archive", "%v", err)
		return
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at):
			continue
		case err != nil:
			d.add(checkFail, "archive", "%v", err)
		case !info.IsDir():
			d.add(checkFail, "archive", "%s: no folder", at)
		case !writable(at):
			d.add(checkFail, "archive", "%s: cannot be written to", at)
		case at == dir && info.Mode().Perm()&0o007 != 0:
			d.add(checkWarn, "archive", "%s: others may look into it (%o): chmod 700", dir, info.Mode().Perm())
		default:
			d.add(checkOK, "archive", "statement files are kept in %s", dir)
		}
		return
	}
}

// writable tries it, and leaves nothing behind.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}
