package reconcile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

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
	found := ledger.Findings{Turn: r.turn, Lease: lease, Kinds: r.kinds(), Gaps: r.gaps, Healed: r.healed, Crossed: r.crossed, Payouts: r.sortedPayouts(),
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

// keepReport keeps the report with its run, unless it is too large for that.
func keepReport(run *models.Run, report *Report) error {
	head := report.head()
	text, err := json.Marshal(head)
	size := len(text)
	for _, list := range report.lists() {
		for i := 0; i < len(*list) && size <= storedReportMax && err == nil; i++ {
			var gap []byte
			gap, err = json.Marshal((*list)[i])
			size += len(gap)
		}
	}
	if err == nil && size <= storedReportMax {
		text, err = json.Marshal(report)
	}
	run.Report = string(text)
	return err
}

// sign hashes all that the run has found, without what changes from run to run.
func (r *run) sign(run *models.Run, report *Report, found *ledger.Findings) error {
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
	for i, list := range report.lists() {
		for _, g := range *list {
			g.New, g.FirstSeen, g.AgeDays = false, "", 0
			g.Owner, g.DueOn, g.Evidence = "", "", "" // whose task it is is no finding
			if err := out.Encode([]any{i, g}); err != nil {
				return err
			}
		}
	}
	run.Fingerprint = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// report puts the run into the form that is printed.
func (r *run) report(run *models.Run, saved ledger.Saved, now time.Time) *Report {
	out := &Report{Account: run.Account, Provider: run.Provider, Date: run.Date, TimeZone: run.TimeZone, RunID: run.ID,
		Statement: StatementReport{Files: []FileReport{}, Entries: r.entries, ControlTotals: r.controlTotals, Totals: r.stated.report(true),
			UnknownKinds: r.unknown, LeftOut: r.leftOut()},
		Ledger:   LedgerReport{Transactions: r.transactions, Totals: r.booked.report(false)},
		Compared: r.compared, Matched: r.match.matched,
		Gaps: []GapReport{}, Carried: []GapReport{}, Healed: []GapReport{}, Summary: map[models.GapKind]int{},
		Payouts: len(r.payouts), Bridges: r.bridges, NotPaidOut: r.unpaid, Notes: slices.Clone(r.notes), Result: models.Balanced}
	for _, f := range run.Files {
		out.Statement.Files = append(out.Statement.Files, FileReport(f))
	}
	out.Notes = append(out.Notes, leftNotes(saved.Left)...)
	out.Healed = slices.Grow(out.Healed, len(saved.Healed))
	for _, g := range saved.Healed {
		out.Healed = append(out.Healed, r.line(g, &saved, run.Date, now))
	}
	gaps := slices.Clone(saved.Gaps)
	for i := range saved.Left {
		gaps = append(gaps, &saved.Left[i])
	}
	sortGaps(gaps)
	isOpen := func(g *models.Gap) bool { return g.State == models.GapOpen }
	out.Gaps = slices.Grow(out.Gaps, count(gaps, isOpen)) // there may be very many, and growing into it takes twice the room
	for _, g := range gaps {
		line := r.line(g, &saved, run.Date, now)
		if !isOpen(g) {
			out.Carried = append(out.Carried, line)
			continue
		}
		out.Gaps = append(out.Gaps, line)
		out.Summary[g.Kind]++
		out.Result = models.Gapped
	}
	for i := range saved.Accepted {
		out.Accepted = append(out.Accepted, r.line(&saved.Accepted[i], &saved, run.Date, now))
	}
	return out
}

// line is a gap as the report of its run has it.
func (r *run) line(g *models.Gap, saved *ledger.Saved, date string, now time.Time) GapReport {
	line := NewGapReport(*g, r.account.Zone, now)
	line.Account, line.New, line.FirstSeen, line.Overdue = "", saved.New[g.ID], r.words.word(line.FirstSeen), nil
	if g.Date == date {
		line.Date = ""
	}
	return line
}

func count[T any](list []T, which func(T) bool) (n int) {
	for _, v := range list {
		if which(v) {
			n++
		}
	}
	return n
}
