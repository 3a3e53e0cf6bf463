package html

import (
	"strings"

	"github.com/shopspring/decimal"

	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// The picture of a chart, in its own units: a line for each bar, the label left of it, the value right.
const (
	lineHeight = 26
	barFrom    = 175
	barTo      = 470
)

// Chart is a picture of bars.
type Chart struct {
	Title  string
	Height int
	Zero   int // where nothing is
	Bars   []Bar
}

// Bar is one of them.
type Bar struct {
	Label, Value string
	Class        string // more, less, sum or rest
	X, Width     int
	Y, Text      int
	From, Below  int // of the line to the next bar
	Next         int // where the next bar of a waterfall begins; 0: there is none
}

// kindChart counts the open gaps of a run by kind.
func kindChart(r *reconcile.Report, l lang.Language) Chart {
	var labels []string
	var counts []int
	for _, k := range reconcile.SortedKinds(r.Summary) {
		labels, counts = append(labels, strings.ReplaceAll(l.Word(string(k)), "_", " ")), append(counts, r.Summary[k])
	}
	return counted(l.Text("Gaps by kind"), labels, counts)
}

// ages are the upper bounds of the ages that gaps are counted by, in days.
var ages = []struct {
	upTo  int
	label string
}{{0, "today"}, {1, "1 day"}, {3, "2 to 3 days"}, {7, "4 to 7 days"}, {30, "8 to 30 days"}, {1 << 30, "over 30 days"}}

// ageChart counts the open gaps of a run by age.
func ageChart(r *reconcile.Report, l lang.Language) Chart {
	labels, counts := make([]string, len(ages)), make([]int, len(ages))
	for i, age := range ages {
		labels[i] = l.Text(age.label)
	}
	for i := range r.Gaps {
		n := 0
		for r.Gaps[i].AgeDays > ages[n].upTo {
			n++
		}
		counts[n]++
	}
	return counted(l.Text("Gaps by age"), labels, counts)
}

// counted is a chart of numbers of gaps.
func counted(title string, labels []string, counts []int) Chart {
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	c := Chart{Title: title, Height: lineHeight * len(counts), Zero: barFrom}
	for i, n := range counts {
		b := newBar(i, labels[i], decimal.NewFromInt(int64(n)).String(), "more")
		b.X, b.Width = barFrom, (barTo-barFrom)*n/most
		c.Bars = append(c.Bars, b)
	}
	return c
}

func newBar(i int, label, value, class string) Bar {
	return Bar{Label: label, Value: value, Class: class, Y: i*lineHeight + 5, Text: i*lineHeight + 18, From: i*lineHeight + 21, Below: i*lineHeight + 31}
}

// waterfall is a payout's bridge: each step begins where the one before has ended.
type waterfall struct {
	*reconcile.Bridge
	Chart Chart
}

func newWaterfall(b *reconcile.Bridge, l lang.Language) waterfall {
	w := waterfall{b, Chart{Title: l.Text("How the payout came about")}}
	type span struct{ from, to decimal.Decimal }
	var spans []span
	at := decimal.Zero
	add := func(label, value, class string, from, to decimal.Decimal) {
		w.Chart.Bars = append(w.Chart.Bars, newBar(len(spans), label, value, class))
		spans = append(spans, span{from, to})
	}
	for _, s := range b.Steps {
		from, class := at, "more"
		if at = at.Add(number(s.Amount)); at.LessThan(from) {
			class = "less"
		}
		add(l.Word(s.Step), s.Amount, class, from, at)
	}
	add(l.Text("expected"), b.Expected, "sum", decimal.Zero, number(b.Expected))
	if b.Paid != "" {
		add(l.Text("paid"), b.Paid, "sum", decimal.Zero, number(b.Paid))
	}
	rest := number(b.Expected).Add(number(b.Remainder))
	add(l.Text("remainder"), b.Remainder, "rest", number(b.Expected), rest)

	low, high := decimal.Zero, decimal.Zero
	for _, s := range spans {
		low, high = decimal.Min(low, s.from, s.to), decimal.Max(high, s.from, s.to)
	}
	x := scale(low, high)
	w.Chart.Height, w.Chart.Zero = lineHeight*len(spans), x(decimal.Zero)
	for i, s := range spans {
		from, to := x(s.from), x(s.to)
		bar := &w.Chart.Bars[i]
		bar.X, bar.Width = min(from, to), max(from, to)-min(from, to)
		if i < len(b.Steps) {
			bar.Next = to
		}
		if bar.Width == 0 && !s.from.Equal(s.to) {
			bar.Width = 1 // what is there is seen
		}
	}
	return w
}

// scale lays amounts from low to high onto the room for bars.
func scale(low, high decimal.Decimal) func(decimal.Decimal) int {
	reach := high.Sub(low)
	return func(v decimal.Decimal) int {
		if reach.IsZero() {
			return barFrom
		}
		room := decimal.NewFromInt(barTo - barFrom)
		return barFrom + int(v.Sub(low).Mul(room).Div(reach).Round(0).IntPart())
	}
}

// number is an amount of a report; "" is nothing.
func number(amount string) decimal.Decimal {
	d, _ := decimal.NewFromString(amount)
	return d
}
