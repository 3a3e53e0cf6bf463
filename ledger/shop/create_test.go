package shop_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/shop"
	"paybook/models"
)

func TestCreate(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 5)
		got := s.want(s.post("/orders", order("A1", "19.99", "TEA×2")), 201,
			`"order_id":"A1","amount":"19.99","currency":"CNY","status":"unpaid","version":1,"refunded":"0.00","expires_at":"2026-11-29T10:30:00Z"`)
		if got.header.Get("Location") != "/orders/A1" || got.header.Get("Content-Type") != "application/json" || got.header.Get("Idempotency-Replayed") != "" {
			t.Errorf("headers %v", got.header)
		}
		s.wantOrder("A1", models.Unpaid, 1)
		s.wantStock("TEA", 3, 2, 0)
		p := s.wantProblem(s.post("/orders", order("A1", "19.99", "TEA×2")), 409, shop.CodeOrderExists, "GET /orders/A1")
		if p.OrderID != "A1" {
			t.Errorf("problem %+v", p)
		}
		s.wantStock("TEA", 3, 2, 0)
		s.want(s.get("/stock/TEA"), 200, `{"sku":"TEA","available":3,"reserved":2}`)
		s.wantOrders("A1")
		if s.seen.count("POST /orders", 201) != 1 || s.seen.count("POST /orders", 409) != 1 || s.seen.count("GET /stock/:sku", 200) != 1 {
			t.Errorf("observed %+v", s.seen.all)
		}
	})
}

// An order number may hold a slash, and so may the address of the order.
func TestNumbersInAddresses(t *testing.T) {
	each(t, func(s site) {
		for id, path := range map[string]string{
			"2026/11/29-1":   "2026%2F11%2F29-1",
			"a/b/pay":        "a%2Fb%2Fpay",
			"订单 7":           "%E8%AE%A2%E5%8D%95%207",
			"50%25 off":      "50%2525%20off",
			"plus+and?and#&": "plus+and%3Fand%23&",
			"strip%65":       "strip%2565",
			"a\u200db":       "a%E2%80%8Db",
			"semi;colon:=@":  "semi;colon:=@",
		} {
			body, _ := json.Marshal(map[string]any{"order_id": id, "amount": "1.00", "currency": "CNY"})
			made := s.want(s.post("/orders", string(body)), 201)
			shown, _ := json.Marshal(id)
			s.want(s.get("/orders/"+path), 200, `"order_id":`+string(shown), `"transitions":[]`)
			s.want(s.get(made.header.Get("Location")), 200, `"order_id":`+string(shown))
			s.want(s.post("/orders/"+path+"/pay", ""), 200, `"status":"paying"`)
			s.wantOrder(id, models.Paying, 2)
		}
		s.want(s.post("/orders/2026/11/29-1/cancel", ""), 404)
		s.want(s.get("/orders/a/b"), 404)
		s.want(s.get("/orders/a/b/pay"), 404)
		s.wantProblem(s.get("/orders/nosuch"), 404, shop.CodeUnknownOrder, "nosuch", "%2F")
		for _, path := range []string{"/orders/%00", "/orders/%ff", "/orders/" + strings.Repeat("x", 300), "/orders/%20"} {
			s.wantProblem(s.get(path), 404, shop.CodeUnknownOrder)
		}
		for _, path := range []string{"/orders", "/orders/A1/refund", "/orders/A1/pay/", "/token", "/stock", "//orders", "/orders/"} {
			if got := s.post(path+"x/", "{}"); got.status != 404 {
				t.Errorf("POST %sx/: %d", path, got.status)
			}
		}
		s.stock("a", 1)
		s.wantProblem(s.get("/stock/a/b"), 404, shop.CodeUnknownSKU)
		s.want(s.get("/orders/"), 404)
		s.wantOrder("2026/11/29-1", models.Paying, 2)
	})
}

