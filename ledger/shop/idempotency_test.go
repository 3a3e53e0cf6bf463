package shop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger/shop"
	"paybook/models"
)

// Five clicks on "buy" with one token are one order and four replays.
func TestFiveClicks(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 5)
		token := "Idempotency-Key: " + s.token("cart 7")
		first := s.want(s.post("/orders", order("F1", "19.99", "TEA×1"), token, "X-Request-Id: r1"), 201)
		for range 4 {
			s.replay(first, s.post("/orders", order("F1", "19.99", "TEA×1"), token, "X-Request-Id: r2"))
		}
		s.wantProblem(s.post("/orders", order("F2", "19.99", "TEA×1"), token), 422, shop.CodeKeyReused)
		s.wantOrders("F1")
		s.wantStock("TEA", 4, 1, 0)
	})
}

func (s site) token(scope string, headers ...string) string {
	s.Helper()
	got := s.want(s.post("/tokens", fmt.Sprintf(`{"scope":%q}`, scope), headers...), 201)
	var t shop.TokenJSON
	if err := json.Unmarshal([]byte(got.body), &t); err != nil || !strings.HasPrefix(t.Token, "tok_") || !t.ExpiresAt.Equal(s.clock().Add(shop.DefaultTokenLife)) ||
		got.header.Get("Cache-Control") != "no-store" {
		s.Fatalf("token %s %v, %v", got.body, got.header, err)
	}
	return t.Token
}

// replay fails unless the answer is the first one again, byte for byte.
func (s site) replay(first, again said) {
	s.Helper()
	if again.status != first.status || again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" ||
		again.header.Get("Location") != first.header.Get("Location") || again.header.Get("Content-Type") != first.header.Get("Content-Type") {
		s.Errorf("replay: %d %v %s; want %d %s", again.status, again.header, again.body, first.status, first.body)
	}
}

// A refusal is an answer too: it is kept, and the bytes are the same.
func TestReplayedRefusals(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 1)
		s.want(s.post("/orders", order("R1", "1.00")), 201)
		refused := s.post("/orders", order("R2", "1.00", "TEA×2"), "Idempotency-Key: out")
		s.wantProblem(refused, 409, shop.CodeOutOfStock)
		s.stock("TEA", 10)
		s.replay(refused, s.post("/orders", order("R2", "1.00", "TEA×2"), "Idempotency-Key: out"))
		s.want(s.post("/orders", order("R2", "1.00", "TEA×2"), "Idempotency-Key: again"), 201)
		taken := s.post("/orders", order("R1", "1.00"), "Idempotency-Key: taken", "X-Request-Id: r7")
		if p := s.wantProblem(taken, 409, shop.CodeOrderExists); p.RequestID != "r7" {
			t.Errorf("problem %+v", p)
		}
		s.replay(taken, s.post("/orders", order("R1", "1.00"), "Idempotency-Key: taken"))
		moved := s.post("/orders/R1/ship", "", "Idempotency-Key: ship")
		s.wantProblem(moved, 409, shop.CodeNotAllowed)
		s.replay(moved, s.post("/orders/R1/ship", "", "Idempotency-Key: ship"))
		s.wantOrder("R1", models.Unpaid, 1)
		s.wantOrders("R1", "R2")
	})
}

// The same request in other words is the same request; another one is not.
func TestSameRequest(t *testing.T) {
	each(t, func(s site) {
		s.stock("CUP", 9)
		s.stock("TEA", 9)
		const k = "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324"
		first := s.want(s.post("/orders", `{"order_id":"S1","amount":"19.90","currency":"CNY","items":[{"sku":"TEA","quantity":1},{"sku":"CUP","quantity":2}]}`, k), 201)
		s.replay(first, s.post("/orders", ` { "currency":"cny", "amount":"19.9", "items":[{"quantity":2,"sku":"CUP"},{"quantity":1,"sku":"TEA"}], "order_id":"\u00531" }`, k))
		s.replay(first, s.post("/orders", `{"order_id":"S1","amount":"19.90","currency":"CNY","items":[{"sku":"TEA","quantity":1},{"sku":"CUP","quantity":2}]}`,
			strings.Replace(k, "Idempotency-Key", "idempotent-token", 1)))
		for _, other := range []string{
			`{"order_id":"S1","amount":"19.91","currency":"CNY","items":[{"sku":"TEA","quantity":1},{"sku":"CUP","quantity":2}]}`,
			`{"order_id":"S1","amount":"19.90","currency":"USD","items":[{"sku":"TEA","quantity":1},{"sku":"CUP","quantity":2}]}`,
			`{"order_id":"S1","amount":"19.90","currency":"CNY","items":[{"sku":"TEA","quantity":2},{"sku":"CUP","quantity":1}]}`,
			`{"order_id":"S1","amount":"19.90","currency":"CNY","items":[{"sku":"TEA","quantity":1}]}`,
			`{"order_id":"S1","amount":"19.90","currency":"CNY"}`,
			`{"order_id":"S2","amount":"19.90","currency":"CNY","items":[{"sku":"TEA","quantity":1},{"sku":"CUP","quantity":2}]}`,
			`{"order_id":"S1","amount":"19.90","currency":"CNY","items":[{"sku":"TEA","quantity":1},{"sku":"CUP","quantity":2}],"expires_at":"2026-11-29T10:30:00Z"}`,
		} {
			s.wantProblem(s.post("/orders", other, k), 422, shop.CodeKeyReused, "new key")
		}
		s.wantProblem(s.post("/orders/S1/pay", "", k), 422, shop.CodeKeyReused)
		s.wantOrder("S1", models.Unpaid, 1)
		s.wantOrders("S1")
		s.wantStock("TEA", 8, 1, 0)
	})
}

