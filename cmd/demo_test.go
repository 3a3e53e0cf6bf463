package cmd

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"paybook/models"
	"paybook/reconcile"
)

func TestDemo(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Chdir(t.TempDir()) // from any folder
	got := runApp(t, map[string]string{"APP_LISTEN": "nonsense", "DATABASE_URL": "postgres://nowhere"}, "demo")
	if got.code != exitDone {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	for _, want := range []string{"payout po_TEST4001: payments 322.73  refunds -92.10  chargebacks -75.00  fees -28.18  = 127.45 USD, paid 127.45, remainder 0.00 (none)",

		"169 callbacks", "ORD-2026-0: no such order", "53 refused", "parked, then applied", "CNW20261129004 paid → refunded", "refused: timestamp",
		"amount_mismatch payment 4200002999202611290000000009: statement 149.00 CNY succeeded, book 149.00 CNY succeeded, order 150.00 CNY unpaid",
		"missing_local payment ch_TEST1099", "next  app ", "85 statement rows compared: 64 match, 28 gaps", "Everything came out as the recordings say",
		"1 order, 4 replays", "refused with 422", "3 orders, 17 out of stock, 0 left", "3 units left",
		"payout 42  2026-11-28", "+351.32", "-12.26", "remainder             0.00\n", "✓  euro    2026113000017  175.98 EUR  TXTEST4200XT batch 42", "✓  dollar  B6K30PS01      127.45 USD  po_TEST4001",
		"9.90 CNY for CNW20261129007, message order.paid", "refused: a second person must apply it", "CNW20261129007 is paid, 3 gaps where there were 4",
		"rows hold; 28 gaps and 10 runs are as they say",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not in the output:\n%s", want, got.out)
		}
	}
	if strings.Contains(got.out, "\x1b[") || strings.Contains(got.out, "✗") {
		t.Error("colours without a terminal, or a failure that does not count")
	}
	for _, dir := range []string{temp, "."} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("left in %s: %v, %v", dir, left, err)
		}
	}
}

func TestDemoServes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &buffer{}
	a := &app{in: strings.NewReader(""), out: out, err: io.Discard, now: time.Now, env: noEnv}
	ended := make(chan int, 1)
	go func() { ended <- a.run(ctx, []string{"demo", "--serve"}, &checkedWriter{w: out}) }()
	serving := regexp.MustCompile(`Serving (http://127\.0\.0\.1:\d+) `)
	var address []string
	for deadline := time.Now().Add(time.Minute); address == nil && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		address = serving.FindStringSubmatch(out.String())
	}
	if address == nil {
		t.Fatalf("not serving: %s", out.String())
	}
	for range 2 { // callbacks after the story are served as well
		resp, err := http.Post(address[1]+"/callbacks/demopay", "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("a forged callback is answered %d", resp.StatusCode)
		}
	}
	stop()
	if code := <-ended; code != exitDone {
		t.Errorf("exit %d after the signal\n%s", code, out.String())
	}
	if hint := "app reconcile bank --date 2026-11-30 --database sqlite:"; !strings.Contains(out.String(), hint) {
		t.Errorf("%q is not in the output:\n%s", hint, out.String())
	}
}

// newDemo is a demo whose server runs, before anything is played.
func newDemo(t *testing.T) *demo {
	t.Helper()
	a := &app{out: &buffer{}, err: io.Discard, now: time.Now, env: noEnv}
	d := &demo{a: a, dir: t.TempDir(), became: map[models.Outcome]int{}}
	if err := d.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	running, cancel := context.WithCancel(context.Background()) // the test's own context ends before its cleanup
	stop, err := d.startServer(running)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(stop(), d.book.Close()); err != nil {
			t.Error(err)
		}
		cancel()
	})
	return d
}

