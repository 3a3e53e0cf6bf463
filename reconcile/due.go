package reconcile

import (
	"strings"
	"time"
)

// Due is when a day's statement is to be there: the first moment after the day has ended at which the zone's clock shows at, a time
// after midnight. Where the clock jumps over it, the jump. UTC.
func (d Day) Due(zone *time.Location, cut, at time.Duration) time.Time {
	_, ended := d.Bounds(zone, cut)
	return Next(ended, zone, at)
}

// Next is the first moment, not before from, at which the zone's clock shows at, a time after midnight. UTC.
func Next(from time.Time, zone *time.Location, at time.Duration) time.Time {
	for day := civil(from.In(zone)).Add(-1); ; day = day.Add(1) {
		if moment := day.begin(zone, at); !moment.Before(from) {
			return moment
		}
	}
}

// Date is the day as a time: midnight UTC of the civil date, whatever the zone.
func (d Day) Date() time.Time { return time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC) }

// Fill puts the day in the place of {date} (2026-11-29), {yyyymmdd} (20261129) and {yymmdd} (261129).
func (d Day) Fill(pattern string) string {
	return strings.NewReplacer("{date}", d.String(), "{yyyymmdd}", d.format("20060102"), "{yymmdd}", d.format("060102")).Replace(pattern)
}
