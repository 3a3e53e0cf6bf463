package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"paybook/models"
)

// A refund of which only the running total is told (Alipay) is worth that total less the largest smaller one known of its payment.
// The totals are kept, each with its refund, and the sums are derived from all of them whenever one is added: so it does not matter
// in which order they arrive. A refund whose own sum is known (asked for, imported, from a statement) keeps it; its total fixes its place
// among the others.

// derive works out the sums of a payment's refunds that have none of their own, and returns the rows that changed.
func (e *engine) derive(of *row) (changed []*row) {
	told, others := e.running(of)
	lower := int64(0)
	for len(told) > 0 {
		n, room, until := 0, told[0].RefundedMinor-lower, time.Time{}
		for n < len(told) && told[n].RefundedMinor == told[0].RefundedMinor {
			if until = later(until, told[n].OccurredAt); !told[n].Derived {
				room -= told[n].AmountMinor
			}
			n++
		}
		for len(others) > 0 && !others[0].OccurredAt.After(until) { // of a total not told, but by its time within this one
			room -= others[0].AmountMinor
			others = others[1:]
		}
		for _, r := range told[:n] {
			if r.Derived {
				if e.giveSum(r, max(room, 0)) {
					changed = append(changed, r)
				}
				room = 0
			}
		}
		told[n-1].leaves(room)
		lower, told = told[0].RefundedMinor, told[n:]
	}
	return changed
}

// leaves notes on a refund what its running total holds that no refund told so far explains: one may yet come, or the sum that was asked
// for is not what went out.
func (r *row) leaves(minor int64) {
	const inAll = "refunded in all "
	switch {
	case r.Outcome != models.OutcomeApplied:
	case minor > 0:
		r.Detail, r.dirty = fmt.Sprintf(inAll+"%s, of which %s is not told as a refund", models.Money{Minor: r.RefundedMinor, Currency: r.Currency},
			models.Money{Minor: minor, Currency: r.Currency}), true
	case strings.HasPrefix(r.Detail, inAll):
		r.Detail, r.dirty = "", true
	}
}

