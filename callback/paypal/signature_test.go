package paypal

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"

	"paybook/models"
)

const goodBody = `{"id":"WH-1","event_type":"PAYMENT.CAPTURE.COMPLETED","create_time":"2026-11-27T18:15:02Z","resource_type":"capture","resource":{"id":"CAP1",` +
	`"amount":{"currency_code":"USD","value":"49.99"},"status":"COMPLETED","create_time":"2026-11-27T18:15:00Z","invoice_id":"ORD-1"}}`

// reasonOf is why a request is refused; "" when it is not.
func reasonOf(tb testing.TB, p *Provider, cb models.Callback) models.Reason {
	tb.Helper()
	_, err := p.Verify(context.Background(), cb)
	if err == nil {
		return ""
	}
	var rejection *models.Rejection
	if !errors.As(err, &rejection) {
		tb.Fatalf("Verify = %v, want a rejection", err)
	}
	return rejection.Reason
}

func TestHeaders(t *testing.T) {
	p := account(t, goodLeaf(t), nil)
	text := fmt.Sprintf("t-1|%s|%s|%d", "2026-11-27T18:15:03Z", webhookID, crc32.ChecksumIEEE([]byte(goodBody)))
	good := sign(t, leafKey(), text)
	for _, c := range []struct {
		name, header, value string
		want                models.Reason
	}{
		{"unchanged", "PAYPAL-AUTH-ALGO", algorithm, ""},
		{"unread header", "PAYPAL-AUTH-VERSION", "v3", ""},
		{"no id", "PAYPAL-TRANSMISSION-ID", "", models.ReasonSignature},
		{"another id", "PAYPAL-TRANSMISSION-ID", "t-2", models.ReasonSignature},
		{"no time", "PAYPAL-TRANSMISSION-TIME", "", models.ReasonSignature},
		{"no signature", "PAYPAL-TRANSMISSION-SIG", "", models.ReasonSignature},
		{"no URL", "PAYPAL-CERT-URL", "", models.ReasonSignature},
		{"no algorithm", "PAYPAL-AUTH-ALGO", "", models.ReasonSignature},
		{"SHA1", "PAYPAL-AUTH-ALGO", "SHA1withRSA", models.ReasonAlgorithm},
		{"small letters", "PAYPAL-AUTH-ALGO", "sha256withrsa", models.ReasonAlgorithm},
		{"none", "PAYPAL-AUTH-ALGO", "none", models.ReasonAlgorithm},
		{"blank behind", "PAYPAL-AUTH-ALGO", algorithm + " ", models.ReasonAlgorithm},
		{"another key's", "PAYPAL-TRANSMISSION-SIG", sign(t, rootKey(), text), models.ReasonSignature},
		{"no base64", "PAYPAL-TRANSMISSION-SIG", "%%%", models.ReasonSignature},
		{"cut", "PAYPAL-TRANSMISSION-SIG", good[:len(good)-4], models.ReasonSignature},
		{"line break", "PAYPAL-TRANSMISSION-SIG", good[:8] + "\n" + good[8:], models.ReasonSignature},
		{"URL alphabet", "PAYPAL-TRANSMISSION-SIG", strings.NewReplacer("+", "-", "/", "_").Replace(good), models.ReasonSignature},
		{"zeros", "PAYPAL-TRANSMISSION-SIG", base64.StdEncoding.EncodeToString(make([]byte, 256)), models.ReasonSignature},
		{"CRC in hex", "PAYPAL-TRANSMISSION-SIG", sign(t, leafKey(), fmt.Sprintf("t-1|2026-11-27T18:15:03Z|%s|%x", webhookID, crc32.ChecksumIEEE([]byte(goodBody)))), models.ReasonSignature},
		{"another webhook", "PAYPAL-TRANSMISSION-SIG", sign(t, leafKey(), strings.Replace(text, webhookID, "X", 1)), models.ReasonSignature},
		{"our other webhook", "PAYPAL-TRANSMISSION-SIG", sign(t, leafKey(), strings.Replace(text, webhookID, "OTHERHOOK", 1)), ""},
	} {
		cb := request(t, goodBody)
		cb.Headers.Set(c.header, c.value)
		if got := reasonOf(t, p, cb); got != c.want {
			t.Errorf("%s: refused for %q, want %q", c.name, got, c.want)
		}
	}
}

// The bytes are signed, not what they mean.
func TestBodyIsTakenAsItCame(t *testing.T) {
	p := account(t, goodLeaf(t), nil)
	for _, body := range []string{
		strings.Replace(goodBody, `"ORD-1"`, `"Ma\u0026x <b> & é"`, 1), " " + goodBody + "\r\n", strings.ReplaceAll(goodBody, ",", ",\n\t"),
	} {
		if got := reasonOf(t, p, request(t, body)); got != "" {
			t.Errorf("refused for %s: %s", got, body)
		}
		cb := request(t, body)
		cb.Body = append(cb.Body, ' ')
		if got := reasonOf(t, p, cb); got != models.ReasonSignature {
			t.Errorf("a blank more: refused for %q, want signature", got)
		}
	}
	for _, body := range []string{"", "null", "[]", `"x"`, "{", goodBody + goodBody, goodBody[:len(goodBody)-1] + `,"id":"x"}`, "\xff"} {
		if got := reasonOf(t, p, request(t, body)); got != models.ReasonMalformed {
			t.Errorf("genuine, but %q: refused for %q, want malformed", body, got)
		}
	}
}

