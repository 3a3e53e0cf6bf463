package bank

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

// providerName stands where a report names the provider.
const providerName = "bank"

// storedReportMax bounds the report kept with a run, in bytes; the gaps are in their own table anyway.
const storedReportMax = 4 << 20

// save writes the run with all it has found, and returns its report; a dry run only makes the report.
func (r *run) save(ctx context.Context, o reconcile.Options, lease *ledger.Lease) (*reconcile.Report, error) {
	now := o.Now()
	run := models.Run{Account: r.account, Provider: providerName, Date: r.date, TimeZone: r.bank.Zone.String(), Files: r.files,
		Entries: int64(len(r.fresh)), ControlTotals: r.balances(), CreatedAt: now}
	found := ledger.Findings{Turn: r.turn, Lease: lease, Gaps: r.gaps, Healed: r.healed(), Bank: r.bankFindings()}
	for _, f := range r.files {
		found.Files = append(found.Files, ledger.StatementFile{Name: f.Name, Title: "bank statement, " + r.bank.Format, SHA256: f.SHA256, ContentSHA256: f.SHA256, Compared: true})
	}
	found.Files = uniqueFiles(found.Files)
	if o.DryRun {
		saved, err := r.book.PreviewRun(ctx, run, found)
		if err != nil {
			return nil, err
		}
		return r.report(&run, saved, now), nil
	}
	var report *reconcile.Report
	_, err := r.book.SaveRun(ctx, &run, found, func(run *models.Run, saved ledger.Saved) error {
		report = r.report(run, saved, now)
		run.Result = report.Result
		text, err := json.Marshal(report)
		if run.Report = string(text); len(text) > storedReportMax {
			run.Report = ""
		}
		return errors.Join(err, r.sign(run, report))
	})
	return report, err
}

// uniqueFiles keeps one of the files that are the same.
func uniqueFiles(files []ledger.StatementFile) []ledger.StatementFile {
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f ledger.StatementFile) bool {
		if seen[f.SHA256] {
			return true
		}
		seen[f.SHA256] = true
		return false
	})
}

