package reconcile

import (
	"cmp"
	"slices"

	"paybook/models"
)

// verdict is what comparing a pair comes to. kind is "" when nothing is wrong.
type verdict struct {
	kind    models.GapKind
	differs []string
	byOrder bool // statement and book agree, the order does not
}

// The words of a gap's differs.
const (
	differsCurrency = "currency"
	differsAmount   = "amount"
	differsStatus   = "status"
	differsFee      = "fee"
)

// compare holds a statement's row against the book's. Differences between the two go first; then what the book already knows to be
// wrong with its order; then the row's fee. elsewhere: the account's orders are not kept here.
func compare(e *models.Entry, l *local, elsewhere bool) verdict {
	v := verdict{differs: differences(e, l)}
	if len(v.differs) > 0 {
		v.kind = kindOf(v.differs[0], e.Status)
	} else if l.status == models.StatusSucceeded && l.outcome != models.OutcomeApplied && !(elsewhere && l.outcome == models.OutcomeNoOrder) {
		v = misfits[l.outcome]
	}
	if e.FeeDue.Currency != "" {
		v.differs = append(slices.Clip(v.differs), differsFee)
		v.kind = cmp.Or(v.kind, models.GapFee)
	}
	return v
}

// misfits are the outcomes that are a gap although both sides agree.
var misfits = map[models.Outcome]verdict{
	models.OutcomeConflict:         {kind: models.GapConflict, byOrder: true},
	models.OutcomeCurrencyMismatch: {kind: models.GapCurrency, differs: []string{differsCurrency}, byOrder: true},
	models.OutcomeAmountMismatch:   {kind: models.GapAmount, differs: []string{differsAmount}, byOrder: true},
	models.OutcomeNoOrder:          {kind: models.GapUnknownOrder, byOrder: true},
	models.OutcomePaidAfterClose:   {kind: models.GapPaidAfterClose, byOrder: true},
	models.OutcomeDuplicatePayment: {kind: models.GapDuplicatePayment, byOrder: true},
	models.OutcomeNotAllowed:       {kind: models.GapNotAllowed, byOrder: true},
}

// differences lists what the two sides disagree about, in the order in which it names the gap. Amounts matter when one side at
// least says that money has moved.
func differences(e *models.Entry, l *local) []string {
	var differs []string
	if moved(e.Status) || l.status == models.StatusSucceeded {
		if e.Money.Currency != l.money.Currency {
			differs = append(differs, differsCurrency)
		}
		if e.Money != l.money && !e.Money.Decimal().Equal(l.money.Decimal()) {
			differs = append(differs, differsAmount)
		}
	}
	unpaid := e.Final && e.Status == models.StatusPending && l.status == models.StatusSucceeded
	if unpaid || statusDiffers(e.Status, l.status) {
		differs = append(differs, differsStatus)
	}
	return differs
}

func moved(stated models.TransactionStatus) bool {
	return stated == models.StatusSucceeded || stated == models.StatusUnknown
}

func kindOf(first string, stated models.TransactionStatus) models.GapKind {
	switch {
	case first == differsCurrency:
		return models.GapCurrency
	case first == differsAmount:
		return models.GapAmount
	case stated == models.StatusUnknown:
		return models.GapUnknownStatus
	}
	return models.GapStatus
}

// statusDiffers knows that a statement is a snapshot: what it calls pending may have come to its end since, but not to nothing.
func statusDiffers(stated, booked models.TransactionStatus) bool {
	switch stated {
	case models.StatusSucceeded:
		return booked != models.StatusSucceeded
	case models.StatusPending, models.StatusAuthorised:
		return ended(booked)
	case models.StatusFailed, models.StatusClosed, models.StatusReversed:
		return booked == models.StatusSucceeded
	}
	return true // a word we do not know agrees with nothing
}

// ended is true for a movement that came to nothing.
func ended(s models.TransactionStatus) bool {
	return s == models.StatusFailed || s == models.StatusClosed || s == models.StatusReversed
}
