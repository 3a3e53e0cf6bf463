package stripe_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest/apitest"
	"paybook/callback/stripe"
	"paybook/models"
)

const (
	secretKey  = "rk_test_SECRETKEY"
	reportType = "balance_change_from_activity.itemized.7"
	report     = "balance_transaction_id,created_utc\ntxn_1,2026-11-27 08:15:02\n"
)

func asking(t *testing.T, at string, change map[string]any) *stripe.Provider {
	t.Helper()
	all := map[string]any{"signing_secrets": []string{secretNew}, "livemode": false, "secret_key": secretKey, "api": at, "report_timezone": "America/New_York"}
	for key, value := range change {
		all[key] = value
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	p := mustNew(t, string(raw))
	p.PollEvery(time.Millisecond)
	return p
}

// standIn is Stripe's API as far as its pages go.
type standIn struct {
	t         *testing.T
	server    *httptest.Server
	objects   map[string]string // path → answer
	available int64             // data_available_end
	statuses  []string          // of the report run, one at each look; the last stays
	change    map[string]any    // of the run
	result    map[string]any    // of the run's file
	file      string
	posted    []url.Values
	once      []string // the keys under which something was posted
	asked     []string
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, objects: map[string]string{}, available: 1795842000, statuses: []string{"succeeded"}, file: report}
	s.server = apitest.Serve(t, s.serve)
	return s
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	if r.Header.Get("Authorization") != "Bearer "+secretKey {
		s.t.Errorf("%s: Authorization is %q", r.URL, r.Header.Get("Authorization"))
	}
	switch {
	case r.URL.Path == "/v1/reporting/report_types/"+reportType:
		fmt.Fprintf(w, `{"id":%q,"object":"reporting.report_type","data_available_start":1,"data_available_end":%d}`, reportType, s.available)
	case strings.HasPrefix(r.URL.Path, "/v1/reporting/report_runs"):
		s.tellRun(w, r)
	case r.URL.Path == "/v1/files/file_1/contents":
		_, _ = io.WriteString(w, s.file)
	case s.objects[r.URL.Path] != "":
		_, _ = io.WriteString(w, s.objects[r.URL.Path])
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"resource_missing","message":"No such thing","type":"invalid_request_error"}}`)
	}
}

func (s *standIn) tellRun(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		if err := r.ParseForm(); err != nil {
			s.t.Error(err)
		}
		s.posted, s.once = append(s.posted, r.PostForm), append(s.once, r.Header.Get("Idempotency-Key"))
	}
	status := s.statuses[0]
	if len(s.statuses) > 1 {
		s.statuses = s.statuses[1:]
	}
	run := map[string]any{"id": "frr_1", "object": "reporting.report_run", "livemode": false, "report_type": reportType, "status": status,
		"parameters": map[string]any{"interval_start": 1795755600, "interval_end": 1795842000}}
	if status == "succeeded" {
		result := map[string]any{"id": "file_1", "url": s.server.URL + "/v1/files/file_1/contents", "size": len(s.file), "type": "csv"}
		for key, value := range s.result {
			result[key] = value
		}
		run["result"] = result
	}
	for key, value := range s.change {
		run[key] = value
	}
	if err := json.NewEncoder(w).Encode(run); err != nil {
		s.t.Error(err)
	}
}

var (
	day     = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	evening = time.Date(2026, 11, 28, 20, 0, 0, 0, time.UTC)
)

func (s *standIn) fetch(t *testing.T, p *stripe.Provider) (apitest.Saved, error) {
	t.Helper()
	var saved apitest.Saved
	err := p.FetchStatement(t.Context(), apitest.Client(t), day, evening, saved.Save)
	return saved, err
}

func TestFetchStatement(t *testing.T) {
	s := newStandIn(t)
	s.statuses = []string{"pending", "pending", "succeeded"}
	p := asking(t, s.server.URL, nil)
	var saved apitest.Saved
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, evening, saved.Save); err != nil {
		t.Fatal(err)
	}
	if saved.Files["balance_change_from_activity_itemized_7_2026-11-27.csv"] != report || len(saved.Names) != 1 {
		t.Errorf("saved %q", saved.Names)
	}
	form := s.posted[0] // the day of New York, from 05:00 UTC on
	if form.Get("report_type") != reportType || form.Get("parameters[interval_start]") != "1795755600" || form.Get("parameters[interval_end]") != "1795842000" ||
		form.Get("parameters[timezone]") != "America/New_York" || !slices.Contains(form["parameters[columns][]"], "payment_metadata[order_id]") || len(s.posted) != 1 {
		t.Errorf("posted %v", s.posted)
	}
	// The next one who comes finds the same report.
	s.statuses = []string{"succeeded"}
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, evening.Add(time.Hour), saved.Save); err != nil {
		t.Fatal(err)
	}
	if s.once[0] == "" || s.once[1] != s.once[0] {
		t.Errorf("posted under %q", s.once)
	}
}

func TestFetchStatementWaits(t *testing.T) {
	s := newStandIn(t)
	s.statuses = []string{"pending"}
	if saved, err := s.fetch(t, asking(t, s.server.URL, nil)); !apitest.NotReady(err) || saved.Names != nil {
		t.Errorf("still being made: %v", err)
	}
	s = newStandIn(t)
	s.available--
	if saved, err := s.fetch(t, asking(t, s.server.URL, nil)); !apitest.NotReady(err) || saved.Names != nil || s.posted != nil {
		t.Errorf("data not there: %v, posted %v", err, s.posted)
	}
	s = newStandIn(t)
	p := asking(t, s.server.URL, nil)
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, time.Unix(1795841999, 0), (&apitest.Saved{}).Save); !apitest.NotReady(err) || s.asked != nil {
		t.Errorf("before the day ends: %v", err)
	}
}

// A report that failed is asked for anew, under another key.
func TestFetchStatementAfterAFailure(t *testing.T) {
	s := newStandIn(t)
	s.statuses = []string{"failed", "succeeded"}
	if _, err := s.fetch(t, asking(t, s.server.URL, nil)); err != nil || len(s.once) != 2 || s.once[0] == s.once[1] {
		t.Errorf("%v, posted under %q", err, s.once)
	}
	s = newStandIn(t)
	s.statuses = []string{"failed"}
	if saved, err := s.fetch(t, asking(t, s.server.URL, nil)); err == nil || apitest.NotReady(err) || saved.Names != nil || len(s.once) != 3 {
		t.Errorf("%v, posted under %q", err, s.once)
	}
}

func TestFetchStatementFails(t *testing.T) {
	elsewhere := apitest.Serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the key went to %s: %v", r.Host, r.Header) })
	tests := []struct {
		name   string
		change func(s *standIn)
		says   string
	}{
		{"another mode", func(s *standIn) { s.change = map[string]any{"livemode": true} }, "settings.livemode"},
		{"no mode", func(s *standIn) { s.change = map[string]any{"livemode": nil} }, "settings.livemode"},
		{"another report", func(s *standIn) { s.change = map[string]any{"report_type": "payouts.itemized.3"} }, "is not kept"},
		{"another day", func(s *standIn) {
			s.change = map[string]any{"parameters": map[string]any{"interval_start": 1795669200, "interval_end": 1795755600}}
		}, "is not kept"},
		{"a word of tomorrow", func(s *standIn) { s.statuses = []string{"paused"} }, "word we do not know"},
		{"no id", func(s *standIn) { s.change = map[string]any{"id": nil} }, "no id"},
		{"cut", func(s *standIn) { s.result = map[string]any{"size": len(report) + 1} }, "is not kept"},
		{"empty", func(s *standIn) { s.file = "" }, "empty file"},
		{"a file elsewhere", func(s *standIn) { s.result = map[string]any{"url": elsewhere.URL + "/x?token=SECRETTOKEN"} }, "not one of the account's hosts"},
		{"a file of this machine", func(s *standIn) { s.result = map[string]any{"url": "file:///etc/passwd"} }, "is none"},
		{"no file", func(s *standIn) { s.result = map[string]any{"url": nil} }, "is none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStandIn(t)
			tt.change(s)
			saved, err := s.fetch(t, asking(t, s.server.URL, nil))
			if err == nil || apitest.NotReady(err) || !strings.Contains(err.Error(), tt.says) || saved.Names != nil {
				t.Errorf("error %v, saved %q", err, saved.Names)
			}
			apitest.Secretless(t, err, "SECRETTOKEN", "SECRETKEY")
		})
	}
}

func TestFetchAndQueryMeetFaults(t *testing.T) {
	for _, fault := range apitest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			p := asking(t, apitest.Serve(t, fault.Answer).URL, nil)
			var saved apitest.Saved
			err := p.FetchStatement(t.Context(), apitest.Client(t), day, evening, saved.Save)
			if err == nil || !strings.Contains(err.Error(), fault.Says) || apitest.NotReady(err) || saved.Names != nil {
				t.Errorf("fetch: %v", err)
			}
			_, events, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, TransactionID: "pi_1", Asked: now})
			if err == nil || !strings.Contains(err.Error(), fault.Says) || events != nil || apitest.Refused(err) != "" {
				t.Errorf("query: %v, %v", events, err)
			}
			apitest.Secretless(t, err, "SECRETKEY")
		})
	}
}

func TestAskingNeedsSettings(t *testing.T) {
	p := mustNew(t, minimal)
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day, now, (&apitest.Saved{}).Save); !apitest.CannotAsk(err) {
		t.Errorf("fetch: %v", err)
	}
	if _, _, err := p.Query(t.Context(), apitest.Client(t), models.Query{Kind: models.Payment, TransactionID: "pi_1", Asked: now}); !apitest.CannotAsk(err) {
		t.Errorf("query: %v", err)
	}
	if got := strings.Join(p.Hosts(), " "); got != "api.stripe.com files.stripe.com" {
		t.Errorf("hosts %q", got)
	}
	for settings, want := range map[string]string{
		`"secret_key":"pk_test_SECRETKEY"`: "settings.secret_key", `"secret_key":"whsec_SECRETKEY"`: "settings.secret_key",
		`"secret_key":"sk_test_SECRETKEY\n"`: "settings.secret_key", `"secret_key":"sk_test_SECRETKEY","livemode":true`: "of test mode",
		`"secret_key":"sk_live_SECRETKEY","livemode":false`: "of live mode", `"api":"http://api.stripe.com"`: "settings.api",
		`"report_types":["../x"]`: "settings.report_types[0]",
	} {
		_, err := stripe.New(json.RawMessage(`{"signing_secrets":["whsec_test_new"],`+settings+`}`), "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", settings, err)
		}
	}
}
