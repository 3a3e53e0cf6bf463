package shop

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

// guard decides who is answered.
type guard struct {
	keys     []Key
	limits   map[string]*rate.Limiter // by key's name; not there: no limit
	failures failures
	now      func() time.Time
}

func newGuard(keys []Key, now func() time.Time) *guard {
	g := &guard{keys: keys, limits: map[string]*rate.Limiter{}, now: now}
	for _, k := range keys {
		if k.Rate > 0 {
			g.limits[k.Name] = rate.NewLimiter(k.Rate, max(k.Burst, 1))
		}
	}
	return g
}

// admit returns the name of the API key, "" where none is configured, or a *Problem.
func (g *guard) admit(c echo.Context, needs Scope) (owner string, err error) {
	if len(g.keys) == 0 {
		return "", local(c.Request())
	}
	text, told := bearer(c.Request().Header)
	key := find(g.keys, text)
	if key == nil || text == "" {
		return "", g.unauthorized(c, told)
	}
	if !key.may(needs) {
		p := problem(http.StatusForbidden, CodeScopeMissing, "the API key %s may not do this: it needs the scope %s, add it to the key's scopes or use another key", key.Name, needs)
		p.Authenticate = fmt.Sprintf(`Bearer realm="paybook", error="insufficient_scope", scope=%q`, needs)
		return key.Name, p
	}
	if wait := take(g.limits[key.Name], g.now()); wait > 0 {
		p := problem(http.StatusTooManyRequests, CodeRateLimited, "the API key %s may send %g requests a second: wait as Retry-After says", key.Name, key.Rate)
		p.RetryAfter = wait
		return key.Name, p
	}
	return key.Name, nil
}

// bearer is the secret that a request carries. Two of them, or one of another kind, are none.
func bearer(h http.Header) (secret string, told bool) {
	lines := h.Values(echo.HeaderAuthorization)
	if len(lines) != 1 {
		return "", len(lines) > 0
	}
	scheme, secret, _ := strings.Cut(lines[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", true
	}
	return strings.TrimSpace(secret), true
}

// unauthorized answers a request without one of our keys. Who is wrong too often is told to wait: the log of real refusals must stay
// readable. The right key is let in all the same, or a stranger behind the same proxy could shut the shop out.
func (g *guard) unauthorized(c echo.Context, told bool) *Problem {
	if wait := g.failures.wait(c.RealIP(), g.now()); wait > 0 {
		p := problem(http.StatusTooManyRequests, CodeRateLimited, "too many requests without a valid API key from this address: wait as Retry-After says")
		p.RetryAfter, p.quiet = wait, true
		return p
	}
	p := problem(http.StatusUnauthorized, CodeUnauthorized, "send the API key as header Authorization: Bearer KEY")
	p.Authenticate = `Bearer realm="paybook"`
	if told {
		p.Detail = "this API key is not one of ours: compare it with api_keys in the configuration"
		p.Authenticate += `, error="invalid_token"`
	}
	return p
}

// local answers this machine only, while there are no API keys: and nothing that a proxy or a browser's page of elsewhere sends from here.
func local(req *http.Request) error {
	why := ""
	peer, err := netip.ParseAddrPort(req.RemoteAddr)
	switch {
	case err != nil || !peer.Addr().Unmap().IsLoopback():
		why = "requests from other machines need an API key"
	case forwarded(req.Header):
		why = "requests through a proxy need an API key"
	case !localName(req.Host) || http.NewCrossOriginProtection().Check(req) != nil:
		why = "requests of a web page need an API key"
	default:
		return nil
	}
	return problem(http.StatusForbidden, CodeLocalOnly, "%s, and none is configured: add api_keys to the configuration and send one as header Authorization: Bearer KEY", why)
}

// forwarded is true when a proxy says that it stands between.
func forwarded(h http.Header) bool {
	for name := range h {
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if name == "forwarded" || strings.HasPrefix(name, "x-forwarded") || name == "x-real-ip" || name == "via" {
			return true
		}
	}
	return false
}

// localName refuses a name that somebody may have pointed at this machine, to make a browser here send for him: one with a dot.
func localName(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	host = strings.TrimSuffix(host, ".")
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(strings.ToLower(host), ".localhost")
}
