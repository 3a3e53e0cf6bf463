package reconcile

import (
	"cmp"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"unicode"

	"paybook/models"
)

// csvHeader has one column a fact: both sides of a gap lie flat in its row.
var csvHeader = []string{
	"account", "date", "gap_id", "kind", "differs", "entry_kind", "transaction_id", "order_id", "parent_id", "refund_order_id", "state", "new",
	"statement_amount", "statement_currency", "statement_status", "statement_file", "statement_line",
	"ledger_amount", "ledger_currency", "ledger_status", "order_amount", "order_currency", "order_status",
	"reason", "next", "first_seen", "age_days",
	"owner", "due_on", "decision", "note", "evidence",
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

// WriteCSV prints one row a gap, open and carried, and one without a gap's id for every kind of row that was not understood. Accounts
// that could not be run have none: their errors are told elsewhere.
func WriteCSV(w io.Writer, items []Item) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for _, item := range items {
		if item.Report == nil {
			continue
		}
		for _, u := range item.Report.Statement.UnknownKinds {
			if err := out.Write(csvUnknown(item.Report, u)); err != nil {
				return err
			}
		}
		for _, gaps := range [][]GapReport{item.Report.Gaps, item.Report.Carried} {
			for i := range gaps {
				if err := out.Write(csvRow(item.Report.Account, item.Report.Date, &gaps[i])); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func csvUnknown(r *Report, u UnknownKind) []string {
	return csvRow(r.Account, r.Date, &GapReport{Kind: "unknown_kind", EntryKind: models.EntryAdjustment, Statement: &models.Side{File: u.File, Line: u.FirstRow},
		Reason: u.String()})
}

// WriteGapsCSV prints a list of gaps, each with its account and date, in the columns of WriteCSV.
func WriteGapsCSV(w io.Writer, gaps []GapReport) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	for i := range gaps {
		if err := out.Write(csvRow("", "", &gaps[i])); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// csvRow is a gap's row; account and date are those of its report, where it names none.
func csvRow(account, date string, g *GapReport) []string {
	account, date = cmp.Or(g.Account, account), cmp.Or(g.Date, date)
	row := []string{
		harmless(account), date, g.ID, string(g.Kind), strings.Join(g.Differs, " "), string(g.EntryKind), harmless(g.TransactionID), harmless(g.OrderID),
		harmless(g.ParentID), harmless(g.RefundOrderID), string(g.State), strconv.FormatBool(g.New),
	}
	row = append(row, csvSide(g.Statement)...)
	if s := g.Statement; s != nil {
		row = append(row, harmless(s.File), strconv.Itoa(s.Line))
	} else {
		row = append(row, "", "")
	}
	row = append(row, csvSide(g.Ledger)...)
	row = append(row, csvSide(g.Order)...)
	row = append(row, harmless(g.Reason), harmless(g.Next), g.FirstSeen, strconv.Itoa(g.AgeDays))
	return append(row, harmless(g.Owner), g.DueOn, "", "", g.Evidence)
}

func csvSide(s *models.Side) []string {
	if s == nil {
		return []string{"", "", ""}
	}
	return []string{s.Amount, s.Currency, s.Status}
}

// Harmed undoes harmless: the text that was kept from being taken for a formula by an apostrophe.
func Harmed(cell string) string {
	if text, marked := strings.CutPrefix(cell, "'"); marked && harmless(text) == cell {
		return text
	}
	return cell
}

// harmless keeps a spreadsheet from taking a stranger's text for a formula, and a terminal from obeying it. Amounts, which may begin
// with a minus, are not text.
func harmless(cell string) string {
	cell = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}, cell)
	unseen := func(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) }
	if seen := strings.TrimLeftFunc(cell, unseen); seen != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(seen)[0]) {
		return "'" + cell
	}
	return cell
}
