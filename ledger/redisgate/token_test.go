package redisgate

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// TestToken tells a key's life: a line is who does what when, and what is said.
func TestToken(t *testing.T) {
	r := ledgertest.Redis(t)
	g := open(t, r.URL, patient)
	made, issued := ledger.Key{Owner: "web", Token: "uuid", Fingerprint: "f 1"}, ledger.Key{Owner: "web", Token: "tok_1", Fingerprint: "f 1"}
	enter := func(k ledger.Key, print, holder string, after time.Duration) string {
		k.Fingerprint = print
		pass, err := g.Enter(t.Context(), k, holder, noon.Add(after), noon.Add(after+30*time.Second))
		return fmt.Sprint(pass, " ", err)
	}
	leave := func(k ledger.Key, holder string, spent bool) string {
		return fmt.Sprint(g.Leave(t.Context(), k, holder, spent))
	}
	for i, step := range []struct{ got, want string }{
		{enter(made, "f 1", "a", 0), "granted <nil>"},
		{enter(made, "f 1", "b", 0), "busy <nil>"},
		{enter(made, "f 2", "b", 0), "other <nil>"},
		{leave(made, "b", false), "<nil>"}, // not b's
		{enter(made, "f 1", "b", 30*time.Second-time.Microsecond), "busy <nil>"},
		{enter(made, "f 2", "b", 30*time.Second), "granted <nil>"},
		{leave(made, "a", true), "<nil>"}, // overtaken
		{enter(made, "f 2", "c", 31*time.Second), "busy <nil>"},
		{leave(made, "b", false), "<nil>"},
		{enter(made, "f 1", "c", 31*time.Second), "granted <nil>"},
		{leave(made, "c", true), "<nil>"},
		{enter(made, "f 1", "d", time.Hour), "spent <nil>"},
		{enter(made, "f 2", "d", time.Hour), "spent <nil>"},
		{enter(issued, "f 1", "a", 0), "unknown <nil>"},
		{fmt.Sprint(g.Issue(t.Context(), issued, time.Hour)), "<nil>"},
		{enter(issued, "f 1", "a", 0), "granted <nil>"},
		{fmt.Sprint(g.Issue(t.Context(), issued, time.Hour)), "redis: nil"}, // once
		{enter(issued, "f 1", "b", 0), "busy <nil>"},
		{leave(issued, "a", false), "<nil>"},
		{enter(issued, "f 1", "b", 0), "unknown <nil>"}, // the database knows
	} {
		if step.got != step.want {
			t.Errorf("step %d: %s, want %s", i, step.got, step.want)
		}
	}
	other := made
	other.Owner = "app"
	if got := enter(other, "f 1", "a", 0); got != "granted <nil>" {
		t.Errorf("the same key of another owner: %s", got)
	}
}

// TestOneIsLetIn of any number that come at once.
func TestOneIsLetIn(t *testing.T) {
	r := ledgertest.Redis(t)
	g := open(t, r.URL, patient)
	issued := ledger.Key{Token: "tok_1"}
	if err := g.Issue(t.Context(), issued, time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, k := range []ledger.Key{{Token: "uuid"}, issued} {
		var wg sync.WaitGroup
		var in, busy atomic.Int64
		for i := range 200 {
			wg.Go(func() {
				pass, err := g.Enter(t.Context(), k, strconv.Itoa(i), noon, noon.Add(time.Minute))
				switch {
				case err != nil:
					t.Error(err)
				case pass == ledger.PassGranted:
					in.Add(1)
				case pass == ledger.PassBusy:
					busy.Add(1)
				}
			})
		}
		wg.Wait()
		if in.Load() != 1 || busy.Load() != 199 {
			t.Errorf("%s: %d let in, %d told that somebody is", k.Token, in.Load(), busy.Load())
		}
	}
}

// TestEveryKeyEnds: nothing stays in Redis for ever, and all of it has our prefix.
func TestEveryKeyEnds(t *testing.T) {
	r := ledgertest.Redis(t)
	g := open(t, r.URL, Options{Timeout: 30 * time.Second, Prefix: "shop:"})
	for i, token := range []string{"held", "spent", "tok_issued", "tok_held", "tok_spent"} {
		k := ledger.Key{Token: token}
		if k.Issued() {
			if err := g.Issue(t.Context(), k, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if token != "tok_issued" {
			if pass, err := enterAt(g, k); pass != ledger.PassGranted || err != nil {
				t.Fatal(pass, err)
			}
		}
		if strings.HasSuffix(token, "spent") {
			if err := g.Leave(t.Context(), k, "me", true); err != nil {
				t.Fatal(err)
			}
		}
		left, err := strconv.Atoi(strings.TrimPrefix(r.Do(t, "PTTL", g.names(k)[0]), ":"))
		if err != nil || left <= 0 || left > int(time.Hour.Milliseconds()) {
			t.Errorf("%s ends in %d ms (%v)", token, left, err)
		}
		if n := r.Do(t, "EVAL", "return #redis.call('KEYS', 'shop:token:*')", "0"); n != fmt.Sprintf(":%d", i+1) {
			t.Errorf("after %s: %s keys with our prefix", token, n)
		}
	}
}
