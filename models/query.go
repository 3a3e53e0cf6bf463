package models

import "time"

// Query asks a provider about one movement. At least one of the names is set; a provider uses the ones it knows.
type Query struct {
	Kind          TransactionKind // payment or refund
	TransactionID string          // the provider's id
	ParentID      string          // refunds: the payment's id
	OrderID       string          // the shop's order number
	RefundOrderID string          // the shop's refund number
	// OrderedAt is when the shop told the provider of the order or the refund (UTC), for a provider that finds it by number and time.
	// Zero: not known.
	OrderedAt time.Time
	Asked     time.Time // the clock (UTC), for what is signed with a time
}

// NotReady is the error of something that a provider does not have yet and will have later: a statement before its hour.
type NotReady struct {
	What string // what is not there, in the provider's words where it gives some
}

func (e *NotReady) Error() string { return "not there yet: " + e.What }

// CannotAsk is the error of a question that can't be put to the provider as the account is: a setting is missing, or none of the names
// given is one the provider finds things by. Asking again changes nothing.
type CannotAsk struct {
	What string // what is missing
	Next string // what to do about it
}

func (e *CannotAsk) Error() string {
	if e.Next == "" {
		return "cannot be asked: " + e.What
	}
	return "cannot be asked: " + e.What + "; " + e.Next
}