// What is asked wrongly is refused with the field's name, and nothing is written.
func TestHostileBodies(t *testing.T) {
	const (
		rest = `"amount":"1.00","currency":"CNY"`
		head = `{"order_id":"H1",` + rest
	)
	cases := []struct{ body, field, text string }{
		{``, "", "empty"},
		{` `, "", "empty"},
		{`null`, "", "object"},
		{`[]`, "", "object"},
		{`"x"`, "", "object"},
		{`{`, "", "JSON"},
		{head + `}x`, "", "JSON"},
		{head + `}{}`, "", "JSON"},
		{head + `,}`, "", "JSON"},
		{"\xef\xbb\xbf" + head + `}`, "", "JSON"},
		{"{\"order_id\":\"\xff\"," + rest + "}", "", "UTF-8"},
		{strings.Repeat("[", 5000), "", "JSON"},
		{`{"order_id":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "order_id[0][0][0][0][0][0][0]", "nested"},
		{`{"a":` + strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 51), "", "nested"},
		{head + `,"colour":"red"}`, "colour", "unknown"},
		{head + `,"status":"paid"}`, "status", "unknown"},
		{head + `,"ORDER_ID":"x"}`, "ORDER_ID", "unknown"},
		{`{"order_id":"H1","order_id":"H2",` + rest + `}`, "order_id", "second time"},
		{`{"order_id":"H1","\u006frder_id":"H2",` + rest + `}`, "order_id", "second time"},
		{`{` + rest + `}`, "order_id", "missing"},
		{`{"order_id":"",` + rest + `}`, "order_id", "empty"},
		{`{"order_id":null,` + rest + `}`, "order_id", "text expected"},
		{`{"order_id":7,` + rest + `}`, "order_id", "text expected"},
		{`{"order_id":"` + strings.Repeat("x", 256) + `",` + rest + `}`, "order_id", "256 bytes"},
		{`{"order_id":"a\u0000b",` + rest + `}`, "order_id", "control character"},
		{`{"order_id":"a\nb",` + rest + `}`, "order_id", "control character"},
		{`{"order_id":"..",` + rest + `}`, "order_id", "would vanish"},
		{`{"order_id":"a\u3000",` + rest + `}`, "order_id", "ends with a blank"},
		{`{"order_id":"a\ud800b",` + rest + `}`, "order_id", "no text"},
		{`{"order_id":" a",` + rest + `}`, "order_id", "blank"},
		{`{"order_id":"H1","currency":"CNY"}`, "amount", "missing"},
		{`{"order_id":"H1","amount":19.99,"currency":"CNY"}`, "amount", `19.99`},
		{`{"order_id":"H1","amount":20,"currency":"CNY"}`, "amount", `\"19.99\"`},
		{`{"order_id":"H1","amount":NaN,"currency":"CNY"}`, "", "JSON"},
		{`{"order_id":"H1","amount":"NaN","currency":"CNY"}`, "amount", "decimal"},
		{`{"order_id":"H1","amount":"1e3","currency":"CNY"}`, "amount", "decimal"},
		{`{"order_id":"H1","amount":"1,000.00","currency":"CNY"}`, "amount", "decimal"},
		{`{"order_id":"H1","amount":" 1.00","currency":"CNY"}`, "amount", "decimal"},
		{`{"order_id":"H1","amount":"+1.00","currency":"CNY"}`, "amount", "decimal"},
		{`{"order_id":"H1","amount":"１.00","currency":"CNY"}`, "amount", "decimal"},
		{`{"order_id":"H1","amount":"","currency":"CNY"}`, "amount", "decimal"},
		{`{"order_id":"H1","amount":"0","currency":"CNY"}`, "amount", "more than 0"},
		{`{"order_id":"H1","amount":"0.00","currency":"CNY"}`, "amount", "more than 0"},
		{`{"order_id":"H1","amount":"-1.00","currency":"CNY"}`, "amount", "more than 0"},
		{`{"order_id":"H1","amount":"1.001","currency":"CNY"}`, "amount", "2 decimals"},
		{`{"order_id":"H1","amount":"100.5","currency":"JPY"}`, "amount", "0 decimals"},
		{`{"order_id":"H1","amount":"1.0005","currency":"KWD"}`, "amount", "3 decimals"},
		{`{"order_id":"H1","amount":"92233720368547758.08","currency":"CNY"}`, "amount", "range"},
		{`{"order_id":"H1","amount":"` + strings.Repeat("9", 5000) + `","currency":"CNY"}`, "amount", "long"},
		{`{"order_id":"H1","amount":"1.00"}`, "currency", "missing"},
		{`{"order_id":"H1","amount":"1.00","currency":"XXX"}`, "currency", "XXX"},
		{`{"order_id":"H1","amount":"1.00","currency":"RMB"}`, "currency", "RMB"},
		{`{"order_id":"H1","amount":"1.00","currency":""}`, "currency", "ISO"},
		{`{"order_id":"H1","amount":"1.00","currency":" CNY"}`, "currency", "ISO"},
		{`{"order_id":"H1","amount":"1.00","currency":156}`, "currency", "text"},
		{head + `,"items":{}}`, "items", "list"},
		{head + `,"items":null}`, "items", "list"},
		{head + `,"items":["TEA"]}`, "items[0]", "object"},
		{head + `,"items":[{}]}`, "items[0].sku", "missing"},
		{head + `,"items":[{"sku":"TEA"}]}`, "items[0].quantity", "missing"},
		{head + `,"items":[{"sku":"TEA","quantity":0}]}`, "items[0].quantity", "from 1"},
		{head + `,"items":[{"sku":"TEA","quantity":-1}]}`, "items[0].quantity", "from 1"},
		{head + `,"items":[{"sku":"TEA","quantity":1.5}]}`, "items[0].quantity", "whole"},
		{head + `,"items":[{"sku":"TEA","quantity":1e3}]}`, "items[0].quantity", "whole"},
		{head + `,"items":[{"sku":"TEA","quantity":"1"}]}`, "items[0].quantity", "whole"},
		{head + `,"items":[{"sku":"TEA","quantity":1000001}]}`, "items[0].quantity", "1000000"},
		{head + `,"items":[{"sku":"TEA","quantity":99999999999999999999}]}`, "items[0].quantity", "1000000"},
		{head + `,"items":[{"sku":"TEA","quantity":1},{"sku":"TEA","quantity":1}]}`, "items[1].sku", "items[0]"},
		{head + `,"items":[{"sku":"TEA","quantity":1,"quantity":2}]}`, "items[0].quantity", "second time"},
		{head + `,"items":[{"sku":"TEA","quantity":1,"price":"1"}]}`, "items[0].price", "unknown"},
		{head + `,"items":[` + strings.Repeat(`{"sku":"A","quantity":1},`, 200) + `{"sku":"A","quantity":1}]}`, "items", "200"},
		{head + `,"expires_at":"2026-11-29T09:59:59Z"}`, "expires_at", "over"},
		{head + `,"expires_at":"2026-11-29T18:00:00+08:00"}`, "expires_at", "over"},
		{head + `,"expires_at":"2026-11-30T10:00:00"}`, "expires_at", "offset"},
		{head + `,"expires_at":"2026-11-30"}`, "expires_at", "offset"},
		{head + `,"expires_at":""}`, "expires_at", "offset"},
		{head + `,"expires_at":null}`, "expires_at", "text"},
		{head + `,"expires_at":1796000000}`, "expires_at", "text"},
		{head + `,"expires_at":"9999-12-31T23:59:59-01:00"}`, "expires_at", "offset"},
		{head + `,"expires_at":"0000-01-01T00:00:00Z"}`, "expires_at", "offset"},
		{head + `,"expires_at":"2026-13-45T10:00:00Z"}`, "expires_at", "offset"},
	}
	onSQLite(t, func(s site) {
		s.stock("TEA", 5)
		for _, c := range cases {
			p := s.wantProblem(s.post("/orders", c.body, "Content-Type: application/json"), 400, shop.CodeInvalidRequest, c.text)
			if c.field != "" && p.Field != c.field || len(p.Detail) > 400 {
				t.Errorf("%.80s: field %q, %q; want %q", c.body, p.Field, p.Detail, c.field)
			}
		}
		s.wantOrders()
		s.wantStock("TEA", 5, 0, 0)
		if strings.Contains(s.log.String(), "RMB") {
			t.Error("the log holds what a stranger sent")
		}
	})
}

