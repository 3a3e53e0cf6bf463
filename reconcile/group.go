package reconcile

import (
	"cmp"
	"slices"

	"paybook/ledger"
	"paybook/models"
)

// group is all that the statement says of one movement.
type group struct {
	rows    []*held // in the order of the files, but what takes the movement back behind the rest
	adjusts []*held
	booked  *models.Transaction // the book's row of it, nil when it has none
}

// speaker is the row that names the movement.
func (g *group) speaker() *held {
	if len(g.rows) > 0 {
		return g.rows[0]
	}
	return g.adjusts[0]
}

// groups puts together the rows of one identity, in the order in which they appear.
func (r *run) groups(left []*held) []*group {
	var list []*group
	index := map[name]*group{}
	of := func(h *held) *group {
		n := identity(&h.Entry)
		if index[n] == nil {
			index[n] = &group{}
			list = append(list, index[n])
		}
		return index[n]
	}
	for _, h := range left {
		g := of(h)
		g.rows = append(g.rows, h)
	}
	for _, h := range r.adjusts {
		g := of(h)
		g.adjusts = append(g.adjusts, h)
	}
	for _, g := range list {
		slices.SortStableFunc(g.rows, func(a, b *held) int { return cmp.Compare(statusOrder(a.Status), statusOrder(b.Status)) })
	}
	return list
}

// statusOrder puts the row that says the money has moved first and the one that takes it back last, wherever they stand in the file.
func statusOrder(s models.TransactionStatus) int {
	switch s {
	case models.StatusSucceeded:
		return 0
	case models.StatusReversed:
		return 2
	}
	return 1
}

func (r *run) settleGroup(g *group) {
	if len(g.rows) == 0 {
		r.settleOrphans(g)
		return
	}
	first, t := g.rows[0], g.booked
	if t != nil {
		r.use(t)
	}
	r.joinParts(g)
	g.shareOrder()
	r.dropCopies(g)
	repeats, taken := g.repeats()
	if len(repeats)+len(taken) < len(g.rows)-1 {
		r.found(finding{verdict: verdict{kind: models.GapConflict, differs: conflictOf(g.rows)}, entry: first, row: t, rows: g.rows})
		return
	}
	r.compared -= int64(len(repeats) + len(taken))
	for _, h := range repeats {
		r.forgetStep(h, first)
	}
	if len(repeats) > 0 {
		r.found(finding{verdict: verdict{kind: models.GapDuplicateEntry}, entry: first, row: t, rows: append([]*held{first}, repeats...)})
	}
	e := *first
	if len(taken) > 0 {
		e.Status, e.StatusText = models.StatusReversed, taken[0].StatusText
	}
	r.adjust(&e, g.adjusts)
	r.feeOfGroup(&e, first, g.adjusts)
	if t != nil {
		r.settlePair(&e, t)
	} else {
		r.settleAlone(&e)
	}
}

// joinParts makes one row of those that a movement is given in.
func (r *run) joinParts(g *group) {
	first := g.rows[0]
	g.rows = slices.DeleteFunc(g.rows, func(h *held) bool {
		further := first.Part && h.Part && !slices.Equal(h.Aliases, first.Aliases)
		if further {
			g.adjusts = append(g.adjusts, h)
			r.compared--
			r.stated.of(h.Kind, h.Money.Currency).count--
		}
		return further
	})
}

// shareOrder gives the movement's rows the order that one of them names: a file without that column does not contradict one that has it.
func (g *group) shareOrder() {
	order := ""
	for _, h := range g.rows {
		order = cmp.Or(order, h.OrderID)
	}
	for _, h := range g.rows {
		h.OrderID = cmp.Or(h.OrderID, order)
	}
}

// dropCopies takes out rows that another report of the same day has as well: two reports that both list everything tell each movement
// twice, where one that does so repeats itself.
func (r *run) dropCopies(g *group) {
	first := g.rows[0]
	seen := map[report]bool{r.reportOf(first): true}
	g.rows = slices.DeleteFunc(g.rows, func(h *held) bool {
		of := r.reportOf(h)
		copied := !seen[of] && sameTelling(h, first)
		seen[of] = true
		if copied {
			r.compared--
			r.copies++
			r.stated.forget(&h.Entry)
			r.forgetStep(h, first)
		}
		return copied
	})
}

// report is a sort of file: what a provider makes two of for one day.
type report struct {
	title string
	only  models.TransactionKind
}

func (r *run) reportOf(h *held) report {
	s := &r.inputs[h.place.file].statement
	return report{s.Title, s.Only}
}

func sameTelling(a, b *held) bool {
	return a.Money == b.Money && a.Status == b.Status && a.OrderID == b.OrderID
}

