package models

import "time"

// Transaction is one movement of money under the provider's id. Its primary key never changes and its status only moves
// forward, so that an early "pending" can neither hide nor undo the later "paid".
type Transaction struct {
	Account       string          `gorm:"primaryKey"`
	Kind          TransactionKind `gorm:"primaryKey"`
	TransactionID string          `gorm:"primaryKey"`
	ProviderID    string          // the provider's id when TransactionID is a stand-in ("shop:R1") and it is known by now
	ParentID      string          // refunds, chargebacks and reversals: the row they belong to, by its TransactionID once known
	OrderID       string          // "" until known
	RefundOrderID string
	AmountMinor   int64 // never negative
	Currency      string
	PayerMinor    int64 // what the payer paid after coupons; 0 when not told
	RefundedMinor int64 // payments: the highest running total of refunds told; refunds: the one told with this refund; 0: none
	Derived       bool  // refunds: AmountMinor is no message's word but the difference of running totals, and may yet change
	Status        TransactionStatus
	Event         EventKind // the last event that changed this row
	Outcome       Outcome   // how it fits its order
	Detail        string    // one line for people, when it does not fit
	Source        string    // callback, import, reconcile
	CallbackID    string    // evidence: the callback that last changed it, or repair/ID
	OccurredAt    time.Time `gorm:"serializer:utc"` // when the money moved, by the provider's clock
	LostAt        time.Time `gorm:"serializer:utc"` // disputes: when it was lost, by the provider's clock; zero: not lost. Their reversals: when it was last told won
	CreatedAt     time.Time `gorm:"serializer:utc;autoCreateTime:false"`
	UpdatedAt     time.Time `gorm:"serializer:utc;autoUpdateTime:false"`
}

// ShownID is the id people and JSON see: the provider's, once known.
func (t Transaction) ShownID() string {
	if t.ProviderID != "" {
		return t.ProviderID
	}
	return t.TransactionID
}

// Money is the amount with its currency.
func (t Transaction) Money() Money { return Money{Minor: t.AmountMinor, Currency: t.Currency} }

// SecondRound ends the id of a chargeback that follows the reversal of the first: the dispute D is lost after it was won, and the
// money taken again is a row D:2.
const SecondRound = ":2"

// TransactionKind is the direction and nature of a movement.
type TransactionKind string

// Kinds of transactions. A reversal is a row of its own with its own date; the reversed row keeps succeeded for its day.
const (
	Payment            TransactionKind = "payment"
	Refund             TransactionKind = "refund"
	Chargeback         TransactionKind = "chargeback"
	Payout             TransactionKind = "payout"
	RefundReversal     TransactionKind = "refund_reversal"
	ChargebackReversal TransactionKind = "chargeback_reversal"
)

// Compared says whether a daily run compares rows of this kind with the statement. Payouts are kept, not compared.
func (k TransactionKind) Compared() bool { return k != Payout && k.Known() }

// Known is false for anything that is not one of the kinds above, such as a statement's fee row.
func (k TransactionKind) Known() bool {
	switch k {
	case Payment, Refund, Chargeback, Payout, RefundReversal, ChargebackReversal:
		return true
	}
	return false
}

// TransactionStatus is how far a movement has come.
type TransactionStatus string

// Statuses of transactions. Forward only: pending → authorised → succeeded; failed and closed end the first two.
const (
	StatusPending    TransactionStatus = "pending"
	StatusAuthorised TransactionStatus = "authorised"
	StatusSucceeded  TransactionStatus = "succeeded"
	StatusFailed     TransactionStatus = "failed"
	StatusClosed     TransactionStatus = "closed"
	StatusReversed   TransactionStatus = "reversed" // voided by the provider without an id of its own, or a repair that was taken back
)

// Alias is a further name of a transaction: PaymentIntent beside charge, the shop's refund number beside the refund id.
type Alias struct {
	Account       string          `gorm:"primaryKey"`
	Kind          TransactionKind `gorm:"primaryKey"`
	Alias         string          `gorm:"primaryKey"`
	TransactionID string          // what the row is stored under
}
