package adyen_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback/adyen"
	"paybook/callback/providertest/apitest"
)

const reports = "/reports/download/MerchantAccount/"

// reportHost is Adyen's as far as its page goes: reports by their path.
type reportHost struct {
	t      *testing.T
	server *httptest.Server
	files  map[string]string
	login  string // what Authorization or X-API-Key must be
	asked  []string
}

func newReportHost(t *testing.T) *reportHost {
	h := &reportHost{t: t, files: map[string]string{}, login: "Basic cmVwb3J0QENvbXBhbnkuVGVzdDpTRUNSRVRQQVNT"}
	h.server = apitest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		h.asked = append(h.asked, r.URL.Path)
		if got := r.Header.Get("Authorization") + r.Header.Get("X-API-Key"); got != h.login {
			h.t.Errorf("%s: %q", r.URL, got)
		}
		file, there := h.files[r.URL.Path]
		if !there {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, file)
	})
	return h
}

// put makes the report of a batch with a payment and its payout at that local time.
func (h *reportHost) put(account string, number int, closed string) string {
	payment := fmt.Sprintf("C,%s,PSP%d,A%d,%s,CET,Settled,MOD%d,EUR,,10.00,EUR,,9.90,0.10,%d\n", account, number, number, closed, number, number)
	payout := fmt.Sprintf("C,%s,,,%s,CET,MerchantPayout,TX%dXT,,,,EUR,9.90,,,%d\n", account, closed, number, number)
	file := "Company Account,Merchant Account,Psp Reference,Merchant Reference,Creation Date,TimeZone,Type,Modification Reference,Gross Currency," +
		"Gross Debit (GC),Gross Credit (GC),Net Currency,Net Debit (NC),Net Credit (NC),Commission (NC),Batch Number\n" + payment + payout
	h.files[reportPath(account, number)] = file
	return file
}

func reportPath(account string, number int) string {
	return fmt.Sprintf("%s%s/settlement_detail_report_batch_%d.csv", reports, account, number)
}

func (h *reportHost) provider(more string) *adyen.Provider {
	h.t.Helper()
	if more == "" {
		more = fmt.Sprintf(`"report_batches":{%q:3}`, shop)
	}
	return mustNew(h.t, settings(fmt.Sprintf(`"api":%q,"report_user":"report@Company.Test","report_password":"SECRETPASS",%s`, h.server.URL, more)))
}

var (
	day  = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	next = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
)

func (h *reportHost) fetch(p *adyen.Provider, date, at time.Time) (apitest.Saved, error) {
	h.t.Helper()
	var saved apitest.Saved
	err := p.FetchStatement(h.t.Context(), apitest.Client(h.t), date, at, saved.Save)
	return saved, err
}

func TestFetchStatementFindsTheDaysBatches(t *testing.T) {
	for newest := 3; newest <= 40; newest += 3 { // however far the numbers have gone
		h := newReportHost(t)
		want := ""
		for n := 3; n <= newest; n++ {
			at := time.Date(2026, 11, 27, 20, 0, 0, 0, time.UTC).AddDate(0, 0, n-newest)
			if file := h.put(shop, n, at.Format(time.DateTime)); n == newest {
				want = file
			}
		}
		saved, err := h.fetch(h.provider(""), day, next)
		if name := fmt.Sprintf("settlement_detail_report_batch_%d.csv", newest); err != nil || len(saved.Names) != 1 || saved.Files[name] != want {
			t.Errorf("newest %d: saved %q, %v", newest, saved.Names, err)
		}
		if len(h.asked) > 30 {
			t.Errorf("newest %d: %d questions", newest, len(h.asked))
		}
	}
}

