package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile/lang"
)

// Report is what a run has found, as it is printed. Amounts are decimal text in major units with the currency's own decimals.
type Report struct {
	Account   string           `json:"account"`
	Provider  string           `json:"provider"`
	Date      string           `json:"date"`
	TimeZone  string           `json:"time_zone"`
	RunID     string           `json:"run_id"`
	Result    models.RunResult `json:"result"`
	Statement StatementReport  `json:"statement"`
	Ledger    LedgerReport     `json:"ledger"`
	// Compared counts the statement's rows of payments, refunds, chargebacks and their reversals, a repeated row once.
	Compared int64 `json:"compared"`
	Matched  int64 `json:"matched"` // pairs without a gap
	// Gaps are the open ones: of this day, and of neighbouring days those that waited for this day's statement (these with their date).
	Gaps    []GapReport            `json:"gaps"`
	Carried []GapReport            `json:"carried"` // not open: they wait for a neighbouring day's statement
	Healed  []GapReport            `json:"healed"`  // no longer found, or explained by this day's statement
	Summary map[models.GapKind]int `json:"summary"`
	// Accepted are found as before, and stay resolved by a person's word.
	Accepted []GapReport `json:"accepted,omitempty"`
	Payouts  int         `json:"payouts_kept,omitempty"` // payouts of the files, kept by their ids
	// Bridges are of the payouts that the day's rows are part of, that its files tell, and that were paid on the day, one a currency.
	Bridges []Bridge `json:"bridges,omitempty"`
	// NotPaidOut is what of the day's rows no payout has claimed, where the provider pays out at all.
	NotPaidOut []Bridge `json:"not_paid_out,omitempty"`
	// Bank is what a run of a bank account adds.
	Bank  *BankReport `json:"bank,omitempty"`
	Notes []string    `json:"notes,omitempty"`
	// Repair is what a repair would book, or has booked; nil: none was asked for. It is no part of what is kept of a run.
	Repair    *RepairReport `json:"repair,omitempty"`
	RepairErr error         `json:"-"` // why it was not applied
}

// StatementReport is the provider's side.
type StatementReport struct {
	Files         []FileReport `json:"files"`
	Entries       int64        `json:"entries"`        // rows of the files that are compared
	ControlTotals string       `json:"control_totals"` // agree; none when a file carries none
	Totals        []Total      `json:"totals"`         // of rows that moved money or still may
	// UnknownKinds are words for kinds of rows that the reader does not know. Their rows are counted as adjustments and not compared,
	// which is no gap and leaves Result as it is.
	UnknownKinds []UnknownKind `json:"unknown_kinds,omitempty"`
	// LeftOut are settlement batches that belong to the runs of other dates.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// UnknownKind is one such word in one file.
type UnknownKind struct {
	File     string `json:"file"`
	Word     string `json:"word"`
	Rows     int64  `json:"rows"`
	FirstRow int    `json:"first_row"` // of the unpacked file, from 1
}

// String is a sentence for people.
func (u UnknownKind) String() string {
	return fmt.Sprintf("%s: kind %q is a word we do not know: %s, the first is row %d; counted as an adjustment, not compared", u.File, u.Word,
		lang.English.Count(int(u.Rows), "row"), u.FirstRow)
}

// LeftOut is a batch that was found and not read.
type LeftOut struct {
	Name string `json:"name"`
	Date string `json:"date"` // of the run that has read it
}

// lists are the report's lists of gaps.
func (r *Report) lists() []*[]GapReport {
	return []*[]GapReport{&r.Gaps, &r.Carried, &r.Healed, &r.Accepted}
}

// head is the report without its gaps, which may be many.
func (r *Report) head() Report {
	head := *r
	head.Gaps, head.Carried, head.Healed, head.Accepted = []GapReport{}, []GapReport{}, []GapReport{}, nil
	return head
}

// FileReport is one file.
type FileReport struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // as it lies on the disk
}

// LedgerReport is our side: the day's transactions of the kinds that are compared, and the totals of those that succeeded.
type LedgerReport struct {
	Transactions int64   `json:"transactions"`
	Totals       []Total `json:"totals"`
}

