package ledger

import (
	"database/sql"
	"slices"
	"strings"

	"paybook/models"
)

// shopPrefix marks the stand-in id of a refund that the shop has asked for and the provider has not named yet.
const shopPrefix = "shop:"

// namesOf lists the names an event gives its movement, its own id first. A capture's first name is its authorisation's; a dispute's
// further names only point at it (pointersOf).
func namesOf(ev models.Event) []string {
	names := make([]string, 0, 2+len(ev.Aliases))
	add := func(name string) {
		for _, n := range names {
			if n == name {
				return
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	if ofAuthorisation(ev) {
		add(ev.ParentID)
	}
	add(ev.TransactionID)
	if meanings[ev.Kind].kind == models.Chargeback {
		return names
	}
	for _, a := range ev.Aliases {
		add(a)
	}
	return names
}

// ownID is the id a fresh row of this event would get: the provider's, or for a refund without one a stand-in made of the shop's
// refund number.
func ownID(kind models.TransactionKind, ev models.Event) string {
	switch {
	case ofAuthorisation(ev):
		return ev.ParentID
	case ev.TransactionID != "" || kind != models.Refund || ev.RefundOrderID == "":
		return ev.TransactionID
	case ev.ParentID != "" && ev.Kind == models.RefundSucceeded:
		return ev.ParentID + ":" + ev.RefundOrderID
	}
	return shopPrefix + ev.RefundOrderID
}

// claim writes down, before anything else, what the events' names shall stand for, and reads who was first with each. Two
// tellings of one payment under different names meet here, whichever comes first, even when they come at once.
func (e *engine) claim(deliveries []*delivery) error {
	look := map[key]bool{}
	for _, d := range deliveries {
		for _, ev := range d.events {
			e.propose(d, ev, look)
		}
	}
	if err := eachChunk(sortedKeys(e.proposed), inChunk, func(keys []key) error {
		b := e.l.sql("INSERT INTO aliases (account, kind, alias, transaction_id) VALUES ")
		for i, k := range keys {
			b.row(i == 0, k.account, string(k.kind), k.id, e.proposed[k])
		}
		b.add(" ON CONFLICT (alias, account, kind) DO NOTHING RETURNING account, kind, alias")
		return query(e.tx, b.String(), b.args, func(rows *sql.Rows) error {
			var k key
			err := rows.Scan(&k.account, &k.kind, &k.id)
			e.fresh[k] = true
			return err
		})
	}); err != nil {
		return err
	}
	found, err := e.l.loadAliases(e.tx, look)
	e.names = found
	return err
}

func (e *engine) propose(d *delivery, ev models.Event, look map[key]bool) {
	m, moves := meanings[ev.Kind]
	if ev.TestMode || !moves && ev.Kind != models.RefundTotal {
		return
	}
	e.proposeParent(d.account, ev, look)
	if !moves { // a total is about its payment
		return
	}
	names := namesOf(ev)
	own := ownID(m.kind, ev)
	pointers := pointersOf(m.kind, ev)
	claims := len(ev.Aliases) > 0 || ofAuthorisation(ev) || m.kind == models.Chargeback && len(pointers) > 0
	if m.kind == models.Refund && ev.RefundOrderID != "" {
		names, claims = append(names, shopPrefix+ev.RefundOrderID), true
	}
	if ev.Kind == captureVoided {
		look[key{d.account, models.Payment, ev.TransactionID}] = true
	}
	for _, k := range pointers {
		k.account = d.account
		e.proposeName(k, own)
		look[k] = true
	}
	for _, name := range names {
		k := key{d.account, m.kind, name}
		if claims {
			e.proposeName(k, own)
		}
		if claims || m.kind != models.Payment || d.source != sourceCallback {
			look[k] = true
		} else {
			e.asked[k] = true // most have no other name: looked up together with the rows
		}
	}
}

func (e *engine) proposeName(k key, own string) {
	if _, taken := e.proposed[k]; !taken && own != "" {
		e.proposed[k] = own
	}
}

// want notes what deciding an event needs: its own row under every name, its parent, the refunds that wait for it (waited), and the
// order it names (peek).
func (e *engine) want(d *delivery, ev models.Event, wanted, waited map[key]bool, peek map[string]bool) {
	m, moves := meanings[ev.Kind]
	if ev.TestMode || !moves && ev.Kind != models.RefundTotal {
		return
	}
	kind := m.kind
	if !moves {
		kind = models.Payment
	}
	names := append(namesOf(ev), ownID(kind, ev))
	if kind == models.Refund {
		names = append(names, e.numbered(d.account, ev)...)
	}
	undoing, undoes := reversalOf[kind] // what a late failure or a won dispute would take back
	for _, name := range names {
		k := key{d.account, kind, name}
		e.wantName(k, wanted)
		if undoes {
			e.wantName(key{d.account, undoing, name}, wanted)
			e.wantName(key{d.account, undoing, e.names[k]}, wanted)
		}
		if kind == models.Payment {
			waited[k] = true
		}
	}
	if kind == models.Payment {
		for _, name := range ev.FoundBy {
			waited[key{d.account, kind, name}] = true
		}
	}
	if kind == models.Chargeback {
		e.wantDispute(d.account, ev, wanted)
	}
	if !moves {
		wanted[key{d.account, models.Refund, totalID(ev.TransactionID)}] = true
	}
	if ev.RunningTotal {
		wanted[key{d.account, models.Refund, totalID(ev.ParentID)}] = true
	}
	switch ev.Kind {
	case captureVoided:
		e.wantName(key{d.account, models.Payment, ev.TransactionID}, wanted)
	case models.PaymentCaptured: // what has voided it may have come first
		wanted[key{d.account, models.Refund, ev.TransactionID}] = true
	}
	for _, name := range parentNames(ev) {
		e.wantName(key{d.account, models.Payment, name}, wanted)
	}
	if kind == models.Payment && ev.OrderID != "" {
		peek[ev.OrderID] = true
	}
}

func (e *engine) wantName(k key, wanted map[key]bool) {
	if k.id == "" {
		return
	}
	wanted[k] = true
	if id := e.names[k]; id != "" {
		wanted[key{k.account, k.kind, id}] = true
	}
}

// resolve finds the row an event is about: the one an earlier telling made under any of the names, else its own.
func (e *engine) resolve(account string, kind models.TransactionKind, ev models.Event) key {
	own := key{account, kind, ownID(kind, ev)}
	if r := e.rows[own]; r != nil && !r.gone && (own.id != shopPrefix+ev.RefundOrderID || e.adopts(r, ev)) {
		return own
	}
	for _, name := range namesOf(ev) {
		k := key{account, kind, name}
		if id := e.names[k]; id != "" && id != own.id {
			return key{account, kind, id}
		}
		if e.rows[k] != nil {
			return k
		}
	}
	if kind == models.Chargeback {
		return e.resolveDispute(own, ev)
	}
	if kind == models.Refund {
		return e.resolveNumber(own, ev)
	}
	return own
}

// resolveNumber finds a refund by the shop's number of it. A request under a number that another payment's refund has already gets the
// payment's id into its own.
func (e *engine) resolveNumber(own key, ev models.Event) key {
	for _, id := range e.numbered(own.account, ev) {
		k := key{own.account, own.kind, id}
		if r := e.rows[k]; r != nil && !r.gone && k != own && e.adopts(r, ev) {
			return k
		}
	}
	if r := e.rows[own]; r != nil && !r.gone && ev.ParentID != "" && own.id == shopPrefix+ev.RefundOrderID {
		own.id = ev.ParentID + ":" + ev.RefundOrderID
	}
	return own
}

// numbered lists what a refund may be stored under that is known by the shop's number.
func (e *engine) numbered(account string, ev models.Event) []string {
	if ev.RefundOrderID == "" {
		return nil
	}
	shop := shopPrefix + ev.RefundOrderID
	ids := present(e.names[key{account, models.Refund, shop}], shop)
	for _, name := range parentNames(ev) {
		ids = append(ids, name+":"+ev.RefundOrderID)
		if id := e.names[key{account, models.Payment, name}]; id != "" {
			ids = append(ids, id+":"+ev.RefundOrderID)
		}
	}
	return present(ids...)
}

// isStandIn says whether a refund is stored under an id that we have made of the shop's number.
func isStandIn(r *row) bool {
	return r.RefundOrderID != "" && (r.TransactionID == shopPrefix+r.RefundOrderID || strings.HasSuffix(r.TransactionID, ":"+r.RefundOrderID))
}

// adopts says whether a refund known by the shop's number is the one the event speaks of; a number used for two refunds must not glue
// them together, and neither must a number that two payments' refunds share.
func (e *engine) adopts(r *row, ev models.Event) bool {
	if r.ParentID != "" && ev.ParentID != "" && r.ParentID != ev.ParentID && !slices.Contains(ev.ParentAliases, r.ParentID) {
		p := e.payment(r.Account, ev.ParentID)
		if p == nil || p != e.payment(r.Account, r.ParentID) {
			return false
		}
	}
	if ev.TransactionID == "" {
		return true
	}
	open := strings.HasPrefix(r.TransactionID, shopPrefix) || isStandIn(r) && r.Status == models.StatusPending
	return open && (r.ProviderID == "" || r.ProviderID == ev.TransactionID)
}

// twins are other rows that an event's names show to be the same movement as r: booked before anybody said so.
func (e *engine) twins(r *row, ev models.Event) []*row {
	var twins []*row
	names := namesOf(ev)
	if r.Kind == models.Refund && ev.TransactionID != "" {
		names = append(names, e.numbered(r.Account, ev)...)
	}
	for _, name := range names {
		for _, id := range []string{name, e.names[key{r.Account, r.Kind, name}]} {
			t := e.rows[key{r.Account, r.Kind, id}]
			if t == nil || t == r || t.gone || slices.Contains(twins, t) || !e.mergeable(r, t, ev) {
				continue
			}
			twins = append(twins, t)
		}
	}
	return twins
}

// mergeable keeps apart what only looks alike: a twin is a mere request of the shop's that no provider has named yet, or a payment of the
// same sum for the same order that was taken for a second one.
func (e *engine) mergeable(r, t *row, ev models.Event) bool {
	if r.Kind == models.Refund {
		return isStandIn(t) && t.Status == models.StatusPending && e.adopts(t, ev)
	}
	return r.Kind == models.Payment && t.Money() == r.Money() && (t.OrderID == r.OrderID || t.OrderID == "" || r.OrderID == "") &&
		(t.Outcome == models.OutcomeDuplicatePayment || r.Outcome == models.OutcomeDuplicatePayment || t.Outcome == models.OutcomeNoOrder ||
			t.Status == models.StatusPending || t.Status == models.StatusAuthorised)
}

// merge makes two rows of one movement one. The one that paid the order stays; the other's id becomes a name of it.
func (e *engine) merge(r, t *row) *row {
	if r.Outcome == models.OutcomeDuplicatePayment && t.Outcome == models.OutcomeApplied {
		r, t = t, r
	}
	t.gone = true
	for k, id := range e.names {
		if k.account == t.Account && k.kind == t.Kind && id == t.TransactionID {
			e.rename(k, r.TransactionID)
		}
	}
	e.rename(key{t.Account, t.Kind, t.TransactionID}, r.TransactionID)
	if r.RefundOrderID == "" {
		r.RefundOrderID = t.RefundOrderID
	}
	r.RefundedMinor, r.dirty = max(r.RefundedMinor, t.RefundedMinor), true
	for _, child := range e.rows {
		if child.Account == t.Account && child.Kind != t.Kind && child.ParentID == t.TransactionID {
			child.ParentID, child.dirty = r.TransactionID, true
		}
	}
	return r
}

// inherit lets what has happened to a merged twin happen to the payment it has become part of.
func (e *engine) inherit(p *row, source string) {
	o := e.orderOf(p)
	if p.Kind != models.Payment || o == nil || !paysFor(p, o) {
		return
	}
	e.recount(o, p, p, models.RefundSucceeded, source)
	for _, k := range sortedKeys(e.rows) {
		if r := e.rows[k]; r.Kind == models.Chargeback && r.Account == p.Account && r.ParentID == p.TransactionID {
			e.place(r, r.Event, source)
		}
	}
}

// rename points a name at another row, in memory and, at the end, in the aliases.
func (e *engine) rename(k key, id string) {
	e.names[k], e.renamed[k] = id, id
}

// settleNames points names that this transaction has claimed for the event's own id at the row they turned out to mean.
func (e *engine) settleNames(account string, kind models.TransactionKind, ev models.Event, k key) {
	own := ownID(kind, ev)
	if r := e.rows[key{account, kind, own}]; r != nil && !r.gone && own != k.id {
		return // another row has the id, and its names
	}
	names := pointersOf(kind, ev)
	for _, name := range append(namesOf(ev), shopPrefix+ev.RefundOrderID) {
		names = append(names, key{kind: kind, id: name})
	}
	for _, n := range names {
		n.account = account
		if e.proposed[n] == own && e.names[n] == own && own != k.id {
			e.rename(n, k.id)
		}
	}
}

// payment finds a payment by any of its names; nil when it is not booked.
func (e *engine) payment(account, name string) *row {
	if name == "" {
		return nil
	}
	k := key{account, models.Payment, name}
	if r := e.rows[k]; r != nil {
		return r
	}
	if id := e.names[k]; id != "" {
		return e.rows[key{account, models.Payment, id}]
	}
	return nil
}
