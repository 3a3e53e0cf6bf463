package cmd

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paybook/ledger/ledgertest"
)

// A token that outlives its order's window stops the start, naming both; one that is shorter than the client's patience is warned of.
func TestTokenLifeAgainstTheWindows(t *testing.T) {
	for name, c := range map[string]struct {
		orders string
		want   string // of the error, or of the one warning; "": neither
	}{
		"defaults":                    {"{}", ""},
		"equal to both":               {"{token_life: 10m, payment_window: 10m, retry_window: 10m}", ""},
		"longer than the window":      {"{token_life: 31m}", "app.yaml:1: |orders.token_life|31m0s|orders.payment_window|30m0s|orderable again"},
		"the default, longer than it": {"{payment_window: 4m}", "orders.token_life|5m0s|orders.payment_window|4m0s"},
		"by a little":                 {"{token_life: 600001ms, payment_window: 10m}", "orders.token_life|10m0.001s|10m0s"},
		"shorter than the retries":    {"{token_life: 90s}", "warning|orders.token_life|1m30s|orders.retry_window|2m0s"},
		"no time":                     {"{token_life: 5}", `orders.token_life: "5"`},
		"none at all":                 {"{token_life: 0s}", "orders.token_life|from 1s"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"app.yaml": "orders: " + c.orders + "\n"})
			conf, err := loadConfig(filepath.Join(dir, "app.yaml"), lookup(nil))
			if err == nil {
				for _, text := range conf.warnings() {
					err = errors.Join(err, errors.New("warning: "+text))
				}
			}
			if (err == nil) != (c.want == "") {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			for _, part := range strings.Split(c.want, "|") {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("no %q in %v", part, err)
				}
			}
		})
	}
}

// Every value of the section can come from where a secret may come from, and what is wrong with it is said without it.
func TestRedisSettings(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"env.yaml":    "redis: {url: 'redis://:${PASSWORD}@127.0.0.1:7/2', timeout: 80ms, prefix: 'shop:'}\n",
		"file.yaml":   "redis: {url: 'file:url'}\n",
		"url":         "rediss://me:CANARY@redis.example.com:6380\n",
		"scheme.yaml": "redis: {url: 'http://:CANARY@127.0.0.1'}\n",
		"broken.yaml": "redis: {url: 'redis://:CANARY%@127.0.0.1'}\n",
		"key.yaml":    "redis: {adress: x}\n",
		"slow.yaml":   "redis: {url: 'redis://127.0.0.1', timeout: 1m}\n",
	})
	for file, want := range map[string]Redis{
		"env.yaml":  {URL: "redis://:CANARY@127.0.0.1:7/2", Timeout: 80 * time.Millisecond, Prefix: "shop:"},
		"file.yaml": {URL: "rediss://me:CANARY@redis.example.com:6380", Timeout: 50 * time.Millisecond, Prefix: "paybook:"},
		"":          {URL: "redis://other", Timeout: 50 * time.Millisecond, Prefix: "paybook:"},
	} {
		env := map[string]string{"PASSWORD": "CANARY"}
		name := filepath.Join(dir, file)
		if file == "" {
			t.Chdir(t.TempDir())
			env["APP_REDIS_URL"], name = want.URL, ""
		}
		if c, err := loadConfig(name, lookup(env)); err != nil || c.Redis != want {
			t.Errorf("%s: %+v, %v", file, c, err)
		}
	}
	for file, want := range map[string]string{
		"scheme.yaml": "scheme.yaml:1: redis.url: not an address of Redis",
		"broken.yaml": "broken.yaml:1: redis.url: not an address of Redis",
		"key.yaml":    "redis.adress: unknown key; the keys here are url, timeout, prefix",
		"slow.yaml":   "redis.timeout",
	} {
		_, err := loadConfig(filepath.Join(dir, file), lookup(nil))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestDoctorLooksAtRedis(t *testing.T) {
	dir := t.TempDir()
	env := map[string]string{"APP_CONFIG": kitConfig, "DATABASE_URL": "sqlite:" + dir + "/app.db", "APP_REDIS_TIMEOUT": "5s"}
	if _, out := findings(t, time.Now(), env); strings.Contains(out, "redis") {
		t.Errorf("a Redis that nobody configured:\n%s", out)
	}
	look := func(url, want string) {
		t.Helper()
		env["APP_REDIS_URL"] = url
		code, out := findings(t, time.Now(), env)
		if !strings.Contains(out, want) || strings.Contains(out, "CANARY") || code != exitDone {
			t.Errorf("exit %d, no %q in\n%s", code, want, out)
		}
	}
	look("redis://:CANARY@127.0.0.1:1", "warning redis: 127.0.0.1:1 does not work (dial tcp 127.0.0.1:1: connect: connection refused): the database does all by itself")
	r := ledgertest.Redis(t, map[string]string{"requirepass": "CANARY"})
	look(r.URL, "ok redis: "+r.Address()+" answers and can be written")
	look("redis://:CANARY2@"+r.Address(), "warning redis: "+r.Address()+" does not work (WRONGPASS")
	look("redis://"+r.Address(), "warning redis: "+r.Address()+" does not work (NOAUTH")
	r.Fill(t)
	look(r.URL, "warning redis: "+r.Address()+" does not work (OOM")
}

// A Redis that is away keeps no server from starting.
func TestServeStartsWithoutItsRedis(t *testing.T) {
	s := serve(t, map[string]string{"APP_REDIS_URL": "redis://:CANARY@127.0.0.1:1"}, "--config", kitConfig)
	if said := s.stderr.String(); !strings.Contains(said, "warning: redis at 127.0.0.1:1 does not work") || strings.Contains(said, "CANARY") {
		t.Errorf("said %q", said)
	}
	if got, body := s.do(s.request("GET", "/readyz", nil)); got.status != 200 {
		t.Errorf("/readyz: %d %s", got.status, body)
	}
}
