package generic

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"paybook/callback/parse"
	"paybook/models"
)

// layout is how the provider writes its statements. Column names are the file's; "" is a column it does not have.
type layout struct {
	options     parse.TableOptions
	encoding    string
	footer      *footer
	records     *records
	timeLayouts []string       // Go layouts; nil: RFC 3339, or YYYY-MM-DD HH:MM[:SS] of the account's zone
	zone        *time.Location // of times without an offset, where the business day is of another zone; nil: the account's
	dayZone     string         // of the business day; "": the provider's
	dayCut      time.Duration
	batch       bool // rows may lie outside the day

	transactionID, parentID, orderID, refundOrderID []string // the first that holds something
	kind, currency, status, occurredAt, zoneColumn  string
	money                                           moneyColumns
	needed                                          []string
	rowKey                                          rowKey // names a row without an id

	only          models.TransactionKind // of every row, in a file without a column for it
	fixedCurrency string                 // likewise
	kinds         map[string]models.TransactionKind
	statuses      map[string]models.TransactionStatus
	zones         map[string]string // the file's words for zones
	fixed         bool              // the layout is the default one, whose words for kinds are all there are
}

// footer is the line that ends the rows: its column holds a fixed text. The cell of the count column, by default the one behind
// the marker if a whole number stands there, is the number of rows before it.
type footer struct{ column, equals, count string }

// defaultLayout is used when the settings have no statement.
func defaultLayout() layout {
	return layout{
		transactionID: []string{"transaction_id"}, orderID: []string{"order_id"}, kind: "type", currency: "currency",
		status: "status", occurredAt: "occurred_at", parentID: []string{"parent_id"}, refundOrderID: []string{"refund_order_id"},
		needed: []string{"transaction_id", "order_id", "type", "amount", "currency", "status", "occurred_at"},
		money:  moneyColumns{amount: "amount", unit: "major"},
		kinds:  kindWords, statuses: statusWords, fixed: true,
	}
}

// kindWords and statusWords are understood in any case.
var kindWords = map[string]models.TransactionKind{
	"payment": models.Payment, "refund": models.Refund, "chargeback": models.Chargeback, "dispute": models.Chargeback,
	"payout": models.Payout, "refund_reversal": models.RefundReversal, "chargeback_reversal": models.ChargebackReversal,
	"fee": models.EntryFee, "conversion": models.EntryConversion, "adjustment": models.EntryAdjustment,
}

var statusWords = map[string]models.TransactionStatus{
	"succeeded": models.StatusSucceeded, "success": models.StatusSucceeded, "paid": models.StatusSucceeded,
	"pending": models.StatusPending, "processing": models.StatusPending, "authorised": models.StatusAuthorised,
	"failed": models.StatusFailed, "closed": models.StatusClosed,
	"revoked": models.StatusReversed, "reversed": models.StatusReversed,
}

func (p *Provider) readLayout(settings *section) {
	p.layout = defaultLayout()
	s := settings.object("statement")
	if s == nil {
		return
	}
	l := &p.layout
	l.fixed = false
	s.ignore("timezone") // read before, by readZone
	s.word("format", "csv", "csv")
	l.encoding = s.word("encoding", "utf-8", "utf-8", "gbk", "gb18030", "utf-16")
	l.options = parse.TableOptions{
		Delimiter: readDelimiter(s), SkipLines: s.whole("skip_lines", 0, 0), Converted: l.encoding != "utf-8",
	}
	header := s.flag("header")
	l.options.NoHeader = header != nil && !*header
	l.timeLayouts = s.texts("time_layout")
	l.readDay(s, p.zone)
	if batch := s.flag("batch"); batch != nil {
		l.batch = *batch
	}
	l.readFixed(s)
	l.readColumns(s)
	l.footer = readFooter(s)
	l.records = readRecords(s)
	l.kinds = readWords(s, "kinds", kindWords)
	l.statuses = readWords(s, "statuses", statusWords)
	s.close()
}

// readDay reads when the business day begins, and where.
func (l *layout) readDay(s *section, zone string) {
	l.dayZone = s.zone("day_zone", zone)
	if s.has("day_zone") {
		l.zone, _ = time.LoadLocation(zone) // readZone has refused a bad one
	}
	if text := s.text("day_cut", ""); text != "" {
		var err error
		if l.dayCut, err = parseCut(text); err != nil {
			s.fail("day_cut", "%v", err)
		}
	}
	if o := s.object("zones"); o != nil {
		l.zones = map[string]string{}
		for _, word := range o.names() {
			l.zones[word] = o.zone(word, "")
		}
	}
}

