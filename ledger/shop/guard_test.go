package shop_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/ledger/shop"
	"paybook/models"
)

const secret = "a-secret-of-the-shop-9f2c"

func TestAPIKeys(t *testing.T) {
	both := shop.Key{Name: "backend", Secrets: []shop.Secret{shop.HashSecret(secret), shop.HashSecret("the-next-secret-0a1b")}, Scopes: shop.Scopes()}
	onSQLite(t, func(s site) {
		for i, header := range []string{"Bearer " + secret, "Bearer the-next-secret-0a1b", "bearer  " + secret + " ", "BEARER " + secret} {
			s.want(s.post("/orders", order(fmt.Sprint("A", i), "1.00"), "Authorization: "+header), 201)
		}
		for _, headers := range [][]string{
			nil, {"Authorization: "}, {"Authorization: Bearer"}, {"Authorization: Bearer "}, {"Authorization: Bearer " + secret + "x"}, {"Authorization: Bearer " + secret[1:]},
			{"Authorization: " + secret}, {"Authorization: Basic " + secret}, {"Authorization: Bearer " + strings.ToUpper(secret)},
			{"Authorization: Bearer " + secret, "Authorization: Bearer " + secret}, {"X-Api-Key: " + secret},
		} {
			got := s.post("/orders", order("X", "1.00"), headers...)
			s.wantProblem(got, 401, shop.CodeUnauthorized)
			if !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer realm=") {
				t.Errorf("%v: WWW-Authenticate %q", headers, got.header.Get("WWW-Authenticate"))
			}
		}
		s.wantProblem(s.get("/orders/A0?access_token="+secret), 401, shop.CodeUnauthorized)
		s.want(s.get("/orders/A0", "Authorization: Bearer "+secret, "X-Forwarded-For: 203.0.113.7", "Forwarded: for=203.0.113.7"), 200)
		s.wantOrders("A0", "A1", "A2", "A3")
		if strings.Contains(s.log.String(), secret) || strings.Contains(s.log.String(), secret[1:]) {
			t.Error("a secret is in the log")
		}
	}, both)
}

func TestScopes(t *testing.T) {
	keys := make([]shop.Key, 0, len(shop.Scopes()))
	for i, scope := range shop.Scopes() {
		keys = append(keys, key(fmt.Sprint("only", i), fmt.Sprint("only-this-scope-", scope), scope))
	}
	routes := []struct {
		method, path, body string
		needs              shop.Scope
	}{
		{"POST", "/orders", order("A1", "1.00"), shop.OrdersWrite},
		{"GET", "/orders/A1", "", shop.OrdersRead},
		{"POST", "/orders/A1/pay", "", shop.OrdersWrite},
		{"POST", "/orders/A1/ship", "", shop.OrdersWrite},
		{"POST", "/orders/A1/cancel", "", shop.OrdersWrite},
		{"POST", "/tokens", `{"scope":"x"}`, shop.TokensWrite},
		{"GET", "/stock/TEA", "", shop.StockRead},
	}
	onSQLite(t, func(s site) {
		s.stock("TEA", 1)
		for _, r := range routes {
			for _, have := range shop.Scopes() {
				got := s.ask(r.method, r.path, r.body, "Authorization: Bearer only-this-scope-"+string(have))
				if have == r.needs {
					if got.status == 401 || got.status == 403 {
						t.Errorf("%s %s with %s: %d", r.method, r.path, have, got.status)
					}
					continue
				}
				s.wantProblem(got, 403, shop.CodeScopeMissing, string(r.needs))
				if !strings.Contains(got.header.Get("WWW-Authenticate"), `scope="`+string(r.needs)+`"`) {
					t.Errorf("WWW-Authenticate %q", got.header.Get("WWW-Authenticate"))
				}
			}
		}
		s.wantOrder("A1", models.Closed, 3)
	}, keys...)
}

