package ledger

import (
	"errors"
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
// and then writes: aliases, orders, transactions, transitions, messages, callbacks, stock, each sorted by key, so that two engines can't wait
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
	failed      error // a read while deciding that did not succeed
	pipe        pipe
	names       map[key]string // what a name stands for
	asked       map[key]bool   // names that are looked up while the rows are read
	proposed    map[key]string // names this transaction has claimed, and for what
	fresh       map[key]bool   // of those, names that nothing had before
	renamed     map[key]string // claimed names that turned out to mean an older row
	rows        map[key]*row   // transactions read or made
	orders      map[string]*orderWork
	peeked      map[string]*models.Order // orders read without a lock; nil: there is none
	parked      map[key][]*row           // by the parent's name: refunds that came before their payment
	placed      []*row                   // of those, what no longer waits
	queued      map[key]bool             // payments whose refunds are to be decided by one transaction after the other, though no order is here
	transitions []models.Transition
	messages    []models.Message
	units       map[string]units            // by SKU: what changes hands
	wanted      map[string]int64            // of them, what an order is being made with: less is an *OutOfStock
	regained    map[string]int64            // of them, what orders that were closed get again
	evidence    map[string]*models.Callback // written last: the rows hold the outcomes
	inquiries   []Inquiry                   // what a provider is to be asked about
}

// row is a transaction in work. was is nil for a fresh one.
type row struct {
	models.Transaction
	was   *models.Transaction
	dirty bool
	gone  bool // merged into another row: it is deleted, its id stays as a name
}

func (r *row) key() key { return key{r.Account, r.Kind, r.TransactionID} }

// orderWork is an order in work, locked.
type orderWork struct {
	models.Order
	was models.Order
}

