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
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check configuration, secrets, certificates, clock, database, statement sources and file permissions",
		Long: "Check configuration, secrets, certificates, clock, database, statement sources and file permissions. Nothing is changed.\n\n" +
			"Exit codes:\n  0  all is well, warnings aside\n  1  a check failed\n  2  could not be done: usage",
		Example: "  app doctor\n  app doctor --config /etc/app/app.yaml --format json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runDoctor(c.Context(), a, format) },
	}
	formatFlag(c, &format, "table", "json")
	return c
}

func runDoctor(ctx context.Context, a *app, format string) error {
	if err := onlyFormats(format, "table", "json"); err != nil {
		return err
	}
	d := &doctor{a: a}
	if conf, err := a.config(); err != nil {
		d.add(checkFail, "configuration", "%v", err)
	} else {
		d.configuration(conf)
		d.accounts(conf)
		d.permissions(conf)
		d.database(ctx)
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
