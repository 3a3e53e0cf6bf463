package cmd

import (
	"fmt"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// sayRepairs says in one line each what became of repairs; the report has all of it.
func (a *app) sayRepairs(items []reconcile.Item) {
	for _, item := range items {
		if item.Report != nil && item.Report.Repair != nil {
			fmt.Fprintf(a.err, "%s: %s\n", item.Report.Account, repairWords(item.Report.Repair, a.language()))
		}
	}
}

// repairWords is one line: how much there is, and what to type next.
func repairWords(r *reconcile.RepairReport, l lang.Language) string {
	done, planned := r.Count(models.ItemBooked), r.Count(models.ItemPlanned)
	switch {
	case planned > 0 && r.ID != "":
		return l.Text("%s can be closed: app repair apply %s", l.Count(planned, "gap"), r.ID)
	case planned > 0:
		return l.Text("%s can be closed; nothing was written", l.Count(planned, "gap"))
	case done > 0:
		return l.Text("%s closed by repair %s", l.Count(done, "gap"), r.ID)
	}
	return l.Text("nothing to repair")
}
