package cmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/ledger/shop"
)

// callbackRoutes is how the path of every callback route begins.
const callbackRoutes = "/callbacks/"

// publicRoutes are what the world may call. Only the callback routes change anything, and the shop's where no address of their own is
// set.
func (s *service) publicRoutes(hasAdmin bool) *echo.Echo {
	e := s.newEcho()
	s.callbacks().Mount(e.Group(""))
	s.mountHealth(e)
	if !hasAdmin {
		s.mountMetrics(e)
		s.shop().Mount(e.Group(""))
	}
	return e
}

// adminRoutes are on an address of their own.
func (s *service) adminRoutes() *echo.Echo {
	e := s.newEcho()
	s.mountHealth(e)
	s.mountMetrics(e)
	s.shop().Mount(e.Group(""))
	return e
}

func (s *service) mountHealth(e *echo.Echo) {
	alive := func(c echo.Context) error { return c.JSON(http.StatusOK, map[string]string{"status": "ok"}) }
	methods := []string{http.MethodGet, http.MethodHead}
	e.Match(methods, "/healthz", alive)
	e.Match(methods, "/readyz", s.ready.answer)
}

func (s *service) mountMetrics(e *echo.Echo) {
	e.Match([]string{http.MethodGet, http.MethodHead}, "/metrics", echo.WrapHandler(s.metrics.handler()))
}

// newEcho is an Echo without routes. No middleware reads the body: what is signed is the bytes as they came.
func (s *service) newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = clientAddress(s.conf.TrustedProxies)
	e.HTTPErrorHandler = s.problem
	e.Use(requestID, s.logRequest, s.recovered)
	return e
}

// clientAddress is the peer itself, unless it is a proxy of ours: then what the last such proxy says. Anybody can write a header.
func clientAddress(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		trust = append(trust, echo.TrustIPRange(&net.IPNet{
			IP: p.Masked().Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

// saneID is a request id that may go into logs and headers as it is.
var saneID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID keeps a proxy's X-Request-Id, so that its log and ours can be put side by side, or makes one.
func requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(echo.HeaderXRequestID)
		if !saneID.MatchString(id) {
			id = rand.Text()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

// logRequest writes one line a request. Callbacks have told their own story and probes come every second, so what went well, and
// what strangers try, is for debugging only. The query stays out: it may hold what a provider signed.
func (s *service) logRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		status, level := c.Response().Status, slog.LevelDebug
		if status >= http.StatusInternalServerError && !strings.HasPrefix(c.Path(), callbackRoutes) && !s.ready.draining.Load() {
			level = slog.LevelWarn
		}
		if !s.log.Enabled(c.Request().Context(), level) {
			return nil
		}
		path := c.Request().URL.Path
		s.log.Log(c.Request().Context(), level, "request", "method", c.Request().Method, "path", path[:min(len(path), 200)], "status", status,
			"bytes", c.Response().Size, "took", time.Since(start).String(), "remote", c.RealIP(), "request_id", c.Response().Header().Get(echo.HeaderXRequestID))
		return nil
	}
}

// recovered turns a panic into an answer that makes a provider send again. The stack is for the log only.
func (s *service) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if cause, ok := p.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
				panic(p)
			}
			s.log.Error("panic", "path", c.Path(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()),
				"request_id", c.Response().Header().Get(echo.HeaderXRequestID))
			err = echo.NewHTTPError(http.StatusServiceUnavailable, "something went wrong here, send it again")
		}()
		return next(c)
	}
}

// problem answers every error. An error that nobody meant for the outside is logged and not shown.
func (s *service) problem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p, meant := shop.ProblemOf(err)
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	if !meant {
		s.log.Error("request failed", "path", c.Path(), "error", err.Error(), "request_id", id)
	}
	if p.Status == http.StatusMethodNotAllowed && strings.HasPrefix(c.Path(), callbackRoutes) {
		c.Response().Header().Set(echo.HeaderAllow, http.MethodPost) // a method that even the router has never heard of
	}
	if sendErr := p.Send(c); sendErr != nil {
		s.log.Debug("answer not sent", "error", sendErr.Error(), "request_id", id)
	}
}
