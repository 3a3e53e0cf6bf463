package alert

import (
	"context"
	"time"
)

// Watch is an account from which callbacks are expected while orders wait.
type Watch struct {
	Account string
	After   time.Duration // for so long nothing may come
	Orders  int           // while at least so many orders wait for as long; 0: 1
}

// waitsMost is how old an order may be that is still waited for.
const waitsMost = 24 * time.Hour

// Listen says of each account whether it is silent: nothing genuine has come since orders were made that have waited for longer than the
// time set. A night without orders is no silence.
func (p *Post) Listen(ctx context.Context, watches []Watch) error {
	for _, w := range watches {
		now, enough := p.Now(), max(w.Orders, 1)
		heard, err := p.Book.LastHeard(ctx, w.Account)
		if err != nil {
			return err
		}
		since := now.Add(-waitsMost)
		if heard.After(since) {
			since = heard
		}
		waiting := 0
		if long := now.Add(-w.After); since.Before(long) {
			if waiting, err = p.Book.CountWaiting(ctx, since, long, long, enough); err != nil {
				return err
			}
		}
		if err := p.Say(ctx, Trouble{Kind: Silent, Account: w.Account, Over: waiting < enough, For: w.After, Orders: enough}); err != nil {
			return err
		}
	}
	return nil
}
