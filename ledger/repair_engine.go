package ledger

import (
	"strings"

	"paybook/models"
)

// A repair goes through the engine as a callback does: the same names, keys and compare-and-set decide, and the same messages are written.
// Its rows differ in two things only: their source is reconcile, and their evidence is the repair.

// repairPrefix begins what stands for evidence in a row that a repair has booked, and for the run in a gap that it has resolved.
const repairPrefix = "repair/"

// confirm lets a callback that tells what a repair has booked be the row's evidence from then on: such a repair cannot be taken back.
func (e *engine) confirm(d *delivery, r *row, m meaning) {
	if d.source == sourceCallback && strings.HasPrefix(r.CallbackID, repairPrefix) && r.Status == m.status {
		r.CallbackID, r.dirty = d.callback, true
	}
}

// revive is news of a row whose repair was taken back: as if it had never been told.
func (e *engine) revive(d *delivery, r *row, m meaning, ev models.Event) (models.Outcome, string) {
	outcome, detail := e.advance(d, r, m, ev)
	switch ev.Kind {
	case models.DisputeLost:
		r.LostAt = r.OccurredAt
	case models.DisputeWon:
		e.winBack(d, r, ev)
	}
	return outcome, detail
}

// told is what booking one delivery has come to.
type told struct {
	outcome models.Outcome
	detail  string
	topics  []string           // of the messages to the shop
	row     *row               // nil: it made none, and there was none
	undo    *models.RepairUndo // nil: its order is not here
}

// tellEach is decide for deliveries of one event each, with what each has come to.
func (e *engine) tellEach(deliveries []*delivery, kinds []models.TransactionKind) ([]told, error) {
	if err := e.gather(deliveries); err != nil {
		return nil, err
	}
	list := make([]told, len(deliveries))
	for i, d := range deliveries {
		list[i] = e.tellOne(d, kinds[i])
	}
	return list, e.failed
}

func (e *engine) tellOne(d *delivery, kind models.TransactionKind) told {
	before := make(map[string]models.Order, len(e.orders))
	for id, o := range e.orders {
		before[id] = o.Order
	}
	messages, ev := len(e.messages), d.events[0]
	t := told{topics: []string{}}
	if t.outcome, t.detail = e.book(d, ev); t.outcome == models.OutcomeUnreadable {
		return t
	}
	t.row = e.rowFor(d, kind)
	for _, m := range e.messages[messages:] {
		t.topics = append(t.topics, m.Topic)
	}
	if t.row != nil {
		if o := e.orderOf(t.row); o != nil {
			t.undo = &models.RepairUndo{Before: before[o.OrderID], After: o.Version}
		}
	}
	return t
}

// rowFor is the row of a kind that a delivery is about: a reversal lies under the id of what it takes back.
func (e *engine) rowFor(d *delivery, kind models.TransactionKind) *row {
	ev := e.withParent(d.account, d.events[0])
	k := e.resolve(d.account, meanings[ev.Kind].kind, ev)
	k.kind = kind
	if r := e.rows[k]; r != nil && !r.gone {
		return r
	}
	return nil
}
