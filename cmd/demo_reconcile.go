package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"paybook/models"
	"paybook/reconcile"
	"paybook/reconcile/lang"
)

// expectedRun is expected_reconciliation.json: what the daily run must find.
type expectedRun struct {
	Date          string        `json:"date"`
	Files         []string      `json:"files"` // none: as the account's patterns find them
	StatementRows int64         `json:"statement_rows"`
	MoneyRows     int64         `json:"money_rows"` // where the statement has other rows too
	Matched       int64         `json:"matched"`
	Gaps          []expectedGap `json:"gaps"`
}

type expectedGap struct {
	Type           string `json:"type"`
	Kind           string `json:"kind"`
	TransactionID  string `json:"transaction_id"`
	OrderID        string `json:"order_id"`
	ProviderAmount string `json:"provider_amount"`
	LocalAmount    string `json:"local_amount"`
	LedgerAmount   string `json:"ledger_amount"` // in place of local_amount where the order says a third
	OrderAmount    string `json:"order_amount"`
}

// reconcile runs the day twice: the second time must change nothing.
func (x *act) reconcile(ctx context.Context) error {
	var want expectedRun
	if has, err := x.readKit("expected_reconciliation.json", &want); !has {
		if err == nil {
			x.say("\n%s", x.p.dim("no statement: this provider only calls back"))
		}
		return err
	}
	source, day, err := x.statement(want)
	if err != nil {
		return err
	}
	options := reconcile.Options{Now: x.a.now}
	report, err := reconcile.Run(ctx, x.book, x.account.reconciled(), source, day, options)
	if err != nil {
		return err
	}
	again, err := reconcile.Run(ctx, x.book, x.account.reconciled(), source, day, options)
	if err != nil {
		return err
	}
	if again.RunID != report.RunID || len(again.Gaps) != len(report.Gaps) || len(again.Healed) > 0 {
		x.differ("reconcile: a second run of the same statement changed something: run %s, then %s", report.RunID, again.RunID)
	}
	x.checkRun(want, report)
	x.rows, x.matched, x.gaps = x.rows+int(report.Compared), x.matched+int(report.Matched), x.gaps+len(report.Gaps)
	x.printRun(report)
	return nil
}

// statement is where the account's statement of the kit's day is, and the day.
func (x *act) statement(want expectedRun) (reconcile.Source, reconcile.Day, error) {
	day, err := reconcile.ParseDay(want.Date)
	if len(want.Files) == 0 {
		return reconcile.Folder(x.account.Statements), day, err
	}
	paths := make([]string, len(want.Files))
	for i, name := range want.Files {
		paths[i] = x.file(filepath.Join("statements", name))
	}
	return reconcile.Files(paths...), day, err
}

func (x *act) checkRun(want expectedRun, got *reconcile.Report) {
	if rows := max(want.StatementRows, want.MoneyRows); got.Compared != rows {
		x.differ("reconcile: compared: got %d, want %d", got.Compared, rows)
	}
	if got.Matched != want.Matched {
		x.differ("reconcile: matched: got %d, want %d", got.Matched, want.Matched)
	}
	left := slices.Clone(got.Gaps)
	for _, g := range want.Gaps {
		i := slices.IndexFunc(left, func(have reconcile.GapReport) bool {
			return string(have.Kind) == g.Type && have.EntryKind == g.kind() && (g.TransactionID == "" || have.TransactionID == g.TransactionID)
		})
		if i < 0 {
			x.differ("reconcile: gap %s of %s %s: not found", g.Type, g.Kind, g.TransactionID)
			continue
		}
		x.checkGap(g, left[i])
		left = slices.Delete(left, i, i+1)
	}
	for _, g := range left {
		x.differ("reconcile: gap %s of %s %s: in no expectation", g.Kind, g.EntryKind, g.TransactionID)
	}
}

func (g expectedGap) kind() models.TransactionKind {
	kind, err := importedKind(g.Kind)
	if err != nil {
		return models.TransactionKind(g.Kind)
	}
	return kind
}

func (x *act) checkGap(want expectedGap, got reconcile.GapReport) {
	if want.OrderID != "" && got.OrderID != want.OrderID {
		x.differ("reconcile: gap %s: got order %q, want %q", got.TransactionID, got.OrderID, want.OrderID)
	}
	for _, side := range []struct {
		name string
		want string
		got  *models.Side
	}{
		{"statement", want.ProviderAmount, got.Statement}, {"ledger", want.LocalAmount, got.Ledger},
		{"ledger", want.LedgerAmount, got.Ledger}, {"order", want.OrderAmount, got.Order},
	} {
		if !sameAmount(side.want, side.got) {
			x.differ("reconcile: gap %s: the %s's amount: got %+v, want %s", got.TransactionID, side.name, side.got, side.want)
		}
	}
}

// sameAmount compares as numbers; an expectation that is empty is not checked.
func sameAmount(want string, got *models.Side) bool {
	if want == "" {
		return true
	}
	if got == nil {
		return false
	}
	a, errWant := decimal.NewFromString(want)
	b, errGot := decimal.NewFromString(got.Amount)
	return errWant == nil && errGot == nil && a.Equal(b)
}

// printRun is the gap report: what each side says, why that is a gap, and what to type next.
func (x *act) printRun(r *reconcile.Report) {
	x.say("\n%s  %s", x.p.bold("statement of "+r.Date), x.p.dim(fmt.Sprintf("%s compared, %d match; read a second time, and nothing changed",
		count(int(r.Compared), "row"), r.Matched)))
	for _, g := range r.Gaps {
		x.say("%s %s %s: statement %s, book %s%s", x.p.gap(g.Kind), g.EntryKind, cell(g.TransactionID), side(g.Statement, lang.English), side(g.Ledger, lang.English), asks(g))
		x.say("   why   %s", cell(g.Reason))
		x.say("   next  %s", x.p.bold(cell(g.Next)))
	}
	for _, b := range r.Bridges {
		if b.Paid != "" {
			x.say("payout %s: %s", cell(b.PayoutID), bridgeLine(b))
		}
	}
}

// bridgeLine is a payout's bridge as a sum.
func bridgeLine(b reconcile.Bridge) string {
	var sum strings.Builder
	for _, s := range b.Steps {
		fmt.Fprintf(&sum, "%s %s  ", s.Step, s.Amount)
	}
	return fmt.Sprintf("%s= %s %s, paid %s, remainder %s (%s)", sum.String(), b.Expected, b.Currency, b.Paid, b.Remainder, b.RemainderIs)
}

func asks(g reconcile.GapReport) string {
	if g.Order == nil {
		return ""
	}
	return ", order " + side(g.Order, lang.English)
}
