package bank

import (
	"fmt"
	"strings"

	"paybook/models"
)

// mismatchReason is one plain sentence: what each side says, by how much they differ, and what of it is known to be the bank's.
func (r *run) mismatchReason(p *pair) string {
	said := fmt.Sprintf("the bank has %s for %s: %s", r.bank.money(p.got), listed(p.payouts, payoutText), listed(p.lines, lineText))
	switch p.differs {
	case "currency":
		return said + "; the payout is in another currency, and what it was changed at is not told"
	case "status":
		return said + fmt.Sprintf("; the provider calls it %s", p.payouts[0].Status)
	}
	off := p.due - p.got
	how := "less"
	if off < 0 {
		off, how = -off, "more"
	}
	said += fmt.Sprintf("; that is %s %s than was paid out", r.bank.money(off), how)
	switch {
	case p.fee != 0:
		return said + ", which is the charge that the bank names"
	case p.charge > 0:
		return said + fmt.Sprintf(", of which the bank names %s as its charge", r.bank.money(p.charge))
	case p.got == 0 && len(p.lines) > 1:
		return said + ": what came was taken back"
	}
	return said
}

// missingReason says what was looked for and where, and what may be it.
func (r *run) missingReason(p *payout, g *models.Gap) string {
	_, to := r.bank.window(p.paid)
	said := payoutText(p)
	if p.Status != models.StatusSucceeded {
		said += fmt.Sprintf(" (the provider calls it %s)", p.Status)
	}
	switch {
	case len(p.might) > 0:
		said += fmt.Sprintf(" may be any of these lines of %s, and nothing says which: %s", r.bank.Name, listed(p.might, lineText))
		if rivals := r.rivals(p); len(rivals) > 0 {
			said += "; they may also be " + listed(rivals, payoutText)
		}
	case g.State == models.GapCarried:
		said += fmt.Sprintf(" has not come to %s yet", r.bank.Name)
	default:
		said += fmt.Sprintf(" has not come to %s, whose statements have been read up to %s", r.bank.Name, dateText(to))
	}
	if g.State == models.GapCarried {
		said += "; it may come until " + dateText(to) + ", and the statements of these days have still to be read: " + strings.Join(g.WaitsFor, ", ")
	}
	return said
}

// rivals are the other payouts that the same lines may be.
func (r *run) rivals(p *payout) (list []*payout) {
	for _, l := range p.might {
		for _, o := range l.might {
			if o != p {
				list = append(list, o)
			}
		}
	}
	return sorted(list)
}

func (r *run) unexpectedReason(l *line) string {
	said := lineText(l)
	switch {
	case l.unknown != "":
		said += fmt.Sprintf(" names %s, and no payout is called so", clip(l.unknown))
	default:
		said += " looks like a provider's money, and no payout of " + strings.Join(r.bank.Accounts, ", ") + " is it"
	}
	if text := shown(l.Texts); text != "" {
		said += ": " + text
	}
	return said
}

// shown is what a line says, in short.
func shown(texts []string) string {
	return clip(strings.ReplaceAll(strings.Join(texts, " / "), "\n", ""))
}
