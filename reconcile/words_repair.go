package reconcile

import (
	"slices"
	"strings"

	"paybook/models"
)

// unrepairable says why no repair can close a gap, and what to type instead; "" when one can. A repair only adds what the provider says has
// happened and the book does not have: it never makes a sum smaller or another, and never undoes what a callback has told.
func unrepairable(g *models.Gap, e *models.Entry, read bool) (why, next string) {
	if g.Kind != models.GapMissingLocal && g.Kind != models.GapStatus {
		return notByRepair(g), g.Next
	}
	again := "app reconcile --date " + g.Date + " --account " + quote(g.Account) + " --repair"
	switch {
	case g.Kind == models.GapStatus && (g.Statement == nil || g.Statement.Status != string(models.StatusSucceeded)):
		return "the statement calls it less than the book does, and a repair takes nothing back", g.Next
	case slices.Contains(g.Differs, differsAmount), slices.Contains(g.Differs, differsCurrency):
		return "the sums differ too, and which is right is for a person to find out", g.Next
	case !read:
		return "this run did not read the row it is about", again
	case e.OccurredAt.IsZero():
		return "its row is in the statement of " + g.Date, again
	case e.Status != models.StatusSucceeded:
		return "the statement does not say that money has moved", g.Next
	case e.Adjusts:
		return "the row only changes a movement of another day", g.Next
	case strings.HasSuffix(e.TransactionID, models.SecondRound):
		return "a dispute that is lost after it was won is booked from its callbacks only", g.Next
	}
	return "", ""
}

// doubts are what the book has and the statement does not, by what it is worth: a row of the same order and sum under another id may be the
// same movement, in a file that somebody has edited, and booked it would be there twice.
type doubts map[worth]string

type worth struct {
	kind                    models.TransactionKind
	order, amount, currency string
}

// doubtsOf are those of a run. A gap that a person has resolved raises none: that person knows it is another.
func doubtsOf(r *Report) doubts {
	d := doubts{}
	for _, g := range slices.Concat(r.Gaps, r.Carried) {
		if g.Kind == models.GapMissingProvider && g.Ledger != nil && g.OrderID != "" {
			d[worth{g.EntryKind, g.OrderID, g.Ledger.Amount, g.Ledger.Currency}] = g.TransactionID
		}
	}
	return d
}

// of says why a gap is for a person although a repair could close it; "" when nothing speaks against it.
func (d doubts) of(g *models.Gap) (why, next string) {
	if g.Kind != models.GapMissingLocal || g.Statement == nil {
		return "", ""
	}
	if looksRounded(g.TransactionID) {
		return "its id ends in many zeros, so the file may have been saved by a spreadsheet: booked by it, its callback would be booked once more", g.Next
	}
	if other := d[worth{g.EntryKind, g.OrderID, g.Statement.Amount, g.Statement.Currency}]; other != "" {
		return "of the same order and sum the book has " + other + ", which the statement does not have: it may be the same by another name; " +
			"if it is not, resolve that gap first", "app orders show " + quote(g.OrderID)
	}
	return "", ""
}

// notByRepair is one sentence a kind.
func notByRepair(g *models.Gap) string {
	switch g.Kind {
	case models.GapMissingProvider:
		return "the book has it from its callback; that the statement lacks it is for the provider to explain"
	case models.GapAmount, models.GapCurrency:
		return "a repair never changes a sum; which side is right is for a person to find out"
	case models.GapUnknownOrder:
		if g.Order != nil {
			return "it is booked and waits for its payment: it is applied by itself once that is booked"
		}
		return "it is booked and waits for its order: it is applied by itself once the order is here"
	case models.GapPaidAfterClose, models.GapDuplicatePayment, models.GapNotAllowed:
		return "it is booked, and its order cannot take it: the money is to be given back, or the shop decides"
	case models.GapConflict:
		return "two tellings contradict each other; which is right is for a person to find out"
	case models.GapDuplicateEntry:
		return "it is booked once, as it should be; that the statement repeats it is for the provider to explain"
	case models.GapWrongDay:
		return "it belongs to another day: that day's run finds it, and its repair books it"
	case models.GapUnknownStatus:
		return "the statement's word for its state is not known, so nothing says that money has moved"
	}
	return "there is nothing to book"
}
