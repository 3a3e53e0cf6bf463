package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"paybook/ledger"
	"paybook/reconcile"
	"paybook/reconcile/bank"
)

// closing is closing.json: what must come of the days after their runs.
type closing struct {
	Bridge reconcile.Bridge `json:"bridge"`
	Bank   struct {
		Date  string        `json:"date"`
		Lines []closingLine `json:"lines"`
	} `json:"bank"`
	Repair closingRepair `json:"repair"`
}

// closingLine is a line of a bank statement and the payout that it is.
type closingLine struct {
	Bank      string `json:"bank"`
	Reference string `json:"reference"` // the bank's, of the line
	Amount    string `json:"amount"`
	Account   string `json:"account"`
	PayoutID  string `json:"payout_id"`
}

// closeDay is what finance does after the daily runs: follow a payout to the bank, book what a lost callback did not, and check the log
// of it all.
func (d *demo) closeDay(ctx context.Context) error {
	raw, err := os.ReadFile(filepath.Join(d.dir, "closing.json"))
	if err != nil {
		return err
	}
	var want closing
	if err := json.Unmarshal(raw, &want); err != nil {
		return fmt.Errorf("closing.json: %w", err)
	}
	if err := d.bridge(ctx, want.Bridge); err != nil {
		return err
	}
	if err := d.bankLines(ctx, want); err != nil {
		return err
	}
	scenes, err := d.repair(ctx, want.Repair)
	if err != nil {
		return err
	}
	checked, err := d.auditLog(ctx)
	if err != nil {
		return err
	}
	d.printScenes("a lost callback", "its payment is in the statement: app reconcile --repair, app audit verify", append(scenes, checked))
	return nil
}

// bridge shows how one payout came about, as `app payouts show` does.
func (d *demo) bridge(ctx context.Context, want reconcile.Bridge) error {
	account, err := d.conf.account(want.Account)
	if err != nil {
		return err
	}
	made, err := reconcile.LoadBridges(ctx, d.book, account.Name, account.Zone, account.Cut, []string{want.PayoutID})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(made, func(b reconcile.Bridge) bool { return b.PayoutID == want.PayoutID && b.Currency == want.Currency })
	if i < 0 {
		d.differ("payout %s of %s: has no bridge in %s", want.PayoutID, want.Account, want.Currency)
		return nil
	}
	got := made[i]
	if !slices.Equal(got.Steps, want.Steps) {
		d.differ("payout %s of %s: got the steps %v, want %v", want.PayoutID, want.Account, got.Steps, want.Steps)
	}
	if got.Expected != want.Expected || got.Paid != want.Paid || got.Remainder != want.Remainder {
		d.differ("payout %s of %s: got %s expected, %s paid, remainder %s (%s), want %s, %s, %s", want.PayoutID, want.Account,
			got.Expected, got.Paid, got.Remainder, got.RemainderIs, want.Expected, want.Paid, want.Remainder)
	}
	d.say("\n%s  %s", d.p.bold("from the payments to the payout"), d.p.dim(want.Account+"'s: app payouts show "+want.PayoutID))
	return reconcile.WriteBridges(d.a.out, made[i:i+1], reconcile.Look{Color: d.p.on, Width: d.a.width()})
}

// bankLines holds every bank's statement against the payouts, and shows which line is which.
func (d *demo) bankLines(ctx context.Context, want closing) error {
	day, err := reconcile.ParseDay(want.Bank.Date)
	if err != nil {
		return fmt.Errorf("closing.json: %w", err)
	}
	d.say("\n%s  %s", d.p.bold("from the payout to the bank"), d.p.dim("app reconcile bank --date "+want.Bank.Date))
	t := newTable("", "bank", "its line", "amount", "is the payout", "of", "known by")
	if width := d.a.width(); width > 0 && width < 100 { // the payout's name is what is long
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 5, WidthMax: 16, WidthMaxEnforcer: text.WrapSoft}})
	}
	for _, b := range d.conf.Banks {
		report, err := bank.Run(ctx, d.book, *b, reconcile.Folder(b.Statements), day, reconcile.Options{Now: d.a.now})
		if err != nil {
			return fmt.Errorf("bank %s: %w", b.Name, err)
		}
		for _, g := range report.Gaps {
			d.differ("bank %s: gap %s of %s: %s", b.Name, g.Kind, g.TransactionID, g.Reason)
		}
		lines := slices.DeleteFunc(slices.Clone(want.Bank.Lines), func(l closingLine) bool { return l.Bank != b.Name })
		if len(report.Bank.Matched) != len(lines) {
			d.differ("bank %s: got %s matched, want %d", b.Name, count(len(report.Bank.Matched), "line"), len(lines))
		}
		for _, l := range lines {
			m := d.matchOf(l, report.Bank.Matched)
			t.AppendRow([]any{d.p.mark(m != nil), b.Name, l.Reference, l.Amount + " " + b.Currency, cell(l.PayoutID), l.Account, knownBy(m)})
		}
	}
	return printTable(d.a.out, t, "no bank")
}

// matchOf finds the match of one line and its payout, to the cent; nil when there is none.
func (d *demo) matchOf(want closingLine, matched []reconcile.BankMatchReport) *reconcile.BankMatchReport {
	for i, m := range matched {
		if len(m.Lines) != 1 || len(m.Payouts) != 1 || m.Lines[0].Reference != want.Reference {
			continue
		}
		if line, payout := m.Lines[0], m.Payouts[0]; line.Amount == want.Amount && payout.Amount == want.Amount &&
			payout.Account == want.Account && payout.PayoutID == want.PayoutID {
			return &matched[i]
		}
	}
	d.differ("bank %s: line %s is not matched: want %s of the payout %s of %s", want.Bank, want.Reference, want.Amount, want.PayoutID, want.Account)
	return nil
}

func knownBy(m *reconcile.BankMatchReport) string {
	if m == nil {
		return ""
	}
	return m.How
}

// auditLog checks the log of all that was done to gaps, as `app audit verify` does.
func (d *demo) auditLog(ctx context.Context) (scene, error) {
	s := scene{what: "app audit verify"}
	c, err := d.book.VerifyAudit(ctx, nil)
	if err != nil {
		return s, err
	}
	s.ok = c.Whole() && c.Entries > 0
	s.came = fmt.Sprintf("%s hold; %s and %s are as they say", count(int(c.Entries), "row"), count(int(c.Gaps), "gap"), count(int(c.Runs), "run"))
	if !s.ok {
		s.came = fmt.Sprintf("of the audit log %s hold: %s", count(int(c.Entries), "row"), firstProblem(c))
	}
	return s, nil
}

func firstProblem(c *ledger.AuditCheck) string {
	switch {
	case c.Broken != nil:
		return c.Broken.Text
	case len(c.Differing) > 0:
		return c.Differing[0].Text
	}
	return "it is empty"
}
