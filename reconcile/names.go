package reconcile

import (
	"slices"
	"strings"

	"paybook/ledger"
	"paybook/models"
)

// name is one name of a movement. A payment and a refund under the same id are two movements.
type name struct {
	kind models.TransactionKind
	id   string
}

// identity is what makes two rows of a statement tell of the same movement: the provider's id of it, or for a refund without one
// the shop's number together with the payment.
func identity(e *models.Entry) name {
	if e.TransactionID == "" {
		return name{e.Kind, e.ParentID + ":" + e.RefundOrderID}
	}
	return name{e.Kind, e.TransactionID}
}

// givenNames are the names the statement itself gives a movement. Whatever in the book has one of them is this movement.
func givenNames(e *models.Entry) []string {
	if e.TransactionID == "" {
		return e.Aliases
	}
	return append([]string{e.TransactionID}, e.Aliases...)
}

// standIns are the names under which the book may hold a refund of which it does not know the provider's id.
func standIns(e *models.Entry) []string {
	if e.Kind != models.Refund && e.Kind != models.RefundReversal {
		return nil
	}
	return ledger.RefundNames(e.ParentID, e.RefundOrderID)
}

// isStandInFor says whether a row found by the shop's refund number is the refund that the entry tells of: one number may have been
// used for two refunds, of which only one got that name in the book.
func (l *local) isStandInFor(e *models.Entry) bool {
	if e.TransactionID == "" || e.TransactionID == e.RefundOrderID {
		return l.parent == "" || e.ParentID == "" || l.parent == e.ParentID
	}
	return slices.Contains(standIns(e), l.id) && (l.providerID == "" || l.providerID == e.TransactionID)
}

// local is what comparing needs to know of a transaction in the book. A million of them may have to wait.
type local struct {
	kind       models.TransactionKind
	id         string // what it is stored under
	providerID string
	parent     string
	money      models.Money
	status     models.TransactionStatus
	outcome    models.Outcome
	own        bool // its texts hold on to nothing else: see clone
}

// clone makes the texts of a row that is kept its own: until then they hold on to those of many rows (models.Arena).
func (l *local) clone() {
	if l.own {
		return
	}
	l.own, l.id, l.providerID, l.parent = true, strings.Clone(l.id), strings.Clone(l.providerID), strings.Clone(l.parent)
}

func localOf(t *models.Transaction) *local {
	return &local{kind: t.Kind, id: t.TransactionID, providerID: t.ProviderID, parent: t.ParentID, money: t.Money(),
		status: t.Status, outcome: t.Outcome}
}

func localOfMovement(m *ledger.Movement) local {
	return local{kind: m.Kind, id: m.ID, providerID: m.ProviderID, parent: m.ParentID, money: m.Money, status: m.Status, outcome: m.Outcome}
}

func (l *local) key() name { return name{l.kind, l.id} }

// names are all by which a statement may call it, as far as the row itself tells: one or two.
func (l *local) names() []name {
	if l.providerID == "" {
		return []name{l.key()}
	}
	return []name{l.key(), {l.kind, l.providerID}}
}

// bookNames are the names under which another day's statement may have a row of the book.
func bookNames(t *models.Transaction) []name {
	names := localOf(t).names()
	if t.Kind == models.Refund {
		for _, id := range ledger.RefundNames(t.ParentID, t.RefundOrderID) {
			names = append(names, name{t.Kind, id})
		}
	}
	return names
}

// looksRounded is true for a long number that a spreadsheet, which keeps 15 digits, has ended in zeros.
func looksRounded(id string) bool {
	const kept, enough = 15, 3
	if len(id) < kept+enough {
		return false
	}
	for i := range len(id) {
		if id[i] < '0' || id[i] > '9' || i >= kept && id[i] != '0' {
			return false
		}
	}
	return true
}
