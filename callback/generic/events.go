package generic

import (
	"fmt"
	"strings"

	"paybook/callback/parse"
	"paybook/models"
)

// eventRow maps the provider's words to an event. A pattern may hold * for any text; "" takes anything.
type eventRow struct {
	typ, status, success string
	event                models.EventKind
	known                bool // counts only where the movement is booked already
}

// needs says what an event of a kind must carry to be of use.
type needs struct{ id, money bool }

var kindNeeds = map[models.EventKind]needs{
	models.PaymentPending: {true, true}, models.PaymentAuthorised: {true, true}, models.PaymentSucceeded: {true, true},
	models.PaymentCaptured: {true, true}, models.PaymentFailed: {true, true}, models.PaymentClosed: {true, true},
	models.PaymentVoided: {true, true}, models.RefundPending: {true, true}, models.RefundAbnormal: {true, true},
	models.RefundSucceeded: {true, true}, models.RefundFailed: {true, true}, models.RefundClosed: {true, true},
	models.RefundTotal: {true, true}, models.DisputeOpened: {true, true}, models.DisputeWon: {true, true},
	models.DisputeLost: {true, true}, models.PayoutPending: {true, true}, models.PayoutPaid: {true, true},
	models.PayoutFailed: {true, true},
	// complaints without money, and what moves nothing
	models.DisputeNotified: {id: true}, models.DisputeInquiry: {id: true}, models.DisputeCreated: {id: true},
	models.DisputeUpdated: {id: true}, models.ReportAvailable: {}, models.EventThin: {}, models.EventUnknown: {},
}

func (p *Provider) readEvents(settings *parse.Section) {
	rows := settings.Objects("events")
	if len(rows) == 0 {
		settings.Fail("events", "empty: no callback would ever book anything")
	}
	for _, s := range rows {
		row := eventRow{typ: s.Text("type", ""), status: s.Text("status", ""), success: successText(s)}
		row.event = models.EventKind(s.Need("event"))
		need, known := kindNeeds[row.event]
		if !known {
			s.Fail("event", "%q is no event", row.event)
		}
		if known := s.Flag("known"); known != nil && *known {
			if row.known = true; !need.money {
				s.Fail("known", "is for events that move money, and %s does not", row.event)
			}
		}
		p.needField(s, "type", row.typ != "", &p.fields.eventType)
		p.needField(s, "status", row.status != "", &p.fields.status)
		p.needField(s, "success", row.success != "", &p.fields.success)
		p.needField(s, "event", need.id, &p.fields.transactionID)
		p.needField(s, "event", need.money, &p.fields.amount.field)
		p.needField(s, "event", need.money, &p.fields.currency)
		p.events = append(p.events, row)
		s.Close()
	}
}

func (p *Provider) needField(s *parse.Section, key string, needed bool, f *field) {
	if needed && !f.set() {
		s.Fail(key, "needs settings.fields.%s", f.name)
	}
}

// successText reads a row's success, which may be written as true or as "true".
func successText(s *parse.Section) string {
	if b, ok := s.Take("success").(bool); ok {
		if b {
			return "true"
		}
		return "false"
	}
	return s.Text("success", "")
}

// kind is the event of the first row that fits; unknown when none does: a type nobody mapped is kept and acknowledged. But a
// type that is mapped by its status, and comes without one, is an error: it may be money.
func (p *Provider) kind(typ, status, success string) (_ models.EventKind, known bool, _ error) {
	for _, row := range p.events {
		if glob(row.typ, typ) && glob(row.status, status) && glob(row.success, success) {
			return row.event, row.known, nil
		}
	}
	for _, row := range p.events {
		switch {
		case !glob(row.typ, typ):
		case row.status != "" && status == "":
			return "", false, fmt.Errorf("%s: missing", p.fields.status.name)
		case row.success != "" && success == "":
			return "", false, fmt.Errorf("%s: missing", p.fields.success.name)
		}
	}
	return models.EventUnknown, false, nil
}

// glob matches text with a pattern in which * stands for any run of characters. The empty pattern matches anything.
func glob(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, first)
	for ok && rest != "" {
		var middle string
		if middle, rest, star = strings.Cut(rest, "*"); !star {
			return strings.HasSuffix(text, middle)
		}
		_, text, ok = strings.Cut(text, middle)
	}
	return ok
}
