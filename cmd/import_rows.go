package cmd

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/callback/stripe"
	"paybook/ledger"
	"paybook/models"
)

var allStatuses = []models.OrderStatus{models.Unpaid, models.Paying, models.Paid, models.Shipped, models.PartRefunded, models.Refunded,
	models.Closed, models.Disputed, models.ChargedBack}

// orderReader makes orders of rows. It remembers where the latest stood: the book, which writes in portions, knows orders by number only.
type orderReader struct {
	file   string
	rows   rowReader
	recent [2048]struct {
		id   string
		line int
	}
	n int
}

func (r *orderReader) read() (models.Order, error) {
	id, err := readID(r.rows, "order_id")
	if err != nil {
		return models.Order{}, err
	}
	if id == "" {
		return models.Order{}, r.rows.Fail("order_id", "empty")
	}
	money, err := readMoney(r.rows)
	if err != nil {
		return models.Order{}, err
	}
	o := models.Order{OrderID: id, AmountMinor: money.Minor, Currency: money.Currency}
	if o.Status, err = oneOf("", r.rows.Get("status"), allStatuses...); err != nil {
		return o, r.rows.Fail("status", "%s", strings.TrimSpace(err.Error()))
	}
	if text := r.rows.Get("expires_at"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return o, r.rows.Fail("expires_at", "%q: a time with its offset expected, such as 2026-11-29T10:00:00+08:00", text)
		}
		at = at.UTC()
		o.ExpiresAt = &at
	}
	r.recent[r.n%len(r.recent)].id, r.recent[r.n%len(r.recent)].line = id, r.rows.Line()
	r.n++
	return o, nil
}

// place adds file and row to what the book says of one order.
func (r *orderReader) place(err error) error {
	var conflict *ledger.OrderConflict
	if !errors.As(err, &conflict) {
		return err
	}
	place := &models.FileError{File: r.file, What: conflict.Error(), Next: "correct the file; nothing of it was imported"}
	for i := max(0, r.n-len(r.recent)); i < r.n; i++ {
		if at := r.recent[i%len(r.recent)]; at.id == conflict.OrderID {
			place.Line = at.line
		}
	}
	return place
}

// transactionReader makes movements of rows.
type transactionReader struct {
	rows      rowReader
	accounts  map[string]*Account
	only      *Account // of every row; nil when the rows name it
	names     []string
	file      string
	reversals []ledger.Import
}

func newTransactionReader(c *Config, account, file string, rows rowReader) (*transactionReader, error) {
	if len(c.Accounts) == 0 {
		return nil, c.noAccounts()
	}
	r := &transactionReader{rows: rows, file: file, accounts: map[string]*Account{}}
	for _, a := range c.Accounts {
		r.accounts[a.Name] = a
		r.names = append(r.names, a.Name)
	}
	if account == "" && len(c.Accounts) == 1 {
		account = c.Accounts[0].Name
	}
	var err error
	if account != "" {
		r.only, err = c.account(account)
	}
	return r, err
}

func (r *transactionReader) read() (ledger.Import, error) {
	account, err := r.account()
	if err != nil {
		return ledger.Import{}, err
	}
	ev, err := r.movement(account)
	if err != nil {
		return ledger.Import{}, err
	}
	kind, err := importedKind(r.rows.Get("kind"))
	if err != nil {
		return ledger.Import{}, r.rows.Fail("kind", "%v", err)
	}
	told, err := importedEvents(kind, r.rows.Get("status"))
	if err != nil {
		return ledger.Import{}, r.rows.Fail("status", "%v", err)
	}
	if ev.TransactionID == "" && (kind != models.Refund || ev.RefundOrderID == "") {
		return ledger.Import{}, r.rows.Fail("transaction_id", "empty; only a refund that has its refund_order_id may leave it out")
	}
	if secondName(account, kind, told[0]) && ev.ParentID != "" {
		ev.Aliases = []string{ev.TransactionID, ev.ParentID}
	}
	m := ledger.Import{Account: account.Name, Place: r.file + ": row " + strconv.Itoa(r.rows.Line())}
	for _, on := range told {
		ev.Kind = on
		m.Events = append(m.Events, ev)
	}
	if kind == models.RefundReversal || kind == models.ChargebackReversal {
		r.reversals = append(r.reversals, m)
		return ledger.Import{}, nil
	}
	return m, nil
}

// secondName says whether a payment's parent_id is one more name of the payment. Stripe tells one payment by its charge and by its
// PaymentIntent; attempts that failed share the intent with the one that succeeds. Elsewhere (PayPal's order) one parent can hold
// several payments, and must not become a name of any.
func secondName(a *Account, kind models.TransactionKind, told models.EventKind) bool {
	return a.ProviderName == stripe.Name && kind == models.Payment && told != models.PaymentFailed && told != models.PaymentClosed
}

