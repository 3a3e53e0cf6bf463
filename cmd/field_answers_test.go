package cmd

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/callback"
	"paybook/ledger/ledgertest"
)

// wireAnswer is an answer as it stands on the wire: the lines of its head, and all that follows.
type wireAnswer struct {
	head []string
	body string
}

// wire sends a request from a client that would take anything: compressed, as a page, in another language.
func (f *field) wire(s signed) wireAnswer {
	f.t.Helper()
	var req bytes.Buffer
	fmt.Fprintf(&req, "POST %s%s HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\nContent-Length: %d\r\n%s: %s\r\n", callbackRoutes, s.account, len(s.body),
		callback.ReplayHeader, f.now.Format(time.RFC3339Nano))
	req.WriteString("Accept: text/html, */*;q=0.1\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Charset: gbk\r\nAccept-Language: zh-CN\r\nTE: trailers, gzip\r\n")
	if err := s.header.Write(&req); err != nil {
		f.t.Fatal(err)
	}
	req.WriteString("\r\n")
	req.Write(s.body)
	conn := f.web.dial(10 * time.Second)
	if _, err := conn.Write(req.Bytes()); err != nil && len(s.body) < callback.BodyMax {
		f.t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && len(s.body) < callback.BodyMax {
		f.t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	return wireAnswer{strings.Split(head, "\r\n"), body}
}

// allowedHeaders are all that an answer to a provider may carry.
var allowedHeaders = []string{"Content-Type", "Content-Length", "Date", "Connection", "X-Request-Id"}

// wantWire checks status, type and every byte of an answer, and that nothing around them could change them.
func (f *field) wantWire(what string, got wireAnswer, status int, contentType, body string) {
	f.t.Helper()
	want := fmt.Sprintf("HTTP/1.1 %d %s", status, http.StatusText(status))
	if got.head[0] != want || got.body != body {
		f.t.Errorf("%s: %s %q, want %s %q", what, got.head[0], got.body, want, body)
	}
	length := ""
	for _, line := range got.head[1:] {
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case !slices.Contains(allowedHeaders, name):
			f.t.Errorf("%s: answered with the header %s", what, line)
		case name == "Content-Type" && value != contentType:
			f.t.Errorf("%s: Content-Type %s, want %s", what, value, contentType)
		case name == "Content-Length":
			length += value
		}
	}
	if length != fmt.Sprint(len(body)) {
		f.t.Errorf("%s: Content-Length %q, want %d", what, length, len(body))
	}
}

// words are what a provider is told: the type of it, success, and what comes instead for a reason.
type words struct {
	contentType, success string
	failure              func(reason string) string
}

func says(text string) func(string) string { return func(string) string { return text } }

var fieldWords = map[string]words{
	"stripe":    {"application/json", `{"received":true}`, func(r string) string { return `{"error":"` + r + `"}` }},
	"paypal":    {"application/json", `{"received":true}`, func(r string) string { return `{"error":"` + r + `"}` }},
	"alipay":    {"text/plain", "success", says("failure")},
	"unionpay":  {"text/plain; charset=utf-8", "ok", says("fail")},
	"adyen":     {"text/plain; charset=utf-8", "[accepted]", func(r string) string { return "refused: " + r }},
	"wechatpay": {"application/json", `{"code":"SUCCESS","message":"OK"}`, says(`{"code":"FAIL","message":"signature verification failed"}`)},
	"demopay":   {"application/json", `{"code":0,"message":"ok"}`, nil}, // configured: a status and no body
}

// F61: each provider is told in the very bytes that it expects, success and failure, whatever the client says it would take.
func TestFieldAnswersOnTheWire(t *testing.T) {
	eachField(t, func(t *testing.T, f *field) {
		f.eachKit(func(k fieldKit) {
			w := fieldWords[k.account]
			if w.failure == nil {
				return
			}
			order := "FCACK-" + k.account
			f.order(order, "19.99", k.currency)
			good, stray := k.paid(f, 1, order), k.paid(f, 2, "FCNOBODY")
			for what, s := range map[string]signed{"taken": good, "of no order": stray, "of another sum": k.pay(f, fieldPaid{id: k.id(3), order: order, minor: 2000}), "not asked for": k.unknown(f, "INVENTED", order)} {
				for range 2 { // the second time as a repeat
					f.wantWire(k.account+", "+what, f.wire(s), 200, w.contentType, w.success)
				}
			}
			f.wantWire(k.account+", forged", f.wire(good.tampered()), 401, w.contentType, w.failure("signature"))
			long := k.pay(f, fieldPaid{id: k.id(4), order: order, minor: 1999, pad: callback.BodyMax})
			if k.account == "wechatpay" {
				w.failure = says(`{"code":"FAIL","message":"notification too large"}`)
			}
			f.wantWire(k.account+", too long", f.wire(long), 413, w.contentType, w.failure("too_large"))
			if got := f.stands(order); got != "paid" {
				t.Errorf("%s: order is %s", k.account, got)
			}
		})
	})
}

// F61: what could not be stored is answered by a failure in the provider's own words, in time.
func TestFieldAnswersWithoutTheBook(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		f := openField(t, dsn)
		var sent []signed
		f.eachKit(func(k fieldKit) {
			f.order("FCHELD-"+k.account, "19.99", k.currency)
			sent = append(sent, k.paid(f, 1, "FCHELD-"+k.account))
		})
		release := f.hold(dsn, "UPDATE orders SET version = version")
		var all sync.WaitGroup
		for _, s := range sent {
			all.Go(func() {
				start := time.Now()
				got, w := f.wire(s), fieldWords[s.account]
				if took := time.Since(start); !strings.HasPrefix(got.head[0], "HTTP/1.1 503 ") || took > 30*time.Second || got.body == w.success || strings.Contains(got.body, "success") {
					t.Errorf("%s: %s %q after %v, want 503 within 5 s", s.account, got.head[0], got.body, took)
				}
				if text, fixed := map[string]string{"alipay": "failure", "unionpay": "fail", "adyen": "try again"}[s.account]; fixed && got.body != text {
					t.Errorf("%s: %q, want %q", s.account, got.body, text)
				}
			})
		}
		all.Wait()
		release("ROLLBACK")
		f.eachKit(func(k fieldKit) {
			f.ack(f.deliver(k.paid(f, 1, "FCHELD-"+k.account)))
			if got := f.stands("FCHELD-" + k.account); got != "paid" {
				t.Errorf("%s: order is %s once the book is back", k.account, got)
			}
		})
	})
}
