package cmd

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"paybook/models"
	"paybook/reconcile/lang"
)

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.a.out, format+"\n", args...) }

func (d *demo) printBanner() {
	d.say("%s  what the providers told us, and what their statements say", d.p.bold("Paybook"))
	d.say("%s", d.p.dim(fmt.Sprintf("server     %s, its clock set by the recordings", d.url)))
	d.say("%s", d.p.dim("database   "+d.database()))
}

// print shows an account's callbacks, one line each.
func (x *act) print(callbacks int) {
	shop := count(len(x.orders), "order")
	if x.seeds > 0 {
		shop += ", " + count(x.seeds, "older payment")
	}
	x.say("\n%s  %s", x.p.bold(x.account.Name), x.p.dim(shop+", "+count(callbacks, "callback")))
	t := newTable("", "callback", "says", "http", "became", "order")
	for _, l := range x.lines {
		t.AppendRow([]any{x.p.mark(l.got.OK), l.name, l.says(), l.got.Status, l.becameWord(x.p), l.orderWord(x.p)})
	}
	if err := printTable(x.a.out, t, ""); err != nil {
		return // the end of the program says that the result could not be written
	}
}

func (p paint) mark(ok bool) string {
	if ok {
		return p.good("✓")
	}
	return p.bad("✗")
}

func (l line) says() string {
	if l.got.Amount == "" {
		return l.got.Event
	}
	return l.got.Event + " " + l.got.Amount + " " + l.got.Currency
}

func (l line) becameWord(p paint) string {
	if l.early {
		return p.warn("parked") + ", " + p.good("then "+string(l.got.outcome))
	}
	return l.got.became(p)
}

// orderWord is the order and its state, with an arrow where it moved.
func (l line) orderWord(p paint) string {
	switch {
	case l.order == "":
		return ""
	case l.to == "":
		return p.dim(cell(l.order) + ": no such order")
	case l.from != l.to && l.early:
		return cell(l.order) + " created, then " + p.state(l.to)
	case l.from != l.to:
		return cell(l.order) + " " + string(l.from) + " → " + p.state(l.to)
	}
	return p.dim(cell(l.order) + " stays " + string(l.to))
}

func (d *demo) printSummary(took time.Duration) {
	var parts []string
	for _, o := range allOutcomes {
		if n := d.became[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(o), "_", " ")))
		}
	}
	if d.refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", d.refused))
	}
	d.say("\n%s  %s: %s", d.p.bold("In all"), count(d.callbacks, "callback"), strings.Join(parts, ", "))
	d.say("        %s compared: %d match, %s found", count(d.rows, "statement row"), d.matched, count(d.gaps, "gap"))
	if len(d.wrong) == 0 {
		d.say("        %s, in %.1f s", d.p.good("Everything came out as the recordings say"), took.Seconds())
		return
	}
	d.say("        %s, in %.1f s:", d.p.bad(count(len(d.wrong), "thing")+" came out otherwise than recorded"), took.Seconds())
	for _, w := range d.wrong {
		d.say("  %s", cell(w))
	}
}

func (d *demo) printServing() {
	d.say("\nServing %s until Ctrl-C. The book, for another terminal:", d.p.bold(d.url))
	d.say("  app orders list --database %s", d.database())
	d.say("  app reconcile bank --date 2026-11-30 --database %s --config %s", d.database(), filepath.Join(d.dir, "app.yaml"))
}

// gapColour is red for money that only one side knows of, yellow for what both sides see differently.
func (p paint) gap(kind models.GapKind) string { return p.kind(kind, lang.English) }

// kind is a kind of gap in a language.
func (p paint) kind(kind models.GapKind, l lang.Language) string {
	switch kind {
	case models.GapMissingLocal, models.GapMissingProvider:
		return p.bad(l.Word(string(kind)))
	}
	return p.warn(l.Word(string(kind)))
}