func (l *Ledger) newEngine(tx *gorm.DB, now time.Time) *engine {
	return &engine{l: l, tx: tx, now: now, careful: true, pipe: pipe{tx: tx}, names: map[key]string{}, asked: map[key]bool{}, renamed: map[key]string{}, proposed: map[key]string{}, fresh: map[key]bool{}, rows: map[key]*row{},
		orders: map[string]*orderWork{}, peeked: map[string]*models.Order{}, parked: map[key][]*row{}, queued: map[key]bool{},
		units: map[string]units{}, regained: map[string]int64{}}
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
	wanted, waited, peek := map[key]bool{}, map[key]bool{}, map[string]bool{}
	for _, d := range deliveries {
		for _, ev := range d.events {
			e.want(d, ev, wanted, waited, peek)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	e.load(wanted)
	e.loadParked(waited)
	e.l.pipeAliases(&e.pipe, e.asked, e.names)
	if !e.careful {
		e.peek(peek)
	}
	if err := e.pipe.flush(); err != nil {
		return err
	}
	if err := e.loadRenamed(wanted); err != nil {
		return err
	}
	ids, families := map[string]bool{}, map[string]bool{}
	more := map[key]bool{}
	for _, d := range deliveries {
		for _, ev := range d.events {
			e.involved(d, ev, ids, families, more)
		}
	}
	e.loadParked(more)
	if err := e.pipe.flush(); err != nil {
		return err
	}
	if len(e.parked) > 0 { // their sums will be asked for
		for id := range ids {
			families[id] = true
		}
	}
	return e.lock(ids, families)
}

// loadRenamed reads the rows that names stand for which were looked up together with the rows: most often none.
func (e *engine) loadRenamed(read map[key]bool) error {
	more := map[key]bool{}
	for k := range e.asked {
		if id := e.names[k]; id != "" && !read[key{k.account, k.kind, id}] {
			more[key{k.account, k.kind, id}] = true
		}
	}
	e.load(more)
	return e.pipe.flush()
}

// load reads rows by key into the working set.
func (e *engine) load(wanted map[key]bool) {
	e.l.readTransactions(&e.pipe, wanted, func(t models.Transaction) error { e.keep(t); return nil })
}

// peek reads orders without locking them.
func (e *engine) peek(ids map[string]bool) {
	list := make([]string, 0, len(ids))
	for id := range ids {
		list = append(list, id)
		e.peeked[id] = nil
	}
	sort.Strings(list)
	e.l.pipeOrders(&e.pipe, list, func(o models.Order) error { e.peeked[o.OrderID] = &o; return nil })
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

// involved notes which orders an event may move (ids), of which orders the refunds must be known (families), and a payment's stored
// name when the event does not say it, for refunds that wait for it.
func (e *engine) involved(d *delivery, ev models.Event, ids, families map[string]bool, more map[key]bool) {
	m, moves := meanings[ev.Kind]
	if ev.TestMode || !moves && ev.Kind != models.RefundTotal {
		return
	}
	ev = e.withParent(d.account, ev)
	if e.l.elsewhere[d.account] {
		e.involvedElsewhere(d, ev, families, more)
		return
	}
	kind := m.kind
	if !moves {
		kind = models.Payment
	}
	own := e.resolve(d.account, kind, ev)
	r := e.rows[own]
	merges := r != nil && moves && len(e.twins(r, ev)) > 0
	if moves && r != nil && kind != models.Chargeback && e.isRepeat(r, m, ev) && !merges && !e.isNewCapture(r, ev) && !e.awaited(d.account, ev) {
		return // nothing to decide, so no order to read
	}
	if kind == models.Payment && own.id != ev.TransactionID {
		more[own] = true
	}
	order := ev.OrderID
	if r != nil && r.OrderID != "" {
		order = r.OrderID
	}
	if parent := e.payment(d.account, ev.ParentID); parent != nil && kind != models.Payment {
		order = parent.OrderID
	}
	if order == "" {
		return
	}
	ids[order] = true
	captured := ev.Kind == models.PaymentCaptured || r != nil && r.Event == models.PaymentCaptured // what was voided of it counts
	if kind != models.Payment || !moves || merges || captured {
		families[order] = true
	}
}

// awaited says whether refunds or disputes wait for a payment of one of the event's names.
func (e *engine) awaited(account string, ev models.Event) bool {
	for _, name := range append(namesOf(ev), ev.FoundBy...) {
		if len(e.parked[key{account, models.Payment, name}]) > 0 {
			return true
		}
	}
	return false
}

// lock reads the orders, those of families locked, and then the families. The orders are locked by then, so nobody adds to their sums
// behind our back.
func (e *engine) lock(ids, families map[string]bool) error {
	var locked []string
	read := map[string]bool{}
	for id := range ids {
		o, peeked := e.peeked[id]
		switch {
		case e.careful || families[id]:
			locked = append(locked, id)
		case !peeked:
			read[id] = true
		case o != nil:
			e.orders[id] = &orderWork{Order: *o, was: *o}
		}
	}
	if err := e.l.lockOrders(e.tx, locked, func(o models.Order) { e.orders[o.OrderID] = &orderWork{Order: o, was: o} }); err != nil {
		return err
	}
	if err := e.lockPayments(); err != nil {
		return err
	}
	e.peek(read)
	e.loadFamilies(families)
	if err := e.pipe.flush(); err != nil {
		return err
	}
	for id := range read {
		if o := e.peeked[id]; o != nil {
			e.orders[id] = &orderWork{Order: *o, was: *o}
		}
	}
	return nil
}

// loadParked finds refunds and disputes that came before the payments now being booked, by the payments' names.
func (e *engine) loadParked(payments map[key]bool) {
	eachSlice(sortedKeys(payments), func(keys []key) {
		b := e.l.sql("SELECT " + transactionColumns + " FROM transactions WHERE outcome = 'no_order' AND (")
		for i := 0; i < len(keys); {
			j := i
			for j < len(keys) && keys[j].account == keys[i].account {
				j++
			}
			if i > 0 {
				b.add(" OR ")
			}
			b.add("(account || '' = ").arg(keys[i].account).add(" AND parent_id IN ")
			parents := make([]any, 0, j-i)
			for _, k := range keys[i:j] {
				parents = append(parents, k.id)
			}
			b.list(parents...).add(")")
			i = j
		}
		readInto(&e.pipe, b.add(")"), func(t models.Transaction) error {
			if t.Kind != models.Payment {
				k := key{t.Account, models.Payment, t.ParentID}
				e.parked[k] = append(e.parked[k], e.keep(t))
			}
			return nil
		})
	})
}

// loadFamilies reads all movements of orders whose refunded sum is about to be decided.
func (e *engine) loadFamilies(families map[string]bool) {
	ids := make([]string, 0, len(families))
	for id := range families {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	eachSlice(ids, func(chunk []string) {
		b := e.l.sql("SELECT " + transactionColumns + " FROM transactions WHERE order_id IN ").list(anys(chunk)...)
		readInto(&e.pipe, b, func(t models.Transaction) error {
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
	if e.failed != nil {
		return e.failed
	}
	for _, k := range sortedKeys(e.renamed) {
		b := e.l.sql("INSERT INTO aliases (account, kind, alias, transaction_id) VALUES ").row(true, k.account, string(k.kind), k.id, e.renamed[k])
		e.pipe.write(b.add(" ON CONFLICT (alias, account, kind) DO UPDATE SET transaction_id = excluded.transaction_id"), 1)
	}
	moved := make([]*orderWork, 0, len(e.orders))
	for _, o := range e.orders {
		if o.Version != o.was.Version {
			moved = append(moved, o)
		}
	}
	sort.Slice(moved, func(i, j int) bool { return moved[i].OrderID < moved[j].OrderID })
	e.l.moveOrders(&e.pipe, moved, e.now)
	e.writeTransactions()
	e.noteLate()
	e.l.insertTransitions(&e.pipe, e.transitions)
	e.l.insertMessages(&e.pipe, e.messages)
	if err := errors.Join(e.l.keepCallbacks(&e.pipe, e.evidence), e.moveUnits(moved)); err != nil {
		return err
	}
	for _, r := range e.placed {
		if r.CallbackID != "" && r.Outcome != models.OutcomeNoOrder {
			e.pipe.write(e.l.sql("UPDATE callbacks SET outcome = ").arg(string(r.Outcome)).add(", detail = ").arg(r.Detail).add(" WHERE id = ").arg(r.CallbackID).
				add(" AND outcome = 'no_order'"), anyRows)
		}
	}
	e.writeUnits()
	e.writeInquiries(moved)
	return e.pipe.flush()
}

func (e *engine) writeTransactions() {
	var fresh []*models.Transaction
	var changed, gone []*row
	for _, k := range sortedKeys(e.rows) {
		switch r := e.rows[k]; {
		case r.gone && r.was != nil:
			gone = append(gone, r)
		case r.gone:
		case r.was == nil:
			fresh = append(fresh, &r.Transaction)
		case r.dirty && r.Transaction != *r.was:
			changed = append(changed, r)
		}
	}
	e.l.insertTransactions(&e.pipe, fresh)
	for _, t := range fresh {
		e.tellPayout(t)
	}
	for _, r := range gone {
		b := e.l.sql("DELETE FROM transactions WHERE ").whereKeys("transaction_id", []key{r.key()})
		e.pipe.write(b.add(" AND status = ").arg(string(r.was.Status)).add(" AND outcome = ").arg(string(r.was.Outcome)), 1)
	}
	for _, r := range changed {
		r.UpdatedAt = e.now
		e.l.updateTransaction(&e.pipe, &r.Transaction, *r.was)
		e.tellPayout(&r.Transaction)
	}
}

// tellPayout keeps a payout beside the others that statements tell of; its row of the book stays as it is.
func (e *engine) tellPayout(t *models.Transaction) {
	if t.Kind == models.Payout {
		e.l.tellPayout(&e.pipe, t)
	}
}

// healed notes a row that has found what it waited for; the callback that told of it will say so too.
func (e *engine) healed(r *row) { e.placed = append(e.placed, r) }