// Two batches in one day, one later, one number left out, and the day by the clock of Amsterdam.
func TestFetchStatementByDay(t *testing.T) {
	h := newReportHost(t)
	for n, closed := range map[int]string{3: "2026-11-25 20:00:00", 4: "2026-11-26 23:59:59", 6: "2026-11-27 00:00:00", 7: "2026-11-27 23:59:59", 8: "2026-11-28 00:00:00"} {
		h.put(shop, n, closed)
	}
	p := h.provider("")
	for date, want := range map[string]string{"2026-11-25": "3", "2026-11-26": "4", "2026-11-27": "6 7", "2026-11-28": "8", "2026-11-24": ""} {
		at, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := h.fetch(p, at, at.AddDate(0, 0, 2))
		var numbers []string
		for _, name := range saved.Names {
			numbers = append(numbers, strings.TrimSuffix(strings.TrimPrefix(name, "settlement_detail_report_batch_"), ".csv"))
		}
		if strings.Join(numbers, " ") != want || (want == "") != apitest.NotReady(err) || want != "" && err != nil {
			t.Errorf("%s: saved %q, %v", date, saved.Names, err)
		}
	}
}

// With several merchant accounts the day is complete when each has its batch, or cannot have one any more.
func TestFetchStatementOfSeveralAccounts(t *testing.T) {
	h := newReportHost(t)
	p := h.provider(fmt.Sprintf(`"report_batches":{%q:1,"OtherShop":1}`, shop))
	h.put(shop, 1, "2026-11-27 20:00:00")
	h.put("OtherShop", 1, "2026-11-20 20:00:00")
	if saved, err := h.fetch(p, day, next); !apitest.NotReady(err) || len(saved.Names) > 0 {
		t.Errorf("one may come yet: %q, %v", saved.Names, err)
	}
	if saved, err := h.fetch(p, day, next.AddDate(0, 0, 3)); err != nil || !slices.Equal(saved.Names, []string{"settlement_detail_report_batch_1_" + shop + ".csv"}) {
		t.Errorf("waited for long enough: %q, %v", saved.Names, err)
	}
	h.put("OtherShop", 2, "2026-11-28 20:00:00")
	if saved, err := h.fetch(p, day, next); err != nil || len(saved.Names) != 1 {
		t.Errorf("none will come any more: %q, %v", saved.Names, err)
	}
	h.put("OtherShop", 2, "2026-11-27 20:00:00")
	if saved, err := h.fetch(p, day, next); err != nil || len(saved.Names) != 2 {
		t.Errorf("both are there: %q, %v", saved.Names, err)
	}
}

func TestFetchStatementFails(t *testing.T) {
	tests := []struct {
		name   string
		change func(file string) string
		says   string
	}{
		{"a row lost", func(f string) string { return f[:strings.Index(f, "C,"+shop)] + f[strings.LastIndex(f, "C,"+shop):] }, "rows are missing or changed"},
		{"cut", func(f string) string { return f[:strings.LastIndex(f, "C,"+shop)] }, "the file is cut"},
		{"a sum changed", func(f string) string { return strings.Replace(f, ",,9.90,0.10,", ",,9.80,0.10,", 1) }, "rows are missing or changed"},
		{"another merchant's", func(f string) string { return strings.ReplaceAll(f, shop, "TheirShop") }, "settings.merchant_accounts"},
		{"a login page", func(string) string { return "<html>please log in</html>" }, ""},
		{"nothing", func(string) string { return "" }, "empty file"},
		{"another report", func(string) string {
			return "Company Account,Merchant Account,Psp Reference,Record Type\nC," + shop + ",P1,Authorised\n"
		}, "not a settlement details report"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newReportHost(t)
			h.files[reportPath(shop, 3)] = tt.change(h.put(shop, 3, "2026-11-27 20:00:00"))
			saved, err := h.fetch(h.provider(""), day, next)
			if err == nil || apitest.NotReady(err) || !strings.Contains(err.Error(), tt.says) || saved.Names != nil {
				t.Errorf("error %v, saved %q", err, saved.Names)
			}
			apitest.Secretless(t, err, "SECRETPASS")
		})
	}
	h := newReportHost(t) // the batch of the settings is not there
	if _, err := h.fetch(h.provider(""), day, next); err == nil || apitest.NotReady(err) || !strings.Contains(err.Error(), "settings.report_batches."+shop) {
		t.Errorf("no such batch: %v", err)
	}
	if _, err := h.fetch(h.provider(""), day, time.Date(2026, 11, 27, 22, 59, 59, 0, time.UTC)); !apitest.NotReady(err) {
		t.Errorf("before the day ends: %v", err)
	}
}

