package ledger_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// line is one step of a script: what happens, in the words of the stories (story_test.go), so that a failing script reads like one.
//
//	order ID AMOUNT CURRENCY [STATUS]            an import of the shop's
//	close ID                                     the shop gives an order up
//	own SKU=N …                                  the shop imports its stock
//	create ID AMOUNT CURRENCY [SKU=N …] [until=HH:MM]
//	pay|ship|cancel ID [now|stale]               with the version that the order has, or another
//	later DURATION                               the clock moves on
//	expire                                       what was not paid in its window is closed
//	token NAME LIFE                              a one-time token is issued; scripts call it T1, T2
//	once NAME create|pay|ship|cancel …           the same, under a key
//	EVENT … [& EVENT …]                          one callback with these events
//	import EVENT …                               the shop's own request of a refund
//	sweep                                        the periodic sweep runs
type line string

// GoString is how a drawn line is printed.
func (l line) GoString() string { return string(l) }

// The cast is small, so that steps meet: three orders of one sum, five payments for each, five refunds and three disputes of each
// payment. Every happening has a time of its own, whenever it is told.

var castOrders = []string{"O1", "O1", "O1", "O1", "O1", "O2", "O2", "O3"}

// castPayment is one payment for an order: right, right again from another account (under the same id), right once more, of another sum,
// of another currency.
type castPayment struct{ account, amount, currency string }

var castPayments = []castPayment{{"a", "20.00", "USD"}, {"b", "20.00", "USD"}, {"a", "20.00", "USD"}, {"a", "19.00", "USD"}, {"a", "20.00", "EUR"}}

var castRefunds = []string{"5.00 USD", "8.00 USD", "20.00 USD", "7.00 USD", "5.00 EUR"}

var castDisputes = []string{"20.00 USD", "6.00 USD", "6.00 EUR"}

// often draws one of choices; those given more than once come more often, and the first is what a failing script shrinks to. It draws
// bits, because rapid prefers the first of many.
func often[T any](t *rapid.T, choices ...T) T {
	n := 0
	for range 8 {
		n *= 2
		if rapid.Bool().Draw(t, "bit") {
			n++
		}
	}
	return choices[n%len(choices)]
}

// rarely is what it is given, one time in thirty.
func rarely(t *rapid.T, text string) string {
	return often(t, append(make([]string, 29), text)...)
}

var lines = rapid.Custom(func(t *rapid.T) line {
	switch often(t, "sweep", "order", "create", "create", "close", "own", "act", "act", "act", "later", "expire", "token", "once", "once", "once",
		"told", "told", "told", "told", "told", "told", "told", "told", "told", "told", "told", "told", "told", "together", "together", "request") {
	case "order":
		return line(fmt.Sprintf("order %s %s USD%s", often(t, castOrders...), often(t, "20.00", "20.00", "20.00", "20.00", "20.00", "21.00"),
			often(t, "", "", "", "", "", "", "", " paid", " paid", " shipped", " shipped", " closed")))
	case "create", "act":
		return line(drawAct(t))
	case "own":
		return line("own " + drawItems(t, 8))
	case "later":
		return line("later " + often(t, "4m", "20m", "1h", "23h59m"))
	case "expire":
		return "expire"
	case "token":
		return line("token " + often(t, "T1", "T2") + " " + often(t, "5m", "5m", "1h"))
	case "once":
		return line(drawOnce(t))
	case "close":
		return line("close " + often(t, castOrders...))
	case "told":
		return line(drawEvent(t, often(t, "a", "a", "a", "a", "a", "b")))
	case "together":
		account := often(t, "a", "a", "a", "b")
		events := []string{drawEvent(t, account), drawEvent(t, account)}
		if often(t, false, true) {
			events = append(events, drawEvent(t, account))
		}
		return line(strings.Join(events, " & "))
	case "request":
		return line(drawRequest(t))
	}
	return "sweep"
})

// drawAct draws what the shop may do under a key.
func drawAct(t *rapid.T) string {
	act, order := often(t, "create", "create", "create", "pay", "pay", "pay", "ship", "ship", "cancel"), often(t, castOrders...)
	if act != "create" {
		return act + " " + order + often(t, "", "", " now", " stale")
	}
	return fmt.Sprintf("create %s 20.00 USD%s%s", order, often(t, "", " "+drawItems(t, 3), " "+drawItems(t, 3)),
		often(t, "", " until=13:10", " until=13:30", " until=14:00"))
}

// drawOnce draws a request under a key. Most requests of one key are the same one.
func drawOnce(t *rapid.T) string {
	key := often(t, "k1", "k2", "T1", "T2")
	usual := map[string]string{"k1": "create O1 20.00 USD tea=2 until=14:00", "k2": "ship O1", "T1": "create O2 20.00 USD mug=1", "T2": "pay O1 now"}
	return "once " + key + " " + often(t, usual[key], usual[key], usual[key], drawAct(t))
}

