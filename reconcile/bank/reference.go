package bank

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A payout's name is looked for without spaces, signs and case: banks cut, wrap and capitalise. What must not happen is that B1001 is
// found in B10012, or 4711 in an amount: a name may not be cut out of a longer number, and a short one has to stand by itself.

const (
	nameMin   = 6 // a shorter name has to be a word of the text
	numberMin = 8 // the same for one of digits only

)

// squeezed is a text as names are looked for in it: letters and digits in upper case, and for each what stood around it.
type squeezed struct {
	text  string
	words map[string]bool
	// glued[i] is true when the byte at i follows the one before it in the text as it was written; words begin where it is false.
	glued []bool
}

func squeeze(text string) squeezed {
	s := squeezed{words: map[string]bool{}}
	var b strings.Builder
	start, glued := 0, false
	end := func() {
		if b.Len() > start {
			s.words[b.String()[start:]] = true
		}
		start, glued = b.Len(), false
	}
	for _, c := range text {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			end()
			continue
		}
		before := b.Len()
		b.WriteRune(unicode.ToUpper(c))
		for i := before; i < b.Len(); i++ {
			s.glued = append(s.glued, glued || i > before)
		}
		glued = true
	}
	end()
	s.text = b.String()
	return s
}

// bounded says whether the name at i is not cut out of a longer number: behind a digit no digit follows at once, nor before one.
func (s *squeezed) bounded(i int, name string) bool {
	end := i + len(name)
	if isDigit(name[0]) && i > 0 && s.glued[i] && isDigit(s.text[i-1]) {
		return false
	}
	return !isDigit(name[len(name)-1]) || end >= len(s.text) || !s.glued[end] || !isDigit(s.text[end])
}

// begins says whether a word of the text begins at i.
func (s *squeezed) begins(i int) bool { return i == 0 || !s.glued[i] }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// byWord says whether a name is too short to be looked for within words.
func byWord(name string) bool {
	return len(name) < nameMin || len(name) < numberMin && strings.Trim(name, "0123456789") == ""
}

// finder finds payouts by their names in texts.
type finder struct {
	whole    map[string]map[string][]*payout // first characters → name → payouts
	tails    map[string]map[string][]*payout
	words    map[string][]*payout
	patterns []patterned
}

// patterned are the payouts of an account whose names a pattern finds.
type patterned struct {
	reference Reference
	byName    map[string][]*payout
}

func newFinder(b *Bank, payouts []*payout) *finder {
	f := &finder{whole: map[string]map[string][]*payout{}, tails: map[string]map[string][]*payout{}, words: map[string][]*payout{}}
	of := map[string]*patterned{}
	for _, account := range b.Accounts {
		if r := b.References[account]; r.Pattern != nil {
			of[account] = &patterned{r, map[string][]*payout{}}
		}
	}
	for _, p := range payouts {
		r := b.References[p.Account]
		if own := of[p.Account]; own != nil {
			for _, name := range names(r.nameOf(p.PayoutID), bare(p.BankReference), bare(p.Batch)) {
				own.byName[name] = append(own.byName[name], p)
			}
			continue
		}
		for _, name := range names(bare(p.PayoutID), bare(p.BankReference)) {
			f.add(p, name, r)
		}
	}
	for _, account := range b.Accounts {
		if own := of[account]; own != nil {
			f.patterns = append(f.patterns, *own)
		}
	}
	return f
}

// nameOf is what the pattern has to capture for a payout.
func (r Reference) nameOf(id string) string {
	if r.Payout == nil {
		return bare(id)
	}
	if part := r.Payout.FindStringSubmatch(id); len(part) > 1 {
		return bare(part[1])
	}
	return ""
}

// names are those that are there, each once.
func names(all ...string) (list []string) {
	for _, name := range all {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func (f *finder) add(p *payout, name string, r Reference) {
	if byWord(name) {
		f.words[name] = append(f.words[name], p)
		return
	}
	put(f.whole, name, p)
	last := r.Last
	if last == 0 {
		last = LastDefault
	}
	if last = max(last, LastMin); r.Last >= 0 && len(name) > last {
		if cut := len(name) - last; utf8.RuneStart(name[cut]) {
			put(f.tails, name[cut:], p)
		}
	}
}

func put(index map[string]map[string][]*payout, name string, p *payout) {
	head := name[:nameMin]
	if index[head] == nil {
		index[head] = map[string][]*payout{}
	}
	index[head][name] = append(index[head][name], p)
}

// found is what the texts of a line name.
type found struct {
	payouts []*payout
	unknown string // a name that a pattern has captured, and no payout has
}

// find looks through all texts of a line. Whole names go before the ends of names.
func (f *finder) find(texts []string, minor int64) found {
	var whole, tails found
	for _, text := range texts {
		s := squeeze(text)
		for word := range s.words {
			whole.payouts = append(whole.payouts, meant(f.words[word], minor)...)
		}
		whole.payouts = append(whole.payouts, search(f.whole, &s, false, minor)...)
		tails.payouts = append(tails.payouts, search(f.tails, &s, true, minor)...)
		for _, p := range f.patterns {
			p.find(text, &whole)
		}
	}
	if len(whole.payouts) == 0 {
		whole.payouts = tails.payouts
	}
	whole.payouts = sorted(whole.payouts)
	return whole
}

// search finds the names of an index in a text; of two that begin at one place the longer counts. The end of a name has to begin a word,
// and to be that of one payout only.
func search(index map[string]map[string][]*payout, s *squeezed, tail bool, minor int64) (list []*payout) {
	for i := 0; i+nameMin <= len(s.text); i++ {
		best := ""
		for name := range index[s.text[i:i+nameMin]] {
			if len(name) > len(best) && strings.HasPrefix(s.text[i:], name) && s.bounded(i, name) && (!tail || s.begins(i)) {
				best = name
			}
		}
		if best == "" {
			continue
		}
		payouts := index[best[:nameMin]][best]
		if !tail {
			list = append(list, meant(payouts, minor)...)
		} else if len(payouts) == 1 {
			list = append(list, payouts...)
		}
		i += len(best) - 1
	}
	return list
}

// meant is the one of several payouts of one name, in several accounts, that has the line's sum; without such a one none is.
func meant(payouts []*payout, minor int64) []*payout {
	if len(payouts) < 2 {
		return payouts
	}
	var fits []*payout
	for _, p := range payouts {
		if p.due == minor {
			fits = append(fits, p)
		}
	}
	if len(fits) != 1 {
		return nil
	}
	return fits
}

// find applies a pattern to a text. What it captures is a payout's name, or the end of just one.
func (p *patterned) find(text string, into *found) {
	for _, part := range p.reference.Pattern.FindAllStringSubmatch(text, -1) {
		name := ""
		if len(part) > 1 {
			name = bare(part[1])
		}
		if name == "" {
			continue
		}
		payouts := p.byName[name]
		if payouts == nil && !byWord(name) {
			payouts = p.ending(name)
		}
		if len(payouts) == 0 {
			into.unknown = name
		} else {
			into.payouts = append(into.payouts, payouts...)
		}
	}
}

// ending is the one name that ends so; of two it is neither.
func (p *patterned) ending(tail string) (payouts []*payout) {
	for whole, list := range p.byName {
		if !strings.HasSuffix(whole, tail) {
			continue
		}
		if payouts != nil {
			return nil
		}
		payouts = list
	}
	return payouts
}

// sorted are the payouts in their one order, each once.
func sorted(list []*payout) []*payout {
	sort.Slice(list, func(i, j int) bool { return list[i].before(list[j]) })
	return slices.Compact(list)
}
