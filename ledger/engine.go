package ledger

import (
	"sort"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// delivery is one callback with what it says, on its way into the book; imports and repairs travel the same way.
type delivery struct {
	account  string
	source   string // callback, import, reconcile
	callback string // id of the kept callback, "" for imports
	events   []models.Event
	outcomes []models.Outcome
	details  []string // why an event was not applied, for people
}

// engine is one transaction's work: what was read, what was decided, what is to be written. It reads, decides everything in memory,
// and then writes: aliases, orders, transactions, transitions, messages, callbacks, each sorted by key, so that two engines can't wait
// for each other crosswise.
//
// Orders that refunds or disputes are about are locked before they are read, because their sums are taken over other rows. An order
// that only a payment is about is read without a lock: its move is a compare-and-set, which notices if somebody was first, and then the
// transaction is repeated with locks (careful).
type engine struct {
	l           *Ledger
	tx          *gorm.DB
	now         time.Time
	careful     bool
	writes      writes
	names       map[key]string // what a name stands for
	proposed    map[key]string // names this transaction has claimed, and for what
	renamed     map[key]string // claimed names that turned out to mean an older row
	rows        map[key]*row   // transactions read or made
	orders      map[string]*orderWork
	parked      map[key][]*row // by the parent's name: refunds that came before their payment
	transitions []models.Transition
	messages    []models.Message
	evidence    map[string]*models.Callback // written last: the rows hold the outcomes
}

// row is a transaction in work. was is nil for a fresh one.
type row struct {
	models.Transaction
	was   *models.Transaction
	dirty bool
}

func (r *row) key() key { return key{r.Account, r.Kind, r.TransactionID} }

// orderWork is an order in work, locked.
type orderWork struct {
	models.Order
	was models.Order
}

func (l *Ledger) newEngine(tx *gorm.DB, now time.Time) *engine {
	return &engine{l: l, tx: tx, now: now, careful: true, writes: writes{tx: tx}, names: map[key]string{}, renamed: map[key]string{}, proposed: map[key]string{}, rows: map[key]*row{},
		orders: map[string]*orderWork{}, parked: map[key][]*row{}}
}

// run books every delivery and writes what came of it.
func (e *engine) run(deliveries []*delivery) error {
	if err := e.decide(deliveries); err != nil {
		return err
	}
	return e.write()
}

// decide reads what is needed and books every delivery in memory. It may be repeated from the start with the same deliveries.
func (e *engine) decide(deliveries []*delivery) error {
	if err := e.gather(deliveries); err != nil {
		return err
	}
	for _, d := range deliveries {
		d.outcomes, d.details = d.outcomes[:0], d.details[:0]
		for _, ev := range d.events {
			outcome, detail := e.book(d, ev)
			d.outcomes = append(d.outcomes, outcome)
			d.details = append(d.details, detail)
		}
	}
	return nil
}

// gather reads all that deciding needs, and locks the orders.
func (e *engine) gather(deliveries []*delivery) error {
	if err := e.claim(deliveries); err != nil {
		return err
	}
	wanted := map[key]bool{}
	for _, d := range deliveries {
		for _, ev := range d.events {
			e.want(d, ev, wanted)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	if err := e.load(wanted); err != nil {
		return err
	}
	ids, families, payments := map[string]bool{}, map[string]bool{}, map[key]bool{}
	for _, d := range deliveries {
		for _, ev := range d.events {
			e.involved(d, ev, ids, families, payments)
		}
	}
	if err := e.loadParked(payments, ids, families); err != nil {
		return err
	}
	if err := e.lock(ids, families); err != nil {
		return err
	}
	return e.loadFamilies(families)
}

// load reads rows by key into the working set.
func (e *engine) load(wanted map[key]bool) error {
	return e.l.loadTransactions(e.tx, wanted, func(t models.Transaction) error { e.keep(t); return nil })
}

func (e *engine) keep(t models.Transaction) *row {
	k := key{t.Account, t.Kind, t.TransactionID}
	if r := e.rows[k]; r != nil {
		return r
	}
	was := t
	r := &row{Transaction: t, was: &was}
	e.rows[k] = r
	return r
}

// involved notes which orders an event may move (ids), of which orders the refunds must be known (families), and which
// payments may have refunds waiting for them.
func (e *engine) involved(d *delivery, ev models.Event, ids, families map[string]bool, payments map[key]bool) {
	m, moves := meanings[ev.Kind]
	if ev.TestMode || !moves && ev.Kind != models.RefundTotal {
		return
	}
	kind := m.kind
	if !moves {
		kind = models.Payment
	}
	r := e.rows[e.resolve(d.account, kind, ev)]
	if moves && r != nil && e.isRepeat(r, m, ev) {
		return // nothing to decide, so no order to lock
	}
	if e.l.elsewhere[d.account] {
		return
	}
	order := ev.OrderID
	if r != nil && r.OrderID != "" {
		order = r.OrderID
	}
	if parent := e.payment(d.account, ev.ParentID); parent != nil && kind != models.Payment {
		order = parent.OrderID
	}
	if order != "" {
		ids[order] = true
		if kind != models.Payment || !moves {
			families[order] = true
		}
	}
	if kind == models.Payment && m.status == models.StatusSucceeded {
		for _, name := range namesOf(ev) {
			payments[key{d.account, models.Payment, name}] = true
		}
		if r != nil {
			payments[r.key()] = true
		}
	}
}

// lock reads the orders, those of families locked.
func (e *engine) lock(ids, families map[string]bool) error {
	var locked, read []string
	for id := range ids {
		switch {
		case e.orders[id] != nil:
		case e.careful || families[id]:
			locked = append(locked, id)
		default:
			read = append(read, id)
		}
	}
	keep := func(o models.Order) { e.orders[o.OrderID] = &orderWork{Order: o, was: o} }
	if err := e.l.lockOrders(e.tx, locked, keep); err != nil {
		return err
	}
	return e.l.readOrders(e.tx, read, func(o models.Order) error { keep(o); return nil })
}

// loadParked finds refunds and disputes that came before the payments now being booked.
func (e *engine) loadParked(payments map[key]bool, ids, families map[string]bool) error {
	return eachChunk(sortedKeys(payments), inChunk, func(keys []key) error {
		b := e.l.sql("SELECT " + transactionColumns + " FROM transactions WHERE outcome = 'no_order' AND (")
		for i := 0; i < len(keys); {
			j := i
			for j < len(keys) && keys[j].account == keys[i].account {
				j++
			}
			if i > 0 {
				b.add(" OR ")
			}
			b.add("(account = ").arg(keys[i].account).add(" AND parent_id IN ")
			parents := make([]any, 0, j-i)
			for _, k := range keys[i:j] {
				parents = append(parents, k.id)
			}
			b.list(parents...).add(")")
			i = j
		}
		return selectTransactions(e.tx, b.add(")"), func(t models.Transaction) error {
			if t.Kind != models.Payment {
				r := e.keep(t)
				k := key{t.Account, models.Payment, t.ParentID}
				e.parked[k] = append(e.parked[k], r)
				for id := range ids { // their sums will be asked for
					families[id] = true
				}
			}
			return nil
		})
	})
}

// loadFamilies reads all movements of orders whose refunded sum is about to be decided. The orders are locked by now, so nobody
// adds to them behind our back.
func (e *engine) loadFamilies(families map[string]bool) error {
	ids := make([]string, 0, len(families))
	for id := range families {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return eachChunk(ids, inChunk, func(chunk []string) error {
		b := e.l.sql("SELECT " + transactionColumns + " FROM transactions WHERE order_id IN ").list(anys(chunk)...)
		return selectTransactions(e.tx, b, func(t models.Transaction) error {
			if r := e.rows[key{t.Account, t.Kind, t.TransactionID}]; r != nil && r.was != nil && *r.was != t {
				return errRetry // it changed between reading it and locking its order
			}
			e.keep(t)
			return nil
		})
	})
}

// write stores what was decided, orders before transactions as when they are locked.
func (e *engine) write() error {
	for _, k := range sortedKeys(e.renamed) {
		e.writes.one(e.l.sql("UPDATE aliases SET transaction_id = ").arg(e.renamed[k]).add(" WHERE ").whereKeys("alias", []key{k}))
	}
	moved := make([]*orderWork, 0, len(e.orders))
	for _, o := range e.orders {
		if o.Version != o.was.Version {
			moved = append(moved, o)
		}
	}
	sort.Slice(moved, func(i, j int) bool { return moved[i].OrderID < moved[j].OrderID })
	e.l.moveOrders(&e.writes, moved, e.now)
	e.writeTransactions()
	e.l.insertTransitions(&e.writes, e.transitions)
	e.l.insertMessages(&e.writes, e.messages)
	if err := e.l.keepCallbacks(&e.writes, e.evidence); err != nil {
		return err
	}
	return e.writes.flush()
}

func (e *engine) writeTransactions() {
	var fresh []*models.Transaction
	var changed []*row
	for _, k := range sortedKeys(e.rows) {
		switch r := e.rows[k]; {
		case r.was == nil:
			fresh = append(fresh, &r.Transaction)
		case r.dirty && r.Transaction != *r.was:
			changed = append(changed, r)
		}
	}
	e.l.insertTransactions(&e.writes, fresh)
	for _, r := range changed {
		r.UpdatedAt = e.now
		e.l.updateTransaction(&e.writes, &r.Transaction, *r.was)
	}
}
