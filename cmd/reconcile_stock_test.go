package cmd

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
)

// flashConfig is an account and a flash sale of the article HOT.
func flashConfig(t *testing.T) string {
	kit, err := filepath.Abs(kitConfig)
	if err != nil {
		t.Fatal(err)
	}
	dir := writeFiles(t, map[string]string{"app.yaml": "accounts:\n  - name: demopay\n    provider: generic\n    settings_file: " + filepath.Dir(kit) +
		"/demopay/config.json\norders: {flash: [HOT]}\nredis: {timeout: 2s}\n", "stock.csv": "sku,quantity\nHOT,20\nCOLD,7\n"})
	return filepath.Join(dir, "app.yaml")
}

// stockLines is the report as JSON, by SKU.
func stockLines(t *testing.T, env map[string]string, want int, args ...string) map[string]stockLine {
	t.Helper()
	got := runApp(t, env, append([]string{"reconcile", "stock", "--format", "json"}, args...)...)
	if got.code != want {
		t.Fatalf("%v: exit %d, expected %d\n%s%s", args, got.code, want, got.out, got.err)
	}
	var list []stockLine
	if err := json.Unmarshal([]byte(got.out), &list); err != nil {
		t.Fatalf("%v\n%s", err, got.out)
	}
	lines := map[string]stockLine{}
	for _, l := range list {
		lines[l.SKU] = l
	}
	return lines
}

// A sale over HTTP: as many as there are units are sold, asked for and moved like every order; and the figures are equal in all three places,
// also while it runs, also after Redis has lost everything, and after somebody has spoilt them.
func TestFlashSaleOverHTTP(t *testing.T) {
	redis := ledgertest.Redis(t)
	config := flashConfig(t)
	env := map[string]string{"APP_CONFIG": config, "DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "app.db"), "APP_REDIS_URL": redis.URL}
	if got := runApp(t, env, "import", "stock", filepath.Join(filepath.Dir(config), "stock.csv")); got.code != exitDone {
		t.Fatal(got.err)
	}
	s := serve(t, env)
	buy := func(i int) (response, string) {
		body := fmt.Sprintf(`{"order_id":"F/%d","amount":"9.99","currency":"USD","items":[{"sku":"HOT","quantity":1}]}`, i)
		return s.shop("POST", "/orders", body, fmt.Sprintf("Idempotency-Key: key-%d", i))
	}
	var won, lost atomic.Int64
	var first atomic.Int64
	var buyers sync.WaitGroup
	for part := range 8 {
		buyers.Go(func() {
			for i := part; i < 60; i += 8 {
				switch got, body := buy(i); {
				case got.status == 202:
					won.Add(1)
					first.Store(int64(i))
				case got.status == 409 && strings.Contains(body, `"out_of_stock"`):
					lost.Add(1)
				default:
					t.Errorf("%d: %d %s", i, got.status, body)
				}
			}
		})
	}
	stockLines(t, env, exitDone) // no false alarm while orders run
	buyers.Wait()
	if won.Load() != 20 || lost.Load() != 40 {
		t.Errorf("%d won, %d lost", won.Load(), lost.Load())
	}
	i := int(first.Load())
	if got, body := buy(i); got.status != 202 || got.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("again: %d %s", got.status, body)
	}
	path := fmt.Sprintf("/orders/F%%2F%d", i)
	if got, body := s.shop("GET", path, ""); got.status != 200 || !strings.Contains(body, `"unpaid"`) || !strings.Contains(body, `"HOT"`) {
		t.Errorf("shown: %d %s", got.status, body)
	}
	if got, body := s.shop("POST", path+"/pay", ""); got.status != 200 || !strings.Contains(body, `"paying"`) {
		t.Errorf("paid: %d %s", got.status, body)
	}
	if got, body := s.shop("POST", path+"/cancel", ""); got.status != 200 {
		t.Errorf("cancelled: %d %s", got.status, body)
	}
	lines := stockLines(t, env, exitDone)
	if hot := lines["HOT"]; hot.Reserved != 19 || hot.Available != 1 || hot.Redis == nil || *hot.Redis != 1 || hot.Result != "equal" {
		t.Errorf("%+v", hot)
	}
	if cold := lines["COLD"]; cold.Available != 7 || cold.Redis != nil || cold.Result != "equal" {
		t.Errorf("%+v", cold)
	}
	if got, body := buy(1000); got.status != 202 {
		t.Errorf("the unit that came back: %d %s", got.status, body)
	}
}

