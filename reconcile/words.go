package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"paybook/models"
)

// kindWords are the kinds as a sentence says them.
var kindWords = map[models.TransactionKind]string{
	models.Payment: "payment", models.Refund: "refund", models.Chargeback: "chargeback",
	models.RefundReversal: "returned refund", models.ChargebackReversal: "returned chargeback",
}

// reason is one plain sentence: what is wrong, in whose words.
func (r *run) reason(f *finding, g *models.Gap) string {
	what := kindWords[g.EntryKind]
	switch g.Kind {
	case models.GapMissingLocal:
		return fmt.Sprintf("%s has this %s of %s, the book does not: its callback never arrived or was refused", where(g), what, money(g.Statement))
	case models.GapMissingProvider:
		return fmt.Sprintf("the book has this %s of %s as %s, the statement of %s does not have it", what, money(g.Ledger), g.Ledger.Status, g.Date)
	case models.GapWrongDay:
		return fmt.Sprintf("%s is a %s of %s, in the statement of %s, and the book does not know it", where(g), what, r.dayOf(f), g.Date)
	case models.GapDuplicateEntry:
		return fmt.Sprintf("the statement has this %s of %s %d times, %s; it was counted once", what, money(g.Statement), len(f.rows), r.places(f.rows, false))
	case models.GapUnknownStatus:
		return fmt.Sprintf("%s: status %q is a word we do not know; it was not taken for succeeded", where(g), f.entry.StatusText)
	case models.GapConflict:
		if len(f.rows) > 0 {
			return fmt.Sprintf("the statement contradicts itself about this %s: %s", what, r.places(f.rows, true))
		}
		return "two callbacks contradict each other about this " + what + detail(f.row)
	}
	var parts []string
	switch {
	case f.byOrder:
		parts = append(parts, misfitReason(f, g, what))
	case g.Kind != models.GapFee:
		parts = append(parts, disagreement(f, g))
	}
	if slices.Contains(f.differs, differsFee) {
		parts = append(parts, r.feeReason(&f.entry.Entry))
	}
	return strings.Join(parts, "; ")
}

// disagreement says what statement and book have for each other.
func disagreement(f *finding, g *models.Gap) string {
	var parts []string
	if f.kind == models.GapAmount || f.kind == models.GapCurrency {
		parts = append(parts, fmt.Sprintf("the statement says %s, the book %s", money(g.Statement), money(g.Ledger)))
	}
	for _, d := range f.differs {
		if d == differsStatus {
			parts = append(parts, fmt.Sprintf("the statement calls it %s, the book %s", g.Statement.Status, g.Ledger.Status))
		}
	}
	return strings.Join(parts, "; ")
}

// misfitReason is for a pair that agrees, and does not fit its order.
func misfitReason(f *finding, g *models.Gap, what string) string {
	switch {
	case lacksPayment(f, g):
		payment := "the payment of this " + what
		if g.ParentID != "" {
			payment = fmt.Sprintf("the payment %s of this %s", g.ParentID, what)
		}
		return fmt.Sprintf("statement and book agree, and the order %s is known, but %s is not booked as paid: its callback never arrived or was refused", g.OrderID, payment)
	case g.Kind == models.GapUnknownOrder && g.OrderID == "":
		return "statement and book agree, but nothing names the order of this " + what + detail(f.row)
	case g.Kind == models.GapUnknownOrder:
		return fmt.Sprintf("statement and book agree, but the order %s of this %s is not known%s", g.OrderID, what, detail(f.row))
	case (g.Kind == models.GapAmount || g.Kind == models.GapCurrency) && g.Order != nil && f.row.Kind == models.Payment:
		return fmt.Sprintf("statement and book agree on %s, the order is of %s", money(g.Ledger), money(g.Order))
	}
	return "statement and book agree, but the " + what + " does not fit its order" + detail(f.row)
}

// lacksPayment is true for what takes money back of an order that is known while the payment is not.
func lacksPayment(f *finding, g *models.Gap) bool {
	return g.Kind == models.GapUnknownOrder && g.Order != nil && f.row != nil && f.row.Kind != models.Payment
}

func detail(t *models.Transaction) string {
	if t == nil || t.Detail == "" {
		return ""
	}
	return ": " + t.Detail
}

func money(s *models.Side) string { return s.Amount + " " + s.Currency }