// running lists a payment's succeeded refunds: those with a running total by total, the others that count by time.
func (e *engine) running(of *row) (told, others []*row) {
	for _, r := range e.rows {
		switch {
		case r.gone || r.Kind != models.Refund || r.Account != of.Account || r.ParentID != of.ParentID || r.Currency != of.Currency ||
			r.Status != models.StatusSucceeded || r.Event == models.RefundTotal:
		case r.RefundedMinor > 0:
			told = append(told, r)
		case counts(r):
			others = append(others, r)
		}
	}
	slices.SortFunc(others, byTime)
	slices.SortFunc(told, func(a, b *row) int { return cmp.Or(cmp.Compare(a.RefundedMinor, b.RefundedMinor), byTime(a, b)) })
	return told, others
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// giveSum sets a derived sum. Nothing left for a refund is a contradiction: its total is another refund's.
func (e *engine) giveSum(r *row, minor int64) (changed bool) {
	was := r.AmountMinor
	r.AmountMinor = minor
	switch {
	case minor == 0 && r.Outcome == models.OutcomeApplied:
		r.put(models.OutcomeConflict, "the running total %s is that of another refund", models.Money{Minor: r.RefundedMinor, Currency: r.Currency})
	case minor > 0 && was == 0 && r.Outcome == models.OutcomeConflict:
		r.put(models.OutcomeApplied, "")
		r.Detail = ""
	}
	if minor == was {
		return false
	}
	r.dirty = true
	if back := e.rows[key{r.Account, models.RefundReversal, r.TransactionID}]; back != nil {
		back.AmountMinor, back.dirty = minor, true
	}
	return true
}

// weigh lets a refund that succeeded take its place among the running totals, and raises the payment's total by its own.
func (e *engine) weigh(r, p *row) (changed []*row) {
	if r.Status != models.StatusSucceeded || r.Currency != p.Currency {
		return nil
	}
	if r.RefundedMinor > p.RefundedMinor && r.RefundedMinor <= p.AmountMinor {
		p.RefundedMinor, p.dirty = r.RefundedMinor, true
	}
	return e.derive(r)
}

// bookRunningAgain is a running total told of a refund that we know.
func (e *engine) bookRunningAgain(d *delivery, r *row, m meaning, ev models.Event) (models.Outcome, string) {
	total := models.Money{Minor: r.RefundedMinor, Currency: r.Currency}
	known := r.RefundedMinor > 0
	switch {
	case known && total != ev.Money:
		e.followTotal(d, r, ev)
		return e.contradict(r, fmt.Sprintf("booked with the running total %s, a later message says %s", total, ev.Money))
	case ev.Money.Currency != r.Currency, r.Status == models.StatusSucceeded && ev.Money.Minor < r.AmountMinor:
		return e.contradict(r, fmt.Sprintf("booked as %s, a later message says that %s was refunded in all", r.Money(), ev.Money))
	}
	r.RefundedMinor, r.dirty = ev.Money.Minor, true
	switch {
	case r.Status != models.StatusSucceeded: // asked for: its own sum is known, unless that can't be
		r.Derived = r.AmountMinor > ev.Money.Minor
		return e.advance(d, r, m, ev)
	case r.Outcome == models.OutcomeNoOrder:
		if e.place(r, r.Event, r.Source); r.Outcome != models.OutcomeNoOrder {
			return r.Outcome, r.Detail
		}
	case !known:
		e.place(r, r.Event, d.source)
	}
	return models.OutcomeDuplicate, ""
}

// followTotal lets two totals told under one refund's number (two refunds without one, at Alipay) count for the payment: the number keeps
// the smaller, and what was refunded follows the larger.
func (e *engine) followTotal(d *delivery, r *row, ev models.Event) {
	if ev.Money.Currency != r.Currency {
		return
	}
	high := ev.Money
	if high.Minor < r.RefundedMinor && (r.Derived || high.Minor >= r.AmountMinor) {
		high.Minor, r.RefundedMinor, r.OccurredAt, r.dirty = r.RefundedMinor, high.Minor, micros(ev.OccurredAt), true
		if r.Derived && r.AmountMinor > ev.Money.Minor {
			r.AmountMinor = ev.Money.Minor
		}
	}
	e.bookTotal(d, models.Event{Kind: models.RefundTotal, TransactionID: ev.ParentID, Money: high, OccurredAt: ev.OccurredAt})
	p := e.payment(d.account, ev.ParentID)
	if p == nil || r.Outcome == models.OutcomeNoOrder {
		return
	}
	e.derive(r)
	if o := e.orderOf(p); o != nil && paysFor(p, o) {
		e.recount(o, p, r, ev.Kind, d.source)
	}
}

// learnExact takes a refund's own sum, told at last, in place of what was derived.
func (e *engine) learnExact(r *row, ev models.Event) bool {
	if !r.Derived || ev.Kind != models.RefundSucceeded && ev.Kind != models.RefundPending || ev.Money.Currency != r.Currency ||
		ev.Money.Minor <= 0 || ev.Money.Minor > r.RefundedMinor {
		return false
	}
	r.Derived, r.dirty = false, true
	return true
}

// involvedElsewhere: refunds of which only running totals are told need their siblings, also where the order is not here. There is no
// order to lock then, so the payment is.
func (e *engine) involvedElsewhere(d *delivery, ev models.Event, families map[string]bool, more map[key]bool) {
	if m := meanings[ev.Kind]; m.kind == models.Payment { // what waits for it may be running totals
		own := e.resolve(d.account, m.kind, ev)
		if own.id != ev.TransactionID {
			more[own] = true
		}
		if ev.OrderID != "" && e.awaited(d.account, ev) {
			families[ev.OrderID] = true
		}
		return
	}
	if !ev.RunningTotal {
		return
	}
	order := ev.OrderID
	if p := e.payment(d.account, ev.ParentID); p != nil {
		e.queued[p.key()] = true
		order = cmp.Or(p.OrderID, order)
	}
	if order != "" {
		families[order] = true
	}
}

// lockPayments lets transactions about the same payment go one after the other.
func (e *engine) lockPayments() error {
	return eachChunk(sortedKeys(e.queued), inChunk, func(keys []key) error {
		b := e.l.sql("UPDATE transactions SET updated_at = updated_at WHERE ").whereKeys("transaction_id", keys)
		_, err := exec(e.tx, b.String(), b.args...)
		return err
	})
}
