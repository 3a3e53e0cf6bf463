package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"paybook/models"
)

// repairBunch is how many items one transaction books: their orders are held until it ends.
var repairBunch = 200

var errRehearsed = errors.New("rehearsed")

// PlanRepair finds out what booking the items would come to, as a callback would now, and keeps the plan, made by somebody at MadeAt. Of the
// items Event, or for those that are not repairable State, must be filled in. A plan of the same content that is still open is taken
// instead of a new one; another open plan of the account and date is dropped. With keep false, or with nothing to book, nothing is written
// and the plan has no id.
func (l *Ledger) PlanRepair(ctx context.Context, plan models.Repair, keep bool) (models.Repair, error) {
	plan.State, plan.ID = models.RepairPlanned, ""
	plan.MadeAt = micros(plan.MadeAt)
	bunches := arrange(plan.Items)
	for _, bunch := range bunches {
		if err := l.rehearse(ctx, plan, bunch); err != nil {
			return plan, fmt.Errorf("plan a repair of %s, %s: %w", plan.Account, plan.Date, err)
		}
	}
	for n := range plan.Items {
		plan.Items[n].Place = int64(n + 1)
	}
	plan.Hash = contentHash(plan)
	if !keep {
		return plan, nil
	}
	kept := plan
	err := l.patientTx(ctx, func(tx *gorm.DB) (err error) {
		kept, err = l.keepPlan(tx, plan)
		return err
	})
	if err != nil {
		return plan, fmt.Errorf("keep the repair plan of %s, %s: %w", plan.Account, plan.Date, err)
	}
	return kept, nil
}

