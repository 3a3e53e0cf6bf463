package alipay

import (
	"strings"
	"testing"

	"paybook/callback/providertest/apitest"
	"paybook/models"
)

const (
	askedTrade = "2026112922001400000000000001"
	byTrade    = `alipay.trade.query {"trade_no":"` + askedTrade + `"}`
	byOrder    = `alipay.trade.query {"out_trade_no":"CNA20261129001"}`
	byRefund   = `alipay.trade.fastpay.refund.query {"out_request_no":"R1","query_options":["gmt_refund_pay"],"trade_no":"` + askedTrade + `"}`
)

var order = models.Order{OrderID: "CNA20261129001", AmountMinor: 2000, Currency: "CNY"}

// trade is the answer about the kit's trade.
func trade(t *testing.T, change fields) string {
	return mustText(t, with(fields{
		"code": "10000", "msg": "Success", "trade_no": askedTrade, "out_trade_no": "CNA20261129001", "buyer_logon_id": "159****5620",
		"trade_status": "TRADE_SUCCESS", "total_amount": "20.00", "receipt_amount": "20.00", "buyer_pay_amount": "15.00", "point_amount": "0.00",
		"send_pay_date": "2026-11-29 10:00:05", "store_id": "商店/一",
	}, change))
}

func askedRefund(t *testing.T, change fields) string {
	return mustText(t, with(fields{
		"code": "10000", "msg": "Success", "trade_no": askedTrade, "out_trade_no": "CNA20261129001", "out_request_no": "R1", "total_amount": "20.00",
		"refund_amount": "5.00", "refund_status": "REFUND_SUCCESS", "gmt_refund_pay": "2026-11-29 11:00:05",
	}, change))
}

func told(t *testing.T, p *Provider, f fields) apitest.Telling {
	t.Helper()
	cb := post(signed(t, f))
	events, err := p.Verify(t.Context(), cb)
	if err != nil {
		t.Fatal(err)
	}
	return apitest.Telling{Callback: cb, Events: events}
}

func query(t *testing.T, p *Provider, q models.Query) (apitest.Telling, error) {
	t.Helper()
	q.Asked = now
	cb, events, err := p.Query(t.Context(), apitest.Client(t), q)
	return apitest.Telling{Callback: cb, Events: events}, err
}

func TestQueryTellsWhatTheCallbackTells(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	paid := told(t, p, payment(nil))
	s.answers[byTrade], s.answers[byOrder] = trade(t, nil), trade(t, fields{"trade_status": "TRADE_CLOSED"})
	for _, q := range []models.Query{
		{Kind: models.Payment, OrderID: "CNA20261129001"}, {Kind: models.Payment, TransactionID: askedTrade, OrderID: "CNA20261129001"},
	} {
		asked, err := query(t, p, q)
		if err != nil {
			t.Fatal(err)
		}
		apitest.OneRow(t, apitest.Movement{Order: order, Told: paid, Asked: asked})
	}
	s.answers[byRefund] = askedRefund(t, nil)
	asked, err := query(t, p, models.Query{Kind: models.Refund, ParentID: askedTrade, OrderID: "CNA20261129001", RefundOrderID: "R1"})
	if err != nil {
		t.Fatal(err)
	}
	back := told(t, p, refund(nil))
	apitest.OneRow(t, apitest.Movement{Order: order, Before: []apitest.Telling{paid}, Told: back, Asked: asked})
}

func TestQueryOfStates(t *testing.T) {
	pay, back := models.Query{Kind: models.Payment, TransactionID: askedTrade}, models.Query{Kind: models.Refund, ParentID: askedTrade, RefundOrderID: "R1"}
	tests := []struct {
		name   string
		q      models.Query
		answer string
		want   models.EventKind
	}{
		{"not known", pay, "", ""},
		{"waits", pay, trade(t, fields{"trade_status": "WAIT_BUYER_PAY", "send_pay_date": gone}), ""},
		{"closed unpaid", pay, trade(t, fields{"trade_status": "TRADE_CLOSED", "send_pay_date": gone}), models.PaymentClosed},
		{"finished", pay, trade(t, fields{"trade_status": "TRADE_FINISHED"}), models.PaymentFinished},
		{"a state of tomorrow", pay, trade(t, fields{"trade_status": "TRADE_PENDING"}), models.EventUnknown},
		{"paid without a time", pay, trade(t, fields{"send_pay_date": gone}), models.EventUnparsable},
		{"an absurd sum", pay, trade(t, fields{"total_amount": "1e400"}), models.EventUnparsable},
		{"refund not come", back, askedRefund(t, fields{"refund_status": gone, "refund_amount": gone, "gmt_refund_pay": gone}), ""},
		{"refund without a time", back, askedRefund(t, fields{"gmt_refund_pay": gone}), models.EventUnparsable},
		{"refund of nothing", back, askedRefund(t, fields{"refund_amount": "0.00"}), models.EventUnparsable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			if tt.answer != "" {
				s.answers[map[models.TransactionKind]string{models.Payment: byTrade, models.Refund: byRefund}[tt.q.Kind]] = tt.answer
			}
			got, err := query(t, asking(t, s.server.URL, nil), tt.q)
			if err != nil || got.Callback.Method != "QUERY" {
				t.Fatalf("%+v, %v", got, err)
			}
			if tt.want == "" && len(got.Events) > 0 || tt.want != "" && (len(got.Events) != 1 || got.Events[0].Kind != tt.want) {
				t.Errorf("events %+v, want %q", got.Events, tt.want)
			}
		})
	}
}

