package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"paybook/callback/queue"
	"paybook/ledger"
)

const (
	expirySoon     = 30 * 24 * time.Hour // time enough to have a certificate renewed
	clockApart     = 30 * time.Second    // signatures are judged against minutes, business days against seconds
	doctorPatience = 5 * time.Second
)

func (d *doctor) configuration(c *Config) {
	switch {
	case c.File == "":
		d.add(checkFail, "configuration", "no file: write app.yaml, or name one with --config; all is default. %v", c.noAccounts())
	case len(c.Accounts) == 0:
		d.add(checkFail, "configuration", "%v", c.noAccounts())
	default:
		d.add(checkOK, "configuration", "%s: %s", c.File, count(len(c.Accounts), "account"))
	}
	for _, text := range c.warnings() {
		d.add(checkWarn, "configuration", "%s", text)
	}
}

func (d *doctor) accounts(c *Config) {
	for _, a := range c.Accounts {
		name := "account " + a.Name
		d.add(checkOK, name, "provider %s, secrets present, day begins %s %s", a.ProviderName, cutText(a.Cut), a.Zone)
		for _, text := range a.warnings() {
			d.add(checkWarn, name, "%s", strings.TrimPrefix(text, name+": "))
		}
		d.certificates(a)
		d.statements(a.Name, a.Statements, len(a.Remotes) > 0)
	}
	for _, b := range c.Banks {
		d.statements(ledger.BankGapAccount(b.Name), b.Statements, false)
	}
}

func cutText(cut time.Duration) string {
	at := time.Time{}.Add(24*time.Hour + cut).Format("15:04")
	if cut < 0 {
		return at + " the evening before,"
	}
	return at
}

func (d *doctor) certificates(a *Account) {
	p, ok := a.Provider.(interface{ Expiries() map[string]time.Time })
	if !ok {
		return
	}
	expiries := p.Expiries()
	for _, id := range slices.Sorted(maps.Keys(expiries)) {
		end := expiries[id]
		left, status := end.Sub(d.a.now()), checkOK
		switch {
		case left <= 0:
			d.add(checkFail, "certificate", "%s %s: expired on %s: get the new one from the provider", a.Name, id, end.Format(time.DateOnly))
			continue
		case left < expirySoon:
			status = checkWarn
		}
		d.add(status, "certificate", "%s %s: ends on %s, in %s", a.Name, id, end.Format(time.DateOnly), age(left))
	}
}

func (d *doctor) statements(account string, patterns []string, fetched bool) {
	if len(patterns) == 0 && !fetched {
		d.add(checkWarn, "statements", "%s: no source: the daily run skips it; set statements, or name files with --statement", account)
	}
	for _, pattern := range patterns {
		dir := dirOf(pattern)
		if err := readableDir(dir); err != nil {
			d.add(checkFail, "statements", "%s: %v", account, err)
			continue
		}
		d.add(checkOK, "statements", "%s: %s", account, pattern)
	}
}

func readableDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = f.Readdirnames(1); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// permissions looks at who else may read what holds secrets.
func (d *doctor) permissions(c *Config) {
	files := slices.Clone(c.files)
	if dsn, err := d.a.databaseURL(); err == nil {
		if file, isFile := strings.CutPrefix(dsn, "sqlite:"); isFile {
			files = append(files, configFile{file, "database"})
		}
	}
	var open, paths []string
	for _, f := range files {
		info, err := os.Stat(f.path)
		if err != nil {
			continue // what has to be there has been read already
		}
		may := ""
		switch mode := info.Mode().Perm(); {
		case mode&0o022 != 0:
			may = fmt.Sprintf("others may change it (%o)", mode)
		case mode&0o004 != 0:
			may = fmt.Sprintf("everybody may read it (%o)", mode)
		default:
			continue
		}
		open = append(open, fmt.Sprintf("%s file %s: %s", f.kind, f.path, may))
		paths = append(paths, f.path)
	}
	switch len(open) {
	case 0:
		d.add(checkOK, "permissions", "ours alone: %s", count(len(files), "file"))
	case 1:
		d.add(checkWarn, "permissions", "%s: chmod 600", open[0])
	default:
		d.add(checkWarn, "permissions", "%s, and %d more like it: chmod 600 %s", open[0], len(open)-1, strings.Join(paths, " "))
	}
}

// database opens the book as it is: an older schema is reported, not brought up to date.
func (d *doctor) database(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	dsn, err := d.a.databaseURL()
	if err == nil && isNewFile(dsn) {
		d.add(checkWarn, "database", "%s is not there yet: the first command that needs it makes it", dsn)
		d.clock(d.a.now(), "no database to compare with")
		return
	}
	book, err := d.a.openBook(ctx, func(o *ledger.Options) { o.NoMigrate = true })
	if err != nil {
		d.add(checkFail, "database", "%v", err)
		d.clock(d.a.now(), "no database to compare with")
		return
	}
	defer book.Close()
	if err := book.Ready(ctx); err != nil {
		d.add(checkFail, "database", "cannot be written: %v", err)
	} else {
		d.add(checkOK, "database", "%s answers and can be written", book.Database())
	}
	d.schema(ctx, book)
	at, err := book.Clock(ctx)
	if err != nil {
		d.add(checkFail, "clock", "%v", err)
		return
	}
	d.clock(at, "the database's agrees")
}

func (d *doctor) schema(ctx context.Context, book *ledger.Ledger) {
	steps, err := book.MigrationStatus(ctx)
	if err != nil {
		d.add(checkFail, "schema", "%v", err)
		return
	}
	for _, s := range steps {
		if !s.Applied {
			d.add(checkFail, "schema", "%s is missing: run `app migrate up`", s.File)
			return
		}
	}
	d.add(checkOK, "schema", "up to date, %s", count(len(steps), "migration"))
}

// clock compares ours with another, and with the calendar: a machine without its clock battery believes it is 1970.
func (d *doctor) clock(other time.Time, agrees string) {
	now := d.a.now()
	apart := now.Sub(other).Abs()
	switch {
	case now.Year() < 2024:
		d.add(checkFail, "clock", "it says %s: set it, signatures are judged by it", now.UTC().Format(time.RFC3339))
	case apart > clockApart:
		d.add(checkFail, "clock", "%s away from the database's: run a time service on both machines", apart.Round(time.Second))
	default:
		d.add(checkOK, "clock", "%s; %s", now.UTC().Format(time.RFC3339), agrees)
	}
}

// queue looks whether the queue is there and fits, and whether anything died in it.
func (d *doctor) queue(ctx context.Context, c *Config) {
	if c.Queue == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	state, err := queue.Check(ctx, *c.Queue)
	switch {
	case err != nil:
		d.add(checkFail, "queue", "%v", err)
	case state.Missing:
		d.add(checkOK, "queue", "%s answers (nats-server %s); stream and consumer are made at the start", state.Address, state.Version)
	default:
		d.add(checkOK, "queue", "%s, nats-server %s: %d waiting, %d in flight", c.Queue, state.Version, state.Waiting, state.Pending)
	}
	if state.Dead > 0 {
		d.add(checkWarn, "queue", "%s: see why, cure it, and run `app consume --dead`", count(int(state.Dead), "dead letter"))
	}
}
