package reconcile

import (
	"context"
	"maps"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// A row without a partner near midnight may have it on the other side: in the neighbouring day's statement, or, for a statement's
// row, in a callback that the book dates a little later. Such a row is carried until the neighbour has been read, never until some
// hour, so that the same input gives the same result. What is carried of other days is looked at again here, by the run they wait for.

// neighbours are the days whose statement may have a row of this time, which lies near a bound of the day.
func (r *run) neighbours(at time.Time) []string {
	var days []string
	if at.Sub(r.from) <= r.account.Edge {
		days = append(days, r.day.Add(-1).String())
	}
	if r.to.Sub(at) <= r.account.Edge {
		days = append(days, r.day.Add(1).String())
	}
	return days
}

// waits says whether the statement of one of the days has still to be read for rows of this kind.
func (r *run) waits(days []string, kind models.TransactionKind) bool {
	return slices.ContainsFunc(days, func(date string) bool {
		if date == r.day.String() {
			return !r.covers(kind)
		}
		kinds, ran := r.ran[date]
		return !ran || kinds != nil && !slices.Contains(kinds, kind)
	})
}

// loadNeighbours reads what earlier runs left to this one, and which of the days that they wait for have been run.
func (r *run) loadNeighbours(ctx context.Context) (err error) {
	wanted := func(g *models.Gap) bool { return g.EntryKind != models.Payout && (r.concerns(g) || r.explains(g)) }
	if r.others, err = r.book.OneSided(ctx, r.account.Name, r.day.String(), wanted); err != nil {
		return err
	}
	var dates []string
	for _, g := range r.others {
		dates = append(dates, g.WaitsFor...)
	}
	return r.loadRan(ctx, dates)
}

// ownNeighbours are the days whose statements may still explain what this day's has not.
func (r *run) ownNeighbours() []string {
	dates := []string{r.day.Add(-1).String(), r.day.Add(1).String()}
	for n := range r.account.Lag {
		dates = append(dates, r.day.Add(n+1).String())
	}
	return dates
}

// loadRan finds out which of the days have been run.
func (r *run) loadRan(ctx context.Context, dates []string) error {
	slices.Sort(dates)
	ran, err := r.book.RunDates(ctx, r.account.Name, slices.Compact(dates))
	maps.Copy(r.ran, ran)
	return err
}

// settleNeighbours decides what other days' runs left to this one.
func (r *run) settleNeighbours(ctx context.Context) error {
	if err := r.loadNeighbours(ctx); err != nil {
		return err
	}
	names := map[ledger.Name]bool{}
	entries := make([]held, len(r.others))
	for i := range r.others {
		entries[i] = held{Entry: entryOf(&r.others[i])}
		for _, n := range entries[i].names() {
			names[r.name(n)] = true
		}
	}
	rows, err := r.book.FindTransactions(ctx, names)
	if err != nil {
		return err
	}
	for i := range r.others {
		g, e := &r.others[i], &entries[i]
		t, booked := r.rowOf(&e.Entry, rows)
		if g.Statement == nil {
			r.settleAwaitedEntry(g, t, booked)
		} else {
			r.settleAwaitedRow(g, e, t, booked)
		}
	}
	return nil
}

// explains says whether this statement has what another day's was missing.
func (r *run) explains(g *models.Gap) bool {
	return g.Statement == nil && r.used[name{g.EntryKind, g.TransactionID}]
}

// concerns says whether a gap of another day is this run's to decide, now or when it was decided before.
func (r *run) concerns(g *models.Gap) bool {
	date := r.day.String()
	return g.DecidedOn == date || g.State == models.GapCarried && slices.Contains(g.WaitsFor, date)
}

// settleAwaitedEntry is a row of the book that another day's statement did not have.
func (r *run) settleAwaitedEntry(g *models.Gap, t *models.Transaction, booked bool) {
	switch {
	case r.explains(g), !booked, r.used[localOf(t).key()], t.Status != models.StatusSucceeded, r.inDay(t.OccurredAt):
		r.healed = append(r.healed, g.ID)
	case !r.covers(g.EntryKind): // the file that could have it is still to be read
	case !r.waits(g.WaitsFor, g.EntryKind):
		r.decide(g, finding{verdict: verdict{kind: models.GapMissingProvider}, row: t})
	}
}

// settleAwaitedRow is a row of another day's statement that the book did not have. Found by now, on whichever side of midnight, it
// is matched to that day's statement.
func (r *run) settleAwaitedRow(g *models.Gap, e *held, t *models.Transaction, booked bool) {
	if !booked {
		if !r.waits(g.WaitsFor, g.EntryKind) && r.covers(g.EntryKind) {
			r.decide(g, finding{verdict: verdict{kind: models.GapMissingLocal}, entry: e})
		}
		return
	}
	r.used[localOf(t).key()] = true
	r.feeOfGap(g, &e.Entry)
	if own := DayOf(t.OccurredAt, r.account.Zone, r.account.Cut).String(); own != g.Date {
		r.cross(localOf(t).key(), g.Date)
	}
	if v := compare(&e.Entry, localOf(t), r.account.OrdersElsewhere); v.kind != "" {
		r.decide(g, finding{verdict: v, entry: e, row: t})
		return
	}
	r.healed = append(r.healed, g.ID)
}

// decide opens a gap of another day, under the id and the date it has.
func (r *run) decide(g *models.Gap, f finding) {
	f.of = g
	r.found(f)
}

// entryOf rebuilds a statement's row from the gap it left; for a gap without one, what names the book's row.
func entryOf(g *models.Gap) models.Entry {
	e := models.Entry{Kind: g.EntryKind, TransactionID: g.TransactionID, ParentID: g.ParentID, OrderID: g.OrderID, RefundOrderID: g.RefundOrderID}
	if g.Statement != nil {
		e.Status, e.Line = models.TransactionStatus(g.Statement.Status), g.Statement.Line
		e.Money, _ = models.ParseMajor(g.Statement.Amount, g.Statement.Currency) // it was written by Text
	}
	return e
}
