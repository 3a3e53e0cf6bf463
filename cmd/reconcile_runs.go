package cmd

import (
	"context"
	"errors"
	"fmt"

	"paybook/ledger"
	"paybook/reconcile"
)

// dayRun is one of the runs that a command makes: an account's day, or a bank's.
type dayRun struct {
	account string           // whose gaps it keeps
	source  reconcile.Source // where the statement comes from; nil: nowhere
	day     reconcile.Day
	run     func(context.Context, *ledger.Ledger) (*reconcile.Report, error)
}

// makeRuns makes runs one after the other and writes one report of them. One that cannot be made does not stop the others.
func (a *app) makeRuns(ctx context.Context, o reconcileOptions, runs []dayRun) error {
	out, err := a.reportOutput(ctx, o, runs)
	if err != nil {
		return err
	}
	if out != nil {
		defer out.discard()
	}
	book, done, err := a.openBookOfRuns(ctx)
	if err != nil {
		return err
	}
	defer done()
	var items []reconcile.Item
	for _, r := range runs {
		if r.source == nil {
			fmt.Fprintf(a.err, "%s: skipped, it has no statement source; name one by --statement, or declare --no-statement\n", r.account)
			continue
		}
		report, err := r.run(ctx, book)
		if ctx.Err() != nil { // what was saved stays saved; a report of half of it is none
			return ctx.Err()
		}
		if err != nil {
			items = append(items, reconcile.Item{Account: r.account, Err: err})
		} else {
			items = append(items, reconcile.Item{Report: report})
		}
	}
	if len(items) == 0 {
		return errors.New("nothing has a statement source: set statements in the configuration, or name a file by --statement")
	}
	if err := a.writeReport(o, out, items); err != nil {
		return err
	}
	a.sayRepairs(items)
	if !o.dryRun {
		a.tellNow(ctx, book)
		if isTerminal(a.err) {
			a.noteAuditHead(ctx, book)
		}
	}
	return reconcileResult(items)
}

// openBookOfRuns opens the book for jobs of which there may be one at a time, with Redis in front where there is one.
func (a *app) openBookOfRuns(ctx context.Context) (book *ledger.Ledger, done func(), err error) {
	c, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	gate, err := c.Redis.open(nil)
	if err != nil {
		return nil, nil, err
	}
	book, err = a.openBook(ctx, func(o *ledger.Options) {
		o.Lease = a.lease
		if gate != nil {
			o.LeaseLock = gate
		}
	})
	done = func() {
		if book != nil {
			_ = book.Close()
		}
		if gate != nil {
			_ = gate.Close()
		}
	}
	if err != nil {
		done()
	}
	return book, done, err
}

// reportOutput opens what --output names, which may be none of the statements; nil is standard output.
func (a *app) reportOutput(ctx context.Context, o reconcileOptions, runs []dayRun) (*destination, error) {
	if o.output == "" || o.output == "-" {
		if o.format == "xlsx" && isTerminal(a.out) {
			return nil, errors.New("an xlsx file is nothing for a screen: name one by --output, such as --output report.xlsx")
		}
		return nil, nil
	}
	var statements []string
	for _, r := range runs {
		if r.source == nil {
			continue
		}
		files, _ := r.source(ctx, r.day) // what is wrong with them is told when they are read
		for _, f := range files {
			statements = append(statements, f.Name)
		}
	}
	return openDestination(ctx, o.output, statements)
}
