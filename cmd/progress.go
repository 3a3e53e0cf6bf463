package cmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// How often progress is told: on a terminal, where one line is written over, and elsewhere, where each stays.
const (
	progressOnTerminal = 200 * time.Millisecond
	progressElsewhere  = 10 * time.Second
)

// progress tells on standard error how far a long work has come. Short work says nothing.
type progress struct {
	out      io.Writer // nil: nobody listens
	terminal bool
	name     string // what is being read
	lang     lang.Language
	clock    func() time.Time
	began    time.Time
	last     time.Time
	shown    bool
}

func (a *app) progress(name string) *progress {
	p := &progress{out: a.err, terminal: isTerminal(a.err), name: name, lang: a.language(), clock: time.Now}
	if a.quiet {
		p.out = nil
	}
	p.began = p.clock()
	p.last = p.began
	return p
}

// tick takes how far the work is by now.
func (p *progress) tick(now reconcile.Progress) {
	if p.out == nil {
		return
	}
	every := progressElsewhere
	if p.terminal {
		every = progressOnTerminal
	}
	at := p.clock()
	read := now.Total > 0 && now.Done == now.Total
	if at.Sub(p.last) < every && !(read && p.shown) {
		return
	}
	p.last, p.shown = at, true
	if p.terminal {
		fmt.Fprintf(p.out, "\r%s\x1b[K", p.line(now, at))
	} else {
		fmt.Fprintln(p.out, p.line(now, at))
	}
}

// done wipes the line off a terminal.
func (p *progress) done() {
	if p.shown && p.terminal {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.shown = false
}

// line says the rows, how many a second, and where the end is known how much is done and how long the rest will take.
func (p *progress) line(now reconcile.Progress, at time.Time) string {
	spent := at.Sub(p.began)
	parts := []string{p.lang.Text("%s: %s rows", p.name, grouped(now.Rows))}
	if ms := spent.Milliseconds(); ms > 0 {
		parts = append(parts, p.lang.Text("%s a second", grouped(now.Rows*1000/ms)))
	}
	switch {
	case now.Total > 0 && now.Done >= now.Total:
		parts = append(parts, p.lang.Text("all read, settling what is left"))
	case now.Total > 0 && now.Done > 0:
		done := now.Done
		left := time.Duration(float64(spent) * float64(now.Total-done) / float64(done))
		parts = append(parts, fmt.Sprintf("%d %%", done*100/now.Total), p.lang.Text("%s left", left.Round(time.Second)))
	}
	return strings.Join(parts, p.lang.Text(", "))
}

// grouped is a number with its thousands apart: 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
