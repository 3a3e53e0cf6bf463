package parse_test

import (
	"strings"
	"testing"
	"time"

	"paybook/callback/parse"
)

// Years that no payment has, in every spelling that a layout allows.
func TestLocalTimeRefusesFarYears(t *testing.T) {
	west := time.FixedZone("west", -3600)
	for _, c := range []struct{ text, layout string }{
		{"1969-12-31 23:59:59", ""}, {"0001-01-01 00:00:00", ""}, {"0026-11-29 10:00", ""},
		{"9999-12-31T23:30:00-01:00", time.RFC3339}, {"0000-01-01T00:00:00Z", time.RFC3339}, {"01.01.1900", "02.01.2006"},
	} {
		var layouts []string
		if c.layout != "" {
			layouts = []string{c.layout}
		}
		if at, err := parse.LocalTime(c.text, time.UTC, layouts...); err == nil || !strings.Contains(err.Error(), "1970 to 9999") {
			t.Errorf("%s = %s, %v; want it refused", c.text, at, err)
		}
	}
	for _, text := range []string{"1970-01-01 00:00:00", "9999-12-31 22:59:59"} {
		if _, err := parse.LocalTime(text, west); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A user is told how to write a time in words, not in Go's layouts.
func TestLocalTimeSpeaksWords(t *testing.T) {
	for layout, want := range map[string]string{
		"":                        "YYYY-MM-DD HH:MM:SS",
		"02.01.2006 15:04":        "DD.MM.YYYY HH:MM",
		time.RFC3339:              "YYYY-MM-DDTHH:MM:SS+HH:MM",
		"1/2/06 3:04 PM":          "M/D/YY H:MM AM/PM",
		"2006-01-02 15:04:05.000": "YYYY-MM-DD HH:MM:SS.fraction",
		"20060102150405":          "YYYYMMDDHHMMSS",
		"_2 Jan 2006":             "D MMM YYYY",
	} {
		var layouts []string
		if layout != "" {
			layouts = []string{layout}
		}
		if _, err := parse.LocalTime("yesterday", time.UTC, layouts...); err == nil || !strings.HasSuffix(err.Error(), "expected "+want) {
			t.Errorf("%s: %v, want it to end in %q", layout, err, want)
		}
	}
}

func TestFileCutInItsHeaderLine(t *testing.T) {
	for _, text := range []string{"a", "a,", "a,b", "title\na,b"} {
		o := parse.TableOptions{SkipLines: strings.Count(text, "\n")}
		if _, err := parse.NewTable("f.csv", strings.NewReader(text), o); err == nil || !strings.Contains(err.Error(), "ends in its header line") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := parse.NewTable("f.csv", strings.NewReader(text+"\n"), o); err != nil {
			t.Errorf("%q with a line end: %v", text, err)
		}
	}
}
