package bank

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"paybook/ledger"
	"paybook/models"
	"paybook/reconcile"
)

// reach is how far behind the first day of a run's statements payouts and lines are still matched. What is older stays as it is.
const reach = 92 * dayLength

// tries is how often a run is made again because another run of the bank was saved while it was under way.
const tries = 3

var errOthers = fmt.Errorf("%w: other runs of this bank are under way; try again when they have ended", reconcile.ErrBusy)

// Run reads the bank's statements of one day and holds what has come to the account against the payouts that the providers have told
// of. What it finds depends on all statements read by then, not on the order of the runs. Errors are those of reconcile.Run: a
// *models.FileError for what is wrong with a file, reconcile.ErrBusy; after any error nothing is written.
func Run(ctx context.Context, book *ledger.Ledger, b Bank, src reconcile.Source, day reconcile.Day, o reconcile.Options) (*reconcile.Report, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	account := ledger.BankGapAccount(b.Name)
	if o.DryRun {
		return runOnce(ctx, book, &b, src, day, o, nil)
	}
	var report *reconcile.Report
	err := book.UnderLease(ctx, ledger.RunLease(account, day.String()), func(ctx context.Context, lease *ledger.Lease) (err error) {
		for range tries {
			report, err = runOnce(ctx, book, &b, src, day, o, lease)
			if !errors.Is(err, ledger.ErrMoved) {
				return err
			}
		}
		return errOthers
	})
	switch err = reconcile.AsBusy(err); {
	case errors.Is(err, reconcile.ErrBusy):
		return nil, fmt.Errorf("reconcile %s, %s: %w", account, day, err)
	case err != nil:
		return nil, err
	}
	return report, nil
}

// key names a payout among all accounts.
type key struct{ account, id string }

// run is one run in work.
type run struct {
	*intake
	book    *ledger.Ledger
	account string // of its gaps
	date    string // of the run
	turn    int64

	from      time.Time // what is older stays as it is
	read      coverage
	fresh     []ledger.BankLine // of this run's files
	lines     map[string]*line
	payouts   map[key]*payout
	before    []ledger.BankMatch // of this bank, as they are stored
	elsewhere []ledger.BankMatch // of other banks
	old       map[key]bool       // payouts from before the horizon, or that hang on something from before it
	oldLines  map[string]bool    // the same of lines
	standing  map[string]bool    // ids of gaps of what stays as it is
	known     map[string]models.Gap
	match     matcher
	gaps      []models.Gap
	quiet     map[string]bool // gaps of other days that are as an earlier run has left them
}

func runOnce(ctx context.Context, book *ledger.Ledger, b *Bank, src reconcile.Source, day reconcile.Day, o reconcile.Options, lease *ledger.Lease) (*reconcile.Report, error) {
	in, err := read(ctx, b, src, day)
	if err != nil {
		return nil, err
	}
	r := &run{intake: in, book: book, account: ledger.BankGapAccount(b.Name), date: day.String(), match: matcher{bank: b}, lines: map[string]*line{},
		payouts: map[key]*payout{}, old: map[key]bool{}, oldLines: map[string]bool{}, standing: map[string]bool{}, known: map[string]models.Gap{}, quiet: map[string]bool{}}
	if r.turn, err = book.Turn(ctx, r.account); err != nil {
		return nil, err
	}
	r.fresh = r.freshLines()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	r.choose()
	r.match.match()
	r.findGaps()
	return r.save(ctx, o, lease)
}

// load reads what is known by now: which days have been read, payouts, the lines of other days' statements, and gaps.
func (r *run) load(ctx context.Context) error {
	r.from = r.horizon()
	others, err := r.book.BankStatements(ctx, r.bank.Name, r.date)
	if err != nil {
		return err
	}
	fresh := r.freshStatements()
	r.read = covering(append(slices.Clone(others), fresh...))
	r.noteHole(others, fresh)
	if err := r.loadPayouts(ctx); err != nil {
		return err
	}
	lines, err := r.book.BankLines(ctx, r.bank.Name, dateText(r.from), r.date)
	if err != nil {
		return err
	}
	for i, l := range append(lines, r.fresh...) {
		r.lines[l.ID] = &line{BankLine: l, booked: parseDate(l.BookedOn), fresh: i >= len(lines)}
	}
	gaps, err := r.book.GapsSince(ctx, r.account, dateText(r.from))
	for _, g := range gaps {
		r.known[g.ID] = g
	}
	return err
}

// loadPayouts reads the payouts from the horizon on, and those older ones that lines are matched with.
func (r *run) loadPayouts(ctx context.Context) error {
	matches, err := r.book.BankMatches(ctx, dateText(r.from.Add(-reach)))
	if err != nil {
		return err
	}
	var ids []string
	for _, m := range matches {
		if m.Bank == r.bank.Name {
			r.before = append(r.before, m)
			ids = append(ids, m.PayoutID)
		} else {
			r.elsewhere = append(r.elsewhere, m)
		}
	}
	slices.Sort(ids)
	payouts, err := r.book.BankPayouts(ctx, r.bank.Accounts, r.from.Add(-dayLength), slices.Compact(ids))
	if err != nil {
		return err
	}
	stated := map[string]bool{} // accounts whose statements tell payouts
	for i := range payouts {
		stated[payouts[i].Account] = stated[payouts[i].Account] || payouts[i].Date != ""
	}
	for _, p := range payouts {
		own := &payout{Payout: p, paid: civil(p.OccurredAt.In(r.bank.Zone)), hearsay: p.Date == "" && stated[p.Account]}
		if isDue(p.Status) {
			own.due = p.Money.Minor
		}
		if k := (key{p.Account, p.PayoutID}); own.paid.Before(r.from) {
			r.old[k] = true
		} else {
			r.payouts[k] = own
		}
	}
	return nil
}

