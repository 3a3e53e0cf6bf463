package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"paybook/models"
)

// Sentence says in words what the entry tells.
func (r *AuditRow) Sentence() string {
	switch kind, _, _ := strings.Cut(r.Subject, "/"); kind {
	case "gap":
		if d, err := gapDetail(r.Detail); err == nil {
			return d.sentence(r.Action)
		}
	case "run":
		var d RunDetail
		if err := json.Unmarshal([]byte(r.Detail), &d); err == nil {
			return strings.TrimPrefix(r.Action, "run.") + ": " + d.Account + " of " + d.Date + ", " + string(d.Result)
		}
	case "repair":
		var d repairDetail
		if err := json.Unmarshal([]byte(r.Detail), &d); err == nil {
			return d.sentence(r.Action)
		}
	case "archive":
		var d archiveDetail
		if err := json.Unmarshal([]byte(r.Detail), &d); err == nil {
			return fmt.Sprintf("%s: %s, %d bytes", strings.TrimPrefix(r.Action, "archive."), d.Name, d.Bytes)
		}
	}
	return r.Action
}

func (d *repairDetail) sentence(action string) string {
	text := strings.TrimPrefix(action, "repair.") + ": " + d.Account + " of " + d.Date
	for _, items := range []struct {
		n     int
		state models.RepairItemState
	}{{d.Planned, models.ItemPlanned}, {d.Booked, models.ItemBooked}, {d.AlreadyThere, models.ItemAlready}, {d.Refused, models.ItemRefused},
		{d.Reversed, models.ItemReversed}} {
		switch items.n {
		case 0:
		case 1:
			text += "; 1 item " + string(items.state)
		default:
			text += fmt.Sprintf("; %d items %s", items.n, items.state)
		}
	}
	if d.Reason != "" {
		text += "; because: " + d.Reason
	}
	return text
}

func (d *GapDetail) sentence(action string) string {
	text := d.said(action)
	if d.Text != "" {
		text += ": " + d.Text
	}
	if changed := d.differences(); changed != "" {
		text += " (" + changed + ")"
	}
	if d.Run != "" {
		text += ", by run " + d.Run
	}
	if d.From != "" {
		text += ", from " + d.From
	}
	return text
}

func (d *GapDetail) said(action string) string {
	switch action {
	case GapOpened:
		if d.Now.Kind == "" { // it says what it has said all along
			return "opened: the statements that it waited for do not explain it"
		}
		return "opened as " + string(d.Now.Kind)
	case GapCarried:
		return "waits for a neighbouring day's statement"
	case GapChanged:
		return "found again, with other evidence"
	case GapHealed:
		return "healed: not found any more"
	case GapResolved:
		if d.Now.Resolution != d.Text { // a repair
			return "resolved, " + d.Now.Resolution
		}
		return "resolved"
	case GapReopened:
		return "reopened"
	case GapAssigned:
		return d.assigned()
	case GapDue:
		return "due on " + cmp.Or(d.Now.DueOn, "no date")
	case GapCommented:
		return "commented"
	case GapAdopted:
		return "was there before the log, " + string(d.Now.State)
	}
	return strings.TrimPrefix(action, "gap.")
}

func (d *GapDetail) assigned() string {
	text := "taken from its owner"
	if d.Now.Owner != "" {
		text = "assigned to " + d.Now.Owner
	}
	if d.Was != nil && d.Was.Owner != "" {
		text += ", was " + d.Was.Owner + "'s"
	}
	if d.Now.DueOn != "" {
		text += ", due on " + d.Now.DueOn
	}
	return text
}

// differences are those of the evidence, where the entry tells both.
func (d *GapDetail) differences() string {
	if d.Was == nil || d.Was.Kind == "" || d.Was.Evidence == d.Now.Evidence {
		return ""
	}
	var list []string
	note := func(of, was, now string) {
		if was != now {
			list = append(list, of+" "+was+", now "+now)
		}
	}
	note("kind", string(d.Was.Kind), string(d.Now.Kind))
	note("statement", sideText(d.Was.Statement), sideText(d.Now.Statement))
	note("book", sideText(d.Was.Ledger), sideText(d.Now.Ledger))
	note("order", sideText(d.Was.Order), sideText(d.Now.Order))
	note("differs in", cmp.Or(strings.Join(d.Was.Differs, " "), "nothing"), cmp.Or(strings.Join(d.Now.Differs, " "), "nothing"))
	return strings.Join(list, "; ")
}

func sideText(s *models.Side) string {
	if s == nil {
		return "nothing"
	}
	text := s.Amount + " " + s.Currency + " " + s.Status
	if s.Fee != "" {
		text += " fee " + s.Fee
	}
	return text
}
