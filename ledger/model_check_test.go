package ledger_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// check compares the orders: after every step.
func (m *machine) check() {
	found, err := m.book.Orders(m.ctx, slices.Collect(maps.Keys(m.ideal.orders)))
	if err != nil {
		m.fail("%v", err)
	}
	got, want := map[string]string{}, map[string]string{}
	for id, o := range found {
		got[id] = shape(o)
	}
	for id, o := range m.ideal.orders {
		want[id] = shape(o.Order)
		m.seen[string(o.Status)] = true
	}
	m.same("orders", got, want)
	m.compareStock()
}

func (m *machine) compareStock() {
	got, want := map[string]string{}, map[string]string{}
	for sku, s := range m.ideal.stock {
		have, err := m.book.Stock(m.ctx, sku)
		if err != nil {
			m.fail("%v", err)
		}
		got[sku], want[sku] = stockShape(have), stockShape(*s)
	}
	m.same("stock", got, want)
}

func stockShape(s models.Stock) string {
	return fmt.Sprintf("%d owned, %d reserved, %d sold, %d available", s.Quantity, s.Reserved, s.Sold, s.Available())
}

func shape(o models.Order) string {
	return fmt.Sprintf("%s v%d refunded %d shipped %t stock %q", o.Status, o.Version, o.RefundedMinor, o.Shipped, o.Stock)
}

// same compares two tables, row by row.
func (m *machine) same(table string, got, want map[string]string) {
	if maps.Equal(got, want) {
		return
	}
	var differ []string
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if got[k] != want[k] {
			differ = append(differ, fmt.Sprintf("  %s\n    got  %s\n    want %s", k, got[k], want[k]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[k]; !ok {
			differ = append(differ, fmt.Sprintf("  %s\n    got  no row\n    want %s", k, want[k]))
		}
	}
	m.fail("%s:\n%s", table, strings.Join(differ, "\n"))
}

// compareAll compares all tables.
func (m *machine) compareAll() {
	m.compareTransactions()
	m.compareHistories()
	m.compareTokens()
}

func (m *machine) compareTransactions() {
	got, want := map[string]string{}, map[string]string{}
	for _, account := range []string{"a", "b"} {
		err := m.book.Transactions(m.ctx, account, day.AddDate(-1, 0, 0), day.AddDate(1, 0, 0), func(t models.Transaction) error {
			got[rowName(t)] = rowShape(t)
			return nil
		})
		if err != nil {
			m.fail("%v", err)
		}
	}
	for _, r := range m.ideal.rows {
		want[rowName(r.Transaction)] = rowShape(r.Transaction)
	}
	m.same("transactions", got, want)
	m.compareNames()
}

// compareNames: a movement is found by every name it was told by.
func (m *machine) compareNames() {
	look, got, want := map[ledger.Name]bool{}, map[string]string{}, map[string]string{}
	for k, id := range m.ideal.names {
		if m.ideal.rows[rowKey{k.account, k.kind, id}] != nil {
			n := ledger.Name{Account: k.account, Kind: k.kind, ID: k.id}
			look[n], want[fmt.Sprint(n)] = true, id
		}
	}
	found, err := m.book.FindTransactions(m.ctx, look)
	if err != nil {
		m.fail("%v", err)
	}
	for n, t := range found {
		got[fmt.Sprint(n)] = t.TransactionID
	}
	m.same("names", got, want)
}

func rowName(t models.Transaction) string {
	return fmt.Sprintf("%s %s %s", t.Account, t.Kind, t.TransactionID)
}

func rowShape(t models.Transaction) string {
	if t.Outcome == models.OutcomeNoOrder {
		t.OrderID = "" // it may be known before the order is
	}
	return fmt.Sprintf("%s %s %s order=%s at %s", t.Status, t.Outcome, t.Money(), t.OrderID, t.OccurredAt.Format(time.TimeOnly))
}

// compareHistories compares what moved each order, and what the shop is told of it.
func (m *machine) compareHistories() {
	orders, _, err := m.book.ListOrders(m.ctx, ledger.OrderFilter{})
	if err != nil {
		m.fail("%v", err)
	}
	if len(orders) != len(m.ideal.orders) {
		m.fail("%d orders in the book, %d in the model", len(orders), len(m.ideal.orders))
	}
	got, want := map[string]string{}, map[string]string{}
	for _, o := range orders {
		h, err := m.book.OrderHistory(m.ctx, o.OrderID)
		if err != nil {
			m.fail("%v", err)
		}
		messages, err := m.book.Messages(m.ctx, o.OrderID)
		if err != nil {
			m.fail("%v", err)
		}
		topics := []string{}
		for _, message := range messages {
			topics = append(topics, message.Topic)
		}
		for i := range h.Transitions {
			h.Transitions[i].At = time.Time{}
		}
		got[o.OrderID] = fmt.Sprintf("%v told %v", h.Transitions, topics)
	}
	for id := range m.ideal.orders {
		moves := []models.Transition{}
		for _, t := range m.ideal.moves {
			if t.OrderID == id {
				moves = append(moves, t)
			}
		}
		want[id] = fmt.Sprintf("%v told %v", moves, m.ideal.told[id])
	}
	m.same("histories", got, want)
}

// compareTokens compares what each key was spent on, and the answer it keeps. What is over may be forgotten.
func (m *machine) compareTokens() {
	names := map[string]string{}
	for name, token := range m.tokens {
		names[token] = name
	}
	got, want := map[string]string{}, map[string]string{}
	err := m.book.Tokens(m.ctx, func(t models.Token) {
		name, ok := names[t.Token]
		if !m.ideal.now.Before(t.ExpiresAt) {
			return
		}
		if ok {
			t.Token = name
		} else if strings.HasPrefix(t.Token, "tok_") {
			return // issued, and issued anew under the same name of the script
		}
		got[t.Token] = fmt.Sprintf("%s %q told %q until %s", t.State, t.Fingerprint, t.Body, t.ExpiresAt.Format(time.DateTime))
	})
	if err != nil {
		m.fail("%v", err)
	}
	for name, t := range m.ideal.tokens {
		if !m.ideal.now.Before(t.until) {
			continue
		}
		state := models.TokenIssued
		if t.spent {
			state = models.TokenSpent
		}
		want[name] = fmt.Sprintf("%s %q told %q until %s", state, t.request, t.answer, t.until.Format(time.DateTime))
	}
	m.same("tokens", got, want)
}

// seen are the words that the scripts of one run have met. Scripts that do not get far compare nothing.
type seen map[string]bool

func (s seen) all(answer string) {
	for _, word := range strings.Fields(strings.Trim(answer, "[]")) {
		s[strings.TrimSuffix(word, ":")] = true
	}
}

// missing says which words of the contract no script has met.
func (s seen) missing() (words []string) {
	for _, word := range []string{"applied", "duplicate", "conflict", "amount_mismatch", "currency_mismatch", "no_order", "paid_after_close",
		"duplicate_payment", "not_allowed", "noted", "refused", "exists", "out", "stale", "again", "spent", "unknown", "expired", "unpaid", "paying",
		"paid", "shipped", "part_refunded", "refunded", "closed", "disputed", "charged_back"} {
		if !s[word] {
			words = append(words, word)
		}
	}
	return words
}
