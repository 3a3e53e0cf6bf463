package cmd

import (
	"log/slog"
	"time"

	"paybook/callback"
	"paybook/ledger"
)

// inquirer asks the configured providers.
func (c *Config) inquirer(book *ledger.Ledger, log *slog.Logger, now func() time.Time) *callback.Inquirer {
	elsewhere := map[string]bool{}
	q := &callback.Inquirer{Book: book, Client: outbound, Now: now, Log: log, GiveUp: c.Inquiries.GiveUp, PerSecond: c.Inquiries.PerSecond,
		Elsewhere: func(account string) bool { return elsewhere[account] }}
	for _, a := range c.Accounts {
		elsewhere[a.Name] = a.Elsewhere
		q.Accounts = append(q.Accounts, callback.Account{Name: a.Name, Provider: a.Provider})
	}
	return q
}

// inquiries are the questions as work of the queue; none without a provider that can be asked.
func (s *service) inquiries() []ledger.Chore {
	q := s.conf.inquirer(s.book, s.log, s.now)
	if s.conf.Inquiries.After == 0 || !q.CanAskAny() {
		return nil
	}
	return []ledger.Chore{q.Chore()}
}