// arrange sorts items as they are booked, payments before what is taken back of them, what is not repairable last, and cuts them into bunches
// that hold all there is of one order.
func arrange(items []models.RepairItem) (bunches [][]models.RepairItem) {
	order := map[string]string{} // any name of a payment → its order
	for _, i := range items {
		if i.Kind == models.Payment && i.OrderID != "" && i.Event != nil {
			for _, name := range append(namesOf(*i.Event), i.TransactionID) {
				order[name] = i.OrderID
			}
		}
	}
	family := func(i models.RepairItem) string {
		return cmp.Or(i.OrderID, order[i.ParentID], i.ParentID, i.TransactionID, i.RefundOrderID)
	}
	idle := func(i models.RepairItem) int {
		if i.State == models.ItemNotRepairable {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(items, func(a, b models.RepairItem) int {
		return cmp.Or(cmp.Compare(idle(a), idle(b)), cmp.Compare(family(a), family(b)), cmp.Compare(bookingOrder(a.Kind), bookingOrder(b.Kind)),
			timeOf(a).Compare(timeOf(b)), cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.GapID, b.GapID))
	})
	begin := 0
	for n := range items {
		if idle(items[n]) == 1 {
			items = items[:n]
			break
		}
		if n-begin >= repairBunch && family(items[n]) != family(items[n-1]) {
			bunches, begin = append(bunches, items[begin:n]), n
		}
	}
	if begin < len(items) {
		bunches = append(bunches, items[begin:])
	}
	return bunches
}

func timeOf(i models.RepairItem) time.Time {
	if i.OccurredAt == nil {
		return time.Time{}
	}
	return *i.OccurredAt
}

// bookingOrder puts what is taken back behind what it is taken from.
func bookingOrder(kind models.TransactionKind) int {
	return slices.Index([]models.TransactionKind{models.Payment, models.Refund, models.RefundReversal, models.Chargeback, models.ChargebackReversal}, kind)
}

// rehearse books items in a transaction that is then undone.
func (l *Ledger) rehearse(ctx context.Context, plan models.Repair, items []models.RepairItem) error {
	var results []told
	err := l.patientTx(ctx, func(tx *gorm.DB) (err error) {
		if results, err = l.newEngine(tx, l.clock()).tellEach(repairDeliveries(plan, items), kindsOf(items)); err != nil {
			return err
		}
		return errRehearsed
	})
	if !errors.Is(err, errRehearsed) {
		return err
	}
	for n := range items {
		foresee(&items[n], results[n], plan.Date)
	}
	return nil
}

// repairDeliveries are items on their way into the book.
func repairDeliveries(r models.Repair, items []models.RepairItem) []*delivery {
	list := make([]*delivery, len(items))
	for n, i := range items {
		list[n] = &delivery{account: r.Account, source: sourceReconcile, callback: repairPrefix + r.ID, events: admit([]models.Event{*i.Event})}
	}
	return list
}

// foresee notes what booking an item comes to, or that it cannot be booked.
func foresee(i *models.RepairItem, t told, date string) {
	i.Outcome, i.Topics = t.outcome, t.topics
	var why, next string
	switch r := t.row; {
	case r == nil:
		why, next = cmp.Or(t.detail, "it would make no row of the book"), "app gaps show "+i.GapID
	case r.was != nil && r.was.Event == models.RepairReversed:
		why = "a person has taken its repair back (" + r.was.Detail + "); only what the provider itself tells books it again"
		next = "app gaps resolve " + i.GapID + ` --reason "why the statement is wrong"`
	case t.outcome == models.OutcomeConflict || r.Money() != i.Money():
		why, next = "the book has it otherwise: "+cmp.Or(t.detail, r.Money().String()), "app gaps show "+i.GapID
	case r.CallbackID != repairPrefix:
		why, next = "the book has it by now", "app reconcile --date "+date+" --account "+r.Account
	case r.Status != models.StatusSucceeded:
		why, next = fmt.Sprintf("it would be booked as %s", r.Status), "app gaps show "+i.GapID
	default:
		return
	}
	i.State, i.Why, i.Next, i.Event, i.Outcome, i.Topics = models.ItemNotRepairable, why, next, nil, "", []string{}
}

// keepPlan stores a plan, unless one of the same content is open already.
func (l *Ledger) keepPlan(tx *gorm.DB, plan models.Repair) (models.Repair, error) {
	b := l.sql("UPDATE turns SET turn = turn WHERE account = ").arg(plan.Account) // plans of an account are stored one after the other
	if _, err := exec(tx, b.String(), b.args...); err != nil {
		return plan, err
	}
	b = l.sql("SELECT " + repairColumns + " FROM repairs WHERE account = ").arg(plan.Account).add(" AND date = ").arg(plan.Date)
	open, err := selectRepairs(tx, b.add(" AND state IN ('planned', 'approved') ORDER BY made_at, id"))
	if err != nil {
		return plan, err
	}
	var told []AuditEntry
	for _, r := range open {
		if r.Items, err = l.repairItems(tx, r.ID); err != nil {
			return plan, err
		}
		unlike, err := l.unlikeLog(tx, r)
		if err != nil {
			return plan, err
		}
		if r.Hash == plan.Hash && r.AppliedBy == "" && unlike == "" {
			return r, l.audit(tx, told...)
		}
		if err := l.putAside(tx, &r); err != nil {
			return plan, err
		}
		told = append(told, repairEntry(r, plan.MadeBy, "repair."+string(r.State)))
	}
	if plan.Count(models.ItemPlanned) == 0 {
		return plan, l.audit(tx, told...)
	}
	plan.ID = uuid.Must(uuid.NewV7()).String()
	for n := range plan.Items {
		plan.Items[n].RepairID = plan.ID
	}
	if err := l.insertRepair(tx, plan); err != nil {
		return plan, err
	}
	return plan, l.audit(tx, append(told, repairEntry(plan, plan.MadeBy, "repair.planned"))...)
}

// putAside ends an open repair that another plan takes the place of. One that was applied in part and then stopped is applied.
func (l *Ledger) putAside(tx *gorm.DB, r *models.Repair) error {
	held, err := l.leaseRow(tx, repairPrefix+r.ID)
	if err != nil {
		return err
	}
	now, err := l.clockOf(tx)
	switch {
	case err != nil:
		return err
	case held != nil && now.Before(held.Until):
		return held.busy()
	}
	was := r.State
	r.State, r.Reason = models.RepairDropped, "another plan has taken its place"
	if r.AppliedBy != "" {
		r.State, r.Reason = models.RepairApplied, ""
	}
	return l.putState(tx, *r, was)
}
