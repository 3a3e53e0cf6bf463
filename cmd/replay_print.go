package cmd

import (
	"fmt"
	"path"
	"strings"

	"paybook/models"
)

func (a *app) printReplay(format string, results []replayed) error {
	if format == "json" {
		return printJSON(a.out, results)
	}
	p := a.colours()
	failed := 0
	t := newTable("", "file", "status", "outcome", "event", "transaction", "order", "amount")
	for _, r := range results {
		mark := p.good("ok")
		if !r.OK {
			failed++
			mark = p.bad("no")
		}
		t.AppendRow([]any{mark, path.Base(r.File), r.Status, r.became(p), r.Event, cell(r.TransactionID), cell(r.OrderID),
			strings.TrimSpace(r.Amount + " " + r.Currency)})
	}
	if err := printTable(a.out, t, ""); err != nil {
		return err
	}
	for _, r := range results {
		for _, d := range r.Diff {
			fmt.Fprintf(a.out, "%s: %s\n", p.bad(r.File), cell(d))
		}
	}
	_, err := fmt.Fprintf(a.out, "\n%s, %d as expected, %d not\n", count(len(results), "callback"), len(results)-failed, failed)
	if err == nil && bookedBefore(results) {
		_, err = fmt.Fprintln(a.out, "already booked: use a fresh database, --database sqlite:FILE")
	}
	return err
}

// bookedBefore says whether all that differs is that the book has it already, as after a second replay.
func bookedBefore(results []replayed) bool {
	booked := false
	for _, r := range results {
		for _, d := range r.Diff {
			if !strings.Contains(d, alreadyBooked) {
				return false
			}
			booked = true
		}
	}
	return booked
}

// alreadyBooked is how differences.differ says that news turned out to be none.
var alreadyBooked = fmt.Sprintf("got %q, want ", models.OutcomeDuplicate)

// became is what happened to a callback, in one coloured word: green where the book moved, red where something needs a person.
func (r replayed) became(p paint) string {
	switch {
	case r.reason != "":
		return p.warn("refused: " + string(r.reason))
	case r.outcome == "":
		return ""
	case r.Effect == "apply":
		return p.good(string(r.outcome))
	case r.Effect == "record_only" || r.Effect == "quarantine":
		return p.bad(string(r.outcome))
	}
	return p.dim(string(r.outcome))
}
