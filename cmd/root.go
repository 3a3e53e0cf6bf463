// Package cmd is the command line: each command fills an options struct from its flags and hands it to a function that does the
// work. It is also the only place that reads the configuration and the environment, and the only one that wires the other
// packages together.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/cobra"

	"paybook/ledger"
)

// The exit codes, as diff has them. Every command's help repeats them.
const (
	exitDone   = 0 // done, nothing to look at
	exitLook   = 1 // done, and there is something to look at
	exitFailed = 2 // could not be done
)

const exitCodesHelp = `Exit codes:
  0  done, nothing to look at
  1  done, and there is something to look at
  2  could not be done: usage, configuration, file, database`

// exitError is an error with an exit code of its own. Any other error is exitFailed.
type exitError struct {
	code int
	err  error // nil: everything has been said already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// errLook ends a command that did its work and found something to look at; the report has been printed.
var errLook error = &exitError{code: exitLook}

// app is one run of the program: what it talks to, and the flags that every command has.
type app struct {
	in         io.Reader
	out        io.Writer // results
	err        io.Writer // talk
	configFile string
	database   string
	noMigrate  bool
	lang       string // of reports for people; "": the configuration's
	color      string // auto, always or never
	quiet      bool   // no progress
	now        func() time.Time
	env        func(name string) (value string, set bool)
	environ    func() []string // all of it, NAME=value; nil: not known
	lease      time.Duration   // how long a run's claim outlives its last sign of life; 0: the book's own default

	loaded *Config
}

// Main runs one command line and returns the exit code. A cancelled ctx ends it in good order.
func Main(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	results := &checkedWriter{w: out}
	a := &app{in: in, out: results, err: errw, now: time.Now, env: os.LookupEnv, environ: os.Environ}
	return a.run(ctx, args, results)
}

func (a *app) run(ctx context.Context, args []string, results *checkedWriter) int {
	root := newRoot(a)
	root.SetArgs(append([]string{}, args...)) // never nil: cobra would take the process's own arguments
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if results.err != nil && !errors.Is(err, results.err) {
		err = fmt.Errorf("write the result: %w", results.err)
	}
	return a.exit(ctx, err)
}

// exit is the only place where an error becomes an exit code.
func (a *app) exit(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitFailed
	var own *exitError
	if errors.As(err, &own) {
		code = own.code
		if own.err == nil {
			return code
		}
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("stopped by a signal; nothing is half-written")
	}
	fmt.Fprintln(a.err, "app: "+oneLine(err.Error()))
	return code
}

// oneLine keeps a message of several lines, as joined errors have, on one.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// checkedWriter remembers that the result could not be written: a full disk is no success.
type checkedWriter struct {
	w   io.Writer
	err error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "app",
		Short:         "Receives payment callbacks and reconciles the book with the providers' statements",
		Long:          "Receives payment callbacks, keeps the book they make, and compares it every day with the providers' statements.\n\n" + exitCodesHelp,
		Example:       "  app serve --config app.yaml\n  app doctor",
		Version:       programVersion().String(),
		SilenceErrors: true, // exit prints them, once and on one line
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() }, // runnable, so that a stray word is an error
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", "", "configuration `FILE` (or APP_CONFIG; default app.yaml when present)")
	flags.StringVar(&a.database, "database", "", "database `URL`: postgres://… or sqlite:FILE (or DATABASE_URL; default sqlite:app.db)")
	flags.BoolVar(&a.noMigrate, "no-migrate", false, "refuse an empty or older database schema instead of bringing it up to date")
	a.lookFlags(root)
	root.AddCommand(
		newDemoCommand(a),
		newServeCommand(a),
		newConsumeCommand(a),
		newMigrateCommand(a),
		newImportCommand(a),
		newReplayCommand(a),
		newOrdersCommand(a),
		newCallbacksCommand(a),
		newFetchCommand(a),
		newReconcileCommand(a),
		newGapsCommand(a),
		newAuditCommand(a),
		newPayoutsCommand(a),
		newRepairCommand(a),
		newAlertsCommand(a),
		newDoctorCommand(a),
		newVersionCommand(a),
	)
	return root
}

