package cmd

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

const pausedConfig = `accounts:
  - name: shop
    provider: generic
    settings: {timezone: Asia/Shanghai, signature: {secrets: [s], from: "header:X-Signature", template: "{body}"},
      fields: {event_id: $.id, event_type: $.type, status: $.status, transaction_id: $.txn, order_id: $.order,
        amount: {path: $.amount, unit: major}, currency: $.currency, occurred_at: $.at},
      events: [{type: payment, status: SUCCESS, event: payment.succeeded}]}
`

const statementHeader = "transaction_id,order_id,type,amount,currency,status,occurred_at\n"

// TestReconcilePaused: app reconcile is stopped while it reads its statement. Another takes the run over when its lease has ended; when the
// first goes on, it writes nothing, says who has the run, and leaves with 2.
func TestReconcilePaused(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		dir := writeFiles(t, map[string]string{"app.yaml": pausedConfig, "long.csv": longStatement(),
			"short.csv": statementHeader + "theirs,O2,payment,20.00,CNY,succeeded,2026-11-28 10:00:00\n"})
		args := func(file string) []string {
			return []string{"reconcile", "--quiet", "--config", filepath.Join(dir, "app.yaml"), "--database", dsn, "--account", "shop", "--date", "2026-11-28",
				"--statement", filepath.Join(dir, file)}
		}
		b := ledgertest.Open(t, dsn)
		first := exec.Command(os.Args[0], args("long.csv")...)
		first.Env = append(os.Environ(), asApp+"=1s")
		var talk bytes.Buffer
		first.Stderr = &talk
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = first.Wait(); close(ended) }() // how it ended is its exit code's to say
		t.Cleanup(func() { _ = first.Process.Kill() })
		pauseAtWork(t, dsn, b, first)

		var other result
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			other = runApp(t, nil, args("short.csv")...)
			if !strings.Contains(other.err, "busy: the same run is under way") || time.Now().After(deadline) {
				break
			}
		}
		if other.code != exitLook {
			t.Fatalf("the other run: exit %d\n%s", other.code, other.err)
		}
		signalTo(t, first, syscall.SIGCONT)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("the first does not end")
		}
		host, _ := os.Hostname()
		if said := talk.String(); first.ProcessState.ExitCode() != exitFailed || strings.Count(said, "\n") != 1 ||
			!strings.Contains(said, "busy: nothing was heard of this run for so long that another took it over at 20") ||
			!strings.Contains(said, fmt.Sprintf("(%s/%d), which has ended", host, os.Getpid())) {
			t.Errorf("the first: exit %d\n%s", first.ProcessState.ExitCode(), said)
		}
		gaps, _, err := b.Gaps(t.Context(), ledger.GapFilter{})
		if err != nil || len(gaps) != 1 || gaps[0].TransactionID != "theirs" {
			t.Errorf("gaps %+v (%v), want the other's only", gaps, err)
		}
		if again := runApp(t, nil, args("short.csv")...); again.code != exitLook {
			t.Errorf("nobody holds the run, and yet: exit %d\n%s", again.code, again.err)
		}
	})
}

// longStatement takes a while to read. All but one of its payments failed, and are no gaps.
func longStatement() string {
	var b strings.Builder
	b.WriteString(statementHeader + "mine,O1,payment,20.00,CNY,succeeded,2026-11-28 10:00:00\n")
	for i := range 300_000 {
		fmt.Fprintf(&b, "failed%d,O1,payment,20.00,CNY,failed,2026-11-28 10:00:00\n", i)
	}
	return b.String()
}

// pauseAtWork stops the process as soon as it holds the run's lease, but not in the middle of a transaction, in which on SQLite nobody
// else could write.
func pauseAtWork(t *testing.T, dsn string, b *ledger.Ledger, c *exec.Cmd) {
	t.Helper()
	driver, name := "pgx", dsn
	if b.Database() == "sqlite" {
		driver, name = "sqlite", "file:"+strings.TrimPrefix(dsn, "sqlite:")+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		held := 0
		if err := db.QueryRow("SELECT count(*) FROM leases WHERE until IS NOT NULL").Scan(&held); err != nil {
			t.Fatal(err)
		}
		if held == 0 {
			continue
		}
		signalTo(t, c, syscall.SIGSTOP)
		if b.Ready(t.Context()) == nil {
			return
		}
		signalTo(t, c, syscall.SIGCONT)
	}
	t.Fatal("it never held the lease")
}

func signalTo(t *testing.T, c *exec.Cmd, s os.Signal) {
	t.Helper()
	if err := c.Process.Signal(s); err != nil {
		t.Fatalf("%v: %v", s, err)
	}
}

// TestReconcileBehindRedis: with Redis configured a run takes its lock in passing; one that nobody gave back, or a Redis that is away, keeps
// no run from being made.
func TestReconcileBehindRedis(t *testing.T) {
	server := ledgertest.Redis(t)
	dir := writeFiles(t, map[string]string{"app.yaml": pausedConfig + "redis: {url: '" + server.URL + "'}\n",
		"s.csv": statementHeader + "theirs,O2,payment,20.00,CNY,succeeded,2026-11-28 10:00:00\n"})
	args := []string{"reconcile", "--config", filepath.Join(dir, "app.yaml"), "--database", "sqlite:" + filepath.Join(dir, "app.db"), "--date", "2026-11-28",
		"--statement", filepath.Join(dir, "s.csv")}
	key := "paybook:lease:" + ledger.RunLease("shop", "2026-11-28")
	for _, spoil := range []func(){
		func() {},
		func() { server.Do(t, "SET", key, "nobody") },
		func() { server.Kill() },
	} {
		spoil()
		if got := runApp(t, nil, args...); got.code != exitLook || got.err != "" {
			t.Errorf("exit %d\n%s", got.code, got.err)
		}
	}
}

// TestStockRepairedOneAtATime: while somebody repairs the stock, another repair is refused, and a plan is not.
func TestStockRepairedOneAtATime(t *testing.T) {
	dir := writeFiles(t, map[string]string{"app.yaml": pausedConfig, "stock.csv": "sku,quantity\nA,5\n"})
	dsn := "sqlite:" + filepath.Join(dir, "app.db")
	env := map[string]string{"APP_CONFIG": filepath.Join(dir, "app.yaml"), "DATABASE_URL": dsn}
	if got := runApp(t, env, "import", "stock", filepath.Join(dir, "stock.csv")); got.code != exitDone {
		t.Fatal(got.err)
	}
	held, err := ledgertest.Open(t, dsn).Lease(t.Context(), stockRepair, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got := runApp(t, env, "reconcile", "stock", "--repair"); got.code != exitDone {
		t.Errorf("a plan: exit %d\n%s", got.code, got.err)
	}
	got := runApp(t, env, "reconcile", "stock", "--repair=apply")
	if got.code != exitFailed || !strings.Contains(got.err, "repair of the stock: busy: the same repair is under way since 20") {
		t.Errorf("a second repair: exit %d\n%s", got.code, got.err)
	}
	if err := held.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := runApp(t, env, "reconcile", "stock", "--repair=apply"); got.code != exitDone {
		t.Errorf("after it: exit %d\n%s", got.code, got.err)
	}
}
