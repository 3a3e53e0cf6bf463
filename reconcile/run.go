// Package reconcile compares, day by day, what the book holds with what the provider says in its statements. The differences are
// gaps (finance calls them breaks), each kept from the run that finds it first to the one that finds it gone.
//
// The statement and the book stream past each other, so that a day of a million rows takes the memory of its gaps. Nothing is
// written before both have been read to the end; then a run and all it has found is written at once.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paybook/ledger"
	"paybook/models"
)

// Account is one account to be reconciled.
type Account struct {
	Name         string
	ProviderName string // as the report calls it; "" takes the provider's own
	Provider     Provider
	Zone         *time.Location // nil: the provider's own, and Cut with it
	Cut          time.Duration  // when the business day begins, after local midnight
	// Edge is how near a bound of the day a row without a partner waits for the neighbouring day's statement. 0: ten seconds;
	// negative: none waits.
	Edge time.Duration
	// Lag is for how many days a transaction that the statement does not have waits for later ones: for providers that settle
	// in batches.
	Lag             int
	OrdersElsewhere bool // this account's orders are not kept here
	// Settings is whatever else decides what comes out of a statement: a hash of the provider's settings and of the program. "": not
	// known, and then every run is made in full.
	Settings   string
	Statements []string  // where the daily run looks: see Folder
	Fees       []FeeRule // the fee schedule, in the order in which it is looked through; none: fees are not checked
}

// Options of Run. The zero value is usable.
type Options struct {
	DryRun   bool             // find everything out, write nothing
	Force    bool             // make the run in full, also when nothing has changed since the last one
	Now      func() time.Time // the clock that gaps are dated by; nil: time.Now
	Progress func(Progress)   // if set, is told now and then how far the reading is; not from the goroutine of Run, but one call at a time
	// Sorting, if set, is told when a day that comes in no order of time begins to be sorted on the disk, which takes more memory than one
	// that does: twice as much is well used.
	Sorting func()
	// Row, if set, is told of every gap with the statement's row that it is about, and that all files be read for it: what a repair
	// books. A run that begins again tells them again.
	Row func(g models.Gap, e models.Entry)
}

const edgeDefault = 10 * time.Second

// tries is how often a run is made again because another run of its account was saved while it was under way.
const tries = 3

// ErrBusy means that the same run is under way elsewhere (it wraps a *ledger.BusyError), or was taken over by another process while this
// one was stalled (a *ledger.LostLease), or that other runs of the account kept coming in between.
var ErrBusy = errors.New("busy")

var errOthers = fmt.Errorf("%w: other runs of this account are under way; try again when they have ended", ErrBusy)

// AsBusy puts ErrBusy before an error that means it.
func AsBusy(err error) error {
	if errors.As(err, new(*ledger.BusyError)) || errors.As(err, new(*ledger.LostLease)) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

// Run reconciles one account and day. What is wrong with a file is a *models.FileError; after any error nothing is written. Gaps are
// no error: see the report's Result.
func Run(ctx context.Context, book *ledger.Ledger, a Account, src Source, day Day, o Options) (*Report, error) {
	if err := fill(&a, &o); err != nil {
		return nil, err
	}
	if o.DryRun {
		return runOnce(ctx, book, a, src, day, o, nil)
	}
	var report *Report
	err := book.UnderLease(ctx, ledger.RunLease(a.Name, day.String()), func(ctx context.Context, lease *ledger.Lease) (err error) {
		for range tries {
			report, err = runOnce(ctx, book, a, src, day, o, lease)
			if !errors.Is(err, ledger.ErrMoved) {
				return err
			}
		}
		return errOthers
	})
	switch err = AsBusy(err); {
	case errors.Is(err, ErrBusy):
		return nil, fmt.Errorf("reconcile %s, %s: %w", a.Name, day, err)
	case err != nil:
		return nil, err
	}
	return report, nil
}

func fill(a *Account, o *Options) error {
	if a.Zone == nil {
		zone, cut := a.Provider.Calendar()
		loaded, err := time.LoadLocation(zone)
		if err != nil {
			return fmt.Errorf("account %s: time zone %q: %w", a.Name, zone, err)
		}
		a.Zone, a.Cut = loaded, cut
	}
	if a.ProviderName == "" {
		a.ProviderName = a.Provider.Name()
	}
	if a.Edge == 0 {
		a.Edge = edgeDefault
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}

// run is one run in work.
type run struct {
	book     *ledger.Ledger
	account  Account
	day      Day
	from, to time.Time
	progress func(Progress) // nil: nobody is told
	read     Progress
	row      func(models.Gap, models.Entry)

	files         []*outer
	inputs        []*input
	left          []*input // batches that belong to the runs of other dates
	unknown       []UnknownKind
	notes         []string
	entries       int64
	compared      int64
	copies        int64 // rows that another report of the day has as well
	stated        totals
	idle          totals // what the statement's rows that moved nothing add up to: a summary counts them too
	controlTotals string
	payouts       map[string]ledger.Payout // that the files tell, by id
	paid          paidRows
	ownSteps      []ledger.PayoutStep
	bridges       []Bridge
	unpaid        []Bridge
	adjusts       []*held
	fees          []feeRule

	match        *matcher
	booked       tally
	transactions int64

	numbered map[string][]*local                 // refunds stored behind their payment's id, by the shop's number
	disputed map[name][]models.Transaction       // chargebacks that share a name with another: all of one payment
	others   []models.Gap                        // other days' gaps that this statement may settle
	ran      map[string][]models.TransactionKind // days that have been run, with the only kinds their files can hold; nil is any
	used     map[name]bool                       // rows of the book that were matched after the streams had ended, by what they are stored under and called
	crossed  []ledger.Crossed
	healed   []string // ids of other days' gaps
	findings []finding
	sorting  func()
	question question
	far      bool // something was looked up that the answer's key does not watch
	clues    clues
	seen     map[string]bool // ids of gaps
	gaps     []*models.Gap
	words    interner
}

func runOnce(ctx context.Context, book *ledger.Ledger, a Account, src Source, day Day, o Options, lease *ledger.Lease) (*Report, error) {
	r := &run{book: book, account: a, day: day, progress: o.Progress, row: o.Row, sorting: o.Sorting, stated: totals{}, idle: totals{}, booked: newTally(),
		payouts: map[string]ledger.Payout{}, used: map[name]bool{}, disputed: map[name][]models.Transaction{}, words: interner{},
		seen: map[string]bool{}, ran: map[string][]models.TransactionKind{}, controlTotals: controlAgree}
	r.from, r.to = day.Bounds(a.Zone, a.Cut)
	r.fees = feeRules(&r.account)
	if !o.DryRun {
		if _, err := book.Sweep(ctx); err != nil { // what waits for its order and can be placed by now is no gap
			return nil, err
		}
	}
	if err := r.ask(ctx); err != nil {
		return nil, err
	}
	if report, err := r.findOrRecall(ctx, src, o); report != nil || err != nil {
		return report, err
	}
	if err := r.compare(ctx); err != nil {
		return nil, err
	}
	return r.save(ctx, o, lease)
}

// compare reads both sides and finds the differences.
func (r *run) compare(ctx context.Context) error {
	if err := r.leaveOutBatches(ctx); err != nil {
		return err
	}
	if err := r.stream(ctx); err != nil {
		return err
	}
	if len(r.inputs) == 0 {
		r.controlTotals = controlNone
	}
	defer r.noteFees()
	return r.settle(ctx)
}

func (r *run) inDay(at time.Time) bool { return !at.Before(r.from) && at.Before(r.to) }

func (r *run) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}
