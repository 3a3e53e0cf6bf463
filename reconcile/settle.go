package reconcile

import (
	"cmp"
	"context"
	"slices"

	"paybook/ledger"
	"paybook/models"
)

// settle decides what the streams have left over. Each candidate is read from the book again, by its key: a callback may have come
// while the run was under way, and a movement may lie on the other side of midnight.
func (r *run) settle(ctx context.Context) error {
	left := r.match.unsettled()
	rows, err := r.lookUp(ctx, left)
	if err != nil {
		return err
	}
	if suspects := r.suspects(left, rows); len(suspects) > 0 {
		again, err := r.readAgain(ctx, suspects, left)
		if err != nil {
			return err
		}
		if left = append(left, again...); len(again) > 0 {
			sortHeld(left)
			if rows, err = r.lookUp(ctx, left); err != nil {
				return err
			}
		}
	}
	for _, g := range r.groups(left) {
		r.settleGroup(g, rows)
	}
	if err := r.settleNeighbours(ctx); err != nil {
		return err
	}
	if err := r.settleBook(ctx); err != nil {
		return err
	}
	return r.finishGaps(ctx)
}

// lookUp reads the book's rows by every name of the entries, and of what rows adjust.
func (r *run) lookUp(ctx context.Context, list []*held) (map[ledger.Name]models.Transaction, error) {
	names := map[ledger.Name]bool{}
	for _, h := range slices.Concat(list, r.adjusts) {
		for _, n := range h.names() {
			names[r.name(n)] = true
		}
		if h.pair != nil {
			names[r.name(h.pair.key())] = true
		}
	}
	return r.book.FindTransactions(ctx, names)
}

func (r *run) name(n name) ledger.Name {
	return ledger.Name{Account: r.account.Name, Kind: n.kind, ID: n.id}
}

// rowOf is the book's row of an entry.
func (r *run) rowOf(e *models.Entry, rows map[ledger.Name]models.Transaction) (*models.Transaction, bool) {
	for _, id := range givenNames(e) {
		if t, ok := rows[r.name(name{e.Kind, id})]; ok {
			return &t, true
		}
	}
	for _, id := range standIns(e) {
		if t, ok := rows[r.name(name{e.Kind, id})]; ok && localOf(&t).isStandInFor(e) {
			return &t, true
		}
	}
	return nil, false
}

// suspects are the names of movements that an earlier row of the statement may already have been matched with: a row given twice
// finds its partner gone. Also those that a later row adjusts.
func (r *run) suspects(left []*held, rows map[ledger.Name]models.Transaction) map[name]bool {
	here, pairs := map[name]bool{}, map[name]bool{}
	for _, h := range left {
		here[identity(&h.Entry)] = true
		if h.pair != nil {
			pairs[h.pair.key()] = true
		}
	}
	suspects := map[name]bool{}
	for _, h := range left {
		t, ok := r.rowOf(&h.Entry, rows)
		if !ok || h.pair != nil {
			continue
		}
		if l := localOf(t); r.inDay(t.OccurredAt) && r.match.locals[l.key()] == nil && !pairs[l.key()] {
			for _, n := range append(h.names(), l.names()...) {
				suspects[n] = true
			}
		}
	}
	for _, h := range r.adjusts {
		if !here[identity(&h.Entry)] {
			suspects[identity(&h.Entry)] = true
		}
	}
	return suspects
}