// Two keys with two numbers are two orders; two keys with one number are one.
func TestTwoKeys(t *testing.T) {
	each(t, func(s site) {
		s.want(s.post("/orders", order("K1", "1.00"), "Idempotency-Key: one"), 201)
		s.want(s.post("/orders", order("K2", "1.00"), "Idempotency-Key: two"), 201)
		s.wantProblem(s.post("/orders", order("K1", "1.00"), "Idempotency-Key: three"), 409, shop.CodeOrderExists)
		s.wantOrders("K1", "K2")
		s.later(24*time.Hour + time.Second) // the first answer is forgotten; the number is not
		s.wantProblem(s.post("/orders", order("K1", "1.00"), "Idempotency-Key: one"), 409, shop.CodeOrderExists)
		s.wantOrders("K1", "K2")
	})
}

// F16: the same request many times at once is one order, and everybody is told the same or to come again.
func TestSameKeyAtOnce(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 100)
		var mu sync.Mutex
		bodies := map[string]int{}
		send := func(int) said {
			for {
				got := s.post("/orders", order("P1", "19.99", "TEA×3"), "Idempotency-Key: p")
				if got.status == 409 {
					s.wantProblem(got, 409, shop.CodeInProgress)
					if got.header.Get("Retry-After") == "" {
						t.Error("409 without Retry-After")
					}
					time.Sleep(time.Millisecond)
					continue
				}
				mu.Lock()
				defer mu.Unlock()
				bodies[got.body]++
				return got
			}
		}
		if counts := s.together(20, send); counts[201] != 20 || len(bodies) != 1 {
			t.Errorf("answers %v with %d bodies", counts, len(bodies))
		}
		s.wantOrders("P1")
		s.wantStock("TEA", 97, 3, 0)
	})
}

// The same for a move: it happens once.
func TestSameMoveAtOnce(t *testing.T) {
	each(t, func(s site) {
		s.want(s.post("/orders", order("M1", "1.00")), 201)
		counts := s.together(20, func(int) said {
			for {
				if got := s.post("/orders/M1/cancel", "", "Idempotency-Key: m"); got.status != 409 {
					return got
				}
				time.Sleep(time.Millisecond)
			}
		})
		if counts[200] != 20 {
			t.Errorf("answers %v", counts)
		}
		s.wantOrder("M1", models.Closed, 2)
	})
}

// What one API key does under a name is none of another's business.
func TestKeysOfTwoOwners(t *testing.T) {
	each(t, func(s site) {
		const one, two = "Authorization: Bearer one-secret-of-the-shop", "Authorization: Bearer two-secret-of-the-shop"
		first := s.want(s.post("/orders", order("W1", "1.00"), "Idempotency-Key: k", one), 201)
		s.want(s.post("/orders", order("W2", "2.00"), "Idempotency-Key: k", two), 201, `"order_id":"W2"`)
		s.replay(first, s.post("/orders", order("W1", "1.00"), "Idempotency-Key: k", one))
		token := s.token("cart", one)
		s.wantProblem(s.post("/orders", order("W3", "1.00"), "Idempotency-Key: "+token, two), 403, shop.CodeTokenUnknown)
		s.want(s.post("/orders", order("W3", "1.00"), "Idempotency-Key: "+token, one), 201)
		s.wantOrders("W1", "W2", "W3")
	}, key("one", "one-secret-of-the-shop"), key("two", "two-secret-of-the-shop"))
}

