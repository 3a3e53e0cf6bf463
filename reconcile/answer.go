package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// The same day again, with the same files and a book that has not changed, is answered by what the last run of it has found: its gaps are
// in their table, and only the rest is kept as an answer. Whatever could change the result must be in the answer's key, or be looked at
// here, or keep the answer from being kept at all. Where in doubt the run is made in full.

// answerEdge is how far outside the day a run may have matched a row of the book, for its answer to be kept: changes are watched that far.
const answerEdge = time.Hour

// answerSlack is how far the clocks of the machines that write the book may be apart.
const answerSlack = 5 * time.Minute

// answer is what is kept of a run beside its gaps.
type answer struct {
	Report  Report                   `json:"report"` // without gaps
	Kinds   []models.TransactionKind `json:"kinds"`
	Carried []string                 `json:"carried"` // ids of gaps
	// Accepted are ids of gaps that were found, and that people had resolved before.
	Accepted []string `json:"accepted"`
}

// question is what a run is made of, but for its files' rows and the book's.
type question struct {
	turn   int64
	late   int64  // see Ledger.LateChanges
	others string // the hash of what other days' runs left
}

// ask reads what changes when the answer may. It does so before anything else of the book is read: what comes later changes it again.
func (r *run) ask(ctx context.Context) (err error) {
	if r.question.turn, err = r.book.Turn(ctx, r.account.Name); err != nil || !r.answerable() {
		return err
	}
	if r.question.late, err = r.book.LateChanges(ctx, r.account.Name, r.from.Add(-answerEdge), r.to.Add(answerEdge)); err != nil {
		return err
	}
	sum := sha256.New()
	out := json.NewEncoder(sum)
	_, err = r.book.OneSided(ctx, r.account.Name, r.day.String(), func(g *models.Gap) bool {
		_ = out.Encode([]any{g.ID, g.State, g.DecidedOn, g.WaitsFor, g.Kind}) // into a hash: it never fails
		return false
	})
	r.question.others = hexOf(sum)
	return err
}

// answerable says whether changes of the day's book would be noted: long after it, by the machine's clock.
func (r *run) answerable() bool {
	return r.account.Settings != "" && time.Now().After(r.to.Add(answerEdge+ledger.LateAfter+answerSlack))
}

// key is the hash of all that the answer hangs on.
func (r *run) key(q question) (string, error) {
	type file struct {
		Label, Hash string
		Named       bool
	}
	files := []file{}
	for _, f := range r.files {
		files = append(files, file{f.label, f.packed, f.file.Named})
	}
	a := &r.account
	sum := sha256.New()
	err := json.NewEncoder(sum).Encode([]any{a.Name, a.ProviderName, a.Zone.String(), a.Cut, a.Edge, a.Lag, a.OrdersElsewhere, a.Fees, a.Settings,
		r.day.String(), r.from, r.to, files, q.turn, q.late, q.others})
	return hexOf(sum), err
}

// answered is the report of a day about which nothing has changed; nil when it must be run.
func (r *run) answered(ctx context.Context, now time.Time) (*Report, error) {
	if !r.answerable() {
		return nil, nil
	}
	key, err := r.key(r.question)
	if err != nil {
		return nil, err
	}
	text, err := r.book.Answer(ctx, r.account.Name, r.day.String(), key)
	if err != nil || text == "" {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("the answer kept of %s, %s: %w; run the day with --force", r.account.Name, r.day, err)
	}
	return r.again(ctx, &a, now)
}

