package shop_test

import (
	"fmt"
	"strings"
	"testing"

	"paybook/ledger/shop"
	"paybook/models"
)

func TestMoves(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 5)
		s.want(s.post("/orders", order("A1", "19.99", "TEA×2")), 201)
		s.want(s.post("/orders/A1/pay", ""), 200, `{"order_id":"A1","amount":"19.99","currency":"CNY","status":"paying","version":2,"refunded":"0.00","expires_at":"2026-11-29T10:30:00Z"}`)
		s.wantOrder("A1", models.Paying, 2) // and nothing but a verified event makes it paid
		p := s.wantProblem(s.post("/orders/A1/pay", ""), 409, shop.CodeNotAllowed, "paying")
		if p.OrderID != "A1" || p.OrderStatus != models.Paying || p.Version != 2 {
			t.Errorf("problem %+v", p)
		}
		s.wantProblem(s.post("/orders/A1/ship", ""), 409, shop.CodeNotAllowed)
		if outcome := s.paidBy("T1", "A1", "19.99"); outcome != models.OutcomeApplied {
			t.Fatal(outcome)
		}
		s.wantProblem(s.post("/orders/A1/cancel", ""), 409, shop.CodeNotAllowed, `"order_status":"paid"`)
		s.want(s.post("/orders/A1/ship", `{}`), 200, `"status":"shipped","version":4`)
		s.wantProblem(s.post("/orders/A1/ship", ""), 409, shop.CodeNotAllowed, "shipped")
		s.wantOrder("A1", models.Shipped, 4)
		s.wantStock("TEA", 3, 0, 2)
		s.want(s.get("/orders/A1"), 200, `{"from":"unpaid","to":"paying","event":"order.pay","transaction_id":"","at":"2026-11-29T10:00:00Z"}`, `"event":"order.ship"`)
	})
}

func TestCancelReleasesOnce(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 5)
		s.want(s.post("/orders", order("A1", "19.99", "TEA×2")), 201)
		s.want(s.post("/orders/A1/cancel", ""), 200, `"status":"closed"`)
		s.wantStock("TEA", 5, 0, 0)
		s.wantProblem(s.post("/orders/A1/cancel", ""), 409, shop.CodeNotAllowed, "closed")
		s.wantProblem(s.post("/orders/A1/pay", ""), 409, shop.CodeNotAllowed, "closed")
		s.wantStock("TEA", 5, 0, 0)
		s.wantOrder("A1", models.Closed, 2)
	})
}

// F26: who decides on an old view of the order is told the current one, and changes nothing.
func TestStaleVersion(t *testing.T) {
	each(t, func(s site) {
		s.want(s.post("/orders", order("V1", "19.99")), 201, `"version":1`)
		if outcome := s.paidBy("T1", "V1", "19.99"); outcome != models.OutcomeApplied {
			t.Fatal(outcome)
		}
		for _, path := range []string{"/orders/V1/cancel", "/orders/V1/pay", "/orders/V1/ship"} {
			p := s.wantProblem(s.post(path, `{"version":1}`), 409, shop.CodeStaleVersion, "version 2")
			if p.Version != 2 || p.OrderStatus != models.Paid || p.OrderID != "V1" {
				t.Errorf("problem %+v", p)
			}
		}
		s.wantProblem(s.post("/orders/V1/ship", `{"version":9223372036854775807}`), 409, shop.CodeStaleVersion)
		s.wantOrder("V1", models.Paid, 2)
		s.want(s.post("/orders/V1/ship", `{"version":2}`), 200, `"status":"shipped","version":3`)
		s.wantOrder("V1", models.Shipped, 3)
	})
}

// Of many who decide on the same view one wins.
func TestOneOfManyVersions(t *testing.T) {
	each(t, func(s site) {
		s.want(s.post("/orders", order("V1", "19.99")), 201)
		verbs := []string{"cancel", "pay"}
		counts := s.together(20, func(i int) said {
			return s.post("/orders/V1/"+verbs[i%2], `{"version":1}`, fmt.Sprint("Idempotency-Key: v", i))
		})
		if counts[200] != 1 || counts[409] != 19 {
			t.Errorf("answers %v, want one 200", counts)
		}
		h, err := s.book.OrderHistory(t.Context(), "V1")
		if err != nil || h.Order.Version != 2 || len(h.Transitions) != 1 {
			t.Errorf("%+v, %v", h, err)
		}
	})
}

func TestHostileMoves(t *testing.T) {
	onSQLite(t, func(s site) {
		s.want(s.post("/orders", order("A1", "19.99")), 201)
		for body, text := range map[string]string{
			`{"version":0}`: "from 1", `{"version":-1}`: "from 1", `{"version":"1"}`: "whole", `{"version":1.0}`: "whole", `{"version":null}`: "whole",
			`{"version":1,"version":1}`: "second", `{"versions":1}`: "unknown", `{"version":99999999999999999999}`: "from 1", `[]`: "object", `x`: "JSON", `null`: "object",
			` `: "empty", `{"version":` + strings.Repeat("9", 5000) + `}`: "from 1",
		} {
			p := s.wantProblem(s.post("/orders/A1/cancel", body), 400, shop.CodeInvalidRequest, text)
			if len(p.Detail) > 300 {
				t.Errorf("%.50s: %s", body, p.Detail)
			}
		}
		s.wantOrder("A1", models.Unpaid, 1)
	})
}
