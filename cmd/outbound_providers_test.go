package cmd

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"paybook/callback"
	"paybook/models"
	"paybook/reconcile"
)

// asking is what an account of the kit needs beside its settings to ask its provider. The keys are the kit's.
var asking = map[string]map[string]any{
	"wechatpay": {"merchant_private_key": "keys/platform_private_key.TEST_ONLY.pem", "merchant_serial": strings.Repeat("0", 40)},
	"alipay":    {"app_private_key": "keys/alipay_private_key.TEST_ONLY.pem"},
	"unionpay":  {"sign_key": "keys/unionpay_sign_private_key_test_cn.TEST_ONLY.pem", "sign_cert": "keys/unionpay_sign_cert_test_cn.cer"},
	"stripe":    {"secret_key": "rk_test_SECRETKEY"},
	"paypal":    {"client_id": "APP", "client_secret": "SECRETKEY"},
	"adyen":     {"report_api_key": "SECRETKEY", "report_batches": map[string]int{"ExampleShopECOM": 42}},
}

// askingProvider is the kit's account of a provider, which asks at an address.
func askingProvider(t *testing.T, name, at string) provider {
	t.Helper()
	dir := filepath.Join(kit, name)
	raw, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]any{}
	if err := json.Unmarshal(raw, &settings); err != nil {
		t.Fatal(err)
	}
	maps.Copy(settings, asking[name])
	settings["api"] = at
	if raw, err = json.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	p, err := providers[name](raw, dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// everyQuestion puts what a provider can be asked, through the guard, and returns the errors.
func everyQuestion(ctx context.Context, p provider) (errs []error) {
	client := outbound(p.(callback.Outgoing).Hosts())
	defer client.CloseIdleConnections()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	if f, ok := p.(reconcile.Fetcher); ok {
		errs = append(errs, f.FetchStatement(ctx, client, time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC), now, func(string, io.Reader) error { return nil }))
	}
	if q, ok := p.(callback.Querier); ok {
		for _, query := range []models.Query{
			{Kind: models.Payment, TransactionID: "ch_1", OrderID: "A1"},
			{Kind: models.Refund, TransactionID: "re_1", ParentID: "ch_1", OrderID: "A1", RefundOrderID: "R1"},
		} {
			query.Asked = now
			_, _, err := q.Query(ctx, client, query)
			errs = append(errs, err)
		}
	}
	return errs
}

// Whoever stands where a provider should cannot send us on to somebody else, with what we sign or know.
func TestProvidersAreNotLedElsewhere(t *testing.T) {
	never := serving(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("reached: %s %v", r.URL, r.Header) })
	for _, target := range []string{never.URL + "/?" + secretQuery, "http://169.254.169.254/latest/meta-data/?" + secretQuery} {
		s := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
		for _, name := range slices.Sorted(maps.Keys(asking)) {
			for _, err := range everyQuestion(t.Context(), askingProvider(t, name, s.URL)) {
				if err == nil || !strings.Contains(err.Error(), "redirects elsewhere") || strings.Contains(err.Error(), "SECRET") {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

// A provider that does not answer holds nobody longer than they want to wait.
func TestProvidersThatHang(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(asking)) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		s := serving(t, func(http.ResponseWriter, *http.Request) { cancel(); <-done })
		for _, err := range everyQuestion(ctx, askingProvider(t, name, s.URL)) {
			if err == nil || !strings.Contains(err.Error(), "canceled") {
				t.Errorf("%s: %v", name, err)
			}
		}
		close(done)
	}
}

// What each provider can be asked, and where.
func TestWhatProvidersCanBeAsked(t *testing.T) {
	for name, want := range map[string]struct {
		fetch, query bool
		hosts        string
	}{
		"wechatpay": {true, true, "api.mch.weixin.qq.com"},
		"alipay":    {true, true, "dwbillcenter.alipay.com openapi.alipay.com"},
		"unionpay":  {true, true, "filedownload.95516.com gateway.95516.com"},
		"stripe":    {true, true, "api.stripe.com files.stripe.com"},
		"paypal":    {false, true, "api-m.paypal.com"}, // its reports come by SFTP
		"adyen":     {true, false, "ca-test.adyen.com"},
	} {
		p := askingProvider(t, name, "")
		_, fetch := p.(reconcile.Fetcher)
		_, query := p.(callback.Querier)
		if hosts := strings.Join(p.(callback.Outgoing).Hosts(), " "); fetch != want.fetch || query != want.query || hosts != want.hosts {
			t.Errorf("%s: fetch %t, query %t, hosts %s", name, fetch, query, hosts)
		}
	}
}