// repeats tells the first row's repetitions, and rows that take it back under its own id. What is neither contradicts it.
func (g *group) repeats() (same, taken []*held) {
	first := g.rows[0]
	for _, h := range g.rows[1:] {
		switch {
		case h.Money != first.Money:
		case sameTelling(h, first):
			same = append(same, h)
		case h.Status == models.StatusReversed && first.Status == models.StatusSucceeded:
			taken = append(taken, h)
		}
	}
	return same, taken
}

// conflictOf lists what the rows of one movement disagree about among themselves.
func conflictOf(rows []*held) []string {
	var differs []string
	first := rows[0]
	for _, c := range []struct {
		word  string
		other func(h *held) bool
	}{
		{differsCurrency, func(h *held) bool { return h.Money.Currency != first.Money.Currency }},
		{differsAmount, func(h *held) bool { return h.Money.Minor != first.Money.Minor }},
		{differsStatus, func(h *held) bool { return h.Status != first.Status }},
		{"order", func(h *held) bool { return h.OrderID != first.OrderID }},
	} {
		if slices.ContainsFunc(rows, c.other) {
			differs = append(differs, c.word)
		}
	}
	return differs
}

// adjust adds the rows that change an entry's amount. Nothing left of it is a payment that was taken back.
func (r *run) adjust(e *held, adjusts []*held) {
	money := e.Money
	for _, a := range adjusts {
		if a.Money.Currency != money.Currency {
			r.note("%s, row %d: adjusts %s in another currency, %s; left out", r.inputs[a.place.file].label, a.Line, e.TransactionID, a.Money.Currency)
			continue
		}
		money.Minor += a.Money.Minor
		if a.Part {
			e.Aliases = slices.Concat(e.Aliases, a.Aliases)
		}
	}
	if money.Minor > 0 || len(adjusts) == 0 {
		e.Money = money
		return
	}
	e.Status, e.StatusText = models.StatusReversed, adjusts[len(adjusts)-1].StatusText
}

// settleOrphans are rows that adjust a movement of another day's statement. Taken back as a whole it can be judged: the book must
// not call it succeeded.
func (r *run) settleOrphans(g *group) {
	e, t := *g.adjusts[0], g.booked
	e.Money = e.Money.Abs()
	switch {
	case t == nil:
		e.Adjusts = false
		r.found(finding{verdict: verdict{kind: models.GapMissingLocal}, entry: &e})
	case e.Money == t.Money() && t.Status == models.StatusSucceeded:
		e.Status = models.StatusReversed
		r.use(t)
		r.found(finding{verdict: verdict{kind: models.GapStatus, differs: []string{differsStatus}}, entry: &e, row: t})
	default:
		r.note("%s, row %d: adjusts %s, whose own row is in another day's statement; not compared", r.inputs[e.place.file].label, e.Line, e.TransactionID)
	}
}

// use marks a row of the book as taken, and remembers it when it belongs to another day: that day's runs shall not miss it.
func (r *run) use(t *models.Transaction) {
	for _, n := range localOf(t).names() {
		r.used[n] = true
	}
	if !r.inDay(t.OccurredAt) {
		r.cross(localOf(t).key(), r.day.String())
	}
}

func (r *run) cross(n name, date string) {
	r.crossed = append(r.crossed, ledger.Crossed{Kind: n.kind, TransactionID: n.id, Date: date})
}

func (r *run) settlePair(e *held, t *models.Transaction) {
	if v := compare(&e.Entry, localOf(t), r.account.OrdersElsewhere); v.kind != "" {
		r.found(finding{verdict: v, entry: e, row: t})
		return
	}
	r.match.matched++
	if l := localOf(t); isBegun(&e.Entry, l) && r.inDay(t.OccurredAt) {
		r.match.begun = append(r.match.begun, l.key())
	}
}

// settleAlone is an entry that the book knows nothing of.
func (r *run) settleAlone(e *held) {
	inDay := r.inDay(e.OccurredAt)
	switch {
	case !inDay && !r.inputs[e.place.file].statement.Batch:
		r.found(finding{verdict: verdict{kind: models.GapWrongDay}, entry: e})
	case e.Status == models.StatusUnknown:
		r.found(finding{verdict: verdict{kind: models.GapUnknownStatus, differs: []string{differsStatus}}, entry: e})
	case isBegun(&e.Entry, nil):
		r.match.begun = append(r.match.begun, identity(&e.Entry))
	case e.Status != models.StatusSucceeded: // no money has moved
	default:
		f := finding{verdict: verdict{kind: models.GapMissingLocal}, entry: e}
		if inDay {
			f.waits = r.neighbours(e.OccurredAt)
		}
		r.found(f)
	}
}