func TestFetchStatementMeetsFaults(t *testing.T) {
	for _, fault := range apitest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			asked := 0
			h := &reportHost{t: t, server: apitest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch asked++; {
				case asked == 1: // batch 3 is there, 4 and 5 are not; then it is downloaded
					_, _ = io.WriteString(w, "x")
				case asked <= 3:
					http.NotFound(w, r)
				default:
					fault.Answer(w, r)
				}
			})}
			saved, err := h.fetch(h.provider(""), day, next)
			if err == nil || apitest.NotReady(err) || saved.Names != nil || fault.Name != "huge" && !strings.Contains(err.Error(), fault.Says) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestFetchStatementByKey(t *testing.T) {
	h := newReportHost(t)
	h.login = "SECRETKEY"
	h.put(shop, 3, "2026-11-27 20:00:00")
	p := mustNew(t, settings(fmt.Sprintf(`"api":%q,"report_api_key":"SECRETKEY","report_batches":{%q:3}`, h.server.URL, shop)))
	if saved, err := h.fetch(p, day, next); err != nil || len(saved.Names) != 1 {
		t.Errorf("saved %q, %v", saved.Names, err)
	}
}

// The kit's report is found, and reads as it does from a file.
func TestFetchStatementOfTheKit(t *testing.T) {
	raw, err := os.ReadFile(kit + "/statements/settlement_detail_report_batch_42.csv")
	if err != nil {
		t.Fatal(err)
	}
	h := newReportHost(t)
	h.files[reportPath("ExampleShopECOM", 42)] = string(raw)
	p := mustNew(t, fmt.Sprintf(`{"hmac_keys_hex":[%q],"merchant_accounts":["ExampleShopECOM"],"report_user":"report@Company.Test","report_password":"SECRETPASS",
		"report_batches":{"ExampleShopECOM":42},"api":%q}`, keyNew, h.server.URL))
	var saved apitest.Saved
	if err := p.FetchStatement(t.Context(), apitest.Client(t), day.AddDate(0, 0, 1), next.AddDate(0, 0, 1), saved.Save); err != nil || saved.Files["settlement_detail_report_batch_42.csv"] != string(raw) {
		t.Errorf("saved %q, %v", saved.Names, err)
	}
}

func TestReportSettings(t *testing.T) {
	for _, more := range []string{"", `"report_user":"u","report_password":"p"`, fmt.Sprintf(`"report_batches":{%q:1}`, shop)} {
		p := mustNew(t, settings(more))
		if err := p.FetchStatement(t.Context(), apitest.Client(t), day, next, (&apitest.Saved{}).Save); !apitest.CannotAsk(err) {
			t.Errorf("%s: %v", more, err)
		}
	}
	for more, host := range map[string]string{"": "ca-live.adyen.com", `"livemode":false`: "ca-test.adyen.com", `"livemode":true`: "ca-live.adyen.com"} {
		if got := strings.Join(mustNew(t, settings(more)).Hosts(), " "); got != host {
			t.Errorf("%s: hosts %q", more, got)
		}
	}
	for more, want := range map[string]string{
		`"report_user":"u"`: "report_password", `"report_password":"SECRET"`: "report_user", `"report_user":"a:b","report_password":"SECRET"`: "a colon",
		`"report_user":"u","report_password":"SECRET","report_api_key":"SECRET"`: "report_api_key", `"report_api_key":"SECRET x"`: "report_api_key",
		`"report_batches":{"TheirShop":1}`: "report_batches.TheirShop", fmt.Sprintf(`"report_batches":{%q:0}`, shop): "report_batches." + shop,
		`"api":"http://ca-live.adyen.com"`: "settings.api",
	} {
		_, err := adyen.New([]byte(settings(more)), "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", more, err)
		}
	}
}
