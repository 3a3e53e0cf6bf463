package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"paybook/ledger"
)

// How long a run is held to be under way after its process was last heard of.
const (
	leaseLength = 30 * time.Second
	leaseRenew  = leaseLength / 3
	// leaseSaving is for the one transaction at a run's end: where the database has one writer only, nothing can be renewed beside it.
	leaseSaving = 10 * time.Minute
)

// turnstile lets one run of an account and day through at a time.
type turnstile struct {
	lease *ledger.Lease
	stop  context.CancelFunc
	done  chan struct{}
}

// enter claims the run for this process until leave, or says at once that somebody else is making it.
func enter(ctx context.Context, book *ledger.Ledger, account string, day Day) (*turnstile, error) {
	lease, err := book.Lease(ctx, account, day.String(), leaseLength)
	var held *ledger.BusyError
	switch {
	case errors.As(err, &held):
		return nil, fmt.Errorf("reconcile %s, %s: %w: %w", account, day, ErrBusy, err)
	case err != nil:
		return nil, fmt.Errorf("reconcile %s, %s: %w", account, day, err)
	}
	renewing, stop := context.WithCancel(ctx)
	t := &turnstile{lease, stop, make(chan struct{})}
	go t.renew(renewing)
	return t, nil
}

// renew goes on until it is stopped. That a renewal fails does no harm: what a run has found is only saved in its turn.
func (t *turnstile) renew(ctx context.Context) {
	defer close(t.done)
	tick := time.NewTicker(leaseRenew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = t.lease.Renew(ctx, leaseLength)
		}
	}
}

// saving is told before the run is written. A dry run has no turnstile.
func (t *turnstile) saving(ctx context.Context) {
	if t != nil {
		_ = t.lease.Renew(ctx, leaseSaving)
	}
}

// leave ends the claim, also after ctx has.
func (t *turnstile) leave(ctx context.Context) {
	t.stop()
	<-t.done
	_ = t.lease.End(context.WithoutCancel(ctx))
}
