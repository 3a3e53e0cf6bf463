package cmd

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func TestUsageErrorsAreOneLineAndExit2(t *testing.T) {
	for _, line := range []string{
		"nosuch", "serve stray", "version stray", "doctor stray", "migrate", "migrate nosuch", "migrate up stray", "--nosuch", "serve --nosuch",
		"version --format xml", "doctor --format xml", "migrate status --format xml", "migrate up --format xml", "migrate up --no-migrate", "serve",
	} {
		t.Run(line, func(t *testing.T) {
			t.Chdir(t.TempDir())
			got := runApp(t, nil, strings.Fields(line)...)
			if got.code != exitFailed || got.out != "" || strings.Count(got.err, "\n") != 1 {
				t.Errorf("app %s: exit %d, out %q, err %q; want exit 2 and one line on standard error", line, got.code, got.out, got.err)
			}
		})
	}
}

func TestUsageErrorsSayWhatIsMissing(t *testing.T) {
	for line, want := range map[string]string{
		"ordes":             `unknown command "ordes"; did you mean orders? there is: alerts, audit, callbacks, `,
		"xyzzy":             `unknown command "xyzzy"; there is: alerts, audit, callbacks, `,
		"orders show":       "app orders show: ORDER_ID is missing; usage: app orders show ORDER_ID",
		"replay":            "app replay: PATH is missing; usage: app replay PATH…",
		"import orders a b": "app import orders: one FILE expected, there are 2; usage: app import orders FILE",
		"gaps resolve":      "app gaps resolve: ID is missing; usage: app gaps resolve ID --reason TEXT",
	} {
		got := runApp(t, nil, strings.Fields(line)...)
		if got.code != exitFailed || !strings.Contains(got.err, want) || got.out != "" {
			t.Errorf("app %s: exit %d, %q; want 2 and %q", line, got.code, got.err, want)
		}
	}
}

func TestDatabaseAwayIsOneCleanLine(t *testing.T) {
	got := runApp(t, nil, "orders", "list", "--database", "postgres://me:CANARY@127.0.0.1:1/app")
	want := "app: database app at 127.0.0.1:1: connect: connection refused: start PostgreSQL there, or correct --database (or DATABASE_URL)\n"
	if got.code != exitFailed || got.err != want {
		t.Errorf("exit %d\ngot  %q\nwant %q", got.code, got.err, want)
	}
}

// Every command has an example to paste, and its exit codes.
func TestEveryCommandHasHelp(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "completion" || c.Name() == "help" {
			return
		}
		if !strings.Contains(c.Example, "app ") {
			t.Errorf("%s: no example", c.CommandPath())
		}
		if !strings.Contains(c.Long, "Exit codes:") {
			t.Errorf("%s: no exit codes in its help", c.CommandPath())
		}
		for line := range strings.Lines(c.Long + "\n" + c.LocalFlags().FlagUsages()) {
			if n := utf8.RuneCountInString(line); n > 140 {
				t.Errorf("%s: %d columns in its help: %s", c.CommandPath(), n, line)
			}
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(newRoot(&app{env: lookup(nil)}))
}

func TestVersion(t *testing.T) {
	got := runApp(t, nil, "version")
	if got.code != exitDone || !strings.HasPrefix(got.out, "app ") || !strings.Contains(got.out, "commit ") || !strings.Contains(got.out, "go1.") {
		t.Errorf("app version: exit %d, %q", got.code, got.out)
	}
	got = runApp(t, nil, "version", "--format", "json")
	for _, key := range []string{`"version"`, `"commit"`, `"go"`, `"platform"`} {
		if !strings.Contains(got.out, key) {
			t.Errorf("app version --format json: no %s in %s", key, got.out)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A result that could not be written is no success.
func TestResultNotWritten(t *testing.T) {
	var errw buffer
	code := Main(t.Context(), []string{"version"}, strings.NewReader(""), brokenWriter{}, &errw)
	if code != exitFailed || !strings.Contains(errw.String(), "no space left") {
		t.Errorf("exit %d, %q; want 2 and the reason", code, errw.String())
	}
}

func TestMigrate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	run := func(want int, args ...string) string {
		t.Helper()
		got := runApp(t, map[string]string{"DATABASE_URL": "sqlite:" + file}, args...)
		if got.code != want {
			t.Fatalf("app %v: exit %d, %s; want %d", args, got.code, got.err, want)
		}
		return got.out + got.err
	}
	if out := run(0, "migrate", "status"); !strings.Contains(out, "missing") || strings.Contains(out, "applied") {
		t.Errorf("status of no database:\n%s", out)
	}
	if matches, _ := filepath.Glob(file + "*"); len(matches) > 0 {
		t.Errorf("status left %v behind", matches)
	}
	if out := run(2, "serve", "--no-migrate", "--config", kitConfig, "--listen", "127.0.0.1:0"); !strings.Contains(out, "app migrate up") {
		t.Errorf("an old schema with --no-migrate: %q; want what to type", out)
	}
	if out := run(0, "migrate", "up"); !strings.Contains(out, "applied 00001_book.sql") {
		t.Errorf("first up: %q", out)
	}
	if out := run(0, "migrate", "up"); !strings.Contains(out, "up to date") {
		t.Errorf("second up: %q", out)
	}
	if out := run(0, "migrate", "up", "--format", "json"); !strings.Contains(out, `"applied": []`) {
		t.Errorf("third up as JSON: %q", out)
	}
	if out := run(0, "migrate", "status", "--format", "json"); !strings.Contains(out, `"applied": true`) || strings.Contains(out, "false") {
		t.Errorf("status after up: %s", out)
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("first\nsecond\r\n"); got != "first; second" {
		t.Errorf("oneLine: %q", got)
	}
	if got := age(36 * time.Hour); got != "36h0m0s" {
		t.Errorf("age of 36 hours: %q", got)
	}
}