// F35: money is text on the way in, an integer in the book, and text on the way out.
func TestAmountsAreExact(t *testing.T) {
	each(t, func(s site) {
		for cents := 1; cents <= 10_000; cents += 37 {
			amount := fmt.Sprintf("%d.%02d", cents/100, cents%100)
			id := fmt.Sprintf("C%d", cents)
			s.want(s.post("/orders", order(id, amount)), 201, `"amount":"`+amount+`"`)
			if outcome := s.paidBy("T"+id, id, amount); outcome != models.OutcomeApplied {
				t.Fatalf("%s paid with %s: %s", id, amount, outcome)
			}
			h, err := s.book.OrderHistory(t.Context(), id)
			if err != nil || h.Order.AmountMinor != int64(cents) || h.Order.Status != models.Paid {
				t.Fatalf("%s: %+v, %v", id, h.Order, err)
			}
		}
		for currency, amount := range map[string]string{"JPY": "12800", "KWD": "5.120", "cny": "0.1", "USD": "92233720368547758.07"} {
			body := fmt.Sprintf(`{"order_id":"M-%s","amount":%q,"currency":%q}`, currency, amount, currency)
			want := amount
			if amount == "0.1" {
				want = "0.10"
			}
			s.want(s.post("/orders", body), 201, `"amount":"`+want+`"`, `"currency":"`+strings.ToUpper(currency)+`"`)
		}
	})
}