func TestAge(t *testing.T) {
	p := account(t, goodLeaf(t), nil)
	for _, c := range []struct {
		age  time.Duration
		want models.Reason
	}{
		{0, ""}, {72 * time.Hour, ""}, {96 * time.Hour, ""}, {96*time.Hour + time.Second, models.ReasonTimestamp}, {11 * 24 * time.Hour, models.ReasonTimestamp},
		{-5 * time.Minute, ""}, {-5*time.Minute - time.Second, models.ReasonTimestamp}, {-96 * time.Hour, models.ReasonTimestamp},
	} {
		if got := reasonOf(t, p, requestAt(t, goodBody, now.Add(-c.age).Format(time.RFC3339))); got != c.want {
			t.Errorf("%s old: refused for %q, want %q", c.age, got, c.want)
		}
	}
	for text, want := range map[string]models.Reason{
		"2026-11-27T10:15:03-08:00": "", "2026-11-27T18:15:03.123Z": "", "2026-11-27 18:15:03": models.ReasonTimestamp,
		"1795803303": models.ReasonTimestamp, "now": models.ReasonTimestamp, "0001-01-01T00:00:00Z": models.ReasonTimestamp, "9999-12-31T23:59:59Z": models.ReasonTimestamp,
	} {
		if got := reasonOf(t, p, requestAt(t, goodBody, text)); got != want {
			t.Errorf("%s: refused for %q, want %q", text, got, want)
		}
	}
	p = account(t, goodLeaf(t), map[string]any{"max_age_seconds": 60})
	if got := reasonOf(t, p, requestAt(t, goodBody, now.Add(-61*time.Second).Format(time.RFC3339))); got != models.ReasonTimestamp {
		t.Errorf("a second more than configured: refused for %q", got)
	}
}

func TestCertificateURL(t *testing.T) {
	p := account(t, goodLeaf(t), nil)
	const name = "/v1/notifications/certs/CERT-1"
	for _, bad := range []string{
		"http://api.paypal.com" + name, "HTTPS://api.paypal.com" + name, "//api.paypal.com" + name, "api.paypal.com" + name, "file:///etc/passwd",
		"https://api.paypal.com.attacker.example" + name, "https://attacker.example/api.paypal.com" + name, "https://xapi.paypal.com" + name,
		"https://www.paypal.com" + name, "https://paypal.com" + name, "https://API.PAYPAL.COM" + name, "https://api.paypal.com." + name,
		"https://api.paypal.com:443" + name, "https://api.paypal.com:8443" + name, "https://user@api.paypal.com" + name,
		"https://api.paypal.com@attacker.example" + name, "https://attacker.example#@api.paypal.com" + name, "https://attacker.example\\@api.paypal.com" + name,
		"https://api.paypal.com/v1/notifications/certs/", "https://api.paypal.com/v1/notifications/certs", "https://api.paypal.com/",
		"https://api.paypal.com/v1/notifications/certs/..", "https://api.paypal.com/v1/notifications/certs/.",
		"https://api.paypal.com/v1/notifications/certs/../webhooks", "https://api.paypal.com/v1/notifications/certs/%2e%2e/x",
		"https://api.paypal.com/v1/notifications/certs/a%2Fb", "https://api.paypal.com/v1/notifications/certs/a/b", "https://api.paypal.com//v1/notifications/certs/a",
		"https://api.paypal.com/v2/notifications/certs/a", "https://api.paypal.com/x/v1/notifications/certs/a", "https://api.paypal.com/V1/notifications/certs/a",
		certURL + "?x=1", certURL + "#x", certURL + ";x", certURL + " ", " " + certURL, certURL + "\x00", certURL + "\n", certURL + "é",
		"https://127.0.0.1" + name, "https://[::1]" + name, "https://169.254.169.254" + name, certURL + strings.Repeat("a", 300), "%", "https://",
	} {
		cb := request(t, goodBody)
		cb.Headers.Set("PAYPAL-CERT-URL", bad)
		if got := reasonOf(t, p, cb); got != models.ReasonCertURL {
			t.Errorf("%q: refused for %q, want cert_url", bad, got)
		}
	}
	for _, host := range certHostsDefault {
		if got, err := p.checkCertURL("https://" + host + "/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270"); err != nil || got != host {
			t.Errorf("%s: %q, %v; want it allowed", host, got, err)
		}
	}
	p = account(t, goodLeaf(t), map[string]any{"allowed_cert_hosts": []string{"api-m.paypal.com"}})
	if got := reasonOf(t, p, request(t, goodBody)); got != models.ReasonCertURL {
		t.Errorf("a host that is not listed, though its certificate is kept: refused for %q", got)
	}
}