func TestQueryRefusesWhatIsNotProven(t *testing.T) {
	tests := []struct {
		name string
		part string
		wrap func(name, part string) string
		want models.Reason
	}{
		{"tampered", "", func(name, part string) string {
			return strings.Replace(wrapped(t, name, part), "20.00", "10.00", 1)
		}, models.ReasonSignature},
		{"blanks added", "", func(name, part string) string {
			return strings.Replace(wrapped(t, name, part), `","`, `", "`, 1)
		}, models.ReasonSignature},
		{"unsigned", "", func(name, part string) string { return `{"` + name + `":` + part + `}` }, models.ReasonSignature},
		{"another answer's signature", "", func(name, part string) string {
			return `{"` + name + `":` + part + `,"sign":"` + sign(t, trade(t, fields{"total_amount": "10.00"})) + `"}`
		}, models.ReasonSignature},
		{"the part given twice", "", func(name, part string) string {
			return `{"` + name + `":` + trade(t, fields{"total_amount": "10.00"}) + `,` + wrapped(t, name, part)[1:]
		}, models.ReasonMalformed},
		{"another method's part", "", func(_, part string) string { return wrapped(t, "alipay_trade_refund_response", part) }, models.ReasonMalformed},
		{"no JSON", "", func(_, _ string) string { return "<html>" }, models.ReasonMalformed},
		{"another trade's", trade(t, fields{"trade_no": "2026112922001400000000000009"}), nil, models.ReasonMalformed},
		{"another seller's", trade(t, fields{"seller_id": "2088000000000099"}), nil, models.ReasonMerchant},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			if s.answers[byTrade], s.wrap = tt.part, tt.wrap; tt.part == "" {
				s.answers[byTrade] = trade(t, nil)
			}
			got, err := query(t, asking(t, s.server.URL, nil), models.Query{Kind: models.Payment, TransactionID: askedTrade})
			if apitest.Refused(err) != tt.want || got.Events != nil || len(got.Callback.Body) == 0 {
				t.Errorf("%+v, %v, want %s", got, err, tt.want)
			}
		})
	}
	// With another key configured nothing of Alipay's is genuine.
	s := newStandIn(t)
	s.answers[byTrade] = trade(t, nil)
	p := asking(t, s.server.URL, nil)
	p.keys = nil
	if _, err := query(t, p, models.Query{Kind: models.Payment, TransactionID: askedTrade}); apitest.Refused(err) != models.ReasonSignature {
		t.Errorf("without a key: %v", err)
	}
}

func TestQueryWithoutAName(t *testing.T) {
	p := asking(t, newStandIn(t).server.URL, nil)
	for _, q := range []models.Query{
		{Kind: models.Payment}, {Kind: models.Refund, RefundOrderID: "R1"}, {Kind: models.Refund, ParentID: askedTrade}, {Kind: models.Payout, TransactionID: "1"},
	} {
		if _, err := query(t, p, q); !apitest.CannotAsk(err) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// A failure that is not signed teaches nothing, and is no forgery.
func TestQueryToldOfAFailure(t *testing.T) {
	for _, name := range []string{"alipay_trade_query_response", "error_response"} {
		s := newStandIn(t)
		s.wrap = func(_, _ string) string {
			return `{"` + name + `":{"code":"40002","msg":"Invalid Arguments","sub_code":"isv.invalid-app-id"}}`
		}
		got, err := query(t, asking(t, s.server.URL, nil), models.Query{Kind: models.Payment, TransactionID: askedTrade})
		if err == nil || apitest.Refused(err) != "" || !strings.Contains(err.Error(), "40002") || got.Events != nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
