package reconcile

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile/lang"
)

// settle decides what the streams have left over. Each candidate is read from the book again, by its key: a callback may have come
// while the run was under way, and a movement may lie on the other side of midnight.
func (r *run) settle(ctx context.Context) error {
	left := r.match.unsettled()
	r.match.waiting, r.match.differ, r.match.spill = nil, nil, nil
	rows, err := r.lookUp(ctx, left)
	if err != nil {
		return err
	}
	if left, rows, err = r.pullBack(ctx, left, rows); err != nil {
		return err
	}
	if err := r.loadRan(ctx, r.ownNeighbours()); err != nil {
		return err
	}
	groups := r.groups(left)
	r.assign(groups, rows)
	for i, g := range groups {
		r.settleGroup(g)
		groups[i] = nil
		if err := r.writeFindings(ctx, bookChunk); err != nil {
			return err
		}
	}
	if r.copies > 0 {
		r.note("the reports overlap: %s that another report of the day has as well, read once%s", lang.English.Count(int(r.copies), "row"), r.stated.twice())
	}
	for _, n := range r.match.begun {
		r.cross(n, r.day.String())
	}
	if err := r.settleNeighbours(ctx); err != nil {
		return err
	}
	if err := r.settleBook(ctx); err != nil {
		return err
	}
	r.match.locals, r.numbered = localTable{}, nil // the gaps need the room
	if err := r.finishGaps(ctx); err != nil {
		return err
	}
	return r.settlePayouts(ctx)
}

// pullBack adds the rows that were matched with what others may have a better claim to, until there are no more such claims: a row
// that loses its partner may turn to the next one's.
func (r *run) pullBack(ctx context.Context, left []*held, rows map[ledger.Name]models.Transaction) ([]*held, map[ledger.Name]models.Transaction, error) {
	for sought := 0; ; {
		suspects := r.suspects(left, rows)
		if len(suspects) == sought {
			return left, rows, nil
		}
		sought = len(suspects)
		again, err := r.readAgain(ctx, suspects, left)
		if err != nil || len(again) == 0 {
			return left, rows, err
		}
		left = append(left, again...)
		sortHeld(left)
		if rows, err = r.lookUp(ctx, left); err != nil {
			return nil, nil, err
		}
	}
}

// lookUp reads the book's rows by every name of the entries, and of what rows adjust.
func (r *run) lookUp(ctx context.Context, list []*held) (map[ledger.Name]models.Transaction, error) {
	rows := map[ledger.Name]models.Transaction{}
	err := eachChunk(slices.Concat(list, r.adjusts), bookChunk, func(chunk []*held) error {
		names := map[ledger.Name]bool{}
		for _, h := range chunk {
			for _, n := range h.names() {
				names[r.name(n)] = true
			}
			for _, l := range []*local{h.pair, r.onlyByNumber(&h.Entry)} {
				if l != nil {
					names[r.name(l.key())] = true
				}
			}
		}
		found, err := r.book.FindTransactions(ctx, names)
		maps.Copy(rows, found)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.watched(list, rows)
	return rows, r.readDisputed(ctx, list, rows)
}

func (r *run) name(n name) ledger.Name {
	return ledger.Name{Account: r.account.Name, Kind: n.kind, ID: n.id}
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
		for _, c := range r.candidates(&h.Entry, rows) {
			if l := localOf(c.row); r.inDay(c.row.OccurredAt) && r.match.locals.get(l.kind, l.id) == nil && !pairs[l.key()] {
				for _, n := range append(h.names(), l.names()...) {
					suspects[n] = true
				}
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
		err := r.scan(ctx, i, func(e *models.Entry, at place) error {
			if !e.Kind.Compared() || e.Adjusts || known[at] {
				return nil
			}
			h := &held{Entry: *e, place: at}
			if slices.ContainsFunc(h.names(), func(n name) bool { return suspects[n] }) {
				again = append(again, newHeld(e, at))
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

// settleBook is what the book holds of the day and the statement does not.
func (r *run) settleBook(ctx context.Context) error {
	var keys []name
	for l := range r.match.locals.all() {
		if l.status == models.StatusSucceeded && !r.used[l.key()] {
			keys = append(keys, l.key())
		}
	}
	slices.SortFunc(keys, func(a, b name) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) })
	uncovered := map[models.TransactionKind]int{}
	err := eachChunk(keys, bookChunk, func(chunk []name) error {
		rows, err := r.notElsewhere(ctx, chunk)
		if err != nil {
			return err
		}
		for _, t := range rows {
			if !r.covers(t.Kind) {
				uncovered[t.Kind]++
				continue
			}
			waits := r.neighbours(t.OccurredAt)
			for n := range r.account.Lag {
				waits = append(waits, r.day.Add(n+1).String())
			}
			r.found(finding{verdict: verdict{kind: models.GapMissingProvider}, row: t, waits: waits})
		}
		return r.writeFindings(ctx, bookChunk)
	})
	r.noteUncovered(uncovered)
	return err
}

// notElsewhere are the rows of the day that moved money and that no other day's statement has, as they are by now.
func (r *run) notElsewhere(ctx context.Context, keys []name) ([]*models.Transaction, error) {
	names := map[ledger.Name]bool{}
	for _, n := range keys {
		names[r.name(n)] = true
	}
	rows, err := r.book.FindTransactions(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, t := range rows {
		for _, n := range bookNames(&t) {
			names[r.name(n)] = true
		}
	}
	elsewhere, err := r.book.CrossedElsewhere(ctx, r.day.String(), names)
	if err != nil {
		return nil, err
	}
	var list []*models.Transaction
	for _, t := range rows {
		crossed := slices.ContainsFunc(bookNames(&t), func(n name) bool { return elsewhere[r.name(n)] })
		if !crossed && t.Status == models.StatusSucceeded && r.inDay(t.OccurredAt) {
			list = append(list, &t)
		}
	}
	slices.SortFunc(list, func(a, b *models.Transaction) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.TransactionID, b.TransactionID))
	})
	return list, nil
}
