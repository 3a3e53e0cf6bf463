package layout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

func (r *rowReader) entry() (models.Entry, error) {
	e := models.Entry{Line: r.Line(), Status: models.StatusSucceeded}
	if err := r.readKind(&e); err != nil {
		return e, err
	}
	err := r.readIDs(&e)
	if err == nil {
		err = r.readMoney(&e)
	}
	if err == nil {
		e.OccurredAt, err = r.readTime()
	}
	if r.status != "" {
		r.readStatus(&e)
	}
	return e, err
}

// places are where the columns stand that every row is read by: each has the places of the names that the layout gives.
type places struct {
	transactionID, parentID, orderID, refundOrderID, payoutID, kind, fees []int
	amount, currency, status, occurredAt, zone                            int
	feesTold                                                              bool // the file has a column for them
}

// findPlaces looks the columns up in the header that holds now.
func (r *rowReader) findPlaces() {
	all := func(names []string) []int {
		list := make([]int, len(names))
		for i, name := range names {
			list[i] = r.Column(name)
		}
		return list
	}
	r.at = places{
		transactionID: all(r.transactionID), parentID: all(r.parentID), orderID: all(r.orderID), refundOrderID: all(r.refundOrderID),
		payoutID: all([]string{r.payoutID}), kind: all(r.kind), fees: all(r.money.fees), amount: r.Column(r.money.amount), currency: r.Column(r.currency),
		status: r.Column(r.status), occurredAt: r.Column(r.occurredAt), zone: r.Column(r.zoneColumn),
	}
	r.at.feesTold = slices.ContainsFunc(r.at.fees, func(place int) bool { return place >= 0 })
}

// memo is the last word that was looked up: rows mostly repeat the one before.
type memo[T any] struct {
	word    string
	meaning T
	known   bool
}

func (m *memo[T]) lookup(words map[string]T, word string) (T, bool) {
	if word != m.word || !m.known {
		m.word = word
		m.meaning, m.known = lookup(words, word)
	}
	return m.meaning, m.known
}

func (r *rowReader) readKind(e *models.Entry) error {
	if e.Kind = r.only; r.only != "" {
		return nil
	}
	word, kind, known := r.kindWord()
	switch {
	case known:
		e.Kind = kind
	case r.fixed:
		return r.Fail(r.kind[0], "%q is no kind of this layout, expected one of %s", clip(word), strings.Join(slices.Sorted(maps.Keys(kindWords)), ", "))
	default:
		e.Kind, e.StatusText, e.UnknownKind = models.EntryAdjustment, word, cmp.Or(word, "(empty)")
	}
	return nil
}

// kindWord is the row's word for its kind: of several columns "Dispute/Chargeback", where the first alone may be what is known.
func (r *rowReader) kindWord() (word string, kind models.TransactionKind, known bool) {
	if len(r.kind) == 0 {
		return "", "", false
	}
	word = r.At(r.at.kind[0])
	first := word
	for _, column := range r.at.kind[1:] {
		if cell := r.At(column); cell != "" {
			word += "/" + cell
		}
	}
	if kind, known = r.lastKind.lookup(r.kinds, word); !known {
		kind, known = lookup(r.kinds, first)
	}
	return word, kind, known
}

func (r *rowReader) readIDs(e *models.Entry) (err error) {
	read := func(columns []string, places []int) (id string) {
		for i, place := range places {
			if err != nil || id != "" {
				break
			}
			if id = r.At(place); parse.LooksRounded(id) {
				id, err = r.ID(columns[i])
			}
		}
		return id
	}
	e.TransactionID, e.ParentID = read(r.transactionID, r.at.transactionID), read(r.parentID, r.at.parentID)
	e.OrderID, e.RefundOrderID = read(r.orderID, r.at.orderID), read(r.refundOrderID, r.at.refundOrderID)
	if r.at.payoutID[0] >= 0 {
		e.PayoutID = read([]string{r.payoutID}, r.at.payoutID)
	}
	if err != nil {
		return err
	}
	if e.TransactionID == "" && r.rowKey != nil {
		e.TransactionID = r.rowKey.of(r)
	}
	if e.ParentID == e.TransactionID && e.Kind == models.Payment {
		e.ParentID = "" // where one column serves payments and what belongs to them
	}
	// A refund may be known by the shop's number alone; any other row that is compared needs the provider's id.
	named := e.TransactionID != "" || e.Kind == models.Refund && e.RefundOrderID != "" && e.ParentID != ""
	if e.Kind.Known() && !named {
		return r.Fail(strings.Join(r.transactionID, ", "), "empty: the row of a %s must name it", e.Kind)
	}
	return nil
}

