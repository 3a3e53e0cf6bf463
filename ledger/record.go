package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"gorm.io/gorm"

	"paybook/models"
)

// Record keeps a verified callback and applies its events, all in one transaction; it returns after COMMIT. Outcomes are in the
// order of the events. A duplicate is an outcome, not an error; an error means that nothing is known to be stored and the
// provider shall send again. reply gives the HTTP status that the outcome will be answered with, kept with the callback.
func (l *Ledger) Record(ctx context.Context, cb models.Callback, events []models.Event, reply func(models.Outcome) int) ([]models.Outcome, error) {
	if len(events) == 0 {
		return nil, fmt.Errorf("account %s: a verified callback without an event", cb.Account)
	}
	cb.Verified = true
	cb.ID = callbackID(cb.Account, verdictGenuine, cb.Body)
	d := &delivery{account: cb.Account, source: sourceCallback, callback: cb.ID, events: admit(events)}
	w := &waiting{ctx: ctx, delivery: d, callback: cb, reply: reply}
	if err := l.commits.submit(w); err != nil {
		return nil, fmt.Errorf("record callback of %s: %w", cb.Account, err)
	}
	return d.outcomes, nil
}

// Reject keeps a refused callback as evidence, and moves nothing. It is bounded: a repeat of the same body adds to one row, the
// oldest rows are pruned (Sweep), and what one process stores a minute is limited; beyond it kept is false and nothing is written.
func (l *Ledger) Reject(ctx context.Context, cb models.Callback, why *models.Rejection, status int) (kept bool, err error) {
	cb.Verified, cb.Reason, cb.Detail, cb.Status = false, why.Reason, why.Detail, status
	cb.ID = callbackID(cb.Account, string(why.Reason), cb.Body)
	if !l.refused.take(pot{cb.Account, genuine(why.Reason)}, int64(len(cb.Body)+1024), l.now()) {
		return false, nil
	}
	if err := l.commits.submit(&waiting{ctx: ctx, callback: cb}); err != nil {
		return false, fmt.Errorf("keep refused callback of %s: %w", cb.Account, err)
	}
	return true, nil
}

// genuine says whether a refused callback was proven to come from the provider all the same.
func genuine(r models.Reason) bool { return r == models.ReasonMerchant || r == models.ReasonDecrypt }

// recordBatch is one transaction. It may be repeated, so it leaves nothing behind in the batch but the last try's outcomes. conn is the
// connection of tx where the database can take several statements at once; careful: somebody was first the last time, take locks.
func (l *Ledger) recordBatch(tx *gorm.DB, conn *sql.Conn, careful bool, batch []*waiting) error {
	deliveries := make([]*delivery, 0, len(batch))
	for _, w := range batch {
		if w.delivery != nil {
			deliveries = append(deliveries, w.delivery)
		}
	}
	e := l.newEngine(tx, l.clock())
	e.careful, e.pipe.conn = careful, conn
	if err := e.decide(deliveries); err != nil {
		return err
	}
	evidence := make(map[string]*models.Callback, len(batch))
	for _, w := range batch {
		cb := w.callback
		if w.delivery != nil {
			describe(&cb, w)
			e.lookUp(w.delivery)
		}
		addEvidence(evidence, cb)
	}
	e.evidence = evidence
	return e.write()
}

// describe fills in what became of a verified callback: of several events the first. Where the book has nothing to say of it, the
// message's own words stay.
func describe(cb *models.Callback, w *waiting) {
	d, first := w.delivery, w.delivery.events[0]
	cb.Outcome, cb.Detail, cb.Event = d.outcomes[0], cmp.Or(d.details[0], first.Detail), first.Kind
	cb.TransactionID, cb.OrderID = short(first.TransactionID, idMax), short(first.OrderID, idMax)
	if first.RunningTotal { // what the message names is the payment
		cb.TransactionID = short(first.ParentID, idMax)
	}
	if first.Told != "" {
		cb.Event = first.Told
	}
	if cb.Outcome == models.OutcomeUnreadable {
		cb.Reason, cb.Event = models.ReasonMalformed, models.EventUnparsable
	}
	cb.Status = w.reply(Worst(d.outcomes))
}

// Worst is the outcome that decides the answer to a callback with several events.
func Worst(outcomes []models.Outcome) models.Outcome {
	for _, o := range outcomes {
		if o == models.OutcomeUnreadable {
			return o
		}
	}
	return outcomes[0]
}

// pot is what an allowance is for: forged traffic must not use up the evidence of genuine messages that are not ours.
type pot struct {
	account string
	genuine bool
}

// allowances limits how many bytes of refused callbacks are stored a minute, an account and kind each. Accounts are configured names, so
// their number is bounded.
type allowances struct {
	mu     sync.Mutex
	limit  int64
	left   map[pot]int64
	minute time.Time
}

func newAllowances(limit int64) *allowances { return &allowances{limit: limit, left: map[pot]int64{}} }

func (a *allowances) take(p pot, n int64, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(a.minute) {
		a.minute, a.left = minute, map[pot]int64{}
	}
	left, known := a.left[p]
	if !known {
		left = a.limit
	}
	if n > left {
		return false
	}
	a.left[p] = left - n
	return true
}
