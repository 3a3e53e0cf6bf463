package models

import "time"

// Query asks a provider about one movement. At least one of the names is set; a provider uses the ones it knows.
type Query struct {
	Kind          TransactionKind // payment or refund
	TransactionID string          // the provider's id
	ParentID      string          // refunds: the payment's id
	OrderID       string          // the shop's order number
	RefundOrderID string          // the shop's refund number
	Asked         time.Time       // the clock, for what is signed with a time
}

// NotReady is the error of something that a provider does not have yet and will have later: a statement before its hour.
type NotReady struct {
	What string // what is not there, in the provider's words where it gives some
}

func (e *NotReady) Error() string { return "not there yet: " + e.What }
