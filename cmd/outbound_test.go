package cmd

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

const secretQuery = "token=SECRETTOKEN"

// host is the address of a test's server as it is configured.
func hostOfServer(s *httptest.Server) string { return s.Listener.Addr().String() }

func serving(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

// get asks and returns what came of it; nothing secret may be in the error.
func getOutbound(t *testing.T, client *http.Client, url string) (string, error) {
	t.Helper()
	t.Cleanup(client.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer SECRETKEY")
	req.Header.Set("X-API-Key", "SECRETKEY")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func redirectTo(target string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	}
}

func TestOutboundReachesItsHosts(t *testing.T) {
	s := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			redirectTo("/there")(w, r)
			return
		}
		_, _ = io.WriteString(w, r.URL.Path+" "+r.Header.Get("X-API-Key"))
	})
	for path, want := range map[string]string{"/a": "/a SECRETKEY", "/moved": "/there SECRETKEY"} {
		if got, err := getOutbound(t, outbound([]string{hostOfServer(s)}), s.URL+path); err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	name := "http://localhost:" + strings.Split(hostOfServer(s), ":")[1]
	if got, err := getOutbound(t, outbound([]string{strings.TrimPrefix(name, "http://")}), name+"/b"); err != nil || got != "/b SECRETKEY" {
		t.Errorf("localhost: %q, %v", got, err)
	}
}

func TestOutboundRefusesOtherAddresses(t *testing.T) {
	never := serving(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("reached: %s", r.URL) })
	s := serving(t, hello)
	for _, url := range []string{
		never.URL + "/x?" + secretQuery,
		"http://169.254.169.254/latest/meta-data/?" + secretQuery,
		"https://api.example.com/?" + secretQuery,
		"http://user:SECRETTOKEN@" + hostOfServer(s) + "/",
		"ftp://" + hostOfServer(s) + "/x?" + secretQuery,
		"https://api.example.org.example.com/?" + secretQuery,
	} {
		_, err := getOutbound(t, outbound([]string{hostOfServer(s), "api.example.org"}), url)
		refusedWithout(t, url, err)
	}
}

// refusedWithout wants an error whose own words, behind the standard library's, hold no secret.
func refusedWithout(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s was reached", what)
		return
	}
	if words := innermost(err); strings.Contains(words, "SECRET") || strings.Contains(words, "?") {
		t.Errorf("%s: the error tells too much: %s", what, words)
	}
}

// innermost is what the providers' calls show of an error (ask.Do).
func innermost(err error) string {
	text := err.Error()
	if _, behind, found := strings.Cut(text, `": `); found {
		return behind
	}
	return text
}

func TestOutboundRefusesRedirectsElsewhere(t *testing.T) {
	never := serving(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("reached: %s", r.URL) })
	for _, target := range []string{
		never.URL + "/steal?" + secretQuery, "//" + hostOfServer(never) + "/?" + secretQuery, "http://169.254.169.254/latest/meta-data/?" + secretQuery,
		"http://[::1]:1/?" + secretQuery, "http://metadata.google.internal/?" + secretQuery, "file:///etc/passwd?" + secretQuery,
		"http://a:SECRET@" + hostOfServer(never) + "/", "http://%zz?" + secretQuery, "http://0x7f.1/?" + secretQuery, "gopher://x?" + secretQuery,
	} {
		s := serving(t, redirectTo(target))
		_, err := getOutbound(t, outbound([]string{hostOfServer(s)}), s.URL)
		refusedWithout(t, target, err)
	}
	var loop *httptest.Server
	loop = serving(t, func(w http.ResponseWriter, r *http.Request) { redirectTo(loop.URL+"/again?"+secretQuery)(w, r) })
	_, err := getOutbound(t, outbound([]string{hostOfServer(loop)}), loop.URL)
	refusedWithout(t, "a loop", err)
}

// What was said to one host stays there, also where both may be asked.
func TestOutboundRedirectBetweenHosts(t *testing.T) {
	second := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-API-Key") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("headers came along: %v", r.Header)
		}
		hello(w, r)
	})
	first := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", second.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	client := outbound([]string{hostOfServer(first), hostOfServer(second)})
	if got, err := getOutbound(t, client, first.URL); err != nil || got != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, first.URL, strings.NewReader("grant=SECRET"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	refusedWithout(t, "a POST to another host", err)
}

