package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"paybook/ledger"
	"paybook/reconcile/alert"
)

func newAlertsCommand(a *app) *cobra.Command {
	return newGroup("alerts", "Try whether those who are to be told can be reached", newAlertsTestCommand(a))
}

// sinkResult is how one try went.
type sinkResult struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

func newAlertsTestCommand(a *app) *cobra.Command {
	format := ""
	c := &cobra.Command{
		Use:   "test [NAME]",
		Short: "Send a test message to every sink of \"alerts\", or to one",
		Long: `Send a test message to every sink that is configured under "alerts", or to the one named, once.

Exit codes:
  0  all have taken it
  1  at least one has not; the table says why
  2  could not be done: usage, configuration, no such sink`,
		Example: "  app alerts test\n  app alerts test finance --format json",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return a.testAlerts(c.Context(), format, args) },
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func (a *app) testAlerts(ctx context.Context, format string, names []string) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	if len(c.Alerts) == 0 {
		return errors.New("nobody is to be told: set alerts in the configuration")
	}
	var results []sinkResult
	for _, s := range c.Alerts {
		if len(names) == 1 && names[0] != s.Name {
			continue
		}
		results = append(results, a.testSink(ctx, s))
	}
	if len(results) == 0 {
		known := make([]string, len(c.Alerts))
		for i, s := range c.Alerts {
			known[i] = s.Name
		}
		return fmt.Errorf("no sink %q; there is: %s", names[0], strings.Join(known, ", "))
	}
	return a.printSinks(format, results)
}

func (a *app) testSink(ctx context.Context, s Alert) sinkResult {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	log := slog.New(slog.NewJSONHandler(a.err, nil))
	err := s.open(log, a.now).Alert(ctx, alert.TestAlert(s.Name, s.Lang, a.now()))
	if err != nil {
		return sinkResult{Name: s.Name, Kind: s.kind, Error: oneLine(err.Error())}
	}
	return sinkResult{Name: s.Name, Kind: s.kind, OK: true}
}

func (a *app) printSinks(format string, results []sinkResult) error {
	failed := false
	t := newTable("", "sink", "kind", "result")
	for _, r := range results {
		mark, said := a.colours().good("✔"), "taken"
		if !r.OK {
			failed = true
			mark, said = a.colours().bad("✘"), cell(r.Error)
		}
		t.AppendRow([]any{mark, r.Name, r.Kind, said})
	}
	var err error
	if format == "json" {
		err = printJSON(a.out, results)
	} else {
		err = printTable(a.out, t, "no sinks")
	}
	if err == nil && failed {
		return errLook
	}
	return err
}

// tellingTime bounds how long a run that was made by hand tells people of what it has found.
const tellingTime = 30 * time.Second

// tellNow delivers what there is to tell after runs that were made by hand, so that a machine without app serve tells too. What fails is
// tried again by the next run, or by app serve.
func (a *app) tellNow(ctx context.Context, book *ledger.Ledger) {
	c, err := a.config()
	if err != nil || len(c.Alerts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellingTime)
	defer cancel()
	post := a.post(c, book, slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn})))
	err = book.UnderLease(ctx, "chore/alerts", func(ctx context.Context, _ *ledger.Lease) error { return post.Tick(ctx) })
	if busy := new(ledger.BusyError); err != nil && !errors.As(err, &busy) { // else app serve is telling already
		fmt.Fprintf(a.err, "not told: %s\n", oneLine(err.Error()))
	}
}