func where(g *models.Gap) string {
	if g.Statement == nil {
		return "the statement"
	}
	return fmt.Sprintf("%s, row %d", g.Statement.File, g.Statement.Line)
}

func (r *run) dayOf(f *finding) string {
	return DayOf(f.entry.OccurredAt, r.account.Zone, r.account.Cut).String()
}

// placesMax bounds a sentence; the statement has the rest.
const placesMax = 5

// places quotes rows: "bill.csv, rows 7 and 9", or with what they say.
func (r *run) places(rows []*held, content bool) string {
	var list []string
	for i, h := range rows {
		if i == placesMax {
			list = append(list, fmt.Sprintf("%d more", len(rows)-i))
			break
		}
		text := fmt.Sprintf("row %d", h.Line)
		if i == 0 || h.place.file != rows[i-1].place.file {
			text = r.inputs[h.place.file].label + ", " + text
		}
		if content {
			text += fmt.Sprintf(" says %s %s", h.Money, h.Status)
			if h.OrderID != rows[0].OrderID || len(rows) > 1 && h.OrderID != rows[1].OrderID {
				text += " for order " + h.OrderID
			}
		}
		list = append(list, text)
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// clues are hints across gaps. They only stand beside a gap and never make a match.
type clues struct {
	rounded bool
	byOrder map[string][2]string // order → ids of a payment missing here and of one missing there
}

func (c *clues) add(f *finding) {
	order := f.orderID()
	if order == "" || f.kind != models.GapMissingLocal && f.kind != models.GapMissingProvider {
		return
	}
	if c.byOrder == nil {
		c.byOrder = map[string][2]string{}
	}
	ids := c.byOrder[order]
	switch {
	case f.kind == models.GapMissingLocal:
		c.rounded = c.rounded || looksRounded(f.entry.TransactionID)
		ids[0] = f.entry.TransactionID
	case f.kind == models.GapMissingProvider:
		ids[1] = f.row.ShownID()
	}
	c.byOrder[order] = ids
}

func (c *clues) of(g *models.Gap) string {
	var hint string
	switch ids := c.byOrder[g.OrderID]; {
	case g.Kind == models.GapMissingLocal && looksRounded(g.TransactionID):
		hint = "; its id ends in many zeros, so the file may have been saved by a spreadsheet, which rounds long numbers"
	case g.Kind == models.GapMissingProvider && c.rounded:
		hint = "; ids in the statement end in many zeros, so it may have been saved by a spreadsheet, which rounds long numbers"
	case g.OrderID == "" || ids[0] == "" || ids[1] == "":
	case g.Kind == models.GapMissingLocal:
		hint = "; of the same order the book has " + ids[1] + ", which the statement does not have"
	case g.Kind == models.GapMissingProvider:
		hint = "; of the same order the statement has " + ids[0] + ", which the book does not have"
	}
	return hint
}

// next is the command to type now.
func (r *run) next(f *finding, g *models.Gap) string {
	account := " --account " + quote(r.account.Name)
	switch g.Kind {
	case models.GapMissingLocal, models.GapConflict:
		if g.Kind == models.GapMissingLocal || len(f.rows) == 0 {
			return "app callbacks list" + account + " --date " + g.Date
		}
	case models.GapWrongDay:
		return "app reconcile --date " + r.dayOf(f) + account
	case models.GapDuplicateEntry, models.GapFee:
		return "app gaps resolve " + g.ID + ` --reason "asked the provider"`
	case models.GapUnknownOrder:
		if lacksPayment(f, g) {
			return "app callbacks list" + account
		}
		return "app import orders FILE"
	}
	switch {
	case g.Order != nil:
		return "app orders show " + quote(g.OrderID)
	case g.Statement == nil:
		return "app callbacks list" + account + " --date " + g.Date
	}
	return "app gaps show " + g.ID
}

// quote makes an id safe to paste into a shell: it is a stranger's text.
func quote(id string) string {
	plain := func(c rune) bool {
		return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.ContainsRune("_.:/@-", c)
	}
	if id != "" && id[0] != '-' && strings.IndexFunc(id, func(c rune) bool { return !plain(c) }) < 0 {
		return id
	}
	quoted := "'" + strings.ReplaceAll(id, "'", `'\''`) + "'"
	if strings.HasPrefix(id, "-") {
		return "-- " + quoted
	}
	return quoted
}