func (r *rowReader) readMoney(e *models.Entry) error {
	currency := r.fixedCurrency
	if currency == "" {
		currency = r.At(r.at.currency)
		if _, err := models.ParseCurrency(currency); err != nil {
			return r.Fail(r.currency, "%v", err)
		}
	}
	m, err := r.money.amountOf(r, currency)
	if err != nil {
		return err
	}
	if r.framed && r.againstKind(e.Kind, m) {
		r.turnAway(e, m)
	}
	if e.Money, err = r.withoutSign(e.Kind, m); err != nil {
		return err
	}
	if e.Fee, err = r.money.feeOf(r, currency); r.at.feesTold && e.Fee.Currency == "" {
		e.Fee.Currency = e.Money.Currency // told, as nothing
	}
	if err != nil || r.money.netDebit == "" {
		return err
	}
	gross, err := r.money.grossOf(r, currency, e.Fee.Minor)
	if err == nil && e.Moved() != gross {
		e.Gross = gross
	}
	return err
}

// againstKind is true for a sum that goes the other way than its kind: a payment that we made, a refund that we were given.
func (r *rowReader) againstKind(kind models.TransactionKind, m models.Money) bool {
	switch kind {
	case models.Refund, models.Chargeback:
		return r.money.signed && m.Minor > 0
	case models.Payment, models.RefundReversal, models.ChargebackReversal:
		return r.money.signed && m.Minor < 0
	}
	return false
}

// turnAway makes an adjustment of a row against its kind. It is told as a kind of its own, for the sign may also be misunderstood.
func (r *rowReader) turnAway(e *models.Entry, m models.Money) {
	word, _, _ := r.kindWord()
	if e.UnknownKind = cmp.Or(word, string(e.Kind)) + " without a minus"; m.Minor < 0 {
		e.UnknownKind = cmp.Or(word, string(e.Kind)) + " with a minus"
	}
	e.Kind, e.StatusText = models.EntryAdjustment, word
}

// withoutSign checks that the sign goes with the kind, and drops it. In a signed layout money that leaves us is negative; in one
// without signs only what takes money back may have a minus. Fees and payouts count what left us; the rest keeps its sign.
func (r *rowReader) withoutSign(kind models.TransactionKind, m models.Money) (models.Money, error) {
	out := kind == models.Refund || kind == models.Chargeback
	switch {
	case kind == models.EntryFee, kind == models.Payout:
		if r.money.signed {
			m.Minor = -m.Minor
		}
	case !kind.Known():
	case !out && m.Minor < 0:
		return m, r.Fail(r.money.place(), "%s: a %s cannot be negative", m, kind)
	case out && r.money.signed && m.Minor > 0:
		return m, r.Fail(r.money.place(), "%s: a %s is negative in this layout (%s.sign)", m, kind, r.path)
	default:
		m = m.Abs()
	}
	return m, nil
}

func (r *rowReader) readTime() (time.Time, error) {
	layouts := r.timeLayouts
	cell := r.At(r.at.occurredAt)
	if layouts == nil && strings.IndexByte(cell, 'T') >= 0 {
		layouts = isoLayouts
	}
	zone, err := r.rowZone()
	if err != nil {
		return time.Time{}, err
	}
	at, err := parse.LocalTime(cell, zone, layouts...)
	if err != nil {
		return at, r.Fail(r.occurredAt, "%v", err)
	}
	return at, nil
}

var isoLayouts = []string{time.RFC3339, "2006-01-02T15:04:05"}

// rowZone is the zone of the row's time, where a column names it.
func (r *rowReader) rowZone() (*time.Location, error) {
	word := r.At(r.at.zone)
	if r.zoneColumn == "" || word == "" {
		return r.zone, nil
	}
	if zone := r.zonesAt[word]; zone != nil {
		return zone, nil
	}
	zone, err := zoneOf(cmp.Or(r.zones[word], word))
	if err != nil {
		return nil, r.Fail(r.zoneColumn, "%v (%s.zones can say which one it is)", err, r.path)
	}
	if r.zonesAt == nil {
		r.zonesAt = map[string]*time.Location{}
	}
	r.zonesAt[strings.Clone(word)] = zone
	return zone, nil
}

// zoneOf reads the name of a zone, or an offset: +08:00, UTC+8, GMT-03:00. A short name such as IST is not guessed.
func zoneOf(text string) (*time.Location, error) {
	short := strings.TrimPrefix(strings.TrimPrefix(text, "UTC"), "GMT")
	for _, layout := range []string{"-07:00", "-0700", "-07", "-7"} {
		padded := short
		if layout == "-7" && len(short) == 2 {
			layout, padded = "-07", short[:1]+"0"+short[1:]
		}
		if at, err := time.Parse(layout, padded); err == nil {
			_, offset := at.Zone()
			return time.FixedZone(text, offset), nil
		}
	}
	zone, err := time.LoadLocation(text)
	if err != nil || text == "Local" || !strings.Contains(text, "/") && text != "UTC" && text != "GMT" {
		return nil, fmt.Errorf("%q is no time zone, expected a name such as Asia/Shanghai or an offset such as +08:00", clip(text))
	}
	return zone, nil
}

func (r *rowReader) readStatus(e *models.Entry) {
	word := r.At(r.at.status)
	status, known := r.lastStatus.lookup(r.statuses, word)
	if e.Status = status; !known {
		e.Status = models.StatusUnknown
	}
	if e.StatusText == "" { // an unmapped kind's word says more
		e.StatusText = word
	}
}
