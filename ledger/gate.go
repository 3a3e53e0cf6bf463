package ledger

import (
	"context"
	"time"
)

// Gate is a quick look at a key before the database, such as Redis. It saves work and decides nothing: whatever it says "no" to is looked
// up in the database, and whatever it lets through meets the database's unique index. So it may forget everything at any moment, and two
// replicas may have different ones. An error means that it cannot be asked now; the database then does all by itself. Its methods are
// called from many goroutines and must be quick to give up.
type Gate interface {
	// Issue remembers a token that was made, for as long as it may be spent.
	Issue(ctx context.Context, k Key, life time.Duration) error
	// Enter tries to take a key for a holder from now until then. Of any number that try at once it lets one in.
	Enter(ctx context.Context, k Key, holder string, now, until time.Time) (Pass, error)
	// Leave ends what Enter began, if it still is this holder's. spent: the answer is in the database; else the key is as if never seen.
	Leave(ctx context.Context, k Key, holder string, spent bool) error
}

// Pass is what a gate says of a key.
type Pass string

// What a gate may say.
const (
	PassUnknown Pass = "unknown" // nothing: it has forgotten, or there is no gate
	PassGranted Pass = "granted" // this holder may go on
	PassBusy    Pass = "busy"    // another one is at it, with the same fingerprint
	PassOther   Pass = "other"   // another one is at it, with another fingerprint
	PassSpent   Pass = "spent"   // the database has the answer
)

// enter asks the gate. Without one, or without an answer, nothing is known.
func (l *Ledger) enter(ctx context.Context, h *hold) Pass {
	if l.options.Gate == nil {
		return PassUnknown
	}
	now := l.clock()
	h.until = now.Add(holdLife)
	pass, err := l.options.Gate.Enter(ctx, h.Key, h.holder, now, h.until)
	if err != nil {
		return PassUnknown // it tells its operator itself; here it only makes more work
	}
	return pass
}

// leave tells the gate that a holder is done. A gate that does not hear it finds out by itself when the claim has ended.
func (l *Ledger) leave(ctx context.Context, h *hold, spent bool) {
	if l.options.Gate != nil {
		_ = l.options.Gate.Leave(ctx, h.Key, h.holder, spent)
	}
}
