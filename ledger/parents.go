package ledger

import (
	"slices"

	"paybook/models"
)

// A refund or dispute may tell two names of its payment (charge and PaymentIntent), while the payment is known by one of them, or comes
// later under one. So its names are claimed like a payment's own, the first of them as what the payment is, or will be, stored under; and
// where a row has one of the names already, the others become names of that row.

// parentNames are the names by which an event tells its payment, the nearest first. A running total is about the payment itself.
func parentNames(ev models.Event) []string {
	switch {
	case ev.Kind == models.RefundTotal:
		return namesOf(ev)
	case meanings[ev.Kind].kind == models.Payment:
		return present(ev.ParentID) // no payment has another as its parent; it may name one all the same
	}
	return present(append([]string{ev.ParentID}, ev.ParentAliases...)...)
}

// present are the names that are there, each once.
func present(names ...string) []string {
	var list []string
	for _, name := range names {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// proposeParent claims a payment's names, if an event tells more than one.
func (e *engine) proposeParent(account string, ev models.Event, look map[key]bool) {
	names := parentNames(ev)
	for _, name := range names {
		k := key{account, models.Payment, name}
		look[k] = true
		if len(names) > 1 {
			e.proposeName(k, names[0])
		}
	}
}

// withParent lets an event name its payment as the book knows it; the first of its names that leads to one does.
func (e *engine) withParent(account string, ev models.Event) models.Event {
	names := parentNames(ev)
	if len(names) < 2 {
		return ev
	}
	ev.ParentID = names[0]
	for _, name := range names {
		if p := e.payment(account, name); p != nil {
			ev.ParentID = p.TransactionID
			e.alsoNamed(p, names)
			break
		}
	}
	return ev
}

// alsoNamed points names at a payment that lead nowhere else.
func (e *engine) alsoNamed(p *row, names []string) {
	for _, name := range names {
		k := key{p.Account, models.Payment, name}
		id := e.names[k]
		if q := e.payment(p.Account, name); (q == nil || q == p) && id != p.TransactionID && e.rows[key{p.Account, models.Payment, id}] == nil {
			e.rename(k, p.TransactionID)
		}
	}
}
