package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// TestProgress: short work says nothing; long work has one line on a terminal, wiped off at the end, and a line every ten seconds elsewhere.
func TestProgress(t *testing.T) {
	const every = 50 * time.Millisecond
	told := func(terminal, quiet bool, l lang.Language, whole time.Duration) string {
		var out bytes.Buffer
		now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
		p := &progress{out: &out, terminal: terminal, name: "shop", lang: l, clock: func() time.Time { return now }, began: now, last: now}
		if quiet {
			p.out = nil
		}
		const total = 1_000_000_000
		steps := int64(whole / every)
		for i := range steps {
			now = now.Add(every)
			p.tick(reconcile.Progress{Rows: (i + 1) * 10_000, Done: total / steps * (i + 1), Total: total})
		}
		p.done()
		return out.String()
	}
	if got := told(true, false, lang.English, 150*time.Millisecond) + told(false, false, lang.English, 9*time.Second) + told(true, true, lang.English, time.Minute); got != "" {
		t.Errorf("short or quiet work says %q", got)
	}
	plain := told(false, false, lang.English, 40*time.Second)
	if want := "shop: 2,000,000 rows, 200,000 a second, 25 %, 30s left\n" + "shop: 4,000,000 rows, 200,000 a second, 50 %, 20s left\n"; !strings.HasPrefix(plain, want) ||
		strings.Count(plain, "\n") != 4 || strings.ContainsAny(plain, "\r\x1b") {
		t.Errorf("elsewhere it says %q", plain)
	}
	screen := told(true, false, lang.English, time.Second)
	if !strings.HasPrefix(screen, "\rshop: 40,000 rows, 200,000 a second, 20 %, 1s left\x1b[K\r") || !strings.HasSuffix(screen, "\r\x1b[K") || strings.Contains(screen, "\n") {
		t.Errorf("on a terminal it says %q", screen)
	}
	if got := told(false, false, lang.Chinese, 10*time.Second); got != "shop：2,000,000 行，每秒 200,000 行，已读完，正在处理余下部分\n" {
		t.Errorf("in Chinese it says %q", got)
	}
	var out bytes.Buffer
	now := time.Now()
	p := &progress{out: &out, name: "import", clock: func() time.Time { return now }, began: now.Add(-time.Minute), last: now.Add(-time.Minute)}
	if p.tick(reconcile.Progress{Rows: 1}); out.String() != "import: 1 rows, 0 a second\n" {
		t.Errorf("without an end in sight it says %q", out.String())
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -123: "-123"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %s, want %s", n, got, want)
		}
	}
}
