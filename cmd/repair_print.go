package cmd

import (
	"fmt"
	"strings"

	"paybook/models"
	"paybook/reconcile"
)

// printRepair is a repair for people: what is or would be booked, then what cannot be.
func (a *app) printRepair(r *reconcile.RepairReport) error {
	p := a.colours()
	fmt.Fprintf(a.out, "%s  %s  %s  %s\n", p.bold(repairName(r)), r.Account, r.Date, r.State)
	for _, act := range [][3]string{{"planned", r.MadeBy, r.MadeAt}, {"approved", r.ApprovedBy, r.ApprovedAt}, {"applied", r.AppliedBy, r.AppliedAt},
		{"reversed", r.ReversedBy, r.ReversedAt}} {
		if act[1] != "" && act[2] != "" {
			fmt.Fprintf(a.out, "%s by %s, %s\n", act[0], cell(act[1]), act[2])
		}
	}
	if r.Reason != "" {
		fmt.Fprintf(a.out, "because: %s\n", cell(r.Reason))
	}
	fmt.Fprintln(a.out)
	if err := a.printRepairable(r); err != nil {
		return err
	}
	return a.printUnrepairable(r)
}

func repairName(r *reconcile.RepairReport) string {
	if r.ID == "" {
		return "repair (not kept)"
	}
	return "repair " + r.ID
}

func (a *app) printRepairable(r *reconcile.RepairReport) error {
	l := a.language()
	t := newTable(a.heads("gap", "books", "transaction", "order", "amount", "status", "at", "comes to", "the shop is told", "state", "why")...)
	for _, i := range r.Items {
		if i.State == models.ItemNotRepairable {
			continue
		}
		t.AppendRow([]any{i.GapID, l.Word(string(i.Kind)), cell(i.TransactionID), cell(i.OrderID), i.Amount + " " + i.Currency, l.Word(string(i.Status)), i.OccurredAt, i.Outcome,
			toldWords(i.Messages), a.itemState(i.State), cell(l.Sentence(whyOf(i)))})
	}
	return printTable(a.out, t, l.Text("nothing to book"))
}

// whyOf is why it is booked, and then what came of it.
func whyOf(i reconcile.RepairItemReport) string {
	if i.Result != "" {
		return i.Result
	}
	return i.Why
}

func toldWords(topics []string) string {
	if len(topics) == 0 {
		return "nothing"
	}
	return strings.Join(topics, ", ")
}

func (a *app) itemState(s models.RepairItemState) string {
	p := a.colours()
	switch s {
	case models.ItemBooked, models.ItemAlready:
		return p.good(string(s))
	case models.ItemRefused:
		return p.bad(string(s))
	case models.ItemReversed:
		return p.warn(string(s))
	}
	return string(s)
}

func (a *app) printUnrepairable(r *reconcile.RepairReport) error {
	if r.Count(models.ItemNotRepairable) == 0 {
		return nil
	}
	l := a.language()
	fmt.Fprintln(a.out, "\n"+l.Text("not repairable"))
	t := newTable(a.heads("gap", "kind", "of", "transaction", "order", "why", "next")...)
	for _, i := range r.Items {
		if i.State == models.ItemNotRepairable {
			t.AppendRow([]any{i.GapID, a.colours().kind(i.GapKind, l), l.Word(string(i.Kind)), cell(i.TransactionID), cell(i.OrderID), cell(l.Sentence(i.Why)), cell(i.Next)})
		}
	}
	return printTable(a.out, t, "")
}

// printRepairs shows what became of repairs below a table of runs, and in one line each beside any other format.
func (a *app) printRepairs(format string, items []reconcile.Item) error {
	for _, item := range items {
		if item.Report == nil || item.Report.Repair == nil {
			continue
		}
		r := item.Report.Repair
		if format == "table" {
			fmt.Fprintln(a.out)
			if err := a.printRepair(r); err != nil {
				return err
			}
		}
		fmt.Fprintf(a.err, "%s: %s\n", r.Account, repairWords(r))
	}
	return nil
}

// repairWords is one line: how much there is, and what to type next.
func repairWords(r *reconcile.RepairReport) string {
	done, planned := r.Count(models.ItemBooked), r.Count(models.ItemPlanned)
	switch {
	case planned > 0 && r.ID != "":
		return fmt.Sprintf("%s can be closed: app repair apply %s", count(planned, "gap"), r.ID)
	case planned > 0:
		return fmt.Sprintf("%s can be closed; nothing was written", count(planned, "gap"))
	case done > 0:
		return fmt.Sprintf("%s closed by repair %s", count(done, "gap"), r.ID)
	}
	return "nothing to repair"
}
