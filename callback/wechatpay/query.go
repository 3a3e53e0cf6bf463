package wechatpay

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// Query asks about a payment, by the provider's id or the shop's order number, or about a refund by the shop's refund number; a refund
// can't be asked for by the provider's id. A service provider's account asks for each of its merchants until one knows it.
func (p *Provider) Query(ctx context.Context, client *http.Client, q models.Query) (cb models.Callback, events []models.Event, err error) {
	if err := p.canAsk(); err != nil {
		return cb, nil, err
	}
	path, err := p.question(q)
	if err != nil {
		return cb, nil, err
	}
	for _, merchant := range p.merchants(q) {
		u, err := p.target(path, merchant)
		if err != nil {
			return cb, nil, err
		}
		answer, signedAt, err := p.get(ctx, client, u, q.Asked)
		if answer.Status != 0 {
			cb = answer.Evidence(u.Path, q.Asked)
		}
		if err != nil {
			return cb, nil, err
		}
		if unknown[said(answer)] {
			continue
		}
		if err := answer.OK(said(answer)); err != nil {
			return cb, nil, err
		}
		doc, err := object(answer.Body, "answer")
		if err != nil {
			return cb, nil, err
		}
		events, err = p.answered(q, message{resource: doc, signedAt: signedAt, asked: true})
		return cb, events, err
	}
	return cb, nil, nil
}

// unknown are the answers about what WeChat Pay has never heard of.
var unknown = map[string]bool{"ORDER_NOT_EXIST": true, "ORDERNOTEXIST": true, "RESOURCE_NOT_EXISTS": true}

// question is the path that asks by the best name there is.
func (p *Provider) question(q models.Query) (string, error) {
	pay := "/v3/pay/transactions/"
	if len(p.subMchIDs) > 0 {
		pay = "/v3/pay/partner/transactions/"
	}
	switch {
	case q.Kind == models.Refund && q.RefundOrderID != "":
		return "/v3/refund/domestic/refunds/" + url.PathEscape(q.RefundOrderID), nil
	case q.Kind == models.Refund:
		return "", &models.CannotAsk{What: "WeChat Pay finds a refund by the shop's refund number, which is not known"}
	case q.Kind != models.Payment:
		return "", &models.CannotAsk{What: "WeChat Pay is asked about payments and refunds only"}
	case q.TransactionID != "":
		return pay + "id/" + url.PathEscape(q.TransactionID), nil
	case q.OrderID != "":
		return pay + "out-trade-no/" + url.PathEscape(q.OrderID), nil
	}
	return "", &models.CannotAsk{What: "neither WeChat Pay's id nor the order number is known"}
}

// merchants are the parameters that say whose order it is.
func (p *Provider) merchants(q models.Query) []url.Values {
	var all []url.Values
	for _, sub := range p.subMchIDs {
		params := url.Values{"sub_mchid": {sub}}
		if q.Kind == models.Payment {
			params.Set("sp_mchid", p.mchID)
		}
		all = append(all, params)
	}
	switch {
	case all != nil:
		return all
	case q.Kind == models.Refund:
		return []url.Values{nil}
	}
	return []url.Values{{"mchid": {p.mchID}}}
}

// answered is what an answer says, in the events of the callback that would have told it.
func (p *Provider) answered(q models.Query, m message) ([]models.Event, error) {
	if err := isAbout(q, m.resource); err != nil {
		return nil, err
	}
	kind, change := paymentTold(m.resource)
	if q.Kind == models.Refund {
		kind, change = refundTold(m.resource)
	}
	m.envelope = parse.Of(map[string]any{"event_type": kind, "create_time": began(m.resource)})
	m.resource = parse.Of(changed(m.resource, change))
	if err := p.checkMerchant(m); err != nil || kind == "" {
		return nil, err
	}
	return []models.Event{m.event()}, nil
}

// isAbout refuses an answer to another question, as a copy of an earlier one would be.
func isAbout(q models.Query, doc parse.Value) error {
	asked := map[string]string{"transaction_id": q.TransactionID, "out_trade_no": q.OrderID}
	if q.Kind == models.Refund {
		asked = map[string]string{"out_refund_no": q.RefundOrderID, "transaction_id": q.ParentID}
	}
	for field, want := range asked {
		if got := doc.Get(field).String(); want != "" && got != "" && got != want {
			return reject(models.ReasonMalformed, "the answer is about %s %q, asked was %q", field, clip(got), clip(want))
		}
	}
	return nil
}

// paymentTold: an order that is refunded was paid first, and the refunds are asked for by themselves. Orders that are not paid, closed
// ones among them, have no transaction yet: nothing has moved. "" is no event.
func paymentTold(doc parse.Value) (kind string, change map[string]any) {
	switch state := doc.Get("trade_state").String(); state {
	case "SUCCESS", "REFUND":
		return "TRANSACTION.SUCCESS", map[string]any{"trade_state": "SUCCESS"}
	case "NOTPAY", "USERPAYING", "CLOSED", "PAYERROR", "REVOKED":
		return "", nil
	default:
		return "trade_state " + clip(state), nil
	}
}

// refundTold: the answer calls status what the callback calls refund_status.
func refundTold(doc parse.Value) (kind string, change map[string]any) {
	state := doc.Get("status").String()
	return "REFUND." + strings.ToUpper(clip(state)), map[string]any{"refund_status": state}
}

// began is when a refund that is under way was asked for. Of one that came to nothing nobody tells when: then it is the answer's time.
func began(doc parse.Value) any {
	if doc.Get("status").String() == "PROCESSING" {
		return doc.Get("create_time").Any()
	}
	return nil
}

func changed(doc parse.Value, change map[string]any) map[string]any {
	all, _ := doc.Any().(map[string]any)
	all = maps.Clone(all)
	maps.Copy(all, change)
	return all
}
