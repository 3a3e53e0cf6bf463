package ledger_test

import (
	"cmp"
	"slices"
	"time"

	"paybook/models"
)

// ideal is the book as its contract describes it, in maps: no database, no table of states, no batches. It is written from the words of
// the contract and shares nothing with the ledger but the nouns.
type ideal struct {
	orders map[string]*idealOrder
	rows   map[rowKey]*idealRow
	names  map[rowKey]string // any name of a movement → the id it is kept under
	stock  map[string]*models.Stock
	tokens map[string]*idealToken
	moves  []models.Transition // of all orders, in the order they happened
	told   map[string][]string // by order: the topics of messages to the shop
	now    time.Time

	freed   map[string]int64 // by SKU: what the step under way has released, and which orders did
	freedBy map[*idealOrder]bool
}

type rowKey struct {
	account string
	kind    models.TransactionKind
	id      string
}

type idealOrder struct {
	models.Order
	items      []models.Item
	byProvider bool // closed because a payment attempt ended: other money may still come
	settledBy  *idealRow
	paidMinor  int64
}

// idealRow is one movement. A reversal has of; a second round of a dispute is a chargeback row of its own.
type idealRow struct {
	models.Transaction
	remark models.Outcome // what contradicts it: shown once it fits otherwise
	of     *idealRow      // reversals: what came back
	back   *idealRow      // refunds, disputes: their reversal
	again  *idealRow      // disputes: the second round
}

func newIdeal() *ideal {
	return &ideal{orders: map[string]*idealOrder{}, rows: map[rowKey]*idealRow{}, names: map[rowKey]string{}, stock: map[string]*models.Stock{},
		tokens: map[string]*idealToken{}, told: map[string][]string{}, now: modelStart}
}

func (r *idealRow) shows(outcome models.Outcome) models.Outcome {
	if r.Outcome = outcome; outcome == models.OutcomeApplied && r.remark != "" {
		r.Outcome = r.remark
	}
	return r.Outcome
}

func (r *idealRow) succeeded() bool { return r.Status == models.StatusSucceeded }
func (r *idealRow) waits() bool     { return r.Outcome == models.OutcomeNoOrder }

// counts: the money has moved, whatever else is said of it.
func (r *idealRow) counts() bool {
	return r.succeeded() && (r.Outcome == models.OutcomeApplied || r.Outcome == models.OutcomeConflict ||
		r.Kind == models.Refund && r.Outcome == models.OutcomeAmountMismatch)
}

// step moves an order and tells the shop, unless it is the shop's own history.
func (b *ideal) step(o *idealOrder, to models.OrderStatus, on models.EventKind, by *idealRow, tell bool) {
	t := models.Transition{OrderID: o.OrderID, From: o.Status, To: to, Event: string(on)}
	if by != nil {
		t.Account, t.Kind, t.TransactionID = by.Account, by.Kind, by.TransactionID
	}
	o.Status, o.Version = to, o.Version+1
	t.Version = o.Version
	b.moves = append(b.moves, t)
	if tell {
		b.told[o.OrderID] = append(b.told[o.OrderID], "order."+string(to))
	}
	b.moveStock(o)
}

// told by a provider: what became of it, in the contract's words.
func (b *ideal) tell(account string, ev models.Event) models.Outcome {
	switch ev.Kind {
	case models.PaymentPending, models.PaymentFailed, models.PaymentClosed, models.PaymentSucceeded:
		return b.tellPayment(account, ev)
	case models.RefundPending, models.RefundFailed, models.RefundSucceeded:
		return b.tellRefund(account, ev)
	case models.DisputeOpened, models.DisputeLost, models.DisputeWon:
		return b.tellDispute(account, ev)
	}
	panic("the model knows no " + ev.Kind)
}

// stage is how far a telling is: a later stage replaces an earlier one, and a copy of an earlier one changes nothing.
func stage(s models.TransactionStatus) int {
	return slices.Index([]models.TransactionStatus{models.StatusPending, models.StatusFailed, models.StatusSucceeded}, ended(s))
}

// ended: of the two ends without money neither follows the other.
func ended(s models.TransactionStatus) models.TransactionStatus {
	if s == models.StatusClosed {
		return models.StatusFailed
	}
	return s
}

var says = map[models.EventKind]models.TransactionStatus{
	models.PaymentPending: models.StatusPending, models.PaymentFailed: models.StatusFailed, models.PaymentClosed: models.StatusClosed,
	models.PaymentSucceeded: models.StatusSucceeded, models.RefundPending: models.StatusPending, models.RefundFailed: models.StatusFailed,
	models.RefundSucceeded: models.StatusSucceeded, models.DisputeOpened: models.StatusSucceeded, models.DisputeLost: models.StatusSucceeded,
	models.DisputeWon: models.StatusSucceeded,
}

// named finds a movement by any of its names, and gives it all of them; own is what it is kept under when it is new.
func (b *ideal) named(account string, kind models.TransactionKind, own string, names ...string) rowKey {
	k := rowKey{account, kind, own}
	for _, n := range names {
		if id := b.names[rowKey{account, kind, n}]; id != "" {
			k.id = id
			break
		}
	}
	for _, n := range names {
		b.names[rowKey{account, kind, n}] = k.id
	}
	return k
}

func (b *ideal) fresh(k rowKey, ev models.Event) *idealRow {
	r := &idealRow{Transaction: models.Transaction{Account: k.account, Kind: k.kind, TransactionID: k.id}}
	r.take(ev)
	r.OrderID = ev.OrderID
	b.rows[k] = r
	return r
}

