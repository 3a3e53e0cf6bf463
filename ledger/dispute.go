package ledger

import (
	"slices"
	"time"

	"paybook/models"
)

// A dispute is known by its own id, whatever its messages leave out. The money it takes is a chargeback row; what a won dispute brings
// back is a reversal of it; and money that is then taken again is a chargeback row of the second round. Which of them there are
// depends on when the dispute was won and lost, not on the order in which that is told.

// pointersOf are names that lead to a movement without being its own: they are claimed so that it is found, and the first to come has
// them. Accounts are left out. A dispute and what tells of its money (a reversal, a statement's row) have ids of their own and a
// capture in common: with each of the capture's names goes one that says which of the two has claimed it, for there may be a second
// dispute, and it must stay apart.
func pointersOf(kind models.TransactionKind, ev models.Event) (keys []key) {
	if kind != models.Chargeback {
		for _, name := range ev.FoundBy {
			keys = append(keys, key{kind: kind, id: name})
		}
		return keys
	}
	for _, name := range slices.Concat(ev.FoundBy, ev.Aliases) {
		if name == "" || name == ev.TransactionID {
			continue
		}
		keys = append(keys, key{kind: kind, id: name}, key{kind: kind, id: sideOf(ev, name)})
		if ev.Kind == models.DisputeWon {
			keys = append(keys, key{kind: models.ChargebackReversal, id: name})
		}
	}
	return keys
}

func sideOf(ev models.Event, name string) string {
	if slices.Contains(ev.FoundBy, name) {
		return "dispute:" + name
	}
	return "money:" + name
}

// resolveDispute finds the row of a dispute through what it has in common with another telling, unless another of its side was first.
func (e *engine) resolveDispute(own key, ev models.Event) key {
	for _, name := range slices.Concat(ev.FoundBy, ev.Aliases) {
		side := key{own.account, own.kind, sideOf(ev, name)}
		found := key{own.account, own.kind, e.names[key{own.account, own.kind, name}]}
		if name != ev.TransactionID && e.names[side] == own.id && found != own && e.rows[found] != nil {
			return found
		}
	}
	return own
}

// wantDispute asks for all rows of a dispute under every name.
func (e *engine) wantDispute(account string, ev models.Event, wanted map[key]bool) {
	ids := []string{ev.TransactionID}
	for _, k := range append(pointersOf(models.Chargeback, ev), key{kind: models.Chargeback, id: ev.TransactionID}) {
		k.account = account
		ids = append(ids, e.names[k])
	}
	for _, id := range ids {
		if id != "" {
			wanted[key{account, models.Chargeback, id}] = true
			wanted[key{account, models.Chargeback, id + models.SecondRound}] = true
			wanted[key{account, models.ChargebackReversal, id}] = true
			wanted[key{account, models.ChargebackReversal, id + models.SecondRound}] = true
		}
	}
}

// bookDisputeAgain is news of a dispute that we know.
func (e *engine) bookDisputeAgain(d *delivery, r *row, m meaning, ev models.Event) (models.Outcome, string) {
	e.lead(r)
	at := micros(ev.OccurredAt)
	if at.Before(r.OccurredAt) { // the money went with the first of what is told of it
		r.OccurredAt, r.dirty = at, true
	}
	back := e.rows[key{r.Account, models.ChargebackReversal, r.TransactionID}]
	switch {
	case ev.Kind == models.DisputeWon && back == nil:
		if at.Before(r.LostAt) {
			e.secondRound(d, r, r.LostAt).Outcome = r.Outcome // the order has moved for this loss already
		}
		outcome, detail := e.advance(d, r, m, ev)
		e.winBack(d, r, ev)
		return outcome, detail
	case ev.Kind == models.DisputeWon && !at.Equal(back.OccurredAt):
		return e.wonOnceMore(d, r, back, ev)
	case ev.Kind == models.DisputeLost && back == nil && r.LostAt.IsZero():
		r.LostAt, r.dirty = at, true
		return e.advance(d, r, m, ev)
	case ev.Kind == models.DisputeLost && back != nil && !at.Equal(r.LostAt):
		return e.lostOnceMore(d, r, back, ev)
	case ev.Kind == models.DisputeLost && at.Before(r.LostAt):
		r.LostAt, r.dirty = at, true
	case r.Outcome == models.OutcomeNoOrder: // perhaps its payment is here by now, or named by this message
		if e.place(r, r.Event, r.Source); r.Outcome != models.OutcomeNoOrder {
			return r.Outcome, r.Detail
		}
	}
	return models.OutcomeDuplicate, ""
}

// wonOnceMore is a win at another time than that of the reversal. Wins without a loss between them are one; the reversal keeps the time of
// the first, and remembers the last (LostAt), for the loss between them may be told later.
func (e *engine) wonOnceMore(d *delivery, r, back *row, ev models.Event) (models.Outcome, string) {
	at := micros(ev.OccurredAt)
	last := later(back.OccurredAt, back.LostAt)
	if at.Equal(last) {
		return models.OutcomeDuplicate, ""
	}
	back.LostAt, back.dirty = later(last, at), true
	if at.Before(back.OccurredAt) {
		back.OccurredAt = at
	}
	again := e.rows[key{r.Account, r.Kind, r.TransactionID + models.SecondRound}]
	if again == nil && back.OccurredAt.Before(r.LostAt) {
		again = e.secondRound(d, r, r.LostAt)
		again.Outcome = r.Outcome
	}
	if again == nil {
		return models.OutcomeDuplicate, ""
	}
	return e.winSecond(d, again, back, ev)
}

