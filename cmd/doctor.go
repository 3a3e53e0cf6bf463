package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// checkStatus is the verdict of one check.
type checkStatus string

const (
	checkOK   checkStatus = "ok"
	checkWarn checkStatus = "warning" // works, but look at it
	checkFail checkStatus = "failed"
)

// check is one line of the doctor.
type check struct {
	Name   string      `json:"check"`
	Status checkStatus `json:"status"`
	Detail string      `json:"detail"`
}

// doctor gathers checks.
type doctor struct {
	a      *app
	checks []check
}

func (d *doctor) add(status checkStatus, name, format string, args ...any) {
	d.checks = append(d.checks, check{name, status, oneLine(fmt.Sprintf(format, args...))})
}

func newDoctorCommand(a *app) *cobra.Command {
	var format string
	var o callbackOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, secrets, certificates, clock, database, Redis, statement sources and file permissions; or explain a callback",
		Long: `Check configuration, secrets, certificates, clock, database, Redis, statement sources and file permissions. Nothing is changed.

With --callback, explain why one callback is accepted or refused: each check, the signed text, the beginning of the expected and of the
found signature, the clocks, the key that was tried, and what the message says. FILE is a recording (app callbacks show ID --save FILE),
what app callbacks show ID --format json --body prints, or the request as it went over the wire: its first line, headers, a blank line
and the body; - is standard input. No secret is shown, and the body in short unless --full.

Exit codes:
  0  all is well, warnings aside; with --callback: it is genuine
  1  a check failed; with --callback: it is refused
  2  could not be done: usage; with --callback: file, configuration`,
		Example: "  app doctor\n  app doctor --config /etc/app/app.yaml --format json\n" +
			"  app doctor --callback testdata/stripe/callbacks/01_payment_succeeded.json --account stripe --config testdata/app.yaml",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("callback") {
				return explainCallback(c.Context(), a, o, format)
			}
			for _, flag := range []string{"account", "at", "full"} {
				if c.Flags().Changed(flag) {
					return fmt.Errorf("--%s belongs to --callback FILE", flag)
				}
			}
			return runDoctor(c.Context(), a, format)
		},
	}
	formatFlag(c, &format, "table", "json")
	c.Flags().StringVar(&o.file, "callback", "", "explain the callback in `FILE`")
	c.Flags().StringVar(&o.account, "account", "", "the callback's account (default: the end of its path, or the only one)")
	c.Flags().StringVar(&o.at, "at", "", "its `TIME` of receipt, RFC 3339 (default: the file's, else now)")
	c.Flags().BoolVar(&o.full, "full", false, "show the signed text whole")
	return c
}

func runDoctor(ctx context.Context, a *app, format string) error {
	d := &doctor{a: a}
	if conf, err := a.config(); err != nil {
		d.add(checkFail, "configuration", "%v", err)
	} else {
		d.configuration(conf)
		d.accounts(conf)
		d.sources(ctx, conf)
		d.permissions(conf)
		d.database(ctx)
		d.redis(ctx, conf)
		d.queue(ctx, conf)
	}
	if err := d.print(format); err != nil {
		return err
	}
	for _, c := range d.checks {
		if c.Status == checkFail {
			return errLook
		}
	}
	return nil
}

func (d *doctor) print(format string) error {
	if format == "json" {
		return printJSON(d.a.out, d.checks)
	}
	paint := d.a.colours()
	t := newTable("", "check", "finding")
	for _, c := range d.checks {
		mark := paint.good("✔")
		switch c.Status {
		case checkWarn:
			mark = paint.warn("!")
		case checkFail:
			mark = paint.bad("✘")
		}
		t.AppendRow([]any{mark, c.Name, c.Detail})
	}
	return printTable(d.a.out, t, "nothing to check")
}

// age is a span for people: whole days, or hours when it is short.
func age(d time.Duration) string {
	if d < 48*time.Hour {
		return d.Round(time.Hour).String()
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
