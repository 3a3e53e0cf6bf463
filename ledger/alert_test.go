package ledger_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

func minute(int64) time.Duration { return time.Minute }

// A message is kept once, delivered by one of many, tried again only when its time has come, and never after it was told.
func TestAlertsAreToldOnce(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	var ahead atomic.Int64
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		ahead.Store(0)
		o := ledger.Options{Now: func() time.Time { return at.Add(time.Duration(ahead.Load())) }}
		books := []*ledger.Ledger{ledgertest.Open(t, dsn, o), ledgertest.Open(t, dsn, o)}
		for range 2 {
			if err := books[0].Tell(t.Context(), ledger.AlertMessage{Sink: "ops", Key: "run/1", Body: "{}"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := books[0].Tell(t.Context(), ledger.AlertMessage{Sink: "ops", Key: "run/2"}); err != nil {
			t.Fatal(err)
		}
		claim := func() int64 {
			var got atomic.Int64
			inParallel(8, func(i int) {
				switch m, ok, err := books[i%2].NextAlert(t.Context(), minute); {
				case err != nil:
					t.Error(err)
				case ok && (m.Key != "run/1" || m.Sink != "ops" || m.Body != "{}" || !m.Made.Equal(at)):
					t.Errorf("claimed %+v", m)
				case ok:
					got.Add(1)
				}
			})
			return got.Load()
		}
		if n := claim(); n != 1 {
			t.Errorf("claimed by %d at once", n)
		}
		if n := claim(); n != 0 {
			t.Errorf("claimed by %d before its time", n)
		}
		ahead.Store(int64(time.Minute))
		if n := claim(); n != 1 {
			t.Errorf("claimed by %d when its time had come", n)
		}
		if err := books[1].AlertTold(t.Context(), ledger.AlertMessage{Sink: "ops", Key: "run/1"}, ""); err != nil {
			t.Fatal(err)
		}
		ahead.Store(int64(time.Hour))
		if n := claim(); n != 0 {
			t.Errorf("claimed by %d after it was told", n)
		}
		var state, body string
		if err := openSQL(t, dsn).QueryRow("SELECT state, body FROM alerts WHERE key = 'run/1'").Scan(&state, &body); err != nil || state != "told" || body != "" {
			t.Errorf("%q, %q, %v", state, body, err)
		}
	})
}

// What is the matter is told when it begins and when it is over, each time once, and never that something is over which never was.
func TestAlarmIsToldOncePerOccurrence(t *testing.T) {
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		var told []string
		for i, on := range []bool{false, true, true, false, false, true} {
			changed, err := book.Alarm(t.Context(), "late/shop/2026-11-29", on, []ledger.AlertMessage{{Sink: "ops", Body: fmt.Sprint(on)}})
			if err != nil {
				t.Fatal(err)
			}
			if changed {
				told = append(told, fmt.Sprint(i))
			}
		}
		if !slices.Equal(told, []string{"1", "3", "5"}) {
			t.Errorf("news at %v", told)
		}
		for i, body := range []string{"true", "false", "true"} {
			m, ok, err := book.NextAlert(t.Context(), minute)
			if want := fmt.Sprintf("late/shop/2026-11-29/%d", i+1); err != nil || !ok || m.Key != want || m.Body != body {
				t.Errorf("message %d: %+v, %v", i, m, err)
			}
		}
		if _, ok, err := book.NextAlert(t.Context(), minute); ok || err != nil {
			t.Errorf("a message more: %v", err)
		}
	})
}