// drawItems draws some of two SKUs.
func drawItems(t *rapid.T, most int) string {
	tea, mug := fmt.Sprintf("tea=%d", 1+often(t, 0, 1, 2, 3, 4, 5, 6, 7)%most), fmt.Sprintf("mug=%d", 1+often(t, 0, 1, 2, 3, 4, 5, 6, 7)%most)
	return often(t, tea, mug, mug+" "+tea)
}

// drawEvent draws what a provider may tell by an account.
func drawEvent(t *rapid.T, account string) string {
	n := slices.Index([]string{"O1", "O2", "O3"}, often(t, castOrders...))
	slot := 1
	if account == "a" {
		slot = often(t, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 3, 4)
	}
	switch often(t, "payment", "payment", "refund", "refund", "dispute", "dispute") {
	case "payment":
		return drawPayment(t, n, slot)
	case "refund":
		return drawRefund(t, n, slot)
	}
	return drawDispute(t, n, slot)
}

// paymentName is a payment's id n; the second account's ids are those of the first.
func paymentName(prefix string, n, slot int) string {
	if slot == 1 {
		slot = 0
	}
	return fmt.Sprintf("%s%d%d", prefix, n+1, slot)
}

func at(minute int) string { return fmt.Sprintf("at=%02d:%02d", minute/60, minute%60) }

func drawPayment(t *rapid.T, n, slot int) string {
	p := castPayments[slot]
	order := fmt.Sprintf("O%d", n+1)
	told := often(t, "succeeded", "succeeded", "succeeded", "succeeded", "succeeded", "succeeded", "succeeded", "pending", "pending", "failed", "closed")
	if told == "succeeded" {
		p.amount = cmp.Or(rarely(t, "20.50"), p.amount)
		p.currency = cmp.Or(rarely(t, "CAD"), p.currency)
		order = cmp.Or(rarely(t, "O3"), order)
	}
	minute := map[string]int{"pending": 600, "failed": 660, "succeeded": 720, "closed": 690}[told] + 5*n + slot
	name := paymentName(often(t, "ch", "ch", "pi"), n, slot)
	return fmt.Sprintf("payment.%s %s %s %s order=%s alias=%s,%s %s account=%s", told, name, p.amount, p.currency, order,
		name, paymentName("pi", n, slot), at(minute), p.account)
}

func drawRefund(t *rapid.T, n, slot int) string {
	i := often(t, 0, 1, 2, 3, 0, 1, 2, 3, 4)
	told := often(t, "succeeded", "succeeded", "succeeded", "succeeded", "pending", "failed late", "failed late", "failed early")
	amount := cmp.Or(rarely(t, "4.00 USD"), castRefunds[i])
	idx := 25*n + 5*slot + i
	minute := map[string]int{"pending": 600, "succeeded": 840, "failed early": 750, "failed late": 960}[told] + idx
	kind, _, _ := strings.Cut(told, " ")
	return fmt.Sprintf("refund.%s re%d %s parent=%s refund_no=R%d %s account=%s", kind, idx, amount, parents(n, slot), idx, at(minute), castPayments[slot].account)
}

// drawRequest is the shop's own word of a refund it asks for, before the provider has given it an id.
func drawRequest(t *rapid.T) string {
	n, i := often(t, 0, 0, 0, 1), often(t, 0, 1, 2, 3)
	idx := 25*n + i
	amount := often(t, castRefunds[i], castRefunds[i], castRefunds[i], "4.00 USD")
	return fmt.Sprintf("import refund.pending - %s parent=%s refund_no=R%d %s account=a", amount, parents(n, 0), idx, at(540+idx))
}

// parents are both names of a payment: a refund and a dispute tell it by the one it is known by, whichever that is.
func parents(n, slot int) string {
	return paymentName("ch", n, slot) + "," + paymentName("pi", n, slot)
}

func drawDispute(t *rapid.T, n, slot int) string {
	i := often(t, 0, 1, 2)
	idx := 15*n + 3*slot + i
	told := often(t, "opened", "lost", "won")
	minute := map[string]int{"opened": 1020, "lost": 1080, "won": 1140}[told] + idx
	if told == "lost" && i == 1 {
		minute += 120 // after it was won
	}
	amount := cmp.Or(rarely(t, "3.00 USD"), castDisputes[i])
	return fmt.Sprintf("dispute.%s dp%d %s parent=%s %s account=%s", told, idx, amount, parents(n, slot), at(minute), castPayments[slot].account)
}
