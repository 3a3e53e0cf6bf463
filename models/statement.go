package models

import (
	"fmt"
	"time"
)

// Statement is a provider's file for one day, as far as reading it taught us.
type Statement struct {
	// Compared is false for a file that the reader knows but that is not to be matched against the book: a fund-flow bill
	// beside a trade bill, a payouts file, a download answer. Title names it for people.
	Compared bool
	Title    string
	// Next is what would have a file compared that is not, for people: "settings.balance_report names its columns". Optional.
	Next string
	// Batch is true for settlement batches, whose rows may lie outside the day.
	Batch bool
	// WholePayouts is true for a report that has all rows of every payout in it: what other files have of them is the same told twice.
	WholePayouts bool
	// Totals is true when the file carried control totals of its own; the reader has checked them before it returns.
	Totals bool
	// Only is the one kind of transactions that a file of this sort can hold; "" is any. A bill of payments only says nothing about
	// refunds, so that none is missing in it.
	Only TransactionKind
	// From and To are the days the file itself says it is of (UTC): From to right before To. Zero: it does not say.
	From, To time.Time
	// Promises is what a summary file says that the compared files of the same run hold, all together.
	Promises []Promise
	// Part is which file of a report in several files this is. Number 0: it is no such report.
	Part Part
	// Digest is what a download answer says another file of the same run must hash to (after unpacking): "sha1:hex".
	Digest string
}

// Promise is one figure of a summary: so many rows of a kind in a currency, and their sum without sign. Money without a currency
// is no sum: the count alone is promised. Kind "" is all rows that are compared, and its sum the payments less all other kinds.
type Promise struct {
	Kind  TransactionKind
	Count int64
	Money Money
}

// Part is one of the files that a long report is split into. A run needs all of them.
type Part struct {
	Of     string // the report, for telling its files from another's of the same day
	Number int64  // from 1
	Last   bool   // the file ends the report
	Rows   int64  // in this file
	Total  int64  // rows in all files of the report; told by the last one, -1: by none
}

// Entry is one line of a statement. Kind may be one of the extra words below.
type Entry struct {
	Kind          TransactionKind
	TransactionID string   // the provider's id of this movement; for fee rows whatever names the row
	Aliases       []string // further names of the movement
	ParentID      string
	OrderID       string
	RefundOrderID string
	Money         Money // the amount the callback spoke of, without sign
	Fee           Money // what the provider kept; negative when it gave back; Currency "": the file does not tell fees
	// FeeDue is what the account's fee schedule asks for, where Fee is something else: set by the run, no reader knows it.
	FeeDue Money
	// Gross is what the row moved in the balance before its fee, negative when it left us, in the balance's currency; told where Money is
	// not that (Moved): a payment in yen that was settled in dollars.
	Gross       Money
	PayoutID    string // the payout or settlement batch that the row is part of; "": the file does not say
	Status      TransactionStatus
	StatusText  string // the provider's own word, for people
	UnknownKind string // the provider's word for the kind when it is one the reader does not know; Kind is then EntryAdjustment
	// Adjusts is true for a row that changes the amount of the row of the same kind and id (partial capture): Money is then signed.
	Adjusts bool
	// Part is true for one of several rows that a movement may be given in, such as the captures of a payment. Rows of one id whose
	// Aliases differ then add up; with the same Aliases it is one row given twice. The reader need not remember which ids it has seen.
	Part bool
	// Final is true for a status that is not the snapshot of a movement under way: what is pending in such a row has not come.
	Final      bool
	OccurredAt time.Time
	Line       int // of the unpacked file, from 1
}

// Moved is what the row moved in the balance before its fee, negative when it left us, in the balance's currency: Gross, or else Money with
// the sign of its kind. A row that says that no money has moved, or in words we do not know, has moved none.
func (e *Entry) Moved() Money {
	switch {
	case e.Gross.Currency != "":
		return e.Gross
	case e.Status != StatusSucceeded:
		return Money{Currency: e.Money.Currency}
	}
	m := e.Money
	switch e.Kind {
	case Refund, Chargeback, Payout, EntryFee: // of a fee Money is what was kept
		m.Minor = -m.Minor
	}
	return m
}

// Kinds of statement rows that are not transactions: kept in the totals, never compared, never of a wrong day.
const (
	EntryFee        TransactionKind = "fee"
	EntryConversion TransactionKind = "conversion"
	EntryAdjustment TransactionKind = "adjustment"
	EntryReserve    TransactionKind = "reserve" // held back, or let go again
)

// Statuses only a statement can have.
const (
	// StatusUnknown is a status text the reader does not know: listed as unknown_status, never taken for succeeded.
	StatusUnknown TransactionStatus = "unknown"
)

// FileError is a statement that can't be used: what, and where. Nothing of it is written.
type FileError struct {
	File   string
	Line   int    // from 1; 0: the whole file
	Column string // the header's name, or a number; "" when it is not about one cell
	What   string // what is wrong, what was found, what was expected
	Next   string // what to do about it, optional
}

func (e *FileError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(": row %d", e.Line)
	}
	if e.Column != "" {
		s += ": column " + e.Column
	}
	s += ": " + e.What
	if e.Next != "" {
		s += "; " + e.Next
	}
	return s
}
