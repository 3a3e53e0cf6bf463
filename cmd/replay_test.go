package cmd

import (
	"encoding/json"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"paybook/callback"
	"paybook/ledger/shop"
	"paybook/models"
)

func TestReplayKits(t *testing.T) {
	for _, provider := range kitProviders {
		t.Run(provider, func(t *testing.T) {
			s := newShell(t)
			s.shop(provider)
			var got []replayed
			s.json(&got, "replay", kit+provider+"/callbacks")
			files, err := filepath.Glob(kit + provider + "/callbacks/*.json")
			if err != nil || len(got) != len(files) {
				t.Fatalf("%d results for %d files, %v", len(got), len(files), err)
			}
			for i, r := range got {
				rec, err := callback.ReadRecording(files[i])
				if err != nil {
					t.Fatal(err)
				}
				want := replayed{
					File: filepath.ToSlash(files[i]), Status: rec.Expect.ReplyStatus, Verified: rec.Expect.Verified, Effect: rec.Expect.Effect,
					Event: rec.Expect.Event, OK: true,
				}
				if r.File != want.File || r.Status != want.Status || r.Verified != want.Verified || r.Effect != want.Effect ||
					r.Event != want.Event || !r.OK || len(r.Diff) != 0 {
					t.Errorf("got %+v, want %+v", r, want)
				}
			}
		})
	}
}

func TestReplayJSONShape(t *testing.T) {
	s := newShell(t)
	s.shop("demopay")
	out := s.ok("replay", "--format", "json", kit+"demopay/callbacks/06_amount_as_json_number.json")
	var rows []map[string]any
	decode(t, out, &rows)
	want := map[string]any{
		"file": kit + "demopay/callbacks/06_amount_as_json_number.json", "status": 200.0, "body": `{"code":0,"message":"ok"}`, "verified": true,
		"effect": "apply", "event": "payment.succeeded", "transaction_id": "DP20261127005005", "order_id": "ORD-2026-5005",
		"amount": "5.120", "currency": "KWD", "ok": true, "diff": []any{},
	}
	if len(rows) != 1 || !sameJSON(t, rows[0], want) {
		t.Errorf("got %s", out)
	}
}

func sameJSON(t *testing.T, got, want any) bool {
	t.Helper()
	a, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	return string(a) == string(b)
}

