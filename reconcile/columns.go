package reconcile

import (
	"cmp"
	"strconv"
	"strings"

	"paybook/models"
	"paybook/reconcile/lang"
)

// Column is one column of a spreadsheet of gaps, one fact wide: both sides of a gap lie flat in its row.
type Column struct {
	Name string
	Type ColumnType
	text func(Row, lang.Language) string
	side func(*GapReport) *models.Side // of an amount
}

// ColumnType says what the cells of a column hold.
type ColumnType int

// Types of columns.
const (
	CellText   ColumnType = iota // ids and sentences, never a number however much it looks like one
	CellAmount                   // decimal text in major units of the row's currency
	CellNumber
	CellDay // YYYY-MM-DD by the account's calendar
)

// Row is a gap in a spreadsheet, with the account and the day of its report, which count where it names none itself.
type Row struct {
	Account, Date string
	*GapReport
}

// The columns of a gap's row that a person fills in and `app gaps apply` reads, and those that tell it which gap is meant, and as what it was
// seen. They are spelled so in every language.
const (
	ColumnGap      = "gap_id"
	ColumnOwner    = "owner"
	ColumnDueOn    = "due_on" // YYYY-MM-DD
	ColumnDecision = "decision"
	ColumnNote     = "note"
	ColumnEvidence = "evidence"
)

// Decisions are what a person may write into the column of decisions.
var Decisions = []string{"resolve", "reopen", "assign", "comment"}

// Columns are those of CSV and XLSX, in their order.
var Columns = []Column{
	textColumn("account", func(r Row) string { return cmp.Or(r.GapReport.Account, r.Account) }),
	{Name: "date", Type: CellDay, text: func(r Row, _ lang.Language) string { return cmp.Or(r.GapReport.Date, r.Date) }},
	textColumn(ColumnGap, func(r Row) string { return r.ID }),
	wordColumn("kind", func(r Row) string { return string(r.Kind) }),
	{Name: "differs", text: differsIn},
	wordColumn("entry_kind", func(r Row) string { return string(r.EntryKind) }),
	textColumn("transaction_id", func(r Row) string { return r.TransactionID }),
	textColumn("order_id", func(r Row) string { return r.OrderID }),
	textColumn("parent_id", func(r Row) string { return r.ParentID }),
	textColumn("refund_order_id", func(r Row) string { return r.RefundOrderID }),
	wordColumn("state", func(r Row) string { return string(r.State) }),
	wordColumn("new", func(r Row) string { return strconv.FormatBool(r.New) }),
	amountColumn("statement_amount", statementSide, sideAmount),
	textColumn("statement_currency", func(r Row) string { return sideOf(r.Statement).Currency }),
	wordColumn("statement_status", func(r Row) string { return sideOf(r.Statement).Status }),
	textColumn("statement_file", func(r Row) string { return sideOf(r.Statement).File }),
	{Name: "statement_line", Type: CellNumber, text: statementLine},
	amountColumn("ledger_amount", ledgerSide, sideAmount),
	textColumn("ledger_currency", func(r Row) string { return sideOf(r.Ledger).Currency }),
	wordColumn("ledger_status", func(r Row) string { return sideOf(r.Ledger).Status }),
	amountColumn("order_amount", orderSide, sideAmount),
	textColumn("order_currency", func(r Row) string { return sideOf(r.Order).Currency }),
	wordColumn("order_status", func(r Row) string { return sideOf(r.Order).Status }),
	{Name: "reason", text: func(r Row, l lang.Language) string { return l.Sentence(r.Reason) }},
	textColumn("next", func(r Row) string { return r.Next }),
	{Name: "first_seen", Type: CellDay, text: func(r Row, _ lang.Language) string { return r.FirstSeen }},
	{Name: "age_days", Type: CellNumber, text: func(r Row, _ lang.Language) string { return strconv.Itoa(r.AgeDays) }},
	amountColumn("statement_fee", statementSide, sideFee),
	amountColumn("ledger_fee", ledgerSide, sideFee),
	textColumn(ColumnOwner, func(r Row) string { return r.Owner }),
	{Name: ColumnDueOn, Type: CellDay, text: func(r Row, _ lang.Language) string { return r.DueOn }},
	textColumn(ColumnDecision, nothing),
	textColumn(ColumnNote, nothing),
	textColumn(ColumnEvidence, func(r Row) string { return r.Evidence }),
}

// Title is the column's heading.
func (c *Column) Title(l lang.Language) string {
	switch c.Name {
	case ColumnGap, ColumnOwner, ColumnDueOn, ColumnDecision, ColumnNote, ColumnEvidence:
		return c.Name
	}
	return l.Text(c.Name)
}

// Text is a row's cell: a number, an amount or a date as it is written in English, a word or a sentence in the language.
func (c *Column) Text(r Row, l lang.Language) string { return c.text(r, l) }

// Currency is that of a row's amount.
func (c *Column) Currency(r Row) string {
	if c.side == nil {
		return ""
	}
	return sideOf(c.side(r.GapReport)).Currency
}

// Rows hands over what a spreadsheet has of a report: every kind of row that was not understood, and the gaps that are not settled.
func (r *Report) Rows(each func(Row)) {
	for _, u := range r.Statement.UnknownKinds {
		each(Row{r.Account, r.Date, &GapReport{Kind: "unknown_kind", EntryKind: models.EntryAdjustment,
			Statement: &models.Side{File: u.File, Line: u.FirstRow}, Reason: u.String()}})
	}
	for _, gaps := range [][]GapReport{r.Gaps, r.Carried} {
		for i := range gaps {
			each(Row{r.Account, r.Date, &gaps[i]})
		}
	}
}

func textColumn(name string, of func(Row) string) Column {
	return Column{Name: name, text: func(r Row, _ lang.Language) string { return of(r) }}
}

func wordColumn(name string, of func(Row) string) Column {
	return Column{Name: name, text: func(r Row, l lang.Language) string { return l.Word(of(r)) }}
}

func amountColumn(name string, side func(*GapReport) *models.Side, of func(*models.Side) string) Column {
	return Column{Name: name, Type: CellAmount, side: side, text: func(r Row, _ lang.Language) string { return of(sideOf(side(r.GapReport))) }}
}

func nothing(Row) string { return "" }

func statementSide(g *GapReport) *models.Side { return g.Statement }
func ledgerSide(g *GapReport) *models.Side    { return g.Ledger }
func orderSide(g *GapReport) *models.Side     { return g.Order }

func sideAmount(s *models.Side) string { return s.Amount }
func sideFee(s *models.Side) string    { return s.Fee }

// sideOf is a side that can be asked even when there is none.
func sideOf(s *models.Side) *models.Side {
	if s == nil {
		return &models.Side{}
	}
	return s
}

func statementLine(r Row, _ lang.Language) string {
	if r.Statement == nil {
		return ""
	}
	return strconv.Itoa(r.Statement.Line)
}

func differsIn(r Row, l lang.Language) string {
	list := make([]string, len(r.Differs))
	for i, d := range r.Differs {
		list[i] = l.Word(d)
	}
	return strings.Join(list, " ")
}
