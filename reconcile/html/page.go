// Package html writes reports as one self-contained page: nothing is fetched, nothing is run, and what strangers wrote is text.
package html

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// gapsMax bounds the gaps of a page: a browser lays out every one, and nobody reads more.
const gapsMax = 5000

// bridgesMax bounds the payouts of one run.
const bridgesMax = 100

// repairMax bounds the items of one run's repair.
const repairMax = 1000

//go:embed page.html
var markup string

//go:embed page.css
var style string

// policy forbids a page everything but its own style.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Write writes the runs' reports as one page. An account that could not be run is told with what was wrong.
func Write(w io.Writer, items []reconcile.Item, l lang.Language) error {
	return write(w, items, l, gapsMax)
}

func write(w io.Writer, items []reconcile.Item, l lang.Language, room int) error {
	p := page{Tongue: map[lang.Language]string{lang.Chinese: "zh-CN"}[l], Policy: policy(), Style: template.CSS(style)} //nolint:gosec // our own
	p.Tongue = cmp.Or(p.Tongue, "en")
	for i, item := range items {
		p.Runs = append(p.Runs, newRun(i, item, l, &room))
	}
	t, err := template.New("page").Funcs(template.FuncMap{
		"t": l.Text, "word": l.Word, "sentence": l.Sentence, "count": l.Count, "nonzero": nonzero, "kindName": kindName(l),
		"because": func(i *reconcile.RepairItemReport) string { return i.Because(l) }, "told": func(i *reconcile.RepairItemReport) string { return i.Told(l) },
		"seen": reconcile.Plain, "whole": func(n int64) int { return int(n) }, "side": func(name string, s *models.Side) any {
			return struct {
				Name string
				*models.Side
			}{name, s}
		},
	}).Parse(markup)
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// page is what the template is filled with.
type page struct {
	Tongue string // of the html element
	Policy string
	Style  template.CSS
	Runs   []run
}

// run is one account's part of the page.
type run struct {
	Anchor  string
	Account string
	Err     string // "": it was run
	*reconcile.Report
	Kinds, Ages Chart
	Waterfalls  []waterfall
	MorePayouts int // that found no room; below 1: none
	Lists       []list
	Left        int     // gaps that found no room in the page
	Plan        *repair // nil: there is none
}

// repair is what is or would be booked, and what cannot be.
type repair struct {
	Name, State, Reason string
	Steps               []string
	Booked, Left        []*reconcile.RepairItemReport
	More                int // items that found no room
}

func newRepair(r *reconcile.RepairReport, l lang.Language, room int) *repair {
	if r == nil {
		return nil
	}
	p := &repair{Name: r.Name(l), State: l.Word(string(r.State)), Reason: r.Reason}
	for _, s := range r.Steps() {
		p.Steps = append(p.Steps, s.Says(l))
	}
	p.Booked, p.Left = r.Parts()
	p.Booked = p.Booked[:min(len(p.Booked), room)]
	p.Left = p.Left[:min(len(p.Left), room-len(p.Booked))]
	p.More = len(r.Items) - len(p.Booked) - len(p.Left)
	return p
}

// list is one list of gaps, kind by kind.
type list struct {
	Title string // "": the open ones
	Kinds []kind
}

type kind struct {
	Kind models.GapKind
	Gaps []reconcile.GapReport
	All  int // with those that found no room
}

func newRun(i int, item reconcile.Item, l lang.Language, room *int) run {
	r := run{Anchor: fmt.Sprintf("run-%d", i+1), Account: item.Account, Report: item.Report}
	if item.Err != nil {
		r.Err = item.Err.Error()
		return r
	}
	r.Account = r.Report.Account
	r.Plan = newRepair(r.Repair, l, repairMax)
	r.Kinds, r.Ages = kindChart(r.Report, l), ageChart(r.Report, l)
	for _, b := range slices.Concat(r.Bridges, r.NotPaidOut) {
		if r.MorePayouts = len(r.Bridges) + len(r.NotPaidOut) - bridgesMax; len(r.Waterfalls) < bridgesMax {
			r.Waterfalls = append(r.Waterfalls, newWaterfall(&b, l))
		}
	}
	for _, of := range []struct {
		title string
		gaps  []reconcile.GapReport
	}{
		{"", r.Gaps}, {"carried: waits for a neighbouring day's statement", r.Carried}, {"healed", r.Healed},
		{"accepted: resolved by a person, still there", r.Accepted},
	} {
		if len(of.gaps) > 0 {
			r.Lists = append(r.Lists, list{of.title, byKind(of.gaps, room, &r.Left)})
		}
	}
	return r
}

// byKind sorts gaps by their kinds, as long as there is room.
func byKind(gaps []reconcile.GapReport, room, left *int) []kind {
	kinds := map[models.GapKind]*kind{}
	for i := range gaps {
		k := kinds[gaps[i].Kind]
		if k == nil {
			k = &kind{Kind: gaps[i].Kind}
			kinds[gaps[i].Kind] = k
		}
		k.All++
		if *room > 0 {
			*room--
			k.Gaps = append(k.Gaps, gaps[i])
		} else {
			*left++
		}
	}
	var out []kind
	for _, name := range reconcile.SortedKinds(kinds) {
		out = append(out, *kinds[name])
	}
	return out
}

// kindName is a kind in the language, with the word that commands take behind it where they differ.
func kindName(l lang.Language) func(models.GapKind) string {
	return func(k models.GapKind) string {
		if name := l.Word(string(k)); name != string(k) {
			return name + " " + string(k)
		}
		return strings.ReplaceAll(string(k), "_", " ")
	}
}

func nonzero(amount string) bool {
	d, err := decimal.NewFromString(amount)
	return err == nil && !d.IsZero()
}
