package reconcile

import (
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"paybook/models"
	"paybook/reconcile/lang"
)

// WriteRepair prints a repair for people.
func WriteRepair(w io.Writer, r *RepairReport, look Look) error {
	var all strings.Builder
	p := printer{&all, look}
	p.repair(r)
	_, err := io.WriteString(w, all.String())
	return err
}

// Steps are who has done what to a repair, in the order in which it is done.
func (r *RepairReport) Steps() []RepairStep {
	return slices.DeleteFunc([]RepairStep{{"planned", r.MadeBy, r.MadeAt}, {"approved", r.ApprovedBy, r.ApprovedAt}, {"applied", r.AppliedBy, r.AppliedAt},
		{"reversed", r.ReversedBy, r.ReversedAt}}, func(s RepairStep) bool { return s.By == "" || s.At == "" })
}

// RepairStep is one of them.
type RepairStep struct{ What, By, At string }

// Says is the step in words.
func (s RepairStep) Says(l lang.Language) string {
	return l.Text("%s by %s, %s", l.Word(s.What), Plain(s.By), s.At)
}

// Name is the repair's, or says that it is none that could be applied.
func (r *RepairReport) Name(l lang.Language) string {
	if r.ID == "" {
		return l.Text("repair (not kept)")
	}
	return l.Text("repair %s", r.ID)
}

// Parts are the items that are or would be booked, and those that cannot be.
func (r *RepairReport) Parts() (booked, left []*RepairItemReport) {
	for i := range r.Items {
		if item := &r.Items[i]; item.State == models.ItemNotRepairable {
			left = append(left, item)
		} else {
			booked = append(booked, item)
		}
	}
	return booked, left
}

// Because says why an item is booked, then what came of it, or why nothing can be.
func (i *RepairItemReport) Because(l lang.Language) string {
	if i.Result != "" {
		return l.Sentence(i.Result)
	}
	return l.Sentence(i.Why)
}

// Told says which messages the shop gets.
func (i *RepairItemReport) Told(l lang.Language) string {
	if len(i.Messages) == 0 {
		return l.Text("nothing")
	}
	return strings.Join(i.Messages, ", ")
}

// repair prints what is or would be booked, then what cannot be, each with its reason below.
func (p *printer) repair(r *RepairReport) {
	p.line("%s  %s  %s  %s", p.paint(bold, r.Name(p.Lang)), Plain(r.Account), r.Date, p.Lang.Word(string(r.State)))
	for _, s := range r.Steps() {
		p.line("%s", s.Says(p.Lang))
	}
	if r.Reason != "" {
		p.sentence(p.Lang.Text("because: "), Plain(r.Reason))
	}
	booked, left := r.Parts()
	p.line("")
	if len(booked) == 0 {
		p.line("%s", p.Lang.Text("nothing to book"))
	} else {
		p.repairItems(booked, p.bookedCells)
	}
	if len(left) > 0 {
		p.line("")
		p.line("%s", p.Lang.Text("not repairable"))
		p.repairItems(left, p.leftCells)
	}
}

// repairCells are what a line says of an item, by heading; the first is the gap's id.
type repairCells []struct{ head, value string }

func (p *printer) bookedCells(i *RepairItemReport) repairCells {
	return repairCells{{"gap", i.GapID}, {"books", p.Lang.Word(string(i.Kind))}, {"transaction", Plain(i.TransactionID)}, {"order", Plain(i.OrderID)},
		{"amount", Plain(i.Amount + " " + i.Currency)}, {"status", p.Lang.Word(string(i.Status))}, {"at", i.OccurredAt},
		{"comes to", p.Lang.Word(string(i.Outcome))}, {"the shop is told", i.Told(p.Lang)}, {"progress", p.itemState(i.State)}}
}

func (p *printer) leftCells(i *RepairItemReport) repairCells {
	return repairCells{{"gap", i.GapID}, {"kind", p.paint(red, p.Lang.Word(string(i.GapKind)))}, {"of", p.Lang.Word(string(i.Kind))},
		{"transaction", Plain(i.TransactionID)}, {"order", Plain(i.OrderID)}}
}

func (p *printer) itemState(s models.RepairItemState) string {
	word := p.Lang.Word(string(s))
	switch s {
	case models.ItemBooked, models.ItemAlready:
		return p.paint(green, word)
	case models.ItemRefused:
		return p.paint(red, word)
	case models.ItemReversed:
		return p.paint(yellow, word)
	}
	return word
}

// repairItems prints items, in a table where the width allows it, each with its reason below.
func (p *printer) repairItems(items []*RepairItemReport, cells func(*RepairItemReport) repairCells) {
	var heads []string
	for _, c := range cells(items[0]) {
		heads = append(heads, c.head)
	}
	t := p.table(heads...)
	for _, i := range items {
		var row table.Row
		for _, c := range cells(i) {
			row = append(row, c.value)
		}
		t.AppendRow(row)
	}
	if n := slices.Index(heads, "amount") + 1; n > 0 {
		t.SetColumnConfigs(rightAligned(n, n))
	}
	lines := rendered(t)
	beside := p.fits(lines)
	if beside {
		p.lines(lines[:2])
	}
	for i, item := range items {
		if beside {
			p.line("%s", lines[2+i])
		} else {
			p.repairCard(cells(item))
		}
		p.because(item.Because(p.Lang), item.Next)
	}
}

// repairCard is an item in a terminal that is too narrow for the table.
func (p *printer) repairCard(cells repairCells) {
	p.line("  %s", cells[0].value)
	for _, c := range cells[1:] {
		p.named(c.head, c.value)
	}
}
