package paypal

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/models"
)

// unreachableNetwork is a machine without a line.
type unreachableNetwork struct{}

func (unreachableNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: errors.New("no route to host")}
}

// paypalServer stands for every allowed host, over TLS, and counts what it is asked.
func paypalServer(t *testing.T, answer http.HandlerFunc) (*downloads, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it is broken on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted, ok := server.Client().Transport.(*http.Transport)
	if !ok {
		t.Fatal("the test server's client has another transport")
	}
	transport := trusted.Clone()
	transport.TLSClientConfig.ServerName = "example.com" // what the test server's certificate is for
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return newDownloads(transport), &asked
}

// without is an account that keeps no certificate and has to ask.
func without(t *testing.T, d *downloads) *Provider {
	t.Helper()
	p := account(t, goodLeaf(t), map[string]any{"certificate_cache": nil})
	p.downloads = d
	return p
}

func TestDownloadOnce(t *testing.T) {
	leaf := goodLeaf(t)
	d, asked := paypalServer(t, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		if r.Method != http.MethodGet || r.Host != "api.paypal.com" || r.URL.Path != certPath+"CERT-1" {
			t.Errorf("asked %s %s %s", r.Method, r.Host, r.URL)
		}
		fmt.Fprint(w, leaf)
	})
	p := without(t, d)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := p.Verify(t.Context(), request(t, goodBody)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	cb := request(t, goodBody)
	cb.Body = append(cb.Body, ' ')
	if got := reasonOf(t, p, cb); got != models.ReasonSignature {
		t.Errorf("a forgery with a known certificate: refused for %q", got)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// What a cheap check refuses asks nobody.
func TestNoDownloadForWhatIsRefusedAnyway(t *testing.T) {
	p := without(t, newDownloads(noNetwork{t}))
	for name, value := range map[string]string{
		"PAYPAL-TRANSMISSION-ID": "", "PAYPAL-TRANSMISSION-SIG": "AAAA", "PAYPAL-AUTH-ALGO": "SHA1withRSA", "PAYPAL-CERT-URL": "https://attacker.example/x",
		"PAYPAL-TRANSMISSION-TIME": "2026-01-01T00:00:00Z",
	} {
		cb := request(t, goodBody)
		cb.Headers.Set(name, value)
		if got := reasonOf(t, p, cb); got == "" {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestDownloadAnswers(t *testing.T) {
	other := issue(t, template(nameDefault), authority("root"), leafKey(), leafKey())
	ended := template(nameDefault)
	ended.NotAfter = now.Add(-time.Hour)
	endedPEM := issue(t, ended, authority("root"), leafKey(), rootKey())
	text := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   models.Reason // "": we could not tell
	}{
		"HTML":          {text(200, "<html>Login</html>"), models.ReasonCertificate},
		"empty":         {text(200, ""), models.ReasonCertificate},
		"a key":         {text(200, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"), models.ReasonCertificate},
		"damaged":       {text(200, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), models.ReasonCertificate},
		"too long":      {text(200, strings.Repeat("\n", downloadMax)+other), models.ReasonCertificate},
		"not found":     {text(404, other), models.ReasonCertificate},
		"a redirect":    {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, certPath+"CERT-2", http.StatusFound) }, models.ReasonCertificate},
		"another chain": {text(200, other), models.ReasonChain},
		"ended":         {text(200, endedPEM), models.ReasonCertificate},
		"out of order":  {text(503, ""), ""},
		"too many":      {text(429, ""), ""},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "999")
			fmt.Fprint(w, "x")
		}, ""},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ""},
	} {
		d, asked := paypalServer(t, c.answer)
		p := without(t, d)
		for range 3 {
			_, err := p.Verify(t.Context(), request(t, goodBody))
			var rejection *models.Rejection
			switch refused := errors.As(err, &rejection); {
			case err == nil, refused != (c.want != ""):
				t.Errorf("%s: Verify = %v, want reason %q", name, err, c.want)
			case refused && rejection.Reason != c.want:
				t.Errorf("%s: refused for %q, want %q", name, rejection.Reason, c.want)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("%s: asked %d times, want once", name, n)
		}
	}
}

// A failure is not kept for long, and the clock of that is the callbacks' own.
func TestFailuresAreForgotten(t *testing.T) {
	leaf := goodLeaf(t)
	var status atomic.Int64
	d, _ := paypalServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		fmt.Fprint(w, leaf)
	})
	p := without(t, d)
	at := func(later time.Duration) error {
		cb := request(t, goodBody)
		cb.ReceivedAt = now.Add(later)
		_, err := p.Verify(t.Context(), cb)
		return err
	}
	status.Store(503)
	if at(0) == nil {
		t.Fatal("verified without a certificate")
	}
	status.Store(404)
	if at(unreachableRest-time.Second) == nil || errors.As(at(unreachableRest), new(*models.Rejection)) == false {
		t.Error("after its rest it was not asked again")
	}
	status.Store(200)
	if at(unreachableRest+refusedRest-time.Second) == nil {
		t.Error("asked again before its rest was over")
	}
	if err := at(unreachableRest + refusedRest); err != nil {
		t.Errorf("the certificate is there by now: %v", err)
	}
}

