package paypal

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/callback/providertest/apitest"
	"paybook/models"
)

const (
	clientID, clientSecret = "APPID", "SECRETAPP"

	captureObject = `{"id":"CAP1","status":"COMPLETED","amount":{"currency_code":"USD","value":"49.99"},"invoice_id":"ORD-1","final_capture":true,
		"create_time":"2026-11-27T18:15:00Z","update_time":"2026-11-27T18:15:00Z","supplementary_data":{"related_ids":{"order_id":"PORDER1"}},
		"links":[{"href":"https://api-m.paypal.com/v2/checkout/orders/PORDER1","rel":"up","method":"GET"}]}`
	refundedObject = `{"id":"REF1","status":"COMPLETED","amount":{"currency_code":"USD","value":"10.00"},"invoice_id":"ORD-1",
		"create_time":"2026-11-27T20:00:00Z","update_time":"2026-11-27T20:00:00Z",
		"links":[{"href":"https://api-m.paypal.com/v2/payments/captures/CAP1","rel":"up","method":"GET"}]}`
)

func asking(t *testing.T, at string, change map[string]any) *Provider {
	t.Helper()
	all := map[string]any{"api": at, "client_id": clientID, "client_secret": clientSecret}
	for key, value := range change {
		all[key] = value
	}
	return account(t, goodLeaf(t), all)
}

