package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sort"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// A callback can come before its order, a refund before its payment. Such rows are parked (outcome no_order) and applied from both
// sides: by whoever brings the order or the payment, and by Sweep, for what slipped between two commits.

func (l *Ledger) anyParked(tx *gorm.DB) (found bool, err error) {
	err = query(tx, "SELECT 1 FROM transactions WHERE outcome = 'no_order' LIMIT 1", nil, func(*sql.Rows) error { found = true; return nil })
	return found, err
}

// applyParked places the parked rows of these orders and returns how many found their place.
func (l *Ledger) applyParked(tx *gorm.DB, now time.Time, orders []string) (int, error) {
	rows, err := l.parkedOf(tx, orders)
	if err != nil {
		return 0, err
	}
	return l.placeParked(tx, now, rows)
}

// parkedOf reads the parked rows of orders. The outcome is compared in a way that no index serves: without statistics the planner might
// take the index of all that is parked for as good as the order's.
func (l *Ledger) parkedOf(tx *gorm.DB, orders []string) (rows []models.Transaction, err error) {
	err = eachChunk(orders, inChunk, func(chunk []string) error {
		b := l.sql("SELECT " + transactionColumns + " FROM transactions WHERE outcome || '' = 'no_order' AND order_id IN ").list(anys(chunk)...)
		return selectTransactions(tx, b, func(t models.Transaction) error { rows = append(rows, t); return nil })
	})
	return rows, err
}

// placeParked takes parked rows through the engine, payments first, then in the order in which the money moved.
func (l *Ledger) placeParked(tx *gorm.DB, now time.Time, parked []models.Transaction) (int, error) {
	if len(parked) == 0 {
		return 0, nil
	}
	return l.newEngine(tx, now).placeParked(parked)
}

func (e *engine) placeParked(parked []models.Transaction) (int, error) {
	sort.SliceStable(parked, func(i, j int) bool {
		a, b := parked[i], parked[j]
		if (a.Kind == models.Payment) != (b.Kind == models.Payment) {
			return a.Kind == models.Payment
		}
		return a.OccurredAt.Before(b.OccurredAt)
	})
	if err := e.gatherParked(parked); err != nil {
		return 0, err
	}
	placed := 0
	for _, t := range parked {
		r := e.rows[key{t.Account, t.Kind, t.TransactionID}]
		if r == nil || r.was == nil || r.was.Outcome != models.OutcomeNoOrder {
			continue // somebody else placed it since it was listed
		}
		if r.Outcome == models.OutcomeNoOrder {
			e.place(r, r.Event, r.Source)
			e.healed(r)
		}
		if r.Outcome != models.OutcomeNoOrder {
			placed++
		}
	}
	for _, r := range e.rows { // a row that still waits is left alone, so that waiting writes nothing
		if r.was != nil && r.Outcome == models.OutcomeNoOrder && r.Event == r.was.Event {
			r.Transaction, r.dirty = *r.was, false
		}
	}
	return placed, e.write()
}

func (e *engine) gatherParked(parked []models.Transaction) error {
	names, wanted := map[key]bool{}, map[key]bool{}
	for _, t := range parked {
		wanted[key{t.Account, t.Kind, t.TransactionID}] = true
		if t.Kind != models.Payment && t.ParentID != "" {
			k := key{t.Account, models.Payment, t.ParentID}
			names[k], wanted[k] = true, true
		}
		if t.Event == captureVoided {
			k := key{t.Account, models.Payment, t.TransactionID}
			names[k], wanted[k] = true, true
		}
	}
	var err error
	if e.names, err = e.l.loadAliases(e.tx, names); err != nil {
		return err
	}
	for k, id := range e.names {
		wanted[key{k.account, k.kind, id}] = true
	}
	e.load(wanted)
	if err := e.pipe.flush(); err != nil {
		return err
	}
	ids, payments := map[string]bool{}, map[key]bool{}
	for _, r := range e.rows {
		if r.OrderID != "" {
			ids[r.OrderID] = true
		}
		if r.Kind == models.Payment {
			payments[r.key()] = true
		}
	}
	e.loadParked(payments)
	if err := e.pipe.flush(); err != nil {
		return err
	}
	return e.lock(ids, ids)
}

// sweepPage is how many parked rows are looked at together.
const sweepPage = 500

// Sweep applies everything that is parked and can be applied by now. It returns how many rows found their place; rows that could not be
// placed (somebody holds their order) are an error, but do not keep the others from theirs.
func (l *Ledger) Sweep(ctx context.Context) (applied int, err error) {
	var after key
	for {
		n, last, err := l.sweepPage(ctx, after)
		applied += n
		if err != nil || last == (key{}) {
			return applied, err
		}
		after = last
	}
}