// again makes the report of the gaps as they are by now: people may have decided some.
func (r *run) again(ctx context.Context, a *answer, now time.Time) (*Report, error) {
	run := models.Run{ID: a.Report.RunID, Account: r.account.Name, Provider: r.account.ProviderName, Date: r.day.String(), CreatedAt: now}
	found := ledger.Findings{Kinds: a.Kinds}
	accepted, carried := setOf(a.Accepted), setOf(a.Carried)
	decided := false // by people, since
	err := r.book.FoundGaps(ctx, run, func(g models.Gap) {
		switch resolved := g.State == models.GapResolved; {
		case resolved != accepted[g.ID]:
			decided = decided || g.LastRun == run.ID
			return
		case carried[g.ID]:
			g.State = models.GapCarried
		default:
			g.State = models.GapOpen
		}
		found.Many = append(found.Many, &g)
	})
	if err != nil || decided {
		return nil, err
	}
	if same, err := r.stillSo(ctx, found.Many); err != nil || !same {
		return nil, err
	}
	saved, err := r.book.PreviewRun(ctx, run, found)
	if err != nil || saved.Changed || len(saved.Left) > 0 || len(saved.Accepted) != len(accepted) {
		return nil, err
	}
	lines := r.lines(&saved, run.Date, now)
	report := a.Report
	lines.judge(&report)
	return lines.move(&report), nil
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// stillSo says whether the orders of the gaps are as the gaps say, and what the book did not have is still not there.
func (r *run) stillSo(ctx context.Context, gaps []*models.Gap) (same bool, err error) {
	same = true
	err = eachChunk(gaps, bookChunk, func(chunk []*models.Gap) error {
		if !same {
			return nil
		}
		orders, names := []string{}, map[ledger.Name]bool{}
		for _, g := range chunk {
			if g.OrderID != "" {
				orders = append(orders, g.OrderID)
			}
			if g.Ledger == nil {
				for _, n := range (&held{Entry: entryOf(g)}).names() {
					names[r.name(n)] = true
				}
				names[r.name(name{g.EntryKind, g.RefundOrderID})] = g.RefundOrderID != ""
			}
		}
		slices.Sort(orders)
		known, err := r.book.Orders(ctx, slices.Compact(orders))
		if err != nil {
			return err
		}
		for _, g := range chunk {
			same = same && sameOrder(g, known)
		}
		rows, err := r.book.FindTransactions(ctx, names)
		same = same && len(rows) == 0
		return err
	})
	return same, err
}

func sameOrder(g *models.Gap, known map[string]models.Order) bool {
	o, is := known[g.OrderID]
	if !is || g.Order == nil {
		return !is && g.Order == nil
	}
	return *g.Order == bookedOrder(&o)
}

// keepAnswer keeps what the run has found for the next time, unless something in it hangs on what is not watched. kept: the run has
// learnt nothing new, so that no turn of the account was taken.
func (r *run) keepAnswer(ctx context.Context, report *Report, saved *ledger.Saved, kinds []models.TransactionKind) error {
	plain := !r.far && len(r.others)+len(r.left)+len(saved.Left)+len(report.Bridges)+len(report.NotPaidOut)+report.Payouts == 0
	if !plain || !r.answerable() {
		return nil
	}
	a := answer{Report: report.head(), Kinds: kinds}
	for i := range report.Carried {
		a.Carried = append(a.Carried, report.Carried[i].ID)
	}
	for i := range report.Accepted {
		a.Accepted = append(a.Accepted, report.Accepted[i].ID)
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	after := r.question
	if !saved.Kept {
		after.turn++
	}
	key, err := r.key(after)
	if err != nil {
		return err
	}
	return r.book.KeepAnswer(ctx, r.account.Name, r.day.String(), key, string(text))
}

// watched notes what the run has looked up that is not watched: rows of the book far from the day, and names that gaps do not keep.
func (r *run) watched(list []*held, rows map[ledger.Name]models.Transaction) {
	from, to := r.from.Add(-answerEdge), r.to.Add(answerEdge)
	for _, t := range rows {
		r.far = r.far || t.OccurredAt.Before(from) || !t.OccurredAt.Before(to)
	}
	for _, h := range list {
		r.far = r.far || slices.ContainsFunc(h.Aliases, func(id string) bool { return id != h.RefundOrderID })
	}
}