func (r *idealRow) take(ev models.Event) {
	r.Status, r.Event = says[ev.Kind], ev.Kind
	r.AmountMinor, r.Currency, r.OccurredAt = ev.Money.Minor, ev.Money.Currency, ev.OccurredAt
}

// contradicts is a genuine message with the same id and another content.
func (r *idealRow) contradicts(ev models.Event) bool {
	other := r.Money() != ev.Money || r.Kind == models.Payment && r.OrderID != ev.OrderID
	return r.succeeded() && says[ev.Kind] == models.StatusSucceeded && other
}

func (r *idealRow) conflict() models.Outcome {
	r.remark = cmp.Or(r.remark, models.OutcomeConflict)
	r.shows(r.Outcome)
	return models.OutcomeConflict
}

func (b *ideal) tellPayment(account string, ev models.Event) models.Outcome {
	k := b.named(account, models.Payment, ev.TransactionID, ev.Aliases...)
	r := b.rows[k]
	switch {
	case r == nil:
		r = b.fresh(k, ev)
		return b.fitPayment(r)
	case r.contradicts(ev):
		return r.conflict()
	case stage(says[ev.Kind]) > stage(r.Status):
		r.take(ev)
		return b.fitPayment(r)
	case stage(says[ev.Kind]) == stage(models.StatusFailed) && r.succeeded() && !r.waits():
		return models.OutcomeNotAllowed // stale: kept, with the reason
	}
	return models.OutcomeDuplicate
}

func (b *ideal) fitPayment(r *idealRow) models.Outcome {
	o := b.orders[r.OrderID]
	switch {
	case o == nil:
		return r.shows(models.OutcomeNoOrder)
	case r.succeeded():
		r.shows(b.money(r, o))
		b.wake(r)
	default:
		r.shows(models.OutcomeApplied)
		if r.Status == models.StatusClosed && open(o) {
			o.byProvider = true
			b.step(o, models.Closed, r.Event, r, true)
		}
	}
	return r.Outcome
}

func open(o *idealOrder) bool { return o.Status == models.Unpaid || o.Status == models.Paying }

// money that has come for an order.
func (b *ideal) money(r *idealRow, o *idealOrder) models.Outcome {
	closed := o.Status == models.Closed
	switch {
	case o.settledBy != nil:
		return models.OutcomeDuplicatePayment
	case closed && !o.byProvider:
		return models.OutcomePaidAfterClose
	case r.Currency != o.Currency:
		return models.OutcomeCurrencyMismatch
	case r.AmountMinor != o.AmountMinor:
		return models.OutcomeAmountMismatch
	case closed && !b.canTakeAgain(o):
		return models.OutcomePaidAfterClose
	}
	o.settledBy, o.paidMinor = r, r.AmountMinor
	to := models.Paid
	if !open(o) && !closed { // imported as paid: here is what paid it
		to = o.Status
	}
	b.step(o, to, r.Event, r, true)
	return models.OutcomeApplied
}

// waiting are the rows that wait for a payment or its order, in the order in which the money moved.
func (b *ideal) waiting(p *idealRow) (list []*idealRow) {
	for _, r := range b.rows {
		if r.Kind != models.Payment && r.waits() && b.parentOf(r) == p {
			list = append(list, r)
		}
	}
	byTime(list)
	return list
}

func byTime(list []*idealRow) {
	slices.SortFunc(list, func(a, b *idealRow) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.TransactionID, b.TransactionID))
	})
}

func (b *ideal) parentOf(r *idealRow) *idealRow {
	id := cmp.Or(b.names[rowKey{r.Account, models.Payment, r.ParentID}], r.ParentID)
	return b.rows[rowKey{r.Account, models.Payment, id}]
}

// wake lets what has waited for a payment find its place.
func (b *ideal) wake(p *idealRow) {
	for _, r := range b.waiting(p) {
		if r.waits() {
			b.fit(r)
		}
	}
}

func (b *ideal) fit(r *idealRow) models.Outcome {
	switch r.Kind {
	case models.Payment:
		return b.fitPayment(r)
	case models.Refund:
		return b.fitRefund(r)
	case models.Chargeback:
		return b.fitDispute(r)
	}
	return b.fitReversal(r)
}

// family is a row's payment and order, when both are here and the payment took money.
func (b *ideal) family(r *idealRow) (*idealRow, *idealOrder) {
	p := b.parentOf(r)
	if p == nil || !p.succeeded() {
		return nil, nil
	}
	r.ParentID, r.OrderID = p.TransactionID, p.OrderID
	return p, b.orders[p.OrderID]
}

// arrive lets what waited for an order find it: payments first, in the order in which the money moved.
func (b *ideal) arrive(id string) {
	var list []*idealRow
	for _, r := range b.rows {
		if r.Kind == models.Payment && r.waits() && r.OrderID == id {
			list = append(list, r)
		}
	}
	byTime(list)
	for _, r := range list {
		b.fit(r)
	}
}

// stand is where an order is when no dispute is under way.
func (o *idealOrder) stand() models.OrderStatus {
	switch {
	case o.RefundedMinor > 0 && o.RefundedMinor >= o.paidMinor:
		return models.Refunded
	case o.RefundedMinor > 0:
		return models.PartRefunded
	case o.Shipped:
		return models.Shipped
	}
	return models.Paid
}

func disputed(o *idealOrder) bool {
	return o.Status == models.Disputed || o.Status == models.ChargedBack
}

// modelStart is when every script begins.
var modelStart = day.Add(13 * time.Hour)
