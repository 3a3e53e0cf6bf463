package generic

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"paybook/callback/parse"
	"paybook/models"
)

// layout is how the provider writes its statements. Column names are the file's; "" is a column it does not have.
type layout struct {
	options     parse.TableOptions
	encoding    string
	footer      *footer
	timeLayouts []string // Go layouts; nil: RFC 3339, or YYYY-MM-DD HH:MM[:SS] of the account's zone

	transactionID, parentID, orderID, refundOrderID string
	kind, amount, fee, currency, status, occurredAt string
	needed                                          []string

	kinds    map[string]models.TransactionKind
	statuses map[string]models.TransactionStatus
	unit     string
	digits   map[string]int
	fixed    bool // the layout is the default one, whose words for kinds are all there are
	signed   bool // money leaving us is negative; else amounts have no sign of their own
}

// footer is the line that ends the rows: its column holds a fixed text. The cell of the count column, by default the one behind
// the marker if a whole number stands there, is the number of rows before it.
type footer struct{ column, equals, count string }

// defaultLayout is used when the settings have no statement.
func defaultLayout() layout {
	return layout{
		transactionID: "transaction_id", orderID: "order_id", kind: "type", amount: "amount", currency: "currency",
		status: "status", occurredAt: "occurred_at", parentID: "parent_id", refundOrderID: "refund_order_id",
		needed: []string{"transaction_id", "order_id", "type", "amount", "currency", "status", "occurred_at"},
		kinds:  kindWords, statuses: statusWords, unit: "major", fixed: true,
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
	l.unit = s.word("amount_unit", "major", "minor", "major", "hundredths")
	l.digits = readDigits(s)
	l.signed = s.word("sign", "absolute", "signed", "absolute") == "signed"
	l.readColumns(s)
	l.footer = readFooter(s)
	l.kinds = readWords(s, "kinds", kindWords)
	l.statuses = readWords(s, "statuses", statusWords)
	s.close()
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
		return // the names of the default layout
	}
	gross := columnName(o, "gross")
	columns := []struct {
		key  string
		into *string
		need bool
	}{
		{"transaction_id", &l.transactionID, true}, {"parent_id", &l.parentID, false}, {"order_id", &l.orderID, false},
		{"refund_order_id", &l.refundOrderID, false}, {"kind", &l.kind, true}, {"amount", &l.amount, gross == ""},
		{"fee", &l.fee, false}, {"currency", &l.currency, true}, {"status", &l.status, false},
		{"occurred_at", &l.occurredAt, true},
	}
	for _, c := range columns {
		if *c.into = columnName(o, c.key); c.need && *c.into == "" {
			o.fail(c.key, "missing: the column of the file it stands in")
		}
	}
	if gross != "" {
		if l.amount != "" {
			o.fail("gross", "give either gross or amount")
		}
		l.amount = gross
	}
	l.needed = []string{columnName(o, "net"), columnName(o, "batch")}
	for _, c := range columns {
		l.needed = append(l.needed, *c.into)
	}
	l.needed = slices.DeleteFunc(l.needed, func(name string) bool { return name == "" })
	o.close()
}

// columnName is a column's name as a table knows it, with single spaces.
func columnName(s *section, key string) string {
	return strings.Join(strings.Fields(s.text(key, "")), " ")
}

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
