package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Rows of one payout may come in the statements of several days, and the payout itself in yet another, or by a callback. So every run
// judges the payouts that its rows are part of, that its files tell, and that were paid on its day, by all that the book knows of them by
// now. What is not explained is a gap of the payout's own day. While days between are still to be read it is carried.

// LoadBridges makes the bridges of an account's payouts or batches, named by what their rows carry, of all that the book holds of them.
func LoadBridges(ctx context.Context, book *ledger.Ledger, account string, zone *time.Location, cut time.Duration, ids []string) ([]Bridge, error) {
	steps, err := book.PayoutSteps(ctx, account, ids)
	if err != nil {
		return nil, err
	}
	var told []ledger.Payout
	err = eachChunk(ids, bookChunk, func(ids []string) error {
		list, err := allPayouts(ctx, book, ledger.PayoutFilter{Account: account, IDs: ids})
		told = append(told, list...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return Bridges(account, zone, cut, steps, told), nil
}

// payoutsAtHand are the payouts that a run has to judge.
type payoutsAtHand struct {
	shown map[string]bool // by what their rows carry: those of the run's own rows and files
	ids   []string        // these, those paid on the day, and those that earlier runs may have judged by what is here no more
	told  []ledger.Payout
	steps []ledger.PayoutStep
	// otherwise are payouts of which a callback has told another sum than the statement, by what their rows carry.
	otherwise map[string]twoSums
}

// twoSums are what a statement and a callback tell of one payout.
type twoSums struct{ statement, callback models.Money }

// differ is also true of two currencies. Which way a payout went is told by the statement alone.
func (s twoSums) differ() bool {
	return s.statement.Currency != s.callback.Currency || max(s.statement.Minor, -s.statement.Minor) != max(s.callback.Minor, -s.callback.Minor)
}

// settlePayouts makes the bridges, and gaps of those that do not hold.
func (r *run) settlePayouts(ctx context.Context) error {
	own := r.steps()
	at := payoutsAtHand{shown: map[string]bool{}}
	if err := r.findPayouts(ctx, &at, own); err != nil {
		return err
	}
	r.unpaid = r.notPaidOut(own)
	r.ownSteps = slices.DeleteFunc(own, func(s ledger.PayoutStep) bool { return s.PayoutID == "" })
	if len(at.ids) == 0 {
		return nil
	}
	if err := r.loadSteps(ctx, &at); err != nil {
		return err
	}
	for _, b := range Bridges(r.account.Name, r.account.Zone, r.account.Cut, at.steps, at.told) {
		if at.shown[b.PayoutID] || len(b.Steps) > 0 && b.Date == r.day.String() {
			r.bridges = append(r.bridges, b)
		}
		if err := r.judgeBridge(ctx, &b, &at); err != nil {
			return err
		}
	}
	r.joinBalance()
	return nil
}

// findPayouts finds what is to be judged, and what is told of it.
func (r *run) findPayouts(ctx context.Context, at *payoutsAtHand, own []ledger.PayoutStep) error {
	for _, s := range own {
		at.shown[s.PayoutID] = true
	}
	for _, p := range r.payouts {
		at.shown[p.RowsID()] = true
	}
	inDay, err := allPayouts(ctx, r.book, ledger.PayoutFilter{Account: r.account.Name, From: r.from, To: r.to})
	if err != nil {
		return err
	}
	delete(at.shown, "")
	others, err := r.book.PayoutsBefore(ctx, r.account.Name, r.day.String())
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for id := range at.shown {
		ids[id] = true
	}
	for _, p := range inDay {
		ids[p.RowsID()] = true
	}
	for _, id := range others {
		ids[id] = true
	}
	at.ids = sortedNames(ids)
	return r.findTold(ctx, at)
}

// findTold reads what is told of the payouts: by callbacks, by other dates' statements, and by this run's in place of what this date's
// earlier runs have told.
func (r *run) findTold(ctx context.Context, at *payoutsAtHand) error {
	told := map[string]ledger.Payout{}
	err := eachChunk(at.ids, bookChunk, func(ids []string) error {
		list, err := allPayouts(ctx, r.book, ledger.PayoutFilter{Account: r.account.Name, IDs: ids})
		for _, p := range list {
			told[p.PayoutID] = p
		}
		return err
	})
	if err != nil {
		return err
	}
	names := map[ledger.Name]bool{}
	for id, p := range told {
		if p.Date == r.day.String() && r.covers(models.Payout) {
			delete(told, id)
			names[r.name(name{models.Payout, id})] = true
		}
	}
	for id, p := range r.payouts {
		if known, ok := told[id]; !ok || known.Date < r.day.String() {
			told[id] = p
		}
		names[r.name(name{models.Payout, id})] = true
	}
	called, err := r.book.FindTransactions(ctx, names)
	if err != nil {
		return err
	}
	at.otherwise = map[string]twoSums{}
	for n, t := range called {
		p, ok := told[n.ID]
		if !ok {
			p = ledger.Payout{PayoutID: n.ID, Money: t.Money(), Status: t.Status, OccurredAt: t.OccurredAt}
		} else if sums := (twoSums{p.Money, t.Money()}); sums.differ() {
			at.otherwise[p.RowsID()] = sums
		}
		p.Status = ledger.FurtherPayout(p.Status, t.Status)
		told[n.ID] = p
	}
	for _, id := range sortedNames(told) {
		at.told = append(at.told, told[id])
	}
	return nil
}

func allPayouts(ctx context.Context, book *ledger.Ledger, f ledger.PayoutFilter) (all []ledger.Payout, err error) {
	for f.Limit = bookChunk; ; {
		var list []ledger.Payout
		if list, f.After, err = book.Payouts(ctx, f); err != nil {
			return nil, err
		}
		if all = append(all, list...); f.After == "" {
			return all, nil
		}
	}
}

// loadSteps reads the steps of other dates, and of this date those of kinds that this run has not looked at.
func (r *run) loadSteps(ctx context.Context, at *payoutsAtHand) error {
	stored, err := r.book.PayoutSteps(ctx, r.account.Name, at.ids)
	if err != nil {
		return err
	}
	at.steps = slices.Concat(r.ownSteps, slices.DeleteFunc(stored, func(s ledger.PayoutStep) bool {
		return s.Date == r.day.String() && r.covers(s.Kind)
	}))
	return nil
}

// judgeBridge makes a gap of a payout that its rows do not explain, or of which a callback has told another sum, or heals the one that there
// may be.
func (r *run) judgeBridge(ctx context.Context, b *Bridge, at *payoutsAtHand) error {
	if b.Date == "" {
		return nil // nobody has told it yet
	}
	g := models.Gap{ID: gapID(r.account.Name, b.Date, name{models.Payout, b.PayoutID + ":" + b.Currency}, models.GapPayout), Account: r.account.Name,
		Date: b.Date, Kind: models.GapPayout, Differs: []string{differsAmount}, EntryKind: models.Payout, TransactionID: b.PayoutID, State: models.GapOpen,
		Statement: &models.Side{Amount: b.Expected, Currency: b.Currency, Status: "expected"},
		Ledger:    &models.Side{Amount: b.Paid, Currency: b.Currency, Status: string(b.Status)}}
	if b.Date != r.day.String() {
		g.DecidedOn = r.day.String()
	}
	sums, otherwise := at.otherwise[b.PayoutID]
	otherwise = otherwise && sums.statement.Currency == b.Currency
	var missing []string
	switch {
	case b.Off():
		var err error
		if missing, err = r.daysBetween(ctx, b, at); err != nil {
			return err
		}
		g.Reason = payoutReason(b, missing)
	case !otherwise:
		if g.DecidedOn != "" {
			r.healed = append(r.healed, g.ID)
		}
		return nil
	}
	if otherwise {
		g.Reason = strings.TrimPrefix(g.Reason+fmt.Sprintf("; the statement has this payout at %s, its callback at %s", sums.statement, sums.callback), "; ")
	} else if len(missing) > 0 {
		g.State, g.WaitsFor = models.GapCarried, missing
	}
	if !b.Off() {
		g.Statement, g.Ledger = payoutSide(sums.statement, b.Status), payoutSide(sums.callback, b.Status)
		if sums.statement.Currency != sums.callback.Currency {
			g.Differs = []string{differsCurrency}
		}
	}
	g.Next = "app payouts show " + quote(b.PayoutID) + " --account " + quote(r.account.Name)
	r.gaps = append(r.gaps, &g)
	return nil
}

func payoutSide(m models.Money, status models.TransactionStatus) *models.Side {
	return &models.Side{Amount: m.Text(), Currency: m.Currency, Status: string(status)}
}

func payoutReason(b *Bridge, missing []string) string {
	remainder := b.remainder()
	more := "more"
	if remainder.Sign() < 0 {
		more = "less"
	}
	text := fmt.Sprintf("the rows of payout %s come to %s %s, the provider paid %s: %s %s than they explain", b.PayoutID, b.Expected, b.Currency,
		b.Paid, major(remainder.Abs(remainder), b.Currency), more)
	if len(missing) > 0 {
		text += "; rows may still come with the statements of " + strings.Join(missing, ", ")
	}
	return text
}

// How many days before its first known row a payout's rows may begin, and how many days it may be of.
const (
	daysBefore = 7
	daysMax    = 62
)

// daysBetween are the days that may have rows of a payout and have not been run: from its first row to its date, and before that row back
// to the day that was run last. A report that has all rows of its payouts, and a batch, leave no such days.
func (r *run) daysBetween(ctx context.Context, b *Bridge, at *payoutsAtHand) ([]string, error) {
	last, err := ParseDay(b.Date)
	if err != nil {
		return nil, err
	}
	first := last
	for _, s := range at.steps {
		if s.PayoutID != b.PayoutID {
			continue
		}
		if s.Whole || r.settlesInBatches() {
			return nil, nil
		}
		if on, err := ParseDay(s.Date); err == nil && on.Before(first) && on.daysTo(last) <= daysMax {
			first = on
		}
	}
	var dates []string
	for d := first.Add(-daysBefore); !last.Before(d); d = d.Add(1) {
		dates = append(dates, d.String())
	}
	ran, err := r.book.RunDates(ctx, r.account.Name, dates)
	if err != nil {
		return nil, err
	}
	begun := false
	var missing []string
	for _, date := range dates {
		_, done := ran[date]
		done = done || date == r.day.String()
		begun = begun || done
		if begun && !done {
			missing = append(missing, date)
		}
	}
	return missing, nil
}

func (r *run) settlesInBatches() bool {
	p, ok := r.account.Provider.(BatchSettler)
	return ok && p.SettlesInBatches()
}

func sortedNames[V any](set map[string]V) []string {
	list := make([]string, 0, len(set))
	for id := range set {
		list = append(list, id)
	}
	slices.SortFunc(list, cmp.Compare[string])
	return list
}