// Total is a sum of one kind in one currency.
type Total struct {
	Kind     models.TransactionKind `json:"kind"`
	Currency string                 `json:"currency"`
	Count    int64                  `json:"count"`
	Amount   string                 `json:"amount"`
	Fee      string                 `json:"fee,omitempty"` // the statement's side only
}

// The values of StatementReport.ControlTotals.
const (
	controlAgree = "agree"
	controlNone  = "none"
)

// GapReport is a gap as it is printed.
type GapReport struct {
	ID            string                 `json:"id"`
	Account       string                 `json:"account,omitempty"` // in lists over accounts
	Date          string                 `json:"date,omitempty"`    // in lists; in a run's report when it is another day's
	Kind          models.GapKind         `json:"kind"`
	Differs       []string               `json:"differs"`
	EntryKind     models.TransactionKind `json:"entry_kind"`
	TransactionID string                 `json:"transaction_id"`
	OrderID       string                 `json:"order_id"`
	ParentID      string                 `json:"parent_id"`
	RefundOrderID string                 `json:"refund_order_id"`
	State         models.GapState        `json:"state"`
	New           bool                   `json:"new"`
	Statement     *models.Side           `json:"statement"`
	Ledger        *models.Side           `json:"ledger"`
	Order         *models.Side           `json:"order"`
	Reason        string                 `json:"reason"`
	Next          string                 `json:"next"`
	FirstSeen     string                 `json:"first_seen"` // a date in the account's zone
	AgeDays       int                    `json:"age_days"`
	ResolvedAt    string                 `json:"resolved_at,omitempty"` // RFC 3339 in the account's zone; in lists
	Resolution    string                 `json:"resolution,omitempty"`  // what a person wrote
	Owner         string                 `json:"owner"`                 // whose task it is; "": nobody's yet
	DueOn         string                 `json:"due_on"`                // YYYY-MM-DD of the account's zone; "": no date
	Overdue       *bool                  `json:"overdue,omitempty"`     // in lists: not resolved, and DueOn is over
	// Evidence changes with whatever the gap says and wherever it stands: who decides on it names what was seen.
	Evidence string `json:"evidence,omitempty"`
}

// NewGapReport prints a gap for a list, with its account and date; the age is as of now. zone nil is UTC.
func NewGapReport(g models.Gap, zone *time.Location, now time.Time) GapReport {
	if zone == nil {
		zone = time.UTC
	}
	seen, today := civil(g.FirstSeen.In(zone)), civil(now.In(zone))
	out := GapReport{ID: g.ID, Account: g.Account, Date: g.Date, Kind: g.Kind, Differs: g.Differs, EntryKind: g.EntryKind,
		TransactionID: g.TransactionID, OrderID: g.OrderID, ParentID: g.ParentID, RefundOrderID: g.RefundOrderID, State: g.State,
		Statement: g.Statement, Ledger: g.Ledger, Order: g.Order, Reason: g.Reason, Next: g.Next,
		FirstSeen: seen.String(), AgeDays: max(0, seen.daysTo(today)), Owner: g.Owner, DueOn: g.DueOn, Evidence: ledger.GapMark(&g)}
	overdue := g.State != models.GapResolved && g.DueOn != "" && g.DueOn < today.String()
	out.Overdue = &overdue
	if out.Differs == nil {
		out.Differs = []string{}
	}
	if g.HealedRun == "" {
		out.Resolution = g.Resolution
	}
	return out
}

// Item is one element of the printed list: a run's report, or why an account could not be run.
type Item struct {
	Report  *Report
	Account string // of Err
	Err     error
}

// MarshalJSON prints the report, or {"account","error":{"message","file","row","column"}}.
func (i Item) MarshalJSON() ([]byte, error) {
	if i.Err == nil {
		return json.Marshal(i.Report)
	}
	type problem struct {
		Message string `json:"message"`
		File    string `json:"file,omitempty"`
		Row     int    `json:"row,omitempty"`
		Column  string `json:"column,omitempty"`
	}
	p := problem{Message: i.Err.Error()}
	var file *models.FileError
	if errors.As(i.Err, &file) {
		p.File, p.Row, p.Column = file.File, file.Line, file.Column
	}
	return json.Marshal(struct {
		Account string  `json:"account"`
		Error   problem `json:"error"`
	}{i.Account, p})
}
