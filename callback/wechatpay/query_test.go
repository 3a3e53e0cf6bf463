package wechatpay

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest/apitest"
	"paybook/models"
)

const (
	byOrder  = "/v3/pay/transactions/out-trade-no/CNW20261129001?mchid=1999999901"
	byID     = "/v3/pay/transactions/id/4200002999202611290000000001?mchid=1999999901"
	byRefund = "/v3/refund/domestic/refunds/CNWR20261129001"
)

// askedRefund is the query's own spelling of a refund.
func askedRefund(change fields) fields {
	return with(with(refund(fields{"mchid": nil, "refund_status": nil, "status": "SUCCESS", "create_time": "2026-11-29T10:30:00+08:00"}), fields{
		"amount": fields{"total": 2000, "refund": 500, "payer_total": 1500, "payer_refund": 400, "currency": "CNY"},
	}), change)
}

var order = models.Order{OrderID: "CNW20261129001", AmountMinor: 2000, Currency: "CNY"}

func told(t *testing.T, p *Provider, eventType string, plain fields) apitest.Telling {
	t.Helper()
	cb := signed(t, sealed(t, p, eventType, plain, nil), now, certSerial, certKey)
	events, err := p.Verify(t.Context(), cb)
	if err != nil {
		t.Fatal(err)
	}
	return apitest.Telling{Callback: cb, Events: events}
}

func (s *standIn) query(t *testing.T, p *Provider, q models.Query) (apitest.Telling, error) {
	t.Helper()
	q.Asked = now
	cb, events, err := p.Query(t.Context(), apitest.Client(t), q)
	return apitest.Telling{Callback: cb, Events: events}, err
}

func TestQueryTellsWhatTheCallbackTells(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	paid := told(t, p, "TRANSACTION.SUCCESS", payment(nil))
	s.orders[byOrder], s.orders[byID], s.orders[byRefund] = payment(nil), payment(fields{"trade_state": "REFUND"}), askedRefund(nil)
	for _, q := range []models.Query{{OrderID: "CNW20261129001"}, {TransactionID: "4200002999202611290000000001", OrderID: "CNW20261129001"}} {
		q.Kind = models.Payment
		asked, err := s.query(t, p, q)
		if err != nil {
			t.Fatal(err)
		}
		apitest.OneRow(t, apitest.Movement{Order: order, Told: paid, Asked: asked})
	}
	asked, err := s.query(t, p, models.Query{Kind: models.Refund, RefundOrderID: "CNWR20261129001", ParentID: "4200002999202611290000000001"})
	if err != nil {
		t.Fatal(err)
	}
	back := told(t, p, "REFUND.SUCCESS", refund(nil))
	apitest.OneRow(t, apitest.Movement{Order: order, Before: []apitest.Telling{paid}, Told: back, Asked: asked})
	if cb := asked.Callback; cb.Path != byRefund || cb.Headers.Get("Wechatpay-Signature") == "" {
		t.Errorf("evidence %+v", cb)
	}
}