// standIn is PayPal's API as far as its pages go.
type standIn struct {
	t       *testing.T
	server  *httptest.Server
	objects map[string]string
	mu      sync.Mutex
	tokens  int  // given out
	revoked bool // the last one
	asked   []string
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, objects: map[string]string{}}
	s.server = apitest.Serve(t, s.serve)
	return s
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	token := fmt.Sprintf("SECRETTOKEN%d", s.tokens)
	switch {
	case r.URL.Path == "/v1/oauth2/token":
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "grant_type=client_credentials" || r.Method != http.MethodPost ||
			r.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(clientID+":"+clientSecret)) {
			s.t.Errorf("%s %q %v, %v", r.Method, body, r.Header, err)
		}
		s.tokens, s.revoked = s.tokens+1, false
		fmt.Fprintf(w, `{"access_token":"SECRETTOKEN%d","token_type":"Bearer","expires_in":32400}`, s.tokens)
	case r.Header.Get("Authorization") != "Bearer "+token || s.revoked:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"name":"AUTHENTICATION_FAILURE"}`)
	default:
		s.asked = append(s.asked, r.URL.Path)
		object, known := s.objects[r.URL.Path]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			object = `{"name":"RESOURCE_NOT_FOUND","message":"The specified resource does not exist."}`
		}
		_, _ = io.WriteString(w, object)
	}
}

func query(t *testing.T, p *Provider, q models.Query) (apitest.Telling, error) {
	t.Helper()
	if q.Asked.IsZero() {
		q.Asked = now
	}
	cb, events, err := p.Query(t.Context(), apitest.Client(t), q)
	return apitest.Telling{Callback: cb, Events: events}, err
}

func told(t *testing.T, p *Provider, kind, resourceType, resource string) apitest.Telling {
	t.Helper()
	cb := request(t, fmt.Sprintf(`{"id":"WH-1","create_time":"2026-11-27T18:15:02Z","event_type":%q,"resource_type":%q,"resource":%s}`, kind, resourceType, resource))
	events, err := p.Verify(t.Context(), cb)
	if err != nil {
		t.Fatal(err)
	}
	return apitest.Telling{Callback: cb, Events: events}
}

var order = models.Order{OrderID: "ORD-1", AmountMinor: 4999, Currency: "USD"}

func TestQueryTellsWhatTheCallbackTells(t *testing.T) {
	s := newStandIn(t)
	p := asking(t, s.server.URL, nil)
	paid := told(t, p, "PAYMENT.CAPTURE.COMPLETED", "capture", captureObject)
	inOrder := `{"id":"PORDER1","status":"COMPLETED","purchase_units":[{"reference_id":"default","invoice_id":"ORD-1","payments":{"captures":[` +
		strings.Replace(captureObject, `"invoice_id":"ORD-1",`, "", 1) + `]}}]}`
	s.objects["/v2/payments/captures/CAP1"] = strings.Replace(captureObject, "COMPLETED", "PARTIALLY_REFUNDED", 1)
	s.objects["/v2/checkout/orders/PORDER1"], s.objects["/v2/payments/refunds/REF1"] = inOrder, refundedObject
	for _, q := range []models.Query{
		{TransactionID: "CAP1", ParentID: "PORDER1", OrderID: "ORD-1"}, {TransactionID: "PORDER1"}, {ParentID: "PORDER1"},
	} {
		q.Kind = models.Payment
		asked, err := query(t, p, q)
		if err != nil {
			t.Fatal(err)
		}
		apitest.OneRow(t, apitest.Movement{Order: order, Told: paid, Asked: asked})
	}
	asked, err := query(t, p, models.Query{Kind: models.Refund, TransactionID: "REF1", ParentID: "CAP1"})
	if err != nil {
		t.Fatal(err)
	}
	apitest.OneRow(t, apitest.Movement{Order: order, Before: []apitest.Telling{paid}, Asked: asked,
		Told: told(t, p, "PAYMENT.CAPTURE.REFUNDED", "refund", refundedObject)})
	if s.tokens != 1 {
		t.Errorf("%d tokens were asked for", s.tokens)
	}
}

func TestQueryOfStates(t *testing.T) {
	status := func(object, word string) string { return edit(t, object, "status", word) }
	tests := []struct {
		name, path, object string
		want               models.EventKind
	}{
		{"unknown to PayPal", "/v2/x", "{}", ""},
		{"waits", "/v2/payments/captures/CAP1", status(captureObject, "PENDING"), models.PaymentPending},
		{"declined", "/v2/payments/captures/CAP1", status(captureObject, "DECLINED"), models.PaymentFailed},
		{"failed", "/v2/payments/captures/CAP1", status(captureObject, "FAILED"), models.PaymentFailed},
		{"a word of tomorrow", "/v2/payments/captures/CAP1", status(captureObject, "FROZEN"), models.EventUnparsable},
		{"no sum", "/v2/payments/captures/CAP1", edit(t, captureObject, "amount", nil), models.EventUnparsable},
		{"authorised", "/v2/payments/authorizations/CAP1", status(captureObject, "CREATED"), models.PaymentAuthorised},
		{"voided", "/v2/payments/authorizations/CAP1", status(captureObject, "VOIDED"), models.PaymentVoided},
		{"captured under ids of their own", "/v2/payments/authorizations/CAP1", status(captureObject, "CAPTURED"), ""},
		{"approved, not captured", "/v2/checkout/orders/CAP1", `{"id":"CAP1","status":"APPROVED","purchase_units":[{"invoice_id":"ORD-1"}]}`, ""},
		{"a refund under way", "/v2/payments/refunds/REF1", status(refundedObject, "PENDING"), models.RefundPending},
		{"a refund that failed", "/v2/payments/refunds/REF1", status(refundedObject, "FAILED"), models.RefundFailed},
		{"a refund of nothing", "/v2/payments/refunds/REF1", edit(t, refundedObject, "links", nil), models.EventUnparsable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			s.objects[tt.path] = tt.object
			q := models.Query{Kind: models.Payment, TransactionID: "CAP1"}
			if strings.Contains(tt.path, "refunds") {
				q = models.Query{Kind: models.Refund, TransactionID: "REF1"}
			}
			got, err := query(t, asking(t, s.server.URL, nil), q)
			if err != nil || got.Callback.Method != "QUERY" {
				t.Fatalf("%+v, %v", got, err)
			}
			if tt.want == "" && len(got.Events) > 0 || tt.want != "" && (len(got.Events) != 1 || got.Events[0].Kind != tt.want) {
				t.Errorf("events %+v, want %q", got.Events, tt.want)
			}
		})
	}
}

func TestQueryChecksWhoseItIs(t *testing.T) {
	tests := []struct {
		name, object string
		want         models.Reason
	}{
		{"another capture", edit(t, captureObject, "id", "CAP2"), models.ReasonMalformed},
		{"another merchant's", edit(t, captureObject, "payee", map[string]any{"merchant_id": "THEIRS"}), models.ReasonMerchant},
		{"ours", edit(t, captureObject, "payee", map[string]any{"merchant_id": "OURS"}), ""},
		{"no object", `["CAP1"]`, models.ReasonMalformed},
		{"no JSON", `<html>`, models.ReasonMalformed},
		{"a key twice", `{"id":"CAP1","id":"CAP1"}`, models.ReasonMalformed},
	}
	for _, tt := range tests {
		s := newStandIn(t)
		s.objects["/v2/payments/captures/CAP1"] = tt.object
		got, err := query(t, asking(t, s.server.URL, map[string]any{"merchant_ids": []string{"OURS"}}), models.Query{Kind: models.Payment, TransactionID: "CAP1"})
		if apitest.Refused(err) != tt.want || (tt.want == "") != (len(got.Events) == 1) || len(got.Callback.Body) == 0 {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
	s := newStandIn(t)
	s.objects["/v2/checkout/orders/PORDER1"] = `{"id":"PORDER1","purchase_units":[{"payee":{"merchant_id":"THEIRS"},"payments":{"captures":[` + captureObject + `]}}]}`
	got, err := query(t, asking(t, s.server.URL, map[string]any{"merchant_ids": []string{"OURS"}}), models.Query{Kind: models.Payment, ParentID: "PORDER1"})
	if apitest.Refused(err) != models.ReasonMerchant || got.Events != nil {
		t.Errorf("an order of another merchant: %+v, %v", got, err)
	}
}

// A token is used until it ends, and one that was withdrawn is not used twice.
func TestTokens(t *testing.T) {
	s := newStandIn(t)
	s.objects["/v2/payments/captures/CAP1"] = captureObject
	p := asking(t, s.server.URL, nil)
	ask := func(at time.Time) error {
		_, err := query(t, p, models.Query{Kind: models.Payment, TransactionID: "CAP1", Asked: at})
		return err
	}
	for i, step := range []struct {
		after  time.Duration
		revoke bool
		tokens int
		fails  bool
	}{{0, false, 1, false}, {8*time.Hour + 58*time.Minute, false, 1, false}, {9 * time.Hour, false, 2, false}, {9*time.Hour + time.Minute, true, 2, true}, {9*time.Hour + 2*time.Minute, false, 3, false}} {
		s.revoked = s.revoked || step.revoke
		err := ask(now.Add(step.after))
		if (err != nil) != step.fails || s.tokens != step.tokens {
			t.Errorf("step %d: %v, %d tokens", i, err, s.tokens)
		}
		apitest.Secretless(t, err, "SECRET")
	}
}

func TestQueryMeetsFaults(t *testing.T) {
	for _, fault := range apitest.Faults() {
		for _, later := range []bool{false, true} { // where the token is asked for, or behind it
			answer := fault.Answer
			if later {
				answer = func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/v1/oauth2/token" {
						_, _ = io.WriteString(w, `{"access_token":"SECRETTOKEN","expires_in":100}`)
						return
					}
					fault.Answer(w, r)
				}
			}
			got, err := query(t, asking(t, apitest.Serve(t, answer).URL, nil), models.Query{Kind: models.Payment, TransactionID: "CAP1"})
			if err == nil || !strings.Contains(err.Error(), fault.Says) || got.Events != nil || apitest.Refused(err) != "" {
				t.Errorf("%s: %+v, %v", fault.Name, got, err)
			}
			apitest.Secretless(t, err, "SECRETTOKEN", clientSecret)
		}
	}
	for _, body := range []string{`{}`, `{"access_token":"a b","expires_in":1}`, `{"access_token":"SECRETTOKEN","expires_in":"x"}`, `<html>`} {
		p := asking(t, apitest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }).URL, nil)
		if _, err := query(t, p, models.Query{Kind: models.Payment, TransactionID: "CAP1"}); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("token %s: %v", body, err)
		}
	}
}

func TestQueryEndsWithTheContext(t *testing.T) {
	asked, done := make(chan struct{}, 1), make(chan struct{})
	p := asking(t, apitest.Serve(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-done }).URL, nil)
	defer close(done)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 2)
	for range 2 { // one fetches the token, the other waits for it
		go func() {
			_, _, err := p.Query(ctx, http.DefaultClient, models.Query{Kind: models.Payment, TransactionID: "CAP1", Asked: now})
			failed <- err
		}()
	}
	<-asked
	cancel()
	for range 2 {
		if err := <-failed; err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("error %v", err)
		}
	}
}

func TestAskingNeedsSettings(t *testing.T) {
	p := account(t, goodLeaf(t), nil)
	if _, err := query(t, p, models.Query{Kind: models.Payment, TransactionID: "CAP1"}); !apitest.CannotAsk(err) {
		t.Errorf("without an app: %v", err)
	}
	p = asking(t, "", nil)
	for _, q := range []models.Query{
		{Kind: models.Payment, OrderID: "ORD-1"}, {Kind: models.Refund, TransactionID: "shop:R1", RefundOrderID: "R1"}, {Kind: models.Chargeback, TransactionID: "X"},
	} {
		if _, err := query(t, p, q); !apitest.CannotAsk(err) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	for host, live := range map[string]any{"api-m.paypal.com": true, "api-m.sandbox.paypal.com": false} {
		if got := strings.Join(asking(t, "", map[string]any{"livemode": live}).Hosts(), " "); got != host {
			t.Errorf("hosts %q, want %s", got, host)
		}
	}
	for want, c := range map[string]Config{
		"settings.api": {API: "http://api-m.paypal.com"}, "settings.client_id": {ClientSecret: "x"}, "settings.client_secret": {ClientID: "x"},
		"hold a blank": {ClientID: "x", ClientSecret: "SECRET SECRET"}, "not of the mode": {API: apiSandbox, Livemode: new(true)},
	} {
		if _, err := newAPI(c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
