package cmd

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paybook/callback"
	"paybook/ledger/shop"
	"paybook/models"
)

func TestOrdersShowJSONShape(t *testing.T) {
	s := newShell(t)
	s.shop("demopay")
	s.ok("replay", kit+"demopay/callbacks")
	var got map[string]any
	s.json(&got, "orders", "show", "ORD-2026-5001")
	transitions, _ := got["transitions"].([]any)
	for _, m := range transitions {
		if moved, _ := m.(map[string]any); moved != nil {
			delete(moved, "at")
		}
	}
	payment := map[string]any{"account": "demopay", "kind": "payment", "transaction_id": "DP20261127005001", "amount": "49.99", "currency": "USD",
		"status": "succeeded", "occurred_at": "2026-11-27T08:15:02Z", "source": "callback", "outcome": "applied"}
	refund := map[string]any{"account": "demopay", "kind": "refund", "transaction_id": "DR2026112705201", "amount": "10.00", "currency": "USD",
		"status": "succeeded", "occurred_at": "2026-11-27T11:00:00Z", "source": "callback", "outcome": "applied"}
	want := map[string]any{
		"order_id": "ORD-2026-5001", "amount": "49.99", "currency": "USD", "status": "part_refunded", "version": 3, "refunded": "10.00",
		"transactions": []any{payment, refund},
		"transitions": []any{
			map[string]any{"from": "unpaid", "to": "paid", "event": "payment.succeeded", "transaction_id": "DP20261127005001"},
			map[string]any{"from": "paid", "to": "part_refunded", "event": "refund.succeeded", "transaction_id": "DR2026112705201"},
		},
	}
	if !sameJSON(t, got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	table := s.ok("orders", "show", "ORD-2026-5001")
	for _, w := range []string{"49.99 USD", "part_refunded", "DR2026112705201", "refund.succeeded"} {
		if !strings.Contains(table, w) {
			t.Errorf("the table does not show %s:\n%s", w, table)
		}
	}
	s.fails([]string{`"nobody"`, "not found", "`app orders list`"}, "orders", "show", "nobody")
}

func TestListsPageThroughEverything(t *testing.T) {
	s := newShell(t)
	s.shop("wechatpay")
	s.shop("stripe")
	s.ok("replay", kit+"wechatpay/callbacks", kit+"stripe/callbacks")
	for _, list := range []string{"orders", "callbacks"} {
		var all, paged []map[string]any
		s.json(&all, list, "list", "--limit", "1000")
		for after := ""; ; {
			code, out, talk := s.run(list, "list", "--limit", "7", "--format", "json", "--after", after)
			if code != exitDone {
				t.Fatalf("%s list --after %q: exit %d, %s", list, after, code, talk)
			}
			var page []map[string]any
			decode(t, out, &page)
			paged = append(paged, page...)
			next, more := strings.CutPrefix(strings.TrimSpace(talk), "next: --after ")
			if !more {
				break
			}
			after = strings.Trim(next, "'")
		}
		if len(all) < 20 || !sameJSON(t, paged, all) {
			t.Errorf("%s: %d in pages, %d at once", list, len(paged), len(all))
		}
		s.fails([]string{"--limit"}, list, "list", "--limit", "0")
		s.fails([]string{"--after"}, list, "list", "--after", "x")
		s.fails([]string{"--date"}, list, "list", "--date", "29.11.2026")
	}
}

func TestListFilters(t *testing.T) {
	s := newShell(t)
	s.shop("wechatpay")
	s.ok("replay", kit+"wechatpay/callbacks")
	count := func(want int, args ...string) {
		t.Helper()
		var list []map[string]any
		if s.json(&list, args...); len(list) != want {
			t.Errorf("app %s: %d rows, want %d", strings.Join(args, " "), len(list), want)
		}
	}
	count(1, "orders", "list", "--status", "REFUNDED")
	count(1, "callbacks", "list", "--outcome", "amount_mismatch")
	count(1, "callbacks", "list", "--reason", "merchant")
	count(17, "callbacks", "list", "--account", "wechatpay", "--date", "2026-11-29") // 20 less three repeats, each counted in the row of the first
	count(0, "callbacks", "list", "--account", "wechatpay", "--date", "2026-11-28")
	count(0, "callbacks", "list", "--account", "stripe")
	s.fails([]string{"--status", "part_refunded"}, "orders", "list", "--status", "bought")
	s.fails([]string{"--outcome", "applied"}, "callbacks", "list", "--outcome", "good")
	s.fails([]string{"--reason", "signature"}, "callbacks", "list", "--reason", "bad")
	s.fails([]string{"nobody"}, "callbacks", "list", "--account", "nobody", "--date", "2026-11-29")
	s.fails([]string{`no account "wechat"`, "there is: wechatpay, "}, "callbacks", "list", "--account", "wechat")
	s.fails([]string{`no account "nope"`, "there is: wechatpay, "}, "gaps", "list", "--account", "nope")
	s.global[1] = s.file("none.yaml", "accounts: []\n") // without any accounts a look into the book is still allowed
	count(0, "callbacks", "list", "--account", "nope")
	count(0, "gaps", "list", "--account", "nope")
}

func TestCallbacksListJSONShape(t *testing.T) {
	s := newShell(t)
	s.shop("demopay")
	s.ok("replay", kit+"demopay/callbacks/01_payment_succeeded.json", kit+"demopay/callbacks/15_bad_signature.json")
	var got []map[string]any
	s.json(&got, "callbacks", "list")
	if len(got) != 2 {
		t.Fatalf("got %v", got)
	}
	paid := got[1]
	id, _ := paid["id"].(string)
	want := map[string]any{"id": id, "account": "demopay", "received_at": "2026-11-27T08:15:04Z", "status": 200, "reason": "", "outcome": "applied",
		"event": "payment.succeeded", "transaction_id": "DP20261127005001", "order_id": "ORD-2026-5001", "deliveries": 1}
	if id == "" || !sameJSON(t, paid, want) {
		t.Errorf("got %v, want %v", paid, want)
	}
	var shown map[string]any
	if s.json(&shown, "callbacks", "show", id[:8]); shown["id"] != id {
		t.Errorf("the beginning of an id shows %v", shown["id"])
	}
	if refused := got[0]; refused["reason"] != "signature" || refused["status"] != 401.0 || refused["outcome"] != "" {
		t.Errorf("refused: %v", refused)
	}
}

func TestCallbacksShowSaveAndReplay(t *testing.T) {
	s := newShell(t)
	s.shop("demopay")
	raw, err := os.ReadFile(kit + "demopay/callbacks/01_payment_succeeded.json")
	if err != nil {
		t.Fatal(err)
	}
	s.ok("replay", s.file("r.json", strings.Replace(string(raw), `"headers": {`, `"headers": {"Authorization": "Basic c2VjcmV0", "X-Callback-Token": "tok-1",`, 1)))
	var list []callbackJSON
	s.json(&list, "callbacks", "list")
	id := list[0].ID

	plain := s.ok("callbacks", "show", id)
	if strings.Contains(plain, "c2VjcmV0") || strings.Contains(plain, "tok-1") || strings.Contains(plain, "trade_no") || !strings.Contains(plain, "Authorization: ***") {
		t.Errorf("show:\n%s", plain)
	}
	if full := s.ok("callbacks", "show", id, "--body"); !strings.Contains(full, `"trade_no"`) {
		t.Errorf("show --body:\n%s", full)
	}
	saved := filepath.Join(t.TempDir(), "evidence.json")
	var shown shownCallback
	s.json(&shown, "callbacks", "show", id, "--save", saved)
	if shown.Deliveries != 1 || shown.Body != nil || shown.BodyBytes == 0 || shown.Headers["Authorization"][0] != "***" {
		t.Errorf("show --format json: %+v", shown)
	}
	rec, err := callback.ReadRecording(saved)
	if err != nil || rec.Headers["Authorization"] != "Basic c2VjcmV0" || rec.Provider != "generic" {
		t.Errorf("saved: %+v, %v", rec, err)
	}
	s.ok("replay", saved)
	s.fails([]string{"not found", "`app callbacks list`"}, "callbacks", "show", "0123")
	if out := s.ok("callbacks", "replay", id); !strings.HasPrefix(out, "duplicate payment.succeeded DP20261127005001") {
		t.Errorf("callbacks replay: %q", out)
	}
}

// A callback that was refused for a key we had not loaded is booked once the key is there (F06), at its own time.
func TestCallbacksReplayAfterTheKeyWasAdded(t *testing.T) {
	s := newShell(t)
	s.shop("stripe")
	full, err := os.ReadFile(kit + "stripe/config.json")
	if err != nil {
		t.Fatal(err)
	}
	s.global[1] = s.file("app.yaml", "accounts:\n  - name: stripe\n    provider: stripe\n    settings: {signing_secrets: [whsec_other], order_id_metadata_key: order_id, livemode: false}\n")
	code, _, _ := s.run("replay", kit+"stripe/callbacks/01_payment_succeeded.json")
	var list []callbackJSON
	s.json(&list, "callbacks", "list")
	if code != exitLook || len(list) != 1 || list[0].Reason != models.ReasonSignature {
		t.Fatalf("exit %d, %+v; want it refused", code, list)
	}
	if code, out, _ := s.run("callbacks", "replay", list[0].ID); code != exitLook || !strings.Contains(out, "refused: signature") {
		t.Errorf("replay without the key: exit %d, %q", code, out)
	}
	s.global[1] = s.file("app.yaml", "accounts:\n  - name: stripe\n    provider: stripe\n    settings: "+strings.Join(strings.Fields(string(full)), " ")+"\n")
	s.ok("callbacks", "replay", list[0].ID)
	var h shop.HistoryJSON
	if s.json(&h, "orders", "show", "ORD-2026-1001"); h.Status != models.Paid {
		t.Errorf("order is %s, want paid", h.Status)
	}
}

func TestUnreadableStaysUnreadable(t *testing.T) {
	s := newShell(t)
	s.ok("replay", kit+"demopay/callbacks/21_missing_required_field.json")
	var list []callbackJSON
	s.json(&list, "callbacks", "list", "--outcome", "unreadable")
	code, out, _ := s.run("callbacks", "replay", list[0].ID, "--format", "json")
	var again callbackJSON
	decode(t, out, &again)
	if code != exitLook || again.Outcome != models.OutcomeUnreadable || again.Status != 422 {
		t.Errorf("exit %d, %+v", code, again)
	}
	var shown shownCallback
	if s.json(&shown, "callbacks", "show", list[0].ID); shown.Deliveries != 1 {
		t.Errorf("looking again was counted as a delivery: %+v", shown)
	}
}

func TestCellHidesWhatMustNotBeShown(t *testing.T) {
	for in, want := range map[string]string{
		"4111111111111111":             "411111******1111", // a test card's number
		"pan 378282246310005.":         "pan 378282*****0005.",
		"4111111111111112":             "4111111111111112",             // wrong check digit: no card
		"4200002999202611290000000001": "4200002999202611290000000001", // too long for a card
		"2026112900001234":             "2026112900001234",
		"a\x1b[31mb\nc":                "a·[31mb·c",
		"9\u202e1.00\u202c\u200b CNY":  "9·1.00·· CNY", // else another sum would be read there
	} {
		if got := cell(in); got != want {
			t.Errorf("cell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestBinaryBodyIsShownAsBase64(t *testing.T) {
	cb := models.Callback{Body: []byte{0xff, 0x00, 0x01}}
	s := describeCallback(cb, true)
	if s.Body != nil || base64.StdEncoding.EncodeToString(s.BodyBase64) != "/wAB" {
		t.Errorf("got %+v", s)
	}
	if !slices.Contains(secretHeaders, "authorization") {
		t.Error("Authorization is shown")
	}
}
