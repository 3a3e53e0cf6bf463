package callback

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"paybook/models"
)

// Recording is one callback as a file: for replay, for tests, and as evidence to take away. It holds everything Verify looks
// at, so it verifies for ever, at its own ReceivedAt.
type Recording struct {
	Name       string            `json:"name"`
	Provider   string            `json:"provider"`
	Method     string            `json:"method"`
	Path       string            `json:"path"`
	Query      string            `json:"query,omitempty"` // as received, still encoded
	Headers    map[string]string `json:"headers"`
	Body       []byte            `json:"body_base64"` // byte for byte; base64 in the file
	ReceivedAt time.Time         `json:"received_at"` // the clock to verify at
	Note       string            `json:"note"`
	Expect     Expect            `json:"expect"`
}

// Expect is what a recording must lead to. An empty text or a missing field is not checked. Amounts are major units of
// Currency, compared as numbers; times are RFC 3339.
type Expect struct {
	Verified       bool     `json:"verified"`
	SignatureValid *bool    `json:"signature_valid,omitempty"` // the signature alone, to show why a message is refused
	Reason         string   `json:"reason,omitempty"`
	Event          string   `json:"event"`
	EventID        string   `json:"event_id,omitempty"`
	DedupeKey      string   `json:"dedupe_key,omitempty"`
	TransactionID  string   `json:"transaction_id"`
	ParentID       string   `json:"parent_id,omitempty"`
	OrderID        string   `json:"order_id"`
	RefundOrderID  string   `json:"refund_order_id,omitempty"`
	Amount         string   `json:"amount"`
	AmountMeaning  string   `json:"amount_meaning,omitempty"` // order_total, this_refund or cumulative_refund
	PayerAmount    string   `json:"payer_amount,omitempty"`
	Currency       string   `json:"currency"`
	OccurredAt     string   `json:"occurred_at,omitempty"`
	Effect         string   `json:"effect"`
	OrderCheck     string   `json:"order_check,omitempty"`
	ReplyStatus    int      `json:"reply_status"`
	ReplyBody      string   `json:"reply_body"`
	Items          []Expect `json:"items,omitempty"` // the single events of a batch; the fields above are then the first
}

// ReadRecording reads one recording. Fields it does not know are ignored: a recording may carry notes of its own.
func ReadRecording(path string) (Recording, error) {
	var rec Recording
	raw, err := os.ReadFile(path)
	if err != nil {
		return rec, fmt.Errorf("read recording: %w", err)
	}
	if err := json.Unmarshal(raw, &rec); err != nil {
		return rec, fmt.Errorf("read recording: %s: %w", path, err)
	}
	if rec.Method == "" || rec.Path == "" || rec.ReceivedAt.IsZero() {
		return rec, fmt.Errorf("read recording: %s: method, path and received_at are needed", path)
	}
	return rec, nil
}

// WriteRecording writes rec to path, replacing a file that is there. Only the owner may read it: a body can hold personal data.
func WriteRecording(path string, rec Recording) error {
	raw, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

// Callback is the request as the server of that account would have seen it, at the recorded time.
func (r Recording) Callback(account string) models.Callback {
	headers := http.Header{}
	for name, value := range r.Headers {
		headers.Set(name, value)
	}
	at := r.ReceivedAt.UTC()
	return models.Callback{
		Account: account, Method: r.Method, Path: r.Path, Query: r.Query, Headers: headers, Body: r.Body,
		ReceivedAt: at, LastReceivedAt: at, Deliveries: 1,
	}
}
