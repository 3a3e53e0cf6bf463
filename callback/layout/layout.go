// Package layout reads statements that are delimited text, whose columns and words the settings name: the ones of the provider that is
// made by configuration, and reports of other providers that everybody orders with columns of his own.
package layout

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"paybook/callback/parse"
	"paybook/models"
)

// Layout is how statements are written. It is read-only once it is read. Column names are the file's; "" is a column it does not have.
type Layout struct {
	path        string // of the settings, for errors
	options     parse.TableOptions
	encoding    string
	footer      *footer
	records     *records
	timeLayouts []string // Go layouts; nil: RFC 3339, or YYYY-MM-DD HH:MM[:SS] of the account's zone

	transactionID, parentID, orderID, refundOrderID []string // the first that holds something
	kind                                            []string // the row's word for its kind, of several columns joined by a slash
	currency, status, occurredAt, zoneColumn        string
	payoutID                                        string // of the payout or batch that a row is part of
	money                                           moneyColumns
	needed                                          []string
	rowKey                                          rowKey // names a row without an id

	only          models.TransactionKind // of every row, in a file without a column for it
	fixedCurrency string                 // likewise
	kinds         map[string]models.TransactionKind
	statuses      map[string]models.TransactionStatus
	zones         map[string]string // the file's words for zones
	fixed         bool              // the layout is the default one, whose words for kinds are all there are
	framed        bool              // rows stand between records of other kinds
}

// Default is the layout of a file that nothing is said about.
func Default() Layout {
	return Layout{
		path:          "settings.statement",
		options:       parse.TableOptions{Passing: true},
		transactionID: []string{"transaction_id"}, orderID: []string{"order_id"}, kind: []string{"type"}, currency: "currency",
		status: "status", occurredAt: "occurred_at", parentID: []string{"parent_id"}, refundOrderID: []string{"refund_order_id"}, payoutID: "payout_id",
		needed: []string{"transaction_id", "order_id", "type", "amount", "currency", "status", "occurred_at"},
		money:  moneyColumns{amount: "amount", fees: []string{"fee"}, unit: "major"},
		kinds:  kindWords, statuses: statusWords, fixed: true,
	}
}

// kindWords and statusWords are understood in any case.
var kindWords = map[string]models.TransactionKind{
	"payment": models.Payment, "refund": models.Refund, "chargeback": models.Chargeback, "dispute": models.Chargeback,
	"payout": models.Payout, "refund_reversal": models.RefundReversal, "chargeback_reversal": models.ChargebackReversal,
	"fee": models.EntryFee, "conversion": models.EntryConversion, "adjustment": models.EntryAdjustment,
	"reserve": models.EntryReserve,
}

var statusWords = map[string]models.TransactionStatus{
	"succeeded": models.StatusSucceeded, "success": models.StatusSucceeded, "paid": models.StatusSucceeded,
	"pending": models.StatusPending, "processing": models.StatusPending, "authorised": models.StatusAuthorised,
	"failed": models.StatusFailed, "closed": models.StatusClosed,
	"revoked": models.StatusReversed, "reversed": models.StatusReversed,
}

// New reads a layout. The keys of the business day, and of the file as a whole, are the caller's, who also closes the section.
func New(s *parse.Section) Layout {
	l := Default()
	l.path, l.fixed = s.Path(), false
	l.readFile(s)
	l.readRows(s)
	return l
}

// NewFramed reads the layout of a report whose rows stand between records of other kinds, in UTF-8 with commas; for ReadFramed. What
// leaves us has a minus unless the settings say otherwise, and times are written in one of these layouts. The section is the
// caller's to close.
func NewFramed(s *parse.Section, times ...string) Layout {
	l := Default()
	l.path, l.fixed, l.framed = s.Path(), false, true
	if !s.Has("columns") {
		s.Fail("columns", "missing: name those of your own file's header")
	}
	if !s.Has("kinds") && !s.Has("kind") {
		s.Fail("kinds", "missing: say which of the file's words are payments, refunds and so on")
	}
	l.readRows(s)
	if l.timeLayouts == nil {
		l.timeLayouts = times
	}
	return l
}

// readFile reads how the file is made of rows and cells.
func (l *Layout) readFile(s *parse.Section) {
	s.Word("format", "csv", "csv")
	l.encoding = s.Word("encoding", "utf-8", "utf-8", "gbk", "gb18030", "utf-16")
	l.options = parse.TableOptions{
		Delimiter: readDelimiter(s), SkipLines: s.Whole("skip_lines", 0, 0), Converted: l.encoding != "utf-8", Passing: true,
	}
	header := s.Flag("header")
	l.options.NoHeader = header != nil && !*header
}

// readRows reads what stands in the rows.
func (l *Layout) readRows(s *parse.Section) {
	l.timeLayouts = s.Texts("time_layout")
	l.readZones(s)
	l.readFixed(s)
	l.readColumns(s)
	l.footer = readFooter(s)
	l.records = readRecords(s)
	l.kinds = readWords(s, "kinds", kindWords)
	l.statuses = readWords(s, "statuses", statusWords)
}

func (l *Layout) readZones(s *parse.Section) {
	if o := s.Object("zones"); o != nil {
		l.zones = map[string]string{}
		for _, word := range o.Names() {
			l.zones[word] = o.Zone(word, "")
		}
	}
}

// Only is the one kind of transactions that such a file can hold; "" is any.
func (l *Layout) Only() models.TransactionKind { return l.only }

// readFixed reads what every row of a file is, where no column says it.
func (l *Layout) readFixed(s *parse.Section) {
	if word := s.Text("kind", ""); word != "" {
		var known bool
		if l.only, known = kindWords[word]; !known {
			s.Fail("kind", "%q is no word for kinds", word)
		}
	}
	if code := s.Text("currency", ""); code != "" {
		known, err := models.ParseCurrency(code)
		if err != nil {
			s.Fail("currency", "%v", err)
		}
		l.fixedCurrency = known
	}
}

func readDelimiter(s *parse.Section) rune {
	text := s.Text("delimiter", ",")
	if text == "tab" {
		return '\t'
	}
	delimiter, size := utf8.DecodeRuneInString(text)
	if size != len(text) || size == 0 || strings.ContainsRune("\"\r\n", delimiter) {
		s.Fail("delimiter", "one character, or tab, expected")
	}
	return delimiter
}

// readWords reads the provider's own words for kinds or statuses; each must lead to one of ours.
func readWords[T ~string](s *parse.Section, key string, ours map[string]T) map[string]T {
	o := s.Object(key)
	if o == nil {
		return ours
	}
	words := map[string]T{}
	for _, word := range o.Names() {
		meaning, ok := ours[o.Text(word, "")]
		if !ok {
			o.Fail(strconv.Quote(word), "%q is no word for %s", o.Text(word, ""), key)
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

func clip(text string) string {
	const max = 60
	if len(text) > max {
		return text[:max] + "…"
	}
	return text
}
