package cmd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"paybook/ledger/shop"
)

const shopKey = "a-secret-of-the-shop-9f2c"

// shopConfig is the account demopay and one API key.
func shopConfig(t *testing.T) string {
	kit, err := filepath.Abs(kitConfig)
	if err != nil {
		t.Fatal(err)
	}
	dir := writeFiles(t, map[string]string{"app.yaml": "accounts:\n  - name: demopay\n    provider: generic\n    settings_file: " + filepath.Dir(kit) + "/demopay/config.json\n" +
		"api_keys:\n  - name: backend\n    secrets: [" + shopKey + "]\n"})
	return filepath.Join(dir, "app.yaml")
}

// shop sends a request of the shop's back end.
func (s *server) shop(method, path, body string, headers ...string) (response, string) {
	s.t.Helper()
	return s.do(s.shopRequest(method, path, body, headers...))
}

func (s *server) shopRequest(method, path, body string, headers ...string) *http.Request {
	s.t.Helper()
	req := s.request(method, path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	return req
}

func shopOrder(id string) string {
	return fmt.Sprintf(`{"order_id":%q,"amount":"49.99","currency":"USD"}`, id)
}

// The whole way: made, sent to be paid, paid by a callback, shipped; and the command shows what the route does.
func TestServeShop(t *testing.T) {
	s := serve(t, nil)
	if said := s.said("\nshop: "); !strings.HasPrefix(said, s.url+"/orders, /tokens and /stock, from this machine only") {
		t.Errorf("announced: %s", said)
	}
	if resp, body := s.shop("POST", "/orders", shopOrder("SHOP/1"), "Idempotency-Key: k1"); resp.status != 201 || resp.header.Get("X-Request-Id") == "" {
		t.Fatalf("%d %s", resp.status, body)
	}
	if resp, body := s.shop("POST", "/orders/SHOP%2F1/pay", `{"version":1}`); resp.status != 200 || !strings.Contains(body, `"paying"`) {
		t.Fatalf("%d %s", resp.status, body)
	}
	if resp, body := s.do(demopay(s, "/callbacks/demopay", "DPS1", "SHOP/1", "")); resp.status != 200 || !s.paid("SHOP/1") {
		t.Fatalf("%d %s", resp.status, body)
	}
	if resp, body := s.shop("POST", "/orders/SHOP%2F1/ship", "", "Idempotency-Key: k2"); resp.status != 200 || !strings.Contains(body, `"shipped"`) {
		t.Fatalf("%d %s", resp.status, body)
	}
	resp, body := s.shop("POST", "/orders/SHOP%2F1/cancel", "")
	var p shop.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || resp.status != 409 || p.RequestID != resp.header.Get("X-Request-Id") || p.Code != shop.CodeNotAllowed {
		t.Errorf("%d %s: %v", resp.status, body, err)
	}
	_, shown := s.get("/orders/SHOP%2F1")
	printed := runApp(t, map[string]string{"DATABASE_URL": s.dsn}, "orders", "show", "SHOP/1", "--format", "json")
	var overHTTP, byCommand any
	if json.Unmarshal([]byte(shown), &overHTTP) != nil || json.Unmarshal([]byte(printed.out), &byCommand) != nil || !reflect.DeepEqual(overHTTP, byCommand) {
		t.Errorf("the route shows\n%s\nthe command\n%s%s", shown, printed.out, printed.err)
	}
	_, numbers := s.get("/metrics")
	for _, line := range []string{`shop_requests_total{route="POST /orders",status="201"} 1`, `shop_requests_total{route="POST /orders/:id/cancel",status="409"} 1`,
		`shop_request_duration_seconds_count{route="POST /orders"} 1`} {
		if !strings.Contains(numbers, line+"\n") {
			t.Errorf("/metrics: no %s", line)
		}
	}
	if strings.Contains(numbers, "SHOP") {
		t.Error("/metrics: a label's value came from outside")
	}
}

// F23: the payment was here before the order.
func TestServeShopPaidBefore(t *testing.T) {
	s := serve(t, nil)
	if resp, body := s.do(demopay(s, "/callbacks/demopay", "DPE", "EARLY", "")); resp.status != 200 {
		t.Fatalf("%d %s", resp.status, body)
	}
	if resp, body := s.shop("POST", "/orders", shopOrder("EARLY")); resp.status != 201 || !strings.Contains(body, `"status":"paid","version":2`) || !s.paid("EARLY") {
		t.Errorf("%d %s", resp.status, body)
	}
}

// With an API key it is asked for, on the address that is the shop's, and nowhere else.
func TestServeShopAdminListen(t *testing.T) {
	s := serve(t, map[string]string{"APP_CONFIG": shopConfig(t), "APP_ADMIN_LISTEN": "127.0.0.1:0"})
	for _, path := range []string{"/orders/A1", "/stock/TEA"} {
		if status, _ := s.get(path); status != 404 {
			t.Errorf("%s on the public address: %d", path, status)
		}
	}
	for _, path := range []string{"/orders", "/tokens", "/orders/A1/cancel"} {
		if resp, body := s.shop("POST", path, "{}", "Authorization: Bearer "+shopKey); resp.status != 404 || !strings.Contains(body, `"title":"Not Found"`) {
			t.Errorf("POST %s on the public address: %d %s", path, resp.status, body)
		}
	}
	s.url = s.said("\nadmin listening on ")
	if said := s.said("\nshop: "); said != s.url+"/orders, /tokens and /stock, with an API key: backend" {
		t.Errorf("announced: %s", said)
	}
	if resp, body := s.shop("POST", "/orders", shopOrder("A1")); resp.status != 401 || !strings.Contains(body, "Bearer") || resp.header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a key: %d %s", resp.status, body)
	}
	if resp, body := s.shop("POST", "/orders", shopOrder("A1"), "Authorization: Bearer "+shopKey, "X-Forwarded-For: 203.0.113.9"); resp.status != 201 {
		t.Errorf("with a key: %d %s", resp.status, body)
	}
	if strings.Contains(s.stderr.String(), shopKey) {
		t.Error("the key is in the log")
	}
}

