package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// storedReportMax bounds the report kept with a run, in bytes. Of a larger one the gaps are found in their own table only.
const storedReportMax = 32 << 20

func payoutOf(e *models.Entry, file string) ledger.Payout {
	return ledger.Payout{PayoutID: e.TransactionID, Money: e.Money, Status: e.Status, OccurredAt: e.OccurredAt, File: file}
}

// save writes the run with all it has found and returns its report; a dry run only makes the report.
func (r *run) save(ctx context.Context, o Options) (*Report, error) {
	now := o.Now()
	run := models.Run{Account: r.account.Name, Provider: r.account.ProviderName, Date: r.day.String(), TimeZone: r.account.Zone.String(),
		Entries: r.entries, ControlTotals: r.controlTotals, CreatedAt: now}
	found := ledger.Findings{Turn: r.turn, Gaps: r.gaps, Healed: r.healed, Crossed: r.crossed, Payouts: r.sortedPayouts()}
	for _, f := range r.files {
		run.Files = append(run.Files, models.RunFile{Name: f.label, SHA256: f.packed})
	}
	for _, in := range r.inputs {
		if in.twin == nil {
			found.Files = append(found.Files, ledger.StatementFile{Name: in.label, Title: in.statement.Title, SHA256: in.hash(),
				ContentSHA256: in.content, Compared: in.statement.Compared})
		}
	}
	if o.DryRun {
		saved, err := r.book.PreviewRun(ctx, run, found)
		if err != nil {
			return nil, err
		}
		return r.report(&run, saved, now), nil
	}
	var report *Report
	_, err := r.book.SaveRun(ctx, &run, found, func(run *models.Run, saved ledger.Saved) error {
		report = r.report(run, saved, now)
		run.Result = report.Result
		return errors.Join(keepReport(run, report), r.sign(run, report, &found))
	})
	return report, err
}

func (r *run) sortedPayouts() []ledger.Payout {
	list := make([]ledger.Payout, 0, len(r.payouts))
	for _, id := range slices.Sorted(maps.Keys(r.payouts)) {
		list = append(list, r.payouts[id])
	}
	return list
}

func keepReport(run *models.Run, report *Report) error {
	text, err := json.Marshal(report)
	if err == nil && len(text) > storedReportMax {
		short := *report
		short.Gaps, short.Carried, short.Healed, short.Accepted = []GapReport{}, []GapReport{}, []GapReport{}, nil
		text, err = json.Marshal(short)
	}
	run.Report = string(text)
	return err
}

// sign hashes all that the run has found, without what changes from run to run.
func (r *run) sign(run *models.Run, report *Report, found *ledger.Findings) error {
	still := *report
	still.RunID = ""
	for _, list := range []*[]GapReport{&still.Gaps, &still.Carried, &still.Healed, &still.Accepted} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].New, (*list)[i].FirstSeen, (*list)[i].AgeDays = false, "", 0
		}
	}
	slices.SortFunc(found.Crossed, func(a, b ledger.Crossed) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.Date, b.Date))
	})
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode([]any{still, found.Crossed, found.Payouts, found.Files}); err != nil {
		return err
	}
	sum := sha256.Sum256(text.Bytes())
	run.Fingerprint = hex.EncodeToString(sum[:])
	return nil
}

// report puts the run into the form that is printed.
func (r *run) report(run *models.Run, saved ledger.Saved, now time.Time) *Report {
	out := &Report{Account: run.Account, Provider: run.Provider, Date: run.Date, TimeZone: run.TimeZone, RunID: run.ID,
		Statement: StatementReport{Files: []FileReport{}, Entries: r.entries, ControlTotals: r.controlTotals, Totals: r.stated.report(true)},
		Ledger:    LedgerReport{Transactions: r.transactions, Totals: r.booked.report(false)},
		Compared:  r.compared, Matched: r.match.matched,
		Gaps: []GapReport{}, Carried: []GapReport{}, Healed: []GapReport{}, Summary: map[models.GapKind]int{},
		Payouts: len(r.payouts), Notes: r.notes, Result: models.Balanced}
	for _, f := range run.Files {
		out.Statement.Files = append(out.Statement.Files, FileReport(f))
	}
	print := func(into *[]GapReport, gaps []models.Gap) {
		sortGaps(gaps)
		for _, g := range gaps {
			line := NewGapReport(g, r.account.Zone, now)
			line.Account, line.New = "", saved.New[g.ID]
			if g.Date == run.Date {
				line.Date = ""
			}
			*into = append(*into, line)
		}
	}
	for _, g := range saved.Gaps {
		if g.State == models.GapOpen {
			out.Summary[g.Kind]++
			out.Result = models.Gapped
		}
	}
	open := func(g models.Gap) bool { return g.State == models.GapOpen }
	print(&out.Gaps, keep(saved.Gaps, open))
	print(&out.Carried, keep(saved.Gaps, func(g models.Gap) bool { return !open(g) }))
	print(&out.Healed, slices.Clone(saved.Healed))
	print(&out.Accepted, slices.Clone(saved.Accepted))
	return out
}

func keep(gaps []models.Gap, which func(models.Gap) bool) []models.Gap {
	var list []models.Gap
	for _, g := range gaps {
		if which(g) {
			list = append(list, g)
		}
	}
	return list
}
