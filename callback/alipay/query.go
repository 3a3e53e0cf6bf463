package alipay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"paybook/callback/parse"
	"paybook/models"
)

// Query asks about a trade, by Alipay's number or the shop's, or about a refund of one by the shop's refund number.
func (p *Provider) Query(ctx context.Context, client *http.Client, q models.Query) (cb models.Callback, events []models.Event, err error) {
	if err := p.canAsk(); err != nil {
		return cb, nil, err
	}
	method, question, err := questionOf(q)
	if err != nil {
		return cb, nil, err
	}
	cb, answer, err := p.call(ctx, client, method, question, q.Asked)
	if err != nil {
		return cb, nil, err
	}
	if strings.HasSuffix(answer.Get("sub_code").String(), "TRADE_NOT_EXIST") {
		return cb, nil, nil
	}
	if err := p.failed(answer); err != nil {
		return cb, nil, err
	}
	if err := p.isAbout(answer, question); err != nil {
		return cb, nil, err
	}
	if q.Kind == models.Refund {
		return cb, refundAnswered(answer, q), nil
	}
	return cb, tradeAnswered(answer, q.Asked), nil
}

// questionOf names the trade by Alipay's number where it is known, else by the shop's.
func questionOf(q models.Query) (method string, question map[string]any, err error) {
	own, question := q.TransactionID, map[string]any{}
	if q.Kind == models.Refund {
		own = q.ParentID
	}
	switch {
	case own != "":
		question["trade_no"] = own
	case q.OrderID != "":
		question["out_trade_no"] = q.OrderID
	default:
		return "", nil, &models.CannotAsk{What: "neither Alipay's trade number nor the order number is known"}
	}
	switch q.Kind {
	case models.Payment:
		return "alipay.trade.query", question, nil
	case models.Refund:
		number := q.RefundOrderID
		if number == own && q.OrderID != "" { // asked for without a number: then it is the order's, and the book's is the trade's
			number = q.OrderID
		}
		if number == "" {
			return "", nil, &models.CannotAsk{What: "Alipay finds a refund by the shop's refund number, which is not known"}
		}
		question["out_request_no"], question["query_options"] = number, []string{"gmt_refund_pay"}
		return "alipay.trade.fastpay.refund.query", question, nil
	}
	return "", nil, &models.CannotAsk{What: "Alipay is asked about payments and refunds only"}
}

// isAbout refuses an answer to another question, and one about another seller's trade.
func (p *Provider) isAbout(answer parse.Value, question map[string]any) error {
	for _, field := range []string{"trade_no", "out_trade_no", "out_request_no"} {
		want, asked := question[field].(string)
		if got := answer.Get(field).String(); asked && got != "" && got != want {
			return reject(models.ReasonMalformed, "the answer is about %s %s, asked was %s", field, printable(got), printable(want))
		}
	}
	if seller := answer.Get("seller_id").String(); seller != "" && seller != p.sellerID {
		return reject(models.ReasonMerchant, "seller_id %s is not this account's", printable(seller))
	}
	return nil
}

// tradeAnswered puts a trade as a notification of it would. One that is closed and has been paid was refunded in whole; the refunds are
// asked for by themselves. One that waits for its buyer has not moved.
func tradeAnswered(answer parse.Value, asked time.Time) []models.Event {
	state, paid := answer.Get("trade_status").String(), answer.Get("send_pay_date").String()
	switch {
	case state == "WAIT_BUYER_PAY":
		return nil
	case state == "TRADE_CLOSED" && paid != "":
		state = "TRADE_SUCCESS"
	}
	m := message{form: form{
		{"buyer_pay_amount", answer.Get("buyer_pay_amount").Text()}, {"gmt_payment", paid}, {"notify_time", asked.In(beijing).Format(time.DateTime)},
		{"notify_type", tradeSync}, {"out_trade_no", answer.Get("out_trade_no").String()}, {"total_amount", answer.Get("total_amount").Text()},
		{"trade_no", answer.Get("trade_no").String()}, {"trade_status", state},
	}}
	return []models.Event{m.event()}
}

// refundAnswered: only one that has arrived has a status; without one it has not come, or not yet. It tells the refund's own sum, where
// a notification tells the running total.
func refundAnswered(answer parse.Value, q models.Query) []models.Event {
	if answer.Get("refund_status").String() != "REFUND_SUCCESS" {
		return nil
	}
	ev := models.Event{Kind: models.RefundSucceeded, ParentID: answer.Get("trade_no").String(), OrderID: answer.Get("out_trade_no").String(),
		RefundOrderID: q.RefundOrderID}
	if err := fillAnswered(&ev, answer); err != nil {
		ev.Kind, ev.Detail = models.EventUnparsable, err.Error()
	}
	return []models.Event{ev}
}

func fillAnswered(ev *models.Event, answer parse.Value) (err error) {
	if ev.Money, err = models.ParseMajor(answer.Get("refund_amount").Text(), currency); err != nil {
		return fmt.Errorf("refund_amount: %w", err)
	}
	if ev.Money.Minor <= 0 {
		return errors.New("refund_amount: expected more than nothing")
	}
	if ev.OccurredAt, err = moment(answer.Get("gmt_refund_pay").String()); err != nil {
		return fmt.Errorf("gmt_refund_pay: %w", err)
	}
	if err := parse.CheckOwnID(ev.ParentID, idMax); err != nil {
		return fmt.Errorf("trade_no %w", err)
	}
	if err := parse.CheckID(ev.OrderID); err != nil {
		return fmt.Errorf("out_trade_no %w", err)
	}
	return nil
}