func saveGaps(t *testing.T, book *ledger.Ledger, at time.Time, gaps ...models.Gap) models.Run {
	t.Helper()
	run := &models.Run{Account: "shop", Provider: "generic", Date: "2026-11-29", TimeZone: "UTC", CreatedAt: at}
	turn, err := book.Turn(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	_, err = book.SaveRun(t.Context(), run, ledger.Findings{Turn: turn, Gaps: gaps}, func(r *models.Run, s ledger.Saved) error {
		r.Result, r.Fingerprint, r.Report = models.Gapped, fmt.Sprint(at.UnixNano()), "{}"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return *run
}

// A gap is news to a sink once; not with every run, not when it only looks different; but again when it was opened again and looks different.
func TestAGapIsNewsOnce(t *testing.T) {
	at := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	clock := at
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		clock = at
		gap := func(id, amount string) models.Gap {
			return models.Gap{ID: id, Account: "shop", Date: "2026-11-29", Kind: models.GapMissingLocal, EntryKind: models.Payment, TransactionID: id,
				State: models.GapOpen, Statement: &models.Side{Amount: amount, Currency: "CNY", Status: "succeeded"}}
		}
		news := func(amounts ...string) (ids []string) {
			clock = clock.Add(time.Minute)
			var gaps []models.Gap
			for i, amount := range amounts {
				gaps = append(gaps, gap(fmt.Sprintf("a%d", i), amount))
			}
			run := saveGaps(t, book, clock, gaps...)
			seen := map[string]string{}
			err := book.NewsOfRun(t.Context(), "ops", run, func(g *models.Gap) string { return g.Statement.Amount }, func(g *models.Gap, looks string) {
				ids, seen[g.ID] = append(ids, g.ID), looks
			})
			if err != nil {
				t.Fatal(err)
			}
			if untold, err := book.UntoldRuns(t.Context(), "ops", at); err != nil || len(untold) != 1 || untold[0].ID != run.ID || untold[0].Account != "shop" {
				t.Errorf("untold %v, %v", untold, err)
			}
			if err := book.TellOfGaps(t.Context(), ledger.AlertMessage{Sink: "ops", Key: "run/" + run.ID, Body: "{}"}, seen); err != nil {
				t.Fatal(err)
			}
			return ids
		}
		if got := news("1.00", "2.00"); !slices.Equal(got, []string{"a0", "a1"}) {
			t.Errorf("first run: %v", got)
		}
		if got := news("1.00", "2.50", "3.00"); !slices.Equal(got, []string{"a2"}) {
			t.Errorf("second run: %v", got)
		}
		if _, err := book.ResolveGap(t.Context(), "a0", "done"); err != nil {
			t.Fatal(err)
		}
		if got := news("1.00", "2.50", "3.00"); len(got) != 0 {
			t.Errorf("third run: %v", got)
		}
		if got := news("1.75", "2.50", "3.00"); len(got) > 1 || len(got) == 1 && got[0] != "a0" {
			t.Errorf("fourth run: %v", got)
		}
	}, ledger.Options{Now: func() time.Time { return clock }})
}

// Orders wait that are unpaid, or were until a moment ago; those that are paid, too new or too old do not.
func TestCountWaiting(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	clock := now
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for i, age := range []time.Duration{10 * time.Minute, 40 * time.Minute, 50 * time.Minute, 5 * time.Hour} {
			clock = now.Add(-age)
			ledgertest.Order(t, book, fmt.Sprint("O", i), "1.00", "CNY")
		}
		clock = now.Add(-time.Minute)
		if _, err := book.Act(t.Context(), ledger.Act{OrderID: "O2", On: models.OrderCancel}); err != nil {
			t.Fatal(err)
		}
		count := func(since time.Duration, limit int) int {
			n, err := book.CountWaiting(t.Context(), now.Add(-since), now.Add(-30*time.Minute), now.Add(-30*time.Minute), limit)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if all, two, fresh, bounded := count(24*time.Hour, 9), count(time.Hour, 9), count(45*time.Minute, 9), count(24*time.Hour, 1); all != 3 || two != 2 || fresh != 1 || bounded != 1 {
			t.Errorf("%d, %d, %d, %d", all, two, fresh, bounded)
		}
		for _, at := range []time.Time{now, now.Add(-time.Hour)} {
			if err := book.Heard(t.Context(), map[string]time.Time{"shop": at}); err != nil {
				t.Fatal(err)
			}
		}
		if at, err := book.LastHeard(t.Context(), "shop"); err != nil || !at.Equal(now) {
			t.Errorf("heard %v, %v", at, err)
		}
		if at, err := book.LastHeard(t.Context(), "other"); err != nil || !at.IsZero() {
			t.Errorf("never heard %v, %v", at, err)
		}
	}, ledger.Options{Now: func() time.Time { return clock }})
}

func TestCountGaps(t *testing.T) {
	now := time.Date(2026, 11, 30, 2, 0, 0, 0, time.UTC)
	ledgertest.Each(t, func(t *testing.T, book *ledger.Ledger) {
		for i, age := range []time.Duration{time.Hour, 48 * time.Hour, 30 * 24 * time.Hour} {
			var gaps []models.Gap
			for j := range i + 1 {
				gaps = append(gaps, models.Gap{ID: fmt.Sprint("a", j), Account: "shop", Date: "2026-11-29", Kind: models.GapMissingLocal, EntryKind: models.Payment, State: models.GapOpen})
			}
			saveGaps(t, book, now.Add(-age), gaps...)
		}
		list, err := book.CountGaps(t.Context(), now, "2026-11-30")
		if err != nil || len(list) != 1 || list[0].Day+list[0].Week+list[0].Older != 3 || list[0].Older != 1 || list[0].Week != 1 || list[0].State != models.GapOpen {
			t.Errorf("%+v, %v", list, err)
		}
		run, err := book.LastRunOf(t.Context(), "shop")
		if err != nil || run.Date != "2026-11-29" || run.Result != models.Gapped {
			t.Errorf("%+v, %v", run, err)
		}
	})
}
