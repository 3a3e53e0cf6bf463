package paypal

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/callback/providertest"
	"paybook/models"
)

const kit = "../../testdata/paypal"

func TestProvider(t *testing.T) {
	p, err := New(kitSettings(t, nil), kit)
	if err != nil {
		t.Fatal(err)
	}
	p.downloads = newDownloads(unreachableNetwork{}) // a flipped bit of the certificate's URL asks for another one
	providertest.Run(t, p, kit, providertest.Signed("PAYPAL-TRANSMISSION-ID", "PAYPAL-TRANSMISSION-TIME", "PAYPAL-TRANSMISSION-SIG",
		"PAYPAL-CERT-URL", "PAYPAL-AUTH-ALGO"))
}

// kitSettings is the kit's account with some settings changed; nil takes a setting away.
func kitSettings(tb testing.TB, change map[string]any) json.RawMessage {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(kit, "config.json"))
	if err != nil {
		tb.Fatal(err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(raw, &all); err != nil {
		tb.Fatal(err)
	}
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	if raw, err = json.Marshal(all); err != nil {
		tb.Fatal(err)
	}
	return raw
}

func TestNewNamesTheSettingThatIsWrong(t *testing.T) {
	type m = map[string]any
	for name, c := range map[string]struct {
		change m
		want   string
	}{
		"unknown key":        {m{"webhook_id": "x"}, "settings.webhook_id: unknown key; the keys here are allowed_cert_hosts, api, "},
		"key in capitals":    {m{"Webhook_IDs": []string{"x"}}, "settings.Webhook_IDs: unknown key"},
		"no webhook":         {m{"webhook_ids": nil}, "settings.webhook_ids: empty"},
		"empty list":         {m{"webhook_ids": []string{}}, "settings.webhook_ids: empty"},
		"empty webhook":      {m{"webhook_ids": []string{"x", ""}}, "settings.webhook_ids[1]"},
		"blank webhook":      {m{"webhook_ids": []string{"  "}}, "settings.webhook_ids[0]"},
		"invisible webhook":  {m{"webhook_ids": []string{"\u200b"}}, "settings.webhook_ids[0]"},
		"webhook with blank": {m{"webhook_ids": []string{"x "}}, "settings.webhook_ids[0]"},
		"webhook with bar":   {m{"webhook_ids": []string{"a|b"}}, "settings.webhook_ids[0]"},
		"webhook as text":    {m{"webhook_ids": "x"}, "settings.webhook_ids"},
		"no hosts":           {m{"allowed_cert_hosts": []string{}}, "settings.allowed_cert_hosts: empty"},
		"empty host":         {m{"allowed_cert_hosts": []string{""}}, "settings.allowed_cert_hosts[0]"},
		"host with port":     {m{"allowed_cert_hosts": []string{"api.paypal.com:443"}}, "settings.allowed_cert_hosts[0]"},
		"host with path":     {m{"allowed_cert_hosts": []string{"api.paypal.com/"}}, "settings.allowed_cert_hosts[0]"},
		"host as URL":        {m{"allowed_cert_hosts": []string{"https://api.paypal.com"}}, "settings.allowed_cert_hosts[0]"},
		"any host":           {m{"allowed_cert_hosts": []string{"*.paypal.com"}}, "settings.allowed_cert_hosts[0]"},
		"host in capitals":   {m{"allowed_cert_hosts": []string{"API.paypal.com"}}, "settings.allowed_cert_hosts[0]"},
		"no name":            {m{"certificate_common_name": ""}, "settings.certificate_common_name"},
		"no roots":           {m{"trusted_roots": []string{}}, "settings.trusted_roots: empty"},
		"empty root":         {m{"trusted_roots": []string{""}}, "settings.trusted_roots[0]: no file named"},
		"missing root":       {m{"trusted_roots": []string{"certs/gone.pem"}}, "gone.pem"},
		"root is no PEM":     {m{"trusted_roots": []string{"config.json"}}, "-----BEGIN CERTIFICATE-----"},
		"root is a leaf":     {m{"trusted_roots": []string{"certs/leaf.pem"}}, "not the certificate of an authority"},
		"empty cache":        {m{"certificate_cache": ""}, "settings.certificate_cache: no file named"},
		"missing cache":      {m{"certificate_cache": "certs/gone.json"}, "settings.certificate_cache"},
		"cache is no JSON":   {m{"certificate_cache": "certs/root.pem"}, "settings.certificate_cache"},
		"cache names no PEM": {m{"certificate_cache": "config.json"}, "settings.certificate_cache"},
		"no age":             {m{"max_age_seconds": 0}, "settings.max_age_seconds: 0, expected 1 to 2592000"},
		"negative age":       {m{"max_age_seconds": -1}, "settings.max_age_seconds: -1"},
		"wide age":           {m{"max_age_seconds": 2592001}, "settings.max_age_seconds: 2592001"},
		"age as text":        {m{"max_age_seconds": "60"}, "settings.max_age_seconds"},
		"no zone":            {m{"report_timezone": ""}, "settings.report_timezone"},
		"this machine":       {m{"report_timezone": "Local"}, "settings.report_timezone"},
		"wrong zone":         {m{"report_timezone": "Mars/Olympus"}, "settings.report_timezone"},
		"order field":        {m{"order_id_field": "reference_id"}, `settings.order_id_field: "reference_id"`},
		"no order field":     {m{"order_id_field": ""}, "settings.order_id_field"},
		"no merchants":       {m{"merchant_ids": []string{}}, "settings.merchant_ids: empty"},
		"empty merchant":     {m{"merchant_ids": []string{""}}, "settings.merchant_ids[0]"},
		"mode as text":       {m{"livemode": "true"}, "settings.livemode"},
	} {
		if p, err := New(kitSettings(t, c.change), kit); err == nil || p != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: New = %v, %v; want an error with %q", name, p, err, c.want)
		}
	}
	for _, raw := range []string{``, `null`, `[]`, `{`} {
		if _, err := New(json.RawMessage(raw), kit); err == nil || !strings.HasPrefix(err.Error(), "settings") {
			t.Errorf("New(%q) = %v, want an error about the settings", raw, err)
		}
	}
}