// Without a server that does it itself: the command finds what differs, plans, writes, and finds nothing any more.
func TestReconcileStockRepairs(t *testing.T) {
	redis := ledgertest.Redis(t)
	config := flashConfig(t)
	env := map[string]string{"APP_CONFIG": config, "DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "app.db"), "APP_REDIS_URL": redis.URL}
	run := func(want int, args ...string) result {
		t.Helper()
		got := runApp(t, env, args...)
		if got.code != want {
			t.Fatalf("%v: exit %d\n%s%s", args, got.code, got.out, got.err)
		}
		return got
	}
	run(exitDone, "import", "stock", filepath.Join(filepath.Dir(config), "stock.csv"))
	if l := stockLines(t, env, exitDone)["HOT"]; l.Redis != nil || l.Result != "equal" {
		t.Errorf("a figure that is not loaded yet is no difference: %+v", l)
	}
	if l := stockLines(t, env, exitDone, "--repair")["HOT"]; l.Repair != "redis: nothing → 20" || l.Repaired {
		t.Errorf("%+v", l)
	}
	if l := stockLines(t, env, exitDone, "--repair=apply")["HOT"]; !l.Repaired {
		t.Errorf("%+v", l)
	}
	if l := stockLines(t, env, exitDone)["HOT"]; l.Redis == nil || *l.Redis != 20 {
		t.Errorf("%+v", l)
	}
	redis.Do(t, "HSET", "paybook:stock:HOT", "left", "99")
	if l := stockLines(t, env, exitLook)["HOT"]; l.Result != "differs" || l.Reason != "Redis says 99 available, the database 20" {
		t.Errorf("%+v", l)
	}
	if l := stockLines(t, env, exitLook, "--repair")["HOT"]; l.Repair != "redis: 99 → 20" || l.Repaired {
		t.Errorf("%+v", l)
	}
	table := run(exitDone, "reconcile", "stock", "--repair=apply").out
	if !strings.Contains(table, "repaired: redis: 99 → 20") {
		t.Error(table)
	}
	db, err := sql.Open("sqlite", strings.TrimPrefix(env["DATABASE_URL"], "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE stock SET reserved = 5 WHERE sku = 'HOT'"); err != nil {
		t.Fatal(err)
	}
	csv := run(exitLook, "reconcile", "stock", "--format", "csv").out
	if !strings.Contains(csv, "HOT,20,15,5,0,0,0,0,20,differs,\"the stock says 5 reserved and 0 sold, the orders 0 and 0; Redis says 20 available, the database 15\"") {
		t.Error(csv)
	}
	if l := stockLines(t, env, exitDone, "--repair=apply")["HOT"]; l.Repair != "stock: reserved 5 → 0, sold 0 → 0" || !l.Repaired {
		t.Errorf("%+v", l)
	}
	redis.Flush(t)
	redis.Do(t, "SET", "paybook:stock:HOT", "not ours")
	if l := stockLines(t, env, exitLook)["HOT"]; !strings.Contains(l.Reason, "something else") {
		t.Errorf("%+v", l)
	}
	stockLines(t, env, exitDone, "--repair=apply")
	if l := stockLines(t, env, exitDone)["HOT"]; l.Redis == nil || *l.Redis != 20 {
		t.Errorf("%+v", l)
	}
	redis.Kill()
	if got := run(exitFailed, "reconcile", "stock"); !strings.Contains(got.err, "redis does not answer") || !strings.Contains(got.out, "COLD") {
		t.Errorf("%+v", got)
	}
	run(exitFailed, "reconcile", "stock", "--repair=now")
	run(exitFailed, "reconcile", "stock", "--format", "xml")
	run(exitFailed, "reconcile", "stock", "word")
}

// Units that requests which were killed have taken are waited for, then told, and set right; a wrong value is no Redis that is away.
func TestReconcileStockOfUnfinishedRequests(t *testing.T) {
	redis := ledgertest.Redis(t)
	config := flashConfig(t)
	env := map[string]string{"APP_CONFIG": config, "DATABASE_URL": "sqlite:" + filepath.Join(t.TempDir(), "app.db"), "APP_REDIS_URL": redis.URL}
	if got := runApp(t, env, "import", "stock", filepath.Join(filepath.Dir(config), "stock.csv")); got.code != exitDone {
		t.Fatal(got.err)
	}
	stockLines(t, env, exitDone, "--repair=apply")
	dead := func() {
		redis.Do(t, "HINCRBY", "paybook:stock:HOT", "version", "1")
		redis.Do(t, "HSET", "paybook:stock:HOT", "left", "13", "taken:11111111-aaaa", fmt.Sprintf("7 %d F/1", time.Now().UnixMilli()))
	}
	dead()
	if l := stockLines(t, env, exitLook)["HOT"]; l.Result != "differs" || l.Reason != "Redis says 13 available, the database 20, and requests that never ended hold 7 units" {
		t.Errorf("%+v", l)
	}
	dead()
	if l := stockLines(t, env, exitDone, "--repair=apply")["HOT"]; l.Repair != "redis: 13 → 20" || !l.Repaired {
		t.Errorf("%+v", l)
	}
	if l := stockLines(t, env, exitDone)["HOT"]; l.Redis == nil || *l.Redis != 20 || l.Result != "equal" {
		t.Errorf("%+v", l)
	}
	for _, wrong := range [][2]string{{"left", "2.5"}, {"left", "1e1"}, {"version", "abc"}, {"version", "9223372036854775807"}} {
		redis.Do(t, "HSET", "paybook:stock:HOT", wrong[0], wrong[1])
		if l := stockLines(t, env, exitDone, "--repair=apply")["HOT"]; l.Repair != "redis: something else → 20" || !l.Repaired {
			t.Errorf("%v: %+v", wrong, l)
		}
	}
	redis.Do(t, "CONFIG", "SET", "requirepass", "secret")
	got := runApp(t, env, "reconcile", "stock")
	if got.code != exitFailed || !strings.Contains(got.err, "redis answers with an error") || strings.Contains(got.err, "start it") {
		t.Errorf("%+v", got)
	}
}

// A flash sale is nothing without Redis, and an article has a name.
func TestFlashSettings(t *testing.T) {
	for text, want := range map[string]string{
		"orders: {flash: [A]}": "app.yaml:1: orders.flash: a flash sale needs Redis: set redis.url",
		"orders: {flash: ['']}\nredis: {url: redis://127.0.0.1}": "an empty SKU",
		"orders: {flash: []}": "",
		"orders: {flash: [B, A, B]}\nredis: {url: redis://127.0.0.1}": "",
	} {
		dir := writeFiles(t, map[string]string{"app.yaml": text + "\n"})
		conf, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(nil))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil && len(conf.Flash) > 0 && fmt.Sprint(conf.Flash) != "[A B]" {
			t.Error(conf.Flash)
		}
	}
}
