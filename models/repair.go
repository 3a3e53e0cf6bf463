package models

import "time"

// Repair is a plan to close gaps of one account and day by booking what the statement says, and what became of it. Its items do not change
// once it is written: what was approved is what is applied.
type Repair struct {
	ID         string `gorm:"primaryKey"` // made by us, time-ordered; "" for a plan that is not stored
	Account    string
	Date       string // business day of the run it was made of
	RunID      string
	State      RepairState
	Hash       string // of all that the plan says, so that the same findings are the same plan
	MadeBy     string
	MadeAt     time.Time  `gorm:"serializer:utc"`
	ApprovedBy string     // the second person; "" when there was none
	ApprovedAt *time.Time `gorm:"serializer:utc"`
	AppliedBy  string
	AppliedAt  *time.Time `gorm:"serializer:utc"`
	ReversedBy string
	ReversedAt *time.Time   `gorm:"serializer:utc"`
	Reason     string       // why it was reversed or dropped
	Items      []RepairItem `gorm:"-"` // in the order in which they are booked
}

// Open says whether the repair can still be applied.
func (r Repair) Open() bool { return r.State == RepairPlanned || r.State == RepairApproved }

// Count counts the items in a state.
func (r Repair) Count(state RepairItemState) (n int) {
	for i := range r.Items {
		if r.Items[i].State == state {
			n++
		}
	}
	return n
}

// Unfinished says whether a repair that was applied or reversed has not done so for every gap.
func (r Repair) Unfinished() bool {
	tried := r.State == RepairApplied || r.State == RepairUndone || r.State == RepairDropped && r.Count(ItemRefused) > 0
	return tried && (r.Count(ItemRefused) > 0 || r.ReversedBy != "" && r.Count(ItemBooked) > 0)
}

// RepairState is how far a repair has come.
type RepairState string

// States of repairs. Forward only: planned, with a second person approved, then applied, and perhaps reversed.
const (
	RepairPlanned  RepairState = "planned"
	RepairApproved RepairState = "approved"
	RepairApplied  RepairState = "applied"
	RepairUndone   RepairState = "reversed" // as far as it could be
	RepairDropped  RepairState = "dropped"  // never applied: another plan took its place, or a person did not want it
)

// RepairItem is one gap of a repair: what would be booked for it, or why nothing can be.
type RepairItem struct {
	RepairID      string `gorm:"primaryKey"`
	GapID         string `gorm:"primaryKey"`
	Place         int64  // in the order of booking, from 1
	State         RepairItemState
	GapKind       GapKind
	GapHash       string          // of what the gap says: a gap that has changed since is not repaired
	Kind          TransactionKind // of the movement
	TransactionID string          // as the statement calls it
	ParentID      string
	OrderID       string
	RefundOrderID string
	AmountMinor   int64
	Currency      string
	Status        TransactionStatus // what the row would be
	OccurredAt    *time.Time        `gorm:"serializer:utc"`  // nil: not repairable
	Event         *Event            `gorm:"serializer:json"` // what a callback would have told; nil: not repairable
	File          string            // the evidence: the statement's file and row
	Line          int
	Why           string      // why it would be booked, or why it cannot be
	Next          string      // the next command to type, when it is not repairable
	Outcome       Outcome     // what a callback would come to now
	Topics        []string    `gorm:"serializer:json"` // of the messages that the shop would get, in their order
	Result        string      // what came of it, for people
	BookedAs      string      // the transaction's id in the book
	BookedAt      *time.Time  `gorm:"serializer:utc"`
	Undo          *RepairUndo `gorm:"serializer:json"` // what its order was before; nil: its order is not here
}

// Money is the amount with its currency.
func (i RepairItem) Money() Money { return Money{Minor: i.AmountMinor, Currency: i.Currency} }

// RepairUndo is what reversing an item returns its order to, if nothing else has happened since.
type RepairUndo struct {
	Before Order // as it was
	After  int64 // its version afterwards
}

// Moved says whether the item has moved the order.
func (u *RepairUndo) Moved() bool { return u != nil && u.After != u.Before.Version }

// RepairItemState is what became of an item.
type RepairItemState string

// States of items.
const (
	ItemPlanned       RepairItemState = "planned"
	ItemNotRepairable RepairItemState = "not_repairable"
	ItemBooked        RepairItemState = "booked"
	ItemAlready       RepairItemState = "already_there" // a callback or somebody else was first
	ItemRefused       RepairItemState = "refused"       // it was not any more what had been planned
	ItemReversed      RepairItemState = "reversed"
)