func TestRateLimit(t *testing.T) {
	slow := key("slow", secret)
	slow.Rate, slow.Burst = 0.5, 3
	onSQLite(t, func(s site) {
		for i := range 3 {
			s.want(s.post("/orders", order(fmt.Sprint("A", i), "1.00"), "Authorization: Bearer "+secret), 201)
		}
		got := s.post("/orders", order("A3", "1.00"), "Authorization: Bearer "+secret)
		s.wantProblem(got, 429, shop.CodeRateLimited, "slow")
		if got.header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After %q, want 2", got.header.Get("Retry-After"))
		}
		s.want(s.get("/orders/A0", "Authorization: Bearer another-secret-1234"), 200) // every key has its own
		s.later(1900 * time.Millisecond)
		if got := s.get("/orders/A0", "Authorization: Bearer "+secret); got.status != 429 || got.header.Get("Retry-After") != "1" {
			t.Errorf("after 1.9 s: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
		}
		s.later(100 * time.Millisecond)
		s.want(s.post("/orders", order("A3", "1.00"), "Authorization: Bearer "+secret), 201)
		s.wantOrders("A0", "A1", "A2", "A3")
		if s.seen.count("POST /orders", 429) != 1 {
			t.Errorf("observed %+v", s.seen.all)
		}
	}, slow, key("fast", "another-secret-1234"))
}

// Who guesses is slowed down; who has the key is not, wherever the guesses come from.
func TestWrongKeysAreLimited(t *testing.T) {
	onSQLite(t, func(s site) {
		counts := map[int]int{}
		for i := range 50 {
			got := s.get("/orders/A1", fmt.Sprint("Authorization: Bearer guess-number-", i))
			counts[got.status]++
			if got.status == 429 && got.header.Get("Retry-After") == "" {
				t.Error("429 without Retry-After")
			}
		}
		if counts[401] != 20 || counts[429] != 30 {
			t.Errorf("answers %v", counts)
		}
		s.want(s.get("/orders/A1", "Authorization: Bearer "+secret), 404)
		s.later(time.Minute)
		s.wantProblem(s.get("/orders/A1"), 401, shop.CodeUnauthorized)
		if n := strings.Count(s.log.String(), `"level":"WARN"`); n != 21 {
			t.Errorf("%d warnings: the log must stay readable", n)
		}
	}, key("backend", secret))
}

// Without an API key only this machine is answered, and nothing that was passed on to it.
func TestLocalOnly(t *testing.T) {
	onSQLite(t, func(s site) {
		s.want(s.post("/orders", order("A1", "1.00")), 201)
		s.want(s.get("/orders/A1", "Host: localhost:8080"), 200)
		s.want(s.get("/orders/A1", "Host: [::1]:8080"), 200)
		s.want(s.get("/orders/A1", "Authorization: Bearer whatever"), 200)
		for _, header := range []string{"Forwarded: for=203.0.113.7", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: x", "X-Forwarded-Anything: x",
			"x-forwarded-for: ", "X-Forwarded: x", "X-Real-IP: 127.0.0.1", "Via: 1.1 proxy", "X_Forwarded_For: 1", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site", "Host: evil.example"} {
			if got := s.post("/orders/A1/cancel", "", header); got.status != 403 || !strings.Contains(got.body, shop.CodeLocalOnly) || !strings.Contains(got.body, "api_keys") {
				t.Errorf("%s: %d %s", header, got.status, got.body)
			}
		}
		s.wantOrder("A1", models.Unpaid, 1)
		e := echo.New()
		(&shop.Server{Book: s.book}).Mount(e.Group(""))
		for peer, want := range map[string]int{"127.0.0.1:1": 200, "127.9.9.9:1": 200, "[::1]:1": 200, "[::ffff:127.0.0.1]:1": 200, "192.168.1.5:1": 403, "10.0.0.1:1": 403,
			"[fe80::1%eth0]:1": 403, "203.0.113.7:1": 403, "": 403, "@": 403, "localhost:1": 403} {
			req := httptest.NewRequest(http.MethodGet, "/orders/A1", nil)
			req.RemoteAddr, req.Host = peer, "127.0.0.1:8080"
			rec := httptest.NewRecorder()
			e.HTTPErrorHandler = func(err error, c echo.Context) { p, _ := shop.ProblemOf(err); _ = p.Send(c) }
			e.ServeHTTP(rec, req)
			if rec.Code != want {
				t.Errorf("peer %q: %d, want %d", peer, rec.Code, want)
			}
		}
	})
}
