package cmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bounds of one request. The whole is as long as the largest statement takes; a caller in more of a hurry has a context.
const (
	outboundWhole   = 30 * time.Minute
	outboundConnect = 10 * time.Second
	outboundAnswer  = time.Minute // until the first byte of an answer
	outboundHeaders = 256 << 10   // bytes
	redirectsMax    = 3
)

// outbound is the client for everything that we ask of others. It reaches the hosts given (host, for the usual port of https, or
// host:port) and no other, whoever tells us to: an address in an answer, a redirect, a name server. Plain http is for hosts given as
// localhost or as an address of this machine or a private network; any other host must have a public address. Proxies of the
// environment are not used, because what they connect to can't be seen from here. Errors name the host, never a path, a query or a header.
func outbound(hosts []string) *http.Client {
	g := &guard{hosts: hosts}
	g.next = &http.Transport{
		DialContext:            g.dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    outboundConnect,
		ResponseHeaderTimeout:  outboundAnswer,
		MaxResponseHeaderBytes: outboundHeaders,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    2,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // what is signed or hashed is the bytes as they were sent
	}
	return &http.Client{Transport: g, CheckRedirect: checkRedirect, Timeout: outboundWhole}
}

// guard looks at every request, also those that a redirect leads to.
type guard struct {
	hosts    []string
	next     *http.Transport
	resolver *net.Resolver // nil: the system's
}

// RoundTrip refuses what is not allowed before anything is resolved or sent.
func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.allowed(req.URL); err != nil {
		return nil, err
	}
	resp, err := g.next.RoundTrip(req)
	if err != nil || !isRedirect(resp.StatusCode) {
		return resp, err
	}
	// The standard library spells out a Location that it can't read, and follows one anywhere else: so it is looked at here.
	to, err := resp.Location()
	switch {
	case errors.Is(err, http.ErrNoLocation):
		return resp, nil
	case err != nil:
		err = fmt.Errorf("%s redirects to an address that is none", req.URL.Host)
	default:
		if err = g.allowed(to); err != nil {
			err = fmt.Errorf("%s redirects elsewhere: %w", req.URL.Host, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	return resp, nil
}

func isRedirect(status int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect}, status)
}

// allowed holds an address against the hosts.
func (g *guard) allowed(u *url.URL) error {
	switch {
	case u.User != nil:
		return fmt.Errorf("%s: an address with a user or password in it is not asked", u.Hostname())
	case !g.knows(u):
		return fmt.Errorf("%s is not one of the hosts that may be asked (%s)", u.Host, strings.Join(g.hosts, ", "))
	case u.Scheme == "http" && !isNear(u.Hostname()):
		return fmt.Errorf("%s: asked by https only", u.Host)
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s: asked by https only", u.Host)
	}
	return nil
}

func (g *guard) knows(u *url.URL) bool {
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if u.Port() != "" {
		port = u.Port()
	}
	full := net.JoinHostPort(u.Hostname(), port)
	return slices.ContainsFunc(g.hosts, func(host string) bool {
		if _, _, err := net.SplitHostPort(host); err != nil { // without a port
			usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
			host = net.JoinHostPort(strings.Trim(host, "[]"), usual)
		}
		return strings.EqualFold(host, full)
	})
}

// isNear is true for a host that is written as what it is: localhost, or an address that is not public. Nobody but the configuration
// can have meant it.
func isNear(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && !isPublic(addr)
}

// checkRedirect lets a redirect lead to one of the hosts, but not out of encryption. What was said to one host is not said to another:
// signatures and keys stay behind, and nothing is posted. What is posted is never turned into something else.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first, last := via[0], via[len(via)-1]
	switch {
	case len(via) > redirectsMax:
		return fmt.Errorf("%s: more than %d redirects", first.URL.Host, redirectsMax)
	case last.URL.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("%s redirects out of https", last.URL.Host)
	case req.Method != first.Method: // on the same host too: what was posted would be lost, and whatever page is there would look like success
		return fmt.Errorf("%s redirects a %s, which would arrive without its body: the address has moved", first.URL.Host, first.Method)
	case req.URL.Host == first.URL.Host:
		return nil
	case req.Method != http.MethodGet && req.Method != http.MethodHead:
		return fmt.Errorf("%s redirects a %s to %s", first.URL.Host, req.Method, req.URL.Host)
	}
	maps.DeleteFunc(req.Header, func(name string, _ []string) bool { return name != "User-Agent" && name != "Accept" })
	return nil
}

// dial connects to an address that was looked at after the name server told it: the check is made on the socket's own address, so that
// a name that leads elsewhere the second time leads nowhere.
func (g *guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: outboundConnect, Resolver: g.resolver}
	switch {
	case strings.EqualFold(host, "localhost"):
		dialer.Control = only(host, netip.Addr.IsLoopback)
	case !isNear(host):
		dialer.Control = only(host, isPublic)
	}
	return dialer.DialContext(ctx, network, address)
}

func only(host string, ok func(netip.Addr) bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && ok(to.Addr().Unmap()) {
			return nil
		}
		return fmt.Errorf("%s leads to %s, which is not where it may: if it is meant, write the address itself", host, address)
	}
}

// notPublic are ranges for special uses beside those that the standard library knows: shared by carriers, protocols, benchmarks,
// examples, reserved, and those that carry an IPv4 address inside (RFC 6890 and its successors).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.IsGlobalUnicast() && !addr.IsPrivate() && addr.Zone() == "" &&
		!slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(addr) })
}