func TestCertificates(t *testing.T) {
	changed := func(change func(*x509.Certificate)) string {
		leaf := template(nameDefault)
		change(leaf)
		return issue(t, leaf, authority("root"), leafKey(), rootKey())
	}
	self := template(nameDefault)
	middle := authority("middle")
	below := issue(t, template(nameDefault), middle, leafKey(), middleKey())
	for name, c := range map[string]struct {
		pem  string
		want models.Reason
	}{
		"good":              {goodLeaf(t), ""},
		"by subject only":   {changed(func(c *x509.Certificate) { c.DNSNames = nil }), ""},
		"by DNS name only":  {changed(func(c *x509.Certificate) { c.Subject.CommonName = "x" }), ""},
		"another name":      {changed(func(c *x509.Certificate) { c.Subject.CommonName, c.DNSNames = "api.paypal.com", nil }), models.ReasonCertificate},
		"a wildcard":        {changed(func(c *x509.Certificate) { c.Subject.CommonName, c.DNSNames = "x", []string{"*.paypal.com"} }), models.ReasonCertificate},
		"a longer name":     {changed(func(c *x509.Certificate) { c.Subject.CommonName, c.DNSNames = nameDefault+".evil.example", nil }), models.ReasonCertificate},
		"ended":             {changed(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Second) }), models.ReasonCertificate},
		"ends now":          {changed(func(c *x509.Certificate) { c.NotAfter = now }), ""},
		"not begun":         {changed(func(c *x509.Certificate) { c.NotBefore = now.Add(time.Second) }), models.ReasonCertificate},
		"signed by itself":  {issue(t, self, self, leafKey(), leafKey()), models.ReasonChain},
		"another authority": {issue(t, template(nameDefault), authority("root"), leafKey(), leafKey()), models.ReasonChain},
		"short key":         {issue(t, template(nameDefault), authority("root"), smallKey(), rootKey()), models.ReasonCertificate},
		"curve":             {issue(t, template(nameDefault), authority("root"), curveKey(), rootKey()), models.ReasonCertificate},
		"with its chain":    {below + issue(t, middle, authority("root"), middleKey(), rootKey()), ""},
		"chain missing":     {below, models.ReasonChain},
		"no CA between":     {below + issue(t, template("middle"), authority("root"), middleKey(), rootKey()), models.ReasonChain},
	} {
		if got := reasonOf(t, account(t, c.pem, nil), request(t, goodBody)); got != c.want {
			t.Errorf("%s: refused for %q, want %q", name, got, c.want)
		}
	}
	if got := reasonOf(t, account(t, goodLeaf(t), map[string]any{"trusted_roots": nil}), request(t, goodBody)); got != models.ReasonChain {
		t.Errorf("by the system's authorities: refused for %q, want chain", got)
	}
	if got := reasonOf(t, account(t, goodLeaf(t), map[string]any{"certificate_common_name": "x.example"}), request(t, goodBody)); got != models.ReasonCertificate {
		t.Errorf("another name configured: refused for %q, want certificate", got)
	}
}

func TestMode(t *testing.T) {
	for _, c := range []struct {
		host     string
		livemode any
		want     bool
	}{
		{"api.paypal.com", nil, false}, {"api.paypal.com", true, false}, {"api.paypal.com", false, true},
		{"api.sandbox.paypal.com", nil, false}, {"api.sandbox.paypal.com", true, true}, {"api-m.sandbox.paypal.com", true, true}, {"api.sandbox.paypal.com", false, false},
	} {
		p := account(t, goodLeaf(t), map[string]any{"livemode": c.livemode})
		cb := request(t, goodBody)
		url := "https://" + c.host + certPath + "CERT-1"
		p.trust.kept[url] = p.trust.kept[certURL]
		cb.Headers.Set("PAYPAL-CERT-URL", url)
		events, err := p.Verify(t.Context(), cb)
		if err != nil || events[0].TestMode != c.want {
			t.Errorf("%s, livemode %v: test mode %v (%v), want %v", c.host, c.livemode, events, err, c.want)
		}
	}
}

func TestMerchant(t *testing.T) {
	p := account(t, goodLeaf(t), map[string]any{"merchant_ids": []string{"OURS"}})
	for body, want := range map[string]models.Reason{
		goodBody: "",
		strings.Replace(goodBody, `"resource":{`, `"resource":{"payee":{"merchant_id":"OURS"},`, 1):                           "",
		strings.Replace(goodBody, `"resource":{`, `"resource":{"payee":{"merchant_id":"THEIRS"},`, 1):                         models.ReasonMerchant,
		strings.Replace(goodBody, `"resource":{`, `"resource":{"disputed_transactions":[{"seller":{"merchant_id":"X"}}],`, 1): models.ReasonMerchant,
	} {
		if got := reasonOf(t, p, request(t, body)); got != want {
			t.Errorf("%s: refused for %q, want %q", body, got, want)
		}
	}
}
