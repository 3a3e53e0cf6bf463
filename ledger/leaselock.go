package ledger

import (
	"context"
	"time"
)

// LeaseLock is a quick lock in front of the leases, such as Redis's. It decides nothing: of many who want a lease at the same moment it
// lets one pass that then writes to the database, and the others only look there. When it fails, forgets, or says what is not so, the
// database's answer is the same. Whatever it does, it does within a moment.
type LeaseLock interface {
	// Lock takes the lock of a name for so long, and says whether it was free.
	Lock(ctx context.Context, name, holder string, length time.Duration) (free bool, err error)
	// Relock makes it last for so long from now on, also when it was forgotten; never one that is another holder's.
	Relock(ctx context.Context, name, holder string, length time.Duration) error
	// Unlock gives it back; never one that is another holder's.
	Unlock(ctx context.Context, name, holder string) error
}

// lock says whether the lock in front lets this one pass. If there is none, nobody passes unseen.
func (s *Lease) lock(ctx context.Context) bool {
	if s.l.options.LeaseLock == nil {
		return false
	}
	free, err := s.l.options.LeaseLock.Lock(ctx, s.name, s.holder, s.length)
	return free && err == nil
}

func (s *Lease) relock(ctx context.Context) {
	if lock := s.l.options.LeaseLock; lock != nil {
		_ = lock.Relock(ctx, s.name, s.holder, s.length) // the database has decided
	}
}

func (s *Lease) unlock(ctx context.Context) {
	if lock := s.l.options.LeaseLock; lock != nil {
		_ = lock.Unlock(context.WithoutCancel(ctx), s.name, s.holder) // it ends by itself
	}
}
