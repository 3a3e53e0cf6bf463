package alert_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
	"paybook/reconcile/alert"
)

// inbox is a sink that keeps what it is told; away is what it says instead.
type inbox struct {
	mu   sync.Mutex
	got  []alert.Alert
	away error
	hits int
}

func (s *inbox) Alert(_ context.Context, a alert.Alert) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits++
	if s.away != nil {
		return s.away
	}
	s.got = append(s.got, a)
	return nil
}

// titles takes out what has come.
func (s *inbox) titles() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, a := range s.got {
		out = append(out, a.Title)
	}
	s.got = nil
	return out
}

// office is a book with people to be told, on a clock that a test moves.
type office struct {
	t    *testing.T
	now  time.Time
	book *ledger.Ledger
	log  strings.Builder
}

func eachOffice(t *testing.T, f func(*office)) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		o := &office{t: t, now: noon}
		o.book = ledgertest.Open(t, dsn, ledger.Options{Now: func() time.Time { return o.now }})
		f(o)
	})
}

// oneOffice is for what does not depend on the database.
func oneOffice(t *testing.T, f func(*office)) {
	o := &office{t: t, now: noon}
	o.book = ledgertest.Open(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"), ledger.Options{Now: func() time.Time { return o.now }})
	f(o)
}

func (o *office) post(routes ...alert.Route) *alert.Post {
	for i := range routes {
		if routes[i].Digest == 0 {
			routes[i].Digest = -1
		}
	}
	return &alert.Post{Book: o.book, Routes: routes, Accounts: []string{"shop"}, Now: func() time.Time { return o.now }, Log: slog.New(slog.NewTextHandler(&o.log, nil))}
}

func (o *office) tick(p *alert.Post) {
	o.t.Helper()
	if err := p.Tick(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
}

func gap(id string, kind models.GapKind) models.Gap {
	return models.Gap{ID: id, Account: "shop", Date: "2026-11-29", Kind: kind, EntryKind: models.Payment, TransactionID: "t" + id, OrderID: "o" + id, State: models.GapOpen,
		Statement: &models.Side{Amount: "9.00", Currency: "CNY", Status: "succeeded"}}
}

// run saves a run of account shop with these gaps.
func (o *office) run(gaps ...models.Gap) {
	o.t.Helper()
	o.now = o.now.Add(time.Minute)
	turn, err := o.book.Turn(o.t.Context(), "shop")
	if err != nil {
		o.t.Fatal(err)
	}
	run := &models.Run{Account: "shop", Provider: "generic", Date: "2026-11-29", TimeZone: "UTC", CreatedAt: o.now}
	_, err = o.book.SaveRun(o.t.Context(), run, ledger.Findings{Turn: turn, Gaps: gaps}, func(r *models.Run, s ledger.Saved) error {
		r.Result, r.Fingerprint, r.Report = models.Balanced, o.now.String(), "{}"
		if len(s.Gaps) > 0 {
			r.Result = models.Gapped
		}
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

// A gap is told once and not once a run; what is new of a run is one message with its counts and the first ten; and quiet means quiet.
func TestOncePerGap(t *testing.T) {
	eachOffice(t, func(o *office) {
		ops, all, fees := &inbox{}, &inbox{}, &inbox{}
		p := o.post(alert.Route{Name: "ops", Sink: ops}, alert.Route{Name: "all", Sink: all, Balanced: true, Lang: "zh"},
			alert.Route{Name: "fees", Sink: fees, Kinds: []models.GapKind{models.GapFee}}, alert.Route{Name: "other", Sink: &inbox{away: errors.New("not asked for")}, Accounts: []string{"other"}})
		var many []models.Gap
		for i := range 12 {
			many = append(many, gap(fmt.Sprintf("a%02d", i), models.GapMissingLocal))
		}
		many = append(many, gap("b0", models.GapFee))
		o.run(many...)
		o.tick(p)
		o.tick(p)
		if len(ops.got) != 1 || ops.got[0].Title != "shop, 2026-11-29: 13 new gaps" || len(ops.got[0].Gaps) != 10 || ops.got[0].Counts[0] != (alert.Count{Kind: "missing_local", N: 12}) || ops.got[0].RunID == "" {
			t.Errorf("%+v", ops.got)
		}
		if text := strings.Join(ops.got[0].Lines, "\n"); !strings.Contains(text, "missing_local ta00 / oa00: 9.00 CNY ≠ –  → app gaps show a00") || !strings.Contains(text, "and 3 more: app gaps list --account shop --date 2026-11-29") {
			t.Errorf("%s", text)
		}
		if got := fees.titles(); !slices.Equal(got, []string{"shop, 2026-11-29: 1 new gap"}) {
			t.Errorf("fees: %q", got)
		}
		if got := all.titles(); !slices.Equal(got, []string{"shop 2026-11-29：新增差异 13 处"}) {
			t.Errorf("all: %q", got)
		}
		ops.titles()
		o.run(append(many, gap("c0", models.GapStatus))...)
		o.tick(p)
		if got := ops.titles(); !slices.Equal(got, []string{"shop, 2026-11-29: 1 new gap"}) {
			t.Errorf("the second run: %q", got)
		}
		all.titles()
		o.run()
		o.tick(p)
		if got, zh := ops.titles(), all.titles(); len(got) != 0 || !slices.Equal(zh, []string{"shop 2026-11-29：平账"}) {
			t.Errorf("balanced: %q, %q", got, zh)
		}
	})
}

// A sink that is away is tried again, later and later, while the others are told and nothing is lost; it is given up after three days.
func TestSinkIsAway(t *testing.T) {
	oneOffice(t, func(o *office) {
		ops, down := &inbox{}, &inbox{away: errors.New("down answers 503")}
		p := o.post(alert.Route{Name: "down", Sink: down}, alert.Route{Name: "ops", Sink: ops})
		o.run(gap("a0", models.GapFee))
		o.run(gap("a0", models.GapFee), gap("a1", models.GapFee))
		o.tick(p)
		if len(ops.titles()) != 1 || down.hits != 1 {
			t.Fatalf("%d tries", down.hits)
		}
		o.tick(p)
		if down.hits != 1 {
			t.Errorf("tried again at once")
		}
		o.now = o.now.Add(30 * time.Second)
		o.tick(p)
		o.now = o.now.Add(30 * time.Second)
		o.tick(p)
		if down.hits != 2 {
			t.Errorf("%d tries within a minute, want 2", down.hits)
		}
		down.away = nil
		o.now = o.now.Add(time.Hour)
		o.tick(p)
		if got := down.titles(); !slices.Equal(got, []string{"shop, 2026-11-29: 2 new gaps"}) {
			t.Errorf("back again: %q", got)
		}
		down.away = errors.New("gone for good")
		o.run(gap("a2", models.GapFee))
		for range 100 {
			o.now = o.now.Add(time.Hour)
			o.tick(p)
		}
		hits := down.hits
		if o.now = o.now.Add(24 * time.Hour); down.hits > 90 {
			t.Errorf("%d tries in 100 hours", hits)
		}
		if o.tick(p); down.hits != hits || !strings.Contains(o.log.String(), "alert given up") {
			t.Errorf("not given up: %s", o.log.String())
		}
	})
}

// Several replicas at once tell once.
func TestReplicasTellOnce(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		o := &office{t: t, now: noon}
		options := ledger.Options{Now: func() time.Time { return noon.Add(time.Hour) }}
		o.book = ledgertest.Open(t, dsn, options)
		for i := range 5 {
			o.run(gap(fmt.Sprint("a", i), models.GapFee))
		}
		ops := &inbox{}
		var telling sync.WaitGroup
		for range 3 {
			p := o.post(alert.Route{Name: "ops", Sink: ops})
			p.Book, p.Now = ledgertest.Open(t, dsn, options), options.Now
			telling.Go(func() {
				if err := errors.Join(p.Tick(t.Context()), p.Say(t.Context(), alert.Trouble{Kind: alert.LateDay, Account: "shop", Date: "2026-11-28"}), p.Tick(t.Context())); err != nil {
					t.Error(err)
				}
			})
		}
		telling.Wait()
		got := ops.titles()
		slices.Sort(got)
		if !slices.Equal(got, []string{"shop, 2026-11-29: 1 new gap", "shop: the statement of 2026-11-28 is not here, it was due by 0001-01-01 00:00 UTC"}) {
			t.Errorf("%q", got)
		}
	})
}

// What is the matter is told when it begins and when it is over, in the log too; a secret of a problem's text is none of ours to find.
func TestTrouble(t *testing.T) {
	oneOffice(t, func(o *office) {
		ops := &inbox{}
		p := o.post(alert.Route{Name: "ops", Sink: ops})
		say := func(over bool) {
			t.Helper()
			err := p.Say(t.Context(), alert.Trouble{Kind: alert.LateDay, Account: "shop", Date: "2026-11-29", By: noon, Zone: time.FixedZone("CST", 8*3600), Over: over, Problem: "sftp a@b: no file"})
			if err != nil {
				t.Fatal(err)
			}
			o.tick(p)
		}
		say(true)
		say(false)
		say(false)
		if len(ops.got) != 1 || ops.got[0].Kind != alert.LateDay || !strings.Contains(strings.Join(ops.got[0].Lines, "\n"), "last try: sftp a@b: no file") {
			t.Errorf("%+v", ops.got)
		}
		if got := ops.titles(); !slices.Equal(got, []string{"shop: the statement of 2026-11-29 is not here, it was due by 2026-11-30 12:00 CST"}) {
			t.Errorf("%q", got)
		}
		say(true)
		say(true)
		if len(ops.got) != 1 || ops.got[0].Kind != alert.Recovered || ops.got[0].Title != "shop: the statement of 2026-11-29 has come" || ops.got[0].Lines == nil {
			t.Errorf("%+v", ops.got)
		}
		if n := strings.Count(o.log.String(), "the statement of"); n != 2 {
			t.Errorf("%d lines in the log: %s", n, o.log.String())
		}
	})
}

// Silence is an alarm only while orders wait: a quiet night is none, a callback ends it, and so does the end of waiting.
func TestSilence(t *testing.T) {
	eachOffice(t, func(o *office) {
		ops := &inbox{}
		p := o.post(alert.Route{Name: "ops", Sink: ops})
		listen := func(after time.Duration) string {
			t.Helper()
			o.now = o.now.Add(after)
			if err := p.Listen(t.Context(), []alert.Watch{{Account: "shop", After: 30 * time.Minute, Orders: 2}}); err != nil {
				t.Fatal(err)
			}
			o.tick(p)
			return strings.Join(ops.titles(), "|")
		}
		heard := func() {
			t.Helper()
			if err := o.book.Heard(t.Context(), map[string]time.Time{"shop": o.now}); err != nil {
				t.Fatal(err)
			}
		}
		if got := listen(8 * time.Hour); got != "" {
			t.Errorf("a quiet night: %q", got)
		}
		heard()
		ledgertest.Order(t, o.book, "O1", "1.00", "CNY")
		if got := listen(40 * time.Minute); got != "" {
			t.Errorf("one order that nobody pays: %q", got)
		}
		ledgertest.Order(t, o.book, "O2", "1.00", "CNY")
		if got := listen(29 * time.Minute); got != "" {
			t.Errorf("not long enough: %q", got)
		}
		if got := listen(time.Minute); got != "shop: no callback for 30m while orders wait (2 or more)" {
			t.Errorf("silent: %q", got)
		}
		if got := listen(time.Minute); got != "" {
			t.Errorf("told again: %q", got)
		}
		heard()
		if got := listen(time.Minute); got != "shop: callbacks come again, or no order waits any more" {
			t.Errorf("over: %q", got)
		}
		if got := listen(20 * time.Hour); got != "" {
			t.Errorf("the old orders still: %q", got)
		}
	})
}

// The digest comes once a day at its hour, where it is that hour; and is quiet when there is nothing, unless asked.
func TestDigest(t *testing.T) {
	shanghai := time.FixedZone("CST", 8*3600)
	oneOffice(t, func(o *office) {
		ops, asked := &inbox{}, &inbox{}
		p := o.post(alert.Route{Name: "ops", Sink: ops, Digest: 9 * time.Hour, Zone: shanghai}, alert.Route{Name: "asked", Sink: asked, Digest: 9 * time.Hour, Zone: shanghai, Balanced: true, Min: 99})
		day := func(d, hour int) (string, string) {
			t.Helper()
			o.now = time.Date(2026, 12, d, hour, 0, 0, 0, shanghai)
			o.tick(p)
			return strings.Join(ops.titles(), "|"), strings.Join(asked.titles(), "|")
		}
		if a, b := day(1, 8); a+b != "" {
			t.Errorf("before its hour: %q, %q", a, b)
		}
		if a, b := day(1, 9); a != "" || b != "2026-12-01: no open gaps" {
			t.Errorf("nothing: %q, %q", a, b)
		}
		o.run(gap("a0", models.GapFee), gap("a1", models.GapFee))
		if a, b := day(1, 11); a != "shop, 2026-11-29: 2 new gaps" || b != "" {
			t.Errorf("the same day: %q, %q", a, b)
		}
		o.now = time.Date(2026, 12, 2, 10, 0, 0, 0, shanghai)
		o.tick(p)
		if len(ops.got) != 1 || ops.got[0].Title != "2026-12-02: 2 open gaps" || !slices.Equal(ops.got[0].Lines, []string{"fee_mismatch: 2 (within a day 0, within a week 2, older 0)", "shop: last run 2026-11-29, gaps"}) {
			t.Errorf("%+v", ops.got)
		}
		ops.titles()
		asked.titles()
		if a, b := day(2, 12); a+b != "" {
			t.Errorf("told twice: %q, %q", a, b)
		}
		if a, b := day(3, 22); a+b != "" {
			t.Errorf("too late for it: %q, %q", a, b)
		}
	})
}

// What is left of a sink that is configured no more is ended, and a new sink is not told what was long ago.
func TestSinksComeAndGo(t *testing.T) {
	oneOffice(t, func(o *office) {
		down, fresh := &inbox{away: errors.New("away")}, &inbox{}
		o.run(gap("a0", models.GapFee))
		o.tick(o.post(alert.Route{Name: "down", Sink: down}))
		o.now = o.now.Add(25 * time.Hour)
		p := o.post(alert.Route{Name: "fresh", Sink: fresh})
		o.tick(p)
		o.tick(p)
		if got := fresh.titles(); len(got) != 0 {
			t.Errorf("%q", got)
		}
		if _, ok, err := o.book.NextAlert(t.Context(), func(int64) time.Duration { return 0 }); ok || err != nil {
			t.Errorf("still waiting: %v", err)
		}
	})
}

// What some will never get is told to the others once, and not again with every try.
func TestPartlyDelivered(t *testing.T) {
	eachOffice(t, func(o *office) {
		ops := &inbox{away: fmt.Errorf("mail server: %w", &alert.PartlyError{Err: errors.New("it refuses nobody@example.com")})}
		p := o.post(alert.Route{Name: "ops", Sink: ops})
		o.run(gap("a1", models.GapFee))
		o.tick(p)
		o.now = o.now.Add(2 * time.Hour)
		o.tick(p)
		if log := o.log.String(); ops.hits != 1 || strings.Count(log, "not to all") != 1 || !strings.Contains(log, "nobody@example.com") {
			t.Errorf("told %d times\n%s", ops.hits, log)
		}
	})
}
