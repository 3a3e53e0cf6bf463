package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"paybook/models"
)

// keyID is what a key is found by.
type keyID struct{ token, owner string }

func (k Key) id() keyID { return keyID{k.Token, k.Owner} }

func compareKeys(a, b keyID) int {
	return cmp.Or(cmp.Compare(a.token, b.token), cmp.Compare(a.owner, b.owner))
}

// sight is what a bunch meets in the database.
type sight struct {
	tokens    map[keyID]*models.Token
	taken     map[string]bool  // order numbers
	available map[string]int64 // by SKU
}

// look reads it, without a lock.
func (l *Ledger) look(p *pipe, bunch []*accepting) (*sight, error) {
	s := &sight{tokens: map[keyID]*models.Token{}, taken: map[string]bool{}, available: map[string]int64{}}
	var keys []Key
	var ids []string
	skus := map[string]bool{}
	for _, w := range bunch {
		if w.Token != "" {
			keys = append(keys, w.Key)
		}
		ids = append(ids, w.order.OrderID)
		for _, i := range w.items {
			skus[i.SKU] = true
		}
	}
	l.pipeTokens(p, keys, s.tokens)
	for _, table := range []string{"orders", "accepted"} {
		eachSlice(ids, func(chunk []string) {
			p.read(l.sql("SELECT order_id FROM "+table+" WHERE order_id IN ").list(anys(chunk)...), func(rows scanner) error {
				var id string
				err := rows.Scan(&id)
				s.taken[id] = true
				return err
			})
		})
	}
	eachSlice(sortedStrings(skus), func(chunk []string) {
		p.read(l.sql("SELECT sku, quantity - reserved - sold FROM stock WHERE sku IN ").list(anys(chunk)...), func(rows scanner) error {
			var sku string
			var n int64
			err := rows.Scan(&sku, &n)
			s.available[sku] = n
			return err
		})
	})
	return s, p.flush()
}

// decide goes through the bunch in the order in which they came and says what each is told. accepted are those to be written, keyed those
// whose answer is to be kept, accepted or not.
func (s *sight) decide(bunch []*accepting, now time.Time) (accepted, keyed []*accepting) {
	first := map[keyID]*accepting{}
	for _, w := range bunch {
		w.answer, w.err, w.refusal = nil, nil, nil
		if w.Token != "" {
			if before := first[w.id()]; before != nil {
				w.repeat(before)
				continue
			}
			if w.answer, w.err = w.judge(s.tokens[w.id()], now); w.answer != nil || w.err != nil {
				continue
			}
		}
		if w.refusal = s.refuse(w); w.refusal == nil {
			accepted = append(accepted, w)
		}
		if w.Token != "" && (w.refusal == nil || !w.Issued()) { // a token of ours is spent by an order, not by a refusal
			first[w.id()], keyed = w, append(keyed, w)
		}
		w.order.CreatedAt, w.order.UpdatedAt = now, now
		given := w.order
		if w.refusal != nil {
			given = models.Order{}
		}
		status, body := w.say(given, w.refusal)
		w.answer = &Answer{Status: expectAccepted(status), Body: body}
	}
	return accepted, keyed
}

// repeat is told what the first one under the same key is told.
func (w *accepting) repeat(first *accepting) {
	if w.Fingerprint != first.Fingerprint {
		w.err = ErrTokenSpent
		return
	}
	w.answer = &Answer{Status: first.answer.Status, Body: first.answer.Body, Replayed: true}
}

// refuse says what stands against an order, and else takes its number and its units.
func (s *sight) refuse(w *accepting) error {
	if s.taken[w.order.OrderID] {
		return &OrderExists{w.order.OrderID}
	}
	for _, i := range w.items {
		if have := s.available[i.SKU]; have < i.Quantity {
			return &OutOfStock{SKU: i.SKU, Wanted: i.Quantity, Available: have}
		}
	}
	s.taken[w.order.OrderID] = true
	for _, i := range w.items {
		s.available[i.SKU] -= i.Quantity
	}
	return nil
}

// pipeTokens adds selects of the rows of keys to a pipe.
func (l *Ledger) pipeTokens(p *pipe, keys []Key, into map[keyID]*models.Token) {
	texts := map[string]bool{}
	for _, k := range keys {
		texts[k.Token] = true
	}
	eachSlice(sortedStrings(texts), func(chunk []string) {
		b := l.sql("SELECT token, owner, state, fingerprint, holder, held_until, status, body, expires_at FROM tokens WHERE token IN ")
		p.read(b.list(anys(chunk)...), func(rows scanner) error {
			t := &models.Token{}
			err := rows.Scan(&t.Token, &t.Owner, &t.State, &t.Fingerprint, &t.Holder, nullUTC{&t.HeldUntil}, &t.Status, &t.Body, utc{&t.ExpiresAt})
			into[keyID{t.Token, t.Owner}] = t
			return err
		})
	})
}

// QueuedOrder is an order that was accepted and is not written yet, as it will be. ErrNotFound when there is none; then ask for the
// written one once more, it may have been written at this very moment.
func (l *Ledger) QueuedOrder(ctx context.Context, id string) (NewOrder, error) {
	b := l.sql("SELECT " + acceptedColumns + " FROM accepted WHERE order_id = ").arg(id)
	var found *accepted
	err := query(l.read.WithContext(ctx), b.String(), b.args, func(rows *sql.Rows) (err error) {
		found, err = scanAccepted(rows)
		return err
	})
	if err == nil && found == nil {
		err = fmt.Errorf("order %q: %w", short(id, 40), ErrNotFound)
	}
	if err != nil {
		return NewOrder{}, err
	}
	return NewOrder{Order: found.order, Items: found.items}, nil
}

// accepted is a row of that table.
type accepted struct {
	order models.Order
	items []models.Item
}

const acceptedColumns = "order_id, amount_minor, currency, items, expires_at, created_at"

func scanAccepted(rows scanner) (*accepted, error) {
	a := &accepted{order: models.Order{Status: models.Unpaid, Version: 1, Stock: models.StockReserved}}
	var items string
	o := &a.order
	if err := rows.Scan(&o.OrderID, &o.AmountMinor, &o.Currency, &items, nullUTC{&o.ExpiresAt}, utc{&o.CreatedAt}); err != nil {
		return nil, err
	}
	o.UpdatedAt = o.CreatedAt
	var quantity map[string]int64
	if err := json.Unmarshal([]byte(items), &quantity); err != nil {
		return nil, fmt.Errorf("accepted order %s: its items: %w", o.OrderID, err)
	}
	for _, sku := range sortedStrings(quantity) {
		a.items = append(a.items, models.Item{OrderID: o.OrderID, SKU: sku, Quantity: quantity[sku]})
	}
	if len(a.items) == 0 {
		o.Stock = models.StockNone
	}
	return a, nil
}

// itemsText is what scanAccepted reads: SKU to quantity.
func itemsText(items []models.Item) string {
	quantity := make(map[string]int64, len(items))
	for _, i := range items {
		quantity[i.SKU] = i.Quantity
	}
	text, err := json.Marshal(quantity)
	if err != nil {
		panic(err) // a map of numbers always encodes
	}
	return string(text)
}

func sortedStrings[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }
