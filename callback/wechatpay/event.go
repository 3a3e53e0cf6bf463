package wechatpay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// message is a genuine notification: the envelope as signed, the resource as decrypted.
type message struct {
	envelope parse.Value
	resource parse.Value
	signedAt time.Time
	asked    bool // it is the answer to a question that we have signed: of a refund it need not name the merchant
}

// refundStates ties the event's name to the state it must carry. ABNORMAL is not final: it may still become SUCCESS.
var refundStates = map[string]struct {
	kind  models.EventKind
	state string
}{
	"REFUND.SUCCESS":  {models.RefundSucceeded, "SUCCESS"},
	"REFUND.CLOSED":   {models.RefundClosed, "CLOSED"},
	"REFUND.ABNORMAL": {models.RefundAbnormal, "ABNORMAL"},
	// No page lists this one; the query API and the bills know the state, and it would mean nothing else.
	"REFUND.PROCESSING": {models.RefundPending, "PROCESSING"},
}

func (m message) kind() string { return m.envelope.Get("event_type").String() }

func (m message) isPayment() bool { return m.kind() == "TRANSACTION.SUCCESS" }

func (m message) movesMoney() bool {
	_, refund := refundStates[m.kind()]
	return refund || m.isPayment()
}

// event is what the message says. Products we do not use are known by their type only.
func (m message) event() models.Event {
	ev := models.Event{ID: m.envelope.Get("id").String(), OccurredAt: m.sentAt()}
	refund, isRefund := refundStates[m.kind()]
	var err error
	switch {
	case m.isPayment():
		ev.Kind = models.PaymentSucceeded
		err = m.fillPayment(&ev)
	case isRefund:
		ev.Kind = refund.kind
		err = m.fillRefund(&ev, refund.state)
	case strings.HasPrefix(m.kind(), "COMPLAINT."):
		err = m.fillComplaint(&ev)
	case m.kind() == "":
		err = errors.New("event_type is missing")
	default:
		ev.Kind, ev.Detail = models.EventUnknown, clip(m.kind())
	}
	if err != nil {
		ev.Kind, ev.Detail = models.EventUnparsable, err.Error()
	}
	return ev
}

func (m message) fillPayment(ev *models.Event) (err error) {
	r := m.resource
	ev.TransactionID, ev.OrderID = r.Get("transaction_id").String(), r.Get("out_trade_no").String()
	if ev.Money, err = m.money("total"); err != nil {
		return err
	}
	ev.PayerMinor = m.payer("payer_total", ev.Money.Currency)
	at, dated := moment(r.Get("success_time").String())
	if dated {
		ev.OccurredAt = at
	}
	switch state := r.Get("trade_state").String(); {
	case state != "SUCCESS":
		return fmt.Errorf("trade_state is %q in TRANSACTION.SUCCESS", clip(state))
	case !dated: // it decides the business day
		return errors.New("success_time is missing or no time")
	}
	return m.checkIDs([]string{"transaction_id"}, "out_trade_no")
}

// fillRefund: amount.refund is this refund alone. Only a refund that has arrived carries success_time.
func (m message) fillRefund(ev *models.Event, state string) (err error) {
	r := m.resource
	ev.TransactionID, ev.ParentID = r.Get("refund_id").String(), r.Get("transaction_id").String()
	ev.OrderID, ev.RefundOrderID = r.Get("out_trade_no").String(), r.Get("out_refund_no").String()
	if ev.Money, err = m.money("refund"); err != nil {
		return err
	}
	ev.PayerMinor = m.payer("payer_refund", ev.Money.Currency)
	if at, dated := moment(r.Get("success_time").String()); dated {
		ev.OccurredAt = at
	}
	if got := r.Get("refund_status").String(); got != state {
		return fmt.Errorf("refund_status is %q in %s", clip(got), m.kind())
	}
	return m.checkIDs([]string{"refund_id", "transaction_id"}, "out_trade_no", "out_refund_no")
}

// checkIDs looks at the fields with ids of the provider and at those with numbers of the shop.
func (m message) checkIDs(own []string, shops ...string) error {
	for _, name := range own {
		if err := parse.CheckOwnID(m.resource.Get(name).String(), idMax); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	for _, name := range shops {
		if err := parse.CheckID(m.resource.Get(name).String()); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	return nil
}

// fillComplaint: no money, no payment; everything else is had from the complaint's own query, by its number.
func (m message) fillComplaint(ev *models.Event) error {
	ev.Kind = models.DisputeUpdated
	if m.kind() == "COMPLAINT.CREATE" {
		ev.Kind = models.DisputeCreated
	}
	if err := m.checkIDs([]string{"complaint_id"}); err != nil {
		return err
	}
	id := m.resource.Get("complaint_id").String()
	ev.TransactionID, ev.Detail = id, fmt.Sprintf("complaint %s: %s", id, clip(m.resource.Get("action_type").String()))
	return nil
}

// money reads fen from the amount object. Refunds state no currency: merchants at home have yuan only. Another currency is
// taken as it is: that it is not the order's is for the book to find.
func (m message) money(field string) (models.Money, error) {
	amount := m.resource.Get("amount")
	currency := amount.Get("currency").String()
	if currency == "" {
		currency = "CNY"
	}
	code, err := models.ParseCurrency(currency)
	if err != nil {
		return models.Money{}, fmt.Errorf("amount.currency: %w", err)
	}
	sum, err := models.ParseMinor(amount.Get(field).Number(), code, models.Digits(code))
	if err != nil {
		return models.Money{}, fmt.Errorf("amount.%s: %w", field, err)
	}
	if sum.Minor <= 0 {
		return models.Money{}, fmt.Errorf("amount.%s is %s, expected more than nothing", field, sum)
	}
	return sum, nil
}

// payer is for information, so one that can't be read is one not told. Neither is one in another currency than the order's.
func (m message) payer(field, currency string) int64 {
	amount := m.resource.Get("amount")
	sum, err := models.ParseMinor(amount.Get(field).Number(), currency, models.Digits(currency))
	if own := amount.Get("payer_currency").String(); err != nil || sum.Minor < 0 || own != "" && own != currency {
		return 0
	}
	return sum.Minor
}

// sentAt is when the provider made the message. Some products spell create_time oddly; the signed time is then near enough.
func (m message) sentAt() time.Time {
	if at, ok := moment(m.envelope.Get("create_time").String()); ok {
		return at
	}
	return m.signedAt
}

// beijing has had no summer time since the provider exists.
var beijing = time.FixedZone("UTC+8", 8*60*60)

// moment reads the documented spelling (RFC 3339) and the one that some product pages show (20180225112233, Beijing time).
func moment(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.ParseInLocation("20060102150405", text, beijing)
	}
	return at.UTC(), err == nil
}

// idMax is twice what the provider's ids and numbers have.
const idMax = 64

func isID(s string) bool { return parse.CheckOwnID(s, idMax) == nil }
