package shop_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/shop"
	"paybook/models"
)

func TestContentTypes(t *testing.T) {
	onSQLite(t, func(s site) {
		for i, kind := range []string{"application/json", "application/json; charset=utf-8", `Application/JSON;charset="UTF-8"`} {
			s.want(s.post("/orders", order(string(rune('a'+i)), "1.00"), "Content-Type: "+kind), 201)
		}
		for _, kind := range []string{"-", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json; charset=gbk", "json", "text/json",
			"application/xml", "application/json-seq"} {
			s.wantProblem(s.post("/orders", order("X", "1.00"), "Content-Type: "+kind), 415, shop.CodeUnsupportedMedia, "application/json")
			s.wantProblem(s.post("/orders/a/cancel", "{}", "Content-Type: "+kind), 415, shop.CodeUnsupportedMedia)
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = io.WriteString(w, order("X", "1.00")) // into memory
		w.Close()
		for _, encoding := range []string{"gzip", "identity, gzip", "br"} {
			s.wantProblem(s.post("/orders", packed.String(), "Content-Encoding: "+encoding), 415, shop.CodeUnsupportedMedia, "Content-Encoding")
		}
		s.want(s.post("/orders", order("d", "1.00"), "Content-Encoding: identity"), 201)
		s.wantOrders("a", "b", "c", "d")
		s.wantOrder("a", models.Unpaid, 1)
	})
}

func TestBodyLimit(t *testing.T) {
	onSQLite(t, func(s site) {
		big := order("X", "1.00")
		big = strings.Replace(big, "{", "{"+strings.Repeat(" ", 64<<10), 1)
		s.wantProblem(s.post("/orders", big), 413, shop.CodeTooLarge, "65536")
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/orders", io.MultiReader(strings.NewReader(big))) // without its length
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("in chunks: %d", resp.StatusCode)
		}
		s.wantOrders()
		fits := order("Y", "1.00")
		s.want(s.post("/orders", strings.Replace(fits, "{", "{"+strings.Repeat(" ", 64<<10-len(fits)), 1)), 201)
	})
}

func TestMethods(t *testing.T) {
	onSQLite(t, func(s site) {
		s.want(s.post("/orders", order("A1", "1.00")), 201)
		for path, allow := range map[string]string{"/orders": "POST", "/orders/A1": "GET", "/orders/A1/pay": "POST", "/tokens": "POST", "/stock/TEA": "GET"} {
			for _, method := range []string{"PUT", "DELETE", "PATCH", "GET", "POST"} {
				if strings.Contains(allow, method) {
					continue
				}
				got := s.ask(method, path, "")
				if got.status != 405 || !strings.Contains(got.header.Get("Allow"), allow) || !strings.Contains(got.body, `"code":"method_not_allowed"`) {
					t.Errorf("%s %s: %d, Allow %q, %s", method, path, got.status, got.header.Get("Allow"), got.body)
				}
			}
		}
		if got := s.ask("HEAD", "/orders/A1", ""); got.status != 200 || got.body != "" {
			t.Errorf("HEAD: %d %s", got.status, got.body)
		}
		if got := s.ask("HEAD", "/orders/nosuch", ""); got.status != 404 || got.body != "" {
			t.Errorf("HEAD of none: %d %s", got.status, got.body)
		}
		s.wantOrder("A1", models.Unpaid, 1)
	})
}

// A database that is away is a 503 that says when to come again, and nothing of why is told.
func TestDatabaseAway(t *testing.T) {
	onSQLite(t, func(s site) {
		gone, err := ledger.Open(t.Context(), "sqlite:"+t.TempDir()+"/gone.db", ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.url = s.serve(&shop.Server{Book: gone})
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		for _, r := range [][2]string{{"/orders", order("A1", "1.00")}, {"/orders/A1/pay", ""}, {"/tokens", `{"scope":"x"}`}} {
			for _, k := range [][]string{nil, {"Idempotency-Key: k"}} {
				got := s.post(r[0], r[1], k...)
				s.wantProblem(got, 503, shop.CodeUnavailable, "again")
				if got.header.Get("Retry-After") != "2" || strings.Contains(got.body, "sql") {
					t.Errorf("POST %s: %v %s", r[0], got.header, got.body)
				}
			}
		}
		s.wantProblem(s.get("/orders/A1"), 503, shop.CodeUnavailable)
		s.wantProblem(s.get("/stock/TEA"), 503, shop.CodeUnavailable)
		if !strings.Contains(s.log.String(), `"level":"ERROR"`) || s.seen.count("POST /orders", 503) != 2 {
			t.Errorf("not told: %s", s.log)
		}
	})
}

// A body that comes slowly takes nothing from the time that the book has.
func TestSlowBody(t *testing.T) {
	onSQLite(t, func(s site) {
		f := &fast{}
		s.url = s.serve(&shop.Server{Book: s.book, Fast: f, Patience: time.Minute})
		slow, w := io.Pipe()
		var sent time.Time
		go func() {
			time.Sleep(50 * time.Millisecond)
			sent = time.Now()
			_, _ = io.WriteString(w, order("SLOW", "1.00", "HOT×1")) // the reader is there until the end of the test
			w.Close()
		}()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/orders", slow)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusAccepted || f.until.Before(sent.Add(time.Minute)) {
			t.Errorf("%d, with %v for the book", resp.StatusCode, f.until.Sub(sent))
		}
	})
}

// fast takes what is for sale in a flash.
type fast struct {
	taken []ledger.Key
	until time.Time // when it had to be done
}

func (f *fast) Take(ctx context.Context, k ledger.Key, o ledger.NewOrder, say shop.Say) (ledger.Answer, bool, error) {
	if len(o.Items) == 0 || o.Items[0].SKU != "HOT" {
		return ledger.Answer{}, false, nil
	}
	f.taken = append(f.taken, k)
	f.until, _ = ctx.Deadline()
	o.Order.Status, o.Order.Version = models.Unpaid, 1
	status, body := say(o.Order, nil)
	return ledger.Answer{Status: status, Body: body}, true, nil
}

func TestFastWay(t *testing.T) {
	onSQLite(t, func(s site) {
		f := &fast{}
		s.url = s.serve(&shop.Server{Book: s.book, Fast: f})
		got := s.want(s.post("/orders", order("F1", "1.00", "HOT×1"), "Idempotency-Key: k"), 202, `"order_id":"F1","amount":"1.00"`)
		if got.header.Get("Location") != "/orders/F1" || len(f.taken) != 1 || f.taken[0].Token != "k" || f.taken[0].Fingerprint == "" {
			t.Errorf("%v, taken %+v", got.header, f.taken)
		}
		s.want(s.post("/orders", order("F2", "1.00"), "Idempotency-Key: k2"), 201)
		s.wantOrders("F2")
	})
}