// healed are the gaps that this run has looked for and no longer found, and those that an earlier run of this date has healed.
func (r *run) healed() (ids []string) {
	found := map[string]bool{}
	for i := range r.gaps {
		found[r.gaps[i].ID] = true
	}
	for id, g := range r.known {
		again := g.State == models.GapResolved && g.HealedRun != "" && g.DecidedOn == r.date
		if !found[id] && !r.standing[id] && (g.State != models.GapResolved || again) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// bankFindings is what changes in the bank's tables.
func (r *run) bankFindings() *ledger.BankFindings {
	f := &ledger.BankFindings{Bank: r.bank.Name, Lines: r.fresh, Statements: r.freshStatements()}
	now := map[ledger.BankMatch]bool{}
	for i := range r.match.pairs {
		p := &r.match.pairs[i]
		for _, l := range p.lines {
			for _, o := range p.payouts {
				now[ledger.BankMatch{Bank: r.bank.Name, LineID: l.ID, BookedOn: l.BookedOn, Account: o.Account, PayoutID: o.PayoutID, How: p.how}] = true
			}
		}
	}
	for _, m := range r.before {
		if now[m] {
			delete(now, m)
		} else {
			f.Unmatched = append(f.Unmatched, m)
		}
	}
	for m := range now {
		f.Matched = append(f.Matched, m)
	}
	return f
}

// sign hashes all that the run has found, without what changes from run to run.
func (r *run) sign(run *models.Run, report *reconcile.Report) error {
	still := *report
	still.RunID = ""
	plain := func(list []reconcile.GapReport) []reconcile.GapReport {
		list = slices.Clone(list)
		for i := range list {
			list[i].New, list[i].FirstSeen, list[i].AgeDays = false, "", 0
		}
		return list
	}
	still.Gaps, still.Carried, still.Healed, still.Accepted = plain(report.Gaps), plain(report.Carried), plain(report.Healed), plain(report.Accepted)
	var pairs [][3]string
	for i := range r.match.pairs {
		for _, l := range r.match.pairs[i].lines {
			for _, o := range r.match.pairs[i].payouts {
				pairs = append(pairs, [3]string{l.ID, o.Account, o.PayoutID})
			}
		}
	}
	sum := sha256.New()
	err := json.NewEncoder(sum).Encode([]any{still, r.fresh, r.freshStatements(), pairs})
	run.Fingerprint = hex.EncodeToString(sum.Sum(nil))
	return err
}

// balances says whether every statement carried balances; they have been checked.
func (r *run) balances() string {
	if r.declared || slices.ContainsFunc(r.statements, func(s *Statement) bool { return s.Opening == nil || s.Closing == nil }) {
		return "none"
	}
	return "agree"
}

// report puts the run into the form that is printed.
func (r *run) report(run *models.Run, saved ledger.Saved, now time.Time) *reconcile.Report {
	out := &reconcile.Report{Account: run.Account, Provider: run.Provider, Date: run.Date, TimeZone: run.TimeZone, RunID: run.ID, Result: models.Balanced,
		Statement: reconcile.StatementReport{Files: []reconcile.FileReport{}, Entries: run.Entries, ControlTotals: run.ControlTotals, Totals: r.totals()},
		Ledger:    reconcile.LedgerReport{Transactions: int64(len(r.match.payouts)), Totals: r.payoutTotals()},
		Gaps:      []reconcile.GapReport{}, Carried: []reconcile.GapReport{}, Healed: []reconcile.GapReport{}, Summary: map[models.GapKind]int{},
		Notes: slices.Clone(r.notes), Bank: r.bankReport()}
	for _, f := range run.Files {
		out.Statement.Files = append(out.Statement.Files, reconcile.FileReport(f))
	}
	for _, l := range r.match.lines {
		if l.fresh && (l.used || l.ours || l.unknown != "") {
			out.Compared++
		}
	}
	out.Matched = int64(len(out.Bank.Matched))
	slices.SortFunc(saved.Healed, func(a, b *models.Gap) int { return compareGaps(*a, *b) })
	for _, g := range saved.Healed {
		out.Healed = append(out.Healed, r.line(g, saved.New, now))
	}
	for _, g := range saved.Gaps {
		switch {
		case r.quiet[g.ID]:
		case g.State == models.GapCarried:
			out.Carried = append(out.Carried, r.line(g, saved.New, now))
		default:
			out.Gaps = append(out.Gaps, r.line(g, saved.New, now))
			out.Summary[g.Kind]++
			out.Result = models.Gapped
		}
	}
	for i := range saved.Accepted {
		if g := &saved.Accepted[i]; !r.quiet[g.ID] {
			out.Accepted = append(out.Accepted, r.line(g, saved.New, now))
		}
	}
	return out
}

// line is a gap as the report of its run has it.
func (r *run) line(g *models.Gap, fresh map[string]bool, now time.Time) reconcile.GapReport {
	line := reconcile.NewGapReport(*g, r.bank.Zone, now)
	line.Account, line.New = "", fresh[g.ID]
	if g.Date == r.date {
		line.Date = ""
	}
	return line
}

// totals are the lines of this run, in and out.
func (r *run) totals() []reconcile.Total {
	totals := []reconcile.Total{}
	for _, way := range []struct {
		kind models.TransactionKind
		sign int64
	}{{"credit", 1}, {"debit", -1}} {
		var count, sum int64
		for _, l := range r.fresh {
			if l.Money.Minor*way.sign > 0 {
				count++
				sum += l.Money.Minor
			}
		}
		if count > 0 {
			totals = append(totals, reconcile.Total{Kind: way.kind, Currency: r.bank.Currency, Count: count, Amount: r.bank.money(sum).Text()})
		}
	}
	return totals
}

// payoutTotals are the payouts that this run's lines are.
func (r *run) payoutTotals() []reconcile.Total {
	var count, sum int64
	for i := range r.match.pairs {
		if p := &r.match.pairs[i]; p.differs == "" && p.fresh() {
			count, sum = count+int64(len(p.payouts)), sum+p.due
		}
	}
	if count == 0 {
		return []reconcile.Total{}
	}
	return []reconcile.Total{{Kind: models.Payout, Currency: r.bank.Currency, Count: count, Amount: r.bank.money(sum).Text()}}
}

func (r *run) bankReport() *reconcile.BankReport {
	out := &reconcile.BankReport{Bank: r.bank.Name, Currency: r.bank.Currency, Balances: r.balances(), Payouts: len(r.match.payouts),
		Statements: []reconcile.BankStatementReport{}, Matched: []reconcile.BankMatchReport{}}
	for _, s := range r.statements {
		from, to := s.period()
		credits, debits, _ := s.sum() // it was checked when the file was read
		own := reconcile.BankStatementReport{Number: s.Number, From: dateText(from), To: dateText(to), Lines: len(s.Lines),
			Credits: r.bank.money(credits).Text(), Debits: r.bank.money(debits).Text()}
		if s.Opening != nil && s.Closing != nil {
			own.Opening, own.Closing = r.bank.money(s.Opening.Minor).Text(), r.bank.money(s.Closing.Minor).Text()
		}
		out.Statements = append(out.Statements, own)
		out.Pending += s.Pending
	}
	for i := range r.match.pairs {
		p := &r.match.pairs[i]
		if p.differs == "" && p.fresh() {
			out.Matched = append(out.Matched, r.matched(p))
		}
	}
	return out
}

func (r *run) matched(p *pair) reconcile.BankMatchReport {
	m := reconcile.BankMatchReport{How: p.how, Difference: r.bank.money(p.due - p.got).Text(), BankFee: r.bank.money(p.fee).Text()}
	for _, o := range p.payouts {
		m.Payouts = append(m.Payouts, reconcile.BankPayoutReport{Account: o.Account, PayoutID: o.PayoutID, Date: dateText(o.paid), Amount: o.Money.Text(),
			Currency: o.Money.Currency, Status: string(o.Status)})
	}
	for _, l := range p.lines {
		m.Lines = append(m.Lines, reconcile.BankLineReport{ID: l.ID, Date: l.BookedOn, Amount: l.Money.Text(), Reference: l.Reference, File: l.File, Line: l.Line})
	}
	return m
}