// winSecond ends the second round if it was won after it was lost.
func (e *engine) winSecond(d *delivery, again, back *row, ev models.Event) (models.Outcome, string) {
	k := key{again.Account, models.ChargebackReversal, again.TransactionID}
	if e.rows[k] != nil || back.LostAt.Before(again.OccurredAt) {
		return models.OutcomeDuplicate, ""
	}
	again.Event, again.Source, again.CallbackID, again.dirty = models.DisputeWon, d.source, d.callback, true
	e.place(again, models.DisputeWon, d.source)
	ev.Kind, ev.OccurredAt = models.DisputeWon, back.LostAt
	e.winBack(d, again, ev)
	return again.Outcome, again.Detail
}

// lostOnceMore is a loss of a dispute that was won: before that, or the second round.
func (e *engine) lostOnceMore(d *delivery, r, back *row, ev models.Event) (models.Outcome, string) {
	at := micros(ev.OccurredAt)
	again := e.rows[key{r.Account, r.Kind, r.TransactionID + models.SecondRound}]
	switch {
	case at.Before(back.OccurredAt):
		if r.LostAt.IsZero() {
			r.LostAt, r.dirty = at, true
		}
		return models.OutcomeNoted, "it was won after that"
	case again == nil:
		if r.LostAt.IsZero() {
			r.LostAt, r.dirty = at, true
		}
		again = e.secondRound(d, r, at)
	case at.Before(again.OccurredAt): // the money went with the first of the losses
		r.LostAt, again.OccurredAt, r.dirty, again.dirty = at, at, true, true
		return models.OutcomeDuplicate, ""
	case !at.After(later(again.OccurredAt, back.LostAt)) || back.LostAt.Before(again.OccurredAt):
		return models.OutcomeDuplicate, ""
	default:
		return e.contradict(again, "booked as lost and won twice, a later message says that it was lost once more")
	}
	if back.LostAt.After(at) { // it is known that this was won as well
		again.Outcome = r.Outcome
		return e.winSecond(d, again, back, ev)
	}
	e.place(again, ev.Kind, d.source)
	return again.Outcome, again.Detail
}

// winBack books the money that a won dispute returns, as a row of its own.
func (e *engine) winBack(d *delivery, r *row, ev models.Event) {
	k := key{r.Account, models.ChargebackReversal, r.TransactionID}
	e.place(e.reversalRow(d, k, r, ev), ev.Kind, d.source)
}

// secondRound is the money that a dispute takes again when it is lost after it was won.
func (e *engine) secondRound(d *delivery, r *row, at time.Time) *row {
	again := &row{Transaction: r.Transaction}
	again.TransactionID, again.ProviderID = r.TransactionID+models.SecondRound, ""
	again.Event, again.OccurredAt, again.LostAt, again.Source, again.CallbackID = models.DisputeLost, at, at, d.source, d.callback
	again.CreatedAt, again.UpdatedAt = e.now, e.now
	e.rows[again.key()] = again
	return again
}

// followers are the rows that belong to a dispute's first, in the order of the rounds.
func (e *engine) followers(r *row) (list []*row) {
	second := r.TransactionID + models.SecondRound
	for _, k := range []key{{r.Account, models.ChargebackReversal, r.TransactionID}, {r.Account, models.Chargeback, second}, {r.Account, models.ChargebackReversal, second}} {
		if f := e.rows[k]; f != nil {
			list = append(list, f)
		}
	}
	return list
}

// lead tells the followers what payment and order they are about.
func (e *engine) lead(r *row) {
	for _, f := range e.followers(r) {
		if f.ParentID == "" && r.ParentID != "" {
			f.ParentID, f.dirty = r.ParentID, true
		}
		if f.OrderID == "" && r.OrderID != "" {
			f.OrderID, f.dirty = r.OrderID, true
		}
	}
}

func (e *engine) placeDispute(r *row, on models.EventKind, source string) {
	if e.l.elsewhere[r.Account] {
		if e.pass(r, on, source); r.Outcome != models.OutcomeNoOrder {
			e.placeFollowers(r)
		}
		return
	}
	p, o := e.parent(r)
	if p == nil {
		return
	}
	r.put(models.OutcomeApplied, "")
	lost, open := e.otherDisputes(p, r)
	when := func(c condition) bool {
		return c == otherLost && lost || c == otherOpen && open && !lost || c == noOther && !open && !lost
	}
	switch {
	case r.Currency != p.Currency:
		r.put(models.OutcomeCurrencyMismatch, "chargeback of %s for a payment of %s", r.Money(), p.Money())
	case !paysFor(p, o):
	case on == models.DisputeWon && o.Status != models.Disputed && o.Status != models.ChargedBack:
		// won before we heard of it: nothing to return from
	case !e.move(o, r, on, source, when):
		r.put(models.OutcomeNotAllowed, "order %s is %s", o.OrderID, o.Status)
	}
	e.placeFollowers(r)
}

func (e *engine) placeFollowers(r *row) {
	e.lead(r)
	for _, f := range e.followers(r) {
		if f.Outcome == models.OutcomeNoOrder { // it has waited for r
			e.place(f, f.Event, f.Source)
			e.healed(f)
		}
	}
}

// otherDisputes says how a payment's other disputes stand: whether one is lost, whether one is open.
func (e *engine) otherDisputes(p, but *row) (lost, open bool) {
	for _, r := range e.rows {
		if r == but || r.Kind != models.Chargeback || r.Account != p.Account || r.ParentID != p.TransactionID || !counts(r) ||
			e.rows[key{r.Account, models.ChargebackReversal, r.TransactionID}] != nil {
			continue
		}
		lost = lost || r.Event == models.DisputeLost
		open = open || r.Event == models.DisputeOpened
	}
	return lost, open
}