// A host that cannot be reached rests as a whole, so that a flood of forged URLs does not wait for each.
func TestUnreachableHostRests(t *testing.T) {
	var asked atomic.Int64
	p := without(t, newDownloads(counting{&asked}))
	for i := range 50 {
		cb := request(t, goodBody)
		cb.Headers.Set("PAYPAL-CERT-URL", fmt.Sprintf("%s-%d", certURL, i))
		if _, err := p.Verify(t.Context(), cb); err == nil || errors.As(err, new(*models.Rejection)) {
			t.Fatalf("Verify = %v, want a plain error: PayPal shall send again", err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

type counting struct{ asked *atomic.Int64 }

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	return unreachableNetwork{}.RoundTrip(r)
}

func TestForgedURLsFillNothing(t *testing.T) {
	leaf := goodLeaf(t)
	d, _ := paypalServer(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "0") {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, leaf)
	})
	for i := range 2 * failedMax {
		_, _ = d.get(t.Context(), fmt.Sprintf("%s-%d", certURL, i), now)
		_, _ = d.get(t.Context(), fmt.Sprintf("%s-%d-0", certURL, i), now)
	}
	if len(d.known) > knownMax || len(d.failed) > failedMax || len(d.running) != 0 {
		t.Errorf("%d known, %d failed, %d running", len(d.known), len(d.failed), len(d.running))
	}
}

// A slow host holds up nobody who has gone, and no more than a few at once.
func TestSlowHost(t *testing.T) {
	release := make(chan struct{})
	d, _ := paypalServer(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range downloadsMax {
		if _, err := d.get(ctx, fmt.Sprintf("%s-%d", certURL, i), now); !errors.Is(err, context.Canceled) {
			t.Fatalf("get = %v, want the context's error", err)
		}
	}
	if _, err := d.get(t.Context(), certURL, now); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("get = %v, want too many", err)
	}
}

// The certificate of the host itself is checked: nobody on the way may answer for PayPal.
func TestHostIsChecked(t *testing.T) {
	leaf := goodLeaf(t)
	d, _ := paypalServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, leaf) })
	transport, ok := d.client.Transport.(*http.Transport)
	if !ok {
		t.Fatal("another transport")
	}
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if _, err := d.get(t.Context(), certURL, now); err == nil || errors.As(err, new(*models.Rejection)) {
		t.Errorf("get = %v, want a plain error", err)
	}
	if ours, ok := internet().(*http.Transport); !ok || ours.TLSClientConfig.InsecureSkipVerify {
		t.Error("the real transport does not check")
	}
}