// reversalsLast hands over reversals behind all other rows, whatever the file's order: what they take back is then booked.
func (r *transactionReader) reversalsLast(seq iter.Seq2[ledger.Import, error]) iter.Seq2[ledger.Import, error] {
	return func(yield func(ledger.Import, error) bool) {
		for m, err := range seq {
			if err == nil && len(m.Events) == 0 {
				continue // a reversal, kept for later
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
		for _, m := range r.reversals {
			if !yield(m, nil) {
				return
			}
		}
	}
}

func (r *transactionReader) account() (*Account, error) {
	name := r.rows.Get("account")
	switch a := r.accounts[name]; {
	case name == "" && r.only == nil:
		return nil, r.rows.Fail("account", "empty; fill it in, or say --account with one of %s", strings.Join(r.names, ", "))
	case name == "":
		return r.only, nil
	case a == nil:
		return nil, r.rows.Fail("account", "%q is not configured; there is: %s", name, strings.Join(r.names, ", "))
	case r.only != nil && r.only != a:
		return nil, r.rows.Fail("account", "%q, but the import is for %s", name, r.only.Name)
	default:
		return a, nil
	}
}

// movement reads what all kinds of rows have.
func (r *transactionReader) movement(a *Account) (models.Event, error) {
	var ev models.Event
	var err error
	for _, id := range []struct {
		column string
		to     *string
	}{
		{"transaction_id", &ev.TransactionID}, {"parent_id", &ev.ParentID},
		{"order_id", &ev.OrderID}, {"refund_order_id", &ev.RefundOrderID},
	} {
		if *id.to, err = readID(r.rows, id.column); err != nil {
			return ev, err
		}
	}
	if ev.Money, err = readMoney(r.rows); err != nil {
		return ev, err
	}
	ev.OccurredAt, err = readTime(r.rows, "occurred_at", a.Zone)
	return ev, err
}

func importedKind(word string) (models.TransactionKind, error) {
	if strings.EqualFold(word, "dispute") {
		return models.Chargeback, nil
	}
	kind := models.TransactionKind(strings.ToLower(word))
	if !kind.Known() {
		return "", fmt.Errorf("%q: expected payment, refund, chargeback, payout, refund_reversal or chargeback_reversal", word)
	}
	return kind, nil
}

// importedStatus is how files spell one thing: as our own lists do, and as providers and the test kit do.
var importedStatus = map[string]string{"paid": "succeeded", "processing": "pending", "requested": "pending"}

// importedAs is the events that would have told a row of this kind and status. A reversal brings along what it takes back, which
// is a repeat where that is booked already.
var importedAs = map[models.TransactionKind]map[string][]models.EventKind{
	models.Payment: {
		"pending": {models.PaymentPending}, "abnormal": {models.PaymentPending}, "authorised": {models.PaymentAuthorised},
		"succeeded": {models.PaymentSucceeded}, "failed": {models.PaymentFailed}, "closed": {models.PaymentClosed},
	},
	models.Refund: {
		"pending": {models.RefundPending}, "abnormal": {models.RefundAbnormal}, "succeeded": {models.RefundSucceeded},
		"failed": {models.RefundFailed}, "closed": {models.RefundClosed}, "reversed": {models.RefundSucceeded, models.RefundFailed},
	},
	models.Chargeback: {
		"open": {models.DisputeOpened}, "succeeded": {models.DisputeOpened}, "lost": {models.DisputeLost}, "won": {models.DisputeWon},
	},
	models.Payout: {
		"pending": {models.PayoutPending}, "succeeded": {models.PayoutPaid}, "failed": {models.PayoutFailed},
	},
	models.RefundReversal:     {"succeeded": {models.RefundSucceeded, models.RefundFailed}},
	models.ChargebackReversal: {"succeeded": {models.DisputeOpened, models.DisputeWon}},
}

func importedEvents(kind models.TransactionKind, status string) ([]models.EventKind, error) {
	word := strings.ToLower(status)
	if common := importedStatus[word]; common != "" {
		word = common
	}
	if events := importedAs[kind][word]; events != nil {
		return events, nil
	}
	return nil, fmt.Errorf("%q is no status of a %s; see app import transactions --help", status, kind)
}

// readID reads an identifier: exact text, never what a spreadsheet made of it.
func readID(rows rowReader, column string) (string, error) {
	id := rows.Get(column)
	if id == "" {
		return "", nil
	}
	if parse.LooksRounded(id) {
		return "", rows.Fail(column, "%q looks like a rounded number, the file was edited", id)
	}
	if err := parse.CheckID(id); err != nil { // the rule that callbacks are read by: what is taken here can be paid
		return "", rows.Fail(column, "%v", err)
	}
	return id, nil
}

// readMoney reads amount and currency: major units, without a sign, because the kind says the direction.
func readMoney(rows rowReader) (models.Money, error) {
	currency, err := models.ParseCurrency(rows.Get("currency"))
	if err != nil {
		return models.Money{}, rows.Fail("currency", "%v", err)
	}
	m, err := models.ParseMajor(rows.Get("amount"), currency)
	if err != nil {
		return m, rows.Fail("amount", "%v", err)
	}
	if m.Minor < 0 {
		return m, rows.Fail("amount", "%s: no sign here, the kind says the direction", rows.Get("amount"))
	}
	return m, nil
}

var localLayouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00"}

// readTime reads RFC 3339, or a time without an offset in zone. The result is UTC.
func readTime(rows rowReader, column string, zone *time.Location) (time.Time, error) {
	text := rows.Get(column)
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), nil
	}
	for _, layout := range localLayouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, rows.Fail(column, "%q: expected 2026-11-29T10:00:00+08:00, or 2026-11-29 10:00:00 in the account's time zone %s", text, zone)
}
