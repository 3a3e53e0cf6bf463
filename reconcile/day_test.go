package reconcile_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"paybook/reconcile"
)

func TestParseDay(t *testing.T) {
	for _, bad := range []string{"", "2026-11", "2026-13-01", "2026-02-30", "29.11.2026", "2026-11-29 ", "20261129"} {
		if d, err := reconcile.ParseDay(bad); err == nil {
			t.Errorf("ParseDay(%q) = %s, want an error", bad, d)
		}
	}
	d := day(t, "2028-02-28")
	if d.String() != "2028-02-28" || d.Add(1).String() != "2028-02-29" || d.Add(2).String() != "2028-03-01" || !d.Before(d.Add(1)) {
		t.Errorf("%s, the next %s, the one after %s", d, d.Add(1), d.Add(2))
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		zone, date string
		cut        time.Duration
		from       string
		hours      float64
	}{
		{"Asia/Shanghai", "2026-11-29", 0, "2026-11-28T16:00:00Z", 24},
		{"Asia/Shanghai", "2026-11-29", -time.Hour, "2026-11-28T15:00:00Z", 24}, // UnionPay's day begins the evening before
		{"America/New_York", "2026-03-08", 0, "2026-03-08T05:00:00Z", 23},
		{"America/New_York", "2026-11-01", 0, "2026-11-01T04:00:00Z", 25},
		{"America/New_York", "2026-03-08", 150 * time.Minute, "2026-03-08T07:00:00Z", 23.5}, // 02:30 does not exist that day
		{"America/Sao_Paulo", "2018-11-04", 0, "2018-11-04T03:00:00Z", 23},                  // midnight does not exist
		{"America/Havana", "2026-11-01", 0, "2026-11-01T04:00:00Z", 25},                     // midnight comes twice
		{"Pacific/Apia", "2011-12-31", 0, "2011-12-30T10:00:00Z", 24},                       // the day before was left out
		{"UTC", "2026-12-31", 0, "2026-12-31T00:00:00Z", 24},
	} {
		from, to := day(t, c.date).Bounds(mustZone(c.zone), c.cut)
		if got := from.Format(time.RFC3339); got != c.from || to.Sub(from).Hours() != c.hours {
			t.Errorf("%s %s: from %s, %v hours; want %s, %v", c.zone, c.date, got, to.Sub(from).Hours(), c.from, c.hours)
		}
		for _, at := range []time.Time{from, to.Add(-1)} {
			if got := reconcile.DayOf(at, mustZone(c.zone), c.cut); got.String() != c.date {
				t.Errorf("DayOf(%s in %s) = %s, want %s", at, c.zone, got, c.date)
			}
		}
	}
}

func TestYesterday(t *testing.T) {
	now := time.Date(2026, 11, 29, 15, 30, 0, 0, time.UTC) // 23:30 in Shanghai
	if got := reconcile.Yesterday(now, shanghai, 0); got.String() != "2026-11-28" {
		t.Errorf("Yesterday = %s, want 2026-11-28", got)
	}
	if got := reconcile.Yesterday(now, shanghai, -time.Hour); got.String() != "2026-11-29" {
		t.Errorf("with a cut at 23:00 Yesterday = %s, want 2026-11-29", got)
	}
}

// TestZoneOfTheMachine: the same result whatever TZ says. F40: 16:30 UTC is the next day in Shanghai.
func TestZoneOfTheMachine(t *testing.T) {
	if os.Getenv("PAYBOOK_TZ_CHILD") != "" {
		b := sqlite(t)
		paid(t, b, "p1 2026-11-29 00:30:00")
		wantRun(t, run(t, b, plainAccount(t), "2026-11-29", statement(t, "p1 2026-11-29 00:30:00")), "1 1")
		wantRun(t, run(t, b, plainAccount(t), "2026-11-28", statement(t)), "0 0")
		return
	}
	for _, zone := range []string{"UTC", "America/New_York", "Asia/Shanghai"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestZoneOfTheMachine$", "-test.v")
		cmd.Env = append(os.Environ(), "TZ="+zone, "PAYBOOK_TZ_CHILD=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("TZ=%s: %v\n%s", zone, err, out)
		}
	}
}

// TestOverMidnight: a payment of 23:59:59 whose callback came after midnight belongs to the day it was paid on. F39.
func TestOverMidnight(t *testing.T) {
	b := sqlite(t)
	paid(t, b, "p1 2026-11-28 23:59:59")
	wantRun(t, run(t, b, plainAccount(t), "2026-11-28", statement(t, "p1 2026-11-28 23:59:59")), "1 1")
	wantRun(t, run(t, b, plainAccount(t), "2026-11-29", statement(t)), "0 0")
}
