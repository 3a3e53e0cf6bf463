package parse

import "time"

// usualTime reads the two spellings that nearly all statements have, at a third of what package time takes for any: a plain local time
// where no layouts are given, and RFC 3339 where it is the first of them. Whatever is not exactly so is left to package time.
func usualTime(text string, zone *time.Location, layouts []string) (at time.Time, ok bool) {
	const local = len("2006-01-02 15:04:05")
	if len(text) < local {
		return at, false
	}
	c, ok := readClock(text)
	switch {
	case !ok:
		return at, false
	case len(layouts) == 0:
		if len(text) != local || text[10] != ' ' {
			return at, false
		}
		return c.in(zone).UTC(), true
	case layouts[0] != time.RFC3339 || text[10] != 'T':
		return at, false
	}
	offset, ok := readOffset(text[local:])
	return c.in(time.UTC).Add(-offset), ok
}

// clock is a time of some day, in no zone.
type clock struct{ year, month, day, hour, minute, second int }

func (c clock) in(zone *time.Location) time.Time {
	return time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, 0, zone)
}

// readClock reads YYYY-MM-DD?HH:MM:SS, and checks that there is such a day.
func readClock(text string) (c clock, ok bool) {
	if text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' {
		return c, false
	}
	century, year := twoDigits(text[0:]), twoDigits(text[2:])
	c = clock{century*100 + year, twoDigits(text[5:]), twoDigits(text[8:]), twoDigits(text[11:]), twoDigits(text[14:]), twoDigits(text[17:])}
	ok = century >= 0 && year >= 0 && c.year > yearMin && c.year < yearMax && c.month >= 1 && c.month <= 12 && c.day >= 1 &&
		c.hour >= 0 && c.hour < 24 && c.minute >= 0 && c.minute < 60 && c.second >= 0 && c.second < 60
	return c, ok && (c.day <= 28 || c.day <= daysIn(c.year, c.month))
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// readOffset reads Z or ±HH:MM.
func readOffset(text string) (offset time.Duration, ok bool) {
	if text == "Z" {
		return 0, true
	}
	if len(text) != len("+08:00") || text[3] != ':' || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	hours, minutes := twoDigits(text[1:]), twoDigits(text[4:])
	if hours < 0 || hours > 14 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset = time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// twoDigits is the number that text begins with, or a negative one.
func twoDigits(text string) int {
	tens, ones := int(text[0])-'0', int(text[1])-'0'
	if tens < 0 || tens > 9 || ones < 0 || ones > 9 {
		return -1000
	}
	return tens*10 + ones
}
