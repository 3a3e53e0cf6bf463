package cmd

import (
	"fmt"

	"paybook/models"
	"paybook/reconcile"
)

// sayRepairs says in one line each what became of repairs; the report has all of it.
func (a *app) sayRepairs(items []reconcile.Item) {
	for _, item := range items {
		if item.Report != nil && item.Report.Repair != nil {
			fmt.Fprintf(a.err, "%s: %s\n", item.Report.Account, repairWords(item.Report.Repair))
		}
	}
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