// readAgain finds the rows that were matched and forgotten. They are then no longer counted as matched.
func (r *run) readAgain(ctx context.Context, suspects map[name]bool, left []*held) ([]*held, error) {
	known := map[place]bool{}
	for _, h := range left {
		known[h.place] = true
	}
	var again []*held
	for i, in := range r.inputs {
		if in.twin != nil || !in.statement.Compared {
			continue
		}
		err := r.scan(ctx, i, func(e models.Entry, at place) error {
			if !e.Kind.Compared() || e.Adjusts || known[at] {
				return nil
			}
			h := &held{Entry: e, place: at}
			if slices.ContainsFunc(h.names(), func(n name) bool { return suspects[n] }) {
				again = append(again, h)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	r.match.matched -= int64(len(again))
	return again, nil
}

// group is all that the statement says of one movement.
type group struct {
	rows    []*held // in the order of the files
	adjusts []*held
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
	return list
}

func (r *run) settleGroup(g *group, rows map[ledger.Name]models.Transaction) {
	if len(g.rows) == 0 {
		r.settleOrphans(g, rows)
		return
	}
	first := g.rows[0]
	t, booked := r.rowOf(&first.Entry, rows)
	if booked && r.used[localOf(t).key()] { // it is another row's, which knows it by a nearer name
		t, booked = nil, false
	}
	if booked {
		r.use(t)
	}
	repeats, taken := g.repeats()
	if len(repeats)+len(taken) < len(g.rows)-1 {
		r.found(finding{verdict: verdict{kind: models.GapConflict, differs: conflictOf(g.rows)}, entry: first, row: t, rows: g.rows})
		return
	}
	r.compared -= int64(len(repeats) + len(taken))
	if len(repeats) > 0 {
		r.found(finding{verdict: verdict{kind: models.GapDuplicateEntry}, entry: first, row: t, rows: append([]*held{first}, repeats...)})
	}
	e := *first
	if len(taken) > 0 {
		e.Status, e.StatusText = models.StatusReversed, taken[0].StatusText
	}
	r.adjust(&e, g.adjusts)
	if booked {
		r.settlePair(&e, t)
	} else {
		r.settleAlone(&e)
	}
}

// repeats tells the first row's repetitions, and rows that take it back under its own id. What is neither contradicts it.
func (g *group) repeats() (same, taken []*held) {
	first := g.rows[0]
	for _, h := range g.rows[1:] {
		switch {
		case h.Money != first.Money:
		case h.Status == first.Status && h.OrderID == first.OrderID:
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
	}
	if money.Minor > 0 || len(adjusts) == 0 {
		e.Money = money
		return
	}
	e.Status, e.StatusText = models.StatusReversed, adjusts[len(adjusts)-1].StatusText
}

// settleOrphans are rows that adjust a movement of another day's statement. Taken back as a whole it can be judged: the book must
// not call it succeeded.
func (r *run) settleOrphans(g *group, rows map[ledger.Name]models.Transaction) {
	e := *g.adjusts[0]
	e.Money = e.Money.Abs()
	t, booked := r.rowOf(&e.Entry, rows)
	switch {
	case !booked:
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
	r.used[localOf(t).key()] = true
	if !r.inDay(t.OccurredAt) {
		r.crossed = append(r.crossed, ledger.Crossed{Kind: t.Kind, TransactionID: t.TransactionID, Date: r.day.String()})
	}
}

func (r *run) settlePair(e *held, t *models.Transaction) {
	if v := compare(&e.Entry, localOf(t), r.account.OrdersElsewhere); v.kind != "" {
		r.found(finding{verdict: v, entry: e, row: t})
		return
	}
	r.match.matched++
}

// settleAlone is an entry that the book knows nothing of.
func (r *run) settleAlone(e *held) {
	inDay := r.inDay(e.OccurredAt)
	switch {
	case !inDay && !r.inputs[e.place.file].statement.Batch:
		r.found(finding{verdict: verdict{kind: models.GapWrongDay}, entry: e})
	case e.Status == models.StatusUnknown:
		r.found(finding{verdict: verdict{kind: models.GapUnknownStatus, differs: []string{differsStatus}}, entry: e})
	case e.Status != models.StatusSucceeded: // no money has moved
	default:
		f := finding{verdict: verdict{kind: models.GapMissingLocal}, entry: e}
		if inDay {
			f.waits = r.neighbours(e.OccurredAt)
		}
		r.found(f)
	}
}

// settleBook is what the book holds of the day and the statement does not.
func (r *run) settleBook(ctx context.Context) error {
	names := map[ledger.Name]bool{}
	for _, l := range r.match.locals {
		if l.status == models.StatusSucceeded && !r.used[l.key()] {
			names[r.name(l.key())] = true
		}
	}
	elsewhere, err := r.book.CrossedElsewhere(ctx, r.day.String(), names)
	if err != nil {
		return err
	}
	rows, err := r.book.FindTransactions(ctx, names)
	if err != nil {
		return err
	}
	var missing []models.Transaction
	for n, t := range rows {
		if !elsewhere[n] && t.Status == models.StatusSucceeded && r.inDay(t.OccurredAt) {
			missing = append(missing, t)
		}
	}
	slices.SortFunc(missing, func(a, b models.Transaction) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.TransactionID, b.TransactionID))
	})
	for _, t := range missing {
		waits := r.neighbours(t.OccurredAt)
		for n := range r.account.Lag {
			waits = append(waits, r.day.Add(n+1).String())
		}
		r.found(finding{verdict: verdict{kind: models.GapMissingProvider}, row: &t, waits: waits})
	}
	return nil
}