// editKit changes the first such place of a file of the unpacked kit.
func editKit(t *testing.T, d *demo, file, from, to string) {
	t.Helper()
	path := filepath.Join(d.dir, file)
	raw, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(raw), from) {
		t.Fatalf("%s: %q not found, %v", file, from, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(raw), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tells checks that the demo has found these things wrong, and no other.
func tells(t *testing.T, d *demo, want ...string) {
	t.Helper()
	all := strings.Join(d.wrong, "\n")
	for _, w := range want {
		if !strings.Contains(all, w) {
			t.Errorf("%q is not told:\n%s", w, all)
		}
	}
	if len(d.wrong) != len(want) {
		t.Errorf("%d things are told, want %d:\n%s", len(d.wrong), len(want), all)
	}
}

// What the demo compares must be able to fail: each check is given something wrong.
func TestDemoTellsWhatIsWrong(t *testing.T) {
	d := newDemo(t)
	edit := func(file, from, to string) { t.Helper(); editKit(t, d, "wechatpay/"+file, from, to) }
	edit("callbacks/06_refund_partial_success.json", `"amount": "50.00"`, `"amount": "51.00"`)
	edit("local_records.json", `"amount": "88.00"`, `"amount": "88.01"`)
	edit("local_records.json", `"4200002999202611290000000002"`, `"4200002999202611290000000999"`)
	edit("local_records.json", `"CLOSED"`, `"FAILED"`)
	edit("expected_reconciliation.json", `"matched": 9`, `"matched": 8`)
	edit("expected_reconciliation.json", `"order_amount": "150.00"`, `"order_amount": "151.00"`)
	edit("expected_reconciliation.json", `"missing_provider"`, `"unknown_order"`)
	if err := d.play(t.Context(), d.conf.Accounts[0]); err != nil {
		t.Fatal(err)
	}
	tells(t, d,
		`06_refund_partial_success.json: amount: got "50.00", want "51.00"`, "got 88.00 CNY, want 88.01 CNY",
		"payment 4200002999202611290000000999: missing", "payment 4200002999202611290000000002 is in no record", "got closed, want failed",
		"matched: got 9, want 8", "the order's amount: got", "gap unknown_order of payment 4200002999202611290000000008: not found",
		"gap missing_provider of payment 4200002999202611290000000008: in no expectation")
}

// A day that does not close is told: a remainder, a line that is no payout, another sum, a changed log.
func TestDemoTellsWhatDoesNotClose(t *testing.T) {
	d := newDemo(t)
	for _, name := range []string{"wechatpay", "adyen", "stripe"} {
		account, err := d.conf.account(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.play(t.Context(), account); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.wrong) != 0 {
		t.Fatalf("before anything is changed: %v", d.wrong)
	}
	editKit(t, d, "closing.json", `"-88.08"`, `"-88.18"`)
	editKit(t, d, "closing.json", `"remainder": "0.00"`, `"remainder": "0.10"`)
	editKit(t, d, "closing.json", `"B6K30PS01"`, `"B6K30PS02"`)
	editKit(t, d, "closing.json", `"9.90"`, `"9.91"`)
	for _, sum := range []string{"175.98", "175.98", "1125.98", "225.98"} { // the bank has five less
		editKit(t, d, "bank/camt053_2026-11-30.xml", ">"+sum+"<", ">"+strings.Replace(sum, "5.98", "0.98", 1)+"<")
	}
	db, err := sql.Open("sqlite", filepath.Join(d.dir, "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE audit SET actor = 'mallory' WHERE seq = 3"); err != nil {
		t.Fatal(err)
	}
	if err := d.closeDay(t.Context()); err != nil {
		t.Fatal(err)
	}
	tells(t, d, "payout 42 of adyen: got the steps", "remainder 0.00 (none), want 175.98, 175.98, 0.10", "bank dollar: line B6K30PS02 is not matched",
		"bank euro: gap payout_mismatch", "bank euro: got 0 lines matched, want 1", "bank euro: line 2026113000017 is not matched: want 175.98", "a lost callback: alice plans a repair: 9.90 CNY",
		"a lost callback: app audit verify: of the audit log 2 rows hold")
	if out := d.a.out.(*buffer).String(); !strings.Contains(out, "✗  euro") || !strings.Contains(out, "✗  dollar") || !strings.Contains(out, "✗  app audit verify") {
		t.Errorf("shown as right:\n%s", out)
	}
}

// Without its runs there is nothing to close: no payout, no gap to repair, and the demo says so.
func TestDemoTellsOfAnEmptyBook(t *testing.T) {
	d := newDemo(t)
	if err := d.closeDay(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(d.wrong, "\n"); !strings.Contains(all, "payout 42 of adyen: has no bridge in EUR") ||
		!strings.Contains(all, "bank euro: line 2026113000017 is not matched") || !strings.Contains(all, "bank dollar: line B6K30PS01 is not matched") {
		t.Errorf("told:\n%s", all)
	}
}

func TestSameAmount(t *testing.T) {
	side := &models.Side{Amount: "5.120"}
	if !sameAmount("5.12", side) || !sameAmount("", nil) || sameAmount("5.13", side) || sameAmount("5.12", nil) || sameAmount("x", side) {
		t.Error("amounts are compared as numbers, and an empty expectation is not checked")
	}
	if asks(reconcile.GapReport{}) != "" {
		t.Error("a gap without an order asks nothing")
	}
}
