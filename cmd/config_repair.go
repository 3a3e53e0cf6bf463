package cmd

import (
	"time"

	"paybook/callback"
)

// readRepair reads how many persons a repair needs.
func readRepair(s *section) (approvals int) {
	return s.object("repair", "approvals").whole("approvals", 1, 1, 2)
}

// Asking is when providers are asked about orders that stay unpaid.
type Asking struct {
	After     time.Duration // in paying, or with a payment that is pending; 0: nobody is asked
	GiveUp    time.Duration
	PerSecond int // questions to one account
}

func readAsking(orders *section) Asking {
	q := orders.object("query", "after", "give_up", "per_second")
	return Asking{
		After:     q.duration("after", 10*time.Minute, 0, 24*time.Hour),
		GiveUp:    q.duration("give_up", 24*time.Hour, time.Minute, 30*24*time.Hour),
		PerSecond: q.whole("per_second", 2, 1, 100),
	}
}

// askAfter is what the book is told: without a provider that can be asked it need not note what to ask.
func (c *Config) askAfter() time.Duration {
	for _, a := range c.Accounts {
		if _, ok := a.Provider.(callback.Querier); ok {
			return c.Inquiries.After
		}
	}
	return 0
}
