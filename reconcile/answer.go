package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
	Report   Report   `json:"report"`   // without gaps
	Gaps     int      `json:"gaps"`     // that were open
	Carried  []string `json:"carried"`  // ids of gaps
	Accepted []string `json:"accepted"` // of gaps that were found, and that people had resolved before
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

// recalled is an answer with the gaps as they are by now, read while the files are being hashed: which answer is wanted is known only then.
type recalled struct {
	key    string
	report *Report // nil: none that still holds
	err    error
}

// findOrRecall finds and hashes the day's files. The report is not nil when that is all there is to do.
func (r *run) findOrRecall(ctx context.Context, src Source, o Options) (*Report, error) {
	if o.DryRun || o.Force || o.Row != nil || !r.answerable() {
		return nil, r.findFiles(ctx, src)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	answer := r.recall(reading, o.Now())
	if err := r.findFiles(ctx, src); err != nil {
		stop()
		<-answer
		return nil, err
	}
	got := <-answer
	if got.err != nil || got.report == nil {
		return nil, got.err
	}
	key, err := r.key(r.question)
	if err != nil || key != got.key {
		return nil, err
	}
	return got.report, nil
}

// recall begins to read the day's answer.
func (r *run) recall(ctx context.Context, now time.Time) <-chan recalled {
	done := make(chan recalled, 1)
	go func() {
		var got recalled
		var text string
		if got.key, text, got.err = r.book.Answer(ctx, r.account.Name, r.day.String()); got.err == nil && text != "" {
			var a answer
			if got.err = json.Unmarshal([]byte(text), &a); got.err != nil {
				got.err = fmt.Errorf("the answer kept of %s, %s: %w; run the day with --force", r.account.Name, r.day, got.err)
			} else {
				got.report, got.err = r.again(ctx, &a, now)
			}
		}
		done <- got
	}()
	return done
}

// again puts the gaps as they are by now into the answer's report. It is nil when they are not as the run has left them: people have
// decided one, an order has moved, a callback has come.
func (r *run) again(ctx context.Context, a *answer, now time.Time) (*Report, error) {
	report, words, same := &a.Report, interner{}, true
	report.Gaps = make([]GapReport, 0, a.Gaps)
	accepted, carried := setOf(a.Accepted), setOf(a.Carried)
	lines := &lines{zone: r.account.Zone, words: words, date: r.day.String(), now: now}
	var chunk []*models.Gap
	check := func() (err error) {
		if same && len(chunk) > 0 {
			same, err = r.stillSo(ctx, chunk)
		}
		chunk = chunk[:0]
		return err
	}
	err := r.book.GapsOf(ctx, r.account.Name, r.day.String(), func(g models.Gap) error {
		list, found := foundIn(&g, a.Report.RunID, accepted, carried)
		if same = same && found; list < 0 || !same {
			return nil
		}
		words.share(&g)
		to := report.lists()[list]
		if *to = append(*to, lines.line(&g)); list == listHealed {
			return nil
		}
		if chunk = append(chunk, &g); len(chunk) < bookChunk {
			return nil
		}
		return check()
	})
	if err == nil {
		err = check()
	}
	if err != nil || !same || len(report.Gaps) != a.Gaps || len(report.Carried) != len(a.Carried) || len(report.Accepted) != len(a.Accepted) {
		return nil, err
	}
	slices.SortFunc(report.Gaps, compareLines)
	slices.SortFunc(report.Carried, compareLines)
	return report, nil
}

// foundIn is the list of the report that a gap of the day belongs to, -1 for none. same is false when it is not as the run has left it.
func foundIn(g *models.Gap, run string, accepted, carried map[string]bool) (list int, same bool) {
	resolved := g.State == models.GapResolved
	switch {
	case resolved && g.HealedRun != "":
		return listHealed, true
	case resolved && accepted[g.ID]:
		return listAccepted, true
	case resolved: // by people: since, or not found any more
		return -1, g.LastRun != run
	case g.LastRun != run || (g.State == models.GapCarried) != carried[g.ID]:
		return -1, false
	case carried[g.ID]:
		return listCarried, true
	}
	return listGaps, true
}

// stillSo says whether the orders of the gaps are as the gaps say, and what the book did not have is still not there.
func (r *run) stillSo(ctx context.Context, gaps []*models.Gap) (same bool, err error) {
	orders, names := []string{}, map[ledger.Name]bool{}
	for _, g := range gaps {
		if g.OrderID != "" {
			orders = append(orders, g.OrderID)
		}
		if g.Ledger == nil {
			for _, n := range (&held{Entry: entryOf(g)}).names() {
				names[r.name(n)] = true
			}
			names[r.name(name{g.EntryKind, g.RefundOrderID})] = true
		}
	}
	slices.Sort(orders)
	known, err := r.book.Orders(ctx, slices.Compact(orders))
	if err != nil {
		return false, err
	}
	for _, g := range gaps {
		if !sameOrder(g, known) {
			return false, nil
		}
	}
	rows, err := r.book.FindTransactions(ctx, names)
	return len(rows) == 0, err
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// share keeps one copy of the words that very many gaps from the book have in common.
func (in interner) share(g *models.Gap) {
	g.Account, g.Date, g.FirstRun, g.LastRun = in.word(g.Account), in.word(g.Date), in.word(g.FirstRun), in.word(g.LastRun)
	g.Kind, g.EntryKind = models.GapKind(in.word(string(g.Kind))), models.TransactionKind(in.word(string(g.EntryKind)))
	for _, side := range []*models.Side{g.Statement, g.Ledger, g.Order} {
		if side != nil {
			side.Currency, side.Status, side.File = in.word(side.Currency), in.word(side.Status), in.word(side.File)
		}
	}
	if g.OrderID == "" || !strings.Contains(g.Next, g.OrderID) { // the same for all
		g.Next = in.word(g.Next)
	}
}

func sameOrder(g *models.Gap, known map[string]models.Order) bool {
	o, is := known[g.OrderID]
	if !is || g.Order == nil {
		return !is && g.Order == nil
	}
	return *g.Order == bookedOrder(&o)
}

// keepAnswer keeps what the run has found for the next time, unless something in it hangs on what is not watched.
func (r *run) keepAnswer(ctx context.Context, report *Report, saved *ledger.Saved) error {
	plain := !r.far && len(r.others)+len(r.left)+len(saved.Left)+len(report.Bridges)+len(report.NotPaidOut)+report.Payouts == 0
	if !plain || !r.answerable() {
		return nil
	}
	a := answer{Report: report.head(), Gaps: len(report.Gaps)}
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
	if !saved.Kept { // else nothing new was learnt, and no turn of the account taken
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