// noteHole tells of a statement that does not go on from the last one that was read before it.
func (r *run) noteHole(others, fresh []ledger.BankStatement) {
	var before *ledger.BankStatement
	for i := range others { // by the days they end with
		if o := &others[i]; o.Closing != nil && len(fresh) > 0 && o.To < fresh[0].From {
			before = o
		}
	}
	if before == nil || fresh[0].Opening == nil || *before.Closing == *fresh[0].Opening {
		return
	}
	r.notes = append(r.notes, fmt.Sprintf("it opens with %s, the last statement read before it, of %s, closed with %s: what is between them has still to be read",
		r.bank.money(*fresh[0].Opening), before.To, r.bank.money(*before.Closing)))
}

// horizon is the day from which on this run looks at things again.
func (r *run) horizon() time.Time {
	first := r.day
	for _, s := range r.statements {
		from, _ := s.period()
		first = earlier(first, from)
	}
	return first.Add(-reach)
}

// choose hands the matcher what it may match: not what has landed at another bank, nor what was matched with something older than this
// run looks back to, which stays so.
func (r *run) choose() {
	mine := map[key]bool{}
	for _, m := range r.before {
		mine[key{m.Account, m.PayoutID}] = true
	}
	for _, m := range r.elsewhere {
		if k := (key{m.Account, m.PayoutID}); !mine[k] || m.Bank < r.bank.Name { // of two banks that both have it, the first by name
			delete(r.payouts, k)
		}
	}
	r.keepOld()
	for _, p := range r.payouts {
		r.match.payouts = append(r.match.payouts, p)
	}
	for _, l := range r.lines {
		r.match.lines = append(r.match.lines, l)
	}
}

// keepOld takes out the matches of which a part is older than this run looks back to, with all that hangs on them. What has gone from a
// corrected statement, the bank's or the provider's, is no longer matched.
func (r *run) keepOld() {
	from := dateText(r.from)
	for again := true; again; {
		again = false
		r.before = slices.DeleteFunc(r.before, func(m ledger.BankMatch) bool {
			k := key{m.Account, m.PayoutID}
			l, p := r.lines[m.LineID], r.payouts[k]
			if !r.old[k] && (p == nil || m.BookedOn >= from && !r.oldLines[m.LineID]) {
				return false
			}
			again, r.old[k], r.oldLines[m.LineID] = true, true, true
			if p != nil {
				r.standing[r.payoutGap(p)] = true
				delete(r.payouts, k)
			}
			if l != nil {
				r.standing[r.lineGap(l)] = true
				delete(r.lines, m.LineID)
			}
			return true
		})
	}
}

// freshStatements are those of this run's files, or the day that was declared to have none.
func (r *run) freshStatements() []ledger.BankStatement {
	if r.declared {
		return []ledger.BankStatement{{Date: r.date, From: r.date, To: r.date}}
	}
	list := make([]ledger.BankStatement, 0, len(r.statements))
	for _, s := range r.statements {
		from, to := s.period()
		own := ledger.BankStatement{Date: r.date, Number: s.Number, From: dateText(from), To: dateText(to)}
		if s.Opening != nil && s.Closing != nil {
			own.Opening, own.Closing = &s.Opening.Minor, &s.Closing.Minor
		}
		list = append(list, own)
	}
	return list
}

// freshLines are those of this run's files. A line is called by what it says, and the second of two in a file that say the same by being
// the second: so it is the same line in whatever file it is read again.
func (r *run) freshLines() (list []ledger.BankLine) {
	files := map[string]map[string]int{} // how often a file has said what
	seen := map[string]bool{}
	for _, s := range r.statements {
		file := s.File
		if s.Opening != nil && s.Closing != nil {
			file = "" // these follow one another by their balances: none has a line of another
		}
		if files[file] == nil {
			files[file] = map[string]int{}
		}
		copies := 0
		for i := range s.Lines {
			l := &s.Lines[i]
			text := fmt.Sprintf("%s %s %d %s %d %v %q %q", dateText(l.Booked), dateText(l.Value), l.Minor, s.Currency, l.Charge, l.Reversal, l.Reference, l.Texts)
			files[file][text]++
			id := hash(text, fmt.Sprint(files[file][text]))
			if seen[id] {
				copies++
				continue
			}
			seen[id] = true
			list = append(list, ledger.BankLine{ID: id, Date: r.date, BookedOn: dateText(l.Booked), ValueOn: dateText(l.Value),
				Money: models.Money{Minor: l.Minor, Currency: s.Currency}, Charge: l.Charge, Reversal: l.Reversal, Reference: l.Reference, Texts: l.Texts,
				File: s.Label, Line: l.Line})
		}
		if copies > 0 {
			r.notes = append(r.notes, fmt.Sprintf("%s: %d of its lines are in another file of the day as well, read once", s.Label, copies))
		}
	}
	return list
}

// hash is a name made of parts.
func hash(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
