package alipay

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/encoding/simplifiedchinese"

	"paybook/callback/parse"
	"paybook/models"
)

// currency of everything: the mainland gateway states none.
const currency = "CNY"

// tradeSync is the notify_type of everything that is about a payment.
const tradeSync = "trade_status_sync"

// fieldsRead are the fields that decide anything here.
var fieldsRead = []string{
	"app_id", "charset", "gmt_close", "gmt_payment", "gmt_refund", "buyer_pay_amount", "notify_id", "notify_time", "notify_type",
	"out_biz_no", "out_trade_no", "refund_fee", "seller_email", "seller_id", "total_amount", "trade_no", "trade_status",
}

// message is a proven form, read in its own charset.
type message struct {
	form form
	gbk  bool
}

func newMessage(f form) message {
	charset, _ := f.get("charset")
	switch strings.ToLower(charset) {
	case "gbk", "gb2312", "gb18030":
		return message{f, true}
	}
	return message{f, false}
}

// get is a field in UTF-8, "" when it is not there. Bytes without a meaning in the charset become U+FFFD, which no id may have;
// in a charset we do not know only what is ASCII has one.
func (m message) get(name string) string {
	value, _ := m.form.get(name)
	if !m.gbk {
		return strings.ToValidUTF8(value, string(unicode.ReplacementChar))
	}
	text, err := simplifiedchinese.GB18030.NewDecoder().String(value)
	if err != nil {
		return string(unicode.ReplacementChar)
	}
	return text
}

func (m message) isTrade() bool {
	kind := m.get("notify_type")
	return kind == tradeSync || kind == "" || m.get("trade_status") != ""
}

// event is what the message says. The refund comes to the same address, in the same state, as the payment: only refund_fee
// tells them apart.
func (m message) event() models.Event {
	ev := models.Event{ID: clip(m.get("notify_id")), OccurredAt: m.sentAt(), Detail: clip(m.get("subject"))}
	if !m.isTrade() {
		ev.Kind, ev.Detail = models.EventUnknown, clip(m.get("notify_type"))
		return ev
	}
	refunded, err := m.refunded()
	state := m.get("trade_status")
	switch {
	case state == "TRADE_FINISHED":
		// Even after refunds it is about the payment alone: it says that no refund is possible any more. The refunds had messages of
		// their own, and this one does not say which they were.
		ev.Kind = models.PaymentFinished
		if refunded.Minor > 0 {
			ev.Detail = "refunded so far: " + refunded.String()
		}
		err = m.fillPayment(&ev)
	case err != nil:
	case state == "TRADE_SUCCESS" && refunded.Minor == 0:
		ev.Kind = models.PaymentSucceeded
		err = m.fillPayment(&ev)
	case state == "TRADE_CLOSED" && refunded.Minor == 0:
		ev.Kind = models.PaymentClosed
		err = m.fillClosed(&ev)
	case state == "TRADE_SUCCESS", state == "TRADE_CLOSED":
		ev.Kind, ev.Money = models.RefundSucceeded, refunded
		err = m.fillRefund(&ev)
	case state == "":
		err = errors.New("trade_status is missing")
	default:
		ev.Kind, ev.Detail = models.EventUnknown, clip(state)
	}
	if err != nil {
		ev.Kind, ev.Detail = models.EventUnparsable, err.Error()
	}
	return ev
}

// refunded is the sum refunded so far, zero when there was no refund: old notifications of payments carry a refund_fee of 0.00.
func (m message) refunded() (models.Money, error) {
	none := models.Money{Currency: currency}
	sum, text := none, m.get("refund_fee")
	if text != "" {
		var err error
		if sum, err = models.ParseMajor(text, currency); err != nil {
			return none, fmt.Errorf("refund_fee: %w", err)
		}
	}
	switch {
	case sum.Minor < 0:
		return none, fmt.Errorf("refund_fee is %s, expected no sign", sum)
	case sum.Minor == 0 && m.get("gmt_refund") != "":
		return none, fmt.Errorf("gmt_refund tells of a refund, refund_fee is %q", clip(text))
	}
	return sum, nil
}

func (m message) fillPayment(ev *models.Event) error {
	if err := m.fillTrade(ev); err != nil {
		return err
	}
	if payer, err := models.ParseMajor(m.get("buyer_pay_amount"), currency); err == nil && payer.Minor > 0 {
		ev.PayerMinor = payer.Minor // for information, so one that can't be read is one not told
	}
	at, err := moment(m.get("gmt_payment")) // decides the business day
	if err != nil {
		return fmt.Errorf("gmt_payment: %w", err)
	}
	ev.OccurredAt = at
	return nil
}

func (m message) fillClosed(ev *models.Event) error {
	if at, err := moment(m.get("gmt_close")); err == nil {
		ev.OccurredAt = at
	}
	return m.fillTrade(ev)
}

// fillTrade takes the order's amount (total_amount), never what was paid or received after discounts.
func (m message) fillTrade(ev *models.Event) error {
	ev.TransactionID, ev.OrderID = m.get("trade_no"), m.get("out_trade_no")
	sum, err := models.ParseMajor(m.get("total_amount"), currency)
	switch {
	case err != nil:
		return fmt.Errorf("total_amount: %w", err)
	case sum.Minor <= 0:
		return fmt.Errorf("total_amount is %s, expected more than nothing", sum)
	}
	ev.Money = sum
	return m.checkIDs()
}

// fillRefund: the message has no id of the refund and not its own sum, only the payment's id, the shop's number of the refund and
// the running total. A refund asked for without a number is known by the payment's.
func (m message) fillRefund(ev *models.Event) error {
	ev.RunningTotal = true
	ev.ParentID, ev.OrderID, ev.RefundOrderID = m.get("trade_no"), m.get("out_trade_no"), m.get("out_biz_no")
	if ev.RefundOrderID == "" {
		ev.RefundOrderID = ev.ParentID
	}
	for _, name := range []string{"gmt_refund", "gmt_close"} { // else when it was sent, which is soon after
		if at, err := moment(m.get(name)); err == nil {
			ev.OccurredAt = at
			break
		}
	}
	if err := parse.CheckID(ev.RefundOrderID); err != nil {
		return fmt.Errorf("out_biz_no %w", err)
	}
	if ev.OccurredAt.IsZero() {
		return errors.New("gmt_refund is missing or no time")
	}
	return m.checkIDs()
}

func (m message) checkIDs() error {
	if err := parse.CheckOwnID(m.get("trade_no"), idMax); err != nil {
		return fmt.Errorf("trade_no %w", err)
	}
	if err := parse.CheckID(m.get("out_trade_no")); err != nil {
		return fmt.Errorf("out_trade_no %w", err)
	}
	return nil
}

// sentAt is when the message was first sent, zero when it does not say.
func (m message) sentAt() time.Time {
	at, err := moment(m.get("notify_time"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// beijing has had no summer time since the provider exists.
var beijing = time.FixedZone("UTC+8", 8*60*60)

// moment reads Beijing time without zone. The milliseconds of gmt_refund are dropped: the bill has none.
func moment(text string) (time.Time, error) {
	at, err := parse.LocalTime(text, beijing, "2006-01-02 15:04:05")
	return at.Truncate(time.Second), err
}

// idMax is how many characters the provider's own ids have at most; they are ASCII.
const idMax = 64

func isID(s string) bool { return parse.CheckOwnID(s, idMax) == nil }
