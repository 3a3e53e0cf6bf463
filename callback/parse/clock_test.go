package parse

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestUsualTimeIsTheSame: the short way reads nothing that package time does not read the same way.
func TestUsualTimeIsTheSame(t *testing.T) {
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin") // with hours that are skipped and hours that come twice
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	quick := 0
	for range 30_000 {
		text := randomTime(random)
		for _, zone := range []*time.Location{time.UTC, shanghai, berlin} {
			for _, layouts := range [][]string{nil, {time.RFC3339, "2006-01-02T15:04:05"}} {
				got, ok := usualTime(text, zone, layouts)
				if !ok {
					continue
				}
				quick++
				all := layouts
				if all == nil {
					all = localLayouts
				}
				want, err := time.ParseInLocation(all[0], text, zone)
				if err != nil || got != want.UTC() {
					t.Fatalf("%q in %s: %v, package time says %v, %v", text, zone, got, want.UTC(), err)
				}
			}
		}
	}
	if quick < 10_000 {
		t.Errorf("only %d times were read the short way", quick)
	}
}

// randomTime is a time, mostly a good one, in March or October mostly: there clocks are changed.
func randomTime(random *rand.Rand) string {
	n := func(least, most int) int { return least + random.IntN(most-least+1) }
	month := []int{3, 10, n(0, 13)}[n(0, 2)]
	text := fmt.Sprintf("%04d-%02d-%02d%c%02d:%02d:%02d", n(1969, 2040), month, n(0, 32), " T"[n(0, 1)], n(0, 24), n(0, 60), n(0, 60))
	if text[10] == 'T' {
		text += []string{"Z", "+08:00", "-03:30", "+14:59", "+15:00", "+00:60", "", ".5Z", "z"}[n(0, 8)]
	}
	if n(0, 20) == 0 {
		at := n(0, len(text)-1)
		text = text[:at] + string(rune(n(' ', '~'))) + text[at+1:]
	}
	return text
}
