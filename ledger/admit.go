package ledger

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"paybook/models"
)

// idMax is far longer than any provider's id, and short enough for every database's index.
const idMax = 255

// admit lets an event through to the engine, or makes it an unparsable one: what no database can hold must not be tried again and
// again, and must not fail its neighbours.
func admit(events []models.Event) []models.Event {
	out := make([]models.Event, len(events))
	for i, ev := range events {
		if ev.Kind == models.PaymentVoided && ev.ParentID == "" {
			ev.ParentID = ev.TransactionID // a void without an id of its own is told under the payment's
		}
		if ev.Kind == models.PaymentVoided && ev.VoidsCapture {
			ev.Kind, ev.Told = captureVoided, models.PaymentVoided
		}
		if m, moves := meanings[ev.Kind]; (moves || ev.Kind == models.RefundTotal) && !ev.TestMode {
			if why := unusable(m, ev); why != "" {
				ev = models.Event{ID: ev.ID, Kind: models.EventUnparsable, TransactionID: ev.TransactionID, OrderID: ev.OrderID, Detail: why}
			}
		}
		out[i] = ev
	}
	return out
}

// unusable says what keeps an event from being booked at all; "" for nothing.
func unusable(m meaning, ev models.Event) string {
	switch {
	case ownID(m.kind, ev) == "":
		return "no transaction id"
	case ev.Money.Currency == "":
		return "no amount"
	case ev.Money.Minor < 0:
		return "a negative amount: " + ev.Money.String()
	case ev.OccurredAt.Year() < 1970 || ev.OccurredAt.Year() > 9999:
		return "no time, or none of this age"
	}
	for _, id := range slices.Concat(ev.Aliases, ev.FoundBy, ev.ParentAliases, []string{ev.TransactionID, ev.ParentID, ev.OrderID, ev.RefundOrderID}) {
		if len(id) > idMax {
			return fmt.Sprintf("an id of %d bytes, at most %d are kept", len(id), idMax)
		}
		if clean(id) != id {
			return "an id holds bytes that are no text"
		}
	}
	return ""
}

// clean makes text from outside fit for a database: no NUL, no broken UTF-8.
func clean(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

// short is clean text of at most n bytes, cut between characters.
func short(s string, n int) string {
	s = clean(s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