func TestExpiresAt(t *testing.T) {
	each(t, func(s site) {
		body := `{"order_id":"E1","amount":"1.00","currency":"CNY","expires_at":"2026-11-29T18:05:00.5+08:00"}`
		first := s.want(s.post("/orders", body, "Idempotency-Key: e1"), 201, `"expires_at":"2026-11-29T10:05:00.5Z"`)
		s.later(time.Hour) // the repeat of an order that was made in time is no order of the past
		again := s.want(s.post("/orders", body, "Idempotency-Key: e1"), 201)
		if again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("replay %v %s", again.header, again.body)
		}
		s.wantProblem(s.post("/orders", body, "Idempotency-Key: e2"), 400, shop.CodeInvalidRequest, "over")
		s.wantProblem(s.post("/orders", strings.Replace(body, "1.00", "2.00", 1), "Idempotency-Key: e1"), 422, shop.CodeKeyReused)
		s.wantProblem(s.post("/orders", body), 400, shop.CodeInvalidRequest, "over")
		s.wantOrder("E1", models.Unpaid, 1)
		s.want(s.post("/orders", `{"order_id":"E2","amount":"1.00","currency":"CNY","expires_at":"9999-12-31T23:59:59.999999999Z"}`), 201, `"9999-12-31T23:59:59.999999Z"`)
	})
}

// F23: the callback came before the order. The order is paid as soon as it is made, and says so.
func TestPaidBeforeItWasMade(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 5)
		if outcome := s.paidBy("T1", "EARLY", "19.99"); outcome != models.OutcomeNoOrder {
			t.Fatal(outcome)
		}
		s.want(s.post("/orders", order("EARLY", "19.99", "TEA×2"), "Idempotency-Key: k"), 201, `"status":"paid"`, `"version":2`)
		s.want(s.post("/orders", order("EARLY", "19.99", "TEA×2"), "Idempotency-Key: k"), 201, `"status":"paid"`, `"version":2`)
		s.wantOrder("EARLY", models.Paid, 2)
		s.wantStock("TEA", 3, 0, 2)
		s.want(s.get("/orders/EARLY"), 200, `"transactions":[{"account":"demo","kind":"payment","transaction_id":"T1"`, `"from":"unpaid","to":"paid"`)
	})
}

func TestOutOfStock(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 3)
		s.stock("CUP", 9)
		p := s.wantProblem(s.post("/orders", order("O1", "1.00", "CUP×1", "TEA×4")), 409, shop.CodeOutOfStock, "TEA", `"available":3`)
		if p.SKU != "TEA" || p.Available == nil || *p.Available != 3 {
			t.Errorf("problem %+v", p)
		}
		s.wantProblem(s.post("/orders", order("O1", "1.00", "NEVER×1")), 409, shop.CodeOutOfStock, "NEVER", `"available":0`)
		s.wantStock("CUP", 9, 0, 0)
		s.wantOrders()
		s.wantProblem(s.get("/stock/NEVER"), 404, shop.CodeUnknownSKU, "import stock")
		s.stock("A/B 1", 1)
		s.want(s.get("/stock/A%2FB%201"), 200, `{"sku":"A/B 1","available":1,"reserved":0}`)
	})
}

// Three units and twenty buyers are three orders.
func TestTwentyBuyersOfThree(t *testing.T) {
	each(t, func(s site) {
		s.stock("TEA", 3)
		made := s.together(20, func(i int) said {
			return s.post("/orders", order(fmt.Sprint("B", i), "1.00", "TEA×1"), fmt.Sprint("Idempotency-Key: b", i))
		})
		if made[201] != 3 || made[409] != 17 {
			t.Errorf("answers %v, want 3 of 201 and 17 of 409", made)
		}
		s.wantStock("TEA", 0, 3, 0)
		list, _, err := s.book.ListOrders(t.Context(), ledger.OrderFilter{})
		if err != nil || len(list) != 3 {
			t.Errorf("%d orders, %v", len(list), err)
		}
	})
}

// together sends n requests at once and counts the answers by status.
func (s site) together(n int, send func(i int) said) map[int]int {
	var wg sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	for i := range n {
		wg.Go(func() {
			got := send(i)
			mu.Lock()
			defer mu.Unlock()
			counts[got.status]++
		})
	}
	wg.Wait()
	return counts
}