// newGroup is a command that only holds others. Alone it is a usage error, so that a script does not take `app migrate` for done.
func newGroup(use, short string, children ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: use, Short: short, Long: short + ".\n\n" + exitCodesHelp}
	var names []string
	for _, child := range children {
		names = append(names, child.Name())
		group.AddCommand(child)
		if group.Example == "" {
			group.Example = child.Example
		}
	}
	group.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("%s: unknown command %q; there is: %s", c.CommandPath(), args[0], strings.Join(names, ", "))
		}
		return fmt.Errorf("%s: say which: %s", c.CommandPath(), strings.Join(names, ", "))
	}
	return group
}

// knownCommand refuses a stray word at the root, and names what there is.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	meant := ""
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		meant = "did you mean " + strings.Join(near, " or ") + "? "
	}
	return fmt.Errorf("unknown command %q; %sthere is: %s", args[0], meant, strings.Join(names, ", "))
}

// oneArg takes the one argument that the command's use names.
func oneArg(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s: one %s expected, there are %d; usage: %s", c.CommandPath(), argName(c), len(args), c.UseLine())
	}
	return someArgs(c, args)
}

// someArgs takes one argument or more.
func someArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s: %s is missing; usage: %s", c.CommandPath(), argName(c), c.UseLine())
	}
	return nil
}

// argName is what a command's use, such as "show ID", calls its argument.
func argName(c *cobra.Command) string { return strings.TrimSuffix(strings.Fields(c.Use)[1], "…") }

// config is the configuration, loaded once.
func (a *app) config() (*Config, error) {
	if a.loaded == nil {
		c, err := loadConfig(a.configFile, a.env)
		if err != nil {
			return nil, err
		}
		if a.environ != nil {
			c.ignored = c.ignoredVariables(a.environ())
		}
		a.loaded = c
	}
	return a.loaded, nil
}

// databaseURL is --database, else APP_DATABASE, DATABASE_URL, the configuration, and in the end a file in the working folder.
func (a *app) databaseURL() (string, error) {
	if a.database != "" {
		return a.database, nil
	}
	c, err := a.config()
	if err != nil {
		return "", err
	}
	return c.Database, nil
}

// openExisting is openBook for commands about what is in the book: where there is no database, they are in the wrong folder, and an empty
// one made there would only say that there is nothing.
func (a *app) openExisting(ctx context.Context) (*ledger.Ledger, error) {
	dsn, err := a.databaseURL()
	if err != nil {
		return nil, err
	}
	if isNewFile(dsn) {
		file := strings.TrimPrefix(dsn, "sqlite:")
		if whole, err := filepath.Abs(file); err == nil {
			file = whole
		}
		return nil, fmt.Errorf("database %s: no such file; name the one you mean by --database or DATABASE_URL, or make it by `app migrate up`", file)
	}
	return a.openBook(ctx)
}

// openBook opens the database of this run. The caller closes the book. Each option may change what Open is told.
func (a *app) openBook(ctx context.Context, options ...func(*ledger.Options)) (*ledger.Ledger, error) {
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	dsn, err := a.databaseURL()
	if err != nil {
		return nil, err
	}
	o := c.Ledger
	o.Now, o.NoMigrate = a.now, a.noMigrate
	for _, change := range options {
		change(&o)
	}
	if o.NoMigrate && isNewFile(dsn) { // opening would create it
		return nil, fmt.Errorf("database %s: no such file, and --no-migrate does not make one; run `app migrate up` first", dsn)
	}
	book, err := ledger.Open(ctx, dsn, o)
	return book, unreached(err)
}

// unreached puts what the driver says of a PostgreSQL that can't be reached, once for each attempt, in a word with what to do next.
func unreached(err error) error {
	var away *pgconn.ConnectError
	if !errors.As(err, &away) || errors.Is(err, context.Canceled) {
		return err
	}
	var why string
	next := "start PostgreSQL there, or correct --database (or DATABASE_URL)"
	var refused *pgconn.PgError
	var network *net.OpError
	switch {
	case errors.As(err, &refused):
		why, next = refused.Message, "correct --database (or DATABASE_URL)"
	case errors.As(err, &network):
		why = network.Err.Error()
	default:
		lines := strings.Split(strings.TrimSpace(away.Error()), "\n")
		why = strings.TrimSpace(lines[len(lines)-1])
	}
	at := net.JoinHostPort(away.Config.Host, strconv.Itoa(int(away.Config.Port)))
	return fmt.Errorf("database %s at %s: %s: %s", away.Config.Database, at, why, next)
}

// listedBy adds to a row that is not there the command that lists those that are.
func listedBy(list string, err error) error {
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("%w; `%s` shows what there is", err, list)
	}
	return err
}
