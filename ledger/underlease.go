package ledger

import (
	"context"
	"errors"
	"sync"
	"time"
)

// UnderLease does work while this process holds the lease of a name, which it renews until the work has ended and then gives back. A
// *BusyError tells that somebody else has it. The context of the work ends as soon as it is known that the lease has passed to another:
// whatever the work makes of that, the error is then the *LostLease. Not every loss is known in time, so what the work writes must prove
// that it holds the lease: Findings.Lease.
func (l *Ledger) UnderLease(ctx context.Context, name string, work func(context.Context, *Lease) error) error {
	s, err := l.Lease(ctx, name, l.options.Lease)
	if err != nil {
		return err
	}
	defer func() { _ = s.End(context.WithoutCancel(ctx)) }() // if it cannot be given back, it ends by itself
	held, stop := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	defer renewing.Wait() // before End, lest the lease be renewed after it
	defer stop(nil)
	renewing.Go(func() { s.keep(held, stop) })
	err = work(held, s)
	var lost *LostLease
	if err != nil && errors.As(context.Cause(held), &lost) {
		return lost
	}
	return err
}

// keep renews the lease until ctx ends, or ends it when the lease is lost. A renewal that fails otherwise does no harm: as long as nobody
// else has taken the lease, the next one is in time.
func (s *Lease) keep(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(max(s.length/3, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var lost *LostLease
		if err := s.Renew(ctx); errors.As(err, &lost) {
			stop(lost)
			return
		}
	}
}
