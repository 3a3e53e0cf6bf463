package ledger_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"paybook/models"
)

// The half of the model that is the shop's own doing: orders, stock, acts, time, keys.

// do lets a line happen in the model and says what comes of it.
func (b *ideal) do(w []string) string {
	b.freed, b.freedBy = map[string]int64{}, map[*idealOrder]bool{}
	switch w[0] {
	case "sweep", "later":
		return ""
	case "order":
		return b.importOrder(w)
	case "close":
		return b.closeOrder(w[1])
	case "own":
		return b.own(pairs(w[1:]))
	case "expire":
		return b.expire()
	case "create":
		return b.create(w)
	case "pay", "ship", "cancel":
		return b.act(w)
	case "token":
		b.tokens[w[1]] = &idealToken{until: b.now.Add(length(w[2]))}
		return ""
	case "once":
		return b.once(w[1], w[2:])
	case "import":
		account, events := parse(w[1:])
		return string(b.tell(account, events[0]))
	}
	account, events := parse(w)
	var outcomes []models.Outcome
	for _, ev := range events {
		outcomes = append(outcomes, b.tell(account, ev))
	}
	return fmt.Sprint(outcomes)
}

func length(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func (b *ideal) importOrder(w []string) string {
	money := sum(w[2], w[3])
	if o := b.orders[w[1]]; o != nil {
		if o.Money() != money {
			return "refused"
		}
		return ""
	}
	o := b.newOrder(w[1], money)
	if len(w) > 4 {
		o.Status = models.OrderStatus(w[4])
		o.Shipped = o.Status == models.Shipped
	}
	b.arrive(o.OrderID)
	return ""
}

func (b *ideal) newOrder(id string, money models.Money) *idealOrder {
	o := &idealOrder{Order: models.Order{OrderID: id, AmountMinor: money.Minor, Currency: money.Currency, Status: models.Unpaid, Version: 1}}
	o.paidMinor = o.AmountMinor
	b.orders[id] = o
	return o
}

func (b *ideal) closeOrder(id string) string {
	o := b.orders[id]
	switch {
	case o == nil:
		return "not found"
	case o.Status == models.Closed:
		return ""
	case !open(o):
		return fmt.Sprintf("not allowed: %s v%d", o.Status, o.Version)
	}
	b.step(o, models.Closed, models.OrderExpire, nil, false)
	return ""
}

// own sets what the shop owns in all; less than is reserved and sold is refused, the whole of it.
func (b *ideal) own(given map[string]string) string {
	for sku, n := range given {
		if s := b.stock[sku]; s != nil && unitsOf(n) < s.Reserved+s.Sold {
			return "refused"
		}
	}
	for sku, n := range given {
		if b.stock[sku] == nil {
			b.stock[sku] = &models.Stock{SKU: sku}
		}
		b.stock[sku].Quantity = unitsOf(n)
	}
	return ""
}

func unitsOf(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// itemsOf reads "SKU=N …", sorted; "until" is no SKU.
func itemsOf(w []string) (items []models.Item, until *time.Time) {
	for sku, n := range pairs(w) {
		if sku == "until" {
			at := clockTime(n)
			until = &at
			continue
		}
		items = append(items, models.Item{SKU: sku, Quantity: unitsOf(n)})
	}
	slices.SortFunc(items, func(a, b models.Item) int { return strings.Compare(a.SKU, b.SKU) })
	return items, until
}

// create makes an order, and takes what it is for from stock, or nothing of both.
func (b *ideal) create(w []string) string {
	id := w[1]
	if b.orders[id] != nil {
		return "exists"
	}
	items, until := itemsOf(w[4:])
	for _, i := range items {
		if have := b.available(i.SKU); have < i.Quantity {
			return fmt.Sprintf("out of stock: %s %d of %d", i.SKU, i.Quantity, have)
		}
	}
	o := b.newOrder(id, sum(w[2], w[3]))
	o.items, o.ExpiresAt = items, until
	if len(items) > 0 {
		o.Stock = models.StockReserved
	}
	for _, i := range items {
		b.stock[i.SKU].Reserved += i.Quantity
	}
	b.arrive(id)
	return ""
}

func (b *ideal) available(sku string) int64 {
	if b.stock[sku] == nil {
		return 0
	}
	return b.stock[sku].Available()
}

// moveStock lets an order's units follow it: sold with the money, released once.
func (b *ideal) moveStock(o *idealOrder) {
	for _, i := range o.items {
		s := b.stock[i.SKU]
		switch {
		case o.Status == models.Paid && o.Stock == models.StockReserved:
			s.Reserved, s.Sold = s.Reserved-i.Quantity, s.Sold+i.Quantity
		case o.Status == models.Paid && o.Stock == models.StockReleased:
			s.Sold += i.Quantity
		case o.Status == models.Closed && o.Stock == models.StockReserved:
			s.Reserved -= i.Quantity
			b.freed[i.SKU] += i.Quantity
			b.freedBy[o] = true
		}
	}
	switch {
	case len(o.items) == 0:
	case o.Status == models.Paid:
		o.Stock = models.StockSold
	case o.Status == models.Closed && o.Stock == models.StockReserved:
		o.Stock = models.StockReleased
	}
}

// canTakeAgain: an order that was closed is paid after all, and what it let go of is still there. What another order lets go of in this
// very step is not to be had yet.
func (b *ideal) canTakeAgain(o *idealOrder) bool {
	for _, i := range o.items {
		if !b.freedBy[o] && b.available(i.SKU)-b.freed[i.SKU] < i.Quantity {
			return false
		}
	}
	return true
}

func (b *ideal) act(w []string) string {
	o := b.orders[w[1]]
	switch {
	case o == nil:
		return "not found"
	case len(w) > 2 && w[2] != "now":
		return fmt.Sprintf("stale: %s v%d", o.Status, o.Version)
	}
	switch {
	case w[0] == "pay" && o.Status == models.Unpaid:
		b.step(o, models.Paying, models.OrderPay, nil, true)
	case w[0] == "cancel" && open(o):
		b.step(o, models.Closed, models.OrderCancel, nil, true)
	case w[0] == "ship" && (o.Status == models.Paid || o.Status == models.PartRefunded && !o.Shipped):
		to := models.Shipped
		if o.Status == models.PartRefunded {
			to = o.Status
		}
		o.Shipped = true
		b.step(o, to, models.OrderShip, nil, true)
	default:
		return fmt.Sprintf("not allowed: %s v%d", o.Status, o.Version)
	}
	return ""
}

// expire closes what was not paid in its window.
func (b *ideal) expire() string {
	closed := 0
	for _, o := range b.orders {
		if o.ExpiresAt != nil && !b.now.Before(*o.ExpiresAt) && open(o) {
			b.step(o, models.Closed, models.OrderExpire, nil, true)
			closed++
		}
	}
	return fmt.Sprintf("closed %d", closed)
}

// idealToken is a key. One that the client made up is spent when it is first used; one that was issued has until then.
type idealToken struct {
	spent   bool
	request string
	answer  string
	until   time.Time
}

// once lets a line happen under a key: once.
func (b *ideal) once(name string, w []string) string {
	issued := strings.HasPrefix(name, "T")
	t := b.tokens[name]
	over := t != nil && !b.now.Before(t.until)
	request := strings.Join(w, " ")
	switch {
	case t == nil && issued:
		return "unknown"
	case over && issued:
		return "expired"
	case t != nil && t.spent && !over && t.request != request:
		return "spent"
	case t != nil && t.spent && !over:
		return "again: " + t.answer
	}
	answer := b.do(w)
	if answer != "not found" && !(issued && refusal(answer)) { // else the request may be tried again, or another with the same token
		b.tokens[name] = &idealToken{spent: true, request: request, answer: answer, until: b.now.Add(24 * time.Hour)}
	}
	return answer
}

// refusal says that nothing was done.
func refusal(answer string) bool {
	return slices.ContainsFunc([]string{"exists", "out of stock", "not allowed", "stale"}, func(word string) bool { return strings.HasPrefix(answer, word) })
}
