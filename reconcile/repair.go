package reconcile

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Repair is how gaps that a run has found are to be closed by booking what the statement says.
type Repair struct {
	Apply     bool   // book it; false: plan only
	Who       string // whose word it is
	Approvals int    // how many persons an application needs: 1 or 2
}

// RunRepair is Run with a repair: it plans what would be booked for the open gaps, and with Apply books it and runs once more, so that the
// report says how the day stands then. A plan that may not be applied (see ledger.ErrSecondPerson) is kept all the same: the report's RepairErr
// says why. With Options.DryRun nothing is written.
func RunRepair(ctx context.Context, book *ledger.Ledger, a Account, src Source, day Day, o Options, repair Repair) (*Report, error) {
	if err := fill(&a, &o); err != nil {
		return nil, err
	}
	rows := map[string]models.Entry{}
	first := o
	first.Row = func(g models.Gap, e models.Entry) { rows[g.ID] = e }
	report, err := Run(ctx, book, a, src, day, first)
	if err != nil {
		return nil, err
	}
	plan := models.Repair{Account: a.Name, Date: report.Date, RunID: report.RunID, MadeBy: repair.Who, MadeAt: o.Now()}
	doubts := doubtsOf(report)
	for i := range report.Gaps {
		plan.Items = append(plan.Items, repairItem(report, &report.Gaps[i], rows, doubts))
	}
	if plan, err = book.PlanRepair(ctx, plan, !o.DryRun); err != nil {
		return nil, AsBusy(err)
	}
	report.Repair = NewRepairReport(plan, a.Zone)
	if !repair.Apply || plan.ID == "" {
		return report, nil
	}
	applied, err := book.ApplyRepair(ctx, plan.ID, repair.Who, repair.Approvals)
	if errors.Is(err, ledger.ErrSecondPerson) {
		report.RepairErr = err
		return report, nil
	}
	if err != nil {
		return nil, AsBusy(err)
	}
	if report, err = Run(ctx, book, a, src, day, o); err != nil {
		return nil, err
	}
	report.Repair = NewRepairReport(applied, a.Zone)
	return report, nil
}

// repairItem is what a repair can do about an open gap.
func repairItem(r *Report, shown *GapReport, rows map[string]models.Entry, doubts doubts) models.RepairItem {
	g := gapOf(r, shown)
	item := models.RepairItem{GapID: g.ID, State: models.ItemPlanned, GapKind: g.Kind, GapHash: ledger.GapHash(g), Kind: g.EntryKind,
		TransactionID: g.TransactionID, ParentID: g.ParentID, OrderID: g.OrderID, RefundOrderID: g.RefundOrderID, Why: g.Reason, Topics: []string{}}
	side := cmp.Or(g.Statement, g.Ledger)
	if side != nil {
		money, _ := models.ParseMajor(side.Amount, side.Currency) // it was written by Text
		item.AmountMinor, item.Currency, item.File, item.Line = money.Minor, money.Currency, side.File, side.Line
	}
	e, read := rows[g.ID]
	why, next := unrepairable(&g, &e, read)
	if why == "" {
		why, next = doubts.of(&g)
	}
	if why != "" {
		item.State, item.Why, item.Next = models.ItemNotRepairable, why, next
		return item
	}
	ev := eventOf(&e)
	at := ev.OccurredAt
	item.Event, item.Status, item.OccurredAt = &ev, models.StatusSucceeded, &at
	item.AmountMinor, item.Currency = ev.Money.Minor, ev.Money.Currency
	return item
}

// gapOf is the gap that a run's report shows.
func gapOf(r *Report, g *GapReport) models.Gap {
	return models.Gap{ID: g.ID, Account: cmp.Or(g.Account, r.Account), Date: cmp.Or(g.Date, r.Date), Kind: g.Kind, Differs: g.Differs, EntryKind: g.EntryKind,
		TransactionID: g.TransactionID, OrderID: g.OrderID, ParentID: g.ParentID, RefundOrderID: g.RefundOrderID, State: g.State,
		Statement: g.Statement, Ledger: g.Ledger, Order: g.Order, Reason: g.Reason, Next: g.Next}
}

// eventOf is what a callback would have told of a statement's row that moved money. It lists every name that the row gives, so that a late
// callback under any of them finds what was booked.
func eventOf(e *models.Entry) models.Event {
	ev := models.Event{TransactionID: e.TransactionID, ParentID: e.ParentID, OrderID: e.OrderID, RefundOrderID: e.RefundOrderID, Money: e.Money,
		OccurredAt: e.OccurredAt.UTC().Truncate(time.Microsecond)}
	for _, alias := range e.Aliases {
		if alias != e.RefundOrderID && !slices.Contains(ev.Aliases, alias) {
			ev.Aliases = append(ev.Aliases, alias)
		}
	}
	switch e.Kind {
	case models.Payment:
		ev.Kind = models.PaymentSucceeded
		if e.Part && len(ev.Aliases) > 0 { // the captures of an authorisation, of which another day may have more
			ev.Kind, ev.TransactionID, ev.ParentID = models.PaymentCaptured, ev.Aliases[0], e.TransactionID
		}
	case models.Refund:
		ev.Kind = models.RefundSucceeded
	case models.RefundReversal:
		ev.Kind = models.RefundFailed
	case models.Chargeback:
		ev.Kind = models.DisputeOpened
	case models.ChargebackReversal:
		ev.Kind, ev.OnlyKnown = models.DisputeWon, true
	}
	if len(ev.Aliases) > 0 && !slices.Contains(ev.Aliases, ev.TransactionID) {
		ev.Aliases = append([]string{ev.TransactionID}, ev.Aliases...)
	}
	return ev
}
