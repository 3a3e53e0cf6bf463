package models

import "time"

// Token is a one-time token or an idempotency key: what it was spent on, and the answer that was given. (token, owner) is its key.
type Token struct {
	Owner       string     `gorm:"primaryKey"` // name of the API key; "" without one
	Token       string     `gorm:"primaryKey"` // tok_… when issued by us, else whatever the client made up
	Scope       string     // what an issued one is for, in the shop's words
	State       TokenState // forward only
	Fingerprint string     // hash of the request it was spent on
	Holder      string     // who is working on that request
	HeldUntil   *time.Time `gorm:"serializer:utc"` // after it, somebody else may take the work over
	Status      int64      // HTTP status of the first answer; 0 until there is one
	Body        string     // the first answer, byte for byte
	OrderID     string
	CreatedAt   time.Time `gorm:"serializer:utc;autoCreateTime:false"`
	ExpiresAt   time.Time `gorm:"serializer:utc"` // issued: may not be spent after it; spent: the answer is kept until then
}

// TokenState is how far a token is.
type TokenState string

// The states of a token.
const (
	TokenIssued  TokenState = "issued"  // not spent yet
	TokenRunning TokenState = "running" // its request is being worked on
	TokenSpent   TokenState = "spent"   // and the answer is here
)
