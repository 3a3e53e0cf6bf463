package reconcile_test

import (
	"testing"
	"time"

	"paybook/reconcile"
)

// When a statement is to be there, for days that begin the evening before, in the morning, and where the clock is changed.
func TestDue(t *testing.T) {
	for _, c := range []struct {
		day, zone string
		cut, at   time.Duration
		want      string
	}{
		{"2026-11-29", "Asia/Shanghai", 0, 10 * time.Hour, "2026-11-30T02:00:00Z"},
		{"2026-11-29", "Asia/Shanghai", -time.Hour, 9 * time.Hour, "2026-11-30T01:00:00Z"},                 // ends at 23:00 of the 29th
		{"2026-11-29", "Asia/Shanghai", -time.Hour, 23*time.Hour + 30*time.Minute, "2026-11-29T15:30:00Z"}, // half an hour later
		{"2026-11-29", "Asia/Shanghai", 11 * time.Hour, 10 * time.Hour, "2026-12-01T02:00:00Z"},            // ends at 11:00 of the 30th
		{"2026-11-29", "Asia/Shanghai", 0, 0, "2026-11-29T16:00:00Z"},                                      // at once
		{"2026-03-07", "America/New_York", 0, 2*time.Hour + 30*time.Minute, "2026-03-08T07:00:00Z"},        // 02:30 of the 8th does not exist
		{"2026-10-31", "America/New_York", 0, 90 * time.Minute, "2026-11-01T05:30:00Z"},                    // 01:30 of the 1st is twice
		{"2026-11-30", "Pacific/Kiritimati", 0, 12 * time.Hour, "2026-11-30T22:00:00Z"},                    // 14 hours ahead
		{"2026-02-28", "Etc/UTC", 0, 12 * time.Hour, "2026-03-01T12:00:00Z"},                               // a month's end
	} {
		day, err := reconcile.ParseDay(c.day)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if got := day.Due(zone, c.cut, c.at).Format(time.RFC3339); got != c.want {
			t.Errorf("%s %s, cut %v, at %v: due %s, want %s", c.day, c.zone, c.cut, c.at, got, c.want)
		}
	}
}

func TestFill(t *testing.T) {
	day, err := reconcile.ParseDay("2026-11-09")
	if got := day.Fill("{date}/{yyyymmdd}-{yymmdd}.csv"); err != nil || got != "2026-11-09/20261109-261109.csv" || !day.Date().Equal(time.Date(2026, 11, 9, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%s, %v", got, err)
	}
}