// A POST that is redirected by 301, 302 or 303 would become a GET: an alert would be lost and called delivered.
func TestOutboundKeepsWhatIsPosted(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		got := ""
		s := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				body, _ := io.ReadAll(r.Body)
				got = r.Method + " " + string(body)
				return
			}
			w.Header().Set("Location", "/there?"+secretQuery)
			w.WriteHeader(status)
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/hook", strings.NewReader("alert"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := outbound([]string{hostOfServer(s)}).Do(req)
		if err == nil {
			resp.Body.Close()
		}
		if status < 307 {
			refusedWithout(t, fmt.Sprint("a POST by ", status), err)
		} else if err != nil {
			t.Errorf("%d: %v", status, err)
		}
		if want := map[bool]string{true: "", false: "POST alert"}[status < 307]; got != want {
			t.Errorf("%d: what came is %q, want %q", status, got, want)
		}
	}
}

func TestOutboundStaysEncrypted(t *testing.T) {
	plain := serving(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("reached in the open: %s", r.URL) })
	secure := httptest.NewUnstartedServer(redirectTo(plain.URL + "/?" + secretQuery))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it notes that its certificate is not taken
	secure.StartTLS()
	t.Cleanup(secure.Close)
	client := outbound([]string{hostOfServer(secure), hostOfServer(plain)})
	_, err := getOutbound(t, client, secure.URL)
	refusedWithout(t, "a server with a certificate of nobody", err)
	pool := x509.NewCertPool()
	pool.AddCert(secure.Certificate())
	client.Transport.(*guard).next.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	_, err = getOutbound(t, client, secure.URL)
	refusedWithout(t, "http behind https", err)
	if err != nil && !strings.Contains(err.Error(), "out of https") {
		t.Errorf("error %v", err)
	}
	_, err = getOutbound(t, outbound([]string{"api.example.com"}), "http://api.example.com/?"+secretQuery)
	refusedWithout(t, "http to a public name", err)
}

// A name that is allowed may lead to any address its owner likes, and to another one each time it is asked for.
func TestOutboundRefusesNamesThatLeadInside(t *testing.T) {
	s := serving(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("reached: %s", r.Host) })
	port := strings.Split(hostOfServer(s), ":")[1]
	for _, inside := range []string{"127.0.0.1", "169.254.169.254", "10.1.2.3", "192.168.0.1", "100.64.0.1", "0.0.0.0"} {
		name := "api.example.com:" + port
		client := outbound([]string{name})
		client.Transport.(*guard).resolver = resolverThatSays(t, inside)
		_, err := getOutbound(t, client, "https://"+name+"/?"+secretQuery)
		refusedWithout(t, inside, err)
		if err == nil || !strings.Contains(err.Error(), "leads to "+inside) {
			t.Errorf("%s: %v", inside, err)
		}
	}
}

// resolverThatSays asks a name server of the test that gives one answer to every question for an IPv4 address.
func resolverThatSays(t *testing.T, address string) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(dnsAnswer(buf[:n], netip.MustParseAddr(address)), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// dnsAnswer turns a question into its answer (RFC 1035, 4.1): the question again and, if it asks for an A record, one.
func dnsAnswer(question []byte, address netip.Addr) []byte {
	end := 12
	for question[end] != 0 {
		end += int(question[end]) + 1
	}
	end += 5
	out := append([]byte{}, question[:end]...)
	out[2], out[3] = 0x81, 0x80
	copy(out[6:12], make([]byte, 6))
	if binary.BigEndian.Uint16(question[end-4:]) == 1 {
		out[7] = 1
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		out = append(out, address.AsSlice()...)
	}
	return out
}

func TestOutboundEndsWithTheContext(t *testing.T) {
	asked, done := make(chan struct{}, 1), make(chan struct{})
	s := serving(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-done })
	defer close(done)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := outbound([]string{hostOfServer(s)})
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
		t.Error("answered")
	}
	if client.Timeout <= 0 || client.Timeout > time.Hour || client.Transport.(*guard).next.ResponseHeaderTimeout <= 0 {
		t.Error("nothing bounds the time")
	}
}

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "101.226.103.106": true, "2606:4700:4700::1111": true,
		"127.0.0.1": false, "::1": false, "10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"fe80::1": false, "fd00:ec2::254": false, "100.100.100.200": false, "0.0.0.0": false, "::": false, "224.0.0.1": false,
		"255.255.255.255": false, "240.0.0.1": false, "198.18.0.1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::7f00:1": false, "192.0.0.192": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: public %t", address, got)
		}
	}
}

func TestOutboundKnowsTheUsualPorts(t *testing.T) {
	g := &guard{hosts: []string{"api.example.com", "files.example.com:8443", "2001:db8::1"}}
	for url, want := range map[string]bool{
		"https://api.example.com/": true, "https://API.example.com:443/": true, "https://api.example.com:8443/": false, "http://api.example.com/": false,
		"https://files.example.com:8443/": true, "https://files.example.com/": false, "https://api.example.com.evil.test/": false,
		"https://evil.test/api.example.com": false, "https://evil-api.example.com/": false, "https://[2001:db8::1]/": true,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.allowed(req.URL); (err == nil) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
}
