package layout

import (
	"strings"

	"paybook/callback/parse"
)

// readColumns reads the names of the columns. net may be named; nothing is read from it, but a file without it is not the one that was
// described.
func (l *Layout) readColumns(s *parse.Section) {
	o := s.Object("columns")
	if o == nil {
		o = s.Inner("columns", map[string]any{
			"transaction_id": "transaction_id", "order_id": "order_id", "kind": "type", "amount": "amount", "currency": "currency",
			"status": "status", "occurred_at": "occurred_at",
		})
	} else {
		l.parentID, l.refundOrderID = nil, nil
	}
	l.needed = nil
	one := func(key string, need bool) string {
		name := columnName(o, key)
		if need && name == "" {
			o.Fail(key, "missing: the column of the file it stands in")
		}
		l.need(name)
		return name
	}
	l.rowKey = readRowKey(s)
	l.need(l.rowKey.columns()...)
	l.transactionID, l.orderID = l.ids(o, "transaction_id", l.rowKey == nil), l.ids(o, "order_id", false)
	if s.Has("columns") {
		l.parentID, l.refundOrderID = l.ids(o, "parent_id", false), l.ids(o, "refund_order_id", false)
	}
	l.kind, l.currency = l.ids(o, "kind", l.only == ""), one("currency", l.fixedCurrency == "")
	l.status, l.occurredAt, l.zoneColumn = one("status", false), one("occurred_at", true), one("zone", false)
	one("net", false)
	l.payoutID = one("payout_id", false)
	if batch := one("batch", false); l.payoutID == "" {
		l.payoutID = batch
	}
	l.money = readMoneyColumns(s, o, l.framed)
	l.need(l.money.names()...)
	if l.kind != nil && l.only != "" {
		s.Fail("kind", "a column gives it; keep one of the two")
	}
	if l.currency != "" && l.fixedCurrency != "" {
		s.Fail("currency", "a column gives it; keep one of the two")
	}
	o.Close()
}

func (l *Layout) need(names ...string) {
	for _, name := range names {
		if name != "" {
			l.needed = append(l.needed, name)
		}
	}
}

// ids are the columns of an identifier: one, or a list of which the first that holds something counts.
func (l *Layout) ids(o *parse.Section, key string, need bool) []string {
	names := columnNames(o, key)
	if need && len(names) == 0 {
		o.Fail(key, "missing: the column of the file it stands in")
	}
	l.need(names...)
	return names
}

// columnName is a column's name as a table knows it, with single spaces.
func columnName(s *parse.Section, key string) string { return squeezed(s.Text(key, "")) }

func columnNames(s *parse.Section, key string) (names []string) {
	for _, text := range s.Texts(key) {
		if name := squeezed(text); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
