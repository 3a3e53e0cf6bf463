package reconcile

import (
	"fmt"
	"time"
	_ "time/tzdata" // zones are found on a machine that has none installed
)

const dateLayout = "2006-01-02"

// Day is a civil date: a business day's name, without a zone. Days can be compared with ==.
type Day struct {
	year  int
	month time.Month
	day   int
}

// ParseDay reads YYYY-MM-DD.
func ParseDay(text string) (Day, error) {
	at, err := time.Parse(dateLayout, text)
	if err != nil {
		return Day{}, fmt.Errorf("%q is no date: expected YYYY-MM-DD", text)
	}
	return civil(at), nil
}

func civil(at time.Time) Day {
	y, m, d := at.Date()
	return Day{y, m, d}
}

// String is YYYY-MM-DD.
func (d Day) String() string { return d.format(dateLayout) }

func (d Day) format(layout string) string {
	return time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC).Format(layout)
}

// Add is the date n days later; n may be negative.
func (d Day) Add(n int) Day { return civil(time.Date(d.year, d.month, d.day+n, 0, 0, 0, 0, time.UTC)) }

// Before says whether d is earlier than o.
func (d Day) Before(o Day) bool { return d.String() < o.String() }

func (d Day) daysTo(o Day) int {
	from := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC)
	return int(time.Date(o.year, o.month, o.day, 0, 0, 0, 0, time.UTC).Sub(from) / (24 * time.Hour))
}

// Bounds is the business day, from ≤ t < to, in UTC. It begins cut after midnight of zone's clock (before it when cut is negative)
// and lasts until the next one begins: 23 or 25 hours where the clock is changed.
func (d Day) Bounds(zone *time.Location, cut time.Duration) (from, to time.Time) {
	return d.begin(zone, cut), d.Add(1).begin(zone, cut)
}

// begin is the first moment at which the zone's clock shows the time of the cut or, where the clock jumps over it, any later one.
func (d Day) begin(zone *time.Location, cut time.Duration) time.Time {
	wanted := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC).Add(cut)
	y, m, day := wanted.Date()
	at := time.Date(y, m, day, wanted.Hour(), wanted.Minute(), wanted.Second(), wanted.Nanosecond(), zone)
	from, to := at.ZoneBounds()
	switch shown := wall(at); {
	case shown.After(wanted): // skipped: the time of the jump
		return from.UTC()
	case shown.Before(wanted):
		return to.UTC()
	}
	if !from.IsZero() { // shown twice: the first
		_, offset := at.Zone()
		_, before := from.Add(-time.Second).Zone()
		if first := at.Add(time.Duration(offset-before) * time.Second); first.Before(from) && wall(first.In(zone)).Equal(wanted) {
			return first.UTC()
		}
	}
	return at.UTC()
}

// wall is what a clock in t's zone shows, as if it were UTC.
func wall(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// DayOf is the business day that a moment belongs to.
func DayOf(at time.Time, zone *time.Location, cut time.Duration) Day {
	d := civil(at.In(zone))
	for at.Before(d.begin(zone, cut)) {
		d = d.Add(-1)
	}
	for !at.Before(d.Add(1).begin(zone, cut)) {
		d = d.Add(1)
	}
	return d
}

// Yesterday is the business day before the one of now: the last whole one.
func Yesterday(now time.Time, zone *time.Location, cut time.Duration) Day {
	return DayOf(now, zone, cut).Add(-1)
}
