package reconcile

import (
	"time"

	"paybook/models"
)

// RepairReport is a repair as it is printed. Amounts are decimal text in major units; times are RFC 3339 in the account's zone.
type RepairReport struct {
	ID         string             `json:"id"` // "" for a plan that is not kept: nothing to book, or a dry run
	Account    string             `json:"account"`
	Date       string             `json:"date"`
	RunID      string             `json:"run_id"`
	State      models.RepairState `json:"state"`
	Hash       string             `json:"hash"`
	MadeBy     string             `json:"made_by"`
	MadeAt     string             `json:"made_at"`
	ApprovedBy string             `json:"approved_by"`
	ApprovedAt string             `json:"approved_at"`
	AppliedBy  string             `json:"applied_by"`
	AppliedAt  string             `json:"applied_at"`
	ReversedBy string             `json:"reversed_by"`
	ReversedAt string             `json:"reversed_at"`
	Reason     string             `json:"reason"`
	Items      []RepairItemReport `json:"items,omitempty"` // not in lists
}

// RepairItemReport is one gap of a repair.
type RepairItemReport struct {
	GapID         string                   `json:"gap_id"`
	GapKind       models.GapKind           `json:"gap_kind"`
	State         models.RepairItemState   `json:"state"`
	Account       string                   `json:"account"`
	Kind          models.TransactionKind   `json:"kind"`
	TransactionID string                   `json:"transaction_id"`
	OrderID       string                   `json:"order_id"`
	ParentID      string                   `json:"parent_id"`
	RefundOrderID string                   `json:"refund_order_id"`
	Amount        string                   `json:"amount"`
	Currency      string                   `json:"currency"`
	Status        models.TransactionStatus `json:"status"`      // "" when it is not repairable
	OccurredAt    string                   `json:"occurred_at"` // the same
	Event         models.EventKind         `json:"event"`       // the same: what a callback would have told
	Source        string                   `json:"source"`      // the same: what its row of the book says of where it comes from
	File          string                   `json:"file"`
	Line          int                      `json:"line"`
	Why           string                   `json:"why"`
	Next          string                   `json:"next"`      // the next command to type, when it is not repairable
	Outcome       models.Outcome           `json:"outcome"`   // what it comes to
	Messages      []string                 `json:"messages"`  // the topics of what the shop is told
	Result        string                   `json:"result"`    // what came of it
	BookedAs      string                   `json:"booked_as"` // the transaction's id in the book
	BookedAt      string                   `json:"booked_at"`
}

// NewRepairReport prints a repair; zone nil is UTC.
func NewRepairReport(r models.Repair, zone *time.Location) *RepairReport {
	if zone == nil {
		zone = time.UTC
	}
	out := &RepairReport{ID: r.ID, Account: r.Account, Date: r.Date, RunID: r.RunID, State: r.State, Hash: r.Hash, MadeBy: r.MadeBy,
		MadeAt: shownAt(&r.MadeAt, zone), ApprovedBy: r.ApprovedBy, ApprovedAt: shownAt(r.ApprovedAt, zone), AppliedBy: r.AppliedBy,
		AppliedAt: shownAt(r.AppliedAt, zone), ReversedBy: r.ReversedBy, ReversedAt: shownAt(r.ReversedAt, zone), Reason: r.Reason}
	for _, i := range r.Items {
		item := RepairItemReport{GapID: i.GapID, GapKind: i.GapKind, State: i.State, Account: r.Account, Kind: i.Kind, TransactionID: i.TransactionID,
			OrderID: i.OrderID, ParentID: i.ParentID, RefundOrderID: i.RefundOrderID, Amount: i.Money().Text(), Currency: i.Currency, Status: i.Status,
			OccurredAt: shownAt(i.OccurredAt, zone), File: i.File, Line: i.Line, Why: i.Why, Next: i.Next, Outcome: i.Outcome, Messages: i.Topics,
			Result: i.Result, BookedAs: i.BookedAs, BookedAt: shownAt(i.BookedAt, zone)}
		if i.Event != nil {
			item.Event, item.Source = i.Event.Kind, "reconcile"
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// Count counts the items in a state.
func (r *RepairReport) Count(state models.RepairItemState) int {
	return count(r.Items, func(i RepairItemReport) bool { return i.State == state })
}

func shownAt(at *time.Time, zone *time.Location) string {
	if at == nil {
		return ""
	}
	return at.In(zone).Format(time.RFC3339)
}
