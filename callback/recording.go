package callback

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
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
	if err := rec.read(raw); err != nil {
		return rec, fmt.Errorf("read recording: %s: %w", path, err)
	}
	return rec, nil
}

// read is not one json.Unmarshal, because that does not say which key held a bad time or bad base64.
func (r *Recording) read(raw []byte) error {
	var keys map[string]json.RawMessage
	var other *json.UnmarshalTypeError
	err := json.Unmarshal(raw, &keys)
	if errors.As(err, &other) {
		return fmt.Errorf("a JSON %s, expected an object", other.Value)
	}
	if err != nil {
		return err
	}
	for _, f := range []struct {
		key, want string
		into      any
		needed    bool
	}{
		{"name", "a text", &r.Name, false}, {"provider", "a text", &r.Provider, false}, {"note", "a text", &r.Note, false},
		{"method", "a text such as POST", &r.Method, true}, {"path", "a text such as /callbacks/stripe", &r.Path, true},
		{"query", "a text", &r.Query, false},
		{"headers", `an object of texts, such as {"Content-Type": "application/json"}; several values of one header are one text with commas`, &r.Headers, false},
		{"body_base64", `the body in base64, "" for an empty one`, &r.Body, true},
		{"received_at", `a time with its offset, such as "2026-11-29T10:00:03+08:00"`, &r.ReceivedAt, true},
		{"expect", "an object with what must come of it", &r.Expect, false},
	} {
		text, given := keys[f.key]
		switch {
		case f.needed && (!given || string(text) == "null" || string(text) == `""` && f.key != "body_base64"):
			return fmt.Errorf("%s: missing, expected %s; app callbacks show ID --save FILE writes a recording", f.key, f.want)
		case !given:
			continue
		}
		if err := json.Unmarshal(text, f.into); err != nil {
			return fmt.Errorf("%s: expected %s: %w", place(f.key, text, err), f.want, err)
		}
	}
	if r.ReceivedAt.IsZero() {
		return errors.New("received_at: the zero time, expected the time of receipt")
	}
	return nil
}

// place is the key, or the one within it that an error is about. Of a map's values, as the headers are, the error does not tell which.
func place(key string, text json.RawMessage, err error) string {
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) && other.Field != "" {
		return key + "." + other.Field
	}
	var values map[string]json.RawMessage
	if key != "headers" || json.Unmarshal(text, &values) != nil {
		return key
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var value string
		if json.Unmarshal(values[name], &value) != nil {
			return key + "." + name
		}
	}
	return key
}

// WriteRecording writes rec to path, replacing a file that is there. Only the owner may read it, whoever could read the former one: a body
// can hold personal data, and a header a token.
func WriteRecording(path string, rec Recording) error {
	if rec.Body == nil {
		rec.Body = []byte{} // "" says that it was empty, null that it is missing
	}
	raw, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	err = f.Chmod(0o600)
	if err == nil {
		_, err = f.Write(append(raw, '\n'))
	}
	if err = errors.Join(err, f.Close()); err != nil {
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
