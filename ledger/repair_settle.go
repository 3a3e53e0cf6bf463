package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"paybook/models"
)

// stillPlanned are the items that are not done yet, and whose gaps are open and say what they said. The others are settled here.
func (l *Ledger) stillPlanned(tx *gorm.DB, r models.Repair, items []models.RepairItem) (todo []models.RepairItem, err error) {
	ids := make([]string, len(items))
	for n, i := range items {
		ids[n] = i.GapID
	}
	state, err := l.itemStates(tx, r.ID, ids)
	if err != nil {
		return nil, err
	}
	gaps, err := l.gapsByID(tx, ids)
	if err != nil {
		return nil, err
	}
	for _, i := range items {
		if state[i.GapID] != models.ItemPlanned {
			continue
		}
		g, found := gaps[i.GapID]
		if i.State, i.Result = itemStanding(i, g, found); i.State == models.ItemPlanned {
			todo = append(todo, i)
		} else if err := l.putResult(tx, i, models.ItemPlanned); err != nil {
			return nil, err
		}
	}
	return todo, nil
}

// itemStanding says whether an item's gap is still the one it was planned for.
func itemStanding(i models.RepairItem, g models.Gap, found bool) (models.RepairItemState, string) {
	switch {
	case !found:
		return models.ItemRefused, "its gap is not there any more"
	case g.State == models.GapResolved && strings.HasPrefix(g.HealedRun, repairPrefix):
		return models.ItemAlready, g.HealedRun + " has booked it"
	case g.State == models.GapResolved && g.HealedRun != "":
		return models.ItemAlready, "a later run has found it in the book"
	case g.State == models.GapResolved:
		return models.ItemRefused, "a person has resolved its gap: " + g.Resolution
	case g.State != models.GapOpen:
		return models.ItemRefused, "its gap is " + string(g.State) + ", not open"
	case GapHash(g) != i.GapHash:
		return models.ItemRefused, "its gap has changed since it was planned; plan again"
	}
	return models.ItemPlanned, ""
}

// settle fills in what has come of an item, or says what has come otherwise than planned.
func (e *engine) settle(r models.Repair, i *models.RepairItem, t told) (unforeseen string) {
	mine := t.row != nil && t.row.CallbackID == repairPrefix+r.ID
	switch {
	case t.row == nil:
		return cmp.Or(t.detail, "it would make no row of the book")
	case t.outcome == models.OutcomeConflict || t.row.Money() != i.Money():
		return "the book has it otherwise by now: " + cmp.Or(t.detail, t.row.Money().String())
	case !mine && t.row.Status == models.StatusSucceeded:
		i.State, i.Result = models.ItemAlready, "the book has it by now, from a "+t.row.Source
		return ""
	case !mine || t.row.Status != models.StatusSucceeded:
		return fmt.Sprintf("the book has it as %s by now", t.row.Status)
	case t.outcome != i.Outcome || !slices.Equal(t.topics, i.Topics):
		return fmt.Sprintf("its order has moved on since it was planned: %s then, %s now; plan again", effect(i.Outcome, i.Topics), effect(t.outcome, t.topics))
	}
	at := e.now
	i.State, i.Result, i.BookedAs, i.BookedAt, i.Undo = models.ItemBooked, t.detail, t.row.TransactionID, &at, t.undo
	return ""
}

// effect is what an event comes to, for people: "applied (order.paid)".
func effect(outcome models.Outcome, topics []string) string {
	if len(topics) == 0 {
		return string(outcome)
	}
	return string(outcome) + " (" + strings.Join(topics, ", ") + ")"
}

// refuseItem is for an item that would not come to what was planned. Nothing of it is booked.
func (l *Ledger) refuseItem(tx *gorm.DB, lease *Lease, i models.RepairItem, why string) error {
	if err := lease.hold(tx); err != nil {
		return err
	}
	i.State, i.Result = models.ItemRefused, why
	return l.putResult(tx, i, models.ItemPlanned)
}

// putResults writes what has come of items, and ends the gaps of those that were booked.
func (l *Ledger) putResults(tx *gorm.DB, r models.Repair, items []models.RepairItem) error {
	booked, as := []string{}, map[string]string{}
	for _, i := range items {
		if i.State == models.ItemBooked {
			booked = append(booked, i.GapID)
			as[i.GapID] = "booked as " + i.BookedAs
		}
		if err := l.putResult(tx, i, models.ItemPlanned); err != nil {
			return err
		}
	}
	if len(booked) == 0 {
		return nil
	}
	b := l.sql("UPDATE gaps SET state = 'resolved', resolution = ").arg("booked by repair " + r.ID).add(", resolved_at = ").arg(l.clock())
	b.add(", healed_run = ").arg(repairPrefix + r.ID).add(" WHERE state = 'open' AND id IN ").list(anys(booked)...)
	p := pipe{tx: tx}
	p.write(b, len(booked))
	if err := p.flush(); err != nil {
		return err
	}
	return l.noteGaps(tx, GapResolved, r.AppliedBy, booked, func(id string) string { return as[id] })
}

func kindsOf(items []models.RepairItem) []models.TransactionKind {
	kinds := make([]models.TransactionKind, len(items))
	for n, i := range items {
		kinds[n] = i.Kind
	}
	return kinds
}