func TestNewDefaults(t *testing.T) {
	p, err := New(json.RawMessage(`{"webhook_ids":["WEBHOOK_ID"]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if zone, cut := p.Calendar(); zone != "America/Los_Angeles" || cut != 0 || p.Name() != "paypal" {
		t.Errorf("%s: calendar %s, %s", p.Name(), zone, cut)
	}
	if p.maxAge != 96*time.Hour || len(p.certHosts) != 4 || p.commonName != nameDefault || p.trust.roots != nil || p.orderField.v2 != "invoice_id" {
		t.Errorf("defaults are %+v", p)
	}
	if w := p.Warnings(); len(w) != 2 || !strings.Contains(w[0], "livemode") || !strings.Contains(w[1], "simulator") {
		t.Errorf("warnings are %q", w)
	}
	p, err = New(kitSettings(t, map[string]any{"livemode": false}), kit)
	if err != nil || len(p.Warnings()) != 0 {
		t.Fatalf("warnings are %q (%v), want none", p.Warnings(), err)
	}
	ends := p.Expiries()
	for _, file := range []string{"certs/leaf.pem", "certs/root.pem"} {
		if end := ends[filepath.Join(kit, file)]; end.Year() != 2036 {
			t.Errorf("%s ends %s, want 2036; all: %v", file, end, ends)
		}
	}
}

// What is genuine and cannot be read is kept, and yet not called received.
func TestReply(t *testing.T) {
	p := plainKit(t)
	for _, c := range []struct {
		answer models.Answer
		status int
		body   string
	}{
		{models.Answer{Outcome: models.OutcomeApplied}, 200, `{"received":true}`}, {models.Answer{Outcome: models.OutcomeIgnored}, 200, `{"received":true}`},
		{models.Answer{Outcome: models.OutcomeUnreadable}, 400, `{"error":"unreadable"}`},
		{models.Answer{Outcome: models.OutcomeUnreadable, Reason: models.ReasonMalformed}, 400, `{"error":"unreadable"}`},
		{models.Answer{Reason: models.ReasonMerchant}, 403, `{"error":"merchant"}`}, {models.Answer{Reason: models.ReasonMalformed}, 400, `{"error":"malformed"}`},
		{models.Answer{Reason: models.ReasonTooLarge}, 413, `{"error":"too_large"}`}, {models.Answer{Reason: models.ReasonChain}, 401, `{"error":"chain"}`},
		{models.Answer{}, 503, `{"error":"try again"}`},
	} {
		if status, kind, body := p.Reply(c.answer); status != c.status || body != c.body || kind != "application/json" {
			t.Errorf("Reply(%+v) = %d %s %s, want %d %s", c.answer, status, kind, body, c.status, c.body)
		}
	}
}
