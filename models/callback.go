package models

import (
	"net/http"
	"time"
)

// Callback is one HTTP request as it came, body byte for byte. A repeat with the same account, body and verdict is the same
// row, counted in Deliveries: so a retry storm, or a forger sending one body for ever, takes one row.
type Callback struct {
	ID             string      `gorm:"primaryKey"` // hash of account, verdict and body
	Account        string      // the configured account whose route was called
	Method         string      // POST
	Path           string      // without the query
	Query          string      // as received, still encoded
	Headers        http.Header `gorm:"serializer:json"` // of the first delivery
	Body           []byte
	Sender         string    `gorm:"-"`              // the address it came from, behind trusted proxies; "" for a recording. Not kept
	ReceivedAt     time.Time `gorm:"serializer:utc"` // first delivery; the clock the signature was checked against
	LastReceivedAt time.Time `gorm:"serializer:utc"`
	Deliveries     int64
	Verified       bool
	Reason         Reason  // why it was refused, or "malformed" for a genuine but unreadable one
	Detail         string  // one line for people: what exactly was wrong
	Outcome        Outcome // of the first event; "" when refused
	Event          EventKind
	TransactionID  string // as the message states it
	OrderID        string
	Status         int // HTTP status that was answered
}

// Reason says which check refused a callback. The words are the contract's.
type Reason string

// Every reason there is.
const (
	ReasonSignature   Reason = "signature"
	ReasonTimestamp   Reason = "timestamp"
	ReasonKey         Reason = "key"
	ReasonAlgorithm   Reason = "algorithm"
	ReasonCertificate Reason = "certificate"
	ReasonChain       Reason = "chain"
	ReasonCertURL     Reason = "cert_url"
	ReasonDecrypt     Reason = "decrypt"
	ReasonBasicAuth   Reason = "basic_auth"
	ReasonMerchant    Reason = "merchant" // genuine, but not our account
	ReasonMalformed   Reason = "malformed"
	ReasonTooLarge    Reason = "too_large"
)

// Rejection is the error of a callback that was refused. Detail is for logs and people: it never holds a secret, a body or
// a card number.
type Rejection struct {
	Reason Reason
	Detail string
	Probe  bool // the provider's own test of us: refused like a forgery, but no reason for an alarm
}

func (r *Rejection) Error() string {
	if r.Detail == "" {
		return "refused: " + string(r.Reason)
	}
	return "refused: " + string(r.Reason) + ": " + r.Detail
}

// Answer is what happened to a callback, for Provider.Reply to put into the provider's own words.
type Answer struct {
	Outcome Outcome // set when the callback is recorded; OutcomeUnreadable is the one some providers answer differently
	Reason  Reason  // set when it was refused
	// neither set: the failure is ours, the provider shall send again (503)
}

// Accepted is true when the callback is stored for good.
func (a Answer) Accepted() bool { return a.Reason == "" && a.Outcome != "" }
