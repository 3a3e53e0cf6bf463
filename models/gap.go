package models

import "time"

// Gap is one difference between statement and book (finance calls it a break), from open to resolved. Its id is a hash of
// account, date, kind of movement and key, so that the same difference found again is the same gap.
type Gap struct {
	ID            string `gorm:"primaryKey"`
	Account       string
	Date          string // business day of the run that found it
	Kind          GapKind
	Differs       []string `gorm:"serializer:json"`
	EntryKind     TransactionKind
	TransactionID string
	OrderID       string
	ParentID      string
	RefundOrderID string
	State         GapState
	Statement     *Side `gorm:"serializer:json"` // nil: not on that side
	Ledger        *Side `gorm:"serializer:json"`
	Order         *Side `gorm:"serializer:json"`
	Reason        string
	Next          string
	FirstRun      string // run that found it first
	LastRun       string // run that saw it last
	// WaitsFor lists the days whose statements may still explain a carried gap: it opens when all of them have been read.
	WaitsFor []string `gorm:"serializer:json"`
	// DecidedOn is the date of the run that opened or healed a gap of another day, "" for a day's own runs.
	DecidedOn  string
	HealedRun  string     // the run that no longer found it, or repair/ID; "" when a person resolved it
	Resolution string     // how it ended: by a later run, or what a person wrote
	Owner      string     // whose task it is; "": nobody's yet
	DueOn      string     // until when, YYYY-MM-DD of the account's zone; "": no date
	FirstSeen  time.Time  `gorm:"serializer:utc"`
	ResolvedAt *time.Time `gorm:"serializer:utc"`
}

// Side is what one side of a gap says. Amount is in major units with the currency's own decimals.
type Side struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
	// Fee is told where it is what differs: the statement's, and on the book's side what the account's fee schedule asks for. In major
	// units of Currency, or with its own currency behind it.
	Fee  string `json:"fee,omitempty"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// GapKind is what kind of difference it is. The words are the contract's.
type GapKind string

// Kinds of gaps.
const (
	GapMissingLocal     GapKind = "missing_local"
	GapMissingProvider  GapKind = "missing_provider"
	GapAmount           GapKind = "amount_mismatch"
	GapCurrency         GapKind = "currency_mismatch"
	GapStatus           GapKind = "status_mismatch"
	GapDuplicateEntry   GapKind = "duplicate_entry"
	GapConflict         GapKind = "conflict"
	GapUnknownOrder     GapKind = "unknown_order"
	GapPaidAfterClose   GapKind = "paid_after_close"
	GapDuplicatePayment GapKind = "duplicate_payment"
	GapNotAllowed       GapKind = "not_allowed"
	GapWrongDay         GapKind = "wrong_day"
	GapUnknownStatus    GapKind = "unknown_status"
	GapFee              GapKind = "fee_mismatch"
	GapPayout           GapKind = "payout_mismatch"
	GapBankMissing      GapKind = "bank_missing"    // a payout without a line of the bank
	GapBankUnexpected   GapKind = "bank_unexpected" // a line of the bank without a payout
)

// GapState is where a gap is in its life.
type GapState string

// States of gaps. Carried is not open: it waits for the neighbouring day's statement.
const (
	GapOpen     GapState = "open"
	GapCarried  GapState = "carried"
	GapResolved GapState = "resolved"
)