// parseCut reads when a day begins: from noon on it is the evening before.
func parseCut(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("%q: HH:MM expected, 00:00 to 11:59 in the morning, 12:00 to 23:59 the evening before", text)
	}
	cut := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	if cut >= 12*time.Hour {
		cut -= 24 * time.Hour
	}
	return cut, nil
}

// readFixed reads what every row of a file is, where no column says it.
func (l *layout) readFixed(s *section) {
	if word := s.text("kind", ""); word != "" {
		var known bool
		if l.only, known = kindWords[word]; !known {
			s.fail("kind", "%q is no word for kinds", word)
		}
	}
	if code := s.text("currency", ""); code != "" {
		known, err := models.ParseCurrency(code)
		if err != nil {
			s.fail("currency", "%v", err)
		}
		l.fixedCurrency = known
	}
}

func readDelimiter(s *section) rune {
	text := s.text("delimiter", ",")
	if text == "tab" {
		return '\t'
	}
	delimiter, size := utf8.DecodeRuneInString(text)
	if size != len(text) || size == 0 || strings.ContainsRune("\"\r\n", delimiter) {
		s.fail("delimiter", "one character, or tab, expected")
	}
	return delimiter
}

// readColumns reads the names of the columns. net and batch may be named; nothing is read from them, but a file without them
// is not the one that was described.
func (l *layout) readColumns(s *section) {
	o := s.object("columns")
	if o == nil {
		o = &section{path: s.path + ".columns", first: s.first, keys: map[string]any{
			"transaction_id": "transaction_id", "order_id": "order_id", "kind": "type", "amount": "amount", "currency": "currency",
			"status": "status", "occurred_at": "occurred_at",
		}}
	} else {
		l.parentID, l.refundOrderID = nil, nil
	}
	l.needed = nil
	one := func(key string, need bool) string {
		name := columnName(o, key)
		if need && name == "" {
			o.fail(key, "missing: the column of the file it stands in")
		}
		l.need(name)
		return name
	}
	l.rowKey = readRowKey(s)
	l.need(l.rowKey.columns()...)
	l.transactionID, l.orderID = l.ids(o, "transaction_id", l.rowKey == nil), l.ids(o, "order_id", false)
	if s.has("columns") {
		l.parentID, l.refundOrderID = l.ids(o, "parent_id", false), l.ids(o, "refund_order_id", false)
	}
	l.kind, l.currency = one("kind", l.only == ""), one("currency", l.fixedCurrency == "")
	l.status, l.occurredAt, l.zoneColumn = one("status", false), one("occurred_at", true), one("zone", false)
	one("net", false)
	one("batch", false)
	l.money = readMoneyColumns(s, o)
	l.need(l.money.names()...)
	if l.kind != "" && l.only != "" {
		s.fail("kind", "a column gives it; keep one of the two")
	}
	if l.currency != "" && l.fixedCurrency != "" {
		s.fail("currency", "a column gives it; keep one of the two")
	}
	o.close()
}

func (l *layout) need(names ...string) {
	for _, name := range names {
		if name != "" {
			l.needed = append(l.needed, name)
		}
	}
}

// ids are the columns of an identifier: one, or a list of which the first that holds something counts.
func (l *layout) ids(o *section, key string, need bool) []string {
	names := columnNames(o, key)
	if need && len(names) == 0 {
		o.fail(key, "missing: the column of the file it stands in")
	}
	l.need(names...)
	return names
}

// columnName is a column's name as a table knows it, with single spaces.
func columnName(s *section, key string) string { return squeezed(s.text(key, "")) }

func columnNames(s *section, key string) (names []string) {
	for _, text := range s.texts(key) {
		if name := squeezed(text); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

func readFooter(s *section) *footer {
	o := s.object("footer")
	if o == nil {
		return nil
	}
	f := &footer{column: columnName(o, "column"), equals: o.need("equals"), count: columnName(o, "count")}
	if f.column == "" {
		o.fail("column", "missing")
	}
	o.close()
	return f
}

// readWords reads the provider's own words for kinds or statuses; each must lead to one of ours.
func readWords[T ~string](s *section, key string, ours map[string]T) map[string]T {
	o := s.object(key)
	if o == nil {
		return ours
	}
	words := map[string]T{}
	for _, word := range o.names() {
		meaning, ok := ours[o.text(word, "")]
		if !ok {
			o.fail(strconv.Quote(word), "%q is no word for %s", o.text(word, ""), key)
		}
		words[word] = meaning
		words[strings.ToLower(word)] = meaning
	}
	return words
}

// lookup finds a word as it is written, or in any case.
func lookup[T any](words map[string]T, word string) (T, bool) {
	meaning, ok := words[word]
	if !ok {
		meaning, ok = words[strings.ToLower(word)]
	}
	return meaning, ok
}
