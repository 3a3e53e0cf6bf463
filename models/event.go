package models

import "time"

// Event is one verified thing a provider says. It names things as the provider does; Record finds out what we know them by.
type Event struct {
	ID   string // the provider's id of this message, for people; never the key of the money
	Kind EventKind
	// Told is what the message itself says, where the account's settings make more of it: an authorisation that counts as paid is
	// told as payment.authorised and meant as payment.succeeded. "" is the usual: as Kind.
	Told          EventKind
	TransactionID string // the provider's id of this movement (for refund.total and complaints: what the message names)
	// Aliases are further names of the same movement: PaymentIntent beside charge. A provider whose movements can have
	// several names lists at least TransactionID itself, so that every telling, with one name or two, meets the others.
	Aliases []string
	// FoundBy are names by which a statement or a later message may point at this movement, though they are not its own alone (a
	// dispute's capture). They find it, and do not make two movements one as Aliases do; only a dispute told by its own id and the same
	// told by the money's (Aliases: id and capture) become one, once each.
	FoundBy  []string
	ParentID string // refunds, disputes and voids: the payment's id, or any of its names; payment.captured: the authorisation's
	// ParentAliases are further names of the payment that ParentID names, of refunds and disputes: a refund tells charge and
	// PaymentIntent, and its payment may be known by one of them. From then on all of them are names of that payment.
	ParentAliases []string
	OrderID       string // the shop's order number, "" when the message does not carry it
	RefundOrderID string // the shop's refund number
	Money         Money  // the order amount (not what the payer paid after coupons); refund.total: the running total
	PayerMinor    int64  // what the payer paid after coupons, minor units of Money.Currency; 0 when not told
	OccurredAt    time.Time
	// RunningTotal is true for a refund.succeeded whose Money is what has been refunded of the payment so far, this refund included,
	// because the provider does not tell the refund's own sum (Alipay). Ids are then ParentID and RefundOrderID.
	RunningTotal bool
	// VoidsCapture is true for a payment.voided that takes back one capture, whose id it is told under (TransactionID), and not the
	// authorisation (ParentID), which can be captured again (Adyen's CAPTURE_FAILED).
	VoidsCapture bool
	// OnlyKnown is true where a message counts only if its movement is booked already, and is noted else: that a dispute was won, told
	// alike of disputes that took money and of those that never did.
	OnlyKnown bool
	TestMode  bool   // of the other mode than the account: kept, never applied
	Detail    string // one line for people; for EventUnparsable: what is missing
}

// EventKind is the normalised name of an event, spelt as in the test kit.
type EventKind string

// The event kinds. A kind that moves money belongs to exactly one TransactionKind (ledger/meaning.go has the table).
const (
	PaymentPending    EventKind = "payment.pending"
	PaymentAuthorised EventKind = "payment.authorised"
	PaymentSucceeded  EventKind = "payment.succeeded"
	PaymentCaptured   EventKind = "payment.captured" // of an authorisation told before; its own id is an alias
	PaymentFailed     EventKind = "payment.failed"   // one attempt; the order stays open for another
	PaymentFinished   EventKind = "payment.finished" // paid, and no refund is possible any more; may come instead of payment.succeeded
	PaymentClosed     EventKind = "payment.closed"   // the provider will not take money for it any more
	PaymentVoided     EventKind = "payment.voided"   // taken back before settlement: an authorisation ends, a payment is refunded
	RefundPending     EventKind = "refund.pending"
	RefundAbnormal    EventKind = "refund.abnormal" // stuck, needs a person, may still succeed
	RefundSucceeded   EventKind = "refund.succeeded"
	RefundFailed      EventKind = "refund.failed"
	RefundClosed      EventKind = "refund.closed"
	RefundTotal       EventKind = "refund.total" // cumulative sum refunded of one payment; never added, only compared and raised to
	DisputeNotified   EventKind = "dispute.notified"
	DisputeInquiry    EventKind = "dispute.inquiry"
	DisputeCreated    EventKind = "dispute.created" // a complaint without money
	DisputeUpdated    EventKind = "dispute.updated"
	DisputeOpened     EventKind = "dispute.opened"
	DisputeWon        EventKind = "dispute.won"
	DisputeLost       EventKind = "dispute.lost"
	PayoutPending     EventKind = "payout.pending"
	PayoutPaid        EventKind = "payout.paid"
	PayoutFailed      EventKind = "payout.failed"
	ReportAvailable   EventKind = "report.available"
	EventThin         EventKind = "thin"       // needs an API read to learn the amount
	EventUnknown      EventKind = "unknown"    // a type we do not use
	EventUnparsable   EventKind = "unparsable" // genuine, but a needed field is missing or makes no sense
)

// What the shop itself does with an order. No provider says these; they are the events of its transitions beside those above.
const (
	OrderPay    EventKind = "order.pay" // the buyer was sent to a provider: from here on a payment may come at any moment
	OrderShip   EventKind = "order.ship"
	OrderCancel EventKind = "order.cancel"
	OrderExpire EventKind = "order.expire" // not paid within its window
)

// RepairReversed is that a person took a repair back: no provider says it. A row that was booked by the repair counts as never told, so
// that a callback can still tell it.
const RepairReversed EventKind = "repair.reversed"

// Outcome is what became of a verified event. The words are the contract's.
type Outcome string

// Every outcome there is.
const (
	OutcomeApplied          Outcome = "applied"
	OutcomeDuplicate        Outcome = "duplicate"
	OutcomeConflict         Outcome = "conflict" // same id, other content
	OutcomeAmountMismatch   Outcome = "amount_mismatch"
	OutcomeCurrencyMismatch Outcome = "currency_mismatch"
	OutcomeNoOrder          Outcome = "no_order" // parked; applied by itself when the order arrives
	OutcomePaidAfterClose   Outcome = "paid_after_close"
	OutcomeDuplicatePayment Outcome = "duplicate_payment"
	OutcomeNotAllowed       Outcome = "not_allowed"
	OutcomeNoted            Outcome = "noted"
	OutcomeIgnored          Outcome = "ignored"
	OutcomeNeedsFetch       Outcome = "needs_fetch"
	OutcomeTestMode         Outcome = "test_mode"
	OutcomeUnreadable       Outcome = "unreadable"
)
