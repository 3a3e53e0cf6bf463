// Package alert tells people what the daily runs have found and what does not come: once for each gap and for each thing that is the
// matter, and a digest a day. What is to be told lies in the book until it was delivered, so a sink that is away holds nothing up and
// misses nothing.
package alert

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Sink is somebody to be told: a chat, a mailbox, a program.
type Sink interface {
	// Alert delivers one message. It is told again later after any error but a PartlyError. An error holds neither the sink's address, for
	// a key may lie in it, nor any secret.
	Alert(ctx context.Context, a Alert) error
}

// PartlyError is of a message that some will never get and all others have got: it is not told again, for those would get it once more
// with every try.
type PartlyError struct{ Err error }

// Error implements error.
func (e *PartlyError) Error() string { return "taken, but not for all: " + e.Err.Error() }

// Unwrap gives what was said of those who do not get it.
func (e *PartlyError) Unwrap() error { return e.Err }

// Alert is one message, in the language of its sink.
type Alert struct {
	ID      string    `json:"id"`   // the same for every try: a receiver may drop a repeat
	Kind    Kind      `json:"kind"` // what it is about
	Title   string    `json:"title"`
	Lines   []string  `json:"lines"`
	Account string    `json:"account,omitempty"`
	Date    string    `json:"date,omitempty"` // business day, YYYY-MM-DD
	RunID   string    `json:"run_id,omitempty"`
	Counts  []Count   `json:"counts,omitempty"` // of new gaps by kind, the most first
	Gaps    []Gap     `json:"gaps,omitempty"`   // the first ten
	At      time.Time `json:"at"`               // UTC: when it was made
}

// Kind is what an alert is about.
type Kind string

// Kinds of alerts.
const (
	Gaps      Kind = "gaps"      // a run has found new ones
	Balanced  Kind = "balanced"  // a run has found none; told to those who asked for it
	LateDay   Kind = "late"      // a statement is not there by its hour
	Failed    Kind = "failed"    // a run could not be made
	Silent    Kind = "silent"    // no callbacks come while orders wait
	Recovered Kind = "recovered" // late, failed or silent no more
	Digest    Kind = "digest"    // once a day
	Test      Kind = "test"      // somebody tries whether it arrives
)

// Count is a number of gaps of one kind.
type Count struct {
	Kind string `json:"kind"`
	N    int    `json:"count"`
}

// Gap is one gap in short.
type Gap struct {
	ID            string `json:"id"`
	Kind          string `json:"kind"`
	TransactionID string `json:"transaction_id"`
	OrderID       string `json:"order_id"`
	Statement     string `json:"statement,omitempty"` // amount and currency on either side; "": not there
	Ledger        string `json:"ledger,omitempty"`
	Order         string `json:"order,omitempty"` // what the order asks for
	// Statuses of the two sides, and their fees where it is those that differ.
	StatementStatus string `json:"statement_status,omitempty"`
	LedgerStatus    string `json:"ledger_status,omitempty"`
	StatementFee    string `json:"statement_fee,omitempty"`
	LedgerFee       string `json:"ledger_fee,omitempty"`
}

// Text is the message for a chat: at most so many bytes, cut between lines, each of which was given to escape.
func (a Alert) Text(most int, escape func(string) string) string {
	lines := append([]string{a.Title}, a.Lines...)
	for i := range lines {
		lines[i] = escape(OneLine(lines[i]))
	}
	if whole := strings.Join(lines, "\n"); len(whole) <= most {
		return whole
	}
	text := lines[0]
	for i, line := range lines[1:] {
		left := "\n… +" + strconv.Itoa(len(lines)-1-i)
		if len(text)+1+len(line)+len(left) > most {
			return cut(text, most-len(left)) + left
		}
		text += "\n" + line
	}
	return cut(text, most)
}

// cut shortens text to so many bytes.
func cut(text string, most int) string {
	const dots = "…"
	if len(text) <= most {
		return text
	}
	text = text[:max(most-len(dots), 0)]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + dots
}

// OneLine makes text from outside harmless in a line: nothing in it ends the line, turns its direction or steers a terminal.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || unicode.Is(unicode.Zs, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
}

func asIs(text string) string { return text }

// noTags keeps a stranger's text from being a mention or a tag, for services that have no escape: it looks the same to people.
func noTags(text string) string { return strings.NewReplacer("<", "＜", ">", "＞").Replace(text) }