// Without an API key nothing that a proxy passes on is answered.
func TestServeShopNeverThroughAProxy(t *testing.T) {
	s := serve(t, nil)
	for _, header := range []string{"Forwarded: for=203.0.113.9", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: https"} {
		for _, path := range []string{"/orders", "/orders/A1/pay", "/tokens"} {
			if resp, body := s.shop("POST", path, shopOrder("A1"), header); resp.status != 403 || !strings.Contains(body, "api_keys") {
				t.Errorf("POST %s with %s: %d %s", path, header, resp.status, body)
			}
		}
	}
	if status, _ := s.get("/orders/A1"); status != 404 {
		t.Errorf("an order was made: %d", status)
	}
}

// A method that nobody knows, and the ones that a route does not have.
func TestServeShopMethods(t *testing.T) {
	s := serve(t, nil)
	for _, r := range []string{"GET /orders", "DELETE /orders/A1", "PUT /orders/A1", "GET /orders/A1/pay", "GET /tokens", "POST /stock/TEA", "OPTIONS /orders", "MADEUP /orders"} {
		method, path, _ := strings.Cut(r, " ")
		resp, body := s.shop(method, path, "")
		if resp.status != 405 && method != "OPTIONS" || resp.header.Get("Allow") == "" {
			t.Errorf("%s: %d, Allow %q, %s", r, resp.status, resp.header.Get("Allow"), body)
		}
	}
}

// An order in flight at the end is written and answered.
func TestDrainShop(t *testing.T) {
	s := serve(t, map[string]string{"APP_SHUTDOWN_DELAY": "100ms"})
	var wire strings.Builder
	if err := s.shopRequest("POST", "/orders", shopOrder("FLIGHT"), "Idempotency-Key: f").Write(&wire); err != nil {
		t.Fatal(err)
	}
	conn := s.dial(30 * time.Second)
	text := wire.String()
	fmt.Fprint(conn, text[:len(text)-1])
	s.stop()
	waitClosed(t, s)
	fmt.Fprint(conn, text[len(text)-1:])
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("%v, %v", resp, err)
	}
	body, err := io.ReadAll(resp.Body)
	if code := s.wait(); code != exitDone || err != nil || !strings.Contains(string(body), "FLIGHT") {
		t.Errorf("exit %d, %s, %v", code, body, err)
	}
	if got := runApp(t, map[string]string{"DATABASE_URL": s.dsn}, "orders", "show", "FLIGHT"); got.code != exitDone {
		t.Errorf("the order is gone: %s", got.err)
	}
}
