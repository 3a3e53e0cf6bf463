package reconcile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"paybook/ledger"
	"paybook/models"
)

// storedReportMax bounds the report kept with a run, in bytes. Of a larger one the gaps are found in their own table only, for here they
// would be in memory several times over.
const storedReportMax = 4 << 20

// save writes the run with all it has found and returns its report; a dry run only makes the report.
func (r *run) save(ctx context.Context, o Options, lease *ledger.Lease) (*Report, error) {
	now := o.Now()
	run := models.Run{Account: r.account.Name, Provider: r.account.ProviderName, Date: r.day.String(), TimeZone: r.account.Zone.String(),
		Entries: r.entries, ControlTotals: r.controlTotals, CreatedAt: now}
	found := ledger.Findings{Turn: r.question.turn, Lease: lease, Kinds: r.kinds(), Many: r.gaps, Healed: r.healed, Crossed: r.crossed, Payouts: r.sortedPayouts(),
		Steps: r.ownSteps}
	for _, f := range r.files {
		run.Files = append(run.Files, models.RunFile{Name: f.label, SHA256: f.packed})
	}
	for _, in := range r.inputs {
		if in.twin == nil {
			found.Files = append(found.Files, ledger.StatementFile{Name: in.label, Title: in.statement.Title, SHA256: in.hash(),
				ContentSHA256: in.content, Compared: in.statement.Compared, Only: in.statement.Only,
				Batch: in.statement.Batch && in.rows > 0}) // one without rows is like any other
		}
	}
	if o.DryRun {
		saved, err := r.book.PreviewRun(ctx, run, found)
		if err != nil {
			return nil, err
		}
		lines := r.lines(&saved, run.Date, now)
		report := r.report(&run, saved, lines)
		r.gaps, found.Many = nil, nil
		return lines.move(report), nil
	}
	var report *Report
	var lines *lines
	saved, err := r.book.SaveRun(ctx, &run, found, func(run *models.Run, saved ledger.Saved) error {
		lines = r.lines(&saved, run.Date, now)
		report = r.report(run, saved, lines)
		run.Result = report.Result
		return errors.Join(keepReport(run, report, lines), r.sign(run, report, lines, &found))
	})
	if err != nil {
		return nil, err
	}
	r.gaps, found.Many, saved.Gaps, saved.New = nil, nil, nil, nil
	if len(lines.lists[listGaps]) < manyLines {
		report = lines.move(report)
	} else if report, err = lines.readBack(ctx, r.book, r.account.Name, report); err != nil {
		return nil, err
	}
	// The answer is only there to be quick the next time: that it could not be kept takes nothing away from the run.
	_ = r.keepAnswer(ctx, report, &saved)
	return report, nil
}

// keepReport keeps the report with its run, unless it is too large for that.
func keepReport(run *models.Run, report *Report, lines *lines) error {
	text, err := json.Marshal(report)
	size := len(text)
	for _, line := range lines.all() {
		if size > storedReportMax || err != nil {
			break
		}
		var gap []byte
		gap, err = json.Marshal(line)
		size += len(gap)
	}
	if err == nil && size <= storedReportMax {
		whole := *report
		text, err = json.Marshal(lines.fill(&whole))
	}
	run.Report = string(text)
	return err
}

// sign hashes all that the run has found, without what changes from run to run.
func (r *run) sign(run *models.Run, report *Report, lines *lines, found *ledger.Findings) error {
	slices.SortFunc(found.Crossed, func(a, b ledger.Crossed) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.TransactionID, b.TransactionID), cmp.Compare(a.Date, b.Date))
	})
	still := report.head()
	still.RunID = ""
	sum := sha256.New()
	out := json.NewEncoder(sum)
	if err := out.Encode([]any{still, found.Payouts, found.Steps, found.Files}); err != nil {
		return err
	}
	for _, c := range found.Crossed {
		if err := out.Encode(c); err != nil {
			return err
		}
	}
	for list, g := range lines.all() {
		g.New, g.FirstSeen, g.AgeDays = false, "", 0
		g.Owner, g.DueOn, g.Evidence = "", "", "" // whose task it is is no finding
		if err := out.Encode([]any{list, g}); err != nil {
			return err
		}
	}
	run.Fingerprint = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// report puts the run into the form that is printed, but for its gaps.
func (r *run) report(run *models.Run, saved ledger.Saved, lines *lines) *Report {
	out := &Report{Account: run.Account, Provider: run.Provider, Date: run.Date, TimeZone: run.TimeZone, RunID: run.ID,
		Statement: StatementReport{Files: []FileReport{}, Entries: r.entries, ControlTotals: r.controlTotals, Totals: r.stated.report(true),
			UnknownKinds: r.unknown, LeftOut: r.leftOut()},
		Ledger:   LedgerReport{Transactions: r.transactions, Totals: r.booked.report(false)},
		Compared: r.compared, Matched: r.match.matched,
		Gaps: []GapReport{}, Carried: []GapReport{}, Healed: []GapReport{},
		Payouts: len(r.payouts), Bridges: r.bridges, NotPaidOut: r.unpaid, Notes: slices.Clone(r.notes)}
	for _, f := range run.Files {
		out.Statement.Files = append(out.Statement.Files, FileReport(f))
	}
	out.Notes = append(out.Notes, leftNotes(saved.Left)...)
	lines.judge(out)
	return out
}