func TestQueryOfStates(t *testing.T) {
	tests := []struct {
		name   string
		q      models.Query
		answer fields // nil: not known
		want   models.EventKind
	}{
		{"not known", models.Query{Kind: models.Payment, OrderID: "CNW20261129001"}, nil, ""},
		{"not paid", models.Query{Kind: models.Payment, OrderID: "CNW20261129001"},
			payment(fields{"trade_state": "NOTPAY", "transaction_id": nil, "success_time": nil}), ""},
		{"closed", models.Query{Kind: models.Payment, OrderID: "CNW20261129001"},
			payment(fields{"trade_state": "CLOSED", "transaction_id": nil, "success_time": nil}), ""},
		{"a state of tomorrow", models.Query{Kind: models.Payment, OrderID: "CNW20261129001"}, payment(fields{"trade_state": "FROZEN"}), models.EventUnknown},
		{"paid without a time", models.Query{Kind: models.Payment, OrderID: "CNW20261129001"}, payment(fields{"success_time": nil}), models.EventUnparsable},
		{"refund under way", models.Query{Kind: models.Refund, RefundOrderID: "CNWR20261129001"},
			askedRefund(fields{"status": "PROCESSING", "success_time": nil}), models.RefundPending},
		{"refund closed", models.Query{Kind: models.Refund, RefundOrderID: "CNWR20261129001"},
			askedRefund(fields{"status": "CLOSED", "success_time": nil}), models.RefundClosed},
		{"refund stuck", models.Query{Kind: models.Refund, RefundOrderID: "CNWR20261129001"},
			askedRefund(fields{"status": "ABNORMAL", "success_time": nil}), models.RefundAbnormal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			if tt.answer != nil {
				s.orders[map[models.TransactionKind]string{models.Payment: byOrder, models.Refund: byRefund}[tt.q.Kind]] = tt.answer
			}
			got, err := s.query(t, asking(t, s.server.URL, nil), tt.q)
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
		name   string
		change func(s *standIn)
		want   models.Reason
	}{
		{"tampered", func(s *standIn) {
			s.tamper = func(b []byte) []byte { return bytes.Replace(b, []byte("2000"), []byte("1000"), 1) }
		}, models.ReasonSignature},
		{"another key", func(s *standIn) { s.key = publicKey }, models.ReasonSignature},
		{"an old answer", func(s *standIn) { s.at = now.Add(-time.Hour) }, models.ReasonTimestamp},
		{"another order's", func(s *standIn) { s.orders[byOrder] = payment(fields{"out_trade_no": "CNW9"}) }, models.ReasonMalformed},
		{"another merchant's", func(s *standIn) { s.orders[byOrder] = payment(fields{"mchid": "1999999902"}) }, models.ReasonMerchant},
		{"another app's", func(s *standIn) { s.orders[byOrder] = payment(fields{"appid": "wx9"}) }, models.ReasonMerchant},
		{"no merchant's", func(s *standIn) { s.orders[byOrder] = payment(fields{"mchid": nil}) }, models.ReasonMerchant},
		{"no object", func(s *standIn) { s.orders[byOrder] = []int{1} }, models.ReasonMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			s.orders[byOrder] = payment(nil)
			tt.change(s)
			got, err := s.query(t, asking(t, s.server.URL, nil), models.Query{Kind: models.Payment, OrderID: "CNW20261129001"})
			if apitest.Refused(err) != tt.want || got.Events != nil {
				t.Errorf("%v, %v, want %s", got.Events, err, tt.want)
			}
			if got.Callback.Method != "QUERY" || len(got.Callback.Body) == 0 {
				t.Errorf("no evidence: %+v", got.Callback)
			}
		})
	}
	unsigned := apitest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(mustJSON(t, payment(nil))) })
	_, events, err := asking(t, unsigned.URL, nil).Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, OrderID: "CNW20261129001", Asked: now})
	if apitest.Refused(err) != models.ReasonSignature || events != nil {
		t.Errorf("unsigned: %v, %v", events, err)
	}
}

func TestQueryOfAServiceProvider(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, fields{"sub_mchids": []string{"1900000001", "1900000002"}})
	s.orders["/v3/pay/partner/transactions/out-trade-no/CNW20261129001?sp_mchid=1999999901&sub_mchid=1900000002"] = payment(fields{
		"mchid": nil, "appid": nil, "sp_mchid": "1999999901", "sp_appid": "wx0000000000000001", "sub_mchid": "1900000002",
	})
	got, err := s.query(t, p, models.Query{Kind: models.Payment, OrderID: "CNW20261129001"})
	if err != nil || len(got.Events) != 1 || got.Events[0].Kind != models.PaymentSucceeded || len(s.asked) != 2 {
		t.Errorf("%+v, %v, asked %q", got.Events, err, s.asked)
	}
}

func TestQueryWithoutAName(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	for _, q := range []models.Query{
		{Kind: models.Payment}, {Kind: models.Refund, TransactionID: "50302902992026112900000000001"}, {Kind: models.Chargeback, TransactionID: "1"},
	} {
		if _, err := s.query(t, p, q); !apitest.CannotAsk(err) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if s.asked != nil {
		t.Errorf("asked %q", s.asked)
	}
	if _, err := s.query(t, p, models.Query{Kind: models.Payment, OrderID: "a/b?c#d 商"}); err != nil {
		t.Error(err)
	}
	if want := "/v3/pay/transactions/out-trade-no/a%2Fb%3Fc%23d%20%E5%95%86?mchid=1999999901"; len(s.asked) != 1 || !strings.EqualFold(s.asked[0], want) {
		t.Errorf("asked %q", s.asked)
	}
}
