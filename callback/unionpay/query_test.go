package unionpay

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest/apitest"
	"paybook/models"
)

const (
	paymentID = "202611291000000000001"
	refundID  = "202611291100000000031"
)

var order = models.Order{OrderID: "CNU20261129001", AmountMinor: 8800, Currency: "CNY"}

// asAnswer turns a notification into the answer to a question about it.
func asAnswer(notification, change fields) func(fields) fields {
	return func(fields) fields {
		return with(with(notification, fields{"origRespCode": notification["respCode"], "origRespMsg": notification["respMsg"], "respCode": "00",
			"respMsg": "成功[0000000]", "reqReserved": "{pI=test&aI=034}"}), change)
	}
}

func told(t *testing.T, p *Provider, f fields) apitest.Telling {
	t.Helper()
	cb := sent(t, production, f)
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
	byID := models.Query{Kind: models.Payment, TransactionID: paymentID, OrderID: "CNU20261129001"}
	byOrder := models.Query{Kind: models.Payment, OrderID: "CNU20261129001", OrderedAt: time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC)}
	for _, q := range []models.Query{byID, byOrder} {
		s := newStandIn(t, asAnswer(payment(nil), nil))
		p := asking(t, s.server.URL, nil)
		asked, err := query(t, p, q)
		if err != nil {
			t.Fatal(err)
		}
		apitest.OneRow(t, apitest.Movement{Order: order, Told: told(t, p, payment(nil)), Asked: asked})
		want := fields{"txnSubType": "02", "queryId": paymentID}
		if q == byOrder {
			want = fields{"txnSubType": "00", "orderId": "CNU20261129001", "txnTime": "20261129100000"}
		}
		for name, value := range want {
			if s.asked[0][name] != value {
				t.Errorf("asked %s=%q, want %q", name, s.asked[0][name], value)
			}
		}
	}
	s := newStandIn(t, asAnswer(refund(nil), nil))
	p := asking(t, s.server.URL, nil)
	asked, err := query(t, p, models.Query{Kind: models.Refund, TransactionID: refundID, ParentID: paymentID, RefundOrderID: "CNUR20261129001"})
	if err != nil {
		t.Fatal(err)
	}
	apitest.OneRow(t, apitest.Movement{Order: order, Before: []apitest.Telling{told(t, p, payment(nil))}, Told: told(t, p, refund(nil)), Asked: asked})
}

func TestQueryOfStates(t *testing.T) {
	tests := []struct {
		name   string
		change fields
		want   models.EventKind
	}{
		{"done with a defect", fields{"origRespCode": "A6"}, models.PaymentSucceeded},
		{"under way", fields{"origRespCode": "03"}, ""},
		{"not known yet", fields{"origRespCode": "04"}, ""},
		{"asked too early", fields{"origRespCode": "05"}, ""},
		{"failed", fields{"origRespCode": "51"}, models.PaymentFailed},
		{"failed before it had an id", fields{"origRespCode": "77", "queryId": "-"}, ""},
		{"no word about it", fields{"origRespCode": "-"}, models.EventUnparsable},
		{"unknown to UnionPay", fields{"respCode": "34", "origRespCode": "-", "queryId": "-"}, ""},
		{"paid, of no sum", fields{"txnAmt": "-"}, models.EventUnparsable},
		{"a type of tomorrow", fields{"txnType": "99"}, models.EventUnknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t, asAnswer(payment(nil), tt.change))
			got, err := query(t, asking(t, s.server.URL, nil),
				models.Query{Kind: models.Payment, OrderID: "CNU20261129001", OrderedAt: time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC)})
			if err != nil || len(got.Callback.Body) == 0 {
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
		change fields
		by     func(testing.TB) signing
		spell  func(fields) []byte
		want   models.Reason
	}{
		{"tampered", nil, production, func(f fields) []byte { return bytes.Replace(unencoded(f), []byte("=8800"), []byte("=1800"), 1) }, models.ReasonSignature},
		{"unsigned", nil, nil, unencoded, models.ReasonSignature},
		{"signed by the test environment", nil, testCN, unencoded, models.ReasonCertificate},
		{"an older way of signing", fields{"version": "5.0.0"}, production, unencoded, models.ReasonAlgorithm},
		{"another merchant's", fields{"merId": "777000000000002"}, production, unencoded, models.ReasonMerchant},
		{"another payment's", fields{"queryId": "202611291000000000002"}, production, unencoded, models.ReasonMalformed},
		{"a field twice", nil, production, func(f fields) []byte { return append(encode(f), "&txnAmt=1"...) }, models.ReasonMalformed},
		{"unknown, by a forger", fields{"respCode": "34"}, testCN, unencoded, models.ReasonCertificate},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t, asAnswer(payment(nil), tt.change))
			s.by, s.spell = tt.by, tt.spell
			got, err := query(t, asking(t, s.server.URL, nil), models.Query{Kind: models.Payment, TransactionID: paymentID})
			if apitest.Refused(err) != tt.want || got.Events != nil || len(got.Callback.Body) == 0 {
				t.Errorf("%+v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestQueryWithoutAName(t *testing.T) {
	p := asking(t, "", nil)
	for _, q := range []models.Query{
		{Kind: models.Payment}, {Kind: models.Payment, OrderID: "CNU1"}, {Kind: models.Refund, TransactionID: "shop:R1", RefundOrderID: "R1"},
		{Kind: models.Chargeback, TransactionID: "1"},
	} {
		if _, err := query(t, p, q); !apitest.CannotAsk(err) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// What belongs together in braces is one value, as UnionPay's own reader has it.
func TestPlainPairs(t *testing.T) {
	for text, want := range map[string]string{
		"a=1&b={x=1&y=2}&c=3": "a=1|b={x=1&y=2}|c=3", "b={x&y}": "b={x&y}", "a=1&b={x&y}z&c=": "a=1|b={x&y}z|c=", "b={x&c=3": "b={x|c=3",
		"a=x{1&2}&b=2": "a=x{1|2}|b=2", "": "", "a": "a", "a={}&b=1": "a={}|b=1",
	} {
		var got []string
		for pair := range plainPairs(text) {
			got = append(got, pair)
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%q: %q, want %q", text, joined, want)
		}
	}
}
