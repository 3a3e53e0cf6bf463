package reconcile

import (
	"cmp"
	"slices"
	"strings"

	"paybook/ledger"
	"paybook/models"
)

// How near the name is by which an entry knows a row of the book.
const (
	byOwnID   = iota // the entry's own id is the row's
	byOwnName        // the entry's own id is a further name of the row
	byAlias
	byStandIn
)

// claim is a row of the book that an entry may be about.
type claim struct {
	group  *group
	row    *models.Transaction
	by     int
	agrees bool
}

// assign hands out the book's rows, each once: those who know a row by a nearer name go first, whatever the order of the statement.
// Two charges of one intent both know its row; it is the one's whose own id it has.
func (r *run) assign(groups []*group, rows map[ledger.Name]models.Transaction) {
	var claims []claim
	for _, g := range groups {
		claims = append(claims, r.claims(g, rows)...)
	}
	slices.SortStableFunc(claims, compareClaims)
	taken := map[name]bool{}
	for _, c := range claims {
		if key := localOf(c.row).key(); c.group.booked == nil && !taken[key] {
			c.group.booked, taken[key] = c.row, true
		}
	}
}

// compareClaims: of equal names the entry that agrees with the row goes first, then the later one, which is the attempt that worked.
func compareClaims(a, b claim) int {
	first, second := a.group.speaker(), b.group.speaker()
	agreeing := func(c claim) int {
		if c.agrees {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(agreeing(a), agreeing(b)), second.OccurredAt.Compare(first.OccurredAt),
		cmp.Compare(first.TransactionID, second.TransactionID))
}

func (r *run) claims(g *group, rows map[ledger.Name]models.Transaction) []claim {
	e := &g.speaker().Entry
	var list []claim
	for _, c := range r.candidates(e, rows) {
		c.group, c.agrees = g, compare(e, localOf(c.row), r.account.OrdersElsewhere).kind == ""
		list = append(list, c)
	}
	return list
}

// candidates are the book's rows that an entry may be about, the nearest first.
func (r *run) candidates(e *models.Entry, rows map[ledger.Name]models.Transaction) []claim {
	var list []claim
	for _, id := range givenNames(e) {
		t, ok := rows[r.name(name{e.Kind, id})]
		switch {
		case !ok:
		case id != e.TransactionID:
			list = append(list, r.byAlias(e, &t)...)
		case id == t.TransactionID || id == t.ProviderID:
			list = append(list, claim{row: &t, by: byOwnID})
		default:
			list = append(list, claim{row: &t, by: byOwnName})
		}
	}
	for _, id := range standIns(e) {
		if t, ok := rows[r.name(name{e.Kind, id})]; ok && localOf(&t).isStandInFor(e) {
			list = append(list, claim{row: &t, by: byStandIn})
		}
	}
	if l := r.onlyByNumber(e); l != nil {
		if t, ok := rows[r.name(l.key())]; ok {
			list = append(list, claim{row: &t, by: byStandIn})
		}
	}
	return list
}

// rowOf is the nearest row of the book.
func (r *run) rowOf(e *models.Entry, rows map[ledger.Name]models.Transaction) (*models.Transaction, bool) {
	best := slices.MinFunc(append(r.candidates(e, rows), claim{by: byStandIn + 1}), func(a, b claim) int { return cmp.Compare(a.by, b.by) })
	return best.row, best.row != nil
}

// onlyByNumber is the day's one unmatched refund that is stored behind its payment's id under the shop's number, for a statement
// that tells the number and not the payment. Of two it is neither.
func (r *run) onlyByNumber(e *models.Entry) *local {
	if e.Kind != models.Refund || e.ParentID != "" || e.RefundOrderID == "" {
		return nil
	}
	if r.numbered == nil {
		r.numbered = map[string][]*local{}
		for l := range r.match.locals.all() {
			if number, ok := strings.CutPrefix(l.id, l.parent+":"); ok && l.parent != "" && l.kind == models.Refund {
				r.numbered[number] = append(r.numbered[number], l)
			}
		}
	}
	if list := r.numbered[e.RefundOrderID]; len(list) == 1 && (list[0].providerID == "" || list[0].providerID == e.TransactionID) {
		return list[0]
	}
	return nil
}