// Tend is what a serving process does every few seconds: it applies a share of what is parked (all of it, unless thousands of rows wait),
// prunes old refused callbacks and tokens, and keeps the database's statistics fresh. It is cheap when there is nothing to do.
func (l *Ledger) Tend(ctx context.Context) (applied int, err error) {
	l.tending.Lock()
	defer l.tending.Unlock()
	for range 2 {
		n, last, err := l.sweepPage(ctx, l.swept)
		applied += n
		l.swept = last
		if err != nil {
			return applied, err
		}
		if last == (key{}) {
			break
		}
	}
	if time.Since(l.pruned) > pruneEvery {
		l.pruned = time.Now()
		if err := errors.Join(l.pruneRefused(ctx), l.pruneTokens(ctx)); err != nil {
			return applied, err
		}
	}
	return applied, l.freshStatistics(ctx)
}

// pruneEvery is how often the refused callbacks are counted, and old tokens looked for.
const pruneEvery = 20 * time.Second

// sweepPage places what it can of the parked rows after a key. last is where the next page begins; zero at the end.
func (l *Ledger) sweepPage(ctx context.Context, after key) (applied int, last key, err error) {
	page, err := l.parkedPage(ctx, after)
	if err != nil || len(page) == 0 {
		return 0, key{}, err
	}
	if len(page) == sweepPage {
		t := page[len(page)-1]
		last = key{t.Account, t.Kind, t.TransactionID}
	}
	ready, err := l.ready(ctx, page)
	if err != nil || len(ready) == 0 {
		return 0, last, err
	}
	place := func(rows []models.Transaction) error {
		n := 0
		err := l.onceTx(ctx, func(tx *gorm.DB) (err error) {
			n, err = l.placeParked(tx, l.clock(), rows)
			return err
		})
		if err == nil {
			applied += n
		}
		return err
	}
	if place(ready) == nil {
		return applied, last, nil
	}
	var failed []error
	for _, t := range ready { // one that cannot be placed now must not keep the others waiting
		if err := place([]models.Transaction{t}); err != nil {
			failed = append(failed, fmt.Errorf("apply parked %s %s: %w", t.Kind, t.TransactionID, err))
		}
	}
	return applied, last, errors.Join(failed...)
}

func (l *Ledger) parkedPage(ctx context.Context, after key) (page []models.Transaction, err error) {
	b := l.sql("SELECT " + transactionColumns + " FROM transactions WHERE outcome = 'no_order' AND (account, kind, transaction_id) > ")
	b.list(after.account, string(after.kind), after.id).add(" ORDER BY account, kind, transaction_id LIMIT ").arg(sweepPage)
	err = selectTransactions(l.read.WithContext(ctx), b, func(t models.Transaction) error { page = append(page, t); return nil })
	return page, err
}

// ready picks the parked rows whose order, or whose payment, is here: without taking a lock.
func (l *Ledger) ready(ctx context.Context, page []models.Transaction) (ready []models.Transaction, err error) {
	ids, parents := map[string]bool{}, map[Name]bool{}
	for _, t := range page {
		if t.OrderID != "" {
			ids[t.OrderID] = true
		}
		if t.Kind != models.Payment && t.ParentID != "" {
			parents[Name{t.Account, models.Payment, t.ParentID}] = true
		}
		if t.Event == captureVoided {
			parents[Name{t.Account, models.Payment, t.TransactionID}] = true
		}
	}
	list := make([]string, 0, len(ids))
	for id := range ids {
		list = append(list, id)
	}
	orders, err := l.Orders(ctx, list)
	if err != nil {
		return nil, err
	}
	payments, err := l.FindTransactions(ctx, parents)
	if err != nil {
		return nil, err
	}
	for _, t := range page {
		p, hasPayment := payments[Name{t.Account, models.Payment, t.ParentID}]
		_, hasOrder := orders[t.OrderID]
		if t.Event == captureVoided && p.Event == models.PaymentCaptured {
			p, hasPayment = payments[Name{t.Account, models.Payment, t.TransactionID}]
		}
		switch {
		case t.Kind == models.Payment && hasOrder,
			t.Kind != models.Payment && hasPayment && p.Status == models.StatusSucceeded && p.Outcome != models.OutcomeNoOrder,
			t.Event == models.PaymentVoided && hasPayment,
			t.Kind != models.Payment && t.ParentID == "" && hasOrder:
			ready = append(ready, t)
		}
	}
	return ready, nil
}