func TestTokens(t *testing.T) {
	each(t, func(s site) {
		s.wantProblem(s.post("/orders", order("T1", "1.00"), "Idempotency-Key: tok_madeup"), 403, shop.CodeTokenUnknown, "POST /tokens")
		old := s.token("page")
		s.later(shop.DefaultTokenLife)
		s.wantProblem(s.post("/orders", order("T1", "1.00"), "Idempotency-Key: "+old), 403, shop.CodeTokenExpired, "POST /tokens")
		s.wantOrders()
		fresh := s.token("page")
		first := s.want(s.post("/orders", order("T1", "1.00"), "Idempotency-Key: "+fresh), 201)
		s.later(2 * shop.DefaultTokenLife) // the answer outlives the life in which it could be spent
		s.replay(first, s.post("/orders", order("T1", "1.00"), "Idempotency-Key: "+fresh))
		pay := s.token("payment of T1")
		paying := s.want(s.post("/orders/T1/pay", "", "Idempotency-Key: "+pay), 200, `"status":"paying"`)
		s.replay(paying, s.post("/orders/T1/pay", "", "Idempotency-Key: "+pay))
		s.wantOrder("T1", models.Paying, 2)
		refused := s.token("cart") // a token is spent by the order that is made with it, not by a refusal
		for range 2 {
			if got := s.post("/orders", order("T1", "2.00"), "Idempotency-Key: "+refused); got.header.Get("Idempotency-Replayed") != "" {
				t.Error("a refusal under a token of ours is kept")
			} else {
				s.wantProblem(got, 409, shop.CodeOrderExists)
			}
		}
		other := s.want(s.post("/orders", order("T2", "2.00"), "Idempotency-Key: "+refused), 201)
		s.replay(other, s.post("/orders", order("T2", "2.00"), "Idempotency-Key: "+refused))
		s.wantProblem(s.post("/orders", order("T3", "2.00"), "Idempotency-Key: "+refused), 422, shop.CodeKeyReused)
		s.wantOrders("T1", "T2")
		for body, text := range map[string]string{
			``: "empty", `{}`: "missing", `{"scope":""}`: "empty", `{"scope":7}`: "text", `{"scope":"a\nb"}`: "control", `{"scope":"x","life":"9h"}`: "unknown",
			`{"scope":"` + strings.Repeat("x", 201) + `"}`: "200",
		} {
			s.wantProblem(s.post("/tokens", body, "Content-Type: application/json"), 400, shop.CodeInvalidRequest, text)
		}
		s.want(s.post("/tokens", `{"scope":"`+strings.Repeat("页", 200)+`"}`), 201)
		if strings.Contains(s.log.String(), fresh) || strings.Contains(s.log.String(), "tok_madeup") {
			t.Error("a token is in the log")
		}
	})
}

func TestKeyHeaders(t *testing.T) {
	onSQLite(t, func(s site) {
		for name, c := range map[string]struct {
			headers []string
			status  int
		}{
			"one of them":    {[]string{"Idempotency-Key: a"}, 201},
			"the other":      {[]string{"Idempotent-Token: b"}, 201},
			"both, the same": {[]string{"Idempotency-Key: c", "Idempotent-Token: c"}, 201},
			"255 bytes":      {[]string{"Idempotency-Key: " + strings.Repeat("x", 255)}, 201},
			"a quoted UUID":  {[]string{`Idempotency-Key: "8e03978e"`}, 201},
			"both differ":    {[]string{"Idempotency-Key: d", "Idempotent-Token: e"}, 400},
			"twice":          {[]string{"Idempotency-Key: f", "Idempotency-Key: f"}, 400},
			"other twice":    {[]string{"Idempotent-Token: f", "Idempotent-Token: g"}, 400},
			"empty":          {[]string{"Idempotency-Key: "}, 400},
			"one empty":      {[]string{"Idempotency-Key: ", "Idempotent-Token: h"}, 400},
			"256 bytes":      {[]string{"Idempotency-Key: " + strings.Repeat("x", 256)}, 400},
			"a tab in it":    {[]string{"Idempotency-Key: a\tb"}, 400},
			"no ASCII":       {[]string{"Idempotency-Key: ключ"}, 400},
			"no UTF-8":       {[]string{"Idempotency-Key: a\xffb"}, 400},
		} {
			got := s.post("/orders", order(name, "1.00"), c.headers...)
			if c.status == 400 {
				s.wantProblem(got, 400, shop.CodeInvalidKey)
				s.want(s.get("/orders/"+strings.ReplaceAll(name, " ", "%20")), 404)
				continue
			}
			s.want(got, c.status)
		}
		if got := s.post("/orders/twice/pay", "", "Idempotency-Key: f", "Idempotency-Key: f"); got.status != 400 {
			t.Errorf("a move under two keys: %d", got.status)
		}
	})
}

// A request that was never answered may be sent again: nothing of it is left.
func TestNotFoundIsNotKept(t *testing.T) {
	each(t, func(s site) {
		s.wantProblem(s.post("/orders/N1/pay", "", "Idempotency-Key: n"), 404, shop.CodeUnknownOrder)
		s.want(s.post("/orders", order("N1", "1.00")), 201)
		s.want(s.post("/orders/N1/pay", "", "Idempotency-Key: n"), 200, `"status":"paying"`)
		s.wantOrder("N1", models.Paying, 2)
	})
}

func TestHundredKeysAtOnce(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 1000)
		counts := s.together(100, func(i int) said {
			return s.post("/orders", order(fmt.Sprint("H", i), "1.00", "TEA×1"), fmt.Sprint("Idempotency-Key: h", i))
		})
		if counts[201] != 100 {
			t.Errorf("answers %v", counts)
		}
		s.wantStock("TEA", 900, 100, 0)
	})
}