// A recording whose expectation is broken on purpose must be found out, whatever the field.
func TestReplayFindsEveryDifference(t *testing.T) {
	for _, c := range []struct{ file, from, to, diff string }{
		{"01_payment_success", `"reply_status": 200`, `"reply_status": 204`, `status: got "200", want "204"`},
		{"01_payment_success", `SUCCESS\",\"message`, `FAIL\",\"message`, "body: got"},
		{"01_payment_success", `"verified": true`, `"verified": false`, `verified: got "true", want "false"`},
		{"01_payment_success", `"effect": "apply"`, `"effect": "ignore"`, `effect: got "apply", want "ignore"`},
		{"01_payment_success", `"event": "payment.succeeded"`, `"event": "payment.closed"`, "event: got"},
		{"01_payment_success", `"transaction_id": "42000`, `"transaction_id": "52000`, "transaction_id: got"},
		{"01_payment_success", `"order_id": "CNW`, `"order_id": "XNW`, "order_id: got"},
		{"01_payment_success", `"amount": "88.00"`, `"amount": "88.01"`, `amount: got "88.00", want "88.01"`},
		{"01_payment_success", `"payer_amount": "88.00"`, `"payer_amount": "1"`, "payer_amount: got"},
		{"01_payment_success", `"currency": "CNY"`, `"currency": "USD"`, "currency: got"},
		{"01_payment_success", `"event_id": "0`, `"event_id": "1`, "event_id: got"},
		{"01_payment_success", `T10:00:00+08:00",`, `T10:00:01+08:00",`, "occurred_at: got"},
		{"11_bad_signature", `"reason": "signature"`, `"reason": "timestamp"`, `reason: got "signature", want "timestamp"`},
		{"20_amount_differs_from_order", `"order_check": "amount_mismatch"`, `"order_check": "conflict"`, "order_check: got"},
	} {
		raw, err := os.ReadFile(kit + "wechatpay/callbacks/" + c.file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		broken := strings.Replace(string(raw), c.from, c.to, 1)
		if broken == string(raw) {
			t.Fatalf("%s: %q not found", c.file, c.from)
		}
		s := newShell(t)
		s.shop("wechatpay")
		code, out, talk := s.run("replay", "--format", "json", s.file("r.json", broken))
		var got []replayed
		decode(t, out, &got)
		if code != exitLook || talk != "" || got[0].OK || !strings.Contains(strings.Join(got[0].Diff, "\n"), c.diff) {
			t.Errorf("%s for %s: exit %d, %q, %q; want %q", c.to, c.from, code, got[0].Diff, talk, c.diff)
		}
	}
	s := newShell(t) // and without the orders nothing is applied
	code, out, _ := s.run("replay", kit+"demopay/callbacks")
	if code != exitLook || !strings.Contains(out, `effect: got "record_only", want "apply"`) {
		t.Errorf("without orders: exit %d\n%s", code, out)
	}
}

// A second replay says why nothing came out as recorded; one that fails for other reasons does not.
func TestReplayOfWhatIsBooked(t *testing.T) {
	const hint = "already booked: use a fresh database, --database sqlite:FILE\n"
	for _, provider := range []string{"demopay", "wechatpay"} {
		s := newShell(t)
		s.shop(provider)
		first := s.ok("replay", kit+provider+"/callbacks")
		code, second, _ := s.run("replay", kit+provider+"/callbacks")
		if code != exitLook || !strings.HasSuffix(second, hint) || strings.Contains(first, hint) {
			t.Errorf("%s: exit %d, first\n%s\nsecond\n%s", provider, code, first, second)
		}
	}
	s := newShell(t)
	if code, out, _ := s.run("replay", kit+"demopay/callbacks"); code != exitLook || strings.Contains(out, "already booked") {
		t.Errorf("without orders: exit %d\n%s", code, out)
	}
}

func TestReplayRefusesBeforeItSends(t *testing.T) {
	s := newShell(t)
	good := kit + "demopay/callbacks/01_payment_succeeded.json"
	s.fails([]string{"no such file"}, "replay", good, "nowhere")
	s.fails([]string{"broken.json"}, "replay", good, s.file("broken.json", `{"body_base64":`))
	s.fails([]string{"other.json", "method"}, "replay", good, s.file("other.json", `{}`))
	for text, want := range map[string]string{
		`{"method":"POST","path":"/callbacks/stripe","received_at":"2026-11-29T10:00:03Z"}`:                                        "body_base64: missing",
		`{"method":"POST","path":"/callbacks/stripe","received_at":"2026-11-29T10:00:03Z","body_base64":"","headers":{"A":["b"]}}`: "headers.A: expected an object of texts",
		`{"method":"POST","path":"/callbacks/stripe","received_at":"29.11.2026","body_base64":""}`:                                 "received_at: expected a time with its offset",
		`[]`: "app callbacks show ID --save FILE",
	} {
		s.fails([]string{"key.json", want}, "replay", good, s.file("key.json", text))
	}
	s.fails([]string{"no recording: ", "orders.json", "a JSON array", "app callbacks show ID --save FILE"}, "replay", kit+"demopay/orders.json")
	s.fails([]string{"no recorded callbacks"}, "replay", t.TempDir())
	s.fails([]string{"nobody"}, "replay", s.file("r.json", `{"method":"POST","path":"/callbacks/nobody","received_at":"2026-11-29T10:00:03Z","body_base64":""}`))
	s.fails([]string{"names no account"}, "replay", s.file("r.json", `{"method":"POST","path":"/","received_at":"2026-11-29T10:00:03Z","body_base64":""}`))
	s.fails([]string{"--target"}, "replay", "--target", "localhost", good)
	s.fails([]string{"--format"}, "replay", "--format", "xml", good)
	s.fails([]string{"no such file", "app.db"}, "callbacks", "list") // nothing came as far as the database
}

func TestReplayTarget(t *testing.T) {
	s := newShell(t)
	s.shop("stripe")
	a := &app{configFile: kit + "app.yaml", database: s.global[3], now: time.Now, env: noEnv}
	book, err := a.openBook(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	e := echo.New()
	server := callback.Server{Book: book, ReplayClock: true, Accounts: []callback.Account{{Name: "stripe", Provider: accountOf(t, a, "stripe").Provider}}}
	server.Mount(e.Group(""))
	running := httptest.NewServer(e)
	defer running.Close()

	var got []replayed
	s.json(&got, "replay", "--target", running.URL, kit+"stripe/callbacks")
	if len(got) != 30 || got[0].Status != 200 || !got[0].Verified || got[0].Effect != "" {
		t.Errorf("%d results, the first %+v", len(got), got[0])
	}
	h, err := book.OrderHistory(t.Context(), "ORD-2026-1001")
	if err != nil || h.Order.Status != models.PartRefunded {
		t.Errorf("order = %+v, %v", h.Order, err)
	}
	// demopay is not mounted there: 404 is no 401
	if code, _, talk := s.run("replay", "--target", running.URL+"/", kit+"demopay/callbacks/01_payment_succeeded.json"); code != exitLook {
		t.Errorf("unknown account: exit %d, %q", code, talk)
	}
	running.Close()
	s.fails([]string{"replay", "01_payment_succeeded.json"}, "replay", "--target", running.URL, kit+"stripe/callbacks")
}

func accountOf(t *testing.T, a *app, name string) *Account {
	t.Helper()
	c, err := a.config()
	if err != nil {
		t.Fatal(err)
	}
	account, err := c.account(name)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// F23: the callback comes before its order, and nobody sends it again.
func TestCallbackBeforeItsOrder(t *testing.T) {
	s := newShell(t)
	code, out, _ := s.run("replay", "--format", "json", kit+"stripe/callbacks/01_payment_succeeded.json")
	var got []replayed
	decode(t, out, &got)
	if code != exitLook || got[0].Status != 200 || got[0].Effect != "record_only" {
		t.Fatalf("exit %d, %+v; want it acknowledged and parked", code, got)
	}
	s.ok("import", "orders", kit+"stripe/orders.json")
	var h shop.HistoryJSON
	if s.json(&h, "orders", "show", "ORD-2026-1001"); h.Status != models.Paid {
		t.Errorf("order is %s, want paid by the parked callback", h.Status)
	}
}

// A batch is compared event by event, and what is shown is its first.
func TestCompareBatch(t *testing.T) {
	money := models.Money{Minor: 3000, Currency: "EUR"}
	events := []models.Event{
		{Kind: models.PaymentSucceeded, TransactionID: "a", OrderID: "A", Money: money},
		{Kind: models.PaymentSucceeded, TransactionID: "b", OrderID: "B", Money: money},
	}
	item := func(id, effect string) callback.Expect {
		return callback.Expect{Verified: true, Event: "payment.succeeded", TransactionID: id, Amount: "30", Currency: "EUR", Effect: effect}
	}
	inside := &callback.Observation{Outcome: models.OutcomeApplied, Events: events,
		Outcomes: []models.Outcome{models.OutcomeApplied, models.OutcomeDuplicate}}
	want := item("a", "apply")
	for second, ok := range map[string]bool{"duplicate": true, "apply": false} {
		want.Items = []callback.Expect{item("a", "apply"), item("b", second)}
		got := compare(recording{Recording: callback.Recording{Expect: want}}, answer{status: 200, inside: inside})
		if got.OK != ok || got.TransactionID != "a" {
			t.Errorf("second item %s: %+v", second, got)
		}
	}
	want.Items = want.Items[:1]
	if got := compare(recording{Recording: callback.Recording{Expect: want}}, answer{inside: inside}); got.OK {
		t.Error("two events for one expected item are taken for right")
	}
}

// A running total (Alipay's refund) is shown as the message states it: the trade's number and the sum so far.
func TestCompareRunningTotal(t *testing.T) {
	want := callback.Expect{Verified: true, Event: "refund.succeeded", TransactionID: "T1", ParentID: "T1", Amount: "80.00", Currency: "CNY",
		AmountMeaning: "cumulative_refund", Effect: "apply"}
	ev := models.Event{Kind: models.RefundTotal, ParentID: "T1", Money: models.Money{Minor: 8000, Currency: "CNY"}}
	inside := &callback.Observation{Outcome: models.OutcomeApplied, Events: []models.Event{ev}, Outcomes: []models.Outcome{models.OutcomeApplied}}
	got := compare(recording{Recording: callback.Recording{Expect: want}}, answer{inside: inside})
	if !got.OK || got.TransactionID != "T1" || got.Event != "refund.succeeded" || got.Amount != "80.00" {
		t.Errorf("got %+v", got)
	}
}

func TestEffectsKnowEveryOutcome(t *testing.T) {
	for _, o := range allOutcomes {
		if len(effects[o]) == 0 {
			t.Errorf("outcome %s has no effect", o)
		}
	}
	if len(effects) != len(allOutcomes) {
		t.Errorf("%d effects for %d outcomes", len(effects), len(allOutcomes))
	}
}

func TestRecordingsKeepTheirHeaders(t *testing.T) {
	rec := recording{Recording: callback.Recording{Method: "POST", Path: "/callbacks/x/", Query: "a=%20b", Body: []byte("hi"),
		Headers: map[string]string{"Host": "pay.example", "Content-Length": "99", "X-Sig": "s"}}}
	req, err := rec.request(t.Context(), "http://"+net.JoinHostPort("127.0.0.1", "1"))
	if err != nil {
		t.Fatal(err)
	}
	if rec.account() != "x" || req.Host != "pay.example" || req.ContentLength != 2 || req.Header.Get("X-Sig") != "s" || req.URL.RawQuery != "a=%20b" {
		t.Errorf("account %q, request %+v", rec.account(), req)
	}
}
