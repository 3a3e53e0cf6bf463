package models

import "time"

// Order is the shop's order and its state. Only ledger's compare-and-set moves it; a whole-row save never does.
type Order struct {
	OrderID       string `gorm:"primaryKey"`
	AmountMinor   int64
	Currency      string
	Status        OrderStatus
	Version       int64 // grows by one with every move
	RefundedMinor int64
	Shipped       bool // goods are out: where refunds and disputes that came to nothing return the order to
	// PriorStatus is where a won dispute returns the order to; "" when no dispute is under way.
	PriorStatus OrderStatus
	// Stock is what became of the units the order's items name; "" for an order without items.
	Stock StockState
	// PaidAccount and PaidTransactionID name the one payment that paid it; a second payment is a duplicate_payment.
	PaidAccount       string
	PaidTransactionID string
	ExpiresAt         *time.Time `gorm:"serializer:utc"` // nil: never
	CreatedAt         time.Time  `gorm:"serializer:utc;autoCreateTime:false"`
	UpdatedAt         time.Time  `gorm:"serializer:utc;autoUpdateTime:false"`
}

// Money is the order's amount.
func (o Order) Money() Money { return Money{Minor: o.AmountMinor, Currency: o.Currency} }

// OrderStatus is the state of an order.
type OrderStatus string

// States of orders.
const (
	Unpaid       OrderStatus = "unpaid"
	Paying       OrderStatus = "paying"
	Paid         OrderStatus = "paid"
	Shipped      OrderStatus = "shipped"
	PartRefunded OrderStatus = "part_refunded"
	Refunded     OrderStatus = "refunded"
	Closed       OrderStatus = "closed"
	Disputed     OrderStatus = "disputed"
	ChargedBack  OrderStatus = "charged_back"
)

// Transition is one move of one order. Only ever added; (order, version) is its key.
type Transition struct {
	OrderID       string `gorm:"primaryKey"`
	Version       int64  `gorm:"primaryKey"` // the order's version after the move
	From          OrderStatus
	To            OrderStatus
	Event         string // an EventKind: a provider's, or the shop's own act
	Account       string
	Kind          TransactionKind
	TransactionID string
	At            time.Time `gorm:"serializer:utc"`
}

// Message is what the shop must be told about one move: an outbox row, written with the move, delivered later.
type Message struct {
	OrderID   string     `gorm:"primaryKey"`
	ID        string     `gorm:"primaryKey"` // made by us, time-ordered
	Topic     string     // order.paid, order.part_refunded, …
	Payload   string     // JSON
	CreatedAt time.Time  `gorm:"serializer:utc;autoCreateTime:false"`
	SentAt    *time.Time `gorm:"serializer:utc"` // nil: still to be delivered
}
