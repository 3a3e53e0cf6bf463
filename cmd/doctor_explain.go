package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"paybook/callback/parse"
)

// shownMax is how many bytes of a value are shown without --full: the body in it may hold what is nobody's business but the payer's.
const shownMax = 160

// clip shortens long values, escapes what is no UTF-8, and masks what looks like a card number in all of them.
func (d *diagnosis) clip(full bool) {
	d.Detail = digitRuns.ReplaceAllStringFunc(d.Detail, maskCard)
	for i := range d.Steps {
		s := &d.Steps[i]
		s.Value, s.Detail = parse.Shown(s.Value), parse.Shown(s.Detail)
		if !full {
			s.Value = shorten(s.Value)
		}
		s.Value, s.Detail = digitRuns.ReplaceAllStringFunc(s.Value, maskCard), digitRuns.ReplaceAllStringFunc(s.Detail, maskCard)
	}
}

func shorten(text string) string {
	if len(text) <= shownMax {
		return text
	}
	cut := shownMax
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes in all; --full shows them)", text[:cut], len(text))
}

// stepIndent is where the findings begin: behind the mark and a step's name.
const stepIndent = len("x ") + 11 + len("  ")

// escapes shows where a text has line breaks, which decide about signatures.
var escapes = strings.NewReplacer("\r", `\r`, "\n", `\n`, "\t", `\t`)

func (a *app) printDiagnosis(d *diagnosis) error {
	paint := a.colours()
	var b strings.Builder
	fmt.Fprintf(&b, "%s  provider %s, received %s\n\n", paint.bold(d.Account), d.Provider, d.ReceivedAt.Format(time.RFC3339Nano))
	for _, s := range d.Steps {
		mark := paint.good("✔")
		if !s.OK {
			mark = paint.bad("✘")
		}
		lines := []string{cell(escapes.Replace(s.Value)), paint.dim(cell(escapes.Replace(s.Detail)))}
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
		fmt.Fprintf(&b, "%s %-11s  %s\n", mark, s.Name, strings.Join(lines, "\n"+strings.Repeat(" ", stepIndent)))
	}
	switch {
	case d.Verified:
		b.WriteString("\n" + paint.good("genuine") + "\n")
	case d.Reason == "":
		fmt.Fprintf(&b, "\ngenuine, but %s: %s; answered with %d\n", paint.bad("not taken"), cell(d.Detail), d.Status)
	default:
		fmt.Fprintf(&b, "\n%s: %s: %s; answered with %d\n", paint.bad("refused"), d.Reason, cell(d.Detail), d.Status)
	}
	for i := range d.Events {
		b.WriteString(eventLine(&d.Events[i]) + "\n")
	}
	for _, hint := range d.Hints {
		fmt.Fprintf(&b, "%s %s\n", paint.warn("!"), cell(hint))
	}
	_, err := fmt.Fprint(a.out, b.String())
	return err
}

// eventLine is what a message says, on one line, without what it does not say.
func eventLine(e *saidEvent) string {
	parts := []string{string(e.Event)}
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+cell(value))
		}
	}
	add("transaction", e.TransactionID)
	add("of payment", e.ParentID)
	add("order", e.OrderID)
	add("refund number", e.RefundOrderID)
	add("amount", strings.TrimSpace(e.Amount+" "+e.Currency))
	if e.OccurredAt != nil {
		add("at", e.OccurredAt.Format(time.RFC3339))
	}
	add("message", e.EventID)
	if e.TestMode {
		parts = append(parts, "of the other mode (test_mode)")
	}
	add("note:", e.Detail)
	return strings.Join(parts, ", ")
}
