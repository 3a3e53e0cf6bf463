package generic

import (
	"fmt"
	"slices"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// checkUnsigned refuses settings under which somebody could keep a callback, change what is not signed in it, and send it again to move
// money. What only tells of ids, to be read at the provider, moves nothing; and a fixed token signs nothing at all, which has a
// warning.
func (p *Provider) checkUnsigned(settings *parse.Section) {
	moves := slices.ContainsFunc(p.events, func(row eventRow) bool { return kindNeeds[row.event].money })
	if !moves {
		return
	}
	for _, f := range p.fields.moving() {
		if from, found := p.signature.unsigned(f); found {
			settings.Fail("fields."+f.name, "%s is not part of what is signed, and settings.events moves money by it: whoever has an old callback "+
				"could change it; have it in settings.signature.template ({body} is the whole body), take it from a signed place or as const, "+
				"or map the events to thin", from)
		}
	}
}

// unsigned is the first place of a field that some signed text leaves out: any text may be the one that matches. A signature that
// signs nothing has none.
func (sig *signature) unsigned(f *field) (source, bool) {
	for _, from := range f.from {
		reads := []source{from}
		if from.expr != nil {
			reads = from.expr.reads
		}
		for _, place := range reads {
			if !sig.signsNothing() && !sig.covers(place) {
				return place, true
			}
		}
	}
	return source{}, false
}

// signsNothing is true of a secret that is sent as it is.
func (sig *signature) signsNothing() bool { return len(sig.templates) == 0 }

// covers says whether every signed text holds the value at s.
func (sig *signature) covers(s source) bool {
	return len(sig.templates) > 0 && !slices.ContainsFunc(sig.templates, func(t template) bool { return !t.covers(s) })
}

// coversContent says whether the body is signed, at least in part.
func (sig *signature) coversContent() bool {
	return len(sig.templates) > 0 && !slices.ContainsFunc(sig.templates, func(t template) bool {
		return !slices.ContainsFunc(t.sources(), func(s source) bool { return s.kind == "body" || s.inContent() })
	})
}

// covers says whether the signed text always holds the value at s.
func (t *template) covers(s source) bool {
	return slices.ContainsFunc(t.sources(), func(o source) bool {
		return o.same(s) || o.kind == "body" && s.inContent() || o.kind == "raw_query" && s.kind == "query"
	})
}

func (s source) inContent() bool { return s.kind == "json" || s.kind == "envelope" || s.kind == "form" }

// forbidden are characters that a value of the signed text may not hold, because they part it from the next one: with a dot in its
// id, the text id.timestamp.body could be cut in another way.
type forbidden struct {
	from       source
	characters string
}

func (p *Provider) readForbidden(signature *parse.Section) {
	s := signature.Object("forbid")
	if s == nil {
		return
	}
	for _, place := range s.Names() {
		f := forbidden{p.readSource(s, place, place), s.Need(place)}
		if !p.signature.covers(f.from) {
			s.Fail(place, "is no place of settings.signature.template")
		}
		p.signature.forbidden = append(p.signature.forbidden, f)
	}
}

func (sig *signature) checkForbidden(r *request) error {
	for _, f := range sig.forbidden {
		if strings.ContainsAny(r.find(&f.from), f.characters) {
			return refuse(models.ReasonSignature, fmt.Sprintf("%s holds one of %q, so the signed text can be read in two ways", f.from, f.characters))
		}
	}
	return nil
}
